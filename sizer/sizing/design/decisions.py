"""Why a design has this server, this storage, this fabric and these racks: the numbers that decided, as data."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.bom.bill import Bill
from sizer.bom.cost import heights_of, line_amounts
from sizer.bom.prices import prices_for
from sizer.bom.unit_prices import SMALL, UnitPrices, unit_prices
from sizer.catalog.fabrics import fabric_ports, joining, usual_ports
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.components import Network
from sizer.physical.layout import packed_racks
from sizer.physical.networks.single_fabric import FabricAsked, single_fabric
from sizer.physical.notes import PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.roles import NetworkRole
from sizer.sizing import reasons
from sizer.sizing.assumptions import StorageLevelTaken
from sizer.sizing.checks import CheckResult
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.reasons import (
    Binding,
    CostDifference,
    NetworkPart,
    NetworkReason,
    Selection,
    SelectionKind,
    StorageNeed,
    StorageReason,
)
from sizer.sizing.result import DesignAnswer, SizingResult, Verdict, WorkloadAnswer
from sizer.sizing.search.main_items import ranking_currency
from sizer.sizing.search.ranking import PricedOrder, difference
from sizer.sizing.stages import evaluate, gpu_side
from sizer.sizing.stages.gpu_side import GpuRates
from sizer.sizing.stages.language_rates import EXPOSED
from sizer.sizing.stages.platform_columns import ServerRows, columns, node_read_rate, rate_is_unknown
from sizer.sizing.stages.sharding import step_exchange_bytes
from sizer.workload.optional_tables import FeedRedundancy
from sizer.workload.request import SizingRequest, ranks_by_cost

# Links that a customer's network has anyway, the slower first.
_USUAL_LINKS = ("10gbe", "25gbe")
# Sizes up to which the gradient exchange over two networks is compared: beyond it no published run lies.
MAX_SERVERS = 64
# A faster fabric pays from this share of the rate on: less is hardly visible within the 90 % interval of a rate.
LEAST_FABRIC_LOSS = 0.05
# Epochs that grow on twice the servers: less than two in a hundred is hardly visible in a time.
_GROWN = 1.02


def usual_links(catalog: Catalog) -> tuple[LinkType, ...]:
    """Links that a customer's network has anyway, the slower first."""
    return tuple(catalog.links[name] for name in _USUAL_LINKS)


def first_read_s(data_bytes: float, kind: LinkType) -> float:
    """Time of reading a data set once over one link. [s]

    Examples
    --------
    >>> from sizer import load_catalog
    >>> links = load_catalog().links
    >>> round(first_read_s(148e9, links["10gbe"])), round(first_read_s(148e9, links["25gbe"]))  # ImageNet as TFRecords
    (118, 47)
    """
    return data_bytes / kind.bytes_per_s


def smallest_link(bytes_per_s: float, catalog: Catalog) -> LinkType | None:
    """The slowest usual link that carries a rate; None where none does."""
    return next((kind for kind in usual_links(catalog) if bytes_per_s <= kind.bytes_per_s), None)


@dataclass(frozen=True)
class Consumption:
    """What one server takes in while nothing but its GPUs and processors holds it up."""

    samples_per_s: float
    first_bytes_per_s: float  # in the first epoch
    later_bytes_per_s: float  # what its memory does not hold


def consumption(model: WorkloadOnDesign) -> Consumption:
    """Consumption of one server of a design, at the median."""
    run = model.run
    rate = float(min(one.median[0] for one in (run.comp.gpu, run.comp.decode, run.comp.host_link))) / model.n_servers
    first, later = (
        float(read_demand_bytes_per_s(rate, model.work.sample_bytes, hits))
        for hits in (0.0, float(run.comp.hit_fraction[0]))
    )
    return Consumption(rate, first, later)


def storage_read_bytes_per_s(model: WorkloadOnDesign) -> float:
    """What a design reads from its storage after the first epoch, at the median. [B/s]"""
    run = model.run
    rate, hits = float(run.rates[0].value[0]), run.comp.hit_fraction[0]
    return float(read_demand_bytes_per_s(rate, model.work.sample_bytes, hits))


def smallest_system_bytes_per_s(storage: Storage) -> float:
    """Read rate, at least, of the smallest system of a storage that can be bought; inf where no source gives one."""
    rate = node_read_rate(storage)
    return np.inf if rate is None else node_limits(storage)[0] * rate.low.value


