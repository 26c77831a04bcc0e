"""A team's jobs on the cluster, as tables, in sentences and as plain text."""

from collections.abc import Iterator
from math import isfinite
from typing import Any, TypeAlias

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import NARROW_SPACE, by_count, duration, grouped, plain, si, with_decimal_sign
from sizer.base.units import GIB
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, fact_table, record_table, row, table_text
from sizer.present.words import listed, percent, plural
from sizer.questions.team.analysis import (
    WAIT_QUANTILES,
    DurationSource,
    JobKindRun,
    JobModel,
    ReadPattern,
    TeamAnswer,
    TeamRun,
)
from sizer.questions.what_if.answer import ComparedFigure
from sizer.sizing.constraints.job_mix import SEED
from sizer.workload.team import Team, TeamJob

# Shares of the GPUs below this are left out.
NEGLIGIBLE_SHARE = 5e-4
# Shorter waits print as none; smaller errors, in percentage points, are not printed.
_NO_WAIT_S = 1.0
_EXACT_POINTS = 0.05

KINDS = {"training": "training", "validation": "validation", "notebook": "notebook"}
_ORDERS = {
    "first-come": "first come, first served",
    "backfill": "first come, first served with backfill: a later job may fill a gap if it delays no earlier one",
}


# --- what the request asks for


def requested_team_table(team: Team) -> Table:
    """The team of the request."""
    hours = f"{plain(team.hours_a_day)} h a day, {team.days_a_week} days a week for submissions; jobs also run at night"
    return fact_table(
        "team-asked",
        "Team in the request",
        [
            ("Data scientists", grouped(team.data_scientists) if team.data_scientists else None),
            ("Working hours", hours),
            ("Queue order", _ORDERS[team.order]),
            ("Read demand covered", percentile_text(team)),
            *((f"Job: {job.name}", words.capital("; ".join(_job_facts(job, team)))) for job in team.job),
            row("Target", wait_text(team), kind="strong"),
        ],
        widths=(24, 76),
        style="asked",
    )


def wait_text(team: Team) -> str:
    """The wait target in words."""
    if all(job.always_running is not None for job in team.job):
        return "every job has its GPUs all the time"
    text = f"{words.percent(team.wait_probability)} of the jobs of each kind start within {duration(team.wait_s)}"
    return f"{text} unless the kind has its own target" if any(job.wait_s is not None for job in team.job) else text


def percentile_text(team: Team) -> str:
    """Share of the time for which storage and network deliver the reads of all jobs."""
    if team.demand_percentile == 1:
        return "all the time, even if every running job reads at once"
    return f"{words.percent(team.demand_percentile)} of the time"


def _frequency_text(job: TeamJob, team: Team) -> str:
    if job.always_running is not None:
        return by_count(
            job.always_running,
            f"{grouped(job.always_running)} runs all the time",
            f"{grouped(job.always_running)} run all the time",
        )
    if job.jobs_a_day_each is not None:
        return f"{plain(job.jobs_a_day_each)} a day per person, {plain(team.jobs_a_day(job))} a day in total"
    return f"{plain(team.jobs_a_day(job))} a day"


def _job_facts(job: TeamJob, team: Team) -> Iterator[str]:
    gpus = words.plural(job.gpus, "GPU")
    yield KINDS[job.kind]
    shared = f"{gpus} for {job.sessions_per_gpu} sessions" if job.sessions_per_gpu > 1 else gpus
    yield f"{gpus} in whole servers" if job.whole_servers else shared
    if job.priority != "normal":
        yield f"{job.priority} priority"
    yield _frequency_text(job, team)
    if job.duration_s is not None:
        where = "" if job.duration_gpu is None else " on the GPU that it was measured on"
        yield f"{duration(job.duration_s)} long{where}"
    if job.workload is not None:
        yield f"runs {job.workload}"
    if job.wait_s is not None:
        yield f"waits at most {duration(job.wait_s)}"


