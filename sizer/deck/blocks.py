"""What a slide consists of, before it is written: text, key figures, tables, drawings and charts in columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sizer.base.provenance import ASSUMPTION
from sizer.drawings.shapes import Drawing
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Table

# Slide of 16:9 and its parts. [pt]
SLIDE_WIDTH, SLIDE_HEIGHT = 960.0, 540.0
MARGIN = 40.0
# On every computer with PowerPoint, and narrower than the font of the documents, by whose widths text is fitted.
FONT = "Arial"


@dataclass(frozen=True)
class Area:
    """A rectangle on the slide. [pt]"""

    left: float
    top: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.top + self.height


BODY = Area(MARGIN, 118.0, SLIDE_WIDTH - 2 * MARGIN, 374.0)


@dataclass(frozen=True)
class Paragraphs:
    """Paragraphs, each a bullet unless the text has a single one; ``head`` stands above them in semibold."""

    paragraphs: tuple[str, ...]
    head: str = ""
    is_numbered: bool = False
    role: str = "ink"
    largest: float = 16.0  # type size where there is room [pt]


@dataclass(frozen=True)
class KeyFigure:
    """A large number with the words below it."""

    value: str
    label: str


@dataclass(frozen=True)
class KeyFigures:
    """Large numbers in a row."""

    figures: tuple[KeyFigure, ...]


@dataclass(frozen=True)
class TableBlock:
    """A native table. Rows that do not fit are left out from the end, and ``elsewhere`` says where they are."""

    table: Table
    elsewhere: str = "the guide lists them all"
    n_hidden: int = 0  # rows that were left out


@dataclass(frozen=True)
class DrawingBlock:
    """A drawing as shapes that can be edited, as large as it fits."""

    drawing: Drawing


ChartRole: TypeAlias = Literal["expected", "interval", "target", "published", "design"]


@dataclass(frozen=True)
class Series:
    """One series of a chart. ``label`` stands at its last point."""

    name: str
    points: tuple[tuple[float, float], ...]
    role: ChartRole
    label: str = ""


# The label of the design stands on its drop line, at the first of these shares of its rate that is clear of the target.
_LABEL_AT = (0.3, 0.6)
_CLEAR = 0.15  # of the rate


def drop_line(x: float, y: float, target: float | None) -> tuple[tuple[float, float], ...]:
    """Points of the line from the design down to its axis; the second one carries its label."""
    is_near = target is not None and abs(target - _LABEL_AT[0] * y) < _CLEAR * y
    return ((x, 0.0), (x, _LABEL_AT[is_near] * y), (x, y))


@dataclass(frozen=True)
class LineChart:
    """Native chart of lines and points over numbers, both axes from zero."""

    series: tuple[Series, ...]
    x_title: str
    y_title: str
    colour: str  # role of the expected line


@dataclass(frozen=True)
class ChartBlock:
    """A native chart whose data can be edited."""

    chart: LineChart
    note: str = ""


def with_columns(table: Table, widths: Mapping[int, int]) -> Table:
    """The table with some of its columns: the place of each and its width in percent, 0 as wide as the others."""
    columns = tuple(replace(table.columns[place], width=width) for place, width in widths.items())
    rows = tuple(replace(row, cells=tuple(row.cells[width] for width in widths)) for row in table.rows)
    return replace(table, columns=columns, rows=rows)


Block: TypeAlias = Paragraphs | KeyFigures | TableBlock | DrawingBlock | ChartBlock


@dataclass(frozen=True)
class SlideColumn:
    """Blocks from the top down; ``share`` of the width of the slide."""

    blocks: tuple[Block, ...]
    share: float = 1.0


@dataclass(frozen=True)
class Slide:
    """One slide: what it is about, its finding as title, its columns below an optional block, its speaker notes."""

    topic: str
    title: str
    columns: tuple[SlideColumn, ...]
    top: Block | None = None  # over the whole width
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TitleSlide:
    """The first slide."""

    kicker: str
    title: str
    subtitle: str
    facts: tuple[str, ...]  # customer, date, author
    figures: KeyFigures
    small_print: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Branding:
    """What every slide carries."""

    title: str  # of the presentation
    footer: str
    company: str = ""
    logo: bytes = b""  # PNG; empty without one


def area_columns(area: Area, columns: Sequence[SlideColumn], gap: float = 28.0) -> list[Area]:
    """Areas of the columns, left to right."""
    room = area.width - gap * (len(columns) - 1)
    total = sum(column.share for column in columns)
    areas, left = [], area.left
    for column in columns:
        width = room * column.share / total
        areas.append(Area(left, area.top, width, area.height))
        left += width + gap
    return areas


# Documents named on one slide at most; the guide lists them all.
_MOST = 8


def notes(context: GuideContext, reasons: Iterable[str], sources: Iterable[str] = ()) -> tuple[str, ...]:
    """Reasons, then the documents by title, publisher and date. ``sources`` are keys of the catalogue."""
    return (*filter(None, reasons), *_documents(context, sources))


def _documents(context: GuideContext, keys: Iterable[str]) -> Iterator[str]:
    known = context.catalog.sources
    cited = dict.fromkeys(known[key].id for key in keys if key in known and key != ASSUMPTION)
    named = [key for key in cited if not known[key].is_weak]
    if not cited:
        return
    yield "Sources of the figures:"
    for key in named[:_MOST]:
        source = known[key]
        parts = (source.title.rstrip("."), source.publisher.rstrip("."), source.date)
        yield words.sentence(", ".join(part for part in parts if part))
    if len(cited) > len(named):
        yield words.sentence(words.SECONDARY)
    if len(named) > _MOST:
        yield f"{words.capital(words.spelled(len(named) - _MOST))} more are in the list of sources of the guide."
