"""The in-band network, and the 1 GbE network over which everything is deployed, monitored and maintained."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sizer.base.arrays import Ints
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Server, Storage, Switch
from sizer.physical.networks.fat_tree import SwitchTree, fat_tree, one_switch
from sizer.physical.networks.leaf_pairs import IN_BAND_LAN_UPLINKS, IN_BAND_UPLINKS, PEER_CABLES, in_band_tree
from sizer.physical.networks.members import (
    NO_NUMBERS,
    Ends,
    NetworkMembers,
    Plane,
    Shape,
    SwitchCount,
    count_links,
    network_counts,
    one_kind,
    uplink_kind,
)
from sizer.physical.networks.ports import device_ports, in_band_numbers, management_numbers, switch_numbers
from sizer.physical.networks.storage_networks import capacity_ends, storage_role
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.platforms import leaf_ports
from sizer.physical.roles import IN_BAND_SWITCHES, MANAGEMENT_SWITCHES, NetworkPlane, NetworkRole, Role

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
    ends += capacity_ends(platform, rows, in_band=True)
    numbers = switch_numbers(switch, kind)
    tree = in_band_tree(count_links(ends, np.zeros_like(rows.nodes)) + reserved, numbers.size)
    lan = np.where(tree.leaves > 0, IN_BAND_LAN_UPLINKS, 0)
    on_leaves = tree.spines == 0
    tree = tree.with_free_ports(reserved).with_further_ports(lan)
    ends.append(Ends(Role.LAN_UPLINK, kind, lan * on_leaves, None, NO_NUMBERS))
    top = Ends(Role.LAN_UPLINK, kind, lan * ~on_leaves, None, NO_NUMBERS)
    there = tuple(one for one in ends if np.count_nonzero(one.quantity))
    spine_ends = tuple(one for one in (top,) if np.count_nonzero(one.quantity))
    planes = [Plane(NetworkPlane(NetworkRole.IN_BAND), tree, there, spine_ends)]
    notes = (PlanNote(PlanNoteKind.DUAL_HOMED, (PEER_CABLES,)),)
    purpose = PlanNote(PlanNoteKind.IN_BAND)
    network = network_counts(NetworkRole.IN_BAND, purpose, kind, switch, planes, notes)
    down = numbers.size - PEER_CABLES - IN_BAND_UPLINKS
    return one_kind(network, planes, switch, numbers, IN_BAND_SWITCHES, Role.IN_BAND_UPLINK, leaf_down=down)


# 10 GbE ports by which a management switch joins the others; monitoring of 48 ports at 1 GbE needs no more.
MANAGEMENT_UPLINKS = 1


def management(platform: Platform, rows: Shape, counts: list[SwitchCount], pdus: Ints | int = 0) -> NetworkMembers:
    """1 GbE: one host port and the BMC of each server, the ports of storage units, one port of switches and gateways.

    The Dell guide counts one port of head and compute nodes; that the rest shares the switch is assumed.
    Several switches are joined through their own 10 GbE ports; they are managed in band. Where the operating systems
    have an in-band network, this one is out of band: the BMC of each server, and a port of each rack PDU; its switches
    join the in-band network.
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
        devices.append((storage_role(platform.storage), platform.storage, rows.units))
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
    if is_out_of_band and np.count_nonzero(pdu_links):
        ends.append(Ends(Role.MANAGEMENT_CABLE, kind, pdu_links, Role.RACK_PDU, NO_NUMBERS, is_dealt=False))
    numbers = switch_numbers(switch, kind)
    links = count_links(ends, np.zeros(rows.nodes.shape, dtype=np.int64))
    fast = uplink_kind(switch, kind)
    uplink_numbers = switch_numbers(switch, fast, ("fabric",))[:MANAGEMENT_UPLINKS]
    if is_out_of_band:
        tree = _alone(links, reserved, numbers.size)
        notes = (PlanNote(PlanNoteKind.UPLINKS_IN_BAND, (OUT_OF_BAND_UPLINKS,)),)
    else:
        tree = _tree(links, reserved, numbers.size, uplink_numbers.size, kind, fast, spine)
        notes = (PlanNote(PlanNoteKind.SHARED_WITH_BMC),)
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
    return SwitchTree(
        levels=np.minimum(needed, 1) + joint.levels,
        leaves=needed,
        spines=joint.leaves,
        cores=joint.spines,
        leaf_spine_cables=uplinks,
        spine_core_cables=inner,
        ports_used=links + 2 * (uplinks + inner),
        ports_free=needed * ports + (joint.leaves + joint.spines) * above - links - uplinks - 2 * inner,
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
