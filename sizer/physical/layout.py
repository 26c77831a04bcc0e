"""Lays out one design: places devices, connects ports, measures cables, feeds inlets; room left for servers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import accumulate, count
from operator import attrgetter

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Cable, Device, Pdu, Server
from sizer.physical.components import Component, Quantities
from sizer.physical.networks.cables import CableChoice, choose_cables, splitters
from sizer.physical.networks.counts import wiring
from sizer.physical.networks.links import ZERO_U, LinkGroup, NumberRange, connect
from sizer.physical.networks.members import AS_USUAL, NO_NUMBERS, NetworkMembers, Wiring, shape
from sizer.physical.networks.ports import fabric_numbers
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.plan import (
    CABLE_CATEGORY,
    NAME_PREFIXES,
    CableRun,
    PlacedDevice,
    PlacedRack,
    Plan,
    PlanInputs,
    Status,
    stock_length_m,
)
from sizer.physical.platform import Platform
from sizer.physical.quantities import NO_LIMITS, NOTHING_EXISTING
from sizer.physical.racks.feed_loads import few_supplies
from sizer.physical.racks.feeds import PowerFeed, feeds, shelf_feeds
from sizer.physical.racks.parts import RackGroup, place_groups, rack_groups, with_later_pdus
from sizer.physical.racks.placement import SLACK, RackClass, RackFill, device_needs
from sizer.physical.racks.positions import DevicePlaces, device_places, link_lengths_m
from sizer.physical.racks.power import device_power
from sizer.physical.racks.site_rules import DeviceOf
from sizer.physical.roles import NetworkRole, Role
from sizer.workload.request import Existing, ExistingRack, Fabric, Limits


def packed_racks(plan: Plan) -> int:
    """New racks by first fit of the largest devices first, within units, kilograms, watts and outlets of each rack.

    The rule of the plan keeps kinds together, so that its cables are short and one device more moves nothing; it may
    take more racks. Systems that arrive as racks and racks that are there are left out.
    """
    return sum(_packed(plan, number) for number, group in enumerate(plan.rack_groups) if not group.is_delivered)


def _packed(plan: Plan, number: int) -> int:
    group = plan.rack_groups[number]
    there = {device.number for rack in plan.racks if rack.is_existing for device in rack.devices}
    kinds = {(class_.role, class_.item): class_.needs for class_ in group.classes}
    placed = [
        (device.role, device.item)
        for device in plan.devices
        if (device.role, device.item) in kinds and device.number not in there
    ]
    holds = group.limits.holds
    shares = {kind: float((needs[holds > 0] / holds[holds > 0]).max()) for kind, needs in kinds.items()}
    left: list[Floats] = []
    full = dict.fromkeys(kinds, 0)  # so many racks hold no more of a kind, and never will
    for kind in sorted(placed, key=lambda one: -shares[one]):
        while full[kind] < len(left) and not np.all(left[full[kind]] + SLACK >= kinds[kind]):
            full[kind] += 1
        if full[kind] == len(left):
            left.append(np.array(holds, dtype=float))
        left[full[kind]] -= kinds[kind]
    return len(left)


# More cages than a device has.
MOST_CAGES = 4_096


def planned_cables(
    runs: Sequence[LinkGroup], lengths_m: Sequence[Floats], cables: tuple[Cable, ...]
) -> list[tuple[tuple[CableChoice, ...], Ints]]:
    """Choices of each run, and the number of each link's choice.

    ``runs``: all links of a design. ``lengths_m``: lengths of the links of each run. [m]
    """
    shared = _splitter_lengths_m(runs, lengths_m, cables)
    found = []
    for run, own_m, splitter_m in zip(runs, lengths_m, shared, strict=True):
        splits = ~np.isnan(splitter_m)
        number = np.zeros(own_m.size, dtype=np.int64)
        choices: list[CableChoice] = []
        for of, length_m, may_split in ((splits, splitter_m, True), (~splits, own_m, False)):
            if of.any():
                more, numbers = choose_cables(cables, run.kind, length_m[of], run.cages, may_split=may_split)
                number[of] = len(choices) + numbers
                choices += more
        found.append((tuple(choices), number))
    return found


def _splitter_lengths_m(
    runs: Sequence[LinkGroup], lengths_m: Sequence[Floats], cables: tuple[Cable, ...]
) -> list[Floats]:
    """Length of the splitter that a link runs over, by the longest leg of its cage; nan where it runs over none. [m]"""
    shared = [np.full(length_m.size, np.nan) for length_m in lengths_m]
    together: dict[object, list[int]] = {}  # kind and cages -> runs: one splitter may serve any two of them
    for index, run in enumerate(runs):
        if splitters(cables, run.kind, run.cages) is not None:
            together.setdefault((run.kind.id, run.cages), []).append(index)
    for members in together.values():
        first = runs[members[0]]
        kind = splitters(cables, first.kind, first.cages)
        assert kind is not None
        device, port = (
            np.concatenate([getattr(runs[i], f"{'ab'[kind.plug_end]}_{part}") for i in members])
            for part in ("device", "port")
        )
        length_m = np.concatenate([lengths_m[i] for i in members])
        _, cage = np.unique(device * MOST_CAGES + port // kind.ports_each, return_inverse=True)
        longest_m = np.zeros(cage.max(initial=-1) + 1)
        np.maximum.at(longest_m, cage, length_m)
        is_split: Bools = (np.bincount(cage) == kind.ports_each) & (longest_m <= kind.reach_m)
        found = np.where(is_split, longest_m, np.nan)[cage]
        for i, part in zip(members, np.split(found, np.cumsum([lengths_m[i].size for i in members])[:-1]), strict=True):
            shared[i] = part
    return shared


RACKS_PER_ROW = 10


def building_plan(
    platform: Platform,
    counted: Quantities,
    n_servers: int,
    storage_nodes: int,
    *,
    catalog: Catalog,
    limits: Limits = NO_LIMITS,
    existing: Existing = NOTHING_EXISTING,
    fabric: Fabric = AS_USUAL,
    racks_per_row: int = RACKS_PER_ROW,
    standing: Plan | None = None,
) -> Plan:
    """Lay out one design.

    ``counted``: of one row: the plan places and joins exactly what is counted. ``n_servers``, ``storage_nodes``: as for
    ``quantities``. [-] ``catalog``, ``limits``, ``existing``, ``fabric``: as for ``quantities``. ``racks_per_row``:
    racks side by side in the room. [-] ``standing``: a smaller design of the same platform whose links stay where they
    can. Places are not kept.
    """
    platform = platform.of_size(n_servers)
    rows = shape(platform, np.array([n_servers]), np.array([storage_nodes]), fabric)
    n_pdus = sum(int(part.quantity[0]) for part in counted.components if part.role is Role.RACK_PDU)
    devices = _device_parts(counted, catalog)
    rows = with_later_pdus(platform, rows, devices, np.array([n_pdus]), catalog, limits, existing)
    wires = wiring(platform, rows, fabric, np.array([n_pdus]))
    groups = rack_groups(platform, devices, catalog, limits, existing)
    classes = [class_ for group in groups for class_ in group.classes]
    numbers, first = {}, 0
    for group in classes:
        numbers[group.role] = NumberRange(first, int(group.quantity[0]))
        first += int(group.quantity[0])
    names = _names(classes, wires)
    runs = connect(wires, numbers, {} if standing is None else _standing(standing, names))
    a_device, b_device = (
        np.concatenate([NO_NUMBERS, *(getattr(run, end) for run in runs)]) for end in ("a_device", "b_device")
    )
    links = np.bincount(np.concatenate([a_device[a_device >= 0], b_device]), minlength=first)
    switches = {count.role for count in wires.switches}
    n_network = sum(int(group.quantity[0]) for group in classes if group.role in switches)
    filled = place_groups(groups)
    fills = [fill for _, fill in filled]
    places = device_places(fills, classes, links, n_network, existing.racks, racks_per_row)
    placed = _placed(devices, classes, names, places, counted, catalog, platform)
    racks = _racks(groups, filled, placed, places, existing, counted, catalog, platform)
    a_port = np.concatenate([NO_NUMBERS, *(run.a_port for run in runs)])
    # Racks that arrive with their contents bring power shelves, whose ports end inside.
    pdu_racks = np.array([n for n, of in enumerate(racks) if not of.is_delivered for _ in of.feeds], dtype=np.int64)
    pdu_rack = np.where(a_device == ZERO_U, pdu_racks[np.minimum(a_port, pdu_racks.size - 1)] if n_pdus else -1, -1)
    lengths_m = link_lengths_m(places, platform.rack, a_device, b_device, pdu_rack)
    ends = accumulate(run.a_device.size for run in runs)
    of_runs = [lengths_m[end - run.a_device.size : end] for run, end in zip(runs, ends, strict=True)]
    planned = planned_cables(runs, of_runs, tuple(catalog.cables.values()))
    cables = [
        CableRun(run, of_run, choices, number)
        for run, of_run, (choices, number) in zip(runs, of_runs, planned, strict=True)
    ]
    return Plan(
        devices=placed,
        racks=racks,
        cables=tuple(cables),
        components=_with_cables(counted.components, cables),
        questions=tuple(dict.fromkeys(c.question for cable in cables for c in cable.choices if c.question)),
        warnings=tuple(_warnings(placed, racks, cables, catalog, partial(platform.device, catalog))),
        rack_groups=groups,
        inputs=PlanInputs(platform, n_servers, storage_nodes, limits, existing, fabric),
        catalog=catalog,
    )


def _device_parts(counted: Quantities, catalog: Catalog) -> list[Component]:
    """Devices of one row, what is there and what is bought as one, in the order in which they were counted."""
    whole: dict[tuple[Role, str], Component] = {}
    for part in counted.components:
        if isinstance(catalog.item(part.item), Device):
            same = whole.get((part.role, part.item))
            quantity = part.quantity if same is None else part.quantity + same.quantity
            whole[part.role, part.item] = replace(part, quantity=quantity)
    return list(whole.values())


def _placed(
    devices: Sequence[Component],
    classes: Sequence[RackClass],
    names: Sequence[str],
    standing: DevicePlaces,
    counted: Quantities,
    catalog: Catalog,
    platform: Platform,
) -> tuple[PlacedDevice, ...]:
    categories = {part.role: part.category for part in devices}
    there = {(p.role, p.item): int(p.quantity[0]) for p in counted.components if p.status == "existing"}
    counts: dict[Role, int] = {}
    placed: list[PlacedDevice] = []
    racks, units, heights = standing.rack.tolist(), standing.unit.tolist(), standing.height_u.tolist()
    for group in classes:
        item = platform.device(catalog, group.item)
        power, category = device_power(item), categories[group.role]
        weight = item.weight_kg.value if item.weight_kg is not None else None
        existing = there.get((group.role, group.item), 0)
        first = counts.get(group.role, 0)
        last = counts[group.role] = first + int(group.quantity[0])
        for index in range(first, last):
            number = len(placed)
            status: Status = "existing" if index < existing else "computed"
            placed.append(
                PlacedDevice(
                    number,
                    names[number],
                    group.role,
                    category,
                    group.item,
                    status,
                    racks[number],
                    units[number],
                    heights[number],
                    weight,
                    power,
                )
            )
    return tuple(placed)


def _names(classes: Sequence[RackClass], wires: Wiring) -> list[str]:
    own = _switch_names(wires)
    counts: dict[Role, int] = {}
    names = []
    for group in classes:
        first = counts.get(group.role, 0)
        last = counts[group.role] = first + int(group.quantity[0])
        switches = own.get(group.role)
        names += switches if switches is not None else [_name(group.role, index) for index in range(first, last)]
    return names


def _standing(plan: Plan, names: Sequence[str]) -> dict[tuple[int, int], tuple[int, int]]:
    """Links of a standing plan by the device numbers of this one; what has no device here is left out."""
    number = {name: index for index, name in enumerate(names)}
    here = [number.get(device.name, -1) for device in plan.devices]
    devices = {}
    for cable in plan.cables:
        run = cable.run
        ends = (run.a_device.tolist(), run.a_port.tolist(), run.b_device.tolist(), run.b_port.tolist())
        for a, a_port, b, b_port in zip(*ends, strict=True):
            devices[a if a < 0 else here[a], a_port] = (here[b], b_port)
    return devices


def _name(role: Role, index: int) -> str:
    return (
        f"{NAME_PREFIXES[role]}-{index + 1:03d}"
        if role is Role.GPU_SERVER
        else f"{NAME_PREFIXES[role]}-{index + 1:02d}"
    )


def _switch_names(wires: Wiring) -> dict[Role, list[str]]:
    """Names of the switches of networks that are several planes: "leaf-r2-01", "back-end-a-01"."""
    found: dict[Role, list[str]] = {}
    for part in wires.members:
        if len(part.planes) < 2:
            continue
        for plane in part.planes:
            counts = (plane.tree.leaves, plane.tree.spines, plane.tree.cores)
            for role, switches in zip(part.roles, counts, strict=True):
                names = [f"{NAME_PREFIXES[role]}-{plane.key.short}-{n + 1:02d}" for n in range(int(switches[0]))]
                found.setdefault(role, []).extend(names)
    return found


def _racks(
    groups: Sequence[RackGroup],
    filled: Sequence[tuple[RackGroup, RackFill]],
    placed: Sequence[PlacedDevice],
    standing: DevicePlaces,
    existing: Existing,
    counted: Quantities,
    catalog: Catalog,
    platform: Platform,
) -> tuple[PlacedRack, ...]:
    members: list[list[PlacedDevice]] = [[] for _ in filled]
    for device in placed:
        members[device.rack].append(device)
    n_pdus = _pdus_per_rack(groups, filled, counted)
    taken_names = {room.name for room in existing.racks}
    new_names = (name for n in count(1) if (name := f"R{n:02d}") not in taken_names)
    racks: list[PlacedRack] = []
    for number, ((group, fill), inside) in enumerate(zip(filled, members, strict=True)):
        inside.sort(key=attrgetter("unit"))
        room = None if fill.existing is None else existing.racks[fill.existing]
        racks.append(
            PlacedRack(
                name=room.name if room is not None else next(new_names),
                item=group.rack.id,
                is_existing=room is not None,
                row=int(standing.row[number]),
                column=int(standing.column[number]),
                height_u=int(group.rack.height_u.value),
                devices=tuple(inside),
                empty_units=_empty_units(group, room, inside),
                feeds=_feeds(group, inside, n_pdus.get(id(group), 0), catalog, platform) if room is None else (),
                own_weight_kg=_own_weight_kg(group, room),
                redundancy=group.limits.feeds if not group.is_delivered else "2N",
                is_delivered=group.is_delivered,
            )
        )
    return tuple(racks)


def _pdus_per_rack(
    groups: Sequence[RackGroup], filled: Sequence[tuple[RackGroup, RackFill]], counted: Quantities
) -> dict[int, int]:
    """PDUs of a new rack by the identity of its group; they are counted group by group, with equally many a rack."""
    racks = [sum(of is group and fill.existing is None for of, fill in filled) for group in groups]
    lines: list[int] = []
    before = ""
    for part in (part for part in counted.components if part.role is Role.RACK_PDU):
        # What is there of a group follows what is bought of it.
        if part.status == "existing" and before == "computed":
            lines[-1] += int(part.quantity[0])
        else:
            lines.append(int(part.quantity[0]))
        before = part.status
    pdus = iter(lines)
    return {id(group): next(pdus) // n for group, n in zip(groups, racks, strict=True) if n and not group.is_delivered}


def _empty_units(group: RackGroup, room: ExistingRack | None, there: Sequence[PlacedDevice]) -> tuple[int, ...]:
    """Units that stay empty; a system that arrives as a rack arrives closed."""
    if group.is_delivered:
        return ()
    taken = {unit for device in there for unit in range(device.unit, device.unit + device.height_u)}
    height = int(group.rack.height_u.value)
    usable = range(1, height + 1) if room is None else range(room.first_free_u, room.first_free_u + room.free_u)
    return tuple(unit for unit in usable if unit not in taken)


def _feeds(
    group: RackGroup, there: Sequence[PlacedDevice], n_pdus: int, catalog: Catalog, platform: Platform
) -> tuple[PowerFeed, ...]:
    items = [(one.number, platform.device(catalog, one.item)) for one in there]
    if group.is_delivered:
        return tuple(feed for number, device in items for feed in shelf_feeds(number, device))
    return feeds(items, n_pdus, group.pdu, group.limits.feeds) if n_pdus else ()


def _own_weight_kg(group: RackGroup, room: ExistingRack | None) -> float | None:
    """Weight of the rack itself; 0 where it is there already, or part of what arrives. [kg]"""
    if room is not None or group.is_delivered:
        return 0.0
    return group.rack.weight_kg.value if group.rack.weight_kg is not None else None


def _with_cables(components: Sequence[Component], cables: Sequence[CableRun]) -> tuple[Component, ...]:
    """Components with the measured cables in the place of the planned ones."""
    quantities: dict[tuple[Role, str, tuple[PlanNote, ...]], Fraction] = {}
    cages = _Cages()
    for cable in cables:
        counts = np.bincount(cable.choice, minlength=len(cable.choices))
        for number, (choice, links) in enumerate(zip(cable.choices, counts.tolist(), strict=True)):
            modules = {item for item, _ in choice.modules}
            for item, pieces in choice.items:
                key = (cable.run.role, item, choice.part_notes)
                more = cages.filled(cable, number, item) if item in modules else links * pieces
                quantities[key] = quantities.get(key, Fraction(0)) + more
    # Links of one role are all there, or all bought.
    theirs = {part.role: part.status for part in components if part.category == CABLE_CATEGORY}
    measured = []
    sums: dict[str, Fraction] = {}  # a splitter may serve links of two roles
    for (role, item, notes), total in quantities.items():
        before = sums.get(item, Fraction(0))
        sums[item] = before + total
        quantity = math.ceil(sums[item]) - math.ceil(before)
        status = theirs.get(role, "computed")
        measured.append(Component(role, CABLE_CATEGORY, item, np.array([quantity]), notes, status))
    others = [part for part in components if part.category != CABLE_CATEGORY]
    position = next((i for i, part in enumerate(others) if part.category == "rack and power"), len(others))
    return (*others[:position], *measured, *others[position:])


class _Cages:
    """Cages that have their module already: two ports of a cage share one, whatever their links are for."""

    def __init__(self) -> None:
        self._filled: dict[str, Ints] = {}

    def filled(self, cable: CableRun, number: int, item: str) -> Fraction:
        """Modules of a kind that the links of one choice add."""
        run, of = cable.run, cable.choice == number
        ends = ((run.a_device[of], run.a_port[of]), (run.b_device[of], run.b_port[of]))
        added = 0
        for (device, port), (module, ports_each) in zip(ends, cable.choices[number].modules, strict=True):
            if module != item:
                continue
            known = self._filled.get(item, NO_NUMBERS)
            codes = np.unique(device * MOST_CAGES + port // ports_each)
            new = codes[~np.isin(codes, known)]
            added += new.size
            self._filled[item] = np.concatenate([known, new])
        return Fraction(added)


def _warnings(
    placed: Sequence[PlacedDevice],
    racks: Sequence[PlacedRack],
    cables: Sequence[CableRun],
    catalog: Catalog,
    device_of: DeviceOf,
) -> Iterator[PlanNote]:
    for item in dict.fromkeys(device.item for device in placed):
        device = device_of(item)
        at_a_desk = isinstance(device, Server) and device.is_workstation
        if device.power_inlets is not None and device.power_inlets.value == 1 and not at_a_desk:
            yield PlanNote(PlanNoteKind.SINGLE_CORDED, (device.name,))
        if device.power_inlets is None and device_power(device).max_w > 0:
            yield PlanNote(PlanNoteKind.INLETS_UNKNOWN, (device.name,))
        stated = device.power_max_w
        if stated is not None:
            other = max(stated.alternates, key=lambda fact: float(fact.value), default=None)
            if other is not None and other.value > stated.value:
                # What the other one is of decides whether it counts: a draw, or the rating of a supply.
                planned, what = (float(stated.value), stated.basis), other.note or other.where
                yield PlanNote(PlanNoteKind.HIGHER_MAXIMUM, (device.name, *planned, float(other.value), what))
    for few in few_supplies(racks, device_of):
        values = (few.name, few.supplies, few.remaining, few.needed or 0, few.feeds_needed or 0, few.cap_w or 0.0)
        yield PlanNote(PlanNoteKind.FEW_SUPPLIES, values)
    for cable in cables:
        for number, choice in enumerate(cable.choices):
            stock = stock_length_m(choice, catalog.cables)
            longest = float(cable.length_m[cable.choice == number].max(initial=0.0))
            if stock is not None and longest > stock + 1e-9:
                yield PlanNote(PlanNoteKind.CABLE_TOO_SHORT, (cable.run.role, longest, stock))


# More servers than a rack has units.
_MANY = 10_000


@dataclass(frozen=True)
class ServerRoom:
    """Servers that can be added without a further switch, a further rack or further feeds."""

    leaf_ports_free: int | None  # of the compute fabric; None: the design has none
    by_ports: int | None
    free_units: int
    by_units: int | None  # None: the height of the server is not known
    by_power: int | None  # of ``by_units``: as many as the feeds carry and have outlets for. None: not known
    power_is_known: bool  # False: ``by_power`` is what the known draws leave at most

    @property
    def servers(self) -> int:
        """Servers that ports, rack units and power all allow, as far as they are known."""
        return min((count for count in (self.by_ports, self.by_units, self.by_power) if count is not None), default=0)


def server_room(plan: Plan, rack_power_w: float | None = None) -> ServerRoom:
    """Room for further GPU servers in a laid-out design.

    ``rack_power_w``: what the request allows one rack [W].

    Ports: the largest number of servers at which every plane of the compute fabric has the switches that it has now.
    Only ports of leaves count; those of spines lead to leaves. Units and power: rack by rack, whole servers.
    """
    free, by_ports = _by_ports(plan)
    server = plan.inputs.platform.server
    draw, height = device_power(server), server.height_u
    by_units, by_power = 0, 0
    for rack in plan.racks:
        units = len(rack.empty_units) // int(np.ceil(height.value)) if height is not None else 0
        by_units += units
        carried_w = min((watts for watts in (rack.feed_capacity_w, rack_power_w) if watts), default=0.0)
        if rack.is_existing or not draw.max_w:
            by_power += units
        else:
            carried = int(max(carried_w - rack.max_w, 0.0) // draw.max_w)
            by_power += min(units, carried, _by_outlets(rack, server, plan.inputs.platform.pdu))
    is_known = draw.is_known and not any(rack.is_existing or rack.has_unknown_power for rack in plan.racks)
    return ServerRoom(
        leaf_ports_free=free,
        by_ports=by_ports,
        free_units=sum(len(rack.empty_units) for rack in plan.racks),
        by_units=None if height is None else by_units,
        by_power=None if height is None or not draw.max_w else by_power,
        power_is_known=is_known,
    )


def _by_outlets(rack: PlacedRack, server: Server, pdu: Pdu) -> int:
    """Servers whose inlets the free outlets on either side of a rack take; many where no side must take them alone."""
    if rack.redundancy != "2N" or rack.is_delivered:
        return _MANY
    taken = []
    for kind, each in zip(pdu.outlets, device_needs(server, pdu, "2N")[-len(pdu.outlets) :], strict=True):
        free: dict[str, int] = {}
        for feed in rack.feeds:
            free[feed.side] = free.get(feed.side, 0) + dict(feed.outlets).get(kind, 0) - feed.used(kind)
        taken += [int(min(free.values(), default=0) // each)] if each else []
    return min(taken, default=_MANY)


def servers_by_ports(plan: Plan, role: NetworkRole, links_each: int) -> int:
    """GPU servers that the standing switches of a network take; ``links_each`` are those of one server.

    The largest number at which every plane of the network has no more leaves, spines and cores than now. Ports of
    leaves that are kept for storage take no server: 110 ports of servers on four leaves of 36 leave room for 34.
    """
    inputs = plan.inputs
    standing = _members(plan, np.zeros(1, dtype=np.int64), inputs.fabric, role)
    # Room that was kept for servers to come is used up first.
    later = inputs.fabric.model_copy(update={"spare_servers": 0})
    more = np.arange(int(standing.leaf_ports_free[0]) // links_each + 1)
    fits = np.all(_switches(_members(plan, more, later, role), more) <= _switches(standing, more[:1]), axis=0)
    fits[0] = True
    return int(np.argmin(np.append(fits, False))) - 1


def _by_ports(plan: Plan) -> tuple[int | None, int | None]:
    """Free leaf ports of the compute fabric, and the servers that they take; None without switches of it."""
    inputs = plan.inputs
    each = fabric_numbers(inputs.platform.server, inputs.platform.fabric).size
    if not each or inputs.platform.fabric_switch is None:
        return None, None
    standing = _members(plan, np.zeros(1, dtype=np.int64), inputs.fabric, NetworkRole.COMPUTE)
    if not int(_switches(standing, np.zeros(1, dtype=np.int64)).sum()):
        return None, None
    return int(standing.leaf_ports_free[0]), servers_by_ports(plan, NetworkRole.COMPUTE, each)


def _members(plan: Plan, more: Ints, asked: Fabric, role: NetworkRole) -> NetworkMembers:
    """A network of the plan with so many servers more."""
    inputs = plan.inputs
    nodes = np.full(more.shape, inputs.storage_nodes)
    rows = shape(inputs.platform, inputs.n_servers + more, nodes, asked)
    pdus = np.full(more.shape, sum(len(rack.feeds) for rack in plan.racks if not rack.is_delivered))
    return next(part for part in wiring(inputs.platform, rows, asked, pdus).members if part.network.role is role)


def _switches(part: NetworkMembers, more: Ints) -> Ints:
    """Leaves, spines and cores of each plane."""
    counts = (count for plane in part.planes for count in (plane.tree.leaves, plane.tree.spines, plane.tree.cores))
    return np.array([np.broadcast_to(count, more.shape) for count in counts])
