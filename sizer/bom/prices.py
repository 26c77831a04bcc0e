"""Prices by item and currency. A price in another currency is an unknown price: nothing is converted."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from sizer.bom.money import parse_amount, round_money
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Price


@dataclass(frozen=True)
class PriceQuote:
    """Unit price of an item with its origin."""

    amount: Decimal  # two decimals
    currency: str
    date: str  # ISO date or its first part
    source: str
    where: str
    note: str


class PriceBook:
    """Unit prices. Of several prices of one item in one currency the youngest counts; at one date the later row.

    Parameters
    ----------
    prices : iterable of Price
        Rows of price books. An overlay's rows are already in place of the catalogue's (``Catalog.prices``).
    """

    def __init__(self, prices: Iterable[Price]) -> None:
        self._quotes: dict[tuple[str, str], PriceQuote] = {}
        for row in prices:
            quote = PriceQuote(
                round_money(parse_amount(row.amount)), row.currency, row.date, row.source, row.where, row.note
            )
            known = self._quotes.get((row.item, row.currency))
            # ISO dates compare as text; "2018" counts as older than "2018-05".
            if known is None or quote.date >= known.date:
                self._quotes[row.item, row.currency] = quote

    def quote(self, item: str, currency: str) -> PriceQuote | None:
        """Price of an item in a currency; None where it is unknown."""
        return self._quotes.get((item, currency))

    def __len__(self) -> int:
        return len(self._quotes)


def price_book(catalog: Catalog) -> PriceBook:
    """Price book of a catalogue with its overlay."""
    return PriceBook(catalog.prices)
