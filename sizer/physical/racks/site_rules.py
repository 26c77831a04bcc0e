"""What a room allows: feeds, cooling, load of the floor; and the PDUs that its circuits can feed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Pdu, Rack
from sizer.physical.components import Component, Quantities
from sizer.physical.notes import Violation, ViolationKind
from sizer.physical.racks.power import device_power
from sizer.physical.roles import Role
from sizer.workload.request import Cooling, FeedRedundancy, Site

# Growth of the cost of equipment of one kind with its capacity: the six-tenths rule (R. Williams, Chem. Eng. 54, 1947).
_COST_EXPONENT = 0.6


@dataclass(frozen=True)
class SiteRules:
    """What a room allows; ``None``: the request does not state it."""

    feeds: FeedRedundancy = "2N"
    has_network_racks: bool = False
    cooling: Cooling | None = None
    feed_volts: float | None = None
    feed_phases: int | None = None
    floor_kg_per_m2: float | None = None

    def feeds_pdu(self, pdu: Pdu) -> bool:
        """Whether the circuits of the room feed a PDU; one of unknown voltage or phases only where none is stated."""
        return self._takes(
            None if pdu.low_v is None else pdu.low_v.value,
            None if pdu.high_v is None else pdu.high_v.value,
            None if pdu.phases is None else pdu.phases.value,
        )

    def feeds_shelves(self, device: Device) -> bool:
        """Whether the circuits of the room feed the power shelves of a system that arrives as a rack."""
        inlet = None if device.inlet_kind is None else device.inlet_kind.value
        return inlet is None or self._takes(inlet.low_v.value, inlet.high_v.value, inlet.phases)

    def _takes(self, low_v: float | None, high_v: float | None, phases: int | None) -> bool:
        if self.feed_volts is not None and (low_v is None or high_v is None or not low_v <= self.feed_volts <= high_v):
            return False
        return self.feed_phases is None or self.feed_phases == phases


ANY_SITE = SiteRules()

# A device by its catalogue id, the server as it is fitted: what is in it decides what it draws.
DeviceOf = Callable[[str], Device]


# One object for equal rooms: what platforms keep is found by identity.
def _rules(*values: object) -> SiteRules:
    return SiteRules(*values)  # type: ignore[arg-type]


def site_rules(site: Site) -> SiteRules:
    """What the room of a request allows."""
    return _rules(site.feeds, site.network_racks, site.cooling, site.feed_volts, site.feed_phases, site.floor_kg_per_m2)


def liquid_heat_w(device: Device) -> float:
    """Most of a device's heat that a coolant carries away. [W]"""
    share = device.liquid_heat_fraction
    return 0.0 if share is None else share.value * device_power(device).max_w


def total_liquid_w(devices: Sequence[Component], device_of: DeviceOf, n_rows: int) -> Floats:
    """Most heat that coolant carries away, of all devices. [W]"""
    total = np.zeros(n_rows)
    for part in devices:
        total = total + part.quantity * liquid_heat_w(device_of(part.item))
    return total


def room_violations(
    rules: SiteRules,
    catalog: Catalog,
    device_of: DeviceOf,
    devices: Sequence[Component],
    rack_power_w: float | None,
) -> Iterator[tuple[Violation, Bools]]:
    """Devices that the room cannot cool, feed or carry, each with what would be enough."""
    for part in devices:
        if not np.count_nonzero(part.quantity):
            continue
        device, there = device_of(part.item), part.quantity > 0
        if rules.cooling == "air" and liquid_heat_w(device) > 0:
            yield Violation(ViolationKind.NEEDS_LIQUID, (device.name, liquid_heat_w(device))), there
        draw_w = device_power(device).max_w
        if rack_power_w is not None and draw_w > rack_power_w:
            yield Violation(ViolationKind.RACK_POWER, (device.name, draw_w, rack_power_w)), there
        if device.delivered is None:
            continue
        inlet = None if device.inlet_kind is None else device.inlet_kind.value
        if inlet is not None and not rules.feeds_shelves(device):
            values = (device.name, float(inlet.phases), inlet.low_v.value, inlet.high_v.value)
            yield Violation(ViolationKind.SHELF_FEED, values), there
        load = floor_load_kg_per_m2(
            device.weight_kg.value if device.weight_kg else 0.0, catalog.racks[device.delivered.rack]
        )
        if rules.floor_kg_per_m2 is not None and load is not None and load > rules.floor_kg_per_m2:
            yield Violation(ViolationKind.FLOOR_LOAD, (device.name, load, rules.floor_kg_per_m2)), there


def floor_load_kg_per_m2(weight_kg: float, rack: Rack) -> float | None:
    """Load of a rack on its footprint; None where the footprint is not known. [kg/m²]"""
    if rack.width_m is None or rack.depth_m is None:
        return None
    return weight_kg / (rack.width_m.value * rack.depth_m.value)


def most_kg_on_floor(rules: SiteRules, rack: Rack) -> float:
    """Load of devices that a rack may take: its rating, or less where the floor carries less. [kg]"""
    if rules.floor_kg_per_m2 is None or rack.width_m is None or rack.depth_m is None:
        return rack.load_kg.value
    own = rack.weight_kg.value if rack.weight_kg is not None else 0.0
    return min(rack.load_kg.value, rules.floor_kg_per_m2 * rack.width_m.value * rack.depth_m.value - own)


def coolant_units(
    devices: Sequence[Component], catalog: Catalog, device_of: DeviceOf, n_rows: int, only: str | None = None
) -> list[Component]:
    """Coolant distribution units that take the liquid heat of every row; none where nothing is liquid-cooled.

    Of one kind as many as are needed, and one more, as servers stop where their coolant does (N+1, assumed): of the
    kind of which they cost the least. ``only`` is the id of the single kind that may be taken.
    """
    liquid_w = total_liquid_w(devices, device_of, n_rows)
    units = [unit for unit in catalog.cooling.values() if unit.id == only or (only is None and unit.orderable)]
    if not units or not np.count_nonzero(liquid_w):
        return []
    capacity_w = np.array([unit.capacity_w.value for unit in units])[:, None]
    counts = np.where(liquid_w > 0, np.ceil(liquid_w / capacity_w - 1e-9) + 1, 0).astype(np.int64)
    least = (counts * capacity_w**_COST_EXPONENT).argmin(axis=0)
    return [
        Component(Role.COOLANT_UNIT, "cooling", unit.id, np.where(least == index, counts[index], 0))
        for index, unit in enumerate(units)
    ]


def coolant_parts(counted: Quantities) -> list[Component]:
    """Coolant distribution units of a design, by kind."""
    return [part for part in counted.components if part.role is Role.COOLANT_UNIT]
