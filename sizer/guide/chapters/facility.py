"""Chapter 10: every device in its rack unit, every feed, every kilogram, every cable."""

from typing import Any

from sizer.drawings.rack_fronts import rack_fronts
from sizer.drawings.room import room
from sizer.guide.chapters.case import Case
from sizer.present import words
from sizer.present.facility_tables import cables_table, facility_table, feeds_table, racks_table
from sizer.present.figures import Figure, drawn


def content(case: Case) -> dict[str, Any]:
    """What ``sections/facility.html`` prints."""
    plan = case.design.plan
    return {
        "racks": racks_table(plan),
        "facility": facility_table(case.result, case.catalog),
        "feeds": feeds_table(plan) if case.is_full else None,
        "cables": cables_table(plan, case.catalog),
        "warnings": [words.sentence(text) for text in plan.warnings],
        "room": _room(case),
        "fronts": _fronts(case),
    }


def _room(case: Case) -> Figure | None:
    """The room from above; one rack alone needs no plan."""
    plan = case.design.plan
    if not case.is_full or len(plan.racks) == 1:
        return None
    return drawn("room", room(plan), "The colour at the left of a rack tells what it mainly holds.")


def _fronts(case: Case) -> list[Figure]:
    """Racks from the front; the first figure says how to read them."""
    read = (
        "Unit 1 is the lowest; blanking panels close hatched units. Below each rack stands what "
        "a PDU carries while the other side is lost, and how many of its outlets are taken."
    )
    drawings = rack_fronts(case.design.plan, case.catalog)
    return [
        drawn(f"racks-{number}", drawing, read if number == 1 else "") for number, drawing in enumerate(drawings, 1)
    ]
