"""What the request as typed says otherwise than the one it started from, field by field."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sizer.ui import state
from sizer.ui.error_messages import Path_, label_of, name_of
from sizer.ui.state import value_at
from sizer.ui.typed import plain

_LONGEST = 60


@dataclass(frozen=True)
class Change:
    """A field with its value at the start and now; None where it is not stated."""

    path: Path_
    before: Any
    now: Any

    @property
    def label(self) -> str:
        """Field in the words of the pages; of several workloads its number too."""
        name = label_of(str(next(part for part in reversed(self.path) if isinstance(part, str))))
        numbers = [part + 1 for part in self.path if isinstance(part, int)]
        return f"{name} ({numbers[0]})" if numbers and (len(numbers) > 1 or numbers[0] > 1) else name


def changes(before: Any, now: Any, path: Path_ = ()) -> list[Change]:
    """Differences between two requests as plain data; a list whose length differs is one change."""
    if isinstance(before, Mapping | None) and isinstance(now, Mapping | None) and (before or now):
        before, now = before or {}, now or {}
        keys = dict.fromkeys((*before, *now))
        return [found for key in keys for found in changes(before.get(key), now.get(key), (*path, key))]
    both = (before, now)
    if all(isinstance(one, list) and any(isinstance(part, Mapping) for part in one) for one in both):
        if len(before) == len(now):
            pairs = enumerate(zip(before, now, strict=True))
            return [found for number, (old, new) in pairs for found in changes(old, new, (*path, number))]
        return [Change(path, f"{len(before)} entries", f"{len(now)} entries")]
    return [] if before == now else [Change(path, before, now)]


def of_session() -> list[Change]:
    """Changes since an example was chosen, a file opened or a design loaded."""
    return changes(st.session_state.original, state.draft())


def take_back(path: Path_) -> None:
    """Give a field the value that it had at the start."""
    state.put(path, copy.deepcopy(value_at(st.session_state.original, path)))
    state.refresh()


def take_all_back() -> None:
    """Give every field the value that it had at the start."""
    st.session_state.draft = copy.deepcopy(st.session_state.original)
    state.refresh()


def show() -> None:
    """Draw the list with a button for each change."""
    found = of_session()
    for number, one in enumerate(found):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(one.label)}:** {_said(one.before)} → {_said(one.now)}", width="stretch")
            st.button(
                "Take back",
                key=f"take-back-{number}",
                on_click=take_back,
                args=(one.path,),
                type="tertiary",
                icon=":material/undo:",
            )
    if len(found) > 1:
        st.button("Take all back", key="take-all-back", on_click=take_all_back, icon=":material/restart_alt:")


def _said(value: Any) -> str:
    if value is None:
        return "*not stated*"
    return plain(_text(value))


def _text(value: Any) -> str:
    text = ", ".join(_parts(value)) if isinstance(value, (list, Mapping)) else name_of(str(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (f"{label_of(str(key)).lower()} {_text(part)}" for key, part in value.items())
    else:
        yield from map(_text, value)
