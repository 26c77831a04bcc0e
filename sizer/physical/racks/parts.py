"""What stands in racks, which racks there are, and what racks take besides: PDUs, blanking panels, cords."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Pdu, Rack
from sizer.physical.components import Component
from sizer.physical.networks.members import Shape
from sizer.physical.notes import PlanNote, PlanNoteKind, Violation, ViolationKind
from sizer.physical.platform import Platform
from sizer.physical.racks import placement
from sizer.physical.racks.power import inlet_of
from sizer.physical.racks.site_rules import most_kg_on_floor
from sizer.physical.roles import Role
from sizer.workload.request import Existing, Limits


@dataclass(frozen=True)
class RackGroup:
    """Racks of one kind that are filled together, by one rule."""

    classes: tuple[placement.RackClass, ...]
    rack: Rack
    pdu: Pdu
    limits: placement.RackLimits
    is_delivered: bool = False  # each device arrives as a rack, with its own feeds


@dataclass(frozen=True)
class RackTotals:
    """Racks of all groups, for all rows."""

    by_group: tuple[placement.RackCount, ...]

    @property
    def racks(self) -> Ints:
        """New racks, those that arrive with their contents included."""
        return np.asarray(np.sum([count.racks for count in self.by_group], axis=0))

    @property
    def pdus(self) -> Ints:
        return np.asarray(np.sum([count.racks * count.pdus_per_rack for count in self.by_group], axis=0))

    @property
    def existing(self) -> Ints:
        """Racks of those that are there that take something."""
        return np.asarray(np.sum([count.existing for count in self.by_group], axis=0))

    @property
    def heaviest_w(self) -> Floats:
        """Most that one new rack draws. [W]"""
        return np.asarray(np.max([count.heaviest_w for count in self.by_group], axis=0))

    @property
    def holds_all(self) -> Bools:
        """False where one device alone exceeds a rack."""
        return np.asarray(np.all([count.holds_all for count in self.by_group], axis=0))


def rack_groups(
    platform: Platform,
    devices: Iterable[Component],
    catalog: Catalog,
    limits: Limits,
    existing: Existing,
) -> tuple[RackGroup, ...]:
    """Racks of a design by what they hold, in placing order.

    Networks, head nodes and storage share racks with the servers unless the site keeps them apart. What arrives as a
    rack stands for itself.
    """
    rules = platform.site
    order = {category: i for i, category in enumerate(placement.RACK_ORDER)}
    parts = sorted(devices, key=lambda part: order[part.category])
    apart = rules.has_network_racks
    kinds: dict[str, list[Component]] = {}
    for part in parts:
        if catalog.device(part.item).delivered is not None:
            name = part.item
        else:
            name = "servers" if not apart or part.category == "compute" else "network"
        kinds.setdefault(name, []).append(part)
    # What arrives as a rack comes last: next fit by class never goes back.
    names = sorted(kinds, key=lambda name: name not in ("network", "servers"))
    groups = []
    for number, name in enumerate(names):
        pdu = platform.network_pdu if name == "network" and platform.network_pdu is not None else platform.pdu
        classes = tuple(
            placement.RackClass(
                p.role,
                p.item,
                p.quantity,
                placement.device_needs(platform.device(catalog, p.item), pdu, rules.feeds),
            )
            for p in kinds[name]
        )
        delivered = catalog.device(classes[0].item).delivered
        rack = platform.rack if delivered is None else catalog.racks[delivered.rack]
        power_w = limits.rack_power_w
        if name == "network":
            # One PDU of a side carries a rack of switches.
            power_w = min(pdu.capacity_w.value, power_w or np.inf)
        rooms = existing.racks if number == 0 and delivered is None else ()
        rule = placement.rack_limits(rack, pdu, power_w, classes, rooms, rules.feeds, most_kg_on_floor(rules, rack))
        groups.append(RackGroup(classes, rack, pdu, rule, delivered is not None))
    return tuple(groups)


def with_later_pdus(
    platform: Platform,
    rows: Shape,
    devices: Sequence[Component],
    pdus: Ints,
    catalog: Catalog,
    limits: Limits,
    existing: Existing,
) -> Shape:
    """The same designs with ports for the PDUs of the racks that servers to come bring; the racks come with them."""
    if not np.count_nonzero(rows.to_come):
        return rows
    grown = [part.of(part.quantity + rows.to_come) if part.role is Role.GPU_SERVER else part for part in devices]
    later = count_groups(rack_groups(platform, grown, catalog, limits, existing), rows.n_servers.size)
    return replace(rows, pdus_to_come=np.maximum(later.pdus - pdus, 0))


def count_groups(groups: Sequence[RackGroup], n_rows: int, at_least: RackTotals | None = None) -> RackTotals:
    """Racks of every group for all rows; no rack has fewer PDUs than in ``at_least``, which counts the same groups."""
    counts = [_count(group, n_rows) for group in groups]
    if at_least is not None:
        counts = [
            replace(count, pdus_per_rack=np.maximum(count.pdus_per_rack, before.pdus_per_rack))
            for count, before in zip(counts, at_least.by_group, strict=True)
        ]
    return RackTotals(tuple(counts))


def _count(group: RackGroup, n_rows: int) -> placement.RackCount:
    if not group.is_delivered:
        return placement.count_racks(group.classes, group.limits, n_rows)
    racks = np.zeros(n_rows, dtype=np.int64)
    heaviest, units = np.zeros((2, n_rows))
    for class_ in group.classes:
        racks = racks + class_.quantity
        heaviest = np.maximum(heaviest, np.where(class_.quantity > 0, class_.needs[2], 0.0))
        units = units + class_.quantity * class_.needs[0]
    none = np.zeros(n_rows, dtype=np.int64)
    return placement.RackCount(racks, none, none, heaviest, units, np.ones(n_rows, dtype=bool))


def place_groups(groups: Sequence[RackGroup]) -> list[tuple[RackGroup, placement.RackFill]]:
    """Racks of one row, group by group, without empty ones."""
    return [(group, fill) for group in groups for fill in _fills(group)]


def _fills(group: RackGroup) -> list[placement.RackFill]:
    if not group.is_delivered:
        return placement.place(group.classes, group.limits)
    return [
        placement.RackFill(None, ((class_.role, class_.item, 1),))
        for class_ in group.classes
        for _ in range(int(class_.quantity[0]))
    ]


def rack_parts(
    catalog: Catalog, groups: Sequence[RackGroup], placed: RackTotals, components: Sequence[Component]
) -> list[Component]:
    """Racks, PDUs, blanking panels and power cords. A panel closes each rack unit that stays empty in a new rack."""
    existing = (PlanNote(PlanNoteKind.EXISTING),)
    found: list[Component] = []
    counts: dict[tuple[str, str], Ints] = {}
    n_rows = placed.racks.size
    empty = np.zeros(n_rows, dtype=np.int64)
    for group, count in zip(groups, placed.by_group, strict=True):
        if group.is_delivered:
            continue
        # Whole units: heights in the catalogue step by halves, devices take whole ones.
        empty = empty + (count.racks * group.limits.holds[0] - count.units_used).astype(np.int64)
        found += [
            Component(Role.RACK, "rack and power", group.rack.id, count.racks),
            Component(Role.RACK, "rack and power", group.rack.id, count.existing, existing, "existing"),
            Component(
                Role.RACK_PDU, "rack and power", group.pdu.id, count.racks * count.pdus_per_rack, _feed_notes(group)
            ),
        ]
    counts["blanking-panel", ""] = empty
    for part in components:
        if part.status != "computed" or part.category not in placement.RACK_ORDER:
            continue
        device = catalog.item(part.item)
        if isinstance(device, Device) and device.power_inlets is not None and device.delivered is None:
            key = ("cord", inlet_of(device))
            counts[key] = counts.get(key, np.zeros(n_rows, dtype=np.int64)) + part.quantity * device.power_inlets.value
    parts = {
        (item.use, "" if item.inlet is None else item.inlet.id): item
        for item in catalog.accessories.values()
        if item.orderable
    }
    roles = {"blanking-panel": Role.BLANKING_PANEL, "cord": Role.POWER_CORD}
    for key, quantity in counts.items():
        if key in parts:
            found.append(Component(roles[key[0]], "rack and power", parts[key].id, quantity))
    # Where all equipment is there, it stands in racks that are there, too.
    devices = [
        part.quantity for part in components if part.status == "computed" and part.category in placement.RACK_ORDER
    ]
    is_bought = np.sum([np.zeros(n_rows, dtype=np.int64), *devices], axis=0) > 0
    bought = [part if part.status == "existing" else part.of(part.quantity * is_bought) for part in found]
    return bought + [
        replace(part, quantity=part.quantity * ~is_bought, notes=existing, status="existing")
        for part in found
        if part.status == "computed" and not is_bought.all()
    ]


def _feed_notes(group: RackGroup) -> tuple[PlanNote, ...]:
    kinds = {
        "2N": PlanNoteKind.BOTH_FEEDS, "N+1": PlanNoteKind.ONE_FEED_SPARE, "N": PlanNoteKind.NO_FEED_SPARE
    }  # fmt: skip
    return (PlanNote(kinds[group.limits.feeds]),)


def mounting_violations(catalog: Catalog, groups: Sequence[RackGroup]) -> dict[Violation, Bools]:
    """Devices that are deeper than the rack or have no outlet on its PDUs; what is unknown is a question, no fault."""
    violations: dict[Violation, Bools] = {}
    for group in groups:
        if group.is_delivered:
            continue
        usable = group.rack.usable_depth_m
        for class_ in group.classes:
            device = catalog.device(class_.item)
            if not class_.quantity.any():
                continue
            if usable is not None and device.depth_m is not None and device.depth_m.value > usable.value:
                values = (device.name, device.depth_m.value, group.rack.name, usable.value)
                violations[Violation(ViolationKind.TOO_DEEP, values)] = class_.quantity > 0
            kind = device.inlet_kind
            if kind is not None and kind.value.id not in group.pdu.outlets:
                violations[Violation(ViolationKind.NO_OUTLET, (device.name, kind.value.name, group.pdu.name))] = (
                    class_.quantity > 0
                )
    return violations
