"""One workload evaluated on rows of one platform: sizes, inputs, or what is left after losses."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints, Rows
from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf import pipeline
from sizer.perf.stage_capacity import throughput
from sizer.physical.platform import Platform
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.evaluate import Need
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import Columns, ServerRows, columns, narrowed
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class WorkloadRun(Rows):
    """One workload on some rows. Arrays over the rows; what is derived is worked out for whoever asks."""

    work: ResolvedWorkload  # sizes of sample and data set, batch and target rate may be arrays over the rows
    comp: Compute
    cols: Columns
    servers: Ints
    nodes: Ints  # of the storage
    gateway_bytes_per_s: Floats
    confidence: Floats | float  # that the workload must reach
    calibration: Calibration

    def hosts(self, platform: Platform, catalog: Catalog) -> ServerRows:
        """Its servers, which are those of a platform."""
        return ServerRows([platform], self.cols, self.servers, catalog, self.calibration)

    @cached_property
    def side(self) -> pipeline.StorageSide:
        """Data path."""
        return evaluate.storage_side(self.cols, self.servers, self.nodes, self.gateway_bytes_per_s)

    @cached_property
    def warm(self) -> pipeline.Stages:
        """Stages after the first epoch."""
        return evaluate.stages(self.work.sample_bytes, self.comp, self.side, is_warm=True)

    @cached_property
    def cold(self) -> pipeline.Stages:
        """Stages in the first epoch."""
        return evaluate.stages(self.work.sample_bytes, self.comp, self.side, is_warm=False)

    @cached_property
    def need(self) -> Need:
        """What the target asks.

        Raises InfeasibleError if starting a run takes longer than the whole training may.
        """
        return evaluate.need(self.work, self.comp, self.cols, self.servers, self.confidence, self.calibration)

    @cached_property
    def target_probability(self) -> Floats:
        """Probability that the target is met, whatever it takes to the first token."""
        return self.need.outcomes.probability(self.warm, self.cold)

    @property
    def probability(self) -> Floats:
        """Probability that the target is met, and with it every limit of latency."""
        timely = self.comp.timely
        return self.target_probability if timely is None else self.target_probability * timely

    @cached_property
    def rates(self) -> tuple[Estimate, Estimate]:
        """Rates after the first epoch and in it: what the slowest stage passes. [samples/s]"""
        warm, cold = np.split(np.arange(2 * self.servers.size), 2)
        both = pipeline.throughputs(self.warm, self.cold)
        return both[warm], both[cold]

    @property
    def epochs(self) -> Estimate | None:
        """Epochs of the training; None where the request states none."""
        return evaluate.epochs(self.work, self.cols, self.servers, self.calibration, self.comp.batch_per_gpu)

    @cached_property
    def length(self) -> Estimate | None:
        """Epochs' worth of steps that the training takes from start to end; None where no length is known."""
        return evaluate.run_epochs(self.work, self.comp, self.cols, self.servers, self.calibration)

    def time_s(self, rate: Floats, cold_rate: Floats) -> Floats | None:
        """Time to train at rates after the first epoch and in it, in samples/s; None where no length is known. [s]"""
        if self.length is None or self.work.is_inference:
            return None
        return evaluate.time_s(self.work, self.length.value, rate, cold_rate, self.calibration.start_up_s)

    @property
    def storage_nodes_needed(self) -> Floats:
        """Storage nodes that the target takes, not rounded; inf where no number is enough."""
        already = self.need.outcomes.of_servers
        return evaluate.storage_nodes(already, self.work, self.comp, self.cols, self.need, self.confidence)


def run_on(
    request: SizingRequest,
    work: ResolvedWorkload,
    platform: Platform,
    servers: ArrayLike,
    storage_nodes: ArrayLike,
    gateway_bytes_per_s: float,
    catalog: Catalog,
    calibration: Calibration,
) -> WorkloadRun:
    """Evaluate a workload on clusters of ``servers`` servers and ``storage_nodes`` nodes each, the gateway held fixed.

    Counts of servers and nodes, of shape (rows,), broadcast.
    """
    work = work.on(platform.gpu.id)
    count, nodes = np.broadcast_arrays(np.atleast_1d(servers).astype(np.int64), storage_nodes)
    index = np.zeros(len(count), dtype=np.int64)
    cols = columns([platform], catalog, request.platforms.gpus_per_server).take(index)
    cols = narrowed(cols, [platform], index, count, nodes, request.fabric)
    return WorkloadRun(
        work=work,
        comp=compute_side.compute(work, ServerRows([platform], cols, count, catalog, calibration)),
        cols=cols,
        servers=count,
        nodes=nodes,
        gateway_bytes_per_s=np.full(len(count), gateway_bytes_per_s),
        confidence=evaluate.share_of(request),
        calibration=calibration,
    )


def rate_in_one_server(
    work: ResolvedWorkload, platform: Platform, cols: Columns, gpus: int, catalog: Catalog, calibration: Calibration
) -> Estimate | None:
    """Rate of some GPUs of one server on synthetic data. [samples/s] None where they do not hold the network."""
    cols = replace(cols, gpus_per_server=np.array([float(gpus)]))
    hosts = ServerRows([platform], cols, np.array([1]), catalog, calibration)
    return compute_side.compute(work, hosts).gpu.estimate()[0] if all_fit([work], hosts).all() else None


def sequential_bytes_per_s(run: WorkloadRun) -> Estimate:
    """What storage, mounts and links let through for the first size, nothing decoded, cached or exchanged. [B/s]"""
    # A sample of one byte makes a sample rate a byte rate.
    stages = (pipeline.storage_stage(run.side, 1.0, 0.0), pipeline.network_stage(run.side, 1.0, 0.0, 0.0))
    return throughput(stages)[0]
