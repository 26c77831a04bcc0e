"""MLPerf rows compared with their predictions, as rows of the validation."""

import math
from collections.abc import Sequence

import numpy as np

from sizer.calibrate.modern.accelerators import sourced_accelerators
from sizer.calibrate.modern.checks import HALF_WIDTH
from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.modern.rules import exclusion, missing_fact
from sizer.calibrate.modern.stored import ModernCalibration
from sizer.calibrate.modern.terms import rate_terms, time_terms
from sizer.calibrate.modern.without_runs import levels_of, related_network
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.validate import ValidatedRow

Interval = tuple[float, float, float]  # value and 90 % interval


def validated_rows(rows: Sequence[ModernRow], calibration: ModernCalibration) -> list[ValidatedRow]:
    """Rate and time to train of every row that states them, with the prediction or why there is none."""
    reasons = [missing_fact(row) or _not_known(row, calibration) for row in rows]
    known = [row for row, reason in zip(rows, reasons, strict=True) if reason is None]
    predicted = iter(predict(known, calibration))
    found = []
    for row, reason in zip(rows, reasons, strict=True):
        pair = (None, None) if reason is not None else next(predicted)
        status, notes = _status(row, reason, calibration), () if reason is not None else _notes(row)
        for quantity, published, interval in zip(
            ("samples_per_s", "time_to_train_s"), (row.samples_per_s, row.time_to_train_s), pair, strict=True
        ):
            if published is not None:
                value, low, high = interval or (None, None, None)
                found.append(
                    ValidatedRow(row.id, "training", quantity, row.source, published, value, low, high, status, notes)
                )
    return found


def predict(rows: Sequence[ModernRow], calibration: ModernCalibration) -> list[tuple[Interval, Interval]]:
    """Rate (samples/s) and time to train (s) of rows that state accelerators and global batch.

    Returns
    -------
    list of pairs
        Of each row: median and 90 % interval of the rate, and of the time.
    """
    if not rows:
        return []
    steps, variance = calibration.rate.predict([rate_terms(row) for row in rows])
    log_rate = np.log([row.global_batch or np.nan for row in rows]) - steps
    seconds, of_time = calibration.time.predict(
        [time_terms(row, float(log)) for row, log in zip(rows, log_rate, strict=True)]
    )
    rate_sd = calibration.rate.interval_sd(variance)
    time_sd = calibration.time.interval_sd(of_time + variance)
    return [(_interval(log_rate[i], rate_sd[i]), _interval(seconds[i], time_sd[i])) for i in range(len(rows))]


def _interval(log: float, sd: float) -> Interval:
    return math.exp(log), math.exp(log - HALF_WIDTH * sd), math.exp(log + HALF_WIDTH * sd)


def _not_known(row: ModernRow, calibration: ModernCalibration) -> CalibrationNote | None:
    """Why the fits cannot predict a row: its network, or its accelerator, is not in them."""
    if levels_of(row.benchmark) not in calibration.networks:
        return note(FitNote.DNN_NOT_IN_CATALOGUE, row.benchmark)
    if row.accelerator not in calibration.accelerators and row.accelerator not in sourced_accelerators():
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.accelerator)
    return None


def _notes(row: ModernRow) -> tuple[CalibrationNote, ...]:
    """Where a prediction lies beyond the runs of its network: there are none."""
    related = related_network(row.benchmark)
    return () if related is None else (note(FitNote.DNN_FROM_LIKE, related.own_name, related.name),)


def _status(row: ModernRow, reason: CalibrationNote | None, calibration: ModernCalibration) -> RowStatus:
    if reason is not None:
        return RowStatus(RowUse.OUTSIDE, reason)
    excluded = exclusion(row)
    if excluded is not None:
        return RowStatus(RowUse.EXCLUDED, excluded)
    return CALIBRATED if row.id in calibration.used else PREDICTED
