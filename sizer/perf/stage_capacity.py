"""Capacity of one stage as a distribution, and what several stages in a row let through."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.base.estimate import Estimate
from sizer.base.normal import normal_cdf, normal_quantile

# Halvings of the bracket when a quantile of a joint distribution is sought: a billionth of the bracket remains.
_BISECTIONS = 30


@dataclass(frozen=True)
class Capacity:
    """Samples/s that a stage passes: log-normal (``log_sd``), or log-uniform (``log_half_width``) around ``median``.

    A rate known as "at least this, at most that" (a demonstrated lower bound and a vendor's maximum) is log-uniform
    between the two; a fitted rate is log-normal. All arrays have one shape; ``median`` may be inf (stage not used).
    """

    median: Floats
    log_sd: Floats
    log_half_width: Floats

    @classmethod
    def log_normal(cls, median: ArrayLike, log_sd: ArrayLike) -> "Capacity":
        """Fitted capacity."""
        middle, sd = np.broadcast_arrays(np.asarray(median, float), np.asarray(log_sd, float))
        return cls(middle, sd, np.zeros_like(sd))

    @classmethod
    def between(cls, low: ArrayLike, high: ArrayLike) -> "Capacity":
        """Capacity that lies between two published rates."""
        bottom, top = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        finite = np.isfinite(bottom) & np.isfinite(top)
        with np.errstate(invalid="ignore", divide="ignore"):
            half = np.where(finite, 0.5 * np.log(np.where(finite, top / bottom, 1.0)), 0.0)
            middle = np.where(
                finite, np.sqrt(np.where(finite, bottom, 1.0)) * np.sqrt(np.where(finite, top, 1.0)), bottom
            )
        return cls(middle, np.zeros_like(half), half)

    @classmethod
    def exact(cls, rate: ArrayLike) -> "Capacity":
        """Capacity without spread, e.g. a line rate."""
        return cls.log_normal(rate, 0.0)

    def take(self, rows: Ints) -> "Capacity":
        """Capacity of some rows of the first axis."""
        return Capacity(self.median[rows], self.log_sd[rows], self.log_half_width[rows])

    def scaled(self, factor: ArrayLike) -> "Capacity":
        """Capacity times a factor without spread."""
        median, sd, half = np.broadcast_arrays(
            self.median * np.asarray(factor, float), self.log_sd, self.log_half_width
        )
        return Capacity(median, sd, half)

    def widened(self, log_sd: ArrayLike) -> "Capacity":
        """Capacity with another independent log-normal spread; a log-uniform one becomes normal."""
        extra = np.asarray(log_sd, float)
        uniform_sd = self.log_half_width / np.sqrt(3.0)
        is_spread = extra > 0
        sd = np.where(is_spread, np.sqrt(self.log_sd**2 + uniform_sd**2 + extra**2), self.log_sd)
        return Capacity(*np.broadcast_arrays(self.median, sd, np.where(is_spread, 0.0, self.log_half_width)))

    def probability_at_least(self, need: ArrayLike) -> Floats:
        """Probability that the stage passes ``need`` samples/s."""
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.log(self.median) - np.log(np.asarray(need, float))
        distance = np.where(np.isnan(distance), np.inf, distance)  # inf needs meet inf capacities
        chance = np.asarray(distance >= -1e-12, dtype=float)  # of a capacity without spread
        # Most stages have one kind of spread; the other is not worked out, the normal one above all takes its time.
        if (is_uniform := self.log_half_width > 0).any():
            uniform = 0.5 + 0.5 * distance / np.where(is_uniform, self.log_half_width, 1.0)
            chance = np.where(is_uniform, np.clip(uniform, 0.0, 1.0), chance)
        if (is_normal := self.log_sd > 0).any():
            if is_normal.shape == chance.shape:
                chance[is_normal] = normal_cdf(distance[is_normal] / self.log_sd[is_normal])
            else:
                sd = np.where(is_normal, self.log_sd, 1.0)
                chance = np.where(is_normal, normal_cdf(distance / sd), chance)
        return np.asarray(chance)

    def quantile(self, probability: ArrayLike) -> Floats:
        """Rate that the stage stays below with ``probability``."""
        p = np.asarray(probability, float)
        # The normal quantile is infinite at 0 and 1, where a capacity without normal spread still has its finite ends.
        is_normal = self.log_sd > 0
        normal = self.log_sd * np.where(is_normal, normal_quantile(p), 0.0) if is_normal.any() else 0.0
        uniform = np.where(self.log_half_width > 0, self.log_half_width * (2 * p - 1), 0.0)
        return np.asarray(self.median * np.exp(normal + uniform))

    def estimate(self) -> Estimate:
        """Median with its two-sided 90 % interval."""
        return Estimate(np.asarray(self.median, float), self.quantile(0.05), self.quantile(0.95))


def throughput(stages: Sequence[Capacity]) -> Estimate:
    """Rate of the whole pipeline: the slowest stage, as median and 90 % interval of the smallest capacity."""
    shape = np.broadcast_shapes(*(np.shape(stage.median) for stage in stages))
    # The three quantiles are sought at once, along a leading axis.
    probability = np.array([0.5, 0.05, 0.95]).reshape((3,) + (1,) * len(shape))
    value, low, high = _quantile_of_smallest(stages, probability)
    return Estimate(value, low, high)


def _quantile_of_smallest(stages: Sequence[Capacity], probability: Floats) -> Floats:
    """Rate x with P(smallest <= x) = probability, by bisection on the logarithm."""
    shape = np.broadcast_shapes(probability.shape, *(np.shape(stage.median) for stage in stages))

    def stacked(name: str) -> Floats:
        return np.stack([np.broadcast_to(getattr(stage, name), shape) for stage in stages])

    # All stages at once, along a first axis: many designs of few sizes are asked about.
    each = Capacity(stacked("median"), stacked("log_sd"), stacked("log_half_width"))
    # The smallest of several is below the quantile of each of them, and above their smallest deep quantile.
    high = np.log(each.quantile(probability).min(axis=0))
    low = np.log(each.quantile(probability / (len(stages) + 1)).min(axis=0))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        # Stages are independent given the design.
        is_below = each.probability_at_least(np.exp(middle)).prod(axis=0) >= 1 - probability
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return np.asarray(np.exp(high))
