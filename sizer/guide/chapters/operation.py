"""Chapter 12: how the design is put to work, tested, watched, repaired and grown."""

from typing import Any

from sizer.guide.chapters.case import Case
from sizer.guide.tables.operation import limits_table, phases_table, tests_table, watch_table
from sizer.physical.roles import Role
from sizer.present import words
from sizer.present.expansion_table import growth_table
from sizer.present.figures import charted
from sizer.present.redundancy_text import spare_sentence
from sizer.questions.failures.charts import failure_chart
from sizer.questions.failures.tables import failures_table, maintenance_table, tolerated_losses_table


def content(case: Case) -> dict[str, Any]:
    """What ``sections/operation.html`` prints."""
    design = case.design
    has_head = any(device.role is Role.HEAD_NODE for device in design.plan.devices)
    return {
        "phases": phases_table(design, case.result.request.data, has_head) if case.is_full else None,
        "tests": tests_table(case.tests) if case.is_full else None,
        "watch": watch_table(design) if case.is_full else None,
        "kept": tolerated_losses_table(case.asked_losses, case.failures) if case.asked_losses else None,
        "kept_cost": words.sentence(spare_sentence(case.spare_cost, case.result.request.currency))
        if case.spare_cost is not None
        else "",
        "maintenance": maintenance_table(case.failures) if case.is_full else None,
        "failures": failures_table(case.failures, case.answers) if case.is_full else None,
        "failure_charts": [
            charted(
                f"failures-{number}",
                failure_chart(case.failures, number - 1, words.sample_unit(answer.dnn), case.palette),
                f"Throughput of {answer.workload.name} while one part is down.",
            )
            for number, answer in enumerate(case.answers, 1)
        ]
        if case.is_full and case.failures
        else [],
        "growth": growth_table(case.growth),
        "limits": limits_table(design) if case.is_full else None,
        "spares": spares(case) if case.is_full else [],
    }


def spares(case: Case) -> list[str]:
    """What to keep on the shelf. No source gives failure rates, so numbers stay with the support contract."""
    design, platform = case.design, case.design.platform
    lines = ["One cable of each kind and length of the cable list, and one power cord of each kind."]
    head = platform.head_node
    if head is not None and any(device.role is Role.HEAD_NODE for device in design.plan.devices):
        same = head.cpu is not None and platform.server.cpu is not None and head.cpu.value == platform.server.cpu.value
        lines.append(
            "Head node and GPU servers have the same processors, so that they share spare parts."
            if same
            else ("Head node and GPU servers have different processors: memory and processors of both need spares.")
        )
    if design.storage_nodes:
        lines.append("Drives of the storage, as many as the support contract does not bring the same day.")
    return lines
