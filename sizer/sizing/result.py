"""The answer: one SizingResult, from which documents, files and the app are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate, Spread
from sizer.base.quantities import by_count
from sizer.base.stored_answers import Deferred
from sizer.bom.bill import Bill, Sum
from sizer.bom.cost import CostInterval
from sizer.bom.ownership import Footprint
from sizer.bom.rental import RunRental
from sizer.calibrate.notes import CalibrationNote, FitNote
from sizer.catalog.labels import with_vendor
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Dataset, Dnn, Recipe, Stack
from sizer.physical.components import Quantities
from sizer.physical.networks.ports import nodes_of
from sizer.physical.plan import Plan
from sizer.physical.platform import Platform
from sizer.physical.quantities import Equipment, ExistingUse
from sizer.physical.roles import Role
from sizer.sizing.assumptions import DesignAssumption, OpenPoint
from sizer.sizing.checks import AnyLimit, CheckKind, CheckResult, DesignCheck, MissingFact, SizeLimit
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.reasons import (
    Binding,
    CostDifference,
    DesignWarning,
    IdleReason,
    QuoteToSettle,
    RunnerUpReason,
    Selection,
    StageReason,
    StorageNeed,
    StorageReason,
    VerdictKind,
    VerdictReason,
)
from sizer.sizing.stages.checkpoints import CheckpointedJob
from sizer.sizing.stages.evaluate import least_chance
from sizer.sizing.stages.gpu_memory import MemoryAnswer
from sizer.sizing.stages.language_rates import LanguageAnswer
from sizer.sizing.stages.serving_rates import ServingAnswer
from sizer.sizing.stages.sharding import Sharding
from sizer.workload.checkpoints import Checkpoints
from sizer.workload.eras import EquipmentBasis
from sizer.workload.request import Loss, SizingRequest, Target, Workload
from sizer.workload.sample_format import FormatBasis
from sizer.workload.stack_choice import StackChoice, StackEvidence
from sizer.workload.work_kinds import WorkKind, kind_of


@dataclass(frozen=True)
class LimitDesign:
    """A design with the rate that it reaches at the confidence of the request."""

    server: str
    server_name: str
    gpu: str
    gpu_name: str
    host_memory: str | None  # id of the memory in place of the server's standard one
    storage: str
    storage_name: str
    n_servers: int
    n_gpus: int
    storage_nodes: int
    samples_per_s: float
    cost: float | None  # at most, with the confidence of the request; None: not told
    power_w: float
    racks: int
    rack_units: float
    technology: tuple[bool, str | None] = (False, None)  # of the platform

    @property
    def parts(self) -> tuple[str, str, str | None, str, int, int, int]:
        """What tells one design from another."""
        return (
            *(self.server, self.gpu, self.host_memory, self.storage),
            *(self.n_servers, self.n_gpus, self.storage_nodes),
        )

    def amount(self, limit: SizeLimit) -> float | None:
        """What it takes of a limited quantity; None: not told."""
        amounts = {
            SizeLimit.BUDGET: self.cost,
            SizeLimit.POWER: self.power_w,
            SizeLimit.RACKS: float(self.racks),
            SizeLimit.RACK_UNITS: self.rack_units,
            SizeLimit.SERVERS: float(self.n_servers),
        }
        return amounts[limit]


@dataclass(frozen=True)
class LimitStep:
    """What more of one limit brings while the others stay as they are."""

    limit: SizeLimit
    bound: float  # as the request states it
    following: LimitDesign | None  # the next faster design beyond the limit; None: more of it alone brings nothing

    @property
    def binds(self) -> bool:
        """Whether more of this limit alone makes a faster design possible."""
        return self.following is not None


@dataclass(frozen=True)
class Maximum:
    """The most that the limits of a request give."""

    workload: int
    samples_per_s: float  # that the described design reaches at the confidence of the request: its target
    highest_samples_per_s: float  # of all designs within the limits; at most 1 % more
    confidence: float
    design: LimitDesign  # the cheapest of those within 1 % of the highest rate
    steps: tuple[LimitStep, ...]  # one for each limit that the request sets
    runner_up: LimitDesign | None  # the fastest on another platform within the limits
    cheaper: LimitDesign | None  # nearly as fast for clearly less money
    is_largest: bool  # no limit but the largest cluster that is looked at stops it


# Stages of the data path in their order; the key is used in files, the label on pages.
STAGES = {
    "storage": "Storage",
    "network": "Network and gateway",
    "decode": "Host data path",
    "host_link": "Host-to-GPU link",
    "gpu": "GPU compute",
    "exchange": "Gradient exchange",
}


# From this utilization on, the capacity of a bottleneck reads like another throughput.
_SATURATED = 0.98


# Of one GPU: below it a workstation with one card is enough.
_SMALL_SHARE = 0.5
# Of the memory of one GPU, that the state which several divide may take of it alone.
_STATE_SHARE = 0.8


@dataclass(frozen=True)
class Stage:
    """One stage of the pipeline at the chosen size."""

    key: str  # of STAGES
    capacity: Estimate  # samples/s that the stage alone could pass; inf where it is not used
    load_fraction: float  # rate at which the design works over capacity, 0..1
    is_limiting: bool
    reason: StageReason  # what the capacity consists of
    sources: tuple[str, ...]  # keys of catalog/sources.toml

    @property
    def is_saturated(self) -> bool:
        """Whether the throughput is its capacity but for what the other stages take of the median."""
        return self.is_limiting and self.load_fraction >= _SATURATED


@dataclass(frozen=True)
class TrainingTime:
    """Parts of a time to train. [s]"""

    epochs: Estimate
    start_up_s: float
    first_epoch_s: Estimate
    epoch_s: Estimate
    evaluations_s: Estimate
    total_s: Estimate
    cold_limit: str  # key of the stage that the first epoch waits for where it is slower: storage or network
    # How many times as long as its steps the whole run takes; counted in the total. None: nothing is counted.
    whole_run: Estimate | None = None


@dataclass(frozen=True)
class NearbyMeasurement:
    """A published measurement near this workload, with the prediction of the model."""

    id: str
    source: str
    where: str
    gpu: str  # name, as all of the following
    server: str  # empty where the source names none
    software: str  # empty where the source names none
    n_gpus: int
    published: float  # samples/s
    predicted: Estimate
    calibrates: bool  # True: the model was calibrated on it, so it does not validate
    is_same_stack: bool = True  # False: another software stack ran, so its rate lies elsewhere
    number_format: str = ""  # of a language model: bf16, fp8, fp4
    batch_per_gpu: float | None = None  # samples or sequences of a step; None: the source states none
    time_to_train_s: float | None = None  # to the target of the benchmark; None: the source states none


@dataclass(frozen=True)
class Scaling:
    """Throughput against size, storage and platform held fixed; of the described design, else at its own size alone.

    Arrays over ``n_servers``.
    """

    n_servers: Floats
    n_gpus: Floats
    throughput: Estimate
    stage_capacity: dict[str, Floats]  # key of STAGES -> samples/s (median)
    time_s: Estimate | None = None  # to train, with the cold first epoch; None where the length is not known
    epochs: Estimate | None = None  # to the target; None where no request or recipe tells them


@dataclass(frozen=True)
class SmallerSize:
    """What one workload reaches on fewer servers of the same kind, storage held fixed."""

    n_servers: int
    gpus_at_work: int  # the layout of a language model may leave some without work
    samples_per_s: float  # median
    time_s: float | None  # to train; None where its length is not known
    probability: float | None  # of meeting the target; None: a fact that decides it is not known


@dataclass(frozen=True)
class StackAlternative:
    """Another stack that was measured as well as the default one."""

    stack: Stack
    samples_per_s: float  # median on the described design [samples/s]
    n_servers: int | None  # that the request would need with it on this platform; None: more than were looked at


@dataclass(frozen=True)
class StackDefault:
    """The default stack of a workload and what it is worth."""

    evidence: StackEvidence
    n_servers: int | None  # that the request needs with it; racks, watts and budget are not checked
    n_others: int  # stacks measured as well
    alternatives: tuple[StackAlternative, ...]  # the oldest of them, and one that is faster than the default


@dataclass(frozen=True)
class TokenCost:
    """What a million tokens cost."""

    currency: str
    low: float
    expected: float
    high: float


@dataclass(frozen=True)
class ServedDay:
    """A day of a model in use, with its load of every hour; of a million of the tokens that are priced."""

    tokens: float
    idle_share: float  # of what the GPUs serve within the limits in a day, or in a night, on average
    # None of several workloads, of which none has the design for itself, and where nothing tells it.
    kwh_per_million: float | None = None  # of all equipment at its typical power, without cooling
    kg_co2_per_million: float | None = None  # with the cooling of a stated PUE
    bought_per_million: TokenCost | None = None  # hardware, written off
    rented_per_million: TokenCost | None = None  # as many GPUs in all these hours, at the offer or published rates


@dataclass(frozen=True)
class Night:
    """What a generation or a training that runs at night alone has of the GPUs."""

    first_hour: int
    hours: int
    gpus: float  # in the busiest hour


@dataclass(frozen=True)
class WorkloadFigures:
    """Figures of one workload on one design."""

    throughput: Estimate  # samples/s, warm
    time: TrainingTime | None
    storage_bytes_per_s: Estimate  # from the storage, warm
    cold_storage_bytes_per_s: Estimate  # in the first epoch
    cpu_utilization_fraction: Estimate
    gpu_busy_fraction: float  # rate at which the design works over what the GPUs (with exchange) could pass
    cache_hit_fraction: float
    bottleneck: str  # key of STAGES
    next_bottleneck: str
    probability: float | None  # that the target is met; None: a fact that decides it is not known
    target_check: CheckResult  # open where that is so, unless even the upper bound of the fact is not enough
    stack: Stack  # software that runs on these GPUs
    rate_stack: Stack | None  # another one, whose published runs the rate is derived from
    batch_per_gpu: int
    language: LanguageAnswer | None  # how the training of a language model is divided over the GPUs
    serving: ServingAnswer | None  # and a language model in use


@dataclass(frozen=True)
class WorkloadAnswer(WorkloadFigures):
    """How one workload runs on one design."""

    workload: Workload
    dnn: Dnn
    dataset: Dataset
    recipe: Recipe | None
    memory: MemoryAnswer  # of each GPU at this batch
    dataset_bytes: float
    sample_bytes: float
    sample_format: SampleFormat
    format_basis: FormatBasis
    scaling_efficiency: float  # throughput over GPUs x throughput of one GPU
    stages: tuple[Stage, ...]
    scaling: Scaling
    gpu_spread: Spread  # what the width of the GPUs' rate consists of
    extrapolations: tuple[CalibrationNote, ...]  # beyond the published sizes and batches; empty: it interpolates
    unmeasured: tuple[CalibrationNote, ...]  # what was never measured of this combination
    evidence: tuple[NearbyMeasurement, ...]
    warnings: tuple[str, ...]
    # Rate of the GPUs without the rates that the customer measured; None where none is stated.
    before_measured: Estimate | None = None
    day: ServedDay | None = None  # of a language model in use; None where it serves nothing within its limits
    night: Night | None = None  # None: it may run at all hours
    job: CheckpointedJob | None = None  # checkpoints and interruptions; None where neither is asked nor large
    stack_choice: StackChoice | None = None  # why the stack is the default; None: the request names it
    stack_worth: Deferred[StackDefault | None] | None = None  # what that is worth; of the described design only
    exchanged_bytes: float | None = None  # that a GPU sends of a step; None: it infers, or a layout divides the model
    # Rate that meets the target exactly; None where the target is a number of GPUs. [samples/s]
    required_samples_per_s: float | None = None
    smaller: tuple[SmallerSize, ...] = ()  # one and two servers fewer that hold it, the larger first; if described
    # Fewest servers whose expected rate meets the target; None: not known, or of no described design.
    servers_at_even_odds: int | None = None
    chance_at_even_odds: float | None = None  # that so many servers meet the target
    # What other numbers of people take, because what they do was assumed; of the described design only.
    other_loads: Deferred[tuple["OtherLoad", ...]] | None = None
    batch_is_fitted: bool = False  # whether it is a default: the largest usual one that the model of GPU memory allows

    @property
    def stack_default(self) -> StackDefault | None:
        """What the default stack is worth, of the described design; None where the request names its stack."""
        return None if self.stack_worth is None else self.stack_worth.value

    @property
    def running_throughput(self) -> Estimate:
        """Rate while it runs: without the interruptions that ``throughput`` of a language model counts. [samples/s]"""
        return self.throughput.scaled(1 / self.job.plan.goodput[0] if self.job is not None and self.job.counts else 1.0)

    @property
    def samples_trained(self) -> float:
        """Samples of a whole training, each as often as it is read."""
        assert self.time is not None  # asked of a workload with an end
        return float(self.time.epochs.value) * self.dataset_bytes / self.sample_bytes

    @property
    def is_one_epoch(self) -> bool:
        """Whether every sample is read once, so that no later epoch finds it in a cache."""
        return self.time is not None and float(self.time.epochs.high) <= 1

    @property
    def rate_is_upper_bound(self) -> bool:
        """Whether the rates suppose line rate of a storage whose read rate no source gives, and read from it."""
        reasons = (stage.reason for stage in self.stages)
        is_unknown = any(isinstance(one, StorageReason) and one.read_low_bytes_per_s is None for one in reasons)
        return is_unknown and self.cache_hit_fraction < 1

    @property
    def rate_is_predicted(self) -> bool:
        """Whether a GPU of the platform's generation was measured."""
        return all(reason.kind is not FitNote.GENERATION_NOT_MEASURED for reason in self.unmeasured)

    @property
    def required_bytes_per_s(self) -> float | None:
        """Reads from the storage after the first epoch at the required rate; None where none is asked. [B/s]"""
        rate = self.required_samples_per_s
        return None if rate is None else rate * self.sample_bytes * (1 - self.cache_hit_fraction)

    @property
    def is_inference(self) -> bool:
        """Whether nothing is trained: forward passes only."""
        return self.workload.task != "training"

    @property
    def language_checkpoints(self) -> Checkpoints | None:
        """What a language model keeps of its state; None of other networks."""
        return None if self.language is None else self.language.work.checkpoints

    @property
    def kind(self) -> WorkKind:
        """What differs from other kinds of workload."""
        return kind_of(trains_language=self.language is not None, serves=self.serving is not None)

    @property
    def trained(self) -> LanguageAnswer:
        """How the training of a language model is divided over the GPUs."""
        assert self.language is not None
        return self.language

    @property
    def served(self) -> ServingAnswer:
        """How a language model in use is divided over the GPUs."""
        assert self.serving is not None
        return self.serving


