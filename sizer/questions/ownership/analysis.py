"""Cost of owning the design over the years asked, and the share of it that one training run takes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite
from typing import Literal

import numpy as np

from sizer.base.estimate import Estimate
from sizer.bom.bill import Sum, customer_bill
from sizer.bom.cost import CostInterval
from sizer.bom.ownership import (
    CostKind,
    Footprint,
    LaterYear,
    OwnershipCost,
    YearCost,
    cents,
    footprint_of,
    ownership_cost,
    rates_of,
    with_later,
)
from sizer.physical.racks.power import HOURS_PER_YEAR, energy_kwh_per_year
from sizer.sizing.result import PlannedYear, SizingResult, WorkloadAnswer

_SECONDS_PER_HOUR = 3600
# Samples whose cost is given for a workload without a training length and, in addition to its run, a language model.
MILLION = 1e6
# Parts of a cent to which the cost of a million samples is rounded.
_PARTS = 10_000


@dataclass(frozen=True)
class RunCost:
    """What one run of a workload on the whole cluster costs."""

    workload: str
    is_training_run: bool  # False: a million samples, of a language model or of a workload without an end
    sample_unit: str  # images, sentences ...
    duration_s: Estimate
    cost: Decimal  # at the expected duration
    low: Decimal  # at the ends of its 90 % interval
    high: Decimal
    energy_kwh: float  # of the expected duration, cooling included where the PUE is known
    electricity: Decimal | None  # part of the cost; None: no price was stated
    runs: float  # so many fill the period

    @property
    def is_million_tokens(self) -> bool:
        """Whether it is the cost of a million tokens."""
        return not self.is_training_run and self.sample_unit == "token"


@dataclass(frozen=True)
class OwnershipAnswer:
    """Cost of ownership of a design, with the purchases of a growth plan, and of the runs of the design."""

    cost: OwnershipCost
    first: OwnershipCost  # of the design alone, which the runs are on
    utilization_fraction: float | None  # share of all hours in which runs go on; None: not stated, all of them
    runs: tuple[RunCost, ...]
    # With price bands where prices are missing, up to the end of each year from the purchase (year 0) on: of all, and
    # of the design alone. Empty where bands are in another currency.
    up_to: tuple[CostInterval, ...] = ()
    first_up_to: tuple[CostInterval, ...] = ()
    asked_per_million_tokens: Decimal | None = None  # at most
    later: tuple[PlannedYear, ...] = ()  # purchases of the growth plan, in the cost

    @property
    def interval(self) -> CostInterval | None:
        """Cost over all years, with price bands where prices are missing; None where bands are in another currency."""
        return self.up_to[-1] if self.up_to else None

    def span(self, kind: CostKind | Literal["total"], year: int | None = None) -> tuple[float, float] | None:
        """Low and high end of the cost of one kind, in a year or in all of them; None where no band tells them."""
        if self.interval is None or not isfinite(self.interval.high):
            return None
        years = [one for one in self.cost.years if year in (None, one.year)]
        low, high = (sum(self._end(kind, one, end) for one in years) for end in ("low", "high"))
        return low, high

    def _end(self, kind: CostKind | Literal["total"], year_cost: YearCost, end: str) -> float:
        """One end of the range of a kind in a year; support is what the others leave of the total."""
        total: float = getattr(self.up_to[year_cost.year], end)
        total -= getattr(self.up_to[year_cost.year - 1], end) if year_cost.year > 1 else 0.0
        bought = [getattr(price, end) for price in (self.up_to[0], *(year.cost for year in self.later))]
        care = float(self.cost.rates.care_percent) / 100 * sum(bought[: year_cost.year])
        parts: dict[str, float] = {"purchase": sum(bought[year_cost.year - 1 : year_cost.year]), "care": care}
        parts |= {"energy": float(year_cost.energy or 0), "space": float(year_cost.space or 0)}
        return {**parts, "support": total - sum(parts.values()), "total": total}[kind]

    def run_span(self, run: RunCost) -> tuple[float, float] | None:
        """Low and high end of the cost of one run at its expected duration; None where no band tells them."""
        if not self.first_up_to or not isfinite(self.first_up_to[-1].high):
            return None
        return self.first_up_to[-1].low / run.runs, self.first_up_to[-1].high / run.runs

    def meets_cost_per_token(self, run: RunCost) -> bool | None:
        """Whether a million tokens cost at most what was asked; None if not asked, or not known."""
        asked = self.asked_per_million_tokens
        if asked is None or not run.is_million_tokens:
            return None
        low, high = (self.run_span(run) if self.first.is_unpriced else None) or (run.cost, run.cost)
        if {*self.first.missing} - {"prices"} or (self.first.is_unpriced and high == run.cost):
            high = inf
        return False if low > asked else True if high <= asked else None

    @property
    def hourly_cost(self) -> Fraction:
        """Cost of an hour in which the design is used. [currency/h]"""
        return _hourly(self.first, self.utilization_fraction)


def ownership(result: SizingResult) -> OwnershipAnswer | None:
    """Cost of owning the design of an answer.

    Cost of a run = duration x cost of owning the design / (years x 8,760 h x utilization): runs follow each other
    without a pause where no utilization is stated. Equipment that is there costs its energy and space. What a growth
    plan buys later costs what the plan says; after its last year the cluster stays as it is.

    ``result``: the whole answer or a customer's copy: both give the same amounts, based on the customer's price. None
    if the request has no [ownership] table.
    """
    request, design = result.request, result.design
    if request.ownership is None:
        return None
    footprint = footprint_of(design.plan, design.quantities)
    bill = design.bill if design.bill.is_customer_copy else customer_bill(design.bill)
    rates, planned = rates_of(request), result.planned_years
    first, use = ownership_cost(bill, rates, footprint), rates.utilization_fraction
    bought = planned[1 : rates.years]
    later = [LaterYear(one.purchase, _grown(footprint, planned[0], one)) for one in bought]
    if later:
        later += [LaterYear(Sum(Decimal("0.00")), later[-1].footprint)] * (rates.years - 1 - len(later))
    return OwnershipAnswer(
        cost=ownership_cost(bill, rates, footprint, later) if later else first,
        first=first,
        utilization_fraction=use,
        runs=tuple(run for answer in design.workloads for run in _runs(answer, first, use, footprint)),
        up_to=with_later(design.owned, [one.cost for one in bought], later, bill, rates, footprint),
        first_up_to=design.owned,
        asked_per_million_tokens=request.ownership.cost_per_million_tokens,
        later=bought,
    )


def _grown(footprint: Footprint, first: PlannedYear, year: PlannedYear) -> Footprint:
    """Draw and space in a year of a plan: those of the design and what the plan adds to its first year."""
    before, after = first.footprint, year.footprint
    return Footprint(
        footprint.typical_w + after.typical_w - before.typical_w,
        footprint.is_draw_at_least,
        footprint.rack_units + after.rack_units - before.rack_units,
        footprint.racks + after.racks - before.racks,
    )


def _hourly(cost: OwnershipCost, use: float | None) -> Fraction:
    hours = cost.rates.years * HOURS_PER_YEAR * (Fraction(1) if use is None else Fraction(repr(use)))
    return Fraction(cost.total) / hours


def _runs(answer: WorkloadAnswer, cost: OwnershipCost, use: float | None, footprint: Footprint) -> Iterator[RunCost]:
    if answer.serving is not None:  # its tokens have a cost, at the load that it has
        return
    if answer.time is not None:
        yield _run(answer, answer.time.total_s, cost, use, footprint)
    if answer.time is None:
        expected, longest, shortest = (MILLION / rate for rate in answer.throughput)
        yield _run(answer, (expected, shortest, longest), cost, use, footprint, is_training_run=False)
    elif answer.dnn.sample == "token":  # with all that a whole run takes
        share = MILLION / answer.samples_trained
        yield _run(answer, answer.time.total_s.scaled(share), cost, use, footprint, is_training_run=False)


def _run(
    answer: WorkloadAnswer,
    duration_s: Iterable[float],
    cost: OwnershipCost,
    use: float | None,
    footprint: Footprint,
    *,
    is_training_run: bool = True,
) -> RunCost:
    expected, shortest, longest = duration_s
    hourly = _hourly(cost, use)

    def share(seconds: float) -> Decimal:
        amount = hourly * Fraction(repr(seconds)) / _SECONDS_PER_HOUR
        # A million tokens may cost less than a dollar.
        return cents(amount) if is_training_run else cents(amount * _PARTS) / _PARTS

    kwh = energy_kwh_per_year(footprint.typical_w, cost.rates.pue_ratio or 1.0)
    kwh *= expected / _SECONDS_PER_HOUR / HOURS_PER_YEAR
    rate = cost.rates.electricity_per_kwh
    hours = cost.rates.years * HOURS_PER_YEAR * (1.0 if use is None else use)
    return RunCost(
        workload=answer.workload.name,
        is_training_run=is_training_run,
        sample_unit=answer.dnn.sample,
        duration_s=Estimate(np.array(expected), np.array(shortest), np.array(longest)),
        cost=share(expected),
        low=share(shortest),
        high=share(longest),
        energy_kwh=kwh,
        electricity=None if rate is None else cents(Fraction(repr(kwh)) * Fraction(rate)),
        runs=hours * _SECONDS_PER_HOUR / expected,
    )
