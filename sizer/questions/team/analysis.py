"""The team of a request on a design: who waits how long, what all jobs read together, and what would be enough."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.quantities import NARROW_SPACE, by_count, duration, grouped, plain, si
from sizer.catalog.model import Catalog
from sizer.perf import queueing
from sizer.physical.platform import Platform
from sizer.sizing.constraints.team_jobs import JobFacts, job_facts
from sizer.sizing.constraints.team_limits import TeamCase
from sizer.sizing.constraints.team_simulation import SEED, Simulated, fewest_servers, simulated
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.platform_columns import columns, narrowed
from sizer.workload.team import Team, TeamJob

# Points of the curve of the demand that charts draw.
_CURVE_POINTS = 101
# Sizes on each side of the design that a chart of waits against servers shows.
_SIZES_BESIDE = 4
# A team that needs more servers than this needs another answer.
MOST_SERVERS = 100_000
# Waits of a kind of job that are told.
WAIT_QUANTILES = (0.5, 0.9, 0.95)


@dataclass(frozen=True)
class JobModel:
    """One kind of job on the servers of a design."""

    job: TeamJob
    jobs_a_day: float  # on a working day; 0: it always runs
    whole_servers: int  # that it takes; 0: a share of one
    duration_s: float  # mean; inf: always running, without a length
    duration_how: str  # one sentence
    samples_per_s: float  # on its own GPUs; 0 without a workload
    wait_s: float  # its target
    start_up_share: float  # of its time, in which it reads nothing
    cold_share: float  # of its time, in which it reads its data for the first time
    cold_bytes_per_s: float
    warm_bytes_per_s: float  # for the rest of its time
    mean_bytes_per_s: float
    reads_how: str  # one sentence


@dataclass(frozen=True)
class KindRun:
    """One kind of job on so many servers."""

    name: str
    n_jobs: int  # simulated and counted; of those that always run how many there are
    share_within: float  # that starts within the target
    share_error: float  # its standard error
    mean_wait_s: float
    wait_quantiles_s: tuple[float, ...]  # of WAIT_QUANTILES
    meets: bool


@dataclass(frozen=True)
class Demand:
    """What all running jobs read from storage together. [B/s]"""

    worst_bytes_per_s: float  # most that could run at once, each at its hungriest
    average_bytes_per_s: float
    asked_bytes_per_s: float  # kept below for the asked share of the time
    percentile: float  # that share
    shares: Floats  # (points,) of the time, 0 to 1
    levels_bytes_per_s: Floats  # (points,) that the demand stays at or below for that share


@dataclass(frozen=True)
class TeamRun:
    """The team on so many servers of one kind."""

    n_servers: int
    n_gpus: int
    kinds: tuple[KindRun, ...]  # in the order of the request
    all_placed: bool  # every job that always runs has its GPUs
    meets: bool  # the waits of all kinds
    gpus_busy_fraction: float  # GPUs that compute, on average over all hours of the week
    gpus_held_fraction: float  # GPUs that jobs hold without using them: of whole servers
    idle_fraction: float  # GPUs that stand idle while a job waits
    fragmentation_fraction: float  # of these: as many as the first in line asks for, but scattered over servers
    n_jobs: int  # simulated and counted
    n_weeks: int
    demand: Demand


@dataclass(frozen=True)
class TeamModel:
    """The team on servers of one kind, to be run on any number of them."""

    team: Team
    jobs: tuple[JobModel, ...]
    gpus_per_server: int
    case: TeamCase

    def on(self, n_servers: int) -> TeamRun:
        """The team on so many servers; 1 or more."""
        run = simulated(self.case.case, n_servers)
        kinds = tuple(self._kind(run, index) for index in range(len(self.jobs)))
        n_gpus = n_servers * self.gpus_per_server
        used, held = _gpus_taken(run)
        return TeamRun(
            n_servers=n_servers,
            n_gpus=n_gpus,
            kinds=kinds,
            all_placed=run.all_placed,
            meets=all(kind.meets for kind in kinds),
            gpus_busy_fraction=used / n_gpus,
            gpus_held_fraction=(held - used) / n_gpus,
            idle_fraction=run.idle_gpus / n_gpus,
            fragmentation_fraction=run.fragment_gpus / n_gpus,
            n_jobs=int(run.counted.sum()),
            n_weeks=run.case.weeks,
            demand=self._demand(run),
        )

    def fewest(self, most: int) -> int | None:
        """Fewest servers, up to ``most``, that meet the waits; None where they do not."""
        return fewest_servers(self.case.case, self.case.waits_s, self.team.wait_probability, most)

    def _kind(self, run: Simulated, index: int) -> KindRun:
        one = self.jobs[index]
        if not one.jobs_a_day:
            count = one.job.always_running or 0
            nothing = (0.0,) * len(WAIT_QUANTILES)
            return KindRun(one.job.name, count, float(run.all_placed), 0.0, 0.0, nothing, run.all_placed)
        place = self.case.queue.index(index)
        waits = run.waits_s(place)
        share = run.share_within(place, one.wait_s)
        if not len(waits):
            waits = np.array([0.0 if share else np.inf])
        return KindRun(
            name=one.job.name,
            n_jobs=int((run.counted & (run.jobs.kind == place)).sum()),
            share_within=share,
            share_error=run.share_error(place, one.wait_s),
            mean_wait_s=float(waits.mean()),
            wait_quantiles_s=tuple(float(np.sort(waits)[int(np.ceil(q * len(waits))) - 1]) for q in WAIT_QUANTILES),
            meets=run.all_placed and share >= self.team.wait_probability - 1e-9,
        )

    def _demand(self, run: Simulated) -> Demand:
        levels, shares = self.case.demand(run)
        worst = float(self.case.worst(np.array([run.n_servers]))[0])
        points = np.linspace(0, 1, _CURVE_POINTS)
        place = np.searchsorted(np.cumsum(shares), points - 1e-12)
        curve = levels[np.minimum(place, len(levels) - 1)]
        return Demand(
            worst_bytes_per_s=worst,
            average_bytes_per_s=self.case.average_bytes_per_s(run),
            asked_bytes_per_s=min(self.case.carried(run, self.team.demand_percentile), worst),
            percentile=self.team.demand_percentile,
            shares=points,
            levels_bytes_per_s=np.minimum(curve, worst),
        )


@dataclass(frozen=True)
class ErlangCheck:
    """What Erlang's formula says of the one kind of job at the rate of the working hours."""

    n_places: int  # jobs that run at once on the design
    load: float  # jobs that would run at once if the working hours never ended [erlang]
    share_within: float
    mean_wait_s: float
    n_servers: int  # fewest for the wait target
    is_exact: (
        bool  # all hours of the week are working hours, and durations are exponential; else it is an upper reading
    )


