"""TOML text of people, read within bounds; and plain data as TOML text."""

import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w

# The parser's time grows with the square of the parts of a dotted key, and no key is longer than its line: 20,000 parts
# take 20 s, a hundred lines of 200 parts some hundredths of a second.
_MAX_DOTS_SQUARED = 4_000_000


def parse_toml(text: str) -> dict[str, Any]:
    """Data of TOML text from outside.

    Raises ValueError if it is not valid TOML, or has keys of so many parts that reading it would take long. Raises
    RecursionError if it is nested too deep.
    """
    work = 0
    for number, line in enumerate(text.split("\n"), 1):
        work += line.count(".") ** 2
        if work > _MAX_DOTS_SQUARED:
            raise ValueError(f"too many dots (at line {number}); write nested tables as [headers]")
    return tomllib.loads(text)


def to_toml(data: Mapping[str, Any]) -> str:
    """Data as TOML text. Reading it gives the same data."""
    return tomli_w.dumps(data)