# --- what the design delivers


def jobs_table(answer: TeamAnswer) -> Table:
    """Kinds of job on the servers of the design."""
    return record_table(
        "team-jobs",
        "Jobs of the team on these servers",
        answer.model.jobs,
        [
            Field("Job", lambda job: job.job.name, "left", 29),
            Field("GPUs per job", _gpus_text, "left", 19),
            Field("Jobs a day", _jobs_a_day_text, "right", 13),
            Field("Duration", _duration_cell, "right", 13),
            Field("Mean read rate", lambda job: _read_cell(job, job.mean_bytes_per_s), "right", 13),
            Field("Peak", lambda job: _read_cell(job, max(job.cold_bytes_per_s, job.warm_bytes_per_s)), "right", 13),
        ],
        note="A job starts when all its GPUs are free: within one server, or in whole servers if it needs more.",
    )


def _gpus_text(job: JobModel) -> str:
    if job.job.sessions_per_gpu > 1:
        return f"1 for {job.job.sessions_per_gpu} sessions"
    if not job.whole_servers:
        return grouped(job.job.gpus)
    return f"{grouped(job.job.gpus)} in {words.plural(job.whole_servers, 'server')}"


def _jobs_a_day_text(job: JobModel) -> str:
    return plain(float(f"{job.jobs_a_day:.3g}")) if job.jobs_a_day else f"always {job.job.always_running or 0}"


def _duration_cell(job: JobModel) -> str | Cell:
    return duration(job.duration_s) if isfinite(job.duration_s) else Cell("no end", is_muted=True)


def _read_cell(job: JobModel, bytes_per_s: float) -> Cell:
    if job.read_pattern is ReadPattern.NO_WORKLOAD:
        return Cell("not stated", is_muted=True)
    if job.read_pattern is ReadPattern.DOES_NOT_FIT:
        return Cell("does not fit", is_muted=True)
    return Cell(si(bytes_per_s, "B/s")) if bytes_per_s > 0 else Cell("nothing", is_muted=True)


def sources_table(answer: TeamAnswer) -> Table:
    """Sources of the durations and read rates of the jobs."""
    server_name = answer.model.server_name
    return record_table(
        "team-origins",
        "Sources of durations and read rates",
        answer.model.jobs,
        [
            Field("Job", lambda job: job.job.name, "left", 24),
            Field("Duration", lambda job: duration_text(job, server_name), "left", 38),
            Field("Reads", reads_text, "left", 38),
        ],
    )


def duration_text(job: JobModel, server_name: str) -> str:
    """Source of a job's duration."""
    if job.duration_source is DurationSource.STATED:
        is_here = job.job.duration_gpu is None
        return f"Stated in the request{'.' if is_here else ' for a GPU: by peak and memory bandwidth on this one.'}"
    if job.duration_source is DurationSource.UNKNOWN:
        return "Always runs; duration unknown."
    gpus = words.plural(job.job.gpus, "GPU")
    place = f"{gpus} in {job.whole_servers} × {server_name}" if job.whole_servers > 1 else f"{gpus} of a {server_name}"
    start = duration(job.start_up_share * job.duration_s)
    return f"Time to train {job.job.workload or ''} on {place} with unlimited storage, including {start} to start."


def reads_text(job: JobModel) -> str:
    """How a job reads over its time."""
    first, later = si(job.cold_bytes_per_s, "B/s"), si(job.warm_bytes_per_s, "B/s")
    if job.read_pattern is ReadPattern.NO_WORKLOAD:
        return "No workload named: counted as reading nothing."
    if job.read_pattern is ReadPattern.DOES_NOT_FIT:
        return f"{words.plural(job.job.gpus, 'GPU')} do not hold {job.job.workload}: it cannot run as stated."
    if job.read_pattern is ReadPattern.UNKNOWN_DURATION:
        return f"{first} all the time, as in a first epoch, because its duration is unknown."
    if job.read_pattern is ReadPattern.CONSTANT:
        return f"{first} while it trains; its share of the memory saves no reads."
    hits = f"{100 * job.hit_fraction:.0f}{NARROW_SPACE}%"
    return f"{first} in its first epoch, {later} after it: its share of the memory serves {hits} of the reads."


