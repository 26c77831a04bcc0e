"""The team of a request on its design in sentences, and as plain text for a terminal."""

from collections.abc import Iterator
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import NARROW_SPACE, grouped, plain, si
from sizer.base.units import GIB
from sizer.present.plain_table import table_text
from sizer.present.words import listed, percent, plural
from sizer.questions.team import tables
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.result import WAIT_QUANTILES, JobKindRun, JobModel, TeamRun
from sizer.questions.team.tables import duration_text, reads_text
from sizer.questions.what_if.answer import ComparedFigure
from sizer.sizing.constraints.job_mix import SEED


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
        tables.jobs_table(answer),
        tables.waits_table(answer),
        tables.sizes_table(answer),
        tables.demand_table(answer),
        tables.gpus_table(answer.run),
        tables.sources_table(answer),
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
        if tables.has_priorities(team):
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
        (
            "Reads of all jobs",
            si(now.run.demand.asked_bytes_per_s, "B/s"),
            si(base.run.demand.asked_bytes_per_s, "B/s"),
        ),
        ("Read utilization", percent(now.read_capacity.load_fraction), percent(base.read_capacity.load_fraction)),
    ]
    if now.model.case.queue:
        share, before = (tables.least_served(answer.run, answer).share_within for answer in (now, base))
        pairs.insert(0, ("Start within the target, at least", percent(share), percent(before)))
    return tuple(
        ComparedFigure(label, value, "unchanged" if value == before else f"before: {before}")
        for label, value, before in pairs
    )
