"""Page Performance: bottleneck, scaling, other inputs, and published measurements of similar systems."""

import streamlit as st

from sizer.catalog.model import Catalog
from sizer.drawings.datapath import datapath
from sizer.drawings.svg import write_svg
from sizer.evidence.answer import answer_parity_chart
from sizer.present import charts, training_charts
from sizer.present.language_charts import memory_chart, step_chart
from sizer.present.performance_tables import (
    evidence_table,
    figures_table,
    layout_table,
    ruled_out_table,
    serving_table,
    stacks_table,
    stage_table,
    time_table,
)
from sizer.present.serving_charts import load_chart, serving_memory_chart
from sizer.present.text.layouts import basis_sentence
from sizer.present.text.result_text import cautions, measured, width
from sizer.present.text.verdict import runner_up_text
from sizer.present.training_charts import accuracy_chart
from sizer.present.words import plural, sample_unit, sentence
from sizer.questions.what_if.rate_charts import change_charts, no_cache_note
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.ui import look
from sizer.ui.look import Spec, chart
from sizer.ui.performance import limits
from sizer.ui.state import View

_CHART_HEIGHT = 360
# Width of one of three small charts beside each other. [px]
_SMALL_WIDTH = 350


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    design, sources = view.result.design, view.catalog.sources
    number = chosen_workload(design, "performance")
    answer = design.workloads[number]
    specs = _specs(view.key, number, look.palette().name, view.result)
    limits.show(view)
    st.header("Bottleneck", anchor=False)
    chart(specs["stages"])
    with st.expander("Data path, and derivation of these capacities", key="data-path", on_change="rerun") as path:
        if path.open:
            look.drawing(write_svg(datapath(design, answer, sample_unit(answer.dnn)), look.palette()))
            look.table(stage_table(answer, 1), sources)
    look.table(figures_table(answer, 1), sources)
    if (in_use := serving_table(design, answer, 1)) is not None:
        st.header("Serving performance", anchor=False)
        look.table(in_use, sources)
        chart(specs["load"])
        chart(specs["serving memory"])
    if (layout := layout_table(answer, 1)) is not None:
        st.header("Parallel layout", anchor=False)
        look.table(layout, sources)
        chart(specs["step"])
        st.header("GPU memory", anchor=False)
        chart(specs["memory"])
        assert answer.language is not None  # it has a layout
        look.note(sentence(basis_sentence(answer.language)))
        if (stacks := stacks_table(answer, 1)) is not None:
            look.table(stacks, sources)
    st.header("Scaling", anchor=False)
    chart(specs["scaling"])
    _when_inputs_change(view, number)
    time = time_table(answer, 1)
    if time is not None:
        st.header("Time to accuracy" if answer.recipe is not None else "Time to train", anchor=False)
        chart(specs["accuracy"])
        with st.expander("Breakdown of the time"):
            chart(specs["time"])
            look.table(time, sources)
    _measured(answer, specs["evidence"], view.catalog)
    _others(view)
    if texts := cautions(answer):
        st.header("Cautions", anchor=False)
        look.notes([sentence(text) for text in texts])


@st.cache_resource(show_spinner=False, max_entries=32)
def _specs(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,
    palette_name: str,
    _result: SizingResult,
) -> dict[str, Spec | None]:
    """Charts of one workload as specifications: building and checking them takes longer than sizing."""
    colours = look.palette_named(palette_name)
    answer = _result.design.workloads[number]
    drawn = {
        "stages": charts.stage_chart(answer, colours, "container"),
        "scaling": charts.scaling_chart(answer, _result.design.n_gpus, colours, "container", _CHART_HEIGHT),
        "step": step_chart(answer, colours, "container"),
        "memory": memory_chart(answer, colours, "container"),
        "load": load_chart(answer, colours, "container"),
        "serving memory": serving_memory_chart(answer, colours, "container"),
        "time": training_charts.time_chart(answer, colours, "container"),
        "accuracy": accuracy_chart(answer, _result.design.n_gpus, colours, "container", _CHART_HEIGHT),
        "evidence": answer_parity_chart(answer, colours, "container", _CHART_HEIGHT),
    }
    return {kind: None if one is None else one.to_dict(validate=False) for kind, one in drawn.items()}


@st.cache_resource(show_spinner=False, max_entries=32)
def _along(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,
    palette_name: str,
    _result: SizingResult,
    _catalog: Catalog,
) -> tuple[tuple[Spec, ...], str]:
    """Charts of the design with larger samples, faster GPUs and colder caches, and a note for a missing one."""
    model = EvaluatedDesign(_result, _catalog).workloads[number]
    if model is None:
        return (), "This design contains parts that are no longer in the catalogue; it cannot be varied."
    colours = look.palette_named(palette_name)
    drawn = [one.to_dict(validate=False) for one in change_charts(model, colours)]
    return tuple(drawn), no_cache_note(model)


def _when_inputs_change(view: View, number: int) -> None:
    """Effect of larger samples, faster GPUs and colder caches on the design."""
    assert view.result is not None
    st.header("Effect of other inputs", anchor=False)
    specs, note = _along(view.key, number, look.palette().name, view.result, view.catalog)
    with st.container(horizontal=True, gap="large", key="when-inputs-change"):
        for spec in specs:
            with st.container(width=_SMALL_WIDTH):
                chart(spec)
    if note:
        look.note(note)


def chosen_workload(design: DesignAnswer, page: str) -> int:
    """Number of the workload that a page shows, with a selector where there are several; other pages follow."""
    names = [answer.workload.name for answer in design.workloads]
    if len(names) < 2:
        return 0
    # Each page has a widget of its own: one under the same key on the next page would show no choice.
    key = f"{page}-of-" + "-".join(names)
    if key not in st.session_state:
        st.session_state[key] = min(int(st.session_state.get("workload_shown", 0)), len(names) - 1)
    chosen = st.segmented_control(
        f"{plural(len(names), 'workload')} on this cluster; show",
        range(len(names)),
        required=True,
        format_func=lambda number: names[number],
        key=key,
    )
    st.session_state.workload_shown = int(chosen or 0)
    return int(chosen or 0)


def _others(view: View) -> None:
    assert view.result is not None
    st.header("Other designs", anchor=False)
    if view.result.runner_up is not None:
        look.note(f"Next best: {view.result.runner_up.name}. {sentence(runner_up_text(view.result))}")
    excluded = ruled_out_table(view.result)
    if excluded is not None:
        with st.expander("Designs that miss a target"):
            look.table(excluded, view.catalog.sources)


def _measured(answer: WorkloadAnswer, parity: Spec | None, catalog: Catalog) -> None:
    st.header("Published measurements of similar systems", anchor=False)
    look.notes([measured(answer), width(answer)])
    table = evidence_table(answer, 1)
    if table is not None:
        chart(parity)
        look.note(
            "Band: ± 10 %. Dashed lines: factor of two. Thin bars: 90 % intervals; filled marks lie outside theirs."
        )
        with st.expander("Table of these measurements"):
            look.table(table, catalog.sources)
