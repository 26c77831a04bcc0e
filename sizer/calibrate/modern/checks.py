"""How the fits predict systems and rounds that they have not seen, and the spreads that follow from it."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.calibrate.modern.fit import Fit, rate_problem, time_problem
from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.modern.terms import rate_terms, time_terms

_FOLDS = 5
# Half width of the 90 % interval of a normal distribution in standard deviations.
HALF_WIDTH = 1.645
NEWEST_ROUND = 5.0
_FACTORS = np.geomspace(0.3, 6, 30)
_ROW_SDS = np.geomspace(0.004, 0.1, 30)
_COVERED = 0.90


@dataclass(frozen=True)
class AccuracyCheck:
    """Accuracy of one kind of row in one test."""

    quantity: str
    test: str  # in-sample, system-left-out, newest-round-left-out
    rows: int
    median_error: float
    p90_error: float
    bias: float
    coverage: float


def fit_and_check(rates: Sequence[ModernRow], times: Sequence[ModernRow]) -> tuple[Fit, Fit, tuple[AccuracyCheck, ...]]:
    """Fits of rates and times with spreads from left-out systems, and their accuracy.

    Parameters
    ----------
    rates, times : sequence of ModernRow
        Rows that the fit of the rates and that of the times are made from; ``times`` is part of ``rates``.
    """
    rate, time = rate_problem(rates), time_problem(times)
    rate_fit, time_fit = rate.fit(), time.fit()
    owner = _owners(times)
    no_rate, no_time = np.zeros(len(rates), dtype=bool), np.zeros(len(owner), dtype=bool)
    folds, time_folds = _folds(rates), _folds(times)
    seen = _errors(rates, times, rate_fit, time_fit)
    unseen = [np.full((len(rates), 2), np.nan), np.full((len(times), 2), np.nan)]
    for k in range(_FOLDS):
        some = _errors(
            rates, times, rate.without(rate_fit, folds == k), time.without(time_fit, (time_folds == k)[owner])
        )
        for all_of, one, where in zip(unseen, some, (folds == k, time_folds == k), strict=True):
            all_of[where] = one[where]
    rate_fit = rate_fit.with_spreads(*_spreads(seen[0], unseen[0]))
    time_fit = time_fit.with_spreads(*_spreads(seen[1], unseen[1]))
    newest, newest_times = _is_newest(rates), _is_newest(times)
    later = _errors(
        rates,
        times,
        rate.without(rate_fit, newest) if newest.any() else rate.without(rate_fit, no_rate),
        time.without(time_fit, newest_times[owner]) if newest_times.any() else time.without(time_fit, no_time),
    )
    checks = []
    for test, errors, where in (
        ("in-sample", seen, (~no_rate, np.ones(len(times), dtype=bool))),
        ("system-left-out", unseen, (~no_rate, np.ones(len(times), dtype=bool))),
        ("newest-round-left-out", later, (newest, newest_times)),
    ):
        for quantity, fit, found, rows in zip(
            ("samples_per_s", "time_to_train_s"), (rate_fit, time_fit), errors, where, strict=True
        ):
            if rows.any():
                checks.append(_check(quantity, test, fit, found[rows]))
    return rate_fit, time_fit, tuple(checks)


def _errors(rates: Sequence[ModernRow], times: Sequence[ModernRow], rate: Fit, time: Fit) -> tuple[Floats, Floats]:
    """Log errors and variances by effects of rates and times, shapes (rows, 2); times use the predicted rates."""
    steps, variance = rate.predict([rate_terms(row) for row in rates])
    log_batch = np.log([row.global_batch or np.nan for row in rates])
    log_rate = log_batch - steps
    known = {row.id: (log_rate[i], variance[i]) for i, row in enumerate(rates)}
    of_rate = np.stack([log_rate - np.log([row.samples_per_s or np.nan for row in rates]), variance], axis=1)
    seconds, of_time = time.predict([time_terms(row, known[row.id][0]) for row in times])
    seconds = seconds - np.log([row.time_to_train_s or np.nan for row in times])
    of_time = of_time + np.array([known[row.id][1] for row in times])
    return of_rate, np.stack([seconds, of_time], axis=1)


def _spreads(seen: Floats, unseen: Floats) -> tuple[float, float]:
    """Factor on the effects' variance and scatter of a row at which both tests are covered as they should be."""
    best, found = np.inf, (1.0, 0.03)
    for factor in _FACTORS:
        for sd in _ROW_SDS:
            missed = sum(abs(_coverage(one, factor, sd) - _COVERED) for one in (seen, unseen))
            if missed < best - 1e-9:
                best, found = missed, (float(factor), float(sd))
    return found


def _coverage(errors: Floats, factor: float, row_sd: float) -> float:
    sd = np.sqrt(factor * errors[:, 1] + row_sd**2)
    return float(np.mean(np.abs(errors[:, 0]) <= HALF_WIDTH * sd))


def _check(quantity: str, test: str, fit: Fit, errors: Floats) -> AccuracyCheck:
    size = np.abs(errors[:, 0])
    return AccuracyCheck(
        quantity,
        test,
        len(size),
        float(np.median(size)),
        float(np.quantile(size, 0.9)),
        float(np.median(errors[:, 0])),
        _coverage(errors, fit.effect_factor, fit.row_sd),
    )


def _owners(times: Sequence[ModernRow]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Row of each line of the fit of times: a time, then its samples where they are stated."""
    return np.array([i for i, row in enumerate(times) for _ in range(1 + (row.samples_to_converge is not None))])


def _folds(rows: Sequence[ModernRow]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Fold of each row; a system lies in one of them, with every size, network and round."""
    return np.array([zlib.crc32(f"{row.maker} {row.hardware}".encode()) % _FOLDS for row in rows])


def _is_newest(rows: Sequence[ModernRow]) -> Bools:
    return np.array([row.round_order >= NEWEST_ROUND for row in rows])
