"""Networks of the storage: its front end behind a gateway or apart from the fabric, and its back end."""

import math
from dataclasses import replace

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Storage, Switch
from sizer.physical.capacity import counts_nodes, nodes_per_unit
from sizer.physical.networks.fat_tree import SwitchTree, fat_tree, gateway_uplinks, gateways, leaf_split
from sizer.physical.networks.leaf_pairs import STORAGE_OVERSUBSCRIPTION, connected_pair, leaf_pairs
from sizer.physical.networks.members import (
    Ends,
    NetworkMembers,
    Plane,
    Shape,
    count_links,
    manager_ends,
    network_counts,
    one_kind,
)
from sizer.physical.networks.ports import (
    device_ports,
    fabric_numbers,
    largest_group,
    storage_network_numbers,
    switch_numbers,
    unit_numbers,
)
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.platforms import leaf_ports
from sizer.physical.roles import BACK_END_SWITCHES, STORAGE_SWITCHES, NetworkPlane, NetworkRole, Role

# The back end of a scale-out NAS is two networks, int-a and int-b (h16346).
BACK_END_SIDES = ("a", "b")
# Uplinks of gateways over what the nodes deliver: with it four nodes of the Isilon F800, 30 Gbit/s each, take the three
# uplinks that the Dell EMC guide of 2018 prints, page 27, which counts all 40 Gbit/s of a port.
GATEWAY_HEADROOM = 1.25


def gateway_front_end(platform: Platform, rows: Shape) -> NetworkMembers:
    """Front end behind gateways: storage on one side, uplinks into the compute fabric on the other."""
    assert platform.gateway is not None
    gateway, kind = platform.gateway, platform.front_end_kind
    capacity = capacity_ports(platform, rows)
    ports = rows.nodes * front_end_ports(platform) + capacity
    # From the lowest port; the uplinks take the highest.
    numbers = switch_numbers(gateway, kind)[::-1]
    fewest = 2 if platform.has_spare_gateway else 1
    counted = gateways(ports, gateway_uplink_count(platform, rows), numbers.size, fewest)
    tree = SwitchTree.of(counted.front_end_ports + counted.uplinks, counted.gateways * numbers.size, counted.gateways)
    ends = Ends(Role.STORAGE_CABLE, kind, ports - capacity, *storage_end(platform, kind), stays_in_rack=True)
    planes = [Plane(NetworkPlane(NetworkRole.STORAGE), tree, (ends, *capacity_ends(platform, rows)))]
    purpose = PlanNote(PlanNoteKind.FILES_THROUGH_GATEWAY)
    notes = (PlanNote(PlanNoteKind.GATEWAY_PORTS, (front_end_ports(platform),)),)
    network = network_counts(NetworkRole.STORAGE, purpose, kind, gateway, planes, notes, held=counted)
    return one_kind(network, planes, gateway, numbers, (Role.GATEWAY,) * 3, Role.GATEWAY_UPLINK, leaf_down=numbers.size)


