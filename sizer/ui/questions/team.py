"""A question of the page What-if: queue waits for another team, wait target or number of servers."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from sizer.base.errors import SizerError
from sizer.base.quantities import SECONDS, duration, grouped, plain
from sizer.present.words import listed, plural
from sizer.questions.team.analysis import TeamChange, changed_answer, changed_rate
from sizer.questions.team.text import (
    assumptions,
    change_figures,
    demand_table,
    gpus_table,
    jobs_table,
    sizes_table,
    waits_table,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.ui import look, state
from sizer.ui.error_messages import sentences
from sizer.ui.questions.tried import Tried
from sizer.ui.requirements import surroundings
from sizer.ui.state import View
from sizer.ui.typed import plain as shown
from sizer.ui.typed import written
from sizer.workload.team import QueueOrder, Team

_WAITS_S = (60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 14_400.0, 28_800.0, 86_400.0)
_ORDERS: Mapping[QueueOrder, str] = {"first-come": "First come, first served", "backfill": "Backfill"}
# A slider goes up to so many times the value of the request, or so many beyond it.
_TIMES, _BEYOND = 3, 10


def show(view: View) -> None:
    """Draw the question."""
    st.header("Team and queue waits", anchor=False)
    is_assumed, tried = view.result.request.team is None, _with_team(view.result)
    team = tried.request.team
    assert team is not None
    if is_assumed:
        st.info(
            f"The request has no team; an assumed one of {team.data_scientists} data scientists is tried. The request "
            "and its design stay as they are until the team is applied."
        )
    for answer in view.result.design.workloads:
        look.note(_claimed(answer, view.result.design))
    sliders = Tried("team-question", view.key)
    change = _inputs(team, view, sliders)
    try:
        base, now = (
            view.once(
                "team",
                partial(changed_answer, EvaluatedDesign(tried, view.catalog), one),
                one,
                doing="Simulating the jobs of the team",
            )
            for one in (TeamChange(), change)
        )
    except (SizerError, ValueError) as error:
        st.warning(shown(sentences(str(error))), icon=":material/block:")
        _buttons(view, sliders, team, change, is_assumed=is_assumed)
        return
    assert base is not None  # there is a team
    assert now is not None
    look.figures("team-figures", change_figures(now, base))
    _buttons(view, sliders, team, change, is_assumed=is_assumed)
    sources = view.catalog.sources
    if change != TeamChange():
        look.note("Server models and storage stay the same; only the values of the sliders change.")
    look.table(waits_table(now), sources)
    look.table(sizes_table(now), sources, "Fewer and more servers")
    st.subheader("Combined read rate of the jobs", anchor=False)
    demand = demand_table(now)
    if demand is None:
        look.note("The read rate is not known: no job names a workload that fits its GPUs.")
    else:
        look.table(demand, sources)
    look.table(jobs_table(now), sources, "Jobs")
    look.table(gpus_table(now.run), sources, "GPUs")
    with st.expander("Assumptions"):
        look.notes(tuple(assumptions(now)))


def _claimed(answer: WorkloadAnswer, design: DesignAnswer) -> str:
    """What a workload of the request takes of the GPUs, which the simulated jobs do not have at the same time."""
    takes = f"{answer.workload.name} takes {grouped(design.gpus_at_work(answer))} of {plural(design.n_gpus, 'GPU')}"
    for_long = "" if answer.time is None else f" for {duration(float(answer.time.total_s.value))}"
    return f"{takes}{for_long}. The jobs below are simulated on the GPUs while it does not run."


def _with_team(result: SizingResult) -> SizingResult:
    """The answer, with an assumed team where its request has none: its design is that of the request as it is."""
    if result.request.team is not None:
        return result
    team = Team.model_validate(surroundings.start(result.request.model_dump(exclude_none=True)))
    return replace(result, request=result.request.model_copy(update={"team": team}))


def _inputs(team: Team, view: View, sliders: Tried) -> TeamChange:
    """The sliders; one that stands on the value of the request is no change."""
    here = view.result.design.n_servers
    people, ratio, wait_s = team.data_scientists, 1.0, team.wait_s
    counts_people = any(job.jobs_a_day_each is not None for job in team.job)
    left, right = st.columns(2, gap="large")
    waits = any(job.always_running is None for job in team.job)
    with left:
        if people is not None and counts_people:
            people = st.slider(
                "Data scientists", 1, max(_TIMES * people, people + _BEYOND), **sliders.widget("people", people)
            )
        servers = st.slider("GPU servers", 1, max(_TIMES * here, here + _BEYOND), **sliders.widget("servers", here))
    order = team.order
    with right:
        if waits:
            ratio = sliders.multiple("Jobs per day", "ratio", 1.0, float, _ratio_text)
            wait_s = st.select_slider(
                "Maximum queue wait",
                sorted({*_WAITS_S, team.wait_s}),
                format_func=duration,
                **sliders.widget("wait", team.wait_s),
                help="Job types with their own maximum are not changed.",
            )
            chosen = st.segmented_control(
                "Queue order",
                list(_ORDERS),
                required=True,
                format_func=lambda one: _ORDERS[one],
                **sliders.widget("order", team.order),
            )
            order = chosen or team.order
    return TeamChange(
        data_scientists=people if people != team.data_scientists else None,
        jobs_ratio=ratio,
        wait_s=wait_s if wait_s != team.wait_s else None,
        order=order if order != team.order else None,
        n_servers=servers if servers != here else None,
    )


def _ratio_text(ratio: float) -> str:
    return "as requested" if ratio == 1 else f"× {plain(ratio)}"


def _buttons(view: View, sliders: Tried, team: Team, change: TeamChange, *, is_assumed: bool) -> None:
    """Reset the sliders, or write their values into the request."""
    values = [*(["an assumed team"] if is_assumed else []), *_team_values(change)]
    moved = change != TeamChange()
    sliders.buttons(view, _take, (team, change, is_assumed), is_moved=moved, can_take=bool(values))
    if values:
        look.note(f"Apply changes the request to: {listed(values)}.")
    if change.n_servers is not None:
        look.note("The number of servers is a result, not an input; it is not applied.")


def _team_values(change: TeamChange) -> list[str]:
    values = [plural(change.data_scientists, "data scientist")] if change.data_scientists is not None else []
    values += [f"{plain(change.jobs_ratio)} times the jobs per day"] if change.jobs_ratio != 1 else []
    values += [f"maximum queue wait {duration(change.wait_s)}"] if change.wait_s is not None else []
    return values + ([f"queue order {_ORDERS[change.order].lower()}"] if change.order is not None else [])


def _take(team: Team, change: TeamChange, is_assumed: bool) -> None:
    """Write the values into the request, as a person would type them."""
    if is_assumed:
        state.put(("team",), surroundings.start(state.draft()))
    values: Mapping[str, Any] = {
        "data_scientists": change.data_scientists,
        "wait_s": None if change.wait_s is None else written(SECONDS, change.wait_s),
        "order": change.order,
    }
    for name, value in values.items():
        if value is not None:
            state.put(("team", name), value)
    for number, job in enumerate(team.job):
        for name, rate in changed_rate(job, change).items():
            state.put(("team", "job", number, name), rate)
    state.refresh("The values are now in the request; the design was sized again.")
