"""How long a sum of overlapping pieces stays at each level, and the level of a percentile of the time."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats


def shares_of_time(
    start_s: ArrayLike, end_s: ArrayLike, amount: ArrayLike, begin_s: float, until_s: float
) -> tuple[Floats, Floats]:
    """Levels of a sum of amounts, each there from its start to its end, and the share of the time of each level.

    Parameters
    ----------
    start_s, end_s : array_like, shape (pieces,)
        From when to when a piece is there. [s]
    amount : array_like, shape (pieces,)
        What it adds, in any unit.
    begin_s, until_s : float
        Window that is looked at. [s]

    Returns
    -------
    levels, shares : ndarray
        Levels that rise, and the share of the window that the sum spends on each.

    Examples
    --------
    >>> shares_of_time([0.0, 2.0], [6.0, 4.0], [1.0, 2.0], 0.0, 10.0)   # 1 for 4 s, 3 for 2 s, nothing for 4 s
    (array([0., 1., 3.]), array([0.4, 0.4, 0.2]))
    """
    amounts = np.asarray(amount, float)
    starts = np.clip(np.asarray(start_s, float), begin_s, until_s)
    ends = np.clip(np.asarray(end_s, float), begin_s, until_s)
    times = np.concatenate([[begin_s], starts, ends, [until_s]])
    steps = np.concatenate([[0.0], amounts, -amounts, [0.0]])
    order = np.argsort(times, kind="stable")
    level, length = np.cumsum(steps[order])[:-1], np.diff(times[order])
    most = float(np.abs(level).max())
    if most > 0:
        # Sums of thousands of amounts leave rounding behind, which must not make a level of its own.
        level = np.round(level, 9 - int(np.ceil(np.log10(most))))
    levels, place = np.unique(np.maximum(level[length > 0], 0.0), return_inverse=True)
    shares = np.bincount(place, weights=length[length > 0], minlength=len(levels))
    return levels, shares / (until_s - begin_s)


def level_at_percentile(levels: Floats, shares: Floats, percentile: float) -> float:
    """Smallest level that the sum does not exceed for a share ``percentile`` of the time.

    Parameters
    ----------
    levels, shares : ndarray, shape (levels,)
        Rising levels and the share of the time at each, from :func:`shares_of_time`.
    percentile : float
        Share of the time, in 0..1. [-]
    """
    reached = np.cumsum(shares)
    return float(levels[min(int(np.searchsorted(reached, percentile - 1e-12)), len(levels) - 1)])
