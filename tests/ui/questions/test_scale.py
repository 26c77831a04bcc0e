"""The question Scale up or out of the page What-if."""

import tomllib

from streamlit.testing.v1 import AppTest

from sizer.base.resources import data_dir
from tests.ui.pages import opened, to_page, widget
from tests.ui.questions.test_what_if import assert_well, charts, page_text


def asked(name: str) -> AppTest:
    """The question about an example."""
    app = opened()
    app.session_state.draft = tomllib.loads((data_dir("examples") / f"{name}.toml").read_text(encoding="utf-8"))
    app.session_state.generation += 1
    app.run()
    app.session_state.question = "Scale up or out"
    app = to_page(app, "what-if")
    assert_well(app)
    return app


def test_the_gpus_of_the_design_stand_in_every_kind_of_server() -> None:
    app = asked("questions/scale-up-or-out")
    assert widget(app.number_input, "GPUs in total").value == 32
    text = page_text(app)
    for said in ("8 × C4140 PCIe *", "to be quoted", "WekaIO"):
        assert said in text
    assert len(charts(app)) == 2


def test_another_number_another_order_and_fewer_kinds() -> None:
    app = asked("questions/scale-up-or-out")
    widget(app.number_input, "GPUs in total").set_value(8).run()
    assert_well(app)
    assert "8 GPUs do not fill servers of 16." in page_text(app)
    widget(app.selectbox, "Order").set_value("rack-units").run()
    kinds = app.multiselect[0]
    kinds.set_value([name for name in kinds.options if "C4140" in name]).run()
    assert_well(app)
    text = page_text(app)
    assert "2 × C4140" in text
    assert "Apollo" not in text.partition("Not compared")[0].partition("What it takes")[0]
    assert "than 1 × DGX-1" in charts(app)[0]  # still set against the design's kind
    # Left and opened again, the page is as it was.
    app = to_page(to_page(app, "bill"), "what-if")
    assert widget(app.number_input, "GPUs in total").value == 8
    assert widget(app.selectbox, "Order").value == "rack-units"
    assert all("C4140" in name for name in app.multiselect[0].value)


def test_validation_alone_has_no_gradients_to_compare() -> None:
    app = asked("apollo-googlenet-inference")
    assert len(charts(app)) == 1


def test_a_number_that_fills_no_other_server_says_so() -> None:
    app = asked("questions/scale-up-or-out")
    widget(app.number_input, "GPUs in total").set_value(7).run()
    assert_well(app)
    assert "try another number" in page_text(app)
