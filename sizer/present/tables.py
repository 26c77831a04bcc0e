"""Tables, prepared cell by cell: templates only print them; and as aligned text for a terminal."""

import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from sizer.base.provenance import ASSUMPTION, Sourced
from sizer.catalog.schema import Port
from sizer.present import words

Align: TypeAlias = Literal["left", "right"]
RowKind: TypeAlias = Literal["", "group", "total", "strong"]
T = TypeVar("T")


@dataclass(frozen=True)
class Cell:
    """Text of a cell with the keys of its sources."""

    text: str
    cites: tuple[str, ...] = ()
    where: str = ""  # place inside the source
    is_muted: bool = False
    is_open: bool = False  # the result of a check that a missing fact leaves open; it prints in amber
    stage: str = ""  # key of a stage whose colour marks the cell
    chapter: str = ""  # id of a chapter that the cell leads to

    @property
    def is_unknown(self) -> bool:
        """Whether the cell says that nobody knows; it prints in muted italics."""
        return self.is_muted or self.text in (words.TO_BE_QUOTED, words.NOT_PUBLISHED)


@dataclass(frozen=True)
class Row:
    """One row; ``kind`` 'group' heads the rows below it, 'total' sums the rows above, 'strong' stands out."""

    cells: tuple[Cell, ...]
    kind: RowKind = ""


@dataclass(frozen=True)
class Column:
    """Head of a column; ``width`` in percent, 0 leaves it to the content."""

    title: str
    align: Align = "left"
    width: int = 0


