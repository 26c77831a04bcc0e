"""States of sessions on disk: only for their browser and version, plain data only, and never a reason to fail."""

import datetime
import decimal
import os
import pickle
import stat
from pathlib import Path

import pytest

from sizer.ui import session_store
from sizer.ui.session_store import SessionFile, decoded, encoded
from tests.ui.pages import figures, opened, to_page, unfold, widget

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
