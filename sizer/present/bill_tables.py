"""Tables of what the design consists of and costs."""

from collections.abc import Container, Mapping
from decimal import Decimal
from math import isfinite

from sizer.base.money import percent
from sizer.base.provenance import ASSUMPTION
from sizer.base.quantities import grouped, plain, si
from sizer.bom.bill import BY_OTHERS, Bill, BillLine, Sum
from sizer.bom.cost import category_ranges
from sizer.bom.overrides import REQUEST
from sizer.bom.ownership import rates_of
from sizer.bom.prices import prices_for
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.labels import item_name, with_maker
from sizer.catalog.model import Catalog
from sizer.drawings.racks import at_least
from sizer.physical.components import CATEGORIES, Component
from sizer.physical.racks.power import energy_kwh_per_year
from sizer.physical.roles import Role
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, fact_table, record_table, row
from sizer.present.text.bill_warnings import note_text
from sizer.present.text.money import price_basis_text, price_range_text, range_text
from sizer.sizing.result import DesignAnswer, SizingResult

CATEGORY_TITLES = {
    "compute": "Compute",
    "head node": "Head node",
    "storage": "Storage",
    "network": "Network",
    "cable and optic": "Cables and optics",
    "rack and power": "Racks and power",
    "cooling": "Cooling",
    "software": "Software",
    "support": "Support",
    "service": "Services",
}
# What a status means to a reader where the column of prices does not say it.
STATUS_WORDS = {
    "overridden": "changed by the quote",
    "added": "added by the quote",
    "optional": "optional, not in the total",
    BY_OTHERS: "provided by others, not in the total",
}


# What a sum is of while other lines await a quote.
PRICED = "Lines with a price"
# Categories of devices; the bill lists what fills and feeds the racks.
_DEVICES = ("compute", "head node", "storage", "network", "rack and power", "cooling")


def component_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """Every device of the design with its role and number; the bill lists cables, software and services, too."""
    parts: dict[tuple[str, str, str], int] = {}  # racks of one kind are counted once for each use
    for part in design.quantities.components:
        is_device = part.category in _DEVICES and part.role not in (Role.BLANKING_PANEL, Role.POWER_CORD)
        if is_device and int(part.quantity[0]):
            key = words.capital(part.role), item_name(part.item, catalog), _at_hand(part)
            parts[key] = parts.get(key, 0) + int(part.quantity[0])
    return record_table(
        "devices",
        "Devices of the design",
        parts.items(),
        [
            Field("Role", lambda part: part[0][0], width=35),
            Field("Device", lambda part: part[0][1] + part[0][2], width=50),
            Field("Number", lambda part: grouped(part[1]), "right", 15),
        ],
    )


def _at_hand(part: Component) -> str:
    return ", at hand" if part.status == "existing" else ""


def bill_table(bill: Bill, documents: Container[str] = (), ranges: Mapping[str, str] | None = None) -> Table:
    """The bill by category. Unknown prices read 'to be quoted'; what is free of charge is named below.

    ``documents`` are the keys of the sources that can be cited; other sources of prices are named in words.
    ``ranges``: budgetary price of a category, which its head says.
    """
    lines = [line for category in CATEGORIES for line in bill.part(category).lines]
    free = [
        line
        for line in lines
        if line.unit_price == 0 and line.status in ("computed", "optional") and not line.extended_net
    ]
    names = words.listed(
        with_maker(line.manufacturer, line.description) + " (optional)" * (line.status == "optional") for line in free
    )
    heads = {**CATEGORY_TITLES, **{key: f"{CATEGORY_TITLES[key]}: {text}" for key, text in (ranges or {}).items()}}
    fields = _fields(bill, documents)
    blank = [""] * (len(fields) - 3)
    return record_table(
        "bill",
        "Bill of materials",
        [line for line in lines if line not in free],
        fields,
        group=lambda line: heads[line.category],
        totals=[row("", label, *blank, amount, kind="total") for label, amount in total_rows(bill)],
        note=price_note(bill) + (f" Free of charge: {names}." if free else ""),
        style="bill",
    )


