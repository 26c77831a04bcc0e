"""Chapters of the engineer's file that set out the tables of one question."""

from collections.abc import Iterator
from typing import Any

from sizer.base.provenance import ASSUMPTION
from sizer.drawings.room import room
from sizer.evidence.parity import answer_parity_chart
from sizer.guide.chapters.summary import numbers_table
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.facility_tables import cables_table, feeds_table
from sizer.present.figures import charted, drawn
from sizer.present.performance_tables import evidence_table
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row
from sizer.present.text import result_text
from sizer.present.text.assumptions import AssumptionRow, assumption_rows
from sizer.present.text.verdict import reason_texts, verdict_text
from sizer.questions.growth.charts import limits_chart
from sizer.questions.growth.text import demand_table, platforms_table
from sizer.questions.verdict.text import arithmetic_table, claims_table, simplest_table, simplest_text
from sizer.sizing.result import SizingResult, WorkloadAnswer

_CHART_PX = 240


# --- record


def record(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/record.html`` prints."""
    result = context.result
    return {
        "verdict": words.sentence(verdict_text(result)),
        "confidence": result_text.doubt(result),
        "open_prices": result_text.open_prices(context.design.bill),
        "advice": [words.sentence(text) for text in reason_texts(result)],
        "numbers": numbers_table(context),
    }


# --- necessity


def necessity(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/necessity.html`` prints."""
    result = context.result
    return {
        "claims": claims_table(context.claims, result),
        "arithmetic": arithmetic_table(context.claims),
        "simplest": simplest_text(context.simplest, result),
        "simplest_table": simplest_table(context.simplest, result),
        "checks": checks_table(result),
    }


def checks_table(result: SizingResult) -> Table | None:
    """Data sets compared with memory and usable capacity; None where neither is known."""
    trained = (answer for answer in result.design.workloads if answer.serving is None)
    rows = [check for answer in trained for check in _checks(answer, result)]
    if not rows:
        return None
    titles = ("Workload", "Compared with", "Result")
    return fact_table("checks", "Where the data set fits", rows, titles=titles, widths=(28, 36, 36), style="")


def _checks(answer: WorkloadAnswer, result: SizingResult) -> Iterator[Row]:
    design = result.design
    memory, usable = design.platform.server.memory_bytes, design.usable_bytes
    places: list[tuple[str, float]] = []
    if memory is not None:
        places.append(("memory of one server", memory.value))
        if design.n_servers > 1:
            servers = words.plural(design.n_servers, "server")
            places.append((f"total memory of {servers}", memory.value * design.n_servers))
    if usable > 0:
        places.append((f"usable capacity of {design.platform.storage.name}", usable))
    name = answer.workload.name
    for place, size_bytes in places:
        yield row(name, place, result_text.fits(answer.dataset_bytes, size_bytes))
        name = ""  # printed once


# --- validation


def validation(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/validation.html`` prints: published runs close to each workload."""
    caption = (
        "Predicted and published rates of the runs below, with the 90 % interval of each prediction. "
        "The band is ± 10 %, the dashed lines a factor of two; filled marks are outside their interval."
    )
    return {
        "parts": [
            {
                "name": answer.workload.name,
                "uncertainty": result_text.width(answer),
                "table": table,
                "chart": charted(
                    f"evidence-chart-{number}",
                    answer_parity_chart(answer, context.palette, height=_CHART_PX),
                    caption,
                ),
            }
            for number, answer in enumerate(context.answers, 1)
            if (table := evidence_table(answer, number)) is not None
        ]
    }


# --- racks


def racks(context: GuideContext) -> dict[str, Any]:
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


# --- purchases


def purchases_applies(context: GuideContext) -> bool:
    """Whether the request states growth and a plan meets it."""
    return context.result.request.growth is not None and context.growth_plan[0] is not None


def purchases(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/purchases.html`` prints."""
    plan, _ = context.growth_plan
    assert plan is not None  # the chapter would not apply
    growth = plan.of(context.design.platform.key)
    return {
        "limits_chart": charted(
            "purchases-limits-over-time",
            limits_chart(growth, context.palette),
            "Load of each year on the year-1 cluster, logarithmic scale.",
        ),
        "requirements": demand_table(plan),
        "platforms": platforms_table(plan, context.result.request.currency) if len(plan.platforms) > 1 else None,
    }


# --- assumptions


def assumptions(context: GuideContext) -> dict[str, Table | None]:
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
