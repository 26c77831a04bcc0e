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
    spread = float(np.hypot(length.log_sd, rate.log_sd))
    count = float(length.value)
    remaining_s = max(count - 1, 0.0) * float(epoch.value)
    evaluations_s = count * share * float(epoch.value)
    total = calibration.start_up_s + min(count, 1.0) * float(first.value) + remaining_s + evaluations_s
    return TrainingTime(
        epochs=length,
        start_up_s=calibration.start_up_s,
        first_epoch_s=first,
        epoch_s=epoch,
        evaluations_s=Estimate.log_normal(evaluations_s, spread) if evaluations_s else Estimate.exact(0.0),
        total_s=Estimate.log_normal(total, spread),
    )


def _seconds(samples: float, rate: Estimate) -> Estimate:
    return Estimate(samples / rate.value, samples / rate.high, samples / rate.low)
