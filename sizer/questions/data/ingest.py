"""Routes by which the data reach the storage of a design, link by link, and the time that each takes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sizer.catalog.links import LinkType
from sizer.perf.data_transfer import fill_time_s
from sizer.physical.capacity import counts_nodes
from sizer.physical.networks.ports import DevicePort, device_ports
from sizer.physical.networks.storage_networks import front_end_kind, front_end_ports
from sizer.physical.platform import Attachment
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.constraints.stored_data import StorageDemand
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.storage_rates import node_write_rates
from sizer.workload.data import DataRequest, IngestPath

# The Dell guide: data from outside may be loaded through the gateway and bypass the head node.
_GUIDE = "dell-ready-ai-nvidia-2018"


class IngestLinkRole(StrEnum):
    """What a link of a route is."""

    CUSTOMER_SOURCE = "customer source"
    PUBLISHED_WRITES = "published writes"  # the write rate of a published test
    MOST_WRITES = "most writes"  # the most that the nodes write or are assumed to, where no test is published
    SERVER_PORT = "server port"  # one of each server
    STORAGE_PORTS = "storage ports"
    STORAGE_LINE = "storage line"  # all ports of the storage
    PORTS_BEHIND_GATEWAY = "ports behind gateway"  # of the storage
    GATEWAY_PORTS = "gateway ports"  # free ones
    GATEWAY_UPLINKS = "gateway uplinks"
    SWITCH_PORTS = "switch ports"  # free ones, of the switches that the storage joins
    HOST_PORT = "host port"  # one external port of the head node or GPU server
    FABRIC_PORT = "fabric port"  # of that host
    STORAGE_NETWORK_PORT = "storage network port"  # of that host


class IngestEntry(StrEnum):
    """Where the data enter the cluster."""

    SERVER_PORTS = "server ports"  # every server with its own drives gets a copy
    CUSTOMER_LAN = "customer LAN"  # the storage is the customer's
    FRONT_END = "front end"
    FREE_FRONT_END = "free front end"  # storage ports that the gateway does not use
    GATEWAY = "gateway"
    HEAD_NODE = "head node"
    GPU_SERVER = "GPU server"  # in a design of one server, which has no head node


@dataclass(frozen=True)
class IngestLink:
    """One link of a route; the data pass it ``copies`` times."""

    role: IngestLinkRole
    bytes_per_s: float
    n_ports: int = 0  # 0: not a number of ports
    port_kind: LinkType | None = None
    copies: int = 1
    source: str = ""
    is_by_others: bool = False  # a port that the design has, with a cable of the customer

    @property
    def data_bytes_per_s(self) -> float:
        """Rate for one copy of the data. [B/s]"""
        return self.bytes_per_s / self.copies


@dataclass(frozen=True)
class IngestRoute:
    """One route into the storage, and the time that the data take on it."""

    key: IngestPath
    entry: IngestEntry
    network_links: tuple[IngestLink, ...]  # in the order in which the data pass them
    data_bytes: float = 0.0  # of one copy
    source: IngestLink | None = None  # the customer's source, if the request states its rate
    write: IngestLink | None = None  # writes of a published test; None: no source gives a rate
    least_writes: IngestLink | None = None  # the least that the nodes are assumed to write, where that is so

    @property
    def links(self) -> tuple[IngestLink, ...]:
        """All links with a known rate, the customer's source first; without the write rate."""
        return (*((self.source,) if self.source is not None else ()), *self.network_links)

    @property
    def slowest(self) -> IngestLink | None:
        """The slowest link; None if no rate is known."""
        return min(self.links, key=lambda link: link.data_bytes_per_s, default=None)

    @property
    def least_s(self) -> float | None:
        """Lower bound of the time, from the links alone; None if no link has a known rate. [s]"""
        if not self.links:
            return None
        return float(fill_time_s(self.data_bytes, *(link.data_bytes_per_s for link in self.links)))

    @property
    def most_s(self) -> float | None:
        """Time at the least that the nodes are assumed to write; None without such an assumption. [s]"""
        return self._written_s(self.least_writes)

    @property
    def published_s(self) -> float | None:
        """Time at the published write rate, or of the links if they are slower. None: no rate is published. [s]"""
        return self._written_s(self.write)

    def _written_s(self, write: IngestLink | None) -> float | None:
        """Time where the storage writes at this rate, or of the links if they are slower. [s]"""
        if write is None:
            return None
        return float(fill_time_s(self.data_bytes, *(link.data_bytes_per_s for link in (write, *self.links))))

    @property
    def shown_s(self) -> float:
        """The best known time, at the published write rate if there is one; inf: none is known. [s]"""
        known = self.least_s if self.published_s is None else self.published_s
        return np.inf if known is None else known


@dataclass(frozen=True)
class IngestPlan:
    """All routes of a design into its storage."""

    routes: tuple[IngestRoute, ...]  # the quickest first
    chosen: IngestRoute | None  # the requested one, else the quickest; None: the design has no route
    missing: IngestPath | None  # a requested route that the design lacks
    n_files: float  # single files among the data; 0: records


