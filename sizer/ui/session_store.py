"""What outlives a reload of the browser window: the state of a session under a name that its address carries.

It lies in the server's memory: the address names it but does not hold it. A window that opens an address gets a copy
with a name of its own, so that two windows never write to one state.
"""

import copy
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

import streamlit as st

PARAMETER = "s"
# Sessions that are remembered; the one that was used longest ago is forgotten first.
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


class _Memory:
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
def _memory() -> _Memory:
    return _Memory()


def recall(query: Mapping[str, str]) -> bool:
    """Take up the state that the address names; whether there was one."""
    found = _memory().get(query.get(PARAMETER, ""))
    for key, value in (found or {}).items():
        st.session_state[key] = value
    return found is not None


def keep() -> None:
    """Remember the session as it is, and name it in the address."""
    if "kept_as" not in st.session_state:
        st.session_state.kept_as = secrets.token_urlsafe(12)
    name = st.session_state.kept_as
    _memory().put(name, copy.deepcopy({key: st.session_state[key] for key in KEYS if key in st.session_state}))
    if st.query_params.get(PARAMETER) != name:
        st.query_params[PARAMETER] = name
