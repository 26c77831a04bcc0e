"""Chapter on requirements: the workload as requested, the constraints, and how the design meets them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sizer.base.quantities import by_count, grouped, si
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import FORMAT_NAMES, is_compressed_image
from sizer.guide.chapters.compliance import compliance_table
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.tables import Row, Table, fact_table, row
from sizer.present.text import result_text
from sizer.present.text.design_size import asked_target_text, required_rate_text, required_reads_text
from sizer.present.text.layouts import layout_text, step_size_text
from sizer.present.text.serving import lengths_text, limits_text, load_text, used_stack_text
from sizer.present.text.verdict import reason_texts
from sizer.present.text.warnings import memory_text
from sizer.questions.team.text import requested_team_table
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.workload.target_text import target_text

_WIDTHS = (24, 76)
# Constraints that the table of requirements states with what the design makes of them; the racks are in the bill.
_ANSWERED = (
    *("Requested confidence", "Date of need", "Allowed servers", "Allowed storage", "Budget", "Racks and PDUs"),
    *("Minimum read rate of the storage", "Minimum write rate of the storage"),
    *("Maximum power per rack", "Maximum total power", "Maximum racks", "Maximum rack units"),
    *("Maximum servers", "Maximum GPUs"),
)


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/requirements.html`` prints."""
    result, team, n_workloads = context.result, context.result.request.team, len(context.answers)
    conditions = conditions_table(result, context.catalog, context.edition.is_customer_copy)
    tables = [
        workload_table(answer, number, n_workloads, asked_target_text(result, answer))
        for number, answer in enumerate(context.answers, 1)
    ]
    open_rows = tuple(one for one in conditions.rows if one.cells[0].text not in _ANSWERED)
    return {
        "needs_cluster": result.needs_cluster,
        "server": result.design.platform.server.name,
        "is_one_rack": result.design.n_servers == 1,
        "advice": [words.sentence(text) for text in reason_texts(result)],
        "workloads": [*map(partial(_unlike, tables[0]), tables)],
        "team": requested_team_table(team) if team is not None else None,
        "conditions": replace(conditions, rows=open_rows) if open_rows else None,
        "compliance": compliance_table(context),
    }


def _unlike(first: Table, table: Table) -> Table:
    """A workload without the rows that it shares with the first one, which its note names."""
    shared = [] if table is first else [one for one in table.rows if one in first.rows and one.kind != "strong"]
    labels = words.listed(one.cells[0].text for one in shared)
    rows = tuple(one for one in table.rows if one not in shared)
    return replace(table, rows=rows, note=f"{labels}: as of workload 1." if shared else table.note)


def _of_serving(answer: WorkloadAnswer) -> tuple[tuple[str, str | None], ...]:
    """What a language model in use is asked for; empty of other workloads."""
    if answer.kind.reads_data:
        return ()
    work = answer.served.work
    return (
        ("Load", words.capital(load_text(work))),
        ("Request", lengths_text(work)),
        ("Latency limits", words.capital(limits_text(work))),
        ("Model store", f"{si(answer.dataset_bytes, 'B')}: three copies of the weights, for the next versions, too"),
    )


