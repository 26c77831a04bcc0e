"""Kinds of work that are not sized: refused by their name in sentences and files, asked about beside a training."""

import json
from pathlib import Path

import pytest

from sizer.base.errors import RequestError
from sizer.workload.kinds import KINDS
from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import catalog
from tests.factories.rows import every

REFUSALS = {kind.tasks[0]: kind.refusal for kind in KINDS}


def outcome(sentence: str) -> str:
    """The kind of work that is refused ("serving") or asked about ("ask serving"); else "read" or what is asked."""
    reading = read_sentence(sentence, catalog())
    question = reading.question
    if question is None:
        return "read"
    kind = next(
        (name for name, refusal in REFUSALS.items() if question.reason.startswith(refusal)),
        question.about,
    )
    if question.about == "refused":
        assert not reading.request  # nothing of it is read as another kind of work
    return kind if question.about == "refused" else f"ask {kind}"


# Beside a training both are work, and one click leaves the training; purposes and other words are no work.
OUTCOMES = json.loads(Path(__file__).with_name("kinds.json").read_text("utf-8"))


@every([(sentence, expected) for expected, sentences in OUTCOMES.items() for sentence in sentences])
def test_a_word_that_changes_the_kind_of_work_is_refused_asked_or_understood(sentence: str, expected: str) -> None:
    assert outcome(sentence) == expected


def test_a_training_and_a_model_in_use_are_two_workloads():
    reading = read_sentence("Fine-tune Llama 3 8B on 100M tokens and serve it to 500 users", catalog())
    training, serving = reading.request["workload"]
    assert (training["tokens"], training["target"]) == (1e8, {"gpus_busy": 8})
    assert (serving["task"], serving["target"]) == ("serving", {"users": 500})
    assert "team" not in reading.request


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("task", "inference", "serving"),
        ("task", "text_generation", "generation"),
        ("task", "indexing", "embeddings"),
        ("task", "GRPO", "reinforcement-learning"),
        ("method", "dpo", "reinforcement-learning"),
        ("method", "distillation", "distillation"),
    ],
)
def test_a_file_gets_the_refusal_with_what_it_can_say(key, value, kind):
    work = {"dnn": "resnet50", "target": {"gpus_busy": 8}, key: value}
    with pytest.raises(RequestError) as caught:
        SizingRequest.from_dict({"workload": [work]}, "wish.toml")
    text = str(caught.value)
    assert REFUSALS[kind] in text
    assert {"task": "'validation-inference'", "method": "'lora'"}[key] in text