def shared_storage(storage: Storage, catalog: Catalog) -> Storage | None:
    """A storage itself where it is bought by the node and its rate is known, else the slowest such system to order."""
    if counts_nodes(storage) and not rate_is_unknown(storage):
        return storage
    known = [
        one for one in catalog.storage.values() if one.orderable and counts_nodes(one) and not rate_is_unknown(one)
    ]
    return min(known, key=lambda one: (smallest_system_bytes_per_s(one), one.id), default=None)


def exchange_loss(model: WorkloadOnDesign, slow: LinkType, fast: LinkType, slow_ports: int | None = None) -> Floats:
    """Share of the rate that a training loses over one network against another, on 1 to 64 servers.

    ``model``: its servers run the training; a server that has no port of a kind is taken to have one, else all its
    ports work. ``slow_ports``: of each server, where not all of its ports join the slower network. Returns
    (MAX_SERVERS,): 1 - rate over ``slow`` / rate over ``fast``, both of the GPUs with the exchange that is not hidden;
    0 on one server.
    """
    servers = np.arange(1, MAX_SERVERS + 1)
    networks = (_on_network(model.platform, slow, slow_ports), _on_network(model.platform, fast))
    one, other = (_network_rates(model, platform, servers).gpu.median for platform in networks)
    return np.where(servers > 1, np.maximum(1 - one / other, 0.0), 0.0)


def _on_network(platform: Platform, kind: LinkType, n_ports: int | None = None) -> Platform:
    """A platform whose servers join one kind of network, all their ports of it or the first ``n_ports``."""
    if n_ports is None:
        return replace(platform, fabric=kind)
    left, ports, joined = n_ports, [], joining(platform.server.ports, kind)
    for port in platform.server.ports:
        if port in joined:
            port, left = port.model_copy(update={"count": min(port.count, left)}), max(left - port.count, 0)
        ports.append(port)
    shown = tuple(port for port in ports if port.count)
    return replace(platform, fabric=kind, server=platform.server.model_copy(update={"ports": shown}))


def exchange_s(model: WorkloadOnDesign, kind: LinkType, n_servers: int, n_ports: int | None = None) -> float:
    """Time of the gradient exchange of one step over all ports of a network or some, hidden or not. [s]"""
    rates = _network_rates(model, _on_network(model.platform, kind, n_ports), np.array([n_servers]))
    return step_samples(model, n_servers) / float(rates.exchange[0])


def step_samples(model: WorkloadOnDesign, n_servers: int) -> float:
    """Samples of one step of a training on so many servers."""
    return float(model.run.cols.gpus_per_server[0]) * n_servers * model.work.batch_per_gpu


def _network_rates(model: WorkloadOnDesign, platform: Platform, servers: Ints) -> GpuRates:
    found = columns([platform], model.catalog, model.request.platforms.gpus_per_server)
    cols = found.take(np.zeros(servers.size, dtype=np.int64))
    return gpu_side.step_rates(model.work, ServerRows([platform], cols, servers, model.catalog, model.calibration))


@dataclass(frozen=True)
class Doubling:
    """What twice the servers of a design bring; storage and network grow with them."""

    rate_ratio: float
    speed_ratio: float  # time to train before over after
    epochs: tuple[float, float]
    global_batch: tuple[int, int]


def doubling(model: WorkloadOnDesign) -> Doubling | None:
    """Twice the GPUs; None where no recipe gives the epochs at a global batch."""
    return times_the_gpus(model, model.n_servers, 2 * model.n_servers)


def times_the_gpus(model: WorkloadOnDesign, few: int, many: int) -> Doubling | None:
    """More servers compared with fewer, each with its batch; None where no recipe gives the epochs at a batch."""
    work = model.work
    if work.recipe is None or work.is_inference:
        return None
    run = model.run_on([few, many])
    assert run.epochs is not None
    rate, epochs = np.minimum(run.comp.gpu.median, run.comp.decode.median), run.epochs.value
    batch = (run.servers * run.cols.gpus_per_server * run.comp.batch_per_gpu).astype(int)
    time_s = evaluate.time_s(work, epochs, rate, rate, model.calibration.start_up_s)
    return Doubling(
        rate_ratio=float(rate[1] / rate[0]),
        speed_ratio=float(time_s[0] / time_s[1]),
        epochs=(float(epochs[0]), float(epochs[1])),
        global_batch=(int(batch[0]), int(batch[1])),
    )


