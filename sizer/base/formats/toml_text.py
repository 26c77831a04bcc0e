"""TOML text of people, read within bounds; and plain data as TOML text, laid out as a person would."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

# The parser's time grows with the square of the parts of a dotted key, and no key is longer than its line: 20,000 parts
# take 20 s, a hundred lines of 200 parts some hundredths of a second.
_MAX_DOTS_SQUARED = 4_000_000


def parse_toml(text: str) -> dict[str, Any]:
    """Data of TOML text from outside.

    Raises
    ------
    ValueError
        If it is not valid TOML, or has keys of so many parts that reading it would take long.
    RecursionError
        If it is nested too deep.
    """
    work = 0
    for number, line in enumerate(text.split("\n"), 1):
        work += line.count(".") ** 2
        if work > _MAX_DOTS_SQUARED:
            raise ValueError(f"too many dots (at line {number}); write nested tables as [headers]")
    return tomllib.loads(text)


def to_toml(data: Mapping[str, Any]) -> str:
    """Data as TOML text. Reading it gives the same data."""
    return "\n".join(_table(data, ())).strip() + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = [f"{_key(key)} = {_value(value)}" for key, value in data.items() if not _is_table(value)]
    for key, value in data.items():
        here = (*path, _key(key))
        if isinstance(value, Mapping) and _is_table(value):
            # A table of tables alone is named by them.
            head = [] if value and all(_is_table(part) for part in value.values()) else ["", f"[{'.'.join(here)}]"]
            lines += [*head, *_table(value, here)]
        elif _is_table(value):
            for part in value:
                lines += ["", f"[[{'.'.join(here)}]]", *_table(part, here)]
    return lines


def _is_table(value: object) -> bool:
    if isinstance(value, Mapping):
        # A short table of plain values, such as a target, reads better in one line.
        return len(value) != 1 or any(isinstance(part, (Mapping, list, tuple)) for part in value.values())
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(part, Mapping) for part in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    # A JSON text is a TOML text but for the delete character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    return _text(str(value))
