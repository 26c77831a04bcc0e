"""The in-band network of today's clusters: two ports of every server on a pair of Ethernet leaves."""

import numpy as np

from sizer.base.arrays import Ints
from sizer.catalog.schema import Server
from sizer.physical.networks.leaf_pairs import IN_BAND_LAN_UPLINKS, IN_BAND_UPLINKS, PEER_CABLES, in_band_tree
from sizer.physical.networks.members import (
    NO_NUMBERS,
    Ends,
    NetworkMembers,
    Plane,
    Shape,
    count_links,
    network_counts,
    one_kind,
    uplink_kind,
)
from sizer.physical.networks.ports import device_ports, in_band_numbers, switch_numbers
from sizer.physical.networks.storage_networks import capacity_ends
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.roles import IN_BAND_SWITCHES, NetworkPlane, NetworkRole, Role

# 100 GbE ports by which a switch of the 1 GbE network joins the in-band network (RA-11333-001 V11, table 8: two).
OUT_OF_BAND_UPLINKS = 2


def in_band(platform: Platform, rows: Shape, management_switches: Ints) -> NetworkMembers:
    """Operating systems of all servers, the switches of the 1 GbE network, and the way to the customer's data centre.

    Parameters
    ----------
    platform : Platform
        With a switch for this network.
    rows : Shape
        Counts of servers and head nodes.
    management_switches : ndarray of int, shape (rows,)
        Switches of the 1 GbE network. [-]
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
