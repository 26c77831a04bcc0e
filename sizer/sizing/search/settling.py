"""Which missing prices decide between the design that leads and those that follow it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from sizer.bom.cost import heights_of
from sizer.bom.ownership_interval import row_totals
from sizer.bom.unit_prices import SMALL, UnitPrices, unit_prices
from sizer.physical.components import DesignParts
from sizer.sizing.reasons import CostDifference, QuoteToSettle
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.priced_order import MOST_QUOTES, PricedOrder, difference, ordered, quotes_between

# Designs after the first that are compared with it, and of these the ones whose order quotes would settle.
_COMPARED, _FOLLOWING = 7, 3


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
    prices = settling_prices(counts)
    first = order_of_row(counts, order[0], prices, order[0])
    followers = [row for row in order[1 : 1 + _COMPARED] if counts.unknowns[row] <= counts.unknowns[order[0]]]
    others = (order_of_row(counts, row, prices, order[0]) for row in followers)
    unsettled = (other for other in others if not difference(other, first, prices).low > 0)
    for other in islice(unsettled, _FOLLOWING):
        for quote in quotes_between(first, other, prices):
            known = heaviest.get(quote.item)
            if known is None or (known.swing or 0.0) < (quote.swing or 0.0):
                heaviest[quote.item] = quote
    return tuple(ordered(list(heaviest.values()), prices)[:MOST_QUOTES])


def order_of_row(counts: PartCounts, row: int, prices: UnitPrices, base: int) -> PricedOrder:
    """What the design of one row orders; ``prices`` are :func:`settling_prices`.

    Where designs are ranked by what their rate costs, as much of it as has the rate of the row ``base``.
    """
    design, platform = counts.design(row), counts.evaluated.platforms[int(counts.evaluated.space.platform[row])]
    order = PricedOrder.of_parts(platform, design.bought, prices)
    if counts.request.ranks_by_rate and row != base:
        share = float(np.divide(*counts.evaluated.gpu_rate_at(np.array([base, row]))))
        amounts = {item: share * amount for item, amount in order.amounts.items()}
        return replace(order, amounts=amounts, pieces={item: share * count for item, count in order.pieces.items()})
    if counts.ownership_rates is None:
        return order
    owned = row_totals(DesignParts.of(design), platform, prices, counts.ownership_rates)[:, 0]
    return replace(order, running=owned - np.sum(list(order.amounts.values()), axis=0))


def row_difference(counts: PartCounts, row: int, base: int) -> CostDifference:
    """What the design of one row costs more than that of another, to buy or to own, as that ranks designs."""
    prices = settling_prices(counts)
    return difference(order_of_row(counts, row, prices, base), order_of_row(counts, base, prices, base), prices)


def settling_prices(counts: PartCounts) -> UnitPrices:
    """Prices that rank designs, at the heights of a cost interval."""
    heights = heights_of(counts.request.confidence)
    return unit_prices(counts.catalog, counts.prices, counts.unit_prices.currency, heights, SMALL)
