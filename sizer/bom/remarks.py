"""What a reader of a bill must be warned of: ends of sale and service, old or ending prices, lead times."""

import datetime
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sizer.base.dates import days_of, years_after
from sizer.bom.bill import Bill, BillLine, BillWarning, BillWarningKind
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Nic

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

    Parameters
    ----------
    bill : Bill
        Its bought lines are looked at.
    catalog : Catalog
        Ends of sale and service, prices in other currencies.
    quote_date : datetime.date, optional
        Without it nothing is called old or ended.
    needed_by : datetime.date, optional
        Day on which everything must be there; with it lead times become dates of order.
    """
    found: dict[BillWarning, None] = {}
    unconfirmed: dict[str, None] = {}
    for line in bill.bought:
        if line.item:
            item = catalog.item(line.item)
            successor = () if item.successor is None else (catalog.item(item.successor.value).name,)
            ends = tuple(_end_warnings(item, successor, quote_date, bill.valid_until, needed_by))
            if item.end_of_sale is None and item.end_of_service is not None:
                found[BillWarning(BillWarningKind.SERVICE_END_KNOWN, (item.name, item.end_of_service.value))] = None
            elif item.end_of_sale is None and isinstance(item, Device | Nic):
                unconfirmed[item.name] = None
            found.update(dict.fromkeys(ends))
        found.update(dict.fromkeys(_price_warnings(line, bill, catalog, quote_date)))
    if unconfirmed:
        found[BillWarning(BillWarningKind.AVAILABILITY_UNKNOWN, tuple(unconfirmed))] = None
    shipped = [line for line in bill.bought if line.is_shipped and line.quantity]
    if needed_by is None:
        found.update(dict.fromkeys(_lead_time_warnings(shipped, catalog)))
    else:
        found.update(dict.fromkeys(_delivery_warnings(shipped, catalog, quote_date, needed_by)))
    return tuple(found)


def price_warnings(bill: Bill, catalog: Catalog, quote_date: datetime.date | None) -> _Numbered:
    """Of the warnings those about prices, with the number of their line: a customer's copy may have to leave them out.

    Parameters
    ----------
    bill, catalog, quote_date
        As for ``warnings``.
    """
    return tuple(
        (line.line, warning) for line in bill.bought for warning in _price_warnings(line, bill, catalog, quote_date)
    )


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
    found: dict[str, set[str]] = {}
    for price in catalog.prices:
        found.setdefault(price.item, set()).add(price.currency)
    return found
