"""Rates of what a layout divides over the GPUs of a design: language models, in training and in use."""

from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Bools, Floats, Index
from sizer.base.estimate import normal_cdf


@dataclass(frozen=True)
class FirstTokens:
    """How surely the first tokens of a model in use keep their limit at a rate. Arrays (rows, loads).

    Servers that are added shorten the queue and not the prefill: it is no rate that more of them reach.
    """

    log_rate: Floats  # rising
    score: Floats  # standard deviations by which the limit lies above the percentile

    def take(self, rows: Index) -> "FirstTokens":
        """Some of the rows."""
        return FirstTokens(self.log_rate[rows], self.score[rows])

    def score_at(self, samples_per_s: Floats) -> Floats:
        """Standard deviations that are left at rates, of the shape of the rows or one that broadcasts with it."""
        with np.errstate(divide="ignore"):
            at = np.log(samples_per_s)[..., None]
        x, score = np.broadcast_arrays(self.log_rate, self.score)
        below = np.clip((x <= at).sum(axis=-1, keepdims=True) - 1, 0, x.shape[-1] - 2)
        shape = (*below.shape[:-1], x.shape[-1])
        (x0, x1), (y0, y1) = (
            [np.take_along_axis(np.broadcast_to(part, shape), below + step, axis=-1) for step in (0, 1)]
            for part in (x, score)
        )
        share = np.clip((at - x0) / np.where(x1 > x0, x1 - x0, 1.0), 0.0, 1.0)
        return np.asarray((y0 + np.where(share > 0, share * (y1 - y0), 0.0))[..., 0])

    def chance(self, samples_per_s: Floats) -> Floats:
        """Probability that the limit is kept at rates."""
        return normal_cdf(self.score_at(samples_per_s))


@dataclass(frozen=True)
class LaidOutRun:
    """Rates by the best layout of every row. Arrays over the rows."""

    median_samples_per_s: Floats  # tokens of a training over days, with interruptions; requests of a model in use
    log_sd: Floats
    fits: Bools
    replicas: Floats  # that hold the model each
    first_tokens: FirstTokens | None = None  # of a model in use with a limit on them

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate under some draws: no term of a step moves it, its scatter alone does. [samples/s]"""
        return np.asarray(self.median_samples_per_s + 0 * values[..., 0])
