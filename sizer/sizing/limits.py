"""Limits of a request that rule designs out, each a key; words for them are made where they are shown."""

from collections.abc import Mapping
from enum import Enum

from sizer.physical.violations import Violation
from sizer.workload.request import Limits, Loss


class Limit(Enum):
    """What a design of the space must keep."""

    GPU_COUNT = "gpu-count"
    GPU_MEMORY = "gpu-memory"
    GPU_RATE = "gpu-rate"
    HOST_DECODE = "host-decode"
    HOST_LINK = "host-link"
    SERVER_PORTS = "server-ports"
    TEAM_WAITS = "team-waits"
    STORAGE_CAPACITY = "storage-capacity"
    STORAGE_RATE = "storage-rate"
    MOUNTS = "mounts"
    UPLINKS = "uplinks"
    CONFIDENCE = "confidence"  # of all stages together, where each alone is enough
    LARGER_PARTS = "larger-parts"  # no limit of the request: the same design with smaller drives stands for it
    SERVER_LOSS = "server-loss"
    STORAGE_NODE_LOSS = "storage-node-loss"
    SWITCH_LOSS = "switch-loss"
    GATEWAY_LOSS = "gateway-loss"
    FEED_LOSS = "feed-loss"
    HEAD_NODE_LOSS = "head-node-loss"
    GPUS = "gpus"
    RACKS = "racks"
    RACK_UNITS = "rack-units"
    POWER = "power"
    BUDGET = "budget"


class SizeLimit(Enum):
    """Limit that bounds the size of a cluster; the value is its key in the request's ``limits``."""

    BUDGET = "budget"
    POWER = "power_w"
    RACKS = "racks"
    RACK_UNITS = "rack_units"
    SERVERS = "servers"


# Rules of the physical design name their limit themselves: a device too deep for the rack, a tree too large.
AnyLimit = Limit | Violation

# Limits of one stage or of all together: a design that breaks one misses its target.
COMPUTE_LIMITS = (
    Limit.GPU_COUNT,
    Limit.GPU_MEMORY,
    Limit.GPU_RATE,
    Limit.HOST_DECODE,
    Limit.HOST_LINK,
    Limit.SERVER_PORTS,
)
STAGE_LIMITS = (*COMPUTE_LIMITS, Limit.STORAGE_RATE, Limit.MOUNTS)
TARGET_LIMITS = (*STAGE_LIMITS, Limit.CONFIDENCE)

# Limits that a request sets by naming what may fail.
LOSS_LIMITS: Mapping[Loss, Limit] = {
    "server": Limit.SERVER_LOSS,
    "storage-node": Limit.STORAGE_NODE_LOSS,
    "switch": Limit.SWITCH_LOSS,
    "gateway": Limit.GATEWAY_LOSS,
    "feed": Limit.FEED_LOSS,
    "head-node": Limit.HEAD_NODE_LOSS,
}


def bound_of(limit: AnyLimit, limits: Limits) -> float | None:
    """Number of a limit of the request, in GPUs, racks, rack units or watts; None of every other limit."""
    bounds = {
        Limit.GPUS: limits.gpus,
        Limit.RACKS: limits.racks,
        Limit.RACK_UNITS: limits.rack_units,
        Limit.POWER: limits.power_w,
    }
    return bounds.get(limit) if isinstance(limit, Limit) else None