def verdict_of(design: DesignAnswer, platforms: Sequence[DesignAnswer], catalog: Catalog) -> Verdict:
    """Whether a cluster is needed.

    ``platforms``: the best of each platform; one of them with a single server makes a cluster needless, too.
    ``catalog``: holds the links that a customer's network has anyway.

    The tests are those of D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara 2019
    ("hitachi-dl-2019"): one server, data that fit in memory, 10 or 25 GbE, no clustered file system. Each is checked
    with the numbers of the design.
    """
    # Nobody knows whether a server that depends on an unknown fact is enough.
    others = (
        other
        for other in platforms
        if other.n_hosts == 1
        and not other.conditional_on
        and not other.late
        and delivers_as_much(other, design)
        # A server to buy is no simpler than servers that are there.
        and other.servers_bought <= design.servers_bought
    )
    single = design if design.n_hosts == 1 else next(others, None)
    if single is None:
        return Verdict(reasons.VerdictKind.CLUSTER, None, tuple(_cluster_reasons(design)))
    if single is not design:
        kind = reasons.VerdictKind.ONE_SERVER_TOO
    elif _is_cached(single) or single.platform.storage.kind == "local":
        kind = reasons.VerdictKind.ONE_SERVER
    else:
        kind = reasons.VerdictKind.ONE_SERVER_AND_STORAGE
    return Verdict(kind, single, tuple(_simple_reasons(single, catalog)))


def delivers_as_much(other: DesignAnswer, design: DesignAnswer) -> bool:
    """Whether a design does the work of another where a number of GPUs is asked for: kinds of GPUs differ in it."""
    return all(
        mine.workload.target.gpus_busy is None or float(mine.throughput.value) >= float(asked.throughput.value)
        for mine, asked in zip(other.workloads, design.workloads, strict=True)
    )


def _is_cached(design: DesignAnswer) -> bool:
    return all(answer.cache_hit_fraction >= 1 for answer in design.workloads)


def _simple_reasons(design: DesignAnswer, catalog: Catalog) -> Iterator[reasons.VerdictReason]:
    memory = design.platform.server.memory_bytes
    for index, answer in enumerate(design.workloads):
        if not answer.kind.reads_data:
            continue
        if answer.cache_hit_fraction >= 1 and memory is not None:
            yield reasons.DataInMemory(index, memory.value, first_read_s(answer.dataset_bytes, design.platform.fabric))
        read = max(float(answer.storage_bytes_per_s.value), float(answer.cold_storage_bytes_per_s.value))
        link = smallest_link(read, catalog)
        if link is not None:
            yield reasons.LinkCarriesReads(index, link, read)
    if _is_cached(design) and design.platform.storage.kind != "parallel-file-system":
        yield reasons.NoClusterFileSystem()
    yield reasons.NoServerFabric()


def _cluster_reasons(design: DesignAnswer) -> Iterator[reasons.VerdictReason]:
    # A growth plan may buy more servers than the first year calls for.
    suffices = design.n_servers == 1 or (
        design.binding.kind is reasons.BindingKind.GROWTH and design.binding.n_servers == 1
    )
    if design.n_servers == 1:
        yield reasons.NoServerFabric()
    for index, answer in enumerate(design.workloads):
        if not suffices:
            curve = answer.scaling
            alone = np.atleast_1d(curve.throughput.value)[np.atleast_1d(curve.n_servers) == 1]
            yield reasons.OneServerFallsShort(index, float(alone[0]) if alone.size else None)
        epochs = answer.scaling.epochs
        if answer.time is not None and epochs is not None and epochs.value[-1] > _GROWN * answer.time.epochs.value:
            yield reasons.MoreEpochs(index)


class RejectionKind(Enum):
    """Why a design is not the chosen one."""

    MISSES_TARGET = "misses-target"
    CONDITIONAL = "conditional"  # it meets the request only if a fact that no source gives is good enough
    DEARER = "dearer"  # whatever the missing prices are
    LIKELY_DEARER = "likely-dearer"  # by price bands
    TIED = "tied"  # by price bands, which do not tell the two apart
    OVER_BUDGET = "over-budget"  # it keeps the budget with less than the confidence asked
    LESS_CERTAIN = "less-certain"  # its expected cost is lower, but more of its prices are missing
    EQUAL = "equal"  # in servers, storage nodes, rack units and power; its network or drives are larger
    DEARER_BUT_FOR_CABLES = "dearer-but-for-cables"  # with cables, accessories and changes of the quote it costs less
    UNASKED_CHANGE = "unasked-change"  # it needs water cooling or other software, and saves too little for that
    NOT_PREFERRED = "not-preferred"  # a design of a preferred vendor is close enough
    RANKED_BEHIND = "ranked-behind"  # by the key that the request ranks by, or by what a growth plan buys


