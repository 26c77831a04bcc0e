"""Which MLPerf rows the fits leave out, and which of them lack what a prediction needs."""

from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.notes import CalibrationNote, FitNote, note

# Runs without an accelerator are named so in the column of the accelerator.
_NO_ACCELERATOR = "cpu-only"
# BERT runs whose samples were counted from evaluations that were assumed to be evenly spaced go wrong above this.
_MOST_SAMPLES_OF_EVEN_EVALUATIONS = 4.6e6


def missing_fact(row: ModernRow) -> CalibrationNote | None:
    """Why a row cannot be predicted, whatever the fits know."""
    if not row.benchmark:
        return note(FitNote.DNN_NOT_NAMED)
    if not row.accelerator:
        return note(FitNote.GPU_NOT_NAMED)
    if row.accelerator == _NO_ACCELERATOR:
        return note(FitNote.NO_GPU_RAN)
    if row.accelerators is None:
        return note(FitNote.COUNTS_NOT_STATED)
    if row.global_batch is None:
        return note(FitNote.BATCH_NOT_STATED)
    return None


def exclusion(row: ModernRow) -> CalibrationNote | None:
    """Why the fit of the rates leaves out a row that can be predicted."""
    if "under 60%" in row.flags:
        return note(FitNote.TRAINING_SHARE_LOW)
    return None


def fits_rate(row: ModernRow) -> bool:
    """Whether the fit of the rates uses a row."""
    return row.samples_per_s is not None and missing_fact(row) is None and exclusion(row) is None


def fits_time(row: ModernRow) -> bool:
    """Whether the fit of the times to train uses a row."""
    samples = row.samples_to_converge or 0.0
    miscounted = "evenly spaced" in row.flags and samples > _MOST_SAMPLES_OF_EVEN_EVALUATIONS
    return row.time_to_train_s is not None and fits_rate(row) and not miscounted
