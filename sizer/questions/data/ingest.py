"""Routes by which the data reach the storage of a design, link by link, and the time that each takes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sizer.catalog.links import LinkType
from sizer.catalog.schema import Server
from sizer.perf.data_transfer import fill_time_s
from sizer.physical.capacity import counts_nodes
from sizer.physical.networks.ports import fabric_numbers
from sizer.physical.networks.storage_networks import front_end_kind, front_end_ports
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.constraints.stored_data import StorageDemand
from sizer.sizing.result import DesignAnswer
from sizer.workload.data import DataRequest, IngestPath

# The Dell guide: data from outside may be loaded through the gateway and bypass the head node.
_GUIDE = "dell-ready-ai-nvidia-2018"


class IngestLinkRole(StrEnum):
    """What a link of a route is."""

    CUSTOMER_SOURCE = "customer source"
    PUBLISHED_WRITES = "published writes"  # the write rate of a published test
    SERVER_PORT = "server port"  # one of each server
    STORAGE_PORTS = "storage ports"
    STORAGE_LINE = "storage line"  # all ports of the storage
    PORTS_BEHIND_GATEWAY = "ports behind gateway"  # of the storage
    GATEWAY_PORTS = "gateway ports"  # free ones
    GATEWAY_UPLINKS = "gateway uplinks"
    HOST_PORT = "host port"  # one external port of the head node or GPU server
    FABRIC_PORT = "fabric port"  # of that host


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
    def published_s(self) -> float | None:
        """Time at the published write rate, or of the links if they are slower. None: no rate is published. [s]"""
        if self.write is None:
            return None
        rates = (self.write.data_bytes_per_s, *(link.data_bytes_per_s for link in self.links))
        return float(fill_time_s(self.data_bytes, *rates))

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

    Parameters
    ----------
    design : DesignAnswer
    stored : StorageDemand
        The data sets; the raw ones are ingested if they are transformed inside.
    data : DataRequest
        The requested route, and the rate of the source.

    Notes
    -----
    Bytes / rate of the slowest link of the route. No source gives a rate in files per second, so a set of single files
    may take longer.
    """
    data_bytes = stored.raw_bytes or stored.sets_bytes
    source, write = _source(data, _copies(design)), _write(design)
    routes = [replace(route, data_bytes=data_bytes, source=source, write=write) for route in _routes(design)]
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


def outside_kind(server: Server, fabric: LinkType) -> LinkType | None:
    """Fastest Ethernet port of a server that is neither on the compute fabric nor its BMC; None if it has none."""
    kinds = [
        port.kind
        for port in server.ports
        if port.use != "bmc" and not port.kind.is_infiniband and fabric not in (port.kind, *port.also)
    ]
    return max(kinds, key=lambda kind: kind.gbit_per_s.value, default=None)


def _copies(design: DesignAnswer) -> int:
    """Copies to ingest: one for every server with its own drives."""
    return design.n_servers if design.platform.storage.kind == "local" else 1


def _source(data: DataRequest, copies: int) -> IngestLink | None:
    if data.source_bytes_per_s is None:
        return None
    return IngestLink(IngestLinkRole.CUSTOMER_SOURCE, data.source_bytes_per_s, copies=copies)


def _write(design: DesignAnswer) -> IngestLink | None:
    fact = design.platform.storage.test_write_bytes_per_s
    return None if fact is None else IngestLink(IngestLinkRole.PUBLISHED_WRITES, fact.value, source=fact.source)


def _routes(design: DesignAnswer) -> Iterator[IngestRoute]:
    platform = design.platform
    if platform.storage.kind == "local":
        yield from _to_servers(design)
        return
    # The first of equals is chosen: the gateway needs no additional connection.
    if platform.attachment == "gateway":
        yield from _through_gateway(design)
    front = _front_end(design)
    if front is not None:
        yield front
    if platform.head_node is not None and any(device.role is Role.HEAD_NODE for device in design.plan.devices):
        yield from _through_host(design, platform.head_node, IngestEntry.HEAD_NODE)
    else:
        yield from _through_host(design, platform.server, IngestEntry.GPU_SERVER)


def _to_servers(design: DesignAnswer) -> Iterator[IngestRoute]:
    platform = design.platform
    kind = outside_kind(platform.server, platform.fabric)
    if kind is not None:
        yield IngestRoute("front-end", IngestEntry.SERVER_PORTS, (_ports(IngestLinkRole.SERVER_PORT, 1, kind),))


def _ports(role: IngestLinkRole, count: int, kind: LinkType) -> IngestLink:
    return IngestLink(role, count * kind.bytes_per_s, count, kind)


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
    entry = IngestEntry.FREE_FRONT_END if platform.attachment == "gateway" else IngestEntry.FRONT_END
    return IngestRoute("front-end", entry, (_ports(IngestLinkRole.STORAGE_PORTS, count, kind),))


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


def _through_host(design: DesignAnswer, host: Server, entry: IngestEntry) -> Iterator[IngestRoute]:
    """One external port of a host, its port on the fabric, and the links between that and the storage.

    One port only: the others are for redundancy, and a single copy uses one of them.
    """
    platform, counts = design.platform, design.quantities
    outside = outside_kind(host, platform.fabric)
    if outside is None:
        return
    links = [_ports(IngestLinkRole.HOST_PORT, 1, outside)]
    if platform.storage.server is None or platform.storage.server.value != host.id:
        if fabric_numbers(host, platform.fabric).size:
            links.append(_ports(IngestLinkRole.FABRIC_PORT, 1, platform.fabric))
        if platform.gateway is not None:
            uplinks_bytes_per_s = float(counts.gateway_bytes_per_s[0])
            links.append(IngestLink(IngestLinkRole.GATEWAY_UPLINKS, uplinks_bytes_per_s, source=_GUIDE))
        line = float(counts.front_end_bytes_per_s[0])
        if counts_nodes(platform.storage) and np.isfinite(line):
            links.append(IngestLink(IngestLinkRole.STORAGE_LINE, line))
    yield IngestRoute("head-node", entry, tuple(links))
