"""Sentences about language models and today's systems, with what a colleague reads in them."""

import pytest

from sizer.workload.request import SizingRequest
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


H100 = ["h100-sxm-80gb"]


def of(size: float) -> dict[str, object]:
    """A usual dense model of so many G parameters."""
    return {"name": f"{size:g}B model", "parameters": size * 1e9}


OWN = [
    ("a 13B dense model on 64 H100", of(13), {"target": {"gpus_busy": 64}}, H100),
    (
        "train a 13B dense model on 300 billion tokens in 20 days",
        of(13),
        {"tokens": 3e11, "target": {"time_to_train_s": "20 d"}},
        [],
    ),
    (
        "13B parameter decoder, 4k sequences, 500B tokens, 128 A100",
        of(13),
        {"sequence_tokens": 4096, "tokens": 5e11, "target": {"gpus_busy": 128}},
        ["a100-sxm-80gb"],
    ),
    ("3B dense LLM at 200k tokens/s", of(3), {"target": {"tokens_per_s": 2e5}}, []),
    ("a 1.3B GPT-style model on 100B tokens within 5 days on A100", of(1.3), {"tokens": 1e11}, ["a100-sxm-80gb"]),
    ("fine-tune our own 7B model on 50 million tokens in 2 hours on H100", of(7), {"tokens": 5e7}, H100),
    ("a 65B dense model, 1.4T tokens, 2048 A100", of(65), {"tokens": 1.4e12}, ["a100-sxm-80gb"]),
    ("13 billion parameter model, 300 billion tokens, two weeks, H100", of(13), {"tokens": 3e11}, H100),
    (
        "our 34B model, sequences of 16k tokens, 64 B200",
        of(34),
        {"sequence_tokens": 16_384, "target": {"gpus_busy": 64}},
        ["b200-sxm-180gb"],
    ),
    ("adapters for a 34B model on 8 H100", of(34), {"method": "lora", "target": {"gpus_busy": 8}}, H100),
    ("5B model, batch of 2M tokens, 100k tokens/s", of(5), {"batch_sequences": 244}, []),
    ("LoRA of a custom 13B LLM on 8 H100", of(13), {"method": "lora"}, H100),
    ("2T tokens, 11B model, one month, B200", of(11), {"tokens": 2e12}, ["b200-sxm-180gb"]),
    (
        "dense model with 40 layers, hidden size 5120, 40 heads and 8 KV heads on 64 H100",
        {"name": "Own model", "layers": 40, "hidden": 5120, "heads": 40, "kv_heads": 8},
        {"target": {"gpus_busy": 64}},
        H100,
    ),
    (
        "our LLM has 32 layers, hidden 4096, FFN 14336 and a vocabulary of 64k; 100B tokens in a week on H100",
        {"name": "Own model", "layers": 32, "hidden": 4096, "ffn": 14_336, "vocabulary": 64_000},
        {"tokens": 1e11},
        H100,
    ),
    # Sizes that one dense model of the catalogue has mean this one.
    ("8B dense model on 64 H100", "llama-3-8b", {"target": {"gpus_busy": 64}}, H100),
    ("405B dense on 512 H100", "llama-3.1-405b", {"target": {"gpus_busy": 512}}, H100),
    ("a 30B dense transformer on 64 H100", "mpt-30b", {"target": {"gpus_busy": 64}}, H100),
]


@pytest.mark.parametrize(("words", "dnn", "work", "gpus"), OWN, ids=[words for words, *_ in OWN])
def test_models_are_given_by_size_or_shape(words, dnn, work, gpus):
    test_a_sentence_is_read_whole(words, dnn, work, gpus)
    SizingRequest.from_dict(read_sentence(words, examples.catalog()).request)


def test_a_size_of_several_models_offers_a_usual_one():
    question = read_sentence("pretrain a 7B model on 2 trillion tokens in 3 months", examples.catalog()).question
    assert question.about == "network"
    again = read_sentence(question.answers[-1].sentence, examples.catalog())
    assert again.request["workload"][0]["dnn"] == of(7)


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


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("Llama 3 8B on 64 B200 in MXFP8", {"precision": "mxfp8"}),
        ("Llama 3 8B on 64 B200 in NVFP4", {"precision": "nvfp4"}),
        ("Llama 3 8B on 64 A100 in FP16", {"precision": "fp16"}),
        ("Llama 3 8B on 64 H100 in BF16", {"precision": "mixed"}),
        ("Llama 3 8B on 64 H100 with MaxText", {"stack": "maxtext"}),
        ("Llama 3 8B on 64 H100, MLPerf-tuned", {"stack": "mlperf-tuned"}),
        ("Llama 3 8B on 64 H100 with Megatron-Bridge", {"stack": "nemo"}),
        ("Llama 3 8B on 64 H100 with Megatron Bridge", {"stack": "nemo"}),
        ("Llama 3 8B on 64 H100 with the NVIDIA NeMo framework", {"stack": "nemo"}),
        ("Llama 3 8B on 64 H100 with DeepSpeed", {"stack": "deepspeed"}),
        ("Llama 3 8B on 64 H100 with LLM Foundry", {"stack": "llm-foundry"}),
        ("Llama 3 8B on 64 H100 using llm-foundry", {"stack": "llm-foundry"}),
    ],
)
def test_formats_and_software_by_name(sentence, changed):
    reading = read_sentence(sentence, examples.catalog())
    assert not reading.unread
    work = reading.request["workload"][0]
    assert {key: work.get(key) for key in changed} == changed


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
    """A rack of GB200 NVL72 has 72 GPUs; 4 racks have 288. A day or a night trains no 405B model."""
    labels = answers_of("405B on GB200 NVL72")
    assert labels == ["72 GPUs", "288 GPUs", "1 trillion tokens in 30 days", "100,000 tokens/s"]
    assert answers_of("Llama 3 8B, 2T tokens")[2:4] == ["in a week", "in 30 days"]
    assert answers_of("fine-tune Llama 70B with LoRA")[2] == "100 million tokens in a day"


def test_storage_that_is_not_allowed_is_told_as_excluded() -> None:
    reading = read_sentence("ResNet-50 on 2 DGX-1, Isilon F800 is not allowed", examples.catalog())
    assert reading.request["platforms"]["forbidden_storage"] == ["isilon-f800"]
    assert any("excluded storage" in phrase.meaning for phrase in reading.phrases)
