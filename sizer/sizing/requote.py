"""Another quote for a design that is sized: the search never sees a quote, so nothing is searched again."""

from dataclasses import replace

from sizer.bom.prices import PriceBook, prices_for
from sizer.catalog.model import Catalog
from sizer.sizing.checks import CheckKind
from sizer.sizing.design import assumptions
from sizer.sizing.design.differences import cost_difference, open_between, with_bills
from sizer.sizing.design.money import design_money
from sizer.sizing.reasons import BudgetOfPricedLines, SelectionKind
from sizer.sizing.result import DesignAnswer, ParetoPoint, SizingResult, SpareCost
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest


def requoted(result: SizingResult, quote: Quote, catalog: Catalog) -> SizingResult:
    """The answer to the same request with another quote.

    Parameters
    ----------
    result : SizingResult
        Not a customer's copy.
    quote : Quote
    catalog : Catalog
        The one that the result was sized with.

    Raises
    ------
    RequestError
        If the quote changes an item that the design does not have, or a quantity fits no single line.
    """
    request, book = result.request.model_copy(update={"quote": quote}), prices_for(result.request, catalog)
    design = _design(result.design, request, catalog, book, is_documented=True)
    platforms = tuple(
        design if one is result.design else _design(one, request, catalog, book, is_documented=False)
        for one in result.platforms
    )
    single = next(
        (new for old, new in zip(result.platforms, platforms, strict=True) if old is result.verdict.single), None
    )
    is_planned = result.selection.kind is SelectionKind.GROWTH
    return replace(
        result,
        request=request,
        design=design,
        verdict=replace(result.verdict, single=single),
        spare_cost=None if result.spare_cost is None else _spare(result.spare_cost, design, request, catalog, book),
        selection=with_bills(result.selection, platforms),
        platforms=platforms,
        pareto=tuple(_point(one, design) if is_planned else one for one in result.pareto),
        questions=assumptions.open_points(design, catalog),
        sources=assumptions.sources(design, result.assumptions, catalog),
    )


def _design(
    design: DesignAnswer, request: SizingRequest, catalog: Catalog, book: PriceBook, *, is_documented: bool
) -> DesignAnswer:
    money = design_money(
        request, design.platform, design.quantities, design.plan, catalog, book, is_documented=is_documented
    )
    others = [one for one in design.warnings if not isinstance(one, BudgetOfPricedLines)]
    return replace(
        design,
        bill=money.bill,
        cost=money.cost,
        ownership=money.ownership,
        checks=(*(check for check in design.checks if check.kind is not CheckKind.BUDGET), *money.checks),
        warnings=(*others, *([BudgetOfPricedLines()] if money.budget_is_open else [])),
    )


def _spare(
    cost: SpareCost, design: DesignAnswer, request: SizingRequest, catalog: Catalog, book: PriceBook
) -> SpareCost:
    without = _design(cost.without, request, catalog, book, is_documented=False)
    return replace(
        cost,
        without=without,
        amount=design.bill.total - without.bill.total,
        open_items=open_between(design.bill, without.bill),
        cost=cost_difference(design, without, request, catalog),
    )


def _point(point: ParetoPoint, design: DesignAnswer) -> ParetoPoint:
    """A purchase of a growth plan is on the front with the total of its bill."""
    if not point.is_documented:
        return point
    return replace(point, cost=float(design.bill.total) if design.bill.is_complete else None)
