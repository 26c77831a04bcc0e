"""What reads and writes the storage of a design: peak, share of the time and average of each stream."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from sizer.perf.availability.goodput import CheckpointPlan
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.checkpoints import TRANSFER_S, CheckpointRates
from sizer.workload.checkpoints import OtherStreams, other_streams
from sizer.workload.request import SizingRequest


class StreamKind(Enum):
    """What a stream is."""

    TRAINING = "training"
    CHECKPOINTS = "checkpoints"
    RESTART = "restart"
    INGEST = "ingest"
    SNAPSHOTS = "snapshots"
    STAGING = "staging"  # of the next working set, from the capacity tier


@dataclass(frozen=True)
class StorageStream:
    """One stream of one workload, or of the data as a whole. Rates in B/s."""

    kind: StreamKind
    workload: str  # "" of what belongs to none
    is_write: bool
    peak_bytes_per_s: float
    duty_fraction: float  # share of the time that it runs

    @property
    def average_bytes_per_s(self) -> float:
        """Mean over days."""
        return self.peak_bytes_per_s * self.duty_fraction


@dataclass(frozen=True)
class StorageDemandOverTime:
    """All streams of a design, and the most that runs at the same time. Rates in B/s."""

    streams: tuple[StorageStream, ...]
    peak_read_bytes_per_s: float
    peak_write_bytes_per_s: float
    average_read_bytes_per_s: float
    average_write_bytes_per_s: float
    never_together: tuple[str, ...]  # streams that the request keeps apart


def demand_over_time(design: DesignAnswer, request: SizingRequest) -> StorageDemandOverTime:
    """Streams of a design; trainings that share it are taken one after the other, as in sizing."""
    others = other_streams(request)
    streams = [stream for answer in design.workloads for stream in _of_workload(answer)]
    streams += _of_data(others)
    if design.platform.second_tier is not None:
        rate = design.platform.second_tier.staging_bytes_per_s
        streams.append(StorageStream(StreamKind.STAGING, "", True, rate, 1.0))
    peaks = [pair for answer in design.workloads for pair in _peaks(answer, others)]
    staged = sum(stream.peak_bytes_per_s for stream in streams if stream.kind is StreamKind.STAGING)
    return StorageDemandOverTime(
        streams=tuple(streams),
        peak_read_bytes_per_s=max((read for read, _ in peaks), default=0.0),
        peak_write_bytes_per_s=max((write for _, write in peaks), default=0.0) + staged,
        average_read_bytes_per_s=_average(streams, is_write=False),
        average_write_bytes_per_s=_average(streams, is_write=True),
        never_together=tuple(sorted(others.never_together)),
    )


def _average(streams: list[StorageStream], *, is_write: bool) -> float:
    return sum(stream.average_bytes_per_s for stream in streams if stream.is_write is is_write)


def writes_one_checkpoint(answer: WorkloadAnswer) -> bool:
    """Whether a run ends before its first checkpoint is due, so that it writes one at its end."""
    if answer.job is None or answer.time is None:
        return False
    return float(answer.time.total_s.value) < answer.job.plan.interval_s


def _checkpoint_share(answer: WorkloadAnswer, plan: CheckpointPlan) -> float:
    """Share of the time in which checkpoints are written: of a short run one in all of it."""
    if answer.time is not None and writes_one_checkpoint(answer):
        return min(1.0, plan.write_s / float(answer.time.total_s.value))
    return plan.write_share


def _reads(answer: WorkloadAnswer) -> float:
    return max(float(answer.storage_bytes_per_s.value), float(answer.cold_storage_bytes_per_s.value))


def _of_workload(answer: WorkloadAnswer) -> Iterator[StorageStream]:
    name, job = answer.workload.name, answer.job
    useful = 1.0 if job is None else job.plan.goodput[0]
    yield StorageStream(StreamKind.TRAINING, name, False, _reads(answer), useful)
    if job is None or not job.checkpoints.is_asked:
        return
    plan, kept = job.plan, job.checkpoints
    share = _checkpoint_share(answer, plan)
    yield StorageStream(StreamKind.CHECKPOINTS, name, True, kept.written_bytes / plan.write_s, share)
    loaded = kept.restart_bytes + kept.replica_bytes * (job.replicas - 1)
    yield StorageStream(StreamKind.RESTART, name, False, loaded / TRANSFER_S, min(1.0, TRANSFER_S / plan.between_s[0]))


def _of_data(others: OtherStreams) -> Iterator[StorageStream]:
    for kind, is_write, rate in (
        (StreamKind.INGEST, True, others.ingest_bytes_per_s),
        (StreamKind.SNAPSHOTS, False, others.snapshot_bytes_per_s),
    ):
        if rate:
            yield StorageStream(kind, "", is_write, rate, others.duty_fraction)


def _peaks(answer: WorkloadAnswer, others: OtherStreams) -> Iterator[tuple[float, float]]:
    """Reads and writes of every set of streams that may run at the same time."""
    job = answer.job
    written = restart = 0.0
    if job is not None and job.checkpoints.is_asked:
        written = job.checkpoints.written_bytes / job.plan.write_s
        restart = (job.checkpoints.restart_bytes + job.checkpoints.replica_bytes * (job.replicas - 1)) / TRANSFER_S
    waits = job is not None and job.checkpoints.waits
    rates = CheckpointRates(np.array([written]), np.array([restart]), waits, others)
    for read, write in rates.at_one_time(np.array([_reads(answer)])):
        yield float(read[0]), float(write[0])
