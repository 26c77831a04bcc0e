"""Published measurements of language-model training as typed rows."""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sizer.base.formats.csv_rows import number_within, rows_of_file, typed_row
from sizer.calibrate.observations import benchmark_file, stated_table

# Columns by which a file of this kind is known. It may have any field of :class:`LanguageRow`; others are left out.
NEEDED_COLUMNS = ("row_id", "source", "model", "gpu", "gpus", "precision")
SHIPPED = ("language", "training.csv")
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
    gpus: float = 0.0  # 0: not stated
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


def load_language_rows(path: Path | None = None) -> tuple[LanguageRow, ...]:
    """Rows of one file, by default of the shipped one.

    Raises CalibrationError naming the line and the column of every cell that is no number in its range, and every id
    that stands twice.
    """
    return tuple(rows_of_file(path or benchmark_file(*SHIPPED), "language-model measurements", row_of, key="row_id"))


def row_of(cells: dict[str, str], place: str) -> LanguageRow:
    """A run as its cells state it; ``place`` names one without an id. Raises ValueError for a cell that is wrong."""
    row = typed_row(LanguageRow, cells | {"row_id": cells.get("row_id") or place}, _number)
    return row if row.gpus else replace(row, gpus=_gpus_of(row, cells.get("nodes", "")))


def _gpus_of(row: LanguageRow, nodes: str) -> float:
    """GPUs of a run that states them otherwise: nodes times their GPUs, or the product of the degrees; else 0."""
    if row.gpus_per_node is not None and nodes.isdecimal():
        return row.gpus_per_node * float(nodes[:9])
    degrees = (row.dp, row.tp, row.pp, row.cp)
    return math.prod(degree for degree in degrees if degree is not None) if row.dp is not None else 0.0


def _number(name: str, text: str) -> float | None:
    low, high = _LIMITS.get(name, _ANY_COUNT if name in _COUNTS else _ANY_NUMBER)
    value = number_within(text, low, high, or_zero=name in _COUNTS)
    return None if name in _COUNTS and value == 0 else value


TUNED = "mlperf"


def stated_stacks() -> dict[str, Any]:
    """How software is known, and what it keeps in memory."""
    return stated_table("language/stacks.toml")


def stack_named(row: LanguageRow) -> str:
    """The software stack: submissions to MLPerf are tuned for their benchmark and count as one of their own."""
    if "mlperf" in row.source.lower() or row.software.lower().startswith(TUNED):
        return f"{TUNED}-rocm" if re.search(r"\bmi[0-9]", row.gpu.lower()) else TUNED
    text = row.software.lower()
    return next((stack for word, stack in stated_stacks()["words"].items() if word in text), f"other:{text[:40]}")


def group_of_stack(stack: str) -> str:
    """The group of stacks that share an effect; a framework without a stack of its own counts as of PyTorch."""
    usual = stack.split("-")[0] if stack.startswith(TUNED) else "pytorch" if stack.startswith("other:") else "megatron"
    return str(stated_stacks()["groups"].get(stack, usual))


def number_format(text: str) -> str:
    """Number format of the matrix products: "bf16", "fp8", "fp4"."""
    plain = text.lower().replace("bfloat", "bf").replace("float", "fp")
    return next((name for name in ("fp4", "fp8", "bf16", "fp16") if name in plain), "bf16")
