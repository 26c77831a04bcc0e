"""Exact choice over the whole design space: best row, Pareto front, and what ruled designs out."""

from collections.abc import Mapping, Sequence

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import InfeasibleError
from sizer.sizing.limits import AnyLimit


def best_row(objective: Floats, feasible: Bools, tie_breaks: Sequence[Floats] = ()) -> int:
    """Row of the best feasible design; ties fall to the later keys, then to the earlier row.

    Raises
    ------
    InfeasibleError
        If no row is feasible. The caller adds which limit rules every row out.
    """
    rows = np.flatnonzero(feasible)
    if rows.size == 0:
        raise InfeasibleError(f"none of {feasible.size} designs meets the request")
    keys = [key[rows] for key in (*reversed(tie_breaks), objective)]  # lexsort: the last key rules
    return int(rows[np.lexsort(keys)[0]])


def pareto_rows(objectives: Sequence[Floats], feasible: Bools) -> Ints:
    """Feasible rows that no other feasible row beats in one objective without losing in another (all minimised).

    Of rows that are equal in every objective the first is kept.
    """
    rows = np.flatnonzero(feasible)
    if rows.size == 0:
        return rows
    values = np.stack([objective[rows] for objective in objectives], axis=1)
    values, first = np.unique(values, axis=0, return_index=True)  # sorted by the first objective, then the others
    rows = rows[first]
    alive = np.arange(len(rows))
    front = []
    while alive.size:
        point = alive[0]  # nothing before it is alive, so nothing dominates it
        front.append(point)
        is_beaten = (values[alive] >= values[point]).all(axis=1)
        alive = alive[~is_beaten]
    return np.sort(rows[np.array(front, dtype=np.int64)])


def counts_ruled_out(limits: Mapping[AnyLimit, Bools]) -> dict[AnyLimit, int]:
    """How many designs each limit rules out, most first; limits that rule nothing out are left away."""
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
