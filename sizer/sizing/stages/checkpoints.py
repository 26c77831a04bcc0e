"""Checkpoints of trainings: what of the time interruptions leave, and what is asked of the storage at one time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Ints, Rows
from sizer.base.estimate import Z90
from sizer.perf.availability import goodput
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.checkpoints import CHECKPOINT_WAIT_S, Checkpoints, OtherStreams

# What storage is sized for: a checkpoint is written while training goes on, and read back, in so long a time, or in
# longer as long as that costs a thousandth of the time at most: slower writing is paid at interruptions only. While
# training waits for it, writing takes a hundredth of the interval. Choices of ours.
_TRANSFER_S = 300.0
_TRANSFER_COST, _WAIT_COST = 1e-3, 1e-2
# Copying the state of a GPU into the memory of its server: 0.5 to 5 s are published; the upper end.
COPY_S = 5.0


# From so many GPUs on interruptions are shown for every training: one in 16 days at the usual rate. A choice of ours.
LARGE_JOB_GPUS = 128


@dataclass(frozen=True)
class CheckpointedJob:
    """A training with what it keeps of its state and what interruptions leave of its time."""

    checkpoints: Checkpoints
    plan: goodput.CheckpointPlan
    parameters: float
    replicas: int  # data parallel
    counts: bool  # whether rates and times of the answer count interruptions

    @property
    def loaded_bytes(self) -> float:
        """What a restart reads."""
        return self.checkpoints.restart_bytes + self.checkpoints.replica_bytes * (self.replicas - 1)

    @property
    def load_s(self) -> float:
        """Time in which the storage is to read that."""
        return plan_of(self.checkpoints, self.plan.gpus).load_s


@dataclass(frozen=True)
class CheckpointRates(Rows):
    """What checkpoints and other streams ask of the storage of every row. [B/s]"""

    written_bytes_per_s: Floats
    restart_bytes_per_s: Floats
    waits: bool  # training reads nothing while a checkpoint is written
    others: OtherStreams | None
    # Of a published level that is asked for, or stated in the request.
    least_read_bytes_per_s: Floats | None = None
    least_write_bytes_per_s: Floats | None = None
    least_bytes: Floats | None = None  # usable capacity that is usual for so many GPUs [B]

    def at_one_time(self, reads_bytes_per_s: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Reads and writes of the streams that may run at the same time, set by set.

        ``reads_bytes_per_s`` (rows,): reads of the training [B/s].
        """
        none = np.zeros_like(reads_bytes_per_s)
        streams = {
            "training": (reads_bytes_per_s, none),
            "checkpoints": (none, self.written_bytes_per_s),
            "restart": (self.restart_bytes_per_s, none),
        }
        if self.others is not None:
            streams["ingest"] = (none, none + self.others.ingest_bytes_per_s)
            streams["snapshots"] = (none + self.others.snapshot_bytes_per_s, none)
        for names in _largest_sets(tuple(streams), self.waits, self.others):
            chosen = [streams[name] for name in names]
            yield sum((read for read, _ in chosen), none), sum((write for _, write in chosen), none)


@lru_cache(maxsize=256)
def _largest_sets(streams: tuple[str, ...], waits: bool, others: OtherStreams | None) -> tuple[tuple[str, ...], ...]:
    """Streams that may run together, in sets to which no other can be added."""
    apart = {frozenset(("restart", "training")), frozenset(("restart", "checkpoints"))}
    if waits:
        apart.add(frozenset(("training", "checkpoints")))
    if others is not None:
        named = others.never_together | ({"restart"} if "training" in others.never_together else set())
        apart |= {frozenset(pair) for pair in combinations(sorted(named), 2)}
    allowed = [
        frozenset(names)
        for count in range(len(streams), 0, -1)
        for names in combinations(streams, count)
        if not any(pair <= set(names) for pair in apart)
    ]
    return tuple(tuple(sorted(one)) for one in allowed if not any(one < other for other in allowed))


@lru_cache(maxsize=4096)
def plan_of(checkpoints: Checkpoints, gpus: int) -> goodput.CheckpointPlan:
    """Checkpoints of a job, on storage that is sized for them."""
    stated = checkpoints.interruptions
    rates = goodput.INTERRUPTIONS if stated is None else (stated, stated, stated)
    median = float(goodput.time_between_interruptions(rates[0], gpus))
    copy_s = None if checkpoints.waits else COPY_S
    interval = checkpoints.every_s or float(goodput.best_interval(copy_s or CHECKPOINT_WAIT_S, median))
    # A checkpoint is written before the next one starts.
    load_s = min(max(_TRANSFER_S, _TRANSFER_COST * median), interval)
    write_s = interval if checkpoints.on_local_drives else load_s
    if copy_s is None:
        write_s = min(max(CHECKPOINT_WAIT_S, _WAIT_COST * interval), interval)
    return goodput.checkpoint_plan(
        gpus,
        checkpoints.written_bytes,
        checkpoints.written_bytes / write_s,
        checkpoints.written_bytes / load_s,
        copy_s=copy_s,
        interval_s=interval,
        rates=rates,
    )


