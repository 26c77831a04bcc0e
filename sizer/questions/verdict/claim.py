"""A claim about a design: its number, its threshold and what was found."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from sizer.base.quantities import NARROW_SPACE, plain, significant
from sizer.sizing.design.evaluated_design import WorkloadOnDesign

ClaimKey = Literal[
    "one-server",
    "simple-storage",
    "slow-fabric",
    "double-gpus",
    "gpus-wait",
    "fits-memory",
    "usual-link",
    "storage-idles",
    "hosts-first",
]
# ``storage`` counts places in the order of kinds of storage, from drives to a clustered file system.
ClaimUnit = Literal["B", "B/s", "share", "ratio", "servers", "storage"]
# Source of the claims: D. Pascuzzi, "GPU Deep Learning Cluster Considerations".
HITACHI = "hitachi-dl-2019"


@dataclass(frozen=True)
class Claim:
    """One claim in favour of the simpler design, and whether it holds."""

    key: ClaimKey  # stays the same in files
    workload: str  # its name; "" where the claim is about the whole request
    holds: bool
    value: float
    threshold: float
    at_most: bool  # the claim holds where the value is at most the threshold; False: at least
    unit: ClaimUnit
    # The claim, what was found and how its numbers come about, in words of the locale in use.
    facts: Callable[[], tuple[str, str, str]] = field(compare=False, repr=False)
    sources: tuple[str, ...]  # keys of catalog/sources.toml


def claim_of_threshold(
    key: ClaimKey,
    unit: ClaimUnit,
    model: WorkloadOnDesign,
    value: float,
    threshold: float,
    facts: Callable[[], tuple[str, str, str]],
    sources: Iterable[str],
    *,
    at_most: bool = True,
) -> Claim:
    """Claim about one workload that compares a number of its design with a threshold."""
    holds = value <= threshold if at_most else value >= threshold
    name = model.work.request.name
    return Claim(key, name, holds, value, threshold, at_most, unit, facts, tuple(sources))


def share_text(share: float) -> str:
    """A share with two digits: 3.4 %, 12 %; small ones 'under 0.1 %'."""
    if share < 1e-9:  # nothing but rounding
        return f"0{NARROW_SPACE}%"
    if share < 0.001:
        return f"under 0.1{NARROW_SPACE}%"
    return f"{plain(100 * share, 2) if share < 1 else significant(100 * share)}{NARROW_SPACE}%"