def _fields(bill: Bill, documents: Container[str]) -> list[Field[BillLine]]:
    """Columns of a bill: those of unit prices and discounts where there are any."""
    is_priced = any(line.unit_price or line.fixed_extended for line in bill.lines)
    is_cut, decimals = is_priced and bill.has_discount, _decimals(bill)
    unit = f"Unit {'' if bill.is_customer_copy else 'list '}price, {bill.currency}"
    price = f"{'Net price' if is_cut else 'Price'}, {bill.currency}"
    described = (24 if is_cut else 35) if is_priced else 48
    fields: list[tuple[bool, Field[BillLine]]] = [
        (True, Field("Line", lambda line: line.line, width=6)),
        (True, Field("Description", lambda line: _description(line, documents), width=described)),
        (True, Field("Part number", part_number, width=22)),
        (True, Field("Qty", _quantity, "right", 10)),
        (is_priced, Field(unit, lambda line: price_texts(line, decimals)[0], "right", 13)),
        (is_cut, Field("Discount", lambda line: price_texts(line)[1], "right", 10)),
        (True, Field(price, lambda line: price_texts(line, decimals)[2], "right", 15 if is_cut else 14)),
    ]
    return [field for is_shown, field in fields if is_shown]


def price_note(bill: Bill) -> str:
    """What the amounts of a bill are, and what is not in them."""
    if bill.is_customer_copy:
        kind = "Prices without taxes, freight and duties"
    elif bill.has_discount and not bill.net_total.amount:
        kind = "No line has a published price; the range is before discounts, and without taxes, freight and duties"
    elif bill.has_discount:
        kind = "Net prices after the discounts shown, without taxes, freight and duties"
    elif bill.net_total.amount:
        kind = "List prices without taxes, freight, duties and discounts"
    elif all(line.extended_net == 0 for line in bill.bought):
        return "Nothing is bought."
    else:
        kind = "No line has a published price; the range is without taxes, freight and duties"
    valid = "" if bill.valid_until is None else f", valid until {words.date(bill.valid_until)}"
    return (
        f"{kind}; budgetary and not binding{valid}. Confirm part numbers in the vendor's configurator before ordering."
    )


def total_rows(bill: Bill) -> list[tuple[str, str]]:
    """Labels and amounts at the end of a bill; what the discounts take off is a row where there are any.

    While lines await a quote there is no total, only a sum of those with a price.
    """
    rows, decimals = [], _decimals(bill)
    net = bill.net_total
    if bill.has_discount:
        rows.append((f"List prices, {bill.currency}", sum_text(bill.list_total, decimals)))
    if bill.deal_discount_percent:
        rows.append((f"Net prices, {bill.currency}", sum_text(net, decimals)))
        taken = words.TO_BE_QUOTED if net.is_unknown else f"\u2212{grouped(bill.deal_reduction, decimals)}"
        share = f"{percent(bill.deal_discount_percent)}{words.NO_BREAK}%"
        rows.append((f"Discount of the deal, {share}", taken))
    if bill.purchase.is_unknown:
        return rows
    return [*rows, (f"{'Total' if bill.is_complete else PRICED}, {bill.currency}", sum_text(bill.purchase, decimals))]


def _decimals(bill: Bill) -> int:
    """Decimals of all amounts of a bill: those of cents where one of them has any."""
    amounts = [bill.purchase.amount, bill.deal_reduction, *(line.unit_price or Decimal(0) for line in bill.lines)]
    return 2 if any(amount % 1 for amount in amounts) else 0


def sum_text(amount: Sum, decimals: int = 0) -> str:
    """Sum of what has a price, as a table prints it that says so; 'to be quoted' where nothing is known of it."""
    return words.TO_BE_QUOTED if amount.is_unknown else grouped(amount.amount, decimals)


def price_texts(line: BillLine, decimals: int = 2) -> tuple[str, str, str]:
    """Unit list price, discount and extended net price of a line; what is not bought here says why instead.

    In a customer's copy the unit price is what is paid, or "in the sum" where no whole cents make up the line.
    """
    if line.status in ("existing", BY_OTHERS):
        text = "at hand" if line.status == "existing" else "provided by others"
        return text, "", text
    discount = f"{percent(line.discount_percent)}{words.NO_BREAK}%" if line.discount_percent else ""
    if line.unit_price == 0:
        return "no charge", discount, "no charge"
    unit, total = (
        words.TO_BE_QUOTED if amount is None else grouped(amount, decimals)
        for amount in (line.unit_price, line.extended_net)
    )
    return unit if line.fixed_extended is None else "in the sum", discount, total


def part_number(line: BillLine) -> Cell:
    """Part number of a line; a line that the quote adds may well have none."""
    return Cell(line.sku) if line.sku or not line.item else Cell("to be confirmed", is_muted=True)