def waits_table(answer: TeamAnswer) -> Table | None:
    """Queue wait of each kind of job compared with its target; None if none waits."""
    pairs = zip(answer.model.jobs, answer.run.kinds, strict=True)
    queued = [(job, kind) for job, kind in pairs if job.jobs_a_day]
    if not queued:
        return None
    run = answer.run
    note = (
        f"Target: {words.percent(answer.team.wait_probability)} of each kind. Simulated: "
        f"{words.plural(run.n_jobs, 'job')} in {grouped(run.n_weeks)} weeks."
    )
    if any("±" in share_text(kind) for _, kind in queued):
        note = f"{note} ± is the standard error of the share."
    if run.n_servers < answer.model.case.case.least_servers:
        note += f" The jobs are more work than {words.plural(run.n_servers, 'server')} can do: the queue has no end."
    if run.n_servers > answer.n_servers_for_waits:
        fewest = words.plural(answer.n_servers_for_waits, "server")
        note += f" {fewest} would be enough for the waits alone; the other targets need more."
    return record_table(
        "team-waits",
        f"Queue waits on {words.plural(run.n_servers, 'server')}",
        queued,
        [
            Field("Job", lambda pair: pair[1].name, "left", 25),
            *([_PRIORITY] if has_priorities(answer.team) else []),
            Field("Target wait", lambda pair: duration(pair[0].wait_s), "right", 12),
            Field("Start within it", lambda pair: share_text(pair[1]), "right", 17),
            Field("Mean wait", lambda pair: wait_duration(pair[1].mean_wait_s), "right", 11),
            *(_quantile_field(index) for index in range(1, len(WAIT_QUANTILES))),
            Field("Result", lambda pair: _met(pair[1].meets), "left", 10),
        ],
        note=note,
    )


_PRIORITY: Field[tuple[JobModel, JobKindRun]] = Field("Priority", lambda pair: pair[0].job.priority, "left", 12)


def has_priorities(team: Team) -> bool:
    """Whether jobs that queue differ in their priority."""
    return len({job.priority for job in team.job if job.always_running is None}) > 1


def _quantile_field(place: int) -> Field[tuple[JobModel, JobKindRun]]:
    title = f"{words.percent(WAIT_QUANTILES[place])} within"
    return Field(title, lambda pair: wait_duration(pair[1].wait_quantiles_s[place]), "right", 11)


def _met(is_met: bool) -> str:
    return "met" if is_met else "not met"


def share_text(kind: JobKindRun) -> str:
    """Share of the jobs of a kind that start within the target, with its standard error in points."""
    error = 100 * kind.share_error
    if error < _EXACT_POINTS:
        return words.percent(kind.share_within)
    share = f"{100 * kind.share_within:.1f}"
    return f"{with_decimal_sign(f'{share} ± {error:.1f}')}{NARROW_SPACE}%"


def wait_duration(seconds: float) -> str:
    """A wait in words."""
    if seconds < _NO_WAIT_S:
        return "no wait"
    return duration(seconds) if isfinite(seconds) else "no end"


