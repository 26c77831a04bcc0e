"""The designs that a request allows, searched, and one of them written out in full."""

import math
from dataclasses import replace

import numpy as np

from sizer.base.errors import InfeasibleError
from sizer.base.quantities import grouped
from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.platforms import platforms
from sizer.sizing.constraints.tiers import with_tiers
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.limits import Limit, bound_of
from sizer.sizing.reasons import Binding, BindingKind
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.feasibility import evaluate_space
from sizer.sizing.search.infeasible_error import infeasible_error
from sizer.sizing.search.larger_sizes import MOST_SERVERS, TAKE_SERVERS, larger_sizes, servers_expected
from sizer.sizing.search.nearest_design import nearest_design
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking
from sizer.sizing.search.space import Space, design_space
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest

# Largest cluster looked at first where the request states none: beyond it a two-level fabric of 36-port switches ends
# (648 end points, four ports a DGX-1). Where none so large meets the targets, larger ones are looked at.
MAX_SERVERS = 160
# How often the numbers of servers are raised: rates of larger clusters may grow less than those before.
_MOST_RAISED = 3
# GPUs of the usual server: what a number of GPUs in all calls for in servers, where it is more than these.
_USUAL_GPUS = 8
# Platforms shown side by side; further ones are counted, not drawn.
MAX_PLATFORMS_SHOWN = 8


def most_servers(request: SizingRequest, n_servers: int = 0) -> int:
    """Largest number of servers looked at first: the request's limit, or enough for the GPUs that it asks for.

    ``n_servers`` of a design: where changes of the request around it are looked at.
    """
    if request.limits.servers is not None:
        return min(request.limits.servers, MOST_SERVERS)
    gpus = max((each.target.gpus_busy or 0 for each in request.workload), default=0)
    # Some more than the target needs, so that the next larger design is among them.
    return max(MAX_SERVERS, math.ceil(max(gpus / _USUAL_GPUS, n_servers) * 17 / 16))


def search(
    request: SizingRequest,
    catalog: Catalog,
    calibration: Calibration,
    only: tuple[str, str] | None = None,
    most: int | None = None,
) -> PartCounts:
    """The design space of a request, its stages evaluated; parts are counted when they are needed.

    Parameters
    ----------
    request : SizingRequest
    catalog : Catalog
    calibration : Calibration
    only : (server, storage), optional
        Ids of the one platform that is looked at; default all that the request allows.
    most : int, optional
        Largest number of servers looked at; default :func:`most_servers`, and more where no design meets the targets
        and larger ones may.

    Raises
    ------
    RequestError
        If the request names something that the catalogue does not have.
    InfeasibleError
        If no platform is allowed, or no run can start in the time asked.
    """
    works = resolved(request, catalog, calibration)
    single = platforms(catalog, request)
    if only is not None:
        single = tuple(option for option in single if option.key == only)
    options = with_tiers(single, works, request, catalog)
    space = design_space(len(options), 1, most or most_servers(request))
    evaluated = evaluate_space(request, works, options, space, catalog, calibration)
    counts = larger = PartCounts(request, evaluated, catalog, prices_for(request, catalog))
    if most is not None or request.limits.servers is not None:
        return counts
    for _ in range(_MOST_RAISED):
        more = larger_sizes(larger.evaluated)
        if more is None:
            break
        space = Space(len(options), np.concatenate([larger.evaluated.space.sizes, more]))
        evaluated = evaluate_space(request, works, options, space, catalog, calibration)
        larger = replace(counts, evaluated=evaluated)
    # Larger clusters that do not keep the limits of the room are no help.
    return larger if larger is counts or larger.candidates.any() else counts


def unmet_error(counts: PartCounts, calibration: Calibration) -> InfeasibleError:
    """Error of a request that no design meets; where its limit of servers or its storage tier is to blame, with the
    design that meets it without.
    """
    request = counts.request
    broken, most = set(nearest_design(counts)[1]), request.limits.servers
    expected = math.inf
    if broken <= TAKE_SERVERS:
        expected = servers_expected(counts.evaluated)
    if most is not None and (math.isfinite(expected) or Limit.TEAM_WAITS in broken):
        limits = request.limits.model_copy(update={"servers": None})
        design = _first_text(request.model_copy(update={"limits": limits}), counts.catalog, calibration)
        if design is not None:
            error = infeasible_error(counts, bound=f"limits.servers = {most}")
            return InfeasibleError(f"{error} Without this limit a design meets the request: {design[0]}.")
    error = infeasible_error(counts)
    if most is None and (Limit.TEAM_WAITS in broken or MOST_SERVERS < expected < math.inf):
        compared = int(counts.evaluated.space.sizes[-1])
        error = InfeasibleError(
            f"{error} Clusters of up to {grouped(compared)} servers were compared; limits.servers allows larger ones."
        )
    tier = request.platforms.storage_tier
    if tier is not None:
        platforms_asked = request.platforms.model_copy(update={"storage_tier": None})
        design = _first_text(request.model_copy(update={"platforms": platforms_asked}), counts.catalog, calibration)
        if design is not None:
            return InfeasibleError(
                f"{error} Without storage_tier = {tier!r} a design meets the request: {design[0]} ({design[1]})."
            )
    return error


def _first_text(request: SizingRequest, catalog: Catalog, calibration: Calibration) -> tuple[str, str] | None:
    """First design of a request and the media of its storage, for an error; None where no design meets it."""
    counts = search(request, catalog, calibration)
    found = Ranking(counts).first(1)
    if not found:
        return None
    evaluated, row = counts.evaluated, found[0]
    platform = evaluated.platforms[int(evaluated.space.platform[row])]
    nodes = int(evaluated.storage_nodes[row])
    storage = (f"{nodes} × " if nodes else "") + platform.storage.name
    servers = f"{int(evaluated.space.n_servers[row])} × {platform.server.name}"
    return f"{servers} with {storage}", platform.storage.tier or "media not published"


def design_of(counts: PartCounts, row: int, calibration: Calibration, *, is_documented: bool) -> DesignAnswer:
    """Everything about the design of one row."""
    evaluated = counts.evaluated
    return design_answer(
        counts.request,
        evaluated.works,
        evaluated.platforms[int(evaluated.space.platform[row])],
        int(evaluated.space.n_servers[row]),
        int(evaluated.storage_nodes[row]),
        counts.catalog,
        calibration,
        counts.prices,
        binding_of(counts, row),
        is_documented,
        counts.design(row),
    )


def binding_of(counts: PartCounts, row: int) -> Binding:
    """What the next smaller size of the same platform breaks."""
    if counts.evaluated.space.n_servers[row] == 1:
        return Binding(BindingKind.SMALLEST)
    smaller = row - 1  # rows of a platform stand in order of servers
    count = int(counts.evaluated.space.n_servers[smaller])
    broken = counts.broken(smaller)
    if not broken:
        return Binding(BindingKind.NONE, count)
    return Binding(BindingKind.LIMIT, count, broken[0], bound_of(broken[0], counts.request.limits))
