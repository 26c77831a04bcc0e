"""Words, lengths and layouts of a sentence."""

import re

import pytest

from sizer.catalog.items import is_of_vendor
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
