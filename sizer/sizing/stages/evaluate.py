"""All stages of one workload on many designs in one pass.

Arrays may have any shape: one axis of rows, or platforms x numbers of servers, where what belongs to the platform alone
has shape (platforms, 1).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Index, Ints, Rows
from sizer.base.errors import InfeasibleError
from sizer.base.estimate import Estimate, normal_quantile
from sizer.base.quantities import duration
from sizer.base.streams import pause_point
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.modern.terms import published_evaluation_share
from sizer.perf import pipeline, storage
from sizer.perf.availability.goodput import SHARED_CLUSTER_GPUS, USUAL_BYTES_PER_GPU, level_rates, servers_of_eight
from sizer.perf.stage_capacity import Capacity
from sizer.perf.training_time import epochs_read, training_time_s
from sizer.sizing.reasons import RateNeed
from sizer.sizing.stages.checkpoints import CheckpointRates, checkpoint_rates, meets_level
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# Equally likely outcomes of the GPUs' rate, and of the length of a training.
_GPU_OUTCOMES = 12
_LENGTHS = 8
# How far the servers' rate lies above the least that is in time, in the logarithm; from the last on, the cold epoch
# alone sets the time.
_MARGINS = (*np.log([1.0, 1.06, 1.25, 1.8, 4.0]).tolist(), np.inf)
_NO_MARGINS = (0.0, np.inf)
# A start-up that takes at most this share of the time leaves a time that is as good as certain.
_SHORT_START_UP = 0.02
# Numbers of an array that is worked on at once, and of one that is held: its outcomes grow with servers and sizes.
_AT_ONCE, _HELD = 16_384, 1_048_576
# Logarithm of a rate that nothing reaches.
_NEVER = 700.0

# Probabilities that GPUs, host decode and the link between them reach a rate.
ByStage = tuple[Floats, Floats, Floats]
# Of some kinds of servers, with a first axis of outcomes: the probability of each, in which servers and length of the
# training leave the target in reach; the rate that meets it if all epochs run at it, and what the servers do
# [samples/s]; and the width of the outcome in the logarithm of the need.
LaidOut = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True)
class Outcomes(Rows):
    """Outcomes of the servers, laid out for few rows at once. Arrays over the rows.

    ``lay_out``: outcomes of some kinds of servers at some margins. ``kinds``: kind of each row, of the first axis.
    ``n_lengths``: outcomes at one margin. ``first_share``: share of the samples that the first, cold epoch reads; 0
    where the target says nothing of it. ``misses``: share of the reads of later epochs that no cache serves.
    ``miss_log_sd``: standard deviation of its logarithm, as far as the target asks for it.
    """

    lay_out: Callable[[Ints, Sequence[float]], LaidOut]
    kinds: Ints
    n_lengths: int
    margins: Sequence[float]
    first_share: Floats
    misses: Floats
    miss_log_sd: Floats

    @classmethod
    def of(
        cls,
        lay_out: Callable[[Ints, Sequence[float]], LaidOut],
        shape: tuple[int, ...],
        comp: Compute,
        n_lengths: int = 1,
        margins: Sequence[float] = _NO_MARGINS,
        first_share: Floats | float = 0.0,
    ) -> "Outcomes":
        share, misses = np.broadcast_to(first_share, shape), np.broadcast_to(1 - comp.hit_fraction, shape)
        kinds = np.arange(shape[0], dtype=np.int64)
        return cls(lay_out, kinds, n_lengths, margins, share, misses, comp.miss_log_sd * (1 - share))

    @property
    def of_servers(self) -> Floats:
        """(rows) probability that the target is met where storage and network deliver whatever is asked."""
        servers = np.empty(self.misses.shape)
        for rows, place, (chance, *_) in self._blocks(_NO_MARGINS):
            servers[rows] = np.minimum(chance.sum(axis=0), 1.0)[place]
        return servers

    def _blocks(self, margins: Sequence[float]) -> Iterator[tuple[slice, Ints, LaidOut]]:
        """Rows one after the other, with the outcomes of their kinds and which of these each row has."""
        of_row = self.n_lengths * (len(margins) - 1) * math.prod(self.misses.shape[1:])
        step = max(_HELD // of_row, 1)
        for start in range(0, len(self.kinds), step):
            pause_point()
            rows = slice(start, start + step)
            kinds, place = np.unique(self.kinds[rows], return_inverse=True)
            yield rows, place, self.lay_out(kinds, margins)

    def probability(self, warm: pipeline.Stages, cold: pipeline.Stages) -> Floats:
        """Probability that the target is met.

        Warm and cold rates of storage are one rate of its nodes and differ by the cache: what the cold epoch asks
        stands for both.
        """
        with np.errstate(divide="ignore"):
            path = [np.log(stage.median) for stage in (cold.storage, warm.network, cold.network)]
        # An even spread has a standard deviation of its half width over the square root of 3.
        spread = np.sqrt(cold.storage.log_half_width**2 + 3 * self.miss_log_sd**2)
        total = np.zeros(self.misses.shape)
        every = np.broadcast_arrays(total, *path, spread, self.first_share, self.misses)
        for rows, place, (chance, need, rate, widths) in self._blocks(self.margins):
            storage, network, first_network, half, share, misses = (one[rows] for one in every[1:])
            log_need = _log_rate(need)
            log_rate = log_need if rate is need else _log_rate(rate)
            # Several outcomes at once, as long as their arrays stay in a processor's cache.
            step = max(_AT_ONCE // max(storage.size, 1), 1)
            for start in range(0, len(chance), step):
                some = slice(start, start + step)
                likely, asked, served, width = (one[some][:, place] for one in (chance, log_need, log_rate, widths))
                first_asked = asked + _log_cold(asked, served, network, share, misses)
                by_storage = _reached(storage - first_asked, np.maximum(half, 0.5 * width))
                by_network = _reached(np.minimum(network - asked, first_network - first_asked), 0.5 * width)
                for one in likely * by_storage * by_network:
                    total[rows] += one
        return np.asarray(np.minimum(total, 1.0))


def _log_cold(log_need: Floats, log_rate: Floats, log_network: Floats, share: Floats, misses: Floats) -> Floats:
    """Logarithm of the least cold rate over the least rate, where servers and network let later epochs run faster.

    In units of the least rate, later epochs at 1/q leave the first one F/(1 - (1 - F) q); a path that is slower
    than that later on, too, serves all with F + (1 - h)(1 - F).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        everything = np.log(share + misses * (1 - share))
        if not ((share > 0) & (misses < 1)).any():
            return np.asarray(np.maximum(everything, -_NEVER))
        ratio = np.exp(np.minimum(log_need - np.minimum(log_rate, log_network), 0.0))
        first = np.where(share > 0, share / (1 - (1 - share) * ratio), 0.0)
        found = np.where(first * ratio < misses, everything, np.log(first))
    return np.asarray(np.maximum(found, -_NEVER))