@dataclass(frozen=True)
class Carries:
    """What the design's storage and its ways to the servers carry, against what the team reads. [B/s]"""

    storage_bytes_per_s: float  # nodes, at the confidence asked
    mounts_bytes_per_s: float  # at the confidence asked
    network_bytes_per_s: float  # least of front end, gateway and the servers' ports
    asked_bytes_per_s: float
    limit: str  # "storage", "mounts" or "network": the least of the three

    @property
    def bytes_per_s(self) -> float:
        """The least of the three."""
        return min(self.storage_bytes_per_s, self.mounts_bytes_per_s, self.network_bytes_per_s)

    @property
    def load_fraction(self) -> float:
        """What is asked for over what is carried."""
        return self.asked_bytes_per_s / self.bytes_per_s


@dataclass(frozen=True)
class TeamAnswer:
    """The team of a request on its design, and on smaller and larger ones."""

    team: Team
    model: TeamModel
    run: TeamRun  # on the design
    runs: tuple[TeamRun, ...]  # on some sizes of the same kind of server, rising; the design's among them
    n_servers_for_waits: int  # fewest that meet the waits; the workloads' own targets may need more
    erlang: ErlangCheck | None  # where one kind of job waits
    carries: Carries
    assumptions: tuple[str, ...]  # sentences


