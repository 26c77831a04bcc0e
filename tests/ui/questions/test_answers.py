"""Questions about one design, each on its page."""

from streamlit.testing.v1 import AppTest

from tests.ui.pages import (
    asked,
    assert_healthy,
    assert_well,
    figures,
    load,
    opened,
    run_healthy,
    run_well,
    to_page,
    unfold,
    widget,
)
from tests.ui.questions.test_what_if import page_text

EXAMPLE = "questions/cost-of-ownership"


def test_the_bill_asks_for_it_and_shows_it() -> None:
    app = to_page(opened(), "bill")
    assert "Cost of ownership" not in [header.value for header in app.header]
    run_healthy(widget(app.button, "Add the cost of ownership").click())
    assert app.session_state.draft["ownership"] == {"years": 3}
    assert "Cost of ownership" in [header.value for header in app.header]


def test_the_form_changes_the_rates() -> None:
    app = unfold(to_page(load(opened(), EXAMPLE, is_original=True), "requirements"), "ownership")
    assert_healthy(app)
    run_healthy(widget(app.text_input, "Electricity, USD per kWh").set_value("0.31"))
    assert app.session_state.draft["ownership"]["electricity_per_kwh"] == 0.31
    unfold(app, "ownership")  # its head says another price
    run_healthy(widget(app.button, "Remove cost of ownership").click())
    assert app.session_state.draft.get("ownership") is None


def test_the_gpus_of_the_design_stand_in_every_kind_of_server() -> None:
    app = asked("Scale up or out", "questions/scale-up-or-out")
    assert widget(app.number_input, "GPUs in total").value == 32
    text = page_text(app)
    for said in ("8 × Dell EMC C4140 PCIe *", "WekaIO"):
        assert said in text


def test_another_number_is_kept_on_other_pages() -> None:
    app = asked("Scale up or out", "questions/scale-up-or-out")
    run_well(widget(app.number_input, "GPUs in total").set_value(8))
    assert "8 GPUs do not fill servers of 16." in page_text(app)
    app = to_page(to_page(app, "bill"), "what-if")
    assert widget(app.number_input, "GPUs in total").value == 8


QUESTION = "questions/do-we-need-a-cluster"


def test_the_design_without_the_choices_can_be_described() -> None:
    app = asked("Do we need this?", QUESTION)
    run_well(widget(app.button, "Use the design without the choices").click())
    assert app.session_state.draft["platforms"]["storage"] == ["dgx1-ssd"]
    assert "Nothing that the request allows is simpler" in page_text(app)


def said(app: AppTest) -> str:
    return " ".join(str(getattr(one, "value", "")) for one in (*app.get("html"), *app.markdown)) + " ".join(
        str(one.proto.body) for one in app.get("html")
    )


def test_growth_of_a_request_without_any_is_tried_and_changes_nothing_until_it_is_applied():
    app = asked("Growth", "dgx1-f800-resnet50")
    before = figures(app)
    assert "the factors below are assumed" in said(app)
    assert "Purchases of each year" in said(app)
    run_well(widget(app.select_slider, "Targets, yearly factor").set_value(1.5))
    assert "growth" not in app.session_state.draft
    assert figures(app) == before
    run_well(widget(app.button, "Apply to the request").click())
    assert app.session_state.draft["growth"] == {"years": 3, "data": 1.5, "target": 1.5}


def test_sliders_try_factors_and_take_them():
    app = asked("Growth", "questions/images-grow-tenfold")
    assert "9 servers and 8 storage nodes" in said(app).replace("\u00a0", " ")
    slider = widget(app.select_slider, "Targets, yearly factor")
    slider.set_value(1.5).run()
    assert_well(app)
    assert "target" not in app.session_state.draft["growth"]
    assert "9 servers and 8 storage nodes" not in said(app).replace("\u00a0", " ")
    run_well(widget(app.button, "Apply to the request").click())
    assert app.session_state.draft["growth"]["target"] == 1.5


def test_sliders_are_set_back():
    app = asked("Growth", "questions/images-grow-tenfold")
    widget(app.select_slider, "Data, yearly factor").set_value(2.0).run()
    run_well(widget(app.button, "Reset the sliders").click())
    assert widget(app.select_slider, "Data, yearly factor").value == 1.0


def test_nothing_that_grows_is_a_sentence():
    app = asked("Growth", "questions/images-grow-tenfold")
    run_well(widget(app.select_slider, "Sample size, yearly factor").set_value(1.0))
    assert app.warning


def test_the_fold_writes_the_factors():
    app = opened()
    app.session_state.folds = {"growth": True}
    app.run()
    run_well(widget(app.button, "Enter growth").click())
    run_well(widget(app.text_input, "Data, yearly factor").set_value("2.0"))
    assert app.session_state.draft["growth"]["data"] == 2.0
    widget(app.button, "Remove growth").click().run()
    assert "growth" not in app.session_state.draft
