"""Tables of what the design consists of and costs."""

from collections.abc import Container
from dataclasses import replace
from decimal import Decimal

from sizer.base.money import percent
from sizer.base.quantities import grouped, plain, si
from sizer.bom.bill import Bill, BillLine, Sum
from sizer.bom.overrides import REQUEST
from sizer.catalog.labels import item_name, joined
from sizer.catalog.model import Catalog
from sizer.drawings.racks import at_least
from sizer.physical.components import CATEGORIES
from sizer.physical.racks.power import energy_kwh_per_year
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import DesignAnswer, SizingResult

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
        row(words.capital(part.role), item_name(part.item, catalog), grouped(int(part.quantity[0])))
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
            rows.append(row(_TITLES[category], kind="group"))
            rows += [_line(line, bill.has_discount, documents) for line in lines]
    n_blank = 5 if bill.has_discount else 4
    rows += [row("", label, *[""] * (n_blank - 1), amount, kind="total") for label, amount in total_rows(bill)]
    unit_price = "Unit price" if bill.is_customer_copy else "Unit list price"
    heads = columns(
        ("Line", "left", 6),
        ("Description", "left", 35),
        ("Part number", "left", 18),
        ("Qty", "right", 13),
        (unit_price, "right", 14),
        ("Extended", "right", 14),
    )
    if bill.has_discount:
        heads = columns(
            ("Line", "left", 6),
            ("Description", "left", 26),
            ("Part number", "left", 17),
            ("Qty", "right", 13),
            ("Unit list price", "right", 13),
            ("Discount", "right", 10),
            ("Extended net", "right", 15),
        )
    return Table("bill", "Bill of materials", heads, tuple(rows), price_note(bill), "bill")


def price_note(bill: Bill) -> str:
    """What the amounts of a bill are, and what is not in them."""
    if bill.is_customer_copy:
        kind = "Prices without taxes, freight and duties"
    elif bill.has_discount:
        kind = "Net prices after the discounts shown without taxes, freight and duties"
    else:
        kind = "List prices without taxes, freight, duties and discounts"
    if bill.valid_until is None:
        told = f"{kind}; budgetary and not binding."
    else:
        told = f"{kind}; budgetary and not binding, valid until {words.date(bill.valid_until)}."
    return told + " " + "Part numbers are to be confirmed in the vendor's configurator before ordering."


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
    return at_least(amount.n_open > 0, amount_text(amount.amount))


def amount_text(amount: Decimal | None) -> str:
    """Amount without its currency, or 'to be quoted'."""
    return words.money(amount, "").strip()


def price_texts(line: BillLine) -> tuple[str, str, str]:
    """Unit list price, discount and extended net price of a line; what is not bought here says why instead.

    In a customer's copy the unit price is what is paid, or "in the sum" where no whole cents make up the line.
    """
    if line.status in ("existing", "by others"):
        text = "at hand" if line.status == "existing" else "by others"
        return text, "", text
    discount = f"{percent(line.discount_percent)}{words.NO_BREAK}%" if line.discount_percent else ""
    if line.unit_price == 0:
        return "no charge", discount, "no charge"
    unit_price = amount_text(line.unit_price) if line.fixed_extended is None else "in the sum"
    return unit_price, discount, amount_text(line.extended_net)


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


def cost_table(result: SizingResult) -> Table:
    """What is bought once, what comes back every year, and the energy that runs it."""
    bill, plan = result.design.bill, result.design.plan
    rows = []
    for category in CATEGORIES:
        part = bill.part(category)
        if part.bought:
            known = f"{len(part.bought) - part.net_total.n_open} of {len(part.bought)} lines"
            rows.append(row(_TITLES[category], _part_text(part.net_total), known))
    rows.append(row("Bought once", sum_text(bill.one_off), "", kind="total"))
    rows.append(row("Support and subscriptions, a year", _yearly_text(bill), ""))
    typical = sum(rack.typical_w for rack in plan.racks)
    pue = result.request.site.pue_ratio
    energy = si(1e3 * energy_kwh_per_year(typical, pue or 1.0), "Wh")
    is_lower = any(rack.has_unknown_power for rack in plan.racks)
    how = f"PUE {plain(pue)}" if pue is not None else "without cooling: no PUE was given"
    rows.append(row("Energy, a year", at_least(is_lower, energy), how))
    heads = columns(
        ("Part", "left", 40),
        (f"Amount, {bill.currency}", "right", 30),
        ("Known", "left", 30),
    )
    note = "Energy is that of the typical draw, all year round. A tariff turns it into money; none was given."
    rental = result.request.rental
    if rental is not None and rental.electricity_per_kwh is not None:
        note = "Energy is that of the typical draw, all year round. What it costs stands below, beside renting."
    return Table("cost", "What it costs to buy and to run", heads, tuple(rows), note)


def _part_text(amount: Sum) -> str:
    return "no charge" if not amount.n_open and not amount.amount else sum_text(amount)


def _yearly_text(bill: Bill) -> str:
    yearly = bill.yearly
    return "none" if not yearly.n_open and not yearly.amount else sum_text(yearly)
