"""The question "Do we need this?" of the page What-if, and the simplest design among the cards."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.pages import opened, to_page, widget
from tests.ui.questions.test_what_if import assert_well, load, page_text

QUESTION = "questions/do-we-need-a-cluster"


def asked(name: str) -> AppTest:
    app = opened()
    load(app, name)
    app.session_state.question = "Do we need this?"
    app = to_page(app, "what-if")
    assert_well(app)
    return app


def tried(app: AppTest, effect: str) -> None:
    """Try the change that has an effect."""
    box = widget(app.selectbox, "Change to the request")
    box.set_value(next(one for one in box.options if effect in one)).run()
    widget(app.button, "Apply this change").click().run()
    assert_well(app)


@pytest.mark.parametrize("name", [QUESTION, "dgx1-f800-resnet50", "c4140-f800"])
def test_claims_and_the_simplest_design_are_shown(name: str) -> None:
    text = page_text(asked(name))
    assert "One server is enough" in text
    assert "What would reverse it" in text
    assert "Kinds of networks" in text


def test_a_change_can_be_tried_and_undone() -> None:
    app = asked(QUESTION)
    tried(app, "would no longer fit in memory")
    assert app.session_state.draft["workload"][0]["dataset_bytes"] == "396 GB"
    assert "does not fit in the" in page_text(app)


def test_a_target_can_be_tried() -> None:
    app = asked(QUESTION)
    tried(app, "one server would no longer be enough")
    # At 2.27 h two servers are needed, at 2.28 h one is enough.
    assert app.session_state.draft["workload"][0]["target"] == {"time_to_train_s": "2.27 h"}


def test_the_design_without_the_choices_can_be_described() -> None:
    app = asked(QUESTION)
    widget(app.button, "Use the design without the choices").click().run()
    assert_well(app)
    assert app.session_state.draft["platforms"]["storage"] == ["dgx1-ssd"]
    assert "Nothing that the request allows is simpler" in page_text(app)


def test_the_simplest_design_has_a_card() -> None:
    app = opened()
    load(app, QUESTION)
    app = to_page(app, "architecture")
    assert_well(app)
    assert "Simplest sufficient" in [one.value for one in app.caption]