@dataclass(frozen=True)
class RejectedDesign:
    """The best design with another server or another storage, and why it is not the chosen one."""

    design: DesignAnswer
    kind: RejectionKind


def rejected_designs(result: SizingResult, others: Iterable[DesignAnswer]) -> tuple[RejectedDesign, ...]:
    """Other designs of a result, each with the reason why it is not the described one."""
    return tuple(RejectedDesign(other, rejection(result, other)) for other in others)


def rejection(result: SizingResult, other: DesignAnswer) -> RejectionKind:
    """Why another design of the result is not the described one."""
    chance, asked = other.probability, result.request.confidence
    if other.target_check is CheckResult.NOT_MET or (chance is not None and chance < asked and not result.maximum):
        return RejectionKind.MISSES_TARGET
    if len(other.conditional_on) > len(result.design.conditional_on):
        return RejectionKind.CONDITIONAL
    if _is_over_budget(result, other) and not _is_over_budget(result, result.design):
        return RejectionKind.OVER_BUDGET
    kind, second = _BY_SELECTION.get(result.selection.kind, RejectionKind.RANKED_BEHIND), result.runner_up_reason
    point, ids = result.runner_up, (other.platform.server.id, other.platform.storage.id)
    is_second = point is not None and (point.server, point.storage) == ids
    if is_second and second.kind is reasons.RunnerUpKind.TIED and kind is RejectionKind.LIKELY_DEARER:
        is_unasked = second.tie_break in (reasons.TieBreak.AIR, reasons.TieBreak.SOFTWARE)
        return RejectionKind.UNASKED_CHANGE if is_unasked else RejectionKind.TIED
    if any(result.platforms[place] is other for place in result.selection.less_on_bill):
        return RejectionKind.DEARER_BUT_FOR_CABLES
    if (place := result.selection.leads_by_expected_cost) is not None and result.platforms[place] is other:
        return RejectionKind.LESS_CERTAIN
    if is_second and second.kind is reasons.RunnerUpKind.EQUAL:
        return RejectionKind.EQUAL
    ours, theirs = result.design.cost, other.cost
    if ours is None or theirs is None:
        return kind
    is_dearer = theirs.expected > ours.expected
    if kind is RejectionKind.RANKED_BEHIND and is_dearer and ranks_by_cost(result.selection.rank_by):
        return RejectionKind.LIKELY_DEARER  # in the first year of a growth plan, too
    return RejectionKind.TIED if kind is RejectionKind.LIKELY_DEARER and not is_dearer else kind


def _is_over_budget(result: SizingResult, design: DesignAnswer) -> bool:
    """Whether a design keeps the budget with less than the confidence asked."""
    check = design.budget_check
    if check is None or check.result is CheckResult.NOT_MET:
        return check is not None
    return check.probability is not None and check.probability < result.request.confidence


_BY_SELECTION = {
    reasons.SelectionKind.CHEAPEST: RejectionKind.DEARER,
    reasons.SelectionKind.LIKELY_CHEAPEST: RejectionKind.LIKELY_DEARER,
    reasons.SelectionKind.PREFERRED: RejectionKind.NOT_PREFERRED,
}


@dataclass(frozen=True)
class SizeStep:
    """Rate of one workload on the design, and rate and probability of its target with one server fewer. [samples/s]"""

    workload: int  # place among those of the design
    samples_per_s: float
    samples_per_s_with_one_fewer: float | None = None  # None: one server is the smallest size
    probability_with_one_fewer: float | None = None  # None: as above, or a fact that decides is not known


@dataclass(frozen=True)
class ServerChoice:
    """Why this GPU server, and so many of them."""

    is_only_allowed: bool
    steps: tuple[SizeStep, ...]
    binding: Binding
    scaling_efficiency: float | None  # the lowest of the workloads that their GPUs limit; None: others limit all
    lost_fraction: float  # of the GPUs, with one server lost
    rejected: tuple[RejectedDesign, ...]


