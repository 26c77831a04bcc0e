"""Values of designs side by side, and their differences in words or with their signs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, grouped, si, significant
from sizer.drawings.racks import at_least
from sizer.present import words

SAME = "same"
WITHIN = "within the interval"
OTHER = "other"
OTHER_WORKLOAD = "other workload"
_MINUS = "\u2212"


@dataclass(frozen=True)
class Value:
    """What a column shows, and the number by which it differs from the baseline."""

    text: str
    number: float | None = None
    interval: Estimate | None = None
    is_share: bool = False  # differs by percentage points
    is_text: bool = False  # a name, which is the same or another
    of: str = ""  # two values of different things have no difference
    unit: str = ""  # in SI, of a number whose printed unit depends on its size
    is_bound: bool = False  # it reads "at least"
    name: str = ""  # in front of the number

    @classmethod
    def count(cls, number: float, text: str | None = None) -> "Value":
        return cls(grouped(number) if text is None else text, float(number))

    @classmethod
    def estimated(cls, interval: Estimate, unit: str, of: str) -> "Value":
        return cls(words.estimate(interval, unit), float(interval.value), interval, of=of, unit=unit)

    @classmethod
    def amount(cls, number: float, unit: str, *, is_bound: bool = False) -> "Value":
        return cls(at_least(is_bound, si(number, unit)), number, unit=unit, is_bound=is_bound)

    def in_unit_of(self, like: float) -> "Value":
        """The value printed in the unit that another one takes."""
        if not self.unit or self.number is None:
            return self
        if self.interval is not None:
            return replace(self, text=self.name + words.estimate(self.interval, self.unit, like=like))
        return replace(self, text=at_least(self.is_bound, si(self.number, self.unit, like=like)))


def in_one_unit(values: Sequence[Value]) -> list[Value]:
    """Values side by side, each in the unit of the largest of its kind."""
    largest: dict[str, float] = {}
    for value in values:
        if value.unit and value.number is not None and math.isfinite(value.number):
            largest[value.unit] = max(largest.get(value.unit, 0.0), value.number)
    return [value.in_unit_of(largest[value.unit]) if value.unit in largest else value for value in values]


def difference(value: float, base: float) -> str:
    """Difference of two numbers in percent with its sign: '+12 %', '−3.5 %', 'same'."""
    if value == base:
        return SAME
    if not base:
        return ""
    share = 100 * (value / base - 1)
    if abs(share) < 0.05:
        return SAME
    return f"{'+' if share > 0 else _MINUS}{significant(abs(share), 2)}{NARROW_SPACE}%"


def count_difference(value: float, base: float) -> str:
    """Difference of two counts with its sign: '+8', '−1', 'same'."""
    if value == base:
        return SAME
    return f"{'+' if value > base else _MINUS}{grouped(abs(value - base), 1 if (value - base) % 1 else 0)}"


def difference_text(value: Value, base: Value, is_count: bool) -> str:
    """The difference in words or with its sign; empty where none can be told."""
    if value.number is None or base.number is None:
        if value.is_text and base.is_text:
            return SAME if value.text == base.text else OTHER
        return ""
    if value.of != base.of:
        return "other targets" if value.is_share else OTHER_WORKLOAD
    if value.number != base.number and _overlap(value.interval, base.interval):
        return WITHIN
    if value.is_share:
        return points(value.number, base.number)
    told = count_difference if is_count else difference
    return told(value.number, base.number)


def _overlap(one: Estimate | None, other: Estimate | None) -> bool:
    return one is not None and other is not None and bool(one.low <= other.high and other.low <= one.high)


def points(value: float, base: float) -> str:
    """Difference of two shares in percentage points: '+2 points', 'same'."""
    points = round(100 * value) - round(100 * base)
    return (
        f"{'+' if points > 0 else _MINUS}{abs(points)} {'point' if abs(points) == 1 else 'points'}" if points else SAME
    )