def job_of(
    checkpoints: Checkpoints | None, parameters: float, gpus: int, writer_bytes_per_s: float
) -> CheckpointedJob | None:
    """Job of a network other than a language model; None of a small one that asks for no checkpoints.

    Interruptions are shown for it; its rates are those while it runs.

    ``writer_bytes_per_s``: rate at which one process writes to the storage of the design, and reads at a restart [B/s].
    """
    if checkpoints is None or not (checkpoints.is_asked or gpus >= LARGE_JOB_GPUS):
        return None
    stated = checkpoints.interruptions
    plan = goodput.checkpoint_plan(
        gpus,
        checkpoints.written_bytes,
        writer_bytes_per_s,
        writer_bytes_per_s,
        interval_s=checkpoints.every_s,
        rates=goodput.INTERRUPTIONS if stated is None else (stated, stated, stated),
    )
    return CheckpointedJob(checkpoints, plan, parameters, 1, counts=False)


def goodput_of(checkpoints: Checkpoints, gpus: int) -> tuple[float, float]:
    """Median share of the time that is useful, and the spread of its logarithm. [-], [-]"""
    value, low, high = plan_of(checkpoints, gpus).goodput
    width = np.log(high / max(low, 1e-9)) if low < high else 0.0
    return value, float(width / (2 * Z90))


def checkpoint_rates(
    checkpoints: Checkpoints | None, others: OtherStreams | None, gpus: Floats, replicas: Floats | None = None
) -> CheckpointRates | None:
    """What is asked of the storage beside the reads of a training; None where that is nothing.

    ``checkpoints``: of the training; None of what only reads. ``others``: what else runs. ``gpus``: GPUs of the job on
    every row. ``replicas``: data parallel replicas of a language model.
    """
    is_asked = checkpoints is not None and checkpoints.is_asked
    if not is_asked and others is None:
        return None
    if checkpoints is None or not is_asked:
        return CheckpointRates(np.zeros(gpus.shape), np.zeros(gpus.shape), False, others)
    distinct, places = np.unique(gpus, return_inverse=True)
    plans = [plan_of(checkpoints, int(count)) for count in distinct]
    written = np.array([plan.checkpoint_bytes / plan.write_s for plan in plans])
    load_s = np.array([plan.load_s for plan in plans])[places].reshape(gpus.shape)
    more = 0.0 if replicas is None else checkpoints.replica_bytes * np.maximum(replicas - 1, 0)
    restart = (checkpoints.restart_bytes + more) / load_s
    return CheckpointRates(written[places].reshape(gpus.shape), restart, checkpoints.waits, others)


def meets_level(others: OtherStreams, servers_of_eight: ArrayLike) -> Bools:
    """Whether the storage of so many servers meets the level of the streams: one that is taken by default may count
    from a scalable unit on.
    """
    return np.asarray(servers_of_eight) >= others.level_from_unit * goodput.UNIT_SERVERS


# Writes up to this share of the demonstrated reads need no published write rate. A choice of ours: the lowest that a
# vendor states is a quarter of its reads, so that this leaves a factor of 2.5.
_CERTAIN_WRITE_SHARE = 0.1


def write_demand_matters(streams: CheckpointRates | None, n_nodes: Ints, cols: Columns) -> Bools:
    """Rows that write so much that it depends on the write rate of the storage whether it is enough.

    What a published test wrote, and a tenth of what the nodes read, is taken to be written whatever the rate is. A
    level that nobody asked for counts only where the smallest system is not sure to write what the workload does.
    """
    written = cols.staged_bytes_per_s
    if streams is not None:
        ingest = 0.0 if streams.others is None else streams.others.ingest_bytes_per_s
        written = written + streams.written_bytes_per_s + ingest
        if streams.least_write_bytes_per_s is not None:
            is_usual = streams.others is not None and streams.others.level_is_default
            is_asked = written > _certain_writes(cols.fewest_nodes, cols) if is_usual else True
            written = np.where(is_asked, np.maximum(written, streams.least_write_bytes_per_s), written)
    return np.asarray(written > _certain_writes(n_nodes, cols))


def _certain_writes(n_nodes: Floats | Ints, cols: Columns) -> Floats:
    """What nodes write whatever their write rate is. [B/s]"""
    return np.maximum(_CERTAIN_WRITE_SHARE * n_nodes * cols.node_low_bytes_per_s, cols.shown_write_bytes_per_s)


def write_demands_matter(
    each: Sequence[CheckpointRates | None], n_servers: Ints, n_nodes: Ints, cols: Columns
) -> Bools:
    """Rows of which :func:`write_demand_matters` holds for any workload."""
    there = np.where(cols.is_local > 0, n_servers, np.maximum(n_nodes, 1))
    found: Bools = np.logical_or.reduce([write_demand_matters(streams, there, cols) for streams in each])
    return found
