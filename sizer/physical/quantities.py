"""Everything a design is made of, counted for all rows of a platform at once, and what of it is there already."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.fabrics import joining, usual_ports
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Server, Storage
from sizer.physical import capacity
from sizer.physical.components import Component, DesignParts, Network, Quantities, combined
from sizer.physical.networks.counts import cable_lines, data_networks, with_management
from sizer.physical.networks.members import AS_USUAL, HOSTS_OF_TWO_HEADS, NetworkMembers, Shape, shape
from sizer.physical.networks.ports import nodes_of
from sizer.physical.networks.storage_networks import storage_role
from sizer.physical.notes import PlanNote, PlanNoteKind, Violation, ViolationKind
from sizer.physical.platform import FEW_SERVERS, Platform
from sizer.physical.racks import parts
from sizer.physical.racks.power import device_power
from sizer.physical.racks.site_rules import coolant_units, room_violations, total_liquid_w
from sizer.physical.roles import ADAPTERS, MANAGING, Role
from sizer.physical.software_lines import software_lines
from sizer.workload.request import Existing, Fabric, Limits

NO_LIMITS = Limits()
_MOST_ROUNDS = 8
NOTHING_EXISTING = Existing()


def quantities(
    platform: Platform,
    n_servers: ArrayLike,
    storage_nodes: ArrayLike,
    *,
    catalog: Catalog,
    limits: Limits = NO_LIMITS,
    existing: Existing = NOTHING_EXISTING,
    fabric: Fabric = AS_USUAL,
    coolant_unit: str | None = None,
) -> Quantities:
    """Count everything of one platform.

    ``platform``: kinds of server, storage, fabric and what follows from them. ``n_servers`` (rows,): GPU servers.
    ``storage_nodes`` (rows,): nodes of the storage system; rounded up to whole units, ignored for local drives and NFS
    servers. ``catalog``: cables, adapters, software and support come from it. ``limits``: ``rack_power_w`` is what the
    room gives one rack; the other limits are the caller's to check. ``existing``: equipment that is there: listed with
    status "existing", not bought, still placed and powered. ``fabric``: how the compute fabric is built, and for how
    many servers to come room is kept. ``coolant_unit``: id of the only kind of coolant distribution unit: a standing
    design grows by units of its own kind. Returns arrays of one entry a row. ``violations`` names what cannot be built.
    Watts and kilograms are those of the devices, without racks, PDUs and cables. Raises ValueError if a count is
    negative.

    Cables are counted at two planning lengths, inside a rack where all stands in one and between racks otherwise; the
    plan of a design (``building_plan``) measures them. Racks follow ``placement.count_racks``.
    """
    servers, nodes = _rows(n_servers, storage_nodes)
    if platform.few is None or not servers.size:
        return _quantities(platform, servers, nodes, catalog, limits, existing, fabric, coolant_unit)
    is_few = servers <= platform.few_servers
    each = [
        (rows, _quantities(one, servers[rows], nodes[rows], catalog, limits, existing, fabric, coolant_unit))
        for one, rows in ((platform.few, np.flatnonzero(is_few)), (platform, np.flatnonzero(~is_few)))
        if rows.size
    ]
    return combined(each) if len(each) > 1 else each[0][1]


def _quantities(
    platform: Platform,
    servers: Ints,
    nodes: Ints,
    catalog: Catalog,
    limits: Limits,
    existing: Existing,
    fabric: Fabric,
    coolant_unit: str | None,
) -> Quantities:
    """Quantities of rows with the networks of one kind of platform."""
    device_of = partial(platform.device, catalog)
    rows = shape(platform, servers, nodes, fabric)
    pdus: Ints = np.zeros_like(servers)
    before: parts.RackTotals | None = None
    data = data_networks(platform, rows, fabric)
    for _ in range(_MOST_ROUNDS):
        # PDUs have ports on switches, which may take a further rack with further PDUs. Where a further switch makes the
        # heaviest rack lighter, the PDUs of a rack stay: with fewer, the switch would go and the rack be heavier again.
        net = with_management(platform, rows, data, pdus)
        devices = _devices(platform, rows)
        devices += [Component(s.role, "network", s.item, s.quantity) for s in net.switches]
        devices += coolant_units(devices, catalog, device_of, servers.size, coolant_unit)
        groups = parts.rack_groups(platform, devices, catalog, limits, existing)
        placed = before = parts.count_groups(groups, servers.size, at_least=before)
        later = parts.with_later_pdus(platform, rows, devices, placed.pdus, catalog, limits, existing)
        if np.array_equal(placed.pdus, pdus) and np.array_equal(later.pdus_to_come, rows.pdus_to_come):
            break
        pdus, rows = placed.pdus, later
    power = _Sum(platform, catalog, devices)
    components = _split_existing(platform, catalog, devices, existing)
    if platform.host_memory is not None:
        # Servers that are there have their standard memory, so that they get the larger one, too.
        components.append(Component(Role.HOST_MEMORY, "compute", platform.host_memory.id, rows.n_servers))
    components += _adapters(platform, catalog, rows, components)
    components += cable_lines(catalog, net.links, placed.racks + placed.existing)
    standing = _standing(platform, rows, existing, fabric)
    if standing is not None:
        data = data_networks(platform, standing, fabric)
        # The networks around equipment that runs today are there.
        around = _around(platform, catalog, standing, rows, existing, placed, data)
        components = [one for part in components for one in _parted(part, around.get((part.role, part.item), 0))]
    racks = parts.rack_parts(catalog, groups, placed, components)
    if standing is not None and not existing.racks:
        heights_u = {part.item: float(_each(device_of(part.item))[0][0, 0]) for part in devices}
        racks = _new_share(racks, components, heights_u, power.rack_units)
    components += racks
    components += software_lines(platform, catalog, rows, components)
    if platform.server.is_workstation:
        # It stands at a desk: a rack with its power is an option.
        in_rack = "rack and power"
        components = [replace(c, status="optional") if c.category == in_rack else c for c in components]
    return Quantities(
        components=tuple(c for c in components if np.count_nonzero(c.quantity)),
        networks=net.networks,
        rack_units=power.rack_units,
        racks=placed.racks,
        existing_racks=placed.existing,
        power_typical_w=power.typical_w,
        power_max_w=power.max_w,
        weight_kg=power.weight_kg,
        raw_bytes=capacity.raw_bytes(platform.storage, platform.capacity_option, rows.nodes),
        unknown_power=power.unknown_power,
        unknown_weight=power.unknown_weight,
        front_end_bytes_per_s=net.front_end_bytes_per_s,
        gateway_bytes_per_s=net.gateway_bytes_per_s,
        notes=_notes(platform),
        power_low_w=power.low_w,
        rack_power_max_w=placed.heaviest_w,
        liquid_heat_w=total_liquid_w(devices, device_of, servers.size),
        row_notes={note: there for note, there in _row_notes(platform, rows, fabric) if there.any()},
        violations={
            **{rule: mask for rule, mask in net.violations.items() if np.count_nonzero(mask)},
            **_storage_violations(platform, rows, nodes, existing),
            **_workstation_violations(platform, rows),
            **_rack_violations(platform, catalog, limits, devices, groups, placed),
        },
    )


def _row_notes(platform: Platform, rows: Shape, fabric: Fabric) -> Iterator[tuple[PlanNote, Bools]]:
    yield PlanNote(PlanNoteKind.SINGLE_SERVER), ~rows.has_management
    is_default = fabric.management_servers is None and not platform.has_spare_head
    yield PlanNote(PlanNoteKind.STANDBY_HEAD, (HOSTS_OF_TWO_HEADS,)), (rows.heads > 1) & is_default


def _workstation_violations(platform: Platform, rows: Shape) -> dict[Violation, Bools]:
    if not platform.server.is_workstation:
        return {}
    return {Violation(ViolationKind.ONE_WORKSTATION, (platform.server.name,)): rows.n_servers > 1}


def _rack_violations(
    platform: Platform,
    catalog: Catalog,
    limits: Limits,
    devices: Sequence[Component],
    groups: Sequence[parts.RackGroup],
    placed: parts.RackTotals,
) -> dict[Violation, Bools]:
    device_of = partial(platform.device, catalog)
    room = dict(room_violations(platform.site, catalog, device_of, devices, limits.rack_power_w))
    violations = {**parts.mounting_violations(catalog, groups), **room}
    unexplained = ~placed.holds_all & ~np.any([*room.values(), np.zeros(placed.racks.size, dtype=bool)], axis=0)
    if unexplained.any():
        violations[Violation(ViolationKind.DEVICE_EXCEEDS_RACK)] = unexplained
    return violations


def slice_row(counted: Quantities, row: int) -> Quantities:
    """Quantities of one row, as arrays of one entry; what the row does not have is dropped."""
    components = tuple(c.of(c.quantity[row : row + 1]) for c in counted.components if c.quantity[row] > 0)
    there = {c.item for c in components}
    notes = [note for note, rows in counted.row_notes.items() if rows[row]]
    sliced = replace(
        counted,
        components=components,
        # A network of rows that were counted apart has no ports in the others, not even a ratio of them.
        networks=tuple(_only_row(net, row) for net in counted.networks if net.oversubscription[row] > 0),
        unknown_power=tuple(item for item in counted.unknown_power if item in there),
        unknown_weight=tuple(item for item in counted.unknown_weight if item in there),
        notes=(*counted.notes, *notes),
        row_notes={},
        violations={name: rows[row : row + 1] for name, rows in counted.violations.items() if rows[row]},
    )
    return _only_row(sliced, row)


def _rows(n_servers: ArrayLike, storage_nodes: ArrayLike) -> tuple[Ints, Ints]:
    servers, nodes = np.broadcast_arrays(
        np.atleast_1d(np.asarray(n_servers, dtype=np.int64)), np.atleast_1d(np.asarray(storage_nodes, dtype=np.int64))
    )
    for name, values in (("n_servers", servers), ("storage_nodes", nodes)):
        if values.size and values.min() < 0:
            raise ValueError(f"{name} must be at least 0, got {values.min()}")
    return servers, nodes


def _devices(platform: Platform, rows: Shape) -> list[Component]:
    """Servers, head node and storage. GPUs and local drives come inside the server's line."""
    storage = platform.storage
    option = storage.capacity_options[platform.capacity_option].name if storage.capacity_options else ""
    gpus = f"with {platform.gpus_per_server} × {platform.gpu.name}"
    if not rows.has_fabric.any() and not platform.fabric.is_infiniband:
        # The customer's LAN has the speed that the request names: no usual port of the server may run it.
        is_usual = usual_ports(platform.server.ports, platform.fabric)
        gpus += "" if is_usual else f", {platform.fabric.name} adapter"
    devices = [Component(Role.GPU_SERVER, "compute", platform.server.id, rows.n_servers, contents=gpus)]
    drives = f"with {option}" if option else ""
    if platform.head_node is not None:
        serves_files = storage.kind == "nfs-server" and storage.server is not None
        head = Component(Role.HEAD_NODE, "head node", platform.head_node.id, rows.heads)
        if serves_files:
            head = replace(head, notes=(PlanNote(PlanNoteKind.SERVES_FILES),), contents=drives)
        devices.append(head)
    if platform.fabric_manager is not None:
        appliance = platform.fabric_manager.id
        devices.append(Component(Role.FABRIC_MANAGER, "head node", appliance, rows.managers))
        devices.append(Component(Role.STORAGE_FABRIC_MANAGER, "head node", appliance, rows.storage_managers))
    if capacity.counts_nodes(storage) and platform.storage_server is not None:
        server = platform.storage_server.id
        devices.append(Component(Role.STORAGE_SERVER, "storage", server, rows.units, contents=drives))
    elif capacity.counts_nodes(storage):
        devices.append(_units(storage, option, storage_role(storage), rows.units))
    tier = platform.second_tier
    if tier is not None and tier.storage is not None:
        name = tier.storage.capacity_options[tier.capacity_option].name if tier.storage.capacity_options else ""
        devices.append(_units(tier.storage, name, Role.CAPACITY_TIER, rows.tier_units))
    return devices


