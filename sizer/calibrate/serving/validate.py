"""Published measurements of serving with the prediction for each."""

import math
from collections.abc import Sequence

from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.serving.calibration import CALIBRATED_TOKENS, ServingCalibration
from sizer.calibrate.serving.cases import TOKENS, TPOT, TTFT, ServingCase, cases_of, predict
from sizer.calibrate.serving.deployment import Deployment
from sizer.calibrate.serving.rows import ServingRow, fitted_rows
from sizer.calibrate.validate import ValidatedRow
from sizer.catalog.model import Catalog

_TASK = "serving"


def validate_serving(
    rows: Sequence[ServingRow], catalog: Catalog, calibration: ServingCalibration
) -> tuple[ValidatedRow, ...]:
    """Predict throughput, time per token and time to the first token of every row.

    Returns a row for each published quantity: output tokens/s of the whole system, seconds. A row that cannot be
    predicted has its reason.
    """
    cases = cases_of(rows, catalog)
    known = [case for case in cases if isinstance(case, ServingCase)]
    predicted = predict(known, calibration) if known else {}
    fitted = {row.row_id: row for row in fitted_rows()}
    place = {id(case): number for number, case in enumerate(known)}
    found: list[ValidatedRow] = []
    for row, case in zip(rows, cases, strict=True):
        values = published(row)
        reason = case if isinstance(case, CalibrationNote) else None
        if not values:
            values, reason = {TOKENS: math.nan}, note(FitNote.NOTHING_PUBLISHED)
        for quantity, value in values.items():
            estimate, why = None, reason
            notes: tuple[CalibrationNote, ...] = ()
            if isinstance(case, ServingCase) and reason is None:
                estimate = predicted[quantity].estimate(place[id(case)])
                why = note(FitNote.NO_ROOM, case.deployment.gpus)
            status = RowStatus(RowUse.OUTSIDE, why)
            if estimate is not None and isinstance(case, ServingCase):
                status = CALIBRATED if _is_fitted(row, case, fitted) else PREDICTED
                notes = (*extrapolations(case.deployment, calibration), *beyond(case))
                if not row.calibrates:
                    status = RowStatus(RowUse.EXCLUDED, note(FitNote.FOR_CHECKS_ONLY))
            found.append(ValidatedRow(row.row_id, _TASK, quantity, row.source, value, estimate, status, notes))
    return tuple(found)


def published(row: ServingRow) -> dict[str, float]:
    """What a row prints, by quantity."""
    values = {TOKENS: row.output_tokens_s, TPOT: row.tpot_s or row.tpot_mean_s, TTFT: row.ttft_s or row.ttft_mean_s}
    return {quantity: value for quantity, value in values.items() if value}


def _is_fitted(row: ServingRow, case: ServingCase, fitted: dict[str, ServingRow]) -> bool:
    """Whether a row is one of the fit, with the same numbers."""
    mine = fitted.get(row.row_id)
    return mine is not None and not case.guessed and published(mine) == published(row)


def extrapolations(one: Deployment, calibration: ServingCalibration) -> tuple[CalibrationNote, ...]:
    """Where a deployment lies beyond the fitted rows."""
    known = calibration.fit.index
    checks = (
        (f"time/engine:{one.engine}", note(FitNote.STACK_NOT_MEASURED, one.engine or "engine not named")),
        (f"time/gpu:{one.gpu.id}", note(FitNote.GPU_PRECISION_NOT_MEASURED, one.gpu.id)),
        (f"time/model:{one.model.id}", note(FitNote.MODEL_NOT_MEASURED, one.model.id)),
    )
    return tuple(words for name, words in checks if name not in known)


def beyond(case: ServingCase) -> tuple[CalibrationNote, ...]:
    """What of a measurement was guessed, or lies beyond the fitted lengths."""
    guessed = [note(FitNote.PART_GUESSED, part) for part in case.guessed]
    if case.input_tokens + case.output_tokens > CALIBRATED_TOKENS:
        guessed.append(note(FitNote.CONTEXT_NOT_MEASURED, round(case.input_tokens + case.output_tokens)))
    return tuple(guessed)
