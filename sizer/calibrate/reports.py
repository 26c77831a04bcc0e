"""Published rows of every kind beside what the models predict of them, and the reports of shipped ones and of files."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.base.faults import nearest, shown
from sizer.base.formats.csv_rows import csv_records
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.cases import UnknownName, unknown_names, with_ids
from sizer.calibrate.engine import StoredFits
from sizer.calibrate.language.calibration import (
    MINUTE,
    LanguageCalibration,
    accuracy_by_generation,
    language_calibration,
)
from sizer.calibrate.language.cases import (
    CONTRADICTION,
    LanguageCase,
    LanguageRow,
    arrays,
    cases_of,
    load_language_rows,
)
from sizer.calibrate.language.cases import NEEDED_COLUMNS as LANGUAGE_COLUMNS
from sizer.calibrate.language.whole_runs import NEEDED_COLUMNS as TRAININGS_COLUMNS
from sizer.calibrate.language.whole_runs import WholeTraining, load_stated, validate_trainings, whole_run_accuracy
from sizer.calibrate.modern import terms
from sizer.calibrate.modern.rows import HEADER as MODERN_COLUMNS
from sizer.calibrate.modern.rows import (
    ModernRow,
    exclusion,
    fitted_accelerators,
    fitted_ids,
    load_modern,
    missing_fact,
    published_runs,
    sourced_accelerators,
)
from sizer.calibrate.modern.terms import STEPS, TRAININGS, Training, modern_calibration
from sizer.calibrate.notes import CALIBRATED, PREDICTED, CalibrationNote, FitNote, RowStatus, RowUse, note
from sizer.calibrate.observations import COLUMNS, load_observations, observations_digest
from sizer.calibrate.own_networks import own_calibration
from sizer.calibrate.serving.calibration import serving_calibration
from sizer.calibrate.serving.cases import validate_serving
from sizer.calibrate.serving.rows import NEEDED_COLUMNS as SERVING_COLUMNS
from sizer.calibrate.serving.rows import load_serving_rows
from sizer.calibrate.storage_emulation import HEADER as EMULATION_COLUMNS
from sizer.calibrate.storage_emulation import emulation_accuracy, load_emulation, validate_emulation
from sizer.calibrate.validate import ValidatedRow, ValidationReport, load_cross_validation, report_of, validate
from sizer.catalog.model import Catalog
from sizer.perf.language.step import GIB, TRAINING_FLOP


def validated_rows(rows: Sequence[ModernRow], fits: StoredFits) -> list[ValidatedRow]:
    """Rate and time to train of every row that states them, with the prediction or why there is none."""
    reasons = [missing_fact(row) or _networks_not_known(row) for row in rows]
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
                found.append(ValidatedRow(row.id, "training", quantity, row.source, published, interval, status))
    return found


def predict(rows: Sequence[ModernRow], fits: StoredFits) -> list[tuple[Estimate, Estimate]]:
    """Rate (samples/s) and time to train (s) of rows that state accelerators and global batch.

    Returns, of each row, the median and 90 % interval of the rate, and of the time.
    """
    if not rows:
        return []
    rate, time = fits.fits[terms.RATE], fits.fits[terms.TIME]
    steps, variance = STEPS.predict(rate, rows)
    log_rate = np.log([row.global_batch or np.nan for row in rows]) - steps
    trainings = [Training(row, float(log)) for row, log in zip(rows, log_rate, strict=True)]
    seconds, of_time = TRAININGS.predict(time, trainings)
    rates = Estimate.log_normal(np.exp(log_rate), rate.interval_sd(variance))
    times = Estimate.log_normal(np.exp(seconds), time.interval_sd(of_time + variance))
    return [(rates[i], times[i]) for i in range(len(rows))]


def _networks_not_known(row: ModernRow) -> CalibrationNote | None:
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
    return ValidatedRow(row.row_id, _TASK, quantity, row.source, published, estimate, status, notes)


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


# What files hold, with the columns that each kind needs; a file that is near to none of them is one of the first.
_MEASUREMENTS = "measurements"
_KINDS: dict[str, Sequence[str]] = {
    _MEASUREMENTS: COLUMNS,
    "language-model runs": LANGUAGE_COLUMNS,
    "MLPerf Training results": MODERN_COLUMNS,
    "measurements of serving": SERVING_COLUMNS,
    "MLPerf Storage results": EMULATION_COLUMNS,
    "whole trainings": TRAININGS_COLUMNS,
}
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def built_in_report(catalog: Catalog) -> ValidationReport:
    """The shipped observations compared with the shipped calibration, in sample and with each source left out.

    The rows are those of image and other dense networks; the targets also hold those of language models and of the
    other networks of MLPerf on today's accelerators.

    Raises CalibrationError if observations, calibration and checks do not belong together.
    """
    rows, calibration = load_observations(), stored_calibration()
    if observations_digest(rows) != calibration.digest:
        raise CalibrationError("observations have changed since the calibration; run 'sizer calibrate'")
    report = validate(rows, catalog, calibration, load_cross_validation(calibration))
    others = (
        *language_calibration().figures,
        *whole_run_accuracy(catalog),
        *modern_calibration().figures,
        *own_calibration().figures,
        *serving_calibration().figures,
        *emulation_accuracy(),
    )
    generations = accuracy_by_generation(language_calibration(), catalog)
    return replace(report, figures=report.figures + others, generations=generations)


def report_on_files(
    paths: Sequence[Path], catalog: Catalog, tokens_per_s: Callable[[WholeTraining], Estimate]
) -> ValidationReport:
    """Every row of files of others; the header of a file says which measurements it holds.

    ``tokens_per_s``: rate of a whole training, as a request for it would be sized.

    Raises CalibrationError as :func:`~sizer.calibrate.observations.load_observations` and
    :func:`~sizer.calibrate.language.cases.load_language_rows` and :func:`~sizer.calibrate.modern.rows.load_modern`.
    """
    files: dict[str, list[Path]] = {kind: [] for kind in _KINDS}
    for path in paths:
        files[_kind_of(path) if os.path.isfile(path) else _MEASUREMENTS].append(path)
    others, of_language, of_mlperf, of_serving, of_storage, of_trainings = files.values()
    rows = with_ids(load_observations(*others), catalog) if others else ()
    found = validate(rows, catalog, stored_calibration()).rows if rows else ()
    published: list[ValidatedRow] = []
    for path in of_language:
        published += validate_language(load_language_rows(path), catalog, language_calibration())
    if of_mlperf:
        published += validated_rows(load_modern(of_mlperf), modern_calibration())
    if of_serving:
        published += validate_serving(load_serving_rows(of_serving), catalog, serving_calibration())
    for path in of_storage:
        published += validate_emulation(load_emulation(path))
    for path in of_trainings:
        published += validate_trainings(load_stated(path), catalog, language_calibration().rows, tokens_per_s)
    names = (*unknown_names(rows, catalog), *_not_known(published, catalog))
    unknown = {(name.column, name.name): name for name in names}
    return replace(report_of([*found, *published]), unknown=tuple(unknown.values()))


def _not_known(rows: Sequence[ValidatedRow], catalog: Catalog) -> Iterator[UnknownName]:
    """GPUs and networks that rows of any kind name and that the catalogue does not have, the first row of each last."""
    gpus = [name for gpu in catalog.gpus.values() for name in (gpu.id, *gpu.aliases)]
    dnns = [*catalog.dnns, *(dnn.mlperf for dnn in catalog.dnns.values() if dnn.mlperf)]
    known = {FitNote.GPU_NOT_IN_CATALOGUE: ("gpu", gpus), FitNote.DNN_NOT_IN_CATALOGUE: ("dnn", dnns)}
    for row in reversed(rows):
        reason = row.status.reason
        if reason is not None and reason.kind in known:
            column, names = known[reason.kind]
            name = str(reason.values[0])
            yield UnknownName(f"row {row.id}", column, shown(name), nearest(name, names))


def _kind_of(path: Path) -> str:
    """What a file holds, by its header.

    One of no kind is refused with what it lacks of the kind that it is nearest to. Measurements with a column too few
    are left to their reader, which also knows the columns that may be missing.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        record = next(csv_records([file.readline(100_000)]), None)
    header = [] if record is None else [cell.strip() for cell in record.cells]
    separator = next((name for one, name in _OTHER_SEPARATORS.items() if one in header[0]), "") if header else ""
    if separator and len(header) == 1:
        raise CalibrationError(f"{path.name}:1: cells are separated by {separator}; separate them by commas")
    kind = max(_KINDS, key=lambda name: len(set(header) & set(_KINDS[name])) / len(_KINDS[name]))
    missing = ", ".join(name for name in _KINDS[kind] if name not in header)
    if missing and kind != _MEASUREMENTS:
        raise CalibrationError(
            f"{path.name}:1: column {missing} is missing; a file of {kind} has at least the columns "
            f"{', '.join(_KINDS[kind])}"
        )
    return kind
