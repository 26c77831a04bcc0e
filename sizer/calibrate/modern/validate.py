"""MLPerf rows compared with their predictions, as rows of the validation."""

from collections.abc import Sequence

import numpy as np

from sizer.base.estimate import Estimate
from sizer.calibrate.engine import StoredFits
from sizer.calibrate.modern.accelerators import sourced_accelerators
from sizer.calibrate.modern.published import fitted_accelerators, fitted_ids, published_runs
from sizer.calibrate.modern.rows import ModernRow, exclusion, missing_fact
from sizer.calibrate.modern.terms import RATE, STEPS, TIME, TRAININGS, Training
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.validate import ValidatedRow


def validated_rows(rows: Sequence[ModernRow], fits: StoredFits) -> list[ValidatedRow]:
    """Rate and time to train of every row that states them, with the prediction or why there is none."""
    reasons = [missing_fact(row) or _not_known(row) for row in rows]
    known = [row for row, reason in zip(rows, reasons, strict=True) if reason is None]
    predicted = iter(predict(known, fits))
    found = []
    for row, reason in zip(rows, reasons, strict=True):
        pair = (None, None) if reason is not None else next(predicted)
        status = _status(row, reason)
        for quantity, published, interval in zip(
            ("samples_per_s", "time_to_train_s"), (row.samples_per_s, row.time_to_train_s), pair, strict=True
        ):
            if published is not None:
                found.append(ValidatedRow.of(row.id, "training", quantity, row.source, published, interval, status))
    return found


def predict(rows: Sequence[ModernRow], fits: StoredFits) -> list[tuple[Estimate, Estimate]]:
    """Rate (samples/s) and time to train (s) of rows that state accelerators and global batch.

    Returns, of each row, the median and 90 % interval of the rate, and of the time.
    """
    if not rows:
        return []
    rate, time = fits.fits[RATE], fits.fits[TIME]
    steps, variance = STEPS.predict(rate, rows)
    log_rate = np.log([row.global_batch or np.nan for row in rows]) - steps
    trainings = [Training(row, float(log)) for row, log in zip(rows, log_rate, strict=True)]
    seconds, of_time = TRAININGS.predict(time, trainings)
    rates = Estimate.log_normal(np.exp(log_rate), rate.interval_sd(variance))
    times = Estimate.log_normal(np.exp(seconds), time.interval_sd(of_time + variance))
    return [(rates[i], times[i]) for i in range(len(rows))]


def _not_known(row: ModernRow) -> CalibrationNote | None:
    """Why the fits cannot predict a row: its network, or its accelerator, is not in them."""
    if not published_runs(row.benchmark):
        return note(FitNote.DNN_NOT_IN_CATALOGUE, row.benchmark)
    if row.accelerator not in fitted_accelerators() and row.accelerator not in sourced_accelerators():
        return note(FitNote.GPU_NOT_IN_CATALOGUE, row.accelerator)
    return None


def _status(row: ModernRow, reason: CalibrationNote | None) -> RowStatus:
    if reason is not None:
        return RowStatus(RowUse.OUTSIDE, reason)
    excluded = exclusion(row)
    if excluded is not None:
        return RowStatus(RowUse.EXCLUDED, excluded)
    return CALIBRATED if row.id in fitted_ids() else PREDICTED
