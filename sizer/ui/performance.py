"""Page Performance: what limits the design, how it grows, and what was measured near it."""

import streamlit as st

from sizer.drawings.datapath import datapath
from sizer.drawings.palette import Palette
from sizer.drawings.svg import write_svg
from sizer.report import charts
from sizer.report.performance_tables import evidence_table, figures_table, ruled_out_table, stage_table, time_table
from sizer.report.words import plural, sample_unit, sentence
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.ui import look
from sizer.ui.state import View

_CHART_HEIGHT = 360


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    design, sources = view.result.design, view.catalog.sources
    answer = design.workloads[_which(design)]
    colours = look.palette()
    st.header("What limits it", anchor=False)
    _chart(charts.stage_chart(answer, colours, "container"))
    look.drawing(write_svg(datapath(design, answer, sample_unit(answer.dnn)), colours))
    with st.expander("Where these capacities come from"):
        look.table(stage_table(answer, 1), sources)
    look.table(figures_table(answer, 1), sources)
    st.header("How it grows", anchor=False)
    _chart(charts.scaling_chart(answer, design.n_gpus, colours, "container", _CHART_HEIGHT))
    _time(view, answer, colours)
    st.header("Measured near it", anchor=False)
    evidence = evidence_table(answer, 1)
    if evidence is not None:
        look.table(evidence, sources)
    else:
        look.note("No published measurement is near this workload; the interval is as wide as that makes it.")
    _others(view, colours)
    if answer.warnings:
        st.header("Doubts", anchor=False)
        look.notes([sentence(warning) for warning in answer.warnings])


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


def _chart(chart: charts.Chart) -> None:
    title = chart.to_dict()["title"]["text"]
    st.altair_chart(chart, theme=None, width="stretch", alt=title if isinstance(title, str) else " ".join(title))


def _time(view: View, answer: WorkloadAnswer, colours: Palette) -> None:
    chart, table = charts.time_chart(answer, colours, "container"), time_table(answer, 1)
    if chart is None or table is None:
        return
    st.header("Time to train", anchor=False)
    _chart(chart)
    look.table(table, view.catalog.sources)


def _others(view: View, colours: Palette) -> None:
    assert view.result is not None
    chart = charts.pareto_chart(view.result, colours, "container", _CHART_HEIGHT)
    ruled_out = ruled_out_table(view.result)
    if chart is None and ruled_out is None:
        return
    st.header("Other designs", anchor=False)
    if chart is not None:
        _chart(chart)
    if view.result.runner_up is not None:
        look.note(f"Next best: {view.result.runner_up.name}. {sentence(view.result.runner_up_reason)}")
    if ruled_out is not None:
        with st.expander("What ruled designs out"):
            look.table(ruled_out, view.catalog.sources)