def scaling_efficiency(design: DesignAnswer) -> float | None:
    """Lowest scaling efficiency of the workloads whose GPUs are the bottleneck; None where another stage limits all.

    Behind another bottleneck the rate per GPU says nothing about how GPUs work together.
    """
    limited = [answer.scaling_efficiency for answer in design.workloads if answer.bottleneck in ("gpu", "exchange")]
    return min(limited, default=None)


@dataclass(frozen=True)
class StorageChoice:
    """Why this storage, and so much of it. Rates in B/s of the whole system; None where no source gives one."""

    is_only_allowed: bool
    need: StorageNeed | None  # None: it is not bought by the node
    tiers: tuple[StorageTier, ...]
    read_bytes_per_s: float  # the highest of all workloads, first epoch included
    low_bytes_per_s: float | None
    high_bytes_per_s: float | None
    low_is_assumed: bool  # whether no test stands behind the lower rate
    high_is_assumed: bool  # whether no data sheet stands behind the higher rate
    level: StorageLevelTaken | None  # a published level of rates that was taken because the request names none
    file_server_bytes_per_s: float | None  # what the fastest single file server of the catalogue is sure to read
    nodes_per_step: int  # nodes by which it grows
    rejected: tuple[RejectedDesign, ...]


@dataclass(frozen=True)
class LinkOption:
    """A link, or some of the ports of the fabric, as the network between the servers."""

    kind: LinkType
    read_fraction: float  # reads of one server over the rate of these links
    lost_fraction: float  # of the training rate against the chosen fabric, because gradients wait; 0 for inference
    misses_target: bool  # whether the median with this loss is below the target of a training
    n_ports: int = 1  # of each server
    n_switches: int | None = None  # of the same kind as those of the fabric; None: another link


@dataclass(frozen=True)
class FabricChoice:
    """Why this network between the servers."""

    is_only_allowed: bool
    kind: LinkType
    n_ports: int  # of each server
    read_bytes_per_s: float  # of each server, the highest of all workloads
    gradient_bytes: float | None  # of a step, the most of the other workloads; None: none of them trains
    exposed_share: float | None  # of a step that language models wait for traffic; None: none is trained
    network_fraction: float  # utilization of the network's narrowest part, the highest of all workloads
    network_part: NetworkPart  # that part
    n_switches: int
    oversubscription: float  # 1: non-blocking
    slower: tuple[LinkOption, ...]  # usual links with less than the rate of one link, then fewer links of the fabric
    carries_reads: bool = True  # whether servers read over it; otherwise over a storage network


class RackLimit(Enum):
    """What decides the number of racks."""

    ONE = "one"
    POWER = "power"
    UNITS = "units"
    PLACEMENT = "placement"  # rows, weight, cable reach, or racks that are there


@dataclass(frozen=True)
class RackChoice:
    """Why so many racks. Powers are maxima."""

    limit: RackLimit
    n_racks: int
    n_for_power: int | None  # None: the racks bring their own feeds
    n_for_units: int
    power_w: float
    has_unknown_power: bool
    feed_w: float  # that the feeds of a rack carry after a loss; 0 where the racks bring their own
    rack_w: float  # that one rack may draw: what its feeds carry, or what the request allows if that is less
    used_units: int
    free_units: int
    units_per_rack: int
    n_delivered: int = 0  # further racks, which arrive with their contents
    feeds: FeedRedundancy = "2N"
    n_existing: int = 0  # of the racks: those that are there
    existing_units: int = 0  # of the used units: those in racks that are there
    existing_w: float = 0.0  # of the power: that of racks that are there
    n_packed: int = 0  # new racks that would do if kinds of devices were mixed freely

    @property
    def is_limited_by_request(self) -> bool:
        """Whether the request allows a rack less than its feeds carry."""
        return 0 < self.rack_w < self.feed_w or (self.feed_w <= 0 < self.rack_w)


@dataclass(frozen=True)
class Decisions:
    """The four choices that make a design."""

    server: ServerChoice
    storage: StorageChoice
    fabric: FabricChoice | None  # None: no fabric between servers
    racks: RackChoice


def decisions(evaluated: EvaluatedDesign) -> Decisions:
    """The choices of a design with what decided each.

    Returns rejected designs are those that the request allows; what it excludes was no choice.
    """
    result = evaluated.result
    return Decisions(
        server=_server(evaluated),
        storage=_storage(result, evaluated.catalog),
        fabric=_fabric(evaluated),
        racks=rack_choice(result.design, result.request.limits.rack_power_w),
    )


