"""What drawings and tables say about a rack: what it mainly holds, which racks are equal, its load on the floor."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sizer.base.quantities import NARROW_SPACE, grouped, si
from sizer.physical.plan import PlacedRack

# Colour and words for what a device is, by its category in the plan.
ROLES = {"network": "network", "head node": "other", "storage": "storage", "cooling": "other", "compute": "gpu"}
HOLDS = {"network": "network", "other": "head nodes and cooling", "storage": "storage", "gpu": "servers"}


@dataclass(frozen=True)
class RackKind:
    """Racks that hold the same at the same units; ``racks[0]`` speaks for all."""

    racks: tuple[PlacedRack, ...]

    @property
    def first(self) -> PlacedRack:
        """The rack that is drawn."""
        return self.racks[0]

    @property
    def names(self) -> str:
        """'R01', 'R02 to R04'; names that the customer gave need not follow one another and are all said."""
        if self.first.is_existing or len(self.racks) < 3:
            return ", ".join(rack.name for rack in self.racks)
        return f"{self.first.name} to {self.racks[-1].name}"


def rack_kinds(racks: Sequence[PlacedRack]) -> tuple[RackKind, ...]:
    """Neighbours in the order of the plan that are equal apart from the numbers of their devices."""
    return tuple(RackKind(tuple(group)) for _, group in groupby(racks, key=_contents))


def _contents(rack: PlacedRack) -> object:
    devices = tuple((one.unit, one.height_u, one.item, one.role, one.status) for one in rack.devices)
    return rack.item, rack.is_existing, rack.height_u, rack.empty_units, devices


def main_role(rack: PlacedRack) -> str:
    """Role of what takes most of the rack's units: 'network', 'storage', 'gpu' or 'other'."""
    units = Counter[str]()
    for device in rack.devices:
        units[ROLES[device.category]] += device.height_u
    return max(units, key=lambda role: units[role], default="other")


def at_least(is_lower_bound: bool, text: str) -> str:
    """Text with 'at least' before it where something unknown is left out."""
    return f"at least {text}" if is_lower_bound else text


def watts(power_w: float, is_lower_bound: bool) -> str:
    """Power in words: 'at least' where a draw is unknown, and 'power unknown' where all are."""
    if is_unknown(power_w, is_lower_bound):
        return "power unknown"
    return at_least(is_lower_bound, si(power_w, "W"))


def is_unknown(amount: float, is_lower_bound: bool) -> bool:
    """Whether nothing is known of a draw or a weight: all of it is left out."""
    return is_lower_bound and not amount


def kilograms(weight_kg: float) -> str:
    """Weight rounded to whole kilograms."""
    return f"{grouped(weight_kg)}{NARROW_SPACE}kg"


def weight(rack: PlacedRack) -> str:
    """Weight that the design brings: 'at least' where a part has none, 'weight unknown' where none has one."""
    return weight_text(rack.weight_kg, rack.has_unknown_weight)


def weight_text(weight_kg: float, is_lower_bound: bool) -> str:
    """Weight in words, as ``watts`` has power."""
    if is_unknown(weight_kg, is_lower_bound):
        return "weight unknown"
    return at_least(is_lower_bound, kilograms(weight_kg))


def feeds_text(rack: PlacedRack) -> str:
    """What the feeds of a rack carry after the loss of one; '' where the design brings none."""
    if not rack.feeds:
        return ""
    capacity = si(rack.feed_capacity_w, "W")
    if rack.redundancy == "N":
        return f"all feeds together carry {capacity}"
    if rack.redundancy == "N+1":
        return f"with one feed lost, the others carry {capacity}"
    return f"each feed alone carries {capacity}"


def up_to(power_w: float, is_lower_bound: bool) -> str:
    """Maximum draw of a device or a rack: 'up to 3.50 kW', 'at least 300 W'."""
    return watts(power_w, is_lower_bound) if is_lower_bound else f"up to {si(power_w, 'W')}"
