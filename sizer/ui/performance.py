"""Page Performance: what limits the design, how it grows, and what was measured near it."""

import math

import streamlit as st

from sizer.base.quantities import duration, grouped, significant
from sizer.drawings.datapath import datapath
from sizer.drawings.svg import write_svg
from sizer.report import charts
from sizer.report.words import estimate, percent, plural, sample_unit, sentence
from sizer.sizing.result import STAGES, DesignAnswer, Stage, WorkloadAnswer
from sizer.ui import look
from sizer.ui.look import Column, Row
from sizer.ui.state import View


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    design = view.result.design
    answer = design.workloads[_which(design)]
    colours = look.palette()
    st.header("What limits it", anchor=False)
    _chart(charts.stage_chart(answer, colours, "container"))
    with st.expander("Where these capacities come from"):
        _stages(view, answer)
    look.drawing(write_svg(datapath(design, answer, sample_unit(answer.dnn)), colours))
    _numbers(answer)
    st.header("How it grows", anchor=False)
    _chart(charts.scaling_chart(answer, design.n_gpus, colours, "container", 340))
    if answer.time is not None:
        st.header("Time to train", anchor=False)
        chart = charts.time_chart(answer, colours, "container")
        if chart is not None:
            _chart(chart)
        _time(answer)
    _evidence(view, answer)
    pareto = charts.pareto_chart(view.result, colours, "container", 340)
    if pareto is not None:
        st.header("Designs that no other beats", anchor=False)
        _chart(pareto)
    if answer.warnings:
        st.header("Doubts", anchor=False)
        look.notes([sentence(warning) for warning in answer.warnings])


def _which(design: DesignAnswer) -> int:
    if len(design.workloads) < 2:
        return 0
    key = "performance_of"
    before = st.session_state.get("workload_shown", 0)
    if key not in st.session_state:
        st.session_state[key] = before if before < len(design.workloads) else 0
    elif st.session_state[key] not in range(len(design.workloads)):
        st.session_state[key] = 0
    chosen = st.segmented_control(
        f"The design runs {plural(len(design.workloads), 'workload')}; this one is shown", range(len(design.workloads)),
        required=True, format_func=lambda number: design.workloads[number].workload.name, key=key,
    )  # fmt: skip
    st.session_state.workload_shown = chosen
    return int(chosen or 0)


def _chart(chart: charts.Chart) -> None:
    title = chart.to_dict()["title"]["text"]
    st.altair_chart(chart, theme=None, width="stretch", alt=title if isinstance(title, str) else " ".join(title))


def _stages(view: View, answer: WorkloadAnswer) -> None:
    unit = sample_unit(answer.dnn)
    columns = [
        Column("Stage"), Column("Possible", f"{unit}, 90 %", "right"), Column("Busy", align="right"),
        Column("Made of", wraps=True), Column("Sources", wraps=True),
    ]  # fmt: skip
    rows = [
        Row((STAGES[stage.key], *_capacity(stage, unit), sentence(stage.how), _sources(view, stage.sources)),
            stage=stage.key, is_limiting=stage.is_limiting)
        for stage in answer.stages
    ]  # fmt: skip
    look.table(columns, rows, "Stages of the data path")


def _capacity(stage: Stage, unit: str) -> tuple[str, str]:
    if not math.isfinite(float(stage.capacity.value)):
        return "not used", "–"
    said = estimate(stage.capacity, unit).replace(f"\u202f{unit}", "")
    return said, f"{percent(stage.load_fraction)}{', limits' if stage.is_limiting else ''}"


def _sources(view: View, keys: tuple[str, ...]) -> str:
    known = view.catalog.sources
    return "; ".join(dict.fromkeys(known[key].title if key in known else key for key in keys))


def _numbers(answer: WorkloadAnswer) -> None:
    unit = sample_unit(answer.dnn)
    rows = [
        ("Target", f"{answer.target}, met with a probability of {percent(answer.probability)}"),
        ("Throughput", estimate(answer.throughput, unit)),
        ("Read from storage", f"{estimate(answer.storage_bytes_per_s, 'B/s')} warm, "
                              f"{estimate(answer.cold_storage_bytes_per_s, 'B/s')} in the first epoch"),
        ("Found in the cache", percent(answer.cache_hit_fraction)),
        ("GPUs busy", percent(answer.gpu_busy_fraction)),
        ("CPUs busy", estimate(answer.cpu_utilization_fraction, "%")),
        ("Of perfect scaling", percent(answer.scaling_efficiency)),
        ("Batch", f"{answer.batch_per_gpu} per GPU, {answer.stack.name}"),
    ]  # fmt: skip
    look.facts(rows, "Numbers of the workload")


def _time(answer: WorkloadAnswer) -> None:
    time = answer.time
    assert time is not None
    rows = [
        ("In all", estimate(time.total_s, "s")),
        ("Epochs", f"{estimate(time.epochs, '')}".strip()),
        ("Start-up", duration(time.start_up_s)),
        ("First epoch, cold caches", estimate(time.first_epoch_s, "s")),
        ("Each later epoch", estimate(time.epoch_s, "s")),
        ("Evaluations", estimate(time.evaluations_s, "s")),
    ]
    if answer.recipe is not None:
        rows.insert(1, ("Recipe", f"{answer.recipe.name}: {answer.recipe.target.value}"))
    look.facts(rows, "Parts of the time to train")


def _evidence(view: View, answer: WorkloadAnswer) -> None:
    st.header("Measured near it", anchor=False)
    if not answer.evidence:
        look.note("No published measurement is near this workload; the interval says what that costs.")
        return
    unit = sample_unit(answer.dnn)
    known = view.catalog.sources
    columns = [
        Column("Measurement", wraps=True), Column("GPUs", align="right"), Column("Published", unit, "right"),
        Column("Model says", f"{unit}, 90 %", "right"), Column("Role"), Column("Source", wraps=True),
    ]  # fmt: skip
    rows = [
        Row((
            one.what, grouped(one.n_gpus), significant(one.published), estimate(one.predicted, unit).replace(f"\u202f{unit}", ""),
            "calibrates the model" if one.calibrates else "left out, predicted",
            f"{known[one.source].title if one.source in known else one.source}: {one.where}",
        ))
        for one in answer.evidence
    ]  # fmt: skip
    look.table(columns, rows, "Published measurements near the workload")
