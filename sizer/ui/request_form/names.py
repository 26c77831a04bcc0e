"""What the pages call each field of a request, and which quantity it holds: from the fields of the forms."""

import re
from collections.abc import Iterable

from sizer.base.quantities import QuantityKind
from sizer.ui.request_form.field import RequestPath, Typed
from sizer.ui.request_form.forms import FIELDS

# Tables, and fields that are edited by more than one widget or on no form.
_OTHERS = {
    "workload": "Workloads",
    "workload.dnn": "Neural network",
    "workload.dataset": "Data set",
    "workload.dataset.n_validation_samples": "Validation samples",
    "workload.target": "Target",
    "workload.recipe": "Recipe",
    "workload.measured": "Measured rates",
    "platforms.forbidden_servers": "Excluded servers",
    "platforms.forbidden_storage": "Excluded storage",
    "existing.servers": "Existing servers",
    "existing.storage_nodes": "Existing storage nodes",
    "stated_storage": "Stated storage values",
    "existing.switches": "Existing switches",
    "existing.racks": "Existing racks",
    "team": "Team",
    "team.job": "Job types",
    "data": "Data on the storage",
    "growth": "Growth",
    "ownership": "Cost of ownership",
    "rental": "Rental offer",
    "resilience": "Redundancy",
    "quote.override": "Changed lines of the bill",
    "quote.line": "Own lines of the bill",
}
_NAMES: dict[tuple[str, ...], str] = {
    **{field.keys: field.name or field.label for field in FIELDS.values()},
    **{tuple(keys.split(".")): name for keys, name in _OTHERS.items()},
}


def keys_of(path: Iterable[object]) -> tuple[str, ...]:
    """A path without the numbers of list entries."""
    return tuple(part for part in path if isinstance(part, str))


def kind_of(path: RequestPath) -> QuantityKind | None:
    """Kind of quantity or number that a field holds, if any."""
    return _KINDS.get(keys_of(path))


_KINDS = {field.keys: field.widget.kind for field in FIELDS.values() if isinstance(field.widget, Typed)}


def label_of(path: str) -> str:
    """Name of a field given as in an error: 'workload[0].dataset_bytes' reads 'Data set size'.

    Of a path that starts inside the request, the field whose keys end with it; an unknown key reads as words.
    """
    keys = tuple(re.findall(r"[a-z][a-z_]*", path))
    if keys in _NAMES:
        return _NAMES[keys]
    ends = (name for known, name in _NAMES.items() if known[-len(keys) :] == keys)
    return next(ends, keys[-1].replace("_", " "))


def label_at(path: RequestPath) -> str:
    """Name of a field by its path."""
    return label_of(".".join(keys_of(path)))


_DOTTED = sorted((re.escape(".".join(keys)) for keys in _NAMES if len(keys) > 1), reverse=True)
_KEYS = re.compile(rf"\[*\b({'|'.join(_DOTTED)})\b\]*")


def in_labels(text: str) -> str:
    """A text for files and pages with the fields that it names by their labels: fabric.spare_servers."""
    return _KEYS.sub(lambda found: f"“{label_of(found[1])}”", text)
