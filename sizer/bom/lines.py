"""From counted components to the lines of a bill, and to the cost of many designs at once."""

import datetime
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.dates import days_of, years_after
from sizer.base.money import round_money
from sizer.base.quantities import grouped, si
from sizer.bom.bill import Bill, BillLine, BillWarning, BillWarningKind, LineNote, LineNoteKind, stated
from sizer.bom.overrides import added, overridden, whole_items
from sizer.bom.prices import PriceBook, unfitted
from sizer.catalog.items import Item
from sizer.catalog.labels import capital, memory_size
from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold
from sizer.catalog.schema import Device, Nic, Pdu, Port, Rack, Server, Software, Storage, Support
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.components import CATEGORIES, Component
from sizer.physical.networks.ports import nodes_of
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.racks.power import device_power
from sizer.physical.roles import Role
from sizer.workload.quote import Quote

# A price older than this is called old in every quote.
OLD_PRICE_DAYS = 365
# Service that ends within so many years after the date of need is told. Assumed: the term that servers and storage are
# commonly bought with support for.
SERVICE_YEARS = 3

_Warnings = Iterator[BillWarning]
_Numbered = tuple[tuple[str, BillWarning], ...]


def warnings(
    bill: Bill, catalog: Catalog, quote_date: datetime.date | None, needed_by: datetime.date | None = None
) -> tuple[BillWarning, ...]:
    """Warnings of a bill, each once.

    ``catalog``: ends of sale and service, prices in other currencies. ``quote_date``: without it nothing is called old
    or ended. ``needed_by``: day on which everything must be there; with it lead times become dates of order.
    """
    listed: dict[BillWarning, None] = {}
    unconfirmed: dict[str, None] = {}
    for line in bill.bought:
        if line.item:
            item = catalog.item(line.item)
            successor = () if item.successor is None else (catalog.item(item.successor.value).name,)
            ends = tuple(_end_warnings(item, successor, quote_date, bill.valid_until, needed_by))
            if item.end_of_sale is None and item.end_of_service is not None:
                listed[BillWarning(BillWarningKind.SERVICE_END_KNOWN, (item.name, item.end_of_service.value))] = None
            elif isinstance(item, Device | Nic) and not (item.end_of_sale or _is_past(item, catalog, quote_date)):
                unconfirmed[item.name] = None
            listed.update(dict.fromkeys(ends))
        listed.update(dict.fromkeys(_price_warnings(line, bill, catalog, quote_date)))
    listed.update(dict.fromkeys(_unfitted_warnings(catalog)))
    if unconfirmed:
        listed[BillWarning(BillWarningKind.AVAILABILITY_UNKNOWN, tuple(unconfirmed))] = None
    shipped = [line for line in bill.bought if line.is_shipped and line.quantity]
    if needed_by is None:
        listed.update(dict.fromkeys(_lead_time_warnings(shipped, catalog)))
    else:
        listed.update(dict.fromkeys(_delivery_warnings(shipped, catalog, quote_date, needed_by)))
    return tuple(listed)


def _is_past(item: Item, catalog: Catalog, day: datetime.date | None) -> bool:
    """Whether an item is a GPU server that is past its generation, which the answer says in its first sentences."""
    return isinstance(item, Server) and item.role == "gpu" and not is_sold(catalog, item, day)


def price_warnings(bill: Bill, catalog: Catalog, quote_date: datetime.date | None) -> _Numbered:
    """Of the warnings those about prices, with the number of their line: a customer's copy may have to leave them out.

    ``bill``, ``catalog``, ``quote_date``: as for ``warnings``.
    """
    return (
        *(("", warning) for warning in _unfitted_warnings(catalog)),
        *((one.line, warning) for one in bill.bought for warning in _price_warnings(one, bill, catalog, quote_date)),
    )


