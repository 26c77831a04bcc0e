"""Chapters of the guide that set out the tables of one question."""

from collections.abc import Sequence
from typing import Any

from sizer.base.provenance import ASSUMPTION
from sizer.drawings.racks import ASSUMED, rack_fronts
from sizer.guide.acceptance.tests import AcceptanceTest
from sizer.guide.chapters.operation import load_test
from sizer.guide.context import GuideContext
from sizer.physical.notes import PlanNoteKind
from sizer.present import words
from sizer.present.availability import availability_table, checkpoint_table, checkpoint_text
from sizer.present.facility_tables import facility_table, racks_table
from sizer.present.figures import drawn
from sizer.present.storage_streams import level_table, staging_text, streams_table, tiers_table, together_text
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row
from sizer.present.text.assumptions import ValuesOfPart, values_to_confirm
from sizer.present.text.money import is_free
from sizer.present.text.plan import feeds_sentence, note_sentences
from sizer.questions.failures.goodput import Pays, question_of, storage_worth, worth_table, worth_text
from sizer.questions.growth.text import (
    differences_from_design,
    limits_table,
    purchases_table,
    sequences_table,
)
from sizer.questions.maximum.text import maximum_sentences
from sizer.sizing.design.storage_need import demand_over_time
from sizer.workload.checkpoints import other_streams

# A load that a reader must know of.
_NEAR, _USED = 0.5, 0.01
_AREAS = {
    "network": "Networks",
    "storage": "Storage",
    "compute": "One GPU, one server",
    "training": "Training",
    "power": "Power",
    "capacity": "Inventory and capacity",
}


# --- values to confirm


def values(context: GuideContext) -> dict[str, Table]:
    """What ``sections/values.html`` prints: assumptions of this document, and what no source gives."""
    fields = (
        Field[ValuesOfPart]("Part", lambda one: one.part, "left", 26),
        Field[ValuesOfPart](
            "Assumed in this document",
            lambda one: "; ".join(one.assumed) or f"nothing; not published: {', '.join(one.unknown)}",
            "left",
            74,
        ),
    )
    own = "check them on your equipment"
    check = own if is_free(context.design) else "have the vendors confirm them before the order"
    caption = f"Values without a published source: {check}"
    parts = values_to_confirm(context.result)
    return {"values": record_table("values", caption, parts, fields, style="dense")}


# --- storage performance


def storage_performance_applies(context: GuideContext) -> bool:
    """Whether something is written besides the data sets, or two tiers hold them."""
    return (
        any(answer.job is not None and answer.job.checkpoints.is_asked for answer in context.answers)
        or not other_streams(context.result.request).is_nothing
        or context.design.platform.second_tier is not None
    )


def storage_performance(context: GuideContext) -> dict[str, Any]:
    """What ``sections/storage-performance.html`` prints."""
    design, request = context.design, context.result.request
    return {
        "together": together_text(demand_over_time(design, request)),
        "streams": streams_table(design, request),
        "checkpoints": [
            (checkpoint_text(design, answer), table)
            for number, answer in enumerate(context.answers, 1)
            if answer.job is not None
            and answer.job.checkpoints.is_asked
            and (table := checkpoint_table(design, answer, number)) is not None
        ],
        "staging": staging_text(design, request),
        "tiers": tiers_table(design),
        "levels": level_table(design) if request.data.storage_level not in (None, "none") else None,
    }


# --- availability


def availability_applies(context: GuideContext) -> bool:
    """Whether a training is large, or asks for checkpoints, and its rate is predicted."""
    return any(answer.job is not None and answer.rate_is_predicted for answer in context.answers)


def availability(context: GuideContext) -> dict[str, Any]:
    """What ``sections/availability.html`` prints."""
    parts = []
    for number, answer in enumerate(context.answers, 1):
        table = availability_table(context.design, answer, number)
        if table is None:
            continue
        question = question_of(context.design, answer)
        worth = None if question is None else storage_worth(context.evaluated, question)
        is_worth_reading = worth is not None and any(row.pays in (Pays.YES, Pays.OPEN) for row in worth.rows)
        parts.append(
            {
                "name": answer.workload.name if context.has_many_workloads else "",
                "counts": answer.job is not None and answer.job.counts,
                "table": table,
                "worth": worth_table(worth, number) if worth is not None and is_worth_reading else None,
                "worth_text": "" if worth is None else worth_text(worth),
            }
        )
    return {"workloads": parts, "is_one_server": context.design.n_servers == 1}


