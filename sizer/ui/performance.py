"""Page Performance: what limits the design, how it grows, and what was measured near it."""

import streamlit as st

from sizer.drawings.datapath import datapath
from sizer.drawings.palette import DARK, LIGHT
from sizer.drawings.svg import write_svg
from sizer.report import charts
from sizer.report.evidence_answer import answer_parity_chart
from sizer.report.performance_tables import figures_table, ruled_out_table, stage_table, time_table
from sizer.report.words import plural, sample_unit, sentence
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.ui import evidence, look
from sizer.ui.evidence import Spec, chart
from sizer.ui.state import View

_CHART_HEIGHT = 360


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    design, sources = view.result.design, view.catalog.sources
    number = _which(design)
    answer = design.workloads[number]
    specs = _specs(view.request_json, view.result.catalog_digest, number, look.palette().name, view.result)
    st.header("What limits it", anchor=False)
    chart(specs["stages"])
    look.drawing(write_svg(datapath(design, answer, sample_unit(answer.dnn)), look.palette()))
    with st.expander("Where these capacities come from"):
        look.table(stage_table(answer, 1), sources)
    look.table(figures_table(answer, 1), sources)
    st.header("How it grows", anchor=False)
    chart(specs["scaling"])
    time = time_table(answer, 1)
    if time is not None:
        st.header("Time to train", anchor=False)
        chart(specs["time"])
        look.table(time, sources)
    evidence.show(answer, specs["evidence"], view.catalog)
    _others(view, specs["pareto"])
    if answer.warnings:
        st.header("Doubts", anchor=False)
        look.notes([sentence(warning) for warning in answer.warnings])


@st.cache_resource(show_spinner=False, max_entries=32)
def _specs(
    request_json: str,  # noqa: ARG001  (request, catalogue and workload name the result)
    digest: str,  # noqa: ARG001
    number: int,
    palette_name: str,
    _result: SizingResult,
) -> dict[str, Spec | None]:
    """Charts of one workload as specifications: building and checking them takes longer than sizing."""
    colours = next(palette for palette in (LIGHT, DARK) if palette.name == palette_name)
    answer = _result.design.workloads[number]
    drawn = {
        "stages": charts.stage_chart(answer, colours, "container"),
        "scaling": charts.scaling_chart(answer, _result.design.n_gpus, colours, "container", _CHART_HEIGHT),
        "time": charts.time_chart(answer, colours, "container"),
        "evidence": answer_parity_chart(answer, colours, "container", _CHART_HEIGHT),
        "pareto": charts.pareto_chart(_result, colours, "container", _CHART_HEIGHT),
    }
    return {kind: None if one is None else one.to_dict() for kind, one in drawn.items()}


def _which(design: DesignAnswer) -> int:
    """Place of the workload that the page shows."""
    names = [answer.workload.name for answer in design.workloads]
    if len(names) < 2:
        return 0
    key = "performance-of-" + "-".join(names)
    if key not in st.session_state:
        st.session_state[key] = min(int(st.session_state.get("workload_shown", 0)), len(names) - 1)
    chosen = st.segmented_control(
        f"The design runs {plural(len(names), 'workload')}; this one is shown",
        range(len(names)),
        required=True,
        format_func=lambda number: names[number],
        key=key,
    )
    st.session_state.workload_shown = int(chosen or 0)
    return int(chosen or 0)


def _others(view: View, pareto: Spec | None) -> None:
    assert view.result is not None
    ruled_out = ruled_out_table(view.result)
    if pareto is None and ruled_out is None:
        return
    st.header("Other designs", anchor=False)
    chart(pareto)
    if view.result.runner_up is not None:
        look.note(f"Next best: {view.result.runner_up.name}. {sentence(view.result.runner_up_reason)}")
    if ruled_out is not None:
        with st.expander("What ruled designs out"):
            look.table(ruled_out, view.catalog.sources)
