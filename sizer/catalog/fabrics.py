"""Which links the ports of devices can join."""

from collections.abc import Sequence
from functools import lru_cache

from sizer.catalog.links import LinkType, fastest_first
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Port

# Uses of ports that stay out of the compute fabric.
_APART = ("management", "bmc", "in-band", "storage-network")
# A slower link is for management.
MIN_FABRIC_GBIT_PER_S = 10


def joins_fabric(port: Port, kind: LinkType) -> bool:
    """Whether ports of a group can join a fabric of ``kind``; management and BMC ports stay out of it."""
    return port.use not in _APART and runs(port, kind)


def runs(port: Port, kind: LinkType) -> bool:
    """Whether a port can run a link, with another adapter in its slot if need be."""
    return kind in (port.kind, *port.also, *port.on_request)


def is_made_for(ports: Sequence[Port], kind: LinkType) -> bool:
    """Whether some port is made for a fabric of ``kind``: it runs it at its own rate, or is known to run it instead."""
    return any(_is_made_for(port, kind) for port in ports)


def _is_made_for(port: Port, kind: LinkType) -> bool:
    is_own_rate = kind not in port.on_request or kind.gbit_per_s.value == port.kind.gbit_per_s.value
    return joins_fabric(port, kind) and is_own_rate


def joining(ports: Sequence[Port], kind: LinkType) -> list[Port]:
    """Ports of a device that join a fabric of ``kind``: those made for it, else adapters of faster links."""
    made = [port for port in ports if _is_made_for(port, kind)]
    return made or [port for port in ports if joins_fabric(port, kind)]


def plans_unasked(ports: Sequence[Port], kind: LinkType) -> bool:
    """Whether a fabric of ``kind`` is planned with these ports where a request names none."""
    return any(joins_fabric(port, kind) and kind not in port.on_request for port in ports)


def fabric_ports(ports: Sequence[Port], kind: LinkType) -> int:
    """How many ports of a device can join a fabric of ``kind``; see :func:`joining`."""
    return sum(port.count for port in joining(ports, kind))


@lru_cache(maxsize=8)
def fabric_links(catalog: Catalog) -> tuple[LinkType, ...]:
    """Links that the ports of GPU servers are made for, the fastest first; a request may name slower ones."""
    servers = [one for one in catalog.servers.values() if one.role == "gpu" and one.orderable]
    known = (link for link in catalog.links.values() if link.gbit_per_s.value >= MIN_FABRIC_GBIT_PER_S)
    return tuple(fastest_first(link for link in known if any(is_made_for(one.ports, link) for one in servers)))
