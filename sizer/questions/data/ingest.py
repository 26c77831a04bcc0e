"""Ways by which the data reach the storage of a design, link by link, and how long each takes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sizer.base.quantities import by_count, grouped
from sizer.catalog.links import GBIT_PER_S, is_infiniband, kind_name, link_bytes_per_s
from sizer.catalog.schema import LinkKind, Server
from sizer.perf.data_transfer import fill_time_s
from sizer.physical.capacity import counts_nodes
from sizer.physical.networks.ports import fabric_numbers
from sizer.physical.networks.storage_networks import front_end_kind, front_end_ports
from sizer.physical.roles import NetworkRole, Role
from sizer.sizing.constraints.stored_data import StorageDemand
from sizer.sizing.result import DesignAnswer
from sizer.workload.data import DataCare, IngestPath

# The Dell guide: data from outside may be loaded through the gateway, so that they do not pass the head node.
_GUIDE = "dell-ready-ai-nvidia-2018"


@dataclass(frozen=True)
class PathLink:
    """One link of a way; the data pass it ``copies`` times."""

    name: str
    bytes_per_s: float
    copies: int = 1
    source: str = ""

    @property
    def data_bytes_per_s(self) -> float:
        """Rate at which it lets one copy of the data through. [B/s]"""
        return self.bytes_per_s / self.copies


@dataclass(frozen=True)
class Way:
    """One way into the storage."""

    key: IngestPath
    name: str
    links: tuple[PathLink, ...]  # in the order in which the data pass them
    note: str = ""


@dataclass(frozen=True)
class Fill:
    """How long one way takes to bring the data in."""

    way: Way
    data_bytes: float  # of one copy
    source: PathLink | None  # what the customer's source delivers, where the request states it
    write: PathLink | None  # what a published test wrote; None: no source gives a rate

    @property
    def links(self) -> tuple[PathLink, ...]:
        """Everything on the way that has a rate, the source first; the write rate is not among them."""
        return (*((self.source,) if self.source is not None else ()), *self.way.links)

    @property
    def slowest(self) -> PathLink | None:
        """The link that bounds the way; None where none has a known rate."""
        return min(self.links, key=lambda link: link.data_bytes_per_s, default=None)

    @property
    def least_s(self) -> float | None:
        """Time by the links alone: no less is possible. None where no link has a known rate. [s]"""
        if not self.links:
            return None
        return float(fill_time_s(self.data_bytes, *(link.data_bytes_per_s for link in self.links)))

    @property
    def published_s(self) -> float | None:
        """Time at the published write rate, or of the links where they are slower. None: no rate is published. [s]"""
        if self.write is None:
            return None
        rates = (self.write.data_bytes_per_s, *(link.data_bytes_per_s for link in self.links))
        return float(fill_time_s(self.data_bytes, *rates))

    @property
    def shown_s(self) -> float:
        """What ways are compared by; inf where nothing is known. [s]"""
        known = self.published_s if self.published_s is not None else self.least_s
        return np.inf if known is None else known


@dataclass(frozen=True)
class Ingest:
    """All ways of a design into its storage."""

    fills: tuple[Fill, ...]  # the quickest first
    chosen: Fill | None  # the one asked for, else the quickest; None: the design has no way whose links are known
    missing: IngestPath | None  # the way that was asked for and that the design does not have
    n_files: float  # single files among the data; 0: records


def ingest(design: DesignAnswer, held: StorageDemand, care: DataCare) -> Ingest:
    """Time to bring the data of a design in, by every way that it has.

    Parameters
    ----------
    design : DesignAnswer
    held : StorageDemand
        What comes in: the raw sets where they are transformed inside, else the sets as they are read.
    care : DataCare
        The way asked for, and what the source delivers.

    Notes
    -----
    Bytes over the slowest link of the way. A rate in files a second is in no source, so a set of single files may take
    longer than its bytes do.
    """
    data = held.raw_bytes or held.sets_bytes
    write = _write(design)
    fills = [Fill(way, data, _source(care, _copies(design)), write) for way in _ways(design)]
    fills.sort(key=lambda fill: (fill.shown_s, fill.least_s or np.inf))
    asked = [fill for fill in fills if fill.way.key == care.ingest]
    single = [one for one in held.sets if any(design.workloads[r].dataset.format == "raw files" for r in one.readers)]
    return Ingest(
        fills=tuple(fills),
        chosen=next(iter(asked or fills), None),
        missing=care.ingest if care.ingest is not None and not asked else None,
        n_files=sum(one.n_samples for one in single),
    )


def outside_kind(server: Server, fabric: LinkKind) -> LinkKind | None:
    """Fastest Ethernet port of a server that is neither on the compute fabric nor its BMC; None where there is none."""
    kinds = [
        port.kind
        for port in server.ports
        if port.use != "bmc" and not is_infiniband(port.kind) and fabric not in (port.kind, *port.also)
    ]
    return max(kinds, key=lambda kind: GBIT_PER_S[kind], default=None)


def _copies(design: DesignAnswer) -> int:
    """Copies that come in: every server with drives of its own gets one."""
    return design.n_servers if design.platform.storage.kind == "local" else 1


def _source(care: DataCare, copies: int) -> PathLink | None:
    if care.source_bytes_per_s is None:
        return None
    return PathLink("the customer's source, as stated", care.source_bytes_per_s, copies)


def _write(design: DesignAnswer) -> PathLink | None:
    fact = design.platform.storage.test_write_bytes_per_s
    return None if fact is None else PathLink("writes of a published test", fact.value, source=fact.source)


def _ways(design: DesignAnswer) -> Iterator[Way]:
    platform = design.platform
    if platform.storage.kind == "local":
        yield from _to_servers(design)
        return
    # The first of equals is taken: through the gateway nothing more has to be connected.
    if platform.attachment == "gateway":
        yield from _through_gateway(design)
    front = _front_end(design)
    if front is not None:
        yield front
    if platform.head_node is not None and any(device.role is Role.HEAD_NODE for device in design.plan.devices):
        yield from _through_host(design, platform.head_node, "Through the head node")
    else:
        # A design of one server has no head node: the server takes its part.
        yield from _through_host(design, platform.server, "Through the GPU server")


def _to_servers(design: DesignAnswer) -> Iterator[Way]:
    platform = design.platform
    kind = outside_kind(platform.server, platform.fabric)
    if kind is not None:
        link = PathLink(f"a port of each server, {kind_name(kind)}", link_bytes_per_s(kind))
        yield Way("front-end", "Through ports of the servers", (link,), "every server gets a copy")


def _ports(count: int, kind: LinkKind, text: str, source: str = "") -> PathLink:
    return PathLink(text, count * link_bytes_per_s(kind), source=source)


def _front_end(design: DesignAnswer) -> Way | None:
    """The storage's own ports, where they are Ethernet; InfiniBand has no way out but through a gateway or a host."""
    platform, storage = design.platform, design.platform.storage
    if not counts_nodes(storage):
        if platform.attachment != "lan":
            return None
        return Way("front-end", "Over the customer's LAN", (), "the storage is the customer's; its links are by others")
    kind = front_end_kind(platform)
    fact = storage.front_end_ports_per_node
    used = front_end_ports(platform)
    free = (fact.value if fact is not None else used) - used
    if platform.attachment != "gateway":
        free = used
    count = design.storage_nodes * free
    if is_infiniband(kind) or not count:
        return None
    text = by_count(
        count,
        f"{grouped(count)} port of the storage, {kind_name(kind)}",
        f"{grouped(count)} ports of the storage, {kind_name(kind)} each",
    )
    behind = "ports that the gateway leaves free" if platform.attachment == "gateway" else ""
    return Way("front-end", "Through the front end of the storage", (_ports(count, kind, text),), behind)


