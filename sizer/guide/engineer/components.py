"""Chapter on components: configuration of the nodes, their GPUs, processors and memory, and the class of storage."""

from collections.abc import Iterator, Sequence
from typing import Any

from sizer.base.provenance import Sourced
from sizer.base.quantities import grouped, si, significant
from sizer.base.units import GIB
from sizer.calibrate.language.cases import is_through_host
from sizer.catalog.labels import fact_value, item_name, with_vendor
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Gpu, Server, Storage
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import (
    Align,
    Cell,
    Field,
    Row,
    Table,
    basis_note,
    fact_table,
    port_text,
    record_table,
    row,
    source_cell,
)
from sizer.present.text.calibration import NOT_PREDICTED
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

_HITACHI = "hitachi-dl-2019"
# Storage class, what it suits, and its advantages and drawbacks.
_CLASSES = (
    (
        "Drives in the server",
        "one server, or a cache in front of shared storage",
        "simple and fast; nothing is shared, so every server needs its own copy",
    ),
    (
        "NFS server",
        "data that is read once and then served from memory; home directories and results",
        "often already available; one access path limits the rate of all readers",
    ),
    (
        "Scale-out NAS or clustered file system",
        "data larger than memory that many servers read concurrently",
        "rate and capacity grow by the node; highest cost and largest minimum size",
    ),
)


def server_table(id_: str, server: Server, count: int, catalog: Catalog, gpus: str = "") -> Table:
    """Components of a server, each with its source."""
    return fact_table(
        id_,
        f"Configuration of the {with_vendor(server)}",
        _server_rows(server, count, catalog, gpus),
        titles=("Component", "Detail", "Source"),
        widths=(22, 34, 44),
        style="component",
    )


def _server_rows(server: Server, count: int, catalog: Catalog, gpus: str) -> Iterator[Row]:
    yield row("Model", with_vendor(server), "")
    yield row("Quantity", grouped(count), "")
    if gpus:
        yield row("GPUs", gpus, _source(server.n_gpus))
    if server.cpu is not None:
        number = f"{server.n_cpus.value} × " if server.n_cpus is not None else ""
        yield row("Processors", number + item_name(server.cpu.value, catalog), _source(server.cpu))
    if server.memory_bytes is not None:
        yield row("Memory", _gib(server.memory_bytes.value), _source(server.memory_bytes))
    if server.local_storage is not None:
        yield row("Local drives", item_name(server.local_storage, catalog), "")
    for port in server.ports:
        yield row("Ports", port_text(port), source_cell(port))
    for label, fact in server.features.items():
        yield row(words.capital(label), str(fact.value), _source(fact))
    yield from _dimensions(server)


def _dimensions(device: Device) -> Iterator[Row]:
    facts = (
        ("Height", device.height_u, "U"),
        ("Depth", device.depth_m, "m"),
        ("Weight", device.weight_kg, "kg"),
        ("Maximum power", device.power_max_w or device.power_high_w, "W"),
    )
    for label, fact, unit in facts:
        if fact is None:
            yield row(label, words.NOT_PUBLISHED, "")
        else:
            yield row(label, fact_value(fact.value, unit) + basis_note(fact.basis), _source(fact))


def _source(fact: Sourced[Any] | None) -> Cell | str:
    return "" if fact is None else source_cell(fact)


def _gib(size_bytes: float) -> str:
    return f"{grouped(size_bytes / GIB)}{words.NO_BREAK}GiB"


def gpu_table(chosen: Gpu, others: Sequence[Gpu]) -> Table:
    """The GPU of the design compared with the other options."""

    def scaled(fact: Sourced[float] | None, factor: float) -> Cell:
        return Cell(words.NOT_PUBLISHED) if fact is None else Cell(significant(fact.value / factor))

    def link(gpu: Gpu) -> Cell:
        if is_through_host(gpu):
            return Cell("over PCIe", is_muted=True)
        return scaled(gpu.nvlink_bytes_per_s, 1e9)

    fields = (
        Field[Gpu]("GPU", lambda g: f"{g.name} (this design)" if g is chosen else g.name, "left", 29),
        Field[Gpu]("Memory, GiB", lambda g: grouped(g.memory_bytes.value / GIB), "right", 11),
        Field[Gpu]("Peak, mixed, TFLOP/s", lambda g: scaled(g.peak_mixed_flop_per_s, 1e12), "right", 14),
        Field[Gpu]("Memory, GB/s", lambda g: scaled(g.memory_bytes_per_s, 1e9), "right", 11),
        Field[Gpu]("Between GPUs, GB/s", link, "right", 12),
        Field[Gpu]("Power, W", lambda g: scaled(g.tdp_w, 1.0), "right", 9),
    )
    note = (
        "Peak rates are data-sheet values at the highest clock; training reaches a fraction of them. "
        "“Between GPUs” counts all links of a GPU in one direction."
    )
    return record_table(
        "gpu-forms",
        "GPU options",
        (chosen, *others),
        fields,
        kind=lambda gpu: "strong" if gpu is chosen else "",
        note=note,
    )


