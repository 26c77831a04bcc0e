"""Monte-Carlo over the calibration: what every design of a space reaches under many sets of coefficients."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.calibration import Draws
from sizer.catalog.model import Catalog
from sizer.perf import caches, pipeline
from sizer.perf.pipeline import decode_samples_per_s
from sizer.perf.stage_capacity import Capacity
from sizer.perf.step_terms import StepTerms
from sizer.perf.training_step import InferenceRun, TrainingRun
from sizer.physical.platform import Platform
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.sizing.stages import compute_side, evaluate, gpu_side, measured_rates
from sizer.sizing.stages.compute_side import Compute, host_bound
from sizer.sizing.stages.platform_columns import Columns, ComputeGroup, LaidOutRun, ServerRows, compute_groups
from sizer.workload.request import Target
from sizer.workload.resolve import ResolvedWorkload

# Levels of the quantiles, and the names of what is told of a distribution.
LEVELS = (0.05, 0.5, 0.95)
STATISTICS = ("p05", "p50", "p95", "mean")
# Designs x draws that are evaluated at once: a few arrays of 2 MB stay near a processor.
BLOCK_ELEMENTS = 262_144
# Rates are compared with what is asked as the sizing compares them: rounding fails no design.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Reached:
    """What designs come to over the draws.

    ``all_met`` (classes, sizes): share of the draws in which all workloads reach their targets. ``met`` (workloads,
    classes, sizes): the same of each workload alone. ``rate`` (workloads, classes, sizes, statistics): after the first
    epoch, in the order of :data:`STATISTICS` [samples/s]. ``time_s`` (workloads, classes, sizes, statistics): to train,
    with start-up and the first, cold epoch; NaN where the length of the training is not known [s].
    """

    all_met: Floats
    met: Floats
    rate: Floats
    time_s: Floats

    @classmethod
    def empty(cls, n_works: int, shape: tuple[int, int]) -> "Reached":
        """Places for what blocks come to."""
        rate, time_s = np.full((2, n_works, *shape, len(STATISTICS)), np.nan)
        return cls(np.full(shape, np.nan), np.full((n_works, *shape), np.nan), rate, time_s)

    def without_shares(self, is_open: Bools) -> "Reached":
        """The same without the shares of some designs, shape (designs,): NaN where nobody knows them."""
        return replace(self, all_met=np.where(is_open, np.nan, self.all_met), met=np.where(is_open, np.nan, self.met))

    def take(self, classes: Ints, sizes: Ints) -> "Reached":
        """Some designs, by class and by place among the sizes: one axis in place of two."""
        return Reached(
            self.all_met[classes, sizes],
            self.met[:, classes, sizes],
            self.rate[:, classes, sizes],
            self.time_s[:, classes, sizes],
        )


def posterior(
    evaluated: EvaluatedSpace,
    draws: Draws,
    catalog: Catalog,
    *,
    block_elements: int = BLOCK_ELEMENTS,
    each: "Callable[[Iterable[Block]], Iterator[Reached]] | None" = None,
) -> Reached:
    """Distribution of rate, time to train and success of every design of a space.

    ``evaluated``: the space with the storage nodes of every design, which stay as they are. ``block_elements``: designs
    x draws evaluated at once; no number depends on it. ``each``: applies :func:`reached` to blocks and gives the
    answers in their order, for example on several processors; default one after the other.

    One draw is one world. In it, all designs share the fitted parameters. What two sources differ by is a property of
    the combination of stack, DNN, precision and GPU: all servers and sizes with it share it. What two runs differ by is
    shared by the sizes of one kind of server on one kind of fabric, so that a design with more servers is compared with
    a smaller one in the same world. Storage systems with the same published bracket of rates share the place of the
    true rate in it, as do all their sizes. Caches, host decode, epochs and start-up are shared by all. Numbers of a
    design do not depend on which other designs are in the space.
    """
    whole = Reached.empty(len(evaluated.works), (len(evaluated.class_first), len(evaluated.space.sizes)))
    parts: list[tuple[Ints, slice]] = []

    def told() -> Iterator[Block]:
        for classes, sizes, block in _blocks(evaluated, draws, catalog, block_elements):
            parts.append((classes, sizes))
            yield block

    for index, found in enumerate((each or partial(map, reached))(told())):
        classes, sizes = parts[index]
        whole.all_met[classes, sizes], whole.met[:, classes, sizes] = found.all_met, found.met
        whole.rate[:, classes, sizes], whole.time_s[:, classes, sizes] = found.rate, found.time_s
    return whole


def posterior_of(evaluated: EvaluatedSpace, row: int, draws: Draws, catalog: Catalog) -> Reached:
    """:func:`posterior` of one design: one axis, of length 1, in place of classes and sizes."""
    index, size = divmod(row, len(evaluated.space.sizes))
    one = int(evaluated.class_of[index])
    found = reached(_block(evaluated, draws, catalog, np.array([one]), slice(size, size + 1)))
    return found.take(np.array([0]), np.array([0]))


@dataclass(frozen=True)
class DrawnServers:
    """One workload on one kind of servers at some sizes. Arrays (sizes, 1), (draws,) or (sizes, draws)."""

    work: ResolvedWorkload
    comp: Compute  # as the sizing has it
    n_gpus: Floats
    cores: Floats  # of all servers
    run: TrainingRun | InferenceRun | LaidOutRun
    terms: StepTerms
    values: Floats  # (draws, k) terms of the step
    log_scatter: Floats  # (draws,) or (sizes, draws) of runs and sources
    core_s: Floats  # core time of a sample on the hosts [core s]
    link_gain: Floats  # of the links between host and GPUs, over the rate as fitted [-]
    hits: Floats  # of the servers' caches after the first epoch
    epochs: Floats | None  # None where the length of the training is not known
    start_up_s: Floats

    @classmethod
    def of(
        cls,
        work: ResolvedWorkload,
        platforms: Sequence[Platform],
        platform: Platform,
        comp: Compute,
        cols: Columns,
        servers: Ints,
        draws: Draws,
        catalog: Catalog,
    ) -> "DrawnServers":
        """Servers of one platform of those in the compute groups of ``cols``; arrays (sizes, 1)."""
        group = compute_groups(platforms)[0][int(cols.compute.flat[0])]
        run = gpu_side.step_run(work, ServerRows(platforms, cols, servers, catalog, draws.calibration))
        terms = gpu_side.terms_of(work, platform, int(servers.flat[0]), draws.calibration, catalog)
        unit, _ = draws.calibration.host_link
        return cls(
            work=work,
            comp=comp,
            n_gpus=servers * cols.gpus_per_server,
            cores=servers * cols.cores,
            run=run,
            terms=terms,
            values=draws.step_values(terms),
            log_scatter=_log_scatter(work, terms, run, group, draws),
            core_s=_core_seconds(work, draws),
            link_gain=draws.host_link_bytes_per_s() / unit,
            hits=_hits(work, cols, servers, draws),
            epochs=_epochs(work, comp, servers * cols.gpus_per_server * comp.batch_per_gpu, draws),
            start_up_s=draws.start_up_s(),
        )

    def compute(self) -> Compute:
        """What the servers do under each draw, (sizes, draws)."""
        gpu = gpu_side.gpu_samples_per_s(self.run, self.values) * np.exp(self.log_scatter)
        return replace(
            self.comp,
            gpu=Capacity.exact(gpu),
            decode=Capacity.exact(decode_samples_per_s(self.cores, self.core_s)),
            host_link=Capacity.exact(self.comp.host_link.median * self.link_gain),
            hit_fraction=self.hits,
        )


@dataclass(frozen=True)
class _Path:
    """Storage of one class of platforms at some sizes."""

    side: pipeline.StorageSide  # arrays (sizes, 1)
    place: Floats  # (draws,) of the true rate in its bracket, 0..1

    def drawn(self) -> pipeline.StorageSide:
        """The path with what nodes and mounts together let through under each draw, (sizes, draws) or (sizes, 1)."""
        served = self.side.served
        rate = served.quantile(self.place) if served.log_half_width.any() else served.median
        return replace(self.side, read=Capacity.exact(rate), mounts=Capacity.exact(np.full(rate.shape, np.inf)))


@dataclass(frozen=True)
class Block:
    """Classes of platforms with one kind of servers, at some sizes, under all draws: what a worker needs."""

    ran: tuple[DrawnServers, ...]
    paths: tuple[_Path, ...]


def _blocks(
    evaluated: EvaluatedSpace, draws: Draws, catalog: Catalog, block_elements: int
) -> Iterator[tuple[Ints, slice, Block]]:
    n_sizes = len(evaluated.space.sizes)
    step = max(block_elements // draws.n, 1)
    # One server has terms of its own: no link between servers is uncertain.
    alone = int(np.searchsorted(evaluated.space.sizes, 1, side="right"))
    starts = [*range(0, alone, step), *range(alone, n_sizes, step)]
    for kind in range(len(evaluated.kind_first)):
        classes = np.flatnonzero(evaluated.kind_of_class == kind)
        for start, stop in zip(starts, (*starts[1:], n_sizes), strict=True):
            sizes = slice(start, stop)
            yield classes, sizes, _block(evaluated, draws, catalog, classes, sizes)


def _block(evaluated: EvaluatedSpace, draws: Draws, catalog: Catalog, classes: Ints, sizes: slice) -> Block:
    first = int(evaluated.kind_first[evaluated.kind_of_class[classes[0]]])
    servers = evaluated.space.sizes[sizes][:, None]
    cols, kind = _columns(evaluated, first, sizes), int(evaluated.kind_of_class[classes[0]])
    ran = tuple(
        DrawnServers.of(
            work,
            evaluated.platforms,
            evaluated.platforms[first],
            comp.take((kind, sizes, None)),
            cols,
            servers,
            draws,
            catalog,
        )
        for work, comp in zip(evaluated.works, evaluated.targets.computes, strict=True)
    )
    paths = tuple(_path(evaluated, int(index), sizes, servers, draws) for index in classes)
    return Block(ran, paths)


def _columns(evaluated: EvaluatedSpace, platform: int, sizes: slice) -> Columns:
    """Columns of a platform at some sizes, (sizes, 1) or (1, 1)."""
    cols = evaluated.columns.take(np.array([platform])).shaped((-1, 1))
    return cols.take(np.arange(len(evaluated.space.sizes))[sizes]) if len(cols.cores) > 1 else cols


def _log_scatter(
    work: ResolvedWorkload,
    terms: StepTerms,
    run: TrainingRun | InferenceRun | LaidOutRun,
    of: ComputeGroup,
    draws: Draws,
) -> Floats:
    """(draws,) or (sizes, draws) how far the logarithm of the GPUs' rate lies from what the parameters say.

    By source and by run, and by what is known of the rates of a run itself.
    """
    wanted = work.request
    source = f"{wanted.task} {work.stack.id} {work.like or work.dnn.id} {wanted.precision} {of.gpu}"
    of_run = draws.normal(f"run {source} {of.server} {of.intra_link} {of.fabric.id}")
    if isinstance(run, LaidOutRun):
        return np.asarray(run.log_sd * of_run)
    scatter = np.asarray(terms.between_log_sd) * draws.normal(f"source {source}") + terms.scatter_log_sd * of_run
    if isinstance(run, TrainingRun) and run.log_sd.any():
        # Teams differ as sources do.
        name = f"source {source}" if work.own_kind is not None else measured_rates.draw_name(work, of)
        scatter = scatter + run.log_sd * draws.normal(name)
    return np.asarray(scatter)


def _core_seconds(work: ResolvedWorkload, draws: Draws) -> Floats:
    """(draws,) core time that a sample costs the hosts. [core s]"""
    if not work.kind.reads_data:
        return np.zeros(1)
    each = work.samples_per_record
    if work.request.host_core_s is not None:
        moved = compute_side.STATED_HOST_LOG_SD * draws.normal(f"host {work.request.name}")
        return np.asarray(work.request.host_core_s / each * np.exp(moved))
    drawn = draws.core_seconds(work.sample_format, work.stack, compute_side.record_bytes(work)) / each
    host = draws.calibration.host_work(work.sample_format, work.stack)
    bound = host_bound(work, host)
    if bound.spread != 1 or bound.median != 1:
        median = compute_side.host_seconds(work, host)
        drawn = median * bound.median * (drawn / median) ** bound.spread
    return np.asarray(drawn)


def _hits(work: ResolvedWorkload, cols: Columns, servers: Ints, draws: Draws) -> Floats:
    if work.kind.cache_hits is not None:
        return np.full((1, 1), work.kind.cache_hits)
    position = draws.cache_position(work.request.access, work.request.cache)
    share, exponent = caches.share_and_exponent(
        caches.cached_fraction(cols.cache_bytes, work.dataset_bytes), servers, work.request.access
    )
    if (position == position[0]).all() or ((share == 0) | (share == 1)).all():
        return caches.hits_at(position[0], share, exponent)
    return caches.hits_at(position, share, exponent)


def _epochs(work: ResolvedWorkload, comp: Compute, global_batch: Floats, draws: Draws) -> Floats | None:
    if work.is_inference or (work.request.epochs is None and work.recipe is None):
        return None
    if work.request.epochs is not None:
        if comp.whole_run is None:
            return np.array([work.request.epochs])
        factor = comp.whole_run.value * np.exp(comp.whole_run.log_sd * draws.normal("whole run"))
        return np.asarray(work.request.epochs * factor)
    assert work.recipe is not None
    found = draws.epochs(work.recipe, work.recipe_batch(global_batch))
    return found * work.recipe_share(found)


def _path(evaluated: EvaluatedSpace, index: int, sizes: slice, servers: Ints, draws: Draws) -> _Path:
    cols = _columns(evaluated, int(evaluated.class_first[index]), sizes)
    nodes = evaluated.class_nodes[index, sizes][:, None]
    bracket = [
        float(column.flat[0])
        for column in (
            cols.node_low_bytes_per_s,
            cols.node_high_bytes_per_s,
            cols.mount_low_bytes_per_s,
            cols.mount_high_bytes_per_s,
        )
    ]
    side = evaluate.storage_side(cols, servers, nodes, np.full(nodes.shape, np.inf))
    return _Path(side, draws.uniform(f"storage {bracket}"))


def reached(block: Block) -> Reached:
    """What the designs of a block reach under each draw, as shares and statistics."""
    n_classes, n_sizes, n = len(block.paths), len(block.ran[0].n_gpus), block.ran[0].log_scatter.shape[-1]
    distribution = Reached.empty(len(block.ran), (n_classes, n_sizes))
    all_met = np.ones((n_classes, n_sizes, n), dtype=bool)
    sides = [path.drawn() for path in block.paths]
    for number, ran in enumerate(block.ran):
        work, comp = ran.work, ran.compute()
        for index, side in enumerate(sides):
            warm = evaluate.stages(work.sample_bytes, comp, side, is_warm=True)
            rate, time_s = warm.slowest, None
            distribution.rate[number, index] = _statistics(rate)
            if ran.epochs is not None:
                cold = evaluate.stages(work.sample_bytes, comp, side, is_warm=False).slowest
                time_s = evaluate.time_s(work, ran.epochs, rate, cold, ran.start_up_s)
                distribution.time_s[number, index] = _statistics(time_s)
            met = _met(work.request.target, ran.n_gpus, warm, rate, time_s)
            distribution.met[number, index] = met.mean(axis=-1)
            all_met[index] &= met
    distribution.all_met[:] = all_met.mean(axis=-1)
    return distribution


def _met(target: Target, n_gpus: Floats, warm: pipeline.Stages, rate: Floats, time_s: Floats | None) -> Bools:
    """(sizes, draws) whether the target is reached."""
    if target.samples_per_s is not None:
        return np.asarray(rate >= target.samples_per_s * (1 - _ROUNDING))
    if target.gpus_busy is not None:
        # Busy GPUs wait for nobody: all other stages pass what the GPUs take in the same draw.
        return np.asarray((rate >= warm.gpu.median * (1 - _ROUNDING)) & (n_gpus >= target.gpus_busy))
    assert time_s is not None  # a time to train is asked of trainings of known length only
    assert target.time_to_train_s is not None
    return np.asarray(time_s <= target.time_to_train_s * (1 + _ROUNDING))


def _statistics(over_draws: Floats) -> Floats:
    """(sizes, statistics) of (sizes, draws): quantiles by linear interpolation, and the mean."""
    n = over_draws.shape[-1]
    ordered = np.sort(over_draws, axis=-1)
    statistics = np.empty((*over_draws.shape[:-1], len(STATISTICS)))
    for index, level in enumerate(LEVELS):
        below, share = divmod(level * (n - 1), 1)
        low, high = ordered[..., int(below)], ordered[..., min(int(below) + 1, n - 1)]
        statistics[..., index] = low + share * (high - low)
    statistics[..., -1] = over_draws.mean(axis=-1)
    return statistics
