"""Every port of a device by its number and its name, and which of them a network uses.

A device's ports are numbered through all groups of its catalogue file, from 0. Plans and cable lists name them; ports
of a chassis carry the number of the node that they belong to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Ints
from sizer.catalog.fabrics import joining
from sizer.catalog.links import LinkType
from sizer.catalog.schema import Device, Port, PortUse, Server, Storage, Switch
from sizer.physical.capacity import nodes_per_unit

# What a port of a server or a storage node is called by its use; a switch numbers its ports as they are printed.
_NAMES: dict[PortUse, str] = {
    "in-band": "in-band",
    "storage-network": "storage",
    "management": "mgmt",
    "bmc": "bmc",
    "back-end": "int",
    "fabric": "uplink",
}
# The two internal networks of a scale-out NAS (h16346).
_SIDES = ("a", "b")


@dataclass(frozen=True)
class DevicePort:
    """One port of a device."""

    name: str
    group: Port  # of the catalogue's file
    node: int = 0  # of a chassis that holds several nodes, from 1; 0: the device is one node


@lru_cache(maxsize=4096)
def device_ports(device: Device) -> tuple[DevicePort, ...]:
    """All ports of a device in the order of their numbers.

    Names: "1" to "36" on a switch, "fabric-1", "mgmt", "bmc" on a server, "node-2/ext-1", "node-2/int-a" on a chassis.
    """
    groups: tuple[Port, ...] = getattr(device, "ports", ())
    ports: list[DevicePort] = []
    used: set[str] = set()
    for group in groups:
        for number in range(group.count):
            name = _name(device, groups, group, number)
            # Two groups of one kind and use: the second goes on counting where the first one ended.
            while name in used:
                number += 1
                name = _name(device, groups, group, number)
            used.add(name)
            ports.append(DevicePort(name, group, _node(device, group, number)))
    return tuple(ports)


@lru_cache(maxsize=4096)
def fabric_numbers(device: Device, kind: LinkType) -> Ints:
    """Numbers of the ports that join a fabric of ``kind``; see :func:`~sizer.catalog.fabrics.joining`."""
    chosen = joining(getattr(device, "ports", ()), kind)
    return _numbers(device, lambda port: port in chosen)


def storage_network_numbers(server: Server, kind: LinkType, fabric: LinkType) -> Ints:
    """Numbers of a server's ports that join a storage network of its own: they run ``kind`` but not ``fabric``."""
    return _numbers(
        server,
        lambda p: (
            p.runs(kind)
            and (p.use == "storage-network" or (p.use in ("any", "storage") and fabric not in (p.kind, *p.also)))
        ),
    )


@lru_cache(maxsize=4096)
def management_numbers(device: Device) -> Ints:
    """Numbers of the ports that join the 1 GbE network.

    A server brings one host port, where it has one, and its BMC; with ports for an in-band network its BMC alone. A
    storage unit brings all its management ports, a switch one.
    """
    ports: tuple[Port, ...] = getattr(device, "ports", ())
    numbers = _numbers(
        device, lambda p: p.use == "management" and any(k.gbit_per_s.value <= 1 for k in (p.kind, *p.also))
    )
    if isinstance(device, Storage):
        return _numbers(device, lambda p: p.use == "management")
    if isinstance(device, Switch):
        return numbers[:1]
    bmc = _numbers(device, lambda p: p.use == "bmc") if ports else numbers[:0]
    return bmc if in_band_numbers(device).size else np.concatenate([numbers[:1], bmc])


@lru_cache(maxsize=4096)
def in_band_numbers(device: Device) -> Ints:
    """Numbers of the ports that join an in-band network of its own."""
    return _numbers(device, lambda port: port.use == "in-band")


@lru_cache(maxsize=4096)
def switch_numbers(switch: Switch, kind: LinkType, uses: tuple[PortUse, ...] = ("any",)) -> Ints:
    """Numbers of the largest group of a switch's ports that take a kind; empty where there is none."""
    best = largest_group(switch, kind, uses)
    return _numbers(switch, lambda p: p is best)


@lru_cache(maxsize=4096)
def largest_group(switch: Switch, kind: LinkType, uses: tuple[PortUse, ...] = ("any",)) -> Port | None:
    """The largest group of a switch's ports that take a kind; None where there is none."""
    fitting = (p for p in switch.ports if p.use in uses and (p.kind == kind or kind in p.also))
    return max(fitting, key=lambda group: group.count, default=None)


def unit_numbers(storage: Storage, use: PortUse, per_node: int) -> Ints:
    """Numbers of the first ``per_node`` ports of a use of every node of one storage unit, node by node."""
    numbers = _numbers(storage, lambda p: p.use == use)
    nodes = nodes_per_unit(storage)
    each = numbers.size // nodes
    return np.concatenate([numbers[node * each : node * each + min(per_node, each)] for node in range(nodes)])


def _numbers(device: Device, chosen: Callable[[Port], bool]) -> Ints:
    first, found = 0, []
    for group in getattr(device, "ports", ()):
        if chosen(group):
            found.append(np.arange(first, first + group.count, dtype=np.int64))
        first += group.count
    numbers = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    numbers.flags.writeable = False  # one array answers every call
    return numbers


def _name(device: Device, groups: tuple[Port, ...], group: Port, number: int) -> str:
    if isinstance(device, Switch):
        if group.use == "any" and group is max((g for g in groups if g.use == "any"), key=lambda g: g.count):
            return str(number + 1)
        if group.use == "back-end":
            return str(number + 1)
    node = _node(device, group, number)
    if node:
        each = group.count // nodes_of(device)
        stem = "node" if device.delivered is None else "tray"
        return f"{stem}-{node}/{_in_group(group, number % each, each)}"
    return _in_group(group, number, group.count)


def _node(device: Device, group: Port, number: int) -> int:
    """Node of a chassis that a port belongs to, from 1; 0 where the device is one node or all nodes share the port."""
    nodes = nodes_of(device)
    return 0 if nodes == 1 or group.count % nodes else number // (group.count // nodes) + 1


def nodes_of(device: Device) -> int:
    """Nodes of a storage chassis, trays of a system that arrives as a rack; 1 for any other device."""
    if isinstance(device, Storage):
        return nodes_per_unit(device)
    return 1 if device.delivered is None else max(device.delivered.n_nodes, 1)


def rail_numbers(server: Server, kind: LinkType) -> tuple[Ints, ...]:
    """Fabric ports of a server by rail: one port each, or the ports of that place on all trays of a rack."""
    numbers = fabric_numbers(server, kind)
    trays = nodes_of(server)
    if trays == 1 or numbers.size % trays:
        return tuple(numbers[rail : rail + 1] for rail in range(numbers.size))
    return tuple(numbers.reshape(trays, -1).T)


def _in_group(group: Port, number: int, count: int) -> str:
    if group.use == "back-end" and count == len(_SIDES):
        return f"int-{_SIDES[number]}"
    if group.use in ("management", "bmc", "back-end", "in-band", "storage-network"):
        stem = _NAMES[group.use]
    elif group.use == "storage" and not group.kind.is_infiniband and count <= 2:
        stem = "ext"
    elif len({kind.is_infiniband for kind in (group.kind, *group.also)}) > 1:
        stem = "fabric"  # the design decides whether it runs InfiniBand or Ethernet
    else:
        stem = group.kind.id
    return f"{stem}-{number + 1}" if count > 1 else stem
