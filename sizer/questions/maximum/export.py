"""The most that the limits give as plain data."""

from sizer.base.formats.json_document import fields_of
from sizer.questions.maximum.text import point_name
from sizer.sizing.result import LimitDesign, Maximum


def maximum_content(maximum: Maximum | None) -> dict[str, object] | None:
    """Rate, what more of each limit brings, and the runner-up; None where every target was given."""
    if maximum is None:
        return None
    return {
        **fields_of(maximum, "workload", "samples_per_s", "highest_samples_per_s", "confidence", "is_largest"),
        "design": _point(maximum.design),
        "runner_up": None if maximum.runner_up is None else _point(maximum.runner_up),
        "fronts": [
            {
                "limit": step.limit.value,
                **fields_of(step, "bound", "binds"),
                "following": None if step.following is None else _point(step.following),
            }
            for step in maximum.steps
        ],
    }


def _point(point: LimitDesign) -> dict[str, object]:
    shown = ("server", "gpu", "host_memory", "storage", "n_servers", "n_gpus", "storage_nodes", "samples_per_s")
    taken = ("cost", "power_w", "racks", "rack_units")
    return {"name": point_name(point), **fields_of(point, *shown, *taken)}
