"""Prices by item and currency. A price in another currency is an unknown price: nothing is converted."""

from collections.abc import Iterable
from decimal import Decimal

from sizer.base.identity_cache import cached_by_catalog
from sizer.base.money import net_price
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import Price


class PriceBook:
    """Unit prices. Of several prices of one item in one currency the youngest counts; at one date the later row.

    Parameters
    ----------
    prices : iterable of Price
        Rows of price books. An overlay's rows are already in place of the catalogue's (``Catalog.prices``).
    """

    def __init__(self, prices: Iterable[Price]) -> None:
        self._prices: dict[tuple[str, str], Price] = {}
        self._net: dict[tuple[str, str], Decimal] = {}
        for row in prices:
            known = self._prices.get((row.item, row.currency))
            # ISO dates compare as text; "2018" counts as older than "2018-05".
            if known is None or row.date >= known.date:
                self._prices[row.item, row.currency] = row
                self._net[row.item, row.currency] = net_price(row.amount, row.discount_percent)

    def price(self, item: str, currency: str) -> Price | None:
        """Price of an item in a currency; None where it is unknown."""
        return self._prices.get((item, currency))

    def net(self, item: str, currency: str) -> Decimal | None:
        """Unit price after the discount of the price book; None where it is unknown."""
        return self._net.get((item, currency))

    def __len__(self) -> int:
        return len(self._prices)


@cached_by_catalog
def price_book(catalog: Catalog) -> PriceBook:
    """Price book of a catalogue with its overlay."""
    return PriceBook(catalog.prices)
