"""What servers may turn out to do, and the probability that storage and network then let a target be met.

A target is met by servers, storage and network together. The servers, and the length of a training, are laid out as a
few outcomes with their probabilities; what each outcome asks of the data path is one rate, which storage reaches with a
probability in closed form. Servers do not depend on storage, so outcomes are worked out once a kind of server.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats, Index, Rows
from sizer.base.estimate import Estimate
from sizer.perf import pipeline
from sizer.perf.stage_capacity import Capacity
from sizer.perf.training_time import epochs_read
from sizer.sizing.stages.compute_side import Compute

# Equally likely outcomes of the GPUs' rate, and of the length of a training.
_GPU_OUTCOMES = 12
_LENGTHS = 8
# How far the servers' rate lies above the least that is in time, in the logarithm; from the last on, the cold epoch
# alone sets the time.
_MARGINS = (*np.log([1.0, 1.06, 1.25, 1.8, 4.0]).tolist(), np.inf)
_NO_MARGINS = (0.0, np.inf)
# A start-up that takes at most this share of the time leaves a time that is as good as certain.
_SHORT_START_UP = 0.02
# Numbers of an array that is worked on at once.
_AT_ONCE = 16_384
# Logarithm of a rate that nothing reaches.
_NEVER = 700.0

# Probabilities that GPUs, host decode and the link between them reach a rate.
ByStage = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Outcomes(Rows):
    """Outcomes of the servers. Arrays with a first axis of outcomes before the shape of the rows, or of this shape.

    ``chance``: probability of an outcome in which servers and length of the training leave the target in reach.
    ``log_need``: logarithm of the rate that meets the target if all epochs run at it [ln(samples/s)]. ``log_rate``:
    logarithm of what the servers do [ln(samples/s)]. ``log_width``: width of the outcome in the logarithm of the need.
    ``first_share``: share of the samples that the first, cold epoch reads; 0 where the target says nothing of it.
    ``misses``: share of the reads of later epochs that no cache serves. ``miss_log_sd``: standard deviation of its
    logarithm, as far as the target asks for it.
    """

    chance: Floats
    log_need: Floats
    log_rate: Floats
    log_width: Floats
    first_share: Floats
    misses: Floats
    miss_log_sd: Floats

    @classmethod
    def of_arrays(
        cls, chance: Floats, need: Floats, rate: Floats, width: Floats, first_share: Floats, comp: Compute
    ) -> "Outcomes":
        log_need = _log_rate(need)
        log_rate = log_need if rate is need else _log_rate(rate)
        shape = chance.shape[1:]
        share, misses = np.broadcast_to(first_share, shape), np.broadcast_to(1 - comp.hit_fraction, shape)
        return cls(chance, log_need, log_rate, width, share, misses, comp.miss_log_sd * (1 - share))

    @property
    def of_servers(self) -> Floats:
        """(rows) probability that the target is met where storage and network deliver whatever is asked."""
        return np.asarray(np.minimum(self.chance.sum(axis=0), 1.0))

    def take(self, rows: Index) -> "Outcomes":
        """Outcomes of some rows of the first axis of these."""
        first = (self.chance, self.log_need, self.log_rate, self.log_width)
        some: tuple[Any, ...] = (slice(None), *(rows if isinstance(rows, tuple) else (rows,)))
        chance, need, rate, width = (one[some] for one in first)
        rest = self.first_share[rows], self.misses[rows], self.miss_log_sd[rows]
        return Outcomes(chance, need, rate, width, *rest)

    def probability(self, warm: pipeline.Stages, cold: pipeline.Stages) -> Floats:
        """Probability that the target is met.

        Warm and cold rates of storage are one rate of its nodes and differ by the cache: what the cold epoch asks
        stands for both.
        """
        with np.errstate(divide="ignore"):
            storage, network, first_network = (
                np.log(stage.median) for stage in (cold.storage, warm.network, cold.network)
            )
        # An even spread has a standard deviation of its half width over the square root of 3.
        half = np.sqrt(cold.storage.log_half_width**2 + 3 * self.miss_log_sd**2)
        total = np.zeros(np.broadcast_shapes(self.misses.shape, storage.shape))
        # Several outcomes at once, as long as their arrays stay in a processor's cache.
        step = max(_AT_ONCE // max(total.size, 1), 1)
        for start in range(0, len(self.chance), step):
            some = slice(start, start + step)
            need, width = self.log_need[some], self.log_width[some]
            asked = need + self._log_cold(need, self.log_rate[some], network)
            by_storage = _reached(storage - asked, np.maximum(half, 0.5 * width))
            by_network = _reached(np.minimum(network - need, first_network - asked), 0.5 * width)
            for one in self.chance[some] * by_storage * by_network:
                total += one
        return np.asarray(np.minimum(total, 1.0))

    def _log_cold(self, log_need: Floats, log_rate: Floats, log_network: Floats) -> Floats:
        """Logarithm of the least cold rate over the least rate, where servers and network let later epochs run faster.

        In units of the least rate, later epochs at 1/q leave the first one F/(1 - (1 - F) q); a path that is slower
        than that later on, too, serves all with F + (1 - h)(1 - F).
        """
        share, misses = self.first_share, self.misses
        with np.errstate(divide="ignore", invalid="ignore"):
            everything = np.log(share + misses * (1 - share))
            if not ((share > 0) & (misses < 1)).any():
                return np.asarray(np.maximum(everything, -_NEVER))
            ratio = np.exp(np.minimum(log_need - np.minimum(log_rate, log_network), 0.0))
            first = np.where(share > 0, share / (1 - (1 - share) * ratio), 0.0)
            found = np.where(first * ratio < misses, everything, np.log(first))
        return np.asarray(np.maximum(found, -_NEVER))


def of_rate(comp: Compute, asked: Floats, by_stage: ByStage) -> Outcomes:
    """The one outcome of a rate that is asked for, which the stages of the servers reach with these probabilities."""
    gpu, decode, link = by_stage
    chance = np.asarray(gpu * (decode * link))
    rate, none = np.broadcast_to(asked, (1, *chance.shape)), np.zeros((1, *chance.shape))
    return Outcomes.of_arrays(chance[None], rate, rate, none, np.zeros(()), comp)


def of_busy_gpus(comp: Compute, has_gpus: Bools) -> Outcomes:
    """Rates of the GPUs, each as likely as the others: everything else must pass what they take."""
    rates, widths = _equally_likely(comp.gpu, _GPU_OUTCOMES)
    # Rows with fewer GPUs, or with GPUs that do not hold the network, meet the target in no outcome.
    has_gpus = has_gpus & (comp.gpu.median > 0)
    chance, asked = np.zeros(rates.shape), rates[:, has_gpus]
    fed = (one.take(has_gpus).probability_at_least(asked) for one in (comp.decode, comp.host_link))
    chance[:, has_gpus] = np.multiply(*fed) / _GPU_OUTCOMES
    return Outcomes.of_arrays(chance, rates, rates, widths, np.zeros(()), comp)


def of_time(
    comp: Compute, length: Estimate, n_samples: float, evaluations: float, time_s: float, start_up: Estimate
) -> Outcomes:
    """Lengths of a training, and where a cache serves its later epochs, margins of the servers.

    ``length``: epochs of every row. ``n_samples``: samples of an epoch [samples]. ``evaluations``: time of the
    evaluations over that of the epochs. ``time_s``: time that is asked for, with the start-up [s]. ``start_up``:
    start-up [s].

    With ``first`` samples in the cold epoch and ``later`` ones, a server rate a is in time if first/min(a, c) +
    later/min(a, w) <= left, where c and w are the rates of the data path in the cold epoch and later. At a hit fraction
    h, w = c/(1 - h) as far as storage sets them.
    """
    shape = comp.gpu.median.shape
    # Of rows that no cache serves, all margins ask the same: their chances add up to that of the least rate.
    margins = _MARGINS if (comp.hit_fraction > 0).any() else _NO_MARGINS
    # Lengths stand along a first axis, margins along a second one.
    epochs, left_s, width = (part[:, None] for part in _lengths(length, time_s, start_up, shape))
    samples = np.add(*epochs_read(epochs, evaluations)) * n_samples
    need = np.where(left_s > 0, samples / np.where(left_s > 0, left_s, 1.0), np.inf)
    margin, above = (np.reshape(part, (-1, *(1,) * len(shape))) for part in (margins[:-1], margins[1:]))
    reached = _servers(comp, need * np.exp(margin))
    beyond = np.concatenate([reached[:, 1:], np.zeros_like(reached[:, :1])], axis=1)
    rate = need * np.exp(np.where(np.isfinite(above), 0.5 * (margin + above), margin))
    parts = np.broadcast_arrays((reached - beyond) / len(epochs), need, rate, width)
    chance, need, rate, width = (part.reshape(-1, *shape) for part in parts)
    first, later = epochs_read(length.value, evaluations)
    return Outcomes.of_arrays(chance, need, rate, width, first / (first + later), comp)


def _log_rate(rate: Floats) -> Floats:
    """Logarithm of a rate, finite for one that is 0 or beyond all bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.minimum(np.nan_to_num(np.log(rate), nan=_NEVER, neginf=-_NEVER), _NEVER))


