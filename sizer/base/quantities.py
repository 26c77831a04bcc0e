"""Quantities as people write them: "22.2 TB", "113 kB", "12 h", "100 Gbit/s". Parsed to SI floats and written back."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sizer.base import units
from sizer.base.faults import limits_text
from sizer.base.locale import NARROW_SPACE as NARROW_SPACE
from sizer.base.locale import current_locale

_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": units.KIB, "Mi": units.MIB, "Gi": units.GIB, "Ti": units.TIB, "Pi": 2.0**50}
# Spaces, commas, apostrophes and underscores group thousands: 40 000, 40,000; other commas mark decimals.
_GROUP = r"[ \u00a0\u2009\u202f,_'\u2019]"
_NUMBER = (
    rf"([+-]?(?:[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+(?:\.\d+)?(?!\d)|\d{{1,3}}(?:\.\d{{3}}){{2,}}(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?:[eE][+-]?\d+)?)"
)
_AMBIGUOUS = re.compile(r"([+-]?[1-9]\d{0,2})\.(\d{3})")
# After the number of a rate: 40k, 1.5M, 2 million. A letter joins its number; apart, it is a unit broken in two.
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_SCALE_WRITTEN = r"(?:([kM]|\s*(?:thousand|million|billion))(?:\s+|$))?"
# Prefixes of printed numbers, and the units that take them; metres are printed without.
_PRINTED_PREFIXES = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18))
# Digits of a float that a sum keeps.
_EXACT_DIGITS = 12
_PREFIXED = ("B", "B/s", "bit/s", "W", "FLOP", "FLOP/s", "Wh")
# Upper limit, factor and name of the units of a time.
_TIMES = (
    (0.09995, 1e-3, "ms"),
    (99.5, 1.0, "s"),
    (5970.0, units.MINUTE_S, "min"),
    (72 * units.HOUR_S, units.HOUR_S, "h"),
)
# No quantity of this program comes near; a longer text is not a quantity, and slow to match.
_MAX_TEXT = 60


@dataclass(frozen=True)
class QuantityKind:
    """A kind of quantity: the units it is written in, its range in SI and an example for error messages."""

    name: str
    unit: str  # SI unit that a bare number is in
    factors: dict[str, float]
    low: float
    high: float
    example: str
    hint: str = ""
    is_whole: bool = False


def _prefixed(unit: str, binary: bool = False) -> dict[str, float]:
    prefixes = {**_DECIMAL, **(_BINARY if binary else {})}
    return {prefix + unit: factor for prefix, factor in prefixes.items()}


BYTES = QuantityKind("a size", "B", _prefixed("B", binary=True), 1, 1e18, "22.2 TB", "b is a bit and B a byte")
BYTES_PER_S = QuantityKind(
    "a data rate",
    "B/s",
    {
        **_prefixed("B/s", binary=True),
        **{name: factor / units.BITS_PER_BYTE for name, factor in _prefixed("bit/s").items()},
    },
    1,
    1e15,
    "3.2 GB/s or 100 Gbit/s",
    "write Gbit/s for bits and GB/s for bytes",
)
SECONDS = QuantityKind(
    "a time",
    "s",
    {
        "s": 1.0,
        "min": units.MINUTE_S,
        "h": units.HOUR_S,
        "d": units.DAY_S,
        "day": units.DAY_S,
        "days": units.DAY_S,
        "weeks": units.WEEK_S,
        "week": units.WEEK_S,
        "hours": units.HOUR_S,
        "minutes": units.MINUTE_S,
    },
    1e-3,
    1e9,
    "12 h",
    "m could be minutes or months: write min",
)
WATTS = QuantityKind("a power", "W", {"W": 1.0, "kW": 1e3, "MW": 1e6}, 1, 1e9, "17.3 kW")
SAMPLES_PER_S = QuantityKind(
    "a rate of samples",
    "samples/s",
    {
        **_prefixed("samples/s"),
        **_prefixed("images/s"),
        **_prefixed("sentences/s"),
    },
    1e-6,
    1e12,
    "52274 images/s",
)
_COUNTS = {"": 1.0, "k": 1e3, "M": 1e6, "million": 1e6, "B": 1e9, "billion": 1e9, "T": 1e12, "trillion": 1e12}
TOKENS = QuantityKind(
    "a number of tokens",
    "tokens",
    {
        **{name: factor for name, factor in _COUNTS.items() if name},
        **{f"{name} tokens".strip(): factor for name, factor in _COUNTS.items()},
    },
    1e3,
    1e15,
    "1 trillion tokens",
)
TOKENS_PER_S = QuantityKind(
    "a rate of tokens",
    "tokens/s",
    _prefixed("tokens/s") | _prefixed("tok/s") | {"tokens/day": 1 / units.DAY_S},
    1e-3,
    1e12,
    "400000 tokens/s",
)
REQUESTS_PER_S = QuantityKind(
    "a rate of requests",
    "requests/s",
    {
        "requests/s": 1.0,
        "requests/min": 1 / units.MINUTE_S,
        "requests/h": 1 / units.HOUR_S,
        "requests/day": 1 / units.DAY_S,
    },
    1e-6,
    1e9,
    "50 requests/s",
)
LATENCY = QuantityKind("a latency", "s", {"s": 1.0, "ms": 1e-3}, 1e-4, 3600, "50 ms")
AMOUNT = QuantityKind("an amount", "", {"": 1.0}, 1, 1e12, "500,000")
FLOP = QuantityKind("a count of operations", "FLOP", _prefixed("FLOP"), 1e3, 1e16, "8.2 GFLOP")


def number_kind(low: float, high: float, *, is_whole: bool = False) -> QuantityKind:
    """A number without a unit, from ``low`` to ``high``."""
    example = f"{max(low, min(high, 2.0 if is_whole else 1.5)):.15g}"
    return QuantityKind("a whole number" if is_whole else "a number", "", {"": 1.0}, low, high, example, "", is_whole)


def parse(kind: QuantityKind, written: object) -> float:
    """SI value of a quantity as written.

    ``written``: "22.2 TB", "22,2 TB" or a bare number, which is in the SI unit of the kind. Raises ValueError naming
    what was written, what is allowed and an example; ambiguous text gets a suggestion.
    """
    if isinstance(written, bool) or not isinstance(written, (int, float, str)):
        raise ValueError(f"expected {kind.name} such as '{kind.example}', got {type(written).__name__}")
    if isinstance(written, str):
        value = _parse_text(kind, written)
    else:
        try:
            value = float(written)
        except OverflowError:
            raise ValueError(f"must be at most {si(kind.high, kind.unit)}") from None
    if not math.isfinite(value) or not kind.low <= value <= kind.high:
        raise ValueError(f"{_shown(written)} {_limit_broken(kind, value)}; write for example '{kind.example}'")
    if kind.is_whole and value != round(value):
        raise ValueError(f"{_shown(written)} is not a whole number; write for example '{kind.example}'")
    return value


def _limit_broken(kind: QuantityKind, value: float) -> str:
    if not kind.unit:
        return limits_text(kind.low, kind.high, value)
    if value > kind.high:
        return f"must be at most {si(kind.high, kind.unit)}"
    if value < kind.low:
        return "must be greater than 0" if value <= 0 else f"must be at least {kind.low:g} {kind.unit}"
    return "must be a number"


def _shown(written: object) -> str:
    text = repr(written)
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"


def _parse_text(kind: QuantityKind, text: str) -> float:
    has_scales = kind in (SAMPLES_PER_S, TOKENS_PER_S) or not kind.unit
    scales = _SCALE_WRITTEN if has_scales else "()"
    match = (
        re.fullmatch(rf"\s*{_NUMBER}{scales}\s*([A-Za-z/]*(?: tokens)?)\s*", text) if len(text) <= _MAX_TEXT else None
    )
    if match is None:
        raise ValueError(f"expected {kind.name} such as '{kind.example}', got {_shown(text)}")
    number, scale, unit = match[1], match[2] or "", match[3]
    ambiguous = _AMBIGUOUS.fullmatch(number)
    # Nobody groups thousands of kilobytes: 150.528 kB is a decimal, unless it has a needless zero as 22.500 TB has.
    if ambiguous and (
        number.endswith("0") or not (kind in (BYTES, BYTES_PER_S, FLOP) and kind.factors.get(unit, 1) > 1)
    ):
        raise ValueError(
            f"{_shown(text)} is ambiguous: a point before three digits may group thousands or mark decimals; "
            f"write {ambiguous[1]}{ambiguous[2]} or {decimal_reading(number)}"
        )
    if unit and unit not in kind.factors:
        raise ValueError(
            f"unknown unit in {_shown(text)}{_unit_suggestion(kind, unit)}; "
            f"expected {kind.name} such as '{kind.example}'"
        )
    return _value(number) * _SCALES[(scale or "").strip()] * (kind.factors[unit] if unit else 1.0)


def decimal_reading(number: str) -> str:
    """A number with a point before three digits, written so that it can only be a decimal: 40.0, 40.25, 1.1250."""
    text = number.rstrip("0")
    return f"{text}0" if text.endswith(".") or re.fullmatch(r".*\.\d{3}", text) else text


def _value(number: str) -> float:
    """A number in digits, with grouped thousands or a decimal comma."""
    if re.match(rf"[+-]?[1-9]\d{{0,2}}(?:{_GROUP}\d{{3}})+(?!\d)", number):
        return float(re.sub(_GROUP, "", number))
    if re.match(r"[+-]?\d{1,3}(?:\.\d{3}){2,}", number):
        return float(number.replace(".", ""))
    return float(number.replace(",", "."))


def _unit_suggestion(kind: QuantityKind, unit: str) -> str:
    same = [name for name in kind.factors if name.lower() == unit.lower()]
    if same:
        return f", did you mean {' or '.join(same)}? {kind.hint}".rstrip()
    return f" ({kind.hint})" if kind.hint else ""


def validator(kind: QuantityKind) -> Callable[[Any], float]:
    """Validator for pydantic that parses a quantity of ``kind``, its first argument."""
    return partial(parse, kind)


def _bounds(kind: QuantityKind) -> Any:
    """Those that the validator holds a quantity to, for the schema of a request and the help of a form."""
    return Field(ge=kind.low, le=kind.high)


Bytes = Annotated[float, _bounds(BYTES), BeforeValidator(validator(BYTES))]
BytesPerS = Annotated[float, _bounds(BYTES_PER_S), BeforeValidator(validator(BYTES_PER_S))]
Seconds = Annotated[float, _bounds(SECONDS), BeforeValidator(validator(SECONDS))]
Tokens = Annotated[float, _bounds(TOKENS), BeforeValidator(validator(TOKENS))]
TokensPerS = Annotated[float, _bounds(TOKENS_PER_S), BeforeValidator(validator(TOKENS_PER_S))]
RequestsPerS = Annotated[float, _bounds(REQUESTS_PER_S), BeforeValidator(validator(REQUESTS_PER_S))]
Latency = Annotated[float, _bounds(LATENCY), BeforeValidator(validator(LATENCY))]
Watts = Annotated[float, _bounds(WATTS), BeforeValidator(validator(WATTS))]
SamplesPerS = Annotated[float, _bounds(SAMPLES_PER_S), BeforeValidator(validator(SAMPLES_PER_S))]
Flop = Annotated[float, _bounds(FLOP), BeforeValidator(validator(FLOP))]


def with_decimal_sign(number: str) -> str:
    """Number printed with a point, with the decimal sign of the document's locale."""
    return number.replace(".", current_locale().decimal_sign)


