"""Tables of cells, and their CSV text."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from sizer.export.files import harmless

# Spreadsheets take a file for UTF-8 only when it starts with this mark.
BYTE_ORDER_MARK = "\ufeff"
Delimiter = Literal[",", ";"]


def csv_bytes(
    heads: Sequence[str],
    rows: Iterable[Sequence[str | int | float | Decimal | None]],
    *,
    mark: str = BYTE_ORDER_MARK,
    delimiter: Delimiter = ",",
) -> bytes:
    """CSV file with a head, in UTF-8.

    ``rows``: text that a spreadsheet would calculate gets an apostrophe in front; None is an empty cell. Decimal
    numbers are written with all their digits. ``mark``: what the file starts with. ``delimiter``: ";" is what
    spreadsheets expect where the comma marks decimals; numbers are then written with a comma.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow([harmless(head) for head in heads])
    decimal_mark = "," if delimiter == ";" else "."
    writer.writerows([_text(cell, decimal_mark) for cell in row] for row in rows)
    return (mark + stream.getvalue()).encode("utf-8")


def _text(cell: str | int | float | Decimal | None, decimal_mark: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return harmless(cell)
    number = f"{cell:f}" if isinstance(cell, Decimal) else f"{cell:.10g}"
    return number.replace(".", decimal_mark)


def csv_of_batches(names: Sequence[str], batches: Iterable[Any]) -> bytes:
    """CSV file of the ``pyarrow.RecordBatch`` of a table, read one after the other.

    Dates as ISO, lists separated by ";", so that read again the cells say the same request; text that a spreadsheet
    would calculate is made harmless.
    """
    rows = (row for batch in batches for row in zip(*map(_cells, batch.columns), strict=True))
    return csv_bytes(names, rows)


def _cells(column: Any) -> list[Any]:
    return [_cell(cell) for cell in column.to_pylist()]


def _cell(cell: Any) -> Any:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list):
        return ";".join(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else cell


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
