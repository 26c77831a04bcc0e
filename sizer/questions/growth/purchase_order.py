"""The cheapest way to own enough in every year, found exactly."""

from collections.abc import Callable

import numpy as np

from sizer.base.arrays import Bools

# What a step costs by each aim, the first one first. Whole numbers, so that sums are exact and ties are ties.
Cost = tuple[int, ...]
# Year, size owned before (None: nothing) and size owned from then on -> cost; None: that step is not open.
StepCost = Callable[[int, int | None, int], Cost | None]


def cheapest_sequence(meets: Bools, step_cost: StepCost) -> tuple[int, ...] | None:
    """Size to own in every year.

    Parameters
    ----------
    meets : ndarray of bool, shape (years, sizes)
        Whether a size is enough in a year.
    step_cost : callable
        Cost of going from one size to another, or of staying, at the start of a year, and of owning it in that year.

    Returns
    -------
    tuple of int or None
        One size a year; None where no sequence of open steps meets every year. Of equal ones the sizes that come first.

    Notes
    -----
    Dynamic programming over (year, size owned): the order of tuples is kept when the same cost is added to both sides,
    so that the best way to a state is part of the best way beyond it.
    """
    best: dict[int, tuple[Cost, tuple[int, ...]]] = {}
    for year in range(meets.shape[0]):
        reached: dict[int, tuple[Cost, tuple[int, ...]]] = {}
        for after in np.flatnonzero(meets[year]).tolist():
            ways: list[tuple[int | None, Cost, tuple[int, ...]]] = (
                [(None, (), ())] if year == 0 else [(size, *way) for size, way in best.items()]
            )
            open_ways = []
            for before, so_far, path in ways:
                cost = step_cost(year, before, after)
                if cost is not None:
                    total = tuple(a + b for a, b in zip(so_far, cost, strict=True)) if so_far else cost
                    open_ways.append((total, (*path, after)))
            if open_ways:
                reached[after] = min(open_ways)
        best = reached
    return min(best.values())[1] if best else None
