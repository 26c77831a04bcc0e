"""Imported by a process that will set pages: loads their engine, where there is one, before the first is asked."""

from sizer.present.fonts.pango import weasyprint_state

if weasyprint_state() is None:
    import sizer.guide.pdf.typeset  # noqa: F401
