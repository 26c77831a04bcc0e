"""Published measurements of language-model training as typed rows."""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from sizer.base.formats.csv_rows import number_of, rows_of_file
from sizer.base.resources import data_dir

# Columns by which a file of this kind is known. It may have any field of :class:`LanguageRow`; others are left out.
NEEDED_COLUMNS = ("row_id", "source", "model", "gpu", "gpus", "precision")
# Numbers of a row and what is allowed: anything else is a fault of the file.
_LIMITS = {"params_b": (1e-4, 1e6), "step_time_s": (1e-6, 1e6), "gpus": (1, 1e7)}
_ANY_NUMBER = (0.0, 1e15)
# Counts: at least 1. A dense model's experts and a GPU without expert parallelism may be written 0, which says as much
# as an empty cell; so may other counts.
_COUNTS = (
    "layers", "dense_layers", "hidden", "ffn", "heads", "kv_heads", "head_dim", "experts", "top_k", "moe_ffn", "vocab",
    "seq", "global_batch", "micro_batch", "grad_accum", "tp", "pp", "cp", "ep", "vp", "dp", "gpus_per_node",
)  # fmt: skip
_ANY_COUNT = (1.0, 1e9)


@dataclass(frozen=True)
class LanguageRow:
    """One published run. Fields are the columns; what a source does not state is empty or None.

    Rates are tokens/s of one GPU, memory GiB of one GPU, times seconds and minutes as the names say.
    """

    row_id: str
    source: str
    model: str
    gpu: str
    precision: str
    gpus: float  # 0: not stated
    kind: str = ""
    arch: str = ""
    params_b: float | None = None
    layers: float | None = None
    dense_layers: float | None = None  # without experts, of a mixture
    hidden: float | None = None
    ffn: float | None = None
    heads: float | None = None
    kv_heads: float | None = None
    head_dim: float | None = None
    experts: float | None = None
    top_k: float | None = None
    moe_ffn: float | None = None
    vocab: float | None = None
    seq: float | None = None
    global_batch: float | None = None
    micro_batch: float | None = None
    grad_accum: float | None = None
    tp: float | None = None
    pp: float | None = None
    cp: float | None = None
    ep: float | None = None
    vp: float | None = None
    dp: float | None = None
    sharding: str = ""
    recompute: str = ""
    gpus_per_node: float | None = None
    network: str = ""
    software: str = ""
    version: str = ""
    date: str = ""
    place: str = ""
    step_time_s: float | None = None
    tokens_s_gpu: float | None = None
    tokens_s_gpu_adj: float | None = None
    tflops_gpu: float | None = None
    flop_convention: str = ""
    mem_gib: float | None = None
    ttt_min: float | None = None
    series: str = ""
    role: str = "calibration"
    flag: str = ""

    @property
    def tokens_per_s_per_gpu(self) -> float | None:
        """Published rate of one GPU: corrected where it was printed rounded, else from the time of a step."""
        if self.tokens_s_gpu_adj or self.tokens_s_gpu:
            return self.tokens_s_gpu_adj or self.tokens_s_gpu
        if self.step_time_s and self.global_batch and self.seq and self.gpus:
            return self.global_batch * self.seq / self.step_time_s / self.gpus
        return None


_TEXTS = {one.name for one in fields(LanguageRow) if one.type in (str, "str")}
_COLUMNS = {one.name for one in fields(LanguageRow)}


def is_language_file(columns: Iterable[str]) -> bool:
    """Whether the header is that of language-model measurements."""
    return set(NEEDED_COLUMNS) <= set(columns)


def shipped_path() -> Path:
    """Where the shipped rows lie."""
    return data_dir("catalog") / "benchmarks" / "language" / "training.csv"


def rows_digest() -> str:
    """Digest of the shipped rows."""
    return hashlib.sha256(shipped_path().read_bytes()).hexdigest()[:16]


def load_language_rows(path: Path | None = None) -> tuple[LanguageRow, ...]:
    """Rows of one file, by default of the shipped one.

    Raises
    ------
    CalibrationError
        Naming the line and the column of every cell that is no number in its range, and every id that stands twice.
    """
    file = shipped_path() if path is None else path
    lines: dict[str, str] = {}

    def row_of(cells: dict[str, str], place: str) -> LanguageRow:
        row = _row(cells, place)
        if row.row_id in lines:
            raise ValueError(f"row_id: {row.row_id[:40]!r} is used by {lines[row.row_id]} already; ids are unique")
        lines[row.row_id] = place
        return row

    return tuple(rows_of_file(file, "language-model measurements", row_of))


def _row(cells: dict[str, str], place: str) -> LanguageRow:
    values: dict[str, object] = {"row_id": place, "source": "", "model": "", "gpu": "", "precision": ""}
    faults = []
    for name, cell in cells.items():
        if name in _COLUMNS and cell:
            try:
                values[name] = _cell(name, cell)
            except ValueError as error:
                faults.append(f"{name}: {error}")
    if faults:
        raise ValueError("\n".join(faults))
    values.setdefault("gpus", _gpus_of(values, cells.get("nodes", "")))
    return LanguageRow(**values)  # type: ignore[arg-type]  # every value is of its column's kind


def _gpus_of(values: dict[str, object], nodes: str) -> float:
    """GPUs of a run that states them otherwise: nodes times their GPUs, or the product of the degrees; else 0."""
    each = values.get("gpus_per_node")
    if isinstance(each, float) and nodes.isdecimal():
        return each * float(nodes[:9])
    degrees = [values.get(name) for name in ("dp", "tp", "pp", "cp")]
    stated = [float(degree) for degree in degrees if isinstance(degree, float)]
    return math.prod(stated) if degrees[0] is not None else 0.0


def _cell(name: str, text: str) -> str | float | None:
    if name in _TEXTS:
        return text
    low, high = _LIMITS.get(name, _ANY_COUNT if name in _COUNTS else _ANY_NUMBER)
    try:
        value = number_of(text)
    except ValueError:
        raise ValueError(f"{text[:40]!r} is not a number") from None
    if name in _COUNTS and value == 0:
        return None
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(f"{text[:40]} must be {low:g} to {high:g}")
    return value