# --- maximum


def maximum_applies(context: GuideContext) -> bool:
    """Whether the request asks for the highest rate."""
    return context.result.maximum is not None


def maximum(context: GuideContext) -> dict[str, Any]:
    """What ``sections/maximum.html`` prints."""
    return {"findings": maximum_sentences(context.result, with_amounts=False)}


# --- facility


def facility(context: GuideContext) -> dict[str, Any]:
    """What ``sections/facility.html`` prints."""
    plan = context.design.plan
    # Rack elevations; the caption of the first explains how to read them.
    other = "the other" if context.design.platform.site.feeds == "2N" else "another"
    of = "PDU, power shelf or inlet" if any(rack.is_delivered for rack in plan.racks) else "PDU"
    read = (
        "Unit 1 is at the bottom; hatched units have blanking panels; watts are maxima. Below each rack: the load of "
        f"a {of} after the loss of {other} feed, and the number of its outlets in use."
    )
    # Of racks with one device each the table says all.
    is_drawn = any(len(rack.devices) > 1 or rack.is_delivered for rack in plan.racks)
    drawings = rack_fronts(plan, context.catalog, in_column=True) if is_drawn else ()
    if any(box.title.endswith(ASSUMED) for drawing in drawings for box in drawing.boxes):
        read += f" {ASSUMED} Assumed: see the appendix “Values to confirm”."
    return {
        # Of one rack the table of power and weight says all.
        "racks": racks_table(plan) if len(plan.racks) > 1 else None,
        "has_cables": bool(plan.n_links),
        "facility": facility_table(context.result, context.catalog),
        "feeds": feeds_sentence(plan, with_remedies=False),
        # Devices with too few supplies are named before the table.
        "warnings": note_sentences(note for note in plan.warnings if note.kind is not PlanNoteKind.FEW_SUPPLIES),
        "fronts": [
            drawn(f"racks-{number}", drawing, read if number == 1 else "") for number, drawing in enumerate(drawings, 1)
        ],
    }


# --- purchases


def purchases_applies(context: GuideContext) -> bool:
    """Whether the request states growth."""
    return context.result.request.growth is not None


def purchases(context: GuideContext) -> dict[str, Any]:
    """What ``sections/purchases.html`` prints."""
    plan, reason = context.growth_plan
    if plan is None:
        return {"reason": reason, "plan": None}
    catalog, currency = context.catalog, context.result.request.currency
    growth = plan.of(context.design.platform.key)
    return {
        "reason": "",
        "plan": plan,
        "other_design": differences_from_design(growth, context.design),
        # What is bought once is in the bill.
        "purchases": purchases_table(growth, catalog, currency)
        if any(purchase.bought for purchase in growth.recommended.purchases[1:])
        else None,
        "options": None if context.is_single else sequences_table(growth, plan, currency),
        # Of one server the limits that a year comes near to, of a cluster those that a year makes use of.
        "limits": limits_table(
            [one for one in growth.limits if max(one.loads) >= (_NEAR if context.is_single else _USED)], plan.n_years
        ),
    }


# --- acceptance


def tests_table(tests: Sequence[AcceptanceTest]) -> Table | None:
    """Acceptance tests with expected results and limits; None without tests."""
    rows: list[Row] = []
    for area, title in _AREAS.items():
        in_area = [test for test in tests if test.area == area]
        about = None
        for test in in_area:
            if test.about != about:
                about = test.about
                rows.append(row(about or title, kind="group"))
            documents = tuple(key for key in test.sources if key != ASSUMPTION)
            assumed = "" if documents == test.sources else "; partly assumed" if documents else "; assumed"
            basis = Cell(words.sentence(test.basis + assumed), documents)
            rows.append(row(test.run.rstrip(".") + ".", test.expect, test.passes, basis))
    if not rows:
        return None
    titles = ("Test", "Expected result", "Pass criterion", "Basis")
    caption = "Acceptance tests with expected results"
    return fact_table("acceptance", caption, rows, titles=titles, widths=(30, 20, 22, 28), style="")


def acceptance(context: GuideContext) -> dict[str, Any]:
    """What ``sections/acceptance.html`` prints."""
    return {
        "tests": tests_table(context.tests),
        "loads": [
            (answer.workload.name, load_test(answer)) for answer in context.answers if answer.serving is not None
        ],
        "has_several": context.has_many_workloads,
    }