def _unfitted_warnings(catalog: Catalog) -> _Warnings:
    """Prices that name no GPUs, whether the design has the server or not: with them it might have."""
    for row in unfitted(catalog):
        yield BillWarning(BillWarningKind.NO_GPUS_NAMED, (catalog.item(row.item).name, catalog.gpus_sold(row.item)[0]))


def ends_in_service(end: str, bought: datetime.date) -> bool:
    """Whether a part's service ends less than ``SERVICE_YEARS`` after a day."""
    # The first day that the date may mean: from then on service is not certain.
    return days_of(end)[0] < years_after(bought, SERVICE_YEARS)


def _end_warnings(
    item: Item,
    successor: tuple[str, ...],
    quote_date: datetime.date | None,
    valid_until: datetime.date | None,
    needed_by: datetime.date | None,
) -> _Warnings:
    if item.end_of_sale is not None:
        end = item.end_of_sale.value
        last = days_of(end)[1]
        if quote_date is not None and last < quote_date:
            yield BillWarning(BillWarningKind.SALE_ENDED, (item.name, end, *successor))
        elif needed_by is not None and last < needed_by:
            yield BillWarning(BillWarningKind.SALE_ENDS_BEFORE_NEED, (item.name, end, str(needed_by)))
        elif valid_until is not None and last <= valid_until:
            yield BillWarning(BillWarningKind.SALE_ENDS, (item.name, end))
    if item.end_of_service is not None and needed_by is not None:
        end = item.end_of_service.value
        if ends_in_service(end, needed_by):
            yield BillWarning(BillWarningKind.SERVICE_ENDS, (item.name, end, str(needed_by)))


def _price_warnings(line: BillLine, bill: Bill, catalog: Catalog, quote_date: datetime.date | None) -> _Warnings:
    name = _name(line, catalog)
    if line.item and line.unit_price is None and _currencies(catalog).get(line.item, set()) - {bill.currency}:
        yield BillWarning(BillWarningKind.OTHER_CURRENCY, (name,))
    if quote_date is None:
        return
    if line.price_valid_until is not None:
        if line.price_valid_until < quote_date:
            yield BillWarning(BillWarningKind.PRICE_ENDED, (name, str(line.price_valid_until)))
        elif bill.valid_until is not None and line.price_valid_until < bill.valid_until:
            values = (name, str(line.price_valid_until), str(bill.valid_until))
            yield BillWarning(BillWarningKind.PRICE_ENDS, values)
    # The last day that the date may mean, so that "2018" is not called older than it is.
    if line.price_date and (quote_date - days_of(line.price_date)[1]).days > OLD_PRICE_DAYS:
        yield BillWarning(BillWarningKind.OLD_PRICE, (name, line.price_date))


def _lead_time_warnings(shipped: Sequence[BillLine], catalog: Catalog) -> _Warnings:
    known = [line.lead_time_weeks for line in shipped if line.lead_time_weeks is not None]
    open_ = dict.fromkeys(_name(line, catalog) for line in shipped if line.lead_time_weeks is None)
    if known:
        names = dict.fromkeys(_name(line, catalog) for line in shipped if line.lead_time_weeks == max(known))
        yield BillWarning(BillWarningKind.LONGEST_LEAD_TIME, (max(known), *names))
        if open_:
            yield BillWarning(BillWarningKind.LEAD_TIME_UNKNOWN, tuple(open_))
    elif open_:
        yield BillWarning(BillWarningKind.NO_LEAD_TIME)


