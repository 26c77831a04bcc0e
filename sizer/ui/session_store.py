"""State of a session that survives a reload of the browser window, stored under a name in the address.

It is stored in the memory of the server; the address has only its name. A window that opens an address gets a copy
under a new name, so that two windows never write to one state.
"""

import copy
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

import streamlit as st

PARAMETER = "s"
# Sessions that are stored; the one that was used longest ago is dropped first.
MAX_SESSIONS = 200
# Plain keys of the session that make up its state; widgets are filled from them.
KEYS = (
    "draft",
    "original",
    "origin",
    "steps",
    "undone",
    "workload",
    "answered",
    "customer_mode",
    "saved",
    "author",
    "pins",
    "baseline",
    "what_if",
    "price_book",
    "price_book_name",
    "profile",
    "profile_logo",
    "set_aside",
    "document_form",
    "customer_copy",
)


class _Store:
    """States by name, the last used last."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._lock = Lock()

    def put(self, name: str, state: dict[str, Any]) -> None:
        with self._lock:
            self._states[name] = state
            self._states.move_to_end(name)
            while len(self._states) > MAX_SESSIONS:
                self._states.popitem(last=False)

    def get(self, name: str) -> dict[str, Any] | None:
        with self._lock:
            return copy.deepcopy(self._states.get(name))


@st.cache_resource(show_spinner=False)
def _store() -> _Store:
    return _Store()


def restore(query: Mapping[str, str]) -> bool:
    """Restore the state that the address names; returns whether there was one."""
    stored = _store().get(query.get(PARAMETER, ""))
    for key, value in (stored or {}).items():
        st.session_state[key] = value
    return stored is not None


def store() -> None:
    """Store the session, and put its name into the address."""
    if "stored_as" not in st.session_state:
        st.session_state.stored_as = secrets.token_urlsafe(12)
    name = st.session_state.stored_as
    _store().put(name, copy.deepcopy({key: st.session_state[key] for key in KEYS if key in st.session_state}))
    if st.query_params.get(PARAMETER) != name:
        st.query_params[PARAMETER] = name