def _units(storage: Storage, option: str, role: Role, quantity: Ints) -> Component:
    per_unit = capacity.nodes_per_unit(storage)
    notes = [PlanNote(PlanNoteKind.NODES_PER_UNIT, (per_unit,))] if per_unit > 1 else []
    notes += [PlanNote(PlanNoteKind.STATED, (option,))] if option else []
    return Component(role, "storage", storage.id, quantity, tuple(notes))


@lru_cache(maxsize=4096)
def _each(device: Device) -> tuple[Floats, bool, bool]:
    """What one device takes, shape (5, 1), and whether its power and its weight are known, which count as 0 if not.

    Rack units, lower, typical and upper W, kg.
    """
    draw, height, weight = device_power(device), device.height_u, device.weight_kg
    units = height.value if height is not None else 0.0
    kg = weight.value if weight is not None else 0.0
    amounts = np.array([[units], [draw.low_w], [draw.typical_w], [draw.max_w], [kg]], dtype=float)
    return amounts, draw.is_known, weight is not None


class _Sum:
    """Rack units, watts and kilograms of all devices; unknown ones are named."""

    def __init__(self, platform: Platform, catalog: Catalog, devices: Sequence[Component]) -> None:
        amounts = np.zeros((5, devices[0].quantity.size))
        unknown_power: dict[str, None] = {}
        unknown_weight: dict[str, None] = {}
        for part in devices:
            if not np.count_nonzero(part.quantity):
                continue
            each, has_power, has_weight = _each(platform.device(catalog, part.item))
            amounts += part.quantity * each
            if not has_power:
                unknown_power[part.item] = None
            if not has_weight:
                unknown_weight[part.item] = None
        self.rack_units, self.low_w, self.typical_w, self.max_w, self.weight_kg = amounts
        self.unknown_power, self.unknown_weight = tuple(unknown_power), tuple(unknown_weight)


