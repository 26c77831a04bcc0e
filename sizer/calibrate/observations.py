"""Published measurements as typed rows, and the stored calibration: the only input and output of this package."""

import hashlib
import json
import os
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from sizer.base.errors import CalibrationError
from sizer.base.faults import shown
from sizer.base.folders import make_folders, replacing
from sizer.base.formats.csv_rows import is_stated, measured_text, number_within, rows_of_text, typed_row
from sizer.base.resources import data_dir

# What the words of the other columns stand for in the catalogue. Files of others may do without these columns.
ID_COLUMNS = ("stack", "gpu_id", "server_id", "assumed")
# Quantity -> allowed range in its SI unit; the unit is the end of the name, a pure number where there is none.
QUANTITIES: dict[str, tuple[float, float]] = {
    "samples_per_s": (1e-6, 1e12),
    "samples_per_s_per_core": (1e-6, 1e9),
    "storage_bytes_per_s": (1.0, 1e15),
    "bus_bytes_per_s": (1.0, 1e13),
    "algorithm_bytes_per_s": (1.0, 1e13),
    "all_reduce_time_s": (1e-9, 1e6),
    "time_to_train_s": (1e-3, 1e9),
    "run_time_s": (1e-3, 1e9),
    "cpu_utilization_fraction": (0.0, 1.0),
    "gpu_utilization_fraction": (0.0, 1.0),
    "cache_miss_fraction": (0.0, 1.0),
    "stall_fraction": (0.0, 1.0),
    "cores_per_gpu": (1e-3, 1e4),
    "read_amplification": (1e-3, 1e6),
    "epochs_to_target": (1e-3, 1e5),
    "epochs": (1e-3, 1e5),
    "speedup": (1e-6, 1e6),
    "first_epoch_over_later": (1e-6, 1e3),
}
# Of a quantity that is not among them: a number that is not predicted.
_OTHER_QUANTITY = (0.0, 1e18)
# Words of the columns. What is none of them stays as it is written, and the status of the row says so.
TASKS = ("training", "inference", "preprocess", "storage", "network", "accuracy")
PRECISIONS = ("", "mixed", "fp32", "int8")
INTRA_LINKS = ("nvlink1", "nvlink2", "nvswitch", "pcie3")  # between the GPUs of a server
LOADERS = ("", "none", "framework", "dali", "dali-cpu")
# Numbers of the columns and what is allowed; of counts, which are whole numbers, the least.
_LIMITS = {"batch_per_gpu": (1e-3, 1e8), "sample_bytes": (1.0, 1e13), "dataset_bytes": (1.0, 1e19)}
_COUNTS = {"servers": 1, "gpus": 0, "nics_per_server": 0, "storage_nodes": 0}
_MOST_COUNTED = 1e6
_SMALL_LETTERS = ("task", "precision", "loader", "quantity")
MAX_STORED_BYTES = 50_000_000