def _lengths(
    length: Estimate, time_s: float, start_up: Estimate, shape: tuple[int, ...]
) -> tuple[Floats, Floats, Floats]:
    """Equally likely epochs, with the seconds that the start-up leaves for them, and the width of each."""
    epochs, widths = _equally_likely(Capacity.of_estimate(length.broadcast_to(shape)), _LENGTHS)
    if not widths.any():
        epochs, widths = epochs[:1], widths[:1]
    if float(start_up.high) < _SHORT_START_UP * time_s:
        return epochs, np.full(epochs.shape, time_s - float(start_up.value)), widths
    # As many outcomes as the time of a short training is known by: every length with every start.
    starts, _ = _equally_likely(Capacity.of_estimate(start_up), _LENGTHS**2 // len(epochs))
    left = np.maximum(time_s - starts, 0.0).reshape(1, -1, *(1,) * len(shape))
    each, left = (part.reshape(-1, *shape) for part in np.broadcast_arrays(epochs[:, None], left))
    return each, left, np.zeros(each.shape)


def _equally_likely(quantity: Capacity, n: int) -> tuple[Floats, Floats]:
    """(n, ...) values of a quantity, each as likely as the others, and the width of each in the logarithm."""
    edges = np.linspace(0, 1, n + 1).reshape(-1, *(1,) * quantity.median.ndim)
    # The ends of the first and the last one lie at infinity: they count as wide as half of a usual one.
    spread = replace(quantity, median=np.ones_like(quantity.median))
    bounds = spread.quantile(np.clip(edges, 0.25 / n, 1 - 0.25 / n))
    return quantity.quantile(0.5 * (edges[1:] + edges[:-1])), np.log(bounds[1:] / bounds[:-1])


def _servers(comp: Compute, rate: Floats) -> Floats:
    """Probability that GPUs, host decode and the link between them reach a rate."""
    return np.asarray(comp.gpu.probability_at_least(rate) * _fed(comp, rate))


def _fed(comp: Compute, rate: Floats) -> Floats:
    """Probability that host decode and the link between host and GPUs reach a rate."""
    return np.asarray(comp.decode.probability_at_least(rate) * comp.host_link.probability_at_least(rate))


def _reached(distance: Floats, half: Floats) -> Floats:
    """Probability to lie above a need, at a distance from it and spread evenly over half a width to either side."""
    is_spread = half > 0
    if not is_spread.any():
        return np.asarray(distance >= -1e-12, dtype=float)
    is_everywhere = bool(is_spread.all())
    even = 0.5 + 0.5 * distance / (half if is_everywhere else np.where(is_spread, half, 1.0))
    even = np.minimum(np.maximum(even, 0.0), 1.0)
    return even if is_everywhere else np.asarray(np.where(is_spread, even, distance >= -1e-12))