def _split_existing(
    platform: Platform, catalog: Catalog, devices: Sequence[Component], existing: Existing
) -> list[Component]:
    """Components to buy, and beside them what the customer has of each."""
    if not (existing.servers or existing.switches or existing.storage_nodes):
        return list(devices)
    left: dict[str, Ints | int] = {**existing.servers, **existing.switches}
    left[platform.server.id] = platform.servers_there(existing.servers)
    for name, count in existing.storage_nodes.items():
        item = platform.storage_server.id if platform.storage_server is not None else name
        if name == platform.storage.id:
            storage = platform.storage
            left[item] = left.get(item, 0) + capacity.nodes_there(storage, count) // capacity.nodes_per_unit(storage)
    components = []
    for part in devices:
        there = np.minimum(part.quantity, left.get(part.item, 0))
        if there.any():
            left[part.item] = left[part.item] - there
            contents = (PlanNote(PlanNoteKind.STATED, (part.contents,)),) if part.contents else ()
            others = platform.extends if part.role is Role.GPU_SERVER else ()
            stated = [PlanNote(PlanNoteKind.SAME_GPUS, (catalog.servers[other].name,)) for other in others]
            notes = (PlanNote(PlanNoteKind.EXISTING), *stated, *contents, *part.notes)
            components.append(replace(part, quantity=there, notes=notes, status="existing", contents=""))
        components.append(part.of(part.quantity - there))
    return components