def design_name(platform: Platform, n_servers: int, storage_nodes: int) -> str:
    """Short name of a design: '9 x NVIDIA DGX-1 + 8 x Dell EMC Isilon F800 nodes'."""
    servers, storage = f"{n_servers} × {with_vendor(platform.server)}", with_vendor(platform.storage)
    if not storage_nodes:
        return f"{servers} + {storage}"
    named = f"{servers} + {storage_nodes} × {storage} {by_count(storage_nodes, 'node', 'nodes')}"
    tier = platform.second_tier
    if tier is None or tier.storage is None:
        return named
    return f"{named} + {tier.nodes} × {with_vendor(tier.storage)} {by_count(tier.nodes, 'node', 'nodes')}"


@dataclass(frozen=True)
class DesignAnswer:
    """One sized design: platform, counts, how every workload runs on it, its parts and what it costs."""

    platform: Platform
    n_servers: int
    n_gpus: int
    storage_nodes: int
    workloads: tuple[WorkloadAnswer, ...]
    tiers: tuple[StorageTier, ...]  # of the storage; the last one holds all data
    quantities: Quantities  # arrays of one row; cables by their measured length
    plan: Plan  # every device, link, cable and feed
    bill: Bill
    probability: float | None  # that all targets are met; None: the design is conditional
    binding: Binding  # why it is not smaller
    warnings: tuple[DesignWarning, ...]  # of the design itself; its parts and its plan have their own
    existing: ExistingUse | None = None  # what it uses of the equipment that is there; None: nothing is
    conditional_on: tuple[MissingFact, ...] = ()  # facts that no source gives, and that decide whether it does its job
    checks: tuple[DesignCheck, ...] = ()  # on capacity, watts, kilograms and budget
    storage_need: StorageNeed | None = None  # what decides the number of storage nodes; None without nodes
    cost: CostInterval | None = None  # None: bands are in another currency, or a customer is not told
    # Of owning it up to the end of each year asked, from the purchase (year 0) on; empty likewise, and where the
    # request has no [ownership] table.
    owned: tuple[CostInterval, ...] = ()

    @property
    def ownership(self) -> CostInterval | None:
        """Cost of owning it over all years asked."""
        return self.owned[-1] if self.owned else None

    @property
    def weight_kg(self) -> float:
        """Weight of the devices and of the racks that are bought, as far as it is published. [kg]"""
        return float(self.quantities.weight_kg[0]) + sum(rack.own_weight_kg or 0.0 for rack in self.plan.racks)

    @property
    def only_serves(self) -> bool:
        """Whether every workload is a language model in use."""
        return all(answer.serving is not None for answer in self.workloads)

    def gpus_at_work(self, answer: WorkloadAnswer) -> int:
        """GPUs that run a workload: the layout of a language model may leave some without work."""
        divided = answer.language or answer.serving
        return self.n_gpus if divided is None else divided.gpus_used

    @property
    def layouts(self) -> tuple[LanguageAnswer, ...]:
        """Layouts of the language models that are trained."""
        return tuple(answer.language for answer in self.workloads if answer.language)

    @property
    def usable_bytes(self) -> float:
        """Usable capacity for all data; NaN: not published. [B]"""
        return self.tiers[-1].usable_bytes

    @property
    def n_hosts(self) -> int:
        """Hosts with GPUs: servers, or the trays of systems that arrive as racks."""
        return self.n_servers * nodes_of(self.platform.server)

    @property
    def is_workstation(self) -> bool:
        """Whether it is a workstation: its plan draws a rack, and nothing of it is bought or fed."""
        return self.platform.server.is_workstation and not self.storage_nodes

    @property
    def name(self) -> str:
        """Short name: '9 x DGX-1 + 8 x Isilon F800 nodes'."""
        return design_name(self.platform, self.n_servers, self.storage_nodes)

    @property
    def delivering_nodes(self) -> int:
        """Nodes of the storage, or the servers where their own drives hold the data."""
        return self.n_servers if self.platform.storage.kind == "local" else max(self.storage_nodes, 1)

    @property
    def share_of_one_gpu(self) -> float | None:
        """What the targets take of one GPU at the low end of its rate; None where they say no rate, or divide a model.

        Several workloads take turns.
        """
        shares = []
        for workload in self.workloads:
            if workload.required_samples_per_s is None or workload.kind.is_laid_out:
                return None
            low = next((float(stage.capacity.low) for stage in workload.stages if stage.key == "gpu"), 0.0)
            # What several cards divide, one may not hold.
            holds = workload.memory.state_bytes * self.n_gpus <= _STATE_SHARE * workload.memory.memory_bytes
            if not low > 0 or not (holds or workload.memory.sharding is Sharding.NONE):
                return None
            shares.append(workload.required_samples_per_s * self.n_gpus / low)
        return sum(shares)

    @property
    def is_small(self) -> bool:
        """Whether one card of the kind that was chosen has twice what the targets take."""
        return self.share_of_one_gpu is not None and self.share_of_one_gpu <= _SMALL_SHARE

    @property
    def servers_bought(self) -> int:
        """GPU servers that are not there yet."""
        parts = self.quantities.components
        return sum(int(one.quantity[0]) for one in parts if one.role is Role.GPU_SERVER and one.status == "computed")

    @property
    def budget_check(self) -> DesignCheck | None:
        """Whether the budget is kept; None where there is none."""
        return next((check for check in self.checks if check.kind is CheckKind.BUDGET), None)

    @property
    def late(self) -> tuple[WorkloadAnswer, ...]:
        """Workloads that are met as surely as asked, but with the limit of first tokens are not: on condition of these.

        None where all targets together are as sure as asked, however that is shared out among them.
        """
        served = [answer for answer in self.workloads if answer.serving is not None]
        if self.probability is None or not served:
            return ()
        share = served[0].served.work.confidence
        if self.probability >= least_chance(share ** len(self.workloads)):
            return ()
        return tuple(
            answer
            for answer in served
            if answer.target_check is CheckResult.MET and (answer.probability or 1.0) < least_chance(share)
        )

    @property
    def joint_probability(self) -> float | None:
        """Probability that all targets are met and the budget is kept; None where one of them is not known."""
        budget = self.budget_check
        if budget is None or self.probability is None:
            return self.probability
        return None if budget.probability is None else self.probability * budget.probability

    @property
    def target_check(self) -> CheckResult:
        results = {answer.target_check for answer in self.workloads}
        return next((one for one in (CheckResult.NOT_MET, CheckResult.OPEN) if one in results), CheckResult.MET)