def _delivery_warnings(
    shipped: Sequence[BillLine], catalog: Catalog, quote_date: datetime.date | None, needed_by: datetime.date
) -> _Warnings:
    """Every lead time that is too long on the day of the quote, and the last day for the order of the others."""
    names: dict[int | None, dict[str, None]] = {}
    for line in shipped:
        names.setdefault(line.lead_time_weeks, {})[_name(line, catalog)] = None
    open_ = names.pop(None, {})
    for weeks in sorted((weeks for weeks in names if weeks is not None), reverse=True):
        order_by = needed_by - datetime.timedelta(weeks=weeks)
        if quote_date is not None and order_by < quote_date:
            late = (quote_date - order_by).days
            yield BillWarning(BillWarningKind.TOO_LATE, (late, weeks, str(needed_by), *names[weeks]))
            continue
        yield BillWarning(BillWarningKind.ORDER_BY, (str(order_by), weeks, str(needed_by), *names[weeks]))
        break
    if open_:
        left = None if quote_date is None else (needed_by - quote_date).days
        yield BillWarning(BillWarningKind.LEAD_TIME_OPEN, (left, str(needed_by), *(open_ if names else {})))


def _name(line: BillLine, catalog: Catalog) -> str:
    return catalog.item(line.item).name if line.item else line.description


@lru_cache(maxsize=8)  # a price book may have thousands of rows
def _currencies(catalog: Catalog) -> dict[str, set[str]]:
    """Currencies that each item has a price in."""
    currencies: dict[str, set[str]] = {}
    for price in catalog.prices:
        currencies.setdefault(price.item, set()).add(price.currency)
    return currencies


_DRIVES = ("local drives", "local drive")
# Ports of the main board, which are no choice of an order.
_SERVICE = ("management", "bmc")


def server_contents(
    item: Item, catalog: Catalog, *, has_memory: bool, has_drives: bool, stored_bytes: float = 0.0
) -> str:
    """Processors, memory, ports and drives: '2 × Xeon Gold 6148, 384 GiB memory, ...'; "" of an appliance.

    ``has_memory``, ``has_drives``: whether memory and drives are those of the server itself; else the bill states them
    elsewhere. ``stored_bytes``: capacity of the drives that are ordered with it; 0: it comes with its own [B].
    """
    if not isinstance(item, Server) or item.role == "fabric-manager":
        return ""
    parts = [*_processors(item, catalog), *(_memory(item) if has_memory else ()), *_ports(item, catalog)]
    return ", ".join([*parts, *(_drives(item, catalog, stored_bytes) if has_drives else ())])


def has_unknown_drives(item: Item, catalog: Catalog) -> bool:
    """Whether an item is a server whose own drives no source gives."""
    return isinstance(item, Server) and item.role != "fabric-manager" and not any(_drives(item, catalog))


def _processors(server: Server, catalog: Catalog) -> Iterator[str]:
    if server.cpu is None:
        return
    cpu = catalog.cpus.get(server.cpu.value)
    name = server.cpu.value if cpu is None else cpu.name
    count = "" if server.n_cpus is None else f"{server.n_cpus.value} × "
    is_assumed = "assumed" in (server.cpu.basis, server.n_cpus.basis if server.n_cpus is not None else "")
    yield f"{count}{name}{_mark(is_assumed)}"


def _memory(server: Server) -> Iterator[str]:
    if server.memory_bytes is None:
        return
    yield f"{memory_size(server.memory_bytes.value, ' ')} memory{_mark(server.memory_bytes.basis == 'assumed')}"


def _ports(server: Server, catalog: Catalog) -> Iterator[str]:
    """Ports that the server brings; adapters that are ordered apart have lines of their own."""
    counts: dict[tuple[str, bool], int] = {}
    for port in server.ports:
        if port.use not in _SERVICE and (port.nic is None or not catalog.nics[port.nic].orderable):
            key = _kinds(port), port.basis == "assumed"
            counts[key] = counts.get(key, 0) + port.count
    for (kind, is_assumed), count in counts.items():
        yield f"{grouped(count)} × {kind}{_mark(is_assumed)}"


def _kinds(port: Port) -> str:
    """What a port runs at its rate: an adapter for InfiniBand and Ethernet is ordered by both."""
    rate = port.kind.gbit_per_s.value
    others = (kind for kind in (*port.also, *port.on_request) if kind.gbit_per_s.value == rate)
    return " or ".join(dict.fromkeys(kind.name for kind in (port.kind, *others)))