def own_front_end(platform: Platform, rows: Shape) -> NetworkMembers:
    """Front end on switches of its own, by ports of the servers that are not on the compute fabric."""
    assert platform.storage_switch is not None
    kind, switch = platform.server_storage_kind, platform.storage_switch
    numbers = storage_network_numbers(platform.server, kind, platform.fabric)
    servers = Ends(
        Role.SERVER_STORAGE_CABLE,
        kind,
        rows.n_servers * numbers.size,
        Role.GPU_SERVER,
        numbers,
        spare_ports=rows.to_come * numbers.size,
        is_dealt=platform.has_spare_switches,
        is_spread=numbers.size > 1,
        cage=device_ports(platform.server)[int(numbers[0])].group.connector if numbers.size else "",
    )
    front = platform.front_end_kind
    storage = Ends(
        Role.STORAGE_CABLE,
        front,
        rows.nodes * front_end_ports(platform),
        *storage_end(platform, front),
        cage=storage_cage(platform, front),
    )
    heads = head_storage_ends(platform, switch, rows.heads)
    if platform.in_band_switch is not None and not platform.has_spare_switches:
        return _paired_front_end(platform, switch, rows, servers, storage, heads)
    links = servers.quantity + servers.spare_ports + storage.quantity + capacity_ports(platform, rows)
    links = links + count_links(heads, np.zeros_like(rows.nodes))
    tree = fat_tree(links, leaf_ports(switch, kind), fewest=2 if platform.has_spare_switches else 1)
    if platform.has_spare_switches:
        # Two switches joined with each other do what one would, and bear the loss of one.
        pair = connected_pair(links, leaf_ports(switch, kind))
        tree = tree.where(pair.fits, pair)
    tree = tree.with_free_ports(servers.spare_ports)
    planes = [
        Plane(NetworkPlane(NetworkRole.STORAGE), tree, (servers, storage, *capacity_ends(platform, rows), *heads))
    ]
    network = network_counts(NetworkRole.STORAGE, PlanNote(PlanNoteKind.FILES), kind, switch, planes)
    return one_kind(network, planes, switch, switch_numbers(switch, kind), STORAGE_SWITCHES, Role.STORAGE_UPLINK)


def head_storage_ends(platform: Platform, switch: Switch, heads: Ints) -> tuple[Ends, ...]:
    """Ports of the head nodes that are made for the storage network, at the fastest kind that the switch takes.

    Head nodes of V100 systems have none: their data enter by free ports of the storage switches.
    """
    head = platform.head_node
    if head is None or not np.count_nonzero(heads):
        return ()
    own = [(number, port) for number, port in enumerate(device_ports(head)) if port.group.use == "storage-network"]
    runs = (kind for _, port in own for kind in port.group.kinds if largest_group(switch, kind) is not None)
    kind = max(runs, key=lambda run: run.gbit_per_s.value, default=None)
    if kind is None:
        return ()
    numbers = np.array([number for number, port in own if kind in port.group.kinds], dtype=np.int64)
    cage = device_ports(head)[int(numbers[0])].group.connector
    links = heads * numbers.size
    return (Ends(Role.HEAD_NODE_CABLE, kind, links, Role.HEAD_NODE, numbers, is_by_device=True, cage=cage),)


def _paired_front_end(
    platform: Platform, switch: Switch, rows: Shape, servers: Ends, storage: Ends, heads: tuple[Ends, ...]
) -> NetworkMembers:
    """Storage fabric of a SuperPOD: servers 4:3 oversubscribed on their leaves, storage on leaves of its own 1:1."""
    kind = servers.kind
    numbers = switch_numbers(switch, kind)
    managers: tuple[Ends, ...] = ()
    if platform.fabric_manager is not None and np.any(rows.storage_managers):
        role = Role.STORAGE_FABRIC_MANAGER
        managers = (manager_ends(role, platform.fabric_manager, kind, switch, rows.storage_managers),)
    own = largest_group(switch, kind)
    # Links between switches run at the native rate of the ports.
    uplink = kind if own is None else own.kind
    of_servers, of_storage = (uplink.gbit_per_s.value / ends.kind.gbit_per_s.value for ends in (servers, storage))
    reserved = servers.spare_ports
    kinds = (
        (servers.quantity + reserved, STORAGE_OVERSUBSCRIPTION, of_servers),
        (storage.quantity + capacity_ports(platform, rows), 1.0, of_storage),
    )
    tree, groups = leaf_pairs(numbers.size, kinds, count_links((*managers, *heads), np.zeros_like(rows.nodes)))
    tree = tree.with_free_ports(reserved)
    on_storage = (storage, *capacity_ends(platform, rows))
    paired = (replace(one, is_paired=True, group=1) for one in on_storage)
    ends = (replace(servers, is_paired=True, group=0), *paired, *managers, *heads)
    planes = [Plane(NetworkPlane(NetworkRole.STORAGE), tree, ends, groups=groups)]
    ratio, leaves = float(np.max(groups[0].oversubscription)), int(np.max(tree.leaves))
    notes = (PlanNote(PlanNoteKind.STORAGE_RATIO, (ratio, leaves)),)
    network = network_counts(NetworkRole.STORAGE, PlanNote(PlanNoteKind.FILES), kind, switch, planes, notes)
    down = leaf_split(numbers.size, STORAGE_OVERSUBSCRIPTION)[0]
    members = one_kind(network, planes, switch, numbers, STORAGE_SWITCHES, Role.STORAGE_UPLINK, leaf_down=down)
    return replace(members, uplink_kind=uplink)


