"""Appendices: formulas with their inputs, glossary."""

from dataclasses import replace
from typing import Any

from sizer.drawings.datapath import is_limit
from sizer.explain.figure import explanation, rate_key, stage_key
from sizer.guide.context import GuideContext


def calculation(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/calculation.html`` prints."""
    keys: list[str] = []
    for place, answer in enumerate(context.answers):
        used = (stage.key for stage in answer.stages if is_limit(stage, answer))
        keys += [rate_key(place), *(stage_key(place, key) for key in used)]
    found = (explanation(context.evaluated, key) for key in keys)
    return {"figures": [replace(one, inputs=replace(one.inputs, caption=f"{one.title}: inputs")) for one in found]}


def glossary(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/glossary.html`` prints."""
    return {"has_training": not context.only_serves}


def no_content(_: GuideContext) -> dict[str, Any]:
    """Content of a section with fixed text."""
    return {}
