"""Published measurements of serving language models as typed rows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sizer.base.formats.csv_rows import bounded, rows_of_file, typed_row
from sizer.calibrate.observations import benchmark_file

# Columns by which a file of this kind is known. It may have any field of :class:`ServingRow`; others are left out.
NEEDED_COLUMNS = ("row_id", "source", "kind", "model", "gpu", "weight_precision", "input_tokens", "output_tokens")
# Kinds of measurement: a fixed number of requests in flight; as fast as possible with that number not stated; the
# scenarios of MLPerf.
CLOSED_LOOP, OFFLINE, MLPERF = "closed loop", "offline", "mlperf"
_KINDS = (CLOSED_LOOP, OFFLINE, MLPERF)


@dataclass(frozen=True)
class ServingRow:
    """One measurement. Fields are the columns; what a source does not state is empty or None. SI units."""

    row_id: str
    source: str
    kind: str
    model: str
    gpu: str
    weight_precision: str
    place: str = ""
    date: str = ""
    round: str = ""
    submitter: str = ""
    system: str = ""
    scenario: str = ""  # of MLPerf: Offline, Server, Interactive
    benchmark: str = ""
    engine: str = ""
    engine_precision: str = ""  # in which a tuned engine computes, where the printed type is that of the weights
    kv_precision: str = ""
    # Shape of a model that the catalogue may not have.
    layers: float | None = None
    hidden: float | None = None
    ffn: float | None = None
    heads: float | None = None
    kv_heads: float | None = None
    head_dim: float | None = None
    experts: float | None = None
    top_k: float | None = None
    shared_experts: float | None = None
    moe_ffn: float | None = None
    dense_layers: float | None = None
    vocab: float | None = None
    attention: str = ""
    q_rank: float | None = None
    kv_rank: float | None = None
    rope_dim: float | None = None
    window: float | None = None
    full_layers: float | None = None
    total_params: float | None = None
    # Layout.
    gpus: float | None = None
    split: str = ""  # "apart": pools for prefill and for decoding
    tp: float | None = None
    pp: float | None = None
    dp: float | None = None
    ep: float | None = None
    prefill_workers: float | None = None
    prefill_tp: float | None = None
    prefill_dp: float | None = None
    prefill_ep: float | None = None
    decode_workers: float | None = None
    decode_tp: float | None = None
    decode_dp: float | None = None
    decode_ep: float | None = None
    max_batch: float | None = None
    # Load.
    concurrency: float | None = None
    concurrency_mean: float | None = None  # of MLPerf: requests/s times mean seconds of a request
    input_tokens: float | None = None
    output_tokens: float | None = None
    length_mean_ratio: float | None = None  # mean over nominal lengths
    prefix_hit: float | None = None  # share of the input that is cached
    speculative: str = ""
    stream_interval: float | None = None
    ttft_limit_s: float | None = None
    tpot_limit_s: float | None = None
    latency_limit_s: float | None = None
    # What was measured.
    ttft_s: float | None = None
    tpot_s: float | None = None
    ttft_mean_s: float | None = None
    tpot_mean_s: float | None = None
    output_tokens_s: float | None = None
    power_w: float | None = None
    role: str = "calibration"
    flag: str = ""

    @property
    def calibrates(self) -> bool:
        """Whether it may be fitted: not where an input is missing or doubtful."""
        return self.role == "calibration"

    @property
    def computed_in(self) -> str:
        """Number format of the weights as they are served; "" where nobody says."""
        return (self.engine_precision or self.weight_precision).rstrip("?")

    @property
    def guesses(self) -> bool:
        """Whether layers of the model guess tokens ahead, which a step verifies (multi-token prediction)."""
        return self.speculative.rstrip("?") == "mtp"

    @property
    def has_limits(self) -> bool:
        """Whether somebody waited: not where as much as possible was served, however late."""
        return self.kind != OFFLINE and self.scenario != "Offline"

    @property
    def month(self) -> float | None:
        """Year x 12 + month - 1 of its date, with the day as a fraction; None without a date."""
        match = re.match(r"(20[0-9]{2})-([0-9]{2})(?:-([0-9]{2}))?", self.date)
        if match is None:
            return None
        day = (int(match[3]) - 1) / 30 if match[3] else 0.5
        return int(match[1]) * 12 + int(match[2]) - 1 + day


def shipped_paths() -> list[Path]:
    """Where the shipped rows lie."""
    return [benchmark_file("serving", f"{name}.csv") for name in ("closed-loop", "mlperf-inference", "offline")]


def load_serving_rows(paths: Iterable[Path] | None = None) -> tuple[ServingRow, ...]:
    """Rows of files, by default of the shipped ones.

    Raises CalibrationError naming the line and the column of every cell that is no number in its range, and every id
    that stands twice.
    """
    paths = shipped_paths() if paths is None else paths
    return tuple(row for path in paths for row in rows_of_file(path, "measurements of serving", _row, key="row_id"))


@lru_cache(maxsize=1)
def fitted_rows() -> tuple[ServingRow, ...]:
    """Shipped rows that calibrate: what the fit takes, and what bounds and illustrates an answer."""
    return tuple(row for row in load_serving_rows() if row.calibrates)


@dataclass(frozen=True)
class MemoryFact:
    """Whether a model loads on GPUs, and the largest number of requests in flight that was published."""

    row_id: str
    model: str
    gpu: str
    engine: str
    weight_precision: str
    kv_precision: str
    tensor: int
    input_tokens: float
    output_tokens: float
    loads: bool
    most_concurrent: float | None


def memory_facts() -> tuple[MemoryFact, ...]:
    """Published loads, refusals and limits.

    Raises CalibrationError naming the line and the column of every cell that is no number in its range.
    """

    def fact(cells: dict[str, str], _place: str) -> MemoryFact:
        tensor, loads = int(bounded("tp", cells["tp"])), cells["loads"] == "yes"
        return typed_row(MemoryFact, cells, bounded, tensor=tensor, loads=loads)

    return tuple(rows_of_file(benchmark_file("serving", "memory.csv"), "memory of serving", fact, key="row_id"))


def _row(cells: dict[str, str], place: str) -> ServingRow:
    row = typed_row(ServingRow, cells | {"row_id": cells.get("row_id") or place}, bounded)
    if row.kind not in _KINDS:
        raise ValueError(f"kind: {row.kind[:40]!r} must be one of {', '.join(_KINDS)}")
    return row
