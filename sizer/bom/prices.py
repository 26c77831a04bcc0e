"""Prices by item and currency.

A price in another currency is an unknown price, unless it is in USD and the request states what a unit of its currency
is worth in USD.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache

from sizer.base.money import net_price, round_money, usual_rates_usd
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import Price
from sizer.physical.platform import Platform
from sizer.workload.request import SizingRequest

# Price bands are stated in it.
BAND_CURRENCY = "USD"


class PriceBook:
    """Unit prices; one of a server that names its GPUs holds for these alone (``fitted``).

    Of several prices of one item in one currency the youngest counts; at one date the later row.

    ``prices``: rows of price books. An overlay's rows are already in place of the catalogue's (``Catalog.prices``).
    ``usd_per_unit``: currency -> US dollars for one unit of it, of currencies that amounts in USD are converted to.
    """

    def __init__(self, prices: Iterable[Price], usd_per_unit: Mapping[str, float] | None = None) -> None:
        self._usd_per_unit = {BAND_CURRENCY: 1.0, **(usd_per_unit or {})}
        self._prices: dict[tuple[str, str], Price] = {}
        self._net: dict[tuple[str, str], Decimal] = {}
        for row in prices:
            item = f"{row.item} with {row.gpus}" if row.gpus else row.item
            known = self._prices.get((item, row.currency))
            # ISO dates compare as text; "2018" counts as older than "2018-05".
            if known is None or row.date >= known.date:
                self._prices[item, row.currency] = row
                self._net[item, row.currency] = net_price(row.amount, row.discount_percent)

    def price(self, item: str, currency: str) -> Price | None:
        """Price of an item in a currency; None where it is unknown."""
        return self._prices.get((item, currency))

    def net(self, item: str, currency: str) -> Decimal | None:
        """Unit price after the discount of the price book; None where it is unknown."""
        return self._net.get((item, currency))

    def per_usd(self, currency: str) -> float | None:
        """Units of a currency for one US dollar, in which price bands are stated; None where nobody says."""
        usd = self._usd_per_unit.get(currency)
        return None if usd is None else 1 / usd

    def __len__(self) -> int:
        return len(self._prices)

    def fitted(self, platform: Platform) -> "PriceBook":
        """The book for the designs of a platform: the price of its server is the one with its GPUs."""
        return self._fitted(f"{platform.server.id} with {platform.fitting}")

    @lru_cache(maxsize=4096)  # noqa: B019 (a book belongs to a catalogue, which lives as long)
    def _fitted(self, fitting: str) -> "PriceBook":
        own = [row for (item, _), row in self._prices.items() if item == fitting]
        if not own:
            return self
        others = [row for row in self._prices.values() if row.item != own[0].item]
        return PriceBook([*others, *(row.model_copy(update={"gpus": ""}) for row in own)], self._usd_per_unit)

    @lru_cache(maxsize=8)  # noqa: B019 (a book belongs to a catalogue, which lives as long)
    def converted(self, currency: str, usd: float) -> "PriceBook":
        """The book with its prices in USD in another currency, too, where the item has none in it."""
        rate = Decimal(repr(usd))
        own = {item for item, name in self._prices if name == currency}
        added = [
            row.model_copy(
                update={
                    "amount": round_money(row.amount / rate),
                    "currency": currency,
                    "note": f"{row.note + '; ' if row.note else ''}{BAND_CURRENCY} {row.amount:f} at {rate:f}",
                }
            )
            for (item, name), row in self._prices.items()
            if name == BAND_CURRENCY and item not in own
        ]
        return PriceBook([*self._prices.values(), *added], {currency: usd})


@lru_cache(maxsize=8)
def price_book(catalog: Catalog) -> PriceBook:
    """Price book of a catalogue with its overlay."""
    return PriceBook(_rows(catalog))


def unfitted(catalog: Catalog) -> tuple[Price, ...]:
    """Prices of the user's own that count for nothing: of servers sold with several GPUs, without saying which."""
    return tuple(
        row
        for row in catalog.prices
        if row.item in catalog.own_prices and not row.gpus and catalog.price_needs_gpus(row.item)
    )


def _rows(catalog: Catalog) -> Iterable[Price]:
    left_out = set(map(id, unfitted(catalog)))
    return (row for row in catalog.prices if id(row) not in left_out)


def prices_for(request: SizingRequest, catalog: Catalog) -> PriceBook:
    """Price book of a catalogue, converted where the request states an exchange rate.

    By a usual rate price bands alone are converted.
    """
    book, rate = price_book(catalog), request.exchange_rate_usd
    if rate is not None:
        return book.converted(request.currency, rate)
    return book if usual_rate_usd(request) is None else _with_usual_rate(catalog, request.currency)


def usual_rate_usd(request: SizingRequest) -> float | None:
    """Exchange rate that is assumed; None where the request states one, or its currency has none."""
    return usual_rates_usd().get(request.currency) if request.exchange_rate_usd is None else None


@lru_cache(maxsize=8)
def _with_usual_rate(catalog: Catalog, currency: str) -> PriceBook:
    return PriceBook(_rows(catalog), {currency: usual_rates_usd()[currency]})
