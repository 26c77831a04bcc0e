"""The guide as one HTML page, from which the PDF is set, too."""

from sizer.base.errors import ReportError
from sizer.base.locale import use_locale
from sizer.catalog.model import Catalog
from sizer.guide.contradictions import overstatements
from sizer.guide.outline import guide
from sizer.guide.profile import GUIDE, Edition
from sizer.present.page import Citations, rendered, with_fonts_inside
from sizer.present.theme import css_variables
from sizer.sizing.result import SizingResult


def guide_html(result: SizingResult, catalog: Catalog, edition: Edition = GUIDE) -> str:
    """The guide as one HTML file that needs no other: fonts, logo and drawings are inside.

    Raises ReportError if a template names something that does not exist.
    """
    return with_fonts_inside(guide_page(result, catalog, edition))


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
        page = rendered(template, names, citations, ("guide.css",), variables)
    if edition.form != "engineer" and (found := overstatements(page, catalog)):
        raise ReportError(f"no document is written, because {'; '.join(found)}")
    return page
