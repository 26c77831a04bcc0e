"""Cost of ownership in ranges, where prices are bands: of all designs of a platform in one pass, and of one bill."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.bom.bill import MONTHS_A_YEAR, Bill
from sizer.bom.cost import CostInterval, component_amounts, heights_of, line_amounts
from sizer.bom.ownership import UNSUPPORTED, Footprint, LaterYear, OwnershipRates, running_shares
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.schema import Device
from sizer.physical.components import Component, DesignParts, bought_of
from sizer.physical.platform import Platform
from sizer.physical.racks.power import device_power, energy_kwh_per_year


@dataclass(frozen=True)
class _Part:
    """One line of all designs."""

    amount: Floats  # (heights, rows)
    is_there: Bools  # (rows,)
    category: str
    is_priced: bool  # not by a band
    term_months: int | None  # after which it is paid again; None: it is bought once


def row_totals(found: DesignParts, platform: Platform, prices: UnitPrices, rates: OwnershipRates) -> Floats:
    """Cost of ownership of every row of a platform at the heights of ``prices``, shape (heights, rows). [currency]"""
    # Every bought line of a platform's designs.
    bought = bought_of(found.components)
    amounts = component_amounts(bought, platform, prices).swapaxes(0, 1)
    return _totals(
        [_part(part, amount, prices) for part, amount in zip(bought, amounts, strict=True)], rates
    ) + yearly_cost(rates, found.power_typical_w, found.rack_units, found.racks) * float(rates.years)


def yearly_cost(rates: OwnershipRates, typical_w: Floats, rack_units: Floats, racks: Floats) -> Floats:
    """Energy and space of a year; what has no stated price counts nothing.

    ``typical_w`` (rows,): typical draw [W]. ``rack_units`` (rows,): rack units taken. ``racks`` (rows,): racks used.
    """
    kwh = np.asarray(typical_w) * energy_kwh_per_year(rates.draw_fraction, rates.pue_ratio or 1.0)
    monthly = np.asarray(rack_units) * float(rates.space_per_rack_unit_month or 0)
    monthly = monthly + np.asarray(racks) * float(rates.space_per_rack_month or 0)
    return np.asarray(kwh * float(rates.electricity_per_kwh or 0) + monthly * MONTHS_A_YEAR)


def least_yearly_cost(rates: OwnershipRates, part: Device) -> float:
    """Energy and rack units of one device in a year; racks are not divided among devices."""
    units = 0.0 if part.height_u is None else float(part.height_u.value)
    return float(yearly_cost(rates, np.array(device_power(part).typical_w), np.array(units), np.zeros(1))[0])


def bill_intervals(
    bill: Bill,
    platform: Platform,
    prices: UnitPrices,
    rates: OwnershipRates,
    footprint: Footprint,
    confidence: float,
) -> tuple[CostInterval, ...]:
    """Cost of owning what a bill lists up to the end of every year, from the purchase alone (year 0) on.

    ``prices`` is at the heights 0, 0.5, the confidence and 1.
    """
    assert prices.heights.tolist() == heights_of(confidence)
    parts = [
        _Part(
            amount[:, None],
            np.ones(1, dtype=bool),
            line.category,
            line.extended_net is not None,
            _term(line.item, line.category, line.extended_net is not None, line.term_months, prices),
        )
        for line, amount in zip(bill.bought, line_amounts(bill, platform, prices), strict=True)
    ]
    return tuple(
        CostInterval(
            bill.currency,
            *(_totals(parts, replace(rates, years=year))[:, 0] + _running(rates, footprint) * year).tolist(),
        )
        for year in range(rates.years + 1)
    )


def with_later(
    up_to: Sequence[CostInterval],
    prices: Sequence[CostInterval | None],
    later: Sequence[LaterYear],
    bill: Bill,
    rates: OwnershipRates,
    footprint: Footprint,
) -> tuple[CostInterval, ...]:
    """Cost of owning what a bill lists and what is bought later, as :func:`bill_intervals`; empty where one has none.

    ``up_to``: of the bill. ``prices``: of what is bought from the second year on. ``later``, ``bill``, ``rates``,
    ``footprint``: as of :func:`~sizer.bom.ownership.ownership_cost`.
    """
    if not up_to or None in prices:
        return ()
    more = [_running(rates, one.footprint) - _running(rates, footprint) for one in later]
    names, found = ("low", "expected", "at_confidence", "high"), []
    for year, interval in enumerate(up_to):
        before = max(year - 1, 0)  # purchases that are there by then
        shares = [1 + float(sum(running_shares(bill, rates, year - place))) for place in range(1, year)]
        sums = {
            name: getattr(interval, name)
            + sum(more[:before])
            + sum(share * getattr(price, name) for share, price in zip(shares, prices, strict=False))
            for name in names
        }
        found.append(replace(interval, **sums))
    return tuple(found)


def _running(rates: OwnershipRates, one: Footprint) -> float:
    """Energy and space of a year of one design."""
    draw, units, racks = (np.array([value]) for value in (one.typical_w, one.rack_units, float(one.racks)))
    return float(yearly_cost(rates, draw, units, racks)[0])


def _part(part: Component, amount: Floats, prices: UnitPrices) -> _Part:
    is_priced = prices.is_known(part.item)
    row = prices.book.price(part.item, prices.currency) if is_priced else None
    term = _term(part.item, part.category, is_priced, None if row is None else row.term_months, prices)
    return _Part(amount, part.quantity > 0, part.category, is_priced, term)


def _term(item: str, category: str, is_priced: bool, term_months: int | None, prices: UnitPrices) -> int | None:
    """Months after which a line is paid again; a support price without a term, and a band by the year, last a year."""
    if is_priced:
        return MONTHS_A_YEAR if term_months is None and category == "support" else term_months
    return MONTHS_A_YEAR if item and prices.is_yearly(item) else None


def _totals(parts: Sequence[_Part], rates: OwnershipRates) -> Floats:
    """Purchase, support beyond it, and care, shape (heights, rows): the formula of ``ownership_cost`` in arrays."""
    if not parts:
        return np.zeros((1, 1))
    months = float(rates.years * MONTHS_A_YEAR)
    n_rows = parts[0].is_there.size
    care = 1 + float(rates.care_percent) / 100 * rates.years
    supported: Floats = np.zeros(n_rows)
    has_priced = np.zeros(n_rows, dtype=bool)
    if rates.support_percent is not None:
        priced = [part for part in parts if part.category == "support" and part.is_priced and part.amount.any()]
        covered = np.full(n_rows, np.inf)
        for part in priced:
            has_priced |= part.is_there
            covered = np.where(part.is_there, np.minimum(covered, part.term_months or MONTHS_A_YEAR), covered)
        uncovered = np.where(has_priced, np.maximum(rates.years - covered / MONTHS_A_YEAR, 0.0), float(rates.years))
        supported = uncovered * float(rates.support_percent) / 100
    total = np.zeros(np.broadcast_shapes(parts[0].amount.shape, (1, n_rows)))
    for part in parts:
        is_support = part.category == "support"
        amount = part.amount
        if is_support and rates.support_percent is not None:
            # A stated share stands for support: for its renewals, and for all of it where none has a price.
            amount = amount * care if part.is_priced else np.where(has_priced[None], amount * care, 0.0)
        elif part.term_months is not None:
            amount = amount * (care + max(months - part.term_months, 0.0) / part.term_months)
        else:
            amount = amount * (care + (supported[None] if part.category not in UNSUPPORTED else 0.0))
        total = total + amount
    return total
