"""Tables of MLPerf Storage: emulated accelerators that a storage system carries, and times of checkpoints."""

from sizer.base.quantities import duration, grouped, si
from sizer.present.tables import Field, Table, record_table
from sizer.questions.storage_benchmark.analysis import BenchmarkAnswer, Carried

WORKLOADS = {"unet3d": "3D U-Net", "resnet50": "ResNet-50", "cosmoflow": "CosmoFlow"}
_LIMITS = {"storage": "storage nodes", "clients": "clients"}


def accelerators_table(answer: BenchmarkAnswer) -> Table:
    """Emulated accelerators by benchmark."""
    return record_table(
        "emulated-accelerators",
        f"Emulated accelerators of MLPerf Storage: {grouped(answer.nodes)} × {answer.name}",
        answer.carried,
        [
            Field("Benchmark", lambda one: WORKLOADS[one.workload], "left", 16),
            Field("GPU", lambda one: one.accelerator.upper(), "left", 9),
            Field("Reads, each", lambda one: si(one.each_bytes_per_s, "B/s"), "right", 16),
            Field("Carried", _range, "right", 18),
            Field("Limit", lambda one: _LIMITS[one.limit], "left", 16),
            Field("Published result", _shown, "right", 25),
        ],
    )


def checkpoints_table(answer: BenchmarkAnswer) -> Table:
    """Times of the checkpoints of the benchmark."""
    return record_table(
        "benchmark-checkpoints",
        "Checkpoints of MLPerf Storage v2.0",
        answer.checkpoints,
        [
            Field("Model", lambda one: one.model.name, "left", 16),
            Field("Size", lambda one: si(one.model.size_bytes, "B"), "right", 18),
            Field("Processes", lambda one: grouped(one.model.processes), "right", 16),
            Field("Write", lambda one: _times(one.write_s), "right", 25),
            Field("Read", lambda one: _times(one.read_s), "right", 25),
        ],
    )


def _range(one: Carried) -> str:
    return grouped(one.low) if one.low == one.high else f"{grouped(one.low)} to {grouped(one.high)}"


def _shown(one: Carried) -> str:
    if one.shown is None or one.shown_bytes_per_s is None:
        return "none"
    return f"{grouped(one.shown)}, {si(one.shown_bytes_per_s, 'B/s')}"


def _times(times: tuple[float, float] | None) -> str:
    if times is None:
        return "write rate not published"
    low, high = (duration(one) for one in times)
    return low if low == high else f"{low} to {high}"
