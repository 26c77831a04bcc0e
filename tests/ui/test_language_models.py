"""Language models in the app: read from a sentence, sized, and shown on every page."""

import pytest

from tests.ui.pages import assert_healthy, opened, to_page, widget
from tests.ui.test_need import LABEL

pytestmark = pytest.mark.app

PAGES = (
    *("requirements", "architecture", "performance", "what-if", "bill", "document", "designs", "evidence", "catalogue"),
)


@pytest.fixture(scope="module")
def app():
    app = opened()
    words = "pre-train Llama 3 8B on 1 trillion tokens in 30 days on DGX H100"
    widget(app.text_area, LABEL).set_value(words).run()
    return app


def test_the_sentence_is_sized(app):
    assert_healthy(app)
    (work,) = app.session_state.draft["workload"]
    assert work["dnn"] == "llama-3-8b"
    assert work["target"] == {"time_to_train_s": "30 d"}
    assert app.session_state.draft["platforms"]["servers"] == ["dgx-h100"]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_it(app, page):
    assert not to_page(app, page).exception


def test_the_form_has_tokens_and_sequences(app):
    shown = to_page(app, "requirements")
    labels = {one.label for one in (*shown.text_input, *shown.number_input)}
    assert {"Tokens", "Tokens of a sequence", "Sequences of a step"} <= labels
