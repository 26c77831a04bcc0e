"""The compute fabric: gradients, and the files of storage that joins it."""

import numpy as np

from sizer.base.arrays import Ints
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Switch
from sizer.physical.capacity import counts_nodes
from sizer.physical.losses import nodes_survived
from sizer.physical.networks import members
from sizer.physical.networks.fat_tree import SwitchTree, fat_tree, leaf_split, uplinked_down, uplinked_leaves
from sizer.physical.networks.leaf_pairs import connected_pair
from sizer.physical.networks.ports import (
    device_ports,
    fabric_numbers,
    largest_group,
    nodes_of,
    rail_numbers,
    switch_numbers,
)
from sizer.physical.networks.rails import RailRule
from sizer.physical.networks.storage_networks import (
    capacity_ends,
    front_end_ports,
    gateway_uplink_count,
    head_storage_ends,
    storage_end,
)
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.platforms import leaf_ports
from sizer.physical.roles import COMPUTE_SWITCHES, NetworkPlane, NetworkRole, Role
from sizer.workload.request import Fabric as FabricAsked

# Ports of an Ethernet fabric that lead to the customer's LAN where the storage is there: two, so that one may fail.
# An assumption of this program; the far ends are by others.
LAN_UPLINKS = 2

_ON_FABRIC = ("fabric", "gateway", "spine")


def compute_fabric(platform: Platform, rows: members.Shape, asked: FabricAsked) -> members.NetworkMembers:
    """The compute fabric with its rails, and everything that joins it."""
    kind, switch = platform.fabric, platform.fabric_switch
    assert switch is not None
    on = rows.has_fabric
    by_rail = rail_numbers(platform.server, kind)
    numbers = fabric_numbers(platform.server, kind)
    rails = len(by_rail) if asked.rails_apart else 1
    others = _others_on_fabric(platform, rows)
    on_spine = platform.attachment == "spine"
    storage = [_fabric_storage(platform, rows)] if platform.attachment in ("fabric", "spine") else []
    capacity = capacity_ends(platform, rows) if platform.attachment == "fabric" else ()
    rule = rail_rule(platform, asked)
    managers = _managers(platform, switch, rows)
    ports = device_ports(platform.server)
    planes = []
    for rail in range(rails):
        mine = numbers if rails == 1 else by_rail[rail]
        there, to_come = rows.n_servers * mine.size * on, rows.to_come * mine.size
        # Everything else joins the first rail: head node, storage and gateways have ports for one.
        first = rail == 0
        # A rail that carries gradients alone may be lost whole: the servers have the others.
        spares_one = platform.has_spare_switches and (rails == 1 or (first and platform.attachment in _ON_FABRIC))
        servers = members.Ends(
            Role.COMPUTE_CABLE,
            kind,
            there,
            Role.GPU_SERVER,
            mine,
            spare_ports=to_come,
            # Several ports of a server spread over what the dealt ends leave; else they fill leaves that those miss.
            is_dealt=spares_one and mine.size == 1,
            is_spread=mine.size > 1,
            cage=ports[int(mine[0])].group.connector if mine.size else "",
            rails=rule,
            room=rows.room,
        )
        storage_here = (*storage, *capacity) if first and not on_spine else ()
        ends = (servers, *(others if first else ()), *managers, *storage_here)
        ends = tuple(end for end in ends if np.count_nonzero(end.quantity))
        spine_ends = tuple(one for one in storage if first and on_spine and np.count_nonzero(one.quantity))
        key = NetworkPlane(NetworkRole.COMPUTE, rail=rail + 1 if rails > 1 else 0)
        planes.append(
            members.Plane(
                key,
                _tree(platform, switch, ends, spine_ends, rows, asked, spares_one=spares_one, rule=rule),
                ends,
                spine_ends,
            )
        )
    uplinked = platform.spine_switch
    spine = uplinked or platform.director or switch
    fast = members.uplink_kind(switch, kind) if uplinked is not None else _own_kind(switch, kind)
    uplink_numbers = switch_numbers(switch, fast, ("fabric",)) if uplinked is not None else numbers[:0]
    leaf_numbers = switch_numbers(switch, kind)
    down = leaf_split(leaf_numbers.size, asked.oversubscription, _uplink_ratio(platform, switch))[0]
    if uplinked is not None:
        rate = fast.gbit_per_s.value / kind.gbit_per_s.value
        down = uplinked_down(leaf_numbers.size, uplink_numbers.size, rate, asked.oversubscription)
    carries_files = platform.attachment in _ON_FABRIC
    purpose = PlanNoteKind.GRADIENTS_AND_FILES if carries_files else PlanNoteKind.GRADIENTS
    if carries_files and np.all(rows.n_servers == 1):
        purpose = PlanNoteKind.FILES_OF_ONE_SERVER  # its gradients stay inside
    notes = []
    if rails > 1:
        notes.append(PlanNote(PlanNoteKind.RAILS, (rails,)))
    if asked.spare_servers:
        notes.append(PlanNote(PlanNoteKind.SPARE_PORTS, (asked.spare_servers,)))
    return members.NetworkMembers(
        network=members.network_counts(
            NetworkRole.COMPUTE,
            PlanNote(purpose),
            kind,
            switch,
            planes,
            tuple(notes),
            spine,
            rails=rails,
            subnet_manager=_subnet_manager(platform, switch, rails, has_appliances=bool(np.any(rows.managers))),
        ),
        planes=tuple(planes),
        leaf=switch,
        leaf_numbers=leaf_numbers,
        spine=spine,
        spine_numbers=switch_numbers(spine, fast),
        uplink_kind=fast,
        roles=COMPUTE_SWITCHES,
        uplink_role=Role.COMPUTE_UPLINK,
        uplink_numbers=uplink_numbers,
        leaf_down=down,
    )


