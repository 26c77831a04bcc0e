"""The page Performance: what was measured near the design, and how good the model is when somebody asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from sizer.base.errors import CalibrationError
from sizer.calibrate import validate
from sizer.calibrate.validate import ValidatedRow, ValidationReport, summarise
from sizer.ui import evidence

APP = Path(__file__).parents[2] / "app.py"
HOSTILE = "<script>alert(1)</script>"


def performance() -> AppTest:
    """The page in a new session."""
    app = AppTest.from_file(APP, default_timeout=60).run()
    app._page_hash = calc_hash("performance")
    return app.run()


def titles(app: AppTest) -> list[str]:
    """Titles of the charts, as screen readers speak them."""
    return [one.proto.alt for one in app.get("vega_lite_chart")]


def written(app: AppTest) -> str:
    """Notes and tables of the page."""
    return " ".join(one.proto.body for one in app.get("html"))


@pytest.fixture
def asked(monkeypatch) -> Iterator[list[str]]:
    """Catalogues for which everything published was predicted."""
    calls: list[str] = []

    def built_in_report(catalog) -> ValidationReport:
        calls.append(catalog.digest)
        rows = tuple(
            ValidatedRow(
                f"{HOSTILE}{n}", "training", "samples_per_s", HOSTILE, 100.0, 100.0 + n, 90.0, 120.0, "predicted"
            )
            for n in range(12)
        )
        return ValidationReport(rows, (), (), (), (), summarise("all", list(rows)))

    monkeypatch.setattr(validate, "built_in_report", built_in_report, raising=False)
    evidence._model.clear()
    yield calls
    evidence._model.clear()


def test_runs_near_the_design_are_drawn_and_listed(asked):
    app = performance()
    assert not app.exception
    assert any("published run" in title for title in titles(app))
    assert 'aria-label="Nearest published measurements"' in written(app)
    assert asked == []  # nobody opened the fold


def test_the_model_is_judged_when_somebody_asks_and_only_once(asked):
    app = performance()
    app.session_state["how-good"] = True
    app.run()
    assert not app.exception
    shown = titles(app)
    assert any("off in the median" in title for title in shown)
    assert any("promised" in title for title in shown)
    assert "The model predicts 12 of 12" in written(app)
    assert HOSTILE not in written(app)
    app.run()
    assert len(asked) == 1


def test_a_calibration_that_does_not_fit_its_observations_is_one_sentence(asked, monkeypatch):
    def refuse(catalog) -> ValidationReport:
        raise CalibrationError("observations have changed since the calibration; run 'sizer calibrate'")

    monkeypatch.setattr(validate, "built_in_report", refuse)
    app = performance()
    app.session_state["how-good"] = True
    app.run()
    assert not app.exception
    assert ["observations have changed" in one.value for one in app.error] == [True]
