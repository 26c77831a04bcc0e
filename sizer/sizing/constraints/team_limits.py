"""The team in the search: which sizes meet its waits, and what storage and network must carry for it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Generic, TypeVar

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.perf.scheduling import LateStartLimit, Schedule, level_at_percentile, schedule, servers_of, shares_of_time
from sizer.perf.stage_capacity import throughput
from sizer.physical.platform import Platform
from sizer.sizing.constraints.job_mix import JobMix, Jobs, PermanentJobs, QueuedJobs, draw_jobs
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.own_networks import hardware_gains
from sizer.sizing.stages.platform_columns import Columns, ServerRows, compute_groups
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.team import PRIORITY_RANKS, Team, TeamJob

# Levels of a sum beyond which neighbours are joined (upwards) before the next is added.
_MOST_LEVELS = 1_000


Amount = TypeVar("Amount", float, Floats)


@dataclass(frozen=True)
class Reads(Generic[Amount]):
    """What a job of one kind reads while it runs: numbers, or arrays (rows,)."""

    start_up_share: Amount  # of its time, in which it reads nothing
    cold_share: Amount  # of its time, in which it reads its data set for the first time
    cold_bytes_per_s: Amount
    warm_bytes_per_s: Amount  # for the rest of its time

    @property
    def most_bytes_per_s(self) -> Amount:
        """At most. [B/s]"""
        quantity: Amount = np.maximum(self.cold_bytes_per_s, self.warm_bytes_per_s)
        return quantity

    @property
    def mean_bytes_per_s(self) -> Amount:
        """On average over its time. [B/s]"""
        warm = 1 - self.start_up_share - self.cold_share
        return self.cold_share * self.cold_bytes_per_s + warm * self.warm_bytes_per_s

    def at(self, row: int) -> "Reads[float]":
        """Of one row of arrays."""
        return Reads(*(float(np.asarray(getattr(self, field.name))[row]) for field in fields(Reads)))


def standing_demand(counts: Sequence[int], reads: Sequence[Reads[float]]) -> tuple[Floats, Floats]:
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


def worst_bytes_per_s(
    case: JobMix, sizes: Ints, queue: Sequence[Reads[float]], standing: Sequence[Reads[float]]
) -> Floats:
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

    def demand(self, reads: Sequence[Reads[float]]) -> tuple[Floats, Floats]:
        """Levels of what all jobs of the queue read together, and the share of the time of each."""
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


@dataclass(frozen=True)
class JobFacts(Reads[Floats]):
    """One kind of job on every row: a platform, or a kind of server. Arrays (rows,)."""

    job: TeamJob
    jobs_a_day: float  # on a working day; 0: it always runs
    servers: Ints  # whole servers that it takes; 0: a share of one
    duration_s: Floats  # mean; inf where it always runs and has no length
    samples_per_s: Floats  # on its own GPUs, storage not limiting; 0 without a workload
    hit_fraction: Floats  # of its share of the servers' memory, after the first epoch

    def fits(self, row: int) -> bool:
        """Whether its GPUs hold its network."""
        return self.job.workload is None or float(self.samples_per_s[row]) != 0


def job_facts(
    team: Team,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    cols: Columns,
    catalog: Catalog,
    calibration: Calibration,
) -> tuple[JobFacts, ...]:
    """Facts of every kind of job.

    ``platforms``: all platforms, in the order of the compute groups of ``cols``. ``cols``: one entry a row; line rates
    as they are without an oversubscribed fabric, as a job finds its servers close by.

    A job runs as its workload would on a cluster of its own GPUs: inside one server with its share of the host's
    cores and memory by GPUs, beyond with whole servers. Storage does not hold it up: it is sized for what all jobs
    read. The first epoch is read in full, later ones as far as the job's share of the memory does not hold the set.
    """
    by_name = {work.request.name: work for work in works}
    return tuple(
        _facts(team, job, by_name.get(job.workload or ""), platforms, cols, catalog, calibration) for job in team.job
    )


def _facts(
    team: Team,
    job: TeamJob,
    work: ResolvedWorkload | None,
    platforms: Sequence[Platform],
    cols: Columns,
    catalog: Catalog,
    calibration: Calibration,
) -> JobFacts:
    fitted = cols.gpus_per_server.astype(np.int64)
    servers = np.array([servers_of(job.gpus, int(count), job.whole_servers) for count in fitted], dtype=np.int64)
    zero = np.zeros(fitted.shape)
    stated = _stated_s(job, platforms, cols, catalog)
    jobs_a_day = team.jobs_a_day(job)
    if work is None:
        return JobFacts(zero, zero, zero, zero, job, jobs_a_day, servers, stated, zero, zero)
    part = np.where(servers > 0, 1.0, np.minimum(job.gpus / fitted, 1.0))
    on = np.maximum(servers, 1)
    own = replace(cols, gpus_per_server=job.gpus / on, cores=cols.cores * part, cache_bytes=cols.cache_bytes * part)
    hosts = ServerRows(platforms, own, on, catalog, calibration)
    comp = compute_side.compute(work, hosts)
    # What the GPUs of a job do not hold reads nothing.
    fits = all_fit([work], hosts)
    rate = np.where(fits, throughput([comp.gpu, comp.decode, comp.host_link]).value, 0.0)
    epoch_s = np.where(fits, work.n_samples / np.where(fits, rate, 1.0), np.inf)
    length = evaluate.run_epochs(work, comp, own, on, calibration)
    duration_s, cold_s = stated, epoch_s
    if job.duration_s is None and length is not None:
        cold_s = np.minimum(length.value, 1.0) * epoch_s
        # Storage holds no epoch up.
        duration_s = evaluate.time_s(work, length.value, rate, rate, calibration.start_up_s)
    # A job of unknown length that always runs is taken to read as in its first epoch.
    known = np.isfinite(duration_s)
    cold_share = np.where(known, np.minimum(cold_s / np.where(known, duration_s, 1.0), 1.0), 1.0)
    start_up = np.minimum(calibration.start_up_s / duration_s, 1 - cold_share)
    return JobFacts(
        job=job,
        jobs_a_day=jobs_a_day,
        servers=servers,
        duration_s=duration_s,
        samples_per_s=rate,
        start_up_share=start_up,
        cold_share=cold_share,
        cold_bytes_per_s=read_demand_bytes_per_s(rate, work.sample_bytes),
        warm_bytes_per_s=read_demand_bytes_per_s(rate, work.sample_bytes, comp.hit_fraction),
        hit_fraction=comp.hit_fraction,
    )


def _stated_s(job: TeamJob, platforms: Sequence[Platform], cols: Columns, catalog: Catalog) -> Floats:
    """Stated duration of a job on every row: on another GPU by the middle of the gains in peak and memory bandwidth."""
    stated = np.full(cols.gpus_per_server.shape, np.inf if job.duration_s is None else job.duration_s)
    if job.duration_gpu is None:
        return stated
    there = catalog.gpus[job.duration_gpu]
    gains = [sum(hardware_gains(catalog.gpus[group.gpu], there, "mixed")) / 2 for group in compute_groups(platforms)[0]]
    return np.asarray(stated / np.exp(gains)[cols.compute])


@dataclass(frozen=True)
class TeamCase:
    """A team on one kind of server: its case, and what its jobs read."""

    case: JobMix
    queue: tuple[int, ...]  # places of the jobs that come and go among those of the team
    standing: tuple[int, ...]  # and of those that always run
    waits_s: tuple[float, ...]  # targets of those that come and go
    queue_reads: tuple[Reads[float], ...]
    standing_reads: tuple[Reads[float], ...]

    @classmethod
    def of(cls, team: Team, facts: Sequence[JobFacts], row: int, gpus_per_server: int) -> "TeamCase":
        """JobMix of one row of the facts."""
        queue = tuple(index for index, fact in enumerate(facts) if fact.jobs_a_day)
        standing = tuple(index for index, fact in enumerate(facts) if not fact.jobs_a_day)
        kinds = tuple(
            QueuedJobs(
                facts[place].job.gpus,
                facts[place].job.whole_servers,
                facts[place].jobs_a_day,
                float(facts[place].duration_s[row]) if facts[place].fits(row) else 0.0,
                facts[place].job.durations == "fixed",
                PRIORITY_RANKS[facts[place].job.priority],
                facts[place].job.sessions_per_gpu,
                facts[place].fits(row),
            )
            for place in queue
        )
        always = tuple(
            PermanentJobs(
                job.gpus, job.whole_servers, job.always_running or 0, job.sessions_per_gpu, facts[place].fits(row)
            )
            for place, job in ((place, facts[place].job) for place in standing)
        )
        case = JobMix(gpus_per_server, kinds, always, team.hours_a_day, team.days_a_week, team.order)
        waits = (facts[place].job.wait_s for place in queue)
        return cls(
            case=case,
            queue=queue,
            standing=standing,
            waits_s=tuple(team.wait_s if wait is None else wait for wait in waits),
            queue_reads=tuple(facts[place].at(row) for place in queue),
            standing_reads=tuple(facts[place].at(row) for place in standing),
        )

    def demand(self, run: Simulated) -> tuple[Floats, Floats]:
        """Levels of what all jobs read together, and the share of the time of each."""
        there = standing_demand([job.n_jobs for job in self.case.standing], self.standing_reads)
        return added(run.demand(self.queue_reads), there)

    def average_bytes_per_s(self, run: Simulated) -> float:
        """Mean of that demand. [B/s]"""
        levels, shares = run.demand(self.queue_reads)
        always = zip(self.case.standing, self.standing_reads, strict=True)
        return float(levels @ shares) + sum(job.n_jobs * read.mean_bytes_per_s for job, read in always)

    def worst(self, sizes: Ints) -> Floats:
        """Most that jobs could read at once on every number of servers. [B/s]"""
        return worst_bytes_per_s(self.case, sizes, self.queue_reads, self.standing_reads)

    def carried(self, run: Simulated, percentile: float) -> float:
        """What is read at most for a share of the time, were there room without end for the rest. [B/s]"""
        return np.inf if percentile >= 1 else level_at_percentile(*self.demand(run), percentile)


@dataclass(frozen=True)
class TeamLimits:
    """What a team asks of every design. Arrays (kinds of servers, sizes)."""

    waits: Bools  # kinds of jobs start in time, and those that always run are placed
    bytes_per_s: Floats  # that storage, mounts and network carry for all jobs together
    cases: tuple[TeamCase | None, ...]  # of every kind of server; None: not looked at

    def take(self, kinds: Ints) -> "TeamLimits":
        """Those of some kinds of servers."""
        return TeamLimits(self.waits[kinds], self.bytes_per_s[kinds], tuple(self.cases[kind] for kind in kinds))


def team_limits(
    team: Team,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    cols: Columns,
    sizes: Ints,
    looked_at: Bools,
    catalog: Catalog,
    calibration: Calibration,
) -> TeamLimits:
    """Limits of a team on some kinds of servers.

    ``platforms``: all platforms, in the order of the compute groups of ``cols``. ``cols``: one entry a kind of server,
    as :func:`sizer.sizing.constraints.team_limits.job_facts` takes them. ``sizes`` (sizes,): numbers of servers.
    ``looked_at`` (kinds,): kinds that are simulated; the others are ruled out already, so that no limit of the team is
    told for them.

    The waits are always those of the simulated calendar, for one kind of job, too. Erlang's formula at the rate of the
    working hours would take a job of two days for one that must end before the evening, while the night and the
    weekend drain the line; and were one kind sized by the formula and two by simulation, a second kind of job could
    need fewer servers. Both agree where the formula is exact: all hours of the week, exponential durations.

    The demand is simulated at the fewest servers that meet the waits. With more servers jobs start earlier until none
    waits any more; from there on the demand does not grow. Between the two the larger one is taken, but never more
    than the jobs that find room at once could read. So it never falls with more servers.
    """
    facts = job_facts(team, works, platforms, cols, catalog, calibration)
    waits = np.ones((len(looked_at), len(sizes)), dtype=bool)
    demand = np.zeros((len(looked_at), len(sizes)))
    cases: list[TeamCase | None] = [None] * len(looked_at)
    known: dict[TeamCase, tuple[Bools, Floats]] = {}  # kinds of servers that differ in no number of the team
    for row in np.flatnonzero(looked_at).tolist():
        one = cases[row] = TeamCase.of(team, facts, row, int(cols.gpus_per_server[row]))
        if one not in known:
            known[one] = _limits_of(one, team, sizes)
        waits[row], demand[row] = known[one]
    return TeamLimits(waits, demand, tuple(cases))


def _limits_of(team_case: TeamCase, team: Team, sizes: Ints) -> tuple[Bools, Floats]:
    most = int(sizes.max())
    fewest = fewest_servers(team_case.case, team_case.waits_s, team.wait_probability, most)
    unhindered = team_case.carried(without_queue(team_case.case), team.demand_percentile)
    if fewest is None:
        return np.zeros(sizes.shape, dtype=bool), np.minimum(unhindered, team_case.worst(sizes))
    least = team_case.carried(simulated(team_case.case, fewest), team.demand_percentile)
    demand = np.where(sizes > fewest, max(least, unhindered), least)
    return sizes >= fewest, np.minimum(demand, team_case.worst(sizes))
