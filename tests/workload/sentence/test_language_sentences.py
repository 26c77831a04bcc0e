"""Sentences about language models and today's systems, with what a colleague reads in them."""

import pytest

from sizer.workload.sentence.reader import read_sentence
from tests.factories import examples

SENTENCES = [
    ("fine-tune Llama 70B on 64 H100", "llama-3-70b", {"target": {"gpus_busy": 64}}, ["h100-sxm-80gb"]),
    ("8B model, 1 T tokens in two weeks", "llama-3-8b", {"tokens": 1e12, "target": {"time_to_train_s": "2 weeks"}}, []),
    (
        "pre-train Llama 3 70B on 1 trillion tokens in 30 days on H100",
        "llama-3-70b",
        {"tokens": 1e12, "target": {"time_to_train_s": "30 d"}},
        ["h100-sxm-80gb"],
    ),
    (
        "LoRA of Llama 2 70B on 8 B200",
        "llama-2-70b",
        {"method": "lora", "target": {"gpus_busy": 8}},
        ["b200-sxm-180gb"],
    ),
    (
        "Llama 3 8B, 15T tokens, 90 days, MI300X",
        "llama-3-8b",
        {"tokens": 15e12, "target": {"time_to_train_s": "90 d"}},
        ["mi300x-192gb"],
    ),
    ("GPT-3 175B at 100k tokens/s", "gpt-3-175b", {"target": {"tokens_per_s": 1e5}}, []),
    ("Nemotron 340B at 50k tokens per second", "nemotron-4-340b", {"target": {"tokens_per_s": 5e4}}, []),
    (
        "continue pre-training of Llama 3 8B on 200 billion tokens with 32 MI300X",
        "llama-3-8b",
        {"tokens": 2e11, "target": {"gpus_busy": 32}},
        ["mi300x-192gb"],
    ),
    (
        "8B continued pre-training on 4 x MI300X servers",
        "llama-3-8b",
        {"target": {"gpus_busy": 32}},
        ["mi300x-192gb"],
    ),
    ("two H100 nodes for Llama 8B", "llama-3-8b", {"target": {"gpus_busy": 16}}, ["h100-sxm-80gb"]),
    (
        "pretrain Qwen3 30B-A3B in FP8 with a 4k context on 64 B200, 500 billion tokens",
        "qwen3-30b-a3b",
        {"precision": "fp8", "sequence_tokens": 4096, "tokens": 5e11, "target": {"gpus_busy": 64}},
        ["b200-sxm-180gb"],
    ),
    (
        "Llama 3 8B with 200 billion tokens in a week, 8192 token sequences",
        "llama-3-8b",
        {"sequence_tokens": 8192, "tokens": 2e11, "target": {"time_to_train_s": "1 weeks"}},
        [],
    ),
    ("DeepSeek-V3 on 256 B200 in FP8", "deepseek-v3", {"precision": "fp8", "target": {"gpus_busy": 256}}, None),
    ("a billion tokens with Llama 3 8B in a day", "llama-3-8b", {"tokens": 1e9}, []),
    ("64 H100 for ResNet-50", "resnet50", {"target": {"gpus_busy": 64}}, ["h100-sxm-80gb"]),
    ("Mask R-CNN on 16 A100 SXM 80 GB", "mask-rcnn", {"target": {"gpus_busy": 16}}, ["a100-sxm-80gb"]),
]


@pytest.mark.parametrize(("words", "dnn", "work", "gpus"), SENTENCES, ids=[words for words, *_ in SENTENCES])
def test_a_sentence_is_read_whole(words, dnn, work, gpus):
    reading = read_sentence(words, examples.catalog())
    assert (reading.question, reading.unread) == (None, ())
    (found,) = reading.request["workload"]
    assert found["dnn"] == dnn
    assert {key: found.get(key) for key in work} == work
    if gpus is not None:
        assert reading.request.get("platforms", {}).get("gpus", []) == gpus


def test_servers_are_counted_by_their_name():
    reading = read_sentence("16 DGX B200 for Llama 3 70B", examples.catalog())
    assert reading.request["platforms"] == {"servers": ["dgx-b200"]}
    assert reading.request["workload"][0]["target"] == {"gpus_busy": 128}


def test_days_without_tokens_ask_for_them():
    question = read_sentence("Llama 3 8B in two weeks", examples.catalog()).question
    assert question.about == "length"
    assert [answer.label for answer in question.answers][2] == "1 trillion tokens"


def test_fp8_is_for_language_models():
    question = read_sentence("train ResNet-50 in FP8 on 8 H100", examples.catalog()).question
    assert (question.about, question.words) == ("unavailable", "FP8")
