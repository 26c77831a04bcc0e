"""What every page shares: templates with their filters, numbers of tables and figures, style and fonts inside."""

import re
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.exceptions import TemplateError
from markupsafe import Markup, escape

from sizer.base.errors import ReportError
from sizer.base.quantities import NARROW_SPACE, duration, si
from sizer.base.resources import data_dir
from sizer.report import words
from sizer.report.citations import Citations
from sizer.report.fonts import web_faces
from sizer.report.theme import css_variables

# Place in the page where the rules of the fonts go; they differ between web page and PDF.
FONTS_GO_HERE = "/*fonts*/"
# A unit stands behind a number and a narrow no-break space; it is printed lighter.
_UNIT = re.compile(rf"(?<=[\d)]){NARROW_SPACE}([A-Za-zµ%][A-Za-zµ%/]*)")


def rendered(template: str, names: Mapping[str, Any], citations: Citations, styles: tuple[str, ...]) -> str:
    """A page with a mark where the fonts go.

    Parameters
    ----------
    template : str
        File under ``reports/``.
    names : mapping
        What the template sees besides captions, references, sources and style.
    citations : Citations
        Numbers of its documents; grows as the page is made.
    styles : tuple of str
        Style sheets under ``reports/``, in their order.

    Raises
    ------
    ReportError
        If a template names something that does not exist.
    """
    captions = Captions()
    shared = {
        "sources": citations.table,
        "caption": captions.caption,
        "ref": captions.ref,
        # Our own style sheets; nothing of a user is in them.
        "style": Markup(css_variables() + "".join(_style_sheet(file) for file in styles)),
    }
    environment = _environment(citations)
    try:
        page = environment.get_template(template)
        for _ in range(2):
            captions.restart()
            text = page.render(**shared, **names)
    except TemplateError as error:
        raise ReportError(f"{getattr(error, 'name', None) or 'reports/' + template}: {error.message}") from error
    return text


def with_fonts_inside(page: str) -> str:
    """The page with the packed fonts in it, so that it needs no other file."""
    return page.replace(FONTS_GO_HERE, web_faces(page), 1)


def _style_sheet(file: str) -> str:
    return (data_dir("reports") / file).read_text(encoding="utf-8")


class Captions:
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