def _drives(server: Server, catalog: Catalog, stored_bytes: float = 0.0) -> Iterator[str]:
    stated = next((server.features[key].value for key in _DRIVES if key in server.features), "")
    storage = catalog.storage.get(server.local_storage or "")
    if stored_bytes and storage is not None:
        stated = f"{si(stored_bytes, 'B')} {storage.name}"
    elif not stated and storage is not None and storage.usable_bytes is not None:
        size = storage.usable_bytes
        # The size is that of one tray of a system that arrives as a rack.
        trays = f"{nodes_of(server)} x " if nodes_of(server) > 1 else ""
        stated = f"{trays}{si(size.value, 'B')} {storage.name}{_mark(size.basis == 'assumed')}"
    if stated:
        yield stated.replace(" x ", " × ")


def _mark(is_assumed: bool) -> str:
    return " (assumed)" if is_assumed else ""


# What a licence metric calls its unit; everything else is counted in pieces.
_UNITS = {"raw-terabyte": "TB", "node": "node", "gpu": "GPU"}
NO_QUOTE = Quote()


def bill(
    components: Sequence[Component],
    catalog: Catalog,
    book: PriceBook,
    currency: str,
    quote_date: datetime.date | None,
    quote: Quote = NO_QUOTE,
    *,
    needed_by: datetime.date | None = None,
    is_documented: bool = True,
    server: Server | None = None,
    stored_bytes: float = 0.0,
    provided: Sequence[BillLine] = (),
) -> Bill:
    """Bill of one design.

    ``components``: of one row (``slice_row``). ``currency``: ISO 4217; a price in another currency is unknown.
    ``quote_date``: day that ends of sale and prices are judged by; without it they are stated, not judged. ``quote``:
    overrides, lines of its own, discount of the deal, days of validity. The search never sees them. ``needed_by``: day
    on which everything must be there; lead times and ends of sale and service are judged by it. ``is_documented``:
    false for a design beside the one described: an override of an item that it does not have is passed over.
    ``server``: the GPU server as it is fitted; its lines have the draw of what is in it. By default as the catalogue
    has it. ``stored_bytes``: drives for data that it is ordered with; 0: it comes with its own. ``provided``: lines of
    what the customer provides. Returns lines in the order of ``CATEGORIES``, equal items of one status and note on one
    line. Totals are over what is bought: existing equipment is not, options are not
    chosen, and others deliver what is by others. Raises RequestError if a documented design does not have what the
    quote overrides, or a quantity fits no single line.
    """
    merged = _merged(components, whole_items(quote))
    has_memory = all(part.role is not Role.HOST_MEMORY for part, _ in merged)
    lines = [_line(part, roles, catalog, book, currency, has_memory, server, stored_bytes) for part, roles in merged]
    lines = overridden(lines, quote, currency, quote_date, is_documented)
    lines += [*provided, *added(quote, quote_date)]
    made = Bill(
        currency=currency,
        lines=tuple(_numbered(lines)),
        deal_discount_percent=quote.discount_percent,
        valid_until=None if quote_date is None else quote_date + datetime.timedelta(days=quote.valid_days),
    )
    return replace(
        made,
        warnings=warnings(made, catalog, quote_date, needed_by),
        price_warnings=price_warnings(made, catalog, quote_date),
    )


def row_cost(
    components: Sequence[Component], catalog: Catalog, book: PriceBook, currency: str
) -> tuple[Floats, tuple[str, ...]]:
    """Cost of the priced lines of every row at the net prices of the price book, and the items that have no price.

    ``catalog``, ``book``, ``currency``: as for ``bill``. Returns cost of what is priced, shape (rows,); ids of bought
    items without a price. The cost is complete only where none of these is needed by the row [currency].

    Sums of cents stay exact in doubles up to 9e13, so a row's cost equals the total of its bill to the cent. What the
    request's quote changes is left out: it is a matter of the bill, not of the design.
    """
    bought = [part for part in components if part.status == "computed"]
    if not bought:
        return np.zeros(1), ()
    items, pieces = tuple(part.item for part in bought), np.array([part.quantity for part in bought])
    is_open = np.isnan(_net_cents(items, catalog, book, currency))
    unpriced = (item for item, is_missing in zip(items, is_open & pieces.any(axis=1), strict=True) if is_missing)
    return cost_of(items, pieces, catalog, book, currency)[0], tuple(dict.fromkeys(unpriced))