def grouped(value: float | Decimal, digits: int = 0) -> str:
    """Number with its thousands separated as in the document's locale: 52 300, or 52,300."""
    locale = current_locale()
    signs = str.maketrans({",": locale.thousands_separator, ".": locale.decimal_sign})
    return f"{value:,.{digits}f}".translate(signs)


def plain(value: float, digits: int = 6) -> str:
    """Number to so many significant digits without needless zeros: 2.5, 12."""
    return with_decimal_sign(f"{value:.{digits}g}")


def significant(value: float, digits: int = 3) -> str:
    """Number rounded to ``digits`` significant digits, thousands grouped, no exponent: 0.0312, 4.20, 52 300."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = rounded_to(value, digits)
    # Rounding can carry into the next digit (9.996 -> 10.0); the decimals follow the rounded number.
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return grouped(rounded, decimals)


def rounded_to(value: float, digits: int) -> float:
    """Value to ``digits`` significant digits, a tie away from zero, whatever its unit: 31,850 W are 31.9 kW."""
    if value == 0 or not math.isfinite(value):
        return value
    # The last bits of a sum make no tie.
    exact = Decimal(f"{value:.{max(digits, _EXACT_DIGITS)}g}")
    return float(exact.quantize(Decimal((0, (1,), exact.adjusted() - digits + 1)), ROUND_HALF_UP))


def scaled_unit(value: float, unit: str, digits: int = 3) -> tuple[float, str]:
    """Factor and unit in which a value is printed: (1e9, "GB/s") for 12e9 B/s, (3600.0, "h") for 34,000 s.

    The value is rounded before the prefix is chosen, so 999,999 B is printed in MB. Times of "s" are printed in the
    unit that a person would use. Units that take no prefix (images/s, U, %, h) have the factor 1.
    """
    if unit == "s":
        times = _TIMES if value > 0 else _TIMES[1:]  # no time at all is 0 s
        return next(((factor, name) for limit, factor, name in times if value < limit), (units.DAY_S, "d"))
    if unit not in _PREFIXED or value == 0 or not math.isfinite(value):
        return 1.0, unit
    size = abs(rounded_to(value, digits))
    prefix, factor = next((p for p in reversed(_PRINTED_PREFIXES) if size >= p[1]), _PRINTED_PREFIXES[0])
    return factor, prefix + unit


def number_and_unit(value: float, unit: str, digits: int = 3, like: float | None = None) -> tuple[str, str]:
    """A value as printed, number and unit apart: ("12.0", "GB/s"), ("9.40", "h"). ``unit`` as for ``scaled_unit``.

    ``like`` is the value that chooses the unit, so that compared values share one: 0.95 kW and 38.0 kW.
    """
    factor, printed = scaled_unit(value if like is None else like, unit, digits)
    if unit in _PREFIXED:
        value = rounded_to(value, digits)
    return significant(value / factor, digits), printed


def si(value: float, unit: str, digits: int = 3, like: float | None = None) -> str:
    """Number with its unit and prefix: 12.0 GB/s, 52 300 images/s. Seconds stay seconds; see ``duration``.

    ``like`` as for ``number_and_unit``.
    """
    number, printed = (significant(value, digits), unit) if unit == "s" else number_and_unit(value, unit, digits, like)
    return f"{number}{NARROW_SPACE}{printed}"


def stated(value: float, unit: str) -> str:
    """What a request states, not rounded as an estimate is: '1.05', '200 ms', '12.5 kW'. ``unit`` as for ``si``.

    Examples
    --------
    >>> [stated(*each).replace(NARROW_SPACE, " ") for each in ((0.2, "s"), (1.25, "s"), (32_500.0, "W"), (1.05, ""))]
    ['200 ms', '1.25 s', '32.5 kW', '1.05']
    """
    factor, printed = scaled_unit(value, unit, _EXACT_DIGITS)
    if unit == "s" and value < 1:
        factor, printed = 1e-3, "ms"
    return f"{plain(value / factor)}{NARROW_SPACE}{printed}".strip()


def probability_text(probability: float) -> str:
    """A probability in percent that claims no certainty and is never rounded up: 52 %, over 99 %, under 1 %."""
    # A probability that is 0.9 but for the last bit is 90 %.
    hundredths = math.floor(100 * probability + 1e-7)
    if probability >= 0.995:
        return f"over 99{NARROW_SPACE}%"
    if hundredths < 1:
        return f"under 1{NARROW_SPACE}%"
    return f"{hundredths}{NARROW_SPACE}%"


def duration(seconds: float, like: float | None = None) -> str:
    """Time in the unit a person would use: 47 s, 12.5 min, 9.4 h, 3.2 d. ``like`` as for ``number_and_unit``."""
    return NARROW_SPACE.join(number_and_unit(seconds, "s", like=like))


def by_count(count: float, one: str, many: str) -> str:
    """The wording that fits a count: ``one`` for exactly 1."""
    return one if count == 1 else many


def tokens_text(count: float) -> str:
    """Tokens as the field counts them: '1 trillion tokens', '4.19 million tokens'."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if count >= size:
            return f"{significant(count / size)} {name} tokens"
    return f"{grouped(count)} tokens"
