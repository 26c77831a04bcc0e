"""Percentiles of the time to the first token and of the time per token over their means, from MLPerf's logs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.base.estimate import normal_quantile
from sizer.perf.arguments import require_within

# Percentiles of which the ratios are known.
_PERCENTILES = (50.0, 90.0, 99.0)


@dataclass(frozen=True)
class PercentileRatios:
    """Ratios of percentiles to the mean: medians of many runs, and the spread of their logarithms.

    183 runs of MLPerf Inference with Poisson arrivals near the limits; half widths of the central 80 % over 1.28.
    """

    ratios: tuple[float, float, float]  # at 50, 90 and 99 %
    log_sds: tuple[float, float, float]

    def at(self, percentile: ArrayLike) -> tuple[Floats, Floats]:
        """Ratio at a percentile and the spread of its logarithm, linear in the normal quantile between those known.

        Raises
        ------
        ValueError
            If a percentile does not lie in 50 to 99.9.

        Examples
        --------
        >>> ratio, log_sd = TTFT_RATIOS.at(90)
        >>> float(ratio), round(float(log_sd), 2)
        (1.55, 0.14)
        """
        require_within(50.0, 99.9, percentile=percentile)
        known = normal_quantile(np.array(_PERCENTILES) / 100)
        at = normal_quantile(np.asarray(percentile, dtype=float) / 100)
        logs = np.log(self.ratios)
        # Beyond the last known one the line goes on.
        beyond = np.maximum(at - known[-1], 0.0)
        slope = (logs[-1] - logs[-2]) / (known[-1] - known[-2])
        log_ratio = np.interp(at, known, logs) + slope * beyond
        return np.exp(log_ratio), np.interp(at, known, self.log_sds) * (1 + beyond)


# Share of the time that prefills take from which on the percentiles of the first token are those published, and what is
# left of the logarithm of their ratio to the mean for one request alone: assumed, half of it from lengths.
_QUEUED, _ALONE = 0.4, 0.5


def first_token_ratio(
    percentile: ArrayLike, busy_share: ArrayLike = 0.0, concurrency: ArrayLike = 1.0, alone: ArrayLike = np.nan
) -> tuple[Floats, Floats]:
    """Ratio of a percentile of the first token to its mean, and the spread of its logarithm.

    ``percentile`` (...): 50 to 99.9 [%].
    ``busy_share`` (...): share of the time that prefills take.
    ``concurrency`` (...): requests in flight.
    ``alone`` (...): the ratio for requests alone, by their lengths; NaN: as the lengths of MLPerf's data sets have it.
    Returns (...): ratio and standard deviation of its logarithm.

    Where prefills hardly queue, first tokens vary as the lengths do; a request waits for the prefills of the others in
    flight.

    Examples
    --------
    >>> alone, busy = first_token_ratio(90)[0], first_token_ratio(90, 0.5, 20)[0]
    >>> round(float(alone), 2), round(float(busy), 2)
    (1.24, 1.55)
    """
    ratio, log_sd = TTFT_RATIOS.at(percentile)
    others = np.asarray(busy_share, dtype=float) * (1 - 1 / np.maximum(concurrency, 1.0))
    of_lengths = np.where(np.isnan(alone), ratio**_ALONE, alone)
    return np.asarray(of_lengths * ratio ** ((1 - _ALONE) * np.minimum(others / _QUEUED, 1.0))), log_sd


# Decay of the tail of a queue with random arrivals and equal services, over the service -> share that they take.
_DECAY = np.geomspace(12.0, 1e-3, 400)
_BUSY_AT = _DECAY / np.expm1(_DECAY)


def queue_wait(percentile: ArrayLike, busy_share: ArrayLike, variation: ArrayLike = 0.0) -> tuple[Floats, Floats]:
    """Mean and percentile of the wait of random arrivals for services, one after the other, over the mean service.

    ``percentile`` (...): 50 to 99.9 [%].
    ``busy_share`` (...): share of the time that services take.
    ``variation`` (...): variance of services over the square of their mean.

    M/D/1: the mean by Pollaczek and Khinchine; the percentile by the first term of Erlang's sum, which is exact below
    one service, and beyond by the exponential tail. Services that vary lengthen the mean as Pollaczek and Khinchine
    have it, and the percentile as much.

    Examples
    --------
    >>> mean, tail = queue_wait([90, 99], 0.5)
    >>> round(float(mean), 2), [round(float(one), 1) for one in tail]
    (0.5, [1.5, 3.3])
    """
    busy = np.clip(np.asarray(busy_share, dtype=float), _BUSY_AT[0], _BUSY_AT[-1])
    decay = np.interp(busy, _BUSY_AT, _DECAY)
    weight = (1 - busy) / (busy * np.exp(decay) - 1)
    kept = np.asarray(percentile, dtype=float) / 100
    first = np.maximum(np.log(kept / (1 - busy)) / busy, 0.0)
    tail = np.where(first < 1, first, np.maximum(np.log(weight / (1 - kept)) / decay, 1.0))
    longer = 1 + np.asarray(variation, dtype=float)
    return np.asarray(longer * busy / (2 * (1 - busy))), longer * tail


TTFT_RATIOS = PercentileRatios((0.93, 1.55, 2.3), (0.05, 0.14, 0.24))
TPOT_RATIOS = PercentileRatios((1.0, 1.09, 1.17), (0.02, 0.05, 0.09))
