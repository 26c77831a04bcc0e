"""Sentences about language models in use: what they set; nothing of them is read as a training."""

import json
from pathlib import Path
from typing import Any

from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import read_sentence
from tests.factories.examples import catalog
from tests.factories.rows import every

SENTENCES = json.loads(Path(__file__).with_name("serving.json").read_text("utf-8"))


@every(SENTENCES, lambda row: row["sentence"])
def test_a_sentence_sets_lengths_limits_and_load(row: dict[str, Any]) -> None:
    reading = read_sentence(row["sentence"], catalog())
    (work,) = reading.request["workload"]
    assert reading.is_complete
    assert {key: work.get(key) for key in row["values"]} == row["values"]
    assert not reading.unread
    assert "team" not in reading.request
    SizingRequest.from_dict(reading.request)