@dataclass(frozen=True)
class Verdict:
    """Whether a cluster is needed, and why."""

    kind: VerdictKind
    single: DesignAnswer | None  # one server that is enough; None where a cluster is needed
    reasons: tuple[VerdictReason, ...]  # of ``single``, else of the described design


@dataclass(frozen=True)
class SpareCost:
    """A design that tolerates losses and the one for the same request without them; differences are with - without."""

    losses: tuple[Loss, ...]
    without: DesignAnswer
    n_servers: int
    head_nodes: int
    storage_nodes: int
    switches: int  # of all networks, gateways among them
    rack_units: float
    power_w: float  # at most
    has_unknown_power: bool  # a part whose draw is not published: the watts are no full account
    amount: Decimal | None  # of the priced lines, in the currency of the request; None: a customer is not told
    open_items: tuple[str, ...]  # without a price, and of another number: they are to be quoted
    cost: CostDifference | None = None  # by the intervals that rank designs; None: a customer is not told

    @property
    def is_free(self) -> bool:
        """Whether the design without spare parts tolerates the losses as it is."""
        counts = (self.n_servers, self.head_nodes, self.storage_nodes, self.switches, self.rack_units, self.power_w)
        return not any(counts) and not self.amount and not self.open_items


@dataclass(frozen=True)
class ParetoPoint:
    """A design on the front over cost (or its stand-in), time, power and rack units."""

    name: str
    server: str
    server_name: str  # with its maker
    gpu: str
    storage: str
    n_servers: int
    n_gpus: int
    storage_nodes: int
    throughput_samples_per_s: float
    time_s: float  # time to train, or seconds per million samples
    power_w: float
    rack_units: float
    cost: float | None
    is_documented: bool


