"""One workload evaluated on some sizes of one platform."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Ints
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
from sizer.sizing.stages.platform_columns import Columns, columns, narrowed
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class WorkloadRun:
    """Stages, need and columns of one workload. Arrays over the sizes."""

    comp: Compute
    need: Need
    side: pipeline.StorageSide
    warm: pipeline.Stages
    cold: pipeline.Stages
    cols: Columns
    servers: Ints


def run_on(
    request: SizingRequest,
    work: ResolvedWorkload,
    platform: Platform,
    servers: Sequence[int],
    storage_nodes: int,
    gateway_bytes_per_s: float,
    catalog: Catalog,
    calibration: Calibration,
) -> WorkloadRun:
    """Evaluate a workload on clusters of ``servers`` servers each, with storage and gateway held fixed."""
    work = work.on(platform.gpu.id)
    count = np.asarray(servers, dtype=np.int64)
    index = np.zeros(len(count), dtype=np.int64)
    nodes = np.full(len(count), storage_nodes)
    cols = columns([platform], catalog, request.platforms.gpus_per_server).take(index)
    cols = narrowed(cols, [platform], index, count, nodes, request.fabric)
    comp = compute_side.compute(work, [platform], cols, count, calibration, catalog)
    side = evaluate.storage_side(cols, count, nodes, np.full(len(count), gateway_bytes_per_s))
    need = evaluate.need(work, comp, cols, count, evaluate.share_of(request), calibration)
    return WorkloadRun(
        comp=comp,
        need=need,
        side=side,
        warm=evaluate.stages(work.sample_bytes, comp, side, is_warm=True),
        cold=evaluate.stages(work.sample_bytes, comp, side, is_warm=False),
        cols=cols,
        servers=count,
    )


def rate_in_one_server(
    work: ResolvedWorkload, platform: Platform, cols: Columns, gpus: int, catalog: Catalog, calibration: Calibration
) -> Estimate | None:
    """Rate of some GPUs of one server on synthetic data. [samples/s] None where they do not hold the network."""
    cols, one = replace(cols, gpus_per_server=np.array([float(gpus)])), np.array([1])
    if not all_fit([work], [platform], cols, one, calibration, catalog).all():
        return None
    return compute_side.compute(work, [platform], cols, one, calibration, catalog).gpu.estimate()[0]


def sequential_bytes_per_s(run: WorkloadRun) -> Estimate:
    """What storage, mounts and links let through for the first size, nothing decoded, cached or exchanged. [B/s]"""
    # A sample of one byte makes a sample rate a byte rate.
    stages = (pipeline.storage_stage(run.side, 1.0, 0.0), pipeline.network_stage(run.side, 1.0, 0.0, 0.0))
    return throughput(stages)[0]
