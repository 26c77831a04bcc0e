"""The week of a team, simulated: jobs drawn from its calendar, scheduled on so many servers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.quantities import duration, grouped
from sizer.perf.levels_over_time import level_at_percentile, shares_of_time
from sizer.perf.scheduling import WEEK_S, LateStartLimit, Schedule, schedule, working_times_s
from sizer.perf.server_pool import ServerPool, servers_of
from sizer.workload.team import QueueOrder

# Seed of every draw: the same request gives the same bytes.
SEED = 20190401
# So many jobs, and so many of every kind, make the share that starts in time stable to about a percentage point; the
# standard error is printed beside it.
LEAST_JOBS = 20_000
LEAST_JOBS_OF_A_KIND = 200
# A year at least, whatever the number of jobs; ten years at most, however rare a kind of job is.
LEAST_WEEKS = 52
MOST_WEEKS = 520
# A rare kind beside a frequent one would need more jobs than it is worth.
MOST_JOBS = 25_000
MOST_JOBS_A_WEEK = 20_000
# With those of the first weeks, that are not counted.
MOST_JOBS_IN_ALL = 250_000
# The cluster starts empty: so many weeks, and so many times the longest mean duration, are not counted.
_WARM_UP_WEEKS = 2
_WARM_UP_DURATIONS = 3
# Batches of weeks whose scatter gives the standard error.
N_BATCHES = 13
# Rounding of a start that was put off to no later time.
_ROUNDING_S = 1e-6
# Levels of a sum beyond which neighbours are joined (upwards) before the next is added.
_MOST_LEVELS = 1_000


class QueuedJobs(NamedTuple):
    """One kind of job that comes and goes."""

    gpus: int
    whole_servers: bool
    jobs_a_day: float
    duration_s: float
    is_fixed: bool  # all last as long; else exponential


class PermanentJobs(NamedTuple):
    """Jobs of one kind that always run."""

    gpus: int
    whole_servers: bool
    n_jobs: int


@dataclass(frozen=True)
class JobMix:
    """All that the waits of a team depend on, but for the number of servers."""

    gpus_per_server: int
    kinds: tuple[QueuedJobs, ...]
    standing: tuple[PermanentJobs, ...]
    hours_a_day: float
    days_a_week: int
    order: QueueOrder

    @property
    def jobs_a_week(self) -> float:
        """Jobs of all kinds."""
        return self.days_a_week * sum(kind.jobs_a_day for kind in self.kinds)

    @property
    def warm_up_weeks(self) -> int:
        """Weeks that are not counted."""
        longest = max((kind.duration_s for kind in self.kinds), default=0.0)
        return max(_WARM_UP_WEEKS, int(np.ceil(_WARM_UP_DURATIONS * longest / WEEK_S)))

    @property
    def weeks(self) -> int:
        """Weeks that are counted.

        Raises
        ------
        RequestError
            If the team starts more jobs a week than are simulated.
        """
        if not self.kinds:
            return 1
        if self.jobs_a_week > MOST_JOBS_A_WEEK:
            raise RequestError(
                f"team: {grouped(round(self.jobs_a_week))} jobs a week are more than are simulated "
                f"({grouped(MOST_JOBS_A_WEEK)}); take jobs that run one after the other together as one"
            )
        rarest = min(kind.jobs_a_day for kind in self.kinds) * self.days_a_week
        wanted = max(LEAST_JOBS / self.jobs_a_week, LEAST_JOBS_OF_A_KIND / rarest, LEAST_WEEKS)
        most = max(MOST_JOBS / self.jobs_a_week, 1.0)
        weeks = int(np.clip(np.ceil(min(wanted, most)), 1, MOST_WEEKS))
        in_all = self.jobs_a_week * (self.warm_up_weeks + weeks)
        if in_all > MOST_JOBS_IN_ALL:
            longest = duration(max(kind.duration_s for kind in self.kinds))
            raise RequestError(
                f"team: {grouped(round(in_all))} jobs come while jobs of {longest} fill the cluster, more than are "
                f"simulated ({grouped(MOST_JOBS_IN_ALL)}); take short jobs that run one after the other together"
            )
        return weeks

    @property
    def window_s(self) -> tuple[float, float]:
        """Begin and end of the time that is counted. [s]"""
        begin = self.warm_up_weeks * WEEK_S
        return begin, begin + self.weeks * WEEK_S

    @property
    def mean_gpus_taken(self) -> float:
        """GPUs that are taken on average, those that whole servers leave unused among them."""
        share = self.days_a_week / WEEK_S
        return sum(
            self.gpus_taken(kind.gpus, kind.whole_servers) * kind.jobs_a_day * kind.duration_s * share
            for kind in self.kinds
        ) + sum(self.gpus_taken(job.gpus, job.whole_servers) * job.n_jobs for job in self.standing)

    @property
    def least_servers(self) -> int:
        """Servers whose GPUs are as many as those that are taken on average."""
        return max(int(np.ceil(self.mean_gpus_taken / self.gpus_per_server - 1e-9)), 1)

    def gpus_taken(self, gpus: int, whole_servers: bool) -> int:
        """GPUs that a job takes."""
        return servers_of(gpus, self.gpus_per_server, whole_servers) * self.gpus_per_server or gpus

    def cluster(self, n_servers: int) -> ServerPool:
        """So many servers with the jobs that always run."""
        jobs = [job for job in self.standing for _ in range(job.n_jobs)]
        gpus, whole = [job.gpus for job in jobs], [job.whole_servers for job in jobs]
        return ServerPool.of(n_servers, self.gpus_per_server, gpus, whole)


@dataclass(frozen=True)
class Jobs:
    """Jobs in the order of their arrival. Arrays (jobs,)."""

    kind: Ints
    arrival_s: Floats
    duration_s: Floats
    gpus: Ints
    whole_servers: Bools


@lru_cache(maxsize=32)
def draw_jobs(case: JobMix) -> Jobs:
    """Jobs of a case.

    Notes
    -----
    Every kind draws from two generators of its own, one for gaps and one for durations, so that another kind, another
    rate or another number of servers sees the same luck (common random numbers). Gaps are exponential in working time.
    """
    _, end = case.window_s
    worked_s = end / WEEK_S * case.days_a_week * case.hours_a_day * 3600
    parts = []
    for index, kind in enumerate(case.kinds):
        gaps, lengths = (np.random.default_rng([SEED, index, part]) for part in range(2))
        mean_gap_s = case.hours_a_day * 3600 / kind.jobs_a_day
        expected = worked_s / mean_gap_s
        worked = np.cumsum(mean_gap_s * gaps.exponential(size=int(expected + 6 * np.sqrt(expected) + 20)))
        arrival = working_times_s(worked[worked < worked_s], case.hours_a_day, case.days_a_week)
        unit = np.ones(len(arrival)) if kind.is_fixed else lengths.exponential(size=len(arrival))
        parts.append((np.full(len(arrival), index), arrival, kind.duration_s * unit))
    if not parts:
        none = np.zeros(0)
        return Jobs(none.astype(np.int64), none, none, none.astype(np.int64), none.astype(bool))
    which, arrival, duration = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(arrival, kind="stable")
    kinds = which[order].astype(np.int64)
    gpus = np.array([kind.gpus for kind in case.kinds], dtype=np.int64)[kinds]
    whole = np.array([kind.whole_servers for kind in case.kinds], dtype=bool)[kinds]
    return Jobs(kinds, arrival[order], duration[order], gpus, whole)


@dataclass(frozen=True)
class Simulated:
    """A case on so many servers."""

    case: JobMix
    n_servers: int
    all_placed: bool  # the jobs that always run
    start_s: Floats  # (jobs,) inf: no room even on the empty cluster
    idle_gpus: float  # that stand idle while a job waits, on average
    fragment_gpus: float  # those of them that would do for the first in line, but are scattered

    @property
    def jobs(self) -> Jobs:
        """The jobs."""
        return draw_jobs(self.case)

    @cached_property
    def is_in_window(self) -> Bools:
        """(jobs,) jobs that arrive in the weeks that count."""
        begin, end = self.case.window_s
        return np.asarray((self.jobs.arrival_s >= begin) & (self.jobs.arrival_s < end))

    def waits_s(self, kind: int) -> Floats:
        """Waits of the counted jobs of one kind, in the order of their arrival. [s]"""
        chosen = self.is_in_window & (self.jobs.kind == kind)
        return np.asarray(self.start_s[chosen] - self.jobs.arrival_s[chosen])

    def share_within(self, kind: int, wait_s: float) -> float:
        """Share of the jobs of one kind that start within a wait; of a kind that never came, whether it ever could."""
        waits = self.waits_s(kind)
        return float((waits <= wait_s + _ROUNDING_S).mean()) if len(waits) else float(self._has_room(kind))

    def _has_room(self, kind: int) -> bool:
        one, cluster = self.case.kinds[kind], self.case.cluster(self.n_servers)
        whole = servers_of(one.gpus, self.case.gpus_per_server, one.whole_servers)
        if whole:
            return int((cluster.free == cluster.gpus_per_server).sum()) >= whole
        return int(cluster.free.max(initial=0)) >= one.gpus

    def share_error(self, kind: int, wait_s: float) -> float:
        """Standard error of that share, from batches of weeks."""
        begin, end = self.case.window_s
        chosen = self.is_in_window & (self.jobs.kind == kind)
        if not chosen.any():
            return 0.0
        place = (self.jobs.arrival_s[chosen] - begin) / (end - begin) * N_BATCHES
        batch = np.minimum(place.astype(np.int64), N_BATCHES - 1)
        in_time = self.waits_s(kind) <= wait_s + _ROUNDING_S
        count = np.bincount(batch, minlength=N_BATCHES)
        met = np.bincount(batch, weights=in_time, minlength=N_BATCHES)
        share = met.sum() / count.sum()
        # Of a ratio: batches differ in how many jobs came, too.
        scatter = ((met - share * count) ** 2).sum() / (N_BATCHES * (N_BATCHES - 1))
        return float(np.sqrt(scatter) / count.mean())

    def demand(self, reads: Sequence["Reads"]) -> tuple[Floats, Floats]:
        """Levels of what all jobs of the queue read together, and the share of the time of each.

        Parameters
        ----------
        reads : sequence of Reads
            Of every kind of the case.
        """
        pieces = []
        for index, read in enumerate(reads):
            chosen = (self.jobs.kind == index) & np.isfinite(self.start_s)
            start, length = self.start_s[chosen], self.jobs.duration_s[chosen]
            cold = start + read.start_up_share * length
            warm = cold + read.cold_share * length
            pieces.append((cold, warm, np.full(len(start), read.cold_bytes_per_s)))
            pieces.append((warm, start + length, np.full(len(start), read.warm_bytes_per_s)))
        if not pieces:
            return np.zeros(1), np.ones(1)
        starts, ends, amounts = (np.concatenate(column) for column in zip(*pieces, strict=True))
        return shares_of_time(starts, ends, amounts, *self.case.window_s)


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


@lru_cache(maxsize=160)
def simulated(case: JobMix, n_servers: int) -> Simulated:
    """The case on so many servers."""
    return _run(case, n_servers)


def _run(case: JobMix, n_servers: int, late_starts: LateStartLimit | None = None) -> Simulated:
    cluster, jobs = case.cluster(n_servers), draw_jobs(case)
    found: Schedule = schedule(
        jobs.arrival_s,
        jobs.duration_s,
        jobs.gpus,
        jobs.whole_servers,
        cluster,
        backfill=case.order == "backfill",
        late_starts=late_starts,
    )
    idle, fragments = found.idle_gpus(*case.window_s)
    return Simulated(case, n_servers, cluster.all_placed, found.start_s, idle, fragments)


def without_queue(case: JobMix) -> Simulated:
    """The case on a cluster without end, where every job starts at once."""
    return Simulated(case, 0, True, draw_jobs(case).arrival_s, 0.0, 0.0)


def meets(case: JobMix, n_servers: int, waits_s: Sequence[float], probability: float) -> bool:
    """Whether all jobs that always run are placed, and of every kind so many jobs start within its wait.

    A line that is too long is not simulated to its end: once more jobs of a kind are late than may be, it is no.
    """
    late_starts = _late_starts(case, tuple(waits_s), probability) if case.kinds else None
    run = _run(case, n_servers, late_starts)
    return run.all_placed and all(
        run.share_within(kind, wait_s) >= probability - 1e-9 for kind, wait_s in enumerate(waits_s)
    )


@lru_cache(maxsize=8)
def _late_starts(case: JobMix, waits_s: tuple[float, ...], probability: float) -> LateStartLimit:
    jobs, (begin, end) = draw_jobs(case), case.window_s
    is_counted = (jobs.arrival_s >= begin) & (jobs.arrival_s < end)
    latest = np.where(is_counted, jobs.arrival_s + np.array(waits_s)[jobs.kind] + _ROUNDING_S, np.inf)
    count = np.bincount(jobs.kind[is_counted], minlength=len(case.kinds))
    return LateStartLimit(latest, jobs.kind, tuple(int(n * (1 - probability) + 1e-6) for n in count))


@lru_cache(maxsize=256)
def fewest_servers(case: JobMix, waits_s: tuple[float, ...], probability: float, most: int) -> int | None:
    """Fewest servers, up to ``most``, that meet the waits; None where they do not.

    Notes
    -----
    More servers are taken to serve no worse. For jobs of one size that is a law; scattered jobs of several sizes can
    break it by a job or two, far below the error of the simulation. The search starts where the GPUs that all jobs
    would take without a queue suffice for the share of the time that is asked for, and never goes below the offered
    load, where the line grows without end.
    """
    least = case.least_servers
    if least > most:
        return None
    good = min(max(_first_guess(case, probability), least), most)
    bad = least - 1
    step = 1
    while not meets(case, good, waits_s, probability):
        if good == most:
            return None
        bad, good, step = good, min(good + step, most), 2 * step
    while good - bad > 1:
        middle = (good + bad) // 2
        if meets(case, middle, waits_s, probability):
            good = middle
        else:
            bad = middle
    return good


def _first_guess(case: JobMix, probability: float) -> int:
    jobs, (begin, end) = draw_jobs(case), case.window_s
    held = np.array([case.gpus_taken(kind.gpus, kind.whole_servers) for kind in case.kinds], dtype=float)
    levels, shares = shares_of_time(
        jobs.arrival_s, jobs.arrival_s + jobs.duration_s, held[jobs.kind] if len(held) else jobs.duration_s, begin, end
    )
    standing = sum(case.gpus_taken(job.gpus, job.whole_servers) * job.n_jobs for job in case.standing)
    return int(np.ceil((level_at_percentile(levels, shares, probability) + standing) / case.gpus_per_server))


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
