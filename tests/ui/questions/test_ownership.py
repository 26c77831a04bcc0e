"""Cost of ownership in the app: asked for on the page Bill, rates entered under Requirements, shown with its table."""

import tomllib

from streamlit.testing.v1 import AppTest

from sizer.base.resources import data_dir
from tests.ui.pages import assert_healthy, opened, to_page, unfold, widget
from tests.ui.questions.test_what_if import charts

EXAMPLE = data_dir("examples") / "questions" / "cost-of-ownership.toml"


def loaded() -> AppTest:
    app = opened()
    text = EXAMPLE.read_text(encoding="utf-8")
    app.session_state.draft = tomllib.loads(text)
    app.session_state.original = tomllib.loads(text)
    app.session_state.generation += 1
    return app.run()


def test_the_bill_asks_for_it_and_shows_it() -> None:
    app = to_page(opened(), "bill")
    assert "Cost of ownership" not in [header.value for header in app.header]
    widget(app.button, "Add the cost of ownership").click().run()
    assert_healthy(app)
    assert app.session_state.draft["ownership"] == {"years": 3}
    assert "Cost of ownership" in [header.value for header in app.header]


def test_the_example_shows_its_cost_beside_the_bill() -> None:
    app = to_page(loaded(), "bill")
    assert_healthy(app)
    assert any("Owning the cluster for five years" in one.value for one in app.markdown)
    assert any(title.startswith("Running costs add") for title in charts(app))


def test_the_form_changes_the_rates() -> None:
    app = unfold(to_page(loaded(), "requirements"), "ownership")
    assert_healthy(app)
    widget(app.text_input, "Electricity, USD per kWh").set_value("0.31").run()
    assert_healthy(app)
    assert app.session_state.draft["ownership"]["electricity_per_kwh"] == 0.31
    unfold(app, "ownership")  # its head says another price
    widget(app.button, "Remove the cost of ownership").click().run()
    assert_healthy(app)
    assert app.session_state.draft.get("ownership") is None
