"""Chapter on components: configuration of the nodes, their GPUs, processors and memory, and the class of storage."""

from typing import Any

from sizer.catalog.schema import Storage
from sizer.guide.context import GuideContext
from sizer.guide.engineer.hardware_tables import gpu_table, memory_table, processor_table, server_table
from sizer.present.tables import Cell, Table, fact_table, row

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
