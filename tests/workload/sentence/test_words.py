"""Words, lengths and layouts of a sentence."""

import re

import pytest

from sizer.catalog.items import is_of_vendor
from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import catalog


def platforms(words: str) -> dict[str, object]:
    reading = read_sentence(f"ResNet-50 at 20,000 images/s on H100, {words}", catalog())
    assert reading.is_complete, reading.question
    return reading.request["platforms"]


@pytest.mark.parametrize(
    ("words", "preferred", "excluded"),
    [
        ("no AMD, Lenovo preferred", ["Lenovo"], []),
        ("without Supermicro, Dell or HPE preferred", ["Dell", "HPE"], ["Supermicro"]),
        ("no Supermicro or HPE, Dell if possible", ["Dell"], ["Supermicro", "HPE"]),
        ("not Dell, HPE or Lenovo", [], ["Dell", "HPE", "Lenovo"]),
        ("no AMD or HPE", [], ["HPE"]),
        ("not HPE, rather Lenovo", ["Lenovo"], ["HPE"]),
        ("rather Dell than Lenovo", ["Dell"], []),
        ("Dell preferably, but not Lenovo", ["Dell"], ["Lenovo"]),
        ("HPE is out of the question, Dell is preferred", ["Dell"], ["HPE"]),
        ("kein Lenovo, HPE bevorzugt", ["HPE"], ["Lenovo"]),
    ],
)
def test_an_exclusion_ends_at_its_own_vendors(words, preferred, excluded):
    found = platforms(words)
    servers = catalog().servers
    assert found.get("prefer_vendors", []) == preferred
    told = {
        name
        for name in ("Dell", "HPE", "Lenovo", "Supermicro")
        for key in found.get("forbidden_servers", ())
        if is_of_vendor(servers[key].vendor, name)
    }
    assert told == set(excluded)
    assert found["gpus"] == ["h100-sxm-80gb"]


def test_each_of_two_trainings_keeps_the_length_of_its_samples():
    sentence = "Fine-tune Llama 3 8B on 100k samples of 4096 tokens and pretrain Llama 3 70B on 1T tokens, 64 H100"
    tuned, trained = read_sentence(sentence, catalog()).request["workload"]
    assert (tuned["tokens"], tuned["document_tokens"]) == (409.6e6, 4096)
    assert trained["tokens"] == 1e12
    assert "document_tokens" not in trained


def test_the_gpus_that_are_there_are_the_target():
    reading = read_sentence("We have 4 DGX H100 and want to pretrain Llama 3 8B on 1T tokens", catalog())
    assert reading.request["workload"][0]["target"] == {"gpus_busy": 32}
    assert "target not given: 32 GPUs" in reading.assumptions


@pytest.mark.parametrize("name", ["GPT-2", "GPT2", "GPT-2 XL", "GPT-2 1.5B"])
def test_the_largest_gpt_2_is_read_by_its_names(name):
    reading = read_sentence(f"{name}, 10B tokens on 8 A100", catalog())
    assert reading.is_complete
    assert reading.request["workload"][0]["dnn"] == "gpt-2-xl"


def test_a_recipe_says_that_it_starts_from_a_checkpoint():
    reading = read_sentence("Pre-train BERT-large in 10 minutes on B200", catalog())
    assert "training length not given: BERT, MLPerf v5.0, from its checkpoint" in [
        one.meaning for one in reading.phrases
    ]


OPEN = (
    "Stable Diffusion fine-tuning on 5M images 512x512 in 2 days on 8 H100",
    "ResNet on 1024x1024px images with 16 GPUs",
    "ResNet-50 on 3 x512x512 images, 8 XY900 GPUs",
    "8MI210 for ResNet-50",
    "16xXY900 for ResNet-50",
    "Pre-train a 13B Llama on 300 billion tokens in 30 days",
    "Pre-train a 70B-Llama on 300 billion tokens in 30 days",
    "Pre-train Llama with 13B parameters on 300 billion tokens",
    "train a 13B Llama and a 7B Llama",
    "a 7B LLM on 8 H100",
    "YOLOv8 on 64 MI210 with NetApp E9999 storage",
    "ResNet-50 at 40.000 images/s",
    "Llama 3 70B",
)


@pytest.mark.parametrize("sentence", OPEN)
def test_an_answer_is_put_in_the_place_of_whole_words_that_were_asked_about_or_added(sentence):
    reading = read_sentence(sentence, catalog())
    before, question = reading.sentence, reading.question
    for answer in question.answers if question else ():
        if answer.sentence.startswith(before):
            continue  # added
        assert question.words
        start = before.find(question.words)
        head, tail = before[:start], before[start + len(question.words) :]
        assert start >= 0
        assert not re.search(r"\w$", head), question.words
        assert not re.match(r"\w", tail), question.words
        assert answer.sentence.startswith(head)
        assert answer.sentence.endswith(tail)


def test_a_name_of_two_words_is_replaced_as_one():
    reading = read_sentence("Pre-train a 13B Llama on 300 billion tokens in 30 days", catalog())
    assert reading.request["workload"][0]["dnn"] == "llama-2-13b"


def test_pixels_are_no_gpu():
    reading = read_sentence("Stable Diffusion on 5M images 512x512 in 2 days on 8 H100", catalog())
    assert reading.question is None or reading.question.about != "unavailable"
    assert "512x512" in reading.unread


def test_a_mixture_by_its_numbers_is_the_nearest() -> None:
    """Qwen3 30B-A3B is the mixture nearest to 30 billion parameters."""
    reading = read_sentence("train a MoE with 64 experts, 8 active, 30B total, on 256 B200", catalog())
    assert (reading.question, reading.unread) == (None, ())
    assert reading.request["workload"][0]["dnn"] == "qwen3-30b-a3b"
    assert any("MoE with 64 experts, 8 active, 30B total" in one for one in reading.assumptions)


def test_of_two_trainings_each_keeps_its_network() -> None:
    reading = read_sentence("pretraining of 8B on 1T tokens and fine-tune of 70B on 64 H100", catalog())
    assert (reading.question, reading.unread) == (None, ())
    first, second = SizingRequest.from_dict(reading.request).workload
    assert (first.dnn, first.tokens, first.method) == ("llama-3-8b", 1e12, None)
    assert (second.tokens, second.method) == (None, "fine-tuning")
    assert not isinstance(second.dnn, str)


def test_fsdp_with_a_stack_of_it_is_the_stack() -> None:
    work = read_sentence("PyTorch FSDP, Llama 3 8B on 16 H100", catalog()).request["workload"][0]
    assert "layout" not in work
    assert "FSDP" in catalog().stacks[work["stack"]].name


def test_layouts_are_of_language_models() -> None:
    reading = read_sentence("ResNet-50 with micro batch 32 and TP 8 on 8 V100", catalog())
    assert set(reading.unread) == {"TP 8", "micro batch 32"}
    assert "layout" not in reading.request["workload"][0]
