"""From a request to a SizingResult: the one place that joins models, parts, prices and search."""

from collections.abc import Sequence

import numpy as np

from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.sizing.design import assumptions
from sizer.sizing.design.verdict import verdict_of
from sizer.sizing.reasons import RunnerUpKind, RunnerUpReason, Selection, SelectionKind, SizeKey
from sizer.sizing.recommend import design_of, search
from sizer.sizing.redundancy_cost import spare_cost
from sizer.sizing.result import ParetoPoint, SizingResult
from sizer.sizing.search.choice import counts_ruled_out, pareto_rows
from sizer.sizing.search.infeasible_error import infeasible_error
from sizer.sizing.search.part_counts import Counting
from sizer.sizing.search.ranking import Ranking, best_of, keys, rank_key
from sizer.workload.request import SizingRequest

# Platforms shown side by side; further ones are counted, not drawn.
MAX_PLATFORMS_SHOWN = 8
# Points of the Pareto front that documents show.
MAX_PARETO_POINTS = 60


def size(request: SizingRequest, catalog: Catalog, calibration: Calibration | None = None) -> SizingResult:
    """Size the cluster of a request.

    Parameters
    ----------
    request : SizingRequest
    catalog : Catalog
    calibration : Calibration, optional
        Default: the stored one.

    Returns
    -------
    SizingResult

    Raises
    ------
    RequestError
        If the request names something that the catalogue does not have.
    InfeasibleError
        If no design meets it: the sentence names the limit that rules every design out and what would be enough.
    """
    fitted = calibration if calibration is not None else stored_calibration()
    counting = search(request, catalog, fitted)
    judged = counting.judged
    order = Ranking(counting).all()
    if not order:
        raise infeasible_error(counting)
    chosen = order[0]
    designs = {
        row: design_of(counting, row, fitted, is_documented=row == chosen) for row in order[:MAX_PLATFORMS_SHOWN]
    }
    design = designs[chosen]
    deciding = counting.deciding_prices(np.array(order)) if len(order) > 1 else ()
    runner_up, reason = _runner_up(counting, order)
    taken = assumptions.design_assumptions(judged.works, design, catalog)
    return SizingResult(
        request=request,
        catalog_digest=catalog.digest,
        calibration_digest=fitted.digest,
        verdict=verdict_of(design, tuple(designs.values())),
        design=design,
        spare_cost=spare_cost(request, design, catalog, fitted),
        selection=_selection(request, order, deciding),
        platforms=tuple(designs.values()),
        deciding_prices=deciding,
        runner_up=runner_up,
        runner_up_reason=reason,
        pareto=_pareto(counting, chosen),
        n_designs=judged.space.n_rows,
        ruled_out=counts_ruled_out(counting.passes),
        assumptions=taken,
        questions=assumptions.open_points(design, catalog),
        sources=assumptions.sources(design, taken, catalog),
    )


def _selection(request: SizingRequest, order: Sequence[int], deciding: Sequence[str]) -> Selection:
    if len(order) == 1:
        return Selection(SelectionKind.ONLY, 1)
    if request.rank_by not in (None, "cost"):
        return Selection(SelectionKind.RANKED, len(order), request.rank_by)
    return Selection(SelectionKind.UNRANKED if deciding else SelectionKind.CHEAPEST, len(order))


def _point(row: int, chosen: int, counting: Counting) -> ParetoPoint:
    judged = counting.judged
    index = int(judged.space.platform[row])
    platform = judged.platforms[index]
    servers, nodes = int(judged.space.n_servers[row]), int(judged.storage_nodes[row])
    storage = f"{nodes} × {platform.storage.name}" if nodes else platform.storage.name
    return ParetoPoint(
        name="{servers} + {storage} over {link}".format(
            servers=f"{servers} × {platform.server.name}", storage=storage, link=kind_name(platform.fabric)
        ),
        server=platform.server.id,
        storage=platform.storage.id,
        n_servers=servers,
        n_gpus=int(servers * judged.gpus_per_server[index]),
        storage_nodes=nodes,
        throughput_samples_per_s=float(judged.throughput[row]),
        time_s=float(judged.time_s[row]),
        power_w=float(counting.power_w[row]),
        rack_units=float(counting.rack_units[row]),
        cost=None if counting.of(index).unpriced else float(counting.cost[row]),
        is_documented=row == chosen,
    )


def _pareto(counting: Counting, chosen: int) -> tuple[ParetoPoint, ...]:
    """Front over GPUs (stand-in for cost while prices are missing) or cost, time, power and rack units."""
    judged = counting.judged
    is_priced = not any(counting.of(index).unpriced for index in counting.alive)
    spend = counting.cost if is_priced else judged.space.n_servers * judged.gpus_per_server[judged.space.platform]
    rows = pareto_rows([spend, judged.time_s, counting.power_w, counting.rack_units], counting.feasible)
    # The smallest designs first: beyond a few dozen points the front only says that more hardware is faster.
    rows = rows[np.argsort(spend[rows], kind="stable")][:MAX_PARETO_POINTS]
    listed = [int(row) for row in rows]
    if chosen not in listed:
        listed.insert(0, chosen)
    return tuple(_point(row, chosen, counting) for row in listed)


def _runner_up(counting: Counting, order: Sequence[int]) -> tuple[ParetoPoint | None, RunnerUpReason]:
    """The next best design and why it is second: the second platform, else the next on the same one.

    The same counts with other drives or another GPU memory are no other design.
    """
    chosen, judged = order[0], counting.judged
    if len(order) > 1:
        second = order[1]
    else:
        fabric = judged.exchange_bytes_per_s[judged.space.platform]
        is_same = (
            (judged.space.n_servers == judged.space.n_servers[chosen])
            & (judged.storage_nodes == judged.storage_nodes[chosen])
            & (fabric == fabric[chosen])
        )
        others = np.flatnonzero(counting.feasible & ~is_same)
        if others.size == 0:
            return None, RunnerUpReason(RunnerUpKind.NONE)
        second = best_of(counting, others)
    return _point(second, chosen, counting), _why_second(counting, chosen, second)


def _why_second(counting: Counting, chosen: int, second: int) -> RunnerUpReason:
    request = counting.request
    pair = np.array([chosen, second])
    rank = rank_key(counting, pair)
    if rank is not None and rank[1] > rank[0]:
        if request.rank_by == "time":
            return RunnerUpReason(RunnerUpKind.SLOWER, float(rank[0]), float(rank[1]))
        if request.rank_by is None or request.rank_by == "cost":
            return RunnerUpReason(RunnerUpKind.DEARER, float(rank[0]), float(rank[1]))
    for key, (first, other) in zip(SizeKey, keys(counting, pair), strict=False):
        if other != first:
            kind = RunnerUpKind.LARGER if other > first else RunnerUpKind.SMALLER
            return RunnerUpReason(kind, float(first), float(other), key)
    return RunnerUpReason(RunnerUpKind.EQUAL)