def demand_table(answer: TeamAnswer) -> Table | None:
    """Reads of all running jobs compared with what the design delivers; None if they read nothing."""
    demand, capacity = answer.run.demand, answer.read_capacity
    if demand.worst_bytes_per_s <= 0:
        return None

    def read(label: str, bytes_per_s: float) -> tuple[str, str, str]:
        return label, si(bytes_per_s, "B/s"), words.percent(bytes_per_s / capacity.bytes_per_s)

    def delivered(label: str, part: str, bytes_per_s: float) -> tuple[str, str, str]:
        rate = si(bytes_per_s, "B/s") if isfinite(bytes_per_s) else "not limited"
        return label, rate, "bottleneck" if part == capacity.bottleneck else "–"

    uncounted = [job.job.name for job in answer.model.jobs if job.is_uncounted]
    without = f" Without {listed(uncounted)}, whose reads are not stated." if uncounted else ""
    requested = f"Reads not exceeded for {words.percent(demand.percentile)} of the time, as requested"
    return fact_table(
        "team-demand",
        "Reads of all jobs together, and what the design delivers",
        [
            read("Worst case: most jobs at once, each at its peak", demand.worst_bytes_per_s),
            row(*read(requested, demand.asked_bytes_per_s), kind="strong"),
            read("Average reads", demand.average_bytes_per_s),
            delivered("Delivered by the storage nodes", "storage", capacity.storage_bytes_per_s),
            delivered("Delivered by the mounts of the servers", "mounts", capacity.mounts_bytes_per_s),
            delivered("Delivered by the network between them", "network", capacity.network_bytes_per_s),
        ],
        titles=("All running jobs together", "Rate", "Of the bottleneck"),
        widths=(58, 20, 22),
        aligns=("left", "right", "right"),
        note=f"Delivered rates are those at the requested confidence.{without}",
        style="",
    )


def gpus_table(run: TeamRun) -> Table:
    """GPU utilization over all hours of the week."""
    reserved, idle, fragmented = run.gpus_reserved_fraction, run.idle_fraction, run.fragmentation_fraction
    shares = (
        ("In use by jobs", run.gpus_busy_fraction),
        ("Reserved but not in use: jobs that take whole servers", reserved),
        ("Idle while a job waits: too few free for the first job in the queue", idle - fragmented),
        ("Idle while a job waits: enough free, but spread over servers", fragmented),
        ("Idle with an empty queue", max(0.0, 1 - run.gpus_busy_fraction - reserved - idle)),
    )
    return record_table(
        "team-gpus",
        f"Utilization of the {words.plural(run.n_gpus, 'GPU')} over all hours of the week",
        [share for share in shares if share[1] >= NEGLIGIBLE_SHARE],
        [
            Field("State", lambda share: share[0], "left", 64),
            Field("Share", lambda share: words.percent(share[1]), "right", 16),
            Field("GPUs", lambda share: plain(round(share[1] * run.n_gpus, 1)), "right", 20),
        ],
    )


_Size: TypeAlias = tuple[TeamRun, JobKindRun]


def sizes_table(answer: TeamAnswer) -> Table | None:
    """The team on fewer and more servers; None if no job waits."""
    if not answer.model.case.queue:
        return None
    # Jobs that name no workload read at rates that nobody stated, which are no rates of zero.
    reads = Field[_Size]("Reads", lambda size: si(size[0].demand.asked_bytes_per_s, "B/s"), "right", 15)
    is_read = any(run.demand.asked_bytes_per_s > 0 for run in answer.runs)
    return record_table(
        "team-sizes",
        "The team on fewer and more servers",
        [(run, least_served(run, answer)) for run in answer.runs],
        [
            Field("Servers", lambda size: grouped(size[0].n_servers), "right", 9),
            Field("GPUs", lambda size: grouped(size[0].n_gpus), "right", 8),
            Field("Longest-waiting kind", lambda size: words.shortened(size[1].name), "left", 25),
            Field("On time", lambda size: words.percent(size[1].share_within), "right", 9),
            Field("90 % within", lambda size: wait_duration(size[1].wait_quantiles_s[1]), "right", 12),
            Field("GPU use", lambda size: words.percent(size[0].gpus_busy_fraction), "right", 9),
            *([reads] if is_read else []),
            Field("Wait target", lambda size: _met(size[0].meets), "left", 13),
        ],
        kind=lambda size: "strong" if size[0].n_servers == answer.run.n_servers else "",
        note=f"Reads: not exceeded for {words.percent(answer.team.demand_percentile)} of the time." if is_read else "",
    )