@dataclass(frozen=True)
class IdleServers:
    """What GPU servers that are there and that the design leaves idle would reach alone, of the first workload."""

    equipment: Equipment
    samples_per_s: float | None  # None: their GPUs do not hold it
    time_s: float | None  # None likewise, and where its length is not known
    gpu: str = ""  # name of the one that they are taken to hold; "" where that is told
    probability: float = 0.0  # that they meet the targets alone; of too little memory, that it holds the workloads
    has_rate: bool = True  # a published run of such a model, or the customer, tells the rate of their GPUs


@dataclass(frozen=True)
class IdleStorage:
    """Why storage that is there is not what the design reads from; rates in B/s, capacities in B."""

    equipment: Equipment
    reason: IdleReason
    needed: float  # rate or capacity, by the reason; 0 of the others
    given: float
    copy_s: float | None  # to copy the data sets to the drives of every server; None: to no such drives, or unknown


# A design that draws more is told, where GPUs of today would do with less than the other. [W]
IMPLAUSIBLE_W, PLAUSIBLE_W = 1e6, 1e5


@dataclass(frozen=True)
class OtherLoad:
    """The answer of the same request, on servers of the same kind, to another number of people."""

    factor: float
    n_servers: int
    gpus_per_server: int


@dataclass(frozen=True)
class DecisionOption:
    """A design that may be bought, and the request that it answers."""

    request: SizingRequest
    design: DesignAnswer

    @property
    def has_spare_server(self) -> bool:
        """Whether the targets hold without a server."""
        return "server" in self.request.resilience.keeps_targets_without


