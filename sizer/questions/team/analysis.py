"""The team of a request on a design: queue waits, reads of all jobs together, and the servers that the waits need."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sizer.catalog.model import Catalog
from sizer.sizing.constraints.team_limits import JobFacts, Simulated, TeamCase, fewest_servers, job_facts, simulated
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import SizingResult
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.platform_columns import columns, narrowed
from sizer.workload.team import JobsADay, QueueOrder, Team, TeamJob

# Quantiles of the wait of each kind of job.
WAIT_QUANTILES = (0.5, 0.9, 0.95)


class DurationSource(StrEnum):
    """Where the duration of a job comes from."""

    STATED = "stated"
    COMPUTED = "computed"  # time to train its workload on its GPUs, with storage that never limits
    UNKNOWN = "unknown"  # it always runs


class ReadPattern(StrEnum):
    """How a job reads from storage over its time."""

    NO_WORKLOAD = "no workload"  # counted as reading nothing
    DOES_NOT_FIT = "does not fit"  # its GPUs do not hold its network
    UNKNOWN_DURATION = "unknown duration"  # all the time as in a first epoch
    CONSTANT = "constant"  # its share of the memory saves no reads
    LESS_AFTER_FIRST_EPOCH = "less after the first epoch"


@dataclass(frozen=True)
class JobModel:
    """One kind of job on the servers of a design."""

    job: TeamJob
    jobs_a_day: float  # on a working day; 0: it always runs
    whole_servers: int  # servers that it takes; 0: a share of one
    duration_s: float  # mean; inf: it always runs, for an unknown time
    duration_source: DurationSource
    samples_per_s: float  # on its own GPUs; 0 without a workload, or where they do not hold it
    wait_s: float  # its target
    start_up_share: float  # of its time, in which it reads nothing
    cold_share: float  # of its time, in which it reads its data for the first time
    cold_bytes_per_s: float
    warm_bytes_per_s: float  # in the remaining time
    mean_bytes_per_s: float
    hit_fraction: float  # of its warm reads that its share of the servers' memory serves
    read_pattern: ReadPattern

    @property
    def is_uncounted(self) -> bool:
        """Whether it may read data, and nothing says how much: a notebook counts as reading nothing."""
        return self.read_pattern is ReadPattern.NO_WORKLOAD and self.job.kind != "notebook"


@dataclass(frozen=True)
class JobKindRun:
    """Waits of one kind of job on a number of servers."""

    name: str
    n_jobs: int  # simulated and counted; of those that always run, their number
    share_within: float  # that starts within the target
    share_error: float  # its standard error
    mean_wait_s: float
    wait_quantiles_s: tuple[float, ...]  # of WAIT_QUANTILES
    meets: bool


@dataclass(frozen=True)
class ReadDemand:
    """Reads of all running jobs together from storage. [B/s]"""

    worst_bytes_per_s: float  # most jobs that could run at once, each at its highest rate
    average_bytes_per_s: float
    asked_bytes_per_s: float  # not exceeded for the requested share of the time
    percentile: float  # that share


@dataclass(frozen=True)
class TeamRun:
    """The team on a number of servers of one kind."""

    n_servers: int
    n_gpus: int
    kinds: tuple[JobKindRun, ...]  # in the order of the request
    all_placed: bool  # every job that always runs has its GPUs
    meets: bool  # the waits of all kinds
    gpus_busy_fraction: float  # GPUs in use, on average over all hours of the week
    gpus_reserved_fraction: float  # GPUs reserved but not in use, by jobs that take whole servers
    idle_fraction: float  # GPUs idle while a job waits
    fragmentation_fraction: float  # of these: enough for the first job in the queue, but spread over servers
    n_jobs: int  # simulated and counted
    n_weeks: int
    demand: ReadDemand


@dataclass(frozen=True)
class ReadCapacity:
    """Read rates that storage, mounts and network deliver, and the team's demand. [B/s]"""

    storage_bytes_per_s: float  # nodes, at the requested confidence
    mounts_bytes_per_s: float  # at the requested confidence
    network_bytes_per_s: float  # least of front end, gateway and the servers' ports
    asked_bytes_per_s: float  # the team's demand
    bottleneck: str  # "storage", "mounts" or "network": the least of the three

    @property
    def bytes_per_s(self) -> float:
        """The least of the three."""
        return min(self.storage_bytes_per_s, self.mounts_bytes_per_s, self.network_bytes_per_s)

    @property
    def load_fraction(self) -> float:
        """Demand / least capacity."""
        return self.asked_bytes_per_s / self.bytes_per_s


