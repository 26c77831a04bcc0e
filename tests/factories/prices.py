"""The shipped catalogue with a price book of a test's own."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from sizer.catalog.loader import with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import Price
from tests.factories.examples import catalog


def priced(
    amounts: Mapping[str, Decimal | int | str], *, gpus: Mapping[str, str] = MappingProxyType({}), **fields: Any
) -> Catalog:
    """Catalogue in which some items have a price, servers with their ``gpus``; ``fields`` are of every row. [USD]"""
    fields |= {"currency": "USD", "date": "2020", "source": "test", "where": "test"}
    rows = [
        Price(item=item, amount=Decimal(amount), gpus=gpus.get(item, ""), **fields) for item, amount in amounts.items()
    ]
    return with_prices(catalog(), rows)


def all_priced(amount_of: Callable[[str], Decimal | int | str]) -> Catalog:
    """Catalogue in which everything that can be ordered has a price, by its id. [USD]"""
    amounts = {item.id: amount_of(item.id) for _, item in catalog().items() if item.orderable}
    assert len(amounts) > 50
    return priced(amounts)
