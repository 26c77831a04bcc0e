"""The guide as one HTML page and as a PDF. The only module that imports WeasyPrint, and only when a PDF is asked."""

import base64
import io
import logging
import re
from functools import cache
from pathlib import Path
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
from sizer.report.pango import load_pango, weasyprint_state
from sizer.report.theme import css_variables
from sizer.sizing.result import SizingResult

# Weight and style of the shipped font files that the style sheet uses.
_FONTS = (
    ("Inter-Regular.ttf", 400, "normal"),
    ("Inter-Italic.ttf", 400, "italic"),
    ("Inter-SemiBold.ttf", 600, "normal"),
)
_ASSETS = "asset:"
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


def guide_files(result: SizingResult, catalog: Catalog) -> dict[str, bytes]:
    """``guide.html`` and ``guide.pdf`` of one result, with the charts drawn once for both.

    Raises
    ------
    ReportError
        As for ``guide_pdf``.
    """
    page = _page(result, catalog)
    return {"guide.html": _with_fonts_inside(page).encode("utf-8"), "guide.pdf": _pdf(page)}


def _with_fonts_inside(page: str) -> str:
    fonts = "".join(
        _font_face(weight, style, f"data:font/woff2;base64,{base64.b64encode(data).decode('ascii')}", "woff2")
        for (_, weight, style), data in ((font, _subset(font[0], "".join(sorted(set(page))))) for font in _FONTS)
    )
    return page.replace("/*fonts*/", fonts, 1)


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

    fonts = "".join(_font_face(weight, style, f"{_ASSETS}{name}", "truetype") for name, weight, style in _FONTS)
    page = page.replace("/*fonts*/", fonts, 1)
    # Font sub-setting logs what it drops; that is no news for the user.
    for name in ("fontTools", "fontTools.subset", "weasyprint", "weasyprint.progress"):
        logging.getLogger(name).setLevel(logging.ERROR)
    document = weasyprint.HTML(string=page, base_url=_ASSETS, url_fetcher=_fetcher())
    pdf: bytes = document.write_pdf(pdf_variant="pdf/ua-1")
    return pdf


def _fetcher() -> Any:
    """Fetcher that gives the shipped fonts and data URIs, and nothing from the disk or the net."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class PackagedOnly(URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: dict[str, str] | None = None) -> Any:
            if url.startswith("data:"):
                return super().fetch(url, headers)
            name = url.removeprefix(_ASSETS)
            if not url.startswith(_ASSETS) or name not in {font for font, _, _ in _FONTS}:
                raise ValueError(f"the guide may not load {url[:80]}")
            return URLFetcherResponse(url, _font_file(name).read_bytes(), {"Content-Type": "font/ttf"})

    return PackagedOnly()


def _font_file(name: str) -> Path:
    return data_dir("reports") / "fonts" / name


def _font_face(weight: int, style: str, url: str, kind: str) -> str:
    return (
        f'@font-face{{font-family:"Inter";font-weight:{weight};font-style:{style};'
        f'src:url("{url}") format("{kind}");}}\n'
    )


@cache
def _subset(name: str, characters: str) -> bytes:
    """WOFF2 of the characters that the page uses: a tenth of the whole font."""
    from fontTools import subset

    logging.getLogger("fontTools.subset").setLevel(logging.ERROR)
    options = subset.Options(flavor="woff2", layout_features=["kern", "mark", "mkmk", "ccmp", "tnum", "calt"])
    options.drop_tables += ["DSIG"]
    font = subset.load_font(str(_font_file(name)), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    font.flavor = "woff2"
    font.recalcTimestamp = False
    stream = io.BytesIO()
    font.save(stream)
    return stream.getvalue()


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


def _page(result: SizingResult, catalog: Catalog) -> str:
    """HTML of the guide with a mark where the fonts go."""
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
