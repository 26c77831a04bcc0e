"""Language models in use on the page Requirements."""

from collections.abc import Iterable
from typing import Any

from sizer.catalog.model import Catalog
from sizer.ui import fields, state
from sizer.ui.request_form import forms as form
from sizer.ui.request_form.field import FormField, RequestPath, Typed
from sizer.ui.request_form.options import names_by_id
from sizer.ui.typed import written
from sizer.workload.request import SERVING_TASKS
from sizer.workload.serving import NOT_OF_SERVING, OF_SERVING, USES

_START = {"requests_per_s": 10.0, "concurrent_requests": 50, "active_users": 100, "users": 300}


def is_served(path: RequestPath) -> bool:
    """Whether a workload is a language model in use."""
    return state.get((*path, "task")) in SERVING_TASKS


def targets(path: RequestPath) -> dict[str, str]:
    """Targets of a language model in use; nobody waits for a generation."""
    people = ("concurrent_requests", "active_users", "users") if state.get((*path, "task")) == "serving" else ()
    kinds = ("requests_per_s", *people, "tokens_per_s", "gpus_busy", "maximum")
    return {kind: form.TARGETS[kind] for kind in kinds}


def start_value(kind: str) -> Any:
    """A first value of a target that only such work has."""
    return _START.get(kind)


def draw_fields(described: Iterable[FormField], path: RequestPath) -> None:
    """Fields of a language model in use; an empty one shows what its use stands for."""
    use = USES.get(state.get((*path, "use")) or "chat", USES["chat"])
    for field in described:
        value = getattr(use, str(field.keys[-1]), None)
        kind = field.widget.kind if isinstance(field.widget, Typed) else None
        usual = "" if value is None or kind is None else f"{written(kind, value)}, as the use"
        fields.draw(field, int(path[-1]), empty=usual)


def engines(parts: Catalog) -> dict[str, str]:
    """Software that serves, by id."""
    known = {key: item for key, item in parts.stacks.items() if item.serves_language}
    return {"": "Not named: a mixture of those in use", **names_by_id(known)}


def switch(path: RequestPath) -> bool:
    """After the task changed: entries of the other kind of work go; whether any did."""
    served = is_served(path)
    wrong = NOT_OF_SERVING if served else OF_SERVING
    removed = [name for name in wrong if state.get((*path, name)) is not None]
    for name in removed:
        state.put((*path, name), None)
    present = next((kind for kind in form.TARGETS if state.get((*path, "target", kind)) is not None), None)
    if served and present not in targets(path):
        state.put((*path, "target"), {"requests_per_s": _START["requests_per_s"]})
        return True
    if not served and present in _START:
        state.put((*path, "target"), {"gpus_busy": 8})
        return True
    return bool(removed)
