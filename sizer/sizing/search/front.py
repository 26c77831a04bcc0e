"""The Pareto front over cost, time, power and rack units, cheapest first; what cannot be on it is not counted."""

from heapq import heapify, heappop, heappush

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import beyond_budget, uncertainty


def front_rows(counts: PartCounts, chosen: int, most: int) -> list[int]:
    """Cheapest designs of the front, ascending by the cost that ranks designs.

    ``chosen``: row of the described design. Designs that depend on more unknowns are left out, as nobody knows what
    they reach, and those that are likely to cost more than the budget where it is not. ``most``: points that are looked
    for.

    Cost, watts and rack units of servers and storage alone, and the time at the slowest stage's median, are lower
    bounds of those of a design. A platform is counted when one of its designs could be the next point by these bounds,
    so that the points are those that counting every platform finds.
    """
    evaluated, n_sizes = counts.evaluated, len(counts.evaluated.space.sizes)
    known = float(uncertainty(counts, np.array([chosen]))[0])
    is_over = bool(beyond_budget(counts, counts.likely_cost[[chosen]])[0])
    bounds = np.stack(
        [
            counts.main_cost.cost.reshape(-1),
            evaluated.over_rows(evaluated.class_least_time_s),
            counts.at_least["watts"].reshape(-1),
            counts.at_least["units"].reshape(-1),
        ],
        axis=1,
    )
    could = counts.candidates.reshape(-1) & (evaluated.unknowns <= known)
    front, points = np.zeros((0, 4)), []
    counted: list[tuple[float, ...]] = []  # what designs cost and take, and their rows
    # Rows of each platform that no point is as good as, by their bounds, and the points that they were compared with.
    ahead = {
        index: (_rows_of(could, index, n_sizes), 0) for index in np.unique(np.flatnonzero(could) // n_sizes).tolist()
    }
    heap = [(float(bounds[rows, 0].min()), index) for index, (rows, _) in ahead.items()]
    heapify(heap)
    while heap or counted:
        least = heap[0][0] if heap else np.inf
        while counted and counted[0][0] < least:
            *values, row = heappop(counted)
            if not _is_beaten(np.array([values]), front)[0]:
                front = np.vstack([front, values])
                points.append(int(row))
                if len(points) == most:
                    return points
        if not heap:
            break
        _, index = heappop(heap)
        rows, n_compared = ahead[index]
        if n_compared < len(front):
            rows = rows[~_is_beaten(bounds[rows], front[n_compared:])]
            ahead[index] = rows, len(front)
        if not rows.size:
            continue
        again = float(bounds[rows, 0].min())
        if heap and again > heap[0][0]:
            heappush(heap, (again, index))
            continue
        for values in _exact(counts, rows, bounds[:, 1], known, is_over, front).tolist():
            heappush(counted, tuple(values))
    return points


def _rows_of(could: Bools, index: int, n_sizes: int) -> Ints:
    """Rows of one platform that could be built."""
    start = index * n_sizes
    return np.asarray(start + np.flatnonzero(could[start : start + n_sizes]))


def _is_beaten(values: Floats, front: Floats) -> Bools:
    """Whether some point of the front is as good in every objective."""
    return np.asarray(np.any(np.all(front <= values[:, None], axis=2), axis=1))


def _exact(counts: PartCounts, rows: Ints, least_time_s: Floats, known: float, is_over: bool, front: Floats) -> Floats:
    """What some rows of one platform cost and take, and the rows; without those that break a limit or are beaten."""
    index, n_sizes = int(rows[0]) // len(counts.evaluated.space.sizes), len(counts.evaluated.space.sizes)
    rows = counts.keeping_limits(index, rows - index * n_sizes)
    rows = rows[(uncertainty(counts, rows) <= known) & (beyond_budget(counts, counts.likely_cost[rows]) <= is_over)]
    amounts = (counts.ranking_cost[rows], least_time_s[rows], counts.power_w[rows], counts.rack_units[rows])
    values = np.stack([*amounts, rows.astype(float)], axis=1)
    # The time takes longest to work out.
    values = values[~_is_beaten(values[:, :4], front)]
    if values.size:
        values[:, 1] = counts.evaluated.time_at(values[:, 4].astype(np.int64))
    return np.asarray(values[~_is_beaten(values[:, :4], front)])
