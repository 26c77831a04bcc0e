"""The team in the search: which sizes meet its waits, and what storage and network must carry for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.perf.scheduling import level_at_percentile, servers_of
from sizer.perf.stage_capacity import throughput
from sizer.physical.platform import Platform
from sizer.sizing.constraints.job_mix import JobMix, PermanentJobs, QueuedJobs
from sizer.sizing.constraints.team_reads import Reads, added, standing_demand, worst_bytes_per_s
from sizer.sizing.constraints.team_simulation import Simulated, fewest_servers, simulated, without_queue
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.team import PRIORITY_RANKS, Team, TeamJob


@dataclass(frozen=True)
class JobFacts:
    """One kind of job on every row: a platform, or a kind of server. Arrays (rows,)."""

    job: TeamJob
    jobs_a_day: float  # on a working day; 0: it always runs
    servers: Ints  # whole servers that it takes; 0: a share of one
    duration_s: Floats  # mean; inf where it always runs and has no length
    samples_per_s: Floats  # on its own GPUs, storage not limiting; 0 without a workload
    start_up_share: Floats  # of its time, in which it reads nothing
    cold_share: Floats  # of its time, in which it reads its data set for the first time
    cold_bytes_per_s: Floats
    warm_bytes_per_s: Floats  # for the rest of its time
    hit_fraction: Floats  # of its share of the servers' memory, after the first epoch

    def fits(self, row: int) -> bool:
        """Whether its GPUs hold its network."""
        return self.job.workload is None or float(self.samples_per_s[row]) != 0

    @property
    def mean_bytes_per_s(self) -> Floats:
        """What it reads on average while it runs. [B/s]"""
        warm = 1 - self.start_up_share - self.cold_share
        return np.asarray(self.cold_share * self.cold_bytes_per_s + warm * self.warm_bytes_per_s)

    @property
    def most_bytes_per_s(self) -> Floats:
        """What it reads at most. [B/s]"""
        return np.maximum(self.cold_bytes_per_s, self.warm_bytes_per_s)


def job_facts(
    team: Team,
    works: Sequence[ResolvedWorkload],
    platforms: Sequence[Platform],
    cols: Columns,
    catalog: Catalog,
    calibration: Calibration,
) -> tuple[JobFacts, ...]:
    """Facts of every kind of job.

    Parameters
    ----------
    team : Team
    works : sequence of ResolvedWorkload
        Of the whole request.
    platforms : sequence of Platform
        All platforms, in the order of the compute groups of ``cols``.
    cols : Columns
        One entry a row; line rates as they are without an oversubscribed fabric, as a job finds its servers close by.
    catalog : Catalog
    calibration : Calibration

    Notes
    -----
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
    stated = np.full(fitted.shape, np.inf if job.duration_s is None else job.duration_s)
    jobs_a_day = team.jobs_a_day(job)
    if work is None:
        return JobFacts(job, jobs_a_day, servers, stated, zero, zero, zero, zero, zero, zero)
    part = np.where(servers > 0, 1.0, np.minimum(job.gpus / fitted, 1.0))
    on = np.maximum(servers, 1)
    own = replace(cols, gpus_per_server=job.gpus / on, cores=cols.cores * part, cache_bytes=cols.cache_bytes * part)
    comp = compute_side.compute(work, platforms, own, on, calibration, catalog)
    # What the GPUs of a job do not hold reads nothing.
    fits = all_fit([work], platforms, own, on, calibration, catalog)
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


@dataclass(frozen=True)
class TeamCase:
    """A team on one kind of server: its case, and what its jobs read."""

    case: JobMix
    queue: tuple[int, ...]  # places of the jobs that come and go among those of the team
    standing: tuple[int, ...]  # and of those that always run
    waits_s: tuple[float, ...]  # targets of those that come and go
    queue_reads: tuple[Reads, ...]
    standing_reads: tuple[Reads, ...]

    @classmethod
    def of(cls, team: Team, facts: Sequence[JobFacts], row: int, gpus_per_server: int) -> "TeamCase":
        """JobMix of one row of the facts."""
        queue = tuple(place for place, one in enumerate(facts) if one.jobs_a_day)
        standing = tuple(place for place, one in enumerate(facts) if not one.jobs_a_day)
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
            queue_reads=tuple(_reads(facts[place], row) for place in queue),
            standing_reads=tuple(_reads(facts[place], row) for place in standing),
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


def _reads(facts: JobFacts, row: int) -> Reads:
    return Reads(
        float(facts.start_up_share[row]),
        float(facts.cold_share[row]),
        float(facts.cold_bytes_per_s[row]),
        float(facts.warm_bytes_per_s[row]),
    )


@dataclass(frozen=True)
class TeamLimits:
    """What a team asks of every design. Arrays (kinds of servers, sizes)."""

    waits: Bools  # kinds of jobs start in time, and those that always run are placed
    bytes_per_s: Floats  # that storage, mounts and network carry for all jobs together
    cases: tuple[TeamCase | None, ...]  # of every kind of server; None: not looked at


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

    Parameters
    ----------
    team : Team
    works : sequence of ResolvedWorkload
        Of the whole request.
    platforms : sequence of Platform
        All platforms, in the order of the compute groups of ``cols``.
    cols : Columns
        One entry a kind of server, as :func:`sizer.sizing.constraints.team_limits.job_facts` takes them.
    sizes : ndarray of int, shape (sizes,)
        Numbers of servers. [-]
    looked_at : ndarray of bool, shape (kinds,)
        Kinds that are simulated; the others are ruled out already, so that no limit of the team is told for them.
    catalog : Catalog
    calibration : Calibration

    Notes
    -----
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


def _limits_of(one: TeamCase, team: Team, sizes: Ints) -> tuple[Bools, Floats]:
    most = int(sizes.max())
    fewest = fewest_servers(one.case, one.waits_s, team.wait_probability, most)
    unhindered = one.carried(without_queue(one.case), team.demand_percentile)
    if fewest is None:
        return np.zeros(sizes.shape, dtype=bool), np.minimum(unhindered, one.worst(sizes))
    least = one.carried(simulated(one.case, fewest), team.demand_percentile)
    demand = np.where(sizes > fewest, max(least, unhindered), least)
    return sizes >= fewest, np.minimum(demand, one.worst(sizes))