def back_end(platform: Platform, switch: Switch, rows: Shape) -> NetworkMembers:
    """Two equal networks among the storage nodes, each on its own switches."""
    storage = platform.storage
    kind = next((p.kind for p in storage.ports if p.use == "back-end"), switch.ports[0].kind)
    numbers = switch_numbers(switch, kind, ("any", "back-end"))
    flat = storage.back_end_flat_nodes
    # Nodes of a capacity tier with the same back end are of the same cluster.
    members = [(storage_role(storage), storage, rows.nodes)]
    if platform.capacity_storage is not None and shares_back_end(storage, platform.capacity_storage):
        members.append((Role.CAPACITY_TIER, platform.capacity_storage, rows.tier_nodes))
    nodes = np.sum([count for _, _, count in members], axis=0)
    tree = fat_tree(nodes, max(numbers.size, 2), flat_ports=flat.value if flat is not None else None)

    def ends(place: int) -> tuple[Ends, ...]:
        found = []
        for role, device, count in members:
            both = unit_numbers(device, "back-end", len(BACK_END_SIDES))
            found.append(
                Ends(Role.BACK_END_CABLE, kind, count, role, both[place::2], is_dealt=False, stays_in_rack=True)
            )
        return tuple(found)

    planes = [
        Plane(NetworkPlane(NetworkRole.STORAGE_BACK_END, side=side), tree, ends(index))
        for index, side in enumerate(BACK_END_SIDES)
    ]
    purpose, notes = PlanNote(PlanNoteKind.BETWEEN_STORAGE_NODES), (PlanNote(PlanNoteKind.TWO_BACK_ENDS),)
    network = network_counts(NetworkRole.STORAGE_BACK_END, purpose, kind, switch, planes, notes)
    return one_kind(
        network, planes, switch, numbers, BACK_END_SWITCHES, Role.BACK_END_UPLINK, uplinks_stay_in_rack=True
    )


def storage_end(platform: Platform, kind: LinkType) -> tuple[Role, Ints]:
    """Class of the devices that hold the storage, and the front-end ports that each brings."""
    if platform.storage_server is not None:
        return Role.STORAGE_SERVER, fabric_numbers(platform.storage_server, kind)[: front_end_ports(platform)]
    return storage_role(platform.storage), unit_numbers(platform.storage, "storage", front_end_ports(platform))


def capacity_ends(platform: Platform, rows: Shape, *, in_band: bool = False) -> tuple[Ends, ...]:
    """Front-end ports of the capacity tier on the network of the fast storage, or in-band; none without one there."""
    second = platform.second_tier
    if second is None or second.is_in_band is not in_band:
        return ()
    tier = second.storage
    if tier is None or tier.front_end_kind is None:
        return ()
    each = _capacity_ports_each(tier)
    numbers = unit_numbers(tier, "storage", each)
    kind = tier.front_end_kind.value
    cage = device_ports(tier)[int(numbers[0])].group.connector if in_band and numbers.size else ""
    links = rows.tier_nodes * each
    return (Ends(Role.CAPACITY_CABLE, kind, links, Role.CAPACITY_TIER, numbers, is_paired=in_band, cage=cage),)


def capacity_ports(platform: Platform, rows: Shape) -> Ints:
    """Front-end ports of the capacity tier on the network of the fast storage."""
    return count_links(capacity_ends(platform, rows), np.zeros_like(rows.nodes))


