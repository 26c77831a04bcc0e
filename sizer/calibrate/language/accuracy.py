"""Accuracy of the fit on runs that it has seen and on runs, series, sources and rounds left out of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Z90
from sizer.base.normal import normal_cdf
from sizer.calibrate.accuracy_targets import AccuracyMeasure, AccuracyTarget
from sizer.calibrate.language.calibration import LanguageCalibration, scatter
from sizer.calibrate.language.cases import LanguageCase, work_flop
from sizer.calibrate.language.fit import LanguageFit
from sizer.calibrate.language.gpu_memory import REFUSED, PeakMemoryFit, spread
from sizer.calibrate.language.rows import rows_digest
from sizer.calibrate.language.time_to_train import benchmark_of, fit_benchmarks
from sizer.calibrate.observations import read_stored, stored_path, write_stored
from sizer.perf.language.memory import FILLED

# The newest round is predicted by what came before it.
NEWEST_ROUND = "mlperf-training-v5.0"


def accuracy(calibration: LanguageCalibration) -> tuple[AccuracyTarget, ...]:
    """Every measure of accuracy, each group left out in turn: about half a minute."""
    fit = calibration.fit
    cases = fit.model.cases
    seen = fit.residuals
    errors, inside = _left_out(fit, [case.row.source for case in cases])
    stacks: dict[str, set[str]] = {}
    for case in cases:
        stacks.setdefault(case.levels.stack, set()).add(case.row.source)
    known = np.array([len(stacks[case.levels.stack]) > 1 for case in cases])
    by_series, in_series = _left_out(fit, [case.row.series or case.row.row_id for case in cases])
    rates, times = newest_round(fit)
    better = sources_better_than_one_utilization(cases, errors)
    memory = calibration.memory
    refused = refused_that_ran(memory, cases)
    peaks, in_memory = _peaks_left_out(memory)
    median, p90 = np.median, _p90
    m = AccuracyMeasure
    return (
        _figure(m.LANGUAGE_MEDIAN, median, np.abs(seen), 0.0, 0.04),
        _figure(m.LANGUAGE_P90, p90, np.abs(seen), 0.0, 0.15),
        _figure(m.LANGUAGE_SERIES_MEDIAN, median, np.abs(by_series), 0.0, 0.07),
        _figure(m.LANGUAGE_SOURCE_MEDIAN, median, np.abs(errors[known]), 0.0, 0.10),
        _figure(m.LANGUAGE_BETTER, np.mean, better, 0.8, 1.0),
        _figure(m.LANGUAGE_STRANGE_MEDIAN, median, np.abs(errors[~known]), 0.0, 0.15),
        _figure(m.LANGUAGE_ROUND_RATES, median, np.abs(rates), 0.0, 0.08),
        _figure(m.LANGUAGE_ROUND_TIMES, median, np.abs(times), 0.0, 0.10),
        _figure(m.LANGUAGE_COVERAGE, np.mean, _inside(seen, _seen_variance(fit), cases), 0.85, 0.96),
        _figure(m.LANGUAGE_SERIES_COVERAGE, np.mean, in_series, 0.85, 0.96),
        _figure(m.LANGUAGE_SOURCE_COVERAGE, np.mean, inside, 0.85, 0.96),
        _figure(m.LANGUAGE_STRANGE_COVERAGE, np.mean, inside[~known], 0.85, 0.96),
        _figure(m.LANGUAGE_MEMORY_MEDIAN, median, np.abs(memory.residuals), 0.0, 0.05),
        _figure(m.LANGUAGE_MEMORY_SOURCE_MEDIAN, median, np.abs(peaks), 0.0, 0.15),
        _figure(m.LANGUAGE_MEMORY_COVERAGE, np.mean, in_memory, 0.85, 0.96),
        _figure(m.LANGUAGE_MEMORY_RAN, np.mean, refused, 0.0, 0.0),
        _figure(m.LANGUAGE_BIAS, lambda e: abs(median(e)), seen, 0.0, 0.03),
        _figure(m.LANGUAGE_SOURCE_BIAS, lambda e: abs(median(e)), errors, 0.0, 0.03),
        _figure(m.LANGUAGE_STRANGE_BIAS, lambda e: abs(median(e)), errors[~known], 0.0, 0.03),
    )


def _figure(
    measure: AccuracyMeasure, statistic: Callable[[Any], Any], values: Any, low: float, high: float
) -> AccuracyTarget:
    return AccuracyTarget(measure, float(statistic(values)), low, high, len(values))


def _p90(values: Floats) -> float:
    return float(np.quantile(values, 0.9))


def _inside(errors: Floats, variance: Floats, cases: Sequence[LanguageCase]) -> Bools:
    return np.asarray(np.abs(errors) <= Z90 * np.sqrt(variance + scatter(cases) ** 2))


def _seen_variance(fit: LanguageFit) -> Floats:
    derivative = fit.model(fit.values)[1]
    return np.asarray((derivative @ fit.covariance * derivative.toarray()).sum(axis=1))


def _left_out(fit: LanguageFit, groups: Iterable[str]) -> tuple[Floats, Bools]:
    """Errors ln(predicted / measured) with each group left out, and whether the interval holds the measured value."""
    names = np.array(list(groups))
    cases = fit.model.cases
    errors, inside = np.zeros(len(names)), np.zeros(len(names), dtype=bool)
    for name in np.unique(names):
        out = names == name
        errors[out], variance = fit.without(out)
        inside[out] = _inside(errors[out], variance, [case for case, is_out in zip(cases, out, strict=True) if is_out])
    return errors, inside


def _peaks_left_out(memory: PeakMemoryFit) -> tuple[Floats, Bools]:
    """Errors of peaks of memory with their source left out, and whether the interval holds the measured peak."""
    cases = memory.model.cases
    sources = np.array([case.row.source for case in cases])
    errors, inside = np.zeros(len(cases)), np.zeros(len(cases), dtype=bool)
    for source in np.unique(sources):
        out = sources == source
        errors[out], variance = memory.without(out)
        beyond = spread([case for case, is_out in zip(cases, out, strict=True) if is_out])
        inside[out] = np.abs(errors[out]) <= Z90 * np.sqrt(variance + beyond**2)
    return errors, inside


def refused_that_ran(memory: PeakMemoryFit, cases: Sequence[LanguageCase]) -> Bools:
    """Of runs whose layout is stated, whether the model takes their memory for impossible: they ran all the same."""
    stated = [case for case in cases if not case.guessed]
    held = [replace(case, runtime=case.runtime | {"is_allocated": 0.0}) for case in stated]
    peaks = memory.bytes_of(held)
    room = FILLED * np.array([case.machine["memory_bytes"] for case in stated])
    return np.asarray(normal_cdf(np.log(room / peaks.value) / peaks.log_sd) < REFUSED)


def newest_round(fit: LanguageFit) -> tuple[Floats, Floats]:
    """Errors of step times and of times to train of the newest round of MLPerf, predicted without it.

    A benchmark that the round is the first to run has no time to train to learn from and is left out of the second.
    """
    cases = fit.model.cases
    out = np.array([case.row.source == NEWEST_ROUND for case in cases])
    rates, _ = fit.without(out)
    before = fit_benchmarks([case for case, is_out in zip(cases, out, strict=True) if not is_out])
    times = []
    for case, error in zip((c for c, is_out in zip(cases, out, strict=True) if is_out), rates, strict=True):
        benchmark = before.get(benchmark_of(case))
        if benchmark is None or not case.row.ttt_min or case.log_step_s is None:
            continue
        batch = case.layout["batch"]
        step = np.exp(case.log_step_s + error)
        times.append(np.log(benchmark.sequences(batch).value / batch * step / (60.0 * case.row.ttt_min)))
    return rates, np.array(times)


def sources_better_than_one_utilization(cases: Sequence[LanguageCase], errors: Floats) -> list[bool]:
    """For each source, whether it is predicted better than by one utilization for each GPU and precision.

    The utilization is the median model-FLOP utilization of the runs of other sources; a source of which no other ran
    the GPU and precision has none.
    """
    matmul_flop_per_s = np.array([case.machine["matmul_flop_per_s"] for case in cases])
    idle = np.array([c.log_step_s for c in cases], dtype=float) - np.log(work_flop(cases) / matmul_flop_per_s)
    sources = np.array([case.row.source for case in cases])
    groups = np.array([case.levels.gpu_precision for case in cases])
    found = []
    for source in np.unique(sources):
        mine = sources == source
        plain, ours = [], []
        for group in np.unique(groups[mine]):
            others = idle[~mine & (groups == group)]
            if len(others):
                here = mine & (groups == group)
                plain += list(np.abs(idle[here] - np.median(others)))
                ours += list(np.abs(errors[here]))
        if plain:
            found.append(bool(np.median(ours) < np.median(plain)))
    return found


def accuracy_path() -> Path:
    """Where the shipped figures are stored."""
    return stored_path().with_name("language-accuracy.json")


def save_accuracy(figures: Sequence[AccuracyTarget], path: Path | None = None) -> Path:
    """Write the figures with the digest of the rows that they were measured on."""
    content = {one.measure.value: [round(one.value, 5), one.low, one.high, one.rows] for one in figures}
    return write_stored({"digest": rows_digest(), **content}, path or accuracy_path())


def stored_accuracy() -> tuple[AccuracyTarget, ...]:
    """The figures of the shipped rows.

    Raises
    ------
    CalibrationError
        If they are missing, or the rows have changed since.
    """
    content = read_stored(accuracy_path())
    if content.pop("digest", None) != rows_digest():
        raise CalibrationError(
            "language-model rows have changed since their accuracy was measured; run 'sizer calibrate'"
        )
    try:
        return tuple(
            AccuracyTarget(AccuracyMeasure(name), float(value), float(low), float(high), int(rows))
            for name, (value, low, high, rows) in content.items()
        )
    except (ValueError, TypeError) as error:
        raise CalibrationError(f"{accuracy_path().name}: {error}; run 'sizer calibrate'") from None
