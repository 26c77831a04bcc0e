"""What servers that are there, and that a design leaves idle, would do alone."""

from collections.abc import Iterator
from contextlib import suppress

from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.physical.existing_use import Equipment
from sizer.sizing.best_design import best_design
from sizer.sizing.result import DesignAnswer, OwnedAlone
from sizer.workload.request import Limits, Platforms, Resilience, SizingRequest, Target


def owned_alone(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration
) -> tuple[OwnedAlone, ...]:
    """Idle GPU servers with the rate of the request's one workload on all of them.

    Of several workloads the servers may run any: nothing is said.
    """
    if design.existing is None or len(request.workload) > 1:
        return ()
    idle = [one for one in design.existing.idle if _is_gpu_server(one, catalog)]
    return tuple(_alone(request, idle, catalog, calibration))


def _is_gpu_server(equipment: Equipment, catalog: Catalog) -> bool:
    return equipment.item in catalog.servers and catalog.servers[equipment.item].role == "gpu"


def _alone(
    request: SizingRequest, idle: list[Equipment], catalog: Catalog, calibration: Calibration
) -> Iterator[OwnedAlone]:
    for servers in idle:
        gpus = catalog.servers[servers.item].n_gpus
        if gpus is None:
            continue
        work = request.workload[0]
        changes = {
            "platforms": Platforms(servers=(servers.item,)),
            "workload": (work.model_copy(update={"target": Target(gpus_busy=servers.count * gpus.value)}),),
            "limits": Limits(servers=servers.count),
            "resilience": Resilience(),
            "growth": None,
            "team": None,
        }
        answer = None
        with suppress(InfeasibleError):  # its GPUs do not hold the network, or no run is published on them
            answer = best_design(request.model_copy(update=changes), catalog, calibration).design.workloads[0]
        yield OwnedAlone(servers, answer)
