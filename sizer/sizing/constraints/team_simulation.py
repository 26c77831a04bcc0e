"""The week of a team, simulated: jobs of its calendar, scheduled on a number of servers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.perf.scheduling import LateStartLimit, Schedule, level_at_percentile, schedule, servers_of, shares_of_time
from sizer.sizing.constraints.job_mix import JobMix, Jobs, draw_jobs
from sizer.sizing.constraints.team_reads import Reads

# Batches of weeks whose scatter gives the standard error.
N_BATCHES = 13
# Rounding of a start that was put off to no later time.
_ROUNDING_S = 1e-6


@dataclass(frozen=True)
class Simulated:
    """A case on so many servers."""

    case: JobMix
    n_servers: int
    all_placed: bool  # the jobs that always run
    start_s: Floats  # (jobs,) inf: no room even on the empty cluster
    idle_gpus: float  # that stand idle while a job waits, on average
    fragment_gpus: float  # those of them that would do for the first in line, but are scattered
    shared_gpus: float = 0.0  # that sessions share, on average

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
        if not one.fits:
            return False
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

    def demand(self, reads: Sequence[Reads]) -> tuple[Floats, Floats]:
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
        priority=_of_kinds([kind.priority for kind in case.kinds], jobs),
        sessions_per_gpu=_of_kinds([kind.sessions_per_gpu for kind in case.kinds], jobs),
        late_starts=late_starts,
    )
    idle, fragments = found.idle_gpus(*case.window_s)
    shared = found.shared_gpus(*case.window_s)
    return Simulated(case, n_servers, cluster.all_placed, found.start_s, idle, fragments, shared)


def _of_kinds(values: Sequence[int], jobs: Jobs) -> Ints:
    """(jobs,) value of the kind of each job."""
    return np.array(values, dtype=np.int64)[jobs.kind]


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
    in_window = (jobs.arrival_s >= begin) & (jobs.arrival_s < end)
    latest = np.where(in_window, jobs.arrival_s + np.array(waits_s)[jobs.kind] + _ROUNDING_S, np.inf)
    count = np.bincount(jobs.kind[in_window], minlength=len(case.kinds))
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
    if least > most or not all(case.fits):
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
    held = np.array(
        [case.gpus_taken(kind.gpus, kind.whole_servers) / kind.sessions_per_gpu for kind in case.kinds], dtype=float
    )
    levels, shares = shares_of_time(
        jobs.arrival_s, jobs.arrival_s + jobs.duration_s, held[jobs.kind] if len(held) else jobs.duration_s, begin, end
    )
    standing = sum(case.gpus_taken(job.gpus, job.whole_servers) * job.n_places for job in case.standing)
    return int(np.ceil((level_at_percentile(levels, shares, probability) + standing) / case.gpus_per_server))
