"""A number, or an array of numbers, with its two-sided 90 % interval."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizer.base.normal import normal_cdf, normal_quantile

# Half-width, in standard deviations, of a two-sided 90 % interval of a normal distribution.
Z90 = float(normal_quantile(0.95))


@dataclass(frozen=True)
class Estimate:
    """Value with low and high end of its 90 % interval, all of one shape, plus warnings that documents print.

    Positive quantities are log-normal: ``value`` is the median and ``high / value == value / low``
    unless a hard limit cuts one end off.
    """

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    warnings: tuple[str, ...] = field(default=())

    @classmethod
    def log_normal(cls, median: ArrayLike, log_sd: ArrayLike, warnings: tuple[str, ...] = ()) -> "Estimate":
        """Estimate of a log-normal quantity from its median and the standard deviation of its logarithm."""
        middle, spread = np.broadcast_arrays(np.asarray(median, float), np.exp(Z90 * np.asarray(log_sd, float)))
        return cls(middle.copy(), middle / spread, middle * spread, warnings)

    @classmethod
    def exact(cls, value: ArrayLike) -> "Estimate":
        """Estimate without spread."""
        number = np.asarray(value, float)
        return cls(number, number, number)

    @property
    def log_sd(self) -> NDArray[np.float64]:
        """Standard deviation of the logarithm that the interval stands for."""
        return np.asarray(np.log(self.high / self.low) / (2 * Z90))

    def probability_at_least(self, target: ArrayLike) -> NDArray[np.float64]:
        """Probability that the quantity is at least ``target`` (log-normal)."""
        return probability_at_least(self.value, self.log_sd, target)

    def __getitem__(self, row: int) -> "Estimate":
        """Estimate of one row."""
        return Estimate(self.value[row], self.low[row], self.high[row], self.warnings)

    def __iter__(self) -> Iterator[float]:
        """Value, low and high as floats; only for a single number."""
        return iter((float(self.value), float(self.low), float(self.high)))

    def as_dict(self) -> dict[str, float]:
        """``{"value", "low", "high"}`` of a single number, for JSON."""
        value, low, high = self
        return {"value": value, "low": low, "high": high}


def probability_at_least(median: ArrayLike, log_sd: ArrayLike, target: ArrayLike) -> NDArray[np.float64]:
    """Probability that a log-normal quantity is at least ``target``; a sharp step where ``log_sd`` is 0."""
    middle, sd, need = np.broadcast_arrays(
        np.asarray(median, float), np.asarray(log_sd, float), np.asarray(target, float)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.log(middle) - np.log(need)
        smooth = normal_cdf(np.where(sd > 0, distance / np.where(sd > 0, sd, 1.0), 0.0))
    return np.asarray(np.where(need <= 0, 1.0, np.where(sd > 0, smooth, (distance >= 0).astype(float))))
