"""Imported by a process that will set pages: loads their engine before the first is asked."""

from sizer.present.fonts.pango import weasyprint_state

weasyprint_state()
