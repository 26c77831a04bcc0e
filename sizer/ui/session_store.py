"""State of a session that survives a reload of the browser window, stored under a name in the address.

The server stores it in memory and, where the library of designs is a file, in a file next to it; the address has only
its name. A window that opens an address gets a copy under a new name, so that two windows never write to one state. The
state has prices, discounts and notes: only the browser that made it, known by a cookie of the server, gets it back. An
address that was passed on opens a new session, and says so.
"""

import hashlib
import io
import os
import pickle
import secrets
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock
from typing import Any

import streamlit as st

from sizer import __version__
from sizer.base.folders import make_folders
from sizer.library.opening import default_address
from sizer.ui.app_server.gate import COOKIE

PARAMETER = "s"
# Sessions that are stored; the one that was used longest ago is dropped first.
MAX_SESSIONS = 200
_DAY_S = 24 * 3600
_RESTARTED = "The server was restarted. The design is as you left it; repeat an entry that is missing."
# Plain keys of the session that make up its state; widgets are filled from them.
KEYS = (
    "generation",
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
    "price_book",
    "price_book_name",
    "profile",
    "profile_logo",
    "computed_quantities",
    "dropped_quantities",
    "need",
    "need_fields",
)
_BUSY_S = 2
_TABLE = (
    "CREATE TABLE IF NOT EXISTS session "
    "(name TEXT PRIMARY KEY, browser TEXT NOT NULL, version TEXT NOT NULL, used REAL NOT NULL, state BLOB NOT NULL)"
)
# A state is plain data: what else its file could name is not loaded.
_TYPES = {("datetime", "date"), ("datetime", "datetime"), ("decimal", "Decimal")}


class _PlainData(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _TYPES:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a state")


def encoded(state: dict[str, Any]) -> bytes:
    """A state as bytes."""
    return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)


def decoded(content: bytes) -> dict[str, Any] | None:
    """The state in bytes; None where they hold anything but plain data."""
    try:
        state = _PlainData(io.BytesIO(content)).load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError):
        return None
    return state if isinstance(state, dict) else None


class SessionFile:
    """States by name; the least recently used are dropped.

    ``path``: the file; created when the first state is stored. ``most``: states that are kept.
    """

    def __init__(self, path: Path, most: int) -> None:
        self._path, self._most = path, most

    def put(self, name: str, browser: str, content: bytes) -> None:
        """Store the state of a browser's window; nothing where the file cannot be written."""
        row = (name, _digest(browser), __version__, time.time(), content)
        with suppress(OSError, sqlite3.Error), closing(self._connected()) as connection, connection:
            connection.execute(_TABLE)
            connection.execute("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?)", row)
            connection.execute(
                "DELETE FROM session WHERE name NOT IN (SELECT name FROM session ORDER BY used DESC LIMIT ?)",
                (self._most,),
            )

    def get(self, name: str, browser: str) -> bytes | None:
        """The state of a browser's window; None where this version stored none for it."""
        if not self._path.exists():
            return None
        asked = (name, _digest(browser), __version__)
        with suppress(OSError, sqlite3.Error), closing(self._connected()) as connection:
            query = "SELECT state FROM session WHERE name = ? AND browser = ? AND version = ?"
            found = connection.execute(query, asked).fetchone()
            return found[0] if found is not None and isinstance(found[0], bytes) else None
        return None

    def _connected(self) -> sqlite3.Connection:
        make_folders(self._path.parent)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self._path, timeout=_BUSY_S)
        # The last states may be lost with the power, never the file.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


def _digest(browser: str) -> str:
    return hashlib.sha256(browser.encode()).hexdigest()


class _Store:
    """States by name, the last used last."""

    def __init__(self) -> None:
        # Name -> (browser, state)
        self._states: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._lock = Lock()

    def put(self, name: str, browser: str, content: bytes) -> None:
        with self._lock:
            is_new = self._states.get(name) != (browser, content)
            self._states[name] = (browser, content)
            self._states.move_to_end(name)
            while len(self._states) > MAX_SESSIONS:
                self._states.popitem(last=False)
        if is_new and (file := _file(default_address(os.environ))) is not None:
            file.put(name, browser, content)

    def get(self, name: str, browser: str) -> bytes | None:
        with self._lock:
            owner, content = self._states.get(name, ("", None))
            return content if owner and secrets.compare_digest(owner, browser) else None


@st.cache_resource(show_spinner=False)
def _store() -> _Store:
    return _Store()


@st.cache_resource(show_spinner=False)
def _file(library: str) -> SessionFile | None:
    """File of sessions next to the file of a library; None where the library is a database."""
    if "://" in library:
        return None
    place = Path(os.path.expanduser(library))
    return SessionFile(place.with_name(f"{place.stem}-sessions.sqlite"), MAX_SESSIONS)


def restore(query: Mapping[str, str]) -> bool:
    """Restore the state that the address names, if this browser made it; returns whether there was one."""
    name, browser = query.get(PARAMETER, ""), _browser()
    content, notice = _store().get(name, browser), ""
    if content is None and browser and (file := _file(default_address(os.environ))) is not None:
        content, notice = file.get(name, browser), _RESTARTED
    stored = None if content is None else decoded(content)
    if stored is None:
        return False
    for key, value in stored.items():
        st.session_state[key] = value
    if notice:
        st.session_state.notice = notice
    return True


@st.fragment(run_every=_DAY_S)
def run_when_reconnected() -> None:
    """Nothing to show: a window that has something to repeat asks for its page as soon as its server is back.

    Otherwise it would ask with the first edit, which a session that is restored only then would lose.
    """


def store() -> None:
    """Store the session, and put its name into the address; nothing where the browser accepts no cookie."""
    browser = _browser()
    if not browser:
        return
    if "stored_as" not in st.session_state:
        st.session_state.stored_as = secrets.token_urlsafe(12)
    name = st.session_state.stored_as
    _store().put(name, browser, encoded({key: st.session_state[key] for key in KEYS if key in st.session_state}))
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
    name: object = st.context.cookies.get(COOKIE, "")
    return name if isinstance(name, str) and name.isascii() else ""
