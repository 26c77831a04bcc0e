"""Language models in the app: read from a sentence, sized, and shown on every page."""

import pytest

from sizer.base.quantities import TOKENS, parse
from tests.ui.pages import BESIDE, PATH, assert_healthy, load, opened, said, to_page, unfold, widget
from tests.ui.test_need import LABEL


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


@pytest.mark.parametrize("page", [*PATH, *BESIDE])
def test_every_page_shows_it(app, page):
    assert not to_page(app, page).exception


def test_stacks_with_published_runs_of_the_model_are_called_measured(app):
    """The published runs have Llama 3 8B with NeMo; none ran with Primus."""
    shown = unfold(to_page(app, "requirements"), "expert")
    options = widget(shown.selectbox, "Software stack").options
    assert "NeMo with Megatron Core" in options
    assert "Primus (ROCm) (not measured with this network)" in options


def test_the_form_has_tokens_and_sequences(app):
    shown = to_page(app, "requirements")
    labels = {one.label for one in (*shown.text_input, *shown.number_input)}
    assert {"Tokens", "Tokens of a sequence", "Sequences of a step"} <= labels


def test_a_model_of_ones_own_is_given_by_size_and_by_shape(app):
    shown = to_page(app, "requirements")
    widget(shown.selectbox, "Neural network").set_value("own language model").run()
    assert_healthy(shown)
    dnn = shown.session_state.draft["workload"][0]["dnn"]
    assert dnn == {"name": "Own model", "parameters": 13e9}
    widget(shown.selectbox, "Given by").set_value("shape").run()
    assert_healthy(shown)
    dnn = shown.session_state.draft["workload"][0]["dnn"]
    # Llama 2 13B: 40 layers, hidden size 5,120, 40 heads
    assert (dnn["hidden"], dnn["heads"]) == (5120, 40)
    widget(shown.text_input, "Layers").set_value("40").run()
    assert_healthy(shown)
    assert shown.session_state.draft["workload"][0]["dnn"]["layers"] == 40


def test_degrees_of_the_layout_are_fixed(app):
    app.session_state.folds = {"layout": True}
    shown = to_page(app, "requirements")
    widget(shown.text_input, "Tensor parallelism").set_value("4").run()
    assert_healthy(shown)
    assert shown.session_state.draft["workload"][0]["layout"] == {"tensor": 4}
    widget(shown.text_input, "Tensor parallelism").set_value("3").run()
    (message,) = [one.value for one in shown.error]
    assert "does not divide the 40 attention heads" in message


def started(work: dict, **tables: object):
    """The page Requirements with one workload."""
    app = opened()
    app.session_state.draft = {"workload": [{"name": "Training", **work}], **tables}
    app.session_state.generation += 1
    app.session_state.folds = {"expert": True}
    return app.run()


LORA = {"dnn": "llama-3-8b", "method": "lora", "target": {"gpus_busy": 8}}
H100 = {"servers": ["dgx-h100"], "storage_tier": "local"}


def labels(app) -> set[str]:
    return {one.label for kind in (app.text_input, app.selectbox, app.button_group) for one in kind}


def test_the_form_has_what_language_models_have_and_nothing_that_does_nothing():
    app = started(LORA, platforms=H100)
    assert {"Tokens of a document", "Documents in a sequence", "Data set size"} <= labels(app)
    assert not {"Sample size", "Sample format", "Batch per GPU", "Use"} & labels(app)
    (head,) = [one.label for one in app.expander if one.label.startswith("**Expert settings")]
    assert head == "**Expert settings:** default software stack, BF16, random order in every epoch, page cache"


def test_documents_are_padded_by_the_form():
    app = started({**LORA, "document_tokens": 2048}, platforms=H100)
    widget(app.selectbox, "Documents in a sequence").set_value(False).run()
    assert_healthy(app)
    assert app.session_state.draft["workload"][0]["packing"] is False


def test_another_language_model_keeps_the_tokens():
    app = started({**LORA, "tokens": "3 B", "target": {"time_to_train_s": "9 d"}}, platforms=H100)
    assert "read as 3.00 billion tokens" in said(app)
    widget(app.selectbox, "Neural network").set_value("llama-2-7b").run()
    assert_healthy(app)
    work = app.session_state.draft["workload"][0]
    assert (work["dnn"], work["tokens"], work["method"]) == ("llama-2-7b", "3 B", "lora")


def test_the_size_of_a_token_set_does_not_become_that_of_images():
    work = {**LORA, "tokens": "3 B", "dataset_bytes": "12 GB"}
    app = started(work, platforms={**H100, "storage_tier": "local"})
    widget(app.selectbox, "Neural network").set_value("resnet50").run()
    assert {"tokens", "method", "dataset_bytes"}.isdisjoint(app.session_state.draft["workload"][0])


def test_a_time_to_train_starts_with_what_the_design_reaches():
    """Adapters are usually trained on 100 million tokens; at some ten thousand tokens/s that is less than a day."""
    app = started(LORA, platforms=H100)
    widget(app.selectbox, "Target").set_value("time_to_train_s").run()
    assert_healthy(app)
    work = app.session_state.draft["workload"][0]
    assert parse(TOKENS, work["tokens"]) == 1e8
    assert work["target"] == {"time_to_train_s": "1 d"}


def test_a_model_in_use_has_fields_of_its_own_and_no_words_of_training():
    chat = {"dnn": "llama-3-8b", "task": "serving", "use": "chat", "target": {"users": 300}}
    app = started(chat, platforms=H100)
    assert_healthy(app)
    assert {"Use", "Tokens into a request", "Limit of the first token", "Users in all", "Serving engine"} <= labels(app)
    assert not {"Tokens of a sequence", "What is trained", "Access pattern"} & labels(app)


def test_the_task_switches_between_training_and_serving():
    app = started({**LORA, "tokens": "3 B"}, platforms=H100)
    widget(app.selectbox, "Task").set_value("serving").run()
    assert_healthy(app)
    work = app.session_state.draft["workload"][0]
    assert (work["task"], work["target"]) == ("serving", {"gpus_busy": 8})
    assert {"tokens", "method"}.isdisjoint(key for key, value in work.items() if value is not None)


def test_every_page_shows_a_model_in_use():
    app = load(opened(), "code-8b-l40s")
    for page in PATH:
        assert_healthy(to_page(app, page))
        if page == "performance":
            assert "In use" in [one.value for one in app.header]