def _server(evaluated: EvaluatedDesign) -> ServerChoice:
    result = evaluated.result
    design = result.design
    others = (other for other in result.platforms if other.platform.server.id != design.platform.server.id)
    return ServerChoice(
        is_only_allowed=len(result.request.platforms.servers) == 1,
        steps=tuple(_step(design, index) for index in range(len(design.workloads))),
        binding=design.binding,
        scaling_efficiency=scaling_efficiency(design),
        lost_fraction=1 / design.n_servers,
        rejected=rejected_designs(result, _first_of_each(others, lambda other: other.platform.server.id)),
    )


def _step(design: DesignAnswer, place: int) -> SizeStep:
    """Rates with storage held fixed."""
    answer = design.workloads[place]
    rate, *fewer = float(answer.throughput.value), *answer.smaller[:1]
    return SizeStep(place, rate, fewer[0].samples_per_s, fewer[0].probability) if fewer else SizeStep(place, rate)


def _storage(result: SizingResult, catalog: Catalog) -> StorageChoice:
    design = result.design
    storage = design.platform.storage
    alike = [platform for platform in result.platforms if platform.platform.server.id == design.platform.server.id]
    others = (other for other in alike if other.platform.storage.id != storage.id)
    low, high = _rates(design)
    servers = (one.node_read_low_bytes_per_s for one in catalog.storage.values() if one.kind == "nfs-server")
    lower, upper = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    return StorageChoice(
        is_only_allowed=len(result.request.platforms.storage) == 1,
        need=design.storage_need,
        tiers=design.tiers,
        read_bytes_per_s=_read_bytes_per_s(design),
        low_bytes_per_s=low,
        high_bytes_per_s=high,
        low_is_assumed=lower is not None and lower.basis == "assumed",
        high_is_assumed=upper is not None and upper.basis == "assumed",
        level=next((one for one in result.assumptions if isinstance(one, StorageLevelTaken)), None),
        file_server_bytes_per_s=max((rate.value for rate in servers if rate is not None), default=None),
        nodes_per_step=int(storage.nodes_per_unit.value) if storage.nodes_per_unit is not None else 1,
        rejected=rejected_designs(result, _first_of_each(others, lambda other: other.platform.storage.id)),
    )


def _rates(design: DesignAnswer) -> tuple[float | None, float | None]:
    """Published read rates of all nodes, or of the drives of all servers. [B/s]"""
    reasons = (stage.reason for answer in design.workloads for stage in answer.stages)
    reason = next(one for one in reasons if isinstance(one, StorageReason))
    count = design.n_servers if reason.is_local else max(design.storage_nodes, 1)
    low, high = reason.read_low_bytes_per_s, reason.read_high_bytes_per_s
    return (None if low is None else low * count), (None if high is None else high * count)


def _read_bytes_per_s(design: DesignAnswer) -> float:
    """What the design reads from its storage, the highest of all workloads, first epoch included. [B/s]"""
    return max(
        max(float(answer.storage_bytes_per_s.value), float(answer.cold_storage_bytes_per_s.value))
        for answer in design.workloads
    )


def _first_of_each(designs: Iterable[DesignAnswer], key: Callable[[DesignAnswer], str]) -> list[DesignAnswer]:
    found: dict[str, DesignAnswer] = {}
    for design in designs:
        found.setdefault(key(design), design)
    return list(found.values())