# Sizes on each side of the design that a chart of waits by servers shows.
_SIZES_EACH_SIDE = 4
# Most servers examined for the waits of a team.
MOST_SERVERS = 100_000


@dataclass(frozen=True)
class TeamModel:
    """The team on servers of one kind, to be simulated on any number of them."""

    team: Team
    jobs: tuple[JobModel, ...]
    server_name: str
    gpus_per_server: int
    case: TeamCase
    gpu_memory_bytes: float

    def on(self, n_servers: int) -> TeamRun:
        """The team on a number of servers, 1 or more."""
        run = simulated(self.case.case, n_servers)
        kinds = tuple(self._kind(run, index) for index in range(len(self.jobs)))
        n_gpus = n_servers * self.gpus_per_server
        used, reserved = _mean_gpus(run)
        return TeamRun(
            n_servers=n_servers,
            n_gpus=n_gpus,
            kinds=kinds,
            all_placed=run.all_placed,
            meets=all(kind.meets for kind in kinds),
            gpus_busy_fraction=used / n_gpus,
            gpus_reserved_fraction=(reserved - used) / n_gpus,
            idle_fraction=run.idle_gpus / n_gpus,
            fragmentation_fraction=run.fragment_gpus / n_gpus,
            n_jobs=int(run.is_in_window.sum()),
            n_weeks=run.case.weeks,
            demand=self._demand(run),
        )

    def fewest(self, most: int) -> int | None:
        """Fewest servers, up to ``most``, that meet the waits; None if that many do not."""
        return fewest_servers(self.case.case, self.case.waits_s, self.team.wait_probability, most)

    def _kind(self, run: Simulated, index: int) -> JobKindRun:
        job = self.jobs[index]
        if not job.jobs_a_day:
            count = job.job.always_running or 0
            no_waits = (0.0,) * len(WAIT_QUANTILES)
            return JobKindRun(job.job.name, count, float(run.all_placed), 0.0, 0.0, no_waits, run.all_placed)
        place = self.case.queue.index(index)
        waits = run.waits_s(place)
        share = run.share_within(place, job.wait_s)
        if run.n_servers < run.case.least_servers:  # more work than they do: waits last as long as the simulation
            waits = np.full(1, np.inf)
        elif not len(waits):
            waits = np.array([0.0 if share else np.inf])
        return JobKindRun(
            name=job.job.name,
            n_jobs=int((run.is_in_window & (run.jobs.kind == place)).sum()),
            share_within=share,
            share_error=run.share_error(place, job.wait_s),
            mean_wait_s=float(waits.mean()),
            wait_quantiles_s=tuple(float(np.sort(waits)[int(np.ceil(q * len(waits))) - 1]) for q in WAIT_QUANTILES),
            meets=run.all_placed and share >= self.team.wait_probability - 1e-9,
        )

    def _demand(self, run: Simulated) -> ReadDemand:
        worst = float(self.case.worst(np.array([run.n_servers]))[0])
        return ReadDemand(
            worst_bytes_per_s=worst,
            average_bytes_per_s=self.case.average_bytes_per_s(run),
            asked_bytes_per_s=min(self.case.carried(run, self.team.demand_percentile), worst),
            percentile=self.team.demand_percentile,
        )


