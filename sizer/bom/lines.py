"""From counted components to the lines of a bill, and to the cost of many designs at once."""

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from sizer.bom.bill import Bill, BillLine
from sizer.bom.money import round_money
from sizer.bom.prices import PriceBook, PriceQuote
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Item, Nic, Software, Support
from sizer.physical.plan import CATEGORIES, Component

Floats = NDArray[np.float64]

# A price older than this is called old in every quote.
OLD_PRICE_DAYS = 365
# What a licence metric calls its unit; everything else is counted in pieces.
_UNITS = {"raw-terabyte": "TB", "node": "node", "gpu": "GPU"}


def bill(
    components: Sequence[Component],
    catalog: Catalog,
    book: PriceBook,
    currency: str,
    quote_date: datetime.date | None,
) -> Bill:
    """Bill of one design.

    Parameters
    ----------
    components : sequence of Component
        Of one row (``slice_row``).
    catalog : Catalog
        Names, part numbers, ends of sale.
    book : PriceBook
        Unit prices.
    currency : str
        ISO 4217; a price in another currency is unknown.
    quote_date : datetime.date, optional
        Day that ends of sale and ages of prices are judged by; without it they are stated, not judged.

    Returns
    -------
    Bill
        Lines in the order of ``CATEGORIES``, equal items of one status and note on one line. ``total`` is the sum of
        the extended prices of lines with status "computed": existing equipment is not bought, options are not chosen.
    """
    lines: list[BillLine] = []
    present = [category for category in CATEGORIES if any(c.category == category for c in components)]
    for major, category in enumerate(present, start=1):
        merged = _merged(c for c in components if c.category == category)
        for minor, part in enumerate(merged, start=1):
            lines.append(_line(f"{major}.{minor}", part, catalog, book, currency))
    bought = [line for line in lines if line.status == "computed"]
    return Bill(
        currency=currency,
        lines=tuple(lines),
        total=sum((line.extended for line in bought if line.extended is not None), Decimal("0.00")),
        unpriced=tuple(dict.fromkeys(line.item for line in bought if line.unit_price is None)),
        warnings=tuple(_warnings(lines, catalog, currency, quote_date)),
    )


def row_cost(
    components: Iterable[Component], catalog: Catalog, book: PriceBook, currency: str
) -> tuple[Floats | None, tuple[str, ...]]:
    """Cost of the priced lines of every row, and the items that have no price.

    Parameters
    ----------
    components : iterable of Component
        Of all rows.
    catalog, book, currency
        As for ``bill``.

    Returns
    -------
    tuple
        Cost of what is priced, shape (rows,), or None where nothing but free items is priced; ids of bought items
        without a price. The cost is complete only where none of these is needed by the row. [currency]

    Notes
    -----
    Sums of cents stay exact in doubles up to 9e13, so a row's cost equals the total of its bill to the cent.
    """
    cents: Floats | None = None
    unpriced: dict[str, None] = {}
    for part in components:
        if part.status != "computed" or not part.quantity.any():
            continue
        item = catalog.item(part.item)
        if _is_free(item):
            continue
        quote = book.quote(part.item, currency)
        if quote is None:
            unpriced[part.item] = None
            continue
        cost = np.asarray(part.quantity * float(quote.amount * 100), dtype=np.float64)
        cents = cost if cents is None else cents + cost
    return (None if cents is None else cents / 100), tuple(unpriced)


def _merged(components: Iterable[Component]) -> list[Component]:
    """Components with equal item, status and note as one, in order of first appearance; none with quantity 0."""
    found: dict[tuple[str, str, str], Component] = {}
    for part in components:
        if part.quantity.size != 1:
            raise ValueError(f"a bill takes one row, got {part.quantity.size} quantities of {part.item}; use slice_row")
        if part.quantity[0] == 0:
            continue
        key = (part.item, part.status, part.note)
        if key in found:
            same = found[key]
            roles = same.role if part.role in same.role.split(", ") else f"{same.role}, {part.role}"
            part = Component(roles, part.category, part.item, same.quantity + part.quantity, part.note, part.status)
        found[key] = part
    return list(found.values())