def least_served(run: TeamRun, answer: TeamAnswer) -> JobKindRun:
    """The kind of job, of those that wait, with the smallest share that starts within its target."""
    return min((run.kinds[place] for place in answer.model.case.queue), key=lambda kind: kind.share_within)


def team_document(design: str, answer: TeamAnswer) -> dict[str, Any]:
    """Everything about the answer; the length of a wait that never ends or of a job that always runs is null."""
    return json_document(
        "team",
        **fields_of(answer, "n_servers_for_waits"),
        assumptions=list(assumptions(answer)),
        design=design,
        jobs=[_job(job, answer.model.server_name) for job in answer.model.jobs],
        run=_run(answer.run),
        runs=[_run(run) for run in answer.runs],
        carries=fields_of(
            answer.read_capacity,
            *("storage_bytes_per_s", "mounts_bytes_per_s", "network_bytes_per_s", "asked_bytes_per_s"),
            "load_fraction",
            limit=answer.read_capacity.bottleneck,
        ),
    )


def _job(job: JobModel, server_name: str) -> dict[str, object]:
    return {
        **fields_of(job.job, "name", "kind", "gpus", "sessions_per_gpu", "priority", "always_running"),
        **fields_of(job, "whole_servers", "jobs_a_day", "duration_s", "samples_per_s", "wait_s"),
        **fields_of(job, "start_up_share", "cold_share"),
        **fields_of(job, "cold_bytes_per_s", "warm_bytes_per_s", "mean_bytes_per_s"),
        "duration_how": duration_text(job, server_name),
        "reads_how": reads_text(job),
    }


def _run(run: TeamRun) -> dict[str, object]:
    return fields_of(
        run,
        *("n_servers", "n_gpus", "meets", "all_placed", "n_jobs", "n_weeks"),
        *("gpus_busy_fraction", "idle_fraction", "fragmentation_fraction"),
        gpus_held_fraction=run.gpus_reserved_fraction,
        kinds=[_kind(kind) for kind in run.kinds],
        demand=fields_of(run.demand, "worst_bytes_per_s", "average_bytes_per_s", "asked_bytes_per_s", "percentile"),
    )


def _kind(kind: JobKindRun) -> dict[str, object]:
    quantiles = zip(WAIT_QUANTILES, kind.wait_quantiles_s, strict=True)
    return fields_of(
        kind,
        *("name", "n_jobs", "share_within", "share_error", "mean_wait_s", "meets"),
        wait_quantiles_s={f"{100 * share:g}": wait_s for share, wait_s in quantiles},
    )


def team_text(title: str, design: str, answer: TeamAnswer) -> str:
    """Jobs, waits on the design and on other sizes, reads, and assumptions."""
    shown = (
        jobs_table(answer),
        waits_table(answer),
        sizes_table(answer),
        demand_table(answer),
        gpus_table(answer.run),
        sources_table(answer),
    )
    parts = [f"{title}\n{'=' * len(title)}\n{_verdict(design, answer)}"]
    parts += [table_text(table) for table in shown if table is not None]
    parts.append("\n".join(["Assumptions", *(f"- {sentence}" for sentence in assumptions(answer))]))
    return "\n\n".join(parts)


def _verdict(design: str, answer: TeamAnswer) -> str:
    run = answer.run
    if answer.model.case.queue:
        result = f"{design}: queue-wait targets of the team {'met' if run.meets else 'not met'}"
    else:
        result = f"{design}: {'every' if run.all_placed else 'not every'} job that always runs has its GPUs"
    text = f"{result}. Mean utilization of its {plural(run.n_gpus, 'GPU')}: {percent(run.gpus_busy_fraction)}."
    if answer.n_servers_for_waits < run.n_servers:
        fewest = plural(answer.n_servers_for_waits, "server")
        text += f" {fewest} would be enough for the waits alone; the workloads' own targets need more."
    return text


