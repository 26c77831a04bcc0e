"""The cost of designs as an interval: every line has a price, a published price or a band."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats
from sizer.bom.bill import Bill
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import UnitPrices, unit_prices
from sizer.catalog.model import Catalog
from sizer.physical.components import Component
from sizer.physical.platform import Platform

# Heights at which the probability of a budget is read; between them it is interpolated.
_HEIGHTS = np.linspace(0.0, 1.0, 201)
MIDDLE = 0.5


@dataclass(frozen=True)
class CostInterval:
    """What a design costs, in ``currency``. Bands rank designs and are never quoted."""

    currency: str
    low: float
    expected: float  # every unknown price in the middle of its band
    at_confidence: float  # at most, with the confidence of the request: the amount that ranks designs
    high: float  # inf where a line has neither price nor band

    def dominates(self, other: "CostInterval") -> bool:
        """Whether this costs less whatever the unknown prices are."""
        return self.high < other.low


def row_amounts(components: Iterable[Component], platform: Platform, prices: UnitPrices) -> Floats:
    """Cost of every row of a platform at the heights of ``prices``.

    Parameters
    ----------
    components : iterable of Component
        Of all rows; existing and optional ones cost nothing.
    platform : Platform
        GPUs a server and drives a chassis, which bands depend on.
    prices : UnitPrices

    Returns
    -------
    ndarray, shape (heights, rows)
        [currency]

    Notes
    -----
    All unknown prices of an order lie at the same height of their bands: a customer who pays much for one thing pays
    much for the others. The interval of a sum is then the sum of the intervals, the widest that the bands allow.
    Support that costs a percentage is that share of what it supports, bought or not priced otherwise.
    """
    bought = [part for part in components if part.status == "computed" and np.count_nonzero(part.quantity)]
    plain = [part for part in bought if not prices.is_percentage(part.item)]
    if not plain:
        rows = bought[0].quantity.size if bought else 1
        return np.zeros((prices.heights.size, rows))
    quantity = np.array([part.quantity for part in plain], dtype=float)
    each = np.array([prices.of(part.item, platform) for part in plain]).T
    amounts = _product(each, quantity)
    for part in bought:
        if prices.is_percentage(part.item):
            rows_of = [i for i, one in enumerate(plain) if prices.supports(part.item, one.item)]
            share = prices.of(part.item, platform)[:, None]
            if rows_of:
                amounts = amounts + share * _product(each[:, rows_of], quantity[rows_of])
    return amounts


def _product(each: Floats, quantity: Floats) -> Floats:
    """Sum of prices x quantities; a piece without any bound counts only where there is one."""
    if np.isfinite(each).all():
        return np.asarray(each @ quantity)
    parts = np.where(quantity[None] > 0, each[:, :, None], 0.0) * np.maximum(quantity[None], 0.0)
    return np.asarray(parts.sum(axis=1))


def amounts_by_item(
    components: Iterable[Component], row: int, platform: Platform, prices: UnitPrices
) -> dict[str, Floats]:
    """Cost of every item of one row at the heights of ``prices``; the sum over the items is :func:`row_amounts`."""
    found: dict[str, Floats] = {}
    later: list[str] = []
    for part in components:
        if part.status != "computed" or not part.quantity[row]:
            continue
        if prices.is_percentage(part.item):
            later.append(part.item)
            continue
        found[part.item] = found.get(part.item, 0.0) + int(part.quantity[row]) * prices.of(part.item, platform)
    for item in dict.fromkeys(later):
        base = [amount for name, amount in found.items() if name not in later and prices.supports(item, name)]
        found[item] = prices.of(item, platform) * np.sum(base, axis=0) if base else np.zeros(prices.heights.size)
    return found


def line_amounts(bill: Bill, platform: Platform, prices: UnitPrices) -> Floats:
    """Cost of every bought line of a bill at the heights of ``prices``, shape (lines, heights).

    A line that the bill prices costs that at every height, the discount of the deal taken off; the others follow
    their bands. A line of the quote's own without a price is unknown without bounds.
    """
    lines = bill.bought
    factor = 1 - float(bill.deal_discount_percent) / 100
    found = np.zeros((len(lines), prices.heights.size))
    later: list[int] = []
    for place, line in enumerate(lines):
        if line.extended_net is not None:
            found[place] = float(line.extended_net) * factor
        elif not line.item:
            found[place] = np.where(prices.heights > 0, np.inf, 0.0)
        elif prices.is_percentage(line.item):
            later.append(place)
        else:
            found[place] = line.quantity * prices.of(line.item, platform)
    for place in later:
        support = prices.catalog.item(lines[place].item)
        base = [i for i, line in enumerate(lines) if line.item and prices.supports(support.id, line.item)]
        found[place] = prices.of(support.id, platform) * found[base].sum(axis=0)
    return found


def bill_cost(bill: Bill, platform: Platform, prices: UnitPrices, confidence: float) -> CostInterval:
    """Interval of the cost of a bill: the sum over its lines.

    ``prices`` is at the heights 0, 0.5, the confidence and 1.
    """
    assert prices.heights.tolist() == heights_of(confidence)
    low, expected, likely, high = line_amounts(bill, platform, prices).sum(axis=0).tolist()
    return CostInterval(bill.currency, low, expected, likely, high)


def heights_of(confidence: float) -> list[float]:
    """Heights of the four amounts of a cost interval."""
    return [0.0, MIDDLE, confidence, 1.0]


def probability_within(
    bill: Bill, platform: Platform, catalog: Catalog, book: PriceBook, budget: float
) -> float | None:
    """Probability that a bill costs no more than a budget.

    Parameters
    ----------
    bill : Bill
    platform : Platform
    catalog : Catalog
    book : PriceBook
    budget : float
        In the currency of the bill.

    Returns
    -------
    float or None
        1 only where the highest cost is within the budget, 0 only where the lowest is above it; between them the height
        at which all bands together cost the budget. None where something has neither price nor band, or bands are in
        another currency. [-]
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
