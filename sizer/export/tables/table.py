"""Tables of cells, and their CSV text."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from sizer.base.money import percent
from sizer.bom.bill import BY_OTHERS, Bill, BillLine
from sizer.export.files import PROVIDED_BY_OTHERS, TO_BE_QUOTED, harmless
from sizer.present.text.bill_warnings import note_text
from sizer.sizing.result import SizingResult

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


def bill_csv(result: SizingResult, delimiter: Delimiter = ",") -> bytes:
    """Bill of the documented design, a row a line, without totals.

    ``delimiter``: ";" for spreadsheets where the comma marks decimals. UTF-8 with a byte-order mark. Unknown prices
    read "to be quoted", in a customer's copy a unit price that no whole cents make up "in the sum".
    """
    bill = result.design.bill
    heads = [column.head for column in columns(bill)]
    return csv_bytes(heads, [values(line, bill) for line in bill.lines], delimiter=delimiter)


CellKind = Literal["text", "wrap", "integer", "money", "percent", "number"]
Value = str | int | float | Decimal | None


@dataclass(frozen=True)
class BillColumn:
    """One column: its head, its width in the workbook in characters, and the kind of its cells."""

    key: str  # head in the full bill, by which the code finds the column
    width: float
    kind: CellKind
    title: str = ""  # head where it differs

    @property
    def head(self) -> str:
        return self.title or self.key


def _columns(*given: tuple[str, float, CellKind]) -> tuple[BillColumn, ...]:
    return tuple(BillColumn(key, width, kind) for key, width, kind in given)


_FULL = _columns(
    ("Line", 6, "text"),
    ("Group", 8, "text"),
    ("Category", 15, "text"),
    ("Manufacturer", 14, "wrap"),
    ("SKU", 21, "wrap"),
    ("Description", 44, "wrap"),
    ("Qty", 8, "integer"),
    ("UoM", 7, "text"),
    ("Unit list price", 15, "money"),
    ("Discount %", 9, "percent"),
    ("Unit net price", 15, "money"),
    ("Extended list", 17, "money"),
    ("Extended net", 17, "money"),
    ("Currency", 8, "text"),
    ("Term (months)", 9, "integer"),
    ("Lead time (weeks)", 9, "integer"),
    ("Power max, each (W)", 9, "number"),
    ("Power typical, each (W)", 9, "number"),
    ("Rack units, each", 8, "number"),
    ("Weight, each (kg)", 9, "number"),
    ("Price source", 22, "wrap"),
    ("Price date", 11, "text"),
    ("Status", 12, "text"),
    ("Notes", 38, "wrap"),
)
_NOT_TOLD = ("Discount %", "Unit net price", "Extended list")


def columns(bill: Bill) -> tuple[BillColumn, ...]:
    """Columns of a bill in their order."""
    if not bill.is_customer_copy:
        return _FULL
    titles = {"Unit list price": "Unit price", "Extended net": "Extended price"}
    return tuple(replace(column, title=titles.get(column.key, "")) for column in _FULL if column.key not in _NOT_TOLD)


def instead_of_price(line: BillLine) -> str:
    """Text in place of the price of a line."""
    if line.fixed_extended is not None:
        return "in the sum"
    return {"existing": "at hand", BY_OTHERS: PROVIDED_BY_OTHERS}.get(line.status, TO_BE_QUOTED)


def values(line: BillLine, bill: Bill) -> tuple[Value, ...]:
    """Cells of one line in the order of ``columns``; None where nothing is known."""

    def money(amount: Decimal | None) -> Value:
        return instead_of_price(line) if amount is None else amount

    cells: tuple[Value, ...] = (
        line.line,
        line.group,
        line.category,
        line.manufacturer,
        line.sku,
        line.description,
        line.quantity,
        line.unit,
        money(line.unit_price),
        Decimal(percent(line.discount_percent)),
        money(line.unit_net_price),
        money(line.extended_list),
        money(line.extended_net),
        bill.currency,
        line.term_months,
        line.lead_time_weeks,
        line.power_max_w,
        line.power_typical_w,
        line.rack_units,
        line.weight_kg,
        line.price_source,
        line.price_date,
        line.status,
        note_text(line),
    )
    shown = {column.key for column in columns(bill)}
    return tuple(cell for column, cell in zip(_FULL, cells, strict=True) if column.key in shown)
