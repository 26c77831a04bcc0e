"""Pages Performance and Evidence, and the tiles."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.bom.bill import BillLine
from sizer.calibrate.notes import CALIBRATED, PREDICTED, FitNote, note
from sizer.calibrate.observations import load_observations
from sizer.calibrate.validate import ValidatedRow, summarise
from sizer.drawings.palette import DARK
from sizer.evidence import published
from sizer.evidence.parity import parity_spec
from sizer.evidence.published import Choice, PublishedEvidence
from sizer.questions.compare.designs import card_figures
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck, FactKind, MissingFact
from sizer.ui import state
from sizer.ui.evidence import page as evidence
from sizer.ui.headline import tiles
from tests.factories.examples import catalog, sized
from tests.ui.pages import assert_well, load, opened, run_well, to_page, unfold, widget
from tests.ui.questions.test_what_if import page_text


def looked_at(name: str):
    """The page of an example, in a new session."""
    app = opened()
    load(app, name)
    to_page(app, "performance")
    assert_well(app)
    return app


def test_each_of_several_workloads_is_shown():
    app = looked_at("c4140-f800")
    which = next(one for one in app.segmented_control if one.label.endswith("on this cluster; show"))
    before = page_text(app)
    which.set_value(1).run()
    assert_well(app)
    assert page_text(app) != before  # titles of two charts may be alike, rates are not
    to_page(app, "what-if")
    assert_well(app)
    assert next(one for one in app.segmented_control if one.label.endswith("on this cluster; show")).value == 1


def test_the_most_that_limits_give_is_a_target_with_the_next_step():
    """Three DGX-1 and no more are allowed: they are the answer, and one more is what lies beyond."""
    app = opened()
    draft = app.session_state.draft
    draft["workload"][0]["target"] = {"maximum": "rate"}
    draft["limits"] = {"servers": 3}
    app.run()
    to_page(app, "performance")
    assert_well(app)
    assert "What the limits allow" in [one.value for one in app.header]
    assert "4 × DGX-1" in page_text(app)


def test_choosing_the_maximum_adds_a_limit():
    app = opened()
    run_well(widget(app.selectbox, "Target").set_value("maximum"))
    assert app.session_state.draft["workload"][0]["target"] == {"maximum": "rate"}
    assert app.session_state.draft["limits"]["servers"] >= 1


RESNET = "dgx1-f800-resnet50"


def priced(line: BillLine) -> BillLine:
    return line if line.unit_price is not None else replace(line, unit_price=Decimal(1))


def test_a_main_item_to_be_quoted_is_never_green():
    """The storage of the example has no price; with all lines priced the tile is green."""
    result = sized(RESNET)
    _, _, cost = tiles(result, is_customer_mode=False)
    assert cost.badge.colour == "orange"
    assert "main item" in cost.badge.text
    bill = replace(result.design.bill, lines=tuple(map(priced, result.design.bill.lines)))
    complete = replace(result, design=replace(result.design, bill=bill))
    assert tiles(complete, is_customer_mode=False)[2].badge.colour == "green"


def test_a_budget_with_a_main_item_to_be_quoted_has_the_colour_of_the_check_and_says_what_it_says():
    result = sized(RESNET)
    met = DesignCheck(CheckKind.BUDGET, CheckResult.MET, 5e6, 1_341_000.0, unpriced=("isilon-f800",), probability=1.0)
    _, _, cost = tiles(replace(result, design=replace(result.design, checks=(met,))), is_customer_mode=False)
    assert cost.badge.colour == "green"
    assert "at estimated prices" in cost.badge.text
    unknown = replace(met, result=CheckResult.OPEN, probability=None)
    _, _, cost = tiles(replace(result, design=replace(result.design, checks=(unknown,))), is_customer_mode=False)
    assert cost.badge.colour == "orange"
    assert "open" in cost.badge.text
    over = replace(met, result=CheckResult.NOT_MET, asked=1e6)
    _, _, cost = tiles(replace(result, design=replace(result.design, checks=(over,))), is_customer_mode=False)
    assert cost.badge.colour == "red"


def test_a_conditional_design_names_the_missing_fact_in_orange():
    result = sized(RESNET)
    fact = MissingFact(FactKind.READ_RATE, "isilon-f800", "Isilon F800")
    design = replace(result.design, conditional_on=(fact,), probability=None)
    _, performance, _ = tiles(replace(result, design=design), is_customer_mode=False)
    assert performance.badge.colour == "orange"
    assert performance.badge.text == "Not known: read rate of Isilon F800"


def test_even_odds_are_not_green():
    """The example's rate equals its target within 1 %: a miss is as likely as a hit."""
    result = sized(RESNET)
    _, performance, _ = tiles(result, is_customer_mode=False)
    assert performance.badge.colour == "orange"
    surer = replace(result, design=replace(result.design, probability=0.9))
    _, performance, _ = tiles(surer, is_customer_mode=False)
    assert (performance.badge.colour, performance.badge.text.split(",")[0]) == ("green", "Met")


def test_a_gpu_that_nobody_measured_is_not_green_and_its_cards_claim_no_rate():
    """No rate of such a GPU is claimed anywhere, and so no probability that it is reached."""
    result = sized(RESNET)
    (answer,) = result.design.workloads
    unmeasured = (note(FitNote.GENERATION_NOT_MEASURED, "Tesla V100 SXM2 16 GB"),)
    design = replace(result.design, workloads=(replace(answer, unmeasured=unmeasured),), probability=0.9)
    _, performance, _ = tiles(replace(result, design=design), is_customer_mode=False)
    assert performance.figure.value == "not predicted"
    assert performance.badge.colour == "orange"
    shown = {figure.label: figure.value for figure in card_figures(design, result.design, probability=0.9)}
    assert (shown["Rate"], shown["Probability"]) == ("not predicted", "not known")


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
            *(run.id, "training", "samples_per_s", HOSTILE, value, Estimate(*np.array([100.0, 80.0, 120.0]))),
            PREDICTED if n % 2 else CALIBRATED,
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


def test_runs_near_the_design_are_listed_without_predicting_everything(asked):
    app = unfold(opened("performance"), "measurements")
    assert not app.exception
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


def test_filters_change_the_count_and_the_rows_and_outlive_a_change_of_page(asked):
    app = unfold(opened("evidence"), "evidence-values")
    assert "**10** of 10" in app.markdown[-1].value
    assert len(app.dataframe[0].value) == 10
    widget(app.multiselect, "Neural network").set_value(["AlexNet"]).run()
    assert not app.exception
    assert "**5** of 10" in app.markdown[-1].value
    to_page(app, "bill")
    to_page(app, "evidence")
    assert widget(app.multiselect, "Neural network").value == ["AlexNet"]
    assert "**5** of 10" in app.markdown[-1].value


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
    assert found.chosen(Choice(measure="Times")) == ()
    assert found.chosen(Choice(sources=("nobody",))) == ()


def test_the_summary_of_the_chosen_is_that_of_their_numbers():
    found = made_up()
    one = summarise("", published.rows_of(found.published, Choice(is_unseen=False)))
    # |ln(100 / published)| sorted: .0677 .0726 .0770 .0834 .0862 .0943 .0953 .1054 .6931 .6931, by hand.
    assert one.median_error == pytest.approx((0.0862 + 0.0943) / 2, abs=1e-4)
    assert (one.inside, one.judged_rows) == (8, 10)


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
    assert summarise("", published.rows_of(judged, Choice(is_unseen=False))).predicted_rows == (
        found.report.total.predicted_rows
    )
