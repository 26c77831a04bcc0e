"""Page What-if: one question after another; the first moves two inputs by sliders."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from sizer.base.quantities import BYTES, SAMPLES_PER_S, SECONDS, QuantityKind
from sizer.present.words import inside_sentence, listed, plural, sample_unit
from sizer.questions.what_if.answer import (
    SERVERS,
    TARGET,
    BreakEven,
    FixedDesignRates,
    VariedInput,
    break_even_table,
    fixed_design_along,
    fixed_design_break_evens,
    fixed_design_figures,
    fixed_design_inputs,
    fixed_design_rates,
    gpus_of,
    request_changes,
    target_kind,
)
from sizer.questions.what_if.sensitivity import influence_table, sensitivities
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.ui import fields, look, state
from sizer.ui.performance.page import chosen_workload
from sizer.ui.questions import data, failures, growth, load, rent, scale, team, verdict
from sizer.ui.questions.tried import Tried
from sizer.ui.state import View
from sizer.ui.typed import plain, written


class InputPair(NamedTuple):
    """Two inputs and the positions of their sliders."""

    x: VariedInput
    y: VariedInput
    at: tuple[int, int]

    @property
    def values(self) -> dict[str, float]:
        """Values of both."""
        return {one.key: one.values[place] for one, place in self.placed}

    @property
    def placed(self) -> tuple[tuple[VariedInput, int], tuple[VariedInput, int]]:
        """Each input with the position of its slider."""
        return (self.x, self.at[0]), (self.y, self.at[1])

    @property
    def base(self) -> tuple[int, int]:
        """Positions of the sliders for the present design."""
        return self.x.base, self.y.base

    @property
    def is_moved(self) -> bool:
        """Whether a slider was moved."""
        return self.at != self.base


def chosen_pair(tried: Tried, inputs: Sequence[VariedInput]) -> InputPair:
    """Two inputs chosen by the user, each with its slider."""
    known = {one.key: one for one in inputs}
    chosen: list[VariedInput] = []
    places: list[int] = []
    for column, label in zip(st.columns(2, gap="large"), ("First input", "Second input"), strict=True):
        others = {key: one.name for key, one in known.items() if one not in chosen}
        with column:
            one = known[fields.stored_choice(label, others, f"what-if/{label}")]
            chosen.append(one)
            places.append(_slider(tried, one))
    return InputPair(chosen[0], chosen[1], (places[0], places[1]))


def _slider(tried: Tried, one: VariedInput) -> int:
    """Slider over the values of an input; returns its position."""
    place: int = st.select_slider(
        one.name,
        range(len(one.values)),
        format_func=lambda place: one.texts[place],
        **tried.widget(one.key, one.base),
    )
    st.caption(f"Present value: {plain(one.texts[one.base])}. {plain(one.note)}")
    return place


_KINDS: Mapping[str, QuantityKind] = {
    "sample_bytes": BYTES,
    "dataset_bytes": BYTES,
    "samples_per_s": SAMPLES_PER_S,
    "time_to_train_s": SECONDS,
}


def show(view: View) -> None:
    """Draw the page: the chosen question alone."""
    is_served = all(answer.serving is not None for answer in view.result.design.workloads)
    others = _OF_DATA_SETS if is_served else _OF_SERVING
    listed = [name for name in _QUESTIONS if name not in others]
    if st.session_state.get("question") not in listed:
        st.session_state.question = listed[0]
    st.pills("Question", listed, key="question", required=True, persist_state="session")
    _QUESTIONS[st.session_state.question](view)


def _two_inputs(view: View) -> None:
    number = chosen_workload(view.result.design, "what-if")
    model = view.once("workloads", lambda: view.evaluated.workloads)[number]
    st.header("Vary two inputs", anchor=False)
    tried = Tried("what-if", f"{number} {view.request_json}")
    look.note("Servers, storage and network stay the same; the figures show the rate they reach.")
    pair = chosen_pair(tried, fixed_design_inputs(model))
    _fixed(view, number, model, pair)
    _buttons(view, tried, number, model, pair)
    _influences(view, number, model)


# --- this design, changed


def _fixed(view: View, number: int, model: WorkloadOnDesign, pair: InputPair) -> None:
    now = _fixed_at(view, number, pair.placed, model)
    look.figures("what-if-figures", fixed_design_figures(model, now, _fixed_at(view, number, (), model)))

    def found(x: VariedInput, other: VariedInput, place: int) -> tuple[BreakEven, ...]:
        others = {other.key: other.values[place]}
        return fixed_design_break_evens(model, x, fixed_design_along(model, x, others), others)

    def draw() -> None:  # along each input, the other one at its present value
        (x, at_x), (y, at_y) = pair.placed
        for row, along in enumerate(((x, y, at_y), (y, x, at_x)), 1):
            one, other, at = along
            # The other input in words, where it is not as it is.
            others = [] if at == other.base else [f"{inside_sentence(other.name)} at {other.texts[at]}"]
            points = view.once("break-evens", partial(found, *along), number, *along)
            look.table(break_even_table(one, others, points, row), view.catalog.sources)

    look.folded("**Break-even points**", "break-evens", draw)


def _fixed_at(
    view: View, number: int, placed: tuple[tuple[VariedInput, int], ...], model: WorkloadOnDesign
) -> FixedDesignRates:
    values = {one.key: one.values[place] for one, place in placed}
    return view.once("fixed design", lambda: fixed_design_rates(model, values), number, placed)


# --- figures, and what is done with the values


def _buttons(view: View, tried: Tried, number: int, model: WorkloadOnDesign, pair: InputPair) -> None:
    """Reset the sliders, or write their values into the request."""
    values = {one.key: one.values[place] for one, place in pair.placed if place != one.base}
    taken, left = _taken(model, pair)
    tried.buttons(view, _take, (number, model, values), is_moved=pair.is_moved, can_take=bool(taken))
    notes = []
    if taken:
        notes.append(f"Apply changes the request to: {listed(taken)}.")
    if left:
        notes.append(
            f"Not an input of the request, and not applied: {listed(left)}. Servers and storage nodes follow from the "
            "target and the sizing confidence: raise one of them on the page Requirements to buy more."
        )
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
    state.refresh("The values are now in the request; the design was sized again.")


def _typed(key: str, value: object) -> object:
    return written(_KINDS[key], value) if key in _KINDS else value


# --- what moves the answer most


def _influences(view: View, number: int, model: WorkloadOnDesign) -> None:
    st.header("Most influential inputs", anchor=False)
    found = view.once(
        "sensitivities", lambda: sensitivities(view.evaluated), doing="Varying each input between its limits"
    )[number]
    unit = sample_unit(model.work.dnn)
    if not found.influences:
        look.note("No varied input changes the result by more than 0.5 %.")
        return
    look.table(influence_table(found, unit, 1), view.catalog.sources)


# Asked of work that reads a data set in epochs: a model in use reads its weights once.
_OF_DATA_SETS = ("Two inputs", "Data and ingest")
_OF_SERVING = ("Other load",)
# The questions in the order of the pills; each draws itself below them.
_QUESTIONS: Mapping[str, Callable[[View], None]] = {
    "Two inputs": _two_inputs,
    "Other load": load.show,
    "Do we need this?": verdict.show,
    "Scale up or out": scale.show,
    "Team": team.show,
    "Data and ingest": data.show,
    "Growth": growth.show,
    "Failures": failures.show,
    "Rent or buy": rent.show,
}
