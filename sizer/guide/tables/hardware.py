"""Tables that argue for the parts of a server: its configuration, the forms of GPU, processors and memory."""

from collections.abc import Iterator, Sequence
from typing import Any

from sizer.base.provenance import Sourced
from sizer.base.quantities import grouped, si, significant
from sizer.base.units import GIB
from sizer.catalog.labels import fact_value, item_name, with_vendor
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Gpu, Server
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, basis_note, columns, port_text, row
from sizer.sizing.result import DesignAnswer, WorkloadAnswer


def server_table(id_: str, server: Server, count: int, catalog: Catalog, gpus: str = "") -> Table:
    """Component and detail of a server, with the source of each."""
    rows = [row("Model", with_vendor(server), "")]
    rows.append(row("Number", grouped(count), ""))
    if gpus:
        rows.append(row("GPUs", gpus, _cell(server.n_gpus)))
    if server.cpu is not None:
        number = f"{server.n_cpus.value} × " if server.n_cpus is not None else ""
        rows.append(row("Processors", number + item_name(server.cpu.value, catalog), _cell(server.cpu)))
    if server.memory_bytes is not None:
        rows.append(row("Memory", _gib(server.memory_bytes.value), _cell(server.memory_bytes)))
    if server.local_storage is not None:
        rows.append(row("Local drives", item_name(server.local_storage, catalog), ""))
    rows += [row("Ports", port_text(port), Cell("", (port.source,), port.where)) for port in server.ports]
    rows += [row(words.capital(label), str(fact.value), _cell(fact)) for label, fact in server.features.items()]
    rows += _body(server)
    heads = columns(("Component", "left", 24), ("Detail", "left", 46), ("Source", "left", 30))
    return Table(id_, f"Configuration of the {with_vendor(server)}", heads, tuple(rows), style="component")


def _body(device: Device) -> Iterator[Row]:
    facts = (
        ("Height", device.height_u, "U"),
        ("Depth", device.depth_m, "m"),
        ("Weight", device.weight_kg, "kg"),
        ("Maximum draw", device.power_max_w or device.power_high_w, "W"),
    )
    for label, fact, unit in facts:
        if fact is None:
            yield row(label, words.NOT_PUBLISHED, "")
        else:
            yield row(label, fact_value(fact.value, unit) + basis_note(fact.basis), _cell(fact))


def _cell(fact: Sourced[Any] | None) -> Cell | str:
    return "" if fact is None else Cell("", (fact.source,), fact.where)


def _gib(size_bytes: float) -> str:
    return f"{grouped(size_bytes / GIB)}{words.NO_BREAK}GiB"


def gpu_table(design: DesignAnswer, others: Sequence[Gpu]) -> Table:
    """The GPU of the design beside the forms that it could have taken."""
    heads = columns(
        ("GPU", "left", 29),
        ("Memory, GiB", "right", 11),
        ("Peak, mixed, TFLOP/s", "right", 14),
        ("Peak, single, TFLOP/s", "right", 14),
        ("Memory, GB/s", "right", 11),
        ("Between GPUs, GB/s", "right", 12),
        ("Power, W", "right", 9),
    )
    chosen = design.platform.gpu
    rows = [_gpu_row(chosen, is_chosen=True), *(_gpu_row(gpu) for gpu in others)]
    note = (
        "Peaks are those of the data sheets at the highest clock; training reaches a part of "
        "them. Between GPUs counts all links of a GPU in one direction."
    )
    return Table("gpu-forms", "Forms of the GPU", heads, tuple(rows), note)


def _gpu_row(gpu: Gpu, is_chosen: bool = False) -> Row:
    def scaled(fact: Sourced[float] | None, factor: float) -> Cell:
        return Cell(words.NOT_PUBLISHED) if fact is None else Cell(significant(fact.value / factor))

    link = gpu.nvlink_bytes_per_s
    has_no_link = gpu.form_factor.value == "pcie" and link is None
    return row(
        f"{gpu.name} (this design)" if is_chosen else gpu.name,
        grouped(gpu.memory_bytes.value / GIB),
        scaled(gpu.peak_mixed_flop_per_s, 1e12),
        scaled(gpu.peak_fp32_flop_per_s, 1e12),
        scaled(gpu.memory_bytes_per_s, 1e9),
        Cell("over PCIe", is_muted=True) if has_no_link else scaled(link, 1e9),
        scaled(gpu.tdp_w, 1.0),
        kind="strong" if is_chosen else "",
    )


def processor_table(design: DesignAnswer, catalog: Catalog) -> Table | None:
    """Cores that preparing the samples takes, against those that a server has; None where the cores are not known."""
    cores = server_cores(design, catalog)
    if cores is None:
        return None
    rows = [_processor_row(answer, cores, design) for answer in design.workloads]
    heads = columns(
        ("Workload", "left", 30),
        ("Rate of a server", "right", 20),
        ("Cores a server", "right", 13),
        ("Cores busy", "right", 13),
        ("Cores a GPU", "right", 12),
        ("Busy", "right", 12),
    )
    return Table("processors", "Work of the processors at the projected rate", heads, tuple(rows))


def server_cores(design: DesignAnswer, catalog: Catalog) -> int | None:
    """Physical cores of a GPU server; None where no source gives them."""
    server = design.platform.server
    if server.cpu is None or server.n_cpus is None:
        return None
    return catalog.cpus[server.cpu.value].cores.value * server.n_cpus.value


def _processor_row(answer: WorkloadAnswer, cores: int, design: DesignAnswer) -> Row:
    busy = float(answer.cpu_utilization_fraction.value)
    rate = float(answer.throughput.value) / design.n_servers
    return row(
        answer.workload.name,
        si(rate, words.sample_unit(answer.dnn)),
        grouped(cores),
        significant(busy * cores, 2),
        significant(busy * cores / design.platform.gpus_per_server, 2),
        words.percent(busy),
    )


def memory_table(design: DesignAnswer) -> Table | None:
    """Memory of a server against the GPUs' and the data; None where it is not known."""
    server, platform = design.platform.server, design.platform
    if server.memory_bytes is None:
        return None
    host = server.memory_bytes.value
    of_gpus = platform.gpu.memory_bytes.value * platform.gpus_per_server
    rows = [
        row("Memory of a server", _gib(host), ""),
        row(
            "Memory of its GPUs, the least to install",
            _gib(of_gpus),
            f"{significant(host / of_gpus, 2)} times as much is installed",
        ),
    ]
    for answer in design.workloads:
        share = words.percent(answer.cache_hit_fraction)
        rows.append(
            row(
                f"Data of {answer.workload.name}",
                si(answer.dataset_bytes, "B"),
                f"memory serves {share} of the reads after the first epoch",
            )
        )
    heads = columns(("What", "left", 40), ("Size", "right", 18), ("Outcome", "left", 42))
    return Table("memory", "What the memory of a server holds", heads, tuple(rows))
