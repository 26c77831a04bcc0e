"""Columns of the bill, the same in the workbook and in the CSV files (their order is what vendors' imports expect).

A customer's copy has one unit price and one amount a line instead of list prices, discounts and net prices.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from sizer.base.money import percent
from sizer.bom.bill import BY_OTHERS, Bill, BillLine
from sizer.export.files import PROVIDED_BY_OTHERS, TO_BE_QUOTED
from sizer.export.tables.table import Delimiter, csv_bytes
from sizer.present.text.bill_warnings import note_text
from sizer.sizing.result import SizingResult


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
    return tuple(replace(one, title=titles.get(one.key, "")) for one in _FULL if one.key not in _NOT_TOLD)


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
