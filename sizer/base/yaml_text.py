"""YAML as plain data, with the place of every value.

Scalars mean what YAML 1.2 says (``no`` and ``12:30`` are text, ``1e3`` is a number). What data does not need is
refused: tags, aliases, several documents, keys that are not text, a key twice in one table.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from sizer.base.errors import RequestError
from sizer.base.faults import shown

Path = tuple[int | str, ...]
Place = tuple[int, int]  # line and column, from 1

MAX_CHARACTERS = 1_000_000
# A file of a person holds far less; both bound the work on a hostile one.
_MAX_VALUES = 100_000
_MAX_DEPTH = 20
_MAX_DIGITS = 30

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True)
class YamlText:
    """Data of a YAML text. ``places`` knows where each value begins."""

    data: Any
    places: dict[Path, Place]
    name: str

    def place(self, path: Path) -> str:
        """``file:line:column`` of a value; of the table around it where a key is missing."""
        while path not in self.places:
            path = path[:-1]
        line, column = self.places[path]
        return f"{self.name}:{line}:{column}"


def read_yaml(text: str, name: str) -> YamlText:
    """Data of one YAML document.

    Parameters
    ----------
    text : str
        The document.
    name : str
        What errors call it, e.g. the file's name.

    Raises
    ------
    RequestError
        ``name:line:column`` and what is wrong there.
    """
    if len(text) > MAX_CHARACTERS:
        raise RequestError(f"{name}: {len(text)} characters are more than is read ({MAX_CHARACTERS})")
    try:
        return _Reader(text, name).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f":{mark.line + 1}:{mark.column + 1}"
        raise RequestError(f"{name}{place}: is not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:  # characters that no YAML text may hold
        reason, at = getattr(error, "reason", str(error)), getattr(error, "position", getattr(error, "start", 0))
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise RequestError(f"{name}:{line}:{column}: is not valid YAML: {reason}") from None


def plain_scalar(text: str) -> Any:
    """What YAML 1.2 (core schema) takes an unquoted text for: nothing, truth value, number or text.

    Raises
    ------
    ValueError
        If a number has more digits than any fact.
    """
    if text in _WORDS:
        return _WORDS[text]
    is_integer = _INTEGER.fullmatch(text) is not None
    if (is_integer or _FLOAT.fullmatch(text)) and len(text) > _MAX_DIGITS:
        raise ValueError(f"{shown(text)} has more digits than a number here can have ({_MAX_DIGITS})")
    if is_integer:
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.lower().replace(".", "")) if _SPECIAL.fullmatch(text) else text


class _Reader:
    """Turns the parser's events into data; recursion goes no deeper than the limit."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self.places: dict[Path, Place] = {}
        self.values = 0

    def read(self) -> YamlText:
        data: Any = None
        self.places[()] = (1, 1)
        n_documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                n_documents += 1
                if n_documents > 1:
                    raise self._error(event, "a second document begins here; one is read")
                data = self._value(next(self.events), ())
        return YamlText(data, self.places, self.name)

    def _error(self, event: Any, problem: str) -> RequestError:
        mark = event.start_mark
        return RequestError(f"{self.name}:{mark.line + 1}:{mark.column + 1}: {problem}")

    def _value(self, event: Any, path: Path) -> Any:
        self.values += 1
        if self.values > _MAX_VALUES:
            raise self._error(event, f"more values than are read ({_MAX_VALUES})")
        if len(path) > _MAX_DEPTH:
            raise self._error(event, f"nested deeper than is read ({_MAX_DEPTH})")
        if isinstance(event, yaml.AliasEvent):
            raise self._error(event, f"alias *{event.anchor}: repeat the value instead")
        if event.tag is not None:
            raise self._error(event, f"tag {shown(event.tag)}: only plain values are read")
        self.places[path] = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.MappingStartEvent):
            return self._table(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path)
        return self._scalar(event)

    def _scalar(self, event: Any) -> Any:
        if event.style:  # quoted, or a block of text
            return event.value
        try:
            return plain_scalar(event.value)
        except ValueError as error:
            raise self._error(event, str(error)) from None

    def _list(self, path: Path) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            values.append(self._value(event, (*path, len(values))))
        return values

    def _table(self, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
                raise self._error(event, "a key is plain text")
            key = event.value
            if key in values:
                raise self._error(event, f"key {shown(key)} stands here a second time")
            values[key] = self._value(next(self.events), (*path, key))
        return values
