"""Chapters of the engineer's file: the evidence behind the guide."""

from dataclasses import replace
from typing import Any

from sizer.base.provenance import ASSUMPTION
from sizer.base.quantities import grouped
from sizer.drawings.datapath import is_limit
from sizer.explain.figure import explanation, rate_key, stage_key
from sizer.guide.chapters.summary import numbers_table
from sizer.guide.chapters.team import fragmentation
from sizer.guide.context import GuideContext
from sizer.physical.networks.addresses import AddressPlan, Subnet
from sizer.present import charts, performance_tables, words
from sizer.present.facility_tables import cables_table, feeds_table
from sizer.present.figures import charted
from sizer.present.performance_tables import evidence_table, stage_table
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.assumptions import AssumptionRow, assumption_rows, question_texts
from sizer.present.text.bill_warnings import bill_warning_sentences
from sizer.present.text.money import quotes_text
from sizer.present.text.plan import note_sentences, note_text
from sizer.present.text.verdict import reason_texts, selection_text, verdict_text
from sizer.present.workload_charts import accuracy_data, figure_of
from sizer.questions.data import text as data_text
from sizer.questions.growth.text import demand_table, platforms_table
from sizer.questions.team.text import assumptions, gpus_table, sources_table
from sizer.questions.verdict.text import claims_table, simplest_table, simplest_text
from sizer.questions.what_if.sensitivity import influence_table
from sizer.sizing.result import SizingResult, WorkloadAnswer


def team_chapter(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/team.html`` prints."""
    answer = context.team
    assert answer is not None  # the chapter would not apply
    return {
        "origins": sources_table(answer),
        "gpus": gpus_table(answer.run),
        "fragments": fragmentation(answer) if answer.model.case.queue else "",
        "assumptions": list(assumptions(answer)),
    }


def performance_chapter(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/performance.html`` prints."""
    return {
        "workloads": [
            _workload(context, answer, number)
            for number, answer in enumerate(context.answers, 1)
            if answer.serving is None  # the guide tells all that is known of models in use
        ],
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> dict[str, Any]:
    return {
        "name": answer.workload.name,
        "measured": result_text.measured(answer),
        "has_evidence": bool(answer.evidence),
        "stages": stage_table(answer, number),
        # The guide draws the time to train of a single workload.
        "accuracy": figure_of(accuracy_data(answer, context.design.n_gpus), number, context.palette)
        if context.has_many_workloads
        else None,
        "cautions": [words.sentence(text) for text in result_text.cautions(answer)],
    }


def networks(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/networks.html`` prints."""
    return {"subnets": subnet_table(context.addresses)}


def subnet_table(plan: AddressPlan) -> Table:
    """Subnets with their size and use."""

    def gateway(net: Subnet) -> Cell:
        return Cell("none", is_muted=True) if net.gateway is None else Cell(str(net.gateway))

    fields = (
        Field[Subnet]("Network", lambda net: words.capital(net.name), "left", 18),
        Field[Subnet]("Used by", lambda net: words.capital(note_text(net.purpose)), "left", 26),
        Field[Subnet]("VLAN", lambda net: str(net.vlan), "right", 8),
        Field[Subnet]("Subnet", lambda net: str(net.network), "left", 17),
        Field[Subnet]("Gateway", gateway, "left", 13),
        Field[Subnet]("In use", lambda net: grouped(net.n_used), "right", 8),
        Field[Subnet]("Available", lambda net: grouped(net.network.num_addresses - 2), "right", 10),
    )
    note = (
        "Proposed subnets from private address space; each has twice the addresses in use. "
        "Replace them with those assigned by the site."
    )
    return record_table("subnets", "Subnet plan", plan.subnets, fields, note=note)


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


def necessity(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/necessity.html`` prints."""
    result = context.result
    return {
        "claims": claims_table(context.claims),
        "simplest": simplest_text(context.simplest, result),
        "simplest_table": simplest_table(context.simplest, result),
    }


def validation(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/validation.html`` prints: published runs close to each workload."""
    return {
        "parts": [
            {
                "name": answer.workload.name,
                "uncertainty": result_text.width(answer),
                "table": table,
            }
            for number, answer in enumerate(context.answers, 1)
            if (table := evidence_table(answer, number)) is not None
        ],
        "texts": [result_text.measured(answer) for answer in context.answers],
    }


def racks(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/racks.html`` prints."""
    plan = context.design.plan
    return {
        "feeds": feeds_table(plan),
        "cables": cables_table(plan, context.catalog),
    }


def purchases_applies(context: GuideContext) -> bool:
    """Whether the request states growth and a plan meets it."""
    return context.result.request.growth is not None and context.growth_plan[0] is not None


def purchases(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/purchases.html`` prints."""
    plan, _ = context.growth_plan
    assert plan is not None  # the chapter would not apply
    return {
        "requirements": demand_table(plan),
        "platforms": platforms_table(plan, context.result.request.currency) if len(plan.platforms) > 1 else None,
    }


def assumptions_chapter(context: GuideContext) -> dict[str, Table | None]:
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


def alternatives(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/alternatives.html`` prints."""
    result = context.result
    return {
        "influences": [
            influence_table(sensitivity, words.sample_unit(answer.dnn), number)
            for number, (sensitivity, answer) in enumerate(zip(context.sensitivities, context.answers, strict=True), 1)
            if sensitivity.influences
        ],
        "search": result_text.judged(result),
        "selection": words.sentence(selection_text(result)),
        "runner_up": result_text.neighbours(result),
        "platforms": performance_tables.platforms_table(result),
        "pareto": charted(
            "pareto",
            charts.pareto_chart(result, context.palette),
            "Designs that no other design beats in price or size, time, power and rack space together. "
            "The filled mark is the design of this document.",
        ),
        "deciding": quotes_text(result, with_amounts=False),
        "ruled_out": performance_tables.ruled_out_table(result),
        "warnings": _warnings(context),
        "questions": [words.question(text) for text in question_texts(result)],
    }


def _warnings(context: GuideContext) -> list[str]:
    """Warnings that no other chapter prints: those on performance, physical design and the bill print their own."""
    design = context.design
    printed = [*note_sentences(design.plan.warnings), *bill_warning_sentences(design.bill.warnings)]
    for answer in context.answers:
        printed += result_text.cautions(answer) if answer.serving is None else ()
    sentences = {words.sentence(text) for text in printed}
    return [text for text in result_text.warnings(context.result) if text not in sentences]


def data(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/data.html`` prints."""
    plan = context.data
    return {
        "ingest_paths": data_text.routes_table(plan.ingest),
        "validation": data_text.validation_table(plan.validations),
        "copies": [data_text.copy_text(copy) for copy in plan.copies],
        "assumptions": data_text.assumptions_table(plan),
        "questions": [words.question(text) for text in data_text.questions(plan)],
    }


def calculation(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/calculation.html`` prints."""
    keys: list[str] = []
    for index, answer in enumerate(context.answers):
        used = (stage.key for stage in answer.stages if is_limit(stage, answer))
        keys += [rate_key(index), *(stage_key(index, key) for key in used)]
    found = enumerate((explanation(context.evaluated, key) for key in keys), 1)
    # Workloads have figures of the same name.
    named = [(one, f"{one.inputs.id}-{number}", f"{one.title}: inputs") for number, one in found]
    return {"figures": [replace(one, inputs=replace(one.inputs, id=id_, caption=text)) for one, id_, text in named]}


def glossary(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/glossary.html`` prints."""
    return {"has_training": not context.only_serves}


def no_content(_: GuideContext) -> dict[str, Any]:
    """Content of a section with fixed text."""
    return {}