def _fabric(evaluated: EvaluatedDesign) -> FabricChoice | None:
    result = evaluated.result
    design, platform = result.design, result.design.platform
    net = next((one for one in design.quantities.networks if one.role is NetworkRole.COMPUTE), None)
    if design.n_servers < 2 or net is None or platform.has_replicas_apart:
        return None
    is_shared = platform.storage.kind != "local"
    reads = _read_bytes_per_s(design) / design.n_servers if is_shared else 0.0
    # Terms that are fitted to runs on fast networks do not say what a slow one would hide.
    exchanges = [
        (model, size) for model in evaluated.workloads if (size := step_exchange_bytes(model.work)) is not None
    ]
    comparable = [model for model, _ in exchanges if not model.exchange_is_in_step]
    slower = [
        _link_option(kind, evaluated, reads, max(usual_ports(platform.server.ports, kind), 1))
        for kind in usual_links(evaluated.catalog)
        if kind.gbit_per_s.value < platform.fabric.gbit_per_s.value
    ]
    n_ports = fabric_ports(platform.server.ports, platform.fabric)
    networks = (stage for answer in design.workloads for stage in answer.stages if stage.key == "network")
    network = max(networks, key=lambda stage: stage.load_fraction)
    # Where each GPU has a port of its own, fewer of them are another design.
    is_open = net.rails == 1 and n_ports < platform.gpus_per_server
    slower += [
        _link_option(platform.fabric, evaluated, reads, fewer, _switches_of(net, evaluated, fewer))
        for fewer in (1, 2)
        if is_open and fewer < n_ports
    ]
    return FabricChoice(
        is_only_allowed=len(result.request.platforms.fabrics) == 1,
        kind=platform.fabric,
        n_ports=n_ports,
        read_bytes_per_s=reads,
        gradient_bytes=max((size for _, size in exchanges), default=None),
        exposed_share=max((layout.layout.step_shares[EXPOSED] for layout in design.layouts), default=None),
        network_fraction=network.load_fraction,
        network_part=network.reason.decided_by if isinstance(network.reason, NetworkReason) else NetworkPart.SERVERS,
        n_switches=int(net.leaves[0] + net.spines[0] + net.cores[0]),
        oversubscription=float(net.oversubscription[0]) if int(net.spines[0]) else 1.0,
        slower=tuple(slower) if comparable else (),
        carries_reads=all(one.purpose.kind is not PlanNoteKind.FILES for one in design.quantities.networks),
    )


def _switches_of(net: Network, evaluated: EvaluatedDesign, n_ports: int) -> int:
    """Switches of a fabric that each server joins with so many ports."""
    design = evaluated.result.design
    spared = design.n_servers * (fabric_ports(design.platform.server.ports, design.platform.fabric) - n_ports)
    asked = FabricAsked(end_points=int(net.end_points[0]) - spared, switch=net.switch)
    return single_fabric(asked, evaluated.catalog).switches


def _link_option(
    kind: LinkType, evaluated: EvaluatedDesign, reads: float, n_ports: int, n_switches: int | None = None
) -> LinkOption:
    """What so many links for each server would do to the workloads; ``reads``: of each server. [B/s]"""
    design = evaluated.result.design
    place = min(design.n_servers, MAX_SERVERS) - 1
    losses = [
        (answer, float(exchange_loss(model, kind, design.platform.fabric, n_ports)[place]))
        for answer, model in zip(design.workloads, evaluated.workloads, strict=True)
        if not model.work.is_inference and not model.exchange_is_in_step
    ]
    return LinkOption(
        kind,
        reads / kind.bytes_per_s / n_ports,
        max((loss for _, loss in losses), default=0.0),
        any(_misses(answer, loss) for answer, loss in losses),
        n_ports,
        n_switches,
    )


def _misses(answer: WorkloadAnswer, lost_fraction: float) -> bool:
    """Whether the median of a workload that loses so much of its rate is below its target, and was not before."""
    target, kept = answer.workload.target, 1 - lost_fraction
    if target.samples_per_s is not None:
        rate = float(answer.throughput.value)
        return rate >= target.samples_per_s > rate * kept
    if target.time_to_train_s is not None and answer.time is not None:
        time = float(answer.time.total_s.value)
        return time <= target.time_to_train_s < time / kept
    return False


def rack_choice(design: DesignAnswer, rack_power_w: float | None = None) -> RackChoice:
    """What decides the number of racks: what one rack may draw, or the rack units.

    The least number for the power is the maximum draw over what a rack may draw: what its feeds carry after a loss, or
    ``rack_power_w`` of the request where that is less. For the units it is those in use over those of a rack.
    """
    delivered = [rack for rack in design.plan.racks if rack.is_delivered]
    racks = [rack for rack in design.plan.racks if not rack.is_delivered] or delivered
    # Racks of less power have fewer PDUs; the most that one carries is what another rack could carry, too.
    feed_w = max(rack.feed_capacity_w for rack in racks)
    rack_w = min((watts for watts in (feed_w, rack_power_w) if watts), default=0.0)
    there = [rack for rack in racks if rack.is_existing]
    power_w = sum(rack.max_w for rack in racks)
    used = sum(device.height_u for rack in racks for device in rack.devices)
    units = max(rack.height_u for rack in racks)
    for_power = math.ceil(power_w / rack_w) if rack_w > 0 and not there else None
    for_units = math.ceil(used / units)
    limit = RackLimit.PLACEMENT
    if len(racks) == 1:
        limit = RackLimit.ONE
    elif for_power is not None and for_power == len(racks) and for_power > for_units:
        limit = RackLimit.POWER
    elif for_units == len(racks):
        limit = RackLimit.UNITS
    return RackChoice(
        limit=limit,
        n_racks=len(racks),
        n_for_power=for_power,
        n_for_units=for_units,
        power_w=power_w,
        has_unknown_power=any(rack.has_unknown_power for rack in racks),
        feed_w=feed_w,
        rack_w=rack_w,
        used_units=used,
        free_units=sum(len(rack.empty_units) for rack in racks),
        units_per_rack=units,
        n_delivered=len(delivered) if racks is not delivered else 0,
        feeds=design.platform.site.feeds,
        n_existing=len(there),
        existing_units=sum(device.height_u for rack in there for device in rack.devices),
        existing_w=sum(rack.max_w for rack in there),
        n_packed=packed_racks(design.plan),
    )


