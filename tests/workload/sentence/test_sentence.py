"""A need in one sentence: what is read, what is told, what is refused."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import MAX_CHARACTERS, read_sentence
from sizer.workload.sentence.reading import Reading
from tests.factories.examples import catalog
from tests.factories.rows import every

EXAMPLE = "Train ResNet-50 on 22 TB of images of 113 kB at 40,000 images/s on DGX-1 with F800"


def test_what_the_sentence_leaves_open_and_what_is_not_understood_is_told():
    reading = read_sentence("Train ResNet-50 overnight in Frankfurt <script>", catalog())
    assert [phrase.words for phrase in reading.phrases].count("") == 1


def question(sentence: str) -> str:
    """What is asked about a sentence, and why."""
    asked = read_sentence(sentence, catalog()).question
    return f"{asked.about}: {asked.words} {asked.reason}" if asked else ""


# Sentences with what is asked: about what, which words, and a part of the question.
QUESTIONS = json.loads(Path(__file__).with_name("questions.json").read_text("utf-8"))


@every(QUESTIONS, lambda case: case["sentence"][:99])
def test_what_is_missing_or_refused_is_asked(case):
    asked = read_sentence(case["sentence"], catalog()).question
    assert asked.about == case.get("about", asked.about)
    assert asked.words == case.get("words", asked.words)
    assert case.get("says", "") in question(case["sentence"])


def test_words_of_a_phrase_can_be_removed_and_replaced():
    reading = read_sentence("Train ResNet-50 at 40,000 images/s on DGX-1", catalog())
    rate = next(phrase for phrase in reading.phrases if "rate" in phrase.meaning)
    assert rate.words == "40,000 images/s"
    assert reading.with_words(rate, "in a day") == "Train ResNet-50 at in a day on DGX-1"
    assert read_sentence(reading.with_words(rate, ""), catalog()).assumptions == ("target not given: 8 GPUs",)


PIECES = (
    *EXAMPLE.split(),
    *("40.000", "1e9", "between", "and", "16 V100", "64 H100", "3D U-Net", "10 data scientists", "not", "no more than"),
    *(
        "in a day",
        "as cheap as possible",
        "-",
        "$",
        "kEUR",
        "500k",
        "%",
        "Dell",
        "existing",
        "racks",
        "0",
        "½",
        "\u202f",
    ),
)


def check(reading: Reading) -> None:
    """A reading is a valid request or a question, and its phrases are words of the sentence."""
    if reading.is_complete:
        SizingRequest.from_dict(reading.request)
    for phrase in reading.phrases:
        assert reading.sentence[phrase.start : phrase.end] == phrase.words


@given(st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
@example("9" * MAX_CHARACTERS)
@example("one " * 500)
@example("1-" * 1000)
@example("between 1 and " * 140)
@example("16 V100 " * 250)
@example("\x00\ue000\ue003 16 \ue002 GPUs")
def test_any_text_is_a_valid_request_or_a_question(text):
    check(read_sentence(text, catalog()))


@pytest.mark.parametrize(
    "piece", ["10 TB ", "no DGX-1, ", "ResNet-50 and ", "USD 5k ", "a ", "16 V100 ", "1.000 ", "5 images "]
)
def test_a_text_twice_as_long_takes_at_most_about_twice_the_steps(piece):
    def steps(text: str) -> int:
        count = 0

        def note(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(note)
        try:
            read_sentence(text, catalog())
        finally:
            sys.setprofile(None)
        return count

    once, twice = (steps((piece * MAX_CHARACTERS)[:length]) for length in (MAX_CHARACTERS // 2, MAX_CHARACTERS))
    assert twice < 2.5 * once
