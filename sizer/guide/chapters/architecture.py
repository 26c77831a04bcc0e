"""Chapter 4: the cluster and each of its parts, with the reason for each."""

from typing import Any

from sizer.base.quantities import by_count, significant
from sizer.catalog.schema import Gpu
from sizer.drawings.node import node, node_caption
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from sizer.guide.chapters.case import Case
from sizer.guide.tables.hardware import gpu_table, memory_table, processor_table, server_table
from sizer.present import words
from sizer.present.bill_tables import component_table
from sizer.present.figures import Figure, drawn


def content(case: Case) -> dict[str, Any]:
    """What ``sections/architecture.html`` prints."""
    design, platform = case.design, case.design.platform
    others = _other_forms(case)
    head = platform.head_node if _count(case, "head node") else None
    gpus = f"{platform.gpus_per_server} × {platform.gpu.name}"
    return {
        "topology": _topology(case),
        "devices": component_table(design, case.catalog),
        "head": head,
        "serves_files": platform.storage.kind == "nfs-server" and platform.storage.server is not None,
        "head_table": server_table("head-node", head, 1, case.catalog) if case.is_full and head is not None else None,
        "server_reasons": server_reasons(case),
        "node": drawn("node", node(design), node_caption(design)) if case.is_full else None,
        "server_table": server_table("compute-node", platform.server, design.n_servers, case.catalog, gpus)
        if case.is_full
        else None,
        "gpu_reasons": gpu_reasons(case),
        "gpus": gpu_table(design, others) if case.is_full and others else None,
        "processors": processor_table(design, case.catalog) if case.is_full else None,
        "processor_text": processor_text(case),
        "memory": memory_table(design),
        "has_pcie_rival": platform.gpu.form_factor.value == "sxm2"
        and any(o.form_factor.value == "pcie" for o in others),
    }


def _topology(case: Case) -> Figure | None:
    """The topology where the summary has not shown it; one of a page of its own stands in the full guide only."""
    drawing = topology(case.design)
    if drawing.width <= COLUMN_PX:
        return None
    figure = drawn("topology", drawing, _how_to_read(drawing))
    return figure if case.is_full or not figure.is_wide else None


def _count(case: Case, role: str) -> int:
    return sum(device.role == role for device in case.design.plan.devices)


def _how_to_read(drawing: Drawing) -> str:
    if not any(link.dashed for link in drawing.links):
        return ""
    if any(box.copies > 1 for box in drawing.boxes):
        return (
            "A stack of boxes is one kind of device with its number; a line is a bundle of cables, "
            "thicker where faster; dashed lines are management."
        )
    return (
        "Every device under its name in the plan; a line is all cables between two devices, "
        "thicker where faster; dashed lines are management."
    )


def _other_forms(case: Case) -> list[Gpu]:
    """GPUs that compete with the chosen one: what the server takes, and the same generation in other forms."""
    chosen = case.design.platform.gpu
    generation = chosen.id.partition("-")[0]
    return [
        gpu
        for gpu in case.catalog.gpus.values()
        if gpu.id != chosen.id
        and (gpu.id in case.design.platform.server.gpus or gpu.id.partition("-")[0] == generation)
    ]


def server_reasons(case: Case) -> list[str]:
    """Why this server."""
    platform = case.design.platform
    server = platform.server
    reasons = []
    if server.height_u is not None:
        units = server.height_u.value
        reasons.append(
            "Density: {n} in {units} rack {word}, {each} GPUs a unit.".format(
                n=words.plural(platform.gpus_per_server, "GPU"),
                units=f"{units:g}",
                word=words.plural_of(int(units), "unit"),
                each=significant(platform.gpus_per_server / units, 2),
            )
        )
    if server.intra_link is not None and platform.gpus_per_server > 1:
        link = words.name(server.intra_link.value)
        text = f"GPU link: the GPUs exchange gradients over {link} inside the server"
        tail = ", and only the sum leaves it." if not case.is_single else ", so that no step waits for a network."
        reasons.append(text + tail)
    if server.local_storage is not None and platform.storage.kind != "local":
        reasons.append("Local drives: they hold the system and can cache data, but the data set is not tied to them.")
    rivals = [other for other in case.result.platforms if other.platform.server.id != server.id]
    if rivals:
        names = words.listed(dict.fromkeys(other.platform.server.name for other in rivals))
        reasons.append(
            f"Rivals: {names} were sized for the same target; the chapter on alternatives sets them side by side."
        )
    return reasons


def gpu_reasons(case: Case) -> list[str]:
    """Why this GPU, and what its memory allows."""
    gpu = case.design.platform.gpu
    reasons = []
    for answer in case.answers:
        busy = words.percent(answer.gpu_busy_fraction)
        reasons.append(
            f"{answer.workload.name} keeps the GPUs {busy} busy with a batch of {answer.batch_per_gpu} on each."
        )
    if gpu.form_factor.value in ("sxm2", "sxm3"):
        reasons.append(
            f"Modules of the form {words.name(gpu.form_factor.value)} go into sockets made for them; PCIe cards do not."
        )
    return reasons


def processor_text(case: Case) -> str:
    """What the processors have to do, and whether they hold the design back."""
    decode = [answer for answer in case.answers if answer.bottleneck == "decode"]
    if decode:
        names = words.listed(answer.workload.name for answer in decode)
        return (
            f"Preparing the samples is what limits {names}: more cores, or a loader that decodes on "
            "the GPU, would raise the rate."
        )
    if all(
        answer.stack.loader == "none" or float(answer.cpu_utilization_fraction.value) == 0 for answer in case.answers
    ):
        return "The samples arrive decoded; the processors only feed the GPUs."
    most = max(float(answer.cpu_utilization_fraction.value) for answer in case.answers)
    return by_count(
        case.design.n_servers,
        "Reading, decoding and cropping the samples keeps the processors at most "
        f"{words.percent(most)} busy; they do not hold the GPUs back.",
        "Reading, decoding and cropping the samples keeps the processors of each server at most "
        f"{words.percent(most)} busy; they do not hold the GPUs back.",
    )
