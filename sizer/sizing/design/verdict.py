"""Whether a cluster is needed, and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from sizer.catalog.model import Catalog
from sizer.sizing.checks import CheckResult
from sizer.sizing.design.cluster_need import first_read_s, smallest_link
from sizer.sizing.reasons import (
    BindingKind,
    DataInMemory,
    LinkCarriesReads,
    MoreEpochs,
    NoClusterFileSystem,
    NoServerFabric,
    OneServerFallsShort,
    RunnerUpKind,
    SelectionKind,
    TieBreak,
    VerdictKind,
    VerdictReason,
)
from sizer.sizing.result import DesignAnswer, SizingResult, Verdict


def verdict_of(design: DesignAnswer, platforms: Sequence[DesignAnswer], catalog: Catalog) -> Verdict:
    """Whether a cluster is needed.

    ``platforms``: the best of each platform; one of them with a single server makes a cluster needless, too.
    ``catalog``: holds the links that a customer's network has anyway.

    The tests are those of D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara 2019
    ("hitachi-dl-2019"): one server, data that fit in memory, 10 or 25 GbE, no clustered file system. Each is checked
    with the numbers of the design.
    """
    # Nobody knows whether a server that depends on an unknown fact is enough.
    others = (
        other
        for other in platforms
        if other.n_hosts == 1
        and not other.conditional_on
        and not other.late
        and delivers_as_much(other, design)
        # A server to buy is no simpler than servers that are there.
        and other.servers_bought <= design.servers_bought
    )
    single = design if design.n_hosts == 1 else next(others, None)
    if single is None:
        return Verdict(VerdictKind.CLUSTER, None, tuple(_cluster_reasons(design)))
    if single is not design:
        kind = VerdictKind.ONE_SERVER_TOO
    elif _is_cached(single) or single.platform.storage.kind == "local":
        kind = VerdictKind.ONE_SERVER
    else:
        kind = VerdictKind.ONE_SERVER_AND_STORAGE
    return Verdict(kind, single, tuple(_simple_reasons(single, catalog)))


def delivers_as_much(other: DesignAnswer, design: DesignAnswer) -> bool:
    """Whether a design does the work of another where a number of GPUs is asked for: kinds of GPUs differ in it."""
    return all(
        mine.workload.target.gpus_busy is None or float(mine.throughput.value) >= float(asked.throughput.value)
        for mine, asked in zip(other.workloads, design.workloads, strict=True)
    )


def _is_cached(design: DesignAnswer) -> bool:
    return all(answer.cache_hit_fraction >= 1 for answer in design.workloads)


def _simple_reasons(design: DesignAnswer, catalog: Catalog) -> Iterator[VerdictReason]:
    memory = design.platform.server.memory_bytes
    for index, answer in enumerate(design.workloads):
        if not answer.kind.reads_data:
            continue
        if answer.cache_hit_fraction >= 1 and memory is not None:
            yield DataInMemory(index, memory.value, first_read_s(answer.dataset_bytes, design.platform.fabric))
        read = max(float(answer.storage_bytes_per_s.value), float(answer.cold_storage_bytes_per_s.value))
        link = smallest_link(read, catalog)
        if link is not None:
            yield LinkCarriesReads(index, link, read)
    if _is_cached(design) and design.platform.storage.kind != "parallel-file-system":
        yield NoClusterFileSystem()
    yield NoServerFabric()


def _cluster_reasons(design: DesignAnswer) -> Iterator[VerdictReason]:
    # A growth plan may buy more servers than the first year calls for.
    suffices = design.n_servers == 1 or (design.binding.kind is BindingKind.GROWTH and design.binding.n_servers == 1)
    if design.n_servers == 1:
        yield NoServerFabric()
    for index, answer in enumerate(design.workloads):
        if not suffices:
            curve = answer.scaling
            alone = np.atleast_1d(curve.throughput.value)[np.atleast_1d(curve.n_servers) == 1]
            yield OneServerFallsShort(index, float(alone[0]) if alone.size else None)
        if answer.time is not None and answer.recipe is not None:
            yield MoreEpochs(index)


class RejectionKind(Enum):
    """Why a design is not the chosen one."""

    MISSES_TARGET = "misses-target"
    CONDITIONAL = "conditional"  # it meets the request only if a fact that no source gives is good enough
    DEARER = "dearer"  # whatever the missing prices are
    LIKELY_DEARER = "likely-dearer"  # by price bands
    TIED = "tied"  # by price bands, which do not tell the two apart
    OVER_BUDGET = "over-budget"  # it keeps the budget with less than the confidence asked
    LESS_CERTAIN = "less-certain"  # its expected cost is lower, but more of its prices are missing
    EQUAL = "equal"  # in servers, storage nodes, rack units and power; its network or drives are larger
    DEARER_BUT_FOR_CABLES = "dearer-but-for-cables"  # with cables, accessories and changes of the quote it costs less
    UNASKED_CHANGE = "unasked-change"  # it needs water cooling or other software, and saves too little for that
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
    chance, asked = other.probability, result.request.confidence
    if other.target_check is CheckResult.NOT_MET or (chance is not None and chance < asked and not result.maximum):
        return RejectionKind.MISSES_TARGET
    if len(other.conditional_on) > len(result.design.conditional_on):
        return RejectionKind.CONDITIONAL
    if _is_over_budget(result, other) and not _is_over_budget(result, result.design):
        return RejectionKind.OVER_BUDGET
    kind, second = _BY_SELECTION.get(result.selection.kind, RejectionKind.RANKED_BEHIND), result.runner_up_reason
    point, ids = result.runner_up, (other.platform.server.id, other.platform.storage.id)
    is_second = point is not None and (point.server, point.storage) == ids
    if is_second and second.kind is RunnerUpKind.TIED and kind is RejectionKind.LIKELY_DEARER:
        is_unasked = second.tie_break in (TieBreak.AIR, TieBreak.SOFTWARE)
        return RejectionKind.UNASKED_CHANGE if is_unasked else RejectionKind.TIED
    if any(result.platforms[place] is other for place in result.selection.less_on_bill):
        return RejectionKind.DEARER_BUT_FOR_CABLES
    if (place := result.selection.leads_by_expected_cost) is not None and result.platforms[place] is other:
        return RejectionKind.LESS_CERTAIN
    if is_second and second.kind is RunnerUpKind.EQUAL:
        return RejectionKind.EQUAL
    ours, theirs = result.design.cost, other.cost
    is_tied = ours is not None and theirs is not None and theirs.expected <= ours.expected
    return RejectionKind.TIED if is_tied and kind is RejectionKind.LIKELY_DEARER else kind


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