def speed_up(design: DesignAnswer, base: DesignAnswer) -> float:
    """Rate of the first workload over that of another design, or its time to train under that: medians. [-]"""
    one, other = design.workloads[0], base.workloads[0]
    if one.time is not None and other.time is not None and one.workload.target.time_to_train_s is not None:
        return float(other.time.total_s.value / one.time.total_s.value)
    return float(one.throughput.value / other.throughput.value)


def with_bills(selection: Selection, designs: Sequence[DesignAnswer]) -> Selection:
    """A choice by cost with the finished designs that cost less than the first one.

    ``designs``: platforms shown. Those that depend on more unknown facts than the first are left out.

    Compared are the bills, or the costs of ownership, at the confidence of the request: with the cables of the plan,
    all known prices and the changes of the quote.
    """
    if selection.kind not in (SelectionKind.CHEAPEST, SelectionKind.LIKELY_CHEAPEST):
        return selection
    is_owned = selection.years is not None

    def unknown(design: DesignAnswer) -> int:
        return 2 * bool(design.conditional_on) + (is_owned and bool(design.quantities.unknown_power))

    costs = [design.ownership if is_owned else design.cost for design in designs]
    amounts = {
        index: round(cost.at_confidence, 2)
        for index, (design, cost) in enumerate(zip(designs, costs, strict=True))
        if cost is not None and unknown(design) <= unknown(designs[0])
    }
    less = [place for place, amount in amounts.items() if amount < amounts.get(0, 0.0)]
    return replace(selection, less_on_bill=tuple(sorted(less, key=lambda place: amounts[place])))


def open_between(part: Bill, other: Bill) -> tuple[str, ...]:
    """Items without a price whose number differs between two bills: their prices could reverse the comparison."""
    counts: list[dict[str, int]] = [{}, {}]
    for bill, count in zip((part, other), counts, strict=True):
        for line in bill.bought:
            if line.extended_net is None:
                name = line.item or line.description
                count[name] = count.get(name, 0) + line.quantity
    first, second = counts
    return tuple(name for name in dict.fromkeys([*first, *second]) if first.get(name, 0) != second.get(name, 0))


def cost_difference(
    design: DesignAnswer, base: DesignAnswer, request: SizingRequest, catalog: Catalog
) -> CostDifference:
    """What a design costs more than another, by the cost intervals that rank designs.

    Amounts of a bill, discounts and prices of the quote included, stand as they are; lines of the quote's own are the
    same in both bills. Where the bills are in a currency without bands and a main item has no price, the parts of both
    are compared in the currency of the bands.
    """
    book = prices_for(request, catalog)
    currency = ranking_currency(request, (design.platform, base.platform), book)
    # Known prices of cables count where both bills hold them.
    small = () if currency == request.currency else SMALL
    prices = unit_prices(catalog, book, currency, heights_of(request.confidence), small)
    one, other = (_order(each, prices, is_of_bill=currency == request.currency) for each in (design, base))
    return difference(one, other, prices)


def _order(design: DesignAnswer, prices: UnitPrices, *, is_of_bill: bool) -> PricedOrder:
    if not is_of_bill:
        return PricedOrder.of_parts(design.platform, design.quantities.bought, prices)
    lines = design.bill.bought
    amounts = line_amounts(design.bill, design.platform, prices)
    return PricedOrder.of(design.platform, (line.item for line in lines), (line.quantity for line in lines), amounts)
