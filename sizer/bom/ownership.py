"""What owning a cluster costs over the years: exact to the cent, and in ranges where prices are bands."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from math import floor
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats
from sizer.base.money import CENT
from sizer.bom.bill import MONTHS_A_YEAR, Bill, BillLine, Sum
from sizer.bom.cost import CostInterval, component_amounts, heights_of, line_amounts
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.schema import Device
from sizer.physical.components import Component, DesignParts, Quantities, bought_of
from sizer.physical.plan import Plan
from sizer.physical.platform import Platform
from sizer.physical.racks.power import HOURS_PER_YEAR, device_power, energy_kwh_per_year
from sizer.workload.request import SizingRequest

CostKind = Literal["purchase", "support", "energy", "space", "care"]
COST_KINDS: tuple[CostKind, ...] = get_args(CostKind)
# What is missing of a cost, so that it reads "at least".
Missing = Literal["prices", "renewals", "electricity", "watts", "cooling", "space", "growth"]
# Categories of the bill that support, as a share of a price, is not paid for.
UNSUPPORTED = ("support", "service")
_NOTHING = Decimal("0.00")
# Draw of a cluster without work, as a share of its typical draw: assumed, no source gives what these servers draw idle.
IDLE_SHARE = 0.3


@dataclass(frozen=True)
class OwnershipRates:
    """Period and rates; None: not stated."""

    years: int
    electricity_per_kwh: Decimal | None = None
    pue_ratio: float | None = None
    support_percent: Decimal | None = None  # a year, of what is bought once
    space_per_rack_unit_month: Decimal | None = None
    space_per_rack_month: Decimal | None = None
    care_percent: Decimal = Decimal(0)  # a year, of the purchase: staff, space and maintenance
    asks_space: bool = False  # whether a missing price of space makes the total "at least"
    grows: bool = False  # whether more is bought later
    utilization_fraction: float | None = None  # share of all hours in which the cluster works; None: all of them

    @property
    def has_space(self) -> bool:
        """Whether a price of space is stated."""
        return self.space_per_rack_unit_month is not None or self.space_per_rack_month is not None

    @property
    def draw_fraction(self) -> float:
        """Mean of the draw over all hours, as a share of the typical draw."""
        use = 1.0 if self.utilization_fraction is None else self.utilization_fraction
        return use + (1 - use) * IDLE_SHARE


@dataclass(frozen=True)
class Footprint:
    """What the running costs of a cluster depend on besides its bill."""

    typical_w: float  # while it works
    is_draw_at_least: bool = False  # some part's draw is unknown
    rack_units: float = 0.0
    racks: int = 0


@dataclass(frozen=True)
class LaterYear:
    """A year after the first: what is bought at its start, and what everything that is then owned draws and takes."""

    purchase: Sum
    footprint: Footprint


@dataclass(frozen=True)
class YearCost:
    """Costs of one year; None: its rate is not stated."""

    year: int  # from 1
    purchase: Decimal
    support: Decimal
    energy: Decimal | None
    space: Decimal | None
    care: Decimal

    @property
    def total(self) -> Decimal:
        """Sum of what is known."""
        return sum((getattr(self, kind) or _NOTHING for kind in COST_KINDS), _NOTHING)


@dataclass(frozen=True)
class OwnershipCost:
    """What a cluster costs over the years. The total is the sum of the kinds and of the years, to the cent."""

    currency: str
    rates: OwnershipRates
    years: tuple[YearCost, ...]
    n_open: int  # bought lines to be quoted
    energy_kwh: Decimal  # of the whole period, the cooling of the room included where the PUE is known
    missing: tuple[Missing, ...]

    def of(self, kind: CostKind) -> Decimal | None:
        """Cost of one kind over all years; None: its rate is not stated."""
        amounts = [getattr(year, kind) for year in self.years]
        return None if None in amounts else sum(amounts, _NOTHING)

    @property
    def purchase(self) -> Decimal:
        """Net total of the priced lines of the bill, the first terms of support and subscriptions included."""
        return self.of("purchase") or _NOTHING

    @property
    def support(self) -> Decimal:
        """Support and subscriptions beyond what the bill pays for."""
        return self.of("support") or _NOTHING

    @property
    def energy(self) -> Decimal | None:
        """Electricity; None: no price was stated."""
        return self.of("energy")

    @property
    def space(self) -> Decimal | None:
        """Space in the room; None: no price was stated."""
        return self.of("space")

    @property
    def care(self) -> Decimal:
        """Staff, space and maintenance as a share of the purchase."""
        return self.of("care") or _NOTHING

    @property
    def total(self) -> Decimal:
        """Sum of what is known; no document prints it while a line of the bill has no price."""
        return sum((year.total for year in self.years), _NOTHING)

    @property
    def is_at_least(self) -> bool:
        """Whether a part of the costs is not known."""
        return bool(self.missing)

    @property
    def is_unpriced(self) -> bool:
        """Whether a line of the purchase has no price: there is no total then, only what budgetary prices give."""
        return self.n_open > 0


def rates_of(request: SizingRequest, years: int | None = None) -> OwnershipRates:
    """Rates that a request states, in whichever of its tables.

    ``years``: default: those of [ownership], else of [rental].
    """
    asked, rental = request.ownership, request.rental
    tables = (asked, rental) if years is None else (rental, asked)
    uses = [table.utilization_fraction for table in tables if table is not None]
    # A rental offer is compared with owning the same first purchase.
    grows = years is None and request.growth is not None
    if years is None:
        years = asked.years if asked is not None else rental.years if rental is not None else 1
    return OwnershipRates(
        years=years,
        electricity_per_kwh=request.electricity_per_kwh,
        pue_ratio=request.site.pue_ratio,
        support_percent=None if asked is None else asked.support_percent,
        space_per_rack_unit_month=None if asked is None else asked.space_per_rack_unit_month,
        space_per_rack_month=None if asked is None else asked.space_per_rack_month,
        care_percent=Decimal(0) if rental is None else rental.yearly_cost_percent,
        asks_space=asked is not None,
        grows=grows and years > 1,
        utilization_fraction=next((use for use in uses if use is not None), None),
    )


def footprint_of(plan: Plan, quantities: Quantities) -> Footprint:
    """Draw and space of one design, equipment that is there included."""
    return Footprint(
        typical_w=sum(rack.typical_w for rack in plan.racks),
        is_draw_at_least=any(rack.has_unknown_power for rack in plan.racks),
        rack_units=float(quantities.rack_units[0]),
        racks=int(quantities.racks[0]),
    )


def ownership_cost(
    bill: Bill, rates: OwnershipRates, footprint: Footprint, later: Sequence[LaterYear] = ()
) -> OwnershipCost:
    """Cost of owning what a bill lists, and what is bought later.

    ``bill``: what is bought first, or a customer's copy of it. ``later``: every year from the second on; without
    them nothing is bought, and the footprint stays. Raises ValueError if there are no years, or a draw, a number of
    racks or rack units is below 0.

    Purchase (year 1) = net total of the bill. Support = its support and subscriptions beyond their terms, at their
    price; with ``support_percent`` that share of what is bought once, from the end of the shortest priced support
    term on, in place of the support (not the subscriptions). Energy = typical draw, ``IDLE_SHARE`` of it without
    work, x PUE x 8,760 h x price. Space = rack units or racks x 12 months x price. Care = share of the purchase.
    What is bought later has support and care from its year on. Every sum from year 1 on is rounded to cents, and a
    year is the difference of two of them. No interest, tax, price change or residual value is counted.
    """
    if rates.years < 1 or not (footprint.typical_w >= 0 and footprint.rack_units >= 0 and footprint.racks >= 0):
        raise ValueError(
            "ownership needs at least one year and no negative draw or space, got "
            f"{rates.years} years, {footprint.typical_w} W, {footprint.rack_units} U, {footprint.racks} racks"
        )
    support, n_open_terms = _support(bill, rates)
    bought = [one.purchase.amount for one in later] or [_NOTHING] * (rates.years - 1)
    care = [Fraction(0)] * (rates.years + 1)
    for purchase_year, amount in enumerate((bill.total, *bought)):
        for year in range(purchase_year + 1, rates.years + 1):
            supported, cared_for = running_shares(bill, rates, year - purchase_year)
            support[year] += Fraction(amount) * supported if purchase_year else 0  # of the bill its lines tell
            care[year] += Fraction(amount) * cared_for
    owned = [footprint, *([one.footprint for one in later] or [footprint] * (rates.years - 1))]
    yearly_kwh = [
        _exact(one.typical_w) * _exact(rates.draw_fraction) / 1000 * _exact(rates.pue_ratio or 1.0) * HOURS_PER_YEAR
        for one in owned
    ]
    rate = rates.electricity_per_kwh
    energy = None if rate is None else _up_to([kwh * Fraction(rate) for kwh in yearly_kwh])
    space = None
    if rates.has_space:
        monthly = [
            _exact(one.rack_units) * Fraction(rates.space_per_rack_unit_month or 0)
            + one.racks * Fraction(rates.space_per_rack_month or 0)
            for one in owned
        ]
        space = _up_to([amount * MONTHS_A_YEAR for amount in monthly])
    n_open = len(_open_lines(bill, rates)) or max((one.purchase.n_open for one in later), default=0)
    missing: list[tuple[Missing, bool]] = [
        ("prices", n_open > 0),
        ("renewals", n_open_terms > 0),
        ("electricity", rate is None),
        ("watts", rate is not None and any(one.is_draw_at_least for one in owned)),
        ("cooling", rate is not None and rates.pue_ratio is None),
        ("space", rates.asks_space and not rates.has_space and not rates.care_percent),
        ("growth", rates.grows and not later),
    ]
    return OwnershipCost(
        currency=bill.currency,
        rates=rates,
        years=tuple(
            YearCost(
                year,
                purchase=bill.total if year == 1 else bought[year - 2],
                support=_of_year(support, year),
                energy=None if energy is None else _of_year(energy, year),
                space=None if space is None else _of_year(space, year),
                care=_of_year(care, year),
            )
            for year in range(1, rates.years + 1)
        ),
        n_open=n_open,
        energy_kwh=cents(sum(yearly_kwh, Fraction(0))),
        missing=tuple(key for key, is_missing in missing if is_missing),
    )


def _support(bill: Bill, rates: OwnershipRates) -> tuple[list[Fraction], int]:
    """Support beyond the bill up to the end of each year, from 0 on, and how many priced lines have no known term."""
    off = 1 - Fraction(bill.deal_discount_percent) / 100
    totals, n_open = [Fraction(0)] * (rates.years + 1), 0
    has_share = rates.support_percent is not None
    for line in bill.bought:
        if not line.is_recurring or not line.extended_net:  # open, or free of charge
            continue
        if has_share and line.category == "support":
            continue
        if line.term_months is None:
            n_open += 1
            continue
        for year in range(1, rates.years + 1):
            months = max(year * MONTHS_A_YEAR - line.term_months, 0)
            totals[year] += Fraction(line.extended_net) * off * months / line.term_months
    supported = [line for line in bill.bought if not line.is_recurring and line.category not in UNSUPPORTED]
    base = sum((Fraction(line.extended_net or 0) for line in supported), Fraction(0)) * off
    for year in range(1, rates.years + 1):
        totals[year] += base * running_shares(bill, rates, year)[0]
    return totals, n_open


def running_shares(bill: Bill, rates: OwnershipRates, years: int) -> tuple[Fraction, Fraction]:
    """Stated support and care of so many years, as shares of a purchase."""
    terms = [line.term_months for line in _priced_support(bill)]
    covered = min((MONTHS_A_YEAR if term is None else term for term in terms), default=0)
    supported = Fraction(rates.support_percent or 0) / 100 * _exact(float(_uncovered_years(years, covered)))
    return supported, Fraction(rates.care_percent) / 100 * years


def _uncovered_years(years: int, covered_months: ArrayLike) -> Floats:
    """Years in which support costs a stated share: those after the shortest term of priced support."""
    return np.asarray(np.maximum(years - np.asarray(covered_months, dtype=float) / MONTHS_A_YEAR, 0.0))


def _up_to(yearly: Sequence[Fraction]) -> list[Fraction]:
    """Sums up to the end of each year, from 0 on."""
    return [Fraction(0), *accumulate(yearly)]


def _priced_support(bill: Bill) -> list[BillLine]:
    return [line for line in bill.bought if line.category == "support" and line.extended_net]


def _open_lines(bill: Bill, rates: OwnershipRates) -> list[BillLine]:
    """Bought lines to be quoted; a stated share for support stands for those of support where none has a price."""
    is_stated = rates.support_percent is not None and not _priced_support(bill)
    return [
        line for line in bill.bought if line.extended_net is None and not (is_stated and line.category == "support")
    ]


def _of_year(totals: Sequence[Fraction], year: int) -> Decimal:
    return cents(totals[year]) - cents(totals[year - 1])


def _exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


def cents(amount: Fraction) -> Decimal:
    """An exact amount as money, rounded half up to cents.

    Examples
    --------
    >>> cents(Fraction(1, 200))
    Decimal('0.01')
    """
    return floor(amount / Fraction(CENT) + Fraction(1, 2)) * CENT


@dataclass(frozen=True)
class _Part:
    """One line of all designs."""

    amount: Floats  # (heights, rows)
    is_there: Bools  # (rows,)
    category: str
    is_priced: bool  # not by a band
    term_months: int | None  # after which it is paid again; None: it is bought once


def row_totals(parts: DesignParts, platform: Platform, prices: UnitPrices, rates: OwnershipRates) -> Floats:
    """Cost of ownership of every row of a platform at the heights of ``prices``, shape (heights, rows). [currency]"""
    # Every bought line of a platform's designs.
    bought, prices = bought_of(parts.components), prices.fitted(platform)
    amounts = component_amounts(bought, platform, prices).swapaxes(0, 1)
    return _totals(
        [_part(part, amount, prices) for part, amount in zip(bought, amounts, strict=True)], rates
    ) + yearly_cost(rates, parts.power_typical_w, parts.rack_units, parts.racks) * float(rates.years)


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
    more = [_running(rates, later_year.footprint) - _running(rates, footprint) for later_year in later]
    names, intervals = ("low", "expected", "at_confidence", "high"), []
    for year, interval in enumerate(up_to):
        before = max(year - 1, 0)  # purchases that are there by then
        shares = [1 + float(sum(running_shares(bill, rates, year - bought_in))) for bought_in in range(1, year)]
        sums = {
            name: getattr(interval, name)
            + sum(more[:before])
            + sum(share * getattr(price, name) for share, price in zip(shares, prices, strict=False))
            for name in names
        }
        intervals.append(replace(interval, **sums))
    return tuple(intervals)


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
    priced = [part for part in parts if part.category == "support" and part.is_priced and part.amount.any()]
    terms = [np.where(part.is_there, part.term_months or MONTHS_A_YEAR, np.inf) for part in priced]
    covered = np.min([*terms, np.full(n_rows, np.inf)], axis=0)
    has_priced = np.isfinite(covered)
    supported = (
        _uncovered_years(rates.years, np.where(has_priced, covered, 0.0)) * float(rates.support_percent or 0) / 100
    )
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
