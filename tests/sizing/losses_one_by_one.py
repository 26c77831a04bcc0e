"""Whether a laid-out design tolerates each loss: every device of a kind is removed, one by one."""

from sizer.calibrate.calibration import stored_calibration
from sizer.physical.capacity import node_limits, nodes_per_unit
from sizer.physical.layout import building_plan
from sizer.physical.losses import Losses, on_one_side
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import Role
from sizer.questions.failures.analysis import HardwareAfterLoss, target_probabilities
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.stages.evaluate import least_chance
from sizer.sizing.stages.gpu_memory import resolved

SWITCHES = (
    *(f"{network} {level} switch" for network in ("compute", "storage") for level in ("leaf", "spine", "core")),
    "back-end switch",
)


def tolerates_losses(request, platform, servers, nodes, catalog):
    """Whether a design meets its targets while all works, and after each loss of a kind that the request names."""
    kinds = request.resilience.keeps_targets_without
    losses, parts = _laid_out(request, platform, servers, nodes, catalog)
    models = _models(request, platform, servers, nodes, parts, catalog)
    rests = [[HardwareAfterLoss(losses.whole)]]
    for kind in kinds:
        rests += [
            [HardwareAfterLoss(losses.without(devices, cables, only_whole=whole)) for whole in (False, True)]
            for devices, cables in _lost(kind, losses, platform)
        ]
    return all(any(_meets(models, rest, request) for rest in ways) for ways in rests)


def _laid_out(request, platform, servers, nodes, catalog):
    given = {"catalog": catalog, "limits": request.limits, "existing": request.existing, "fabric": request.fabric}
    parts = slice_row(quantities(platform, [servers], [nodes], **given), 0)
    return Losses(building_plan(platform, parts, servers, nodes, **given)), parts


def _models(request, platform, servers, nodes, parts, catalog):
    fitted = stored_calibration()
    works = resolved(request, catalog, fitted)
    gateway = float(parts.gateway_bytes_per_s[0])
    return [
        WorkloadOnDesign(request, works, index, platform, servers, nodes, gateway, catalog, fitted)
        for index in range(len(works))
    ]


def _lost(kind, losses, platform):
    """Devices and cables of every loss of a kind."""
    if kind == "server":
        return [([name], ()) for name in losses.named(Role.GPU_SERVER)]
    if kind == "switch":
        return [([name], ()) for name in losses.named(*SWITCHES)]
    if kind == "gateway":
        return [([name], ()) for name in losses.named(Role.GATEWAY)]
    if kind == "feed":
        return [(dark, ()) for dark in on_one_side(losses._plan).values()]
    if platform.storage.kind == "nfs-server":
        return [([name], ()) for name in losses.named(Role.HEAD_NODE)]
    return [((), [link.id for link in links]) for links in losses.storage_nodes.values()]


def _meets(models, rest, request):
    chance = 1.0
    for model in models:
        chance *= float(target_probabilities(model, [rest])[0])
    return chance >= least_chance(request.confidence)


def smaller(design):
    """Servers and storage nodes of every design of the platform that stands before this one: fewer servers first."""
    storage, nodes = design.platform.storage, design.storage_nodes
    unit, (low, high) = nodes_per_unit(storage), node_limits(storage)
    if nodes:
        yield from ((design.n_servers, fewer) for fewer in range(low, nodes, unit))
    choices = range(low, min(max(2 * nodes, low), high) + 1, unit) if nodes else [0]
    yield from (
        (servers, some) for servers in range(max(design.n_servers - 2, 1), design.n_servers) for some in choices
    )
