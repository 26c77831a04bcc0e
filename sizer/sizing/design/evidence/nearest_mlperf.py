"""MLPerf runs nearest to a workload on today's GPUs, and how far its rate lies beyond them."""

import math

from sizer.calibrate.modern.accelerators import sourced_accelerators
from sizer.calibrate.modern.calibration import modern_calibration
from sizer.calibrate.modern.design_rates import FEW_RUNS
from sizer.calibrate.modern.published import fitted_ids, n_runs, published_runs, related_network
from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.modern.validate import predict
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform
from sizer.sizing.result import NearbyMeasurement
from sizer.sizing.stages.measured_rates import accelerator, anchor_of, is_measured
from sizer.workload.resolve import ResolvedWorkload


def nearest_mlperf_runs(
    work: ResolvedWorkload, platform: Platform, n_gpus: int, catalog: Catalog, most: int
) -> tuple[NearbyMeasurement, ...]:
    """Published runs of the same network, nearest in GPU, generation, size and round."""
    known = sourced_accelerators()
    here = accelerator(platform.gpu.id)
    assert here is not None

    def distance(row: ModernRow) -> tuple[bool, bool, float, float, str]:
        gpu = known[row.accelerator]
        return (
            gpu.gpu != platform.gpu.id,
            gpu.generation != here.generation,
            abs(math.log2((row.accelerators or 1) / n_gpus)),
            -row.round_order,
            row.id,
        )

    rows = [row for row in published_runs(work.mlperf) if row.accelerator in known and row.samples_per_s]
    nearest = sorted(rows, key=distance)[:most]
    found = []
    for row, (rate, _) in zip(nearest, predict(nearest, modern_calibration()), strict=True):
        assert row.samples_per_s is not None
        found.append(
            NearbyMeasurement(
                id=row.id,
                source=row.source,
                where=f"{row.submitter}, {row.system}",
                gpu=catalog.gpus[known[row.accelerator].gpu].name,
                server=row.system,
                software=f"MLPerf {row.round}",
                n_gpus=row.accelerators or 1,
                published=row.samples_per_s,
                predicted=rate,
                calibrates=row.id in fitted_ids(),
                time_to_train_s=row.time_to_train_s,
            )
        )
    return tuple(found)


def notes_on_newer_gpu(
    work: ResolvedWorkload, platform: Platform, n_gpus: int, catalog: Catalog
) -> tuple[CalibrationNote, ...]:
    """How far a rate on a GPU newer than V100 lies beyond the published runs; empty where it interpolates."""
    here = accelerator(platform.gpu.id)
    assert here is not None
    network, gpu = work.dnn.name, platform.gpu.name
    if not is_measured(work, platform.gpu.id):
        return (note(FitNote.GPU_MOVED_FROM_V100, network, gpu, catalog.dnns[anchor_of(work, catalog)].name),)
    related = related_network(work.mlperf)
    if related is not None:
        return (note(FitNote.DNN_FROM_LIKE, network, related.name),)
    if n_runs(here.generation) < FEW_RUNS:
        return (note(FitNote.MLPERF_GENERATION, gpu),)
    known = sourced_accelerators()
    sizes = [
        row.accelerators or 1
        for row in published_runs(work.mlperf)
        if row.accelerator in known and known[row.accelerator].gpu == platform.gpu.id
    ]
    if not sizes:
        return (note(FitNote.MLPERF_DNN_ON_GPU, network, gpu),)
    most = max(sizes)
    return (note(FitNote.MORE_ACCELERATORS, network, gpu, most, n_gpus),) if n_gpus > 2 * most else ()
