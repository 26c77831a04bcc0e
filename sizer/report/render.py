"""The guide as one HTML page and as a PDF. The only module that imports WeasyPrint, and only when a PDF is asked."""

import logging
from typing import Any

from sizer.base.errors import ReportError
from sizer.catalog.model import Catalog
from sizer.report.citations import Citations
from sizer.report.context import guide
from sizer.report.fonts import ASSETS, FONTS, print_faces
from sizer.report.page import FONTS_GO_HERE, rendered, with_fonts_inside
from sizer.report.pango import load_pango, weasyprint_state
from sizer.sizing.result import SizingResult


def guide_html(result: SizingResult, catalog: Catalog) -> str:
    """The guide as one HTML file that needs no other: fonts and drawings are inside.

    Raises
    ------
    ReportError
        If a template names something that does not exist.
    """
    return with_fonts_inside(_page(result, catalog))


def guide_pdf(result: SizingResult, catalog: Catalog) -> bytes:
    """The guide as PDF/UA-1. The same result gives the same bytes with the same libraries.

    Raises
    ------
    ReportError
        In one sentence, if WeasyPrint or Pango is missing or a template is damaged.
    """
    return _pdf(_page(result, catalog))


def _pdf(page: str) -> bytes:
    missing = weasyprint_state()
    if missing is not None:
        raise ReportError(missing)
    load_pango()
    import weasyprint

    page = page.replace(FONTS_GO_HERE, print_faces(), 1)
    # Font sub-setting logs what it drops; that is no news for the user.
    for name in ("fontTools", "fontTools.subset", "weasyprint", "weasyprint.progress"):
        logging.getLogger(name).setLevel(logging.ERROR)
    document = weasyprint.HTML(string=page, base_url=ASSETS, url_fetcher=_fetcher())
    pdf: bytes = document.write_pdf(pdf_variant="pdf/ua-1")
    return pdf


def _fetcher() -> Any:
    """Fetcher that gives the shipped fonts and data URIs, and nothing from the disk or the net."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class PackagedOnly(URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: dict[str, str] | None = None) -> Any:
            if url.startswith("data:"):
                return super().fetch(url, headers)
            font = next((one for one in FONTS if url == ASSETS + one.file), None)
            if font is None:
                raise ValueError(f"the guide may not load {url[:80]}")
            return URLFetcherResponse(url, font.path.read_bytes(), {"Content-Type": "font/ttf"})

    return PackagedOnly()


# The page made last, with what it was made from: web page and PDF of one answer are asked one after the other.
_last_page: tuple[SizingResult, Catalog, str] | None = None


def _page(result: SizingResult, catalog: Catalog) -> str:
    """HTML of the guide with a mark where the fonts go."""
    global _last_page
    last = _last_page
    if last is None or last[0] is not result or last[1] is not catalog:
        names = {"guide": guide(result, catalog)}
        page = rendered("guide.html", names, Citations(catalog.sources, result.sources), ("guide.css",))
        last = (result, catalog, page)
        _last_page = last
    return last[2]