@dataclass(frozen=True)
class Table:
    """A table with its caption. ``id`` is unique in the document."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    style: str = ""

    def __post_init__(self) -> None:
        # Columns that some tables have besides must not push them over the margin.
        if (total := sum(column.width for column in self.columns)) > 100:
            fitted = tuple(replace(column, width=100 * column.width // total) for column in self.columns)
            object.__setattr__(self, "columns", fitted)


def row(*cells: str | Cell, kind: RowKind = "") -> Row:
    """Row from texts and cells."""
    return Row(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells), kind)


def columns(*titles: str | tuple[str, Align] | tuple[str, Align, int]) -> tuple[Column, ...]:
    """Columns from titles, optionally with alignment and width."""
    return tuple(Column(title) if isinstance(title, str) else Column(*title) for title in titles)


@dataclass(frozen=True)
class Field(Generic[T]):
    """A column of a table of records: its head and what a record prints in it."""

    title: str
    text: Callable[[T], str | Cell]
    align: Align = "left"
    width: int = 0


def record_table(
    id_: str,
    caption: str,
    records: Iterable[T],
    fields: Sequence[Field[T]],
    *,
    kind: Callable[[T], RowKind] = lambda _: "",
    group: Callable[[T], str] = lambda _: "",
    totals: Sequence[Row] = (),
    note: str = "",
    style: str = "",
) -> Table:
    """Table with one row for each record and one column for each field.

    ``kind`` marks rows; ``group`` names what the records of a stretch have in common, which heads their rows;
    ``totals`` are the rows below all records.
    """
    rows: list[Row] = []
    for name, members in groupby(records, key=group):
        if name:
            rows.append(row(name, kind="group"))
        rows += [row(*(field.text(record) for field in fields), kind=kind(record)) for record in members]
    heads = tuple(Column(field.title, field.align, field.width) for field in fields)
    return Table(id_, caption, heads, (*rows, *totals), note, style)


def fact_table(
    id_: str,
    caption: str,
    facts: Iterable[Sequence[str | Cell | None] | Row],
    *,
    titles: Sequence[str] = ("", ""),
    widths: Sequence[int] = (45, 55),
    aligns: Sequence[Align] = (),
    note: str = "",
    style: str = "facts",
) -> Table:
    """Table of labels with their values, left aligned by default. A fact whose value is None is omitted."""
    rows = [fact if isinstance(fact, Row) else row(*map(_cell, fact)) for fact in facts if _is_given(fact)]
    left: Align = "left"
    columns = (Column(*column) for column in zip(titles, aligns or [left] * len(titles), widths, strict=True))
    return Table(id_, caption, tuple(columns), tuple(rows), note, style)


def _is_given(fact: Sequence[str | Cell | None] | Row) -> bool:
    return isinstance(fact, Row) or None not in fact


def _cell(value: str | Cell | None) -> Cell:
    assert value is not None, "only facts with a value become rows"
    return value if isinstance(value, Cell) else Cell(value)


PORT_USES = {
    "compute": "compute fabric",
    "storage-network": "storage network",
    "in-band": "in-band network",
    "storage": "storage",
    "management": "management",
    "bmc": "BMC",
    "fabric": "uplinks",
    "back-end": "back end",
    "any": "",
}


def basis_note(basis: str) -> str:
    """What stands behind a value that no source states as it is: ', assumed'."""
    return f", {words.name(basis)}" if basis in ("assumed", "derived") else ""


def port_text(port: Port) -> str:
    """Number, kinds and use of some ports: '4 × EDR or 100 GbE, compute fabric'."""
    kinds = [port.kind.name, *(other.name for other in port.also)]
    use = f", {PORT_USES[port.use]}" if PORT_USES[port.use] else ""
    note = basis_note(port.basis) if port.basis == "assumed" else ""
    return f"{port.count} × {words.listed(kinds, 'or')}{use}{note}"


def source_cell(fact: Sourced[Any] | Port, text: str = "") -> Cell:
    """Text with the source of a fact and the place in it; an assumption states its reason instead."""
    if fact.basis != "assumed":
        return Cell(text, cites=(fact.source,), where=fact.where)
    reason = words.sentence(f"assumption: {words.inside_sentence(fact.note)}") if fact.note else "Assumption."
    cites = () if fact.source == ASSUMPTION else (fact.source,)
    return Cell(f"{text} {reason}".strip(), cites=cites)


# Letters of a line, and those of a word that no narrowing breaks.
WIDTH = 110
_WORD = 24
_GAP = "  "


def table_text(table: Table, width: int = WIDTH) -> str:
    """Caption, heads, rows and note of a table.

    ``table``: sources of its cells are left out: they stand in the guide. ``width``: letters of a line. The widest
    columns are narrowed until it fits; a table of many columns may stay wider.

    Examples
    --------
    >>> from sizer.present.tables import columns, row
    >>> made = Table("x", "Servers", columns("Server", ("GPUs", "right")), (row("DGX-1", "8"), row("C4140", "4")))
    >>> print(table_text(made))
    Servers
    Server  GPUs
    ------------
    DGX-1      8
    C4140      4
    """
    heads = [clean(column.title) for column in table.columns]
    body = [[clean(cell.text) for cell in row.cells] for row in table.rows]
    counted = [cells for row, cells in zip(table.rows, body, strict=True) if row.kind != "group"]
    widths = _widths([heads, *counted], width)
    rights = [column.align == "right" for column in table.columns]
    lines = [clean(table.caption)] if table.caption else []
    if any(heads):
        lines += [*_lines(heads, widths, rights), "-" * (sum(widths) + len(_GAP) * (len(widths) - 1))]
    for row, cells in zip(table.rows, body, strict=True):
        lines += [cells[0]] if row.kind == "group" else _lines(cells, widths, rights)
    if table.note:
        lines += textwrap.wrap(clean(table.note), width)
    return "\n".join(line.rstrip() for line in lines)


def _lines(cells: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> list[str]:
    """One row on as many lines as its longest cell needs."""
    parts = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, widths, strict=True)]
    tallest = max(len(part) for part in parts)
    return [
        _GAP.join(
            f"{part[number] if number < len(part) else '':{'>' if right else '<'}{width}}"
            for part, width, right in zip(parts, widths, rights, strict=True)
        )
        for number in range(tallest)
    ]


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Letters of each column."""
    widths = [max(1, *(len(cell) for cell in column)) for column in zip(*rows, strict=True)]
    least = [
        max([1, *(min(len(word), _WORD) for cell in column for word in cell.split())])
        for column in zip(*rows, strict=True)
    ]
    room = width - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room:
        loose = [index for index, letters in enumerate(widths) if letters > least[index]]
        if not loose:
            break
        widths[max(loose, key=lambda place: widths[place])] -= 1
    return widths


def clean(text: str) -> str:
    """Text without what would move the cursor or colour the terminal: names come from users."""
    return "".join(" " if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") else one for one in text)
