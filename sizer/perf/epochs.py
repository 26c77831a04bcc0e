"""Epochs to a target accuracy against the global batch."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import require_above


def epochs_to_target(
    global_batch: ArrayLike, base_epochs: ArrayLike, double_batch: ArrayLike, exponent: ArrayLike
) -> Floats:
    """Epochs that a recipe needs at a global batch.

    Parameters
    ----------
    global_batch : array_like, shape (...)
        Samples of one step over all GPUs. [-]
    base_epochs : array_like, shape (...)
        Epochs at small batches. [-]
    double_batch : array_like, shape (...)
        Global batch at which twice the epochs are needed. [-]
    exponent : array_like, shape (...)
        Steepness of the growth. [-]

    Returns
    -------
    ndarray, shape (...)
        E = E0 (1 + (B/B2)^g): flat while B is far below B2, then growing. [-]

    Raises
    ------
    ValueError
        If an argument is not above 0.

    Notes
    -----
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
