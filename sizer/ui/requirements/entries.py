"""Lists of the request on the page Requirements: entries are added and removed."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from sizer.ui import fields, state
from sizer.ui.request_form.field import Columns, RequestPath


def entries(path: RequestPath) -> list[Any]:
    """Entries of a list as typed."""
    found = state.get(path)
    return found if isinstance(found, list) else []


def box(form: Columns, path: RequestPath, number: int, name: str, removal: str) -> None:
    """One entry and the button that removes it; ``name`` is part of the keys."""
    with st.container(border=True, key=f"{name}-{number}"):
        fields.draw_columns(form, number)
        remove_button(removal, path, number, name)


def remove_button(label: str, path: RequestPath, number: int, name: str, *, disabled: bool = False) -> None:
    """Button that removes an entry."""

    def remove() -> None:
        state.put(path, [entry for place, entry in enumerate(entries(path)) if place != number])
        state.refresh()

    key = f"remove-{name}-{number}"
    st.button(label, key=key, on_click=remove, icon=":material/delete:", type="tertiary", disabled=disabled)


def add_button(label: str, path: RequestPath, new: Callable[[], dict[str, Any]], most: int, name: str) -> None:
    """Button that adds an entry with first values, up to the most that a request may have."""

    def add() -> None:
        state.put(path, [*entries(path), new()])
        state.refresh()

    is_full = len(entries(path)) >= most
    st.button(label, key=f"add-{name}", on_click=add, icon=":material/add:", type="tertiary", disabled=is_full)


def unused_name(path: RequestPath, noun: str) -> str:
    """A name that no entry has: Rack 2."""
    taken = {str(entry.get("name")) for entry in entries(path) if isinstance(entry, dict)}
    return next(name for n in range(1, len(taken) + 2) if (name := f"{noun} {n}") not in taken)