def assumptions(answer: TeamAnswer) -> Iterator[str]:
    """Assumptions of the simulation, one sentence or two each."""
    model, run, team = answer.model, answer.run, answer.team
    queued = [model.jobs[place] for place in model.case.queue]
    if queued:
        yield (
            f"Jobs arrive at random (Poisson) at a constant rate in {plain(team.hours_a_day)} hours of "
            f"{team.days_a_week} days a week. Nobody submits jobs at other times, but jobs also run at night."
        )
        exponential = [job.job.name for job in queued if job.job.durations == "exponential"]
        if exponential:
            yield (
                f"Durations vary exponentially around their mean: {', '.join(exponential)}. State fixed durations if "
                "all jobs of a kind take the same time."
            )
        yield (
            f"Simulated: {grouped(run.n_jobs)} jobs in {run.n_weeks} weeks, after a warm-up of "
            f"{model.case.case.warm_up_weeks} weeks, with the fixed seed {SEED}."
        )
        if has_priorities(team):
            yield (
                "Jobs of a higher priority stand first in the queue, those of equal priority in the order of their "
                "arrival. No job is rejected, and none that runs is stopped for another one."
            )
        else:
            yield "No job is rejected; no priorities, no preemption."
        if team.order == "backfill":
            yield "Backfill knows how long every job takes; overestimated durations make waits longer than shown."
    yield (
        "A job starts when all its GPUs are free at once: within one server, or in whole servers if it needs more. "
        "Jobs in one server share its memory and cores in proportion to their GPUs. There is no other interference."
    )
    shared = [job.job for job in model.jobs if job.job.sessions_per_gpu > 1]
    if shared:
        most = max(job.sessions_per_gpu for job in shared)
        memory = f"{plain(round(model.gpu_memory_bytes / most / GIB, 1))}{NARROW_SPACE}GiB"
        yield (
            f"Notebooks that share a GPU ({listed(job.name for job in shared)}) take turns on it. With {most} sessions "
            f"per GPU each gets about {_part(most)} of its rate while all of them compute, and should stay below "
            f"{memory} of its memory. Nothing on the GPU enforces that: set the limit in the framework. No other job "
            "runs on a shared GPU."
        )
    if any(job.samples_per_s for job in model.jobs):
        covered = f"{plain(100 * team.demand_percentile)}{NARROW_SPACE}%"
        yield (
            f"Storage is sized for the read demand of {covered} of the time. In the remaining time jobs read more "
            "slowly, which is not simulated."
        )


def _part(n: int) -> str:
    return {2: "half", 3: "a third", 4: "a quarter"}.get(n, f"1/{n}")


def change_figures(now: TeamAnswer, base: TeamAnswer) -> tuple[ComparedFigure, ...]:
    """Waits, servers, utilization and reads of a changed team, compared with the team of the request."""
    pairs = [
        ("Servers needed for the waits", grouped(now.n_servers_for_waits), grouped(base.n_servers_for_waits)),
        ("GPU utilization", percent(now.run.gpus_busy_fraction), percent(base.run.gpus_busy_fraction)),
    ]
    if now.run.demand.worst_bytes_per_s > 0:  # else no read rate is known
        reads, loads = zip(
            *((one.run.demand.asked_bytes_per_s, one.read_capacity.load_fraction) for one in (now, base)), strict=True
        )
        pairs.append(("Reads of all jobs", si(reads[0], "B/s"), si(reads[1], "B/s")))
        pairs.append(("Read utilization", percent(loads[0]), percent(loads[1])))
    if now.model.case.queue:
        share, before = (least_served(answer.run, answer).share_within for answer in (now, base))
        pairs.insert(0, ("Start within the target, at least", percent(share), percent(before)))
    return tuple(
        ComparedFigure(label, value, "unchanged" if value == before else f"before: {before}")
        for label, value, before in pairs
    )
