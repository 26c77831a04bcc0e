"""Performance of a cluster that is given, without a search."""

from dataclasses import replace

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import grouped
from sizer.base.stored_answers import Deferred
from sizer.bom.prices import PriceBook, prices_for
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.gpu_memory import FITS_PROBABILITY
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.platforms import platforms as all_platforms
from sizer.sizing.checks import CheckKind
from sizer.sizing.design import assumptions
from sizer.sizing.design.decisions import cost_difference, open_between, with_bills
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.design.money import design_money
from sizer.sizing.reasons import Binding, BindingKind, BudgetOfPricedLines, SelectionKind
from sizer.sizing.result import DesignAnswer, ParetoPoint, SizingResult, SpareCost
from sizer.sizing.search.infeasible_error import memory_error_text
from sizer.sizing.search.main_items import check_budget
from sizer.sizing.servers_needed import with_stack_defaults
from sizer.sizing.stages.gpu_memory import resolved
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest

# More servers than any published cluster has of these parts; a larger number is a slip.
MAX_SERVERS = 10_000


def project(
    request: SizingRequest,
    catalog: Catalog,
    *,
    server: str,
    servers: int,
    storage: str,
    storage_nodes: int = 0,
    gpu: str | None = None,
    gpus_per_server: int | None = None,
    stack: str | None = None,
    fabric: str | None = None,
    calibration: Calibration | None = None,
) -> DesignAnswer:
    """Performance, parts and bill of a given cluster.

    ``request``: its workloads are run; its servers, GPUs and storage are replaced by the arguments. ``server``,
    ``storage``: catalogue ids. ``servers``, ``storage_nodes``: counts; ``storage_nodes`` 0 for local drives and NFS
    servers. ``gpu``, ``stack``, ``fabric``: default: the server's first GPU, the request's stack, and the fastest
    fabric that server and storage share and the request allows. ``gpus_per_server``: GPUs of each server that the job
    uses; default all. ``calibration``: coefficients of the performance model; default the stored ones. Raises
    RequestError if a name is unknown, a count is out of range, or server, storage and fabric do not go together. Raises
    InfeasibleError if no platform of the catalogue joins these parts, or a batch does not fit the GPUs.
    """
    if not 1 <= servers <= MAX_SERVERS:
        raise RequestError(f"servers = {servers}: must be 1 to {MAX_SERVERS}")
    if not 0 <= storage_nodes <= MAX_SERVERS:
        raise RequestError(f"storage_nodes = {storage_nodes}: must be 0 to {MAX_SERVERS}")
    # One dump of what was asked, changed and read again, so that every value passes the same checks.
    data = request.model_dump(exclude_none=True)
    host_memory = request.platforms.host_memory_bytes
    data["platforms"] = {
        "servers": [server],
        "storage": [storage],
        **({"gpus": [gpu]} if gpu is not None else {}),
        "fabrics": [fabric] if fabric is not None else request.platforms.fabrics,
        **({"host_memory_bytes": host_memory} if host_memory is not None else {}),
        **({"gpus_per_server": gpus_per_server} if gpus_per_server is not None else {}),
    }
    if stack is not None:
        data["workload"] = [{**work, "stack": stack} for work in data["workload"]]
    given = SizingRequest.from_dict(data, "project")
    fitted = calibration if calibration is not None else stored_calibration()
    works = resolved(given, catalog, fitted)
    options = all_platforms(catalog, given)
    chosen = [option for option in options if gpu is not None or option.gpu.id == option.server.gpus[0]] or options
    check_budget(given, chosen, prices_for(given, catalog))
    # Options come with the fastest fabric first, then the smallest drives.
    platform = chosen[0]
    is_per_node, (low, high), name = (
        counts_nodes(platform.storage),
        node_limits(platform.storage),
        platform.storage.name,
    )
    if is_per_node and not low <= storage_nodes <= high:
        raise RequestError(f"storage_nodes = {storage_nodes}: {name} comes with {low} to {high} nodes")
    if not is_per_node and storage_nodes > 0:
        raise RequestError(f"storage_nodes = {storage_nodes}: {name} is not bought by the node; set it to 0")
    design = design_answer(
        given,
        works,
        platform,
        servers,
        storage_nodes,
        catalog,
        fitted,
        prices_for(given, catalog),
        Binding(BindingKind.GIVEN),
    )
    for answer in design.workloads:
        memory = answer.memory
        if memory.probability < FITS_PROBABILITY:
            largest = grouped(memory.largest_batch) if memory.largest_batch else 0
            name, gpu_name = answer.dnn.name, platform.gpu.name
            raise InfeasibleError(
                f"{server} {memory_error_text(name, gpu_name, answer.batch_per_gpu, memory, largest)}"
            )
    return with_stack_defaults(design, given, works, catalog, fitted)


def requoted(result: SizingResult, quote: Quote, catalog: Catalog) -> SizingResult:
    """The answer to the same request with another quote.

    ``result``: not a customer's copy. ``catalog``: the one that the result was sized with. Raises RequestError if the
    quote changes an item that the design does not have, or a quantity fits no single line.
    """
    request, book = result.request.model_copy(update={"quote": quote}), prices_for(result.request, catalog)
    design = _design(result.design, request, catalog, book, is_documented=True)
    platforms = tuple(
        design if platform is result.design else _design(platform, request, catalog, book, is_documented=False)
        for platform in result.platforms
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
        pareto=Deferred(lambda: tuple(_point(one, design) if is_planned else one for one in result.pareto.value)),
        questions=assumptions.open_points(design, catalog),
        sources=assumptions.sources(design, result.assumptions, catalog),
    )


def _design(
    design: DesignAnswer, request: SizingRequest, catalog: Catalog, book: PriceBook, *, is_documented: bool
) -> DesignAnswer:
    money = design_money(
        request,
        design.platform,
        design.quantities,
        design.plan,
        catalog,
        book,
        design.workloads,
        is_documented=is_documented,
    )
    others = [warning for warning in design.warnings if not isinstance(warning, BudgetOfPricedLines)]
    return replace(
        design,
        bill=money.bill,
        cost=money.cost,
        owned=money.owned,
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
