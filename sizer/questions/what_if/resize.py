"""A request with some inputs changed, resized on the platform of a design: the counts, without plan and bill."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sizer.base.errors import InfeasibleError, RequestError
from sizer.physical.components import Quantities
from sizer.physical.roles import NetworkRole
from sizer.questions.what_if.input_grid import with_gpu_speed
from sizer.questions.what_if.varied_input import GPU_SPEED, request_changes
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.recommend import search
from sizer.sizing.search.infeasible_error import infeasible_error
from sizer.sizing.search.ranking import Ranking
from sizer.workload.request import SizingRequest


@dataclass(frozen=True)
class ResizedDesign:
    """What a changed request needs. ``reason`` says why nothing on this platform meets it; then all counts are 0."""

    n_servers: int = 0
    n_gpus: int = 0
    storage_nodes: int = 0
    fabric_switches: int = 0  # of the compute fabric
    switches: int = 0  # of all networks
    racks: int = 0
    rack_units: float = 0.0
    power_w: float = 0.0  # at most, without parts whose draw is not published
    has_unknown_power: bool = False  # such parts are there, so that it is no upper end
    reason: str = ""
    model: WorkloadOnDesign | None = None  # the workload on the new design; None where there is none

    @property
    def is_feasible(self) -> bool:
        """Whether some number of servers meets the changed request."""
        return self.model is not None


def resize(model: WorkloadOnDesign, values: Mapping[str, float], *, says_why: bool = True) -> ResizedDesign:
    """Size the request of a design with some inputs changed, on the design's servers and storage.

    The search is that of ``size`` over fabrics, GPUs and drives of one kind of server and storage, with all limits of
    the request: where the request allows no other kind, the counts are those that ``size`` gives.

    ``model``: the workload that is changed, on the design that the request has now. The other workloads stay as they
    are. ``values``: key of an input -> its value. ``says_why``: whether to look for the reason where nothing meets
    the request, which takes time.
    """
    catalog = with_gpu_speed(model.catalog, model.platform.gpu, values.get(GPU_SPEED, 1.0))
    try:
        request = changed_request(model, values)
        # Of the changed catalogue: the speed of its GPU is part of what a platform is.
        only = replace(model.platform, gpu=catalog.gpus[model.platform.gpu.id]).key
        counts = search(request, catalog, model.calibration, only=only)
    except (RequestError, InfeasibleError) as error:
        return ResizedDesign(reason=str(error))
    order = Ranking(counts).first(1)
    if not order:
        return ResizedDesign(reason=str(infeasible_error(counts)) if says_why else "No design meets it.")
    row, evaluated = order[0], counts.evaluated
    found = counts.design(row)
    servers, nodes = int(evaluated.space.n_servers[row]), int(evaluated.storage_nodes[row])
    platform = evaluated.platforms[int(evaluated.space.platform[row])]
    return ResizedDesign(
        n_servers=servers,
        n_gpus=servers * platform.gpus_per_server,
        storage_nodes=nodes,
        fabric_switches=_switches(found, NetworkRole.COMPUTE),
        switches=_switches(found),
        racks=int(found.racks[0] + found.existing_racks[0]),
        rack_units=float(found.rack_units[0]),
        power_w=float(found.power_max_w[0]),
        has_unknown_power=bool(found.unknown_power),
        model=replace(
            model,
            request=request,
            works=evaluated.works,
            platform=platform,
            n_servers=servers,
            storage_nodes=nodes,
            gateway_bytes_per_s=float(found.gateway_bytes_per_s[0]),
            catalog=catalog,
        ),
    )


def changed_request(model: WorkloadOnDesign, values: Mapping[str, float]) -> SizingRequest:
    """The request with some inputs changed; those that no request states are left out.

    Raises RequestError if it does not allow such a value.
    """
    asked, whole = request_changes(model, values)
    data = model.request.model_dump(exclude_none=True)
    works = list(data["workload"])
    works[model.index] = {**works[model.index], **asked}
    return SizingRequest.from_dict({**data, **whole, "workload": works}, "what if")


def _switches(found: Quantities, role: NetworkRole | None = None) -> int:
    """Switches of the network of one role, of all rails; without a role those of all networks."""
    networks = [network for network in found.networks if role in (None, network.role)]
    return sum(int(network.leaves[0] + network.spines[0] + network.cores[0]) for network in networks)
