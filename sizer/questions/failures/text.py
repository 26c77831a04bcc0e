"""Failures and maintenance of a design, as text for a terminal."""

from collections.abc import Sequence

from sizer.present.plain_table import table_text
from sizer.present.text.redundancy import spare_sentence
from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.tables import failures_table, maintenance_table, tolerated_losses_table
from sizer.sizing.result import SizingResult, SpareCost

_NO_REDUNDANCY = (
    "The request asks for no redundancy. To ask for it, use [resilience] keeps_targets_without or --without."
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
