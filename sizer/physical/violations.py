"""What cannot be built, as keys with their values."""

from dataclasses import dataclass
from enum import Enum

from sizer.base.quantities import plain


class ViolationKind(Enum):
    """A rule of the physical design that some sizes of a platform break; behind each its values."""

    TREE_TOO_LARGE = "tree-too-large"  # network, switch
    NO_SUBNET_MANAGER = "no-subnet-manager"  # kind of link
    DEVICE_EXCEEDS_RACK = "device-exceeds-rack"
    TOO_DEEP = "too-deep"  # device, its depth, rack, its usable depth [m]
    NODE_COUNT = "node-count"  # storage, fewest and most nodes


@dataclass(frozen=True)
class Violation:
    """One rule that is broken, with the values that its words need."""

    kind: ViolationKind
    values: tuple[str | float, ...] = ()


_ERROR_TEXTS = {
    ViolationKind.TREE_TOO_LARGE: "the {0} needs more ports than the largest tree of {1} has",
    ViolationKind.NO_SUBNET_MANAGER: "no switch of the {0} fabric and no head node can run a subnet manager",
    ViolationKind.DEVICE_EXCEEDS_RACK: "a device exceeds what one rack holds",
    ViolationKind.TOO_DEEP: "{0} is {1} m deep; {2} takes {3} m",
    ViolationKind.NODE_COUNT: "{0} has {1} to {2} nodes",
}


def violation_error_text(violation: Violation) -> str:
    """A broken rule in words."""
    values = (plain(value) if isinstance(value, float) else value for value in violation.values)
    return _ERROR_TEXTS[violation.kind].format(*values)
