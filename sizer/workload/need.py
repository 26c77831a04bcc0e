"""The one entry of a need: a request file or a sentence, for the app, the commands and a batch alike."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sizer.base.errors import RequestError
from sizer.catalog.model import Catalog
from sizer.workload.request import SizingRequest
from sizer.workload.sentence.reader import read_sentence
from sizer.workload.sentence.reading import READ_FROM_A_FILE, Reading

# Questions about what is missing; a changed key may answer them.
_ASSUMED_TARGET = "target not given"
_MISSING = frozenset(("target", "network", "length", "limit"))


def is_sentence(written: str | Path) -> bool:
    """Whether a need is given in words: it has blanks, and is neither a file nor called like one."""
    text = str(written)
    if isinstance(written, Path) or " " not in text.strip() or Path(text).suffix.lower() in (".toml", ".json"):
        return False
    return not os.path.exists(text)


def read_need(written: str | Path, catalog: Catalog, changes: Mapping[str, Any] | None = None) -> Reading:
    """Read a request file or a sentence.

    ``written``: path of a request, or a sentence. ``catalog``: whose parts a sentence names. ``changes``: keys of a
    request that rule over what is written, as a plain mapping. Raises RequestError if a file cannot be read, or a
    changed request is not valid. Of a sentence nothing is an error: what is missing, unknown or has two readings is
    asked.
    """
    if is_sentence(written):
        return read_words(str(written), catalog, changes)
    request = SizingRequest.from_file(written).model_dump(mode="json", exclude_unset=True)
    if changes:
        request = _merged(request, changes)
        SizingRequest.from_dict(request, str(written))
    return replace(READ_FROM_A_FILE, request=request)


def read_words(sentence: str, catalog: Catalog, changes: Mapping[str, Any] | None = None) -> Reading:
    """Read a sentence, for the field of the app, the argument of a command and the cell of a table."""
    reading = read_sentence(sentence, catalog)
    return _changed(reading, changes) if changes and reading.request else reading


def _changed(reading: Reading, changes: Mapping[str, Any]) -> Reading:
    """A reading with changed keys; what was missing and is given now is no longer asked, or assumed."""
    before, given = reading.request, changes.get("workload", ())
    if any(phrase.meaning.startswith(_ASSUMED_TARGET) for phrase in reading.phrases):
        told = [index < len(given) and "target" in given[index] for index in range(len(before["workload"]))]
        works = [
            {key: value for key, value in work.items() if key != "target"} if is_told else work
            for work, is_told in zip(before["workload"], told, strict=True)
        ]
        before = before | {"workload": works}
        if all(told):
            phrases = (phrase for phrase in reading.phrases if not phrase.meaning.startswith(_ASSUMED_TARGET))
            reading = replace(reading, phrases=tuple(phrases))
    request = _merged(before, changes)
    questions = tuple(question for question in reading.questions if question.about not in _MISSING)
    if not questions:
        try:
            SizingRequest.from_dict(request, "sentence")
        except RequestError:
            questions = reading.questions
            if not questions:
                raise
    return replace(reading, request=request, questions=questions)


def _merged(before: Any, changes: Any) -> Any:
    """Tables and lists of tables with the keys of others over theirs."""
    if isinstance(before, Mapping) and isinstance(changes, Mapping):
        return {**before, **{key: _merged(before.get(key), value) for key, value in changes.items()}}
    if isinstance(before, list) and isinstance(changes, list) and all(isinstance(one, Mapping) for one in changes):
        pairs = range(max(len(before), len(changes)))
        old, new = (dict(enumerate(one)) for one in (before, changes))
        return [_merged(old.get(pair, {}), new.get(pair, {})) for pair in pairs]
    return changes
