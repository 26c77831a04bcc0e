"""The question "Do we need this?" of the page What-if, and the simplest design among the cards."""

from streamlit.testing.v1 import AppTest

from tests.ui.pages import asked, widget
from tests.ui.questions.test_what_if import assert_well, page_text

QUESTION = "questions/do-we-need-a-cluster"


def tried(app: AppTest, effect: str) -> None:
    """Try the change that has an effect."""
    box = widget(app.selectbox, "Change to the request")
    box.set_value(next(one for one in box.options if effect in one)).run()
    widget(app.button, "Apply this change").click().run()
    assert_well(app)


def test_a_change_can_be_tried_and_undone() -> None:
    app = asked("Do we need this?", QUESTION)
    tried(app, "would no longer fit in memory")
    assert app.session_state.draft["workload"][0]["dataset_bytes"] == "396 GB"
    assert "does not fit in the" in page_text(app)


def test_a_target_can_be_tried() -> None:
    app = asked("Do we need this?", QUESTION)
    tried(app, "one server would no longer be enough")
    # At 2.27 h two servers are needed, at 2.28 h one is enough.
    assert app.session_state.draft["workload"][0]["target"] == {"time_to_train_s": "2.27 h"}


def test_the_design_without_the_choices_can_be_described() -> None:
    app = asked("Do we need this?", QUESTION)
    widget(app.button, "Use the design without the choices").click().run()
    assert_well(app)
    assert app.session_state.draft["platforms"]["storage"] == ["dgx1-ssd"]
    assert "Nothing that the request allows is simpler" in page_text(app)