def _description(line: BillLine, documents: Container[str]) -> Cell:
    notes = list(filter(None, (note_text(line),)))
    if line.status in STATUS_WORDS and line.status != BY_OTHERS:  # the price says it
        notes.append(STATUS_WORDS[line.status])
    cites: tuple[str, ...] = ()
    where = f"price of {line.price_date}" if line.price_date else ""
    if line.unit_price is None or not line.price_source:
        where = ""
    elif line.price_source in documents and line.price_source != ASSUMPTION:
        cites = (line.price_source,)
    else:
        # The status tells what the quote itself says.
        source = {REQUEST: "", ASSUMPTION: "assumed"}.get(line.price_source, line.price_source)
        notes += [", ".join(part for part in (source, where) if part)]
        where = ""
    role, colon, rest = line.description.partition(": ")
    text = f"{role}: {with_maker(line.manufacturer, rest)}" if colon else with_maker(line.manufacturer, role)
    return Cell("; ".join(part for part in (words.capital(text), *notes) if part), cites=cites, where=where)


def _quantity(line: BillLine) -> str:
    unit = "" if line.unit in ("EA", "") else f"{words.NO_BREAK}{words.plural_of(line.quantity, line.unit)}"
    return grouped(line.quantity) + unit


def cost_table(result: SizingResult, catalog: Catalog) -> Table:
    """What is bought by category, what is paid every year, and the energy; estimates where prices are missing."""
    design, request = result.design, result.request
    bill, plan, site = design.bill, design.plan, request.site
    energy = si(1e3 * energy_kwh_per_year(sum(rack.typical_w for rack in plan.racks), site.pue_ratio or 1.0), "Wh")
    is_lower = any(rack.has_unknown_power for rack in plan.racks)
    tariff = "No tariff was given."
    if request.electricity_per_kwh is not None:
        where = "cost of ownership" if request.ownership is not None else "comparison with renting"
        share = rates_of(request).draw_fraction
        used = "" if share == 1 else f" at {words.percent(share)} of it, the mean over used and idle hours"
        tariff = f"The {where} includes its cost{used}."
    parts = [
        (CATEGORY_TITLES[category], text, _known(bill.part(category)))
        for category, text in category_prices(result, catalog).items()
    ]
    total = price_range_text(design).removeprefix(f"{bill.currency} ")
    deal = f"\u2212{grouped(bill.deal_reduction)}" if bill.deal_reduction and bill.is_complete else None
    return fact_table(
        "cost",
        "Price by category, and cost of operation",
        [
            *parts,
            ("Discount of the deal", deal, ""),
            row(
                "Price",
                total,
                price_basis_text(design),
                kind="total",
            ),
            ("Support and subscriptions per year", _yearly_text(bill), ""),
            (
                "Energy per year",
                at_least(is_lower, energy),
                f"PUE {plain(site.pue_ratio)}" if site.pue_ratio is not None else "without cooling: no PUE given",
            ),
        ],
        titles=("Part", f"Amount, {bill.currency}", "Lines with a price"),
        widths=(34, 26, 40),
        aligns=("left", "right", "left"),
        note=f"Energy is that of the typical draw, all year round. {tariff}",
        style="",
    )


def category_prices(result: SizingResult, catalog: Catalog, currency: str = "", share: float = 1.0) -> dict[str, str]:
    """Price of each category that something is bought of, a range of the market where lines await a quote.

    ``share``: of its pieces that are told.
    """
    bill, design = result.design.bill, result.design
    ranges = {}
    if not bill.is_complete and design.cost is not None:
        prices = unit_prices(catalog, prices_for(result.request, catalog), bill.currency, [0.0, 1.0])
        ranges = category_ranges(bill, design.platform, prices)
    parts = ((category, bill.part(category)) for category in CATEGORIES)
    return {
        category: _part_text(part, ranges.get(category), currency, share) for category, part in parts if part.bought
    }


def _known(part: Bill) -> str:
    return f"{len(part.bought) - part.net_total.n_open} of {words.plural(len(part.bought), 'line')}"


def _part_text(part: Bill, ends: tuple[float, float] | None, currency: str, share: float = 1.0) -> str:
    if not part.net_total.n_open:
        amount = float(part.net_total.amount) * share
        return f"{currency} {grouped(amount)}".strip() if amount else "no charge"
    return (
        words.TO_BE_QUOTED
        if ends is None or not isfinite(ends[1])
        else range_text(currency, *(share * end for end in ends))
    )


def _yearly_text(bill: Bill) -> str:
    yearly = bill.yearly
    if yearly.n_open:
        return words.TO_BE_QUOTED
    return grouped(yearly.amount) if yearly.amount else "not included"