def of_rate(comp: Compute, asked: Floats, by_stage: ByStage) -> Outcomes:
    """The one outcome of a rate that is asked for, which the stages of the servers reach with these probabilities."""
    gpu, decode, link = by_stage
    chance = np.asarray(gpu * (decode * link))

    def lay_out(kinds: Ints, _: Sequence[float]) -> LaidOut:
        rate = np.broadcast_to(asked, chance.shape)[None, kinds]
        return chance[None, kinds], rate, rate, np.zeros(rate.shape)

    return Outcomes.of(lay_out, chance.shape, comp)


def of_busy_gpus(comp: Compute, has_gpus: Bools) -> Outcomes:
    """Rates of the GPUs, each as likely as the others: everything else must pass what they take."""
    # Rows with fewer GPUs, or with GPUs that do not hold the network, meet the target in no outcome.
    has_gpus = has_gpus & (comp.gpu.median > 0)

    def lay_out(kinds: Ints, _: Sequence[float]) -> LaidOut:
        rates, widths = _equally_likely(comp.gpu.take(kinds), _GPU_OUTCOMES)
        has = has_gpus[kinds]
        chance, asked = np.zeros(rates.shape), rates[:, has]
        fed = (one.take(kinds).take(has).probability_at_least(asked) for one in (comp.decode, comp.host_link))
        chance[:, has] = np.multiply(*fed) / _GPU_OUTCOMES
        return chance, rates, rates, widths

    return Outcomes.of(lay_out, has_gpus.shape, comp, _GPU_OUTCOMES)


