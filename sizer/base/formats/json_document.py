"""JSON documents: the heading that each carries, and the one form that each kind of value takes in them."""

import datetime
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from pydantic import BaseModel

from sizer import __version__
from sizer.base.money import round_money

SCHEMA_VERSION = 1
# Digits of a float that every processor computes alike: sums are added in another order where its vectors are wider.
_SAME_DIGITS = 12


def portable(value: float) -> float:
    """A number without the last digits, which depend on the processor.

    Examples
    --------
    >>> portable(0.1 + 0.2), portable(1e15 / 7)
    (0.3, 142857142857000.0)
    """
    return float(f"{value:.{_SAME_DIGITS}g}")


def json_document(kind: str, **content: object) -> dict[str, Any]:
    """Document of one kind as plain data: its heading, then its content in the forms of :func:`to_plain`.

    ``kind``: what the document is, such as "design". ``**content``: its keys and values. Returns what ``json.dumps``
    writes without further help. Raises TypeError if a value has no form in JSON.
    """
    heading = {"kind": kind, "schema_version": SCHEMA_VERSION, "tool_version": __version__}
    return {**heading, **{key: to_plain(value) for key, value in content.items()}}


def fields_of(record: object, *names: str, **more: object) -> dict[str, object]:
    """The named attributes of a record under their own names, then further keys with their values.

    Raises AttributeError if the record lacks one of them.

    Examples
    --------
    >>> fields_of(3 + 4j, "real", size=abs(3 + 4j))
    {'real': 3.0, 'size': 5.0}
    """
    return {**{name: getattr(record, name) for name in names}, **more}


def to_plain(value: object) -> Any:
    """Value as JSON holds it.

    A number that is unknown, without an end or not a number is None: JSON knows neither infinity nor NaN. Money (a
    Decimal) is text with two decimals, because a float would not hold every cent. An estimate is its ``value`` and the
    ``low`` and ``high`` end of its 90 % interval. A record is its fields, an array a list, a date ISO 8601 text.

    Raises TypeError if the value, or one inside it, has no form in JSON.

    Examples
    --------
    >>> from sizer.base.estimate import Estimate
    >>> to_plain({"rate": Estimate.exact(2.0), "price": Decimal("149000"), "wait_s": math.inf})
    {'rate': {'value': 2.0, 'low': 2.0, 'high': 2.0}, 'price': '149000.00', 'wait_s': None}
    """
    match value:
        case Enum():
            return to_plain(value.value)
        case None | bool() | int() | str():
            return value
        case float():
            return portable(value) if math.isfinite(value) else None
        case np.ndarray() | np.generic():
            return to_plain(value.tolist())
        case Decimal():
            return f"{round_money(value):f}"
        case Fraction():
            return portable(float(value))
        case datetime.date():
            return value.isoformat()
        case BaseModel():
            return value.model_dump(mode="json")
        case Mapping():
            return {key: to_plain(part) for key, part in value.items()}
        case tuple() | list():
            return [to_plain(part) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def parse_json(text: str) -> Any:
    """Plain data of JSON text.

    Raises ValueError if it is not JSON, or an object names a key twice: which of the two is meant nobody knows. Raises
    RecursionError if it is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_keys_once)


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in table if names.count(name) > 1)
        raise ValueError(f"the key {repeated[:60]!r} is given twice; keep one of them")
    return table


def json_text(document: object) -> str:
    """Canonical text of plain data: sorted keys, an indent of two spaces, a line feed at the end."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


# Key of a document that tells whether anything in it was changed since it was written.
DIGEST = "content_digest"


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data with the digest of all of it, by which :func:`is_sealed` tells a later change."""
    return {**document, DIGEST: _digest(document)}


def is_sealed(document: Mapping[str, Any]) -> bool:
    """Whether a document is as :func:`sealed` left it. Order of keys, indents and line ends do not count."""
    try:
        return bool(document.get(DIGEST) == _digest(document))
    except (ValueError, RecursionError):  # NaN, or deeper than any document
        return False


def _digest(document: Mapping[str, Any]) -> str:
    text = json_text({key: value for key, value in document.items() if key != DIGEST})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
