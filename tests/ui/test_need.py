"""A need in words, and language models."""

import re

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates

from sizer.base.quantities import TOKENS, parse
from sizer.ui.requirements.conversation import TEMPLATES
from sizer.workload.sentence.reader import MAX_CHARACTERS
from tests.ui.pages import assert_healthy, figures, has_answer, opened, run_healthy, said, to_page, unfold, widget

SCRIPT = "<script>alert(1)</script>"
LABEL = "Describe the need"


def given(words: str):
    """The app after somebody gave a need."""
    app = opened()
    widget(app.text_area, LABEL).set_value(words).run()
    assert not app.exception
    return app


def chips(app) -> list[str]:
    """Words that were read."""
    labels = [one.proto.popover.label for one in app.get("popover")]
    return [
        label.replace("\\", "").partition(" :gray")[0]
        for label in labels
        if "Share" not in label and "Save" not in label
    ]


def answer(app, label: str):
    """The button of an answer."""
    (found,) = [one for one in app.button if one.label.replace("\\", "") == label]
    return found


def target(app) -> dict:
    """Target of the request."""
    return app.session_state.draft["workload"][0]["target"]


def test_a_need_becomes_a_design_and_says_how_it_was_read():
    app = given("Keep 16 GPUs busy with VGG-16 on C4140 and WekaIO, in Frankfurt")
    assert_healthy(app)
    assert not app.error
    assert app.session_state.draft["workload"][0]["dnn"] == "vgg16"
    assert {"16 GPUs", "VGG-16", "C4140 and WekaIO"} <= set(chips(app))
    assert "Not understood: Frankfurt" in said(app)
    assert widget(app.text_area, LABEL).value.startswith("Keep 16 GPUs")


@pytest.mark.parametrize(
    "words", ["make it fast", SCRIPT, "ResNet-50 with 10 Tb on 8 GPUs", "9" * 400, "x" * (MAX_CHARACTERS + 1)]
)
def test_a_need_that_is_not_complete_changes_nothing_and_shows_no_answer(words):
    app = opened()
    request = app.session_state.draft
    run_healthy(widget(app.text_area, LABEL).set_value(words))
    assert app.session_state.draft == request
    assert not has_answer(app)
    assert app.title[0].value not in request["title"]
    assert SCRIPT not in " ".join(one.value for one in (*app.markdown, *app.caption))


def test_what_is_missing_is_asked_with_buttons_until_there_is_a_design():
    app = given("Train a neural network")
    answer(app, "Classify images").click().run()
    assert_healthy(app)
    assert has_answer(app)
    assert target(app) == {"gpus_busy": 8}
    assert "target not given" in " ".join(one.value for one in app.markdown)


def test_a_part_that_is_not_held_is_replaced_by_the_nearest():
    app = given("64 MI210 for ResNet-50")
    assert "The catalogue has no GPU MI210" in " ".join(one.value for one in app.markdown)
    answer(app, "B200 SXM").click().run()
    assert_healthy(app)
    assert target(app) == {"gpus_busy": 64}
    assert app.session_state.draft["platforms"]["gpus"] == ["b200-sxm-180gb"]


def test_the_reading_of_a_number_that_is_assumed_is_shown():
    app = given("ResNet-50 at 40.000 images/s")
    assert target(app) == {"samples_per_s": "40000 images/s"}
    assert "groups thousands" in " ".join(one.value for one in app.markdown)


def test_no_page_shows_another_request_while_a_question_is_open():
    app = to_page(given("64 MI210 for ResNet-50"), "document")
    assert not app.get("download_button")
    assert not has_answer(app)


def test_a_need_stays_until_the_fields_contradict_it():
    app = given("ResNet-50 at 20000 images/s")
    app.session_state.draft["customer"] = "Example Ltd"
    app.run()
    assert widget(app.text_area, LABEL).value == "ResNet-50 at 20000 images/s"
    widget(app.text_input, "Minimum rate").set_value("12000 images/s").run()
    assert widget(app.text_area, LABEL).value == ""
    assert not [words for words in chips(app) if "20000" in words]
    assert target(app) == {"samples_per_s": "12000 images/s"}
    widget(app.button, "Undo").click().run()
    assert widget(app.text_area, LABEL).value == "ResNet-50 at 20000 images/s"
    assert [words for words in chips(app) if "20000" in words]


