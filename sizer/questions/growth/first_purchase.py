"""The answer of a request that grows: its design is the system that the growth plan buys first."""

from collections.abc import Sequence
from dataclasses import replace

from sizer.base.errors import InfeasibleError, RequestError
from sizer.bom.prices import price_book
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.questions.growth.analysis import growth_plan
from sizer.questions.growth.result import GrowthPlan
from sizer.sizing.design import assumptions
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.design.verdict import verdict_of
from sizer.sizing.reasons import Binding, BindingKind, RunnerUpKind, RunnerUpReason, Selection, SelectionKind
from sizer.sizing.redundancy_cost import spare_cost
from sizer.sizing.result import DesignAnswer, ParetoPoint, SizingResult
from sizer.sizing.size import size
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


def size_with_growth(request: SizingRequest, catalog: Catalog, calibration: Calibration | None = None) -> SizingResult:
    """Size a request; where it grows, describe what the growth plan buys in the first year.

    Parameters
    ----------
    request : SizingRequest
    catalog : Catalog
    calibration : Calibration, optional
        Default: the stored one.

    Returns
    -------
    SizingResult
        That of :func:`sizer.sizing.size.size` without growth, or where no plan covers the first year. Else the design
        is the first purchase of the plan's first platform, and the design that is enough for the first year alone is
        the runner-up, where they differ.

    Raises
    ------
    RequestError, InfeasibleError
        As :func:`sizer.sizing.size.size`.
    """
    fitted = calibration if calibration is not None else stored_calibration()
    result = size(request, catalog, fitted)
    if request.growth is None:
        return result
    try:
        plan = growth_plan(request, catalog, fitted)
    except (InfeasibleError, RequestError):  # the growth chapter says why there is no plan
        return result
    works = resolved(request, catalog, fitted)
    design = _first_purchase(request, works, plan, catalog, fitted)
    if _is_same(design, result.design):
        return result
    return _described(result, works, design, catalog, fitted)


def _first_purchase(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    plan: GrowthPlan,
    catalog: Catalog,
    calibration: Calibration,
) -> DesignAnswer:
    """What the plan's first platform has in the first year."""
    growth = plan.platforms[0]
    first, last = growth.recommended.sizes[0], growth.recommended.sizes[-1]
    if growth.recommended.is_prepared and last.n_servers > first.n_servers:
        # The network and the racks of the last year are installed: what comes later has its ports and its room.
        spare = max(request.fabric.spare_servers, last.n_servers - first.n_servers)
        request = request.model_copy(update={"fabric": request.fabric.model_copy(update={"spare_servers": spare})})
    return design_answer(
        request,
        works,
        growth.platform,
        first.n_servers,
        first.storage_nodes,
        catalog,
        calibration,
        price_book(catalog),
        Binding(BindingKind.GROWTH, growth.needs[0].n_servers),
    )


def _is_same(one: DesignAnswer, other: DesignAnswer) -> bool:
    counts = (one.n_servers, one.storage_nodes) == (other.n_servers, other.storage_nodes)
    return counts and one.platform == other.platform


def _described(
    result: SizingResult,
    works: Sequence[ResolvedWorkload],
    design: DesignAnswer,
    catalog: Catalog,
    calibration: Calibration,
) -> SizingResult:
    """The answer with another design described."""
    request = result.request
    others = tuple(
        one for one in result.platforms if one is not result.design and one.platform.key != design.platform.key
    )
    platforms = (design, *others)
    taken = assumptions.design_assumptions(works, design, catalog)
    before = next((point for point in result.pareto if point.is_documented), None)
    alone = None if before is None else replace(before, is_documented=False)
    listed = [replace(point, is_documented=False) for point in result.pareto]
    return replace(
        result,
        verdict=verdict_of(design, platforms),
        design=design,
        spare_cost=spare_cost(request, design, catalog, calibration),
        selection=Selection(SelectionKind.GROWTH, result.selection.n_platforms),
        platforms=platforms,
        runner_up=alone,
        runner_up_reason=RunnerUpReason(RunnerUpKind.NONE if alone is None else RunnerUpKind.FIRST_YEAR),
        pareto=(_point(design, before), *listed) if before is not None else result.pareto,
        assumptions=taken,
        questions=assumptions.open_points(design, catalog),
        sources=assumptions.sources(design, taken, catalog),
    )


def _point(design: DesignAnswer, like: ParetoPoint) -> ParetoPoint:
    """The design as a point of the Pareto front."""
    answer, counts = design.workloads[0], design.quantities
    rate = float(answer.throughput.value)
    # The time of a workload without a known length is that of a million samples, which the rate scales.
    time_s = like.time_s * like.throughput_samples_per_s / rate
    return ParetoPoint(
        name=design.name,
        server=design.platform.server.id,
        storage=design.platform.storage.id,
        n_servers=design.n_servers,
        n_gpus=design.n_gpus,
        storage_nodes=design.storage_nodes,
        throughput_samples_per_s=rate,
        time_s=float(answer.time.total_s.value) if answer.time is not None else time_s,
        power_w=float(counts.power_max_w[0]),
        rack_units=float(counts.rack_units[0]),
        cost=float(design.bill.total) if design.bill.is_complete else None,
        is_documented=True,
    )
