"""Values as people type them: quantities with units, and text shown literally."""

import re

from sizer.base.quantities import (
    AMOUNT,
    BYTES,
    SAMPLES_PER_S,
    TOKENS,
    TOKENS_PER_S,
    QuantityKind,
    decimal_reading,
    duration,
    grouped,
    parse,
    si,
    significant,
    tokens_text,
)
from sizer.base.units import TIB

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|$:~&^=@\"'/])")
# Where the browser would see an address and make a link of it, escaped or not; a mark without width breaks it.
_ADDRESSES = re.compile(r"(?<=www)(?=\.)|(?<=http:)(?=//)|(?<=https:)(?=//)|(?=@)", re.IGNORECASE)
_NO_LINK = "\u2060"
_LINE_ENDS = re.compile(r"\s*[\r\n\u2028\u2029]+\s*")
# Significant digits that a typed number keeps.
_DIGITS = 10


def plain(text: object) -> str:
    """Text for a Markdown element that shows every character as it is: no link, no markup, no formula."""
    joined = _ADDRESSES.sub(_NO_LINK, _LINE_ENDS.sub(" ", str(text)))
    return _MARKDOWN.sub(r"\\\1", joined)


def written(kind: QuantityKind, value: object) -> str:
    """A quantity as a person would type it, and such that reading it gives the same value: 22.2e12 -> '22.2 TB'."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    if not kind.unit:
        text = f"{value:,.15g}"
        return text if _reads_as(kind, text, value) else decimal_reading(text)
    if kind in (SAMPLES_PER_S, TOKENS_PER_S):  # "400,000 tokens/s", not "400 ktokens/s"
        text = f"{value:,.15g} {kind.unit}"
        return text if _reads_as(kind, text, value) else f"{decimal_reading(repr(value))} {kind.unit}"
    # The largest unit in which the number is 1 or more and short; binary units after decimal ones.
    units = [unit for unit, factor in kind.factors.items() if abs(value) >= factor]
    for unit in sorted(units, key=lambda name: ("iB" in name, -kind.factors[name])):
        text = f"{value / kind.factors[unit]:.{_DIGITS}g}"
        if "e" not in text and len(text) <= _DIGITS - 2 and _reads_as(kind, f"{text} {unit}", value):
            return f"{text} {unit}"
    text = f"{value!r} {kind.unit}"
    return text if _reads_as(kind, text, value) else f"{decimal_reading(repr(value))} {kind.unit}"


def _reads_as(kind: QuantityKind, text: str, value: float) -> bool:
    try:
        return parse(kind, text) == value
    except ValueError:
        return False  # three decimals that read as thousands, too


def understood(kind: QuantityKind, value: float, typed: object) -> str:
    """What a typed quantity was read as."""
    if kind is SAMPLES_PER_S:
        unit = next((unit for unit in ("images/s", "sentences/s") if str(typed).endswith(unit)), kind.unit)
        return f"{grouped(value) if value >= 1000 else significant(value, 4)} {unit}"
    if kind is AMOUNT:
        return grouped(value)
    if kind is TOKENS:
        return tokens_text(value)
    if kind is BYTES:
        return f"{si(value, 'B', 4)} = {significant(value / TIB)} TiB" if value >= TIB else f"{grouped(value)} B"
    if kind.unit == "s":
        return duration(value)
    return si(value, kind.unit, 4)
