"""Why an answer is what it is: kinds and values, of which the presentation makes sentences."""

from dataclasses import dataclass
from enum import Enum

from sizer.catalog.links import LinkType
from sizer.catalog.sample_formats import SampleFormat
from sizer.sizing.checks import TARGET_LIMITS, AnyLimit
from sizer.workload.sample_format import FormatBasis


class SelectionKind(Enum):
    """Why a design is the one that documents describe."""

    ONLY = "only"  # platform that meets the request
    RANKED = "ranked"  # first by the key that the request ranks by
    GROWTH = "growth"  # the growth plan buys it first
    CHEAPEST = "cheapest"  # whatever the missing prices are
    LIKELY_CHEAPEST = "likely-cheapest"  # by price bands; quotes could change the order
    PREFERRED = "preferred"  # of a preferred vendor, and close enough to the first by the ranking's key


class PreferenceKind(Enum):
    """What a preference for some vendors does to the choice."""

    LEADS = "leads"  # a design of theirs is described instead of the first
    LEADS_ANYWAY = "leads-anyway"  # the first has the most parts of theirs of all designs
    TOO_FAR = "too-far"  # the first design with more parts of theirs is too far behind
    CONDITIONAL = "conditional"  # that one depends on a fact that no source gives
    OVER_BUDGET = "over-budget"  # that one keeps the budget with less than the confidence asked
    NO_DESIGN = "no-design"  # no design with a part of theirs meets the request


@dataclass(frozen=True)
class Preference:
    """What a preference does, and the design that it is compared with.

    Values are those of the key that platforms are ranked by; costs are None in a customer's copy.
    """

    kind: PreferenceKind
    vendors: tuple[str, ...]  # as the request names them
    within_percent: float  # that a design of theirs may be behind
    other: str = ""  # the design that leads without the preference; else the first with more parts of theirs
    chosen_value: float | None = None  # of the described design
    other_value: float | None = None
    is_exact: bool = False  # no missing price can change which of the two costs less


@dataclass(frozen=True)
class Selection:
    """Why the design is described."""

    kind: SelectionKind
    n_platforms: int  # that meet the request
    rank_by: str | None = None  # key of the request, or "rate": what the rate of the GPUs costs; of kind RANKED
    preference: Preference | None = None  # None where the request prefers no vendor
    years: int | None = None  # over which owning it costs least; None: buying it does; of the kinds of cost
    # Place, among the platforms shown, of one that would lead by expected cost; None where the described design does.
    leads_by_expected_cost: int | None = None
    # Places, among the platforms shown, of those whose finished bill is lower than that of the described design, the
    # lowest first: lengths and prices of cables, accessories and changes of the quote do not rank.
    less_on_bill: tuple[int, ...] = ()


@dataclass(frozen=True)
class QuoteToSettle:
    """A missing price that decides between the described design and one that follows it.

    Amounts come from price bands and are None in a customer's copy.
    """

    item: str  # catalogue id
    name: str
    swing: float | None  # by how much the quote can move the difference in cost [currency]
    # Price of one piece at which the order turns; None: no price in its band does that.
    turns_at: float | None = None
    currency: str = ""  # of both amounts
    gpus: str = ""  # that a server is to be quoted with, where its price must name them: "8 x l40s-48gb"


@dataclass(frozen=True)
class CostDifference:
    """What one design costs more than another, negative where it costs less. Price bands stand for missing prices."""

    currency: str
    low: float  # whatever the missing prices are
    expected: float  # with every missing price in the middle of its band; NaN where a part has neither price nor band
    at_confidence: float  # by the amounts that rank designs: at most, with the confidence of the request
    high: float
    quotes: tuple[QuoteToSettle, ...]  # that would settle which costs less; empty where nothing missing decides
    p_more: float = 0.5  # probability that it costs more

    @property
    def is_settled(self) -> bool:
        """Whether no missing price can change which costs less."""
        return self.low > 0 or self.high < 0 or self.low == self.high

    @property
    def is_exact(self) -> bool:
        """Whether no missing price changes the amount."""
        return self.low == self.high


