"""What runs over a link, in words and in line width."""

import math

from sizer.catalog.schema import IntraLink, LinkKind, Port, Server
from sizer.physical.plan import Network
from sizer.sizing.result import DesignAnswer

# Signalling rate on the label of each kind of port. [Gbit/s]
GBIT_PER_S: dict[LinkKind, int] = {
    "hdr": 200,
    "edr": 100,
    "fdr": 56,
    "qdr": 40,
    "100gbe": 100,
    "40gbe": 40,
    "25gbe": 25,
    "10gbe": 10,
    "1gbe": 1,
}
_INFINIBAND = {"hdr": "HDR", "edr": "EDR", "fdr": "FDR", "qdr": "QDR"}

INTRA_LINKS: dict[IntraLink, str] = {
    "nvlink1": "NVLink",
    "nvlink2": "NVLink 2",
    "nvswitch": "NVSwitch",
    "pcie3": "PCIe 3.0",
}


def kind_name(kind: LinkKind) -> str:
    """Name of a kind of link: 'EDR InfiniBand', '40 GbE'."""
    if kind in _INFINIBAND:
        return f"{_INFINIBAND[kind]} InfiniBand"
    return f"{GBIT_PER_S[kind]} GbE"


def link_text(count: int, kind: LinkKind) -> str:
    """Count and speed of a bundle: '3 × FDR 56 Gbit/s', '16 × 40 GbE'."""
    if kind in _INFINIBAND:
        return f"{count} × {_INFINIBAND[kind]} {GBIT_PER_S[kind]} Gbit/s"
    return f"{count} × {GBIT_PER_S[kind]} GbE"


def stroke(kind: LinkKind) -> float:
    """Line width of a link; it grows with the logarithm of the speed."""
    return 0.8 + 1.2 * math.log10(GBIT_PER_S[kind])


def _runs(port: Port, kind: LinkKind) -> bool:
    return kind == port.kind or kind in port.also


def fabric_ports(server: Server, kind: LinkKind) -> int:
    """Ports of one server that can join a fabric of ``kind``; at least one, since the server is attached."""
    carrying = [port for port in server.ports if port.use not in ("management", "bmc") and _runs(port, kind)]
    return max(sum(port.count for port in carrying), 1)


def network(design: DesignAnswer, *names: str) -> Network | None:
    """First of the design's networks whose name holds one of ``names``."""
    return next((net for net in design.quantities.networks for name in names if name in net.name), None)


def front_end_links(design: DesignAnswer) -> int:
    """Cables between the storage and whatever it is attached to."""
    per_node = design.platform.storage.front_end_ports_per_node
    ports = 1 if per_node is None else per_node.value
    if design.platform.storage_server is not None and per_node is None:
        ports = fabric_ports(design.platform.storage_server, design.platform.fabric)
    return max(design.storage_nodes, 1) * ports


def storage_kind(design: DesignAnswer) -> LinkKind:
    """Kind of the storage's front-end ports."""
    fact = design.platform.storage.front_end_kind
    return design.platform.fabric if fact is None else fact.value
