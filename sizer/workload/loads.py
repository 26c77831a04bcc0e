"""How requests and hours vary: percentiles of lengths, and the load of a day."""

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.base.errors import RequestError
from sizer.base.estimate import normal_quantile
from sizer.base.units import DAY_S, HOUR_S
from sizer.workload.request import DailyProfile, Target, Workload

DAY_HOURS = 24
# Percentile of lengths that a request states.
_TAIL = 95
# Variance of lengths over the square of their mean, at most: beyond, half of all tokens are in a tenth of the requests,
# and one workload is two. A choice of ours.
_MOST_VARIATION = 2.5
# Peak of a week over its mean and over its valley, of Azure's services of coding and of conversation (DynamoLLM,
# arXiv:2408.00741, section III). The hours between follow a power of a cosine that has both: assumed.
_PEAK_OVER: dict[DailyProfile, tuple[float, float]] = {"office": (2.8, 34.6), "consumer": (1.7, 3.3)}
# Hour of the peak. Assumed; only which hours are the night depends on it.
_PEAK_HOUR = {"office": 11, "consumer": 20}


def length_ratio(percentile: ArrayLike, variation: ArrayLike) -> Floats:
    """Percentile of lengths over their mean.

    ``percentile`` (...): above 0, below 100 [%].
    ``variation`` (...): variance over the square of the mean; 0: all are alike, 1: exponential.

    Lengths have a gamma distribution (outputs of production traces are near exponential), in the approximation of
    Wilson and Hilferty (Proc. Natl. Acad. Sci. 17(12):684-688, 1931).

    Examples
    --------
    >>> [round(float(one), 2) for one in length_ratio([50, 95, 99], 1.0)]  # exact: 0.69, 3.00, 4.61
    [0.7, 2.97, 4.61]
    """
    spread = np.asarray(variation, dtype=float)
    at = normal_quantile(np.asarray(percentile, dtype=float) / 100)
    return np.asarray((1 - spread / 9 + at * np.sqrt(spread) / 3) ** 3)


def length_variation(tail: float, *, is_of_median: bool = False) -> float:
    """Variance of lengths over the square of their mean: the inverse of :func:`length_ratio`.

    ``tail``: their 95th percentile over their mean, or over their median.

    Examples
    --------
    >>> round(length_variation(2.97), 2), round(length_variation(2.97 / 0.7023, is_of_median=True), 2)
    (1.0, 1.0)
    """
    at, over = float(normal_quantile(_TAIL / 100)), math.cbrt(tail) - 1
    if over == 0:
        return 0.0
    root = (math.hypot(at, 2 * over) - at) / over if is_of_median else at - math.sqrt(at**2 - 4 * over)
    return (1.5 * root) ** 2


def lengths_of(work: Workload, key: str) -> tuple[int | None, ...]:
    """Mean, median and 95th percentile of a length as stated; ``key`` as of :func:`stated_length`."""
    return tuple(getattr(work, f"{key}{part}") for part in ("", "_p50", "_p95"))


def stated_length(
    work: Workload, place: str, key: str, usual: float, usual_tail: float | None
) -> tuple[float, float | None]:
    """Mean of a length, and its variance over the square of the mean; None where nothing tells it.

    ``key``: ``input_tokens`` or ``output_tokens``. ``usual``, ``usual_tail``: of its use, the mean and its 95th
    percentile over the mean. Raises RequestError if percentiles are not those of one kind of requests.
    """
    mean, median, tail = lengths_of(work, key)
    if median is not None and (mean is not None or tail is None):
        raise RequestError(
            f"{place}.{key}_p50: a median tells a length with {key}_p95 beside it and without {key}; write "
            f"{key}_p50 and {key}_p95, or {key} alone"
        )
    if tail is None:
        return float(mean or usual), None if usual_tail is None else length_variation(usual_tail)
    of_median = median is not None
    ratio, most = tail / (median or mean or usual), float(length_ratio(_TAIL, _MOST_VARIATION))
    if not 1 <= ratio <= (most / float(length_ratio(50, _MOST_VARIATION)) if of_median else most):
        raise RequestError(
            f"{place}.{key}_p95: {tail} is {ratio:.3g} times the {'median' if of_median else 'mean'}, and lengths of "
            "one kind of requests lie above it and closer together; write a workload for each kind"
        )
    variation = length_variation(ratio, is_of_median=of_median)
    return float(median / float(length_ratio(50, variation)) if median else mean or usual), variation


def load_by_hour(work: Workload, place: str) -> tuple[float, ...]:
    """Load of the hours of a day over that of the peak; 1 throughout where nothing says how it varies.

    Raises RequestError if nobody waits for what has hours, no hour has a load, or people's requests have none.
    """
    name, hours, target = work.daily_profile, work.load_by_hour, f"{place}.target.requests_per_day"
    if work.task == "generation" and (name or hours):
        raise RequestError(
            f"{place}: nobody waits for a generation, which runs at one rate; remove daily_profile and load_by_hour, "
            "or write task = 'serving'"
        )
    if work.task == "serving" and work.night_hours:
        raise RequestError(
            f"{place}.night_hours: people are served at every hour; write it in the generation or training that runs "
            "at night, and daily_profile here"
        )
    if name and hours:
        raise RequestError(f"{place}: give either daily_profile or load_by_hour, not both")
    if work.task == "serving" and work.target.requests_per_day and not (name or hours):
        raise RequestError(
            f"{target}: the peak hour decides; add daily_profile = 'office', 'consumer' or 'flat', or load_by_hour "
            "with 24 values"
        )
    if hours is None:
        return (1.0,) * DAY_HOURS if name in (None, "flat") else _named_profile(name)
    if not max(hours) > 0:
        raise RequestError(f"{place}.load_by_hour: no hour has a load; write 24 values of which one is above 0")
    return tuple(load / max(hours) for load in hours)


def night_target(target: Target, hours: int) -> Target:
    """A target of work that runs in some hours of the night alone, in these hours."""
    times = {
        "time_to_train_s": hours / DAY_HOURS,
        "samples_per_s": DAY_HOURS / hours,
        "tokens_per_s": DAY_HOURS / hours,
    }
    changed = {name: by * stated for name, by in times.items() if (stated := getattr(target, name)) is not None}
    if target.time_to_train_s is not None and target.time_to_train_s <= DAY_S:
        changed["time_to_train_s"] = min(target.time_to_train_s, hours * HOUR_S)  # in one night
    return target.model_copy(update=changed)


@cache
def _named_profile(name: DailyProfile) -> tuple[float, ...]:
    """Valley + (1 - valley) ((1 + cos) / 2)^p over the hours, with the p that has the published mean."""
    over_mean, over_valley = _PEAK_OVER[name]
    waves = (1 + np.cos(2 * np.pi * (np.arange(DAY_HOURS) - _PEAK_HOUR[name]) / DAY_HOURS)) / 2
    powers = np.geomspace(0.5, 20.0, 2_000)
    loads = 1 / over_valley + (1 - 1 / over_valley) * waves ** powers[:, None]
    return tuple(loads[np.abs(loads.mean(axis=1) * over_mean - 1).argmin()].tolist())
