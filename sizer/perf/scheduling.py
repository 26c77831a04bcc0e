"""Jobs on the servers of a cluster, event by event: who starts when, and what stands idle while others wait."""

import math
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.base.streams import pause_point
from sizer.perf.arguments import require_at_least


def servers_of(gpus: int, gpus_per_server: int, whole_servers: bool) -> int:
    """Whole servers that a job takes; 0 where it shares one with others."""
    return -(-gpus // gpus_per_server) if whole_servers or gpus > gpus_per_server else 0


class FreeGpus:
    """Servers sorted by their free GPUs, while jobs start and end on them."""

    def __init__(self, free: list[int], gpus_per_server: int) -> None:
        self.free, self.fitted, self.n_free = list(free), gpus_per_server, sum(free)
        # Servers by their free GPUs; dictionaries, as sets that keep their order.
        self.having: list[dict[int, None]] = [{} for _ in range(gpus_per_server + 1)]
        for server, count in enumerate(free):
            self.having[count][server] = None

    def find(self, gpus: int, whole: int, without: frozenset[int] = frozenset()) -> tuple[int, ...] | None:
        """Servers on which a job could start now; None where there is no room."""
        if whole:
            found: list[int] = []
            for server in self.having[self.fitted]:
                if server not in without:
                    found.append(server)
                    if len(found) == whole:
                        return tuple(found)
            return None
        for count in range(gpus, self.fitted + 1):
            for server in self.having[count]:
                if server not in without:
                    return (server,)
        return None

    def take(self, gpus: int, whole: int, without: frozenset[int] = frozenset()) -> tuple[int, ...] | None:
        """Start a job, if there is room."""
        found = self.find(gpus, whole, without)
        if found is not None:
            self.change(found, -(self.fitted if whole else gpus))
        return found

    def change(self, servers: tuple[int, ...], gpus: int) -> None:
        """Give back so many GPUs of each server; take them where it is below 0."""
        for server in servers:
            count = self.free[server]
            del self.having[count][server]
            count += gpus
            self.free[server] = count
            self.having[count][server] = None
        self.n_free += gpus * len(servers)


@dataclass(frozen=True)
class ServerPool:
    """Servers with the GPUs that the permanently running jobs leave free."""

    gpus_per_server: int
    free: Ints  # (servers,) GPUs
    placed: tuple[tuple[int, ...], ...]  # servers of every job that always runs, in the order given; (): no room

    @property
    def n_servers(self) -> int:
        return len(self.free)

    @property
    def all_placed(self) -> bool:
        """Whether every job that always runs has its GPUs."""
        return all(self.placed)

    @classmethod
    def of(
        cls, n_servers: int, gpus_per_server: int, gpus: Sequence[int] = (), whole_servers: Sequence[bool] = ()
    ) -> "ServerPool":
        """Place jobs that always run: the largest first, each where it leaves the fewest GPUs free.

        Best fit of falling sizes is no optimum, but wastes little: it fills servers exactly wherever one size divides
        the next.
        """
        places = FreeGpus([gpus_per_server] * n_servers, gpus_per_server)
        wholes = [servers_of(g, gpus_per_server, whole) for g, whole in zip(gpus, whole_servers, strict=True)]
        placed: list[tuple[int, ...]] = [()] * len(gpus)
        for job in sorted(range(len(gpus)), key=lambda job: (-wholes[job], -gpus[job])):
            placed[job] = places.take(gpus[job], wholes[job]) or ()
        return cls(gpus_per_server, np.array(places.free, dtype=np.int64), tuple(placed))


class SharedGpus:
    """GPUs taken from the free ones of a cluster while a session runs on them, each for so many sessions at once.

    Sessions that share with equally many others are alike: any of them may join any such GPU.
    """

    def __init__(self, places: FreeGpus) -> None:
        self._places = places
        self.server: list[int] = []
        self.n_sessions: list[int] = []  # that run on each GPU ever shared
        self._most: list[int] = []
        self._opened_s: list[float] = []
        self._with_room: dict[
            int, dict[int, None]
        ] = {}  # by sessions per GPU: GPUs with room; a set that keeps its order
        self.pieces: list[tuple[float, float]] = []  # from and to of every GPU that was shared and is free again
        self.n_places = 0  # free, on GPUs that are shared now

    def take(self, per_gpu: int, now: float, without: frozenset[int] = frozenset()) -> int | None:
        """GPU on which a session starts: the fullest shared one with room, else a free one; None: no room."""
        room = self._with_room.setdefault(per_gpu, {})
        found = max(
            (gpu for gpu in room if self.server[gpu] not in without),
            key=lambda gpu: self.n_sessions[gpu],
            default=None,
        )
        if found is None:
            servers = self._places.take(1, 0, without)
            if servers is None:
                return None
            found = len(self.server)
            self.server.append(servers[0])
            self.n_sessions.append(0)
            self._most.append(per_gpu)
            self._opened_s.append(now)
            room[found] = None
            self.n_places += per_gpu
        self.n_sessions[found] += 1
        self.n_places -= 1
        if self.n_sessions[found] == per_gpu:
            del room[found]
        return found

    def give_back(self, gpu: int, now: float) -> None:
        """End a session; with the last one its GPU is free for any job."""
        self.n_sessions[gpu] -= 1
        self.n_places += 1
        room = self._with_room[self._most[gpu]]
        if self.n_sessions[gpu]:
            room[gpu] = None
            return
        room.pop(gpu, None)  # of two sessions the first that ends has put it there
        self.n_places -= self._most[gpu]
        self._places.change((self.server[gpu],), 1)
        self.pieces.append((self._opened_s[gpu], now))


DAY_S = 86_400.0
WEEK_S = 7 * DAY_S
# Jobs behind the first that backfill looks at whenever GPUs come free; schedulers bound it, too (bf_max_job_test of
# Slurm).
BACKFILL_DEPTH = 100


def working_times_s(worked_s: ArrayLike, hours_a_day: float, days_a_week: int) -> Floats:
    """Time on the clock at which so much working time has gone by.

    ``worked_s`` (...): working time since the first day began [s].
    ``hours_a_day``: working hours of a day, 0 to 24 [h].
    ``days_a_week``: working days of a week, its first ones.
    Returns (...): time since the first working day began; nights and weekends lie between [s].

    Examples
    --------
    >>> working_times_s([3600.0, 11 * 3600.0], 10, 5) / 3600   # the 11th hour is the first of the second day
    array([ 1., 25.])
    """
    worked, day_s = np.asarray(worked_s, float), hours_a_day * 3600
    day = np.floor(worked / day_s)
    week = np.floor(day / days_a_week)
    return np.asarray(week * WEEK_S + (day - week * days_a_week) * DAY_S + (worked - day * day_s))


@dataclass(frozen=True)
class LateStartLimit:
    """How many late starts of each group of jobs are allowed before the simulation stops."""

    latest_s: Floats  # (jobs,) latest start that counts as on time; inf: any
    group: Ints  # (jobs,)
    allowed: tuple[int, ...]  # late starts of each group


@dataclass(frozen=True)
class Schedule:
    """When every job starts and where. Arrays in the order of the jobs given."""

    arrival_s: Floats
    duration_s: Floats
    start_s: Floats  # inf: it never finds room on this cluster
    servers: tuple[tuple[int, ...], ...]
    # While jobs wait: from, to, free GPUs, and whether these are as many as the first in line asks for.
    waiting: Floats  # (pieces, 4)
    # From and to of every GPU that was shared, from its first session to its last.
    shared: Floats  # (pieces, 2)

    @property
    def wait_s(self) -> Floats:
        """(jobs,) time from arrival to start. [s]"""
        return np.asarray(self.start_s - self.arrival_s)

    def idle_gpus(self, begin_s: float, end_s: float) -> tuple[float, float]:
        """Mean number of GPUs that stand idle while a job waits, and those of them that are fragments.

        GPUs are fragments while they are as many as the first in line asks for, but lie in servers too full for it.
        """
        if not len(self.waiting):
            return 0.0, 0.0
        length = np.clip(self.waiting[:, 1], begin_s, end_s) - np.clip(self.waiting[:, 0], begin_s, end_s)
        idle = length * self.waiting[:, 2] / (end_s - begin_s)
        return float(idle.sum()), float(idle[self.waiting[:, 3] > 0].sum())

    def shared_gpus(self, begin_s: float, end_s: float) -> float:
        """Mean number of GPUs that sessions share."""
        length = np.clip(self.shared[:, 1], begin_s, end_s) - np.clip(self.shared[:, 0], begin_s, end_s)
        return float(length.sum() / (end_s - begin_s))


def schedule(
    arrival_s: ArrayLike,
    duration_s: ArrayLike,
    gpus: ArrayLike,
    whole_servers: ArrayLike,
    cluster: ServerPool,
    *,
    backfill: bool = False,
    priority: ArrayLike = 0,
    sessions_per_gpu: ArrayLike = 1,
    late_starts: LateStartLimit | None = None,
) -> Schedule:
    """Start jobs by priority and in the order of their arrival, each when all its GPUs are free at once.

    ``arrival_s`` (jobs,): never falling [s].
    ``duration_s`` (jobs,): time from start to end [s].
    ``gpus`` (jobs,): GPUs of each job. Up to a server's GPUs they lie in one server, the one that it leaves the fewest
        GPUs free (best fit); beyond, the job takes whole free servers.
    ``whole_servers`` (jobs,): jobs that take whole servers in any case.
    ``backfill``: false: no job starts before one that came earlier. True: a later job may start where it does not push
        back the start that the first in line is sure of (EASY backfill [1]_). Durations are taken to be known, as in
        the paper; estimates that are too long make backfill weaker.
    ``priority`` (jobs,) or (): jobs of a smaller number stand before all of a larger one in the queue. No job that runs
        is stopped.
    ``sessions_per_gpu`` (jobs,) or (): jobs of one GPU that may run on the same GPU at once, all with the same number.
    ``late_starts``: when to stop; the jobs that have not started by then never start.
    Raises ValueError if arrivals fall, a time is below 0, a job has no GPU, or no session may run on a GPU.

    References
    ----------
    .. [1] A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
       scheduling the IBM SP2 with backfilling," IEEE Trans. Parallel Distrib. Syst. 12(6):529-543, 2001.
    """
    arrivals, durations = np.asarray(arrival_s, float), np.asarray(duration_s, float)
    asked, wholes = np.asarray(gpus, dtype=np.int64), np.asarray(whole_servers, dtype=bool)
    require_at_least(0, arrival_s=arrivals, duration_s=durations, arrival_steps_s=np.diff(arrivals))
    ranks, per_gpu = (np.broadcast_to(np.asarray(of, np.int64), asked.shape) for of in (priority, sessions_per_gpu))
    require_at_least(1, gpus=asked, sessions_per_gpu=per_gpu)
    fitted = cluster.gpus_per_server
    whole = np.where(wholes | (asked > fitted), -(-asked // fitted), 0)
    # Room on the cluster without any other job of the queue: the others never start, and nobody waits for them.
    free_servers = int((cluster.free == fitted).sum())
    fits = np.where(whole > 0, whole <= free_servers, asked <= cluster.free.max(initial=0))
    jobs = np.flatnonzero(fits)
    queue = _Queue(
        arrivals[jobs].tolist(),
        durations[jobs].tolist(),
        asked[jobs].tolist(),
        whole[jobs].tolist(),
        FreeGpus(cluster.free.tolist(), fitted),
    )
    if late_starts is not None:
        queue.latest_s, queue.group = late_starts.latest_s[jobs].tolist(), late_starts.group[jobs].tolist()
        queue.allowed = list(late_starts.allowed)
    queue.per_gpu = per_gpu[jobs].tolist()
    if np.unique(ranks).size > 1:
        queue.priority = ranks[jobs].tolist()
    if backfill or queue.priority:
        queue.run_line(fills=backfill)
    else:
        queue.run_in_order()
    start = np.full(arrivals.shape, np.inf)
    start[jobs] = queue.start_s
    servers: list[tuple[int, ...]] = [()] * len(arrivals)
    for job, server in zip(jobs.tolist(), queue.servers, strict=True):
        servers[job] = server
    waiting = np.array(queue.waiting, float).reshape(-1, 4)
    queue.end_all()
    shared = np.array(queue.shared.pieces, float).reshape(-1, 2)
    return Schedule(arrivals, durations, start, tuple(servers), waiting, shared)


class _Queue:
    """Jobs in the order of their arrival, and those that run."""

    def __init__(
        self, arrivals: list[float], durations: list[float], gpus: list[int], whole: list[int], places: FreeGpus
    ) -> None:
        self.arrivals, self.durations, self.gpus, self.whole = arrivals, durations, gpus, whole
        self.places = places
        self.start_s = [math.inf] * len(arrivals)
        self.servers: list[tuple[int, ...]] = [()] * len(arrivals)
        self.running: list[tuple[float, int]] = []  # end and job, in order
        self.waiting: list[tuple[float, float, int, bool]] = []
        self.priority: list[int] = []  # empty: all jobs have the same
        self.per_gpu = [1] * len(arrivals)
        self.shared = SharedGpus(places)
        self.shared_gpu: dict[int, int] = {}  # of every session that runs
        # Late starts that each group may still have; without groups nothing is ever given up.
        self.latest_s: list[float] = []
        self.group: list[int] = []
        self.allowed: list[int] = []
        self.is_given_up = False

    def run_in_order(self) -> None:
        """First come, first served."""
        now = 0.0
        for job, arrival in enumerate(self.arrivals):
            pause_point()
            now = max(now, arrival)
            while self.running and self.running[0][0] <= now:
                self._end()
            while not self._start(job, now):
                end = self.running[0][0]
                self._idle(job, now, end)
                now = end
                while self.running and self.running[0][0] <= now:
                    self._end()
            if self.is_given_up:
                return

    def run_line(self, *, fills: bool) -> None:
        """By priority, then first come, first served; with later jobs in the gaps where the line is filled."""
        line: list[int] = []
        promise: tuple[int, float, frozenset[int]] | None = None  # first in line, its sure start, its servers
        following, now, n_jobs = 0, 0.0, len(self.arrivals)
        while (following < n_jobs or line) and not self.is_given_up:
            pause_point()
            arrival = self.arrivals[following] if following < n_jobs else np.inf
            end = self.running[0][0] if self.running else np.inf
            before, now = now, min(arrival, end)
            if line and now > before:
                self._idle(line[0], before, now)
            ended = end <= now
            while self.running and self.running[0][0] <= now:
                self._end()
            came = len(line)
            while following < n_jobs and self.arrivals[following] <= now:
                insort(line, following, key=self._rank)
                following += 1
            if ended or self.priority:
                started = 0
                while started < len(line) and self._start(line[started], now):
                    started += 1
                del line[:started]
                came = 0
                if started and self.priority:
                    promise = None  # who came first by priority may have taken what was kept for another
            elif came == 0:
                while line and self._start(line[0], now):
                    del line[0]
            if not line or not fills:
                continue
            if promise is None or promise[0] != line[0]:
                promise = (line[0], *self._promise(line[0]))
                came = 0
            # Without an end nothing came free: only jobs that came now are new to the gaps.
            self._fill(line, max(came, 1), promise[1], promise[2], now)

    def _fill(self, line: list[int], first: int, sure_s: float, kept: frozenset[int], now: float) -> None:
        """Start jobs behind the first in line that end before its sure start, or keep off its servers."""
        place, last, places = first, min(len(line), BACKFILL_DEPTH + 1), self.places
        # Free GPUs only get fewer here, so that a job finds no room where a smaller one like it found none: the
        # smallest refused one inside a server and in whole ones, then the same of those that must keep off.
        refused = [math.inf] * 4
        while place < last and (places.n_free or self.shared.n_places):
            job = line[place]
            whole, keeps_off = self.whole[job], now + self.durations[job] > sure_s
            kind, size = 2 * keeps_off + (whole > 0), whole or self.gpus[job]
            if size < refused[kind] or self.per_gpu[job] > 1:
                if self._start(job, now, kept if keeps_off else frozenset()):
                    del line[place]
                    last -= 1
                    continue
                refused[kind] = min(refused[kind], size)
            place += 1

    def _promise(self, job: int) -> tuple[float, frozenset[int]]:
        """When and where the first in line starts at the latest: when enough of the running jobs have ended."""
        fitted, asked, whole = self.places.fitted, self.gpus[job], self.whole[job]
        free = list(self.places.free)
        empty = list(self.places.having[fitted])
        ended: dict[int, int] = {}  # sessions of each shared GPU
        for end, other in self.running:
            held = self._held(other)
            gpu = self.shared_gpu.get(other)
            if gpu is not None:
                if self.per_gpu[job] == self.per_gpu[other]:
                    return end, frozenset(self.servers[other])
                ended[gpu] = ended.get(gpu, 0) + 1
                if ended[gpu] < self.shared.n_sessions[gpu]:
                    continue
            for server in self.servers[other]:
                free[server] += held
                if whole and free[server] == fitted:
                    empty.append(server)
                    if len(empty) >= whole:
                        return end, frozenset(empty[-whole:])
                elif not whole and free[server] >= asked:
                    return end, frozenset((server,))
        raise AssertionError("a job that fits the empty cluster finds room at the latest when all others have ended")

    def _rank(self, job: int) -> int:
        """Place of a job's priority; equal ones keep the order of their arrival."""
        return self.priority[job] if self.priority else 0

    def _held(self, job: int) -> int:
        """GPUs that a job takes of each of its servers."""
        return self.places.fitted if self.whole[job] else self.gpus[job]

    def _start(self, job: int, now: float, without: frozenset[int] = frozenset()) -> bool:
        if self.per_gpu[job] > 1:
            gpu = self.shared.take(self.per_gpu[job], now, without)
            if gpu is None:
                return False
            self.shared_gpu[job] = gpu
            found: tuple[int, ...] | None = (self.shared.server[gpu],)
        else:
            found = self.places.take(self.gpus[job], self.whole[job], without)
        if found is None:
            return False
        self.start_s[job], self.servers[job] = now, found
        insort(self.running, (now + self.durations[job], job))
        if self.allowed and now > self.latest_s[job]:
            group = self.group[job]
            self.allowed[group] -= 1
            self.is_given_up |= self.allowed[group] < 0
        return True

    def end_all(self) -> None:
        """End what still runs."""
        while self.running:
            self._end()

    def _end(self) -> None:
        end, job = self.running.pop(0)
        if job in self.shared_gpu:
            self.shared.give_back(self.shared_gpu.pop(job), end)
            return
        self.places.change(self.servers[job], self._held(job))

    def _idle(self, job: int, begin: float, end: float) -> None:
        """Note the GPUs that stand idle while a job is first in line."""
        free = self.places.n_free
        if free:
            asked = self.whole[job] * self.places.fitted or self.gpus[job]
            self.waiting.append((begin, end, free, free >= asked))


def shares_of_time(
    start_s: ArrayLike, end_s: ArrayLike, amount: ArrayLike, begin_s: float, until_s: float
) -> tuple[Floats, Floats]:
    """Levels of a sum of amounts, each there from its start to its end, and the share of the time of each level.

    ``start_s``, ``end_s`` (pieces,): from when to when a piece is there [s].
    ``amount`` (pieces,): what it adds, in any unit.
    ``begin_s``, ``until_s``: window that is looked at [s].
    Returns levels, shares: levels that rise, and the share of the window that the sum spends on each.

    Examples
    --------
    >>> shares_of_time([0.0, 2.0], [6.0, 4.0], [1.0, 2.0], 0.0, 10.0)   # 1 for 4 s, 3 for 2 s, nothing for 4 s
    (array([0., 1., 3.]), array([0.4, 0.4, 0.2]))
    """
    amounts = np.asarray(amount, float)
    starts = np.clip(np.asarray(start_s, float), begin_s, until_s)
    ends = np.clip(np.asarray(end_s, float), begin_s, until_s)
    times = np.concatenate([[begin_s], starts, ends, [until_s]])
    steps = np.concatenate([[0.0], amounts, -amounts, [0.0]])
    order = np.argsort(times, kind="stable")
    level, length = np.cumsum(steps[order])[:-1], np.diff(times[order])
    most = float(np.abs(level).max())
    if most > 0:
        # Sums of thousands of amounts leave rounding behind, which must not make a level of its own.
        level = np.round(level, 9 - int(np.ceil(np.log10(most))))
    levels, place = np.unique(np.maximum(level[length > 0], 0.0), return_inverse=True)
    shares = np.bincount(place, weights=length[length > 0], minlength=len(levels))
    return levels, shares / (until_s - begin_s)


def level_at_percentile(levels: Floats, shares: Floats, percentile: float) -> float:
    """Smallest level that the sum does not exceed for a share ``percentile`` of the time.

    ``levels``, ``shares`` (levels,): rising levels and the share of the time at each, from :func:`shares_of_time`.
    ``percentile``: share of the time, in 0..1.
    """
    reached = np.cumsum(shares)
    return float(levels[min(int(np.searchsorted(reached, percentile - 1e-12)), len(levels) - 1)])
