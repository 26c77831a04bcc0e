"""What a server of a bill holds besides its GPUs, by the catalogue: a name alone orders no configuration."""

from collections.abc import Iterator

from sizer.base.quantities import grouped, si
from sizer.catalog.items import Item
from sizer.catalog.labels import memory_size
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Port, Server
from sizer.physical.networks.ports import nodes_of

_DRIVES = ("local drives", "local drive")
# Ports of the main board, which are no choice of an order.
_SERVICE = ("management", "bmc")


def server_contents(item: Item, catalog: Catalog, *, has_memory: bool, has_drives: bool) -> str:
    """Processors, memory, ports and drives: '2 × Xeon Gold 6148, 384 GiB memory, ...'; "" of an appliance.

    Parameters
    ----------
    item : Item
    catalog : Catalog
    has_memory, has_drives : bool
        Whether memory and drives are those of the server itself; else the bill states them elsewhere.
    """
    if not isinstance(item, Server) or item.role == "fabric-manager":
        return ""
    parts = [*_processors(item, catalog), *(_memory(item) if has_memory else ()), *_ports(item, catalog)]
    return ", ".join([*parts, *(_drives(item, catalog) if has_drives else ())])


def has_unknown_drives(item: Item, catalog: Catalog) -> bool:
    """Whether an item is a server whose own drives no source gives."""
    return isinstance(item, Server) and item.role != "fabric-manager" and not any(_drives(item, catalog))


def _processors(server: Server, catalog: Catalog) -> Iterator[str]:
    if server.cpu is None:
        return
    cpu = catalog.cpus.get(server.cpu.value)
    name = server.cpu.value if cpu is None else cpu.name
    count = "" if server.n_cpus is None else f"{server.n_cpus.value} × "
    is_assumed = "assumed" in (server.cpu.basis, server.n_cpus.basis if server.n_cpus is not None else "")
    yield f"{count}{name}{_mark(is_assumed)}"


def _memory(server: Server) -> Iterator[str]:
    if server.memory_bytes is None:
        return
    yield f"{memory_size(server.memory_bytes.value, ' ')} memory{_mark(server.memory_bytes.basis == 'assumed')}"


def _ports(server: Server, catalog: Catalog) -> Iterator[str]:
    """Ports that the server brings; adapters that are ordered apart have lines of their own."""
    counts: dict[tuple[str, bool], int] = {}
    for port in server.ports:
        if port.use not in _SERVICE and (port.nic is None or not catalog.nics[port.nic].orderable):
            key = _kinds(port), port.basis == "assumed"
            counts[key] = counts.get(key, 0) + port.count
    for (kind, is_assumed), count in counts.items():
        yield f"{grouped(count)} × {kind}{_mark(is_assumed)}"


def _kinds(port: Port) -> str:
    """What a port runs at its rate: an adapter for InfiniBand and Ethernet is ordered by both."""
    rate = port.kind.gbit_per_s.value
    others = (kind for kind in (*port.also, *port.on_request) if kind.gbit_per_s.value == rate)
    return " or ".join(dict.fromkeys(kind.name for kind in (port.kind, *others)))


def _drives(server: Server, catalog: Catalog) -> Iterator[str]:
    stated = next((server.features[key].value for key in _DRIVES if key in server.features), "")
    storage = catalog.storage.get(server.local_storage or "")
    if not stated and storage is not None and storage.usable_bytes is not None:
        size = storage.usable_bytes
        # The size is that of one tray of a system that arrives as a rack.
        trays = f"{nodes_of(server)} x " if nodes_of(server) > 1 else ""
        stated = f"{trays}{si(size.value, 'B')} {storage.name}{_mark(size.basis == 'assumed')}"
    if stated:
        yield stated.replace(" x ", " × ")


def _mark(is_assumed: bool) -> str:
    return " (assumed)" if is_assumed else ""
