"""Rates that hosts can prepare, for published rows of loaders and of runs that hosts may limit."""

import numpy as np

from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.fit.hosts import HostTask, busy_cores, host_task, sample_bytes_of
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import LOADERS, Observation
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import decode_samples_per_s

_HOST_LOADERS = ("framework", "dali-cpu")


def host_rate(task: HostTask, sample_bytes: float, cores: float, calibration: Calibration) -> Estimate:
    """Samples per second that some cores prepare."""
    work = calibration.hosts.work(task)
    rate = decode_samples_per_s(cores, work.core_s(sample_bytes))
    return Estimate.log_normal(np.asarray(rate), work.log_sd(sample_bytes))


def loader_rate(
    row: Observation, catalog: Catalog, calibration: Calibration, busy_fraction: float = 1.0
) -> Estimate | CalibrationNote:
    """Rate of an input pipeline alone, or of one core of it, or why it is not known.

    ``row``: row of a loader test, or of a run whose hosts were busy to a printed share. ``catalog``, ``calibration``:
    where cores and the work per sample come from. ``busy_fraction``: share of the cores that was busy. [-]
    """
    is_per_core = row.quantity == "samples_per_s_per_core"
    cores = 1.0 if is_per_core else busy_cores(row, catalog)
    if row.loader == "dali":
        return note(FitNote.GPU_DECODES)
    if row.loader not in LOADERS:
        return note(FitNote.LOADER_UNKNOWN, row.loader)
    if row.loader not in _HOST_LOADERS or cores is None:
        return note(FitNote.LOADER_OR_CORES_NOT_STATED)
    task, size = host_task(row, catalog), sample_bytes_of(row)
    if task is None:
        return note(FitNote.FORMAT_NOT_MODELLED, str(row.extra["sample_format"]))
    if size is None:
        return note(FitNote.SAMPLE_BYTES_NOT_STATED)
    return host_rate(task, size, cores * busy_fraction, calibration)
