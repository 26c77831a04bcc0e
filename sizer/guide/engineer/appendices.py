"""Appendices: formulas, addresses, cable schedule, calibrated values, component data."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.guide.engineer.calibration_table import calibration_table
from sizer.guide.engineer.port_map import address_table, schedule_table
from sizer.present.component_tables import components


def formulas(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/formulas.html`` prints."""
    return {
        "is_training": any(answer.workload.task == "training" for answer in context.answers),
        "is_inference": any(answer.workload.task != "training" for answer in context.answers),
        "has_time": any(answer.time is not None for answer in context.answers),
        "is_single": context.is_single,
        "has_gateway": context.design.platform.gateway is not None,
    }


def addresses(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/addresses.html`` prints."""
    return {"addresses": address_table(context.addresses)}


def schedule(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/schedule.html`` prints."""
    return {"schedule": schedule_table(context.design.plan)}


def calibration(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/calibration.html`` prints."""
    numbers = range(1, len(context.answers) + 1)
    return {"tables": [calibration_table(context.evaluated, number) for number in numbers]}


def parts(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/parts.html`` prints."""
    return {"components": components(context.design, context.catalog)}


def glossary(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/glossary.html`` prints."""
    return {"has_training": not context.only_serves}


def no_content(_: GuideContext) -> dict[str, Any]:
    """Content of a section with fixed text."""
    return {}