def _line(number: str, part: Component, catalog: Catalog, book: PriceBook, currency: str) -> BillLine:
    item = catalog.item(part.item)
    quote = _unit_price(item, part, book, currency)
    metric = item.metric.value if isinstance(item, Software | Support) else ""
    role = "" if part.role in ("software", "support") else f"{part.role[:1].upper()}{part.role[1:]}: "
    detail = f", {part.note}" if part.note.startswith("with ") else ""
    notes = ["" if detail else part.note, quote.note if quote is not None else "", _end_of_sale_note(item)]
    return BillLine(
        line=number,
        category=part.category,
        item=part.item,
        manufacturer=item.vendor,
        sku=item.skus[0].value if item.skus else "",
        description=f"{role}{item.name}{detail}",
        quantity=int(part.quantity[0]),
        unit=_UNITS.get(metric, "EA"),
        unit_price=quote.amount if quote is not None else None,
        price_source=quote.source if quote is not None else "",
        price_date=quote.date if quote is not None else "",
        status=part.status,
        note="; ".join(note for note in notes if note),
    )


def _unit_price(item: Item, part: Component, book: PriceBook, currency: str) -> PriceQuote | None:
    if part.status == "existing":
        return None
    if isinstance(item, Software) and _is_free(item):
        # Zero by its source, not for want of a price.
        metric = item.metric
        how = "free of charge" if metric.value == "free" else "included with another line"
        return PriceQuote(round_money(Decimal(0)), currency, "", metric.source, metric.where, how)
    return book.quote(item.id, currency)


def _is_free(item: Item) -> bool:
    return isinstance(item, Software) and item.metric.value in ("free", "included")


def _end_of_sale_note(item: Item) -> str:
    return f"end of sale {item.end_of_sale.value}" if item.end_of_sale is not None else ""


def _warnings(
    lines: Sequence[BillLine], catalog: Catalog, currency: str, quote_date: datetime.date | None
) -> list[str]:
    warnings: dict[str, None] = {}
    unconfirmed: dict[str, None] = {}
    for line in lines:
        if line.status != "computed":
            continue
        item = catalog.item(line.item)
        is_hardware = isinstance(item, Device | Nic)
        if item.end_of_sale is not None and quote_date is not None:
            if _last_day(item.end_of_sale.value) < quote_date:
                warnings[f"{item.name}: sale ended {item.end_of_sale.value}; find the successor or a stock holder"] = (
                    None
                )
        elif item.end_of_sale is None and is_hardware:
            unconfirmed[item.name] = None
        if line.price_date and quote_date is not None:
            # The last day that the date may mean, so that "2018" is not called older than it is.
            age = (quote_date - _last_day(line.price_date)).days
            if age > OLD_PRICE_DAYS:
                warnings[f"{item.name}: its price is of {line.price_date}, more than a year old; ask for a quote"] = (
                    None
                )
        if line.unit_price is None and _has_other_currency(catalog, line.item, currency):
            warnings[f"{item.name}: priced in another currency only; nothing is converted, so it is to be quoted"] = (
                None
            )
    if unconfirmed:
        warnings[f"availability to be confirmed, no end of sale is published: {', '.join(unconfirmed)}"] = None
    return list(warnings)


def _has_other_currency(catalog: Catalog, item: str, currency: str) -> bool:
    return any(price.item == item and price.currency != currency for price in catalog.prices)


def _last_day(date: str) -> datetime.date:
    """Last day that an ISO date or its first part may mean."""
    parts = [int(part) for part in date.split("-")]
    year, month = parts[0], parts[1] if len(parts) > 1 else 12
    if len(parts) > 2:
        return datetime.date(year, month, parts[2])
    following = datetime.date(year + month // 12, month % 12 + 1, 1)
    return following - datetime.timedelta(days=1)
