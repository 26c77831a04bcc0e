"""The answer as the customer gets it: every document made from it is free of discounts and internal notes."""

from collections.abc import Sequence
from dataclasses import replace

from sizer.base.stored_answers import Deferred
from sizer.bom.bill import customer_bill, unpriced_bill
from sizer.sizing.decision_options import as_built
from sizer.sizing.reasons import QuoteToSettle, RunnerUpKind
from sizer.sizing.result import DecisionOption, DesignAnswer, Maximum, ParetoPoint, SizingResult, SpareCost, Verdict
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest, ranks_by_cost

# What a customer reads of the quote. A new field of the quote stays inside until it is named here.
_HEADING = ("number", "revision", "prepared_by", "valid_days")


def customer_copy(result: SizingResult) -> SizingResult:
    """Copy of an answer for the customer.

    Returns the same design, performance and plan. Its bill is ``customer_bill``; the request keeps the heading of its
    quote and loses discounts, overrides and lines. Other designs have no price: what they would cost comes from price
    books that may be the user's own, and they are not offered. Documents of the user's own price book are no sources.
    """
    shown = result.design.bill
    # The range of the offer holds what is paid; other designs may rest on prices that the customer is not told.
    design = replace(result.design, bill=customer_bill(shown))
    others = tuple(design if other is result.design else not_offered(other) for other in result.platforms)
    reason = result.runner_up_reason
    if reason.kind in (RunnerUpKind.DEARER, RunnerUpKind.DEARER_RATE, RunnerUpKind.NOT_PREFERRED):
        reason = replace(reason, chosen=None, other=None, difference=None)
    selection = result.selection
    if selection.preference is not None and (ranks_by_cost(selection.rank_by) or selection.rank_by == "rate"):
        uncosted = replace(selection.preference, chosen_value=None, other_value=None)
        selection = replace(selection, preference=uncosted)
    own = {line.price_source for line in shown.lines if line.has_own_price}
    return replace(
        result,
        request=_without_discounts(result.request),
        design=design,
        built=result.built or Deferred(lambda: _built(result, design)),
        verdict=_copied(result.verdict, result.platforms, others),
        spare_cost=None if result.spare_cost is None else _without_amount(result.spare_cost),
        selection=selection,
        platforms=others,
        runner_up=None if result.runner_up is None else _uncosted(result.runner_up),
        runner_up_reason=reason,
        pareto=Deferred(lambda: tuple(_uncosted(point) for point in result.pareto.value)),
        maximum=None if result.maximum is None else _without_costs(result.maximum),
        quotes_to_settle=tuple(QuoteToSettle(quote.item, quote.name, None) for quote in result.quotes_to_settle),
        sources=tuple(key for key in result.sources if key not in own),
    )


def _without_discounts(request: SizingRequest) -> SizingRequest:
    heading = {name: getattr(request.quote, name) for name in _HEADING}
    return request.model_copy(update={"quote": Quote(**heading)})


def _built(result: SizingResult, design: DesignAnswer) -> DecisionOption | None:
    """The design as we would build it, at what the customer pays; ``design``: the described one of the copy."""
    option = as_built(result.request, result.design, result.design.plan.catalog)
    if option is None:
        return None
    shown = design if option.design is result.design else option.design
    return DecisionOption(_without_discounts(option.request), shown)


def not_offered(design: DesignAnswer) -> DesignAnswer:
    """A design that a customer's copy compares: without prices."""
    answers = (
        replace(workload, day=workload.day and replace(workload.day, bought_per_million=None, rented_per_million=None))
        for workload in design.workloads
    )
    return replace(design, bill=unpriced_bill(design.bill), cost=None, owned=(), workloads=tuple(answers))


def _copied(verdict: Verdict, before: Sequence[DesignAnswer], after: Sequence[DesignAnswer]) -> Verdict:
    return replace(
        verdict, single=next((new for old, new in zip(before, after, strict=True) if old is verdict.single), None)
    )


def _without_amount(cost: SpareCost) -> SpareCost:
    return replace(cost, amount=None, cost=None, without=not_offered(cost.without))


def _without_costs(maximum: Maximum) -> Maximum:
    """The most that the limits give, without costs: the order of the designs stays."""
    steps = tuple(
        replace(step, following=None if step.following is None else replace(step.following, cost=None))
        for step in maximum.steps
    )
    runner_up = None if maximum.runner_up is None else replace(maximum.runner_up, cost=None)
    design = replace(maximum.design, cost=None)
    # A design that is told for its cost alone says something of the costs.
    return replace(maximum, design=design, steps=steps, runner_up=runner_up, cheaper=None)


def _uncosted(point: ParetoPoint) -> ParetoPoint:
    return replace(point, cost=None)
