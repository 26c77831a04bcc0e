"""Errors of a request as typed, field by field and in the words of the pages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sizer.base.quantities import AMOUNT, parse
from sizer.catalog.model import Catalog
from sizer.questions.compare.designs import value_text
from sizer.ui.request_form.forms import RequestPath, in_labels, kind_of, label_of
from sizer.ui.session_catalog import catalog
from sizer.workload.request import SizingRequest


@dataclass(frozen=True)
class RequestFault:
    """An error in the request. ``path`` is empty where it concerns no single field."""

    path: RequestPath
    text: str


def quantity_faults(data: Mapping[str, Any]) -> list[RequestFault]:
    """Faults of the fields that hold quantities, each with its place."""
    faults = []
    for path, value in _leaves(data, ()):
        kind = kind_of(path)
        # A number of a file is checked by the request; typed text may be read in two ways.
        if kind is not None and (kind.unit or kind is AMOUNT or isinstance(value, str)):
            try:
                parse(kind, value)
            except ValueError as error:
                faults.append(RequestFault(path, sentences(str(error))))
    return faults


def _leaves(data: Any, path: RequestPath) -> list[tuple[RequestPath, Any]]:
    if isinstance(data, Mapping):
        return [leaf for key, value in data.items() for leaf in _leaves(value, (*path, key))]
    if isinstance(data, list) and any(isinstance(part, Mapping) for part in data):
        return [leaf for number, value in enumerate(data) for leaf in _leaves(value, (*path, number))]
    return [(path, data)]


# A field of the request at the start of an error: workload[0].target.samples_per_s = ... or limits.racks: ...
_FIELD = re.compile(r"(?:unknown key '|key ')?([a-z_]+(?:\[\d+\]|\.\d+|\.[a-z_]+)*)'?(?= = |: | is | names )")
_SNAKE = re.compile(r"\b(?:[a-z]+(?:\[\d+\])?\.)*[a-z]+(?:_[a-z]+)+\b")
_ID = re.compile(r"'?(?<![\w.-])([a-z0-9]+(?:[.+-][a-z0-9]+)+|[a-z]+\d+|(?<=')[a-z0-9]+)(?![\w-])'?")


def request_faults(text: str) -> list[RequestFault]:
    """Sentences of a RequestError, each with the field that it names."""
    faults = []
    for line in text.splitlines():
        match = _field(line.removeprefix("request: "))
        parts = re.findall(r"[a-z_]+|\d+", match[1]) if match is not None else []
        faults.append(RequestFault(tuple(int(part) if part.isdecimal() else part for part in parts), sentences(line)))
    return faults


def _field(line: str) -> re.Match[str] | None:
    match = _FIELD.match(line)
    return match if match is not None and re.split(r"[\[.]", match[1])[0] in SizingRequest.model_fields else None


def sentences(text: str, place: str = "request") -> str:
    """An error of the engine in the words of the pages: fields by their labels, items by their names, no places."""
    said = []
    for line in text.splitlines():
        line = line.removeprefix(f"{place}: ")
        match = _field(line)
        if match is not None:
            line = f"{label_of(match[1])}{line[match.end() :]}"
        line = in_labels(_SNAKE.sub(lambda found: label_of(found[0]), line))
        line = _ID.sub(_name_of, line)
        said.append(line[:1].upper() + line[1:] + ("" if line.endswith((".", "?", "!")) else "."))
    return " ".join(said)


def name_of(text: str) -> str:
    """Name of a catalogue item in place of its id; other words stay."""
    return _names(catalog()).get(text, text)


def in_words(field: str, value: Any) -> str:
    """Value of a field with its unit; the fields and parts that it is made of by their names on the pages."""
    if isinstance(value, Mapping):
        return ", ".join(f"{label_of(str(key)).lower()} {in_words(str(key), part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(in_words(field, part) for part in value)
    return value_text(field, value, name_of)


@lru_cache(maxsize=8)
def _names(parts: Catalog) -> dict[str, str]:
    """Id of every item -> its name. To look a word up in the catalogue itself would seek the nearest id, too."""
    return {item.id: item.name for _, item in parts.items()}


def _name_of(match: re.Match[str]) -> str:
    name = name_of(match[1])
    return match[0] if name == match[1] else name
