"""Sentences about language models and today's systems, with what a colleague reads in them."""

import pytest

from sizer.workload.sentence.reader import read_sentence
from tests.factories import examples


def of(size: float) -> dict[str, object]:
    """A usual dense model of so many G parameters."""
    return {"name": f"{size:g}B model", "parameters": size * 1e9}


def test_a_size_of_several_models_is_a_usual_one_as_an_assumption():
    reading = read_sentence("pretrain a 7B model on 2 trillion tokens in 3 months", examples.catalog())
    assert reading.is_complete
    assert reading.request["workload"][0]["dnn"] == of(7)
    assert any("7B" in assumption for assumption in reading.assumptions)


def test_days_without_tokens_are_those_of_the_least_loss():
    """Hoffmann et al. 2022, arXiv:2203.15556, table 3: about 20 tokens per parameter, of 8.03 billion."""
    reading = read_sentence("train Llama 3 8B in two weeks", examples.catalog())
    assert reading.is_complete
    assert reading.request["workload"][0]["tokens"] == 161e9
    assert any("161 billion tokens" in one for one in reading.assumptions)


@pytest.mark.parametrize(
    ("sentence", "targets"),
    [
        (
            "Train ResNet-50 at 20000 images/s and BERT-large at 5000 sequences/s on H100",
            [{"samples_per_s": "20000 images/s"}, {"samples_per_s": "5000 samples/s"}],
        ),
        (
            "Train Llama 3 8B on 100B tokens in 10 days and ResNet-50 on ImageNet in 2 hours",
            [{"time_to_train_s": "10 d"}, {"time_to_train_s": "2 h"}],
        ),
        # One target of all, whether it stands with the last network or with the first.
        ("Train ResNet-50 and BERT-large in 4 hours on H100", [{"time_to_train_s": "4 h"}, {"time_to_train_s": "4 h"}]),
        ("ResNet-50 in 4 hours, BERT-large too, on H100", [{"time_to_train_s": "4 h"}, {"time_to_train_s": "4 h"}]),
    ],
)
def test_each_network_has_the_target_that_is_stated_with_it(sentence: str, targets: list[dict[str, str]]) -> None:
    reading = read_sentence(sentence, examples.catalog())
    assert [work["target"] for work in reading.request["workload"]] == targets
    assert reading.question is None
    assert not reading.unread or reading.unread == ("too",)


def test_adapters_next_to_a_pre_training_keep_their_tokens_and_time() -> None:
    """100 M tokens are a thousandth of 100 G, and no length of a sequence."""
    reading = read_sentence(
        "Train Llama 3 8B on 100B tokens in 10 days and fine-tune Llama 3 70B with LoRA on 100M tokens in 1 day",
        examples.catalog(),
    )
    first, second = reading.request["workload"]
    assert (first["tokens"], first["target"]) == (100e9, {"time_to_train_s": "10 d"})
    assert (second["tokens"], second["target"], second["method"]) == (100e6, {"time_to_train_s": "1 d"}, "lora")
    assert reading.question is None
    assert reading.unread == ()


def answers_of(sentence):
    question = read_sentence(sentence, examples.catalog()).question
    assert question.about == "target"
    readings = [read_sentence(answer.sentence, examples.catalog()) for answer in question.answers]
    assert all(reading.is_complete for reading in readings)
    return [answer.label for answer in question.answers]


def test_targets_of_a_language_model_are_whole_servers_and_times_with_tokens():
    """A rack of GB200 NVL72 has 72 GPUs, which is what is assumed; what is not even the work is asked with both."""
    reading = read_sentence("train 405B on GB200 NVL72", examples.catalog())
    assert reading.request["workload"][0]["target"] == {"gpus_busy": 72}
    assert any("72 GPUs" in one for one in reading.assumptions)
    assert [one.about for one in read_sentence("Llama 3 8B", examples.catalog()).questions] == ["job", "target"]


def test_storage_that_is_not_allowed_is_told_as_excluded() -> None:
    reading = read_sentence("ResNet-50 on 2 DGX-1, Isilon F800 is not allowed", examples.catalog())
    assert reading.request["platforms"]["forbidden_storage"] == ["isilon-f800"]
    assert any("excluded storage" in phrase.meaning for phrase in reading.phrases)
