"""What of a building plan still works when devices or cables of it are lost, by its links and its protection."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from sizer.catalog.schema import Storage
from sizer.physical.networks.storage_networks import storage_role
from sizer.physical.plan import Connection, Plan
from sizer.physical.roles import NetworkPlane, NetworkRole, Role

# OneFS writes what a layout survives: "+2d:1n" two drives or one node, "+3d:1n1d" three drives, or one node and one
# drive, "+2n" two nodes and so two drives ("emc-overhead-15", "udt-overhead").
_ONEFS = re.compile(r"\+(?:(?P<drives>\d+)d:)?(?P<nodes>\d+)n(?:\d+d)?")
# A stripe of RAID 50 has one parity drive in each group ("dell-ready-ai-nvidia-2018").
_RAID = re.compile(r"RAID\s*(?P<level>\d+)")
_RAID_DRIVES = {"0": 0, "1": 1, "5": 1, "6": 2, "10": 1, "50": 1, "60": 2}


def nodes_survived(storage: Storage) -> int | None:
    """Nodes that may be lost at once without loss of data; None where no source says. [-]

    Stripes of a software system lie on as many nodes as they have blocks, so it survives one node a parity block.

    Examples
    --------
    >>> from sizer.catalog.loader import load_catalog
    >>> [nodes_survived(load_catalog().storage[name]) for name in ("isilon-f800", "wekaio", "hnas")]
    [1, 2, None]
    """
    if storage.stripe_parity is not None:
        return storage.stripe_parity.value
    match = _onefs(storage)
    return int(match["nodes"]) if match is not None else None


def drives_survived(storage: Storage) -> int | None:
    """Drives that may be lost at once without loss of data, wherever they are; None where no source says. [-]

    An appliance protects its drives inside; how many it survives is known only where its source says so.

    Examples
    --------
    >>> from sizer.catalog.loader import load_catalog
    >>> [drives_survived(load_catalog().storage[name]) for name in ("isilon-f800", "head-node-nfs", "hnas")]
    [2, 1, None]
    """
    if storage.stripe_parity is not None and storage.controllers is None:
        return storage.stripe_parity.value
    match = _onefs(storage)
    if match is not None:
        return int(match["drives"] or match["nodes"])
    raid = _RAID.search(storage.protection.value) if storage.protection is not None else None
    return _RAID_DRIVES.get(raid["level"]) if raid is not None else None


def _onefs(storage: Storage) -> re.Match[str] | None:
    return _ONEFS.fullmatch(storage.protection.value) if storage.protection is not None else None


@dataclass(frozen=True)
class Remaining:
    """What is left. Shares are those of the line rates that were there, 0..1."""

    n_servers: int  # GPU servers that reach one another, and the storage where any does
    exchange_share: float  # towards one another, of the worst of them
    reaches_storage: bool
    file_share: float  # towards the storage, of the worst of them
    storage_nodes: int  # that servers reach; 0 where no link of the plan leads to any
    node_port_share: float  # of the front-end ports of these nodes
    gateway_share: float  # of the uplinks of the gateways


@dataclass(frozen=True)
class _State:
    """Links that work, the switches that they hold together, and the share of its uplinks that a network keeps."""

    links: Sequence[Connection]
    joined: frozenset[str]
    up: dict[NetworkPlane, float]

    @cached_property
    def reached(self) -> frozenset[str]:
        """Ids of the links that end on a switch of the piece that works."""
        return frozenset(link.id for link in self.links if link.z.device in self.joined)


class Losses:
    """The links of a plan that carry gradients and files, and what is left of them after a loss."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._role = {device.name: device.role for device in plan.devices}
        self._links = [k for k in plan.connections if k.network.network in (NetworkRole.COMPUTE, NetworkRole.STORAGE)]
        self._storage = (Role.STORAGE_SERVER, storage_role(plan.inputs.platform.storage))

    @cached_property
    def whole(self) -> Remaining:
        """What there is while everything works."""
        return self.without()

    def named(self, *roles: Role) -> list[str]:
        """Devices of some roles, in the order of the plan."""
        return [name for name, role in self._role.items() if role in roles]

    def links(self, role: Role) -> list[Connection]:
        """Links that carry gradients or files and start at a device of a role."""
        return [link for link in self._links if self._role.get(link.a.device) == role]

    def links_between_switches(self) -> list[Connection]:
        """Links that join two switches of the networks for gradients and files."""
        return [link for link in self._links if self._is_between(link)]

    @cached_property
    def storage_nodes(self) -> dict[tuple[str, int], list[Connection]]:
        """Front-end links of every storage node; a chassis has the ports of several."""
        nodes: dict[tuple[str, int], list[Connection]] = {}
        for link in self._links:
            if self._role.get(link.a.device) in self._storage:
                nodes.setdefault((link.a.device, link.a.node), []).append(link)
        return nodes

    def without(
        self, devices: Collection[str] = (), cables: Collection[str] = (), *, only_whole: bool = False
    ) -> Remaining:
        """What is left after a loss.

        ``devices``, ``cables``: what is lost: names of devices, ids of cables. ``only_whole``: leave out servers that
        keep less than the best connected ones, so that they hold up no others. Returns counts and shares of what was
        there.

        Switches are taken to route around what is lost. Of a network that falls apart the piece with the most servers
        counts. Where a switch keeps part of its uplinks, all that hangs on its network is taken to have that
        part: the worst case, as for an oversubscribed fabric (``networks.fabric_share``).
        """
        state = self._state(frozenset(devices), frozenset(cables))
        servers = [name for name in self.named(Role.GPU_SERVER) if name not in devices]
        files = self._shares(servers, state, self._ways_to_storage())
        exchange = dict.fromkeys(servers, 1.0)
        if self._plan.inputs.n_servers > 1:
            exchange = self._shares(servers, state, self._planes(NetworkRole.COMPUTE))
        if only_whole:
            most = max(exchange.values(), default=0.0)
            servers = [name for name in servers if exchange[name] == most]
        able = [name for name in servers if exchange[name] > 0]
        fed = [name for name in able if files[name] > 0]
        nodes, ports = self._nodes_left(state)
        reaches = bool(fed) and self._holds_data(state, devices) and self._is_served(state, devices)
        running = fed if reaches else able
        uplinks = self.links(Role.GATEWAY)
        working = {link.id for link in state.links}
        return Remaining(
            n_servers=len(running),
            exchange_share=min((exchange[name] for name in running), default=0.0),
            reaches_storage=reaches,
            file_share=min((files[name] for name in running), default=0.0),
            storage_nodes=nodes,
            node_port_share=ports,
            gateway_share=sum(link.id in working for link in uplinks) / len(uplinks) if uplinks else 1.0,
        )

    def _is_between(self, link: Connection) -> bool:
        role = self._role.get(link.a.device)
        return role is not None and role.is_switch

    def _planes(self, network: NetworkRole) -> list[NetworkPlane]:
        return list(dict.fromkeys(k.network for k in self._links if k.network.network is network))

    def _state(self, devices: Collection[str], cables: Collection[str]) -> _State:
        links = [k for k in self._links if not (k.a.device in devices or k.z.device in devices or k.id in cables)]
        return _State(links, self._joined(links), self._uplink_shares(links))

    def _joined(self, links: Iterable[Connection]) -> frozenset[str]:
        """Switches of the main piece of each network, and gateways with a way into it."""
        links = list(links)
        parent: dict[str, str] = {}

        def root(name: str) -> str:
            while parent.setdefault(name, name) != name:
                parent[name] = parent[parent[name]]
                name = parent[name]
            return name

        for link in links:
            if self._is_between(link):
                parent[root(link.a.device)] = root(link.z.device)
        # Servers decide which piece counts; storage only where no server hangs, as behind a gateway.
        members: dict[tuple[NetworkPlane, str], set[str]] = {}
        for link in links:
            members.setdefault((link.network, root(link.z.device)), set()).add(link.a.device)
        main: dict[NetworkPlane, str] = {}
        most: dict[NetworkPlane, tuple[int, int]] = {}
        for (network, piece), devices in members.items():
            roles = Counter(self._role.get(device) for device in devices)
            weight = (roles[Role.GPU_SERVER], sum(roles[role] for role in set(self._storage)))
            if weight > most.get(network, (-1, -1)):
                main[network], most[network] = piece, weight
        pieces = frozenset(main.values())
        switches = {k.z.device for k in links if root(k.z.device) in pieces} - set(self.named(Role.GATEWAY))
        beside = {k.a.device for k in links if k.z.device in switches and self._role.get(k.a.device) == Role.GATEWAY}
        return frozenset(switches | beside)

    def _uplink_shares(self, links: Iterable[Connection]) -> dict[NetworkPlane, float]:
        """Worst share of its uplinks that a switch keeps, network by network."""
        had = Counter((k.network, k.a.device) for k in self._links if self._is_between(k))
        has = Counter((k.network, k.a.device) for k in links if self._is_between(k))
        shares: dict[NetworkPlane, float] = {}
        for (network, switch), count in had.items():
            # A switch without any uplink left holds nobody up: it is not of the piece that counts.
            if has[network, switch]:
                shares[network] = min(shares.get(network, 1.0), has[network, switch] / count)
        return shares

    def _shares(self, servers: Iterable[str], state: _State, planes: Collection[NetworkPlane]) -> dict[str, float]:
        """Share of the line rate that each server keeps on some networks; 1 where it has no port there."""
        had = Counter(link.a.device for link in self._links if link.network in planes)
        has: Counter[str] = Counter()
        shares: dict[str, float] = {}
        for link in state.links:
            if link.network in planes and link.id in state.reached:
                has[link.a.device] += 1
                shares[link.a.device] = shares.get(link.a.device, 0.0) + state.up.get(link.network, 1.0)
        return {name: shares.get(name, 0.0) / had[name] if had[name] else 1.0 for name in servers}

    def _ways_to_storage(self) -> list[NetworkPlane]:
        """Networks by which servers read: one for storage alone, or the rail of the fabric that the storage joins."""
        platform = self._plan.inputs.platform
        if platform.attachment == "own network":
            return self._planes(NetworkRole.STORAGE)
        is_over_fabric = platform.attachment in ("fabric", "gateway", "spine")
        if is_over_fabric or (platform.attachment == "lan" and not platform.fabric.is_infiniband):
            return self._planes(NetworkRole.COMPUTE)[:1]
        # Local drives need no network, and ports into the customer's LAN are by others.
        return []

    def _nodes_left(self, state: _State) -> tuple[int, float]:
        """Storage nodes with a port that servers reach, and the share of their ports that they keep."""
        ports = [(sum(k.id in state.reached for k in links), len(links)) for links in self.storage_nodes.values()]
        connected = [(has, had) for has, had in ports if has]
        return len(connected), sum(has for has, _ in connected) / sum(had for _, had in connected) if connected else 0.0

    def _holds_data(self, state: _State, devices: Collection[str]) -> bool:
        """Whether the storage nodes that are left hold the data; taken for granted where no source says so.

        A node that lost its front end still serves the others by the back end, where there is one.
        """
        lost = {name for name, links in self.storage_nodes.items() if links[0].a.device in devices}
        cut = {name for name, links in self.storage_nodes.items() if not any(k.id in state.reached for k in links)}
        gone = lost if self._plan.inputs.platform.back_end_switch is not None else lost | cut
        survives = nodes_survived(self._plan.inputs.platform.storage)
        if not self.storage_nodes:
            return True
        return len(cut) < len(self.storage_nodes) and (survives is None or len(gone) <= survives)

    def _is_served(self, state: _State, devices: Collection[str]) -> bool:
        """Whether storage that has no nodes in the plan is there: files of the head node, or of the customer's LAN."""
        platform = self._plan.inputs.platform
        if platform.storage.kind == "nfs-server" and platform.storage.server is not None:
            ways = self.links(Role.HEAD_NODE)
            return any(k.id in state.reached for k in ways) and not set(devices) & set(self.named(Role.HEAD_NODE))
        if platform.attachment == "lan":
            ways = [link for link in self._links if not link.a.item]
            return not ways or any(k.id in state.reached for k in ways)
        return True


def on_one_side(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Devices that go dark with a side, by that side: their inlets all hang on it, or their rack has no spare feed."""
    sides: dict[int, set[str]] = {}
    without_spare: dict[str, set[int]] = {}
    for rack in plan.racks:
        for feed in rack.feeds:
            for inlet in feed.inlets:
                sides.setdefault(inlet.device, set()).add(feed.side)
                if rack.redundancy == "N":
                    without_spare.setdefault(feed.side, set()).update(device.number for device in rack.devices)
    return {
        side: tuple(
            plan.devices[number].name
            for number, has in sorted(sides.items())
            if has == {side} or number in without_spare.get(side, ())
        )
        for side in sorted({side for has in sides.values() for side in has})
    }
