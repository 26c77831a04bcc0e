"""Numbers with their derivatives by the logarithms of the factors that they depend on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sizer.base.arrays import Bools, Floats

# Of :func:`smooth_max`: 1 would add both, infinity take the larger.
_OVERLAP = 3.0


@dataclass(frozen=True)
class Graded:
    """Arrays and their derivatives by logarithms of factors, by the factors' names; without, where none are wanted."""

    value: Floats
    slopes: Mapping[str, Floats] = field(default_factory=dict)

    def __add__(self, other: "Graded | Floats | float") -> "Graded":
        if not isinstance(other, Graded):
            return Graded(np.asarray(self.value + other), self.slopes)
        slopes = dict(self.slopes)
        for name, slope in other.slopes.items():
            slopes[name] = slopes[name] + slope if name in slopes else slope
        return Graded(np.asarray(self.value + other.value), slopes)

    def __mul__(self, other: "Graded | Floats | float") -> "Graded":
        if not isinstance(other, Graded):
            return Graded(np.asarray(self.value * other), {name: slope * other for name, slope in self.slopes.items()})
        mine, its = self.scaled_slopes(other.value), other.scaled_slopes(self.value)
        return Graded(np.asarray(self.value * other.value), mine) + Graded(np.zeros(()), its)

    def scaled_slopes(self, by: Floats) -> dict[str, Floats]:
        """The derivatives, each multiplied by the same."""
        return {name: slope * by for name, slope in self.slopes.items()}

    def through(self, function: Callable[[Floats], tuple[Floats, Floats]]) -> "Graded":
        """A function of the values, which returns its derivative, too."""
        value, slope = function(self.value)
        return Graded(value, self.scaled_slopes(slope))

    @property
    def plain(self) -> "Graded":
        """The values alone."""
        return Graded(self.value)

    @property
    def reciprocal(self) -> "Graded":
        """One over it."""
        return self.through(lambda value: (1 / value, -1 / value**2))

    @property
    def log_slopes(self) -> dict[str, Floats]:
        """Derivatives of its logarithm."""
        return self.scaled_slopes(1 / self.value)


def smooth_max(one: Graded, other: Graded) -> Graded:
    """What takes about as long as the longer of two that run side by side: (a^3 + b^3)^(1/3)."""
    a, b = one.value, other.value
    total: Floats = np.cbrt(a**_OVERLAP + b**_OVERLAP)
    safe: Floats = np.maximum(total, np.finfo(float).tiny)
    return Graded(total, one.scaled_slopes((a / safe) ** 2)) + Graded(
        np.zeros(()), other.scaled_slopes((b / safe) ** 2)
    )


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
    if not (one.slopes or other.slopes):
        return Graded(np.where(is_first, one.value, other.value))
    first: Floats = is_first.astype(float)
    value = np.where(is_first, one.value, other.value)
    return Graded(value, one.scaled_slopes(first)) + Graded(np.zeros(()), other.scaled_slopes(1 - first))
