"""What decides the size of the storage, capacity or rate, and what would be enough without the one that decides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.perf.availability.goodput import CheckpointPlan
from sizer.physical import capacity
from sizer.physical.platform import Platform
from sizer.sizing.constraints.stored_data import StorageDemand, storage_demand
from sizer.sizing.constraints.tiers import needed_of, network_of_tier
from sizer.sizing.reasons import CapacityTier, LargerDrives, MinimumCapacity, StorageDecision, StorageNeed
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.checkpoints import CheckpointRates
from sizer.sizing.stages.platform_columns import capacity_is_unknown, node_rates, rate_is_unknown
from sizer.sizing.stages.workload_run import WorkloadRun
from sizer.workload.checkpoints import OtherStreams, other_streams
from sizer.workload.data import DataRequest
from sizer.workload.request import SizingRequest

# Capacity forces a system "far above need" where the rate would do with this share of its nodes.
FAR_ABOVE = 0.5


def storage_need(
    request: SizingRequest, platform: Platform, runs: Sequence[WorkloadRun], catalog: Catalog
) -> StorageNeed | None:
    """Nodes that the data call for and nodes that the reads call for; None of storage that is not bought by the node.

    ``runs``: of the design's size alone. ``catalog``: storage that could hold the data behind a smaller
    system.
    """
    storage, option, storage_nodes = platform.storage, platform.capacity_option, int(runs[0].nodes[0])
    if not capacity.counts_nodes(storage) or capacity_is_unknown(storage, option) or rate_is_unknown(storage):
        return None
    demand = storage_demand([run.work for run in runs], request.data)
    data = needed_of(platform, demand, request.data)
    for_capacity = int(capacity.smallest_nodes(storage, option, data).nodes)
    for_rate = _whole(storage, max(float(run.storage_nodes_needed[0]) for run in runs))
    # What takes the most nodes of all workloads.
    each = (evaluate.rate_need(run.work, run.comp, run.cols, run.need) for run in runs)
    needs = [pair for one in each for pair in one.items()]
    loads = [float(run.need.samples_per_s[0] / run.warm.storage.median[0]) for run in runs]
    if (stated := request.data.minimum_read_bytes_per_s) is not None:
        loads.append(stated / (storage_nodes * node_rates(platform)[0]))
    is_capacity = for_rate is not None and for_rate < for_capacity and storage_nodes == for_capacity
    is_rate = for_rate is not None and for_capacity < for_rate and storage_nodes == for_rate
    decision = StorageDecision.CAPACITY if is_capacity else StorageDecision.RATE if is_rate else StorageDecision.SEVERAL
    is_far_above = is_capacity and for_rate is not None and for_rate <= FAR_ABOVE * for_capacity
    return StorageNeed(
        decision=decision,
        nodes=storage_nodes,
        smallest_nodes=capacity.node_limits(storage)[0],
        nodes_for_capacity=for_capacity,
        nodes_for_rate=for_rate,
        rate_need=max(needs, key=lambda pair: pair[1])[0],
        load_fraction=max(loads),
        fill_fraction=min(demand.stored_bytes, data) / float(capacity.usable_bytes(storage, option, storage_nodes)),
        larger_drives=_larger_drives(storage, data, storage_nodes) if is_capacity else None,
        capacity_tier=_tier(platform, for_rate, data, catalog)
        if is_far_above and for_rate is not None and platform.second_tier is None
        else None,
        minimum=_minimum(platform, demand, request.data),
        has_working_set=request.data.working_set_bytes is not None,
    )


def _minimum(platform: Platform, demand: StorageDemand, data: DataRequest) -> MinimumCapacity | None:
    if not demand.is_minimum:
        return None
    without = needed_of(platform, replace(demand, minimum_bytes=0.0), data)
    stored = int(capacity.smallest_nodes(platform.storage, platform.capacity_option, without).nodes)
    return MinimumCapacity(demand.minimum_bytes, demand.stored_bytes, stored)


def _whole(storage: Storage, nodes: float) -> int | None:
    """Nodes in whole units, at least the smallest system; None where no number is enough."""
    if not np.isfinite(nodes):
        return None
    low, _ = capacity.node_limits(storage)
    unit = capacity.nodes_per_unit(storage)
    return int(-(-max(nodes, low) // unit)) * unit


def _larger_drives(storage: Storage, data: float, nodes: int) -> LargerDrives | None:
    """Drives of the same system with which the fewest nodes hold the data; None where the design has them."""
    choices = [(capacity.smallest_nodes(storage, index, data), index) for index in range(len(storage.capacity_options))]
    fewer = [(int(found.nodes), index) for found, index in choices if found.fits and int(found.nodes) < nodes]
    if not fewer:
        return None
    count, index = min(fewer)
    return LargerDrives(storage.capacity_options[index].name, count)


def _tier(platform: Platform, for_rate: int, data: float, catalog: Catalog) -> CapacityTier | None:
    """Nodes of disks that hold everything behind a system that is large enough for the reads.

    Of the same vendor where there is one; of these the one with the fewest units.
    """
    if platform.storage.tier == "capacity":
        return None
    found = []
    for storage in catalog.storage.values():
        if storage.tier != "capacity" or not storage.orderable or network_of_tier(catalog, platform, storage) is None:
            continue
        for index in range(len(storage.capacity_options)):
            nodes = capacity.smallest_nodes(storage, index, data)
            if nodes.fits:
                units = int(nodes.nodes) // capacity.nodes_per_unit(storage)
                is_other = storage.vendor != platform.storage.vendor
                found.append((is_other, units, index, int(nodes.nodes), storage.id))
    if not found:
        return None
    _, _, index, count, item = min(found)
    storage = catalog.storage[item]
    held = float(capacity.usable_bytes(platform.storage, platform.capacity_option, for_rate))
    return CapacityTier(item, storage.name, storage.capacity_options[index].name, count, for_rate, held)


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
    restart_share = min(1.0, job.load_s / plan.between_s[0])
    yield StorageStream(StreamKind.RESTART, name, False, job.loaded_bytes / job.load_s, restart_share)


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
        written, restart = job.checkpoints.written_bytes / job.plan.write_s, job.loaded_bytes / job.load_s
    waits = job is not None and job.checkpoints.waits
    rates = CheckpointRates(np.array([written]), np.array([restart]), waits, others)
    for read, write in rates.at_one_time(np.array([_reads(answer)])):
        yield float(read[0]), float(write[0])
