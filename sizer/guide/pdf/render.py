"""The guide as one HTML page and as a PDF. WeasyPrint is imported only for a PDF."""

from collections.abc import Mapping

from sizer.base.locale import use_locale
from sizer.catalog.model import Catalog
from sizer.guide.outline import guide
from sizer.guide.pdf.progress import Progress
from sizer.guide.pdf.typeset import page_pdf
from sizer.guide.profile import GUIDE, Edition
from sizer.present.page import Citations, rendered, with_fonts_inside
from sizer.present.theme import css_variables
from sizer.sizing.result import SizingResult

NO_FILES: Mapping[str, bytes] = {}


def guide_html(result: SizingResult, catalog: Catalog, edition: Edition = GUIDE) -> str:
    """The guide as one HTML file that needs no other: fonts, logo and drawings are inside.

    Raises ReportError if a template names something that does not exist.
    """
    return with_fonts_inside(guide_page(result, catalog, edition))


def guide_pdf(
    result: SizingResult,
    catalog: Catalog,
    edition: Edition = GUIDE,
    attachments: Mapping[str, bytes] = NO_FILES,
    progress: Progress | None = None,
) -> bytes:
    """The guide as PDF/UA-1, or as PDF/A-3b for an archive.

    The same arguments give the same bytes with the same libraries, and the same text and number of pages with others.

    ``attachments``: files to put into an archive, by their names. ``progress``: called with a word whenever another
    part of the work begins. Raises ReportError in one sentence, if WeasyPrint or Pango is missing, a template is
    damaged, or a page asks for a file or address that is not shipped. Raises ValueError if there are attachments but
    no archive to hold them.
    """
    if attachments and not edition.is_archive:
        raise ValueError("only an archive holds attachments: PDF/UA-1 does not cover them")
    with use_locale(edition.profile.locale):
        if progress is not None:
            progress("writing")
        page = guide_page(result, catalog, edition)
        return page_pdf(page, attachments if edition.is_archive else None, result.request.date, progress)


# Pages of the answer asked last, by edition: web page and PDFs of one answer are asked one after the other.
_last: tuple[SizingResult, Catalog, dict[Edition, str]] | None = None


def guide_page(result: SizingResult, catalog: Catalog, edition: Edition) -> str:
    """HTML of the guide with a mark where the fonts go.

    Raises ReportError if a template names something that does not exist.
    """
    global _last
    last = _last
    if last is None or last[0] is not result or last[1] is not catalog:
        last = _last = (result, catalog, {})
    pages = last[2]
    if edition not in pages:
        pages[edition] = _made(result, catalog, edition)
    return pages[edition]


def _made(result: SizingResult, catalog: Catalog, edition: Edition) -> str:
    profile = edition.profile
    template = "summary.html" if edition.form == "summary" else "guide.html"
    variables = css_variables(profile.palette, profile.banner, profile.paper)
    # The engineer's file lists every document behind a number, the others those that they cite.
    keys = result.sources if edition.form == "engineer" else ()
    with use_locale(profile.locale):
        names = {"guide": guide(result, catalog, edition)}
        citations = Citations(catalog.sources, keys, are_graded=edition.form == "engineer")
        return rendered(template, names, citations, ("guide.css",), variables)
