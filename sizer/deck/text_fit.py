"""Whether text fits: lines and heights by the widths of Inter, with slack for the font that replaces it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.deck.blocks import Area, Block, ChartBlock, DrawingBlock, KeyFigures, Paragraphs, TableBlock
from sizer.drawings.shapes import text_width, wrapped
from sizer.export.files import printable
from sizer.present.tables import Cell, Row, Table

# Type sizes of text and tables, the largest that fits is used. [pt]
SIZES = (16.0, 15.0, 14.0, 13.0, 12.0)
LEADING = 1.25
# Space after a paragraph and inside a cell, as shares of the type size.
PARAGRAPH_GAP, CELL_PAD, CELL_SIDE = 0.45, 0.32, 0.5
_BULLET_INDENT, _NUMBER_INDENT = 1.1, 1.6
GAP = 14.0  # between blocks [pt]
FIGURES_HEIGHT = 66.0
FIGURE_SIZE, FIGURE_LABEL_SIZE = 26.0, SIZES[-1]
_LARGEST_TABLE = 15.0
# A font that stands in for Inter may be wider by this share: DejaVu Sans in bold by 19 %.
_SLACK, _BOLD_SLACK = 1.13, 1.19
_NO_LIMIT = 1000
# Lines of a cell at most: a text that a user wrote may be as long as a page.
_CELL_LINES = 8
_LEAST_PICTURE = 150.0
# Points a pixel at most: a small drawing stays smaller than its area rather than coarse.
MAX_SCALE = 1.5


def lines_of(text: str, size: float, width: float, *, semibold: bool = False, most: int = _NO_LIMIT) -> tuple[str, ...]:
    """Lines into which a text breaks in a width; what is over ``most`` ends in an ellipsis."""
    return wrapped(printable(text), size * _slack(semibold=semibold), width, semibold=semibold, max_lines=most)


def _slack(*, semibold: bool) -> float:
    return _BOLD_SLACK if semibold else _SLACK


@dataclass(frozen=True)
class FittedTable:
    """A table whose cells hold what is shown of them, with the heights of its rows. [pt]"""

    table: Table
    size: float
    widths: tuple[float, ...]
    heights: tuple[float, ...]  # of the head, where there is one, and of every row
    note: str

    @property
    def has_head(self) -> bool:
        """Whether a column has a title."""
        return any(column.title for column in self.table.columns)


@dataclass(frozen=True)
class PlacedBlock:
    """A block with its place and its type size."""

    block: Block
    area: Area
    size: float
    table: FittedTable | None = None


def placed(blocks: Sequence[Block], area: Area) -> list[PlacedBlock]:
    """Blocks from the top of an area down, in the largest type with which all fit."""
    for size in SIZES:
        placed_blocks = _placed_in(blocks, area, size)
        if placed_blocks is not None:
            return placed_blocks
    return _cut_to_fit(blocks, area)


def _placed_in(blocks: Sequence[Block], area: Area, size: float) -> list[PlacedBlock] | None:
    """Places in one type size; None where they do not fit."""
    tables = {
        n: fitted_table(block, area.width, min(size, _LARGEST_TABLE))
        for n, block in enumerate(blocks)
        if isinstance(block, TableBlock)
    }
    fixed = [
        sum(tables[n].heights) + note_height(tables[n].note, area.width) if n in tables
        else _height(block, area.width, size)
        for n, block in enumerate(blocks)
    ]  # fmt: skip
    known = sum(height for height in fixed if height is not None) + GAP * (len(blocks) - 1)
    left = area.height - known
    most = [_most_height(block, area.width) for block in blocks]
    pictures = sorted((n for n, height in enumerate(fixed) if height is None), key=lambda n: most[n])
    if left < sum(min(_LEAST_PICTURE, most[n]) for n in pictures):
        return None
    # Drawings that need less than their share leave it to the others.
    for index, n in enumerate(pictures):
        fixed[n] = min(left / (len(pictures) - index), most[n])
        left -= fixed[n] or 0.0
    found, top = [], area.top
    for n, (block, height) in enumerate(zip(blocks, fixed, strict=True)):
        assert height is not None  # every picture has its own
        found.append(PlacedBlock(block, Area(area.left, top, area.width, height), size, tables.get(n)))
        top += height + GAP
    return found


def _most_height(block: Block, width: float) -> float:
    """Height that a picture can use: a drawing keeps its proportions."""
    if isinstance(block, DrawingBlock):
        drawing = block.drawing
        return drawing.height * min(width / drawing.width, MAX_SCALE)
    return math.inf


def _cut_to_fit(blocks: Sequence[Block], area: Area) -> list[PlacedBlock]:
    """Places in the smallest type, the longest text or table shortened line by line until all fit."""
    shortened = list(blocks)
    while True:
        placed_blocks = _placed_in(shortened, area, SIZES[-1])
        if placed_blocks is not None:
            return placed_blocks
        heights = [(_block_height(block, area.width), n) for n, block in enumerate(shortened)]
        _, longest = max(heights)
        shortened[longest] = _shorter(shortened[longest])


def _block_height(block: Block, width: float) -> float:
    if isinstance(block, TableBlock):
        n_rows = sum(row.kind != "total" for row in block.table.rows)
        return sum(fitted_table(block, width, SIZES[-1]).heights) if n_rows > 1 else 0.0
    if isinstance(block, Paragraphs) and len(block.paragraphs) > 1:
        return _height(block, width, SIZES[-1]) or 0.0
    return 0.0


def _shorter(block: Block) -> Block:
    """The block without its last entry."""
    if isinstance(block, TableBlock):
        rows = [row for row in block.table.rows if row.kind != "total"]
        totals = [row for row in block.table.rows if row.kind == "total"]
        table = replace(block.table, rows=(*rows[:-1], *totals))
        return replace(block, table=table, n_hidden=block.n_hidden + 1)
    assert isinstance(block, Paragraphs)
    return replace(block, paragraphs=block.paragraphs[:-1])


def _height(block: Block, width: float, size: float) -> float | None:
    """Height of a block; None for a picture, which takes what is left."""
    match block:
        case Paragraphs():
            return text_height(block, width, size)
        case KeyFigures():
            return FIGURES_HEIGHT
        case DrawingBlock() | ChartBlock():
            return None
        case TableBlock():
            raise AssertionError("tables are fitted before")


def text_height(text: Paragraphs, width: float, size: float) -> float:
    """Height of paragraphs in a type size. [pt]"""
    size = min(size, text.largest)
    room = width - (indent(size, is_numbered=text.is_numbered) if has_bullets(text) else 0.0)
    n_lines = sum(max(len(lines_of(paragraph, size, room)), 1) for paragraph in text.paragraphs)
    gaps = PARAGRAPH_GAP * size * max(len(text.paragraphs) - 1, 0)
    head = len(lines_of(text.head, size, width, semibold=True)) * LEADING * size + PARAGRAPH_GAP * size
    return n_lines * LEADING * size + gaps + (head if text.head else 0.0)


def indent(size: float, *, is_numbered: bool) -> float:
    """Room for the mark before a paragraph. [pt]"""
    return size * (_NUMBER_INDENT if is_numbered else _BULLET_INDENT)


def has_bullets(text: Paragraphs) -> bool:
    """Whether paragraphs are marked: a single one needs no mark."""
    return len(text.paragraphs) > 1 or text.is_numbered


def note_height(note: str, width: float) -> float:
    """Height of a note with the gap above it. [pt]"""
    return len(lines_of(note, SIZES[-1], width)) * LEADING * SIZES[-1] + 5.0 if note else 0.0


def fitted_table(block: TableBlock, width: float, size: float) -> FittedTable:
    """The table with the text that fits its cells."""
    table = block.table
    if block.n_hidden:
        totals = [row for row in table.rows if row.kind == "total"]
        rest = Cell(f"{block.n_hidden} more: {block.elsewhere}", is_muted=True)
        hidden = Row((rest, *[Cell("")] * (len(table.columns) - 1)), "group")
        table = replace(table, rows=(*table.rows[: len(table.rows) - len(totals)], hidden, *totals))
    widths = _widths(table, width)
    pad, side = CELL_PAD * size, CELL_SIDE * size
    heads = [column.title for column in table.columns]
    heights = [_row_height(heads, widths, size, semibold=True)] if any(heads) else []
    rows = []
    for one in table.rows:
        if one.kind == "group":
            (text, *_) = one.cells
            lines = lines_of(text.text, size, sum(widths) - 2 * side, semibold=True, most=2)
            cells = (replace(text, text=" ".join(lines)), *one.cells[1:])
            heights.append(LEADING * size * max(len(lines), 1) + 2 * pad)
        else:
            bold = one.kind in ("total", "strong")
            cells = tuple(
                replace(cell, text=" ".join(lines_of(cell.text, size, w - 2 * side, semibold=bold, most=_CELL_LINES)))
                for cell, w in zip(one.cells, widths, strict=False)
            )
            heights.append(_row_height([cell.text for cell in cells], widths, size, semibold=bold))
        rows.append(replace(one, cells=cells))
    return FittedTable(replace(table, rows=tuple(rows)), size, widths, tuple(heights), table.note)


def _widths(table: Table, width: float) -> tuple[float, ...]:
    shares = [float(column.width) for column in table.columns]
    if not all(shares):
        shares = [1.0] * len(shares)
    return tuple(width * share / sum(shares) for share in shares)


def _row_height(texts: Sequence[str], widths: Sequence[float], size: float, *, semibold: bool) -> float:
    pad, side = CELL_PAD * size, CELL_SIDE * size
    pairs = zip(texts, widths, strict=False)
    most = max((len(lines_of(text, size, width - 2 * side, semibold=semibold)) for text, width in pairs), default=1)
    return math.ceil(LEADING * size * max(most, 1) + 2 * pad)


def _fits(text: str, size: float, width: float, n_lines: int) -> bool:
    """Whether a text fits into lines without an ellipsis."""
    lines = lines_of(text, size, width, semibold=True)
    return len(lines) <= n_lines and " ".join(lines) == " ".join(filter(None, printable(text).split(" ")))


def largest_size(text: str, sizes: Sequence[float], width: float, n_lines: int) -> float:
    """The largest of some sizes with which a semibold text fits into a number of lines, else the smallest."""
    fits = (size for size in sizes if _fits(text, size, width, n_lines))
    return next(fits, sizes[-1])


def width_of(text: str, size: float, *, semibold: bool = False) -> float:
    """Width of a line with its slack. [pt]"""
    return _slack(semibold=semibold) * text_width(text, size, semibold=semibold)
