"""The cheapest sequence of cluster sizes that meets every year, found exactly by dynamic programming."""

from collections.abc import Callable

import numpy as np

from sizer.base.arrays import Bools

# Cost of a step by each criterion, the most important first. Whole numbers, so that sums are exact and ties are ties.
Cost = tuple[int, ...]
# Year, size owned before (None: nothing) and size owned from then on -> cost; None: the step is not allowed.
StepCost = Callable[[int, int | None, int], Cost | None]


def cheapest_sequence(meets: Bools, step_cost: StepCost) -> tuple[int, ...] | None:
    """Size to own in every year.

    Parameters
    ----------
    meets : ndarray of bool, shape (years, sizes)
        Whether a size meets a year.
    step_cost : callable
        Cost of going from one size to another, or of staying, at the start of a year, and of owning it in that year.

    Returns
    -------
    tuple of int or None
        One size a year; None where no sequence of allowed steps meets every year. On a tie, the earlier sizes.

    Notes
    -----
    Dynamic programming over (year, size owned): the order of tuples is kept when the same cost is added to both sides,
    so that the best path to a state is part of the best path beyond it.
    """
    best_paths: dict[int, tuple[Cost, tuple[int, ...]]] = {}
    for year in range(meets.shape[0]):
        reached: dict[int, tuple[Cost, tuple[int, ...]]] = {}
        for after in np.flatnonzero(meets[year]).tolist():
            earlier: list[tuple[int | None, Cost, tuple[int, ...]]] = (
                [(None, (), ())] if year == 0 else [(size, *path) for size, path in best_paths.items()]
            )
            allowed = []
            for before, so_far, path in earlier:
                cost = step_cost(year, before, after)
                if cost is not None:
                    total = tuple(a + b for a, b in zip(so_far, cost, strict=True)) if so_far else cost
                    allowed.append((total, (*path, after)))
            if allowed:
                reached[after] = min(allowed)
        best_paths = reached
    return min(best_paths.values())[1] if best_paths else None
