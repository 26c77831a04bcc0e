"""Chapter on the physical design: racks, power and cooling, cabling."""

from typing import Any

from sizer.drawings.rack_fronts import rack_fronts
from sizer.drawings.room import room
from sizer.guide.context import GuideContext
from sizer.present.facility_tables import cables_table, facility_table, feeds_table, racks_table
from sizer.present.figures import PageFigure, drawn
from sizer.present.text.plan import note_sentences


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/facility.html`` prints."""
    plan = context.design.plan
    return {
        "racks": racks_table(plan),
        "facility": facility_table(context.result, context.catalog),
        "feeds": feeds_table(plan) if context.is_full else None,
        "cables": cables_table(plan, context.catalog),
        "warnings": note_sentences(plan.warnings),
        "room": _room(context),
        "fronts": _fronts(context),
    }


def _room(context: GuideContext) -> PageFigure | None:
    """Plan of the room; None for a single rack."""
    plan = context.design.plan
    if not context.is_full or len(plan.racks) == 1:
        return None
    return drawn("room", room(plan), "The colour on the left edge of a rack shows its main use.")


def _fronts(context: GuideContext) -> list[PageFigure]:
    """Rack elevations; the caption of the first explains how to read them."""
    read = (
        "Unit 1 is at the bottom; hatched units have blanking panels. Below each rack: the load of a PDU "
        "after the loss of the other feed, and the number of its outlets in use."
    )
    drawings = rack_fronts(context.design.plan, context.catalog)
    return [
        drawn(f"racks-{number}", drawing, read if number == 1 else "") for number, drawing in enumerate(drawings, 1)
    ]
