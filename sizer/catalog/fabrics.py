"""Which links the ports of devices can join."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from sizer.catalog.links import LinkType, fastest_first
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Port

# Uses of ports that stay out of the compute fabric.
_APART = ("management", "bmc", "in-band", "storage-network")
# A slower link is for management.
MIN_FABRIC_GBIT_PER_S = 10


def joining(ports: Sequence[Port], kind: LinkType) -> list[Port]:
    """Groups of ports that join a fabric of ``kind``: those sold for it, else adapters that run it besides."""
    usual = [port for port in ports if _is_usual(port, kind)]
    return usual or [port for port in ports if port.use == "compute" and port.runs(kind)]


def _is_usual(port: Port, kind: LinkType) -> bool:
    """Whether ports of a group join a fabric of ``kind`` at a rate that they are sold for."""
    return port.use not in _APART and kind in port.kinds


def plans_unasked(ports: Sequence[Port], kind: LinkType) -> bool:
    """Whether a fabric of ``kind`` is planned with these ports where a request names none."""
    return any(_is_usual(port, kind) and kind not in port.on_request for port in ports)


def fabric_ports(ports: Sequence[Port], kind: LinkType) -> int:
    """How many ports of a device join a fabric of ``kind``; see :func:`joining`."""
    return sum(port.count for port in joining(ports, kind))


def usual_ports(ports: Sequence[Port], kind: LinkType) -> int:
    """How many of them join it at a rate that they are sold for."""
    return sum(port.count for port in ports if _is_usual(port, kind))


@lru_cache(maxsize=8)
def fabric_links(catalog: Catalog) -> tuple[LinkType, ...]:
    """Links that a compute fabric usually has: those that the GPU servers' ports are sold for, the fastest first."""
    return _links(catalog, usual_ports)


@lru_cache(maxsize=8)
def possible_links(catalog: Catalog) -> tuple[LinkType, ...]:
    """Links that a compute fabric can have, slower ones that adapters run too included, the fastest first."""
    return _links(catalog, fabric_ports)


def _links(catalog: Catalog, n_ports: Callable[[Sequence[Port], LinkType], int]) -> tuple[LinkType, ...]:
    servers = [server for server in catalog.servers.values() if server.role == "gpu" and server.orderable]
    known = (link for link in catalog.links.values() if link.gbit_per_s.value >= MIN_FABRIC_GBIT_PER_S)
    return tuple(fastest_first(link for link in known if any(n_ports(server.ports, link) for server in servers)))
