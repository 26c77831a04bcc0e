"""What one design costs: its bill with the quote, the intervals of its cost, and whether it keeps the budget."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.bom.bill import Bill
from sizer.bom.by_customer import Ingress, by_customer
from sizer.bom.cost import CostInterval, bill_cost, heights_of, probability_within
from sizer.bom.lines import bill
from sizer.bom.ownership import bill_intervals, footprint_of, rates_of
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.model import Catalog
from sizer.physical.components import Quantities
from sizer.physical.plan import Plan
from sizer.physical.platform import Platform
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.evaluate import least_chance
from sizer.sizing.stages.platform_columns import capacity_is_unknown
from sizer.workload.request import SizingRequest
from sizer.workload.serving import USES


@dataclass(frozen=True)
class DesignMoney:
    """Everything about a design that the quote of a request changes."""

    bill: Bill
    cost: CostInterval | None  # None where missing prices have bands in another currency only
    owned: tuple[CostInterval, ...]  # of owning it; likewise empty, and where the request does not ask for it
    checks: tuple[DesignCheck, ...]  # of the budget; empty without one

    @property
    def budget_is_open(self) -> bool:
        """Whether there is a budget, and nobody knows how likely the design keeps it."""
        return any(check.probability is None for check in self.checks)


def design_money(
    request: SizingRequest,
    platform: Platform,
    parts: Quantities,
    plan: Plan,
    catalog: Catalog,
    book: PriceBook,
    answers: Sequence[WorkloadAnswer],
    *,
    is_documented: bool,
) -> DesignMoney:
    """What a design costs with the quote of a request.

    Raises RequestError if a documented design does not have what the quote changes.
    """
    priced = bill(
        parts.components,
        catalog,
        book.fitted(platform),
        request.currency,
        request.date,
        request.quote,
        needed_by=request.needed_by,
        is_documented=is_documented,
        server=platform.server,
        stored_bytes=platform.stored_bytes,
        provided=by_customer(plan, request, _ingress(answers)),
    )
    cost, owned, confidence = None, tuple[CostInterval, ...](), request.confidence
    if book.per_usd(request.currency) is not None or priced.is_complete:
        prices = unit_prices(catalog, book, request.currency, heights_of(confidence))
        cost = bill_cost(priced, platform, prices, confidence)
        if request.ownership is not None:
            used = footprint_of(plan, parts)
            owned = bill_intervals(priced, platform, prices, rates_of(request), used, confidence)
    checks = _budget(request, priced, platform, catalog, book)
    if request.data.minimum_capacity_bytes and capacity_is_unknown(platform.storage, platform.capacity_option):
        # Nobody knows how much of it holds the capacity asked, so that no band says what that costs.
        cost, owned = cost and _without_end(cost), tuple(map(_without_end, owned))
        checks = tuple(
            check if check.result is CheckResult.NOT_MET else replace(check, result=CheckResult.OPEN, probability=None)
            for check in checks
        )
    return DesignMoney(priced, cost, owned, checks)


def _ingress(answers: Sequence[WorkloadAnswer]) -> Ingress | None:
    """What people ask of the models in use of a design; None where nobody waits."""
    asked = [
        (one.served_per_s, one.concurrency * one.replicas, one.served_per_s * (one.work.people == USES["rag"]))
        for one in (answer.serving for answer in answers)
        if one is not None and one.work.first_token_s is not None
    ]
    return Ingress(*(sum(column) for column in zip(*asked, strict=True))) if asked else None


def _without_end(cost: CostInterval) -> CostInterval:
    return replace(cost, expected=math.inf, at_confidence=math.inf, high=math.inf)


def _budget(
    request: SizingRequest, priced: Bill, platform: Platform, catalog: Catalog, book: PriceBook
) -> tuple[DesignCheck, ...]:
    """Known prices are a lower bound; price bands say how likely the rest stays within the budget."""
    budget = request.limits.budget
    if budget is None:
        return ()
    chance = probability_within(priced, platform, catalog, book, budget)
    result = CheckResult.OPEN
    if chance is not None and (chance == 0 or chance >= least_chance(request.confidence)):
        result = CheckResult.MET if chance else CheckResult.NOT_MET
    known = float(priced.total)
    return (DesignCheck(CheckKind.BUDGET, result, budget, known, unpriced=priced.unpriced, probability=chance),)
