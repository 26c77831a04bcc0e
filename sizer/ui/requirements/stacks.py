"""Software stacks that a workload on the page Requirements can have."""

from sizer.catalog.model import Catalog
from sizer.ui import state
from sizer.ui.request_form.field import RequestPath
from sizer.ui.request_form.options import names_by_id
from sizer.ui.requirements.language import measured_stacks, trains_language
from sizer.workload.transformer.number_formats import stack_precision


def options(parts: Catalog, path: RequestPath) -> dict[str, str]:
    """Names by id: the default, those with published runs of the network, then the others."""
    dnn = state.get((*path, "dnn"))
    known = measured_stacks(parts, dnn) if isinstance(dnn, str) else frozenset()
    suitable = {stack: item for stack, item in parts.stacks.items() if fits(parts, stack, path)}
    measured = names_by_id({stack: item for stack, item in suitable.items() if stack in known})
    others = names_by_id({stack: item for stack, item in suitable.items() if stack not in known})
    return {
        "": "Default: the newest well-measured stack",
        **measured,
        **{stack: f"{label} (not measured with this network)" for stack, label in others.items()},
    }


def fits(parts: Catalog, stack: str, path: RequestPath) -> bool:
    """Whether a stack (id) runs the task of a workload in its precision."""
    item = parts.stacks[stack]
    task = "inference" if state.get((*path, "task")) == "validation-inference" else "training"
    if item.serves_language or item.trains_language is not trains_language(parts, path):
        return False
    return (
        item.task in (task, "both") and stack_precision(state.get((*path, "precision")) or "mixed") in item.precisions
    )
