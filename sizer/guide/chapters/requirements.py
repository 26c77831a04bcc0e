"""Chapter on requirements: the request as understood, compliance, assumptions, and whether a cluster is needed."""

from collections.abc import Iterator, Sequence
from typing import Any

from sizer.base.quantities import by_count, grouped, si
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import FORMAT_NAMES
from sizer.guide.chapters.compliance import compliance_table
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row
from sizer.present.text import result_text
from sizer.present.text.assumptions import AssumptionRow, assumption_rows
from sizer.present.text.memory import memory_text
from sizer.present.text.verdict import reason_texts
from sizer.questions.team.tables import requested_team_table
from sizer.questions.verdict.tables import arithmetic_table, claims_table, simplest_table
from sizer.questions.verdict.text import simplest_text
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.workload.target_text import target_text

# Rows of the table of assumptions here, request defaults first; an appendix of the full guide lists all.
_MOST_ASSUMPTIONS = 6
_WIDTHS = (24, 76)


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/requirements.html`` prints."""
    result, team, n_workloads = context.result, context.result.request.team, len(context.answers)
    return {
        "needs_cluster": result.needs_cluster,
        "advice": [words.sentence(text) for text in reason_texts(result)],
        "claims": claims_table(context.claims, result),
        "arithmetic": arithmetic_table(context.claims) if context.is_full else None,
        "simplest": simplest_text(context.simplest, result),
        "simplest_table": simplest_table(context.simplest, result),
        "workloads": [
            workload_table(
                answer, number, n_workloads, result.maximum is not None and number == result.maximum.workload + 1
            )
            for number, answer in enumerate(context.answers, 1)
        ],
        "team": requested_team_table(team) if team is not None else None,
        "conditions": conditions_table(result, context.catalog) if context.is_full else None,
        "compliance": compliance_table(context),
        "checks": checks_table(result) if context.is_full else None,
        "assumptions": assumptions_table(result, _MOST_ASSUMPTIONS),
    }


def workload_table(answer: WorkloadAnswer, number: int, n_workloads: int, is_maximum: bool = False) -> Table:
    """One workload as the request describes it; ``is_maximum``: its target is the most that the limits give."""
    target = words.sentence(target_text(answer.workload, answer.dnn)).rstrip(".")
    workload, stack = answer.workload, answer.stack
    loader = f"; {words.name(stack.loader)}" if stack.loader != "none" else ""
    length = result_text.epochs_text(answer) if answer.time is not None else None
    stored = dict.fromkeys((words.name(answer.dataset.format), FORMAT_NAMES[answer.sample_format]))
    title = f"Workload {number}" if n_workloads > 1 else "Workload"
    facts = (
        ("Neural network", f"{answer.dnn.name}, {words.name(workload.task)} with {words.name(workload.precision)}"),
        ("Software", stack.name + loader),
        ("Batch per GPU", grouped(answer.batch_per_gpu)),
        ("GPU memory", memory_text(answer.memory)),
        ("Data set", result_text.dataset_text(answer)),
        ("Format and order", f"{', '.join(stored)}; {words.name(workload.access)}"),
        ("Cache", words.name(workload.cache)),
        ("Length", length),
        row(
            "Target",
            f"Highest rate within the limits: {target_text(workload, answer.dnn)}" if is_maximum else target,
            kind="strong",
        ),
    )
    return fact_table(f"workload-{number}", f"{title}: {workload.name}", facts, widths=_WIDTHS, style="asked")


def conditions_table(result: SizingResult, catalog: Catalog) -> Table:
    """Confidence, allowed components and limits of the request."""
    request = result.request
    allowed, limits = request.platforms, request.limits
    confidence = by_count(
        len(request.workload),
        f"{words.percent(request.confidence)} that the target is met",
        f"{words.percent(request.confidence)} that all targets are met together",
    )

    def names(ids: Sequence[str]) -> str | None:
        return words.listed(item_name(id_, catalog) for id_ in ids) if ids else None

    def count(number: int | None) -> str | None:
        return grouped(number) if number is not None else None

    def watts(power_w: float | None) -> str | None:
        return si(power_w, "W") if power_w is not None else None

    def size(size_bytes: float | None) -> str | None:
        return si(size_bytes, "B") if size_bytes is not None else None

    existing = {**request.existing.servers, **request.existing.storage_nodes, **request.existing.switches}
    facts = (
        ("Requested confidence", confidence),
        ("Allowed servers", names(allowed.servers)),
        ("Excluded servers", names(allowed.forbidden_servers)),
        ("Allowed GPUs", names(allowed.gpus)),
        ("Allowed storage", names(allowed.storage)),
        ("Excluded storage", names(allowed.forbidden_storage)),
        ("Allowed fabrics", words.listed(map(words.link_name, allowed.fabrics)) if allowed.fabrics else None),
        ("GPUs per server", count(allowed.gpus_per_server)),
        ("Minimum host memory per server", size(allowed.host_memory_bytes)),
        ("Storage tier", allowed.storage_tier),
        ("Minimum usable capacity", size(request.data.minimum_capacity_bytes)),
        ("Budget", words.money(words.whole(limits.budget), request.currency) if limits.budget is not None else None),
        ("Maximum power per rack", watts(limits.rack_power_w)),
        ("Maximum total power", watts(limits.power_w)),
        ("Maximum racks", count(limits.racks)),
        ("Maximum rack units", count(limits.rack_units)),
        ("Maximum servers", count(limits.servers)),
        (
            "Existing equipment",
            words.listed(f"{number} × {item_name(id_, catalog)}" for id_, number in existing.items()) or None,
        ),
        ("Ranked by", words.name(request.rank_by) if request.rank_by is not None else None),
        ("Racks and PDUs", f"{item_name(request.site.rack, catalog)}, {item_name(request.site.pdu, catalog)}"),
    )
    return fact_table("conditions", "Constraints", facts, widths=_WIDTHS, style="asked")


def checks_table(result: SizingResult) -> Table | None:
    """Data sets compared with memory and usable capacity; None where neither is known."""
    rows = [check for answer in result.design.workloads for check in _checks(answer, result)]
    if not rows:
        return None
    titles = ("Workload", "Compared with", "Result")
    return fact_table("checks", "Where the data set fits", rows, titles=titles, widths=(28, 36, 36), style="")


def _checks(answer: WorkloadAnswer, result: SizingResult) -> Iterator[Row]:
    design = result.design
    memory, usable = design.platform.server.memory_bytes, float(design.quantities.usable_bytes[0])
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


def assumptions_table(result: SizingResult, most: int | None = None) -> Table | None:
    """Assumptions, values without a source first, as they weigh most; at most ``most`` rows and a note on others."""
    ordered = assumption_rows(result)
    if not ordered:
        return None
    fields = (
        Field[AssumptionRow]("Assumption", lambda a: words.sentence(a.what).rstrip("."), "left", 27),
        Field[AssumptionRow]("Value", lambda a: a.value, "left", 17),
        Field[AssumptionRow]("Basis", lambda a: words.name(a.basis), "left", 11),
        Field[AssumptionRow]("Reason and source", _reason, "left", 45),
    )
    if most is None:
        return record_table("all-assumptions", "All assumptions", ordered, fields)
    n_more = max(0, len(ordered) - most)
    note = by_count(n_more, f"{grouped(n_more)} further assumption.", f"{grouped(n_more)} further assumptions.")
    return record_table("assumptions", "Assumptions", ordered[:most], fields, note=note if n_more else "")


def _reason(assumption: AssumptionRow) -> Cell:
    return Cell(words.sentence(assumption.note), cites=(assumption.source,) if assumption.source else ())