def _standing(platform: Platform, rows: Shape, existing: Existing, fabric: Fabric) -> Shape | None:
    """The part of every row that runs today: servers and storage that are there; None where nothing is."""
    owned, storage = platform.servers_there(existing.servers), platform.storage
    nodes = existing.storage_nodes.get(storage.id, 0) if capacity.counts_nodes(storage) else 0
    nodes = capacity.nodes_there(storage, nodes) if nodes else 0
    if not (owned or nodes):
        return None
    if owned * nodes_of(platform.server) == 1 and not nodes:
        owned = 0  # one server alone has no networks of its own
    today = fabric.model_copy(update={"spare_servers": 0})
    return shape(platform, np.minimum(rows.n_servers, owned), np.minimum(rows.nodes, nodes), today)


def _around(
    platform: Platform,
    catalog: Catalog,
    standing: Shape,
    rows: Shape,
    existing: Existing,
    placed: parts.RackTotals,
    data: Sequence[NetworkMembers],
) -> dict[tuple[Role, str], Ints]:
    """What connects and manages the equipment that runs today, by role and item.

    Servers that are there, of whatever kind, have a head node; those of a design's own kind and its storage have the
    networks that this equipment alone would be planned with.
    """
    main = np.maximum(rows.n_servers + rows.units, 1)
    pdus = placed.pdus * (standing.n_servers + standing.units) // main
    net = with_management(platform, standing, data, pdus)
    found = {(switch.role, switch.item): switch.quantity for switch in net.switches}
    for part in cable_lines(catalog, net.links, placed.racks + placed.existing):
        key = part.role, part.item
        found[key] = found.get(key, 0) + part.quantity
    if existing.switches:
        # They say which networks of files and gradients are there; servers that run are managed in any case.
        found = {key: n for key, n in found.items() if key[0] in MANAGING and key[1] not in existing.switches}
    head, storage = platform.head_node, platform.storage
    serves_files = storage.kind == "nfs-server" and storage.server is not None
    if head is not None and (not serves_files or storage.id in existing.storage_nodes):
        heads = rows.heads if sum(existing.servers.values()) > 1 else standing.heads
        found[Role.HEAD_NODE, head.id] = heads
        theirs = Component(Role.HEAD_NODE, "head node", head.id, standing.heads)
        found |= {(one.role, one.item): one.quantity for one in _adapters(platform, catalog, standing, [theirs])}
    if platform.fabric_manager is not None:
        found[Role.FABRIC_MANAGER, platform.fabric_manager.id] = standing.managers
        found[Role.STORAGE_FABRIC_MANAGER, platform.fabric_manager.id] = standing.storage_managers
    return found