def workload_table(answer: WorkloadAnswer, number: int, n_workloads: int, target: str = "") -> Table:
    """One workload as the request describes it; ``target`` in other words than its own."""
    own = target_text(answer.workload, answer.dnn)
    is_own = target in ("", own)  # a rate that was found for the request is nothing that it requires
    workload, stack = answer.workload, answer.stack
    decodes = stack.loader != "none" and is_compressed_image(answer.sample_format)
    loader = f"; {words.name(stack.loader)}" if decodes else ""
    length = result_text.epochs_text(answer) if answer.time is not None else None
    if length and length in (answer.dataset.name, own.partition(" within ")[0]):  # data set or target say it
        length = None
    stored = [words.name(answer.dataset.format), FORMAT_NAMES[answer.sample_format]]
    if stored[0] in stored[1]:  # "records" of "token records"
        stored = stored[1:]
    of_serving = _of_serving(answer)
    title = f"Workload {number}" if n_workloads > 1 else "Workload"
    facts: tuple[Sequence[str | None] | Row, ...] = (
        ("Neural network" if answer.serving is None else "Model", result_text.network_text(answer)),
        ("Software", used_stack_text(answer) + loader),
        *(
            of_serving
            or (
                *_batch(answer),
                ("GPU memory", memory_text(answer.memory)),
                ("Data set", result_text.dataset_text(answer)),
                ("Format and order", f"{', '.join(stored)}; {words.name(workload.access)}"),
                ("Cache", words.name(workload.cache) if workload.cache != "page-cache" else None),
            )
        ),
        ("Length", length),
        row("Target", words.sentence(target or own).rstrip("."), kind="strong"),
        ("Required rate", required_rate_text(answer) or None if is_own else None),
        ("Required reads from storage", required_reads_text(answer) or None if is_own else None),
    )
    return fact_table(f"workload-{number}", f"{title}: {workload.name}", facts, widths=_WIDTHS, style="asked")


def _batch(answer: WorkloadAnswer) -> list[tuple[str, str]]:
    """Batch of a GPU, or of a language model batch and parallel layout."""
    if not answer.kind.trains_language:
        reason = (
            ", by default a usual batch that fits in the GPU memory with a reserve" if answer.batch_is_fitted else ""
        )
        return [("Batch per GPU", f"{grouped(answer.batch_per_gpu)}{reason}")]
    return [
        ("Step", words.capital(step_size_text(answer.trained))),
        ("Parallel layout", layout_text(answer.trained)),
    ]


def conditions_table(result: SizingResult, catalog: Catalog, is_customer_copy: bool = False) -> Table:
    """Confidence, allowed components and limits of the request; a customer's copy names no excluded product."""
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

    def amount(value: float | None, unit: str) -> str | None:
        return si(value, unit) if value is not None else None

    existing = {**request.existing.servers, **request.existing.storage_nodes, **request.existing.switches}
    facts = (
        ("Requested confidence", confidence),
        ("Date of need", words.date(request.needed_by) if request.needed_by is not None else None),
        ("Allowed servers", names(allowed.servers)),
        ("Excluded servers", None if is_customer_copy else names(allowed.forbidden_servers)),
        ("Allowed GPUs", names(allowed.gpus)),
        ("Allowed storage", names(allowed.storage)),
        ("Excluded storage", None if is_customer_copy else names(allowed.forbidden_storage)),
        ("Allowed fabrics", names(allowed.fabrics)),
        ("GPUs per server", count(allowed.gpus_per_server)),
        ("Minimum host memory per server", amount(allowed.host_memory_bytes, "B")),
        ("Storage tier", allowed.storage_tier),
        ("Minimum usable capacity", amount(request.data.minimum_capacity_bytes, "B")),
        ("Minimum read rate of the storage", amount(request.data.minimum_read_bytes_per_s, "B/s")),
        ("Minimum write rate of the storage", amount(request.data.minimum_write_bytes_per_s, "B/s")),
        ("Budget", words.money(words.whole(limits.budget), request.currency) if limits.budget is not None else None),
        ("Maximum power per rack", amount(limits.rack_power_w, "W")),
        ("Maximum total power", amount(limits.power_w, "W")),
        ("Maximum racks", count(limits.racks)),
        ("Maximum rack units", count(limits.rack_units)),
        ("Maximum servers", count(limits.servers)),
        ("Maximum GPUs", count(limits.gpus)),
        (
            "Existing equipment",
            words.listed(f"{number} × {item_name(id_, catalog)}" for id_, number in existing.items()) or None,
        ),
        ("Ranked by", words.name(request.rank_by) if request.rank_by is not None else None),
        (
            "Racks and PDUs",
            None
            if result.design.platform.server.is_workstation
            else f"{item_name(request.site.rack, catalog)}, {item_name(result.design.platform.pdu.id, catalog)}",
        ),
    )
    return fact_table("conditions", "Constraints", facts, widths=_WIDTHS, style="asked")
