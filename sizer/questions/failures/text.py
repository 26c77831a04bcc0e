"""Failures and maintenance of a design, as text for a terminal."""

from collections.abc import Sequence
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.present.plain_table import table_text
from sizer.present.text.redundancy import spare_sentence
from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.case_text import effect_text, failure_title, remedy_text
from sizer.questions.failures.tables import failures_table, maintenance_table, tolerated_losses_table
from sizer.sizing.result import SizingResult, SpareCost

_NO_REDUNDANCY = (
    "The request asks for no redundancy. To ask for it, use [resilience] keeps_targets_without or --without."
)


def failures_document(result: SizingResult, cases: Sequence[FailureCase], cost: SpareCost | None) -> dict[str, Any]:
    """Everything about the cases; the length of a window without an end is null."""
    return json_document(
        "failures",
        design=result.design.name,
        workloads=[answer.workload.name for answer in result.design.workloads],
        keeps_targets_without=result.request.resilience.keeps_targets_without,
        cases=[_case(case) for case in cases],
        cost=None if cost is None else _cost(cost, result.request.currency),
    )


def _case(case: FailureCase) -> dict[str, object]:
    return fields_of(
        case,
        *("key", "loss", "share", "keeps_targets", "probability", "meets_target"),
        what=failure_title(case),
        effect=effect_text(case),
        remedy=remedy_text(case),
        throughput_samples_per_s=case.throughput,
        window_s=case.outage_s,
        starts_in_time=case.within_wait,
    )


def _cost(cost: SpareCost, currency: str) -> dict[str, object]:
    return fields_of(
        cost,
        *("n_servers", "storage_nodes", "switches", "rack_units", "has_unknown_power"),
        without=cost.without.name,
        power_max_w=cost.power_w,
        priced_lines=cost.amount,
        currency=currency,
        to_be_quoted=cost.open_items,
        difference=cost.cost,
    )


def failures_text(result: SizingResult, cases: Sequence[FailureCase], cost: SpareCost | None) -> str:
    """Tables of the guide, below the cost of the redundancy that the request asks for.

    ``cases``: of its design. ``cost``: of the redundancy that the request asks for; None where it asks for none.
    """
    title, losses = result.request.title, result.request.resilience.keeps_targets_without
    redundancy = (
        spare_sentence(cost, result.request.currency, result.design.plan, with_amounts=True)
        if cost is not None
        else _NO_REDUNDANCY
    )
    parts = [f"{title}\n{'=' * len(title)}\n{result.design.name}\n{redundancy}"]
    if losses:
        parts.append(table_text(tolerated_losses_table(tuple(dict.fromkeys(losses)), cases)))
    tables = (failures_table(cases, result.design.workloads), maintenance_table(cases))
    return "\n\n".join([*parts, *(table_text(table) for table in tables if table is not None)])
