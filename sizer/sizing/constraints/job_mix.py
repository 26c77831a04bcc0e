"""The jobs of a team on one kind of server, and their draws: what the queue is simulated with."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.quantities import duration, grouped
from sizer.perf.scheduling import WEEK_S, ServerPool, servers_of, working_times_s
from sizer.workload.team import QueueOrder

# Seed of every draw: the same request gives the same bytes.
SEED = 20190401
# So many jobs, and so many of every kind, make the share that starts in time stable to about a percentage point; the
# standard error is printed with it.
LEAST_JOBS = 20_000
LEAST_JOBS_OF_A_KIND = 200
# A year at least, whatever the number of jobs; ten years at most, however rare a kind of job is.
LEAST_WEEKS = 52
MOST_WEEKS = 520
# A rare kind with a frequent one would need more jobs than it is worth.
MOST_JOBS = 25_000
MOST_JOBS_A_WEEK = 20_000
# With those of the first weeks, that are not counted.
MOST_JOBS_IN_ALL = 250_000
# GPUs of a job that runs on no cluster.
_TOO_MANY_GPUS = 2**40
# The cluster starts empty: so many weeks, and so many times the longest mean duration, are not counted.
_WARM_UP_WEEKS = 2
_WARM_UP_DURATIONS = 3


class QueuedJobs(NamedTuple):
    """One kind of job that comes and goes."""

    gpus: int
    whole_servers: bool
    jobs_a_day: float
    duration_s: float
    is_fixed: bool  # all last as long; else exponential
    priority: int = 0  # place in the queue; jobs of a smaller number stand before all of a larger one
    sessions_per_gpu: int = 1  # that take turns on one GPU
    fits: bool = True  # False: its GPUs do not hold its network, so that it never starts


class PermanentJobs(NamedTuple):
    """Jobs of one kind that always run."""

    gpus: int
    whole_servers: bool
    n_jobs: int
    sessions_per_gpu: int = 1
    fits: bool = True

    @property
    def n_places(self) -> int:
        """Jobs, or GPUs that their sessions share."""
        return -(-self.n_jobs // self.sessions_per_gpu)


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
        return self.days_a_week * sum(kind.jobs_a_day for kind in self.kinds)

    @property
    def warm_up_weeks(self) -> int:
        longest = max((kind.duration_s for kind in self.kinds), default=0.0)
        return max(_WARM_UP_WEEKS, int(np.ceil(_WARM_UP_DURATIONS * longest / WEEK_S)))

    @property
    def weeks(self) -> int:
        """Weeks that are counted.

        Raises RequestError if the team starts more jobs a week than are simulated.
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
        """GPUs that are taken on average, those that whole servers leave unused among them; shared ones at best."""
        share = self.days_a_week / WEEK_S
        return sum(
            self.gpus_taken(kind.gpus, kind.whole_servers) / kind.sessions_per_gpu * kind.jobs_a_day * kind.duration_s
            for kind in self.kinds
        ) * share + sum(self.gpus_taken(job.gpus, job.whole_servers) * job.n_places for job in self.standing)

    @property
    def least_servers(self) -> int:
        """Servers whose GPUs are as many as those that are taken on average."""
        return max(int(np.ceil(self.mean_gpus_taken / self.gpus_per_server - 1e-9)), 1)

    @property
    def fits(self) -> tuple[bool, ...]:
        """Of every kind of job, those that always run last, whether its GPUs hold its network."""
        return (*(kind.fits for kind in self.kinds), *(job.fits for job in self.standing))

    def gpus_taken(self, gpus: int, whole_servers: bool) -> int:
        return servers_of(gpus, self.gpus_per_server, whole_servers) * self.gpus_per_server or gpus

    def cluster(self, n_servers: int) -> ServerPool:
        """So many servers with the jobs that always run."""
        jobs = [job for job in self.standing for _ in range(job.n_places)]
        gpus = [job.gpus if job.fits else _TOO_MANY_GPUS for job in jobs]
        whole = [job.whole_servers for job in jobs]
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
    of_kinds = [kind.gpus if kind.fits else _TOO_MANY_GPUS for kind in case.kinds]
    gpus = np.array(of_kinds, dtype=np.int64)[kinds]
    whole = np.array([kind.whole_servers for kind in case.kinds], dtype=bool)[kinds]
    return Jobs(kinds, arrival[order], duration[order], gpus, whole)
