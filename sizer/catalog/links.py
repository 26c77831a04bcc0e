"""Kinds of link: their rate, their name, and which ports of a server can join one."""

from collections.abc import Sequence

from sizer.base.units import bytes_per_s_from_gbit_per_s
from sizer.catalog.schema import LinkKind, Port

# Rate on the label of each kind. [Gbit/s]
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
# Data rate where it differs from the label: FDR runs 56 Gbit/s on the line, 54.5 after 64b/66b coding; QDR's 40 are
# 32 after 8b/10b coding (InfiniBand architecture specification, link rates).
_DATA_GBIT_PER_S: dict[LinkKind, float] = {"fdr": 54.5, "qdr": 32.0}
_INFINIBAND: dict[LinkKind, str] = {"hdr": "HDR", "edr": "EDR", "fdr": "FDR", "qdr": "QDR"}


def link_bytes_per_s(kind: LinkKind) -> float:
    """Data rate of one link, one direction. [B/s]"""
    return bytes_per_s_from_gbit_per_s(_DATA_GBIT_PER_S.get(kind, GBIT_PER_S[kind]))


def is_infiniband(kind: LinkKind) -> bool:
    """Whether the kind is InfiniBand, which needs a subnet manager and a gateway to Ethernet."""
    return kind in _INFINIBAND


def kind_name(kind: LinkKind) -> str:
    """Name of a kind of link: 'EDR InfiniBand', '40 GbE'."""
    return f"{_INFINIBAND[kind]} InfiniBand" if kind in _INFINIBAND else f"{GBIT_PER_S[kind]} GbE"


def fabric_ports(ports: Sequence[Port], kind: LinkKind) -> int:
    """Ports of a device that can join a fabric of ``kind``; management and BMC ports stay out of it."""
    return sum(
        port.count
        for port in ports
        if port.use not in ("management", "bmc") and (port.kind == kind or kind in port.also)
    )