@dataclass(frozen=True)
class TeamAnswer:
    """The team of a request on its design, and on smaller and larger ones."""

    team: Team
    model: TeamModel
    run: TeamRun  # on the design
    runs: tuple[TeamRun, ...]  # on some numbers of the same servers, rising; the design's among them
    n_servers_for_waits: int  # fewest that meet the waits; the workloads' own targets may need more
    read_capacity: ReadCapacity


def team_model(evaluated: EvaluatedDesign) -> TeamModel | None:
    """The team of a request on the servers of its design.

    None without a team.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    request, platform = result.request, result.design.platform
    if request.team is None:
        return None
    cols = columns([platform], catalog, request.platforms.gpus_per_server)
    facts = job_facts(request.team, evaluated.workloads[0].works, [platform], cols, catalog, fitted)
    gpus = int(cols.gpus_per_server[0])
    jobs = tuple(_job_model(of_job, request.team) for of_job in facts)
    case = TeamCase.of(request.team, facts, 0, gpus)
    return TeamModel(request.team, jobs, platform.server.name, gpus, case, platform.gpu.memory_bytes.value)


def team_answer(evaluated: EvaluatedDesign) -> TeamAnswer | None:
    """Waits, read demand and the servers needed for the team of a request; None as for :func:`team_model`."""
    result, catalog = evaluated.result, evaluated.catalog
    model = team_model(evaluated)
    if model is None:
        return None
    servers = result.design.n_servers
    # A design or a team that was changed by hand may miss the waits even with the most servers.
    fewest = model.fewest(MOST_SERVERS) or servers
    runs = {count: model.on(count) for count in _sizes(model.case.case.least_servers, fewest, servers)}
    return TeamAnswer(
        team=model.team,
        model=model,
        run=runs[servers],
        runs=tuple(runs.values()),
        n_servers_for_waits=fewest,
        read_capacity=_read_capacity(result, runs[servers].demand.asked_bytes_per_s, catalog),
    )


def _sizes(least: int, fewest: int, servers: int) -> list[int]:
    """Sizes around the fewest servers and the design's; below the offered load the queue grows without limit."""
    margin = max(_SIZES_EACH_SIDE, fewest // 4)
    low, high = max(least, min(fewest, servers) - margin), max(fewest, servers) + margin
    spread = np.round(np.linspace(low, high, min(high - low + 1, 4 * _SIZES_EACH_SIDE))).astype(int)
    return sorted({*spread.tolist(), fewest, servers})


def _mean_gpus(run: Simulated) -> tuple[float, float]:
    """GPUs that jobs use, and those that they reserve, on average over the weeks that count."""
    begin, end = run.case.window_s
    jobs = run.jobs
    starts = np.where(np.isfinite(run.start_s), run.start_s, end)
    running_s = np.clip(starts + jobs.duration_s, begin, end) - np.clip(starts, begin, end)
    kinds = run.case.kinds
    # Sessions that share a GPU use a part of it each; what all of them reserve is counted by GPU.
    parts = np.array([kind.sessions_per_gpu for kind in kinds] or [1])
    reserved_by = np.array([run.case.gpus_taken(kind.gpus, kind.whole_servers) for kind in kinds] or [0])
    used = float(running_s @ (jobs.gpus / parts[jobs.kind])) / (end - begin)
    own = np.where(parts > 1, 0, reserved_by)
    reserved = float(running_s @ own[jobs.kind]) / (end - begin) + run.shared_gpus
    placed = run.case.cluster(run.n_servers).placed
    always_running = [job for job in run.case.standing for _ in range(job.n_places)]
    for job, servers in zip(always_running, placed, strict=True):
        if servers:
            used += job.gpus
            reserved += run.case.gpus_taken(job.gpus, job.whole_servers)
    return used, reserved


def _job_model(facts: JobFacts, team: Team) -> JobModel:
    job = facts.job
    duration_s = float(facts.duration_s[0])
    samples_per_s = float(facts.samples_per_s[0])
    cold, warm = float(facts.cold_bytes_per_s[0]), float(facts.warm_bytes_per_s[0])
    if job.duration_s is not None:
        duration_source = DurationSource.STATED
    else:
        duration_source = DurationSource.COMPUTED if np.isfinite(duration_s) else DurationSource.UNKNOWN
    if not samples_per_s:
        read_pattern = ReadPattern.NO_WORKLOAD if job.workload is None else ReadPattern.DOES_NOT_FIT
    elif not np.isfinite(duration_s):
        read_pattern = ReadPattern.UNKNOWN_DURATION
    else:
        read_pattern = ReadPattern.CONSTANT if warm >= cold else ReadPattern.LESS_AFTER_FIRST_EPOCH
    return JobModel(
        job=job,
        jobs_a_day=facts.jobs_a_day,
        whole_servers=int(facts.servers[0]),
        duration_s=duration_s,
        duration_source=duration_source,
        samples_per_s=samples_per_s,
        wait_s=team.wait_s if job.wait_s is None else job.wait_s,
        start_up_share=float(facts.start_up_share[0]),
        cold_share=float(facts.cold_share[0]),
        cold_bytes_per_s=cold,
        warm_bytes_per_s=warm,
        mean_bytes_per_s=float(facts.mean_bytes_per_s[0]),
        hit_fraction=float(facts.hit_fraction[0]),
        read_pattern=read_pattern,
    )


def _read_capacity(result: SizingResult, demand_bytes_per_s: float, catalog: Catalog) -> ReadCapacity:
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
    bottleneck = min(by_part, key=lambda part: by_part[part])
    return ReadCapacity(by_part["storage"], by_part["mounts"], by_part["network"], demand_bytes_per_s, bottleneck)


@dataclass(frozen=True)
class TeamChange:
    """Changes of a team; None keeps the value of the request."""

    data_scientists: int | None = None
    jobs_ratio: float = 1.0  # of the jobs a day of every kind that queues
    wait_s: float | None = None  # of the team; kinds with their own target keep it
    order: QueueOrder | None = None
    n_servers: int | None = None  # of the design


def changed_team(team: Team, change: TeamChange) -> Team:
    """The team after a change.

    ``change``: the number of data scientists changes jobs that are stated per person; the others stay. Raises
    ValueError if a number of jobs leaves the range of a request.
    """
    data = team.model_dump(exclude_none=True)
    for key, value in (
        ("data_scientists", change.data_scientists),
        ("wait_s", change.wait_s),
        ("order", change.order),
    ):
        if value is not None:
            data[key] = value
    data["job"] = [{**as_data, **changed_rate(job, change)} for job, as_data in zip(team.job, data["job"], strict=True)]
    return Team.model_validate(data)


def changed_rate(job: TeamJob, change: TeamChange) -> dict[str, JobsADay]:
    """Jobs a day of one kind after a change, by their key; empty if they stay."""
    if change.jobs_ratio == 1:
        return {}
    stated = {"jobs_a_day": job.jobs_a_day, "jobs_a_day_each": job.jobs_a_day_each}
    return {key: float(f"{value * change.jobs_ratio:.6g}") for key, value in stated.items() if value is not None}


def changed_answer(evaluated: EvaluatedDesign, change: TeamChange) -> TeamAnswer | None:
    """The changed team on the design, or on another number of its servers with the same storage.

    None without a team. Raises RequestError if the team starts too many jobs to simulate. Raises ValueError as
    :func:`changed_team`.
    """
    result = evaluated.result
    team = result.request.team
    if team is None:
        return None
    request = result.request.model_copy(update={"team": changed_team(team, change)})
    design = result.design
    if change.n_servers is not None:
        each = design.n_gpus // design.n_servers
        design = replace(design, n_servers=change.n_servers, n_gpus=each * change.n_servers)
    return team_answer(replace(evaluated, result=replace(result, request=request, design=design)))
