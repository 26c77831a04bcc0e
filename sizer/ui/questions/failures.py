"""A question of the page What-if: what if it fails?"""

from typing import get_args

import streamlit as st

from sizer.base.quantities import duration, si
from sizer.catalog.model import Catalog
from sizer.present.redundancy_text import ONE_LOST, listed_losses, spare_sentence
from sizer.present.words import percent, sample_unit
from sizer.questions.failures.analysis import FailureCase, failure_cases
from sizer.questions.failures.charts import failure_chart
from sizer.questions.failures.tables import failures_table, kept_table, maintenance_table, targets_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.redundancy_cost import spare_cost
from sizer.sizing.result import SizingResult, SpareCost
from sizer.ui import look, state
from sizer.ui.error_messages import Path_
from sizer.ui.look import Spec
from sizer.ui.performance.page import chosen_workload
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import Loss

_HERE: Path_ = ("resilience", "keeps_targets_without")


def show(view: View) -> None:
    """Draw the question."""
    assert view.result is not None
    design = view.result.design
    number = chosen_workload(design, "what-if")
    st.header("What if it fails?", anchor=False)
    cases = _cases(view.key, view.result, view.catalog)
    case = _chosen(cases)
    _figures(case, view.result, number)
    st.markdown(plain(f"{case.effect} {case.remedy}"))
    _reserve(view, case)
    unit = sample_unit(design.workloads[number].dnn)
    look.chart(_chart(view.key, number, look.palette().name, unit, cases))
    sources = view.catalog.sources
    for table in (failures_table(cases, design.workloads), maintenance_table(cases)):
        if table is not None:
            st.subheader(plain(table.caption), anchor=False)
            look.table(table, sources)


@st.cache_resource(show_spinner="Taking every part out, one at a time", max_entries=16)
def _cases(
    answer_key: str,  # noqa: ARG001  (names the result)
    _result: SizingResult,
    _catalog: Catalog,
) -> tuple[FailureCase, ...]:
    return failure_cases(EvaluatedDesign(_result, _catalog))


@st.cache_resource(show_spinner=False, max_entries=16)
def _cost(
    answer_key: str,  # noqa: ARG001  (names the result)
    _result: SizingResult,
    _catalog: Catalog,
) -> SpareCost | None:
    return spare_cost(_result.request, _result.design, _catalog)


@st.cache_resource(show_spinner=False, max_entries=32)
def _chart(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,
    palette_name: str,
    unit: str,
    _found: tuple[FailureCase, ...],
) -> Spec | None:
    drawn = failure_chart(_found, number, unit, look.palette_named(palette_name), "container")
    return None if drawn is None else drawn.to_dict(validate=False)


def _chosen(cases: tuple[FailureCase, ...]) -> FailureCase:
    """The case that is looked at; the server's at first."""
    found = {case.key: case for case in cases}
    kept = st.session_state.get("failure", "server")
    # A widget's own value is lost while another page is shown.
    st.session_state["failure/shown"] = kept if kept in found else next(iter(found))
    st.selectbox(
        "What fails",
        list(found),
        format_func=lambda key: plain(found[key].what),
        key="failure/shown",
        help="One part at a time. Planned maintenance of it is the same loss.",
        on_change=_store,
    )
    return found[st.session_state["failure/shown"]]


def _store() -> None:
    st.session_state.failure = st.session_state["failure/shown"]


def _figures(case: FailureCase, result: SizingResult, number: int) -> None:
    answer = result.design.workloads[number]
    unit = sample_unit(answer.dnn)
    before = si(float(answer.throughput.value), unit)
    found = [("Throughput", si(case.throughput[number], unit), f"{percent(case.share[number])} of {before}")]
    if case.meets:
        found.append(
            (
                "Target",
                "kept" if case.meets[number] else "missed",
                f"{percent(min(case.chance[number], 0.999))} instead of {percent(answer.probability)} likely",
            )
        )
        found.append(("All targets", targets_text(case), f"asked for with {percent(result.request.confidence)}"))
        found.append(("May be away in a run", _window(case.window_s[number]), "once, without missing the target"))
    if case.starts_in_time is not None:
        team = result.request.team
        asked = f"{percent(team.wait_probability)} asked for" if team is not None else ""
        found.append(("Jobs that start in time", percent(case.starts_in_time), asked))
    with st.container(horizontal=True, gap="medium", key="what-if-figures"):
        for label, value, under in found:
            st.metric(label, value, under, delta_color="off", delta_arrow="off", width="content")


def _window(window_s: float) -> str:
    if window_s == float("inf"):
        return "any time"
    return duration(window_s) if window_s >= 60 else "never"


# --- a reserve


def _reserve(view: View, case: FailureCase) -> None:
    """What the request asks the design to bear, what that takes, and a button that asks for more."""
    assert view.result is not None
    losses = view.result.request.resilience.keeps_targets_without
    cost = _cost(view.key, view.result, view.catalog)
    if cost is not None:
        st.markdown(plain(spare_sentence(cost, view.result.request.currency)))
        st.subheader("Losses that the design bears", anchor=False)
        look.table(kept_table(cost.losses, _cases(view.key, view.result, view.catalog)), view.catalog.sources)
    elif not losses:
        look.note("The request asks for no reserve: what a loss costs is told, and nothing is bought for it.")
    with st.container(horizontal=True, gap="small"):
        if case.loss is not None:
            st.button(
                f"Keep the targets without {ONE_LOST[case.loss]}",
                icon=":material/health_and_safety:",
                key="keep-without",
                on_click=_ask,
                args=((*losses, case.loss),),
                disabled=case.loss in losses or not view.is_current,
                help="Writes it into the request, which is then sized with one part more where that is needed.",
            )
        if losses:
            st.button(
                "Without a reserve",
                icon=":material/undo:",
                key="no-reserve",
                on_click=_ask,
                args=((),),
                disabled=not view.is_current,
            )


def _ask(losses: tuple[Loss, ...]) -> None:
    """Write the losses into the request, in the order of its schema."""
    chosen = tuple(loss for loss in get_args(Loss) if loss in losses)
    state.put(_HERE, list(chosen))
    st.session_state.notice = (
        f"The request asks that its targets be kept without {listed_losses(chosen)}. It was sized anew."
        if chosen
        else "The request asks for no reserve. It was sized anew."
    )
    state.refresh()
