"""Failures and maintenance of a design, as text for a terminal."""

from collections.abc import Sequence

from sizer.present.plain_table import table_text
from sizer.present.redundancy_text import spare_sentence
from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.tables import failures_table, kept_table, maintenance_table
from sizer.sizing.result import SizingResult, SpareCost

_NOT_ASKED = (
    "The request asks for no reserve: [resilience] keeps_targets_without names what may fail, and so does --without."
)


def failures_text(result: SizingResult, cases: Sequence[FailureCase], cost: SpareCost | None) -> str:
    """Tables of the guide, under what the request asks the design to bear.

    Parameters
    ----------
    result : SizingResult
    cases : sequence of FailureCase
        Of its design.
    cost : SpareCost or None
        What bearing the losses of the request takes.
    """
    title, losses = result.request.title, result.request.resilience.keeps_targets_without
    said = spare_sentence(cost, result.request.currency) if cost is not None else _NOT_ASKED
    parts = [f"{title}\n{'=' * len(title)}\n{result.design.name}\n{said}"]
    if losses:
        parts.append(table_text(kept_table(tuple(dict.fromkeys(losses)), cases)))
    tables = (failures_table(cases, result.design.workloads), maintenance_table(cases))
    return "\n\n".join([*parts, *(table_text(table) for table in tables if table is not None)])
