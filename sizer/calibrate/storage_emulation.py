"""MLPerf Storage: hosts that read as fast as so many accelerators would train, and how fast that is."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import Z90, Estimate
from sizer.base.formats.csv_rows import is_stated, number_within, rows_of_file
from sizer.base.resources import data_dir
from sizer.base.units import bytes_per_s_from_gbit_per_s
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.notes import CALIBRATED, PREDICTED, FitNote, RowStatus, RowUse, note
from sizer.calibrate.validate import ValidatedRow

HEADER = frozenset({"workload", "accelerator_emulated", "accelerators", "samples_per_s"})
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
    round: str
    system: str
    workload: str
    accelerator: str
    accelerators: float | None  # None: not stated
    samples_per_s: float | None
    hosts: float | None = None
    family: str = ""  # id of the product
    storage_nodes: float | None = None
    client_nics: str = ""
    limit: str = ""  # what the result names as its limit: nodes, client, network, drive

    @property
    def bytes_per_s(self) -> float | None:
        """What all hosts read; None of a benchmark whose samples are not known. [B/s]"""
        size = SAMPLE_BYTES.get(self.workload)
        return None if size is None or self.samples_per_s is None else self.samples_per_s * size

    @property
    def source(self) -> str:
        """Key of the round in the list of sources."""
        return f"mlperf-storage-{self.round}"

    @property
    def group(self) -> str:
        """Results of one benchmark and accelerator ask the same of storage for each accelerator."""
        return f"{self.workload}/{self.accelerator}"


def is_emulation_file(header: Sequence[str]) -> bool:
    """Whether a header has the columns of MLPerf Storage results."""
    return set(header) >= HEADER


def shipped_path() -> Path:
    """The rows that ship with the program."""
    return data_dir("catalog") / "benchmarks" / "storage_emulation" / "mlperf-storage.csv"


def load_emulation(path: Path | None = None) -> tuple[EmulationRow, ...]:
    """Rows of one file, by default of the shipped one.

    Raises CalibrationError naming line and column of every cell that is no number in its range.
    """
    return tuple(rows_of_file(shipped_path() if path is None else path, "MLPerf Storage results", _row, "id"))


def _row(cells: dict[str, str], place: str) -> EmulationRow:
    workload = cells.get("workload", "").strip().lower()
    rate = _number(cells, "samples_per_s")
    if rate is None and workload in SAMPLE_BYTES:
        # The rate in bytes says the same.
        of_bytes = _number(cells, "gb_per_s")
        rate = None if of_bytes is None else of_bytes * 1e9 / SAMPLE_BYTES[workload]
    return EmulationRow(
        id=cells.get("id") or place,
        round=cells.get("round") or "v1.0",
        system=cells.get("system", ""),
        workload=workload,
        accelerator=cells.get("accelerator_emulated", "").strip().lower(),
        accelerators=_count(cells, "accelerators"),
        samples_per_s=rate,
        hosts=_number(cells, "hosts"),
        family=cells.get("family", ""),
        storage_nodes=_number(cells, "storage_nodes"),
        client_nics=cells.get("client_nics", ""),
        limit=cells.get("limit", ""),
    )


def _number(cells: dict[str, str], name: str) -> float | None:
    """A cell as a number above 0; None where it is blank."""
    text = cells.get(name, "")
    if not is_stated(text):
        return None
    try:
        return number_within(text, 1e-9, _MAX_NUMBER)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _count(cells: dict[str, str], name: str) -> float | None:
    """A cell as a whole number above 0; None where it is blank."""
    value = _number(cells, name)
    if value is not None and value != int(value):
        raise ValueError(f"{name}: {cells[name][:40]} is not a whole number")
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
        found.append(ValidatedRow.of(row.id, _TASK, _QUANTITY, row.source, row.samples_per_s or 0.0, estimate, status))
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


Limit = Literal["nodes", "client", "network", "drive"]
# Read rates of one node, or of the system where it is one, that vendors state apart from the results. [B/s]
# DDN: 110 GB/s at most; IEIT: 120 GB/s a node; Lightbits: 30 GB/s of three; Huawei: 698 GiB/s in the following round.
STATED_NODE_BYTES_PER_S = {
    "ai400x2-turbo": 110e9,
    "iei-as13000": 120e9,
    "lightbits": 10e9,
    "huawei-a800": 698 * 2**30,
}
_ADAPTERS = re.compile(r"(\d+)\s*x\s*(\d+)")
# Spread of a prediction by its limit, of the logarithm: 90 % of the held-out results lie inside.
_LOG_SD = {"nodes": 0.16, "client": 0.16, "network": 0.45, "drive": 0.45}


class Unpredictable(StrEnum):
    """Why no other result tells what a system carries."""

    SMALL_FILES = "small-files"  # CosmoFlow: clients take 1.8 to 34 GB/s of files of 2.8 MB
    ONLY_CONFIGURATION = "only-configuration"  # nothing of the product is published besides
    CLIENTS_NOT_STATED = "clients-not-stated"  # neither adapters nor another result with such clients
    NO_DRIVE_RATE = "no-drive-rate"
    BELOW_LIMIT = "below-limit"  # the same system was also run with more accelerators
    LINE_SHARE = "line-share"  # clients of other products take in 24 to 90 % of their line


@dataclass(frozen=True)
class LimitPrediction:
    """What a system reads at its limit; ``reason``: why nothing tells, or no more than a wide interval."""

    row: EmulationRow
    limit: Limit | None
    bytes_per_s: float | None
    reason: Unpredictable | None = None

    @property
    def log_error(self) -> float | None:
        """ln(predicted / published) of the rate that was read."""
        if self.bytes_per_s is None or self.row.bytes_per_s is None:
            return None
        return float(np.log(self.bytes_per_s / self.row.bytes_per_s))

    @property
    def interval(self) -> tuple[float, float] | None:
        """90 % interval of the rate. [B/s]"""
        if self.bytes_per_s is None or self.limit is None:
            return None
        factor = float(np.exp(Z90 * _LOG_SD[self.limit]))
        return self.bytes_per_s / factor, self.bytes_per_s * factor


def adapter_bytes_per_s(row: EmulationRow) -> float | None:
    """Line rate of the adapters of one client, one direction; None where they are not stated. [B/s]"""
    read = _ADAPTERS.search(row.client_nics)
    return None if read is None else int(read[1]) * bytes_per_s_from_gbit_per_s(float(read[2]))


def predicted_at_limit(row: EmulationRow, others: Iterable[EmulationRow]) -> LimitPrediction:
    """What a system reads, from results of other configurations.

    ``row``: ``limit`` names what its result stops at; the rate is not used. ``others``: results to predict from; those
    of the same configuration are left out.
    """
    known = [one for one in others if one.bytes_per_s is not None and not _is_same(one, row)]
    of_product = [one for one in known if one.family == row.family and one.workload == row.workload]
    if not row.limit:
        return LimitPrediction(row, None, None, Unpredictable.BELOW_LIMIT)
    if row.limit == "drive":
        return LimitPrediction(row, None, None, Unpredictable.NO_DRIVE_RATE)
    if row.limit == "nodes":
        return _by_nodes(row, of_product)
    if row.limit == "network":
        return _by_network(row, [one for one in known if one.family != row.family])
    alike = [one for one in of_product if one.accelerator == row.accelerator and one.hosts]
    if alike and row.hosts:
        return LimitPrediction(row, "client", row.hosts * max(_of_client(one) for one in alike))
    if row.workload == "cosmoflow":
        return LimitPrediction(row, None, None, Unpredictable.SMALL_FILES)
    if adapter_bytes_per_s(row) is None:
        return LimitPrediction(row, None, None, Unpredictable.CLIENTS_NOT_STATED)
    return _by_network(row, [one for one in known if one.family != row.family])


def _by_nodes(row: EmulationRow, of_product: Sequence[EmulationRow]) -> LimitPrediction:
    stated = STATED_NODE_BYTES_PER_S.get(row.family)
    if row.storage_nodes and stated is not None:
        return LimitPrediction(row, "nodes", row.storage_nodes * stated)
    at_limit = [one for one in of_product if one.storage_nodes and one.limit == "nodes"]
    if row.storage_nodes and at_limit:
        rates = [_rate(one) / (one.storage_nodes or 1.0) for one in at_limit]
        return LimitPrediction(row, "nodes", row.storage_nodes * float(np.median(rates)))
    return LimitPrediction(row, None, None, Unpredictable.ONLY_CONFIGURATION)


def _by_network(row: EmulationRow, others: Sequence[EmulationRow]) -> LimitPrediction:
    line = adapter_bytes_per_s(row)
    if line is None or not row.hosts:
        return LimitPrediction(row, None, None, Unpredictable.CLIENTS_NOT_STATED)
    shares = line_shares(others, row.workload, row.accelerator)
    if not shares:
        return LimitPrediction(row, None, None, Unpredictable.ONLY_CONFIGURATION)
    return LimitPrediction(row, "network", row.hosts * line * float(np.median(shares)), Unpredictable.LINE_SHARE)


def line_shares(rows: Iterable[EmulationRow], workload: str, accelerator: str) -> list[float]:
    """Share of its line that a client takes in, the highest of each product, where clients or network are the limit."""
    of_product: dict[str, float] = {}
    for row in rows:
        line = adapter_bytes_per_s(row)
        is_limited = row.limit in ("client", "network") and row.hosts and row.bytes_per_s is not None
        if line is not None and is_limited and (row.workload, row.accelerator) == (workload, accelerator):
            of_product[row.family] = max(of_product.get(row.family, 0.0), _of_client(row) / line)
    return sorted(of_product.values())


def at_limit_accuracy() -> tuple[AccuracyTarget, ...]:
    """Accuracy of the results whose limit can be predicted, their configuration held out."""
    measures = {"nodes": "storage-limit-of-nodes-left-out-median", "client": "storage-limit-of-clients-left-out-median"}
    errors: dict[str, list[float]] = {limit: [] for limit in measures}
    for one in limits_left_out():
        if one.reason is None and one.limit in errors and one.log_error is not None:
            errors[one.limit].append(abs(one.log_error))
    return tuple(
        AccuracyTarget(measure, float(np.median(errors[limit])), 0.0, 0.15, len(errors[limit]))
        for limit, measure in measures.items()
    )


@lru_cache(maxsize=1)
def limits_left_out() -> tuple[LimitPrediction, ...]:
    """Every shipped result at its limit, predicted without its configuration."""
    rows = load_emulation()
    return tuple(predicted_at_limit(row, rows) for row in rows)


def _is_same(one: EmulationRow, row: EmulationRow) -> bool:
    """Whether two results are of one configuration: of as many nodes of a product, or of one system."""
    if one.family == row.family and one.storage_nodes and row.storage_nodes:
        return one.storage_nodes == row.storage_nodes
    return one.system == row.system


def _rate(row: EmulationRow) -> float:
    assert row.bytes_per_s is not None
    return row.bytes_per_s


def _of_client(row: EmulationRow) -> float:
    return _rate(row) / (row.hosts or 1.0)
