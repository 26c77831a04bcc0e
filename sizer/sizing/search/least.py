"""The design of a space that takes least of one limited quantity: money, watts, racks, rack units or servers."""

from collections.abc import Collection

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.physical.platform import PlatformKey
from sizer.sizing.checks import SizeLimit
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import beyond_budget, keys

Without = Collection[PlatformKey]


def least_row(counts: PartCounts, limit: SizeLimit, without: Without = ()) -> int | None:
    """Row that meets the request, within its budget at its confidence, and takes least of one quantity.

    ``counts``: the designs. Those that depend on more unknown facts than it allows are left out: no limit is kept by
    what nobody knows. ``limit``: the quantity. Designs that take equally much follow each other by cost, then as in the
    ranking. ``without``: of platforms that are left out. Returns none where no design meets the request.

    Exact: platforms are counted in the order of what their servers and storage alone take, until no other platform
    could take less.
    """
    could, cost, taken = possible(counts, without), counts.likely_main_cost, _bound(counts, limit)
    least = np.where(could, taken, np.inf).min(axis=1)
    cheapest = np.where(could, cost, np.inf).min(axis=1)
    best: int | None = None
    key: tuple[float, float] = (np.inf, np.inf)
    for index in np.lexsort((cheapest, least)).tolist():
        if (least[index], cheapest[index]) >= key:
            break
        rows = certain_rows(counts, index)
        if not rows.size:
            continue
        order = [amount_of(counts, rows, limit), counts.likely_cost[rows], *keys(counts, rows)]
        place = int(np.lexsort(order[::-1])[0])
        here = (float(order[0][place]), float(order[1][place]))
        if here < key:
            best, key = int(rows[place]), here
    return best


def possible(counts: PartCounts, without: Without = ()) -> Bools:
    """(platforms, sizes) designs whose servers and storage alone keep all limits, and that no unknown rate decides.

    ``without`` holds the keys of platforms that are left out.
    """
    shape = (counts.evaluated.space.n_platforms, len(counts.evaluated.space.sizes))
    is_known = (counts.unknowns <= counts.unknowns_allowed).reshape(shape)
    could = counts.candidates & is_known & ~beyond_budget(counts, counts.likely_main_cost)
    if without:
        could &= np.array([platform.key not in without for platform in counts.evaluated.platforms])[:, None]
    return np.asarray(could)


def certain_rows(counts: PartCounts, index: int) -> Ints:
    """Rows of one platform that keep every limit, the budget at the confidence asked, and depend on nothing unknown."""
    rows = counts.feasible_of(index)
    is_known = counts.unknowns[rows] <= counts.unknowns_allowed
    return np.asarray(rows[is_known & ~beyond_budget(counts, counts.likely_cost[rows])])


def promising(counts: PartCounts, could: Bools) -> list[int]:
    """Platforms with some possible design, those first that would go furthest if rates grew in line with limits.

    The order saves counting, nothing rests on it.
    """
    limits, evaluated = counts.request.limits, counts.evaluated
    bounds = {limit: getattr(limits, limit.value) for limit in SizeLimit}
    used = [_bound(counts, limit) / bound for limit, bound in bounds.items() if bound is not None]
    slowest = evaluated.class_slowest[evaluated.class_of]
    with np.errstate(divide="ignore"):  # what takes nothing of a limit may grow without end
        hope = np.where(could, slowest / np.maximum.reduce(used or [np.ones(could.shape)]), -np.inf).max(axis=1)
    return [int(index) for index in np.argsort(-hope, kind="stable") if could[index].any()]


def amount_of(counts: PartCounts, rows: Ints, limit: SizeLimit) -> Floats:
    """What counted designs take of a limited quantity: money at the confidence of the request, watts, counts."""
    if limit is SizeLimit.BUDGET:
        return counts.likely_cost[rows]
    if limit is SizeLimit.POWER:
        return counts.power_w[rows]
    if limit is SizeLimit.RACKS:
        return counts.racks[rows]
    if limit is SizeLimit.RACK_UNITS:
        return counts.rack_units[rows]
    return counts.evaluated.space.n_servers[rows].astype(float)


def _bound(counts: PartCounts, limit: SizeLimit) -> Floats:
    """(platforms, sizes) what servers and storage alone take."""
    if limit is SizeLimit.BUDGET:
        return counts.likely_main_cost
    if limit is SizeLimit.SERVERS:
        sizes = counts.evaluated.space.sizes.astype(float)
        return np.broadcast_to(sizes, counts.likely_main_cost.shape)
    names = {SizeLimit.POWER: "watts", SizeLimit.RACKS: "racks", SizeLimit.RACK_UNITS: "units"}
    return counts.at_least[names[limit]]