def ingest_plan(design: DesignAnswer, stored: StorageDemand, data: DataRequest) -> IngestPlan:
    """Time to ingest the data of a design, by every route that it has.

    Bytes / rate of the slowest link of the route. No source gives a rate in files per second, so a set of single files
    may take longer.

    ``stored``: the data sets; the raw ones are ingested if they are transformed inside. ``data``: the requested
    route, and the rate of the source.
    """
    data_bytes = stored.raw_bytes or stored.sets_bytes
    source, write = _source(data, design.n_servers if design.platform.storage.kind == "local" else 1), _write(design)
    least, most = (None, None) if write is not None else _writes(design)
    routes = [
        replace(
            route,
            data_bytes=data_bytes,
            source=source,
            write=write,
            least_writes=least,
            network_links=(*route.network_links, *(() if most is None else (most,))),
        )
        for route in _routes(design)
    ]
    routes.sort(key=lambda route: (route.shown_s, route.least_s or np.inf))
    requested = [route for route in routes if route.key == data.ingest]
    return IngestPlan(
        routes=tuple(routes),
        chosen=next(iter(requested or routes), None),
        missing=data.ingest if data.ingest is not None and not requested else None,
        n_files=sum(
            data_set.n_samples
            for data_set in stored.sets
            if any(design.workloads[reader].dataset.format == "raw files" for reader in data_set.readers)
        ),
    )


@dataclass(frozen=True)
class _Port:
    """The port by which a device reaches the customer's network."""

    kind: LinkType
    is_cabled: bool  # by the design; False: a free port, its cable is by others


def _outside_port(design: DesignAnswer, role: Role) -> _Port | None:
    """Fastest Ethernet port of the first device of a role that leads outside; None if it has none.

    The ports that the design cables to its in-band and management networks run at the rate of their links. A port that
    no network of the design takes may be cabled to the customer's network.
    """
    cabled = _cabled(design, role)
    if cabled is None:
        return None
    device, kinds = cabled
    found = [
        _Port(kind, is_cabled=True)
        for number, (network, kind) in kinds.items()
        if network in (NetworkRole.IN_BAND, NetworkRole.MANAGEMENT) and device[number].group.use != "bmc"
    ]
    # Where no switch joins the servers, their ports for the fabric are free.
    networks = design.quantities.networks
    has_fabric = any(net.role is NetworkRole.COMPUTE and int(net.end_points[0]) for net in networks)
    fabric = design.platform.fabric if has_fabric else None
    found += [
        _Port(port.group.kind, is_cabled=False)
        for number, port in enumerate(device)
        if number not in kinds
        and port.group.use not in ("bmc", "storage-network", "back-end")
        and not port.group.kind.is_infiniband
        and fabric not in port.group.kinds
    ]
    return max(found, key=lambda port: (port.kind.gbit_per_s.value, port.is_cabled), default=None)


def _cabled(
    design: DesignAnswer, role: Role
) -> tuple[tuple[DevicePort, ...], dict[int, tuple[NetworkRole, LinkType]]] | None:
    """Ports of the first device of a role, and those with a cable, each with its network and what it runs."""
    plan = design.plan
    device = next((one for one in plan.devices if one.role is role), None)
    if device is None:
        return None
    found = {
        int(port): (cable.run.network.network, cable.run.kind)
        for cable in plan.cables
        for port in cable.run.a_port[cable.run.a_device == device.number]
    }
    return device_ports(plan.device(device.item)), found


def _source(data: DataRequest, copies: int) -> IngestLink | None:
    if data.source_bytes_per_s is None:
        return None
    return IngestLink(IngestLinkRole.CUSTOMER_SOURCE, data.source_bytes_per_s, copies=copies)


def _write(design: DesignAnswer) -> IngestLink | None:
    fact = design.platform.storage.test_write_bytes_per_s
    return None if fact is None else IngestLink(IngestLinkRole.PUBLISHED_WRITES, fact.value, source=fact.source)


def _writes(design: DesignAnswer) -> tuple[IngestLink | None, IngestLink | None]:
    """The least and the most that the nodes write: the data cannot arrive faster, however fast the links are."""
    platform = design.platform
    if not counts_nodes(platform.storage):
        return None, None
    low, high = (design.storage_nodes * rate for rate in node_write_rates(platform))
    if not np.isfinite(high):
        return None, None
    least, most = (IngestLink(IngestLinkRole.MOST_WRITES, rate) for rate in (low, high))
    return (least if low < high else None), most


