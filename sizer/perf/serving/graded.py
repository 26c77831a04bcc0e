"""Numbers with their derivatives by the logarithms of the factors that they depend on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sizer.base.arrays import Bools, Floats


@dataclass(frozen=True)
class Graded:
    """Arrays and their derivatives by logarithms of factors, by the factors' names; without, where none are wanted."""

    value: Floats
    slopes: Mapping[str, Floats] = field(default_factory=dict)

    def __add__(self, other: "Graded | Floats | float") -> "Graded":
        if not isinstance(other, Graded):
            return Graded(np.asarray(self.value + other), self.slopes)
        return Graded(np.asarray(self.value + other.value), _together(self.slopes, other.slopes))

    def __mul__(self, other: "Graded | Floats | float") -> "Graded":
        if not isinstance(other, Graded):
            return Graded(np.asarray(self.value * other), {name: slope * other for name, slope in self.slopes.items()})
        mine, its = self.scaled_slopes(other.value), other.scaled_slopes(self.value)
        return Graded(np.asarray(self.value * other.value), _together(mine, its))

    def scaled_slopes(self, by: Floats) -> dict[str, Floats]:
        """The derivatives, each multiplied by the same."""
        return {name: slope * by for name, slope in self.slopes.items()}

    @property
    def plain(self) -> "Graded":
        """The values alone."""
        return Graded(self.value)

    @property
    def reciprocal(self) -> "Graded":
        """One over it."""
        inverse = 1 / self.value
        return Graded(inverse, self.scaled_slopes(-inverse * inverse) if self.slopes else {})

    @property
    def log_slopes(self) -> dict[str, Floats]:
        """Derivatives of its logarithm."""
        return self.scaled_slopes(1 / self.value)


def _together(one: Mapping[str, Floats], other: Mapping[str, Floats]) -> dict[str, Floats]:
    """Derivatives of a sum, from those of its two parts."""
    found = dict(one)
    for name, slope in other.items():
        found[name] = found[name] + slope if name in found else slope
    return found


def smooth_max(one: Graded, other: Graded) -> Graded:
    """What takes about as long as the longer of two that run side by side: (a^3 + b^3)^(1/3)."""
    a, b = one.value, other.value
    total: Floats = np.cbrt(a * a * a + b * b * b)
    if not (one.slopes or other.slopes):
        return Graded(total)
    safe: Floats = np.maximum(total, np.finfo(float).tiny)
    return Graded(total, _together(one.scaled_slopes((a / safe) ** 2), other.scaled_slopes((b / safe) ** 2)))


def least(one: Graded, other: Graded) -> Graded:
    """The smaller of two, element by element."""
    return chosen(one.value <= other.value, one, other)


def chosen(is_first: Bools, one: Graded, other: Graded) -> Graded:
    """The first of two where that is said, else the other, element by element.

    Parameters
    ----------
    is_first : ndarray of bool, shape (n,)
    one, other : Graded, shape (n,)

    Returns
    -------
    Graded, shape (n,)
    """
    if not is_first.any():
        return other
    if is_first.all():
        return one
    value = np.where(is_first, one.value, other.value)
    first: Floats = is_first.astype(float)
    return Graded(value, _together(one.scaled_slopes(first), other.scaled_slopes(1 - first)))
