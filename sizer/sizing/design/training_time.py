"""Time of a training from its length and its rates."""

import numpy as np

from sizer.base.estimate import Estimate
from sizer.perf.stage_capacity import Capacity
from sizer.sizing.result import TrainingTime
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.workload_run import WorkloadRun

# The rate of several stages together lies at most so far below the low end of the slowest one. [-]
_NEAR = 0.1


def training_time(run: WorkloadRun) -> TrainingTime | None:
    """Start-up + first (cold) epoch + remaining epochs + evaluations, on the first row of a run.

    None where no length is known, and where the GPUs do not hold the network.
    """
    rate, cold = (part[0] for part in run.rates)
    if run.epochs is None or run.length is None or not rate.value > 0 or (total_s := total_time(run)) is None:
        return None
    length, epoch = run.length[0], _seconds(run.work.n_samples, rate)
    evaluations_s = float(length.value) * evaluate.evaluation_share(run.work) * float(epoch.value)
    spread = float(np.hypot(length.log_sd, rate.log_sd))
    return TrainingTime(
        epochs=run.epochs[0],
        start_up_s=run.calibration.start_up_s,
        first_epoch_s=_seconds(run.work.n_samples, cold),
        epoch_s=epoch,
        evaluations_s=Estimate.log_normal(evaluations_s, spread) if evaluations_s else Estimate.exact(0.0),
        total_s=total_s[0],
        cold_limit=cold_limit(run.cold.storage, float(cold.value)),
        whole_run=None if run.comp.whole_run is None else run.comp.whole_run[0],
    )


def cold_limit(storage: Capacity, rate: float) -> str:
    """Key of the stage that a first epoch waits for which is slower than later ones: storage, or the way to it.

    Parameters
    ----------
    storage : Capacity
        Of the first row, with nothing in a cache.
    rate : float
        What all stages together reach. [samples/s]
    """
    # The slowest of several uncertain stages is slower than the median of each: its lower end tells.
    return "storage" if float(storage.quantile(0.05)[0]) <= (1 + _NEAR) * rate else "network"


def total_time(run: WorkloadRun) -> Estimate | None:
    """Start-up and the run, whose interval is that of its parts, widened by what is not known of its length. [s]

    None where no length is known.
    """
    length, (rate, cold) = run.length, run.rates
    if length is None or run.work.is_inference:
        return None
    value, low, high = (
        evaluate.time_s(run.work, length.value, steady, in_first, 0.0)
        for steady, in_first in ((rate.value, cold.value), (rate.high, cold.high), (rate.low, cold.low))
    )
    shorter = np.exp(np.hypot(np.log(value / low), np.log(length.value / length.low)))
    longer = np.exp(np.hypot(np.log(high / value), np.log(length.high / length.value)))
    start_up_s = run.calibration.start_up_s
    return Estimate(*(np.asarray(start_up_s + run_s) for run_s in (value, value / shorter, value * longer)))


def _seconds(samples: float, rate: Estimate) -> Estimate:
    return Estimate(samples / rate.value, samples / rate.high, samples / rate.low)
