"""MLPerf Storage: hosts that read as fast as so many accelerators would train, and how fast that is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import Z90, Estimate
from sizer.base.formats.csv_rows import is_stated, number_within, rows_of_file, typed_row
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.notes import CALIBRATED, PREDICTED, FitNote, RowStatus, RowUse, note
from sizer.calibrate.observations import benchmark_file
from sizer.calibrate.validate import ValidatedRow

HEADER = ("workload", "accelerator_emulated", "accelerators", "samples_per_s")
_MAX_NUMBER = 1e12
_TASK, _QUANTITY = "storage benchmark", "samples_per_s"
# The least spread of a prediction: repeats of one system.
_LEAST_SD = 0.02
# Bytes of a sample: what the published rates in bytes and in samples say.
SAMPLE_BYTES = {"unet3d": 146.6e6, "resnet50": 114_660.0, "cosmoflow": 2_828_500.0}


@dataclass(frozen=True)
class EmulationRow:
    """One result: hosts emulate ``accelerators`` that wait for their data no longer than the rules allow."""

    id: str
    system: str
    workload: str
    accelerator: str
    accelerators: float | None  # None: not stated
    samples_per_s: float | None
    gb_per_s: float | None = None  # says the same
    round: str = "v1.0"

    @property
    def source(self) -> str:
        """Key of the round in the list of sources."""
        return f"mlperf-storage-{self.round}"

    @property
    def group(self) -> str:
        """Results of one benchmark and accelerator ask the same of storage for each accelerator."""
        return f"{self.workload}/{self.accelerator}"


def load_emulation(path: Path | None = None) -> tuple[EmulationRow, ...]:
    """Rows of one file, by default of the shipped one.

    Raises CalibrationError naming line and column of every cell that is no number in its range.
    """
    file = path or benchmark_file("storage_emulation", "mlperf-storage.csv")
    return tuple(rows_of_file(file, "MLPerf Storage results", _row, "id"))


def _row(cells: dict[str, str], place: str) -> EmulationRow:
    workload, accelerator = (cells.get(name, "").lower() for name in HEADER[:2])
    named = {"id": cells.get("id") or place, "workload": workload, "accelerator": accelerator}
    row = typed_row(EmulationRow, cells | named, _number)
    if row.samples_per_s is None and row.gb_per_s is not None and row.workload in SAMPLE_BYTES:
        row = replace(row, samples_per_s=row.gb_per_s * 1e9 / SAMPLE_BYTES[row.workload])
    return row


def _number(name: str, text: str) -> float | None:
    """A cell as a number above 0, accelerators as a whole one; None where it is blank."""
    if not is_stated(text):
        return None
    value = number_within(text, 1e-9, _MAX_NUMBER)
    if name == "accelerators" and value != int(value):
        raise ValueError(f"{text[:40]} is not a whole number")
    return value


@dataclass(frozen=True)
class EmulationFit:
    """Samples/s of one accelerator by benchmark and accelerator: logarithm of the median, and spread of systems."""

    log_rate: dict[str, float]
    log_sd: dict[str, float]

    def rate(self, row: EmulationRow) -> Estimate | None:
        """Samples/s of all accelerators of a row; None where no result of its benchmark and accelerator is known."""
        if row.group not in self.log_rate or row.accelerators is None:
            return None
        return Estimate.log_normal(np.exp(self.log_rate[row.group]) * row.accelerators, self.log_sd[row.group])


def fit_emulation(rows: Sequence[EmulationRow]) -> EmulationFit:
    """Medians over systems, so that a vendor with thirty results counts once for each system."""
    groups: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row.samples_per_s is None or row.accelerators is None:
            continue
        rate = float(np.log(row.samples_per_s / row.accelerators))
        groups.setdefault(row.group, {}).setdefault(row.system, []).append(rate)
    log_rate, log_sd = {}, {}
    for group, systems in groups.items():
        middles = np.array([np.median(rates) for rates in systems.values()])
        every = np.array([rate for rates in systems.values() for rate in rates])
        log_rate[group] = float(np.median(middles))
        # Nine of ten results lie inside, as the interval says; tails are longer than those of a normal distribution.
        spread = float(np.quantile(np.abs(every - log_rate[group]), 0.9)) / Z90
        # Few systems tell little about the others.
        log_sd[group] = max(_LEAST_SD, spread) * (1 + 1 / len(middles))
    return EmulationFit(log_rate, log_sd)


@lru_cache(maxsize=1)
def shipped_fit() -> tuple[EmulationFit, frozenset[EmulationRow]]:
    """The fit to the shipped rows, with the rows."""
    rows = load_emulation()
    return fit_emulation(rows), frozenset(rows)


def validate_emulation(rows: Sequence[EmulationRow]) -> tuple[ValidatedRow, ...]:
    """Predict the rate of every row."""
    fit, fitted = shipped_fit()
    known = {(row.id, row.samples_per_s) for row in fitted}
    found = []
    for row in rows:
        estimate = fit.rate(row)
        # Files of others have further columns or fewer: a row is one of the fit by its id and its number.
        status = CALIBRATED if (row.id, row.samples_per_s) in known else PREDICTED
        if estimate is None:
            missing = note(FitNote.EMULATION_NOT_KNOWN, row.workload, row.accelerator)
            status = RowStatus(RowUse.OUTSIDE, note(FitNote.COUNTS_NOT_STATED) if row.accelerators is None else missing)
        found.append(ValidatedRow(row.id, _TASK, _QUANTITY, row.source, row.samples_per_s or 0.0, estimate, status))
    return tuple(found)


def emulation_accuracy() -> tuple[AccuracyTarget, ...]:
    """Accuracy of the shipped rows with their system held out."""
    rows = load_emulation()
    errors, inside = systems_left_out(rows)
    return (
        AccuracyTarget("storage-system-left-out-median", float(np.median(np.abs(errors))), 0.0, 0.15, len(errors)),
        AccuracyTarget("storage-system-left-out-coverage", float(np.mean(inside)), 0.85, 0.96, len(errors)),
    )


def systems_left_out(rows: Sequence[EmulationRow]) -> tuple[Floats, Bools]:
    """Errors ln(predicted / published) of each row by a fit without its system, and whether the interval holds it."""
    errors, inside = [], []
    for system in sorted({row.system for row in rows}):
        fit = fit_emulation([row for row in rows if row.system != system])
        for row in rows:
            estimate = fit.rate(row) if row.system == system else None
            if estimate is not None and row.samples_per_s is not None:
                error = float(np.log(estimate.value / row.samples_per_s))
                errors.append(error)
                inside.append(abs(error) <= Z90 * float(estimate.log_sd))
    return np.array(errors), np.array(inside)
