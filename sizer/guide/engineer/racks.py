"""Chapter on racks: power feeds, cables by network, plan of the room."""

from typing import Any

from sizer.drawings.room import room
from sizer.guide.context import GuideContext
from sizer.present.facility_tables import cables_table, feeds_table
from sizer.present.figures import drawn


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/racks.html`` prints."""
    plan = context.design.plan
    has_room = len(plan.racks) > 1
    return {
        "room": drawn("room", room(plan), "The colour on the left edge of a rack shows its main use.")
        if has_room
        else None,
        "feeds": feeds_table(plan),
        "cables": cables_table(plan, context.catalog),
    }