@dataclass(frozen=True)
class Observation:
    """One published number. Fields are the columns of the files; what a source does not state is empty or None."""

    id: str
    source: str
    where: str
    basis: str
    task: str
    dnn: str
    framework: str
    software: str
    precision: str
    batch_per_gpu: float | None
    gpu: str
    server: str
    servers: int | None
    gpus: int | None
    intra_link: str
    inter_link: str
    nics_per_server: int | None
    loader: str
    data: str
    storage: str
    storage_nodes: int | None
    sample_bytes: float | None
    dataset_bytes: float | None
    quantity: str
    value: float
    extra: dict[str, Any] = field(default_factory=dict, hash=False)
    notes: str = ""
    stack: str = ""  # id of the catalogue's stack, or framework:line:release of other software
    gpu_id: str = ""  # id of the GPU that stands for a ``gpu`` that is no id itself
    server_id: str = ""  # the same for ``server``
    assumed: str = ""  # what was assumed when the ids were chosen
    has_ids: bool = False  # whether the file has the id columns
    place: str = ""  # file and line, for messages

    @property
    def n_gpus_per_server(self) -> int | None:
        """GPUs of each server, where both counts are known."""
        if not self.gpus or not self.servers:
            return None
        return max(1, self.gpus // self.servers)


_FIELDS = [column.name for column in fields(Observation)]
COLUMNS = tuple(_FIELDS[: _FIELDS.index(ID_COLUMNS[0])])


def load_observations(*paths: Path | str) -> tuple[Observation, ...]:
    """Rows of every CSV file of some folders, or of some files, by default of the shipped benchmarks.

    A file without the id columns is read as well; :func:`~sizer.calibrate.cases.with_ids` fills them. In the order of
    the paths, of the file names, then of the lines. Raises CalibrationError if a file is missing, too large, not UTF-8,
    has other columns, or rows hold bad values: the message names file, line and column of each. Also if two rows have
    one id.
    """
    found: dict[str, Observation] = {}
    for path in paths or (None,):
        for name, text in observation_texts(path).items():
            for row in read_rows(text, name):
                if row.id in found:
                    raise CalibrationError(
                        f"{row.place}: id {shown(row.id)} is used by {found[row.id].place} already; ids are unique"
                    )
                found[row.id] = row
    return tuple(found.values())


def observation_texts(path: Path | str | None = None) -> dict[str, str]:
    """Content of the CSV files of a folder, or of one file, by name.

    Raises CalibrationError if there is no file, or one cannot be read, is too large or not UTF-8.
    """
    folder = benchmark_file() if path is None else Path(path)
    files = sorted(folder.glob("*.csv")) if os.path.isdir(folder) else [folder]
    if not files:
        raise CalibrationError(f"{folder}: holds no CSV files of observations")
    return {file.name: measured_text(file, "measurements") for file in files}


def read_rows(text: str, name: str) -> list[Observation]:
    """Rows of one file's text; columns that are not known may stand in it and are left out.

    Raises CalibrationError as :func:`load_observations`.
    """
    return rows_of_text(text, name, _observation, "id", COLUMNS)


def benchmark_file(*parts: str) -> Path:
    """A shipped file of measurements, or the folder of all of them."""
    return data_dir("catalog").joinpath("benchmarks", *parts)


def digest_of_files(*paths: Path, more: bytes = b"") -> str:
    """Short digest of what files hold."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths) + more).hexdigest()[:16]


@cache
def stated_table(name: str) -> dict[str, Any]:
    """Content of a TOML file beside the shipped measurements: what is assumed of them, and how they are read."""
    return tomllib.loads(benchmark_file(name).read_text(encoding="utf-8"))


def observations_digest(rows: tuple[Observation, ...]) -> str:
    """Digest of what the rows say; notes, places and the order of files do not count."""
    names = [name for name in (*COLUMNS, *ID_COLUMNS) if name not in ("notes", "assumed")]
    lines = sorted(json.dumps([getattr(row, name) for name in names], sort_keys=True) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def read_stored(path: Path | str | None = None) -> dict[str, Any]:
    """Content of a stored calibration.

    Raises CalibrationError if the file is missing, too large or not a JSON object.
    """
    file = stored_path() if path is None else Path(path)
    text = measured_text(file, "a stored calibration", MAX_STORED_BYTES)
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise CalibrationError(f"{file}: is not a stored calibration: {error}; run 'sizer calibrate'") from None
    if not isinstance(content, dict):
        raise CalibrationError(f"{file}: is not a stored calibration; run 'sizer calibrate'")
    return content


def write_stored(content: dict[str, Any], path: Path | str | None = None) -> Path:
    """Write a calibration; the folder is made when it is missing.

    Raises CalibrationError if the file cannot be written.
    """
    file = stored_path() if path is None else Path(path)
    # One key a line keeps differences readable; the long rows of numbers stay on one line each.
    body = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in content.items()
    )
    try:
        make_folders(file.parent)
        with replacing(file) as stream:
            stream.write(f"{{\n{body}\n}}\n".encode())
    except OSError as error:
        raise CalibrationError(f"{file}: cannot be written: {error.strerror}") from None
    return file


def stored_path() -> Path:
    """Where the shipped calibration lies."""
    return data_dir("catalog") / "calibration" / "calibration.json"


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number of a calibration")


def _observation(cells: dict[str, str], place: str) -> Observation:
    cells = cells | {name: cells[name].lower() for name in _SMALL_LETTERS}
    empty = [name for name in ("id", "source", "quantity") if not cells[name]]
    empty += [] if is_stated(cells["value"]) else ["value"]
    if empty:
        raise ValueError("\n".join(f"{name}: is empty; every row has one" for name in empty))
    ids = [name for name in ID_COLUMNS if name in cells]
    if ids and len(ids) < len(ID_COLUMNS):
        raise ValueError(f"{ids[0]}: stands in the file without the other columns of {', '.join(ID_COLUMNS)}")

    def number(name: str, text: str) -> float | None:
        if not is_stated(text):
            return None
        limits = QUANTITIES.get(cells["quantity"], _OTHER_QUANTITY) if name == "value" else _LIMITS.get(name)
        value = number_within(text, *(limits or (_COUNTS[name], _MOST_COUNTED)))
        if name not in _COUNTS:
            return value
        if value != int(value):
            raise ValueError(f"{text[:40]!r} is not a whole number")
        return int(value) if value or name == "gpus" else None

    return typed_row(Observation, cells, number, extra=_extra(cells["extra"]), has_ids=bool(ids), place=place)


def _extra(text: str) -> dict[str, Any]:
    if not is_stated(text):
        return {}
    try:
        extra = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        extra = None
    if not isinstance(extra, dict):
        raise ValueError(f"extra: {shown(text)} is not a JSON object")
    # Lists of numbers are further ones of a source; each that is read has a name of its own.
    return {name: value for name, value in extra.items() if not isinstance(value, dict | list)}
