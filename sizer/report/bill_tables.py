"""Tables of what the design consists of and costs."""

from decimal import Decimal

from sizer.base.quantities import grouped
from sizer.bom.bill import Bill, BillLine
from sizer.catalog.model import Catalog
from sizer.catalog.wording import item_name, joined
from sizer.physical.plan import CATEGORIES
from sizer.report import words
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import DesignAnswer

_TITLES = {
    "compute": "Compute",
    "head node": "Head node",
    "storage": "Storage",
    "network": "Network",
    "cable and optic": "Cables and optics",
    "rack and power": "Racks and power",
    "software": "Software",
    "support": "Support and services",
}
_STATUS = {"existing": "at hand, not bought", "optional": "optional, not in the total"}


def component_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """Every device of the design with its role and number; cables, software and services stand in the bill."""
    rows = [
        row(words.sentence(part.role).rstrip("."), item_name(part.item, catalog), grouped(int(part.quantity[0])))
        for part in design.quantities.components
        if int(part.quantity[0]) and part.category in ("compute", "head node", "storage", "network", "rack and power")
    ]
    heads = columns(("Role", "left", 35), ("Device", "left", 50), ("Number", "right", 15))
    return Table("devices", "Devices of the design", heads, tuple(rows))


def bill_table(bill: Bill) -> Table:
    """The bill by category. Unknown prices read 'to be quoted', totals over them 'at least'."""
    rows: list[Row] = []
    known = [category for category in CATEGORIES if any(line.category == category for line in bill.lines)]
    others = dict.fromkeys(line.category for line in bill.lines if line.category not in CATEGORIES)
    for category in [*known, *others]:
        lines = [line for line in bill.lines if line.category == category]
        rows.append(row(_TITLES.get(category, words.sentence(category).rstrip(".")), kind="group"))
        rows += [_line(line) for line in lines]
    rows.append(row("", f"Total, {bill.currency}", "", "", "", _total(bill), kind="total"))
    heads = columns(
        ("Line", "left", 6), ("Description", "left", 38), ("Part number", "left", 18), ("Qty", "right", 10),
        ("Unit list price", "right", 14), ("Extended", "right", 14),
    )  # fmt: skip
    note = (
        "List prices without taxes, freight, duties and discounts. Part numbers are to be confirmed in the vendor's "
        "configurator before ordering."
    )
    return Table("bill", "Bill of materials", heads, tuple(rows), note, "bill")


def _line(line: BillLine) -> Row:
    notes = [line.note] if line.note else []
    if line.status != "computed":
        notes.append(_STATUS.get(line.status, line.status))
    cites: tuple[str, ...] = ()
    where = ""
    if line.unit_price is not None and line.price_source:
        cites, where = (line.price_source,), f"price of {line.price_date}" if line.price_date else ""
    role, colon, rest = line.description.partition(": ")
    text = f"{role}: {joined(line.manufacturer, rest)}" if colon else joined(line.manufacturer, role)
    description = f"{words.capital(text)}; {'; '.join(notes)}" if notes else words.capital(text)
    counted = "" if line.unit in ("EA", "") else f"{words.NO_BREAK}{words.plural_of(line.quantity, line.unit)}"
    quantity = grouped(line.quantity) + counted
    if line.status == "existing":
        unit_price = extended = "at hand"
    else:
        unit_price, extended = _amount(line.unit_price), _amount(line.extended)
    return row(
        line.line,
        Cell(description, cites=cites, where=where),
        Cell(line.sku) if line.sku else Cell("to be confirmed", is_muted=True),
        quantity,
        unit_price,
        extended,
    )


def _amount(amount: Decimal | None) -> str:
    if amount is None:
        return words.TO_BE_QUOTED
    return "no charge" if amount == 0 else words.money(amount, "").strip()


def _total(bill: Bill) -> str:
    if not bill.unpriced:
        return _amount(bill.total)
    return words.TO_BE_QUOTED if bill.total == 0 else f"at least {_amount(bill.total)}"
