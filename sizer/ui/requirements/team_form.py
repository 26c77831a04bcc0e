"""The team that shares the cluster, on the page Requirements: its people, its queue, and the jobs they start."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sizer.present.words import percent, plural
from sizer.ui import fields, state
from sizer.ui.error_messages import Path_
from sizer.workload.team import Team, TeamJob

_TEAM: Path_ = ("team",)
_JOBS: Path_ = ("team", "job")
_MAX_JOBS = 20  # of a request
_OFTEN = {"jobs_a_day": "A day, of all", "jobs_a_day_each": "A day, of each person", "always_running": "Always running"}
_KINDS = {"training": "Training", "validation": "Validation", "notebook": "Notebook"}
_ORDERS = {"first-come": "First come, first served", "backfill": "Backfill"}
_SPREADS = {"exponential": "Many short, few long", "fixed": "All alike"}
_PROBABILITIES = (0.5, 0.8, 0.9, 0.95, 0.99)
_PERCENTILES = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
# What a team is begun with; a notice says that it is assumed.
_PEOPLE = 10
_LENGTH = "8 h"


def show() -> None:
    """Draw the fold."""
    folded = fields.fold("Team that shares the cluster", _said(), "team")
    if not folded.open:
        return
    with folded:
        if state.get(_TEAM) is None:
            st.caption("The request says nothing about people, so nothing about waiting is answered.")
            st.button("Enter a team", on_click=begin, key="enter-team", icon=":material/group_add:")
            return
        _people()
        for number in range(len(_jobs())):
            _job(number)
        with st.container(horizontal=True):
            st.button(
                "Add a kind of job",
                key="add-job",
                on_click=_add,
                icon=":material/add:",
                type="tertiary",
                disabled=len(_jobs()) >= _MAX_JOBS,
            )
            st.button(
                "Remove the team", key="remove-team", on_click=_remove_team, icon=":material/delete:", type="tertiary"
            )


def begin() -> None:
    """Enter a team to start from, and say that it is assumed."""
    state.put(_TEAM, start(state.draft()))
    st.session_state.notice = (
        f"Assumed, to be changed on the page Requirements: {_PEOPLE} data scientists, each with one training every "
        "other day and one notebook on one GPU; 90 % of the jobs start within an hour."
    )
    state.refresh()


def start(draft: Mapping[str, Any]) -> dict[str, Any]:
    """A team for a request that has none: trainings of its first workload, and notebooks."""
    works = [work for work in draft.get("workload", ()) if isinstance(work, Mapping)]
    training: dict[str, Any] = {"name": "training", "gpus": 4, "jobs_a_day_each": 0.5}
    names = [_name(work) for work in works]
    work = next((work for work in works if work.get("task", "training") == "training"), None)
    if work is not None and names.count(_name(work)) == 1:
        training["workload"] = _name(work)
    if work is None or "workload" not in training or not _has_length(work):
        training["duration_s"] = _LENGTH
    notebook = {"name": "notebook", "kind": "notebook", "gpus": 1, "jobs_a_day_each": 1.0, "duration_s": "3 h"}
    return {"data_scientists": _PEOPLE, "wait_s": "1 h", "job": [training, notebook]}


def _name(work: Mapping[str, Any]) -> str:
    return str(work.get("name", "workload"))


def _has_length(work: Mapping[str, Any]) -> bool:
    return work.get("epochs") is not None or work.get("recipe") is not None


def _jobs() -> list[Any]:
    found = state.get(_JOBS)
    return found if isinstance(found, list) else []


def _said() -> str:
    if state.get(_TEAM) is None:
        return "nobody stated"
    people = state.get((*_TEAM, "data_scientists"))
    said = [plural(people, "data scientist")] if isinstance(people, int) else []
    wait = state.get((*_TEAM, "wait_s"))
    said += [plural(len(_jobs()), "kind") + " of job"]
    said += [f"wait at most {wait}"] if wait else []
    return ", ".join(said)


def _people() -> None:
    """Who they are, when they work, and what the queue promises."""
    left, middle, right = st.columns(3, gap="large")
    with left:
        fields.whole(
            "Data scientists",
            (*_TEAM, "data_scientists"),
            "People who start jobs. Needed where a job is counted by person.",
            100_000,
            "not stated",
        )
        fields.number(
            "Working hours a day",
            (*_TEAM, "hours_a_day"),
            "Jobs are submitted in these hours; they run at night, too. Default: 10.",
            0.5,
            24.0,
            "10",
        )
        fields.whole("Working days a week", (*_TEAM, "days_a_week"), "From 1 to 7. Default: 5.", 7, "5")
    with middle:
        fields.quantity(
            "Wait, at most", (*_TEAM, "wait_s"), "From submission to start, for every kind of job alone.", "1 h"
        )
        default = Team.model_fields["wait_probability"].default
        fields.choice(
            "Share of jobs that start in time",
            (*_TEAM, "wait_probability"),
            _shares((*_TEAM, "wait_probability"), _PROBABILITIES),
            default,
            f"So many of the jobs of each kind wait no longer. Default: {percent(default)}.",
        )
    with right:
        fields.switch(
            "Order of the queue",
            (*_TEAM, "order"),
            _ORDERS,
            "first-come",
            "First come, first served: a large job that waits for room holds up all behind it. Backfill: a later job "
            "may start in the gap if it delays nobody. Default: first come.",
        )
        default = Team.model_fields["demand_percentile"].default
        fields.choice(
            "Share of the time that demand is carried",
            (*_TEAM, "demand_percentile"),
            {**_shares((*_TEAM, "demand_percentile"), _PERCENTILES), 1.0: "always, the worst case"},
            default,
            "Storage and network carry what all running jobs read together for this share of the time. "
            f"Default: {percent(default)}.",
        )


def _shares(path: Path_, usual: tuple[float, ...]) -> dict[float, str]:
    value = state.get(path)
    own = [value] if isinstance(value, float) and value not in usual else []
    return {share: percent(share) for share in sorted((*usual, *own))}


def _job(number: int) -> None:
    """One kind of job."""
    path: Path_ = (*_JOBS, number)
    with st.container(border=True, key=f"team-job-{number}"):
        columns = st.columns(4, gap="medium", vertical_alignment="top")
        with columns[0]:
            fields.text("Name of the job", (*path, "name"), "As pages and documents print it; each name once.", 120)
            fields.choice("Kind of job", (*path, "kind"), _KINDS, "training", "What people call it. Default: training.")
        with columns[1]:
            fields.whole(
                "GPUs of a job", (*path, "gpus"), "Beyond one server's GPUs a job takes whole servers.", 100_000, "1"
            )
            fields.flag(
                "Takes whole servers",
                (*path, "whole_servers"),
                "Even where it uses only some of their GPUs. Default: no.",
                in_form=False,
            )
        with columns[2]:
            _how_often(path)
        with columns[3]:
            _how_long(path)
            st.button(
                "Remove the job",
                key=f"remove-job-{number}",
                on_click=_remove,
                args=(number,),
                icon=":material/delete:",
                type="tertiary",
                disabled=len(_jobs()) < 2,
            )


def _often(path: Path_) -> str:
    return next((key for key in _OFTEN if state.get((*path, key)) is not None), "jobs_a_day")


def _how_often(path: Path_) -> None:
    present = _often(path)
    key = f"{fields.key(path)}/often"
    if key not in st.session_state:
        st.session_state[key] = present

    def changed() -> None:
        _count_by(path, present, st.session_state[key])

    st.selectbox(
        "How often",
        list(_OFTEN),
        format_func=lambda one: _OFTEN.get(one, one),
        key=key,
        on_change=changed,
        help="Exactly one of them. A job that always runs neither ends nor waits.",
    )
    if present == "always_running":
        fields.whole("Jobs that always run", (*path, present), "So many of it at any time.", 100_000)
        return
    hint = {
        "jobs_a_day": "So many all people together start on a working day, on average.",
        "jobs_a_day_each": "So many one person starts on a working day, on average; 0.2 is one a week.",
    }
    fields.number("Jobs a working day", (*path, present), hint[present], 0.001, 100_000.0)


def _count_by(path: Path_, before: str, now: str) -> None:
    """Count a job otherwise, and keep the request complete."""
    people = state.get((*_TEAM, "data_scientists"))
    state.put((*path, before), None)
    if now == "always_running":
        state.put((*path, now), 1)
        for part in ("duration_s", "wait_s", "durations"):
            state.put((*path, part), None)
    else:
        state.put((*path, now), 1.0)
        _keep_length(path)
    if now == "jobs_a_day_each" and people is None:
        state.put((*_TEAM, "data_scientists"), _PEOPLE)
        st.session_state.notice = f"Assumed: {_PEOPLE} data scientists."
    state.refresh()


def _workload_tells(path: Path_) -> bool:
    """Whether the workload of a job has a length."""
    chosen = state.get((*path, "workload"))
    works = [work for work in state.draft().get("workload", ()) if isinstance(work, Mapping)]
    return any(_name(work) == chosen and _has_length(work) for work in works)


def _keep_length(path: Path_) -> None:
    """A job that ends has a length: a usual one where nothing else tells it."""
    ends = state.get((*path, "always_running")) is None
    if ends and state.get((*path, "duration_s")) is None and not _workload_tells(path):
        state.put((*path, "duration_s"), _LENGTH)
        state.refresh()


def _how_long(path: Path_) -> None:
    """Which workload a job is one of, and how long it runs where that does not tell."""
    works = [work for work in state.draft().get("workload", ()) if isinstance(work, Mapping)]
    options = {"": "None: it reads nothing that counts", **{_name(work): _name(work) for work in works}}
    fields.choice(
        "Runs this workload",
        (*path, "workload"),
        options,
        "",
        "It tells what a job reads and, where it has a length, how long it runs on this many GPUs.",
        after=lambda: _keep_length(path),
    )
    if _often(path) == "always_running":
        return
    fields.quantity(
        "Length of a job",
        (*path, "duration_s"),
        "On average, from start to end. Default: that of the workload.",
        "as the workload" if _workload_tells(path) else _LENGTH,
    )
    fields.choice(
        "Spread of the lengths",
        (*path, "durations"),
        _SPREADS,
        TeamJob.model_fields["durations"].default,
        "Many short, few long: an exponential distribution around the mean. Default: that.",
    )
    fields.quantity("Its own wait, at most", (*path, "wait_s"), "Default: that of the team.", "as the team")


def _add() -> None:
    taken = {str(job.get("name")) for job in _jobs() if isinstance(job, Mapping)}
    name = next(name for n in range(1, _MAX_JOBS + 2) if (name := f"Job {n}") not in taken)
    state.put(_JOBS, [*_jobs(), {"name": name, "gpus": 1, "jobs_a_day": 1.0, "duration_s": _LENGTH}])
    state.refresh()


def _remove(number: int) -> None:
    state.put(_JOBS, [job for place, job in enumerate(_jobs()) if place != number])
    state.refresh()


def _remove_team() -> None:
    state.put(_TEAM, None)
    state.refresh()