def _parted(part: Component, there: Ints | int) -> list[Component]:
    """What is bought of a component, and what of it is there."""
    theirs = np.minimum(part.quantity, there)
    if part.status != "computed" or not theirs.any():
        return [part]
    notes = (PlanNote(PlanNoteKind.EXISTING), *part.notes)
    return [part.of(part.quantity - theirs), replace(part, quantity=theirs, notes=notes, status="existing")]


def _new_share(
    racks: Sequence[Component], devices: Sequence[Component], heights_u: Mapping[str, float], rack_units: Floats
) -> list[Component]:
    """Racks and panels where what runs today stands in racks: those that what is new takes of the height; racks that
    are there have their PDUs.
    """
    new_u = np.zeros(rack_units.shape)
    for part in devices:
        if part.status == "computed":
            new_u = new_u + part.quantity * heights_u.get(part.item, 0.0)
    share = new_u / np.maximum(rack_units, 1)
    there = [np.floor(part.quantity * (1 - share) + 1e-9).astype(np.int64) for part in racks]
    of_racks = [(old, part.quantity) for old, part in zip(there, racks, strict=True) if part.role is Role.RACK]
    old_racks, all_racks = (np.sum(counts, axis=0) for counts in zip(*of_racks, strict=True))
    found = []
    for part, old in zip(racks, there, strict=True):
        if part.role is Role.RACK_PDU:
            old = part.quantity * old_racks // np.maximum(all_racks, 1)
        parted = _parted(part, 0 if part.role is Role.POWER_CORD else old)
        found += parted[:1] if part.role is Role.BLANKING_PANEL else parted
    return found


