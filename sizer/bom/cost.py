"""The cost of designs as an interval: every line has a price, a published price or a band."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.bom.bill import Bill, BillLine
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import UnitPrices, unit_prices
from sizer.catalog.model import Catalog
from sizer.physical.components import Component
from sizer.physical.platform import Platform

# Heights at which the probability of a budget is read; between them it is interpolated.
_HEIGHTS = np.linspace(0.0, 1.0, 201)
MIDDLE = 0.5
# Contracts for so many GPUs are negotiated: the lower halves of the bands are stretched downwards, from this number of
# GPUs on to that of JUPITER, whose contract (E151) comes to 0.31 of the low end of the bands for as many GPUs of its
# kind. Between them, on a logarithmic scale: assumed.
NEGOTIATED_GPUS = 800
_LARGEST_GPUS, _LARGEST_LOW_SHARE = 24_000, 0.31
# A price so many times outside its band is taken for a slip, or the price of another quantity (assumed).
_UNUSUAL_RATIO = 3.0


@dataclass(frozen=True)
class CostInterval:
    """What a design costs, in ``currency``: the budgetary price, of which the bill states what is known exactly."""

    currency: str
    low: float
    expected: float  # every unknown price in the middle of its band
    at_confidence: float  # at most, with the confidence of the request: the amount that ranks designs
    high: float  # inf where a line has neither price nor band
    dated: tuple[str, ...] = ()  # first and last year of the prices and bands
    is_negotiated: bool = False  # so many GPUs that the low end is below the bands of single pieces


def added(each: Sequence[CostInterval], less: CostInterval | None = None) -> CostInterval:
    """What several orders of one currency cost together, without another one; their prices lie at one height."""
    names = ("low", "expected", "at_confidence", "high")
    sums = {name: sum(getattr(one, name) for one in each) - (getattr(less, name) if less else 0.0) for name in names}
    return CostInterval(each[0].currency, **sums, dated=_span_of(year for one in each for year in one.dated))


def _span_of(years: Iterable[str]) -> tuple[str, ...]:
    """First and last of some years, once where they are the same."""
    ordered = sorted(years)
    return tuple(dict.fromkeys(ordered[:1] + ordered[-1:]))


@dataclass(frozen=True, eq=False)
class ItemPrices:
    """What one piece of each of some items costs as a platform uses it: what every cost is summed from.

    All unknown prices of an order lie at the same height of their bands: a customer who pays much for one thing pays
    much for the others. The interval of a sum is then the sum of the intervals, the widest that the bands allow.
    Support that costs a percentage is that share of what it supports.
    """

    each: Floats  # (heights, items) price of one piece; of support that costs a percentage the share
    supported: Mapping[int, Ints]  # place of support that costs a percentage -> places of what it is for

    @classmethod
    def of(
        cls, items: tuple[str, ...], platform: Platform, prices: UnitPrices, stated: Mapping[int, float] | None = None
    ) -> "ItemPrices":
        """Prices of some items at the heights of ``prices``.

        ``stated`` are amounts that stand whatever the bands say, by the place of their item. An item without an id and
        without a stated amount is unknown without bounds.
        """
        known = stated or {}
        unknown = np.where(prices.heights > 0, np.inf, 0.0)
        shares = {i for i, item in enumerate(items) if item and i not in known and prices.is_percentage(item)}
        each = [
            np.full(prices.heights.size, known[i]) if i in known else prices.of(item, platform) if item else unknown
            for i, item in enumerate(items)
        ]
        supported = {
            share: np.array(
                [i for i, item in enumerate(items) if item and i not in shares and prices.supports(items[share], item)],
                dtype=np.int64,
            )
            for share in sorted(shares)
        }
        return cls(np.array(each).reshape(len(items), prices.heights.size).T, supported)

    def amounts(self, pieces: ArrayLike) -> Floats:
        """Cost of so many pieces of each item, shape (heights, items, designs) for (items, designs). [currency]

        A piece without any bound counts only where there is one.
        """
        count = np.asarray(pieces, dtype=float)
        found = np.where(count > 0, self.each[:, :, None], 0.0) * np.maximum(count, 0.0)
        for place, base in self.supported.items():
            found[:, place] = np.where(count[place] > 0, self.each[:, place, None] * found[:, base].sum(axis=1), 0.0)
        return np.asarray(found)


@lru_cache(maxsize=4096)  # items of the platforms that requests of a batch rank first, at a few confidences
def item_prices(items: tuple[str, ...], platform: Platform, prices: UnitPrices) -> ItemPrices:
    """:meth:`ItemPrices.of`, the same object for the same question."""
    return ItemPrices.of(items, platform, prices)


def component_amounts(components: Sequence[Component], platform: Platform, prices: UnitPrices) -> Floats:
    """Cost of bought components of some designs, shape (heights, components, designs). [currency]"""
    if not components:
        return np.zeros((prices.heights.size, 0, 1))
    items = tuple(part.item for part in components)
    return item_prices(items, platform, prices).amounts([part.quantity for part in components])


def line_amounts(bill: Bill, platform: Platform, prices: UnitPrices) -> Floats:
    """Cost of every bought line of a bill at the heights of ``prices``, shape (lines, heights).

    A line that the bill prices costs that at every height, the discount of the deal taken off; the others follow
    their bands, which many GPUs stretch downwards. A line of the quote's own without a price is unknown without bounds.
    """
    lines = bill.bought
    if not lines:
        return np.zeros((0, prices.heights.size))
    factor = 1 - float(bill.deal_discount_percent) / 100
    stated = {i: float(line.extended_net) * factor for i, line in enumerate(lines) if line.extended_net is not None}
    pieces = [[1 if i in stated else line.quantity] for i, line in enumerate(lines)]
    found = ItemPrices.of(tuple(line.item for line in lines), platform, prices, stated).amounts(pieces)[..., 0].T
    share = low_share(_gpus_bought(bill, platform)) ** np.maximum(1 - prices.heights / MIDDLE, 0)
    # Lines of the quote's own have no item.
    own = prices.fitted(platform)
    known = [bool(line.item) and own.is_known(line.item) for line in lines]
    is_open = np.array([i not in stated and not known[i] for i in range(len(lines))])
    return np.where(is_open[:, None], found * share, found)


def low_share(n_gpus: int) -> float:
    """Share of the low ends of price bands that a contract for so many GPUs may come to.

    Examples
    --------
    >>> [round(low_share(n), 2) for n in (8, 800, 4_096, 24_000, 100_000)]
    [1.0, 1.0, 0.57, 0.31, 0.31]
    """
    size = np.log(np.clip(n_gpus, NEGOTIATED_GPUS, _LARGEST_GPUS) / NEGOTIATED_GPUS)
    return float(_LARGEST_LOW_SHARE ** (size / np.log(_LARGEST_GPUS / NEGOTIATED_GPUS)))


def _gpus_bought(bill: Bill, platform: Platform) -> int:
    servers = sum(int(line.quantity) for line in bill.bought if line.item == platform.server.id)
    return servers * platform.gpus_per_server


def bill_cost(bill: Bill, platform: Platform, prices: UnitPrices, confidence: float) -> CostInterval:
    """Interval of the cost of a bill: the sum over its lines.

    ``prices`` is at the heights 0, 0.5, the confidence and 1.
    """
    assert prices.heights.tolist() == heights_of(confidence)
    low, expected, likely, high = line_amounts(bill, platform, prices).sum(axis=0).tolist()
    dates = [
        line.price_date if line.extended_net else prices.band_date(line.item)
        for line in bill.bought
        if line.extended_net != 0
    ]
    dated = _span_of(day[:4] for day in dates if day)
    is_negotiated = _gpus_bought(bill, platform) > NEGOTIATED_GPUS
    return CostInterval(bill.currency, low, expected, likely, high, dated, is_negotiated)


def category_ranges(bill: Bill, platform: Platform, prices: UnitPrices) -> dict[str, tuple[float, float]]:
    """What the lines of every category cost at the low and the high end of ``prices``: they add up to the interval."""
    amounts = line_amounts(bill, platform, prices)[:, [0, -1]]
    kinds = [line.category for line in bill.bought]
    return {
        kind: (float(low), float(high))
        for kind in dict.fromkeys(kinds)
        for low, high in [amounts[[one == kind for one in kinds]].sum(axis=0)]
    }


def unusual_prices(
    bill: Bill, platform: Platform, catalog: Catalog, book: PriceBook
) -> list[tuple[BillLine, float, float]]:
    """Bought lines whose known price is far from the band of the part, each with the ends of the band. [currency]"""
    lines = [line for line in bill.bought if line.item and line.unit_price]
    market = unit_prices(
        catalog, book, bill.currency, [0.0, 1.0], sorted({catalog.category_of(line.item) for line in lines})
    )
    prices = []
    for line in lines:
        if not market.is_percentage(line.item) and line.term_months is None:
            low, high = market.of(line.item, platform).tolist()
            if not low / _UNUSUAL_RATIO <= float(line.unit_price or 0) <= high * _UNUSUAL_RATIO:
                prices.append((line, low, high))
    return prices


def heights_of(confidence: float) -> list[float]:
    """Heights of the four amounts of a cost interval."""
    return [0.0, MIDDLE, confidence, 1.0]


def probability_within(
    bill: Bill, platform: Platform, catalog: Catalog, book: PriceBook, budget: float
) -> float | None:
    """Probability that a bill costs no more than a budget.

    ``budget``: in the currency of the bill. Returns 1 only where the highest cost is within the budget, 0 only where
    the lowest is above it; between them the height at which all bands together cost the budget. None where something
    has neither price nor band, or bands are in another currency.
    """
    if book.per_usd(bill.currency) is None and not bill.is_complete:
        return 0.0 if float(bill.total) > budget else None
    fine = unit_prices(catalog, book, bill.currency, _HEIGHTS.tolist())
    totals = np.round(line_amounts(bill, platform, fine).sum(axis=0), 2)
    if totals[0] > budget:
        return 0.0
    if not np.isfinite(totals[-1]):
        return None
    if totals[-1] <= budget:
        return 1.0
    # A doubt never rounds to certainty.
    return float(np.clip(np.interp(budget, totals, _HEIGHTS), 0.001, 0.999))
