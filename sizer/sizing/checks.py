"""Whether a design keeps what is asked of it: met, not met, or open while a fact that decides it is not known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from sizer.physical.notes import Violation
from sizer.workload.request import Limits, Loss


class CheckResult(Enum):
    """Result of one check; open where what is known keeps the limit and something that counts is unknown."""

    MET = "met"
    NOT_MET = "not met"
    OPEN = "open"

    @property
    def is_met(self) -> bool | None:
        """Whether it is met; None where that is open."""
        return None if self is CheckResult.OPEN else self is CheckResult.MET


class FactKind(Enum):
    """Kinds of facts without which a design cannot be judged."""

    READ_RATE = "read-rate"  # of a storage node
    WRITE_RATE = "write-rate"  # of a storage node
    USABLE_CAPACITY = "usable-capacity"  # of a storage system
    POWER = "maximum-power"  # of a device
    WEIGHT = "weight"  # of a device
    TRAINING_RATE = "training-rate"  # of a GPU, with language models
    SERVING_RATE = "serving-rate"  # of a GPU, with language models in use
    GPU_MEMORY = "gpu-memory"  # that a network takes
    OPERATORS = "operators"  # that a network is made of, on a GPU where nobody has shown them


@dataclass(frozen=True)
class MissingFact:
    """A fact of a part that no source gives and the catalogue does not assume."""

    kind: FactKind
    item: str  # catalogue id
    name: str


class CheckKind(Enum):
    """What is checked on bounds, with the unit of its numbers."""

    CAPACITY = "usable-capacity"  # B for all data, at least
    WORKING_SET = "working-set-capacity"  # B on the fast tier of two, at least
    POWER = "power"  # W, at most
    RACK_POWER = "rack-power"  # W of the heaviest rack, at most
    FEED_POWER = "feed-power"  # W of one PDU that carries its rack alone, at most
    RACK_WEIGHT = "rack-weight"  # kg in the rack that is loaded most for its kind, at most
    FLOOR_LOAD = "floor-load"  # kg/m² below the heaviest rack, at most
    BUDGET = "budget"  # currency of the request, at most


@dataclass(frozen=True)
class DesignCheck:
    """One check of a design, with the numbers compared."""

    kind: CheckKind
    result: CheckResult
    asked: float
    known: float | None  # what is known of the design; a lower bound where facts are missing. None: nothing is
    missing: tuple[MissingFact, ...] = ()
    unpriced: tuple[str, ...] = ()  # items without a price, of a budget
    probability: float | None = None  # that a budget is kept, from price bands; None: not known


def at_most(known: float, most: float, missing: Sequence[object]) -> CheckResult:
    """Check of an upper limit on a sum of which parts may be missing: a lower bound above it breaks it for certain.

    Examples
    --------
    >>> at_most(9e3, 10e3, ()).value, at_most(9e3, 10e3, ("s3048-on",)).value, at_most(11e3, 10e3, ("s3048-on",)).value
    ('met', 'open', 'not met')
    """
    if known > most:
        return CheckResult.NOT_MET
    return CheckResult.OPEN if missing else CheckResult.MET


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
