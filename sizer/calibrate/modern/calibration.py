"""The fits of MLPerf rows: rates and times to train, with spreads and accuracy from systems and a round left out."""

import math
import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.calibrate.accuracy_targets import AccuracyTarget
from sizer.calibrate.engine import (
    ErrorStatistics,
    FittedModel,
    StoredFits,
    digest_of,
    fits_path,
    load_fits,
    with_spreads,
)
from sizer.calibrate.modern.accelerators import accelerator_of
from sizer.calibrate.modern.rows import ModernRow, fits_rate, fits_time
from sizer.calibrate.modern.terms import STEPS, TRAININGS, Training, prior_of

RATE, TIME = "rate", "time"
NEWEST_ROUND = 5.1
_FOLDS = 5
# Terms other than the largest start a factor e below it.
_BELOW = 1.0
# Tests, and the largest median error that is asked for.
_TARGETS = (
    ("modern-rate-in-sample-median", 0.03),
    ("modern-time-in-sample-median", 0.03),
    ("modern-rate-system-left-out-median", 0.06),
    ("modern-time-system-left-out-median", 0.06),
    ("modern-rate-newest-round-left-out-median", 0.06),
    ("modern-time-newest-round-left-out-median", 0.08),
)
_COVERED, _BIAS = (0.85, 0.96), 0.03

# Logarithms of predicted over published, and variances by the effects.
_Errors = tuple[Floats, Floats]


def calibrate_modern(rows: Sequence[ModernRow]) -> StoredFits:
    """Fit rates and times to train to rows, and check the fits on systems and a round that they have not seen."""
    rates = [row for row in rows if fits_rate(row)]
    times = [row for row in rates if fits_time(row)]
    rate, time = fit_rates(rates), fit_times(times)
    of_rates, of_times, of_lines = (_folds(some) for some in (rates, times, [case.row for case in time.cases]))
    seen = _errors(rate, time, times)
    unseen = [(np.zeros(len(some)), np.zeros(len(some))) for some in (rates, times)]
    for k in range(_FOLDS):
        found = _errors(rate.refitted(of_rates == k), time.refitted(of_lines == k), times)
        for known, new, here in zip(unseen, found, (of_rates == k, of_times == k), strict=True):
            for part, values in zip(known, new, strict=True):
                part[here] = values[here]
    rate_fit, time_fit = with_spreads(rate.fit, seen[0], unseen[0]), with_spreads(time.fit, seen[1], unseen[1])
    newest, lines = (_is_newest(some) for some in (rates, [case.row for case in time.cases]))
    later = _errors(rate.refitted(newest), time.refitted(lines), times)
    tests = [(rate_fit, *seen[0]), (time_fit, *seen[1]), (rate_fit, *unseen[0]), (time_fit, *unseen[1])]
    # A network that the newest round is the first to run has nothing to be predicted from.
    earlier = {row.benchmark for row, is_new in zip(rates, newest, strict=True) if not is_new}
    for fit, (errors, variance), some in zip((rate_fit, time_fit), later, (rates, times), strict=True):
        here = _is_newest(some) & np.array([row.benchmark in earlier for row in some])
        tests.append((fit, errors[here], variance[here]))
    checks = [ErrorStatistics.of(errors, fit.interval_sd(variance)) for fit, errors, variance in tests]
    return StoredFits(digest_of_rows(rows), {RATE: rate_fit, TIME: time_fit}, _figures(checks))


def digest_of_rows(rows: Sequence[ModernRow]) -> str:
    """Short digest of rows; the place of a row is no part of it."""
    return digest_of([{name: value for name, value in vars(row).items() if name != "place"} for row in rows])


@cache
def modern_calibration() -> StoredFits:
    """The shipped fits, read once.

    Raises CalibrationError if they are missing or damaged.
    """
    return load_fits(fits_path("modern"), {RATE: prior_of, TIME: prior_of})


