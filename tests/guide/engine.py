"""The PDF engine of this machine, which tests of PDFs need."""

from collections.abc import Callable, Mapping

import pytest

from sizer import Catalog, SizingResult
from sizer.guide.pdf import typeset
from sizer.guide.pdf.render import guide_page
from sizer.guide.profile import Edition
from sizer.present.fonts.pango import weasyprint_state


def needs_engine() -> None:
    """Skip where no PDF can be made."""
    if weasyprint_state() is not None:
        pytest.skip(str(weasyprint_state()))


def guide_pdf(
    result: SizingResult,
    catalog: Catalog,
    edition: Edition,
    files: Mapping[str, bytes] | None = None,
    progress: Callable[[str], None] | None = None,
) -> bytes:
    """The guide as PDF, set in this process; ``files`` are attached to an archive."""
    attached = (files or {}) if edition.is_archive else None
    return typeset.page_pdf(guide_page(result, catalog, edition), attached, result.request.date, progress)
