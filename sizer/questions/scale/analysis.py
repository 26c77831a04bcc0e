"""Scale-up compared with scale-out: the same GPUs in fewer, larger servers or in more, smaller ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Literal

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.estimate import Estimate
from sizer.base.quantities import grouped
from sizer.bom.prices import prices_for
from sizer.calibrate.calibration import Calibration, Draws, streams
from sizer.catalog.labels import item_name, with_vendor
from sizer.catalog.model import Catalog
from sizer.catalog.sale import as_sold_as, era_of
from sizer.catalog.schema import Gpu, Server
from sizer.perf.training_step import TrainingRun
from sizer.physical.allowed_parts import fits_era
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.notes import ViolationKind
from sizer.physical.platform import Platform
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities
from sizer.sizing.constraints.tiers import with_tier_of
from sizer.sizing.customer_copy import not_offered
from sizer.sizing.design.evaluate_design import design_answer
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.reasons import Binding, BindingKind
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.sizing.search.feasibility import MAX_SERVERS, design_space, evaluate_space
from sizer.sizing.search.posterior import DrawnServers
from sizer.sizing.stages.gpu_memory import all_fit, resolved
from sizer.sizing.stages.platform_columns import ServerRows, columns, compute_groups
from sizer.sizing.stages.workload_run import run_on
from sizer.workload.request import Platforms, SizingRequest, Target
from sizer.workload.resolve import ResolvedWorkload

# "design": servers of the described kind, as full as the number of GPUs allows; "spread": more of them, each with
# fewer GPUs in use; "other": servers of another kind, full.
ArrangementKind = Literal["design", "spread", "other"]

# Published tests spread eight GPUs over one, two and four servers (weka-scaling-2019): halved twice.
_HALVINGS = 2
# GPUs whose peaks with mixed precision differ by no more are of one class: all forms of the V100 lie within a quarter
# of one another, a P100 reaches a sixth of theirs.
_SAME_CLASS = 0.25


@dataclass(frozen=True)
class Arrangement:
    """So many servers of one kind, of which the job uses so many GPUs each."""

    kind: ArrangementKind
    platform: Platform
    n_servers: int
    gpus_used: int  # of each server
    is_allowed: bool  # whether the request allows its parts; others are compared as well, and marked

    @property
    def n_gpus(self) -> int:
        """GPUs that the job uses."""
        return self.n_servers * self.gpus_used

    @property
    def name(self) -> str:
        """'4 × NVIDIA DGX-1', '8 × NVIDIA DGX-1 (4 of 8 GPUs used)', '4 × Dell EMC DSS 8440 (8 GPUs each)'."""
        server = self.platform.server
        servers = f"{grouped(self.n_servers)} × {with_vendor(server)}"
        if not self.is_full:
            return f"{servers} ({self.gpus_used} of {self.platform.gpus_per_server} GPUs used)"
        return f"{servers} ({self.gpus_used} GPUs each)" if server.n_gpus_choices else servers

    @property
    def is_full(self) -> bool:
        """Whether no GPU is idle."""
        return self.gpus_used == self.platform.gpus_per_server


@dataclass(frozen=True)
class ExcludedServer:
    """A kind of server that is not compared, and why, in a sentence."""

    name: str
    reason: str


def gpus_used(request: SizingRequest, platform: Platform) -> int:
    """GPUs of each server of a platform that a request's job uses."""
    return min(request.platforms.gpus_per_server or platform.gpus_per_server, platform.gpus_per_server)


