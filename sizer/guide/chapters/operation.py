"""Chapter on operation: deployment, acceptance, monitoring, redundancy, spare parts and growth."""

from typing import Any

from sizer.guide.chapters.operation_tables import limits_table, monitoring_table, phases_table, tests_table
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.expansion_table import growth_table
from sizer.present.figures import charted
from sizer.present.text.redundancy import spare_sentence
from sizer.questions.failures.charts import failure_chart
from sizer.questions.failures.tables import failures_table, maintenance_table, tolerated_losses_table


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/operation.html`` prints."""
    design, request, is_full = context.design, context.result.request, context.is_full
    cost, losses = context.spare_cost, context.tolerated_losses
    return {
        "phases": phases_table(design, request.data, context.head_node is not None) if is_full else None,
        "tests": tests_table(context.tests) if is_full else None,
        "monitoring": monitoring_table(design) if is_full else None,
        "tolerated": tolerated_losses_table(losses, context.failures) if losses else None,
        "redundancy_cost": words.sentence(spare_sentence(cost, request.currency)) if cost is not None else "",
        "maintenance": maintenance_table(context.failures) if is_full else None,
        "failures": failures_table(context.failures, context.answers) if is_full else None,
        "failure_charts": [
            charted(
                f"failures-{number}",
                failure_chart(context.failures, number - 1, words.sample_unit(answer.dnn), context.palette),
                f"Throughput of {answer.workload.name} with one failed component.",
            )
            for number, answer in enumerate(context.answers, 1)
        ]
        if is_full and context.failures
        else [],
        "growth": growth_table(context.next_sizes),
        "limits": limits_table(design) if is_full else None,
        "spares": spares(context) if is_full else [],
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