def fit_rates(rows: Sequence[ModernRow]) -> FittedModel[ModernRow]:
    """The fit of the rates: seconds of a step."""
    steps = [math.log(row.global_batch / row.samples_per_s) for row in rows if row.global_batch and row.samples_per_s]
    means: dict[str, float] = {}
    for net in {row.benchmark for row in rows}:
        # Work and memory traffic of a network start at the level of its rows.
        levels = [
            (math.log(gpu.peak_flop_per_s / each), math.log(gpu.memory_bytes_per_s / each))
            for row in rows
            if row.benchmark == net and row.accelerators and row.samples_per_s
            for gpu, each in [(accelerator_of(row.accelerator), row.samples_per_s / row.accelerators)]
        ]
        work, traffic = np.median(levels, axis=0)
        means |= {f"work {net}": float(work) - 0.5, f"traffic {net}": float(traffic) - 0.5 - _BELOW}
    return STEPS.fitted(rows, np.array(steps), means)


def fit_times(rows: Sequence[ModernRow]) -> FittedModel[Training]:
    """The fit of the times to train at their published rates, with the samples to convergence of the same runs."""
    cases, logs = [], []
    means: dict[str, float] = {}
    for row in rows:
        cases.append(Training(row, math.log(row.samples_per_s or math.nan)))
        logs.append(math.log(row.time_to_train_s or math.nan))
        if row.samples_to_converge is not None:
            cases.append(Training(row, is_timed=False))
            logs.append(math.log(row.samples_to_converge))
    for net in {row.benchmark for row in rows}:
        known = [row.samples_to_converge for row in rows if row.benchmark == net and row.samples_to_converge]
        if known:
            batches = [row.global_batch for row in rows if row.benchmark == net and row.global_batch]
            usual = math.log(float(np.median(known)))
            means |= {f"samples {net}": usual, f"steps {net}": usual - math.log(float(np.max(batches))) - _BELOW}
    return TRAININGS.fitted(cases, np.array(logs), means)


def _errors(
    rate: FittedModel[ModernRow], time: FittedModel[Training], times: Sequence[ModernRow]
) -> tuple[_Errors, _Errors]:
    """Errors of all rates, and of all times at the predicted rates."""
    of_steps, sd = rate.errors()
    log_rate = {
        row.id: math.log(row.samples_per_s or math.nan) - e for row, e in zip(rate.cases, of_steps, strict=True)
    }
    of_rate = dict(zip(log_rate, (sd**2).tolist(), strict=True))
    logs, time_sd = time.predict([Training(row, log_rate[row.id]) for row in times])
    measured = np.log([row.time_to_train_s or math.nan for row in times])
    return (-of_steps, sd**2), (logs - measured, time_sd**2 + np.array([of_rate[row.id] for row in times]))


def _figures(checks: Sequence[ErrorStatistics]) -> tuple[AccuracyTarget, ...]:
    """Measures of accuracy: rates and times in sample, with systems left out, and with the newest round left out."""
    n = sum(one.rows for one in checks)
    shares = [one.coverage for one in checks]
    return (
        *(AccuracyTarget(m, one.median, 0.0, most, one.rows) for (m, most), one in zip(_TARGETS, checks, strict=True)),
        AccuracyTarget("modern-least-coverage", min(shares), *_COVERED, n),
        AccuracyTarget("modern-most-coverage", max(shares), *_COVERED, n),
        AccuracyTarget("modern-largest-bias", max(abs(one.bias) for one in checks), 0.0, _BIAS, n),
    )


def _folds(rows: Sequence[ModernRow]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Fold of each row; a system lies in one of them, with every size, network and round."""
    return np.array([zlib.crc32(f"{row.maker} {row.hardware}".encode()) % _FOLDS for row in rows])


def _is_newest(rows: Sequence[ModernRow]) -> Bools:
    return np.array([row.round_order >= NEWEST_ROUND for row in rows])
