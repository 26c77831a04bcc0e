"""MLPerf Storage: how many emulated accelerators a storage system carries, and how fast it takes checkpoints."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sizer.base.errors import RequestError
from sizer.base.estimate import Z90
from sizer.calibrate.storage_emulation import SAMPLE_BYTES, shipped_fit
from sizer.calibrate.storage_limits import demonstrated, line_shares
from sizer.catalog.schema import Storage
from sizer.physical.capacity import counts_nodes, node_limits, nodes_per_unit
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.platform_columns import storage_nic_bytes_per_s
from sizer.sizing.stages.storage_rates import node_read_rate

ACCELERATORS = ("a100", "h100")
Limit = Literal["storage", "clients"]


@dataclass(frozen=True)
class CheckpointModel:
    """A model of the benchmark of checkpoints (MLPerf Storage v2.0, rules, section 2.2)."""

    name: str
    size_bytes: float
    processes: int


CHECKPOINT_MODELS = (
    CheckpointModel("8B", 105e9, 8),
    CheckpointModel("70B", 912e9, 64),
    CheckpointModel("405B", 5.29e12, 512),
    CheckpointModel("1T", 18e12, 1024),
)
PROCESSES_PER_CLIENT = 8


@dataclass(frozen=True)
class Carried:
    """Emulated accelerators of one benchmark. Rates in B/s."""

    workload: str
    accelerator: str
    each_bytes_per_s: float  # that one accelerator reads
    low: int
    high: int
    limit: Limit  # at the low end
    shown: int | None  # accelerators of the published result of the same product with the most
    shown_bytes_per_s: float | None


@dataclass(frozen=True)
class BenchmarkCheckpoint:
    """One checkpoint, written and then read by all processes; low and high end. None: no source gives the rate."""

    model: CheckpointModel
    write_s: tuple[float, float] | None
    read_s: tuple[float, float] | None


@dataclass(frozen=True)
class BenchmarkQuestion:
    """A storage system and its clients. ``client_bytes_per_s``: line rate of the adapters of one client."""

    storage: Storage
    nodes: int
    clients: int
    client_bytes_per_s: float


@dataclass(frozen=True)
class BenchmarkAnswer:
    """What a storage system carries."""

    storage: str
    name: str
    nodes: int
    clients: int
    client_bytes_per_s: float
    read_bytes_per_s: tuple[float, float]
    write_bytes_per_s: float | None
    carried: tuple[Carried, ...]
    checkpoints: tuple[BenchmarkCheckpoint, ...]


def question_of(design: DesignAnswer) -> BenchmarkQuestion | None:
    """The storage of a design with its servers as clients; None of drives, and of storage without a published rate."""
    platform = design.platform
    line = storage_nic_bytes_per_s(platform)
    if not (counts_nodes(platform.storage) and math.isfinite(line)) or node_read_rate(platform.storage) is None:
        return None
    return BenchmarkQuestion(platform.storage, design.storage_nodes, design.n_servers, line)


def benchmark_answer(question: BenchmarkQuestion) -> BenchmarkAnswer:
    """Emulated accelerators of every benchmark, and times of checkpoints.

    Raises
    ------
    RequestError
        If nodes or clients are out of range, or no source gives the read rate of the storage.
    """
    storage = question.storage
    _check(question)
    rate = node_read_rate(storage)
    if rate is None:
        raise RequestError(
            f"no source gives the read rate of {storage.name}, so what it carries is not known; choose another storage"
        )
    nodes = question.nodes
    read = (nodes * rate.low.value, nodes * rate.high.value)
    written = None if storage.node_write_bytes_per_s is None else nodes * storage.node_write_bytes_per_s.value
    carried = [_carried(question, read, workload, gpu) for workload in SAMPLE_BYTES for gpu in ACCELERATORS]
    return BenchmarkAnswer(
        storage=storage.id,
        name=storage.name,
        nodes=nodes,
        clients=question.clients,
        client_bytes_per_s=question.client_bytes_per_s,
        read_bytes_per_s=read,
        write_bytes_per_s=written,
        carried=tuple(carried),
        checkpoints=tuple(_times(question, model, read, written) for model in CHECKPOINT_MODELS),
    )


def _check(question: BenchmarkQuestion) -> None:
    storage = question.storage
    if not counts_nodes(storage):
        raise RequestError(f"{storage.name} is not shared storage that is bought by the node; choose another storage")
    low, high = node_limits(storage)
    unit = nodes_per_unit(storage)
    if not low <= question.nodes <= high or question.nodes % unit:
        steps = f" in steps of {unit}" if unit > 1 else ""
        raise RequestError(f"nodes is {question.nodes}; {storage.name} is sold with {low} to {high} nodes{steps}")
    if not 1 <= question.clients <= 100_000:
        raise RequestError(f"clients is {question.clients}; allowed are 1 to 100000")
    if not 1e8 <= question.client_bytes_per_s <= 1e14:
        gbit = question.client_bytes_per_s * 8 / 1e9
        raise RequestError(f"client_gbit is {gbit:g} Gbit/s; allowed are 0.8 to 800000 Gbit/s")


def _carried(question: BenchmarkQuestion, read: tuple[float, float], workload: str, gpu: str) -> Carried:
    fit, rows = shipped_fit()
    group = f"{workload}/{gpu}"
    each = math.exp(fit.log_rate[group]) * SAMPLE_BYTES[workload]
    # The most that count as carried wait as long as the rules allow, and read less each.
    least = each * math.exp(-Z90 * fit.log_sd[group])
    shares = line_shares(rows, workload, gpu)
    line = question.clients * question.client_bytes_per_s
    clients = (line * shares[0], line * shares[-1])
    low, high = (min(pair) for pair in zip(read, clients, strict=True))
    result = demonstrated(question.storage.id, workload, gpu)
    return Carried(
        workload=workload,
        accelerator=gpu,
        each_bytes_per_s=each,
        low=int(low // each),
        high=int(high // least),
        limit="storage" if read[0] <= clients[0] else "clients",
        shown=None if result is None or result.accelerators is None else round(result.accelerators),
        shown_bytes_per_s=None if result is None else result.bytes_per_s,
    )


def _times(
    question: BenchmarkQuestion, model: CheckpointModel, read: Sequence[float], written: float | None
) -> BenchmarkCheckpoint:
    # Eight processes run on a client, on no more clients than there are.
    clients = min(question.clients, max(1, model.processes // PROCESSES_PER_CLIENT))
    line = clients * question.client_bytes_per_s

    def times(rates: Sequence[float]) -> tuple[float, float]:
        low, high = min(*rates, line), min(max(rates), line)
        return model.size_bytes / high, model.size_bytes / low

    return BenchmarkCheckpoint(model, None if written is None else times((written, written)), times(read))
