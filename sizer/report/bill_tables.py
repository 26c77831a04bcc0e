"""Tables of what the design consists of and costs."""

from collections.abc import Container
from dataclasses import replace
from decimal import Decimal

from sizer.base.money import percent
from sizer.base.quantities import grouped
from sizer.bom.bill import Bill, BillLine, Sum
from sizer.bom.overrides import REQUEST
from sizer.catalog.model import Catalog
from sizer.catalog.wording import item_name, joined
from sizer.physical.counted import CATEGORIES
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
    "support": "Support",
    "service": "Services",
}
# What a status other than "computed" means to a reader.
STATUS_WORDS = {
    "overridden": "changed by the quote",
    "added": "added by the quote",
    "existing": "at hand, not bought",
    "optional": "optional, not in the total",
    "by others": "by others, not in the total",
}


def component_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """Every device of the design with its role and number; cables, software and services stand in the bill."""
    rows = [
        row(words.sentence(part.role).rstrip("."), item_name(part.item, catalog), grouped(int(part.quantity[0])))
        for part in design.quantities.components
        if int(part.quantity[0]) and part.category in ("compute", "head node", "storage", "network", "rack and power")
    ]
    heads = columns(("Role", "left", 35), ("Device", "left", 50), ("Number", "right", 15))
    return Table("devices", "Devices of the design", heads, tuple(rows))


def bill_table(bill: Bill, documents: Container[str] = ()) -> Table:
    """The bill by category. Unknown prices read 'to be quoted', totals over them 'at least'.

    ``documents`` are the keys of the sources that can be cited; other sources of prices are named in words.
    """
    rows: list[Row] = []
    for category in CATEGORIES:
        lines = bill.part(category).lines
        if lines:
            rows.append(row(_TITLES.get(category, words.sentence(category).rstrip(".")), kind="group"))
            rows += [_line(line, bill.has_discount, documents) for line in lines]
    n_blank = 5 if bill.has_discount else 4
    rows += [row("", label, *[""] * (n_blank - 1), amount, kind="total") for label, amount in total_rows(bill)]
    heads = columns(
        ("Line", "left", 6), ("Description", "left", 38), ("Part number", "left", 18), ("Qty", "right", 10),
        ("Unit list price", "right", 14), ("Extended", "right", 14),
    )  # fmt: skip
    if bill.has_discount:
        heads = columns(
            ("Line", "left", 6), ("Description", "left", 28), ("Part number", "left", 18), ("Qty", "right", 10),
            ("Unit list price", "right", 13), ("Discount", "right", 10), ("Extended net", "right", 15),
        )  # fmt: skip
    return Table("bill", "Bill of materials", heads, tuple(rows), price_note(bill), "bill")


def price_note(bill: Bill) -> str:
    """What the amounts of a bill are, and what is not in them."""
    kind = "Net prices after the discounts shown" if bill.has_discount else "List prices"
    until = f", valid until {bill.valid_until}" if bill.valid_until is not None else ""
    without = "taxes, freight and duties" if bill.has_discount else "taxes, freight, duties and discounts"
    return (
        f"{kind} without {without}; budgetary and not binding{until}. Part numbers are to be confirmed in the vendor's "
        "configurator before ordering."
    )


def total_rows(bill: Bill) -> list[tuple[str, str]]:
    """Labels and amounts at the end of a bill; what the discounts take off is told where there are any."""
    rows = []
    net = bill.net_total
    if bill.has_discount:
        rows.append((f"List prices, {bill.currency}", sum_text(bill.list_total)))
    if bill.deal_discount_percent:
        rows.append((f"Net prices, {bill.currency}", sum_text(net)))
        taken = words.TO_BE_QUOTED if net.is_unknown else f"\u2212{amount_text(bill.deal_reduction)}"
        share = f"{percent(bill.deal_discount_percent)}{words.NO_BREAK}%"
        rows.append((f"Discount of the deal, {share}", taken))
    return [*rows, (f"Total, {bill.currency}", sum_text(replace(net, amount=bill.total)))]


def sum_text(amount: Sum) -> str:
    """Sum as a bill prints it: 'to be quoted' where nothing is known of it, 'at least' while something is missing."""
    if amount.is_unknown:
        return words.TO_BE_QUOTED
    return f"{'at least ' if amount.n_open else ''}{amount_text(amount.amount)}"


def amount_text(amount: Decimal | None) -> str:
    """Amount without its currency, or 'to be quoted'."""
    return words.money(amount, "").strip()


def price_texts(line: BillLine) -> tuple[str, str, str]:
    """Unit list price, discount and extended net price of a line; what is not bought here says why instead."""
    if line.status in ("existing", "by others"):
        text = "at hand" if line.status == "existing" else "by others"
        return text, "", text
    discount = f"{percent(line.discount_percent)}{words.NO_BREAK}%" if line.discount_percent else ""
    if line.unit_price == 0:
        return "no charge", discount, "no charge"
    return amount_text(line.unit_price), discount, amount_text(line.extended_net)


def part_number(line: BillLine) -> Cell:
    """Part number of a line; a line that the quote adds may well have none."""
    return Cell(line.sku) if line.sku or not line.item else Cell("to be confirmed", is_muted=True)


def _line(line: BillLine, has_discount: bool, documents: Container[str]) -> Row:
    notes = [line.note] if line.note else []
    if line.status in STATUS_WORDS:
        notes.append(STATUS_WORDS[line.status])
    cites: tuple[str, ...] = ()
    where = f"price of {line.price_date}" if line.price_date else ""
    if line.unit_price is None or not line.price_source:
        where = ""
    elif line.price_source in documents:
        cites = (line.price_source,)
    else:
        # What the quote says itself its status tells.
        source = "" if line.price_source == REQUEST else line.price_source
        notes += [", ".join(part for part in (source, where) if part)]
        where = ""
    role, colon, rest = line.description.partition(": ")
    text = f"{role}: {joined(line.manufacturer, rest)}" if colon else joined(line.manufacturer, role)
    description = "; ".join(part for part in (words.capital(text), *notes) if part)
    counted = "" if line.unit in ("EA", "") else f"{words.NO_BREAK}{words.plural_of(line.quantity, line.unit)}"
    unit_price, discount, extended = price_texts(line)
    return row(
        line.line,
        Cell(description, cites=cites, where=where),
        part_number(line),
        grouped(line.quantity) + counted,
        unit_price,
        *([discount] if has_discount else []),
        extended,
    )
