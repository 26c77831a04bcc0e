"""What a reader of a bill must be warned of: ends of sale, old prices, prices that run out, lead times."""

import datetime
from collections.abc import Iterator, Sequence

from sizer.base.dates import days_of
from sizer.base.identity_cache import cached_by_catalog
from sizer.bom.bill import Bill, BillLine, BillWarning, BillWarningKind
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Item, Nic

# A price older than this is called old in every quote.
OLD_PRICE_DAYS = 365

_Warnings = Iterator[BillWarning]
_Numbered = tuple[tuple[str, BillWarning], ...]


def warnings(bill: Bill, catalog: Catalog, quote_date: datetime.date | None) -> tuple[BillWarning, ...]:
    """Warnings of a bill, each once.

    Parameters
    ----------
    bill : Bill
        Its bought lines are looked at.
    catalog : Catalog
        Ends of sale, prices in other currencies.
    quote_date : datetime.date, optional
        Without it nothing is called old or ended.
    """
    found: dict[BillWarning, None] = {}
    unconfirmed: dict[str, None] = {}
    for line in bill.bought:
        if line.item:
            item = catalog.item(line.item)
            if item.end_of_sale is None and isinstance(item, Device | Nic):
                unconfirmed[item.name] = None
            found.update(dict.fromkeys(_sale_warnings(item, quote_date, bill.valid_until)))
        found.update(dict.fromkeys(_price_warnings(line, bill, catalog, quote_date)))
    if unconfirmed:
        found[BillWarning(BillWarningKind.AVAILABILITY_UNKNOWN, tuple(unconfirmed))] = None
    found.update(dict.fromkeys(_lead_time_warnings(bill.bought, catalog)))
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


def _sale_warnings(item: Item, quote_date: datetime.date | None, valid_until: datetime.date | None) -> _Warnings:
    if item.end_of_sale is None or quote_date is None or valid_until is None:
        return
    last = days_of(item.end_of_sale.value)[1]
    if last < quote_date:
        yield BillWarning(BillWarningKind.SALE_ENDED, (item.name, item.end_of_sale.value))
    elif last <= valid_until:
        yield BillWarning(BillWarningKind.SALE_ENDS, (item.name, item.end_of_sale.value))


def _price_warnings(line: BillLine, bill: Bill, catalog: Catalog, quote_date: datetime.date | None) -> _Warnings:
    name = _name(line, catalog)
    if line.item and line.unit_price is None and _has_other_currency(catalog, line.item, bill.currency):
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


def _lead_time_warnings(bought: Sequence[BillLine], catalog: Catalog) -> _Warnings:
    shipped = [line for line in bought if line.is_shipped and line.quantity]
    known = [line.lead_time_weeks for line in shipped if line.lead_time_weeks is not None]
    open_ = dict.fromkeys(_name(line, catalog) for line in shipped if line.lead_time_weeks is None)
    if known:
        names = dict.fromkeys(_name(line, catalog) for line in shipped if line.lead_time_weeks == max(known))
        yield BillWarning(BillWarningKind.LONGEST_LEAD_TIME, (max(known), *names))
        if open_:
            yield BillWarning(BillWarningKind.LEAD_TIME_UNKNOWN, tuple(open_))
    elif open_:
        yield BillWarning(BillWarningKind.NO_LEAD_TIME)


def _name(line: BillLine, catalog: Catalog) -> str:
    return catalog.item(line.item).name if line.item else line.description


def _has_other_currency(catalog: Catalog, item: str, currency: str) -> bool:
    return not _currencies(catalog).get(item, set()) <= {currency}


@cached_by_catalog  # a price book may have thousands of rows
def _currencies(catalog: Catalog) -> dict[str, set[str]]:
    """Currencies that each item has a price in."""
    found: dict[str, set[str]] = {}
    for price in catalog.prices:
        found.setdefault(price.item, set()).add(price.currency)
    return found
