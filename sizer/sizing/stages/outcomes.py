"""What servers may turn out to do, and the probability that storage and network then let a target be met.

A target is met by servers, storage and network together. The servers, and the length of a training, are laid out as a
few outcomes with their probabilities; what each outcome asks of the data path is one rate, which storage reaches with a
probability in closed form. Servers do not depend on storage, so outcomes are worked out once a kind of server.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints, Rows
from sizer.base.estimate import Estimate
from sizer.base.streams import pause_point
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
# Numbers of an array that is worked on at once, and of one that is held: its outcomes grow with servers and sizes.
_AT_ONCE, _HELD = 16_384, 1_048_576
# Logarithm of a rate that nothing reaches.
_NEVER = 700.0

# Probabilities that GPUs, host decode and the link between them reach a rate.
ByStage = tuple[Floats, Floats, Floats]
# Of some kinds of servers, with a first axis of outcomes: the probability of each, in which servers and length of the
# training leave the target in reach; the rate that meets it if all epochs run at it, and what the servers do
# [samples/s]; and the width of the outcome in the logarithm of the need.
LaidOut = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True)
class Outcomes(Rows):
    """Outcomes of the servers, laid out for few rows at once. Arrays over the rows.

    ``lay_out``: outcomes of some kinds of servers at some margins. ``kinds``: kind of each row, of the first axis.
    ``n_lengths``: outcomes at one margin. ``first_share``: share of the samples that the first, cold epoch reads; 0
    where the target says nothing of it. ``misses``: share of the reads of later epochs that no cache serves.
    ``miss_log_sd``: standard deviation of its logarithm, as far as the target asks for it.
    """

    lay_out: Callable[[Ints, Sequence[float]], LaidOut]
    kinds: Ints
    n_lengths: int
    margins: Sequence[float]
    first_share: Floats
    misses: Floats
    miss_log_sd: Floats

    @classmethod
    def of(
        cls,
        lay_out: Callable[[Ints, Sequence[float]], LaidOut],
        shape: tuple[int, ...],
        comp: Compute,
        n_lengths: int = 1,
        margins: Sequence[float] = _NO_MARGINS,
        first_share: Floats | float = 0.0,
    ) -> "Outcomes":
        share, misses = np.broadcast_to(first_share, shape), np.broadcast_to(1 - comp.hit_fraction, shape)
        kinds = np.arange(shape[0], dtype=np.int64)
        return cls(lay_out, kinds, n_lengths, margins, share, misses, comp.miss_log_sd * (1 - share))

    @property
    def of_servers(self) -> Floats:
        """(rows) probability that the target is met where storage and network deliver whatever is asked."""
        found = np.empty(self.misses.shape)
        for rows, place, (chance, *_) in self._blocks(_NO_MARGINS):
            found[rows] = np.minimum(chance.sum(axis=0), 1.0)[place]
        return found

    def _blocks(self, margins: Sequence[float]) -> Iterator[tuple[slice, Ints, LaidOut]]:
        """Rows one after the other, with the outcomes of their kinds and which of these each row has."""
        of_row = self.n_lengths * (len(margins) - 1) * math.prod(self.misses.shape[1:])
        step = max(_HELD // of_row, 1)
        for start in range(0, len(self.kinds), step):
            pause_point()
            rows = slice(start, start + step)
            kinds, place = np.unique(self.kinds[rows], return_inverse=True)
            yield rows, place, self.lay_out(kinds, margins)

    def probability(self, warm: pipeline.Stages, cold: pipeline.Stages) -> Floats:
        """Probability that the target is met.

        Warm and cold rates of storage are one rate of its nodes and differ by the cache: what the cold epoch asks
        stands for both.
        """
        with np.errstate(divide="ignore"):
            path = [np.log(stage.median) for stage in (cold.storage, warm.network, cold.network)]
        # An even spread has a standard deviation of its half width over the square root of 3.
        spread = np.sqrt(cold.storage.log_half_width**2 + 3 * self.miss_log_sd**2)
        total = np.zeros(self.misses.shape)
        every = np.broadcast_arrays(total, *path, spread, self.first_share, self.misses)
        for rows, place, (chance, need, rate, widths) in self._blocks(self.margins):
            storage, network, first_network, half, share, misses = (one[rows] for one in every[1:])
            log_need = _log_rate(need)
            log_rate = log_need if rate is need else _log_rate(rate)
            # Several outcomes at once, as long as their arrays stay in a processor's cache.
            step = max(_AT_ONCE // max(storage.size, 1), 1)
            for start in range(0, len(chance), step):
                some = slice(start, start + step)
                likely, asked, served, width = (one[some][:, place] for one in (chance, log_need, log_rate, widths))
                first_asked = asked + _log_cold(asked, served, network, share, misses)
                by_storage = _reached(storage - first_asked, np.maximum(half, 0.5 * width))
                by_network = _reached(np.minimum(network - asked, first_network - first_asked), 0.5 * width)
                for one in likely * by_storage * by_network:
                    total[rows] += one
        return np.asarray(np.minimum(total, 1.0))


def _log_cold(log_need: Floats, log_rate: Floats, log_network: Floats, share: Floats, misses: Floats) -> Floats:
    """Logarithm of the least cold rate over the least rate, where servers and network let later epochs run faster.

    In units of the least rate, later epochs at 1/q leave the first one F/(1 - (1 - F) q); a path that is slower
    than that later on, too, serves all with F + (1 - h)(1 - F).
    """
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

    def lay_out(kinds: Ints, _: Sequence[float]) -> LaidOut:
        rate = np.broadcast_to(asked, chance.shape)[None, kinds]
        return chance[None, kinds], rate, rate, np.zeros(rate.shape)

    return Outcomes.of(lay_out, chance.shape, comp)


def of_busy_gpus(comp: Compute, has_gpus: Bools) -> Outcomes:
    """Rates of the GPUs, each as likely as the others: everything else must pass what they take."""
    # Rows with fewer GPUs, or with GPUs that do not hold the network, meet the target in no outcome.
    has_gpus = has_gpus & (comp.gpu.median > 0)

    def lay_out(kinds: Ints, _: Sequence[float]) -> LaidOut:
        rates, widths = _equally_likely(comp.gpu.take(kinds), _GPU_OUTCOMES)
        has = has_gpus[kinds]
        chance, asked = np.zeros(rates.shape), rates[:, has]
        fed = (one.take(kinds).take(has).probability_at_least(asked) for one in (comp.decode, comp.host_link))
        chance[:, has] = np.multiply(*fed) / _GPU_OUTCOMES
        return chance, rates, rates, widths

    return Outcomes.of(lay_out, has_gpus.shape, comp, _GPU_OUTCOMES)


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
    spread = Capacity.of_estimate(length.broadcast_to(shape))
    n_epochs = _LENGTHS if spread.log_sd.any() else 1
    starts = np.asarray(start_up.value, float)[None]
    if float(start_up.high) >= _SHORT_START_UP * time_s:
        # As many outcomes as the time of a short training is known by: every length with every start.
        starts, _ = _equally_likely(Capacity.of_estimate(start_up), _LENGTHS**2 // n_epochs)
    left_s = np.maximum(time_s - starts, 0.0)

    def lay_out(kinds: Ints, margins: Sequence[float]) -> LaidOut:
        # Lengths stand along a first axis, starts along a second and margins along a third one.
        left, margin, above = (
            np.reshape(part, (*axes, *(1,) * len(shape)))
            for part, axes in ((left_s, (-1, 1)), (margins[:-1], (-1,)), (margins[1:], (-1,)))
        )
        epochs, width = (part[:, None, None] for part in _equally_likely(spread.take(kinds), n_epochs))
        samples = np.add(*epochs_read(epochs, evaluations)) * n_samples
        need = np.where(left > 0, samples / np.where(left > 0, left, 1.0), np.inf)
        gpu, decode, link = (one.take(kinds) for one in (comp.gpu, comp.decode, comp.host_link))
        least = need * np.exp(margin)
        fed = np.asarray(decode.probability_at_least(least) * link.probability_at_least(least))
        reached = np.asarray(gpu.probability_at_least(least) * fed)
        beyond = np.concatenate([reached[:, :, 1:], np.zeros_like(reached[:, :, :1])], axis=2)
        rate = need * np.exp(np.where(np.isfinite(above), 0.5 * (margin + above), margin))
        chance = (reached - beyond) / (n_epochs * len(left_s))
        # A start that is not certain leaves lengths that are known as well as they are many.
        parts = np.broadcast_arrays(chance, need, rate, width if len(left_s) == 1 else np.zeros(()))
        chance, need, rate, width = (part.reshape(-1, *part.shape[3:]) for part in parts)
        return chance, need, rate, width

    # Of rows that no cache serves, all margins ask the same: their chances add up to that of the least rate.
    margins = _MARGINS if (comp.hit_fraction > 0).any() else _NO_MARGINS
    first, later = epochs_read(length.value, evaluations)
    return Outcomes.of(lay_out, shape, comp, n_epochs * len(left_s), margins, first / (first + later))


def _log_rate(rate: Floats) -> Floats:
    """Logarithm of a rate, finite for one that is 0 or beyond all bounds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.minimum(np.nan_to_num(np.log(rate), nan=_NEVER, neginf=-_NEVER), _NEVER))


def _equally_likely(quantity: Capacity, n: int) -> tuple[Floats, Floats]:
    """(n, ...) values of a quantity, each as likely as the others, and the width of each in the logarithm."""
    edges = np.linspace(0, 1, n + 1).reshape(-1, *(1,) * quantity.median.ndim)
    # The ends of the first and the last one lie at infinity: they count as wide as half of a usual one.
    spread = replace(quantity, median=np.ones_like(quantity.median))
    bounds = spread.quantile(np.clip(edges, 0.25 / n, 1 - 0.25 / n))
    return quantity.quantile(0.5 * (edges[1:] + edges[:-1])), np.log(bounds[1:] / bounds[:-1])


def _reached(distance: Floats, half: Floats) -> Floats:
    """Probability to lie above a need, at a distance from it and spread evenly over half a width to either side."""
    is_spread = half > 0
    if not is_spread.any():
        return np.asarray(distance >= -1e-12, dtype=float)
    is_everywhere = bool(is_spread.all())
    even = 0.5 + 0.5 * distance / (half if is_everywhere else np.where(is_spread, half, 1.0))
    even = np.minimum(np.maximum(even, 0.0), 1.0)
    return even if is_everywhere else np.asarray(np.where(is_spread, even, distance >= -1e-12))
