"""The appendices: assumptions, formulas, addresses, cable schedule, calibrated values, facts of the parts."""

from typing import Any

from sizer.guide.chapters.case import Case
from sizer.guide.tables.calibration import calibration_table
from sizer.guide.tables.plan import address_table, schedule_table
from sizer.guide.tables.request import assumptions_table
from sizer.present.component_tables import components


def formulas(case: Case) -> dict[str, Any]:
    """What ``sections/formulas.html`` prints."""
    return {
        "is_training": any(answer.workload.task == "training" for answer in case.answers),
        "is_inference": any(answer.workload.task != "training" for answer in case.answers),
        "has_time": any(answer.time is not None for answer in case.answers),
        "is_single": case.is_single,
        "has_gateway": case.design.platform.gateway is not None,
    }


def addresses(case: Case) -> dict[str, Any]:
    """What ``sections/addresses.html`` prints."""
    return {"addresses": address_table(case.addresses)}


def schedule(case: Case) -> dict[str, Any]:
    """What ``sections/schedule.html`` prints."""
    return {"schedule": schedule_table(case.design.plan)}


def calibration(case: Case) -> dict[str, Any]:
    """What ``sections/calibration.html`` prints."""
    return {
        "tables": [
            calibration_table(case.design, answer, number, case.catalog)
            for number, answer in enumerate(case.answers, 1)
        ]
    }


def assumptions(case: Case) -> dict[str, Any]:
    """What ``sections/assumptions.html`` prints."""
    return {"assumptions": assumptions_table(case.result)}


def parts(case: Case) -> dict[str, Any]:
    """What ``sections/parts.html`` prints."""
    return {"components": components(case.design, case.catalog)}


def nothing(_: Case) -> dict[str, Any]:
    """A section that needs nothing but its template."""
    return {}