def _through_gateway(design: DesignAnswer) -> Iterator[Way]:
    """Free ports of the gateways, then the ports by which the storage hangs on them."""
    gateway = design.platform.gateway
    assert gateway is not None
    front = next(net for net in design.quantities.networks if net.role is NetworkRole.STORAGE)
    free, kind = int(front.ports_free[0]), gateway.front_end_kind.value
    if not free:
        return
    used = int(front.end_points[0])
    links = (
        PathLink(
            by_count(free, f"{grouped(free)} free port of the gateway", f"{grouped(free)} free ports of the gateway"),
            free * gateway.front_end_bytes_per_s.value,
            source=_GUIDE,
        ),
        _ports(
            used,
            kind,
            by_count(
                used,
                f"{grouped(used)} port of the storage behind it",
                f"{grouped(used)} ports of the storage behind it",
            ),
        ),
    )
    yield Way("gateway", "Through the gateway", links, "past the head node")


def _through_host(design: DesignAnswer, host: Server, name: str) -> Iterator[Way]:
    """One port of a host to the outside, its port on the fabric, and what lies between that and the storage.

    One port, not all: the others are there so that one may fail, and a single copy runs over one of them.
    """
    platform, counts = design.platform, design.quantities
    outside = outside_kind(host, platform.fabric)
    if outside is None:
        return
    links = [PathLink(f"one port of it to the outside, {kind_name(outside)}", link_bytes_per_s(outside))]
    if platform.storage.server is None or platform.storage.server.value != host.id:
        if fabric_numbers(host, platform.fabric).size:
            inside = f"its port on the compute fabric, {kind_name(platform.fabric)}"
            links.append(PathLink(inside, link_bytes_per_s(platform.fabric)))
        if platform.gateway is not None:
            links.append(PathLink("uplinks of the gateway", float(counts.gateway_bytes_per_s[0]), source=_GUIDE))
        line = float(counts.front_end_bytes_per_s[0])
        if counts_nodes(platform.storage) and np.isfinite(line):
            links.append(PathLink("ports of the storage", line))
    yield Way("head-node", name, tuple(links))
