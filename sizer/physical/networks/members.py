"""What a network is made of: which ports of which devices join it, and how its switches are joined.

:class:`Ends` and :class:`Plane` hold for all rows of a platform at once. Counting multiplies them; ``connect`` gives
every link of one row its two ports.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Server, Switch
from sizer.physical.capacity import counts_nodes, nodes_per_unit
from sizer.physical.components import Network
from sizer.physical.networks.cables import ANY_CAGES, Cages, cages_of
from sizer.physical.networks.fat_tree import Gateways, SwitchTree, leaf_split
from sizer.physical.networks.leaf_pairs import PAIR, LeafGroup
from sizer.physical.networks.ports import device_ports, fabric_numbers, largest_group, nodes_of
from sizer.physical.networks.rails import RailRule
from sizer.physical.notes import PlanNote, Violation
from sizer.physical.platform import Platform
from sizer.physical.roles import NetworkPlane, NetworkRole, Role
from sizer.workload.request import Fabric as FabricAsked

AS_USUAL = FabricAsked()
# UFM appliances of a fabric, an active and a standby one (RA-11333-001 V11: four ports on the leaves, two each).
MANAGERS = 2


@dataclass(frozen=True)
class Shape:
    """Which parts a row has."""

    n_servers: Ints
    room: Ints  # servers with those that can be added later
    nodes: Ints  # storage nodes, in whole units
    units: Ints  # chassis or storage servers
    tier_nodes: Ints  # of the capacity tier
    tier_units: Ints
    heads: Ints
    managers: Ints  # appliances that run the subnet manager of the compute fabric
    storage_managers: Ints
    has_fabric: Bools
    has_management: Bools
    pdus_to_come: Ints | int = 0  # of the racks that servers to come bring

    @property
    def to_come(self) -> Ints | int:
        """Servers that can be added later."""
        return 0 if self.room is self.n_servers else self.room - self.n_servers


@dataclass(frozen=True)
class Ends:
    """Ports of one class of devices on a network: the far ends of its links."""

    role: Role  # of the cables
    kind: LinkType
    quantity: Ints  # links, shape (rows,)
    device: Role | None  # role of the device class; None: outside the design
    numbers: Ints  # of the ports that each device brings; fewer links than ports are dealt out over the devices
    spare_ports: Ints | int = 0  # further ports of the network kept free for devices to come
    is_dealt: bool = True  # one after the other over the leaves; False: leaf by leaf
    is_spread: bool = False  # the ports of one device go to leaves that differ, so that one leaf takes no device whole
    stays_in_rack: bool = False  # between devices that the rack rule puts together
    # All links of a device one after the other, so that dealing spreads them over the switches. Otherwise devices take
    # turns where they have more ports than links.
    is_by_device: bool = False
    cage: str = ""  # connector of the ports; "" where the catalogue does not say
    # Of a rail-optimised fabric: within a scalable unit each leaf takes the same port of every server.
    rails: RailRule | None = None
    room: Ints | int = 0  # servers that the rails are built for
    is_paired: bool = False  # each device has a port on either leaf of a pair
    group: int | None = None  # leaves of ``Plane.groups`` that take them; absent: any


@dataclass(frozen=True)
class Plane:
    """One set of switches joined with each other, apart from every other one."""

    key: NetworkPlane
    tree: SwitchTree
    ends: tuple[Ends, ...]  # on the leaves; on the spine where there is no leaf
    spine_ends: tuple[Ends, ...] = ()  # on the spines, beside the leaves
    groups: tuple[LeafGroup, ...] = ()  # leaves for one kind of device each, in a tree of two levels

    @property
    def has_reserved_ports(self) -> bool:
        """Whether a leaf of the first row takes uplinks and peers from its last ports, not from a fixed split."""
        return bool(self.groups and self.groups[0].leaves[0]) or bool(np.max(self.tree.peer_cables))


@dataclass(frozen=True)
class NetworkMembers:
    """One network of a platform: its planes, the switches they are made of, and its counts."""

    network: Network
    planes: tuple[Plane, ...]
    leaf: Switch
    leaf_numbers: Ints  # ports of a leaf for end points (and for uplinks, where ``uplink_numbers`` is empty)
    spine: Switch
    spine_numbers: Ints
    uplink_kind: LinkType
    roles: Sequence[Role]  # of leaves, spines and cores
    uplink_role: Role  # of the inter-switch cables
    uplink_numbers: Ints  # ports of a leaf that are made for uplinks only
    leaf_down: int  # end points of one leaf in a tree
    uplinks_stay_in_rack: bool = False
    joins_above: bool = False  # the spines join the leaves by a tree of their own, each leaf at one of them

    @cached_property
    def tree(self) -> SwitchTree:
        """Switches and cables of all planes."""
        return total(self.planes)

    @property
    def leaf_ports_free(self) -> Ints:
        """Free ports that an end point can take, as ``connect`` gives them away."""
        return reduce(np.add, (self._end_points_free(plane) for plane in self.planes))

    def _end_points_free(self, plane: Plane) -> Ints:
        tree, ports = plane.tree, self.leaf_numbers.size
        used = count_links(plane.ends, np.zeros_like(tree.leaves))
        if plane.has_reserved_ports:
            on_leaves = tree.leaves * ports - tree.leaf_spine_cables - PAIR * tree.peer_cables
        else:
            on_leaves = tree.leaves * np.where(tree.spines > 0, self.leaf_down, ports)
        # Without a leaf the end points join a director, or the spines of leaves with uplinks of their own.
        there = np.where(tree.leaves > 0, on_leaves, tree.spines * self.spine_numbers.size)
        if tree.leaves.size and not np.count_nonzero(tree.leaves):
            used = used + count_links(plane.spine_ends, np.zeros_like(tree.leaves))
        return np.asarray(there - used, dtype=np.int64)

    @property
    def leaf_cage(self) -> str:
        """Connector of the ports for end points of a leaf."""
        return _cage(self.leaf, self.network.kind)

    @property
    def uplink_cages(self) -> Cages:
        """Connectors of the ports between leaf and spine."""
        return cages_of(_cage(self.leaf, self.uplink_kind), _cage(self.spine, self.uplink_kind))

    @property
    def core(self) -> Switch:
        """Switch of the third level: the leaf's kind, and the aggregation's where leaves have uplinks of their own."""
        return self.spine if self.uplink_numbers.size else self.leaf


@dataclass(frozen=True)
class SwitchCount:
    """Switches of one role."""

    role: Role
    item: str
    quantity: Ints


@dataclass(frozen=True)
class CableCount:
    """Cables of one role, counted."""

    role: Role
    kind: LinkType
    quantity: Ints
    stays_in_rack: bool
    cages: Cages = ANY_CAGES


@dataclass(frozen=True)
class Wiring:
    """All networks of a platform."""

    members: tuple[NetworkMembers, ...]
    switches: tuple[SwitchCount, ...]
    links: tuple[CableCount, ...]
    violations: dict[Violation, Bools]
    front_end_bytes_per_s: Floats
    gateway_bytes_per_s: Floats

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple(replace(part.network, leaf_ports_free=part.leaf_ports_free) for part in self.members)


# Hosts from which on today's designs have a standby head node, whose loss would stop the jobs of all of them. NVIDIA's
# BasePOD has several from its smallest size on, Dell's of 2018 has one for up to 32 servers. Assumed.
HOSTS_OF_TWO_HEADS = 8
# Servers with replicas apart whose ports the customer's network takes: two ports each, as of one server. Assumed.
MOST_ON_LAN = 4
NO_NUMBERS: Ints = np.zeros(0, dtype=np.int64)


def shape(platform: Platform, n_servers: Ints, storage_nodes: Ints, asked: FabricAsked = AS_USUAL) -> Shape:
    """Which parts every row of a platform has.

    One server whose data are local or on the customer's LAN needs no fabric, head node or management switch: all its
    ports join the customer's network, by others. A head node serves more than one host, as the trays of a system that
    arrives as a rack are, or the files; a platform with a spare head node has two instead of one, as have today's
    servers from :data:`HOSTS_OF_TWO_HEADS` hosts on. Room for more servers calls for the fabric at once. Replicas of
    models in use that lie inside a server need no fabric and no head node, and few servers of them no networks of
    their own, either.
    """
    storage = platform.storage
    per_unit = nodes_per_unit(storage)
    counted = storage_nodes if counts_nodes(storage) else np.zeros_like(storage_nodes)
    units = -(-counted // per_unit)
    tier = platform.capacity_storage
    tier_units = np.zeros_like(n_servers)
    if tier is not None and platform.second_tier is not None:
        tier_units = np.where(n_servers > 0, -(-platform.second_tier.nodes // nodes_per_unit(tier)), 0)
    is_shared = platform.attachment not in ("lan", "local")
    serves_files = storage.kind == "nfs-server" and storage.server is not None
    spare = asked.spare_servers
    room = np.where(n_servers > 0, n_servers + spare, 0) if spare else n_servers
    hosts = room * nodes_of(platform.server)
    has_many_hosts = hosts > 1
    is_pair = platform.has_spare_head | (hosts >= HOSTS_OF_TWO_HEADS) & (platform.in_band_switch is not None)
    is_apart = platform.has_replicas_apart
    has_head = (has_many_hosts & (not is_apart)) | (serves_files & (n_servers > 0))
    has_networks = hosts > MOST_ON_LAN if is_apart else has_many_hosts
    has_fabric = ((room > 1) & (not is_apart)) | (
        (n_servers > 0) & (platform.attachment in ("fabric", "gateway", "spine"))
    )
    has_managers = asked.subnet_manager == "ufm" and platform.fabric_manager is not None
    has_storage_network = platform.attachment == "own network" and platform.storage_switch is not None
    front = storage.front_end_kind.value if storage.front_end_kind is not None else platform.fabric
    return Shape(
        n_servers=n_servers,
        room=room,
        nodes=units * per_unit,
        units=units,
        tier_nodes=tier_units * (1 if tier is None else nodes_per_unit(tier)),
        tier_units=tier_units,
        heads=has_head.astype(np.int64) * (asked.management_servers or 1 + is_pair.astype(np.int64)),
        managers=has_fabric.astype(np.int64) * MANAGERS * (has_managers and platform.fabric.is_infiniband),
        storage_managers=(units > 0) * MANAGERS * (has_managers and has_storage_network and front.is_infiniband),
        has_fabric=has_fabric,
        has_management=has_networks | ((n_servers > 0) & is_shared),
    )


def network_counts(
    role: NetworkRole,
    purpose: PlanNote,
    kind: LinkType,
    switch: Switch,
    planes: Sequence[Plane],
    notes: tuple[PlanNote, ...] = (),
    spine: Switch | None = None,
    *,
    held: Gateways | None = None,
    rails: int = 1,
    subnet_manager: PlanNote | None = None,
) -> Network:
    """Counts of a network, over its planes; gateways stand in the place of leaves."""
    tree = total(planes)
    zero = np.zeros(tree.leaves.shape, dtype=np.int64)
    return Network(
        role=role,
        purpose=purpose,
        kind=kind,
        switch=switch.id,
        spine=(spine or switch).id,
        end_points=count_links([ends for plane in planes for ends in (*plane.ends, *plane.spine_ends)], zero),
        leaves=tree.leaves if held is None else zero,
        spines=tree.spines,
        cores=tree.cores,
        leaf_spine_cables=tree.leaf_spine_cables,
        spine_core_cables=tree.spine_core_cables,
        peer_cables=np.broadcast_to(tree.peer_cables, tree.leaves.shape),
        ports_used=tree.ports_used,
        ports_free=tree.ports_free,
        oversubscription=tree.oversubscription,
        gateways=zero if held is None else held.gateways,
        gateway_uplinks=zero if held is None else held.uplinks,
        notes=notes,
        rails=rails,
        subnet_manager=subnet_manager,
    )


def one_kind(
    network: Network,
    planes: Sequence[Plane],
    switch: Switch,
    numbers: Ints,
    roles: Sequence[Role],
    uplink_role: Role,
    *,
    leaf_down: int | None = None,
    uplinks_stay_in_rack: bool = False,
) -> NetworkMembers:
    """A network of one kind of switch; by default half of a leaf's ports lead down."""
    return NetworkMembers(
        network=network,
        planes=tuple(planes),
        leaf=switch,
        leaf_numbers=numbers,
        spine=switch,
        spine_numbers=numbers,
        uplink_kind=network.kind,
        roles=roles,
        uplink_role=uplink_role,
        uplink_numbers=NO_NUMBERS,
        leaf_down=leaf_split(numbers.size)[0] if leaf_down is None else leaf_down,
        uplinks_stay_in_rack=uplinks_stay_in_rack,
    )