def processor_table(design: DesignAnswer, catalog: Catalog) -> Table | None:
    """Processor cores that sample preparation needs, by workload; None where the number of cores is not known."""
    server = design.platform.server
    workloads = [answer for answer in design.workloads if answer.serving is None]
    if server.cpu is None or server.n_cpus is None or not workloads:
        return None
    cores = catalog.cpus[server.cpu.value].cores.value * server.n_cpus.value

    def load(answer: WorkloadAnswer) -> float:
        return float(answer.cpu_utilization_fraction.value)

    def rate(answer: WorkloadAnswer) -> str:
        if not answer.rate_is_predicted:
            return NOT_PREDICTED
        return si(float(answer.throughput.value) / design.n_servers, words.sample_unit(answer.dnn))

    fields = (
        Field[WorkloadAnswer]("Workload", lambda a: a.workload.name, "left", 28),
        Field[WorkloadAnswer]("Rate per server", rate, "right", 20),
        Field[WorkloadAnswer]("Cores per server", lambda _: grouped(cores), "right", 13),
        Field[WorkloadAnswer]("Cores used", lambda a: significant(load(a) * cores, 2), "right", 13),
        Field[WorkloadAnswer](
            "Cores per GPU", lambda a: significant(load(a) * cores / design.platform.gpus_per_server, 2), "right", 12
        ),
        Field[WorkloadAnswer]("Utilization", lambda a: words.percent(load(a)), "right", 14),
    )
    return record_table("processors", "Processor load at the projected rate", workloads, fields)


def memory_table(design: DesignAnswer) -> Table | None:
    """Memory of a server compared with that of its GPUs and the data; None where it is not published."""
    server, platform = design.platform.server, design.platform
    if server.memory_bytes is None:
        return None
    host_bytes = server.memory_bytes.value
    gpu_bytes = platform.gpu.memory_bytes.value * platform.gpus_per_server
    rows = [
        row("Installed per server", _gib(host_bytes), ""),
        row(
            "Minimum: total memory of its GPUs",
            _gib(gpu_bytes),
            f"{significant(host_bytes / gpu_bytes, 2)} times as much is installed",
        ),
    ]
    for answer in (one for one in design.workloads if one.serving is None):
        hits = words.percent(answer.cache_hit_fraction)
        size = si(answer.dataset_bytes, "B")
        rows.append(row(f"Data set of {answer.workload.name}", size, f"cache hit rate after the first epoch: {hits}"))
    titles = ("Item", "Size", "Result")
    aligns: tuple[Align, ...] = ("left", "right", "left")
    return fact_table("memory", "Server memory", rows, titles=titles, widths=(40, 18, 42), aligns=aligns, style="")


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/components.html`` prints."""
    design, platform, head = context.design, context.design.platform, context.head_node
    # Alternatives to the GPU of the design: other GPUs of the server, and other form factors of the generation.
    chosen = context.design.platform.gpu
    generation = chosen.id.partition("-")[0]
    others = [
        gpu
        for gpu in context.catalog.gpus.values()
        if gpu.id != chosen.id
        and (gpu.id in context.design.platform.server.gpus or gpu.id.partition("-")[0] == generation)
    ]
    gpus = f"{platform.gpus_per_server} × {platform.gpu.name}"
    return {
        "head_table": (
            server_table("head-node", head, context.n_head_nodes, context.catalog) if head is not None else None
        ),
        "server_table": server_table("compute-node", platform.server, design.n_servers, context.catalog, gpus),
        "gpus": gpu_table(platform.gpu, others) if others else None,
        "has_pcie_alternative": platform.gpu.form_factor.value != "pcie"
        and any(other.form_factor.value == "pcie" for other in others),
        "processors": processor_table(design, context.catalog),
        "memory": memory_table(design),
        "classes": classes_table(platform.storage),
    }


def classes_table(storage: Storage) -> Table:
    """Storage classes with the use that each suits, and the class of this design."""
    chosen = {"local": 0, "nfs-server": 1}.get(storage.kind, 2)
    rows = []
    for place, (name, use, trade_off) in enumerate(_CLASSES):
        if place == chosen:
            rows.append(row(f"{name} (this design)", use, Cell(trade_off, (_HITACHI,)), kind="strong"))
        else:
            rows.append(row(name, use, trade_off))
    titles = ("Class", "Suited to", "Advantages and drawbacks")
    return fact_table("classes", "Storage classes", rows, titles=titles, widths=(22, 37, 41), style="")
