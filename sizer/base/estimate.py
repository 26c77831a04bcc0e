"""A number, or an array of numbers, with its two-sided 90 % interval."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from sizer.base.arrays import Floats, Index, Rows

_inverse = np.frompyfunc(NormalDist().inv_cdf, 1, 1)


def normal_cdf(x: ArrayLike) -> Floats:
    """Probability that a standard normal variable is at most ``x``, shape (...). Any real number or infinity."""
    return np.asarray(ndtr(np.asarray(x, float)))


def normal_quantile(probability: ArrayLike) -> Floats:
    """Value that a standard normal variable stays below with ``probability``, shape (...); infinite at 0 and 1.

    Raises ValueError if a probability is outside 0..1.
    """
    p = np.asarray(probability, float)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"probability must lie in 0..1, got {p.min():g}..{p.max():g}")
    inside = (p > 0) & (p < 1)
    middle = np.asarray(_inverse(np.where(inside, p, 0.5)), float)
    return np.asarray(np.where(inside, middle, np.where(p <= 0, -np.inf, np.inf)))


# Half-width, in standard deviations, of a two-sided 90 % interval of a normal distribution.
Z90 = float(normal_quantile(0.95))


@dataclass(frozen=True)
class Estimate(Rows):
    """Value with low and high end of its 90 % interval, all of one shape.

    ``value`` is the median. Positive quantities are log-normal, ``high / value == value / low``, unless a hard limit
    cuts one end off or draws show one end longer than the other.
    """

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def log_normal(cls, median: ArrayLike, log_sd: ArrayLike) -> "Estimate":
        """Estimate of a log-normal quantity from its median and the standard deviation of its logarithm."""
        middle, spread = np.broadcast_arrays(np.asarray(median, float), np.exp(Z90 * np.asarray(log_sd, float)))
        return cls(middle.copy(), middle / spread, middle * spread)

    @classmethod
    def exact(cls, value: ArrayLike) -> "Estimate":
        """Estimate without spread."""
        number = np.asarray(value, float)
        return cls(number, number, number)

    @property
    def log_sd(self) -> Floats:
        """Standard deviation of the logarithm that the interval stands for."""
        is_above = np.asarray(self.low) > 0  # an estimate of 0 has no spread
        return np.asarray(np.log(np.where(is_above, self.high, 1.0) / np.where(is_above, self.low, 1.0)) / (2 * Z90))

    def scaled(self, factor: ArrayLike) -> "Estimate":
        """The same quantity times a factor above 0 without spread."""
        times = np.asarray(factor, float)
        return Estimate(self.value * times, self.low * times, self.high * times)

    def broadcast_to(self, shape: tuple[int, ...]) -> "Estimate":
        """The same numbers in a shape that theirs broadcasts to."""
        return Estimate(*(np.broadcast_to(part, shape) for part in (self.value, self.low, self.high)))

    def __getitem__(self, row: int | Index) -> "Estimate":
        return Estimate(self.value[row], self.low[row], self.high[row])

    def __iter__(self) -> Iterator[float]:
        """Value, low and high as floats; only for a single number."""
        return iter((float(self.value), float(self.low), float(self.high)))

    def as_dict(self) -> dict[str, float]:
        """``{"value", "low", "high"}`` of a single number, for JSON."""
        value, low, high = self
        return {"value": value, "low": low, "high": high}


@dataclass(frozen=True)
class Spread:
    """Three kinds of spread of a prediction, as standard deviations of its logarithm. [-]

    ``parameters``: what more measurements of the same combination would remove. ``within``: scatter of runs within one
    source. ``between``: what two sources that report one set-up differ by beyond that.
    """

    parameters: float
    within: float
    between: float

    @classmethod
    def of(cls, log_sd: ArrayLike, within: ArrayLike, between: ArrayLike) -> "Spread":
        """Parts of a whole standard deviation of which two are known."""
        total, inside, outside = (float(np.asarray(value, float)) for value in (log_sd, within, between))
        return cls(float(np.sqrt(max(0.0, total**2 - inside**2 - outside**2))), inside, outside)
