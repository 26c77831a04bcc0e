"""Numbers as they are printed: a number of three digits stands for all numbers that round to it."""

import re
from dataclasses import dataclass

GAP = "\u202f\u00a0"
NUMBER = rf"\d{{1,3}}(?:[{GAP},]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?"
# What may stand behind a number: a prefix of ten and the unit.
PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "days": 86400.0, "day": 86400.0}
SPELLED = dict(
    zip(
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        range(13),
        strict=True,
    )
)
DIGITS = 3
NEARLY = 1e-9


@dataclass(frozen=True)
class Span:
    """All values that a printed number may stand for."""

    low: float
    high: float

    def agrees(self, other: "Span") -> bool:
        """Whether both may stand for one value."""
        slack = NEARLY * max(abs(self.high), abs(other.high), 1e-30)
        return self.low <= other.high + slack and other.low <= self.high + slack

    def times(self, factor: float) -> "Span":
        """In another unit."""
        return Span(self.low * factor, self.high * factor)


def exactly(value: float) -> Span:
    """A number that is not rounded."""
    return Span(value, value)


def plain(text: str) -> float:
    """The number that is printed."""
    word = text.strip().lower()
    return float(SPELLED[word]) if word in SPELLED else float(re.sub(f"[{GAP},]", "", text))


def rounded(text: str, digits: int = DIGITS) -> Span:
    """Values that are printed so; what stands behind ± is rounded to the same place."""
    value, place = plain(text), _place(text, digits)
    return Span(value - place / 2, value + place / 2)


def count(text: str) -> Span:
    """A count is never rounded."""
    return exactly(plain(text))


def in_unit(text: str, unit: str, digits: int = DIGITS) -> Span:
    """Values in watts, bytes, bytes a second, samples a second or seconds."""
    if unit in SECONDS:
        return rounded(text, digits).times(SECONDS[unit])
    found = re.fullmatch(r"([kMGTP]?)(?:W|B|B/s|Wh)", unit)
    return rounded(text, digits).times(PREFIXES[found[1]] if found else 1.0)


def share(text: str) -> Span:
    """A share printed in percent; "over 99 %" is all above what rounds to 99 %, "under 0.1 %" what rounds to 0."""
    if "under" in text:
        return Span(0.0, 0.001)
    number = re.search(NUMBER, text)
    return Span(0.995, 1.0) if "over" in text else rounded(number[0]).times(0.01)


def chance(text: str) -> Span:
    """A probability printed in percent, which is never rounded up; "over 99 %" is from 99.5 %."""
    if "under" in text:
        return Span(0.0, 0.01)
    if "over" in text:
        return Span(0.995, 1.0)
    number = re.search(NUMBER, text)
    return Span(plain(number[0]), plain(number[0]) + 1).times(0.01)


def _place(text: str, n_digits: int) -> float:
    """Unit of the last digit that counts, of a number of so many digits."""
    digits = re.sub(f"[{GAP},]", "", text)
    if "." in digits:
        return float(10.0 ** -len(digits.split(".")[1]))
    zeros = len(digits) - len(digits.rstrip("0"))
    return float(10.0 ** min(zeros, max(0, len(digits) - n_digits)))
