"""Kinds of work that are not sized: refused by their name in sentences and files, asked about beside a training."""

import pytest

from sizer.base.errors import RequestError
from sizer.workload.kinds import KINDS
from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import catalog

REFUSALS = {kind.tasks[0]: kind.refusal for kind in KINDS}


def outcome(sentence: str) -> str:
    """The kind of work that is refused ("serving") or asked about ("ask serving"); else "read" or what is asked."""
    reading = read_sentence(sentence, catalog())
    question = reading.question
    if question is None:
        return "read"
    kind = next((name for name, refusal in REFUSALS.items() if question.reason == refusal), question.about)
    if question.about == "refused":
        assert not reading.request  # nothing of it is read as another kind of work
    return kind if question.about == "refused" else f"ask {kind}"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # served to people or programs
        ("Serve Llama 3 70B at 10,000 tokens/s on H200", "serving"),
        ("Run inference with Llama 3 70B for 500 users", "serving"),
        ("Deploy Llama 3 8B for 500 users at 5,000 tokens/s on B200", "serving"),
        ("Host Llama 3 8B at 5,000 tokens/s on B200", "serving"),
        ("Validate Llama 3 8B on 8 H100", "serving"),
        ("Mixtral 8x7B for 900 employees of a bank", "serving"),
        ("an on-premises ChatGPT-like assistant, 16 L40S", "serving"),
        ("code completion with a 34B model for our 80 programmers", "serving"),
        ("retrieval-augmented search with Llama 3 8B on 4 H100", "serving"),
        ("Llama 3.1 8B with vLLM at 20 queries per second, 8 H100", "serving"),
        ("our fine-tuned Llama 3 8B has to answer questions of 3,000 customers", "serving"),
        ("real-time inference of ResNet-50 at 5,000 images/s", "serving"),
        ("serve ResNet-50 at 5,000 images/s on 2 DGX-1", "serving"),
        ("a bot for insurance claims: 40 concurrent chats, Llama 3 70B", "serving"),
        ("a ChatGPT of our own for the town hall, 8 H200", "serving"),
        ("Llama 3 70B for 1,500 people in sales", "serving"),
        ("an API for a 13B language model", "serving"),
        ("Inception v4 inference at 900 images/s, in production around the clock", "serving"),
        # generated in batches, embedded, aligned, distilled, acting
        ("generate 3 billion tokens of synthetic text with Llama 3 70B on 32 H100", "generation"),
        ("overnight text generation with Llama 3 8B on 8 H200", "generation"),
        ("Stable Diffusion: generate 200,000 pictures a day on 8 L40S", "generation"),
        ("label 30 million tickets with Llama 3 8B on 8 H100", "generation"),
        ("transcription of court hearings with RNN-T at 30 samples/s", "generation"),
        ("BERT for passage embeddings at 900 sequences/s", "embeddings"),
        ("index 400,000 PDFs as vectors every week on 8 L40S", "embeddings"),
        ("text embeddings with Llama 3 8B on 4 H100", "embeddings"),
        ("embed all our support tickets nightly", "embeddings"),
        ("align Llama 3 70B by RLHF on 128 H100 in 5 days", "reinforcement-learning"),
        ("reward model and PPO for Llama 3 8B, 16 H100", "reinforcement-learning"),
        ("preference tuning of Llama 3 8B on 8 H100 in a day", "reinforcement-learning"),
        ("post-train Llama 3 8B on 10B tokens with 32 H100", "reinforcement-learning"),
        ("Train a 1B student from a Llama 3 70B teacher model, distilling 300B tokens on 64 H100", "distillation"),
        ("agentic workflows on Llama 3 70B with 16 H100", "agents"),
        # beside a training both are work: one click leaves the training
        ("Fine-tune Llama 3 8B on 100M tokens in a day and serve it to 500 users", "ask serving"),
        ("Pre-train Llama 3 8B on 1T tokens in 30 days, then generate 5B tokens of synthetic data", "ask generation"),
        # purposes and words that are no work
        ("Fine-tune Llama 3 8B as a chatbot on 100M tokens in a day", "read"),
        ("Pre-train Mistral 7B as a coding assistant on 500B tokens, 128 H100", "read"),
        ("Train Stable Diffusion v2 to generate pictures of shoes, 100 images/s", "read"),
        ("RetinaNet at 2,000 images/s on cameras that generate 4 TB of images", "read"),
        ("16 students share 8 H100 for Llama 3 8B at 20,000 tokens/s", "read"),
        ("Llama 3 8B at 20,000 tokens/s for the RL group", "read"),
        ("BERT at 2,000 sequences/s from a cluster with a file server serving 10 users", "read"),
        ("inference of GoogLeNet on a test set at 30,000 images/s", "read"),
        ("Llama 3 8B at 5,000 tokens/s, validation loss every hour", "read"),
        ("DistilBERT is too small, train BERT at 2,000 sequences/s", "ask unavailable"),
    ],
)
def test_a_word_that_changes_the_kind_of_work_is_refused_asked_or_understood(sentence, expected):
    assert outcome(sentence) == expected


def test_the_offered_answer_leaves_the_training():
    question = read_sentence(
        "Fine-tune Llama 3 8B on 100M tokens in a day and serve it to 500 users", catalog()
    ).question
    left = read_sentence(question.answers[0].sentence, catalog())
    assert left.is_complete
    assert "team" not in left.request
    assert left.request["workload"][0]["tokens"] == 1e8


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("task", "serving", "serving"),
        ("task", "inference", "serving"),
        ("task", "text_generation", "generation"),
        ("task", "Embedding", "embeddings"),
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
