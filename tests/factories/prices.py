"""The shipped catalogue with a price book of a test's own."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sizer.catalog.loader import with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import Price
from tests.factories.examples import catalog


def priced(amounts: Mapping[str, Decimal | int | str], **fields: Any) -> Catalog:
    """Catalogue in which some items have a price; ``fields`` are those of every row. [USD]"""
    rows = [
        Price(item=item, amount=Decimal(amount), currency="USD", date="2020", source="test", where="test", **fields)
        for item, amount in amounts.items()
    ]
    return with_prices(catalog(), rows)


def all_priced(amount_of: Callable[[str], Decimal | int | str]) -> Catalog:
    """Catalogue in which everything that can be ordered has a price, by its id. [USD]"""
    amounts = {item.id: amount_of(item.id) for _, item in catalog().items() if item.orderable}
    assert len(amounts) > 50
    return priced(amounts)
