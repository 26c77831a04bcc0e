"""The team of a request on its design, as plain data."""

import math
from typing import Any

from sizer import __version__
from sizer.questions.team.analysis import WAIT_QUANTILES, JobModel, KindRun, TeamAnswer, TeamRun
from sizer.sizing.result import SCHEMA_VERSION


def team_document(design: str, answer: TeamAnswer) -> dict[str, Any]:
    """Everything about the answer; numbers without an end (a wait that never ends, a job that always runs) are null."""
    erlang, carries = answer.erlang, answer.carries
    return {
        "kind": "team",
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "design": design,
        "n_servers_for_waits": answer.n_servers_for_waits,
        "jobs": [_job(job) for job in answer.model.jobs],
        "run": _run(answer.run),
        "runs": [_run(run) for run in answer.runs],
        "erlang": None
        if erlang is None
        else {
            "n_places": erlang.n_places,
            "load": erlang.load,
            "share_within": erlang.share_within,
            "mean_wait_s": _number(erlang.mean_wait_s),
            "n_servers": erlang.n_servers,
            "is_exact": erlang.is_exact,
        },
        "carries": {
            "storage_bytes_per_s": _number(carries.storage_bytes_per_s),
            "mounts_bytes_per_s": _number(carries.mounts_bytes_per_s),
            "network_bytes_per_s": _number(carries.network_bytes_per_s),
            "asked_bytes_per_s": carries.asked_bytes_per_s,
            "limit": carries.limit,
            "load_fraction": carries.load_fraction,
        },
        "assumptions": list(answer.assumptions),
    }


def _job(job: JobModel) -> dict[str, Any]:
    return {
        "name": job.job.name,
        "kind": job.job.kind,
        "gpus": job.job.gpus,
        "whole_servers": job.whole_servers,
        "jobs_a_day": job.jobs_a_day,
        "always_running": job.job.always_running,
        "duration_s": _number(job.duration_s),
        "duration_how": job.duration_how,
        "samples_per_s": job.samples_per_s,
        "wait_s": job.wait_s,
        "start_up_share": job.start_up_share,
        "cold_share": job.cold_share,
        "cold_bytes_per_s": job.cold_bytes_per_s,
        "warm_bytes_per_s": job.warm_bytes_per_s,
        "mean_bytes_per_s": job.mean_bytes_per_s,
        "reads_how": job.reads_how,
    }


def _run(run: TeamRun) -> dict[str, Any]:
    demand = run.demand
    return {
        "n_servers": run.n_servers,
        "n_gpus": run.n_gpus,
        "meets": run.meets,
        "all_placed": run.all_placed,
        "gpus_busy_fraction": run.gpus_busy_fraction,
        "gpus_held_fraction": run.gpus_held_fraction,
        "idle_fraction": run.idle_fraction,
        "fragmentation_fraction": run.fragmentation_fraction,
        "n_jobs": run.n_jobs,
        "n_weeks": run.n_weeks,
        "kinds": [_kind(kind) for kind in run.kinds],
        "demand": {
            "worst_bytes_per_s": demand.worst_bytes_per_s,
            "average_bytes_per_s": demand.average_bytes_per_s,
            "asked_bytes_per_s": demand.asked_bytes_per_s,
            "percentile": demand.percentile,
        },
    }


def _kind(kind: KindRun) -> dict[str, Any]:
    quantiles = zip(WAIT_QUANTILES, kind.wait_quantiles_s, strict=True)
    return {
        "name": kind.name,
        "n_jobs": kind.n_jobs,
        "share_within": kind.share_within,
        "share_error": kind.share_error,
        "mean_wait_s": _number(kind.mean_wait_s),
        "wait_quantiles_s": {f"{100 * share:g}": _number(wait_s) for share, wait_s in quantiles},
        "meets": kind.meets,
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
