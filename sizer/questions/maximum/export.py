"""The most that the limits give as plain data."""

from sizer.base.formats.json_document import fields_of
from sizer.questions.maximum.tables import FrontStep, front_steps, point_name
from sizer.sizing.maximum_result import FrontPoint, Maximum


def maximum_content(maximum: Maximum | None) -> dict[str, object] | None:
    """Rate, limits with their fronts, and the runner-up; None where every target was given."""
    if maximum is None:
        return None
    return {
        **fields_of(maximum, "workload", "samples_per_s", "highest_samples_per_s", "confidence", "is_largest"),
        "design": _point(maximum.design),
        "runner_up": None if maximum.runner_up is None else _point(maximum.runner_up),
        "fronts": [
            {
                "limit": front.limit.value,
                **fields_of(front, "bound", "binds"),
                "following": None if front.following is None else _point(front.following),
                "points": [_step(step) for step in front_steps(front, maximum)],
            }
            for front in maximum.fronts
        ],
    }


def _step(step: FrontStep) -> dict[str, object]:
    return {
        **_point(step.point),
        **fields_of(step, "is_within", "is_described", "gain_per_unit"),
        "gain_samples_per_s": step.gain,
    }


def _point(point: FrontPoint) -> dict[str, object]:
    shown = ("server", "gpu", "host_memory", "storage", "n_servers", "n_gpus", "storage_nodes", "samples_per_s")
    taken = ("cost", "power_w", "racks", "rack_units")
    return {"name": point_name(point), **fields_of(point, *shown, *taken)}
