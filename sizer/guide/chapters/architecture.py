"""Chapter on the architecture: the cluster and its components, with the reason for each."""

from typing import Any

from sizer.base.quantities import significant
from sizer.catalog.sample_formats import HOST_STEPS
from sizer.catalog.schema import Gpu
from sizer.drawings.node import node, node_caption
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from sizer.guide.chapters.hardware_tables import gpu_table, memory_table, processor_table, server_table
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.bill_tables import component_table
from sizer.present.figures import PageFigure, drawn


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/architecture.html`` prints."""
    design, platform = context.design, context.design.platform
    others = _other_gpus(context)
    head = context.head_node
    gpus = f"{platform.gpus_per_server} × {platform.gpu.name}"
    return {
        "topology": _topology(context),
        "devices": component_table(design, context.catalog),
        "head": head,
        "n_heads": context.n_head_nodes,
        "has_local_data": platform.storage.kind == "local",
        "serves_files": platform.storage.kind == "nfs-server" and platform.storage.server is not None,
        "head_table": server_table("head-node", head, context.n_head_nodes, context.catalog)
        if context.is_full and head is not None
        else None,
        "server_reasons": server_reasons(context),
        "node": drawn("node", node(design), node_caption(design)) if context.is_full else None,
        "server_table": server_table("compute-node", platform.server, design.n_servers, context.catalog, gpus)
        if context.is_full
        else None,
        "gpu_reasons": gpu_reasons(context),
        "gpus": gpu_table(platform.gpu, others) if context.is_full and others else None,
        "processors": processor_table(design, context.catalog) if context.is_full else None,
        "processor_text": processor_text(context),
        "memory": memory_table(design),
        "has_pcie_alternative": platform.gpu.form_factor.value == "sxm2"
        and any(o.form_factor.value == "pcie" for o in others),
    }


def _topology(context: GuideContext) -> PageFigure | None:
    """The topology where the summary shows it grouped; a full-page drawing is for the full guide only."""
    drawing = topology(context.design)
    if drawing.width <= COLUMN_PX:
        return None
    figure = drawn("topology", drawing, _how_to_read(drawing))
    return figure if context.is_full or not figure.is_wide else None


def _how_to_read(drawing: Drawing) -> str:
    if not any(link.dashed for link in drawing.links):
        return ""
    if any(box.copies > 1 for box in drawing.boxes):
        return (
            "A stack of boxes is several devices of one type; a line is a bundle of cables, "
            "thicker for higher rates; dashed lines are management."
        )
    return (
        "Each device has its name in the plan; a line is all cables between two devices, "
        "thicker for higher rates; dashed lines are management."
    )


def _other_gpus(context: GuideContext) -> list[Gpu]:
    """Alternatives to the GPU of the design: other GPUs of the server, and other form factors of the generation."""
    chosen = context.design.platform.gpu
    generation = chosen.id.partition("-")[0]
    return [
        gpu
        for gpu in context.catalog.gpus.values()
        if gpu.id != chosen.id
        and (gpu.id in context.design.platform.server.gpus or gpu.id.partition("-")[0] == generation)
    ]


def server_reasons(context: GuideContext) -> list[str]:
    """Why this server, one point each."""
    platform = context.design.platform
    server = platform.server
    reasons = []
    if server.height_u is not None:
        units = server.height_u.value
        gpus = words.plural(platform.gpus_per_server, "GPU")
        density = significant(platform.gpus_per_server / units, 2)
        height = f"{units:g} rack {words.plural_of(int(units), 'unit')}"
        reasons.append(f"Density: {gpus} in {height}, {density} GPUs per rack unit.")
    if server.intra_link is not None and platform.gpus_per_server > 1:
        link = words.name(server.intra_link.value)
        if all(answer.workload.task != "training" for answer in context.answers):
            reasons.append(f"GPU link: {link} connects the GPUs inside the server.")
        elif context.is_single:
            reasons.append(f"GPU link: gradients are exchanged over {link} inside the server; no fabric is involved.")
        else:
            reasons.append(f"GPU link: gradients are summed over {link} inside the server before they use the fabric.")
    if server.local_storage is not None and platform.storage.kind != "local":
        reasons.append("Local drives: for the operating system and for caching; the data set is on the shared storage.")
    others = dict.fromkeys(
        other.platform.server.name for other in context.result.platforms if other.platform.server.id != server.id
    )
    if others:
        reasons.append(
            f"Alternatives: {words.listed(others)} were sized for the same target; "
            "the chapter on risks, limits and alternatives compares them."
        )
    return reasons


def gpu_reasons(context: GuideContext) -> list[str]:
    """Utilization of the GPUs by workload, and their form factor."""
    gpu = context.design.platform.gpu
    reasons = [
        f"{answer.workload.name}: GPU utilization {words.percent(answer.gpu_busy_fraction)} "
        f"with a batch of {answer.batch_per_gpu} per GPU."
        for answer in context.answers
    ]
    if gpu.form_factor.value in ("sxm2", "sxm3"):
        form = words.name(gpu.form_factor.value)
        reasons.append(f"{form} modules need matching sockets; PCIe cards do not fit.")
    return reasons


def processor_text(context: GuideContext) -> str:
    """Load of the host processors, and whether they are the bottleneck."""
    limited = [answer.workload.name for answer in context.answers if answer.bottleneck == "decode"]
    if limited:
        return (
            f"Sample preparation on the host is the bottleneck of {words.listed(limited)}. "
            "More cores, or compressed images decoded on the GPU, would raise the rate."
        )
    loads = [float(answer.cpu_utilization_fraction.value) for answer in context.answers]
    steps = dict.fromkeys(HOST_STEPS[answer.sample_format] for answer in context.answers)
    return (
        f"What the host processors do for a sample ({'; '.join(steps)}) uses at most {words.percent(max(loads))} of "
        "them; they are not the bottleneck."
    )