def team_model(evaluated: EvaluatedDesign) -> TeamModel | None:
    """The team of a request on the servers of its design.

    Parameters
    ----------
    evaluated : EvaluatedDesign

    Returns
    -------
    TeamModel or None
        None without a team, and where the catalogue does not hold the design's parts.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    request, platform = result.request, result.design.platform
    first = evaluated.workloads[0]
    if request.team is None or first is None:
        return None
    cols = columns([platform], catalog, request.platforms.gpus_per_server)
    facts = job_facts(request.team, first.works, [platform], cols, catalog, fitted)
    gpus = int(cols.gpus_per_server[0])
    jobs = tuple(_job_model(one, request.team, platform) for one in facts)
    return TeamModel(request.team, jobs, gpus, TeamCase.of(request.team, facts, 0, gpus))


def team_answer(evaluated: EvaluatedDesign) -> TeamAnswer | None:
    """Waits, demand and what would be enough for the team of a request; None as for :func:`team_model`.

    Parameters
    ----------
    evaluated : EvaluatedDesign
    """
    result, catalog = evaluated.result, evaluated.catalog
    model = team_model(evaluated)
    if model is None:
        return None
    servers = result.design.n_servers
    # A design or a team that was changed by hand may not meet the waits on as many servers.
    fewest = model.fewest(MOST_SERVERS) or servers
    runs = {count: model.on(count) for count in _sizes(model.case.case.least_servers, fewest, servers)}
    return TeamAnswer(
        team=model.team,
        model=model,
        run=runs[servers],
        runs=tuple(runs.values()),
        n_servers_for_waits=fewest,
        erlang=_erlang(model, servers),
        carries=_carries(result, runs[servers].demand.asked_bytes_per_s, catalog),
        assumptions=tuple(_assumptions(model, runs[servers])),
    )


def _sizes(least: int, fewest: int, servers: int) -> list[int]:
    """Sizes around the fewest servers and the design's, from the offered load on: below it the line has no end."""
    beside = max(_SIZES_BESIDE, fewest // 4)
    low, high = max(least, min(fewest, servers) - beside), max(fewest, servers) + beside
    spread = np.round(np.linspace(low, high, min(high - low + 1, 4 * _SIZES_BESIDE))).astype(int)
    return sorted({*spread.tolist(), fewest, servers})


def _gpus_taken(run: Simulated) -> tuple[float, float]:
    """GPUs that jobs use, and those that they hold, on average over the weeks that count."""
    begin, end = run.case.window_s
    jobs = run.jobs
    starts = np.where(np.isfinite(run.start_s), run.start_s, end)
    there = np.clip(starts + jobs.duration_s, begin, end) - np.clip(starts, begin, end)
    held_by = np.array([run.case.held(kind.gpus, kind.whole_servers) for kind in run.case.kinds] or [0])
    used = float(there @ jobs.gpus) / (end - begin)
    held = float(there @ held_by[jobs.kind]) / (end - begin)
    placed = run.case.cluster(run.n_servers).placed
    each = [job for job in run.case.standing for _ in range(job.n_jobs)]
    for job, servers in zip(each, placed, strict=True):
        if servers:
            used += job.gpus
            held += run.case.held(job.gpus, job.whole_servers)
    return used, held


def _job_model(facts: JobFacts, team: Team, platform: Platform) -> JobModel:
    job, rate = facts.job, float(facts.samples_per_s[0])
    servers, length_s = int(facts.servers[0]), float(facts.duration_s[0])
    place = _place_text(job.gpus, servers, platform)
    if job.duration_s is not None:
        how = "Stated in the request."
    elif not np.isfinite(length_s):
        how = "It always runs; its length is not known."
    else:
        how = (
            f"Time to train {job.workload or ''} on {place} that storage does not hold up, with "
            f"{duration(float(facts.start_up_share[0]) * length_s)} to start."
        )
    cold, warm = float(facts.cold_bytes_per_s[0]), float(facts.warm_bytes_per_s[0])
    if not rate:
        reads = "It names no workload and is taken to read nothing that counts."
    elif not np.isfinite(length_s):
        reads = f"{si(cold, 'B/s')} all the time, as in a first epoch: its length is not known."
    elif warm >= cold:
        reads = f"{si(cold, 'B/s')} while it trains; its share of the memory saves nothing."
    else:
        reads = (
            "{cold} in its first epoch, {warm} after it: {share} of the reads end in its share of the memory."
        ).format(
            cold=si(cold, "B/s"), warm=si(warm, "B/s"), share=f"{100 * float(facts.hit_fraction[0]):.0f}{NARROW_SPACE}%"
        )
    return JobModel(
        job=job,
        jobs_a_day=facts.jobs_a_day,
        whole_servers=servers,
        duration_s=length_s,
        duration_how=how,
        samples_per_s=rate,
        wait_s=team.wait_s if job.wait_s is None else job.wait_s,
        start_up_share=float(facts.start_up_share[0]),
        cold_share=float(facts.cold_share[0]),
        cold_bytes_per_s=cold,
        warm_bytes_per_s=warm,
        mean_bytes_per_s=float(facts.mean_bytes_per_s[0]),
        reads_how=reads,
    )


def _place_text(gpus: int, servers: int, platform: Platform) -> str:
    if servers > 1:
        return f"{gpus} GPUs in {servers} × {platform.server.name}"
    return by_count(gpus, f"{gpus} GPU of a {platform.server.name}", f"{gpus} GPUs of a {platform.server.name}")


def _erlang(model: TeamModel, n_servers: int) -> ErlangCheck | None:
    team, case = model.team, model.case.case
    if len(case.kinds) != 1 or case.standing:
        return None
    kind, wait_s = case.kinds[0], model.case.waits_s[0]
    load = kind.jobs_a_day / (team.hours_a_day * 3600) * kind.duration_s
    gpus = case.gpus_per_server if kind.whole_servers and kind.gpus < case.gpus_per_server else kind.gpus
    places = int(queueing.cluster_places(n_servers, case.gpus_per_server, gpus))
    wanted = queueing.places_needed(load, kind.duration_s, wait_s, team.wait_probability)
    each = case.gpus_per_server // gpus
    needed = -(-wanted // each) if each else wanted * -(-gpus // case.gpus_per_server)
    late = queueing.waits_longer_probability(max(places, 1), load, kind.duration_s, wait_s)
    return ErlangCheck(
        n_places=places,
        load=load,
        share_within=float(1 - late) if places else 0.0,
        mean_wait_s=float(queueing.mean_wait_s(max(places, 1), load, kind.duration_s)) if places else np.inf,
        n_servers=needed,
        is_exact=team.hours_a_day == 24 and team.days_a_week == 7 and not kind.is_fixed,
    )


def _carries(result: SizingResult, asked: float, catalog: Catalog) -> Carries:
    request, design = result.request, result.design
    count, nodes = np.array([design.n_servers]), np.array([design.storage_nodes])
    index = np.zeros(1, dtype=np.int64)
    cols = columns([design.platform], catalog, request.platforms.gpus_per_server).take(index)
    cols = narrowed(cols, [design.platform], index, count, nodes, request.fabric)
    gateway = np.full(1, float(design.quantities.gateway_bytes_per_s[0]))
    side = evaluate.storage_side(cols, count, nodes, gateway)
    tail = 1 - evaluate.share_of(request)
    by_part = {
        "storage": float(side.read.quantile(tail)[0]),
        "mounts": float(side.mounts.quantile(tail)[0]),
        "network": float(
            np.min([side.front_end_bytes_per_s[0], side.gateway_bytes_per_s[0], side.server_nic_bytes_per_s[0]])
        ),
    }
    limit = min(by_part, key=lambda part: by_part[part])
    return Carries(by_part["storage"], by_part["mounts"], by_part["network"], asked, limit)


def _assumptions(model: TeamModel, run: TeamRun) -> Iterator[str]:
    team = model.team
    queue = [model.jobs[place] for place in model.case.queue]
    if queue:
        yield (
            f"Jobs arrive at random (Poisson) at a steady rate in {plain(team.hours_a_day)} hours of "
            f"{team.days_a_week} days a week, and none otherwise; they run at night, too."
        )
        spread = [job.job.name for job in queue if job.job.durations == "exponential"]
        if spread:
            yield (
                f"Durations spread exponentially around their mean: {', '.join(spread)}. State fixed "
                "durations for jobs that all last as long."
            )
        yield (
            f"{grouped(run.n_jobs)} jobs in {run.n_weeks} weeks are simulated after "
            f"{model.case.case.warm_up_weeks} weeks that are not counted, with the fixed seed {SEED}."
        )
        if team.order == "backfill":
            yield ("Backfill knows how long every job takes; guesses that are too long make waits longer than shown.")
    yield (
        "A job starts when all its GPUs are free at once: inside one server up to its GPUs, "
        "beyond in whole servers. Jobs in one server share its memory and cores by their GPUs, "
        "and do not slow one another otherwise."
    )
    if any(job.samples_per_s for job in model.jobs):
        yield (
            "Storage keeps up while it is sized for {share} of the time; in the rest jobs read more "
            "slowly, which is not simulated."
        ).format(share=f"{plain(100 * team.demand_percentile)}{NARROW_SPACE}%")