@dataclass(frozen=True)
class PlannedYear:
    """What the growth plan of the described platform buys in one year, and what is owned in it."""

    year: int
    servers_bought: int
    n_servers: int
    storage_nodes: int
    cost: CostInterval | None
    purchase: Sum  # at known prices
    footprint: Footprint  # of what is owned


@dataclass(frozen=True)
class SizingResult:
    """The whole answer to one request."""

    request: SizingRequest
    catalog_digest: str
    calibration_digest: str
    verdict: Verdict
    design: DesignAnswer  # the one that documents describe
    spare_cost: SpareCost | None  # of the losses that the request asks the design to tolerate
    selection: Selection  # why this one is described
    platforms: tuple[DesignAnswer, ...]  # best of each platform, side by side; holds `design`
    deciding_prices: tuple[str, ...]  # items of ``quotes_to_settle``
    runner_up: ParetoPoint | None
    runner_up_reason: RunnerUpReason
    pareto: Deferred[tuple[ParetoPoint, ...]]
    n_designs: int  # evaluated
    ruled_out: Mapping[AnyLimit, int]  # designs that each limit of the stages excludes
    assumptions: tuple[DesignAssumption, ...]
    questions: tuple[OpenPoint, ...]  # that vendors must confirm
    sources: tuple[str, ...]  # keys of every document a number comes from, in order of use
    quotes_to_settle: tuple[QuoteToSettle, ...] = ()  # that could change which platform leads, the heaviest first

    equipment: EquipmentBasis = EquipmentBasis.NAMED  # why GPU servers of these generations were compared
    maximum: Maximum | None = None  # what the limits give; None where every target was given
    idle_servers: tuple[IdleServers, ...] = ()
    idle_storage: tuple[IdleStorage, ...] = ()
    # What does the work on parts sold today, of a design of over a megawatt, or of servers that are no longer sold.
    newer: Deferred[DecisionOption | None] | None = None
    # Of a customer's copy: the design as we would build it, with the discounts that the copy does not tell.
    built: Deferred[DecisionOption | None] | None = None
    planned_years: tuple[PlannedYear, ...] = ()  # of a request that grows
    run_rental: RunRental | None = None  # of one run of trainings that end; None of others, and of teams and growth
    # Of a budget that is kept with less than the confidence asked: what keeps targets and budget together more likely.
    likelier: Deferred[DesignAnswer | None] | None = None
    # Of a design that keeps its limits of latency with less than the confidence asked: one that does, or the surest.
    surer: Deferred[DesignAnswer | None] | None = None

    @property
    def less_power(self) -> DesignAnswer | None:
        """What takes a tenth of the power or less where the design draws more than a megawatt; None: nothing known."""
        if self.newer is None or float(self.design.quantities.power_max_w[0]) <= IMPLAUSIBLE_W:
            return None
        found = self.newer.value
        return found.design if found and float(found.design.quantities.power_max_w[0]) < PLAUSIBLE_W else None

    @property
    def asked_request(self) -> SizingRequest:
        """The request as it was made: with its maximum in place of the rate that was found."""
        if self.maximum is None:
            return self.request
        works = list(self.request.workload)
        place = self.maximum.workload
        works[place] = works[place].model_copy(update={"target": Target(maximum="rate")})
        return self.request.model_copy(update={"workload": tuple(works)})

    @property
    def needs_cluster(self) -> bool:
        """Whether no single server is enough."""
        return self.verdict.single is None
