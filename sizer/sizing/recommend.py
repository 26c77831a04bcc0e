"""The designs that a request allows, searched, and one of them written out in full."""

import math

from sizer.base.errors import InfeasibleError
from sizer.base.identity_cache import same_list
from sizer.bom.prices import price_book
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.platforms import platforms
from sizer.sizing.constraints.tiers import with_tiers
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.limits import bound_of
from sizer.sizing.reasons import Binding, BindingKind
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.feasibility import evaluate_space
from sizer.sizing.search.infeasible_error import infeasible_error
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import Ranking
from sizer.sizing.search.space import design_space
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.request import SizingRequest

# Largest cluster looked at where the request states none: beyond it a two-level fabric of 36-port switches ends
# (648 end points, four ports a DGX-1).
MAX_SERVERS = 160
# GPUs of the usual server: what a number of GPUs in all calls for in servers, where it is more than these.
_USUAL_GPUS = 8
# Platforms shown side by side; further ones are counted, not drawn.
MAX_PLATFORMS_SHOWN = 8


def most_servers(request: SizingRequest) -> int:
    """Largest number of servers looked at: the request's limit, or enough for the GPUs that it asks for."""
    if request.limits.servers is not None:
        return request.limits.servers
    gpus = max((each.target.gpus_busy or 0 for each in request.workload), default=0)
    # Some more than the target needs, so that the next larger design is among them.
    return max(MAX_SERVERS, math.ceil(gpus / _USUAL_GPUS * 17 / 16))


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
        Largest number of servers looked at; default :func:`most_servers`.

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
        single = same_list([option for option in single if option.key == only])
    options = with_tiers(single, works, request, catalog)
    space = design_space(len(options), 1, most or most_servers(request))
    evaluated = evaluate_space(request, works, options, space, catalog, calibration)
    return PartCounts(request, evaluated, catalog, price_book(catalog))


def unmet_error(counts: PartCounts, calibration: Calibration) -> InfeasibleError:
    """Error of a request that no design meets; where its storage tier is to blame, with the design of another tier."""
    error = infeasible_error(counts)
    tier = counts.request.platforms.storage_tier
    if tier is None:
        return error
    platforms_asked = counts.request.platforms.model_copy(update={"storage_tier": None})
    any_tier = counts.request.model_copy(update={"platforms": platforms_asked})
    others = search(any_tier, counts.catalog, calibration)
    found = Ranking(others).first(1)
    if not found:
        return error
    evaluated, row = others.evaluated, found[0]
    platform = evaluated.platforms[int(evaluated.space.platform[row])]
    nodes = int(evaluated.storage_nodes[row])
    storage = (f"{nodes} × " if nodes else "") + platform.storage.name
    servers = f"{int(evaluated.space.n_servers[row])} × {platform.server.name}"
    return InfeasibleError(
        f"{error} Without storage_tier = {tier!r} a design meets the request: {servers} with {storage} "
        f"({platform.storage.tier or 'media not published'})."
    )


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
