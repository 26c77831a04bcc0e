"""An unforeseen error in a page and in the sizing: a sentence with a report file, and the other pages work."""

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sizer.ui import look, state
from tests.ui.pages import figures, opened, to_page

SENTENCE = re.compile(
    r"An error of the program \(ZeroDivisionError in \w+\.py line \d+\) stopped this step; your inputs are unchanged\. "
    r"Send the report (\S+\.txt) to the maintainers; it holds none of your data\."
)


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the reports."""
    folder = tmp_path / "reports"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def report_of(text: str, folder: Path) -> str:
    found = SENTENCE.search(text)
    assert found is not None, text
    file = Path(found[1])
    assert file.parent == folder
    return file.read_text(encoding="utf-8")


def error_texts(app: AppTest) -> str:
    return re.sub(r"\\(\W|_)", r"\1", " ".join(one.value for one in app.error))


def test_an_error_of_a_page_leaves_the_others(monkeypatch: pytest.MonkeyPatch, reports: Path) -> None:
    close_menu = look.close_menu

    def broken(title: str) -> None:
        if title == "Bill":
            1 / 0  # noqa: B018
        close_menu(title)

    monkeypatch.setattr(look, "close_menu", broken)
    app = opened("bill")
    (shown,) = app.exception
    assert "builtins.ZeroDivisionError" in report_of(shown.message, reports)
    assert "The other pages work." in shown.message
    assert not to_page(app, "architecture").exception
    assert figures(app)


def test_an_error_of_the_sizing_is_a_sentence_on_every_page(monkeypatch: pytest.MonkeyPatch, reports: Path) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a secret price of 123.45")

    state._outcome.clear()
    state._printed.clear()
    size = state.size
    monkeypatch.setattr(state, "size", broken)
    app = opened()
    assert not app.exception
    report = report_of(error_texts(app), reports)
    assert "broken" in report
    assert "secret" not in report + error_texts(app)
    for page in ("architecture", "catalogue"):
        assert not to_page(app, page).exception
    # Nothing of the error is kept: with the fault mended, the same session is answered.
    monkeypatch.setattr(state, "size", size)
    assert not to_page(app, "architecture").exception
    assert figures(app)
