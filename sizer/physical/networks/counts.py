"""All networks of a platform, counted for all rows at once: switches, ports and links.

Every link has one end on a switch or gateway and one on a device or another switch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Server, Storage, Switch
from sizer.physical.components import Component
from sizer.physical.networks import storage_networks
from sizer.physical.networks.cables import BETWEEN_RACKS_M, IN_RACK_M, Cages, cages_of, choose_cable, pieces_of
from sizer.physical.networks.compute_fabric import compute_fabric
from sizer.physical.networks.fat_tree import SwitchTree, fat_tree, one_switch
from sizer.physical.networks.leaf_pairs import IN_BAND_LAN_UPLINKS, IN_BAND_UPLINKS, PEER_CABLES, in_band_tree
from sizer.physical.networks.members import (
    AS_USUAL,
    NO_NUMBERS,
    CableCount,
    Ends,
    NetworkMembers,
    Plane,
    Shape,
    SwitchCount,
    Wiring,
    count_links,
    network_counts,
    one_kind,
    shape,
    uplink_kind,
)
from sizer.physical.networks.ports import device_ports, in_band_numbers, management_numbers, switch_numbers
from sizer.physical.notes import PlanNote, PlanNoteKind, Violation, ViolationKind
from sizer.physical.platform import Platform
from sizer.physical.platforms import leaf_ports
from sizer.physical.roles import IN_BAND_SWITCHES, MANAGEMENT_SWITCHES, NetworkPlane, NetworkRole, Role
from sizer.workload.request import Fabric as FabricAsked

# 100 GbE ports by which a switch of the 1 GbE network joins the in-band network (RA-11333-001 V11, table 8: two).
OUT_OF_BAND_UPLINKS = 2


def in_band(platform: Platform, rows: Shape, management_switches: Ints) -> NetworkMembers:
    """Operating systems of all servers, the switches of the 1 GbE network, and the way to the customer's data centre.

    ``platform``: with a switch for this network. ``rows``: counts of servers and head nodes. ``management_switches``
    (rows,): switches of the 1 GbE network.
    """
    switch, kind = platform.in_band_switch, platform.in_band_link
    assert switch is not None
    assert kind is not None
    on = rows.has_management
    devices: list[tuple[Role, Server, Ints]] = [(Role.GPU_SERVER, platform.server, rows.n_servers)]
    if platform.head_node is not None:
        devices.append((Role.HEAD_NODE, platform.head_node, rows.heads))
    reserved = rows.to_come * in_band_numbers(platform.server).size
    ends = []
    for role, device, quantity in devices:
        numbers = in_band_numbers(device)
        if not numbers.size:
            continue
        cage = device_ports(device)[int(numbers[0])].group.connector
        extra = reserved if role is Role.GPU_SERVER else 0
        links = quantity * numbers.size * on
        ends.append(Ends(Role.IN_BAND_CABLE, kind, links, role, numbers, spare_ports=extra, is_paired=True, cage=cage))
    fast = uplink_kind(platform.management_switch, platform.management_link)
    uplinks = switch_numbers(platform.management_switch, fast, ("fabric",))[:OUT_OF_BAND_UPLINKS]
    if uplinks.size:
        links = management_switches * uplinks.size * on
        ends.append(Ends(Role.MANAGEMENT_UPLINK, fast, links, Role.MANAGEMENT_LEAF, uplinks, is_paired=True))
    ends += storage_networks.capacity_ends(platform, rows, in_band=True)
    numbers = switch_numbers(switch, kind)
    tree = in_band_tree(count_links(ends, np.zeros_like(rows.nodes)) + reserved, numbers.size)
    lan = np.where(tree.leaves > 0, IN_BAND_LAN_UPLINKS, 0)
    on_leaves = tree.spines == 0
    tree = tree.with_free_ports(reserved).with_further_ports(lan)
    ends.append(Ends(Role.LAN_UPLINK, kind, lan * on_leaves, None, NO_NUMBERS))
    top = Ends(Role.LAN_UPLINK, kind, lan * ~on_leaves, None, NO_NUMBERS)
    there = tuple(end for end in ends if np.count_nonzero(end.quantity))
    spine_ends = tuple(one for one in (top,) if np.count_nonzero(one.quantity))
    planes = [Plane(NetworkPlane(NetworkRole.IN_BAND), tree, there, spine_ends)]
    notes = (PlanNote(PlanNoteKind.DUAL_HOMED, (PEER_CABLES,)),)
    purpose = PlanNote(PlanNoteKind.IN_BAND)
    network = network_counts(NetworkRole.IN_BAND, purpose, kind, switch, planes, notes)
    down = numbers.size - PEER_CABLES - IN_BAND_UPLINKS
    return one_kind(network, planes, switch, numbers, IN_BAND_SWITCHES, Role.IN_BAND_UPLINK, leaf_down=down)


def in_band_role(platform: Platform) -> NetworkRole:
    """The network that operating systems, deployment and scheduler use.

    It is one of its own, or that at 1 GbE where servers have a host port for it, else that of the files or the GPUs.
    """
    if platform.in_band_switch is not None:
        return NetworkRole.IN_BAND
    ports = device_ports(platform.server)
    if any(ports[int(number)].group.use != "bmc" for number in management_numbers(platform.server)):
        return NetworkRole.MANAGEMENT
    return NetworkRole.STORAGE if platform.attachment == "own network" else NetworkRole.COMPUTE


# 10 GbE ports by which a management switch joins the others; monitoring of 48 ports at 1 GbE needs no more.
MANAGEMENT_UPLINKS = 1


def management(platform: Platform, rows: Shape, counts: list[SwitchCount], pdus: Ints | int = 0) -> NetworkMembers:
    """1 GbE: one host port and the BMC of each server, the ports of storage units, one of switches, gateways and PDUs.

    The Dell guide counts one port of head and compute nodes; that the rest shares the switch is assumed.
    Several switches are joined through their own 10 GbE ports; they are managed in band. Where the operating systems
    have an in-band network, this one is out of band: of each server the BMC alone; its switches join the in-band
    network.
    """
    is_out_of_band = platform.in_band_switch is not None
    switch, spine = platform.management_switch, platform.management_spine
    kind = platform.management_link
    on = rows.has_management
    devices: list[tuple[Role, Switch | Server | Storage, Ints]] = [(Role.GPU_SERVER, platform.server, rows.n_servers)]
    if platform.head_node is not None:
        devices.append((Role.HEAD_NODE, platform.head_node, rows.heads))
    if platform.storage_server is not None:
        devices.append((Role.STORAGE_SERVER, platform.storage_server, rows.units))
    else:
        devices.append((storage_networks.storage_role(platform.storage), platform.storage, rows.units))
    if platform.capacity_storage is not None:
        devices.append((Role.CAPACITY_TIER, platform.capacity_storage, rows.tier_units))
    if platform.fabric_manager is not None:
        devices.append((Role.FABRIC_MANAGER, platform.fabric_manager, rows.managers))
        devices.append((Role.STORAGE_FABRIC_MANAGER, platform.fabric_manager, rows.storage_managers))
    named = {s.id: s for s in _named_switches(platform)}
    devices += [(count.role, named[count.item], count.quantity) for count in counts]
    reserved = rows.to_come * management_numbers(platform.server).size
    ends = []
    for role, device, quantity in devices:
        numbers = management_numbers(device)
        there = quantity * numbers.size * on
        if np.count_nonzero(there):
            extra = reserved if role == Role.GPU_SERVER else 0
            ends.append(Ends(Role.MANAGEMENT_CABLE, kind, there, role, numbers, spare_ports=extra, is_dealt=False))
    pdu_links = np.asarray(pdus) * on
    if np.count_nonzero(pdu_links):
        more = rows.pdus_to_come
        reserved = reserved + more
        ends.append(
            Ends(Role.MANAGEMENT_CABLE, kind, pdu_links, Role.RACK_PDU, NO_NUMBERS, spare_ports=more, is_dealt=False)
        )
    numbers = switch_numbers(switch, kind)
    links = count_links(ends, np.zeros(rows.nodes.shape, dtype=np.int64))
    fast = uplink_kind(switch, kind)
    uplink_numbers = switch_numbers(switch, fast, ("fabric",))[:MANAGEMENT_UPLINKS]
    if is_out_of_band:
        tree = _alone(links, reserved, numbers.size)
        notes = (PlanNote(PlanNoteKind.UPLINKS_IN_BAND, (OUT_OF_BAND_UPLINKS,)),)
    else:
        tree = _tree(links, reserved, numbers.size, uplink_numbers.size, kind, fast, spine)
        hosts = in_band_role(platform)
        shared = PlanNote(PlanNoteKind.BMC_ALONE, (hosts,))
        notes = (PlanNote(PlanNoteKind.SHARED_WITH_BMC) if hosts is NetworkRole.MANAGEMENT else shared,)
    planes = [Plane(NetworkPlane(NetworkRole.MANAGEMENT), tree, tuple(ends))]
    purpose = PlanNote(PlanNoteKind.OUT_OF_BAND if is_out_of_band else PlanNoteKind.DEPLOYMENT)
    network = network_counts(NetworkRole.MANAGEMENT, purpose, kind, switch, planes, notes, spine)
    return NetworkMembers(
        network=network,
        planes=tuple(planes),
        leaf=switch,
        leaf_numbers=numbers,
        spine=spine or switch,
        spine_numbers=switch_numbers(spine or switch, fast),
        uplink_kind=fast,
        roles=MANAGEMENT_SWITCHES,
        uplink_role=Role.MANAGEMENT_UPLINK,
        uplink_numbers=uplink_numbers,
        leaf_down=numbers.size,
        joins_above=True,
    )


def _alone(links: Ints, reserved: Ints | int, ports: int) -> SwitchTree:
    """Switches without cables between them: each has its uplinks into the in-band network."""
    needed = np.asarray(-(-(links + reserved) // ports))
    tree = one_switch(links + reserved, ports).with_free_ports(reserved)
    return replace(tree, leaves=needed, ports_free=needed * ports - links)


def _tree(
    links: Ints, reserved: Ints | int, ports: int, n_uplinks: int, kind: LinkType, fast: LinkType, spine: Switch | None
) -> SwitchTree:
    """Management switches, joined by their uplinks where one is not enough."""
    needed = np.asarray(-(-(links + reserved) // ports))
    if np.count_nonzero(needed > 1) == 0:
        return one_switch(links + reserved, ports).with_free_ports(reserved)
    uplinks = np.where(needed > 1, needed * n_uplinks, 0)
    above = leaf_ports(spine, fast) if spine is not None else 2
    joint = fat_tree(uplinks, above)
    inner = joint.leaf_spine_cables
    return SwitchTree.of(
        links,
        needed * ports + uplinks + (joint.leaves + joint.spines) * above,
        needed,
        joint.leaves,
        joint.spines,
        leaf_spine=uplinks,
        spine_core=inner,
        oversubscription=np.where(needed > 1, ports * kind.gbit_per_s.value / fast.gbit_per_s.value, 1.0),
        fits=(joint.cores == 0) & ((uplinks == 0) | (spine is not None)),
    )


def _named_switches(platform: Platform) -> Iterator[Switch]:
    for switch in (
        platform.fabric_switch,
        platform.spine_switch,
        platform.director,
        platform.storage_switch,
        platform.back_end_switch,
        platform.gateway,
        platform.in_band_switch,
    ):
        if switch is not None:
            yield switch


# The counts of in-band and 1 GbE switches depend on each other; they only grow, and settle after two or three rounds.
_MOST_ROUNDS = 12


def wiring(platform: Platform, rows: Shape, asked: FabricAsked = AS_USUAL, pdus: Ints | int = 0) -> Wiring:
    """Switches, ports and links of all networks.

    ``platform``: kinds of device. ``rows``: counts of servers, storage and head nodes. ``asked``: how the compute
    fabric is built. ``pdus``: rack PDUs with a port on the out-of-band network. [-]
    """
    return with_management(platform, rows, data_networks(platform, rows, asked), pdus)


def data_networks(platform: Platform, rows: Shape, asked: FabricAsked) -> list[NetworkMembers]:
    """The networks of gradients and files, which no rack PDU joins; arguments as of :func:`wiring`."""
    parts = [compute_fabric(platform, rows, asked)] if platform.fabric_switch is not None else []
    if platform.attachment == "gateway":
        parts.append(storage_networks.gateway_front_end(platform, rows))
    if platform.attachment == "own network":
        parts.append(storage_networks.own_front_end(platform, rows))
    if platform.back_end_switch is not None:
        parts.append(storage_networks.back_end(platform, platform.back_end_switch, rows))
    return parts


def with_management(platform: Platform, rows: Shape, data: Sequence[NetworkMembers], pdus: Ints | int = 0) -> Wiring:
    """All networks: those of :func:`data_networks` and the ones that manage them; arguments as of :func:`wiring`."""
    counts = [count for part in data for count in _switches(part)]
    above = _management(platform, rows, counts, pdus)
    parts = [*data, *above]
    return Wiring(
        members=tuple(parts),
        switches=(*counts, *(count for part in above for count in _switches(part))),
        links=tuple(link for part in parts for link in _links(part)),
        violations=_violations(platform, rows, parts),
        front_end_bytes_per_s=storage_networks.front_end_bytes_per_s(platform, rows),
        gateway_bytes_per_s=storage_networks.gateway_bytes_per_s(platform, rows),
    )


def _management(platform: Platform, rows: Shape, counts: list[SwitchCount], pdus: Ints | int) -> list[NetworkMembers]:
    """The 1 GbE network, and before it the in-band network where servers have ports for one."""
    if platform.in_band_switch is None:
        return [management(platform, rows, counts, pdus)]
    switches = np.zeros_like(rows.nodes)
    for _ in range(_MOST_ROUNDS):
        upper = in_band(platform, rows, switches)
        lower = management(platform, rows, [*counts, *_switches(upper)], pdus)
        if np.array_equal(lower.tree.leaves, switches):
            break
        switches = lower.tree.leaves
    return [upper, lower]


def fabric_share(platform: Platform, n_servers: Ints, storage_nodes: Ints, asked: FabricAsked) -> Floats:
    """Share of their line rate that all ports of the compute fabric have at once: 1, less where it is oversubscribed.

    The worst case: everything that a leaf's ports send goes to other leaves.
    """
    if platform.fabric_switch is None:
        return np.ones(n_servers.shape)
    rows = shape(platform, n_servers, storage_nodes, asked)
    return np.asarray(1 / compute_fabric(platform, rows, asked).network.oversubscription)


def _switches(part: NetworkMembers) -> list[SwitchCount]:
    tree = part.tree
    items = (part.leaf.id, part.spine.id, part.core.id)
    quantities = (tree.leaves, tree.spines, tree.cores)
    counts = map(SwitchCount, part.roles, items, quantities)
    return [count for count in counts if np.count_nonzero(count.quantity)]


def _links(part: NetworkMembers) -> Iterator[CableCount]:
    """Links by role, over all planes."""
    counts: dict[Role, CableCount] = {}
    for plane in part.planes:
        for ends in (*plane.ends, *plane.spine_ends):
            other = counts.get(ends.role)
            count = ends.quantity if other is None else ends.quantity + other.quantity
            cages = cages_of(ends.cage, part.leaf_cage)
            counts[ends.role] = CableCount(ends.role, ends.kind, count, ends.stays_in_rack, cages)
    yield from counts.values()
    tree = part.tree
    yield CableCount(
        part.uplink_role,
        part.uplink_kind,
        tree.leaf_spine_cables + tree.spine_core_cables + tree.peer_cables,
        part.uplinks_stay_in_rack,
        part.uplink_cages,
    )


def cable_lines(catalog: Catalog, links: Sequence[CableCount], racks: Ints) -> list[Component]:
    """Cables and modules of the links, at two planning lengths: within one rack and between racks."""
    components: list[Component] = []
    in_one_rack = racks <= 1
    n_inside = np.count_nonzero(in_one_rack)
    for link in links:
        if not np.count_nonzero(link.quantity):
            continue
        if link.stays_in_rack or n_inside == racks.size:
            choices = [(IN_RACK_M, link.quantity)]
        elif n_inside == 0:
            choices = [(BETWEEN_RACKS_M, link.quantity)]
        else:
            inside = np.where(in_one_rack, link.quantity, 0)
            choices = [(IN_RACK_M, inside), (BETWEEN_RACKS_M, link.quantity - inside)]
        for length_m, quantity in choices:
            if not np.count_nonzero(quantity):
                continue
            items, notes = _cable(catalog, link.kind, length_m, link.cages)
            for item, pieces in items:
                components.append(Component(link.role, "cable and optic", item, pieces_of(quantity, pieces), notes))
    return components


@lru_cache(maxsize=4096)
def _cable(
    catalog: Catalog, kind: LinkType, length_m: float, cages: Cages
) -> tuple[tuple[tuple[str, Fraction], ...], tuple[PlanNote, ...]]:
    """Items of one link with the pieces of each, and what a bill notes."""
    choice = choose_cable(catalog.cables.values(), kind, length_m, cages)
    return choice.items, tuple(dict.fromkeys((PlanNote(PlanNoteKind.PLANNED_LENGTH, (length_m,)), *choice.part_notes)))


def _violations(platform: Platform, rows: Shape, parts: list[NetworkMembers]) -> dict[Violation, Bools]:
    violations: dict[Violation, Bools] = {}
    for part in parts:
        fits = part.tree.fits
        if not fits.all():
            violations[Violation(ViolationKind.TREE_TOO_LARGE, (part.network.role, part.leaf.name))] = ~fits
    if platform.fabric.is_infiniband and parts and parts[0].network.subnet_manager is None:
        violation = Violation(ViolationKind.NO_SUBNET_MANAGER, (platform.fabric.name,))
        violations[violation] = rows.has_fabric
    return violations