def test_undo_takes_back_a_need():
    app = opened()
    before = figures(app)
    widget(app.text_area, LABEL).set_value("VGG-16 at 3000 images/s").run()
    assert figures(app) != before
    widget(app.button, "Undo").click().run()
    assert figures(app) == before
    assert widget(app.text_area, LABEL).value == ""


def test_a_reload_keeps_the_need(monkeypatch):
    monkeypatch.setattr("sizer.ui.session_store._browser", lambda: "mine")
    app = given("ResNet-50 for 10 data scientists")
    again = opened(s=app.session_state.stored_as)
    assert widget(again.text_area, LABEL).value == "ResNet-50 for 10 data scientists"
    assert target(again) == {"gpus_busy": 8}


def sent_late(app, *entries) -> None:
    """Entries of fields of an earlier page, as the browser sends them that has not drawn the present one yet."""
    states = WidgetStates()
    for entry in entries:
        states.widgets.append(entry._widget_state)
    app._run(states)


@pytest.mark.parametrize(
    ("label", "typed"), [("Name", "a name"), ("Minimum rate", "12000 images/s"), ("Batch per GPU", "64")]
)
def test_an_entry_of_a_field_that_comes_after_the_need_replaced_the_request_is_told_and_not_taken(label, typed):
    app = unfold(opened(), "expert")
    need, entry = widget(app.text_area, LABEL), widget(app.text_input, label)
    need.set_value("VGG-16 at 3000 images/s").run()
    request = app.session_state.draft
    sent_late(app, need, entry.set_value(typed))
    assert_healthy(app)
    assert app.session_state.draft == request
    assert any("not taken" in one.value for one in app.toast)
    assert widget(app.text_area, LABEL).value == "VGG-16 at 3000 images/s"


@pytest.mark.parametrize("button", ["Undo", "Apply limits", next(iter(TEMPLATES))])
def test_an_entry_and_a_button_that_come_together_do_no_harm(button):
    app = unfold(opened(), "not-exceeded")
    widget(app.text_input, "Minimum rate").set_value("12000 images/s").run()
    unfold(app, "not-exceeded")
    widget(app.text_input, "Minimum rate").set_value("13000 images/s")
    widget(app.text_input, "Racks").set_value("70")
    run_healthy(widget(app.button, button).click())


def test_an_entry_is_taken_where_only_the_fields_were_drawn_anew():
    app = opened()
    entry = widget(app.text_input, "Minimum rate")
    app.session_state.generation += 1  # as another field does on which fields depend
    sent_late(app, entry.set_value("12000 images/s"))
    assert_healthy(app)
    assert target(app) == {"samples_per_s": "12000 images/s"}


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
    # Of Llama 3 8B, or of the model of one's own that the test before has set.
    assert re.search(r"does not divide the (32|40) attention heads", message)


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
    run_healthy(widget(app.selectbox, "Documents in a sequence").set_value(False))
    assert app.session_state.draft["workload"][0]["packing"] is False


def test_another_language_model_keeps_the_tokens():
    app = started({**LORA, "tokens": "3 B", "target": {"time_to_train_s": "9 d"}}, platforms=H100)
    assert "read as 3.00 billion tokens" in said(app)
    run_healthy(widget(app.selectbox, "Neural network").set_value("llama-2-7b"))
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
    run_healthy(widget(app.selectbox, "Target").set_value("time_to_train_s"))
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
    run_healthy(widget(app.selectbox, "Task").set_value("serving"))
    work = app.session_state.draft["workload"][0]
    assert (work["task"], work["target"]) == ("serving", {"gpus_busy": 8})
    assert {"tokens", "method"}.isdisjoint(key for key, value in work.items() if value is not None)