def _adapters(platform: Platform, catalog: Catalog, rows: Shape, components: Sequence[Component]) -> list[Component]:
    """Adapters that are ordered beside the server, for the servers that are bought."""
    hosts: dict[str, Server] = {platform.server.id: platform.server}
    for host in (platform.head_node, platform.storage_server):
        if host is not None:
            hosts[host.id] = host
    adapters = []
    for part in components:
        if part.status != "computed" or part.item not in hosts:
            continue
        for port in joining(hosts[part.item].ports, platform.fabric):
            if port.nic is None or not catalog.nics[port.nic].orderable:
                continue
            cards = -(-port.count // catalog.nics[port.nic].n_ports.value)
            quantity = np.where(rows.has_fabric, part.quantity * cards, 0)
            adapters.append(Component(ADAPTERS[part.role], "network", port.nic, quantity))
    return adapters


def most_gpus(storage: Storage, existing: Existing) -> float:
    """GPUs that a class of storage products is made for; inf of others, and of what is there."""
    if storage.max_gpus is None or storage.id in existing.storage_nodes or not capacity.counts_nodes(storage):
        return math.inf
    return storage.max_gpus.value


def _storage_violations(platform: Platform, rows: Shape, asked: Ints, existing: Existing) -> dict[Violation, Bools]:
    storage, found = platform.storage, {}
    if not capacity.counts_nodes(storage):
        return {}
    low, high = capacity.node_limits(storage)
    found[Violation(ViolationKind.NODE_COUNT, (storage.name, low, high))] = (asked < low) | (rows.nodes > high)
    if (most := most_gpus(storage, existing)) < math.inf:
        is_beyond = rows.n_servers * platform.gpus_per_server > most
        found[Violation(ViolationKind.TOO_MANY_GPUS, (storage.name, most))] = is_beyond
    return {rule: mask for rule, mask in found.items() if mask.any()}


def _notes(platform: Platform) -> tuple[PlanNote, ...]:
    storage = platform.storage
    notes = []
    if platform.attachment == "lan":
        notes.append(PlanNote(PlanNoteKind.EXISTING_LAN_STORAGE, (storage.name,)))
    if platform.attachment == "local" and not platform.has_replicas_apart:
        notes.append(PlanNote(PlanNoteKind.LOCAL_COPIES))
    if np.isnan(capacity.usable_bytes(storage, platform.capacity_option, capacity.node_limits(storage)[0])):
        notes.append(PlanNote(PlanNoteKind.USABLE_UNKNOWN, (storage.name,)))
    elif capacity.is_bounded(storage):
        notes.append(PlanNote(PlanNoteKind.USABLE_BOUNDED, (storage.name,)))
    return tuple(notes)


_Counted = TypeVar("_Counted", Network, Quantities)


def _only_row(counted: _Counted, row: int) -> _Counted:
    arrays: dict[str, Any] = {k: v[row : row + 1] for k, v in vars(counted).items() if isinstance(v, np.ndarray)}
    return replace(counted, **arrays)


# Numbers of servers, and of storage units, that are counted with one that is asked for: they take hardly longer, and
# are likely the next. The first servers have the networks of a few.
_SERVERS, _UNITS = FEW_SERVERS, 4
_OF_BLOCK = range(1, _SERVERS + 1)
# Designs of one table, some 400 bytes each; a table that would hold more is emptied first.
_MOST_DESIGNS = 2048


class PartTable:
    """Designs of one platform.

    ``count``: counts designs from arrays of servers and storage nodes. The count of a design does not depend on the
    others. ``unit``: nodes of a unit of storage; 0 where it is no part of the designs.
    """

    def __init__(self, count: Callable[[Ints, Ints], Quantities], unit: int = 0) -> None:
        self._count, self._unit, self._lock = count, unit, Lock()
        self._columns: dict[tuple[int, int], int] = {}  # (servers, nodes) -> place among the designs
        self._designs: DesignParts | None = None

    def designs(self, servers: Ints, nodes: Ints) -> DesignParts:
        """Some designs; those that nobody asked about before are counted now, all at once.

        ``servers``, ``nodes`` (designs,): servers and storage nodes.
        """
        asked = list(zip(servers.tolist(), nodes.tolist(), strict=True))
        with self._lock:
            if any(design not in self._columns for design in asked):
                self._add(asked)
            assert self._designs is not None
            return self._designs.take(np.array([self._columns[design] for design in asked], dtype=np.int64))

    def _add(self, asked: list[tuple[int, int]]) -> None:
        blocks = dict.fromkeys(((servers - 1) // _SERVERS, *self._near(nodes)) for servers, nodes in asked)
        of_block = [(block * _SERVERS, near) for block, *near in blocks]
        wanted = dict.fromkeys((less + n, nodes) for less, near in of_block for nodes in near for n in _OF_BLOCK)
        if len(self._columns) + len(wanted) > _MOST_DESIGNS:
            self._columns.clear()
            self._designs = None
        new = [design for design in wanted if design not in self._columns]
        counted = DesignParts.of(self._count(*np.array(new, dtype=np.int64).T))
        self._columns.update(zip(new, range(len(self._columns), len(self._columns) + len(new)), strict=True))
        self._designs = counted if self._designs is None else self._designs.extended(counted)

    def _near(self, nodes: int) -> tuple[int, ...]:
        """Numbers of storage nodes that are counted together with one."""
        if not self._unit or nodes % self._unit:
            return (nodes,)
        first = (nodes // self._unit - 1) // _UNITS * _UNITS
        return tuple(self._unit * (first + n) for n in range(1, _UNITS + 1)) if nodes else (0,)


# Devices that are named when a design extends what is there; adapters, cables and racks follow from them.
_MAIN = ("compute", "head node", "storage")


@dataclass(frozen=True)
class Equipment:
    """So many of a catalogue item; storage in nodes, everything else in devices."""

    item: str  # id
    name: str
    count: int


@dataclass(frozen=True)
class ExistingUse:
    """What one design takes of the equipment that is there, leaves idle and adds; in the order of request and bill."""

    used: tuple[Equipment, ...]
    idle: tuple[Equipment, ...]
    added: tuple[Equipment, ...]  # servers, head nodes, storage and switches that are bought
    assumed: tuple[Equipment, ...]  # such that are taken to be there around it, and that nobody named; racks, too


def has_main(existing: Existing) -> bool:
    """Whether servers or storage are there, so that the order of designs depends on what they use of it."""
    return bool(existing.servers or existing.storage_nodes)


def purchase(platform: Platform, components: Sequence[Component], existing: Existing, catalog: Catalog) -> Floats:
    """What the sizes of one platform buy, and the kinds of existing equipment of which they use nothing.

    ``components``: of all sizes of the platform, existing ones apart (``quantities``). Returns (5, sizes), in the order
    in which designs are compared by it: GPU servers and storage nodes to buy; kinds of GPU servers, storage and
    switches that stay idle. Kinds, not pieces: of eight servers that are there, three that are enough stay three.
    """
    used = _used(components, platform, existing)
    none = np.zeros_like(components[0].quantity)

    def idle(there: Iterable[str]) -> Ints:
        return sum(((used.get(item, none) == 0).astype(np.int64) for item in there), start=none)

    bought = _bought(components)
    servers = sum((part.quantity for part in bought if part.role is Role.GPU_SERVER), start=none)
    nodes = (part.quantity * _nodes(part, platform) for part in bought if part.category == "storage")
    gpu_servers = idle(item for item in existing.servers if catalog.servers[item].role == "gpu")
    others = idle(existing.storage_nodes), idle(existing.switches)
    return np.stack([servers, sum(nodes, start=none), gpu_servers, *others]).astype(float)


def existing_use(
    platform: Platform, components: Sequence[Component], existing: Existing, catalog: Catalog
) -> ExistingUse | None:
    """Use of what is there by one design (components of one row); None where the request names no equipment."""
    there = {**existing.servers, **existing.storage_nodes, **existing.switches}
    if not there:
        return None
    taken = {item: int(count[0]) for item, count in _used(components, platform, existing).items()}
    used = {item: min(taken.get(item, 0), count) for item, count in there.items()}
    added: dict[str, int] = {}
    assumed: dict[str, int] = {}
    for part in components:
        counts = {"computed": added, "existing": {} if part.item in there else assumed}.get(part.status, {})
        if part.category in _MAIN or part.role.forwards or (part.role is Role.RACK and part.status == "existing"):
            counts[part.item] = counts.get(part.item, 0) + int(part.quantity[0]) * _nodes(part, platform)

    def listed(counts: dict[str, int]) -> tuple[Equipment, ...]:
        return tuple(Equipment(item, catalog.item(item).name, count) for item, count in counts.items() if count)

    idle = listed({item: there[item] - used[item] for item in there})
    return ExistingUse(listed(used), idle, listed(added), listed(assumed))


def _bought(components: Sequence[Component]) -> list[Component]:
    return [part for part in components if part.status == "computed"]


def _used(components: Sequence[Component], platform: Platform, existing: Existing) -> dict[str, Ints]:
    """Id in the request -> how much of it a design uses. A storage server counts under the name of its system."""
    found: dict[str, Ints] = {}
    storage = platform.storage
    there = existing.storage_nodes.get(storage.id, 0)
    for part in components:
        if part.status == "existing":
            item = storage.id if part.role is Role.STORAGE_SERVER and there else part.item
            taken = part.quantity * _nodes(part, platform)
            # Servers that are planned as those of the platform keep their own name.
            for other in platform.extends if part.role is Role.GPU_SERVER else ():
                found[other] = np.clip(taken - existing.servers.get(item, 0), 0, existing.servers[other])
                taken = taken - found[other]
            found[item] = found.get(item, 0) + taken
    if there and not capacity.counts_nodes(storage):
        # A file server of the customer is no line of the design, which reads from all of it.
        found[storage.id] = np.full_like(components[0].quantity, there)
    return found


def _nodes(part: Component, platform: Platform) -> int:
    """Nodes of one piece: storage is ordered by the chassis."""
    return capacity.nodes_per_unit(platform.storage) if part.category == "storage" else 1
