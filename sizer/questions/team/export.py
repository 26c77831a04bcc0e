"""The team of a request on its design, as plain data."""

from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.questions.team.analysis import TeamAnswer
from sizer.questions.team.result import WAIT_QUANTILES, JobKindRun, JobModel, TeamRun
from sizer.questions.team.tables import duration_text, reads_text
from sizer.questions.team.text import assumptions


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
        erlang=answer.erlang,
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
