"""Evaluates every design of the space: the storage nodes it needs, how it runs, which limits its stages break.

Parts are counted later, and only where it matters (``part_counts``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Bools, Floats, Ints, Rows
from sizer.base.streams import pause_point
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.perf import pipeline
from sizer.perf.stage_capacity import throughput_quantile
from sizer.perf.training_time import training_time_s
from sizer.physical import capacity
from sizer.physical.platform import Platform
from sizer.sizing.checks import COMPUTE_LIMITS, LOSS_LIMITS, STAGE_LIMITS, AnyLimit, Limit
from sizer.sizing.constraints.remaining_capacity import AfterLoss, after_losses
from sizer.sizing.constraints.stored_data import lacks_shared_storage, storage_demand
from sizer.sizing.constraints.team_limits import TeamLimits, team_limits
from sizer.sizing.constraints.tiers import needed_of
from sizer.sizing.stages import compute_side, evaluate, gpu_memory
from sizer.sizing.stages.checkpoints import write_demands_matter
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.gpu_memory import MemoryOfWorkload
from sizer.sizing.stages.joint_targets import NOTHING_KNOWN, RATE_LIMITS, JointTargets, Known
from sizer.sizing.stages.laid_out_models import lacks_rate
from sizer.sizing.stages.own_networks import operators_are_unknown
from sizer.sizing.stages.platform_columns import (
    Columns,
    ServerRows,
    capacity_is_unknown,
    columns,
    fabric_shares,
    is_narrowed,
    narrowed,
    rate_is_unknown,
    write_rate_is_unknown,
)
from sizer.sizing.stages.serving_rates import MOST_FOR_FIRST_TOKENS
from sizer.workload.data import DataRequest
from sizer.workload.request import Loss, SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# Largest cluster looked at first where the request states none: beyond it a two-level fabric of 36-port switches ends
# (648 end points, four ports a DGX-1). Where none so large meets the targets, larger ones are looked at.
MAX_SERVERS = 160
# Every number of servers is a size up to here; beyond, sizes are so far apart, as a share of themselves.
_EVERY, _STEP = 512, 1 / 256
# With more rows the arrays of a space take over a gigabyte: steps are wider then, of this number at least. The sizes
# just below the first that runs are looked at afterwards, so that an answer does not depend on the steps.
_MOST_ROWS, _LEAST_STEPS = 2_000_000, 64


@dataclass(frozen=True)
class Space:
    """Platforms x numbers of servers; rows run platform by platform, in order of servers.

    Storage nodes are no axis: the smallest sufficient count is solved per row.
    """

    n_platforms: int
    sizes: Ints  # (sizes,) numbers of servers, ascending

    @property
    def n_rows(self) -> int:
        return self.n_platforms * len(self.sizes)

    @cached_property
    def platform(self) -> Ints:
        """(rows,) index of the platform."""
        return np.repeat(np.arange(self.n_platforms, dtype=np.int64), len(self.sizes))

    @cached_property
    def n_servers(self) -> Ints:
        """(rows,) servers."""
        return np.tile(self.sizes, self.n_platforms)

    def of_platform(self, index: int) -> slice:
        return slice(index * len(self.sizes), (index + 1) * len(self.sizes))


def design_space(n_platforms: int, fewest: int, most: int) -> Space:
    """Space of so many platforms with ``fewest`` to ``most`` servers each.

    All numbers up to 512; beyond in steps of 0.4 %, or wider ones where the rows would be over two million.
    """
    sizes = np.arange(fewest, min(most, max(_EVERY, fewest)) + 1, dtype=np.int64)
    if most > sizes[-1]:
        steps = math.ceil(math.log(most / sizes[-1]) / _STEP)
        steps = min(steps, max(_MOST_ROWS // n_platforms - len(sizes), _LEAST_STEPS))
        sizes = np.union1d(sizes, np.rint(np.geomspace(sizes[-1], most, steps + 1)).astype(np.int64))
    return Space(n_platforms, sizes)


@dataclass(frozen=True)
class StorageUnits(Rows):
    """Units of the storage of some platforms. Arrays over the platforms."""

    is_per_node: Bools  # bought by the node
    per_unit: Ints  # nodes
    fewest: Ints  # nodes of the smallest system
    least: Ints  # nodes that the system and the data call for, in whole units
    most: Ints
    holds_data: Bools  # whether the largest system holds everything that must fit
    rate_is_known: Bools
    write_is_known: Bools
    capacity_is_known: Bools
    alike: Ints  # a number of all of these but the smallest system, equal where they are

    @classmethod
    def of(
        cls, works: Sequence[ResolvedWorkload], platforms: Sequence[Platform], data_request: DataRequest
    ) -> "StorageUnits":
        """Units for the data sets of some workloads together, with their checkpoints and snapshots."""
        demand = storage_demand(works, data_request)
        first, kind_of, fixed = _kinds(tuple(platforms))
        least, holds = [], []
        for platform, (_, unit, low, *_) in zip(first, fixed, strict=True):
            data = needed_of(platform, demand, data_request)
            for_data = capacity.smallest_nodes(platform.storage, platform.capacity_option, data)
            least.append(-(-max(low, int(for_data.nodes)) // unit) * unit)
            holds.append(bool(for_data.fits))
        # The smallest system matters only as far as the data do not call for more.
        rows = [(one[:2], one[3:], *asked) for one, *asked in zip(fixed, least, holds, strict=True)]
        numbers: dict[tuple[object, ...], int] = {}
        alike = [numbers.setdefault(row, len(numbers)) for row in rows]
        is_per_node, per_unit, fewest, most, *are_known = zip(*fixed, strict=True)
        columns = (is_per_node, per_unit, fewest, least, most, holds, *are_known, alike)
        return cls(*(np.array(column)[kind_of] for column in columns))

    def whole(self, wanted: Floats, servers: Ints, is_local: Floats) -> tuple[Ints, Bools]:
        """Storage nodes in whole units, and whether they give the rate.

        ``wanted`` (platforms, sizes): nodes that the rate calls for; inf where none do. ``servers``: servers of each
        size; broadcasts with ``wanted``. ``is_local``: 1 where the drives are in the servers; broadcasts with
        ``wanted``.
        """
        counted, unit, most = self.is_per_node[:, None], self.per_unit[:, None], self.most[:, None]
        whole = np.ceil(np.maximum(wanted, self.least[:, None]) / unit) * unit
        # Local drives: one "node" a server. An NFS server: one.
        there = np.where(is_local > 0, servers, 1)
        nodes = np.where(counted, np.minimum(whole, most), 0).astype(np.int64)
        return nodes, np.where(counted, whole <= most, wanted <= there)


# Columns that the compute side depends on.
_OF_SERVERS = (
    *("gpus_per_server", "cores", "host_links", "cache_bytes"),
    *("exchange_bytes_per_s", "storage_nic_bytes_per_s", "exchanges_by_storage_nics", "has_usual_level", "compute"),
)


@dataclass(frozen=True)
class Alike:
    """Classes of platforms of equal rates, and kinds of servers on a fabric, of which a class has one."""

    facts: Columns  # (platforms,)
    cols: Columns  # (platforms, 1), or (platforms, sizes) where the fabric narrows them
    units: StorageUnits
    first: Ints  # (classes,) a platform of each class
    class_of: Ints  # (platforms,)
    kinds: Ints  # (kinds,) a platform of each kind of servers on a fabric
    kind_of: Ints  # (classes,)

    @classmethod
    def of(
        cls,
        request: SizingRequest,
        works: Sequence[ResolvedWorkload],
        platforms: Sequence[Platform],
        space: Space,
        catalog: Catalog,
    ) -> "Alike":
        """Those of the designs of a space."""
        platforms = tuple(platforms)
        used = request.platforms.gpus_per_server
        facts = columns(platforms, catalog, used)
        units, each = StorageUnits.of(works, platforms, request.data), np.arange(len(platforms))
        cols, (rates, kinds, kind) = facts.shaped((len(platforms), 1)), _groups(platforms, catalog, used)
        if is_narrowed(request.fabric):
            # What is left of the line rates differs from size to size.
            index, sizes = np.ix_(each, space.sizes)
            cols = narrowed(cols, platforms, index, sizes, units.fewest[:, None], request.fabric)
            left = (cols.exchange_bytes_per_s.T, cols.storage_nic_bytes_per_s.T)
            kinds, kind = _distinct(np.concatenate([kind[None], *left]))
        if is_narrowed(request.fabric) or request.resilience.keeps_targets_without:
            # What more storage, or a loss, leaves differs from platform to platform.
            return cls(facts, cols, units, each, each, kinds, kind)
        first, class_of = _in_order(rates * (1 + int(units.alike.max())) + units.alike)
        return cls(facts, cols, units, first, class_of, kinds, kind[first])

    @cached_property
    def class_cols(self) -> Columns:
        return self.cols if len(self.first) == len(self.class_of) else self.cols.take(self.first)

    @cached_property
    def class_units(self) -> StorageUnits:
        return self.units.take(self.first)


@lru_cache(maxsize=128)
def _groups(platforms: Sequence[Platform], catalog: Catalog, gpus_used: int | None) -> tuple[Ints, Ints, Ints]:
    """The rates of each platform as a number, a platform of each kind of servers, and the kind of each."""
    facts = columns(platforms, catalog, gpus_used)
    _, rates = _distinct(np.stack(facts.as_rows()))
    kinds, kind = _distinct(np.stack(facts.as_rows(_OF_SERVERS)))
    return rates, kinds, kind


def _distinct(facts: Floats) -> tuple[Ints, Ints]:
    """First column of every distinct one of (facts, columns), and which of these each column is."""
    numbers: dict[bytes, int] = {}
    index = np.array([numbers.setdefault(one.tobytes(), len(numbers)) for one in np.ascontiguousarray(facts.T)])
    return np.unique(index, return_index=True)[1], index


def _in_order(codes: Ints) -> tuple[Ints, Ints]:
    """:func:`_distinct` of whole numbers: first place of each, in the order of these places, and the number of each."""
    _, first, index = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[index]


_Scalar = TypeVar("_Scalar", bound=np.generic)

# Of the servers that linear scaling calls for, the share that is surely too few or just enough: stages are judged by
# draws, too, which differ from their quantiles.
_SURELY = 3 / 4

# Designs evaluated at once: the arrays of a block stay in a processor's cache.
BLOCK_ROWS = 16_384


@dataclass(frozen=True)
class EvaluatedSpace:
    """The whole space with the verdicts of its stages.

    Most platforms run alike: those that differ in drives, or in parts that no model reads. Arrays of a class of them
    have shape (classes, sizes); arrays over rows are gathered from these on demand.
    """

    space: Space
    platforms: tuple[Platform, ...]
    compiled: tuple[Platform, ...]  # the same whatever drives hold, which changes prices alone: facts go by these
    works: tuple[ResolvedWorkload, ...]
    gpus_per_server: Floats  # (platforms,)
    exchange_bytes_per_s: Floats  # (platforms,) line rate of a server's ports on the fabric
    class_of: Ints  # (platforms,)
    class_nodes: Ints  # storage nodes, in whole units
    class_least_nodes: Ints  # (classes,) that the data call for at any size
    class_probability: Floats  # that all targets and limits of latency are met
    class_is_late: Bools  # the rate is kept as surely as asked, and with it first tokens are not
    class_passes: dict[AnyLimit, Bools]  # limit of the stages -> designs that keep it
    class_slowest: Floats  # of the first workload, smallest median of a stage: its rate is at most that [samples/s]
    class_least_time_s: Floats  # what it takes at these rates, or a million samples where no length is known
    class_unknowns: Ints  # rates and capacities that no source gives and on which meeting the targets depends
    twins: frozenset[int]  # platforms that an earlier one stands for
    columns: Columns  # (platforms, 1), or (platforms, sizes) where the fabric leaves less than the line rates
    class_first: Ints  # first platform of each class
    kind_of_class: Ints  # classes of one kind of server on one kind of fabric compute alike
    kind_first: Ints  # first platform of each kind
    team: TeamLimits | None  # of each kind
    memory: tuple[MemoryOfWorkload, ...]  # what each workload takes of a GPU
    targets: JointTargets  # of each kind, before storage
    first: "_FirstWorkload"

    def over_rows(self, of_classes: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """An array of the classes, gathered to one entry a row."""
        has_one_each = len(self.class_first) == len(self.class_of)
        return (of_classes if has_one_each else of_classes[self.class_of]).reshape(-1)

    @cached_property
    def storage_nodes(self) -> Ints:
        """(rows,) storage nodes."""
        return self.over_rows(self.class_nodes)

    @cached_property
    def probability(self) -> Floats:
        """(rows,) probability that all targets are met."""
        return self.over_rows(self.class_probability)

    @cached_property
    def is_late(self) -> Bools:
        """(rows,) designs that keep the rate as surely as asked, and first tokens less surely."""
        return self.over_rows(self.class_is_late)

    @cached_property
    def unknowns(self) -> Ints:
        """(rows,) rates and capacities that no source gives and a design depends on; parts may add unknown watts."""
        return self.over_rows(self.class_unknowns)

    def rates_at(self, rows: Ints) -> tuple[Floats, Floats]:
        """Median rate of the first workload after the first epoch and in it, of some rows. [samples/s]"""
        platform, size = np.divmod(rows, len(self.space.sizes))
        return self.first.rates(self.class_of[platform], size, self.class_nodes)

    def time_at(self, rows: Ints, confidence: float = 0.5) -> Floats:
        """Time to train the first workload, or of a million samples where the length is not known, of some rows. [s]

        At the rate that each reaches with a confidence.
        """
        platform, size = np.divmod(rows, len(self.space.sizes))
        return self.first.time_s(self.class_of[platform], size, self.class_nodes, confidence)

    @cached_property
    def class_gpu_rate(self) -> Floats:
        """(classes, sizes) rate of one GPU at the confidence asked; of several workloads the geometric mean.

        GPUs beyond the number asked count for nothing.
        """
        low = 1 - self.targets.confidence
        n_gpus = self.space.sizes * self.gpus_per_server[self.class_first][:, None]
        with np.errstate(divide="ignore"):  # GPUs that do not hold a network have no rate
            logs = np.mean([np.log(comp.gpu.quantile(low)) for comp in self.targets.computes], axis=0)
        return np.asarray(np.exp(logs)[self.kind_of_class] / n_gpus)

    @cached_property
    def class_required_rate(self) -> Floats:
        """(classes, sizes) rate that the target of the first workload takes at its median length. [samples/s]"""
        need = self.targets.needs[0]
        asked = need.gpu_samples_per_s if need.counts_gpu else need.samples_per_s
        return np.asarray(np.broadcast_to(asked, (len(self.kind_first), len(self.space.sizes)))[self.kind_of_class])

    @cached_property
    def kind_delivered(self) -> Floats:
        """(kinds, sizes) share of what the targets ask of them that servers deliver at the confidence asked."""
        targets, shares = self.targets, []
        for comp, need in zip(targets.computes, targets.needs, strict=True):
            stages = (comp.decode, comp.host_link, *((comp.gpu,) if need.counts_gpu else ()))
            # Of rows whose GPUs do not hold the network nothing is asked: they deliver all of that.
            asked = np.where(need.samples_per_s > 0, need.samples_per_s, 1.0)
            quantiles = [stage.quantile(1 - targets.confidence) for stage in stages]
            shares += [np.where(need.samples_per_s > 0, quantile / asked, 1.0) for quantile in quantiles]
        return np.asarray(np.min(shares, axis=0))

    @cached_property
    def fewest(self) -> Floats:
        """(platforms,) servers that a platform takes at least, of any number; inf where none delivers what is asked.

        Servers deliver at most as much more as there are more of them. Layouts of models divide some numbers better
        than others, and levels of a narrow fabric serve some better, so that of these nothing is known.
        """
        wanted = max(work.request.target.gpus_busy or 0 for work in self.works)
        fewest = np.maximum(np.ceil(wanted / self.gpus_per_server), 1.0)
        if any(work.is_laid_out for work in self.works) or self.columns.cores.shape[1] > 1:
            return fewest
        sizes, following = self.space.sizes, np.append(self.space.sizes[1:], np.inf)
        with np.errstate(divide="ignore"):
            scaled = np.maximum(sizes + 1, np.ceil(_SURELY * sizes / self.kind_delivered))[self.kind_of_class]
        delivers = np.logical_and.reduce([self.class_passes[name] for name in RATE_LIMITS])
        enough = np.where(delivers, sizes, np.where(scaled < following, scaled, np.inf)).min(axis=1)
        return np.asarray(np.maximum(fewest, enough[self.class_of]))

    def gpu_rate_at(self, rows: Ints) -> Floats:
        """Rate of one GPU, as :attr:`class_gpu_rate`, of some rows. [samples/s]"""
        return self.over_rows(self.class_gpu_rate)[rows]

    @cached_property
    def runs(self) -> Bools:
        """(platforms, sizes) designs that keep every limit of the stages and are no twin of another."""
        runs: Bools = np.logical_and.reduce(list(self.class_passes.values()))[self.class_of]
        runs[list(self.twins)] = False
        return runs

    @cached_property
    def passes(self) -> dict[AnyLimit, Bools]:
        """Limit -> (rows,) designs that keep it, in the order in which they are looked at."""
        is_first = np.ones(self.space.n_platforms, dtype=bool)
        is_first[list(self.twins)] = False
        found: dict[AnyLimit, Bools] = {name: self.over_rows(self.class_passes[name]) for name in COMPUTE_LIMITS}
        found[Limit.LARGER_PARTS] = np.repeat(is_first, len(self.space.sizes))
        return found | {name: self.over_rows(kept) for name, kept in self.class_passes.items() if name not in found}


def _gpu_unknowns(
    request: SizingRequest, works: Sequence[ResolvedWorkload], platforms: Sequence[Platform], catalog: Catalog
) -> Ints:
    """1 for each platform whose GPUs nobody has shown to run the workloads. (platforms,)

    Trainings are tried on servers that are there before others are bought: their wide intervals say what is not known.
    """
    on_owned = works if any(work.request.task != "training" for work in works) else ()

    def is_unknown(gpu: Gpu, asked: Sequence[ResolvedWorkload]) -> bool:
        return any(lacks_rate(work, gpu, catalog) or operators_are_unknown(work, gpu, catalog) for work in asked)

    owned = request.existing.servers
    kinds = {(platform.gpu.id, platform.server.id in owned): platform for platform in platforms}
    unknown = {key: is_unknown(one.gpu, on_owned if key[1] else works) for key, one in kinds.items()}
    return np.array([unknown[platform.gpu.id, platform.server.id in owned] for platform in platforms], dtype=np.int64)


def evaluate_space(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    space: Space,
    catalog: Catalog,
    calibration: Calibration,
    known: Known = NOTHING_KNOWN,
) -> EvaluatedSpace:
    """Evaluate the stages of all rows in one vectorised pass; ``known`` is what is known better than it is fitted.

    Every number is worked out once for all designs that share what it depends on: GPU steps, exchange, decode, caches
    and what the target asks once a kind of server on a kind of fabric; storage, mounts and network once a class of
    platforms with equal rates.
    """
    priced, platforms = tuple(platforms), tuple(platform.without_drives or platform for platform in platforms)
    alike = Alike.of(request, works, platforms, space, catalog)
    servers = _Servers.of(request, works, platforms, space, alike, catalog, calibration, known)
    shape = (len(alike.first), len(space.sizes))
    timely = np.broadcast_to(compute_side.timely(servers.targets.computes), (len(alike.kinds), shape[1]))[alike.kind_of]
    found = _Classes.empty(shape, request.resilience.keeps_targets_without)
    first = _FirstWorkload(works[0], servers.targets.computes[0], servers.epochs, alike, space, calibration.start_up_s)

    def after(block: Ints) -> list[AfterLoss]:
        of_kinds, rows = alike.kind_of[block], (block, space.sizes, alike.cols.take(block), alike.units.fewest[block])
        team = servers.team and servers.team.take(of_kinds)
        return after_losses(request, works, platforms, *rows, team, catalog, calibration, known)

    # Of one kind after the other: what its servers may turn out to do is laid out once.
    classes, step = np.argsort(alike.kind_of, kind="stable"), max(BLOCK_ROWS // len(space.sizes), 1)
    for start in range(0, len(classes), step):
        pause_point()
        block = classes[start : start + step]
        is_late = timely[block] < evaluate.least_chance(request.confidence)
        _evaluate_block(block, found, alike, servers, first, after(block) if found.after else [], is_late)
        if request.fabric.oversubscription > 1:
            # The columns were narrowed for the fewest storage nodes; more of them may call for another level.
            now, before = (
                fabric_shares(platforms, block[:, None], space.sizes, nodes, request.fabric)
                for nodes in (found.nodes[block], alike.units.fewest[block, None])
            )
            found.uplinks[block] = now >= before
    passes: dict[AnyLimit, Bools] = {name: kept[alike.kind_of] for name, kept in servers.limits.items()}
    is_local, hosts = alike.class_cols.is_local, alike.class_cols.hosts
    apart = lacks_shared_storage(works, request, catalog, is_local, space.sizes[None, :] * hosts)
    passes[Limit.STORAGE_CAPACITY] = np.broadcast_to(alike.class_units.holds_data[:, None], shape) & ~apart
    passes[Limit.STORAGE_RATE] = found.enough
    if request.fabric.oversubscription > 1:
        passes[Limit.UPLINKS] = found.uplinks
    passes[Limit.MOUNTS] = found.mounts
    # Named only where no single stage is: a stage that fails alone is the better reason.
    alone = np.logical_and.reduce([passes[name] for name in STAGE_LIMITS])
    passes[Limit.CONFIDENCE] = (found.chance >= evaluate.least_chance(request.confidence)) | ~alone
    passes |= {LOSS_LIMITS[loss]: keeps for loss, keeps in found.after.items()}
    targets = servers.targets
    is_cached = np.logical_and.reduce([compute_side.is_cached(comp) for comp in targets.computes])[alike.kind_of]
    # Data that stay in the servers' memory need no rate, unless the first epoch has to be in time.
    is_read = ~is_cached | np.logical_or.reduce([need.cold_samples_per_s > 0 for need in targets.needs])[alike.kind_of]
    units = alike.class_units
    return EvaluatedSpace(
        space=space,
        platforms=priced,
        compiled=platforms,
        works=tuple(works),
        gpus_per_server=alike.facts.gpus_per_server,
        exchange_bytes_per_s=alike.facts.exchange_bytes_per_s,
        class_of=alike.class_of,
        class_nodes=found.nodes,
        class_least_nodes=np.where(units.is_per_node, units.least, 0),
        class_probability=found.chance * timely,
        class_is_late=_is_late(found.chance, timely, space.sizes, evaluate.least_chance(request.confidence)),
        class_passes=passes,
        class_slowest=found.slowest,
        class_least_time_s=found.least_time_s,
        class_unknowns=(is_read & ~units.rate_is_known[:, None]).astype(np.int64)
        + (found.written & ~units.write_is_known[:, None])
        + ~units.capacity_is_known[:, None]
        + servers.memory_is_open[alike.kind_of]
        + _gpu_unknowns(request, works, [platforms[place] for place in alike.first], catalog)[:, None],
        twins=_twins(platforms, alike, found.nodes, servers),
        columns=alike.cols,
        class_first=alike.first,
        kind_of_class=alike.kind_of,
        kind_first=alike.kinds,
        team=servers.team,
        memory=tuple(gpu_memory.memory_of(work, calibration, catalog) for work in works),
        targets=targets,
        first=first,
    )


def _is_late(chance: Floats, timely: Floats, sizes: Ints, asked: float) -> Bools:
    """Designs that keep the rate as surely as asked, and first tokens less surely. (classes, sizes)

    So count all where :data:`MOST_FOR_FIRST_TOKENS` are too few for both.
    """
    is_sure, is_timely = chance >= asked, chance * timely >= asked
    first, first_timely = (np.where(one, sizes, np.inf).min(axis=1, keepdims=True) for one in (is_sure, is_timely))
    return np.asarray(is_sure & ~(is_timely & (first_timely <= MOST_FOR_FIRST_TOKENS * first)))


@dataclass(frozen=True)
class _Servers:
    """The servers without storage. Arrays (kinds, sizes)."""

    targets: JointTargets
    limits: dict[AnyLimit, Bools]  # of COMPUTE_LIMITS, and the waits of a team
    memory_is_open: Bools  # whether the batches fit is a guess
    epochs: Floats | None  # of the first workload
    team: TeamLimits | None

    @classmethod
    def of(
        cls,
        request: SizingRequest,
        works: Sequence[ResolvedWorkload],
        platforms: Sequence[Platform],
        space: Space,
        alike: Alike,
        catalog: Catalog,
        calibration: Calibration,
        known: Known,
    ) -> "_Servers":
        servers, cols = space.sizes[None, :], alike.cols.take(alike.kinds)
        hosts = ServerRows(platforms, cols, servers, catalog, calibration)
        computes = [compute_side.compute(work, hosts) for work in works]
        targets = JointTargets.of(request, works, computes, cols, servers, calibration, known)
        nics = servers * cols.storage_nic_bytes_per_s
        each = zip(works, targets.computes, targets.needs, strict=True)
        kept: dict[AnyLimit, Bools] = {
            **targets.limits,
            Limit.GPU_MEMORY: gpu_memory.all_fit(works, hosts),
            Limit.SERVER_PORTS: np.logical_and.reduce([nics >= evaluate.nic_bytes_per_s(*one) for one in each]),
        }
        limits: dict[AnyLimit, Bools] = {name: kept[name] for name in COMPUTE_LIMITS}
        length = evaluate.run_epochs(works[0], targets.computes[0], cols, servers, calibration)
        team = None
        if request.team is not None:
            could = np.logical_and.reduce(list(limits.values())).any(axis=1)
            facts = alike.facts.take(alike.kinds)
            team = team_limits(request.team, works, platforms, facts, space.sizes, could, catalog, calibration)
            limits[Limit.TEAM_WAITS] = team.waits
            limits[Limit.SERVER_PORTS] &= nics >= team.bytes_per_s
            targets = replace(targets, team_bytes_per_s=team.bytes_per_s)
        is_open = gpu_memory.fit_is_open(works, hosts)
        return cls(targets, limits, is_open, None if length is None else length.value, team)


@dataclass(frozen=True)
class _FirstWorkload:
    """Rates and times of the first workload, worked out for the designs that somebody asks about."""

    work: ResolvedWorkload
    comp: Compute  # (kinds, sizes)
    epochs: Floats | None  # (kinds, sizes)
    alike: Alike
    space: Space
    start_up_s: float

    def rates(self, classes: Ints, sizes: Ints, class_nodes: Ints, probability: float = 0.5) -> tuple[Floats, Floats]:
        """Rates after the first epoch and in it of some designs, by class and by place among the sizes.

        They stay below these with ``probability``.
        """
        comp = self.comp.take((self.alike.kind_of[classes], sizes))
        cols = self.alike.class_cols
        at = (classes, sizes if cols.cores.shape[1] > 1 else np.zeros_like(sizes))
        cols = cols.take(at)
        servers, nodes = self.space.sizes[sizes], class_nodes[classes, sizes]
        side = evaluate.storage_side(cols, servers, nodes, np.full(nodes.shape, np.inf))
        stages = [evaluate.stages(self.work.sample_bytes, comp, side, is_warm=is_warm) for is_warm in (True, False)]
        warm, cold = np.split(throughput_quantile(pipeline.in_a_row(stages), probability), 2)
        return warm, cold

    def time_s(self, classes: Ints, sizes: Ints, class_nodes: Ints, confidence: float) -> Floats:
        """Time to train at the rate reached with a confidence, or of a million samples of unknown length. [s]"""
        return self.time_at_rates_s(*self.rates(classes, sizes, class_nodes, 1 - confidence), classes, sizes)

    def time_at_rates_s(self, rate: Floats, cold: Floats, classes: Ints, sizes: Ints | slice) -> Floats:
        """The same at given rates."""
        if self.epochs is None:
            return training_time_s(1.0, 1e6, rate, rate)
        return evaluate.time_s(self.work, self.epochs[self.alike.kind_of[classes], sizes], rate, cold, self.start_up_s)


@dataclass(frozen=True)
class _Classes:
    """What the blocks find. Arrays (classes, sizes)."""

    nodes: Ints
    after: dict[Loss, Bools]  # losses -> designs that keep their targets without
    enough: Bools  # storage nodes give the rate
    mounts: Bools
    written: Bools  # whether they are enough depends on their write rate
    uplinks: Bools
    chance: Floats
    slowest: Floats
    least_time_s: Floats

    @classmethod
    def empty(cls, shape: tuple[int, int], losses: Sequence[Loss]) -> "_Classes":
        after = {loss: np.ones(shape, dtype=bool) for loss in losses}
        return cls(np.zeros(shape, dtype=np.int64), after, *np.zeros((4, *shape), dtype=bool), *np.ones((3, *shape)))


def _evaluate_block(
    block: Ints,
    classes: _Classes,
    alike: Alike,
    servers: _Servers,
    first: _FirstWorkload,
    after: Sequence[AfterLoss],
    is_late: Bools,
) -> None:
    """Storage, mounts and network of some classes, and what their designs reach; written to ``classes``."""
    sizes, cols, units = first.space.sizes[None, :], alike.class_cols.take(block), alike.class_units.take(block)
    targets = servers.targets.on(alike.kind_of[block], cols)
    wanted = targets.nodes
    nodes, classes.enough[block] = units.whole(wanted, sizes, cols.is_local)
    if after:
        nodes, _ = units.whole(np.maximum.reduce([wanted, *(loss.nodes() for loss in after)]), sizes, cols.is_local)
    for loss in after:
        classes.after[loss.loss][block] &= loss.keeps(nodes, is_late)
    side = evaluate.storage_side(cols, sizes, nodes, np.full(nodes.shape, np.inf))
    classes.nodes[block], classes.mounts[block] = nodes, targets.has_mounts(side)
    classes.written[block] = write_demands_matter([need.checkpoints for need in targets.needs], sizes, nodes, cols)
    for index, (need, (warm, cold)) in enumerate(zip(targets.needs, targets.stages(side), strict=True)):
        classes.chance[block] *= need.outcomes.probability(warm, cold)
        if index == 0:
            classes.slowest[block] = warm.slowest
            classes.least_time_s[block] = first.time_at_rates_s(warm.slowest, cold.slowest, block, slice(None))


def _twins(platforms: Sequence[Platform], alike: Alike, nodes: Ints, servers: _Servers) -> frozenset[int]:
    """Platforms that differ from an earlier one in drive size or GPU memory only, and perform exactly alike.

    They would be the same designs at a higher price: larger drives that no row needs, memory that no batch needs.
    """
    rates = [part for comp in servers.targets.computes for part in (comp.gpu.median, comp.gpu.log_sd, comp.gpu.skew)]
    # Memory that lets a batch fit makes another design of the same rate.
    rates.append(servers.limits[Limit.GPU_MEMORY].astype(float))
    # So do drives that hold the data, where the largest system of smaller ones does not.
    storage = np.column_stack([nodes, alike.class_units.holds_data]).astype(float)
    of_nodes, of_rates = (_distinct(rows.T)[1] for rows in (storage, np.concatenate(rates, axis=1)))
    codes = (_main_parts(platforms) * len(nodes) + of_nodes[alike.class_of]) * len(alike.kinds)
    first = np.unique(codes + of_rates[alike.kind_of[alike.class_of]], return_index=True)[1]
    return frozenset(np.delete(np.arange(len(platforms)), first).tolist())


@lru_cache(maxsize=128)
def _main_parts(platforms: Sequence[Platform]) -> Ints:
    """A number for each platform, equal where they differ in drive size or GPU memory only."""
    numbers: dict[tuple[object, ...], int] = {}
    facts = attrgetter("server.id", "gpus_per_server", "storage.id", "tier_key", "fabric")
    parts = ((facts(platform), platform.host_memory and platform.host_memory.id) for platform in platforms)
    return np.array([numbers.setdefault(part, len(numbers)) for part in parts])


@lru_cache(maxsize=128)
def _kinds(
    platforms: Sequence[Platform],
) -> tuple[list[Platform], Ints, list[tuple[bool, int, int, int, bool, bool, bool]]]:
    """A platform of each kind of storage, which of these each platform has, and what no data set changes of them."""
    first: dict[tuple[str, int, str], Platform] = {}
    keys = [(one.storage.id, one.capacity_option, one.tier_key) for one in platforms]
    for key, platform in zip(keys, platforms, strict=True):
        first.setdefault(key, platform)
    places = {key: index for index, key in enumerate(first)}
    fixed = []
    for platform in first.values():
        storage, option, tier = platform.storage, platform.capacity_option, platform.capacity_storage
        rate_is_known = not (rate_is_unknown(storage) or (tier is not None and rate_is_unknown(tier)))
        is_known = (rate_is_known, not write_rate_is_unknown(storage), not capacity_is_unknown(storage, option))
        low, high = capacity.node_limits(storage)
        fixed.append((capacity.counts_nodes(storage), capacity.nodes_per_unit(storage), low, high, *is_known))
    return list(first.values()), np.array([places[key] for key in keys], dtype=np.int64), fixed