class SizeKey(Enum):
    """Keys that order designs of equal cost; the first five only where servers or storage are there."""

    NEW_SERVERS = "new-servers"
    NEW_STORAGE_NODES = "new-storage-nodes"
    IDLE_SERVER_KINDS = "idle-server-kinds"
    IDLE_STORAGE_KINDS = "idle-storage-kinds"
    IDLE_SWITCH_KINDS = "idle-switch-kinds"
    SERVERS = "servers"
    STORAGE_NODES = "storage-nodes"
    RACK_UNITS = "rack-units"
    WATTS = "watts"


class TieBreak(Enum):
    """What puts a design before another that costs the same."""

    AIR = "air"  # it takes no water, of which the request says nothing
    SOFTWARE = "software"  # it runs software for x86 and CUDA as it is
    OWNED = "owned"  # the servers that are there hold the least GPUs that are enough: nobody says which they hold
    NEWER = "newer"  # of models in use: GPUs of a newer generation, or more memory
    FASTER = "faster"  # of work that ends
    LESS_POWER = "less-power"  # of work whose rate is asked
    FEWER_BOXES = "fewer-boxes"  # of the same time or power and cost


class RunnerUpKind(Enum):
    """Why the next best design is not the chosen one."""

    NONE = "none"  # no other design meets the request
    CONDITIONAL = "conditional"  # it meets the request only if a fact that no source gives is good enough
    LATE = "late"  # its first tokens keep their limit less surely than was asked
    SLOWER = "slower"  # values in seconds
    DEARER = "dearer"  # with the difference in cost, by bands where a price is missing
    TIED = "tied"  # in cost, by a difference far inside the price bands
    DEARER_RATE = "dearer-rate"  # the rate of its GPUs costs more; values in currency a sample/s
    ENERGY_UNKNOWN = "energy-unknown"  # its draw is not published, so that nobody knows what owning it costs
    OVER_BUDGET = "over-budget"  # it keeps the budget with less than the confidence asked
    LARGER = "larger"  # by a key of size
    SMALLER = "smaller"  # by a key of size, after an earlier comparison decided
    NOT_PREFERRED = "not-preferred"  # it ranks before the chosen one, which is of a preferred vendor
    EQUAL = "equal"  # in all keys of size; network or drives are larger
    FIRST_YEAR = "first-year"  # enough for the first year alone, while the chosen one is what a growth plan buys first


@dataclass(frozen=True)
class RunnerUpReason:
    """Why the runner-up is second, with the values compared; None where a customer's copy does not tell them."""

    kind: RunnerUpKind
    chosen: float | None = None
    other: float | None = None
    key: SizeKey | None = None
    is_settled: bool = False  # no missing price can change this; of kind DEARER
    years: int | None = None  # over which the values are costs of ownership; None: they are prices; of kind DEARER
    difference: CostDifference | None = None  # runner-up - chosen; of kind DEARER, None in a customer's copy
    tie_break: TieBreak | None = None  # what puts the chosen one first; of kind TIED


class BindingKind(Enum):
    """Why a design is not smaller."""

    GIVEN = "given"  # the cluster was stated, not searched
    SMALLEST = "smallest"  # one server
    LIMIT = "limit"  # the next smaller size breaks a limit
    NONE = "none"  # the next smaller size breaks none
    GROWTH = "growth"  # bought in the first year for later years; ``n_servers`` are enough for the first year alone


@dataclass(frozen=True)
class Binding:
    """What the next smaller size of the same platform breaks."""

    kind: BindingKind
    n_servers: int = 0  # of that size
    limit: AnyLimit | None = None
    bound: float | None = None  # of a limit of the room: racks, rack units or watts
    fit_probability: float | None = None  # that its GPUs hold the workloads, where their memory is the limit

    @property
    def is_no_rate(self) -> bool:
        """Whether a limit other than a rate decides: waits, losses, memory, capacity."""
        return self.kind is BindingKind.LIMIT and self.limit not in TARGET_LIMITS


