"""TOML text of plain data, as a person would lay it out: tables of their own, short ones in a line."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any


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
