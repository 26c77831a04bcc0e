"""State of a session that survives a reload of the browser window, stored under a name in the address.

It is stored in the memory of the server; the address has only its name. A window that opens an address gets a copy
under a new name, so that two windows never write to one state. The state has prices, discounts and notes: only the
browser that made it, known by a cookie of the server, gets it back. An address that was passed on opens a new session.
"""

import copy
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

import streamlit as st

from sizer.ui.serving.gate import COOKIE

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
    "computed_quantities",
    "dropped_quantities",
    "document_form",
    "need",
    "need_fields",
    "customer_copy",
)


class _Store:
    """States by name, the last used last."""

    def __init__(self) -> None:
        # Name -> (browser, state)
        self._states: OrderedDict[str, tuple[str, dict[str, Any]]] = OrderedDict()
        self._lock = Lock()

    def put(self, name: str, browser: str, state: dict[str, Any]) -> None:
        with self._lock:
            self._states[name] = (browser, state)
            self._states.move_to_end(name)
            while len(self._states) > MAX_SESSIONS:
                self._states.popitem(last=False)

    def get(self, name: str, browser: str) -> dict[str, Any] | None:
        with self._lock:
            owner, state = self._states.get(name, ("", None))
            return copy.deepcopy(state) if owner and secrets.compare_digest(owner, browser) else None


@st.cache_resource(show_spinner=False)
def _store() -> _Store:
    return _Store()


def restore(query: Mapping[str, str]) -> bool:
    """Restore the state that the address names, if this browser made it; returns whether there was one."""
    stored = _store().get(query.get(PARAMETER, ""), _browser())
    for key, value in (stored or {}).items():
        st.session_state[key] = value
    return stored is not None


def store() -> None:
    """Store the session, and put its name into the address; nothing where the browser accepts no cookie."""
    browser = _browser()
    if not browser:
        return
    if "stored_as" not in st.session_state:
        st.session_state.stored_as = secrets.token_urlsafe(12)
    name = st.session_state.stored_as
    _store().put(name, browser, copy.deepcopy({key: st.session_state[key] for key in KEYS if key in st.session_state}))
    if st.query_params.get(PARAMETER) != name:
        _into_address(name)


def _into_address(name: str) -> None:
    """Put the name into the address of the page that is shown.

    ``st.query_params`` would add a step to the history of the window on each page, so that Back needed two presses. The
    name is of letters that need no escape, and the script holds nothing else.
    """
    with st.container(key="address"):
        # The browser runs a script again only where its text is another one.
        st.html(
            f"<script>/* {secrets.token_hex(4)} */"
            "{const here = new URL(window.location.href);"
            f"here.searchParams.set('{PARAMETER}', '{name}');"
            "window.history.replaceState(window.history.state, '', here);}</script>",
            unsafe_allow_javascript=True,
        )


def _browser() -> str:
    """The browser of this session; "" for one without the cookie. Letters beyond ASCII are in no cookie of ours."""
    name = st.context.cookies.get(COOKIE, "")
    return name if name.isascii() else ""