class VerdictKind(Enum):
    """Whether a cluster is needed."""

    CLUSTER = "cluster"
    ONE_SERVER = "one-server"
    ONE_SERVER_AND_STORAGE = "one-server-and-storage"  # not all reads are served from its memory
    ONE_SERVER_TOO = "one-server-too"  # another platform is described because the ranking puts it first


@dataclass(frozen=True)
class DataInMemory:
    """The data set fits in the memory of the one server and is read from storage once."""

    workload: int  # place among those of the design
    memory_bytes: float
    read_s: float  # over one link of the fabric


@dataclass(frozen=True)
class LinkCarriesReads:
    """A link that is slow today carries all reads."""

    workload: int
    link: LinkType
    bytes_per_s: float


@dataclass(frozen=True)
class NoClusterFileSystem:
    """One server reads data in memory, so that no file system of a cluster is needed."""


@dataclass(frozen=True)
class NoServerFabric:
    """One server needs no network between servers."""


@dataclass(frozen=True)
class OneServerFallsShort:
    """One server alone misses the target."""

    workload: int
    samples_per_s: float | None  # of one server; None: its GPUs do not hold the network


@dataclass(frozen=True)
class MoreEpochs:
    """The global batch of the cluster needs more epochs than a small one."""

    workload: int


VerdictReason = (
    DataInMemory | LinkCarriesReads | NoClusterFileSystem | NoServerFabric | OneServerFallsShort | MoreEpochs
)


@dataclass(frozen=True)
class StorageReason:
    """What the read capacity of the storage consists of. Rates in B/s, per node; per server of local drives."""

    is_local: bool
    read_low_bytes_per_s: float | None  # None: no source gives a rate, and the line rate is the upper bound
    read_high_bytes_per_s: float | None
    line_bytes_per_s: float
    sample_bytes: float
    hit_fraction: float  # of the servers' memory, after the first epoch
    node_memory_fraction: float | None  # of the data set that the memory of all nodes holds; None: it has none


class NetworkPart(Enum):
    """A part of the way from the storage to the servers."""

    SERVERS = "servers"
    GATEWAY = "gateway"
    STORAGE = "storage"


@dataclass(frozen=True)
class NetworkReason:
    """What the network capacity consists of."""

    link: LinkType | None  # None: the drives are in the servers
    server_bytes_per_s: float  # into each server
    exchanged_bytes_per_sample: float  # of gradients that share the ports
    gateway_bytes_per_s: float | None  # of all uplinks; None without a gateway
    storage_bytes_per_s: float | None  # of all ports of the storage; None where it has none of its own
    decided_by: NetworkPart  # the narrowest part of the way


@dataclass(frozen=True)
class DecodeReason:
    """What the rate consists of at which the hosts read and prepare samples."""

    core_s_per_sample: float
    n_cores: float  # of a server
    loader: str  # key of the catalogue
    sample_format: SampleFormat
    basis: FormatBasis  # what the format was derived from
    fixed_core_s: float  # part of the work that does not grow with the sample
    core_s_per_byte: float  # part that does


@dataclass(frozen=True)
class HostLinkReason:
    """What the links between host and GPUs consist of."""

    n_links: int  # of a server that the job's GPUs use
    link_bytes_per_s: float  # of each
    sample_bytes: float  # as the GPU takes it


@dataclass(frozen=True)
class GpuReason:
    """What the compute capacity consists of."""

    gpu: str  # name
    n_gpus: int  # of a server, that run the job
    batch_per_gpu: int
    stack: str  # name; published rates of it were fitted
    is_inference: bool
    has_layout: bool = False  # a language model, divided over the GPUs as its layout says


@dataclass(frozen=True)
class ExchangeReason:
    """What the gradient exchange consists of."""

    gradient_bytes: float | None  # of a step; None: nothing is trained, or a language model by its layout
    intra_link: str | None  # family of the link inside the one server; None on several servers
    server_bytes_per_s: float  # of the ports of each server
    is_in_step: bool = False  # what is exposed of it is counted with the GPUs: language models
    has_tables: bool = False  # divided embedding tables: their looked-up vectors are exchanged, not all their gradients


