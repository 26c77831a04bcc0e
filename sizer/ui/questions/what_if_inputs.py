"""Inputs of the page What-if: which two, the values of their sliders, and the mode.

They are stored under one plain key of the session, so that they survive a change of page; another design resets them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from sizer.questions.what_if.varied_input import VariedInput
from sizer.ui import look, state
from sizer.ui.state import View
from sizer.ui.typed import plain

FIXED_DESIGN, RESIZED = "fixed", "resized"
_MODES = {FIXED_DESIGN: "Keep this design", RESIZED: "Resize the design"}
_MODE_HELP = (
    "Keep this design: servers, storage and network stay; the page shows the rate they reach with the new inputs. "
    "Resize the design: the page shows what the changed request needs, with the same server and storage models."
)
# Plain key of the session.
INPUTS = "what_if"


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


def start(view: View, number: int) -> None:
    """Set the sliders to the present design when it has changed since the last visit."""
    stored: dict[str, Any] = st.session_state.setdefault(
        INPUTS, {"mode": FIXED_DESIGN, "inputs": {}, "places": {}, "version": 0, "of": None, "has_break_evens": False}
    )
    of = (view.request_json, number)
    if stored["of"] != of:
        stored.update(of=of, places={}, version=stored["version"] + 1)


def inputs_state() -> dict[str, Any]:
    """Mode, inputs and slider positions of the page, as the session stores them."""
    stored: dict[str, Any] = st.session_state[INPUTS]
    return stored


def widget_key(*parts: str) -> str:
    """Key of a widget; sliders that are reset get another one, so that they show it."""
    return "/".join(("what-if", str(inputs_state()["version"]), *parts))


def chosen_mode() -> str:
    """Whether the design is fixed or resized."""
    name = widget_key("mode")
    if name not in st.session_state:
        st.session_state[name] = inputs_state()["mode"]
    st.segmented_control(
        "Mode",
        list(_MODES),
        required=True,
        format_func=lambda mode: _MODES[mode],
        key=name,
        help=_MODE_HELP,
        on_change=state.stores(name, INPUTS, "mode"),
    )
    mode: str = inputs_state()["mode"]
    look.note(
        "Servers, storage and network stay the same; the figures show the rate they reach."
        if mode == FIXED_DESIGN
        else "The changed request is sized with the same server and storage models; the figures show what it needs."
    )
    return mode


def chosen_pair(mode: str, inputs: Sequence[VariedInput]) -> InputPair:
    """Two inputs chosen by the user, each with its slider."""
    known = {one.key: one for one in inputs}
    first, second = _chosen(mode, known)
    places: list[int] = []
    columns = st.columns(2, gap="large")
    for position, (column, key) in enumerate(zip(columns, (first, second), strict=True)):
        other = second if position == 0 else first
        with column:
            name = widget_key(mode, "input", str(position))
            if name not in st.session_state:
                st.session_state[name] = key
            st.selectbox(
                ("First input", "Second input")[position],
                [one for one in known if one != other],
                format_func=lambda one: known[one].name,
                key=name,
                on_change=state.if_stored(name, _store_input),
                args=(mode, position, name, (first, second)),
            )
            places.append(_slider(mode, known[key]))
    return InputPair(known[first], known[second], (places[0], places[1]))


def _chosen(mode: str, known: Mapping[str, VariedInput]) -> tuple[str, str]:
    """Keys of the chosen inputs; by default the first two that this design has."""
    chosen = [key for key in inputs_state()["inputs"].get(mode, ()) if key in known]
    first, second, *_ = dict.fromkeys((*chosen, *known))
    return first, second


def _store_input(mode: str, position: int, name: str, before: tuple[str, str]) -> None:
    chosen = list(before)
    chosen[position] = st.session_state[name]
    inputs_state()["inputs"][mode] = tuple(chosen)
    # The options of the other field exclude this input, so that field is rebuilt as well.
    inputs_state()["version"] += 1


def _slider(mode: str, one: VariedInput) -> int:
    """Slider over the values of an input; returns its position."""
    places: dict[str, int] = inputs_state()["places"]
    name = widget_key(mode, "value", one.key)
    if name not in st.session_state:
        st.session_state[name] = places.get(one.key, one.base)
    if st.session_state[name] not in range(len(one.values)):
        st.session_state[name] = one.base
    st.select_slider(
        one.name,
        range(len(one.values)),
        format_func=lambda place: one.texts[place],
        key=name,
        on_change=state.stores(name, INPUTS, "places", one.key),
    )
    st.caption(f"Present value: {plain(one.texts[one.base])}. {plain(one.note)}")
    return int(st.session_state[name])


def reset() -> None:
    """Reset all sliders to the present design."""
    inputs_state()["places"] = {}
    inputs_state()["version"] += 1