def manager_ends(role: Role, appliance: Server, fabric: LinkType, switch: Switch, quantity: Ints) -> Ends:
    """Ports of the appliances that run the subnet manager, dealt out over the leaves."""
    numbers = fabric_numbers(appliance, fabric)
    kind = fabric
    if not numbers.size:
        # An appliance of an earlier generation joins ports that step down to its rate.
        known = (port.kind for port in appliance.ports if port.kind.is_infiniband)
        kind = next((link_kind for link_kind in known if largest_group(switch, link_kind) is not None), fabric)
        numbers = fabric_numbers(appliance, kind)
    cage = device_ports(appliance)[int(numbers[0])].group.connector if numbers.size else ""
    return Ends(Role.FABRIC_MANAGER_CABLE, kind, quantity * numbers.size, role, numbers, is_by_device=True, cage=cage)


def _cage(switch: Switch, kind: LinkType) -> str:
    group = largest_group(switch, kind, ("any", "fabric", "back-end"))
    return "" if group is None else group.connector


def count_links(ends: Sequence[Ends], none: Ints) -> Ints:
    """Links of some ends, for all rows; ``none`` where there are no ends."""
    return reduce(np.add, (end.quantity for end in ends)) if ends else none


def total(planes: Sequence[Plane]) -> SwitchTree:
    """Switches and cables of all planes of a network."""
    return reduce(SwitchTree.plus, (plane.tree for plane in planes))


def uplink_kind(switch: Switch, kind: LinkType) -> LinkType:
    """Kind of a switch's own uplink ports; the kind of its other ports where it has none."""
    return next((p.kind for p in switch.ports if p.use == "fabric" and p.kind != kind), kind)
