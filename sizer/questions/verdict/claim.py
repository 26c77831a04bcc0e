"""A claim about a design: its number, its threshold and the facts behind it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sizer.catalog.links import LinkType
from sizer.catalog.schema import Dnn
from sizer.sizing.design.decisions import Doubling
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.workload.request import Target

ClaimKey = Literal[
    "one-server",
    "simple-storage",
    "slow-fabric",
    "double-gpus",
    "gpus-wait",
    "fits-memory",
    "usual-link",
    "storage-idles",
    "hosts-first",
]
# ``storage`` counts places in the order of kinds of storage, from drives to a clustered file system.
ClaimUnit = Literal["B", "B/s", "share", "ratio", "servers", "storage"]
# Source of the claims: D. Pascuzzi, "GPU Deep Learning Cluster Considerations".
HITACHI = "hitachi-dl-2019"


@dataclass(frozen=True)
class SingleServerRun:
    """What one server of the design achieves on one workload."""

    target: Target
    dnn: Dnn
    n_gpus: int
    fits: bool  # in the memory of its GPUs
    samples_per_s: float  # median
    time_to_train_s: float | None  # median; None where the target is no time


@dataclass(frozen=True)
class OneServerFacts:
    """Whether one server meets the request."""

    server: str  # of the design
    n_servers: int  # of the design
    single_server: str | None  # server of a design of the result that needs only one of them
    runs: tuple[SingleServerRun, ...]  # of every workload
    has_team: bool
    confidence: float


@dataclass(frozen=True)
class StorageOption:
    """Local drives or a file server: what one of them holds and delivers, None where no source says."""

    storage: str
    capacity_bytes: float | None
    read_bytes_per_s: float | None


@dataclass(frozen=True)
class SimpleStorageFacts:
    """The simplest kind of storage that is enough."""

    kind: str
    server: str
    n_servers: int
    data_bytes: float  # of all workloads; those on the same data set share it
    read_bytes_per_s: float  # after the first epoch
    options: tuple[StorageOption, ...]


@dataclass(frozen=True)
class FabricFacts:
    """Gradient exchange over 25 GbE compared with EDR."""

    n_servers: int  # of the design
    gpus_per_server: int
    loss_fraction: float  # of the rate over 25 GbE
    first_paying_servers: int | None  # from which number EDR pays; None: it does not within the numbers compared
    compared_servers: int  # numbers of servers that were compared
    gradient_bytes: float
    exchange_servers: int  # that the two times below hold for
    slow_exchange_s: float
    fast_exchange_s: float
    slow_bytes_per_s: float
    fast_bytes_per_s: float
    compute_s: float  # arithmetic of a step


@dataclass(frozen=True)
class DoubleGpusFacts:
    """Twice the GPUs."""

    n_gpus: int  # of the design
    doubling: Doubling


@dataclass(frozen=True)
class GpuWaitFacts:
    """Rate of the GPUs alone compared with that of the design."""

    dnn: Dnn
    gpu_samples_per_s: float
    design_samples_per_s: float
    waiting_fraction: float
    bottleneck: str  # key of STAGES


@dataclass(frozen=True)
class MemoryFacts:
    """The data set of a server compared with the memory that it has for data."""

    data_bytes: float  # that one server reads
    cache_bytes: float
    server_bytes: float  # memory of a server
    gpu_copy_bytes: float  # of which a copy of the GPUs' memory
    system_bytes: float  # of which the operating system
    first_read_10gbe_s: float
    first_read_25gbe_s: float
    time_to_train_s: float | None


@dataclass(frozen=True)
class LinkFacts:
    """What one server reads compared with one link."""

    kind: LinkType
    dnn: Dnn
    read_bytes_per_s: float  # after the first epoch
    link_bytes_per_s: float
    samples_per_s: float
    sample_bytes: float
    first_epoch_bytes_per_s: float
    hit_fraction: float
    first_epoch_s: float  # at least


@dataclass(frozen=True)
class SharedStorageFacts:
    """Reads of the design compared with the smallest system of a shared storage."""

    storage: str
    n_nodes: int
    utilization_fraction: float
    read_bytes_per_s: float
    delivered_bytes_per_s: float


@dataclass(frozen=True)
class HostFacts:
    """What the host processors prepare compared with what the network brings."""

    prepared_bytes_per_s: float
    network_bytes_per_s: float
    cores: float
    core_s_per_sample: float
    sample_bytes: float
    decoded_bytes: float


ClaimFacts = (
    OneServerFacts
    | SimpleStorageFacts
    | FabricFacts
    | DoubleGpusFacts
    | GpuWaitFacts
    | MemoryFacts
    | LinkFacts
    | SharedStorageFacts
    | HostFacts
)


@dataclass(frozen=True)
class Claim:
    """One claim in favour of the simpler design, and whether it holds."""

    key: ClaimKey  # stays the same in files
    workload: str  # its name; "" where the claim is about the whole request
    holds: bool
    value: float
    threshold: float
    at_most: bool  # the claim holds where the value is at most the threshold; False: at least
    unit: ClaimUnit
    facts: ClaimFacts
    sources: tuple[str, ...]  # keys of catalog/sources.toml


class Threshold(NamedTuple):
    """The number of a claim and its threshold."""

    value: float
    limit: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        """Whether the number is on the claim's side."""
        return self.value <= self.limit if self.at_most else self.value >= self.limit


def claim_of_threshold(
    key: ClaimKey,
    unit: ClaimUnit,
    model: WorkloadOnDesign,
    number: Threshold,
    facts: ClaimFacts,
    sources: Iterable[str],
) -> Claim:
    """Claim about one workload that compares a number of its design with a threshold."""
    return Claim(
        key=key,
        workload=model.work.request.name,
        holds=number.holds,
        value=number.value,
        threshold=number.limit,
        at_most=number.at_most,
        unit=unit,
        facts=facts,
        sources=tuple(sources),
    )
