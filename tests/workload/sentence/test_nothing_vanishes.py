"""Nothing of a sentence vanishes: words of work and vendors, and every number; any text is read in little time."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.workload.sentence.quantities import quantities_in
from sizer.workload.sentence.reader import MAX_CHARACTERS, read_sentence
from sizer.workload.sentence.reading import Reading
from tests.factories.examples import catalog

# Kinds of work, fields, vendors and their systems, written without a look at what the reader knows.
WORDS = Path(__file__).with_name("words_of_work.txt").read_text("utf-8").split("\n")[:-1]
SOUND = (
    "ResNet-50 at 20,000 images/s on 40 TB with H100",
    "Pre-train Llama 3 8B on 1T tokens in 30 days on 128 H100",
    "16 V100 for ResNet-50 , 2 racks",
    "fine-tune Llama 3 70B with LoRA on 8 H200 , max 40 kW",
    "3D U-Net in a day on DGX H100 , no AMD",
)
NUMBERS = ("7 widgets", "12,345", "90 kg", "3.5 parsecs", "11 GB per fortnight", "17 requests/s", "40 pages", "250 ms")
# What raises a question, or belongs to another job: its numbers are told, too.
BRANCHES = (
    "",
    "64 Rubin GPUs ,",
    "we still run 10 V100S in R740xd servers ,",
    "and serve it to 400 agents with 1,500 tokens in and 250 out ,",
    "measured 62,000 tokens/s on a rented 8x H100 node ,",
    "not like a DGX H200 640GB bought in 2022 ,",
)
# The page of the app waits; ten times the aim of tests/bench.
MOST_CPU_S = 0.5


def told(reading: Reading) -> str:
    """Everything that the answer shows of a sentence: read, assumed, unread, asked or refused."""
    phrases = (text for phrase in reading.phrases for text in (phrase.words, phrase.meaning))
    asked = (text for question in reading.questions for text in (question.words, question.reason))
    return " ".join((*reading.unread, *phrases, *asked)).lower()


@given(word=st.sampled_from(WORDS), sentence=st.sampled_from(SOUND), at=st.integers(0, 12))
def test_a_word_of_work_or_a_vendor_in_a_sound_sentence_is_told(word: str, sentence: str, at: int) -> None:
    words = sentence.split()
    reading = read_sentence(" ".join([*words[:at], word, *words[at:]]), catalog())
    if not (reading.refused and not reading.request):
        assert any(part.lower() in told(reading) for part in re.findall(r"[\w:&-]+", word))


@given(number=st.sampled_from(NUMBERS), sentence=st.sampled_from(SOUND), branch=st.sampled_from(BRANCHES))
def test_every_number_of_a_sentence_is_told(number: str, sentence: str, branch: str) -> None:
    reading = read_sentence(f"{sentence} , {branch} {number}", catalog())
    if reading.refused and not reading.request:
        return
    for quantity in quantities_in(reading.sentence, [(0, len(reading.sentence))]):
        assert reading.sentence[quantity.start : quantity.end].split()[0].lower() in told(reading)


def test_there_are_three_hundred_words() -> None:
    assert len(set(WORDS)) >= 300


def cpu_s(text: str) -> float:
    read_sentence("ResNet-50 on H200", catalog())  # the names of the catalogue are collected once
    start = time.process_time()
    read_sentence(text, catalog())
    return time.process_time() - start


@given(st.text(min_size=1, max_size=40).map(lambda piece: (piece * 10_000)[:10_000]))
def test_ten_kilobytes_of_any_signs_are_refused_in_words(text: str) -> None:
    reading = read_sentence(text, catalog())
    assert reading.refused
    assert str(MAX_CHARACTERS // 1000) in reading.refused


@pytest.mark.parametrize(
    "piece",
    ["16 V100 ", "a ", "H100,", "10 TB ", "x ", "1-", "between 1 and ", "\ufdfa", "½ ", "½", "at most ", "\u202e9 "],
)
def test_the_longest_text_is_read_in_bounded_time(piece: str) -> None:
    assert cpu_s((piece * MAX_CHARACTERS)[:MAX_CHARACTERS]) < MOST_CPU_S
