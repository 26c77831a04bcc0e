"""The design that comes nearest to a request that none meets: what it breaks says why."""

from collections.abc import Mapping

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.sizing.checks import AnyLimit, Limit
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.stages.evaluate import least_chance


def counts_ruled_out(limits: Mapping[AnyLimit, Bools]) -> dict[AnyLimit, int]:
    """Limit -> designs that it excludes, alone or among others, most first; of limits that exclude any."""
    counts = {limit: int((~passes).sum()) for limit, passes in limits.items()}
    return {limit: count for limit, count in sorted(counts.items(), key=lambda pair: -pair[1]) if count}


def nearest_row(limits: Mapping[AnyLimit, Bools], closeness: Floats) -> tuple[int, tuple[AnyLimit, ...]]:
    """Row that breaks the fewest limits, and which; of equals the one with the greatest ``closeness``.

    Of an infeasible space this is the design to name: what it breaks is what rules every design out.
    """
    breaks = np.stack([~passes for passes in limits.values()])
    count = breaks.sum(axis=0)
    rows = np.flatnonzero(count == count.min())
    row = int(rows[np.argmax(closeness[rows])])
    return row, tuple(limit for limit, broken in zip(limits, breaks[:, row], strict=True) if broken)


# Keeps the amounts of any budget apart, above every design that misses the target.
_PER_UNIT_OF_MONEY = 1e-13
# Chances, and shares of a rate, that differ by less are alike.
_ALIKE = 0.05
# Of designs whose GPUs do not hold the networks, those with the most memory are the nearest; below the other steps.
_PER_BYTE = 1e-13
# Limits that a design breaks of whose servers no more can be ordered: it is no way out.
_NEVER = 10**6
# Designs of a platform that are counted first.
_FIRST_COUNTED = 4


def nearest_design(counts: PartCounts) -> tuple[int, tuple[AnyLimit, ...]]:
    """Row that breaks the fewest limits, and which; of these the one that comes nearest to the request.

    Of designs that meet the target and break a limit of the room, the smallest is the nearest; of those that break the
    budget, the one that is expected to cost least; of those that miss the target, the likeliest, then the one that
    delivers most of what is asked, then the smallest; of those on which a team waits too long, the largest. Platforms
    are counted in the order of what they could be.
    """
    evaluated = counts.evaluated
    breaks = np.sum([~kept for kept in evaluated.class_passes.values()], axis=0)
    meets = evaluated.class_is_late | (evaluated.class_probability >= least_chance(counts.request.confidence))
    meets &= evaluated.class_passes[Limit.GPU_COUNT]  # so many GPUs may be asked for, whatever their rate
    # The weights only order: chance before the share of the rate that is asked, then the fewest servers, and below
    # every design that meets the target. Where no GPUs hold the networks, all are alike.
    slowest, asked = evaluated.class_slowest, evaluated.class_required_rate
    share = np.where(slowest < asked, slowest / np.where(asked > 0, asked, 1.0), 1.0)
    memory = np.array([evaluated.platforms[place].gpu.memory_bytes.value for place in evaluated.class_first])
    held = np.where(evaluated.class_passes[Limit.GPU_MEMORY], 0.0, _PER_BYTE * memory[:, None])
    likeliest = (
        np.floor(evaluated.class_probability / _ALIKE) * _ALIKE
        + 1e-6 * np.floor(share / _ALIKE)
        - 1e-12 * evaluated.space.sizes
    )
    fastest = likeliest - 1.0
    in_time = evaluated.class_passes.get(Limit.TEAM_WAITS, np.ones(meets.shape, dtype=bool))
    # A team that waits too long waits least on the most servers, below every design whose jobs start in time.
    servers = 1e-6 * evaluated.space.sizes - 2.0
    budget = counts.request.limits.budget

    def closeness_of(rows: Ints | int, places: Ints, smallness: Floats) -> Floats:
        missed = np.where(meets[rows, places], smallness, fastest[rows, places])
        return np.where(in_time[rows, places], missed + held[rows, places], servers[places])

    alive = np.array(counts.alive, dtype=np.int64)
    rows = evaluated.class_of[alive]
    could_break = breaks[rows] + counts.certainly_broken[alive]
    could_break[counts.cannot_be_bought[alive]] = _NEVER
    could_be = _smallness(counts.at_least["racks"][alive], counts.at_least["units"][alive])
    if budget is not None:
        # Whether the rest keeps the budget is known when its parts are counted.
        low = counts.expected_main_cost[alive]
        could_be = np.where(low > budget, 1.0 - _PER_UNIT_OF_MONEY * low, 1.0)
    could_near = closeness_of(rows[:, None], np.arange(servers.size), could_be)
    fewest = could_break.min(axis=1)
    nearest = np.where(could_break == fewest[:, None], could_near, -np.inf).max(axis=1)
    best: tuple[int, float, int, tuple[AnyLimit, ...]] | None = None
    for count, closeness, number in sorted(zip(fewest.tolist(), (-nearest).tolist(), range(alive.size), strict=True)):
        # Of equally near designs the first is the nearest, and platforms and sizes come in order.
        if best is not None and (count, closeness) >= best[:2]:
            break
        index, row, few, near = counts.alive[number], int(rows[number]), could_break[number], could_near[number]
        order = np.lexsort((-near, few))[: np.count_nonzero(few < _NEVER)]
        start, many = 0, _FIRST_COUNTED
        # The designs of a platform are counted in the order of what they could be, more at a time.
        while start < order.size and (best is None or (int(few[order[start]]), -float(near[order[start]])) < best[:2]):
            places = np.sort(order[start : start + many])
            start, many = start + many, 4 * many
            counted = counts.count(index, places)
            limits = {limit: kept[row, places] for limit, kept in evaluated.class_passes.items()}
            limits |= counts.limits_at(counted)
            smallness = _smallness(counts.racks[counted], counts.rack_units[counted])
            if budget is not None and Limit.BUDGET in limits:
                cheapness = 1.0 - _PER_UNIT_OF_MONEY * counts.expected_cost[counted]
                smallness = np.where(limits[Limit.BUDGET], smallness, cheapness)
            reached = closeness_of(row, places, smallness)
            size, broken = nearest_row(limits, reached)
            found = evaluated.space.of_platform(index).start + int(places[size])
            here = (len(broken), -float(reached[size]), found, broken)
            best = here if best is None else min(best, here)
    assert best is not None  # the space has at least one platform
    return best[2], best[3]


def _smallness(racks: Floats | Ints, rack_units: Floats) -> Floats:
    """Above that of every design that misses the target; racks count before rack units."""
    return np.asarray(1.0 - 1e-4 * racks - 1e-9 * rack_units)
