"""States of sessions in a file next to the library of designs, so that a restart of the server loses nothing.

The file belongs to the user who runs the server, and nobody else may read it: the states have prices and notes. It is a
convenience: where it cannot be written, as in a read-only container, sessions live as long as the server.
"""

import hashlib
import io
import os
import pickle
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sizer import __version__
from sizer.base.folders import make_folders

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
