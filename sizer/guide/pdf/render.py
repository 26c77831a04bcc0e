"""The guide as one HTML page and as a PDF. WeasyPrint is imported only for a PDF."""

import contextlib
import logging
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from sizer.base.errors import ReportError
from sizer.base.locale import use_locale
from sizer.catalog.model import Catalog
from sizer.guide.edition import GUIDE, Edition
from sizer.guide.outline import guide
from sizer.guide.pdf.attachments import attached
from sizer.guide.pdf.progress import Progress, reported_steps
from sizer.present.citations import Citations
from sizer.present.fonts.files import ASSETS, print_faces
from sizer.present.fonts.glyphs import drawable
from sizer.present.fonts.pango import load_pango, weasyprint_state
from sizer.present.page import FONTS_GO_HERE, rendered, with_fonts_inside
from sizer.present.theme import css_variables
from sizer.sizing.result import SizingResult

NO_FILES: Mapping[str, bytes] = {}


def guide_html(result: SizingResult, catalog: Catalog, edition: Edition = GUIDE) -> str:
    """The guide as one HTML file that needs no other: fonts, logo and drawings are inside.

    Raises
    ------
    ReportError
        If a template names something that does not exist.
    """
    return with_fonts_inside(_page(result, catalog, edition))


def guide_pdf(
    result: SizingResult,
    catalog: Catalog,
    edition: Edition = GUIDE,
    attachments: Mapping[str, bytes] = NO_FILES,
    progress: Progress | None = None,
) -> bytes:
    """The guide as PDF/UA-1, or as PDF/A-3b for an archive.

    The same arguments give the same bytes with the same libraries, and the same text and number of pages with others.

    Parameters
    ----------
    result, catalog
        The answer, and what it was made from.
    edition : Edition, default the customer guide
        Form and looks.
    attachments : mapping of str to bytes
        Files to put into an archive, by their names.
    progress : callable, optional
        Called with a word whenever another part of the work begins.

    Raises
    ------
    ReportError
        In one sentence, if WeasyPrint or Pango is missing, a template is damaged, or a page asks for a file or address
        that is not shipped.
    ValueError
        If there are attachments but no archive to hold them.
    """
    if attachments and not edition.is_archive:
        raise ValueError("only an archive holds attachments: PDF/UA-1 does not cover them")
    missing = weasyprint_state()
    if missing is not None:
        raise ReportError(missing)
    with use_locale(edition.profile.locale):
        if progress is not None:
            progress("writing")
        page = _page(result, catalog, edition)
        with reported_steps(progress):
            if not edition.is_archive:
                return _pdf(page)
            # Tags are no part of level B, but cost little and serve readers of archives, too.
            files = attached(attachments, result.request.date)
            with _quiet_about_files():
                return _pdf(page, pdf_variant="pdf/a-3b", pdf_tags=True, attachments=files)


def _pdf(page: str, **options: object) -> bytes:
    load_pango()
    import weasyprint
    from weasyprint.urls import FatalURLFetchingError

    from sizer.guide.pdf.tagging import mended

    page = drawable(page).replace(FONTS_GO_HERE, print_faces(), 1)
    # Font sub-setting logs what it drops; that is no news for the user.
    for name in ("fontTools", "fontTools.subset", "weasyprint"):
        logging.getLogger(name).setLevel(logging.ERROR)
    fetcher = _fetcher()
    # Fonts and parsed style are not kept for the next document: that would save 0.01 of 4 s.
    with contextlib.suppress(FatalURLFetchingError):
        document = weasyprint.HTML(string=page, base_url=ASSETS, url_fetcher=fetcher)
        pdf: bytes = document.write_pdf(finisher=mended, **{"pdf_variant": "pdf/ua-1", **options})
        if not fetcher.refused:
            return pdf
    raise ReportError(f"a template of the guide is damaged: {fetcher.refused[0]}")


@contextlib.contextmanager
def _quiet_about_files() -> Iterator[None]:
    """Ignore the warning about the colour profile that WeasyPrint 70 leaves open after reading it for an archive."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def _fetcher() -> Any:
    """Fetcher with everything that a page may load; WeasyPrint must be installed."""
    from sizer.guide.pdf.packaged import PackagedOnly

    return PackagedOnly()


# Pages of the answer asked last, by edition: web page and PDFs of one answer are asked one after the other.
_last: tuple[SizingResult, Catalog, dict[Edition, str]] | None = None


def _page(result: SizingResult, catalog: Catalog, edition: Edition) -> str:
    """HTML of the guide with a mark where the fonts go."""
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
        return rendered(template, names, Citations(catalog.sources, keys), ("guide.css",), variables)
