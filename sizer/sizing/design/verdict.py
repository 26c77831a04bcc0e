"""What a design asks of a cluster, whether one is needed, and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.fabrics import joining
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.platform import Platform
from sizer.sizing import reasons
from sizer.sizing.checks import CheckResult
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.result import DesignAnswer, SizingResult, Verdict
from sizer.sizing.stages import evaluate, gpu_side
from sizer.sizing.stages.gpu_side import GpuRates
from sizer.sizing.stages.platform_columns import Columns, ServerRows, columns, node_read_rate, rate_is_unknown
from sizer.workload.request import ranks_by_cost

# Links that a customer's network has anyway, the slower first.
_USUAL_LINKS = ("10gbe", "25gbe")
# Sizes up to which the gradient exchange over two networks is compared: beyond it no published run lies.
MAX_SERVERS = 64
# A faster fabric pays from this share of the rate on: less is hardly visible within the 90 % interval of a rate.
LEAST_FABRIC_LOSS = 0.05


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
    one, other = (_gpu_rate(model, platform, servers) for platform in networks)
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
    rates = _rates(model, _on_network(model.platform, kind, n_ports), np.array([n_servers]))
    return step_samples(model, n_servers) / float(rates.exchange[0])


def step_samples(model: WorkloadOnDesign, n_servers: int) -> float:
    """Samples of one step of a training on so many servers."""
    return float(model.run.cols.gpus_per_server[0]) * n_servers * model.work.batch_per_gpu


def _gpu_rate(model: WorkloadOnDesign, platform: Platform, servers: Ints) -> Floats:
    """Median rate of the GPUs with the exchange that is not hidden, on some numbers of servers. [samples/s]"""
    return _rates(model, platform, servers).gpu.median


def _rates(model: WorkloadOnDesign, platform: Platform, servers: Ints) -> GpuRates:
    cols = _columns(model, platform, servers)
    return gpu_side.step_rates(model.work, ServerRows([platform], cols, servers, model.catalog, model.calibration))


def _columns(model: WorkloadOnDesign, platform: Platform, servers: Ints) -> Columns:
    found = columns([platform], model.catalog, model.request.platforms.gpus_per_server)
    return found.take(np.zeros(servers.size, dtype=np.int64))


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
        if answer.time is not None and answer.recipe is not None:
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
