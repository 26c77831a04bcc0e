"""A table of plain cells: the form in which the plan reaches the workbook, the CSV files and the app."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Cell, ...]
T = TypeVar("T")

AT_LEAST = "at least"


@dataclass(frozen=True)
class Sheet:
    """One table. Cells of ``numeric`` columns are numbers, or None where the value is not known; others are text."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: frozenset[str]
    notes: tuple[str, ...] = ()  # sentences to print below it


@dataclass(frozen=True)
class SheetColumn(Generic[T]):
    """A column of a sheet: its head and the cell of a record in it."""

    head: str
    cell: Callable[[T], Cell]


class Number(SheetColumn[T]):
    """A column of numbers, None where a value is not known."""


def record_sheet(
    title: str, records: Iterable[T], columns: Sequence[SheetColumn[T]], notes: tuple[str, ...] = ()
) -> Sheet:
    """Sheet with one row for each record."""
    rows = tuple(tuple(column.cell(record) for column in columns) for record in records)
    numeric = frozenset(column.head for column in columns if isinstance(column, Number))
    return Sheet(title, tuple(column.head for column in columns), rows, numeric, notes)


def semicolon_list(*notes: str) -> str:
    """The notes that are not empty, separated by semicolons."""
    return "; ".join(note for note in notes if note)
