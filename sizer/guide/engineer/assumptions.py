"""All assumptions of an answer, as a table."""

from sizer.base.provenance import ASSUMPTION
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text.assumptions import AssumptionRow, assumption_rows
from sizer.sizing.result import SizingResult


def content(context: GuideContext) -> dict[str, Table | None]:
    """What ``engineer/assumptions.html`` prints."""
    return {"assumptions": assumptions_table(context.result)}


def assumptions_table(result: SizingResult) -> Table | None:
    """Assumptions, values without a source first, as they weigh most."""
    ordered = assumption_rows(result)
    if not ordered:
        return None
    fields = (
        Field[AssumptionRow]("Assumption", lambda a: words.sentence(a.what).rstrip("."), "left", 27),
        Field[AssumptionRow]("Value", lambda a: a.value, "left", 17),
        Field[AssumptionRow]("Basis", lambda a: words.name(a.basis), "left", 11),
        Field[AssumptionRow]("Reason and source", _reason, "left", 45),
    )
    return record_table("all-assumptions", "All assumptions", ordered, fields)


def _reason(assumption: AssumptionRow) -> Cell:
    return Cell(
        words.sentence(assumption.note), cites=(assumption.source,) if assumption.source not in ("", ASSUMPTION) else ()
    )
