"""Changes of the request since the start, field by field."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sizer.questions.compare.designs import value_text
from sizer.ui import state
from sizer.ui.error_messages import name_of
from sizer.ui.request_form.forms import RequestPath, label_at, label_of
from sizer.ui.state import value_at
from sizer.ui.typed import plain

_LONGEST = 60


@dataclass(frozen=True)
class RequestChange:
    """A field with its value at the start and now; None where it has none."""

    path: RequestPath
    before: Any
    now: Any

    @property
    def label(self) -> str:
        """Name of the field; of several workloads with its number."""
        name = label_at(self.path)
        numbers = [part + 1 for part in self.path if isinstance(part, int)]
        return f"{name} ({numbers[0]})" if numbers and (len(numbers) > 1 or numbers[0] > 1) else name

    @property
    def field(self) -> str:
        """Name of the field in its table."""
        return next(str(part) for part in reversed(self.path) if not isinstance(part, int))


def changes(before: Any, now: Any, path: RequestPath = ()) -> list[RequestChange]:
    """Differences between two requests as plain data; a list whose length differs is one change."""
    if isinstance(before, Mapping | None) and isinstance(now, Mapping | None) and (before or now):
        before, now = before or {}, now or {}
        keys = dict.fromkeys((*before, *now))
        return [change for key in keys for change in changes(before.get(key), now.get(key), (*path, key))]
    both = (before, now)
    if all(isinstance(value, list) and any(isinstance(part, Mapping) for part in value) for value in both):
        if len(before) == len(now):
            pairs = enumerate(zip(before, now, strict=True))
            return [change for number, (old, new) in pairs for change in changes(old, new, (*path, number))]
        return [RequestChange(path, f"{len(before)} entries", f"{len(now)} entries")]
    return [] if before == now else [RequestChange(path, before, now)]


def of_session() -> list[RequestChange]:
    """Changes since an example was chosen, a file opened or a design loaded."""
    return changes(st.session_state.original, state.draft())


def undo_change(path: RequestPath) -> None:
    """Restore the value that a field had at the start."""
    state.put(path, copy.deepcopy(value_at(st.session_state.original, path)))
    state.refresh()


def undo_all() -> None:
    """Restore the values that all fields had at the start."""
    st.session_state.draft = copy.deepcopy(st.session_state.original)
    state.refresh()


def show() -> None:
    """Draw the list with a button for each change."""
    changed = of_session()
    for number, change in enumerate(changed):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            before, now = (plain(words_of(change, value)) for value in (change.before, change.now))
            st.markdown(f"**{plain(change.label)}:** {before} → {now}", width="stretch")
            st.button(
                "Undo this change",
                key=f"undo-change-{number}",
                on_click=undo_change,
                args=(change.path,),
                type="tertiary",
                icon=":material/undo:",
            )
    if len(changed) > 1:
        st.button("Undo all changes", key="undo-all-changes", on_click=undo_all, icon=":material/restart_alt:")


def words_of(change: RequestChange, value: Any) -> str:
    """One of the two values of a change, with units and the names of parts."""
    text = "default" if value is None else in_words(change.field, value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def in_words(field: str, value: Any) -> str:
    """Value of a field with its unit; the fields and parts that it is made of by their names on the pages."""
    if isinstance(value, Mapping):
        return ", ".join(f"{label_of(str(key)).lower()} {in_words(str(key), part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(in_words(field, part) for part in value)
    return value_text(field, value, name_of)
