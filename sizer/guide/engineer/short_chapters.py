"""Chapters of the engineer's file that set out the tables of one question."""

from typing import Any

from sizer.base.provenance import ASSUMPTION
from sizer.base.quantities import by_count, grouped, si
from sizer.catalog.fabrics import fabric_ports
from sizer.drawings.room import room
from sizer.guide.chapters.summary import numbers_table
from sizer.guide.chapters.team import fragmentation
from sizer.guide.context import GuideContext
from sizer.physical.networks.addresses import AddressPlan, Subnet
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.facility_tables import cables_table, feeds_table
from sizer.present.figures import drawn
from sizer.present.performance_tables import evidence_table, serving_table, stage_table
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.assumptions import AssumptionRow, assumption_rows
from sizer.present.text.plan import note_text
from sizer.present.text.verdict import reason_texts, verdict_text
from sizer.present.workload_charts import workload_figure
from sizer.questions.growth.text import demand_table, platforms_table
from sizer.questions.team.text import assumptions, gpus_table, sources_table
from sizer.questions.verdict.text import claims_table, simplest_table, simplest_text
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
        "has_stages": not context.only_serves,
        "workloads": [_workload(context, answer, number) for number, answer in enumerate(context.answers, 1)],
    }


def _workload(context: GuideContext, answer: WorkloadAnswer, number: int) -> dict[str, Any]:
    return {
        "name": answer.workload.name,
        "measured": result_text.measured(answer),
        "has_evidence": bool(answer.evidence),
        # Of a language model in use: what its users see.
        "stages": serving_table(context.design, answer, number) or stage_table(answer, number),
        # The guide draws the time to train of a single workload.
        "accuracy": workload_figure("accuracy", answer, number, context.design.n_gpus, context.palette)
        if context.has_many_workloads
        else None,
        "cautions": [words.sentence(text) for text in result_text.cautions(answer)],
    }


def has_fabric(context: GuideContext) -> bool:
    """Whether gradients cross a fabric between servers."""
    networks = context.design.quantities.networks
    return not context.is_single and any(net.role is NetworkRole.COMPUTE for net in networks)


def networks_applies(context: GuideContext) -> bool:
    """Whether the design has a fabric, or addresses to give."""
    return has_fabric(context) or bool(context.addresses.subnets)


def networks_chapter(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/networks.html`` prints."""
    platform = context.design.platform
    return {
        "load": load_table(context) if has_fabric(context) else None,
        "fabric": platform.fabric.name,
        "shares_links": context.decisions.fabric is None or context.decisions.fabric.carries_reads,
        "direct": platform.fabric.gbit_per_s.value >= 40,
        "subnets": subnet_table(context.addresses) if context.addresses.subnets else None,
    }


def load_table(context: GuideContext) -> Table:
    """Traffic of each workload on the fabric links of one server, and the utilization of the links."""
    design, platform = context.design, context.design.platform
    ports = fabric_ports(platform.server.ports, platform.fabric)
    port_rate = si(platform.fabric.bytes_per_s, "B/s")

    def reads(answer: WorkloadAnswer) -> str:
        per_server = float(answer.storage_bytes_per_s.value) / design.n_servers
        return si(per_server, "B/s") if per_server else "none"

    def utilization(answer: WorkloadAnswer, key: str) -> str:
        load = next(stage.load_fraction for stage in answer.stages if stage.key == key)
        return words.percent(load) if load else "–"

    fields = (
        Field[WorkloadAnswer]("Workload", lambda a: a.workload.name, "left", 30),
        Field[WorkloadAnswer]("Reads per server, warm", reads, "right", 22),
        Field[WorkloadAnswer]("Utilization by gradients", lambda a: utilization(a, "exchange"), "right", 24),
        Field[WorkloadAnswer]("Network utilization", lambda a: utilization(a, "network"), "right", 24),
    )
    note = by_count(
        ports,
        f"Each server has {ports} fabric port of {port_rate}.",
        f"Each server has {ports} fabric ports of {port_rate} each.",
    )
    return record_table("network-load", "Network load at the projected rate", context.answers, fields, note=note)


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
        "claims": claims_table(context.claims),
        "simplest": simplest_text(context.simplest, result),
        "simplest_table": simplest_table(context.simplest, result),
    }


# --- validation


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
    return {
        "requirements": demand_table(plan),
        "platforms": platforms_table(plan, context.result.request.currency) if len(plan.platforms) > 1 else None,
    }


# --- assumptions


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
