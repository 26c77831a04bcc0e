"""Share of its usable capacity that shared storage is planned to fill."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats

# Most of the usable capacity that data, checkpoints and snapshots fill. An assumption of this program; no source read
# gives a limit. Scale-out NAS and parallel file systems rebuild a failed drive or node into free space and slow down as
# they fill, and raw capacity less protection leaves out what the file system keeps for itself: a tenth stays free.
MOST_FILL = 0.9


def planned_bytes(needed_bytes: ArrayLike, filled_bytes: ArrayLike) -> Floats:
    """Usable capacity to plan for so that no more than ``MOST_FILL`` of it is filled.

    Parameters
    ----------
    needed_bytes : array_like, shape (...)
        Capacity that is called for: everything stored with the reserve of the request, or the minimum that it asks. [B]
    filled_bytes : array_like, shape (...)
        What is stored without that reserve, which stays free and counts as free space. [B]

    Returns
    -------
    ndarray, shape (...)
        Usable capacity. [B]

    Examples
    --------
    >>> planned_bytes([90e12, 150e12], [90e12, 100e12]) / 1e12   # a reserve of half the data leaves enough free
    array([100., 150.])
    """
    needed, filled = (np.asarray(one, dtype=float) for one in (needed_bytes, filled_bytes))
    return np.asarray(np.maximum(needed, filled / MOST_FILL))
