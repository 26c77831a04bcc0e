"""Performance of a cluster that is given, without a search."""

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import grouped
from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.gpu_memory import FITS_PROBABILITY
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.platforms import platforms as all_platforms
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.reasons import Binding, BindingKind
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.infeasible_error import memory_error_text
from sizer.sizing.search.main_items import check_budget
from sizer.sizing.stack_default import with_stack_defaults
from sizer.sizing.stages.gpu_memory import resolved
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

    Parameters
    ----------
    request : SizingRequest
        Its workloads are run; its servers, GPUs and storage are replaced by the arguments.
    catalog : Catalog
        Parts to choose from.
    server, storage : str
        Catalogue ids.
    servers, storage_nodes : int
        Counts; ``storage_nodes`` 0 for local drives and NFS servers. [-]
    gpu, stack, fabric : str, optional
        Default: the server's first GPU, the request's stack, and the fastest fabric that server and storage share and
        the request allows.
    gpus_per_server : int, optional
        GPUs of each server that the job uses; default all. [-]
    calibration : Calibration, optional
        Coefficients of the performance model; default the stored ones.

    Returns
    -------
    DesignAnswer

    Raises
    ------
    RequestError
        If a name is unknown, a count is out of range, or server, storage and fabric do not go together.
    InfeasibleError
        If no platform of the catalogue joins these parts, or a batch does not fit the GPUs.
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
    _check_nodes(platform.storage.name, counts_nodes(platform.storage), storage_nodes, node_limits(platform.storage))
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


def _check_nodes(name: str, is_per_node: bool, nodes: int, limits: tuple[int, int]) -> None:
    low, high = limits
    if is_per_node and not low <= nodes <= high:
        raise RequestError(f"storage_nodes = {nodes}: {name} comes with {low} to {high} nodes")
    if not is_per_node and nodes > 0:
        raise RequestError(f"storage_nodes = {nodes}: {name} is not bought by the node; set it to 0")