def rail_rule(platform: Platform, asked: FabricAsked) -> RailRule | None:
    """How a server's ports spread over the leaves, where it has one for each GPU; None for other servers.

    A fabric that may lose a leaf gives no leaf more than half of a server's ports. Where storage or a head node joins
    it as well, its ports are dealt out one after the other instead.
    """
    links = fabric_numbers(platform.server, platform.fabric).size
    if asked.rails_apart or not 1 < platform.gpus_per_server == links or platform.director is not None:
        return None
    if platform.spine_switch is not None or platform.fabric_switch is None:
        return None
    if platform.has_spare_switches and platform.attachment in _ON_FABRIC:
        return None
    down = leaf_split(
        leaf_ports(platform.fabric_switch, platform.fabric),
        asked.oversubscription,
        _uplink_ratio(platform, platform.fabric_switch),
    )[0]
    trays = nodes_of(platform.server)
    links //= trays
    return RailRule.of(links, down, most_on_leaf=links // 2 if platform.has_spare_switches else None, trays=trays)


def _managers(platform: Platform, switch: Switch, rows: members.Shape) -> tuple[members.Ends, ...]:
    """Ports of the appliances that run the subnet manager."""
    appliance, kind = platform.fabric_manager, platform.fabric
    if appliance is None or not np.any(rows.managers):
        return ()
    return (members.manager_ends(Role.FABRIC_MANAGER, appliance, kind, switch, rows.managers),)


def _others_on_fabric(platform: Platform, rows: members.Shape) -> list[members.Ends]:
    """Head node, gateways and the way to the customer's LAN."""
    kind, on = platform.fabric, rows.has_fabric
    ends = []
    if platform.head_node is not None:
        numbers = fabric_numbers(platform.head_node, kind)[:1]
        if numbers.size or platform.attachment != "fabric" or platform.fabric_switch is None:
            ends.append(
                members.Ends(Role.HEAD_NODE_CABLE, kind, rows.heads * numbers.size * on, Role.HEAD_NODE, numbers)
            )
        else:
            # A head node without a port for the fabric reaches storage that joins it by its ports for storage.
            ends += head_storage_ends(platform, platform.fabric_switch, rows.heads * on)
    if platform.attachment == "gateway" and platform.gateway is not None:
        # From the highest port of a gateway; its front end takes the lowest.
        numbers = switch_numbers(platform.gateway, platform.gateway.uplink_kind.value)[::-1]
        count, uplink = gateway_uplink_count(platform, rows), platform.gateway.uplink_kind.value
        apart = platform.has_spare_switches
        ends.append(
            members.Ends(
                Role.GATEWAY_UPLINK, uplink, count, Role.GATEWAY, numbers, stays_in_rack=True, is_by_device=apart
            )
        )
    if platform.attachment == "lan" and not kind.is_infiniband:
        ends.append(members.Ends(Role.LAN_UPLINK, kind, np.where(on, LAN_UPLINKS, 0), None, members.NO_NUMBERS))
    return ends


def _fabric_storage(platform: Platform, rows: members.Shape) -> members.Ends:
    """Storage that joins the fabric; the head node's own port serves its files."""
    storage, kind = platform.storage, platform.front_end_kind
    if not counts_nodes(storage):
        return members.Ends(Role.STORAGE_CABLE, kind, np.zeros_like(rows.nodes), None, members.NO_NUMBERS)
    return members.Ends(Role.STORAGE_CABLE, kind, rows.nodes * front_end_ports(platform), *storage_end(platform, kind))


def _subnet_manager(platform: Platform, switch: Switch, rails: int, *, has_appliances: bool) -> PlanNote | None:
    if not platform.fabric.is_infiniband:
        return None
    if has_appliances and platform.fabric_manager is not None:
        return PlanNote(PlanNoteKind.MANAGER_ON_APPLIANCES, (platform.fabric_manager.name,))
    if _runs_manager(switch):
        return PlanNote(PlanNoteKind.MANAGER_IN_LEAF, (switch.name, rails))
    director = platform.director
    if director is not None and _runs_manager(director):
        return PlanNote(PlanNoteKind.MANAGER_IN_DIRECTOR, (director.name, rails))
    has_port = platform.head_node is not None and fabric_numbers(platform.head_node, platform.fabric).size > 0
    return PlanNote(PlanNoteKind.MANAGER_ON_HEAD_NODE) if has_port and rails == 1 else None


def _runs_manager(switch: Switch) -> bool:
    return switch.subnet_manager is not None and switch.subnet_manager.value


def _tree(
    platform: Platform,
    switch: Switch,
    ends: tuple[members.Ends, ...],
    spine_ends: tuple[members.Ends, ...],
    rows: members.Shape,
    asked: FabricAsked,
    *,
    spares_one: bool,
    rule: RailRule | None,
) -> SwitchTree:
    kind, ratio = platform.fabric, asked.oversubscription
    none = np.zeros(rows.nodes.shape, dtype=np.int64)
    at_leaf, at_spine = members.count_links(ends, none), members.count_links(spine_ends, none)
    spare_ports = sum(end.spare_ports for end in ends)
    if platform.spine_switch is None:
        director = None if platform.director is None else leaf_ports(platform.director, kind)
        tree = fat_tree(
            at_leaf + spare_ports,
            leaf_ports(switch, kind),
            ratio,
            director_ports=director,
            uplink_ratio=_uplink_ratio(platform, switch),
            fewest=_fewest_leaves(platform, rows) if spares_one else 1,
            rail_leaves=0 if rule is None else rule.leaves(rows.room),
            rails=0 if rule is None else rule.unit_leaves,
        )
        if spares_one and rule is not None:
            # Two switches joined with each other do what one would, and bear the loss of one.
            pair = connected_pair(at_leaf + spare_ports, leaf_ports(switch, kind))
            tree = tree.where(pair.fits, pair)
    else:
        fast = members.uplink_kind(switch, kind)
        tree = uplinked_leaves(
            at_leaf + spare_ports,
            leaf_ports(switch, kind),
            switch_numbers(switch, fast, ("fabric",)).size,
            fast.gbit_per_s.value / kind.gbit_per_s.value,
            leaf_ports(platform.spine_switch, fast),
            at_spine,
            ratio,
            spares_one=spares_one,
        )
    return tree.with_free_ports(spare_ports)


def _fewest_leaves(platform: Platform, rows: members.Shape) -> Ints:
    """Leaves of a fabric that may lose one: no more storage nodes of one port on each than the data survive."""
    survived = nodes_survived(platform.storage) or 0
    has_one_way = platform.attachment == "fabric" and front_end_ports(platform) == 1
    if not has_one_way or not survived or platform.back_end_switch is not None:
        return np.full(rows.nodes.shape, 2)
    return np.maximum(-(-rows.nodes // survived), 2)


def _own_kind(switch: Switch, kind: LinkType) -> LinkType:
    """Kind that the ports of a switch are made for; links between switches run it, whatever the end points run."""
    group = largest_group(switch, kind)
    return kind if group is None else group.kind


def _uplink_ratio(platform: Platform, switch: Switch) -> float:
    """Speed of a link between switches over that of the fastest end point of the compute fabric."""
    ends = [platform.fabric, *([platform.front_end_kind] if platform.attachment in ("fabric", "spine") else [])]
    return max(_own_kind(switch, platform.fabric).gbit_per_s.value / max(kind.gbit_per_s.value for kind in ends), 1.0)
