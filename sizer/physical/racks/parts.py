"""What stands in racks, and what racks take besides: racks, PDUs, blanking panels, cords."""

from collections.abc import Iterable, Sequence

import numpy as np

from sizer.base.arrays import Bools, Ints
from sizer.base.identity_cache import cached_by_catalog
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Accessory, Device
from sizer.physical.components import Component
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.racks.placement import FEEDS, RACK_ORDER, RackClass, RackCount, RackLimits, device_needs
from sizer.physical.racks.power import outlet_kind
from sizer.physical.roles import Role
from sizer.physical.violations import Violation, ViolationKind


def rack_classes(devices: Iterable[Component], catalog: Catalog, spare_servers: Ints | int = 0) -> list[RackClass]:
    """Classes of identical devices in placing order; servers to come stand last and take room only."""
    order = {category: i for i, category in enumerate(RACK_ORDER)}
    found = [
        RackClass(part.role, part.item, part.quantity, device_needs(catalog.device(part.item)))
        for part in sorted(devices, key=lambda part: order[part.category])
    ]
    spare = np.asarray(spare_servers)
    if np.count_nonzero(spare):
        last = found[-1]
        assert last.role is Role.GPU_SERVER
        found.append(RackClass(last.role, last.item, np.broadcast_to(spare, last.quantity.shape), last.needs, True))
    return found


def pdu_count(placed: RackCount) -> Ints:
    """PDUs in all new racks."""
    return np.asarray(placed.racks * FEEDS * placed.pdus_per_feed)


def rack_parts(
    platform: Platform, catalog: Catalog, placed: RackCount, limits: RackLimits, components: Sequence[Component]
) -> list[Component]:
    """Racks, PDUs, blanking panels and power cords. A panel closes each rack unit that stays empty in a new rack."""
    pdus = pdu_count(placed)
    # Whole units: heights in the catalogue step by halves, devices take whole ones.
    empty = placed.racks * limits.holds[0] - placed.units_used
    existing, feeds = (PlanNote(PlanNoteKind.EXISTING),), (PlanNote(PlanNoteKind.BOTH_FEEDS),)
    found = [
        Component(Role.RACK, "rack and power", platform.rack.id, placed.racks),
        Component(Role.RACK, "rack and power", platform.rack.id, placed.existing, existing, "existing"),
        Component(Role.RACK_PDU, "rack and power", platform.pdu.id, pdus, feeds),
    ]
    counts: dict[str, Ints] = {"blanking-panel": empty.astype(np.int64)}
    for part in components:
        if part.status != "computed" or part.category not in RACK_ORDER:
            continue
        device = catalog.item(part.item)
        if isinstance(device, Device) and device.power_inlets is not None:
            kind = f"cord-{outlet_kind(device)}"
            counts[kind] = counts.get(kind, np.zeros_like(empty, dtype=np.int64)) + (
                part.quantity * device.power_inlets.value
            )
    parts = _accessories(catalog)
    roles = {"blanking-panel": Role.BLANKING_PANEL, "cord-c13": Role.POWER_CORD, "cord-c19": Role.POWER_CORD}
    for use, quantity in counts.items():
        if use in parts:
            found.append(Component(roles[use], "rack and power", parts[use].id, quantity))
    return found


@cached_by_catalog
def _accessories(catalog: Catalog) -> dict[str, Accessory]:
    """Small parts that can be ordered, by their use."""
    return {item.use: item for item in catalog.accessories.values() if item.orderable}


def depth_violations(platform: Platform, catalog: Catalog, devices: Sequence[Component]) -> dict[Violation, Bools]:
    """Devices that are deeper than the rack; an unknown depth is a question, not a fault."""
    usable = platform.rack.usable_depth_m
    found: dict[Violation, Bools] = {}
    for part in devices:
        item = catalog.item(part.item)
        depth = item.depth_m if isinstance(item, Device) else None
        if usable is not None and depth is not None and depth.value > usable.value and part.quantity.any():
            values = (item.name, depth.value, platform.rack.name, usable.value)
            found[Violation(ViolationKind.TOO_DEEP, values)] = part.quantity > 0
    return found
