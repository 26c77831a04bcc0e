"""What every page shares: templates with their filters, numbers of tables and figures, style and fonts inside."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.exceptions import TemplateError
from jinja2.runtime import Context
from markupsafe import Markup, escape

from sizer.base.errors import ReportError
from sizer.base.provenance import ASSUMPTION
from sizer.base.quantities import NARROW_SPACE
from sizer.base.resources import data_dir
from sizer.base.texts import with_times_sign
from sizer.catalog.schema import Source
from sizer.present import words
from sizer.present.fonts.files import FONTS_GO_HERE, web_faces
from sizer.present.fonts.glyphs import readable
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.theme import css_variables


class Citations:
    """Numbers of the sources: those given first, then others as they come up; graded for those who know the grades."""

    def __init__(self, sources: Mapping[str, Source], keys: tuple[str, ...] = (), *, are_graded: bool = True) -> None:
        self._sources, self._are_graded = sources, are_graded
        self._numbers: dict[str, int] = {}
        for key in keys:
            self.number(key)

    def number(self, key: str) -> int | None:
        """Number of a source, or None for a key that is no document."""
        source = self._sources.get(key)
        if source is None or key == ASSUMPTION or self.is_weak(key):
            return None
        return self._numbers.setdefault(source.id, len(self._numbers) + 1)

    def is_weak(self, key: str) -> bool:
        """Whether a customer is told to have a fact confirmed instead: press, forums and unsigned papers prove none."""
        source = self._sources.get(key)
        return not self._are_graded and source is not None and source.is_weak

    def name(self, key: str) -> str:
        """Name of a source that is no document, such as the request itself; of a weak one what to do about it."""
        if self.is_weak(key):
            return words.SECONDARY
        return words.name(key.replace("-", " "))

    def table(self) -> Table:
        """All cited documents. The last call of a rendering: what comes up later is missing."""
        grade = Field[tuple[int, Source]]("Grade", lambda pair: pair[1].grade, width=10)
        return record_table(
            "sources",
            "Documents that the numbers come from",
            [(number, self._sources[key]) for key, number in self._numbers.items()],
            [
                Field("No.", lambda pair: f"[{pair[0]}]", width=6),
                Field(
                    "Title, publisher and place",
                    lambda pair: _title(pair[1], has_commits=self._are_graded),
                    width=67 if self._are_graded else 70,
                ),
                Field("Date", lambda pair: _date(pair[1]), width=17 if self._are_graded else 24),
                *([grade] if self._are_graded else []),
            ],
            style="sources",
        )


# A commit, or files by a pattern.
_FOR_PROGRAMS = re.compile(r",? *(?:commits? |file version )?\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|, [^,]*\*[^,]*")


def _title(source: Source, *, has_commits: bool) -> str:
    where = source.where if has_commits else _FOR_PROGRAMS.sub("", source.where)
    parts = (source.title, _begun(source.publisher), _begun(where))
    return ". ".join(part.rstrip(". ") for part in parts if part) + "."


def _begun(text: str) -> str:
    """Text as it begins a sentence; addresses and repositories keep their letters."""
    is_address = any(mark in text.split(" ")[0] for mark in "./")
    return text if is_address else words.capital(text)


def _date(source: Source) -> str | Cell:
    if source.date:
        return source.date
    return Cell(f"not dated, read {source.read}" if source.read else "not dated", is_muted=True)


# More figures than these are named by the first and the last.
_MOST_LINKS = 4
# A unit stands behind a number and a narrow no-break space; it is printed lighter.
_UNIT = re.compile(rf"(?<=[\d)]){NARROW_SPACE}([A-Za-zµ%][A-Za-zµ%/]*)")


def rendered(
    template: str,
    names: Mapping[str, Any],
    citations: Citations,
    styles: tuple[str, ...],
    variables: str | None = None,
) -> str:
    """A page with a mark where the fonts go. What a user wrote can neither leave its place nor turn its line.

    ``template``: file under ``reports/``. ``names``: what the template sees besides captions, references, sources and
    style. ``citations``: numbers of its documents; grows as the page is made. ``styles``: style sheets under
    ``reports/``, in their order. ``variables``: CSS with the colours and sizes that the sheets use, instead of the
    program's own. Raises ReportError if a template names something that does not exist.
    """
    captions = Captions()
    shared = {
        "citations": citations,
        "sources": citations.table,
        "caption": captions.caption,
        "ref": captions.ref,
        "refs": captions.refs,
        # Our own style sheets; nothing of a user is in them.
        "style": Markup(
            (css_variables() if variables is None else variables)
            + "".join((data_dir("reports") / file).read_text(encoding="utf-8") for file in styles)
        ),
    }
    try:
        page = _environment().get_template(template)
        for _ in range(2):
            captions.restart()
            text = page.render(**shared, **names)
    except TemplateError as error:
        raise ReportError(f"{getattr(error, 'name', None) or 'reports/' + template}: {error.message}") from error
    # Names of the catalogue have a letter between two numbers; sentences have the sign.
    return readable(with_times_sign(text))


def with_fonts_inside(page: str) -> str:
    """The page with the packed fonts in it, so that it needs no other file."""
    return page.replace(FONTS_GO_HERE, web_faces(page), 1)


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
        return _label(kind, self._numbers.setdefault((kind, id_), count))

    def ref(self, kind: str, id_: str) -> Markup:
        """Link to a table or figure by its number."""
        number = self._known.get((kind, id_), 0)
        return Markup('<a class="ref" href="#{}">{}</a>').format(id_, _label(kind, number))

    def refs(self, kind: str, figures: Sequence[Any]) -> Markup:
        """Links to several figures that follow one another; of many to the first and the last."""
        links = [self.ref(kind, figure.id) for figure in figures]
        if len(links) > _MOST_LINKS:
            return Markup("{} to {}").format(links[0], links[-1])
        if len(links) == 1:
            return links[0]
        return Markup("{} and {}").format(Markup(", ").join(links[:-1]), links[-1])


def _label(kind: str, number: int) -> str:
    return f"{kind}{NARROW_SPACE}{number}"


@cache
def _environment() -> Environment:
    """Templates are compiled once; what belongs to one page comes with its names."""
    environment = Environment(
        loader=FileSystemLoader(data_dir("reports")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        {
            "text": _text,
            "cite": _cite,
            "cites": _cites,
            # Drawings are made by our own writers, which escape every name.
            "drawing": Markup,
        }
    )
    return environment


@pass_context
def _cite(context: Context, key: str, where: str = "") -> Markup:
    citations: Citations = context["citations"]
    number = citations.number(key)
    place = f", {where}" if where else ""
    if number is None:
        return _text(citations.name(key) if citations.is_weak(key) else f"{citations.name(key)}{place}")
    return Markup('<a class="cite" href="#source-{0}">[{0}]</a>{1}').format(number, place)


@pass_context
def _cites(context: Context, keys: Sequence[str], where: str = "") -> Markup:
    """Several sources, the last with its place; those that a customer is not told, in one remark."""
    citations: Citations = context["citations"]
    weak = [key for key in keys if citations.is_weak(key)]
    told = [key for key in keys if key not in weak]
    links = [_cite(context, key, where if key == keys[-1] else "") for key in (*told, *weak[:1])]
    return Markup(" ").join(links)


def _text(value: object) -> Markup:
    """Text with its units in a lighter grey."""
    return Markup(_UNIT.sub(rf'<span class="unit">{NARROW_SPACE}\1</span>', str(escape(value))))
