"""The guide as one HTML page and as a PDF. The only module that imports WeasyPrint, and only when a PDF is asked."""

import logging
import re
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.exceptions import TemplateError
from markupsafe import Markup, escape

from sizer.base.errors import ReportError
from sizer.base.quantities import NARROW_SPACE, duration, si
from sizer.base.resources import data_dir
from sizer.catalog.model import Catalog
from sizer.report import words
from sizer.report.context import Citations, Guide, guide
from sizer.report.fonts import ASSETS, FONTS, print_faces, web_faces
from sizer.report.pango import load_pango, weasyprint_state
from sizer.report.theme import css_variables
from sizer.sizing.result import SizingResult

# Place in the page where the rules of the fonts go; they differ between web page and PDF.
_FONTS_GO_HERE = "/*fonts*/"
# A unit stands behind a number and a narrow no-break space; it is printed lighter.
_UNIT = re.compile(rf"(?<=[\d)]){NARROW_SPACE}([A-Za-zµ%][A-Za-zµ%/]*)")


def guide_html(result: SizingResult, catalog: Catalog) -> str:
    """The guide as one HTML file that needs no other: fonts and drawings are inside.

    Raises
    ------
    ReportError
        If a template names something that does not exist.
    """
    return _with_fonts_inside(_page(result, catalog))


def _with_fonts_inside(page: str) -> str:
    return page.replace(_FONTS_GO_HERE, web_faces(page), 1)


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

    page = page.replace(_FONTS_GO_HERE, print_faces(), 1)
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


class _Captions:
    """Numbers of tables and figures in the order of the document; a first pass finds them for forward references."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._known: dict[tuple[str, str], int] = {}

    def restart(self) -> None:
        """Keep what a pass found, and count anew."""
        self._known, self._numbers = self._numbers, {}

    def caption(self, kind: str, id_: str) -> str:
        """'Table 3', counted up."""
        count = 1 + sum(one == kind for one, _ in self._numbers)
        number = self._numbers.setdefault((kind, id_), count)
        return f"{kind}{NARROW_SPACE}{number}"

    def ref(self, kind: str, id_: str) -> Markup:
        """Link to a table or figure by its number."""
        number = self._known.get((kind, id_), 0)
        return Markup('<a class="ref" href="#{}">{}</a>').format(id_, f"{kind}{NARROW_SPACE}{number}")


# The page made last, with what it was made from: web page and PDF of one answer are asked one after the other.
_last_page: tuple[SizingResult, Catalog, str] | None = None


def _page(result: SizingResult, catalog: Catalog) -> str:
    """HTML of the guide with a mark where the fonts go."""
    global _last_page
    last = _last_page
    if last is None or last[0] is not result or last[1] is not catalog:
        last = (result, catalog, _rendered(result, catalog))
        _last_page = last
    return last[2]


def _rendered(result: SizingResult, catalog: Catalog) -> str:
    prepared = guide(result, catalog)
    citations = Citations(catalog, result.sources)
    captions = _Captions()
    environment = _environment(citations)
    try:
        template = environment.get_template("guide.html")
        for _ in range(2):
            captions.restart()
            page = template.render(**_names(prepared, citations, captions))
    except TemplateError as error:
        raise ReportError(f"{getattr(error, 'name', None) or 'reports/guide.html'}: {error.message}") from error
    return page


def _names(prepared: Guide, citations: Citations, captions: _Captions) -> dict[str, Any]:
    style = (data_dir("reports") / "guide.css").read_text(encoding="utf-8")
    return {
        "guide": prepared,
        "sources": citations.table,
        "caption": captions.caption,
        "ref": captions.ref,
        # Our own style sheet; nothing of the request is in it.
        "style": Markup(css_variables() + style),
    }


def _environment(citations: Citations) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(data_dir("reports")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def cite(key: str, where: str = "") -> Markup:
        number = citations.number(key)
        place = f", {where}" if where else ""
        if number is None:
            return _text(f"{citations.name(key)}{place}")
        return Markup('<a class="cite" href="#source-{0}">[{0}]</a>{1}').format(number, place)

    environment.filters.update(
        {
            "text": _text,
            "cite": cite,
            "si": lambda value, unit: _text(si(float(value), unit)),
            "duration": lambda value: _text(duration(float(value))),
            "estimate": lambda value, unit: _text(words.estimate(value, unit)),
            "percent": lambda value: _text(words.percent(float(value))),
            # Drawings are made by our own writers, which escape every name.
            "drawing": Markup,
        }
    )
    return environment


def _text(value: object) -> Markup:
    """Text with its units in a lighter grey."""
    return Markup(_UNIT.sub(rf'<span class="unit">{NARROW_SPACE}\1</span>', str(escape(value))))
