"""Published runs of language models with the prediction for each."""

from collections.abc import Sequence

from sizer.base.estimate import Estimate
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.cases import LanguageCase, cases_of
from sizer.calibrate.language.rows import LanguageRow
from sizer.calibrate.language.time_to_train import MINUTE
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.validate import ValidatedRow
from sizer.catalog.model import Catalog

# Quantities of a row: tokens/s of one GPU, as the files state them, and seconds to the target of a benchmark.
RATE, TIME = "tokens_per_s", "time_to_train_s"
_TASK = "language training"


def validate_language(
    rows: Sequence[LanguageRow], catalog: Catalog, calibration: LanguageCalibration
) -> tuple[ValidatedRow, ...]:
    """Predict rate and time to train of every row.

    Returns
    -------
    tuple of ValidatedRow
        One for each published quantity; rates in tokens/s of one GPU. A row that cannot be predicted has its reason.
    """
    cases = cases_of(rows, catalog, calibration.rows)
    known = [case for case in cases if isinstance(case, LanguageCase)]
    rates = calibration.tokens_per_s_per_gpu(known)
    rate_of = {id(case): rates[i] for i, case in enumerate(known)}
    fitted = {case.row for case in calibration.fit.model.cases}
    found: list[ValidatedRow] = []
    for row, case in zip(rows, cases, strict=True):
        if isinstance(case, CalibrationNote):
            outside = RowStatus(RowUse.OUTSIDE, case)
            found += [_row(row, name, value, None, outside) for name, value in _published(row)]
            continue
        status = CALIBRATED if row in fitted else PREDICTED
        if row.role == "check":
            status = RowStatus(RowUse.EXCLUDED, note(FitNote.FOR_CHECKS_ONLY))
        notes = extrapolations(case, calibration)
        for name, value in _published(row):
            estimate = rate_of[id(case)] if name == RATE else calibration.time_to_train(case)
            reason = status
            if estimate is None:
                reason = RowStatus(RowUse.OUTSIDE, note(FitNote.BENCHMARK_NOT_KNOWN, row.model))
            found.append(_row(row, name, value, estimate, reason, notes))
    return tuple(found)


def _published(row: LanguageRow) -> list[tuple[str, float]]:
    rate = row.tokens_per_s_per_gpu
    values = [(RATE, rate), (TIME, row.ttt_min * MINUTE if row.ttt_min else None)]
    return [(name, value) for name, value in values if value]


def _row(
    row: LanguageRow,
    quantity: str,
    published: float,
    estimate: Estimate | None,
    status: RowStatus,
    notes: tuple[CalibrationNote, ...] = (),
) -> ValidatedRow:
    value, low, high = (None, None, None) if estimate is None else tuple(estimate)
    return ValidatedRow(row.row_id, _TASK, quantity, row.source, published, value, low, high, status, notes)


def extrapolations(case: LanguageCase, calibration: LanguageCalibration) -> tuple[CalibrationNote, ...]:
    """Where a case lies beyond the fitted runs, and what was guessed of it."""
    known = calibration.fit.model.layout.index
    levels, row = case.levels, case.row
    checks = (
        ("stack", levels.stack, note(FitNote.STACK_NOT_MEASURED, row.software)),
        ("gpu_precision", levels.gpu_precision, note(FitNote.GPU_PRECISION_NOT_MEASURED, f"{row.gpu} {row.precision}")),
        ("family", levels.family, note(FitNote.MODEL_NOT_MEASURED, row.model)),
    )
    beyond = [words for kind, level, words in checks if f"{kind}:{level}" not in known]
    return (*beyond, *(note(FitNote.PART_GUESSED, part) for part in case.guessed))