def cost_of(
    items: tuple[str, ...], pieces: Ints, catalog: Catalog, book: PriceBook, currency: str
) -> tuple[Floats, Bools]:
    """The same cost of (items, rows) pieces, and the rows in which everything has a price."""
    cents = _net_cents(items, catalog, book, currency)
    is_open = np.isnan(cents)
    return np.where(is_open, 0.0, cents) @ pieces / 100, np.logical_not(pieces[is_open].any(axis=0))


@lru_cache(maxsize=4096)
def _net_cents(items: tuple[str, ...], catalog: Catalog, book: PriceBook, currency: str) -> Floats:
    """Net prices of some items in hundredths of the currency; NaN where there is none."""
    nets = (Decimal(0) if is_free(catalog.item(item)) else book.net(item, currency) for item in items)
    return np.array([np.nan if net is None else float(net * 100) for net in nets])


def _merged(components: Iterable[Component], whole: Collection[str]) -> list[tuple[Component, tuple[Role, ...]]]:
    """Components with equal item, status and notes as one with all their roles, in order of appearance; none of 0.

    Items of ``whole`` stand on one line of their category whatever their notes say: the quote gives their number.
    """
    merged: dict[tuple[object, ...], tuple[Component, tuple[Role, ...]]] = {}
    for part in components:
        if part.quantity.size != 1:
            raise ValueError(f"a bill takes one row, got {part.quantity.size} quantities of {part.item}; use slice_row")
        if part.quantity[0] == 0:
            continue
        key = (part.category, part.item, part.status, *(() if part.item in whole else (part.notes, part.contents)))
        roles: tuple[Role, ...] = (part.role,)
        if key in merged:
            same, roles = merged[key]
            roles = tuple(dict.fromkeys((*roles, part.role)))
            part = replace(
                part,
                role=same.role,
                quantity=same.quantity + part.quantity,
                notes=tuple(dict.fromkeys((*same.notes, *part.notes))),
                contents="; ".join(dict.fromkeys(filter(None, (same.contents, part.contents)))),
            )
        merged[key] = part, roles
    return list(merged.values())


def _numbered(lines: Sequence[BillLine]) -> list[BillLine]:
    numbered: list[BillLine] = []
    for category in CATEGORIES:
        own = [line for line in lines if line.category == category]
        major = len({line.category for line in numbered}) + 1
        # Free lines come last, so that those of a document that leaves them out count on. ``replace`` takes twice as
        # long for so many fields.
        numbered += [
            BillLine(**{**vars(line), "line": f"{major}.{minor}"})
            for minor, line in enumerate(sorted(own, key=lambda line: line.unit_price == 0), start=1)
        ]
    assert len(numbered) == len(lines), "every category of a component is one of CATEGORIES"
    return numbered


