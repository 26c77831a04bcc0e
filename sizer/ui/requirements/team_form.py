"""The team on the page Requirements: people, queue, and the jobs they start."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sizer.ui import fields, state
from sizer.ui.request_form import forms as form
from sizer.ui.request_form.field import RequestPath
from sizer.ui.requirements.entries import add_button, entries, remove_button, unused_name
from sizer.ui.requirements.optional_tables import OptionalTable
from sizer.ui.session_catalog import catalog

_TEAM: RequestPath = ("team",)
_JOBS: RequestPath = ("team", "job")
_MAX_JOBS = 20  # of a request
# First values of a request without a team; a notice names them as assumptions.
_PEOPLE = 10


def _draw_jobs() -> None:
    for number in range(len(entries(_JOBS))):
        _job(number)
    add_button("Add a job type", _JOBS, _new_job, _MAX_JOBS, "job")


def start(draft: Mapping[str, Any]) -> dict[str, Any]:
    """A first team for a request that has none: trainings of its first workload, and notebooks."""
    works = [work for work in draft.get("workload", ()) if isinstance(work, Mapping)]
    training: dict[str, Any] = {"name": "training", "gpus": 4, "jobs_a_day_each": 0.5}
    names = [_name(work) for work in works]
    work = next((work for work in works if work.get("task", "training") == "training"), None)
    # One training of a language model is divided over the whole cluster: no job that several people start a day.
    dnn = None if work is None else catalog().dnns.get(str(work.get("dnn")))
    is_one_job = work is not None and (dnn.transformer is not None if dnn is not None else "tokens" in work)
    if work is not None and not is_one_job and names.count(_name(work)) == 1:
        training["workload"] = _name(work)
    if work is None or "workload" not in training or not _has_length(work):
        training["duration_s"] = form.DEFAULT_JOB_DURATION
    notebook = {"name": "notebook", "kind": "notebook", "gpus": 1, "jobs_a_day_each": 1.0, "duration_s": "3 h"}
    return {"data_scientists": _PEOPLE, "wait_s": "1 h", "job": [training, notebook]}


def _name(work: Mapping[str, Any]) -> str:
    return str(work.get("name", "workload"))


def _has_length(work: Mapping[str, Any]) -> bool:
    return any(work.get(key) is not None for key in ("epochs", "recipe", "tokens"))


def _job(number: int) -> None:
    """One job type."""
    path: RequestPath = (*_JOBS, number)
    with st.container(border=True, key=f"team-job-{number}"):
        columns = st.columns(4, gap="medium", vertical_alignment="top")
        for column, described in zip(columns, (form.JOB_WHO, form.JOB_SIZE), strict=False):
            with column:
                for field in described:
                    fields.draw(field, number)
        with columns[2]:
            _frequency_fields(path, number)
        with columns[3]:
            _duration_fields(path, number)
            remove_button("Remove this job type", _JOBS, number, "job", disabled=len(entries(_JOBS)) < 2)


def _frequency(path: RequestPath) -> str:
    return next((key for key in form.FREQUENCIES if state.get((*path, key)) is not None), "jobs_a_day")


def _frequency_fields(path: RequestPath, number: int) -> None:
    present = _frequency(path)
    fields.selector(
        "Frequency",
        form.FREQUENCIES,
        present,
        f"{fields.key(path)}/often",
        lambda chosen: _change_frequency(path, present, chosen),
        "Exactly one of the three. A job that always runs neither ends nor waits.",
    )
    fields.draw(form.FIELDS[f"team.job.{present}"], number)


def _change_frequency(path: RequestPath, before: str, now: str) -> None:
    """Give the frequency of a job in another way, and keep the request complete."""
    people = state.get((*_TEAM, "data_scientists"))
    state.put((*path, before), None)
    if now == "always_running":
        state.put((*path, now), 1)
        for part in ("duration_s", "duration_gpu", "wait_s", "durations"):
            state.put((*path, part), None)
    else:
        state.put((*path, now), 1.0)
        _complete_duration(path)
    if now == "jobs_a_day_each" and people is None:
        state.put((*_TEAM, "data_scientists"), _PEOPLE)
        st.session_state.notice = f"Assumed: {_PEOPLE} data scientists."
    state.refresh()


def _workload_has_length(path: RequestPath) -> bool:
    """Whether the workload of a job has a training length."""
    chosen = state.get((*path, "workload"))
    works = [work for work in state.draft().get("workload", ()) if isinstance(work, Mapping)]
    return any(_name(work) == chosen and _has_length(work) for work in works)


def _complete_duration(path: RequestPath) -> None:
    """Give a job that ends a duration: the default where its workload has no training length."""
    ends = state.get((*path, "always_running")) is None
    if ends and state.get((*path, "duration_s")) is None and not _workload_has_length(path):
        state.put((*path, "duration_s"), form.DEFAULT_JOB_DURATION)
        state.refresh()


def _duration_fields(path: RequestPath, number: int) -> None:
    """The workload of a job, and its duration and wait where it ends."""
    works = [work for work in state.draft().get("workload", ()) if isinstance(work, Mapping)]
    options = {"": "None: no read load", **{_name(work): _name(work) for work in works}}
    fields.draw(form.FIELDS["team.job.workload"], number, options=options, after=lambda: _complete_duration(path))
    if _frequency(path) == "always_running":
        return
    empty = "as the workload" if _workload_has_length(path) else form.DEFAULT_JOB_DURATION
    fields.draw(form.FIELDS["team.job.duration_s"], number, empty=empty)
    for field in form.JOB_LENGTHS:
        fields.draw(field, number)


def _new_job() -> dict[str, Any]:
    return {"name": unused_name(_JOBS, "Job"), "gpus": 1, "jobs_a_day": 1.0, "duration_s": form.DEFAULT_JOB_DURATION}


TEAM = OptionalTable(
    key="team",
    title="Team",
    enter="Enter a team",
    icon="group_add",
    without="Without a team queue waits are not calculated. Its first jobs are trainings and notebooks.",
    start=lambda: start(state.draft()),
    columns=lambda: form.TEAM,
    more=_draw_jobs,
)
