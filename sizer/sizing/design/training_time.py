"""Time of a training from its length and its rates."""

import numpy as np

from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import Calibration
from sizer.sizing.result import TrainingTime
from sizer.sizing.stages import evaluate
from sizer.workload.resolve import ResolvedWorkload


def training_time(
    work: ResolvedWorkload, length: Estimate, rate: Estimate, cold: Estimate, calibration: Calibration
) -> TrainingTime:
    """Start-up + first (cold) epoch + remaining epochs + evaluations.

    Parameters
    ----------
    work : ResolvedWorkload
    length : Estimate
        Epochs of the training.
    rate, cold : Estimate
        In later epochs, and in the first one. [samples/s]
    calibration : Calibration
    """
    epoch = _seconds(work.n_samples, rate)
    first = _seconds(work.n_samples, cold)
    share = evaluate.evaluation_share(work)
    evaluations_s = float(length.value) * share * float(epoch.value)
    spread = float(np.hypot(length.log_sd, rate.log_sd))
    return TrainingTime(
        epochs=length,
        start_up_s=calibration.start_up_s,
        first_epoch_s=first,
        epoch_s=epoch,
        evaluations_s=Estimate.log_normal(evaluations_s, spread) if evaluations_s else Estimate.exact(0.0),
        total_s=total_time(work, length, rate, cold, calibration),
    )


def total_time(
    work: ResolvedWorkload, length: Estimate, rate: Estimate, cold: Estimate, calibration: Calibration
) -> Estimate:
    """Start-up and the run, whose interval is that of its parts, widened by what is not known of its length. [s]

    Arguments as of :func:`training_time`, of one design or of several.
    """
    value, low, high = (
        evaluate.time_s(work, length.value, steady, in_first, 0.0)
        for steady, in_first in ((rate.value, cold.value), (rate.high, cold.high), (rate.low, cold.low))
    )
    shorter = np.exp(np.hypot(np.log(value / low), np.log(length.value / length.low)))
    longer = np.exp(np.hypot(np.log(high / value), np.log(length.high / length.value)))
    return Estimate(*(np.asarray(calibration.start_up_s + run) for run in (value, value / shorter, value * longer)))


def _seconds(samples: float, rate: Estimate) -> Estimate:
    return Estimate(samples / rate.value, samples / rate.high, samples / rate.low)
