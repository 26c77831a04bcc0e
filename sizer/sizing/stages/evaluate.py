"""All stages of one workload on many designs in one pass.

Arrays may have any shape: one axis of rows, or platforms x numbers of servers, where what belongs to the platform alone
has shape (platforms, 1).
"""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Index, Ints, Rows
from sizer.base.errors import InfeasibleError
from sizer.base.estimate import Estimate, normal_quantile
from sizer.base.quantities import duration
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.modern.design_rates import published_evaluation_share
from sizer.perf import pipeline, storage
from sizer.perf.availability.goodput import SHARED_CLUSTER_GPUS, USUAL_BYTES_PER_GPU, level_rates, servers_of_eight
from sizer.perf.stage_capacity import Capacity
from sizer.perf.training_time import epochs_read, training_time_s
from sizer.sizing.reasons import RateNeed
from sizer.sizing.stages.checkpoints import CheckpointRates, checkpoint_rates, meets_level
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.outcomes import ByStage, Outcomes, of_busy_gpus, of_rate, of_time
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

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
