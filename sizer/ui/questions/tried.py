"""Values of sliders that a question tries; the request and its design stay as they are until they are applied."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from sizer.ui import state
from sizer.ui.state import View

T = TypeVar("T")

_MULTIPLES = (0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0)


class Tried:
    """Sliders of one question, stored under a plain key of the session; another answer starts anew."""

    def __init__(self, name: str, about: str) -> None:
        self._name = name
        stored = st.session_state.setdefault(name, {"of": about, "values": {}, "version": 0})
        if stored["of"] != about:
            stored.update(of=about, values={}, version=stored["version"] + 1)
        self.values: dict[str, Any] = stored["values"]
        self._version = stored["version"]

    def key(self, name: str) -> str:
        """Key of a widget; those that are reset get another one."""
        return f"{self._name}/{self._version}/{name}"

    def widget(self, name: str, value: Any) -> dict[str, Any]:
        """Key of a widget that shows its stored value, and stores what it is set to."""
        key = self.key(name)
        if key not in st.session_state:
            st.session_state[key] = self.values.get(name, value)
        return {"key": key, "on_change": state.stores(key, self._name, "values", name)}

    def multiple(self, label: str, name: str, value: T, times: Callable[[float], T], text: Callable[[T], str]) -> T:
        """The value, or a multiple of it, as chosen on a slider; ``times`` makes a multiple, ``text`` shows one."""
        values = {factor: value if factor == 1 else times(factor) for factor in _MULTIPLES}
        named = self.widget(name, 1.0)
        return values[st.select_slider(label, list(values), format_func=lambda one: text(values[one]), **named)]

    def buttons(
        self, view: View, take: Callable[..., None], args: Sequence[Any], *, is_moved: bool, can_take: bool
    ) -> None:
        """Reset the sliders, or write their values into the request."""
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Reset the sliders",
                icon=":material/undo:",
                key=f"{self._name}/reset",
                on_click=self._reset,
                disabled=not is_moved,
            )
            st.button(
                "Apply to the request",
                icon=":material/check:",
                key=f"{self._name}/take",
                on_click=take,
                args=tuple(args),
                disabled=not can_take or not view.is_current,
                help="Writes these values into the request and sizes it again.",
            )

    def _reset(self) -> None:
        st.session_state[self._name].update(values={}, version=self._version + 1)
