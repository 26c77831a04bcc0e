"""Presales talk: every value that a sentence means, nothing else, and what is asked back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sizer.workload.request import SizingRequest
from sizer.workload.sentence.names import short_name
from sizer.workload.sentence.reader import read_sentence
from sizer.workload.sentence.reading import Reading
from tests.factories.examples import catalog
from tests.factories.rows import every

# Each sentence with every value that it means (``w.`` is the first workload), what is asked back, and what is unread.
TABLES = {
    one["table"]: one["sentences"] for one in json.loads(Path(__file__).with_name("presales.json").read_text("utf-8"))
}
ALL = [case for table in TABLES.values() for case in table]


def sentence_of(case: dict[str, Any]) -> str:
    return str(case["sentence"])


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Values of nested tables and lists of tables, each with its path."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from leaves(part, (*path, str(key)))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, part in enumerate(value):
            yield from leaves(part, (*path, str(number)))
    else:
        yield path, value


def values(reading: Reading) -> dict[str, Any]:
    """Values of the request but for its names; ``w.`` is the first workload."""
    named = {".".join(path).replace("workload.0.", "w."): value for path, value in leaves(reading.request)}
    return {path: value for path, value in named.items() if path not in ("title", "w.name")}


@every(ALL, sentence_of)
def test_a_sentence_is_read_as_a_colleague_reads_it(case: dict[str, Any]) -> None:
    reading = read_sentence(case["sentence"], catalog())
    assert values(reading) == case["values"]
    assert (reading.question.about if reading.question else None) == case.get("asks")
    assert list(reading.unread) == case.get("unread", [])
    if reading.is_complete:
        SizingRequest.from_dict(reading.request)


def test_most_sentences_need_no_question() -> None:
    assert len({sentence_of(case) for case in ALL}) == len(ALL)
    assert sum(not {"asks", "unread"} & case.keys() for case in ALL) > 0.85 * len(ALL)


@every([case for case in ALL if "asks" in case], sentence_of)
def test_every_answer_leads_on(case: dict[str, Any]) -> None:
    """An answer settles its question, in a signed mail, too: the sentence is complete, or something else is asked."""
    for sentence in (case["sentence"], f"{case['sentence'].rstrip(' .')}. Best regards, Petra"):
        question = read_sentence(sentence, catalog()).question
        assert question is not None
        assert question.answers
        for answer in question.answers:
            following = read_sentence(answer.sentence, catalog()).question
            assert following is None or (following.about, following.words) != (question.about, question.words), answer


def test_what_is_not_even_the_work_is_asked_with_the_target() -> None:
    assert [one.about for one in read_sentence("Llama 3 8B", catalog()).questions] == ["job", "target"]


def test_storage_that_is_not_allowed_is_told_as_excluded() -> None:
    reading = read_sentence("ResNet-50 on 2 DGX-1, Isilon F800 is not allowed", catalog())
    assert any("excluded storage" in phrase.meaning for phrase in reading.phrases)


def test_a_point_before_three_digits_groups_thousands_and_is_told() -> None:
    reading = read_sentence("ResNet-50 at 40.000 images/s", catalog())
    assert values(reading)["w.target.samples_per_s"] == "40000 images/s"
    assert any("40.000 images/s: 40,000 images/s" in one for one in reading.assumptions)
    assert [one.words for one in reading.phrases if "rate" in one.meaning] == ["40.000 images/s"]


def test_what_is_not_held_is_named_with_what_is() -> None:
    question = read_sentence("64 Gaudi 3 for ResNet-50", catalog()).question
    assert question is not None
    assert (question.words, question.reason) == ("Gaudi 3", "GPU")
    assert "H200 SXM5 141 GB" in question.available
    assert "Tesla V100 SXM2 32 GB" not in question.available  # which is not sold any more
    nearest = read_sentence(question.answers[0].sentence, catalog())
    assert nearest.is_complete
    assert values(nearest)["w.target.gpus_busy"] == 64


def test_who_names_no_network_is_asked_what_it_is_for():
    """All purposes, those of pictures, or the networks of the one purpose that the words tell."""
    catalogued = {short_name(dnn): dnn for dnn in catalog().dnns.values()}
    asked = read_sentence("We want to do AI with 32 H100", catalog()).question
    pictures = read_sentence("We want AI with our pictures on 32 H100", catalog()).question
    assert asked is not None
    assert pictures is not None
    assert not set(catalogued) & set(asked.labels)
    assert set(pictures.labels) < set(asked.labels)
    for answer in (*asked.answers, *pictures.answers):
        after = read_sentence(answer.sentence, catalog()).question
        assert after is None or after.about not in ("network", "unavailable"), answer
    for words, family in (
        ("detect defects on photos", "detection"),
        ("segment tumors", "segmentation"),
        ("recommend products to our customers", "recommender"),
        ("Train YOLOv8 on a million photos", "detection"),
    ):
        taken = [*values(read_sentence(f"{words}, training with 32 H100", catalog()))]
        dnn = values(read_sentence(f"{words}, training with 32 H100", catalog())).get("w.dnn")
        assert dnn is not None, (words, taken)
        assert catalog().dnns[dnn].family == family or catalog().dnns[dnn].kind == "detector", words
