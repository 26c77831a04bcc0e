"""Capacity of one stage as a distribution, and what several stages in a row let through."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints, Rows
from sizer.base.estimate import Estimate, normal_cdf, normal_quantile

# Halvings of the bracket when a quantile of a joint distribution is sought: a billionth of the bracket remains.
_BISECTIONS = 30
# Halvings at one time, of few designs: a call of an array function takes longer than its few numbers.
_AT_ONCE, _FEW = 3, 64
# A skew below this is none: the next digits of its logarithm are rounding.
_NO_SKEW = 1e-6


@dataclass(frozen=True)
class Capacity(Rows):
    """Samples/s that a stage passes: log-normal (``log_sd``), or log-uniform (``log_half_width``) around ``median``.

    A rate known as "at least this, at most that" (a demonstrated lower bound and a vendor's maximum) is log-uniform
    between the two; a fitted rate is log-normal, with ``skew`` where its two ends differ: its logarithm lies
    ``log_sd`` (exp(skew z) - 1)/skew from that of the median, z standard normal, so that with a skew below 0 the slow
    end is the longer one. All arrays have one shape; ``median`` may be inf (stage not used).
    """

    median: Floats
    log_sd: Floats
    log_half_width: Floats
    skew: Floats

    @classmethod
    def log_normal(cls, median: ArrayLike, log_sd: ArrayLike) -> "Capacity":
        middle, sd = np.broadcast_arrays(np.asarray(median, float), np.asarray(log_sd, float))
        zero = np.broadcast_to(0.0, sd.shape)
        return cls(middle, sd, zero, zero)

    @classmethod
    def skewed(cls, median: ArrayLike, below: ArrayLike, above: ArrayLike, level: float) -> "Capacity":
        """Fitted capacity from the logarithms of median / low and high / median.

        ``level`` is the probability that it stays below its high end, and that it stays above its low one.
        """
        middle, low, high = np.broadcast_arrays(
            np.asarray(median, float), np.asarray(below, float), np.asarray(above, float)
        )
        z = float(normal_quantile(level))
        is_spread = (low > 0) & (high > 0)
        skew = np.log(np.where(is_spread, high, 1.0) / np.where(is_spread, low, 1.0)) / z
        is_skew = np.abs(skew) > _NO_SKEW
        slope = np.where(is_skew, skew / np.where(is_skew, np.expm1(skew * z), 1.0), 1 / z)
        sd = np.where(is_spread, high * slope, 0.0)
        return cls(middle, sd, np.zeros_like(sd), np.where(is_skew, skew, 0.0))

    @classmethod
    def of_estimate(cls, estimate: Estimate) -> "Capacity":
        """Fitted capacity from its median and 90 % interval."""
        below, above = np.log(estimate.value / estimate.low), np.log(estimate.high / estimate.value)
        return cls.skewed(estimate.value, below, above, 0.95)

    @classmethod
    def between(cls, low: ArrayLike, high: ArrayLike) -> "Capacity":
        """Capacity that lies between two published rates."""
        bottom, top = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        is_finite = np.isfinite(bottom) & np.isfinite(top)
        is_everywhere = bool(is_finite.all())
        ends = (bottom, top) if is_everywhere else (np.where(is_finite, one, 1.0) for one in (bottom, top))
        first, last = ends
        with np.errstate(invalid="ignore", divide="ignore"):
            half = np.asarray(0.5 * np.log(last / first))
            middle = np.asarray(np.sqrt(first) * np.sqrt(last))
        if not is_everywhere:
            middle = np.where(is_finite, middle, bottom)
        return cls(middle, np.zeros_like(half), half, np.zeros_like(half))

    @classmethod
    def exact(cls, rate: ArrayLike) -> "Capacity":
        """Capacity without spread, e.g. a line rate."""
        return cls.log_normal(rate, 0.0)

    @classmethod
    def concatenated(cls, parts: "Sequence[Capacity]") -> "Capacity":
        """Capacities of several sets of rows as one set."""
        return cls(*(np.concatenate([np.ravel(getattr(part, field)) for part in parts]) for field in _FIELDS))

    def broadcast_to(self, shape: tuple[int, ...]) -> "Capacity":
        if all(np.shape(getattr(self, field)) == shape for field in _FIELDS):
            return self
        return Capacity(*(np.broadcast_to(getattr(self, field), shape) for field in _FIELDS))

    def flat_rows(self, place: Ints) -> "Capacity":
        """Capacities of the rows of flat arrays at some places, in the shape of these."""
        return Capacity(*(np.ravel(getattr(self, field))[place] for field in _FIELDS))

    def scaled(self, factor: ArrayLike) -> "Capacity":
        """Capacity times a factor without spread."""
        median = self.median * np.asarray(factor, float)
        return Capacity(*np.broadcast_arrays(median, self.log_sd, self.log_half_width, self.skew))

    def widened(self, log_sd: ArrayLike) -> "Capacity":
        """Capacity with another independent log-normal spread; a log-uniform one becomes normal."""
        extra = np.asarray(log_sd, float)
        is_spread = extra > 0
        sd = np.where(is_spread, np.sqrt(self.log_sd**2 + self.log_half_width**2 / 3 + extra**2), self.log_sd)
        # Third moments add up, and a skew of k means one of about 3 k sd^3.
        skew = self.skew * (self.log_sd / np.where(sd > 0, sd, 1.0)) ** 3
        half = np.where(is_spread, 0.0, self.log_half_width)
        return Capacity(*np.broadcast_arrays(self.median, sd, half, skew))

    def probability_at_least(self, need: ArrayLike) -> Floats:
        """Probability that the stage passes ``need`` samples/s."""
        needs = np.asarray(need, float)
        return _Chances(self.broadcast_to(np.broadcast_shapes(needs.shape, np.shape(self.median)))).at_least(needs)

    def quantile(self, probability: ArrayLike) -> Floats:
        """Rate that the stage stays below with ``probability``."""
        p = np.asarray(probability, float)
        # The normal quantile is infinite at 0 and 1, where a capacity without normal spread still has its finite ends.
        is_normal = self.log_sd > 0
        moved = np.where(self.log_half_width > 0, self.log_half_width * (2 * p - 1), 0.0)
        if is_normal.any():
            moved = moved + self._from_median(np.where(is_normal, normal_quantile(p), 0.0))
        return np.asarray(self.median * np.exp(moved))

    def _from_median(self, z: Floats) -> Floats:
        """Logarithm of the rate over the median, so many standard deviations away."""
        if not (is_skew := self.skew != 0).any():
            return np.asarray(self.log_sd * z)
        skew = np.where(is_skew, self.skew, 1.0)
        return np.asarray(self.log_sd * np.where(is_skew, np.expm1(skew * z) / skew, z))

    def estimate(self) -> Estimate:
        """Median with its two-sided 90 % interval."""
        return Estimate(np.asarray(self.median, float), self.quantile(0.05), self.quantile(0.95))


_FIELDS = tuple(field.name for field in fields(Capacity))


def _score(distance: Floats, log_sd: Floats, skew: Floats) -> Floats:
    """Standard normal number that a skewed log-normal rate stays above with the probability to reach a need.

    ``distance`` is how far the logarithm of the median lies above the need.
    """
    scaled = distance / log_sd
    if not (is_skew := skew != 0).any():
        return np.asarray(scaled)
    safe = np.where(is_skew, skew, 1.0)
    inside = 1 - safe * scaled
    # Beyond the end that the skew sets, nothing lies.
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(inside > 0, -np.log(np.where(inside > 0, inside, 1.0)) / safe, np.inf * np.sign(safe))
    return np.asarray(np.where(is_skew, found, scaled))


def throughput(stages: Sequence[Capacity]) -> Estimate:
    """Rate of the whole pipeline: the slowest stage, as median and 90 % interval of the smallest capacity."""
    shape = np.broadcast_shapes(*(np.shape(stage.median) for stage in stages))
    # The three quantiles are sought at once, along a leading axis.
    probability = np.array([0.5, 0.05, 0.95]).reshape((3,) + (1,) * len(shape))
    value, low, high = _quantile_of_smallest(stages, probability)
    return Estimate(value, low, high)


def throughput_quantile(stages: Sequence[Capacity], probability: float) -> Floats:
    """Rate that the whole pipeline stays below with ``probability``, for many rows.

    Where one stage surely is the slowest, it is that of the stage.
    """
    shape = np.broadcast_shapes(*(np.shape(stage.median) for stage in stages))
    alike = [stage.broadcast_to(shape) for stage in stages]
    slowest = np.min([stage.quantile(probability) for stage in alike], axis=0)
    sure = np.sum([stage.probability_at_least(slowest) < 1 for stage in alike], axis=0) <= 1
    found = np.array(slowest, dtype=float)
    if not sure.all():
        found[~sure] = _quantile_of_smallest([stage.take(~sure) for stage in alike], np.array([probability]))
    return found


def _quantile_of_smallest(stages: Sequence[Capacity], probability: Floats) -> Floats:
    """Rate x with P(smallest <= x) = probability, by bisection on the logarithm."""
    own = np.broadcast_shapes(*(np.shape(stage.median) for stage in stages))
    shape = np.broadcast_shapes(probability.shape, own)
    halvings = _AT_ONCE if math.prod(shape) <= _FEW else 1
    # Cuts of the bracket, along a first axis: one halves it. Any number of them ends at the same binary fraction.
    cuts = np.arange(1, 2**halvings).reshape(-1, *(1,) * len(shape))

    # All stages at once, along an axis before that one: many designs of few sizes are asked about.
    alike = [stage.broadcast_to(own) for stage in stages]
    stacked = (np.stack([getattr(stage, field) for stage in alike]) for field in _FIELDS)
    ones = (1,) * (1 + len(shape) - len(own))
    each = Capacity(*(one.reshape(len(stages), *ones, *own) for one in stacked))
    # The smallest of several is below the quantile of each of them, and above their smallest deep quantile.
    ends = each.quantile(np.stack([probability, probability / (len(stages) + 1)])).min(axis=0)
    with np.errstate(divide="ignore"):  # a stage that passes nothing leaves nothing
        high, low = np.log(ends)
    with np.errstate(invalid="ignore"):  # a rate without a limit stays one
        width = np.where(high > low, high - low, 0.0)
    # A stage that is sure to pass the upper end is never the smallest.
    is_open = (each.probability_at_least(np.exp(low + width)) < 1).reshape(len(stages), -1).any(axis=1)
    each = each.take(np.flatnonzero(is_open))
    chances, wanted = _Chances(each.broadcast_to((len(each.median), len(cuts), *shape))), 1 - probability
    part, fraction = 1.0, np.zeros(shape)
    for _ in range(_BISECTIONS // halvings):
        part /= 2**halvings
        # Stages are independent given the design.
        points = np.exp(low + (fraction + cuts * part) * width)
        is_below = np.multiply.reduce(chances.at_least(points), axis=0) >= wanted
        fraction = fraction + np.add.reduce(is_below, axis=0) * part
    return np.asarray(np.exp(low + (fraction + part) * width))


class _Chances:
    """:meth:`Capacity.probability_at_least` of arrays in full, asked about many needs of their shape.

    Everything but the need is worked out once.
    """

    def __init__(self, stages: Capacity) -> None:
        with np.errstate(divide="ignore"):
            self._log_median = np.log(stages.median)
        self._uniform, self._normal = stages.log_half_width > 0, stages.log_sd > 0
        self._half = stages.log_half_width[self._uniform]
        self._sd, self._skew = stages.log_sd[self._normal], stages.skew[self._normal]

    def at_least(self, need: Floats) -> Floats:
        """Probability that each stage passes a need. [samples/s]"""
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.array(self._log_median - np.log(need))
        distance[np.isnan(distance)] = np.inf  # inf needs meet inf capacities
        chance = np.array(distance >= -1e-12, dtype=float)
        if self._half.size:
            even = 0.5 + 0.5 * distance[self._uniform] / self._half
            chance[self._uniform] = np.minimum(np.maximum(even, 0.0), 1.0)
        if self._sd.size:
            chance[self._normal] = normal_cdf(_score(distance[self._normal], self._sd, self._skew))
        return chance
