"""What a request that grows buys first: the design that its answer describes."""

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.base.errors import InfeasibleError, RequestError
from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.growth.growth_plan import covered_years
from sizer.sizing.growth.purchase_planner import PurchasePlanner
from sizer.sizing.reasons import Binding, BindingKind, QuoteToSettle
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class FirstPurchases:
    """What the platforms of a growth plan have in the first year, in the order of the plan."""

    designs: tuple[DesignAnswer, ...]  # the first is the one to buy
    quotes_to_settle: tuple[QuoteToSettle, ...]  # that could change which platform that is


def first_purchases(
    request: SizingRequest,
    catalog: Catalog,
    calibration: Calibration,
    *,
    only_first: bool = False,
) -> FirstPurchases | None:
    """First purchases of the platforms that a plan considers.

    Parameters
    ----------
    request : SizingRequest
    catalog : Catalog
    calibration : Calibration
    only_first : bool
        Whether the design to buy is all that is asked for: without its nearest measurements, other platforms and
        quotes.

    Returns
    -------
    FirstPurchases or None
        None where the request does not grow, or no plan covers the first year: the growth chapter says why.
    """
    if request.growth is None:
        return None
    try:
        covered = covered_years(request, catalog, calibration)
    except (InfeasibleError, RequestError):
        return None
    planners = covered.planners[:1] if only_first else covered.planners
    designs = tuple(
        _design(
            planner, request, covered.workloads[0], catalog, calibration, is_documented=not only_first and place == 0
        )
        for place, planner in enumerate(planners)
    )
    return FirstPurchases(designs, () if only_first else covered.quotes_to_settle())


def _design(
    planner: PurchasePlanner,
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    catalog: Catalog,
    calibration: Calibration,
    *,
    is_documented: bool,
) -> DesignAnswer:
    recommended, *_ = planner.recommended()
    first, last = recommended.sizes[0], recommended.sizes[-1]
    if recommended.is_prepared and last.n_servers > first.n_servers:
        # The network and the racks of the last year are installed: what comes later has its ports and its room.
        spare = max(request.fabric.spare_servers, last.n_servers - first.n_servers)
        request = request.model_copy(update={"fabric": request.fabric.model_copy(update={"spare_servers": spare})})
    return design_answer(
        request,
        works,
        planner.platform,
        first.n_servers,
        first.storage_nodes,
        catalog,
        calibration,
        prices_for(request, catalog),
        Binding(BindingKind.GROWTH, planner.needs[0].n_servers),
        is_documented,
    )


def is_same(one: DesignAnswer, other: DesignAnswer) -> bool:
    """Whether two designs are the same order: platform, counts and every line of the bill."""
    return _order_of(one) == _order_of(other) and one.platform == other.platform


def _order_of(design: DesignAnswer) -> tuple[object, ...]:
    lines = sorted((line.item, line.description, line.quantity) for line in design.bill.lines)
    return design.n_servers, design.storage_nodes, *lines
