"""What an architect's sentence must never be read as, and what is asked instead."""

from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import catalog


def test_a_mixture_offers_the_nearest_mixtures() -> None:
    """Qwen3 30B-A3B and gpt-oss 20B are the mixtures nearest to 30 billion parameters."""
    question = read_sentence("train a MoE with 64 experts, 8 active, 30B total, on 256 B200", catalog()).question
    assert question is not None
    assert question.words == "MoE with 64 experts, 8 active, 30B total"
    assert [answer.label for answer in question.answers][:2] == ["Qwen3 30B-A3B", "gpt-oss 20B"]
    reading = read_sentence(question.answers[0].sentence, catalog())
    assert (reading.question, reading.unread) == (None, ())
    assert reading.request["workload"][0]["dnn"] == "qwen3-30b-a3b"


def test_a_misspelt_name_offers_the_nearest() -> None:
    question = read_sentence("lora finetune lama 3 70b on 8xB200", catalog()).question
    assert question is not None
    assert (question.words, question.answers[0].label) == ("lama 3 70b", "Llama 3 70b")
    assert read_sentence(question.answers[0].sentence, catalog()).is_complete


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