def _line(
    part: Component,
    roles: Sequence[Role],
    catalog: Catalog,
    book: PriceBook,
    currency: str,
    has_memory: bool,
    server: Server | None,
    stored_bytes: float,
) -> BillLine:
    item = catalog.item(part.item)
    metric = item.metric.value if isinstance(item, Software | Support) else ""
    # "Blanking panel, 1U" says what it is for.
    role = ", ".join(roles)
    is_said = part.role in (Role.SOFTWARE, Role.SUPPORT) or role.lower() in item.name.lower()
    role = "" if is_said else f"{capital(role)}: "
    # A GPU server's own contents are its GPUs, those of a server of files its drives.
    is_gpu_server = part.role is Role.GPU_SERVER
    has_drives = is_gpu_server or not part.contents
    own = server_contents(
        item,
        catalog,
        has_memory=has_memory or not is_gpu_server,
        has_drives=has_drives,
        stored_bytes=stored_bytes if is_gpu_server else 0.0,
    )
    contents = "".join(f", {text}" for text in (part.contents, own if part.status != "existing" else "") if text)
    price = _price(item, part, book, currency)
    unknown = part.status != "existing" and has_drives and has_unknown_drives(item, catalog)
    drives = (PlanNote(PlanNoteKind.DRIVES_UNKNOWN),) if unknown else ()
    notes = (*drives, *part.notes, *price.pop("notes", ()))
    if item.end_of_sale is not None:
        notes = (*notes, PlanNote(PlanNoteKind.END_OF_SALE, (str(item.end_of_sale.value),)))
    per_piece, unit = 1, _UNITS.get(metric, "EA")
    if part.status == "existing" and isinstance(item, Storage) and nodes_per_unit(item) > 1:
        # The customer states nodes; a chassis is the unit of an order, and nothing is ordered here.
        per_piece, unit = nodes_per_unit(item), "node"
    fitted = server if server is not None and server.id == part.item else item
    price |= {name: None if value is None else value / per_piece for name, value in _physical(fitted).items()}
    return BillLine(
        category=part.category,
        item=part.item,
        manufacturer=item.vendor,
        sku=item.skus[0].value if item.skus and not _is_assumed(item) else "",
        description=f"{role}{item.name}{contents}",
        quantity=int(part.quantity[0]) * per_piece,
        unit=unit,
        status=part.status,
        notes=notes,
        has_own_price=part.item in catalog.own_prices,
        **price,
    )


def _price(item: Item, part: Component, book: PriceBook, currency: str) -> dict[str, Any]:
    """Fields of a line that a price gives; none where it is unknown or nothing is bought."""
    if part.status == "existing":
        return {}
    if isinstance(item, Software) and is_free(item):
        # Zero by its source, not for want of a price.
        how = LineNote(LineNoteKind.FREE if item.metric.value == "free" else LineNoteKind.INCLUDED)
        return {"unit_price": Decimal("0.00"), "price_source": item.metric.source, "notes": (how,)}
    row = book.price(item.id, currency)
    if row is None:
        return {}
    return {
        "unit_price": round_money(row.amount),
        "discount_percent": row.discount_percent,
        "term_months": row.term_months,
        "lead_time_weeks": row.lead_time_weeks,
        "price_source": row.source,
        "price_date": row.date,
        "price_valid_until": row.valid_until,
        "notes": stated(row.note),
    }


@lru_cache(maxsize=4096)
def _physical(item: Item) -> dict[str, float | None]:
    """Watts, rack units and kilograms of one piece, where a source gives them."""
    facts: dict[str, float | None] = {}
    if isinstance(item, Device):
        draw = device_power(item)
        # The middle of a bracket is typical; a maximum, or a floor, says nothing of what is.
        is_bracket = draw.is_known and item.power_low_w is not None
        facts["power_max_w"] = draw.max_w if draw.is_known else None
        facts["power_typical_w"] = draw.typical_w if is_bracket or item.power_typical_w is not None else None
    if isinstance(item, Device | Pdu) and item.height_u is not None:
        facts["rack_units"] = float(item.height_u.value)
    if isinstance(item, Device | Rack) and item.weight_kg is not None:
        facts["weight_kg"] = float(item.weight_kg.value)
    return facts


def is_free(item: Item) -> bool:
    """Whether an item costs nothing by its source, not for want of a price."""
    return isinstance(item, Software) and item.metric.value in ("free", "included")


def _is_assumed(item: Item) -> bool:
    """Whether what a part must fit is an assumption: a part number would order something that may not."""
    return isinstance(item, Pdu) and any(count.basis == "assumed" for count in item.outlets.values())
