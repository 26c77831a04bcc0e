"""The question Scale up or out of the page What-if."""

from tests.ui.pages import asked, to_page, widget
from tests.ui.questions.test_what_if import assert_well, charts, page_text


def test_the_gpus_of_the_design_stand_in_every_kind_of_server() -> None:
    app = asked("Scale up or out", "questions/scale-up-or-out")
    assert widget(app.number_input, "GPUs in total").value == 32
    text = page_text(app)
    for said in ("8 × C4140 PCIe *", "WekaIO"):
        assert said in text
    assert len(charts(app)) == 1


def test_another_number_another_order_and_fewer_kinds() -> None:
    app = asked("Scale up or out", "questions/scale-up-or-out")
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
    app = asked("Scale up or out", "apollo-googlenet-inference")
    assert len(charts(app)) == 1
