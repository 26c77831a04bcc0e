"""A claim before it is known what overturns it, and the words that claims share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from sizer.base.quantities import NARROW_SPACE, plain, significant
from sizer.questions.verdict.reversal import Lever, Trials
from sizer.sizing.design.evaluated_design import WorkloadOnDesign

# ``storage`` counts places in the order of kinds of storage, from drives to a clustered file system.
Unit = Literal["B", "B/s", "share", "ratio", "servers", "storage"]
HITACHI = "hitachi-dl-2019"


@dataclass(frozen=True)
class Draft:
    """A claim with the inputs that could turn it round; ``is_held`` asks it of a changed request."""

    key: str
    workload: str
    title: str
    value: float
    threshold: float
    at_most: bool
    unit: Unit
    holds: bool
    sentence: str
    reason: str
    sources: tuple[str, ...]
    levers: tuple[Lever, ...]
    is_held: Callable[[Lever, float], bool | None]  # None: no design meets the changed request
    effect: str  # what turning it does: "it would no longer fit the memory"

    def is_turned(self, lever: Lever, value: float) -> bool | None:
        """Whether the claim is turned round at a value of an input."""
        found = self.is_held(lever, value)
        return None if found is None else found is not self.holds


@dataclass(frozen=True)
class Measure:
    """The number of a claim beside its threshold."""

    value: float
    threshold: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        """Whether the number is on the claim's side."""
        return self.value <= self.threshold if self.at_most else self.value >= self.threshold


def by_measure(
    trials: Trials, place: int, measure: Callable[[WorkloadOnDesign], Measure]
) -> Callable[[Lever, float], bool | None]:
    """Asks a claim of the design that a changed request leads to; ``place`` is the workload that the claim is about."""

    def is_held(lever: Lever, value: float) -> bool | None:
        found = trials.sized(lever, value)
        return None if found is None else measure(found[place]).holds

    return is_held


def levers(trials: Trials, numbers: Iterable[int], *keys: tuple[str, bool]) -> tuple[Lever, ...]:
    """Inputs of some workloads; each key with whether it goes up."""
    return tuple(trials.lever(number, key, upwards=up) for number in numbers for key, up in keys)


def percent(share: float) -> str:
    """A share with two digits: 3.4 %, 12 %; small ones 'under 0.1 %'."""
    if share < 1e-9:  # nothing but rounding
        return f"0{NARROW_SPACE}%"
    if share < 0.001:
        return "under {share}".format(share=f"0.1{NARROW_SPACE}%")
    return f"{plain(100 * share, 2) if share < 1 else significant(100 * share)}{NARROW_SPACE}%"


def times(ratio: float) -> str:
    """A ratio with two decimals."""
    return significant(ratio, 3)
