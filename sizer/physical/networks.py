"""The networks of a platform, counted for all rows at once: switches, ports and links.

Every link has one end on a switch or gateway and one on a device or another switch. ``end_points`` of a network are
the far ends of its links: ports of servers, head node, storage, and on the compute fabric the uplinks of gateways.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.catalog.links import GBIT_PER_S, fabric_ports, is_infiniband, kind_name, link_bytes_per_s
from sizer.catalog.schema import LinkKind, Port, Server, Storage, Switch
from sizer.physical.capacity import counts_nodes, nodes_per_unit
from sizer.physical.fabric import Fabric, fat_tree, gateway_uplinks, gateways, uplinked_leaves
from sizer.physical.plan import Network
from sizer.physical.platform import Platform
from sizer.physical.platforms import leaf_ports, own_network_ports

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Ports of an Ethernet fabric that lead to the customer's LAN where the storage is there: two, so that one may fail.
# An assumption of this program; the far ends are by others.
LAN_UPLINKS = 2
# The back end of a scale-out NAS is two networks, int-a and int-b (h16346).
BACK_END_SIDES = 2


@dataclass(frozen=True)
class Shape:
    """Which parts a row has."""

    n_servers: Ints
    nodes: Ints  # storage nodes, in whole units
    units: Ints  # chassis or storage servers
    heads: Ints
    has_fabric: Bools
    has_management: Bools


@dataclass(frozen=True)
class Link:
    """Cables of one role."""

    role: str
    kind: LinkKind
    quantity: Ints
    stays_in_rack: bool = False  # between devices that the rack rule puts together


@dataclass(frozen=True)
class SwitchCount:
    """Switches of one role."""

    role: str
    item: str
    quantity: Ints


@dataclass(frozen=True)
class Wiring:
    """All networks of a platform."""

    networks: tuple[Network, ...]
    switches: tuple[SwitchCount, ...]
    links: tuple[Link, ...]
    violations: dict[str, Bools]
    front_end_bytes_per_s: Floats
    gateway_bytes_per_s: Floats


def shape(platform: Platform, n_servers: Ints, storage_nodes: Ints) -> Shape:
    """Which parts every row of a platform has.

    One server whose data are local or on the customer's LAN needs no fabric, head node or management switch: all its
    ports join the customer's network, by others. A head node serves more than one server, or the files.
    """
    storage = platform.storage
    per_unit = nodes_per_unit(storage)
    counted = storage_nodes if counts_nodes(storage) else np.zeros_like(storage_nodes)
    units = -(-counted // per_unit)
    is_shared = platform.attachment not in ("lan", "local")
    serves_files = storage.kind == "nfs-server" and storage.server is not None
    return Shape(
        n_servers=n_servers,
        nodes=units * per_unit,
        units=units,
        heads=((n_servers > 1) | (serves_files & (n_servers > 0))).astype(np.int64),
        has_fabric=(n_servers > 1) | ((n_servers > 0) & (platform.attachment in ("fabric", "gateway", "spine"))),
        has_management=(n_servers > 1) | ((n_servers > 0) & is_shared),
    )


def wiring(platform: Platform, rows: Shape, oversubscription: float = 1.0) -> Wiring:
    """Switches, ports and links of all networks.

    Parameters
    ----------
    platform : Platform
        Kinds of device.
    rows : Shape
        Counts of servers, storage and head nodes.
    oversubscription : float, default 1
        Accepted down : up ratio of the compute fabric. [-]
    """
    parts = [_compute_fabric(platform, rows, oversubscription)]
    if platform.attachment == "gateway":
        parts.append(_gateway_front_end(platform, rows))
    if platform.attachment == "own network":
        parts.append(_own_front_end(platform, rows))
    if platform.back_end_switch is not None:
        parts.append(_back_end(platform, platform.back_end_switch, rows))
    counts = [count for part in parts for count in part.switches]
    parts.append(_management(platform, rows, counts))
    return Wiring(
        networks=sum((part.networks for part in parts), ()),
        switches=sum((part.switches for part in parts), ()),
        links=sum((part.links for part in parts), ()),
        violations={name: mask for part in parts for name, mask in part.violations.items()},
        front_end_bytes_per_s=_front_end_bytes_per_s(platform, rows),
        gateway_bytes_per_s=_gateway_bytes_per_s(platform, rows),
    )


@dataclass(frozen=True)
class _Part:
    networks: tuple[Network, ...]
    switches: tuple[SwitchCount, ...]
    links: tuple[Link, ...]
    violations: dict[str, Bools]


def _compute_fabric(platform: Platform, rows: Shape, oversubscription: float) -> _Part:
    kind, switch, zero = platform.fabric, platform.fabric_switch, np.zeros_like(rows.n_servers)
    if switch is None:
        return _Part((), (), (), {})
    on = rows.has_fabric
    head_has_port = platform.head_node is not None and fabric_ports(platform.head_node.ports, kind) > 0
    servers = np.where(on, rows.n_servers * fabric_ports(platform.server.ports, kind), 0)
    heads = np.where(on, rows.heads * int(head_has_port), 0)
    storage, storage_kind = zero, kind
    if platform.attachment in ("fabric", "spine") and counts_nodes(platform.storage):
        storage, storage_kind = rows.nodes * front_end_ports(platform), front_end_kind(platform)
    uplinks = gateway_uplink_count(platform, rows) if platform.attachment == "gateway" else zero
    lan = np.where(on, LAN_UPLINKS, 0) if platform.attachment == "lan" and not is_infiniband(kind) else zero
    at_leaf = servers + heads + uplinks + lan
    tree = _tree(platform, switch, at_leaf, storage, oversubscription)
    spine = platform.spine_switch
    network = _network(
        "compute fabric",
        "gradient exchange" + (" and storage traffic" if platform.attachment in ("fabric", "gateway", "spine") else ""),
        kind,
        switch,
        at_leaf + storage,
        tree,
    )
    links = [
        Link("compute cable", kind, servers),
        Link("head node cable", kind, heads),
        Link("storage cable", storage_kind, storage),
        Link("inter-switch cable", _uplink_kind(switch, kind) if spine is not None else kind, tree.leaf_spine_cables),
        Link("LAN uplink cable", kind, lan),
    ]
    if platform.gateway is not None:
        links.append(Link("gateway uplink cable", platform.gateway.uplink_kind.value, uplinks, stays_in_rack=True))
    return _Part(
        (network,),
        (
            SwitchCount("compute leaf switch", switch.id, tree.leaves),
            SwitchCount("compute spine switch", switch.id if spine is None else spine.id, tree.spines),
        ),
        tuple(links),
        {f"the {kind_name(kind)} fabric needs more than two levels of {switch.name}": ~tree.fits},
    )


def _tree(platform: Platform, switch: Switch, at_leaf: Ints, storage: Ints, oversubscription: float) -> Fabric:
    spine, kind = platform.spine_switch, platform.fabric
    if spine is None:
        return fat_tree(at_leaf + storage, leaf_ports(switch, kind), oversubscription)
    fast = _uplink_kind(switch, kind)
    on_spine = platform.attachment == "spine"
    return uplinked_leaves(
        at_leaf if on_spine else at_leaf + storage,
        leaf_ports(switch, kind),
        sum(p.count for p in switch.ports if p.use == "fabric" and p.kind == fast),
        GBIT_PER_S[fast] / GBIT_PER_S[kind],
        leaf_ports(spine, fast),
        storage if on_spine else 0,
        oversubscription,
    )


def _gateway_front_end(platform: Platform, rows: Shape) -> _Part:
    assert platform.gateway is not None
    kind = front_end_kind(platform)
    ports = rows.nodes * front_end_ports(platform)
    held = gateways(ports, gateway_uplink_count(platform, rows), _gateway_ports(platform))
    used = held.front_end_ports + held.uplinks
    zero = np.zeros_like(ports)
    network = Network(
        name="storage front end",
        purpose="files, from the storage through the gateway to the compute fabric",
        kind=kind,
        switch=platform.gateway.id,
        end_points=ports,
        leaves=zero,
        spines=zero,
        leaf_spine_cables=zero,
        ports_used=used,
        ports_free=held.gateways * _gateway_ports(platform) - used,
        oversubscription=np.ones(ports.shape),
        gateways=held.gateways,
        gateway_uplinks=held.uplinks,
        note=f"{front_end_ports(platform)} port(s) of each storage node in use behind the gateway",
    )
    return _Part(
        (network,),
        (SwitchCount("gateway", platform.gateway.id, held.gateways),),
        (Link("storage cable", kind, ports, stays_in_rack=True),),
        {},
    )


def _own_front_end(platform: Platform, rows: Shape) -> _Part:
    assert platform.storage_switch is not None
    kind, switch = front_end_kind(platform), platform.storage_switch
    servers = rows.n_servers * own_network_ports(platform.server, kind, platform.fabric)
    storage = rows.nodes * front_end_ports(platform)
    tree = fat_tree(servers + storage, leaf_ports(switch, kind))
    return _Part(
        (_network("storage front end", "files, apart from the compute fabric", kind, switch, servers + storage, tree),),
        (
            SwitchCount("storage leaf switch", switch.id, tree.leaves),
            SwitchCount("storage spine switch", switch.id, tree.spines),
        ),
        (
            Link("server storage cable", kind, servers),
            Link("storage cable", kind, storage),
            Link("storage inter-switch cable", kind, tree.leaf_spine_cables),
        ),
        {f"the storage network needs more than two levels of {switch.name}": ~tree.fits},
    )


def _back_end(platform: Platform, switch: Switch, rows: Shape) -> _Part:
    kind: LinkKind = next((p.kind for p in platform.storage.ports if p.use == "back-end"), "40gbe")
    ports = max((p.count for p in switch.ports if p.use in ("any", "back-end") and _runs(p, kind)), default=0)
    flat = platform.storage.back_end_flat_nodes
    side = fat_tree(rows.nodes, max(ports, 2), flat_ports=flat.value if flat is not None else None)
    both = Fabric(
        leaves=side.leaves * BACK_END_SIDES,
        spines=side.spines * BACK_END_SIDES,
        leaf_spine_cables=side.leaf_spine_cables * BACK_END_SIDES,
        ports_used=side.ports_used * BACK_END_SIDES,
        ports_free=side.ports_free * BACK_END_SIDES,
        oversubscription=side.oversubscription,
        fits=side.fits,
    )
    cables = rows.nodes * BACK_END_SIDES
    note = "two separate networks, int-a and int-b, on dedicated switches; nothing else may be attached"
    return _Part(
        (_network("storage back end", "traffic among the storage nodes", kind, switch, cables, both, note=note),),
        (
            SwitchCount("back-end switch", switch.id, both.leaves),
            SwitchCount("back-end spine switch", switch.id, both.spines),
        ),
        (
            Link("back-end cable", kind, cables, stays_in_rack=True),
            Link("back-end inter-switch cable", kind, both.leaf_spine_cables, stays_in_rack=True),
        ),
        {f"the storage back end needs more than two levels of {switch.name}": ~side.fits},
    )


def _management(platform: Platform, rows: Shape, counts: list[SwitchCount]) -> _Part:
    """1 GbE: one host port and the BMC of each server, one port of each storage node, switch and gateway.

    The Dell guide counts one port of head and compute nodes; that the rest shares the switch is assumed (RULES 3.6).
    """
    switch = platform.management_switch
    ports = rows.n_servers * management_ports(platform.server)
    if platform.head_node is not None:
        ports = ports + rows.heads * management_ports(platform.head_node)
    if platform.storage_server is not None:
        ports = ports + rows.units * management_ports(platform.storage_server)
    else:
        ports = ports + rows.units * sum(p.count for p in platform.storage.ports if p.use == "management")
    for count in counts:
        ports = ports + count.quantity
    ports = np.where(rows.has_management, ports, 0)
    per_switch = leaf_ports(switch, "1gbe")
    needed = -(-ports // per_switch)
    zero = np.zeros_like(ports)
    network = Network(
        name="management",
        purpose="deployment, monitoring and maintenance",
        kind="1gbe",
        switch=switch.id,
        end_points=ports,
        leaves=needed,
        spines=zero,
        leaf_spine_cables=zero,
        ports_used=ports,
        ports_free=needed * per_switch - ports,
        oversubscription=np.ones(ports.shape),
        gateways=zero,
        gateway_uplinks=zero,
        note="BMC ports share this network by assumption; uplinks of its switches join the customer's LAN, by others",
    )
    return _Part(
        (network,),
        (SwitchCount("management switch", switch.id, needed),),
        (Link("management cable", "1gbe", ports),),
        {},
    )


def management_ports(server: Server) -> int:
    """Ports of a server on the 1 GbE network: one host port where it has one, and its BMC."""
    host = any(p.use == "management" and _runs(p, "1gbe") for p in server.ports)
    return int(host) + sum(p.count for p in server.ports if p.use == "bmc")


def front_end_kind(platform: Platform) -> LinkKind:
    """Link that the storage nodes attach with; storage servers run what the fabric runs."""
    storage: Storage = platform.storage
    if platform.storage_server is not None or storage.front_end_kind is None:
        return platform.fabric
    return storage.front_end_kind.value


def front_end_ports(platform: Platform) -> int:
    """Front-end ports of one storage node that are in use."""
    storage = platform.storage
    behind_gateway = platform.attachment == "gateway" and storage.gateway_ports_per_node is not None
    fact = storage.gateway_ports_per_node if behind_gateway else storage.front_end_ports_per_node
    return fact.value if fact is not None else 1


def gateway_uplink_count(platform: Platform, rows: Shape) -> Ints:
    """Uplinks that carry the front-end ports in use, at the rates of the gateway."""
    assert platform.gateway is not None
    gateway = platform.gateway
    ports = rows.nodes * front_end_ports(platform)
    return gateway_uplinks(ports, gateway.front_end_bytes_per_s.value, gateway.uplink_bytes_per_s.value)


def _gateway_ports(platform: Platform) -> int:
    assert platform.gateway is not None
    return leaf_ports(platform.gateway, platform.gateway.uplink_kind.value)


def _front_end_bytes_per_s(platform: Platform, rows: Shape) -> Floats:
    if counts_nodes(platform.storage):
        return np.asarray(rows.nodes * (front_end_ports(platform) * link_bytes_per_s(front_end_kind(platform))), float)
    if platform.storage.server is not None:
        return np.full(rows.nodes.shape, link_bytes_per_s(platform.fabric))
    return np.full(rows.nodes.shape, np.inf)


def _gateway_bytes_per_s(platform: Platform, rows: Shape) -> Floats:
    if platform.gateway is None:
        return np.full(rows.nodes.shape, np.inf)
    return np.asarray(gateway_uplink_count(platform, rows) * platform.gateway.uplink_bytes_per_s.value, float)


def _network(
    name: str,
    purpose: str,
    kind: LinkKind,
    switch: Switch,
    end_points: Ints,
    tree: Fabric,
    note: str = "",
) -> Network:
    zero = np.zeros_like(end_points)
    return Network(
        name=name,
        purpose=purpose,
        kind=kind,
        switch=switch.id,
        end_points=end_points,
        leaves=tree.leaves,
        spines=tree.spines,
        leaf_spine_cables=tree.leaf_spine_cables,
        ports_used=tree.ports_used,
        ports_free=tree.ports_free,
        oversubscription=tree.oversubscription,
        gateways=zero,
        gateway_uplinks=zero,
        note=note,
    )


def _uplink_kind(switch: Switch, kind: LinkKind) -> LinkKind:
    return next((p.kind for p in switch.ports if p.use == "fabric" and p.kind != kind), kind)


def _runs(port: Port, kind: LinkKind) -> bool:
    return port.kind == kind or kind in port.also
