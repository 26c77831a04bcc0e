"""Cost of ownership in the app: asked for on the page Bill, rates entered under Requirements, shown with its table."""

from tests.ui.pages import assert_healthy, load, opened, to_page, unfold, widget

EXAMPLE = "questions/cost-of-ownership"


def test_the_bill_asks_for_it_and_shows_it() -> None:
    app = to_page(opened(), "bill")
    assert "Cost of ownership" not in [header.value for header in app.header]
    widget(app.button, "Add the cost of ownership").click().run()
    assert_healthy(app)
    assert app.session_state.draft["ownership"] == {"years": 3}
    assert "Cost of ownership" in [header.value for header in app.header]


def test_the_form_changes_the_rates() -> None:
    app = unfold(to_page(load(opened(), EXAMPLE, is_original=True), "requirements"), "ownership")
    assert_healthy(app)
    widget(app.text_input, "Electricity, USD per kWh").set_value("0.31").run()
    assert_healthy(app)
    assert app.session_state.draft["ownership"]["electricity_per_kwh"] == 0.31
    unfold(app, "ownership")  # its head says another price
    widget(app.button, "Remove cost of ownership").click().run()
    assert_healthy(app)
    assert app.session_state.draft.get("ownership") is None
