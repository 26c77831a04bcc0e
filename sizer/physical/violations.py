"""What cannot be built, as keys with their values."""

from dataclasses import dataclass
from enum import Enum

from sizer.base.quantities import grouped, plain, si


class ViolationKind(Enum):
    """A rule of the physical design that some sizes of a platform break; behind each its values."""

    TREE_TOO_LARGE = "tree-too-large"  # network, switch
    NO_SUBNET_MANAGER = "no-subnet-manager"  # kind of link
    DEVICE_EXCEEDS_RACK = "device-exceeds-rack"
    TOO_DEEP = "too-deep"  # device, its depth, rack, its usable depth [m]
    NODE_COUNT = "node-count"  # storage, fewest and most nodes
    NEEDS_LIQUID = "needs-liquid"  # device, heat that coolant must carry [W]
    RACK_POWER = "rack-power"  # device, its draw, what a rack of the room gets [W]
    SHELF_FEED = "shelf-feed"  # device, phases, lowest and highest voltage of its power shelves
    FLOOR_LOAD = "floor-load"  # device, its load on the floor, what the floor carries [kg/m²]
    NO_OUTLET = "no-outlet"  # device, kind of its inlets, PDU
    ONE_WORKSTATION = "one-workstation"  # device
    SLOWER_TRAINING = "slower-training"  # servers of a larger size, samples/s of it, of the design


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
    ViolationKind.NEEDS_LIQUID: (
        "{0} is liquid-cooled and the room has air alone (site.cooling = 'air'); water that takes {1} per unit would "
        "be enough"
    ),
    ViolationKind.RACK_POWER: "{0} draws {1} and a rack gets {2}; limits.rack_power_w = {1} would be enough",
    ViolationKind.SHELF_FEED: (
        "the power shelves of {0} take {1} phases at {2} to {3}, and the room has others (site.feed_volts, "
        "site.feed_phases); such circuits would be enough"
    ),
    ViolationKind.FLOOR_LOAD: (
        "{0} puts {1} on the floor, which carries {2}; site.floor_kg_per_m2 = {1} would be enough"
    ),
    ViolationKind.ONE_WORKSTATION: "{0} is a workstation, which is not connected to others; name a server",
    ViolationKind.SLOWER_TRAINING: "{0} servers train {1} samples/s, fewer than the {2} samples/s of the design",
    ViolationKind.NO_OUTLET: "{0} has {1} inlets and {2} no outlet for them; name a PDU that has them in site.pdu",
}
# Units of the numbers among the values; others are plain.
_UNITS = {
    ViolationKind.NEEDS_LIQUID: ("", "W"),
    ViolationKind.RACK_POWER: ("", "W", "W"),
    ViolationKind.SHELF_FEED: ("", "", "V", "V"),
    ViolationKind.FLOOR_LOAD: ("", "kg/m²", "kg/m²"),
}


def violation_error_text(violation: Violation) -> str:
    """A broken rule in words."""
    units = _UNITS.get(violation.kind, ("",) * len(violation.values))
    values = (_shown(value, unit) for value, unit in zip(violation.values, units, strict=True))
    return _ERROR_TEXTS[violation.kind].format(*values)


def _shown(value: str | float, unit: str) -> str | float:
    if isinstance(value, str):
        return value
    if not unit and float(value).is_integer():
        return grouped(value)
    if unit == "W":
        return si(value, "W")
    return f"{grouped(value)} {unit}" if unit else plain(value)
