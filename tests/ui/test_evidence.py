"""The page PublishedEvidence: what the model says about everything published, and what its filters let through."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from sizer.base.errors import CalibrationError
from sizer.calibrate.notes import CALIBRATED, PREDICTED
from sizer.calibrate.observations import load_observations
from sizer.calibrate.validate import ValidatedRow, summarise
from sizer.drawings.palette import DARK
from sizer.evidence import published
from sizer.evidence.parity import parity_spec
from sizer.evidence.published import Choice, PublishedEvidence
from sizer.ui import state
from sizer.ui.evidence import page as evidence
from tests.factories.examples import catalog
from tests.ui.pages import opened, to_page, unfold, widget

HOSTILE = "<script>alert(1)</script>"
# Ten published rates, five to either side of their prediction of 100: 10 % off, or twice and half.
PUBLISHED = (90.0, 91.0, 92.0, 93.0, 50.0, 110.0, 109.0, 108.0, 107.0, 200.0)


def titles(app: AppTest) -> list[str]:
    """Titles of the charts, as screen readers speak them."""
    return [one.proto.alt.replace("\u00a0", " ") for one in app.get("vega_lite_chart")]


def written(app: AppTest) -> str:
    """Notes and tables of the page."""
    return " ".join(one.proto.body for one in app.get("html"))


def made_up() -> PublishedEvidence:
    """Ten rates with hostile names, on the first ten runs of the files; the even ones are fitted."""
    runs = [run for run in load_observations() if run.quantity == "samples_per_s"][: len(PUBLISHED)]
    rows = [
        ValidatedRow(
            run.id, "training", "samples_per_s", HOSTILE, value, 100.0, 80.0, 120.0, PREDICTED if n % 2 else CALIBRATED
        )
        for n, (run, value) in enumerate(zip(runs, PUBLISHED, strict=True))
    ]
    known = {run.id: run for run in runs}
    left_out = {row.id: (2 * row.published, row.published, 3 * row.published) for row in rows}
    report = published.ValidationReport(tuple(rows), (), (), (), summarise("all", rows), ())
    return PublishedEvidence(report, published.published(rows, known, left_out, catalog()))


@pytest.fixture
def asked(monkeypatch) -> Iterator[list[str]]:
    """Catalogues for which everything published was predicted."""
    calls: list[str] = []

    def built_in_evidence(catalog) -> PublishedEvidence:
        calls.append(catalog.digest)
        return made_up()

    monkeypatch.setattr(evidence, "built_in_evidence", built_in_evidence)
    state._computed.clear()
    yield calls
    state._computed.clear()


def test_runs_near_the_design_are_drawn_and_listed_without_predicting_everything(asked):
    app = unfold(opened("performance"), "measurements")
    assert not app.exception
    assert any("published run" in title for title in titles(app))
    assert 'aria-label="Nearest published measurements"' in written(app)
    assert asked == []


def test_the_page_is_judged_once_for_all_sessions(asked):
    app = opened("evidence")
    assert not app.exception
    assert not app.error
    assert "The model predicts 10 of 10" in written(app)
    assert any(title.startswith("The median error of 10 predictions") for title in titles(app))
    opened("evidence")
    assert len(asked) == 1


def test_names_from_files_are_shown_as_text(asked):
    assert HOSTILE not in written(opened("evidence"))


def test_filters_change_the_count_the_chart_and_the_rows(asked):
    app = unfold(opened("evidence"), "evidence-values")
    assert "**10** of 10" in app.markdown[-1].value
    widget(app.selectbox, "Part in the fit").set_value("fitted").run()
    assert not app.exception
    assert "**5** of 10" in app.markdown[-1].value
    assert len(app.dataframe[0].value) == 5
    # By the fit in use two of the ten lie outside 80 to 120: the fifth, which is fitted, and the tenth.
    app.get("button_group")[1].set_value(False).run()
    widget(app.selectbox, "90 % interval").set_value("outside").run()
    assert "**1** of 10" in app.markdown[-1].value
    assert list(app.dataframe[0].value["90 % interval"]) == ["outside"]


def test_filters_outlive_a_change_of_page_and_can_be_reset(asked):
    app = opened("evidence")
    widget(app.selectbox, "Part in the fit").set_value("fitted").run()
    to_page(app, "bill")
    to_page(app, "evidence")
    assert widget(app.selectbox, "Part in the fit").value == "fitted"
    widget(app.button, "Reset the filters").click().run()
    assert widget(app.selectbox, "Part in the fit").value == "judged"
    assert "**10** of 10" in app.markdown[-1].value


def test_filters_that_let_nothing_pass_say_what_to_do(asked):
    app = unfold(opened("evidence"), "evidence-values")
    widget(app.selectbox, "Part in the fit").set_value("not predicted").run()
    assert not app.exception
    assert app.info
    assert not app.dataframe


def test_a_calibration_that_does_not_fit_its_observations_is_one_sentence(asked, monkeypatch):
    def refuse(catalog) -> PublishedEvidence:
        raise CalibrationError("observations have changed since the calibration; run 'sizer calibrate'")

    monkeypatch.setattr(evidence, "built_in_evidence", refuse)
    app = opened("evidence")
    assert not app.exception
    assert ["observations have changed" in one.value for one in app.error] == [True]


# --- what the filters let through


def test_a_choice_lets_pass_what_it_names():
    found = made_up()
    assert len(found.chosen(Choice())) == 10
    assert len(found.chosen(Choice(parts=("fitted",)))) == 5
    assert len(found.chosen(Choice(interval="outside", is_unseen=False))) == 2
    assert len(found.chosen(Choice(interval="outside", is_unseen=True))) == 0
    assert found.chosen(Choice(measure="Times")) == ()
    assert found.chosen(Choice(sources=("nobody",))) == ()
    stated = [one.run.gpus for one in found.published if one.run.gpus is not None]
    most = max(stated)
    assert len(found.chosen(Choice(n_gpus=(most, most)))) == stated.count(most)


def test_the_summary_of_the_chosen_is_that_of_their_numbers():
    found = made_up()
    one = published.facts.accuracy("", published.rows_of(found.published, Choice(is_unseen=False)))
    # |ln(100 / published)| sorted: .0677 .0726 .0770 .0834 .0862 .0943 .0953 .1054 .6931 .6931, by hand.
    assert one.median == pytest.approx((0.0862 + 0.0943) / 2, abs=1e-4)
    assert (one.inside, one.judged) == (8, 10)


def test_a_line_names_source_and_place_and_no_id():
    found = made_up()
    line = published.lines(found.published[:1], Choice(is_unseen=False), catalog().sources)[0]
    # 100 against 90 published is 11.1 % too high.
    assert line["Error, %"] == pytest.approx(100 * (100 / 90 - 1))
    assert line["Place in it"] == found.published[0].run.where[:120]
    assert found.published[0].run.id not in line.values()
    assert found.published[0].seen.id != found.published[0].run.id


def test_the_parity_chart_has_equal_log_axes_and_fills_what_lies_outside():
    rows = published.rows_of(made_up().published, Choice(is_unseen=False))
    spec = parity_spec(rows, {}, DARK)
    assert spec is not None
    (layer,) = [one for one in spec["layer"] if one["encoding"].get("shape")]
    scales = [layer["encoding"][axis]["scale"] for axis in ("x", "y")]
    assert scales[0] == scales[1]
    assert scales[0]["type"] == "log"
    assert all("log scale" in layer["encoding"][axis]["title"] for axis in ("x", "y"))
    values = spec["datasets"][layer["data"]["name"]] if "name" in layer["data"] else layer["data"]["values"]
    assert sorted(one["x"] for one in values if one["filled"]) == [50.0, 200.0]
    assert {one["filled"] for one in values} == {0.0, 1.0}


def test_everything_shipped_is_there_with_names_instead_of_ids():
    found = published.built_in_evidence(catalog())
    assert len(found.published) == len(load_observations())
    ids = {item.id for _, item in catalog().items()}
    for one in found.published:
        assert not {one.dnn, one.gpu, one.server} & ids - {""}, one.run.id
    judged = found.chosen(Choice(parts=published.JUDGED))
    assert published.facts.accuracy("", published.rows_of(judged, Choice(is_unseen=False))).predicted == (
        found.report.total.predicted_rows
    )
