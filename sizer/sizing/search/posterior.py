"""Monte-Carlo over the calibration: what every design of a space reaches under many sets of coefficients."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.draws import Draws
from sizer.catalog.model import Catalog
from sizer.perf import caches, pipeline
from sizer.perf.inference_step import InferenceRun
from sizer.perf.preprocess import decode_samples_per_s
from sizer.perf.step_terms import StepTerms
from sizer.perf.training_step import TrainingRun
from sizer.perf.training_time import training_time_s
from sizer.physical.platform import Platform
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.sizing.stages import compute_side, evaluate, gpu_memory, gpu_side
from sizer.sizing.stages.host_bound import host_bound
from sizer.sizing.stages.language_rates import LanguageRun, whole_run
from sizer.sizing.stages.platform_columns import Columns, ComputeGroup, compute_groups
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

    Attributes
    ----------
    all_met : ndarray, shape (classes, sizes)
        Share of the draws in which all workloads reach their targets.
    met : ndarray, shape (workloads, classes, sizes)
        The same of each workload alone.
    rate : ndarray, shape (workloads, classes, sizes, statistics)
        After the first epoch, in the order of :data:`STATISTICS`. [samples/s]
    time_s : ndarray, shape (workloads, classes, sizes, statistics)
        To train, with start-up and the first, cold epoch; NaN where the length of the training is not known. [s]
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

    Parameters
    ----------
    evaluated : EvaluatedSpace
        The space with the storage nodes of every design, which stay as they are.
    draws : Draws
        Sets of coefficients.
    catalog : Catalog
    block_elements : int
        Designs x draws evaluated at once; no number depends on it.
    each : callable, optional
        Applies :func:`reached` to blocks and gives the answers in their order, for example on several processors;
        default one after the other.

    Notes
    -----
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

    for place, found in enumerate((each or _one_by_one)(told())):
        classes, sizes = parts[place]
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
class _Ran:
    """One workload on one kind of servers at some sizes. Arrays (sizes, 1), (draws,) or (sizes, draws)."""

    target: Target
    run: TrainingRun | InferenceRun | LanguageRun
    values: Floats  # (draws, k) terms of the step
    log_scatter: Floats  # (draws,) or (sizes, draws) of runs and sources
    core_s: Floats  # core time of a sample on the hosts [core s]
    host_link: Floats  # what the links between host and GPUs carry [samples/s]
    sample_bytes: float
    n_samples: float  # of an epoch
    exchanged_bytes: Floats  # that enter a server's NICs per sample
    hits: Floats  # of the servers' caches after the first epoch
    epochs: Floats | None  # with the later three: None where the length of the training is not known
    evaluations: float  # as a share of the epochs
    start_up_s: Floats


@dataclass(frozen=True)
class _Path:
    """Storage of one class of platforms at some sizes."""

    side: pipeline.StorageSide  # arrays (sizes, 1)
    place: Floats  # (draws,) of the true rate in its bracket, -1..1


@dataclass(frozen=True)
class Block:
    """Classes of platforms with one kind of servers, at some sizes, under all draws: what a worker needs."""

    n_gpus: Floats  # (sizes, 1)
    cores: Floats  # (sizes, 1) of all servers
    ran: tuple[_Ran, ...]
    paths: tuple[_Path, ...]


def _one_by_one(blocks: Iterable[Block]) -> Iterator[Reached]:
    return map(reached, blocks)


def _has_length(work: ResolvedWorkload) -> bool:
    return not work.is_inference and (work.request.epochs is not None or work.recipe is not None)


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
    """Block of some classes of one kind."""
    first = int(evaluated.kind_first[evaluated.kind_of_class[classes[0]]])
    servers = evaluated.space.sizes[sizes][:, None]
    cols = _columns(evaluated, first, sizes)
    ran = tuple(
        _ran(evaluated, number, evaluated.platforms[first], cols, servers, draws, catalog)
        for number in range(len(evaluated.works))
    )
    paths = tuple(_path(evaluated, int(index), sizes, servers, draws) for index in classes)
    return Block(servers * cols.gpus_per_server, servers * cols.cores, ran, paths)


def _columns(evaluated: EvaluatedSpace, platform: int, sizes: slice) -> Columns:
    """Columns of a platform at some sizes, (sizes, 1) or (1, 1)."""
    cols = evaluated.columns.take([platform]).shaped((-1, 1))
    return cols.take(np.arange(len(evaluated.space.sizes))[sizes]) if len(cols.cores) > 1 else cols


def _ran(
    evaluated: EvaluatedSpace,
    number: int,
    platform: Platform,
    cols: Columns,
    servers: Ints,
    draws: Draws,
    catalog: Catalog,
) -> _Ran:
    work = evaluated.works[number]
    of = compute_groups(evaluated.platforms)[0][int(cols.compute.flat[0])]
    run = gpu_side.step_run(work, evaluated.platforms, cols, servers, catalog)
    terms = gpu_side.terms_of(work, platform, int(servers[0, 0]), draws.calibration, catalog)
    return _Ran(
        target=work.request.target,
        run=run,
        values=draws.step_values(terms),
        log_scatter=log_scatter(work, terms, run, of, draws),
        core_s=core_seconds(work, draws),
        host_link=host_link(work, cols, servers, draws),
        sample_bytes=work.sample_bytes,
        n_samples=work.n_samples,
        exchanged_bytes=np.zeros((1, 1))
        if work.is_inference
        else gpu_side.exchanged_bytes(work, evaluated.platforms, cols, servers),
        hits=_hits(work, cols, servers, draws),
        epochs=_epochs(work, evaluated, cols, servers, draws, catalog),
        evaluations=evaluate.evaluation_share(work),
        start_up_s=draws.start_up_s(),
    )


def log_scatter(
    work: ResolvedWorkload,
    terms: StepTerms,
    run: TrainingRun | InferenceRun | LanguageRun,
    of: ComputeGroup,
    draws: Draws,
) -> Floats:
    """(draws,) or (sizes, draws) how far the logarithm of the GPUs' rate lies from what the parameters say.

    By source and by run, and by what is known of the rates of a run itself.
    """
    wanted = work.request
    source = f"{wanted.task} {work.stack.id} {work.like or work.dnn.id} {wanted.precision} {of.gpu}"
    of_run = draws.normal(f"run {source} {of.server} {of.intra_link} {of.fabric.id}")
    if isinstance(run, LanguageRun):
        return np.asarray(run.log_sd * of_run)
    scatter = np.asarray(terms.between_log_sd) * draws.normal(f"source {source}") + terms.scatter_log_sd * of_run
    if isinstance(run, TrainingRun) and run.log_sd.any():
        scatter = scatter + run.log_sd * draws.normal(f"measured {work.mlperf} {of.gpu} {of.server}")
    return np.asarray(scatter)


def core_seconds(work: ResolvedWorkload, draws: Draws) -> Floats:
    """(draws,) core time that a sample costs the hosts. [core s]"""
    each = 1 if work.language is None else work.language.sequence
    drawn = draws.core_seconds(work.sample_format, work.stack, compute_side.record_bytes(work)) / each
    host = draws.calibration.host_work(work.sample_format, work.stack)
    bound = host_bound(work, host)
    if bound.spread != 1 or bound.median != 1:
        median = compute_side.host_seconds(work, host)
        drawn = median * bound.median * (drawn / median) ** bound.spread
    return np.asarray(drawn)


def host_link(work: ResolvedWorkload, cols: Columns, servers: Ints, draws: Draws) -> Floats:
    """What the links between host and GPUs carry, with an axis of draws last. [samples/s]"""
    unit, _ = draws.calibration.host_link
    median = gpu_side.host_link(work, cols, servers, draws.calibration).median
    return np.asarray(median * (draws.host_link_bytes_per_s() / unit))


def _hits(work: ResolvedWorkload, cols: Columns, servers: Ints, draws: Draws) -> Floats:
    if work.language is not None:  # every token is read once
        return np.zeros((1, 1))
    position = draws.cache_position(work.request.access, work.request.cache)
    share, exponent = caches.share_and_exponent(
        caches.cached_fraction(cols.cache_bytes, work.dataset_bytes), servers, work.request.access
    )
    if (position == position[0]).all() or ((share == 0) | (share == 1)).all():
        return caches.hits_at(position[0], share, exponent)
    return caches.hits_at(position, share, exponent)


def _epochs(
    work: ResolvedWorkload, evaluated: EvaluatedSpace, cols: Columns, servers: Ints, draws: Draws, catalog: Catalog
) -> Floats | None:
    if not _has_length(work):
        return None
    if work.request.epochs is not None:
        of_run = whole_run(work, evaluated.platforms, cols, servers, catalog)
        if of_run is None:
            return np.array([work.request.epochs])
        return np.asarray(work.request.epochs * of_run.value * np.exp(of_run.log_sd * draws.normal("whole run")))
    assert work.recipe is not None
    return draws.epochs(
        work.recipe, servers * cols.gpus_per_server * gpu_memory.batches(work, evaluated.platforms, cols, servers)
    )


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
    return _Path(side, 2 * draws.uniform(f"storage {bracket}") - 1)


def reached(block: Block) -> Reached:
    """What the designs of a block reach under each draw, as shares and statistics."""
    n_classes, n_sizes, n = len(block.paths), len(block.n_gpus), block.ran[0].log_scatter.shape[-1]
    found = Reached.empty(len(block.ran), (n_classes, n_sizes))
    all_met = np.ones((n_classes, n_sizes, n), dtype=bool)
    for number, ran in enumerate(block.ran):
        gpu = gpu_side.gpu_samples_per_s(ran.run, ran.values) * np.exp(ran.log_scatter)
        feed = np.minimum(decode_samples_per_s(block.cores, ran.core_s), ran.host_link)
        servers = np.minimum(gpu, feed)
        for place, path in enumerate(block.paths):
            bytes_per_s = _bytes_per_s(path)
            storage = bytes_per_s * (1 / pipeline.read_bytes(ran.sample_bytes, ran.hits))
            network = pipeline.network_stage(path.side, ran.sample_bytes, ran.hits, ran.exchanged_bytes).median
            data = np.minimum(storage, network)
            rate = np.minimum(servers, data)
            found.rate[number, place] = _statistics(rate)
            time_s = None if ran.epochs is None else _time_s(ran, rate, _cold(ran, path, bytes_per_s, servers))
            if time_s is not None:
                found.time_s[number, place] = _statistics(time_s)
            met = _met(ran.target, block, rate, time_s, gpu, np.minimum(feed, data))
            found.met[number, place] = met.mean(axis=-1)
            all_met[place] &= met
    found.all_met[:] = all_met.mean(axis=-1)
    return found


def _bytes_per_s(path: _Path) -> Floats:
    """What storage and mounts serve, (sizes, draws) or (sizes, 1). [B/s]"""
    # Samples of one byte that are all read.
    bracket = pipeline.storage_stage(path.side, 1.0, 0.0)
    if not bracket.log_half_width.any():
        return bracket.median
    return np.asarray(bracket.median * np.exp(bracket.log_half_width * path.place))


def _cold(ran: _Ran, path: _Path, bytes_per_s: Floats, servers: Floats) -> Floats:
    """Rate of the first epoch. [samples/s]"""
    storage = bytes_per_s * (1 / pipeline.read_bytes(ran.sample_bytes, 0.0))
    network = pipeline.network_stage(path.side, ran.sample_bytes, 0.0, ran.exchanged_bytes).median
    return np.asarray(np.minimum(servers, np.minimum(storage, network)))


def _time_s(ran: _Ran, rate: Floats, cold: Floats) -> Floats:
    """Start-up, first epoch, later epochs and evaluations. [s]"""
    assert ran.epochs is not None
    return training_time_s(ran.epochs, ran.n_samples, rate, cold, ran.evaluations, ran.start_up_s)


def _met(target: Target, block: Block, rate: Floats, time_s: Floats | None, gpu: Floats, others: Floats) -> Bools:
    """(sizes, draws) whether the target is reached."""
    if target.samples_per_s is not None:
        return np.asarray(rate >= target.samples_per_s * (1 - _ROUNDING))
    if target.gpus_busy is not None:
        # Busy GPUs wait for nobody: all other stages pass what the GPUs take in the same draw.
        return np.asarray((others >= gpu * (1 - _ROUNDING)) & (block.n_gpus >= target.gpus_busy))
    assert time_s is not None  # a time to train is asked of trainings of known length only
    assert target.time_to_train_s is not None
    return np.asarray(time_s <= target.time_to_train_s * (1 + _ROUNDING))


def _statistics(over_draws: Floats) -> Floats:
    """(sizes, statistics) of (sizes, draws): quantiles by linear interpolation, and the mean."""
    n = over_draws.shape[-1]
    ordered = np.sort(over_draws, axis=-1)
    found = np.empty((*over_draws.shape[:-1], len(STATISTICS)))
    for place, level in enumerate(LEVELS):
        below, share = divmod(level * (n - 1), 1)
        low, high = ordered[..., int(below)], ordered[..., min(int(below) + 1, n - 1)]
        found[..., place] = low + share * (high - low)
    found[..., -1] = over_draws.mean(axis=-1)
    return found