class StorageDecision(Enum):
    """What decides how many storage nodes a design has."""

    CAPACITY = "capacity"
    RATE = "rate"
    SEVERAL = "several"  # both alike, the smallest system, or a team, growth or losses


class RateNeed(Enum):
    """What of the rates of the storage takes the most nodes."""

    READS = "reads"
    CHECKPOINTS = "checkpoints"  # written
    LEVEL = "level"  # published, of reads and writes
    STATED = "stated"  # of reads or writes, in the request
    FILES = "files"  # looked up and read, a second
    INGEST = "ingest"
    SNAPSHOTS = "snapshots"  # read to copy what changed
    RESTARTS = "restarts"  # read
    USUAL_CAPACITY = "usual-capacity"  # of clusters that were built, for so many GPUs


@dataclass(frozen=True)
class LargerDrives:
    """Drives with which fewer nodes of the same system hold the data."""

    drives: str
    nodes: int


@dataclass(frozen=True)
class CapacityTier:
    """Nodes of disks that hold all data, behind a system that is just large enough for the reads."""

    item: str  # catalogue id
    name: str
    drives: str
    nodes: int
    performance_nodes: int  # of the design's own storage, enough for the reads
    performance_bytes: float  # that these hold: what is read at full rate at a time [B]


@dataclass(frozen=True)
class MinimumCapacity:
    """A minimum of the request that calls for more usable capacity than what is stored."""

    minimum_bytes: float
    stored_bytes: float  # data, checkpoints, snapshots and reserve
    nodes_for_stored: int  # that these alone call for, in whole units


@dataclass(frozen=True)
class StorageNeed:
    """How many storage nodes the data and the reads call for, each alone, in whole units."""

    decision: StorageDecision
    nodes: int  # of the design
    smallest_nodes: int  # that a system of this kind has
    nodes_for_capacity: int
    nodes_for_rate: int | None  # None: no number is enough
    rate_need: RateNeed
    load_fraction: float  # rate that the targets call for over the median rate of the nodes
    fill_fraction: float  # what is stored, with the reserve of the request, over usable bytes
    larger_drives: LargerDrives | None
    capacity_tier: CapacityTier | None
    minimum: MinimumCapacity | None  # None: what is stored calls for the capacity
    has_working_set: bool  # the request states what trainings read at a time

    @property
    def rate_decides(self) -> bool:
        """Whether a rate calls for more nodes than a system of this kind has at least."""
        is_more = self.nodes_for_rate is not None and self.nodes > self.smallest_nodes
        return is_more and self.decision is StorageDecision.RATE


StageReason = StorageReason | NetworkReason | DecodeReason | HostLinkReason | GpuReason | ExchangeReason


@dataclass(frozen=True)
class UnknownReadRate:
    """No source gives a read rate of the storage: the line rate of its ports bounds it."""


@dataclass(frozen=True)
class FewerGpusUsed:
    """The job uses fewer GPUs than each server has."""

    n_gpus: int  # of each server


class IdleReason(Enum):
    """Why storage that is there stays idle."""

    NOT_CONNECTED = "not-connected"  # no port, gateway or adapter joins it to the servers
    CAPACITY = "capacity"
    CAPACITY_UNKNOWN = "capacity-unknown"  # no source gives what it holds, and the request does not state it
    READ_RATE = "read-rate"
    RATE_UNKNOWN = "rate-unknown"  # no source gives its read rate, and the request does not state it
    RANKED = "ranked"  # another design comes first by what the request ranks by


@dataclass(frozen=True)
class BudgetOfPricedLines:
    """The budget is compared with the priced lines only: price bands are in another currency."""


@dataclass(frozen=True)
class ManySmallFiles:
    """A workload opens more small files a second than file systems usually do; rates in bytes do not tell it."""

    workload: str  # name
    files_per_s: float
    files_per_node_s: float  # of each storage node, or server with drives of its own


DesignWarning = UnknownReadRate | FewerGpusUsed | BudgetOfPricedLines | ManySmallFiles
