"""Chapter on operation: deployment, monitoring, failures, maintenance, roles and spare parts."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.guide.engineer.operation_tables import monitoring_table, phases_table
from sizer.present.tables import Table, fact_table
from sizer.questions.failures.text import failures_table, maintenance_table


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/operation.html`` prints."""
    design = context.design
    return {
        # The guide of a cluster has them.
        "phases": phases_table(design, context.data.ingest, has_head=False) if context.is_single else None,
        "monitoring": monitoring_table(design),
        "maintenance": maintenance_table(context.failures),
        "failures": failures_table(context.failures, context.answers),
        "data": "model weights need" if context.only_serves else "training data needs",
        "spares": spares(context),
    }


def spares(context: GuideContext) -> list[str]:
    """Spare parts to stock. No source gives failure rates, so quantities depend on the support contract."""
    lines = ["One cable of each type and length in the cable list, and one power cord of each type."]
    head, server = context.head_node, context.design.platform.server
    if head is not None:
        if head.cpu is not None and server.cpu is not None and head.cpu.value == server.cpu.value:
            lines.append("Head node and GPU servers use the same processors and can share spare parts.")
        else:
            lines.append("Head node and GPU servers use different processors: stock processors and memory for both.")
    if context.design.storage_nodes:
        lines.append("Storage drives, in the quantity that the support contract does not replace on the same day.")
    return lines


def roles_table(has_head: bool, *, serves: bool = False) -> Table:
    """Roles in operation with their tasks; ``serves``: models in use alone."""
    system = "head node" if has_head else "server"
    rows = [
        ("Data scientist", "logs in, opens a notebook or submits a job, monitors it, saves the result", system),
        ("Administrator", "adds users, updates images and containers, sets queues and quotas, replaces parts", system),
        (
            "Storage administrator",
            "imports data sets, manages access and snapshots, monitors capacity and load",
            "storage",
        ),
        ("Procurement", "renews licences and support before they expire", "–"),
    ]
    if serves:
        rows[:3] = [
            ("Model owner", "releases models and their versions, tests the quality of answers", "model store"),
            ("Administrator", "starts replicas, watches latencies and requests that wait, replaces parts", system),
        ]
    titles = ("Role", "Tasks", "System")
    return fact_table("duties", "Roles and tasks", rows, titles=titles, widths=(24, 58, 18), style="")