def arrangements(
    request: SizingRequest, design: DesignAnswer, n_gpus: int, catalog: Catalog
) -> tuple[tuple[Arrangement, ...], tuple[ExcludedServer, ...]]:
    """Arrangements of a number of GPUs, and the kinds of server that are excluded.

    ``design``: its servers come first; other servers use its storage and fabric where they can connect to them.
    ``n_gpus``: GPUs of every arrangement. ``arrangements``: the design's kind of server as full as the number allows,
    the same spread over more servers, then the other orderable kinds in the order of the catalogue, which is not a
    ranking. ``excluded``: in the same order.
    """
    own = design.platform
    most = gpus_used(request, own)
    used = next(count for count in range(min(most, n_gpus), 0, -1) if n_gpus % count == 0)
    found: list[Arrangement | ExcludedServer] = [
        _sized(Arrangement("design", own, n_gpus // used, used, is_allowed=True))
    ]
    for _ in range(_HALVINGS):
        if used % 2 or used <= 2:
            break
        used //= 2
        found.append(_sized(Arrangement("spread", own, n_gpus // used, used, is_allowed=True)))
    era = era_of(catalog, own.server)
    for server in as_sold_as(catalog, catalog.servers.values(), own.server, request.date):
        if server.role != "gpu" or not fits_era(era_of(catalog, server), era):
            continue
        if server.id != own.server.id:
            others = _others(request, own, server, n_gpus, catalog)
            if design.bill.is_customer_copy:
                # A customer reads of no parts that the request excludes.
                if not _server_is_allowed(request, server):
                    continue
                others = (one for one in others if isinstance(one, ExcludedServer) or one.is_allowed)
            found += others
    return (
        tuple(one for one in found if isinstance(one, Arrangement)),
        tuple(one for one in found if isinstance(one, ExcludedServer)),
    )


def is_same_host(one: Server, other: Server) -> bool:
    """Whether two servers are the same host sold with GPUs of another form: all that feeds the GPUs is equal."""

    def host(server: Server) -> tuple[object, ...]:
        facts = (server.height_u, server.n_gpus, server.cpu, server.n_cpus, server.memory_bytes)
        ports = tuple((port.kind, port.count, port.use) for port in server.ports)
        return (server.vendor, *(fact and fact.value for fact in facts), ports)

    return host(one) == host(other)


def _sized(arrangement: Arrangement) -> Arrangement | ExcludedServer:
    """The arrangement, unless it is larger than any that the search considers."""
    if arrangement.kind == "design" or arrangement.n_servers <= MAX_SERVERS:
        return arrangement
    name = f"{grouped(arrangement.n_servers)} × {with_vendor(arrangement.platform.server)}"
    return ExcludedServer(name, f"More than {MAX_SERVERS} servers would be needed.")


def _others(
    request: SizingRequest, own: Platform, server: Server, n_gpus: int, catalog: Catalog
) -> Iterator[Arrangement | ExcludedServer]:
    if server.id in request.platforms.forbidden_servers:
        yield ExcludedServer(with_vendor(server), "Excluded by the request.")
        return
    gpu = _gpu_for(server, own.gpu, catalog)
    if gpu is None:
        yield ExcludedServer(with_vendor(server), f"It supports no GPU of the class of {with_vendor(own.gpu)}.")
        return
    storage = server.local_storage if own.storage.kind == "local" else own.storage.id
    if storage is None:
        yield ExcludedServer(with_vendor(server), "Its local drives are not published.")
        return
    options = _options(request, own, server, gpu, storage, catalog)
    if not options:
        yield ExcludedServer(with_vendor(server), f"It cannot connect to {item_name(storage, catalog)}.")
        return
    full = [option for option in options if n_gpus % option.gpus_per_server == 0]
    if not full:
        sizes = " or ".join(grouped(option.gpus_per_server) for option in options)
        yield ExcludedServer(with_vendor(server), f"{grouped(n_gpus)} GPUs do not fill servers of {sizes}.")
    for option in full:
        asked = request.platforms
        allowed = (
            _server_is_allowed(request, option.server)
            and (not asked.gpus or option.gpu.id in asked.gpus)
            and (not asked.storage or option.storage.id in asked.storage)
            and asked.storage_tier in (None, option.storage.tier)
            and (not asked.fabrics or option.fabric.id in asked.fabrics)
        )
        yield _sized(
            Arrangement("other", option, n_gpus // option.gpus_per_server, option.gpus_per_server, is_allowed=allowed)
        )


def _gpu_for(server: Server, like: Gpu, catalog: Catalog) -> Gpu | None:
    """The GPU of a server that is most like another: itself, else one of its class, with memory as near as can be."""
    if like.id in server.gpus:
        return like

    def distance(gpu: Gpu) -> float:
        return abs(gpu.memory_bytes.value - like.memory_bytes.value)

    peak = like.peak_mixed_flop_per_s.value
    similar = [
        gpu
        for gpu in (catalog.gpus[name] for name in server.gpus)
        if abs(gpu.peak_mixed_flop_per_s.value / peak - 1) <= _SAME_CLASS
    ]
    return min(similar, key=distance, default=None)


def _options(
    request: SizingRequest, own: Platform, server: Server, gpu: Gpu, storage: str, catalog: Catalog
) -> list[Platform]:
    """Platforms of a server with one storage: on the design's fabric where it connects to it, else on its fastest."""
    own_memory = None if own.host_memory is None else own.host_memory.memory_bytes.value
    memory = own_memory if server.id == own.server.id and own_memory else request.platforms.host_memory_bytes
    for fabrics in ((own.fabric.id,), ()):
        asked = Platforms(
            servers=(server.id,), gpus=(gpu.id,), storage=(storage,), fabrics=fabrics, host_memory_bytes=memory
        )
        try:
            found: Sequence[Platform] = platforms(
                catalog,
                request.model_copy(update={"platforms": asked}),
                alone=own.gpus_per_server in server.n_gpus_alone,
            )
        except (InfeasibleError, RequestError):  # parts that cannot be connected, or that the catalogue no longer holds
            continue
        found = with_tier_of(own, found, catalog)
        if not found:
            continue
        # The drives of the design; of several fabrics the fastest comes first.
        same = [one for one in found if one.capacity_option == own.capacity_option and one.storage.id == own.storage.id]
        return list({one.gpus_per_server: one for one in reversed(same or found)}.values())[::-1]
    return []


def _server_is_allowed(request: SizingRequest, server: Server) -> bool:
    asked = request.platforms
    return (not asked.servers or server.id in asked.servers) and server.id not in asked.forbidden_servers


@dataclass(frozen=True)
class StepBreakdown:
    """Times of a training step at the medians. [s]

    ``inside_s`` and ``between_s`` are the whole exchange, hidden or not; the other four add up to the step.
    """

    compute_s: float
    inside_s: float
    between_s: float
    exposed_s: float  # exchange that computation does not hide
    waiting_s: float  # of the GPUs for the slowest one
    data_s: float  # for host decode, network or storage

    @property
    def exchange_s(self) -> float:
        """The whole gradient exchange."""
        return self.inside_s + self.between_s

    @property
    def step_s(self) -> float:
        """The whole step."""
        return self.compute_s + self.exposed_s + self.waiting_s + self.data_s


def request_of(request: SizingRequest, one: Arrangement) -> SizingRequest:
    """The request on so many GPUs of each server."""
    only = request.platforms.model_copy(update={"gpus_per_server": None if one.is_full else one.gpus_used})
    return request.model_copy(update={"platforms": only})


@dataclass(frozen=True)
class DrawnRates:
    """One workload on one arrangement in every draw."""

    run: TrainingRun | None  # None for inference
    terms: Floats
    samples_per_s: Floats  # (draws,)
    equipment: tuple[object, ...]  # all that the models know of GPUs, links and their numbers

    def breakdown(self, answer: WorkloadAnswer) -> StepBreakdown | None:
        """Times of a step; what storage, network and host decode take from the median rate is waiting for data."""
        if self.run is None:
            return None
        times = self.run.times(self.terms)
        compute_s, exposed_s, waiting_s = (
            float(part.flat[0]) for part in (times.compute_s, times.exposed_s, times.waiting_s)
        )
        step_s = float(self.run.samples.flat[0]) / float(answer.throughput.value)
        return StepBreakdown(
            compute_s=compute_s,
            inside_s=float(times.inside_s.flat[0]),
            between_s=float(times.between_s.flat[0]),
            exposed_s=exposed_s,
            waiting_s=waiting_s,
            data_s=max(step_s - compute_s - exposed_s - waiting_s, 0.0),
        )


def drawn_estimates(
    request: SizingRequest,
    work: ResolvedWorkload,
    one: Arrangement,
    design: DesignAnswer,
    catalog: Catalog,
    draws: Draws,
) -> DrawnRates:
    """A workload on an arrangement under the draws; ``design`` has the storage and the gateway."""
    gateway = float(design.quantities.gateway_bytes_per_s[0])
    platforms = [one.platform]
    run = run_on(
        request_of(request, one),
        work,
        one.platform,
        [one.n_servers],
        design.storage_nodes,
        gateway,
        catalog,
        draws.calibration,
    )
    one_size = (slice(None), None)
    cols, comp = run.cols.shaped((-1, 1)), run.comp.take(one_size)
    drawn = DrawnServers.of(work, platforms, one.platform, comp, cols, run.servers[one_size], draws, catalog)
    servers = drawn.compute()
    # Storage and network are the same system in all arrangements: their uncertainty does not affect the comparison.
    stages = replace(run.warm, gpu=servers.gpu, decode=servers.decode, host_link=servers.host_link)
    (group,), _ = compute_groups(platforms)
    equipment = (group.gpu, work.stack.id, group.intra_link, group.fabric.id, one.gpus_used, one.n_servers)
    steps = drawn.run if isinstance(drawn.run, TrainingRun) else None
    return DrawnRates(steps, drawn.terms.values, stages.slowest.ravel(), equipment)


# More GPUs than any published cluster of these parts has (1,536) several times over; a larger number is a slip.
MAX_GPUS = 10_000
# Storage that is resized feeds the GPUs at full utilization with this probability, whatever the request asks for.
_STORAGE_CONFIDENCE = 0.9
# Draws with which two arrangements are compared: the ends of their ratio's interval are then known to half a percent.
_DRAWS = 2_000
_SEED = 0
# Rates nearer than this are equal. [-]
_EQUAL = 1e-9


@dataclass(frozen=True)
class ArrangementRun:
    """One workload on one arrangement."""

    answer: WorkloadAnswer
    step: StepBreakdown | None  # None for inference, which exchanges no gradients
    drawn_samples_per_s: Floats = field(repr=False, compare=False)  # rate in every draw
    equipment: tuple[object, ...] = ()  # as of ``DrawnRates``

    def over(self, other: "ArrangementRun", scale: float = 1.0) -> Estimate:
        """Rate over that of another run, times ``scale``: of the medians, with the 90 % interval over the draws.

        Without an interval where the models know no difference: equal equipment at an equal rate.
        """
        value = float(self.answer.throughput.value) / float(other.answer.throughput.value)
        if self.equipment == other.equipment and abs(value - 1) < _EQUAL:
            return Estimate.exact(scale)
        low, high = (
            float(end) for end in np.quantile(self.drawn_samples_per_s / other.drawn_samples_per_s, (0.05, 0.95))
        )
        return Estimate(
            np.asarray(scale * value), np.asarray(scale * min(low, value)), np.asarray(scale * max(high, value))
        )


@dataclass(frozen=True)
class ArrangedDesign:
    """One arrangement as a whole design."""

    arrangement: Arrangement
    design: DesignAnswer
    runs: tuple[ArrangementRun, ...]  # of every workload

    @property
    def n_gpus(self) -> int:
        """GPUs in use."""
        return self.arrangement.n_gpus

    @property
    def rack_units(self) -> float:
        """Rack units of the whole design, network and storage included. [U]"""
        return float(self.design.quantities.rack_units[0])

    @property
    def power_low_w(self) -> float:
        """Lower end of the draw of all that has a published one. [W]"""
        return float(self.design.quantities.power_low_w[0])

    @property
    def power_max_w(self) -> float:
        """Upper end of the same. [W]"""
        return float(self.design.quantities.power_max_w[0])

    @property
    def has_unknown_power(self) -> bool:
        """Whether a device has no published upper end: both ends then read "at least"."""
        return bool(self.design.quantities.unknown_power)

    @property
    def n_switches(self) -> int:
        """Switches and gateways of all networks."""
        return self.design.quantities.n_switches

    @property
    def n_ports(self) -> int:
        """Ports used on the switches and end points of the compute fabric and the other networks."""
        return sum(int(net.ports_used[0]) for net in self.design.quantities.networks)

    @property
    def n_cables(self) -> int:
        """Cables of all networks."""
        return self.design.plan.n_links


@dataclass(frozen=True)
class ArrangementPair:
    """Two arrangements, the second compared with the first."""

    first: ArrangedDesign
    second: ArrangedDesign

    @cached_property
    def rate_ratios(self) -> tuple[Estimate, ...]:
        """Of every workload: rate of the second over that of the first, in the same draws. [-]"""
        return tuple(two.over(run) for run, two in zip(self.first.runs, self.second.runs, strict=True))


@dataclass(frozen=True)
class EqualGpuComparison:
    """One number of GPUs in all its arrangements."""

    n_gpus: int
    designs: tuple[ArrangedDesign, ...]
    excluded: tuple[ExcludedServer, ...]
    storage_nodes: int  # the same in all arrangements on this storage; 0 for local drives and NFS servers
    storage_is_sized: bool  # False: that of the design, which is no bottleneck
    form_pairs: tuple[ArrangementPair, ...]  # the same host with SXM2 modules and, second, with PCIe cards

    @property
    def first(self) -> ArrangedDesign:
        """The arrangement that the others are compared with."""
        return self.designs[0]

    @property
    def pairs(self) -> tuple[ArrangementPair, ...]:
        """The first arrangement against each of the others."""
        return tuple(ArrangementPair(self.first, way) for way in self.designs[1:])


@dataclass(frozen=True)
class ScalingStep:
    """Scaling efficiency from fewer to more servers of the same kind."""

    few: ArrangedDesign
    many: ArrangedDesign
    efficiency: tuple[Estimate, ...]  # of every workload: rate per GPU among the many over that among the few [-]


@dataclass(frozen=True)
class ScaleComparison:
    """The comparison, one entry a number of GPUs."""

    comparisons: tuple[EqualGpuComparison, ...]

    @cached_property
    def scaling_steps(self) -> tuple[ScalingStep, ...]:
        """From each number of GPUs to the next larger one, where the same servers are used to the same degree."""
        firsts = sorted((comparison.first for comparison in self.comparisons), key=lambda way: way.n_gpus)
        return tuple(
            ScalingStep(
                few,
                many,
                tuple(two.over(run, few.n_gpus / many.n_gpus) for run, two in zip(few.runs, many.runs, strict=True)),
            )
            for few, many in pairwise(firsts)
            if few.arrangement.gpus_used == many.arrangement.gpus_used
        )

    @cached_property
    def has_training(self) -> bool:
        """Whether any workload exchanges gradients."""
        return any(run.step is not None for same in self.comparisons for way in same.designs for run in way.runs)


def scale_comparison(
    evaluated: EvaluatedDesign, n_gpus: int | Sequence[int] | None = None, *, only_allowed: bool = False
) -> ScaleComparison:
    """The same number of GPUs arranged in servers of several kinds and numbers.

    Every number comes from the models that size clusters
    (:func:`~sizer.sizing.design.evaluate_design.design_answer`). Storage is the same in all arrangements: that of the
    design where it is no bottleneck of a full server, else as many nodes as the servers that read most need. Idle GPUs
    of half-used servers are included in rack units, watts and price. Ratios of rates come from 2,000 draws of the
    calibration in which both arrangements share every parameter, so that they are far better known than the rates; the
    seed is fixed.

    ``evaluated``: the servers, storage and fabric of its design come first in the comparison. ``n_gpus``: GPUs of the
    arrangements, 2 to 10,000; default: those that the design uses. [-] ``only_allowed``: without parts that the request
    excludes. Raises RequestError if a number of GPUs is out of range, or servers of the design's kind with so many do
    not hold the networks.
    """
    counts = [job_gpus(evaluated.result)] if n_gpus is None else [n_gpus] if isinstance(n_gpus, int) else list(n_gpus)
    for count in counts:
        if isinstance(count, bool) or not 1 <= count <= MAX_GPUS:
            raise RequestError(f"the number of GPUs is {count}; allowed are 1 to {MAX_GPUS}")
    draws = Draws(evaluated.calibration, _DRAWS, streams(_SEED))
    return ScaleComparison(
        tuple(_comparison(evaluated, count, draws, only_allowed=only_allowed) for count in dict.fromkeys(counts))
    )


def _comparison(evaluated: EvaluatedDesign, n_gpus: int, draws: Draws, *, only_allowed: bool) -> EqualGpuComparison:
    result, catalog = evaluated.result, evaluated.catalog
    possible, excluded = arrangements(result.request, result.design, n_gpus, catalog)
    possible = tuple(one for one in possible if one.is_allowed or not only_allowed)
    works = resolved(result.request, catalog, draws.calibration)
    arranged = [one for one in possible if _fits(result.request, one, works, catalog, draws.calibration)]
    if possible[0] not in arranged:
        raise RequestError(
            f"{possible[0].name}: too little GPU memory for the networks of the request; choose more GPUs"
        )
    excluded += tuple(
        ExcludedServer(one.name, "Its GPUs do not hold every network of the request.")
        for one in possible
        if one not in arranged
    )
    nodes = result.design.storage_nodes
    is_sized = result.design.storage_nodes > 0 and n_gpus != job_gpus(result)
    if is_sized:
        nodes = _nodes_needed(result.request, arranged, catalog, draws.calibration)
    designs = [_design(result, one, nodes, works, catalog, draws.calibration) for one in arranged]
    is_storage_bound = any(
        one.kind != "spread" and any(answer.bottleneck in ("storage", "network") for answer in of.workloads)
        for one, of in zip(arranged, designs, strict=True)
    )
    if result.design.storage_nodes and not is_sized and is_storage_bound:
        is_sized, nodes = True, max(nodes, _nodes_needed(result.request, arranged, catalog, draws.calibration))
        designs = [_design(result, one, nodes, works, catalog, draws.calibration) for one in arranged]
    drawn = [
        [
            drawn_estimates(result.request, work, one, design, catalog, draws)
            for one, design in zip(arranged, designs, strict=True)
        ]
        for work in works
    ]
    ways = tuple(
        ArrangedDesign(
            arrangement=one,
            design=_told(result, design),
            runs=tuple(
                ArrangementRun(answer, rates.breakdown(answer), rates.samples_per_s, rates.equipment)
                for answer, rates in zip(design.workloads, (of_work[index] for of_work in drawn), strict=True)
            ),
        )
        for index, (one, design) in enumerate(zip(arranged, designs, strict=True))
    )
    forms = tuple(
        ArrangementPair(ways[one], ways[other])
        for one, other in product(range(len(ways)), repeat=2)
        if _is_form_pair(arranged[one], arranged[other])
    )
    return EqualGpuComparison(n_gpus, ways, excluded, nodes, is_sized, forms)


def _fits(
    request: SizingRequest,
    arrangement: Arrangement,
    works: Sequence[ResolvedWorkload],
    catalog: Catalog,
    calibration: Calibration,
) -> bool:
    """Whether the GPUs of an arrangement hold every workload: one that they do not hold has no rate to compare."""
    cols = columns([arrangement.platform], catalog, request_of(request, arrangement).platforms.gpus_per_server)
    hosts = ServerRows([arrangement.platform], cols, np.array([arrangement.n_servers]), catalog, calibration)
    return bool(all_fit(works, hosts).all())


def _is_form_pair(arrangement: Arrangement, other: Arrangement) -> bool:
    forms = tuple(of.platform.gpu.form_factor.value for of in (arrangement, other))
    is_like = arrangement.is_full and other.is_full and arrangement.n_servers == other.n_servers
    return (
        is_like
        and forms[0] != "pcie"
        and forms[1] == "pcie"
        and is_same_host(arrangement.platform.server, other.platform.server)
    )


def job_gpus(result: SizingResult) -> int:
    """GPUs of a design that a request's job uses."""
    return result.design.n_servers * gpus_used(result.request, result.design.platform)


def _nodes_needed(
    request: SizingRequest, arranged: Sequence[Arrangement], catalog: Catalog, calibration: Calibration
) -> int:
    """Storage nodes with which every arrangement uses its GPUs fully, or the most that the system or a network has.

    Half-used servers do not count: validation runs faster on more hosts, and all rows would get more storage for it.
    """
    most = 0
    for one in arranged:
        if one.kind == "spread" or one.platform.storage.id != arranged[0].platform.storage.id:
            continue
        target = Target(gpus_busy=one.n_gpus)
        wanted = request_of(request, one).model_copy(
            update={
                "confidence": max(request.confidence, _STORAGE_CONFIDENCE),
                "workload": tuple(work.model_copy(update={"target": target}) for work in request.workload),
            }
        )
        works = resolved(wanted, catalog, calibration)
        space = design_space(1, one.n_servers, one.n_servers)
        evaluated = evaluate_space(wanted, works, [one.platform], space, catalog, calibration)
        most = max(most, int(evaluated.storage_nodes[0]))
    alike = [one for one in arranged if one.platform.storage.id == arranged[0].platform.storage.id]
    return min(_connected_nodes(request, one, most, catalog) for one in alike) if most else 0


def _connected_nodes(request: SizingRequest, arrangement: Arrangement, nodes: int, catalog: Catalog) -> int:
    """So many storage nodes, or the most that the networks of an arrangement connect."""
    numbers = np.arange(nodes, 0, -nodes_per_unit(arrangement.platform.storage))
    found = quantities(
        arrangement.platform.of_size(arrangement.n_servers),
        np.full(numbers.shape, arrangement.n_servers),
        numbers,
        catalog=catalog,
        limits=request.limits,
        existing=request.existing,
        fabric=request.fabric,
    )
    too_large = [rows for rule, rows in found.violations.items() if rule.kind is ViolationKind.TREE_TOO_LARGE]
    fits = ~np.any(too_large, axis=0)
    return int(np.where(fits, numbers, 0).max()) or nodes


def _design(
    result: SizingResult,
    arrangement: Arrangement,
    nodes: int,
    works: Sequence[ResolvedWorkload],
    catalog: Catalog,
    calibration: Calibration,
) -> DesignAnswer:
    design = result.design
    is_same = (arrangement.kind, arrangement.n_servers, nodes) == ("design", design.n_servers, design.storage_nodes)
    if is_same and arrangement.gpus_used == gpus_used(result.request, arrangement.platform):
        return design
    return design_answer(
        request_of(result.request, arrangement),
        works,
        arrangement.platform,
        arrangement.n_servers,
        nodes if arrangement.platform.storage.id == design.platform.storage.id else 0,
        catalog,
        calibration,
        prices_for(result.request, catalog),
        Binding(BindingKind.NONE),
        is_documented=False,
    )


def _told(result: SizingResult, design: DesignAnswer) -> DesignAnswer:
    """The design; a customer's copy has prices of the offer only."""
    is_shown = design is result.design or not result.design.bill.is_customer_copy
    return design if is_shown else not_offered(design)
