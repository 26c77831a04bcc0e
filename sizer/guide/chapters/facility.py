"""Chapter on power and racks: rack by rack, what the room must supply, rack elevations."""

from typing import Any

from sizer.drawings.racks import rack_fronts
from sizer.guide.context import GuideContext
from sizer.present.facility_tables import facility_table, racks_table
from sizer.present.figures import drawn
from sizer.present.text.plan import feeds_sentence, note_sentences


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/facility.html`` prints."""
    plan = context.design.plan
    # Rack elevations; the caption of the first explains how to read them.
    other = "the other" if context.design.platform.site.feeds == "2N" else "another"
    of = "PDU, power shelf or inlet" if any(rack.is_delivered for rack in context.design.plan.racks) else "PDU"
    read = (
        "Unit 1 is at the bottom; hatched units have blanking panels; watts are maxima. Below each rack: the load of "
        f"a {of} after the loss of {other} feed, and the number of its outlets in use."
    )
    drawings = rack_fronts(context.design.plan, context.catalog, in_column=True)
    return {
        "racks": racks_table(plan),
        "facility": facility_table(context.result, context.catalog),
        "feeds": feeds_sentence(plan),
        "warnings": note_sentences(plan.warnings),
        "fronts": [
            drawn(f"racks-{number}", drawing, read if number == 1 else "") for number, drawing in enumerate(drawings, 1)
        ],
    }
