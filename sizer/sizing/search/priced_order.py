"""Two orders compared item by item: by how much they differ in cost, and which quotes would settle which costs less."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sizer.base.arrays import Floats
from sizer.bom.cost import component_amounts
from sizer.bom.unit_prices import SMALL, UnitPrices
from sizer.physical.components import Component
from sizer.physical.platform import Platform
from sizer.sizing.reasons import CostDifference, QuoteToSettle

MOST_QUOTES = 3
# Of all that missing prices can move the difference by, the least share of a quote worth asking for.
_LEAST_SHARE = 0.1
_AT_CONFIDENCE = 2  # place among the heights


@dataclass(frozen=True)
class PricedOrder:
    """What a design orders."""

    platform: Platform
    amounts: Mapping[str, Floats]  # item -> cost at the heights of :func:`sizer.bom.cost.heights_of`
    pieces: Mapping[str, float]  # item -> number ordered
    # What owning it costs beyond its purchase, at the heights; 0 where designs are compared by what they cost to buy.
    running: Floats = field(default_factory=lambda: np.zeros(4))

    @classmethod
    def of(cls, platform: Platform, items: Iterable[str], pieces: Iterable[int], amounts: Floats) -> "PricedOrder":
        """The order of some lines that cost ``amounts``, shape (lines, heights); those without an item are left out."""
        by_item: dict[str, Floats] = {}
        counts: dict[str, int] = {}
        for item, count, amount in zip(items, pieces, amounts, strict=True):
            if not item:
                continue
            by_item[item] = np.asarray(by_item.get(item, 0.0) + amount)
            counts[item] = counts.get(item, 0) + count
        return cls(platform, by_item, counts)

    @classmethod
    def of_parts(cls, platform: Platform, parts: Sequence[Component], prices: UnitPrices) -> "PricedOrder":
        """The order of what is bought of one design."""
        amounts = component_amounts(parts, platform, prices)[..., 0].T
        return cls.of(platform, (part.item for part in parts), (int(part.quantity[0]) for part in parts), amounts)


def difference(one: PricedOrder, other: PricedOrder, prices: UnitPrices) -> CostDifference:
    """What an order costs more than another.

    Parameters
    ----------
    one, other : PricedOrder
    prices : UnitPrices
        By which both are priced, at the heights of :func:`sizer.bom.cost.heights_of`.

    Notes
    -----
    A part that both orders hold costs the same in both: its unknown price moves the difference by (pieces of one -
    pieces of the other) x price. The ends are the sums of what every item can move at most.
    """
    moved, running = _moved(one, other), one.running - other.running
    ranges = [_range(item, amounts, one, other, prices) for item, amounts in moved.items()]
    low, high = np.sum([*ranges, (running.min(), running.max())], axis=0).tolist()
    _, expected, at_confidence, _ = np.sum([*moved.values(), running], axis=0)
    quotes = () if low > 0 or high < 0 else ordered(quotes_between(other, one, prices), prices)[:MOST_QUOTES]
    return CostDifference(prices.currency, low, float(expected), float(at_confidence), high, tuple(quotes))


def quotes_between(one: PricedOrder, other: PricedOrder, prices: UnitPrices) -> list[QuoteToSettle]:
    """Quotes that move the difference of two orders noticeably."""
    swings: dict[str, float] = {}
    moved = _moved(other, one)
    for item, amounts in moved.items():
        swing = abs(float(amounts[-1] - amounts[0]))
        if np.isfinite(swing) and prices.catalog.category_of(item) not in SMALL and not prices.is_known(item):
            swings[item] = swing
    least = _LEAST_SHARE * sum(swings.values())
    gap = float(sum(amounts[_AT_CONFIDENCE] for amounts in (*moved.values(), other.running - one.running)))
    return [
        QuoteToSettle(
            item,
            prices.catalog.item(item).name,
            round(swing, 2),
            _turning_price(one, other, item, gap, prices),
            prices.currency,
        )
        for item, swing in swings.items()
        if swing > 0 and swing >= least
    ]


def ordered(quotes: list[QuoteToSettle], prices: UnitPrices) -> list[QuoteToSettle]:
    """Quotes, the heaviest first.

    A quote that turns the order by itself comes before one that does so with others. Support comes last: it is quoted
    with what it supports.
    """
    return sorted(
        quotes,
        key=lambda quote: (prices.is_percentage(quote.item), quote.turns_at is None, -(quote.swing or 0.0)),
    )


def _moved(one: PricedOrder, other: PricedOrder) -> dict[str, Floats]:
    """Item -> what one order pays more for it, at the heights; NaN where both hold a part without any bound."""
    nothing, found = np.zeros(4), {}
    for item in dict.fromkeys([*one.amounts, *other.amounts]):
        first, second = one.amounts.get(item, nothing), other.amounts.get(item, nothing)
        with np.errstate(invalid="ignore"):  # inf - inf
            found[item] = np.zeros(4) if np.array_equal(first, second) else np.asarray(first - second)
    return found


def _range(item: str, moved: Floats, one: PricedOrder, other: PricedOrder, prices: UnitPrices) -> tuple[float, float]:
    """Least and most that one order pays more for an item than another."""
    first, second = one.amounts.get(item), other.amounts.get(item)
    if np.isnan(moved).any():
        return -np.inf, np.inf
    if first is None or second is None or not _is_other_part(item, one, other, prices):
        return float(moved.min()), float(moved.max())
    return float(first[0] - second[-1]), float(first[-1] - second[0])


def _is_other_part(item: str, one: PricedOrder, other: PricedOrder, prices: UnitPrices) -> bool:
    """Whether an item of both orders is not the same part: other drives, another number of GPUs."""
    if prices.is_percentage(item):
        return False
    return not np.array_equal(prices.of(item, one.platform), prices.of(item, other.platform))


def _turning_price(one: PricedOrder, other: PricedOrder, item: str, gap: float, prices: UnitPrices) -> float | None:
    """Price of one piece at which two orders cost the same; None where no price in the band does that.

    Every other price is that of the ranking, at the confidence of the request.
    """
    if prices.is_percentage(item) or not np.isfinite(gap):
        return None
    more = other.pieces.get(item, 0) - one.pieces.get(item, 0)
    if not more:
        return None
    dearer = other if more > 0 else one
    low, _, likely, high = prices.of(item, dearer.platform).tolist()
    # Support that costs a share of the price moves with it.
    shares = [
        float(prices.of(name, dearer.platform)[_AT_CONFIDENCE])
        for name in dearer.amounts
        if prices.is_percentage(name) and prices.supports(name, item)
    ]
    turns_at = likely - gap / (more * (1 + sum(shares)))
    return round(turns_at, 2) if low <= turns_at <= high else None
