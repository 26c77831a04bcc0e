"""What the page What-if looks at: which inputs, where their sliders stand, and in which mode.

It lies under one plain key of the session, so that it outlives a change of page; another design sets the sliders back.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from sizer.questions.what_if.varied_input import VariedInput
from sizer.ui import look
from sizer.ui.state import View
from sizer.ui.typed import plain

HELD, ANEW = "held", "anew"
_MODES = {HELD: "This design, changed", ANEW: "The request, sized anew"}
_MODE_HELP = (
    "This design, changed: servers, storage and network stay, and the page says what they then reach. "
    "The request, sized anew: the page says what the changed request needs, on the same kinds of server and storage."
)
# Plain key of the session.
_STATE = "what_if"


class Pair(NamedTuple):
    """Two inputs and the places of their sliders."""

    x: VariedInput
    y: VariedInput
    at: tuple[int, int]

    @property
    def values(self) -> dict[str, float]:
        """Values of both."""
        return {one.key: one.values[place] for one, place in self.placed}

    @property
    def placed(self) -> tuple[tuple[VariedInput, int], tuple[VariedInput, int]]:
        """Each input with the place of its slider."""
        return (self.x, self.at[0]), (self.y, self.at[1])

    @property
    def base(self) -> tuple[int, int]:
        """Where the sliders stand for the design as it is."""
        return self.x.base, self.y.base

    @property
    def is_moved(self) -> bool:
        """Whether a slider stands elsewhere."""
        return self.at != self.base


def start(view: View, number: int) -> None:
    """Sliders stand on the design when it is another one than at the last look."""
    kept: dict[str, Any] = st.session_state.setdefault(
        _STATE, {"mode": HELD, "inputs": {}, "places": {}, "version": 0, "of": None, "is_mapped": False}
    )
    of = (view.request_json, number)
    if kept["of"] != of:
        kept.update(of=of, places={}, version=kept["version"] + 1)


def kept() -> dict[str, Any]:
    """What the session keeps for the page."""
    found: dict[str, Any] = st.session_state[_STATE]
    return found


def widget_key(*parts: str) -> str:
    """Key of a widget; sliders that are set back get another one, so that they show it."""
    return "/".join(("what-if", str(kept()["version"]), *parts))


def chosen_mode() -> str:
    """Whether the design is changed or the request sized anew."""
    name = widget_key("mode")
    if name not in st.session_state:
        st.session_state[name] = kept()["mode"]
    st.segmented_control(
        "What is looked at",
        list(_MODES),
        required=True,
        format_func=lambda mode: _MODES[mode],
        key=name,
        help=_MODE_HELP,
        on_change=_store_mode,
        args=(name,),
    )
    mode: str = kept()["mode"]
    look.note(
        "Servers, storage and network stay as they are; the numbers say what they then reach."
        if mode == HELD
        else "The changed request is sized on the same kinds of server and storage; the numbers say what it needs."
    )
    return mode


def _store_mode(name: str) -> None:
    kept()["mode"] = st.session_state[name]


def chosen_pair(mode: str, inputs: Sequence[VariedInput]) -> Pair:
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
                on_change=_store_input,
                args=(mode, position, name, (first, second)),
            )
            places.append(_slider(mode, known[key]))
    return Pair(known[first], known[second], (places[0], places[1]))


def _chosen(mode: str, known: Mapping[str, VariedInput]) -> tuple[str, str]:
    """Keys of the inputs chosen; the first two where none were, or where this design has not got them."""
    chosen = [key for key in kept()["inputs"].get(mode, ()) if key in known]
    found = list(dict.fromkeys((*chosen, *known)))
    return found[0], found[1]


def _store_input(mode: str, position: int, name: str, before: tuple[str, str]) -> None:
    chosen = list(before)
    chosen[position] = st.session_state[name]
    kept()["inputs"][mode] = tuple(chosen)
    # The choices of the other field leave this one out, so it is made anew as well.
    kept()["version"] += 1


def _slider(mode: str, one: VariedInput) -> int:
    """Slider over the values of an input; returns the place where it stands."""
    places: dict[str, int] = kept()["places"]
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
        on_change=_store_place,
        args=(one.key, name),
    )
    st.caption(f"As it is: {plain(one.texts[one.base])}. {plain(one.note)}")
    return int(st.session_state[name])


def _store_place(key: str, name: str) -> None:
    kept()["places"][key] = st.session_state[name]


def reset() -> None:
    """Set all sliders back to the design as it is."""
    kept()["places"] = {}
    kept()["version"] += 1
