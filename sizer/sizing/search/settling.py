"""Which missing prices decide between the design that leads and those that follow it."""

from collections.abc import Mapping, Sequence

import numpy as np

from sizer.base.arrays import Floats
from sizer.bom.cost import amounts_by_item, heights_of, supports
from sizer.bom.ownership_interval import row_totals
from sizer.bom.unit_prices import SMALL, UnitPrices
from sizer.physical.quantities import slice_row
from sizer.sizing.reasons import QuoteToSettle
from sizer.sizing.search.part_counts import PartCounts

# Designs after the first whose order is looked at, and quotes that are named.
_FOLLOWING = 3
MOST_QUOTES = 3
# Of all that missing prices can move the difference by, the least share of a quote worth asking for.
_LEAST_SHARE = 0.1


def quotes_to_settle(counts: PartCounts, order: Sequence[int]) -> tuple[QuoteToSettle, ...]:
    """The two or three quotes that could change which design leads, the heaviest first.

    Parameters
    ----------
    counts : PartCounts
    order : sequence of int
        Best rows of the platforms, ranked by cost.

    Returns
    -------
    tuple of QuoteToSettle
        Empty where the first dominates the next ones: no missing price changes the order.

    Notes
    -----
    A quote moves the difference of two designs by (pieces of one - pieces of the other) x the width of its band. The
    price at which the order turns takes every other price as the ranking does, at the confidence of the request.
    """
    heaviest: dict[str, QuoteToSettle] = {}
    if len(order) < 2:
        return ()
    first = item_costs(counts, order[0])
    for row in order[1 : 1 + _FOLLOWING]:
        if counts.conditional[row] and not counts.conditional[order[0]]:
            continue
        other = item_costs(counts, row)
        if _total(first)[-1] < _total(other)[0]:
            continue
        for quote in _between(counts, order[0], row, first, other):
            known = heaviest.get(quote.item)
            if known is None or (known.swing or 0.0) < (quote.swing or 0.0):
                heaviest[quote.item] = quote
    # A quote that turns the order by itself comes before one that does so with others. Support comes last: it is
    # quoted with what it supports.
    prices = _prices(counts)
    quotes = sorted(
        heaviest.values(),
        key=lambda quote: (prices.is_percentage(quote.item), quote.turns_at is None, -(quote.swing or 0.0)),
    )
    return tuple(quotes[:MOST_QUOTES])


def item_costs(counts: PartCounts, row: int) -> dict[str, Floats]:
    """What every item of a design costs: low, middle, at the confidence of the request, high."""
    index, size = divmod(row, len(counts.evaluated.space.sizes))
    parts = counts.of(index).quantities.components
    return amounts_by_item(parts, size, counts.evaluated.platforms[index], _prices(counts))


def is_dominated(counts: PartCounts, first: int, other: int) -> bool:
    """Whether one design costs less than another whatever the missing prices are, to own where that ranks them."""
    return bool(_ranked_amounts(counts, first)[-1] < _ranked_amounts(counts, other)[0])


def _ranked_amounts(counts: PartCounts, row: int) -> Floats:
    """The amount that ranks a design: low, middle, at the confidence of the request, high."""
    if counts.ownership_rates is None:
        return _total(item_costs(counts, row))
    index, size = divmod(row, len(counts.evaluated.space.sizes))
    platform, parts = counts.evaluated.platforms[index], slice_row(counts.of(index).quantities, size)
    return row_totals(parts, platform, _prices(counts), counts.ownership_rates)[:, 0]


def _prices(counts: PartCounts) -> UnitPrices:
    request = counts.request
    heights = heights_of(request.confidence)
    return UnitPrices(counts.catalog, counts.prices, counts.unit_prices.currency, heights, SMALL)


def _total(costs: Mapping[str, Floats]) -> Floats:
    return np.sum(list(costs.values()), axis=0) if costs else np.zeros(4)


def _between(
    counts: PartCounts, row: int, other_row: int, first: Mapping[str, Floats], other: Mapping[str, Floats]
) -> list[QuoteToSettle]:
    nothing = np.zeros(4)
    gap = float(_total(other)[2] - _total(first)[2])
    prices = _prices(counts)
    swings: dict[str, float] = {}
    for item in dict.fromkeys([*first, *other]):
        moved = other.get(item, nothing) - first.get(item, nothing)
        swing = abs(float(moved[-1] - moved[0]))
        if np.isfinite(swing) and not prices.is_known(item) and counts.catalog.category_of(item) not in SMALL:
            swings[item] = swing
    least = _LEAST_SHARE * sum(swings.values())
    found = []
    for item, swing in swings.items():
        if swing > 0 and swing >= least:
            turns_at = _turning_price(counts, row, other_row, item, gap)
            found.append(QuoteToSettle(item, counts.catalog.item(item).name, round(swing, 2), turns_at))
    return found


def _turning_price(counts: PartCounts, row: int, other_row: int, item: str, gap: float) -> float | None:
    """Price of one piece at which two designs cost the same; None where no price in the band does that."""
    prices = _prices(counts)
    if prices.is_percentage(item):
        return None
    more = _pieces(counts, other_row, item) - _pieces(counts, row, item)
    if not more:
        return None
    dearer = other_row if more > 0 else row
    platform = counts.evaluated.platforms[dearer // len(counts.evaluated.space.sizes)]
    low, _, likely, high = prices.of(item, platform).tolist()
    # Support that costs a share of the price moves with it.
    shares = [
        float(prices.of(name, platform)[2])
        for name in item_costs(counts, dearer)
        if prices.is_percentage(name) and supports(counts.catalog.item(name), item, prices)
    ]
    turns_at = likely - gap / (more * (1 + sum(shares)))
    return round(turns_at, 2) if low <= turns_at <= high else None


def _pieces(counts: PartCounts, row: int, item: str) -> int:
    index, size = divmod(row, len(counts.evaluated.space.sizes))
    parts = counts.of(index).quantities.components
    return sum(int(part.quantity[size]) for part in parts if part.item == item and part.status == "computed")
