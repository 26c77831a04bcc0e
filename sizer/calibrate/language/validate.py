"""Published runs of language models with the prediction for each."""

import math
from collections.abc import Sequence

from sizer.base.estimate import Estimate
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.cases import LanguageCase, arrays, cases_of
from sizer.calibrate.language.fit import MINUTE
from sizer.calibrate.language.layout import CONTRADICTION
from sizer.calibrate.language.rows import LanguageRow
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.validate import ValidatedRow
from sizer.catalog.model import Catalog
from sizer.perf.language.step import GIB, TRAINING_FLOP

# Quantities of a row: tokens/s of one GPU, as the files state them, seconds to the target of a benchmark, and the peak
# of one GPU's memory.
RATE, TIME, MEMORY = "tokens_per_s", "time_to_train_s", "gpu_memory_bytes"
# Of a row that has none of them: FLOP/s of one GPU, as its source counts FLOP.
FLOP = "flop_per_s_per_gpu"
_TASK = "language training"


def validate_language(
    rows: Sequence[LanguageRow], catalog: Catalog, calibration: LanguageCalibration
) -> tuple[ValidatedRow, ...]:
    """Predict rate and time to train of every row.

    Returns a row for each published quantity; rates in tokens/s of one GPU. A row that cannot be predicted has its
    reason.
    """
    cases = cases_of(rows, catalog, calibration.rows)
    known = [case for case in cases if isinstance(case, LanguageCase)]
    rates = calibration.tokens_per_s_per_gpu(known)
    peaks = calibration.memory.estimate(known)
    place = {id(case): i for i, case in enumerate(known)}
    of_rates = {case.row.row_id: case for case in calibration.cases}
    of_memory = {case.row.row_id: case for case in calibration.memory.cases}
    found: list[ValidatedRow] = []
    for row, case in zip(rows, cases, strict=True):
        if isinstance(case, CalibrationNote):
            outside = RowStatus(RowUse.OUTSIDE, case)
            found += [_row(row, name, value, None, outside) for name, value in _published(row) or [_other(row)[:2]]]
            continue
        i, notes = place[id(case)], extrapolations(case, calibration)
        if not _published(row):
            name, value, reason = _other(row)
            flop = flop_as_stated(case)
            if name == FLOP and flop is not None:
                found.append(_row(row, name, value, rates[i].scaled(flop), _status_of(row, PREDICTED), notes))
            else:
                found.append(_row(row, name, value, None, RowStatus(RowUse.OUTSIDE, note(reason))))
            continue
        for name, value in _published(row):
            fitted = (of_memory if name == MEMORY else of_rates).get(row.row_id)
            is_fitted = fitted is not None and _is_same(fitted, case) and (name, value) in _published(fitted.row)
            status = CALIBRATED if is_fitted else PREDICTED
            if name != MEMORY:
                status = _status_of(row, status)
            estimate = {RATE: rates, MEMORY: peaks}[name][i] if name != TIME else calibration.time_to_train(case)
            if estimate is None:
                status = RowStatus(RowUse.OUTSIDE, note(FitNote.BENCHMARK_NOT_KNOWN, row.model))
            found.append(_row(row, name, value, estimate, status, notes))
    return tuple(found)


def _status_of(row: LanguageRow, status: RowStatus) -> RowStatus:
    return RowStatus(RowUse.EXCLUDED, note(FitNote.FOR_CHECKS_ONLY)) if row.role == "check" else status


def flop_as_stated(case: LanguageCase) -> float | None:
    """FLOP of a token as the source of a run counts them: causal or full attention, with or without what is recomputed.

    None where it does not say how. With all of it (Narayanan et al., "Efficient Large-Scale Language Model Training on
    GPU Clusters," 2021, equation 3) a layer has 96 h^2 + 16 s h and the head, which is not recomputed, 6 V h.
    """
    convention = case.row.flop_convention.lower()
    is_causal = "causal" in convention
    if not convention.startswith(("model,", "hardware")) or not (is_causal or "full attention" in convention):
        return None
    shapes, layouts, _ = arrays([case])
    attention = shapes.attention_flop(layouts.sequence) * (1 if is_causal else 2)
    again = 1 + layouts.recompute / 3 if convention.startswith("hardware") else 1.0
    layers = TRAINING_FLOP * shapes.linear_parameters_used + attention
    return float((again * layers + TRAINING_FLOP * shapes.vocabulary * shapes.hidden)[0])


def _is_same(fitted: LanguageCase, case: LanguageCase) -> bool:
    """Whether a run is one of the fit: columns that the shipped rows do not have make it no other."""
    return all(getattr(fitted, name) == getattr(case, name) for name in ("shape", "layout", "machine", "levels"))


def _published(row: LanguageRow) -> list[tuple[str, float]]:
    rate = row.tokens_per_s_per_gpu
    time = row.ttt_min * MINUTE if row.ttt_min else None
    values = [(RATE, rate), (TIME, time), (MEMORY, row.mem_gib * GIB if row.mem_gib else None)]
    return [(name, value) for name, value in values if value]


def _other(row: LanguageRow) -> tuple[str, float, FitNote]:
    """What a row publishes besides, and why it is not predicted if its source does not say how it counts FLOP."""
    if row.tflops_gpu:
        return FLOP, row.tflops_gpu * 1e12, FitNote.ONLY_FLOP_PUBLISHED
    return RATE, math.nan, FitNote.NOTHING_PUBLISHED


def _row(
    row: LanguageRow,
    quantity: str,
    published: float,
    estimate: Estimate | None,
    status: RowStatus,
    notes: tuple[CalibrationNote, ...] = (),
) -> ValidatedRow:
    return ValidatedRow.of(row.row_id, _TASK, quantity, row.source, published, estimate, status, notes)


def extrapolations(case: LanguageCase, calibration: LanguageCalibration) -> tuple[CalibrationNote, ...]:
    """Where a case lies beyond the fitted runs, and what was guessed of it."""
    known = calibration.fit.index
    levels, row = case.levels, case.row
    checks = (
        ("stack", levels.stack, note(FitNote.STACK_NOT_MEASURED, row.software)),
        ("gpu_precision", levels.gpu_precision, note(FitNote.GPU_PRECISION_NOT_MEASURED, f"{row.gpu} {row.precision}")),
        ("family", levels.family, note(FitNote.MODEL_NOT_MEASURED, row.model)),
    )
    beyond = [words for kind, level, words in checks if f"{kind}:{level}" not in known]
    guessed = [
        note(FitNote.LAYOUT_CONTRADICTS) if part == CONTRADICTION else note(FitNote.PART_GUESSED, part)
        for part in case.guessed
    ]
    return (*beyond, *guessed)