def of_time(
    comp: Compute, length: Estimate, n_samples: float, evaluations: float, time_s: float, start_up: Estimate
) -> Outcomes:
    """Lengths of a training, and where a cache serves its later epochs, margins of the servers.

    ``length``: epochs of every row. ``n_samples``: samples of an epoch [samples]. ``evaluations``: time of the
    evaluations over that of the epochs. ``time_s``: time that is asked for, with the start-up [s]. ``start_up``:
    start-up [s].

    With ``first`` samples in the cold epoch and ``later`` ones, a server rate a is in time if first/min(a, c) +
    later/min(a, w) <= left, where c and w are the rates of the data path in the cold epoch and later. At a hit fraction
    h, w = c/(1 - h) as far as storage sets them.
    """
    shape = comp.gpu.median.shape
    spread = Capacity.of_estimate(length.broadcast_to(shape))
    n_epochs = _LENGTHS if spread.log_sd.any() else 1
    starts = np.asarray(start_up.value, float)[None]
    if float(start_up.high) >= _SHORT_START_UP * time_s:
        # As many outcomes as the time of a short training is known by: every length with every start.
        starts, _ = _equally_likely(Capacity.of_estimate(start_up), _LENGTHS**2 // n_epochs)
    left_s = np.maximum(time_s - starts, 0.0)

    def lay_out(kinds: Ints, margins: Sequence[float]) -> LaidOut:
        # Lengths stand along a first axis, starts along a second and margins along a third one.
        left, margin, above = (
            np.reshape(part, (*axes, *(1,) * len(shape)))
            for part, axes in ((left_s, (-1, 1)), (margins[:-1], (-1,)), (margins[1:], (-1,)))
        )
        epochs, width = (part[:, None, None] for part in _equally_likely(spread.take(kinds), n_epochs))
        samples = np.add(*epochs_read(epochs, evaluations)) * n_samples
        need = np.where(left > 0, samples / np.where(left > 0, left, 1.0), np.inf)
        gpu, decode, link = (one.take(kinds) for one in (comp.gpu, comp.decode, comp.host_link))
        least = need * np.exp(margin)
        fed = np.asarray(decode.probability_at_least(least) * link.probability_at_least(least))
        reached = np.asarray(gpu.probability_at_least(least) * fed)
        beyond = np.concatenate([reached[:, :, 1:], np.zeros_like(reached[:, :, :1])], axis=2)
        rate = need * np.exp(np.where(np.isfinite(above), 0.5 * (margin + above), margin))
        chance = (reached - beyond) / (n_epochs * len(left_s))
        # A start that is not certain leaves lengths that are known as well as they are many.
        parts = np.broadcast_arrays(chance, need, rate, width if len(left_s) == 1 else np.zeros(()))
        chance, need, rate, width = (part.reshape(-1, *part.shape[3:]) for part in parts)
        return chance, need, rate, width

    # Of rows that no cache serves, all margins ask the same: their chances add up to that of the least rate.
    margins = _MARGINS if (comp.hit_fraction > 0).any() else _NO_MARGINS
    first, later = epochs_read(length.value, evaluations)
    return Outcomes.of(lay_out, shape, comp, n_epochs * len(left_s), margins, first / (first + later))


def _log_rate(rate: Floats) -> Floats:
    """Logarithm of a rate, finite for one that is 0 or beyond all bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.minimum(np.nan_to_num(np.log(rate), nan=_NEVER, neginf=-_NEVER), _NEVER))


def _equally_likely(quantity: Capacity, n: int) -> tuple[Floats, Floats]:
    """(n, ...) values of a quantity, each as likely as the others, and the width of each in the logarithm."""
    edges = np.linspace(0, 1, n + 1).reshape(-1, *(1,) * quantity.median.ndim)
    # The ends of the first and the last one lie at infinity: they count as wide as half of a usual one.
    spread = replace(quantity, median=np.ones_like(quantity.median))
    bounds = spread.quantile(np.clip(edges, 0.25 / n, 1 - 0.25 / n))
    return quantity.quantile(0.5 * (edges[1:] + edges[:-1])), np.log(bounds[1:] / bounds[:-1])


def _reached(distance: Floats, half: Floats) -> Floats:
    """Probability to lie above a need, at a distance from it and spread evenly over half a width to either side."""
    is_spread = half > 0
    if not is_spread.any():
        return np.asarray(distance >= -1e-12, dtype=float)
    is_everywhere = bool(is_spread.all())
    even = 0.5 + 0.5 * distance / (half if is_everywhere else np.where(is_spread, half, 1.0))
    even = np.minimum(np.maximum(even, 0.0), 1.0)
    return even if is_everywhere else np.asarray(np.where(is_spread, even, distance >= -1e-12))


FloatsT = TypeVar("FloatsT", float, Floats, Floats | float)

# The last bits of a probability, so that one that equals the confidence but for rounding meets it.
_CONFIDENCE_RESOLUTION = 1e-9
# A file is looked up once and read in pieces of so many bytes, each an operation of the published rates. Assumed.
_READ_BYTES = 2.0**20


@dataclass(frozen=True)
class Need(Rows):
    """What a target asks of every row. Rates in samples/s, arrays over rows."""

    gpu_samples_per_s: Floats  # steady rate that the GPUs must pass
    gpu_log_sd: Floats  # further spread of that need: epochs that are not known exactly
    samples_per_s: Floats  # the same for the other stages, at the upper end of that spread
    cold_samples_per_s: Floats  # rate that storage and network must pass in the first epoch; 0: none asked
    counts_gpu: bool  # False: the GPUs set the need themselves (a number of GPUs kept busy)
    outcomes: Outcomes  # of the servers, with what each asks of storage and network
    has_gpus: Bools | None = None  # whether there are so many; None: no number of GPUs is asked for
    checkpoints: CheckpointRates | None = None  # of a language model
    by_stage: ByStage | None = None  # probabilities to meet the need, where its outcomes are made of them; not taken

    def take(self, rows: Index) -> "Need":
        return replace(super().take(rows), by_stage=None)


def storage_side(cols: Columns, n_servers: Ints, n_nodes: Ints, gateway_bytes_per_s: Floats) -> pipeline.StorageSide:
    """Data path of every row at given storage nodes."""
    nodes = np.where(cols.is_local > 0, n_servers, np.maximum(n_nodes, 1))
    return pipeline.StorageSide(
        read=storage.read_capacity(
            nodes, cols.node_low_bytes_per_s, cols.node_high_bytes_per_s, cols.node_line_bytes_per_s
        ),
        mounts=storage.mount_capacity(
            n_servers,
            cols.mounts + cols.mounts_per_node * nodes,
            cols.mount_low_bytes_per_s,
            cols.mount_high_bytes_per_s,
        ),
        front_end_bytes_per_s=np.asarray(nodes * cols.node_line_bytes_per_s),
        gateway_bytes_per_s=gateway_bytes_per_s,
        server_nic_bytes_per_s=n_servers * cols.storage_nic_bytes_per_s,
    )


def stages(
    sample_bytes: Floats | float, comp: Compute, side: pipeline.StorageSide, *, is_warm: bool
) -> pipeline.Stages:
    """Capacities of all stages with samples of so many bytes, in a warm epoch or in the first one."""
    hits = comp.hit_fraction if is_warm else np.zeros_like(comp.hit_fraction)
    return pipeline.Stages(
        storage=pipeline.storage_stage(side, sample_bytes, hits),
        network=pipeline.network_stage(side, sample_bytes, hits, comp.exchanged_bytes),
        decode=comp.decode,
        host_link=comp.host_link,
        gpu=comp.gpu,
        exchange=Capacity.exact(comp.exchange),
    )


def epochs(
    work: ResolvedWorkload,
    cols: Columns,
    n_servers: Ints,
    calibration: Calibration,
    batch_per_gpu: Floats | None = None,
) -> Estimate | None:
    """Epochs of the training: fixed by the request, or by the recipe at the row's global batch.

    ``batch_per_gpu`` of each row; by default the workload's, where all rows have one kind of GPU.
    """
    if work.request.epochs is not None:
        shape = np.broadcast_shapes(cols.gpus_per_server.shape, n_servers.shape)
        return Estimate.exact(np.full(shape, work.request.epochs))
    if work.recipe is not None:
        each = work.batch_per_gpu if batch_per_gpu is None else batch_per_gpu
        batch = n_servers * cols.gpus_per_server * each
        found = calibration.epochs(work.recipe, work.recipe_batch(batch))
        return found.scaled(work.recipe_share(found.value))
    return None


def run_epochs(
    work: ResolvedWorkload, comp: Compute, cols: Columns, n_servers: Ints, calibration: Calibration
) -> Estimate | None:
    """Epochs' worth of steps that the training takes from start to end: what it computes, and all else that it takes.

    The length that a time to train follows from.
    """
    length = epochs(work, cols, n_servers, calibration, comp.batch_per_gpu)
    if length is None or comp.whole_run is None:
        return length
    factor = comp.whole_run
    return Estimate.log_normal(length.value * factor.value, np.hypot(length.log_sd, factor.log_sd))


def reads_once(work: ResolvedWorkload, length: Estimate | None) -> bool:
    """Whether a training of some epochs reads every sample once, so that no later epoch finds it in a cache."""
    return length is not None and not work.is_inference and work.kind.rereads and float(np.max(length.high)) <= 1


def evaluation_share(work: ResolvedWorkload) -> float:
    """Time of the evaluations over the time of the training epochs.

    An evaluation is a forward pass over the held-back samples; a training step is worth three forward passes.
    """
    if work.recipe is not None and (published := published_evaluation_share(work.recipe)) is not None:
        return published
    if work.recipe is None or work.dataset.n_validation_samples is None:
        return 0.0
    per_epoch = work.dataset.n_validation_samples.value / work.recipe.evaluate_every_epochs.value
    return per_epoch / (3 * work.n_samples)


def time_s(
    work: ResolvedWorkload, n_epochs: ArrayLike, rate: ArrayLike, cold_rate: ArrayLike, start_up_s: ArrayLike
) -> Floats:
    """Time to train at rates after the first epoch and in it, in samples/s: start-up, epochs and evaluations. [s]"""
    return training_time_s(n_epochs, work.n_samples, rate, cold_rate, evaluation_share(work), start_up_s)


def least_chance(confidence: FloatsT) -> FloatsT:
    """Smallest probability that counts as ``confidence``."""
    return confidence - _CONFIDENCE_RESOLUTION


def share_of(request: SizingRequest) -> float:
    """Confidence that each workload must reach alone, so that all together reach the one asked."""
    share: float = request.confidence ** (1 / len(request.workload))
    return share


def need(
    work: ResolvedWorkload,
    comp: Compute,
    cols: Columns,
    n_servers: Ints,
    confidence: Floats | float,
    calibration: Calibration,
) -> Need:
    """What the target of a workload asks of every row.

    Raises InfeasibleError if starting a run takes longer than the whole training may.
    """
    gpus = np.broadcast_to(n_servers * cols.gpus_per_server, comp.gpu.median.shape)
    wanted = _need_of_target(work, comp, cols, n_servers, confidence, calibration)
    others, has_level = work.others, np.ones_like(gpus)
    is_shared = cols.has_usual_level * (gpus >= SHARED_CLUSTER_GPUS)
    servers = np.broadcast_to(servers_of_eight(n_servers, cols.gpus_per_server), gpus.shape)
    if others is not None and others.level_is_default:
        has_level = cols.has_usual_level * meets_level(others, servers)
        others = others if np.any(has_level) or np.any(is_shared) else others.without_level()
    rates = checkpoint_rates(work.checkpoints, others, gpus, comp.replicas)
    if rates is not None and others is not None and (others.level is not None or others.has_minimum):
        read = np.full(gpus.shape, others.minimum_read_bytes_per_s)
        write = np.full(gpus.shape, others.minimum_write_bytes_per_s)
        if others.level is not None:
            at_level = [rate * has_level for rate in level_rates(others.level, servers)]
            read, write = np.maximum(read, at_level[0]), np.maximum(write, at_level[1])
        rates = replace(rates, least_read_bytes_per_s=read, least_write_bytes_per_s=write)
    if rates is not None and others is not None and others.has_usual_capacity:
        rates = replace(rates, least_bytes=USUAL_BYTES_PER_GPU * gpus * is_shared)
    return replace(wanted, checkpoints=rates)


def _need_of_target(
    work: ResolvedWorkload,
    comp: Compute,
    cols: Columns,
    n_servers: Ints,
    confidence: Floats | float,
    calibration: Calibration,
) -> Need:
    zero = np.zeros(comp.gpu.median.shape)
    target = work.request.target
    if target.samples_per_s is not None:
        return need_of_rate(comp, np.full(zero.shape, target.samples_per_s))
    if target.gpus_busy is not None:
        # "Busy" must hold where the GPUs turn out fast: the other stages meet the upper end of the GPU rate.
        upper = comp.gpu.quantile(confidence)
        has_gpus = np.broadcast_to(n_servers * cols.gpus_per_server >= target.gpus_busy, zero.shape)
        outcomes = of_busy_gpus(comp, has_gpus)
        return Need(upper, zero, upper, zero, counts_gpu=False, outcomes=outcomes, has_gpus=has_gpus)
    assert target.time_to_train_s is not None
    length = run_epochs(work, comp, cols, n_servers, calibration)
    assert length is not None  # checked by the request
    left_s = target.time_to_train_s - calibration.start_up_s
    if left_s <= 0:
        raise InfeasibleError(
            f"{work.request.name}: no design trains in {duration(target.time_to_train_s)}; "
            f"starting a run alone takes {duration(calibration.start_up_s)}"
        )
    share = evaluation_share(work)
    first, later = _samples_of(work, length)
    # Where the cache serves the later epochs, servers that can do more buy time for the first one, which is cold: half
    # of their margin (in the logarithm) is spent on it, the other half stays theirs. Without hits the first epoch is
    # like the others, and storage pays for all of them.
    least = (first + later) / left_s
    servers = np.minimum.reduce([one.quantile(1 - confidence) for one in (comp.gpu, comp.decode, comp.host_link)])
    steady = least * np.maximum(servers / least, 1.0) ** (comp.hit_fraction / 2)
    cold = first / (left_s - later / steady)
    upper = steady * np.exp(length.log_sd * normal_quantile(confidence))
    outcomes = of_time(comp, length, work.n_samples, share, target.time_to_train_s, calibration.start_up)
    return Need(steady, length.log_sd, upper, cold, counts_gpu=True, outcomes=outcomes)


def _samples_of(work: ResolvedWorkload, length: Estimate) -> tuple[Floats, Floats]:
    """Samples of the first epoch and of all later ones; evaluations count by the time that they take."""
    first, later = epochs_read(length.value, evaluation_share(work))
    return first * work.n_samples, later * work.n_samples


def required_samples_per_s(work: ResolvedWorkload, length: Estimate | None, calibration: Calibration) -> Floats | None:
    """Rate that meets the target exactly if every epoch runs at it; None where the target is a number of GPUs.

    ``length`` of the training in epochs. [samples/s]
    """
    target = work.request.target
    if target.samples_per_s is not None:
        return np.asarray(target.samples_per_s)
    if target.time_to_train_s is None or length is None:
        return None
    first, later = _samples_of(work, length)
    return (first + later) / (target.time_to_train_s - calibration.start_up_s)


def need_of_rate(comp: Compute, samples_per_s: Floats) -> Need:
    """What a rate asks, the same of all rows or one of each."""
    zero = np.zeros(samples_per_s.shape)
    gpu, decode, link = (one.probability_at_least(samples_per_s) for one in (comp.gpu, comp.decode, comp.host_link))
    by_stage = (gpu, decode, link)
    outcomes = of_rate(comp, samples_per_s, by_stage)
    return Need(samples_per_s, zero, samples_per_s, zero, counts_gpu=True, outcomes=outcomes, by_stage=by_stage)


def read_bytes_per_s(work: ResolvedWorkload, comp: Compute, wanted: Need) -> Floats:
    """Reads that the target asks of the storage, in warm epochs or the first one, whichever is more. [B/s]"""
    warm = pipeline.read_demand_bytes_per_s(wanted.samples_per_s, work.sample_bytes, comp.hit_fraction)
    return np.maximum(warm, pipeline.read_demand_bytes_per_s(wanted.cold_samples_per_s, work.sample_bytes))


def nic_bytes_per_s(work: ResolvedWorkload, comp: Compute, wanted: Need) -> Floats:
    """What the target asks of the servers' NICs: reads and gradients, in warm epochs or the first one. [B/s]"""
    warm = pipeline.read_demand_bytes_per_s(1.0, work.sample_bytes, comp.hit_fraction) + comp.exchanged_bytes
    cold = pipeline.read_demand_bytes_per_s(1.0, work.sample_bytes) + comp.exchanged_bytes
    return np.maximum(wanted.samples_per_s * warm, wanted.cold_samples_per_s * cold)


def storage_nodes(
    already: Floats, work: ResolvedWorkload, comp: Compute, cols: Columns, wanted: Need, confidence: Floats | float
) -> Floats:
    """Smallest node count whose rates meet the target at the joint confidence; inf where none does.

    ``already``: probability that GPUs, host decode and their link meet it. They have used up part of the confidence:
    P(storage) must reach confidence / P(both).
    """
    asked = least_chance(confidence)
    # A row that the other stages rule out fails for their sake; its storage is planned as if they met the target.
    level = np.where(already >= asked, asked / np.where(already >= asked, already, 1.0), asked)
    reads, checkpoints = read_bytes_per_s(work, comp, wanted), wanted.checkpoints
    files = np.ceil(operations_per_s(work, reads) / cols.node_iops)
    if checkpoints is None and not np.count_nonzero(cols.staged_bytes_per_s):
        return np.maximum(nodes_reading(reads, cols, level), files)
    if checkpoints is not None and checkpoints.least_read_bytes_per_s is not None:
        # Such a rate is met by what was demonstrated.
        low_end = np.minimum(cols.node_low_bytes_per_s, cols.node_line_bytes_per_s)
        files = np.maximum(files, np.ceil(checkpoints.least_read_bytes_per_s / low_end))
    if checkpoints is not None and checkpoints.least_write_bytes_per_s is not None:
        files = np.maximum(files, np.ceil(checkpoints.least_write_bytes_per_s / cols.node_write_low_bytes_per_s))
    if checkpoints is not None and checkpoints.least_bytes is not None:
        files = np.maximum(files, _usual_nodes(checkpoints, cols))
    together = [(reads, np.zeros_like(reads))] if checkpoints is None else checkpoints.at_one_time(reads)
    needed: Floats = np.maximum.reduce(
        [
            files,
            *(
                storage.nodes_needed(
                    level,
                    cols.node_line_bytes_per_s,
                    (read, cols.node_low_bytes_per_s, cols.node_high_bytes_per_s),
                    (
                        write + cols.staged_bytes_per_s,
                        cols.node_write_low_bytes_per_s,
                        cols.node_write_high_bytes_per_s,
                    ),
                )
                for read, write in together
            ),
        ]
    )
    return needed


def _usual_nodes(streams: CheckpointRates, cols: Columns) -> Floats:
    """Nodes that hold the capacity that is usual for so many GPUs; of storage that is named at most its largest."""
    assert streams.least_bytes is not None
    nodes = np.ceil(streams.least_bytes / cols.usable_bytes_per_node)
    is_named = streams.others is not None and streams.others.storage_is_named
    return np.asarray(np.minimum(nodes, cols.most_nodes) if is_named else nodes)


def operations_per_s(work: ResolvedWorkload, reads_bytes_per_s: Floats) -> Floats:
    """Lookups and reads a second of samples that are files of their own; 0 of records. [1/s]"""
    if work.dataset.format != "raw files" or not work.kind.has_files:
        return np.zeros_like(reads_bytes_per_s)
    each = 1 + np.ceil(work.sample_bytes / _READ_BYTES)
    return np.asarray(reads_bytes_per_s / work.sample_bytes * each)


def rate_need(work: ResolvedWorkload, comp: Compute, cols: Columns, wanted: Need) -> dict[RateNeed, float]:
    """Nodes that each of the rates takes at their low ends, of the first row; not rounded."""
    read_low = float(cols.node_low_bytes_per_s.flat[0])
    found = {RateNeed.READS: float(read_bytes_per_s(work, comp, wanted).flat[0]) / read_low}
    found[RateNeed.FILES] = float(
        (operations_per_s(work, read_bytes_per_s(work, comp, wanted)) / cols.node_iops).flat[0]
    )
    streams = wanted.checkpoints
    if streams is not None and streams.least_read_bytes_per_s is not None:
        is_stated = streams.others is not None and streams.others.level is None
        kind = RateNeed.STATED if is_stated else RateNeed.LEVEL
        found[kind] = float(streams.least_read_bytes_per_s.flat[0]) / read_low
        if streams.least_write_bytes_per_s is not None:
            written = float((streams.least_write_bytes_per_s / cols.node_write_low_bytes_per_s).flat[0])
            found[kind] = max(found[kind], written)
    if streams is not None and streams.least_bytes is not None:
        found[RateNeed.USUAL_CAPACITY] = float(_usual_nodes(streams, cols).flat[0])
    if streams is not None:
        write_low = float(cols.node_write_low_bytes_per_s.flat[0])
        found[RateNeed.CHECKPOINTS] = float(streams.written_bytes_per_s.flat[0]) / write_low
        found[RateNeed.RESTARTS] = float(streams.restart_bytes_per_s.flat[0]) / read_low
        if streams.others is not None:
            found[RateNeed.INGEST] = streams.others.ingest_bytes_per_s / write_low
            found[RateNeed.SNAPSHOTS] = streams.others.snapshot_bytes_per_s / read_low
    return found


def nodes_reading(bytes_per_s: Floats, cols: Columns, probability: Floats | float) -> Floats:
    """Smallest node count that reads so much with a probability of the storage alone; inf where none does."""
    reads = (bytes_per_s, cols.node_low_bytes_per_s, cols.node_high_bytes_per_s)
    return storage.nodes_needed(probability, cols.node_line_bytes_per_s, reads)


def gpu_probability(gpu: Capacity, wanted: Need) -> Floats:
    """Probability that the GPUs meet the target; where they set it themselves: 1 if there are enough, else 0."""
    if not wanted.counts_gpu:
        return np.ones_like(gpu.median) if wanted.has_gpus is None else np.asarray(wanted.has_gpus, dtype=float)
    return gpu.widened(wanted.gpu_log_sd).probability_at_least(wanted.gpu_samples_per_s)


def stage_probabilities(comp: Compute, wanted: Need) -> ByStage:
    """Probabilities that GPUs, host decode and the link to the GPUs meet the target; of all rows of the need."""
    if wanted.by_stage is not None:
        return wanted.by_stage
    decode, link = (one.probability_at_least(wanted.samples_per_s) for one in (comp.decode, comp.host_link))
    return gpu_probability(comp.gpu, wanted), decode, link
