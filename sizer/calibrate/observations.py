"""Published measurements as typed rows, and the stored calibration: the only input and output of this package."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from sizer.base.errors import CalibrationError
from sizer.base.folders import make_folders, replacing
from sizer.base.formats.csv_rows import CsvRecord, csv_records, is_stated, number_of
from sizer.base.resources import data_dir, require_file
from sizer.base.texts import paragraphs

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
# Published tables are small; a larger file or cell is something else.
MAX_FILE_BYTES = 10_000_000
MAX_ROWS = 50_000
MAX_CELL_CHARACTERS = 5_000
MAX_STORED_BYTES = 50_000_000
_SHOWN_CHARACTERS = 40


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


def load_observations(path: Path | str | None = None) -> tuple[Observation, ...]:
    """Rows of every CSV file of a folder, by default of the shipped benchmarks.

    A file without the id columns is read as well; :func:`~sizer.calibrate.ids.with_ids` fills them.

    ``path``: folder of CSV files, or one file. In the order of the file names, then of the lines. Raises
    CalibrationError if a file is missing, too large, not UTF-8, has other columns, or a row holds a bad value: the
    message names file, line and column. Also if two rows have one id.
    """
    return _unique(row for name, text in observation_texts(path).items() for row in read_rows(text, name))


def observation_texts(path: Path | str | None = None) -> dict[str, str]:
    """Content of the CSV files of a folder, or of one file, by name.

    Raises CalibrationError if there is no file, or one cannot be read, is too large or not UTF-8.
    """
    folder = data_dir("catalog") / "benchmarks" if path is None else Path(path)
    files = sorted(folder.glob("*.csv")) if os.path.isdir(folder) else [folder]
    if not files:
        raise CalibrationError(f"{folder}: holds no CSV files of observations")
    return {file.name: _text(file, MAX_FILE_BYTES) for file in files}


def load_files(paths: Sequence[Path | str]) -> tuple[Observation, ...]:
    """Rows of several files or folders together.

    Raises CalibrationError as :func:`load_observations`, and if two of the files share an id.
    """
    return _unique(row for path in paths for row in load_observations(path))


def _unique(rows: Iterable[Observation]) -> tuple[Observation, ...]:
    """The rows, none of whose ids stands twice."""
    found: dict[str, Observation] = {}
    for row in rows:
        if row.id in found:
            raise CalibrationError(
                f"{row.place}: id {_shown(row.id)} is used by {found[row.id].place} already; ids are unique"
            )
        found[row.id] = row
    return tuple(found.values())


def read_rows(text: str, place: str) -> list[Observation]:
    """Rows of one file's text.

    Raises CalibrationError as :func:`load_observations`.
    """
    rows = []
    records = csv_records(text)
    head = next(records, CsvRecord(1, 1, []))
    if head.fault:
        raise CalibrationError(f"{place} line 1: {head.fault}")
    columns = tuple(head.cells)
    # Columns that are not known may stand in the file and are left out; the known ones must be there, once.
    known = (*COLUMNS, *ID_COLUMNS) if set(ID_COLUMNS) & set(columns) else COLUMNS
    missing = [name for name in known if name not in columns]
    if missing or len(set(columns)) != len(columns):
        fault = "a column is there twice"
        if missing:
            unknown = [name for name in columns if name not in known]
            fault = f"unknown column {_shown(unknown[0])}" if unknown else f"column {missing[0]!r} is missing"
        raise CalibrationError(f"{place} line 1: {fault}; columns are {', '.join(known)}")
    for record in records:
        if record.is_blank:
            continue
        here = f"{place} line {record.line}"
        if record.fault:
            raise CalibrationError(f"{here}: {record.fault}")
        if len(record.cells) != len(columns):
            amount = "more" if len(record.cells) > len(columns) else "fewer"
            raise CalibrationError(f"{here}: has {amount} cells than there are columns")
        rows.append(_observation(record.by_column(columns), here))
        if len(rows) > MAX_ROWS:
            raise CalibrationError(f"{place}: has more than {MAX_ROWS} rows")
    return rows


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
    text = _text(file, MAX_STORED_BYTES)
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


def _text(file: Path, limit: int) -> str:
    try:
        require_file(file)
        if file.stat().st_size > limit:
            raise CalibrationError(f"{file}: is larger than such a file can be ({limit} B)")
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CalibrationError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CalibrationError(f"{file}: is not UTF-8 text (byte {error.start})") from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _observation(cells: dict[str, str], place: str) -> Observation:
    text = {name: value.strip() for name, value in cells.items()}
    for name, value in text.items():
        if len(value) > MAX_CELL_CHARACTERS:
            raise CalibrationError(
                f"{place}, column {name}: {len(value)} characters are more than {MAX_CELL_CHARACTERS}"
            )
        try:
            paragraphs(value)
        except ValueError as error:
            raise CalibrationError(f"{place}, column {name}: {error}") from None
    for name in ("id", "source"):
        if not text[name]:
            raise CalibrationError(f"{place}, column {name}: is empty; every row has an id and a source")
    quantity = text["quantity"].lower()
    if not quantity:
        raise CalibrationError(f"{place}, column quantity: is empty")
    published = _number(text["value"], *QUANTITIES.get(quantity, _OTHER_QUANTITY), place, "value")
    if published is None:
        raise CalibrationError(f"{place}, column value: is empty")

    def count(name: str, low: int) -> int | None:
        number = _number(text[name], low, 1e6, place, name)
        if number is not None and number != int(number):
            raise CalibrationError(f"{place}, column {name}: {_shown(text[name])} is not a whole number")
        return None if number is None else int(number)

    return Observation(
        id=text["id"],
        source=text["source"],
        where=text["where"],
        basis=text["basis"],
        task=text["task"].lower(),
        dnn=text["dnn"],
        framework=text["framework"],
        software=text["software"],
        precision=text["precision"].lower(),
        # A batch spread over several GPUs can leave a fraction on each (3.5 in one published run).
        batch_per_gpu=_number(text["batch_per_gpu"], 1e-3, 1e8, place, "batch_per_gpu"),
        gpu=text["gpu"],
        server=text["server"],
        servers=count("servers", 1),
        gpus=count("gpus", 0),
        intra_link=text["intra_link"],
        inter_link=text["inter_link"],
        nics_per_server=count("nics_per_server", 0) or None,
        loader=text["loader"].lower(),
        data=text["data"],
        storage=text["storage"],
        storage_nodes=count("storage_nodes", 0) or None,
        sample_bytes=_number(text["sample_bytes"], 1.0, 1e13, place, "sample_bytes"),
        dataset_bytes=_number(text["dataset_bytes"], 1.0, 1e19, place, "dataset_bytes"),
        quantity=quantity,
        value=published,
        extra=_extra(text["extra"], place),
        notes=text["notes"],
        **{name: text.get(name, "") for name in ID_COLUMNS},
        has_ids=ID_COLUMNS[0] in text,
        place=place,
    )


def _number(text: str, low: float, high: float, place: str, column: str) -> float | None:
    if not is_stated(text):
        return None
    try:
        value = number_of(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CalibrationError(f"{place}, column {column}: {_shown(text)} is not a number")
    if not low <= value <= high:
        raise CalibrationError(f"{place}, column {column}: {_shown(text)} must be {low:g} to {high:g}")
    return value


def _extra(text: str, place: str) -> dict[str, Any]:
    if not is_stated(text):
        return {}
    try:
        extra = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        extra = None
    if not isinstance(extra, dict):
        raise CalibrationError(f"{place}, column extra: {_shown(text)} is not a JSON object")
    # Lists of numbers are further ones of a source; each that is read has a name of its own.
    return {name: value for name, value in extra.items() if not isinstance(value, dict | list)}
