"""Page What-if: one question after another; the first moves two inputs by sliders."""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import streamlit as st

from sizer.base.quantities import BYTES, SAMPLES_PER_S, SECONDS, QuantityKind
from sizer.catalog.model import Catalog
from sizer.present.words import inside_sentence, listed, plural, sample_unit
from sizer.questions.what_if.along_input import fixed_design_along, hardware_along
from sizer.questions.what_if.answer import (
    ComparedFigure,
    break_even_table,
    fixed_design_figures,
    fixed_design_map,
    resized_figures,
    resized_map,
)
from sizer.questions.what_if.break_even import BreakEven, fixed_design_break_evens, resized_break_evens
from sizer.questions.what_if.charts import tornado_chart
from sizer.questions.what_if.input_grid import FixedDesignRates, fixed_design_rates
from sizer.questions.what_if.map_charts import with_point
from sizer.questions.what_if.resize import ResizedDesign, resize
from sizer.questions.what_if.sensitivity import Sensitivity, sensitivities
from sizer.questions.what_if.sensitivity_table import influence_table
from sizer.questions.what_if.varied_input import (
    SERVERS,
    TARGET,
    VariedInput,
    fixed_design_inputs,
    gpus_of,
    request_changes,
    resize_inputs,
    target_kind,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.result import SizingResult
from sizer.ui import look, state
from sizer.ui.error_messages import sentences
from sizer.ui.look import Spec
from sizer.ui.performance.page import chosen_workload
from sizer.ui.questions import data, failures, growth, rent, scale, team, verdict
from sizer.ui.questions.what_if_inputs import (
    FIXED_DESIGN,
    InputPair,
    chosen_mode,
    chosen_pair,
    inputs_state,
    reset,
    start,
    widget_key,
)
from sizer.ui.state import View
from sizer.ui.typed import plain, written

# Most values of an input on a map, so that it takes one or two seconds.
_MAP_VALUES = 13
_KINDS: Mapping[str, QuantityKind] = {
    "sample_bytes": BYTES,
    "dataset_bytes": BYTES,
    "samples_per_s": SAMPLES_PER_S,
    "time_to_train_s": SECONDS,
}


def show(view: View) -> None:
    """Draw the page: the chosen question alone."""
    assert view.result is not None
    is_served = all(answer.serving is not None for answer in view.result.design.workloads)
    listed = [name for name in _QUESTIONS if not (is_served and name in _OF_DATA_SETS)]
    first = listed[0]
    # A widget's own value is lost while another page is shown.
    name = "question/asked"
    chosen = st.session_state.get("question", first)
    if chosen not in listed:
        chosen = st.session_state.question = st.session_state[name] = first
    if name not in st.session_state:
        st.session_state[name] = chosen
    st.pills("Question", listed, key=name, required=True, on_change=state.if_stored(name, _asked), args=(name,))
    _QUESTIONS[chosen](view)


def _asked(name: str) -> None:
    st.session_state.question = st.session_state[name]


def _two_inputs(view: View) -> None:
    assert view.result is not None
    number = chosen_workload(view.result.design, "what-if")
    model = _models(view.key, view.result, view.catalog)[number]
    st.header("Vary two inputs", anchor=False)
    if model is None:
        st.info("This design contains parts that are no longer in the catalogue; it cannot be varied.")
        return
    start(view, number)
    mode = chosen_mode()
    pair = chosen_pair(mode, fixed_design_inputs(model) if mode == FIXED_DESIGN else resize_inputs(model))
    if mode == FIXED_DESIGN:
        _fixed(view, number, model, pair)
    else:
        _resized(view, number, model, pair)
    _buttons(view, number, model, pair)
    _influences(view, number, model)


@st.cache_resource(show_spinner=False, max_entries=16)
def _models(
    answer_key: str,  # noqa: ARG001  (names the result)
    _result: SizingResult,
    _catalog: Catalog,
) -> tuple[WorkloadOnDesign | None, ...]:
    return EvaluatedDesign(_result, _catalog).workloads


# --- this design, changed


def _fixed(view: View, number: int, model: WorkloadOnDesign, pair: InputPair) -> None:
    now = _fixed_at(view.key, number, pair.placed, model)
    _figures(fixed_design_figures(model, now, _fixed_at(view.key, number, (), model)))
    colours = look.palette()
    spec = _fixed_spec(view.key, number, pair.x, pair.y, colours.name, model)
    look.chart(with_point(spec, pair.at, pair.base, colours))
    st.subheader("Break-even points", anchor=False)
    for number_of_table, (one, place, other, other_place) in enumerate(_both_ways(pair), 1):
        found = _fixed_breaks(view.key, number, one, place, other, other_place, model)
        look.table(break_even_table(one, _with(other, other_place), found, number_of_table), view.catalog.sources)


def _both_ways(pair: InputPair) -> tuple[tuple[VariedInput, int, VariedInput, int], ...]:
    (x, at_x), (y, at_y) = pair.placed
    return (x, at_x, y, at_y), (y, at_y, x, at_x)


def _with(other: VariedInput, place: int) -> list[str]:
    """The other input in words, where it is not as it is."""
    return [] if place == other.base else [f"{inside_sentence(other.name)} at {other.texts[place]}"]


@st.cache_resource(show_spinner=False, max_entries=256)
def _fixed_at(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    placed: tuple[tuple[VariedInput, int], ...],
    _model: WorkloadOnDesign,
) -> FixedDesignRates:
    return fixed_design_rates(_model, {one.key: one.values[place] for one, place in placed})


@st.cache_resource(show_spinner="Calculating the design over the range of both inputs", max_entries=24)
def _fixed_spec(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    x: VariedInput,
    y: VariedInput,
    palette_name: str,
    _model: WorkloadOnDesign,
) -> Spec:
    across, up = np.meshgrid(np.array(x.values), np.array(y.values))
    found = fixed_design_rates(_model, {x.key: across.ravel(), y.key: up.ravel()})
    return fixed_design_map(_model, x, y, found, look.palette_named(palette_name)).to_dict(validate=False)


@st.cache_resource(show_spinner=False, max_entries=256)
def _fixed_breaks(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    x: VariedInput,
    place: int,
    other: VariedInput,
    other_place: int,
    _model: WorkloadOnDesign,
) -> tuple[BreakEven, ...]:
    others = {other.key: other.values[other_place]}
    line, parts = fixed_design_along(_model, x, others), hardware_along(_model, x, others)
    return fixed_design_break_evens(_model, x, line, parts, others, place)


# --- the request, resized


def _resized(view: View, number: int, model: WorkloadOnDesign, pair: InputPair) -> None:
    base = _resized_at(view.key, number, (), model)
    now = _resized_at(view.key, number, pair.placed, model)
    if now.model is None:
        st.warning(plain(sentences(now.reason)), icon=":material/block:")
    else:
        new = _rate_of(view.key, number, pair.placed, now.model)
        as_it_is = _fixed_at(view.key, number, (), model)
        rate, *_ = fixed_design_figures(now.model, new, as_it_is)
        _figures((rate, *resized_figures(now, base)))
    name = widget_key("mapped")
    if name not in st.session_state:
        st.session_state[name] = inputs_state()["is_mapped"]
    st.toggle(
        "Map and break-even points",
        key=name,
        help="Sizes some hundred variants of the request; takes one or two seconds.",
        on_change=state.if_stored(name, _store_mapped),
        args=(name,),
    )
    if not inputs_state()["is_mapped"]:
        return
    colours = look.palette()
    spec = _resized_spec(view.key, number, pair.x, pair.y, colours.name, model)
    look.chart(with_point(spec, pair.at, pair.base, colours))
    st.subheader("Break-even points", anchor=False)
    for number_of_table, (one, place, other, other_place) in enumerate(_both_ways(pair), 1):
        line = _resized_line(view.key, number, one, other, other_place, model)
        found = resized_break_evens(one, line, place)
        look.table(break_even_table(one, _with(other, other_place), found, number_of_table), view.catalog.sources)


def _store_mapped(name: str) -> None:
    inputs_state()["is_mapped"] = st.session_state[name]


@st.cache_resource(show_spinner=False, max_entries=256)
def _resized_at(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    placed: tuple[tuple[VariedInput, int], ...],
    _model: WorkloadOnDesign,
) -> ResizedDesign:
    return resize(_model, {one.key: one.values[place] for one, place in placed if place != one.base})


@st.cache_resource(show_spinner=False, max_entries=256)
def _rate_of(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    placed: tuple[tuple[VariedInput, int], ...],  # noqa: ARG001  (name the design)
    _new: WorkloadOnDesign,
) -> FixedDesignRates:
    return fixed_design_rates(_new, {})


@st.cache_resource(show_spinner="Sizing variants of the request along an input", max_entries=128)
def _resized_line(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    x: VariedInput,
    other: VariedInput,
    other_place: int,
    _model: WorkloadOnDesign,
) -> tuple[ResizedDesign, ...]:
    fixed = {} if other_place == other.base else {other.key: other.values[other_place]}
    return tuple(
        resize(_model, {**fixed, **({} if place == x.base else {x.key: value})}, says_why=False)
        for place, value in enumerate(x.values)
    )


@st.cache_resource(show_spinner="Sizing variants of the request over the range of both inputs", max_entries=24)
def _resized_spec(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    x: VariedInput,
    y: VariedInput,
    palette_name: str,
    _model: WorkloadOnDesign,
) -> Spec:
    across, up = (one.places(_MAP_VALUES) for one in (x, y))
    found = [
        [resize(_model, {x.key: x.values[column], y.key: y.values[line]}, says_why=False) for column in across]
        for line in up
    ]
    drawn = resized_map(x, y, across, up, found, _model.storage_nodes, look.palette_named(palette_name))
    return drawn.to_dict(validate=False)


# --- figures, and what is done with the values


def _figures(found: Sequence[ComparedFigure]) -> None:
    with st.container(horizontal=True, gap="medium", key="what-if-figures"):
        for one in found:
            st.metric(one.label, one.value, one.under, delta_color="off", delta_arrow="off", width="content")


def _buttons(view: View, number: int, model: WorkloadOnDesign, pair: InputPair) -> None:
    """Reset the sliders, or write their values into the request."""
    values = {one.key: one.values[place] for one, place in pair.placed if place != one.base}
    taken, left = _taken(model, pair)
    with st.container(horizontal=True, gap="small"):
        st.button("Reset the sliders", icon=":material/undo:", on_click=reset, disabled=not pair.is_moved)
        st.button(
            "Apply to the request",
            icon=":material/check:",
            on_click=_take,
            args=(number, model, values),
            disabled=not taken or not view.is_current,
            help="Writes these values into the request and sizes it again.",
        )
    notes = []
    if taken:
        notes.append(f"Apply changes the request to: {listed(taken)}.")
    if left:
        notes.append(f"Not an input of the request, and not applied: {listed(left)}. The target stays as it is.")
    if taken and not view.is_current:
        notes.append("First correct the errors of the request on the page Requirements.")
    if notes:
        look.note(" ".join(notes))


def _taken(model: WorkloadOnDesign, pair: InputPair) -> tuple[list[str], list[str]]:
    """Values that would be written into the request, and values that no request has; both in words."""
    taken, left = [], []
    moved = {one.key for one, place in pair.placed if place != one.base}
    for one, place in pair.placed:
        if place == one.base:
            continue
        text = f"{inside_sentence(one.name)} {one.texts[place]}"
        if one.is_asked:
            taken.append(text)
        elif _is_count_asked(model, one.key, moved):
            taken.append(f"a target of {plural(gpus_of(model, one.values[place]), 'GPU')} at full utilization")
        else:
            left.append(text)
    return taken, left


def _is_count_asked(model: WorkloadOnDesign, key: str, moved: Collection[str]) -> bool:
    """Whether an input is the number of servers, and the target of the request a number of GPUs that it stands for.

    Of a rate or a time, the servers are the answer: a number of them would replace what the customer asked for.
    """
    return key == SERVERS and TARGET not in moved and target_kind(model) == "gpus_busy"


def _take(number: int, model: WorkloadOnDesign, values: Mapping[str, float]) -> None:
    """Write the values into the request, as a person would type them."""
    asked, whole = request_changes(model, values)
    if SERVERS in values and _is_count_asked(model, SERVERS, values):
        asked["target"] = {"gpus_busy": gpus_of(model, values[SERVERS])}
    for key, value in asked.items():
        typed = {name: _typed(name, part) for name, part in value.items()} if isinstance(value, dict) else value
        state.put(("workload", number, key), typed if isinstance(value, dict) else _typed(key, value))
    for key, value in whole.items():
        state.put((key,), value)
    st.session_state.notice = "The values are now in the request; the design was sized again."
    state.refresh()


def _typed(key: str, value: object) -> object:
    return written(_KINDS[key], value) if key in _KINDS else value


# --- what moves the answer most


@st.cache_resource(show_spinner="Varying each input between its limits", max_entries=16)
def _sensitivities(
    answer_key: str,  # noqa: ARG001  (names the result)
    _result: SizingResult,
    _catalog: Catalog,
) -> tuple[Sensitivity, ...]:
    return sensitivities(EvaluatedDesign(_result, _catalog))


@st.cache_resource(show_spinner=False, max_entries=32)
def _tornado(
    answer_key: str,  # noqa: ARG001  (names the result)
    number: int,  # noqa: ARG001  (of the workload)
    palette_name: str,
    unit: str,
    _found: Sensitivity,
) -> Spec | None:
    drawn = tornado_chart(_found, unit, look.palette_named(palette_name), "container")
    return None if drawn is None else drawn.to_dict(validate=False)


def _influences(view: View, number: int, model: WorkloadOnDesign) -> None:
    assert view.result is not None
    st.header("Most influential inputs", anchor=False)
    # One a workload: the parts of all are known where those of this one are.
    found = _sensitivities(view.key, view.result, view.catalog)[number]
    unit = sample_unit(model.work.dnn)
    if not found.influences:
        look.note("No varied input changes the result by more than 0.5 %.")
        return
    look.chart(_tornado(view.key, number, look.palette().name, unit, found))
    with st.expander("Table: effect of each input, with the servers required at each limit"):
        look.table(influence_table(found, unit, 1), view.catalog.sources)


# Asked of work that reads a data set in epochs: a model in use reads its weights once.
_OF_DATA_SETS = ("Two inputs", "Data and ingest")
# The questions in the order of the pills; each draws itself below them.
_QUESTIONS: Mapping[str, Callable[[View], None]] = {
    "Two inputs": _two_inputs,
    "Do we need this?": verdict.show,
    "Scale up or out": scale.show,
    "Team": team.show,
    "Data and ingest": data.show,
    "Growth": growth.show,
    "Failures": failures.show,
    "Rent or buy": rent.show,
}
