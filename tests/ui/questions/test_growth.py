"""Growth in the app: the fold of the page Requirements and the question of the page What-if."""

from streamlit.testing.v1 import AppTest

from tests.ui.pages import asked, figures, opened, widget
from tests.ui.questions.test_what_if import assert_well


def said(app: AppTest) -> str:
    return " ".join(str(getattr(one, "value", "")) for one in (*app.get("html"), *app.markdown)) + " ".join(
        str(one.proto.body) for one in app.get("html")
    )


def test_growth_of_a_request_without_any_is_tried_and_changes_nothing_until_it_is_applied():
    app = asked("Growth", "dgx1-f800-resnet50")
    before = figures(app)
    assert any("assumed" in one.value for one in app.info)
    assert "Purchases of each year" in said(app)
    widget(app.select_slider, "Targets, yearly factor").set_value(1.5).run()
    assert_well(app)
    assert "growth" not in app.session_state.draft
    assert figures(app) == before
    widget(app.button, "Apply to the request").click().run()
    assert_well(app)
    assert app.session_state.draft["growth"] == {"years": 3, "data": 1.5, "target": 1.5}


def test_sliders_try_factors_and_take_them():
    app = asked("Growth", "questions/images-grow-tenfold")
    assert "9 servers and 8 storage nodes" in said(app).replace("\u00a0", " ")
    slider = widget(app.select_slider, "Targets, yearly factor")
    slider.set_value(1.5).run()
    assert_well(app)
    assert "target" not in app.session_state.draft["growth"]
    assert "9 servers and 8 storage nodes" not in said(app).replace("\u00a0", " ")
    widget(app.button, "Apply to the request").click().run()
    assert_well(app)
    assert app.session_state.draft["growth"]["target"] == 1.5


def test_sliders_are_set_back():
    app = asked("Growth", "questions/images-grow-tenfold")
    widget(app.select_slider, "Data, yearly factor").set_value(2.0).run()
    widget(app.button, "Reset the sliders").click().run()
    assert_well(app)
    assert widget(app.select_slider, "Data, yearly factor").value == 1.0


def test_nothing_that_grows_is_a_sentence():
    app = asked("Growth", "questions/images-grow-tenfold")
    widget(app.select_slider, "Sample size, yearly factor").set_value(1.0).run()
    assert_well(app)
    assert app.warning


def test_the_fold_writes_the_factors():
    app = opened()
    app.session_state.folds = {"growth": True}
    app.run()
    widget(app.button, "Enter growth").click().run()
    assert_well(app)
    widget(app.text_input, "Data, yearly factor").set_value("2.0").run()
    assert_well(app)
    assert app.session_state.draft["growth"]["data"] == 2.0
    widget(app.button, "Remove growth").click().run()
    assert "growth" not in app.session_state.draft
