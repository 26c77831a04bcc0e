"""A page set in a process of its own: the one that asks for it does without WeasyPrint."""

import datetime

from sizer.base.errors import ReportError
from sizer.guide.pdf.progress import Attachments, Progress
from sizer.present.fonts.pango import weasyprint_state


def set_page(
    page: str, attachments: Attachments | None, date: datetime.date | None, progress: Progress | None
) -> bytes:
    """As :func:`~sizer.guide.pdf.typeset.page_pdf`. Raises ReportError, too, if WeasyPrint or Pango is missing."""
    missing = weasyprint_state()
    if missing is not None:
        raise ReportError(missing)
    from sizer.guide.pdf.typeset import page_pdf

    return page_pdf(page, attachments, date, progress)
