"""Page Performance: bottleneck, scaling, and published measurements of similar systems."""

from functools import partial

import streamlit as st

from sizer.drawings.datapath import datapath, is_limit
from sizer.drawings.palette import Palette
from sizer.drawings.svg import write_svg
from sizer.explain.figure import stage_key
from sizer.present.charting import BandChart, Chart, band_chart
from sizer.present.performance_tables import (
    evidence_table,
    figures_table,
    layout_table,
    ruled_out_table,
    serving_tables,
    stacks_table,
    stage_table,
    time_table,
)
from sizer.present.serving_charts import memory_drawing, serving_charts
from sizer.present.tables import Table
from sizer.present.text.layouts import basis_sentence
from sizer.present.text.result_text import cautions, measured, width
from sizer.present.text.verdict import runner_up_text
from sizer.present.words import estimate, plural, sample_unit, sentence
from sizer.present.workload_charts import workload_data
from sizer.questions.maximum.text import maximum_sentences
from sizer.sizing.result import STAGES, DesignAnswer
from sizer.ui import look
from sizer.ui.headline import popover
from sizer.ui.state import View

_CHART_HEIGHT = 340


def show(view: View) -> None:
    """Draw the page."""
    design = view.result.design
    number = chosen_workload(design, "performance")
    answer = design.workloads[number]
    if view.result.maximum is not None:
        st.header("What the limits allow", anchor=False)
        look.notes(maximum_sentences(view.result, with_amounts=not view.is_customer_mode))
    if answer.serving is not None:
        st.header("In use", anchor=False)
        _in_use(view, number)
    else:
        _training(view, number)
    _measured(view, number)
    if not view.is_customer_mode:
        _others(view)
    if texts := cautions(answer):
        st.header("Cautions", anchor=False)
        look.notes([sentence(text) for text in texts])


def _in_use(view: View, number: int) -> None:
    """A language model in use: what serves it, how soon it answers, and what it has room for."""
    design = view.result.design
    answer, is_house = design.workloads[number], not view.is_customer_mode
    serves, *others = serving_tables(design, answer, 1, with_cost=is_house, elsewhere=("Memory",))
    charts = list(serving_charts(design, answer, view.result.request.ownership, with_cost=is_house))

    for data in charts[:1]:
        _chart(view, number, data.id, data)
    look.table(serves, view.catalog.sources)
    st.header("Capacity and latency", anchor=False)
    for table in others:
        look.table(table, view.catalog.sources)
    if (memory := memory_drawing(answer)) is not None:
        look.note(sentence(memory.title))
        look.drawing(write_svg(memory, look.palette()))
    for data in charts[1:]:
        _chart(view, number, data.id, data)


def _training(view: View, number: int) -> None:
    """What limits a training or a batch of forward passes, and how its rate and time follow; most of it folded."""
    design, sources = view.result.design, view.catalog.sources
    answer = design.workloads[number]
    st.header(f"Bottleneck: {STAGES[answer.bottleneck]}", anchor=False)
    look.table(figures_table(answer, 1), sources)

    def data_path() -> None:
        unit = sample_unit(answer.dnn)
        look.drawing(write_svg(datapath(design, answer, unit), look.palette()))
        with st.container(horizontal=True, gap="medium", key="stages"):
            for stage in filter(lambda stage: is_limit(stage, answer), answer.stages):
                with st.container(width="content", gap=None):
                    st.caption(STAGES[stage.key])
                    popover(
                        estimate(stage.capacity, unit), stage_key(number, stage.key), view, "stages", STAGES[stage.key]
                    )
        look.table(stage_table(answer, 1), sources)

    def layout_and_memory(layout: Table) -> None:
        look.table(layout, sources)
        assert answer.kind.trains_language  # it has a layout
        look.note(sentence(basis_sentence(answer.trained)))
        look.table(stacks_table(answer, 1), sources)

    look.folded("**Data path**, and derivation of these capacities", "data-path", data_path)
    if (layout := layout_table(answer, 1)) is not None:
        look.folded("**Parallel layout and GPU memory**", "layout-and-memory", partial(layout_and_memory, layout))
    if (time := time_table(answer, 1)) is not None:
        st.header("Time to accuracy" if answer.recipe is not None else "Time to train", anchor=False)
        _chart(view, number, "accuracy")
        look.folded("**Breakdown of the time**", "time-breakdown", lambda: look.table(time, sources))
        look.folded("**Scaling**", "scaling", lambda: _chart(view, number, "scaling"))
    else:
        st.header("Scaling", anchor=False)
        _chart(view, number, "scaling")


def _chart(view: View, number: int, name: str, data: BandChart | None = None) -> None:
    """A chart of one workload by its name."""
    design = view.result.design

    def draw(colours: Palette) -> Chart | None:
        chart = data or workload_data(name, design.workloads[number], design.n_gpus)
        return band_chart(chart, colours, "container", _CHART_HEIGHT)

    look.charted(view, name, draw, number)


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
    st.header("Other designs", anchor=False)
    if view.result.runner_up is not None:
        # Where the same servers have other GPUs, the names alone tell nothing.
        other, design = view.result.runner_up, view.result.design
        gpus = f" with {other.n_gpus} GPUs of another kind or form" if other.name == design.name else ""
        look.note(f"Next best: {other.name}{gpus}. {sentence(runner_up_text(view.result))}")
    excluded = ruled_out_table(view.result)
    if excluded is not None:
        look.folded("Designs that miss a target", "missed", lambda: look.table(excluded, view.catalog.sources))


def _measured(view: View, number: int) -> None:
    answer = view.result.design.workloads[number]
    st.header("Published measurements of similar systems", anchor=False)
    look.notes([measured(answer), width(answer)])
    if (table := evidence_table(answer, 1)) is None:
        return

    look.folded("**These measurements**", "measurements", lambda: look.table(table, view.catalog.sources))
