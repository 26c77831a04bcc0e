"""Rival formulas with their validity ranges, in one table that selection, tests and documents read."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.perf import exchange

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rival:
    """One formula for a job that others can do, too."""

    name: str
    job: str  # what it computes
    function: Callable[..., Floats]
    min_ranks: int
    max_ranks: int
    holds: str  # sentence: where it holds
    source: str

    def covers(self, n_ranks: int) -> bool:
        """Whether the number of ranks lies in the range that the formula was made for."""
        return self.min_ranks <= n_ranks <= self.max_ranks


ALLREDUCE = "all-reduce time"

RIVALS: tuple[Rival, ...] = (
    Rival(
        "ring",
        ALLREDUCE,
        exchange.ring_allreduce_time_s,
        1,
        64,
        "Inside a server and for few servers; its latency grows with the ranks, so large rings pay for small messages.",
        "doi:10.1016/j.jpdc.2008.09.002",
    ),
    Rival(
        "tree",
        ALLREDUCE,
        exchange.tree_allreduce_time_s,
        2,
        100_000,
        "Between servers, from two on; between exactly two, libraries can exceed the line rate, which it does not.",
        "doi:10.1016/j.parco.2009.09.001",
    ),
    Rival(
        "hierarchical",
        ALLREDUCE,
        exchange.hierarchical_allreduce_time_s,
        1,
        100_000,
        "Servers with a fast inside and NICs outside: a ring within, a tree between. The one that sizing uses.",
        "nccl-source",
    ),
)


def rivals(job: str) -> tuple[Rival, ...]:
    """Formulas that do a job.

    Raises
    ------
    ValueError
        If no formula does it.
    """
    found = tuple(rival for rival in RIVALS if rival.job == job)
    if not found:
        raise ValueError(f"no formula computes {job!r}; there are {', '.join(sorted({r.job for r in RIVALS}))}")
    return found


def flat_allreduce(n_ranks: int) -> Rival:
    """Formula for one flat group of ranks: the ring inside its range, the tree beyond it."""
    ring, tree = (rival for rival in RIVALS if rival.name in ("ring", "tree"))
    return ring if ring.covers(n_ranks) else tree
