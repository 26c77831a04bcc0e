"""Reports of the built-in measurements and of files: image and other dense networks, and language models."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sizer.base.errors import CalibrationError
from sizer.base.faults import nearest, shown
from sizer.base.formats.csv_rows import csv_records
from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.ids import UnknownName, unknown_names, with_ids
from sizer.calibrate.language.calibration import accuracy_by_generation, language_calibration
from sizer.calibrate.language.rows import NEEDED_COLUMNS as LANGUAGE_COLUMNS
from sizer.calibrate.language.rows import load_language_rows
from sizer.calibrate.language.validate import validate_language
from sizer.calibrate.language.whole_runs import whole_run_accuracy
from sizer.calibrate.modern.rows import HEADER as MODERN_COLUMNS
from sizer.calibrate.modern.rows import load_modern
from sizer.calibrate.modern.terms import modern_calibration
from sizer.calibrate.modern.validate import validated_rows
from sizer.calibrate.notes import FitNote
from sizer.calibrate.observations import COLUMNS, load_observations, observations_digest
from sizer.calibrate.own_networks import own_calibration
from sizer.calibrate.serving.calibration import serving_calibration
from sizer.calibrate.serving.rows import NEEDED_COLUMNS as SERVING_COLUMNS
from sizer.calibrate.serving.rows import load_serving_rows
from sizer.calibrate.serving.validate import validate_serving
from sizer.calibrate.storage_emulation import HEADER as EMULATION_COLUMNS
from sizer.calibrate.storage_emulation import emulation_accuracy, load_emulation, validate_emulation
from sizer.calibrate.validate import ValidatedRow, ValidationReport, load_cross_validation, report_of, validate
from sizer.catalog.model import Catalog

# What files hold, with the columns that each kind needs; a file that is near to none of them is one of the first.
_MEASUREMENTS = "measurements"
_KINDS: dict[str, Sequence[str]] = {
    _MEASUREMENTS: COLUMNS,
    "language-model runs": LANGUAGE_COLUMNS,
    "MLPerf Training results": MODERN_COLUMNS,
    "measurements of serving": SERVING_COLUMNS,
    "MLPerf Storage results": EMULATION_COLUMNS,
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


def report_on_files(paths: Sequence[Path], catalog: Catalog) -> ValidationReport:
    """Every row of files of others; the header of a file says which measurements it holds.

    Raises CalibrationError as :func:`~sizer.calibrate.observations.load_observations` and
    :func:`~sizer.calibrate.language.rows.load_language_rows` and :func:`~sizer.calibrate.modern.rows.load_modern`.
    """
    files: dict[str, list[Path]] = {kind: [] for kind in _KINDS}
    for path in paths:
        files[_kind_of(path) if os.path.isfile(path) else _MEASUREMENTS].append(path)
    others, of_language, of_mlperf, of_serving, of_storage = files.values()
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
    header = _header(path)
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


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        record = next(csv_records([file.readline(100_000)]), None)
    return [] if record is None else [cell.strip() for cell in record.cells]
