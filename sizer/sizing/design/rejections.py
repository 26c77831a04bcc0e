"""Why the other designs of a result are not the described one."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from sizer.sizing.checks import CheckResult
from sizer.sizing.reasons import RunnerUpKind, SelectionKind
from sizer.sizing.result import DesignAnswer, SizingResult


class RejectionKind(Enum):
    """Why a design is not the chosen one."""

    MISSES_TARGET = "misses-target"
    CONDITIONAL = "conditional"  # it meets the request only if a fact that no source gives is good enough
    DEARER = "dearer"  # whatever the missing prices are
    LIKELY_DEARER = "likely-dearer"  # by price bands
    OVER_BUDGET = "over-budget"  # it keeps the budget with less than the confidence asked
    LESS_CERTAIN = "less-certain"  # its expected cost is lower, but more of its prices are missing
    EQUAL = "equal"  # in servers, storage nodes, rack units and power; its network or drives are larger
    DEARER_BUT_FOR_CABLES = "dearer-but-for-cables"  # with cables, accessories and changes of the quote it costs less
    NOT_PREFERRED = "not-preferred"  # a design of a preferred vendor is close enough
    RANKED_BEHIND = "ranked-behind"  # by the key that the request ranks by, or by what a growth plan buys


@dataclass(frozen=True)
class RejectedDesign:
    """The best design with another server or another storage, and why it is not the chosen one."""

    design: DesignAnswer
    kind: RejectionKind


def rejected_designs(result: SizingResult, others: Iterable[DesignAnswer]) -> tuple[RejectedDesign, ...]:
    """Other designs of a result, each with the reason why it is not the described one."""
    return tuple(RejectedDesign(other, rejection(result, other)) for other in others)


def rejection(result: SizingResult, other: DesignAnswer) -> RejectionKind:
    """Why another design of the result is not the described one."""
    if other.target_check is CheckResult.NOT_MET:
        return RejectionKind.MISSES_TARGET
    if len(other.conditional_on) > len(result.design.conditional_on):
        return RejectionKind.CONDITIONAL
    if _is_over_budget(result, other) and not _is_over_budget(result, result.design):
        return RejectionKind.OVER_BUDGET
    kind = _BY_SELECTION.get(result.selection.kind, RejectionKind.RANKED_BEHIND)
    if any(result.platforms[place] is other for place in result.selection.less_on_bill):
        return RejectionKind.DEARER_BUT_FOR_CABLES
    if (place := result.selection.leads_by_expected_cost) is not None and result.platforms[place] is other:
        return RejectionKind.LESS_CERTAIN
    point, ids = result.runner_up, (other.platform.server.id, other.platform.storage.id)
    is_second = point is not None and (point.server, point.storage) == ids
    return RejectionKind.EQUAL if is_second and result.runner_up_reason.kind is RunnerUpKind.EQUAL else kind


def _is_over_budget(result: SizingResult, design: DesignAnswer) -> bool:
    """Whether a design keeps the budget with less than the confidence asked."""
    check = design.budget_check
    if check is None or check.result is CheckResult.NOT_MET:
        return check is not None
    return check.probability is not None and check.probability < result.request.confidence


_BY_SELECTION = {
    SelectionKind.CHEAPEST: RejectionKind.DEARER,
    SelectionKind.LIKELY_CHEAPEST: RejectionKind.LIKELY_DEARER,
    SelectionKind.PREFERRED: RejectionKind.NOT_PREFERRED,
}