def _capacity_ports_each(tier: Storage) -> int:
    """Ports that carry what a node reads at most; staging asks for no more."""
    there = tier.front_end_ports_per_node.value if tier.front_end_ports_per_node is not None else 1
    read, kind = tier.node_read_high_bytes_per_s, tier.front_end_kind
    if read is None or kind is None:
        return there
    return min(max(math.ceil(read.value / kind.value.bytes_per_s), 1), there)


def shares_back_end(storage: Storage, tier: Storage) -> bool:
    """Whether two storage systems form one cluster: of one vendor, on the same back-end switches."""
    first, other = storage.back_end_switch, tier.back_end_switch
    return first is not None and other is not None and first.value == other.value and storage.vendor == tier.vendor


def storage_cage(platform: Platform, kind: LinkType) -> str:
    """Connector of the front-end ports of the storage; "" where the catalogue does not say."""
    device = platform.storage_server or platform.storage
    numbers = storage_end(platform, kind)[1]
    return device_ports(device)[int(numbers[0])].group.connector if numbers.size else ""


def storage_role(storage: Storage) -> Role:
    """Role of the units that a storage system is bought in."""
    return Role.STORAGE_CHASSIS if nodes_per_unit(storage) > 1 else Role.STORAGE_NODE


def front_end_ports(platform: Platform) -> int:
    """Front-end ports of one storage node that are in use."""
    storage = platform.storage
    behind_gateway = platform.attachment == "gateway" and storage.gateway_ports_per_node is not None
    fact = storage.gateway_ports_per_node if behind_gateway else storage.front_end_ports_per_node
    ports = fact.value if fact is not None else 1
    return 2 * ports if platform.has_spare_gateway else ports


def gateway_uplink_count(platform: Platform, rows: Shape) -> Ints:
    """Uplinks that carry what the storage delivers, with headroom, and no more than its front-end ports."""
    assert platform.gateway is not None
    line, uplink = platform.gateway.front_end_bytes_per_s.value, platform.gateway.uplink_bytes_per_s.value
    # Either half of the gateways carries all, by the ports which then are left to it.
    halves = 2 if platform.has_spare_gateway else 1
    of_nodes = gateway_uplinks(
        rows.nodes * (front_end_ports(platform) // halves), gateway_port_bytes_per_s(platform), uplink
    )
    return halves * (of_nodes + gateway_uplinks(capacity_ports(platform, rows) // halves, line, uplink))


def gateway_port_bytes_per_s(platform: Platform) -> float:
    """Rate that the uplinks carry for each front-end port in use: what its node delivers at most, with headroom."""
    assert platform.gateway is not None
    storage, line = platform.storage, platform.gateway.front_end_bytes_per_s.value
    facts = (storage.node_read_high_bytes_per_s, storage.node_read_low_bytes_per_s)
    read = next((fact.value for fact in facts if fact is not None), math.inf)  # unknown: all that the port passes
    write = 0.0 if storage.node_write_bytes_per_s is None else storage.node_write_bytes_per_s.value
    ports = front_end_ports(platform) // (2 if platform.has_spare_gateway else 1)
    return min(line, GATEWAY_HEADROOM * max(read, write) / ports)


def front_end_bytes_per_s(platform: Platform, rows: Shape) -> Floats:
    """Line rate of the whole front end; inf where there is none. [B/s]"""
    if counts_nodes(platform.storage):
        return np.asarray(rows.nodes * (front_end_ports(platform) * platform.front_end_kind.bytes_per_s), float)
    if platform.storage.server is not None:
        return np.full(rows.nodes.shape, platform.fabric.bytes_per_s)
    return np.full(rows.nodes.shape, np.inf)


def gateway_bytes_per_s(platform: Platform, rows: Shape) -> Floats:
    """Rate of all uplinks of the gateways; inf without one. [B/s]"""
    if platform.gateway is None:
        return np.full(rows.nodes.shape, np.inf)
    return np.asarray(gateway_uplink_count(platform, rows) * platform.gateway.uplink_bytes_per_s.value, float)
