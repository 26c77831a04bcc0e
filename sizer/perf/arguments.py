"""Checks of arguments shared by the performance models: each names the argument, its limit and the value it got."""

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats


def require_at_least(limit: float, **arguments: ArrayLike) -> None:
    """Check arguments against a lower limit.

    ``limit``: smallest value allowed.
    ``**arguments``: values by the names that the error uses.
    Raises ValueError if an element is below the limit or NaN.
    """
    for name, value in arguments.items():
        array = np.asarray(value, dtype=float)
        if not (array >= limit).all():
            raise ValueError(f"{name} must be at least {limit:g}, got {_worst(array, array >= limit)}")


def require_above(limit: float, **arguments: ArrayLike) -> None:
    """Check arguments against a lower limit that is itself not allowed.

    ``limit``: largest value that is not allowed.
    ``**arguments``: values by the names that the error uses.
    Raises ValueError if an element is not above the limit or NaN.
    """
    for name, value in arguments.items():
        array = np.asarray(value, dtype=float)
        if not (array > limit).all():
            raise ValueError(f"{name} must be above {limit:g}, got {_worst(array, array > limit)}")


def require_within(low: float, high: float, **arguments: ArrayLike) -> None:
    """Check arguments against a closed range.

    ``low``, ``high``: smallest and largest value allowed.
    ``**arguments``: values by the names that the error uses.
    Raises ValueError if an element is outside the range or NaN.
    """
    for name, value in arguments.items():
        array = np.asarray(value, dtype=float)
        inside = (array >= low) & (array <= high)
        if not inside.all():
            raise ValueError(f"{name} must lie in {low:g}..{high:g}, got {_worst(array, inside)}")


def _worst(array: np.ndarray[tuple[int, ...], np.dtype[np.float64]], good: ArrayLike) -> str:
    return f"{array[~np.asarray(good)].flat[0]:g}"


def float_arrays(*arguments: ArrayLike) -> tuple[Floats, ...]:
    """The arguments as arrays of floats."""
    return tuple(np.asarray(argument, dtype=float) for argument in arguments)
