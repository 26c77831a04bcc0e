"""What runs over a link, in words and in line width, and where to find it in a design."""

import math

from sizer.base.quantities import si, significant
from sizer.catalog.links import GBIT_PER_S, fabric_ports, is_infiniband
from sizer.catalog.schema import IntraLink, LinkKind
from sizer.physical.plan import Network
from sizer.sizing.result import DesignAnswer

INTRA_LINKS: dict[IntraLink, str] = {
    "nvlink1": "NVLink",
    "nvlink2": "NVLink 2",
    "nvswitch": "NVSwitch",
    "pcie3": "PCIe 3.0",
}


def link_text(count: int, kind: LinkKind) -> str:
    """Count and speed of a bundle: '3 × FDR 56 Gbit/s', '16 × 40 GbE'."""
    if is_infiniband(kind):
        return f"{count} × {kind.upper()} {GBIT_PER_S[kind]} Gbit/s"
    return f"{count} × {GBIT_PER_S[kind]} GbE"


def stroke(kind: LinkKind) -> float:
    """Line width of a link; it grows with the logarithm of the speed."""
    return 0.8 + 1.2 * math.log10(GBIT_PER_S[kind])


def network(design: DesignAnswer, *names: str) -> Network | None:
    """First of the design's networks whose name holds one of ``names``, in their order."""
    return next((net for name in names for net in design.quantities.networks if name in net.name), None)


def server_links(design: DesignAnswer) -> int:
    """Links of one server into the fabric; at least one, since the server is attached."""
    return max(fabric_ports(design.platform.server.ports, design.platform.fabric), 1)


def front_end_links(design: DesignAnswer) -> int:
    """Cables between the storage and whatever it is attached to."""
    platform, nodes = design.platform, max(design.storage_nodes, 1)
    if platform.gateway is not None:
        behind = next((net for net in design.quantities.networks if int(net.gateways[0])), None)
        if behind is not None and behind.switch == platform.gateway.id:
            return int(behind.end_points[0])
    per_node = platform.storage.front_end_ports_per_node
    if per_node is not None:
        ports = per_node.value
    elif platform.storage_server is not None:
        ports = fabric_ports(platform.storage_server.ports, platform.fabric)
    else:
        ports = 1
    return nodes * max(ports, 1)


def storage_kind(design: DesignAnswer) -> LinkKind:
    """Kind of the storage's front-end ports."""
    fact = design.platform.storage.front_end_kind
    return design.platform.fabric if fact is None else fact.value


def built(net: Network | None) -> bool:
    """Whether a network has switches; a result without networks shows all of its platform."""
    return net is None or int(net.leaves[0]) > 0


def counts(net: Network | None) -> tuple[int, int]:
    """Leaves and spines of a network; one switch where nothing is known."""
    return (1, 0) if net is None else (max(int(net.leaves[0]), 1), int(net.spines[0]))


def role(kind: str, count: int) -> str:
    """Name of a kind of switch in the number that fits."""
    return f"{kind} switches" if count > 1 else f"{kind} switch"


def kind(net: Network | None, default: LinkKind) -> LinkKind:
    """Kind of a network's links."""
    return next((kind for kind in GBIT_PER_S if net is not None and kind == net.kind), default)


def many(count: int, name: str) -> str:
    """Name with its multiplicity, which one alone does not need."""
    return f"{count} × {name}" if count > 1 else name


def memory(size_bytes: float) -> str:
    """Memory is sold in binary units where it divides by one."""
    gib = size_bytes / 2**30
    return f"{gib:.0f} GiB" if gib.is_integer() else si(size_bytes, "B")


def oversubscribed(net: Network) -> str:
    """How a leaf's uplinks compare with its downlinks, as part of a sentence."""
    ratio = float(net.oversubscription[0])
    return ", non-blocking" if ratio <= 1 else f", {significant(ratio, 2)} : 1 oversubscribed"
