"""Checks of arguments shared by the performance models: each names the argument, its limit and the value it got."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats


def require_at_least(limit: float, **arguments: ArrayLike) -> None:
    """Raises ValueError if an element is below the limit or NaN; ``**arguments``: by the names that the error uses."""
    _require(lambda array: array >= limit, f"be at least {limit:g}", arguments)


def require_above(limit: float, **arguments: ArrayLike) -> None:
    """Raises ValueError if an element is not above the limit or NaN."""
    _require(lambda array: array > limit, f"be above {limit:g}", arguments)


def require_within(low: float, high: float, **arguments: ArrayLike) -> None:
    """Raises ValueError if an element is outside the closed range or NaN."""
    _require(lambda array: (array >= low) & (array <= high), f"lie in {low:g}..{high:g}", arguments)


def _require(is_good: Callable[[Floats], Bools], rule: str, arguments: Mapping[str, ArrayLike]) -> None:
    for name, value in arguments.items():
        array = np.asarray(value, dtype=float)
        good = np.asarray(is_good(array))
        if not good.all():
            raise ValueError(f"{name} must {rule}, got {array[~good].flat[0]:g}")


def float_arrays(*arguments: ArrayLike) -> tuple[Floats, ...]:
    """The arguments as arrays of floats."""
    return tuple(np.asarray(argument, dtype=float) for argument in arguments)
