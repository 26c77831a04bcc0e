"""Accuracy of the fit on runs that it has seen and on runs, series, sources and rounds left out of it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.normal import normal_cdf
from sizer.calibrate.accuracy_targets import AccuracyMeasure, AccuracyTarget
from sizer.calibrate.engine import ErrorStatistics, FittedModel
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.cases import LanguageCase, work_flop
from sizer.calibrate.language.gpu_memory import REFUSED
from sizer.calibrate.language.time_to_train import MINUTE, benchmark_of, fit_benchmarks
from sizer.perf.language.step import FILLED

# The newest round is predicted by what came before it.
NEWEST_ROUND = "mlperf-training-v5.0"


def accuracy(calibration: LanguageCalibration) -> tuple[AccuracyTarget, ...]:
    """Every measure of accuracy, each group left out in turn: about half a minute."""
    steps, memory, cases = calibration.steps, calibration.memory, calibration.cases
    stacks: dict[str, set[str]] = {}
    for case in cases:
        stacks.setdefault(case.levels.stack, set()).add(case.row.source)
    known = np.array([len(stacks[case.levels.stack]) > 1 for case in cases])
    of_source = steps.left_out(case.row.source for case in cases)
    seen, by_series = (
        ErrorStatistics.of(*steps.errors()),
        ErrorStatistics.of(*steps.left_out(c.row.series or c.row.row_id for c in cases)),
    )
    by_source, usual, strange = (
        ErrorStatistics.of(*(part[rows] for part in of_source)) for rows in (..., known, ~known)
    )
    rates, times = newest_round(steps)
    better = sources_better_than_one_utilization(cases, of_source[0])
    peaks, peaks_left_out = (
        ErrorStatistics.of(*memory.errors()),
        ErrorStatistics.of(*memory.left_out(c.row.source for c in memory.cases)),
    )
    refused = refused_that_ran(memory, cases)
    m = AccuracyMeasure
    return (
        AccuracyTarget(m.LANGUAGE_MEDIAN, seen.median, 0.0, 0.04, seen.rows),
        AccuracyTarget(m.LANGUAGE_P90, seen.p90, 0.0, 0.15, seen.rows),
        AccuracyTarget(m.LANGUAGE_SERIES_MEDIAN, by_series.median, 0.0, 0.07, by_series.rows),
        AccuracyTarget(m.LANGUAGE_SOURCE_MEDIAN, usual.median, 0.0, 0.10, usual.rows),
        AccuracyTarget(m.LANGUAGE_BETTER, float(np.mean(better)), 0.8, 1.0, len(better)),
        AccuracyTarget(m.LANGUAGE_STRANGE_MEDIAN, strange.median, 0.0, 0.15, strange.rows),
        AccuracyTarget(m.LANGUAGE_ROUND_RATES, float(np.median(np.abs(rates))), 0.0, 0.08, len(rates)),
        AccuracyTarget(m.LANGUAGE_ROUND_TIMES, float(np.median(np.abs(times))), 0.0, 0.10, len(times)),
        AccuracyTarget(m.LANGUAGE_COVERAGE, seen.coverage, 0.85, 0.96, seen.rows),
        AccuracyTarget(m.LANGUAGE_SERIES_COVERAGE, by_series.coverage, 0.85, 0.96, by_series.rows),
        AccuracyTarget(m.LANGUAGE_SOURCE_COVERAGE, by_source.coverage, 0.85, 0.96, by_source.rows),
        AccuracyTarget(m.LANGUAGE_STRANGE_COVERAGE, strange.coverage, 0.85, 0.96, strange.rows),
        AccuracyTarget(m.LANGUAGE_MEMORY_MEDIAN, peaks.median, 0.0, 0.05, peaks.rows),
        AccuracyTarget(m.LANGUAGE_MEMORY_SOURCE_MEDIAN, peaks_left_out.median, 0.0, 0.15, peaks_left_out.rows),
        AccuracyTarget(m.LANGUAGE_MEMORY_COVERAGE, peaks_left_out.coverage, 0.85, 0.96, peaks_left_out.rows),
        AccuracyTarget(m.LANGUAGE_MEMORY_RAN, float(np.mean(refused)), 0.0, 0.0, len(refused)),
        AccuracyTarget(m.LANGUAGE_BIAS, abs(seen.bias), 0.0, 0.03, seen.rows),
        AccuracyTarget(m.LANGUAGE_SOURCE_BIAS, abs(by_source.bias), 0.0, 0.03, by_source.rows),
        AccuracyTarget(m.LANGUAGE_STRANGE_BIAS, abs(strange.bias), 0.0, 0.03, strange.rows),
    )


def refused_that_ran(memory: FittedModel[LanguageCase], cases: Sequence[LanguageCase]) -> Bools:
    """Of runs whose layout is stated, whether the model takes their memory for impossible: they ran all the same."""
    stated = [case for case in cases if not case.guessed]
    held = [replace(case, runtime=case.runtime | {"is_allocated": 0.0}) for case in stated]
    log_peaks, log_sd = memory.predict(held)
    room = FILLED * np.array([case.machine["memory_bytes"] for case in stated])
    return np.asarray(normal_cdf((np.log(room) - log_peaks) / log_sd) < REFUSED)


def newest_round(steps: FittedModel[LanguageCase]) -> tuple[Floats, Floats]:
    """Errors of step times and of times to train of the newest round of MLPerf, predicted without it.

    A benchmark that the round is the first to run has no time to train to learn from and is left out of the second.
    """
    cases = steps.cases
    out = np.array([case.row.source == NEWEST_ROUND for case in cases])
    rates, _ = steps.refitted(out).errors(out)
    before = fit_benchmarks([case for case, is_out in zip(cases, out, strict=True) if not is_out])
    known = {name for name, _ in before.cases}
    newest = zip((case for case, is_out in zip(cases, out, strict=True) if is_out), rates.tolist(), strict=True)
    timed = [one for one in newest if benchmark_of(one[0]) in known and one[0].row.ttt_min]
    logs, _ = before.predict([(benchmark_of(case), case.layout["batch"]) for case, _ in timed])
    took = [(case.log_step_s or np.nan) + error - np.log(case.layout["batch"] * MINUTE * (case.row.ttt_min or np.nan))
            for case, error in timed]  # fmt: skip
    return rates, logs + np.array(took)


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
