"""Chapter 7: the software of the design, what the workloads run on, and the way of a user through it."""

from typing import Any

from sizer.guide.chapters.case import Case
from sizer.guide.tables.software import duties_table, software_table, stacks_table, support_table
from sizer.physical.roles import Role


def content(case: Case) -> dict[str, Any]:
    """What ``sections/software.html`` prints."""
    design = case.design
    items = {part.item for part in design.quantities.components if int(part.quantity[0])}
    has_head = any(device.role is Role.HEAD_NODE for device in design.plan.devices)
    return {
        "software": software_table(design, case.catalog),
        "stacks": stacks_table(design),
        "support": support_table(design, case.catalog),
        "duties": duties_table(has_head),
        "has_scheduler": "slurm" in items,
        "has_portal": "data-scientist-portal" in items,
        "has_containers": "ngc-containers" in items,
        "has_singularity": "singularity" in items,
        "is_single": case.is_single,
    }
