"""Hosts that the server answers to, without a server."""

import asyncio
import datetime
import decimal
import os
import pickle
import stat
from pathlib import Path

import pytest

from sizer.ui import session_store
from sizer.ui.app_server import gate
from sizer.ui.app_server.gate import Gate, is_allowed
from sizer.ui.session_store import SessionFile, decoded, encoded
from tests.factories.full_disk import full_disk
from tests.ui.pages import figures, opened, to_page, unfold, widget

ANSWERED = "localhost localhost:8501 LOCALHOST. 127.0.0.1 10.1.2.3:80 [::1]:8501 [fe80::1] Sizer.Example.com:443"
REFUSED = (
    "evil.test localhost.evil.test 127.0.0.1.evil.test sizer.example.com.evil.test a.sizer.example.com . :80 * [::1 "
    "127.0.0.1@evil.test 127.0.0.1:80:90 localhost:x [evil.test] 0x7f.1 2130706433 localhost:\uff18 sizer.example.com/x"
)


@pytest.mark.parametrize("host", ANSWERED.split())
def test_addresses_localhost_and_listed_names_are_answered(host):
    assert is_allowed(host, ["sizer.example.com"])


@pytest.mark.parametrize("host", ["", *REFUSED.split()])
def test_other_names_are_refused(host):
    assert not is_allowed(host, ["sizer.example.com"])


@pytest.mark.parametrize(
    ("origin", "host", "status"),
    [
        ("http://localhost:8501", "localhost:8501", None),
        ("https://sizer.example.com", "sizer.example.com:443", None),
        ("https://sizer.example.com", "127.0.0.1:8501", None),  # a proxy that hides the name
        (None, "localhost:8501", None),  # no browser
        ("http://localhost:3000", "localhost:8501", 1008),
        ("http://127.0.0.1:8501", "localhost:8501", 1008),
        ("http://0.0.0.0:1", "localhost:8501", 1008),
        ("http://x.test", "localhost:8501", 1008),
        ("https://localhost:8501.x.test", "localhost:8501", 1008),
        ("https://sizer.example.com:9999", "sizer.example.com", 1008),
        ("null", "localhost:8501", 1008),
    ],
)
def test_a_socket_is_opened_by_a_page_of_this_server_only(origin, host, status):
    """Streamlit lets every port of localhost in; RFC 6454: another port is another origin."""
    sent = []

    async def app(_scope, _receive, send):
        await send({"type": "websocket.accept"})

    async def send(message):
        sent.append(message)

    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
    asyncio.run(Gate(app, ["sizer.example.com"])({"type": "websocket", "headers": headers}, None, send))
    assert sent[0].get("code") == status


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/_stcore/metrics", 404),
        ("/sizer/_stcore/metrics/", 404),
        ("/_stcore/health", 200),
        ("/", 200),
    ],
)
def test_counts_of_the_server_are_shown_to_nobody(path, status):
    sent = []

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": path, "headers": [(b"host", b"localhost")]}
    asyncio.run(Gate(app)(scope, None, send))
    assert sent[0]["status"] == status


@pytest.mark.parametrize(
    ("path", "status", "is_closed"),
    [("/a/_stcore/upload_file/x/y", 403, True), ("/_stcore/upload_file/x/y", 204, False), ("/api/size", 400, False)],
)
def test_the_rest_of_a_refused_upload_is_not_read(monkeypatch, path, status, is_closed):
    """RFC 9112, 9.6: who sends ``Connection: close`` reads nothing more."""
    monkeypatch.setattr(gate, "_REFUSED_UPLOAD_S", 0.0)
    sent = []

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": status})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": path, "headers": [(b"host", b"localhost")]}
    asyncio.run(Gate(app)(scope, None, send))
    assert ((b"connection", b"close") in sent[0]["headers"]) == is_closed


STATE = {
    "draft": {"date": datetime.date(2026, 11, 25), "limits": {"budget": decimal.Decimal("2.5")}, "workload": [{}]},
    "pins": [("a", 1)],
    "profile_logo": b"\x89PNG",
}


@pytest.fixture
def stored(tmp_path: Path) -> SessionFile:
    """A file with one state."""
    file = SessionFile(tmp_path / "new folder" / "sessions.sqlite", 2)
    file.put("name", "mine", encoded(STATE))
    return file


def test_a_state_comes_back_to_its_browser_alone(stored: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    assert decoded(stored.get("name", "mine") or b"") == STATE
    assert stored.get("name", "another") is None
    assert stored.get("other name", "mine") is None
    monkeypatch.setattr(session_store, "__version__", "99")
    assert stored.get("name", "mine") is None


def test_the_least_recently_used_goes(stored: SessionFile) -> None:
    for name in ("second", "third"):
        stored.put(name, "mine", encoded({}))
    assert stored.get("name", "mine") is None
    assert [stored.get(name, "mine") is not None for name in ("second", "third")] == [True, True]


def test_nobody_else_may_read_it(tmp_path: Path, stored: SessionFile) -> None:
    assert stat.S_IMODE((tmp_path / "new folder" / "sessions.sqlite").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps([1]), pickle.dumps({"run": os.system})])
def test_anything_but_plain_data_is_no_state(content: bytes) -> None:
    assert decoded(content) is None


def test_a_place_that_cannot_be_used_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder, and no database")
    for path in (tmp_path / "file" / "sessions.sqlite", tmp_path / "file"):
        file = SessionFile(path, 2)
        file.put("name", "mine", b"state")
        assert file.get("name", "mine") is None


def test_a_full_disk_keeps_the_state_that_was_stored(stored: SessionFile) -> None:
    with full_disk(1_000):
        stored.put("name", "mine", b"x" * 50_000)
    assert decoded(stored.get("name", "mine") or b"") == STATE
    stored.put("name", "mine", encoded({}))
    assert decoded(stored.get("name", "mine") or b"") == {}


def test_every_part_of_a_session_survives_a_restart_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_store, "_browser", lambda: "mine")
    app = opened()
    widget(app.text_input, "Minimum rate").set_value("12000 images/s").run()
    widget(app.button, "Undo").click().run()
    widget(app.button, "Redo").click().run()
    to_page(app, "architecture")
    unfold(app)
    for page in ("performance", "what-if", "bill", "document", "designs", "catalogue"):
        to_page(app, page)
    app.session_state.profile_logo = b"\x89PNG"
    app.run()
    shown = figures(app.run())
    session_store._store.clear()
    again = opened(s=app.session_state.stored_as)
    assert figures(again) == shown
    for key in session_store.KEYS:
        if key in app.session_state and key not in ("generation", "price_book"):
            assert again.session_state[key] == app.session_state[key], key
    assert again.session_state.stored_as != app.session_state.stored_as