def _routes(design: DesignAnswer) -> Iterator[IngestRoute]:
    platform = design.platform
    if platform.storage.kind == "local":
        port = _outside_port(design, Role.GPU_SERVER)
        if port is not None:
            link = _ports(IngestLinkRole.SERVER_PORT, 1, port.kind, is_by_others=not port.is_cabled)
            yield IngestRoute("front-end", IngestEntry.SERVER_PORTS, (link,))
        return
    # The first of equals is chosen: the gateway needs no additional connection.
    if platform.attachment == "gateway":
        yield from _through_gateway(design)
    front = _front_end(design)
    if front is not None:
        yield front
    if platform.head_node is not None and any(device.role is Role.HEAD_NODE for device in design.plan.devices):
        yield from _through_host(design, Role.HEAD_NODE, IngestEntry.HEAD_NODE)
    else:
        yield from _through_host(design, Role.GPU_SERVER, IngestEntry.GPU_SERVER)


def _ports(role: IngestLinkRole, count: int, kind: LinkType, *, is_by_others: bool = False) -> IngestLink:
    return IngestLink(role, count * kind.bytes_per_s, count, kind, is_by_others=is_by_others)


def _front_end(design: DesignAnswer) -> IngestRoute | None:
    """The storage's own Ethernet ports; InfiniBand is reached only through a gateway or a host."""
    platform, storage = design.platform, design.platform.storage
    if not counts_nodes(storage):
        if platform.attachment != "lan":
            return None
        return IngestRoute("front-end", IngestEntry.CUSTOMER_LAN, ())
    kind = front_end_kind(platform)
    fact = storage.front_end_ports_per_node
    used = front_end_ports(platform)
    free = (fact.value if fact is not None else used) - used
    if platform.attachment != "gateway":
        free = used
    count = design.storage_nodes * free
    if kind.is_infiniband or not count:
        return None
    storage_ports = _ports(IngestLinkRole.STORAGE_PORTS, count, kind)
    if platform.attachment == "gateway":
        return IngestRoute("front-end", IngestEntry.FREE_FRONT_END, (replace(storage_ports, is_by_others=True),))
    role = NetworkRole.STORAGE if platform.attachment == "own network" else NetworkRole.COMPUTE
    network = next(net for net in design.quantities.networks if net.role is role)
    switch_ports = int(network.leaf_ports_free[0])
    if not switch_ports:
        return None
    entrance = _ports(IngestLinkRole.SWITCH_PORTS, switch_ports, network.kind, is_by_others=True)
    return IngestRoute("front-end", IngestEntry.FRONT_END, (entrance, storage_ports))


def _through_gateway(design: DesignAnswer) -> Iterator[IngestRoute]:
    """Free ports of the gateways, then the ports that connect the storage to them."""
    gateway = design.platform.gateway
    assert gateway is not None
    front = next(net for net in design.quantities.networks if net.role is NetworkRole.STORAGE)
    free, kind = int(front.ports_free[0]), gateway.front_end_kind.value
    if not free:
        return
    used = int(front.end_points[0])
    gateway_ports = IngestLink(
        IngestLinkRole.GATEWAY_PORTS, free * gateway.front_end_bytes_per_s.value, free, source=_GUIDE
    )
    storage_ports = _ports(IngestLinkRole.PORTS_BEHIND_GATEWAY, used, kind)
    yield IngestRoute("gateway", IngestEntry.GATEWAY, (gateway_ports, storage_ports))


def _through_host(design: DesignAnswer, role: Role, entry: IngestEntry) -> Iterator[IngestRoute]:
    """One external port of a host, its port on the way to the storage, and the links between that and the storage.

    One port only: the others are for redundancy, and a single copy uses one of them. A host without a cable to the
    storage is no route.
    """
    platform, counts = design.platform, design.quantities
    outside, cabled = _outside_port(design, role), _cabled(design, role)
    if outside is None or cabled is None:
        return
    host = platform.head_node if role is Role.HEAD_NODE else platform.server
    links = [_ports(IngestLinkRole.HOST_PORT, 1, outside.kind, is_by_others=not outside.is_cabled)]
    is_storage = platform.storage.server is not None and host is not None and platform.storage.server.value == host.id
    if not is_storage:
        inward = _inward(platform.attachment, list(cabled[1].values()))
        if inward is not None:
            links.append(inward)
        elif platform.attachment != "lan":
            return
        if platform.gateway is not None:
            uplinks_bytes_per_s = float(counts.gateway_bytes_per_s[0])
            links.append(IngestLink(IngestLinkRole.GATEWAY_UPLINKS, uplinks_bytes_per_s, source=_GUIDE))
        line = float(counts.front_end_bytes_per_s[0])
        if counts_nodes(platform.storage) and np.isfinite(line):
            links.append(IngestLink(IngestLinkRole.STORAGE_LINE, line))
    yield IngestRoute("head-node", entry, tuple(links))


def _inward(attachment: Attachment, cabled: list[tuple[NetworkRole, LinkType]]) -> IngestLink | None:
    """Port of a host on the network of the storage; None without one."""
    network = NetworkRole.STORAGE if attachment == "own network" else NetworkRole.COMPUTE
    role = IngestLinkRole.STORAGE_NETWORK_PORT if network is NetworkRole.STORAGE else IngestLinkRole.FABRIC_PORT
    kind = next((kind for joined, kind in cabled if joined is network), None)
    return None if kind is None else _ports(role, 1, kind)
