"""A hundred sentences written before the reader was asked: each is read right, asked about or refused."""

import json
from pathlib import Path
from typing import Any

from sizer.workload.kinds import KINDS
from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import read_sentence
from sizer.workload.sentence.reading import Reading
from tests.factories.examples import catalog
from tests.factories.rows import every
from tests.workload.sentence.test_presales import values

# By kind; each with the outcomes that are right, values that it must have, or must not have (null), and words that must
# not vanish: they stand in "unread" or in a question.
HUNDRED = json.loads(Path(__file__).with_name("hundred.json").read_text("utf-8"))
# Kinds of statements that a reader may take for others: a value belongs to the noun beside it.
BY_KIND = json.loads(Path(__file__).with_name("by_kind.json").read_text("utf-8"))
# Sentences of mails by people who did not know the reader, and sixty more of the kinds in which it had failed: "again".
MAILS = json.loads(Path(__file__).with_name("mails.json").read_text("utf-8"))
REFUSALS = {kind.refusal: kind.tasks[0] for kind in KINDS}


def outcome(reading: Reading) -> str:
    """ "read", what is asked about, or the kind of work that is refused ("serving") or asked about ("ask serving")."""
    question = reading.question
    if question is None:
        return "read"
    kind = REFUSALS.get(question.reason)
    if kind is None:
        return question.about
    return kind if question.about == "refused" else f"ask {kind}"


def told(reading: Reading) -> str:
    return " ".join((*reading.unread, *reading.assumptions, *(question.words for question in reading.questions)))


EVERY = [case for table in (HUNDRED, BY_KIND, MAILS) for cases in table.values() for case in cases]


@every(EVERY, lambda case: case["sentence"])
def test_a_sentence_is_read_right_asked_about_or_refused(case: dict[str, Any]) -> None:
    reading = read_sentence(case["sentence"], catalog())
    found = values(reading)
    assert outcome(reading) in case["outcome"]
    for path, value in case.get("values", {}).items():
        assert value is None or found[path] == value
        assert value is not None or not any(key == path or key.startswith(f"{path}.") for key in found)
    for words in case.get("told", []):
        assert words in told(reading)
    if "told_or" in case:
        words, path = case["told_or"]
        assert words in told(reading) or any(key.startswith(path) for key in found)
    platforms = reading.request.get("platforms", {})
    for key in case.get("excludes", ()):
        assert key not in platforms.get("gpus", ()) if key in catalog().gpus else key in platforms["forbidden_servers"]
    assert "works" not in case or len(reading.request["workload"]) == case["works"]
    if reading.is_complete:
        SizingRequest.from_dict(reading.request)
