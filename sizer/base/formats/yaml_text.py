"""YAML as plain data, with the place of every value.

Scalars mean what YAML 1.2 says (``no`` and ``12:30`` are text, ``1e3`` is a number). What data does not need is
refused: tags, aliases, several documents, keys that are not text, a key twice in one table.
"""

import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.composer import Composer

from sizer.base.errors import RequestError
from sizer.base.faults import shown

Path = tuple[int | str, ...]
Place = tuple[int, int]  # line and column, from 1

MAX_CHARACTERS = 1_000_000
# A file of a person holds far less; both bound the work on a hostile one.
_MAX_NODES = 100_000
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

    ``text``: the document. ``name``: what errors call it, e.g. the file's name. Raises RequestError with
    ``name:line:column`` and what is wrong there.
    """
    if len(text) > MAX_CHARACTERS:
        raise RequestError(f"{name}: {len(text)} characters are more than is read ({MAX_CHARACTERS})")
    try:
        node = yaml.compose(text, Loader=_PlainLoader)
        places: dict[Path, Place] = {(): (1, 1)}
        return YamlText(None if node is None else _data(node, (), places), places, name)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f":{mark.line + 1}:{mark.column + 1}"
        kind = "" if isinstance(error, _Refused) else "is not valid YAML: "
        raise RequestError(f"{name}{place}: {kind}{error.problem}") from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:  # characters that no YAML text may hold
        reason, at = getattr(error, "reason", str(error)), getattr(error, "position", getattr(error, "start", 0))
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise RequestError(f"{name}:{line}:{column}: is not valid YAML: {reason}") from None


def plain_scalar(text: str) -> Any:
    """What YAML 1.2 (core schema) takes an unquoted text for: nothing, truth value, number or text.

    Raises ValueError if a number has more digits than any fact.
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


class _PlainLoader(Composer, yaml.CSafeLoader):
    """Composes nodes from the events of the fast parser and refuses what plain data does not need."""

    def __init__(self, text: str) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)
        self._n_nodes = self._depth = 0

    def get_single_node(self) -> yaml.Node | None:
        self.get_event()  # start of the stream
        node = None if self.check_event(yaml.StreamEndEvent) else self.compose_document()
        if not self.check_event(yaml.StreamEndEvent):
            raise _Refused(self.peek_event(), "a second document begins here; only one is read")
        return node

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()
        self._n_nodes += 1
        if self._n_nodes > _MAX_NODES:
            raise _Refused(event, f"more values than are read ({_MAX_NODES})")
        if self._depth > _MAX_DEPTH:
            raise _Refused(event, f"nested deeper than is read ({_MAX_DEPTH})")
        if isinstance(event, yaml.AliasEvent):
            raise _Refused(event, f"alias *{event.anchor}: repeat the value instead")
        if event.tag is not None:
            raise _Refused(event, f"tag {shown(event.tag)}: only plain values are read")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Refused(yaml.MarkedYAMLError):
    """Valid YAML that is not plain data."""

    def __init__(self, where: Any, problem: str) -> None:
        super().__init__(problem=problem, problem_mark=where.start_mark)


def _data(node: Any, path: Path, places: dict[Path, Place]) -> Any:
    """Data of a node; the place of each value is added to ``places``."""
    places[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_data(part, (*path, number), places) for number, part in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        table: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _Refused(key, "a key is plain text")
            if key.value in table:
                raise _Refused(key, f"key {shown(key.value)} stands here a second time")
            table[key.value] = _data(value, (*path, key.value), places)
        return table
    try:
        return node.value if node.style else plain_scalar(node.value)  # a style: quoted, or a block of text
    except ValueError as error:
        raise _Refused(node, str(error)) from None
