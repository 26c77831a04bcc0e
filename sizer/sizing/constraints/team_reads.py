"""What the jobs of a team read together: distributions over time, and the worst case."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.perf.scheduling import servers_of
from sizer.sizing.constraints.job_mix import JobMix

# Levels of a sum beyond which neighbours are joined (upwards) before the next is added.
_MOST_LEVELS = 1_000


class Reads(NamedTuple):
    """What a job of one kind reads while it runs."""

    start_up_share: float
    cold_share: float
    cold_bytes_per_s: float
    warm_bytes_per_s: float

    @property
    def most_bytes_per_s(self) -> float:
        """At most. [B/s]"""
        return max(self.cold_bytes_per_s, self.warm_bytes_per_s)

    @property
    def mean_bytes_per_s(self) -> float:
        """On average over its time. [B/s]"""
        warm = 1 - self.start_up_share - self.cold_share
        return self.cold_share * self.cold_bytes_per_s + warm * self.warm_bytes_per_s


def standing_demand(counts: Sequence[int], reads: Sequence[Reads]) -> tuple[Floats, Floats]:
    """Levels of what jobs that always run read together, and the share of the time of each.

    Each is in its first epoch for its share of the time, independently of the others; when it ends, the next of its
    kind begins. Starting up is short and counts as a later epoch.
    """
    levels, shares = np.zeros(1), np.ones(1)
    for count, read in zip(counts, reads, strict=True):
        cold = np.arange(count + 1)
        chance = _binomial(count, read.cold_share)
        kept = chance > 1e-15
        amount = cold * read.cold_bytes_per_s + (count - cold) * read.warm_bytes_per_s
        levels, shares = added((levels, shares), (amount[kept], chance[kept]))
    return levels, shares


def _binomial(n: int, p: float) -> Floats:
    """Probabilities of 0 to n successes."""
    if p in (0.0, 1.0):
        return np.asarray(np.arange(n + 1) == (n if p else 0), dtype=float)
    log_choose = np.concatenate([[0.0], np.cumsum(np.log(np.arange(n, 0, -1)) - np.log(np.arange(1, n + 1)))])
    k = np.arange(n + 1)
    return np.asarray(np.exp(log_choose + k * np.log(p) + (n - k) * np.log1p(-p)))


def added(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Distribution of the sum of two independent ones, each levels and shares of the time."""
    if len(first[0]) == 1 or len(second[0]) == 1:
        (levels, shares), (one, _) = (first, second) if len(second[0]) == 1 else (second, first)
        return levels + one[0], shares
    (levels_a, shares_a), (levels_b, shares_b) = _joined(*first), _joined(*second)
    levels = (levels_a[:, None] + levels_b[None, :]).reshape(-1)
    shares = (shares_a[:, None] * shares_b[None, :]).reshape(-1)
    found, place = np.unique(levels, return_inverse=True)
    return found, np.asarray(np.bincount(place, weights=shares, minlength=len(found)), dtype=float)


def _joined(levels: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Few enough levels: neighbours are joined at the higher one."""
    if len(levels) <= _MOST_LEVELS:
        return levels, shares
    last = np.linspace(0, len(levels), _MOST_LEVELS + 1).astype(np.int64)[1:] - 1
    reached = np.cumsum(shares)[last]
    return levels[last], np.diff(reached, prepend=0.0)


def worst_bytes_per_s(case: JobMix, sizes: Ints, queue: Sequence[Reads], standing: Sequence[Reads]) -> Floats:
    """Most that all jobs that find room at once could read, on every number of servers. [B/s]

    Exact for the places that the jobs that always run take: every server is filled with the hungriest jobs that fit,
    whole servers with those that take them.
    """
    cluster = case.cluster(int(sizes.max()))
    fitted = case.gpus_per_server
    parts: dict[int, float] = {}  # GPUs of a job inside a server -> most that one reads
    whole: dict[int, float] = {}  # the same by whole servers
    for kind, read in zip(case.kinds, queue, strict=True):
        servers = servers_of(kind.gpus, fitted, kind.whole_servers)
        places, taken = (whole, servers) if servers else (parts, kind.gpus)
        places[taken] = max(places.get(taken, 0.0), read.most_bytes_per_s)
    inside = _packed(parts, fitted)
    whole[1] = max(whole.get(1, 0.0), float(inside[fitted]))
    best = _packed(whole, int(sizes.max()))
    used = int((cluster.free < fitted).sum())
    there = sum(job.n_jobs * read.most_bytes_per_s for job, read in zip(case.standing, standing, strict=True))
    there += float(inside[cluster.free[cluster.free < fitted]].sum())
    return np.asarray(there + best[np.maximum(sizes - used, 0)])


def _packed(value: dict[int, float], most: int) -> Floats:
    """Largest sum of values that fit in 0 to ``most`` places, each as often as one likes."""
    best = np.zeros(most + 1)
    for room in range(1, most + 1):
        best[room] = max([best[room - 1], *(best[room - size] + one for size, one in value.items() if size <= room)])
    return best
