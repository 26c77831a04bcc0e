"""Time of a training: start-up, a first epoch that no cache serves, the later epochs, and the evaluations."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_above


def epochs_read(epochs: ArrayLike, evaluation_share: ArrayLike = 0.0) -> tuple[Floats, Floats]:
    """Epochs at the rate of the first, cold one, and epochs at the steady rate.

    ``epochs`` (...): length of the training; below 1 where it ends within the first epoch.
    ``evaluation_share`` (...): time of the evaluations over that of the epochs; evaluations run at the steady rate.
    Returns (...): min(E, 1), and max(E - 1, 0) + E times the share.

    Examples
    --------
    >>> [part.tolist() for part in epochs_read([0.5, 1.0, 90.0], 0.01)]
    [[0.5, 1.0, 1.0], [0.005, 0.01, 89.9]]
    """
    length = np.asarray(epochs, float)
    return np.minimum(length, 1.0), np.maximum(length - 1, 0.0) + length * np.asarray(evaluation_share, float)


def training_time_s(
    epochs: ArrayLike,
    epoch_samples: ArrayLike,
    samples_per_s: ArrayLike,
    cold_samples_per_s: ArrayLike,
    evaluation_share: ArrayLike = 0.0,
    start_up_s: ArrayLike = 0.0,
) -> Floats:
    """Time of a training.

    ``epochs`` (...): length of the training.
    ``epoch_samples`` (...): samples of one epoch [samples].
    ``samples_per_s``, ``cold_samples_per_s`` (...): rates after the first epoch, and in it [samples/s].
    ``evaluation_share`` (...): time of the evaluations over that of the epochs.
    ``start_up_s`` (...): start of the run [s].
    Returns (...): broadcast of the inputs; infinite at a rate of 0 [s].

    Examples
    --------
    Two epochs of 1,000 samples, at 10 a second while nothing is cached and at 100 later, after a start of 5 s.

    >>> float(training_time_s(2, 1000, 100, 10, start_up_s=5))
    115.0
    """
    first, later = epochs_read(epochs, evaluation_share)
    rate, cold = np.asarray(samples_per_s, float), np.asarray(cold_samples_per_s, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        epochs_s_per_sample = first / cold + np.where(later > 0, later / rate, 0.0)
    return np.asarray(start_up_s + np.asarray(epoch_samples, float) * epochs_s_per_sample)


def epochs_to_target(
    global_batch: ArrayLike, base_epochs: ArrayLike, double_batch: ArrayLike, exponent: ArrayLike
) -> Floats:
    """Epochs that a recipe needs at a global batch.

    ``global_batch`` (...): samples of one step over all GPUs.
    ``base_epochs`` (...): epochs at small batches.
    ``double_batch`` (...): global batch at which twice the epochs are needed.
    ``exponent`` (...): steepness of the growth.
    Returns (...): e = E0 (1 + (B/B2)^g): flat while B is far below B2, then growing.
    Raises ValueError if an argument is not above 0.

    Published counts of ResNet-50 (MLPerf v0.6) are 60 up to 4,096, 64 at 16,384, 72 to 76 at 33,000, 86 at 54,080 and
    90 at 59,904: E0 = 60, B2 = 93,000 and g = 1.5 describe them within their evaluation grid of four epochs.

    Examples
    --------
    >>> epochs_to_target([4096, 33280, 59904], 60, 93e3, 1.5).round(0)
    array([61., 73., 91.])
    """
    require_above(0, global_batch=global_batch, base_epochs=base_epochs, double_batch=double_batch, exponent=exponent)
    batch, base, double, power = (
        np.asarray(a, dtype=float) for a in (global_batch, base_epochs, double_batch, exponent)
    )
    return np.asarray(base * (1 + (batch / double) ** power))
