"""One acceptance test, and the text of its numbers."""

import math
from dataclasses import dataclass
from typing import Literal

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, duration, si

Area = Literal["network", "storage", "compute", "training", "power", "capacity"]


@dataclass(frozen=True)
class Criterion:
    """Limit of a measured value: no laxer than the design's requirement, no stricter than its parts can pass."""

    value: float
    unit: str
    is_least: bool  # at least, else at most
    required: float | None = None  # what the requirement of the design needs of this test; None: nothing
    bound: float = math.inf  # most that ports pass in a raw test, or that storage holds

    @property
    def text(self) -> str:
        """The limit in words."""
        return at_least(self.value, self.unit) if self.is_least else at_most(self.value, self.unit)


def least(sound: float, unit: str, required: float | None = None, bound: float = math.inf) -> Criterion:
    """Limit from below: what sound parts reach, at least what is required, at most what the parts can pass."""
    return Criterion(min(max(sound, required or 0.0), bound), unit, True, required, bound)


def most(sound: float, unit: str, required: float | None = None) -> Criterion:
    """Limit from above: what the requirement allows, else what sound parts stay below."""
    return Criterion(sound if required is None else required, unit, False, required)


@dataclass(frozen=True)
class AcceptanceTest:
    """One test."""

    key: str
    area: Area
    run: str  # what to run, with the tool where a common open one exists
    expect: str  # expected result with its unit
    passes: str  # "at least 11.6 GB/s"
    basis: str  # origin of the numbers
    sources: tuple[str, ...] = ()  # keys of catalog/sources.toml
    criterion: Criterion | None = None  # of a measured value, which ``passes`` prints; None: a count, a state, a record
    about: str = ""  # what several tests share, which heads them: workload, software and settings


def number(value: float, unit: str) -> str:
    """Value with its unit; seconds in the most readable unit."""
    return duration(value) if unit == "s" else si(value, unit)


def interval(estimate: Estimate, unit: str) -> str:
    """Median and 90 % interval; only the value where it has no spread."""
    value, low, high = estimate
    if low == high:
        return number(value, unit)
    texts = [number(end, unit) for end in (value, low, high)]
    # A common unit is printed once.
    if len({text.rpartition(NARROW_SPACE)[2] for text in texts}) == 1:
        texts[1:] = [text.rpartition(NARROW_SPACE)[0] for text in texts[1:]]
    return in_interval(*texts)


def in_interval(value: str, low: str, high: str) -> str:
    """Three texts as a value with its 90 % interval."""
    return f"{value} (90\u202f% interval {low} to {high})"


def at_least(value: float, unit: str) -> str:
    """Limit from below."""
    return f"at least {number(value, unit)}"


def at_most(value: float, unit: str) -> str:
    """Limit from above."""
    return f"at most {number(value, unit)}"
