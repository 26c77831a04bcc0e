"""Alternatives to a design in words."""

from sizer.base.quantities import NARROW_SPACE, plain
from sizer.catalog.labels import item_name, sentence
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.workload.request import SizingRequest
from sizer.workload.target_text import target_text

# Digits of a rate asked: a changed target differs from the old one in the third or fourth.
_DIGITS = 4


def change_text(after: SizingRequest, evaluated: EvaluatedDesign) -> str:
    """What differs between the request of a result and that of an alternative, as one sentence."""
    before, design, catalog = evaluated.result.request, evaluated.result.design, evaluated.catalog
    said = []
    if after.confidence != before.confidence:
        said.append(f"confidence {_percent(after.confidence)} instead of {_percent(before.confidence)}")
    for old, new, answer in zip(before.workload, after.workload, design.workloads, strict=True):
        if new.target != old.target:
            of_which = f"{answer.workload.name}: " if len(before.workload) > 1 else ""
            targets = (target_text(one, answer.dnn, _DIGITS) for one in (new, old))
            said.append(f"{of_which}{' instead of '.join(targets)}")
    left = [
        item_name(ids[0], catalog)
        for ids, known in (
            (after.platforms.servers, before.platforms.servers),
            (after.platforms.storage, before.platforms.storage),
        )
        if ids != known and len(ids) == 1
    ]
    if left:
        said.append(f"only {' with '.join(left)}")
    if after.platforms.fabrics != before.platforms.fabrics and len(after.platforms.fabrics) == 1:
        said.append(f"only {item_name(after.platforms.fabrics[0], catalog)}")
    return sentence("; ".join(said)) if said else "The request does not change."


def _percent(fraction: float) -> str:
    return f"{plain(100 * fraction, 2)}{NARROW_SPACE}%"
