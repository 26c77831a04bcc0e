"""What a design takes of the equipment that is there, what it adds and what becomes idle."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.model import Catalog
from sizer.physical.capacity import counts_nodes, nodes_per_unit
from sizer.physical.components import Component
from sizer.physical.platform import Platform
from sizer.physical.roles import Role
from sizer.workload.request import Existing

# Devices that are named when a design extends what is there; adapters, cables and racks follow from them.
_MAIN = ("compute", "head node", "storage")


@dataclass(frozen=True)
class Equipment:
    """So many of a catalogue item; storage in nodes, everything else in devices."""

    item: str  # id
    name: str
    count: int


@dataclass(frozen=True)
class ExistingUse:
    """What one design takes of the equipment that is there, leaves idle and adds; in the order of request and bill."""

    used: tuple[Equipment, ...]
    idle: tuple[Equipment, ...]
    added: tuple[Equipment, ...]  # servers, head nodes, storage and switches that are bought


@dataclass(frozen=True)
class PurchaseColumns:
    """What the sizes of one platform buy, and the kinds of existing equipment of which they use nothing.

    Kinds, not pieces: of eight servers that are there, three that are enough stay three. Arrays over the sizes.
    """

    servers: Ints  # GPU servers to buy
    storage_nodes: Ints  # to buy
    idle_server_kinds: Ints  # of GPU servers
    idle_storage_kinds: Ints
    idle_switch_kinds: Ints

    def stacked(self) -> Floats:
        """(5, sizes) the columns in the order in which designs are compared by them."""
        idle = self.idle_server_kinds, self.idle_storage_kinds, self.idle_switch_kinds
        return np.stack([self.servers, self.storage_nodes, *idle]).astype(float)


def has_main(existing: Existing) -> bool:
    """Whether servers or storage are there, so that the order of designs depends on what they use of it."""
    return bool(existing.servers or existing.storage_nodes)


def purchase(
    platform: Platform, components: Sequence[Component], existing: Existing, catalog: Catalog
) -> PurchaseColumns:
    """Count what is bought and what stays idle.

    ``components``: of all sizes of the platform, existing ones apart (``quantities``). Returns arrays of the shape of
    the components.
    """
    used = _used(components, platform, existing)
    none = np.zeros_like(components[0].quantity)

    def idle(there: Iterable[str]) -> Ints:
        return sum(((used.get(item, none) == 0).astype(np.int64) for item in there), start=none)

    return PurchaseColumns(
        servers=sum((p.quantity for p in _bought(components) if p.role is Role.GPU_SERVER), start=none),
        storage_nodes=sum(
            (p.quantity * _nodes(p, platform) for p in _bought(components) if p.category == "storage"), start=none
        ),
        idle_server_kinds=idle(item for item in existing.servers if catalog.servers[item].role == "gpu"),
        idle_storage_kinds=idle(existing.storage_nodes),
        idle_switch_kinds=idle(existing.switches),
    )


def existing_use(
    platform: Platform, components: Sequence[Component], existing: Existing, catalog: Catalog
) -> ExistingUse | None:
    """Use of what is there by one design (components of one row); None where the request names no equipment."""
    there = {**existing.servers, **existing.storage_nodes, **existing.switches}
    if not there:
        return None
    taken = {item: int(count[0]) for item, count in _used(components, platform, existing).items()}
    used = {item: min(taken.get(item, 0), count) for item, count in there.items()}
    added: dict[str, int] = {}
    for part in _bought(components):
        if part.category in _MAIN or part.role.forwards:
            added[part.item] = added.get(part.item, 0) + int(part.quantity[0]) * _nodes(part, platform)

    def listed(counts: dict[str, int]) -> tuple[Equipment, ...]:
        return tuple(Equipment(item, catalog.item(item).name, count) for item, count in counts.items() if count)

    return ExistingUse(listed(used), listed({item: there[item] - used[item] for item in there}), listed(added))


def _bought(components: Sequence[Component]) -> list[Component]:
    return [part for part in components if part.status == "computed"]


def _used(components: Sequence[Component], platform: Platform, existing: Existing) -> dict[str, Ints]:
    """Id in the request -> how much of it a design uses. A storage server counts under the name of its system."""
    found: dict[str, Ints] = {}
    storage = platform.storage
    there = existing.storage_nodes.get(storage.id, 0)
    for part in components:
        if part.status == "existing":
            item = storage.id if part.role is Role.STORAGE_SERVER and there else part.item
            taken = part.quantity * _nodes(part, platform)
            # Servers that are planned as those of the platform keep their own name.
            for other in platform.extends if part.role is Role.GPU_SERVER else ():
                found[other] = np.clip(taken - existing.servers.get(item, 0), 0, existing.servers[other])
                taken = taken - found[other]
            found[item] = found.get(item, 0) + taken
    if there and not counts_nodes(storage):
        # A file server of the customer is no line of the design, which reads from all of it.
        found[storage.id] = np.full_like(components[0].quantity, there)
    return found


def _nodes(part: Component, platform: Platform) -> int:
    """Nodes of one piece: storage is ordered by the chassis."""
    return nodes_per_unit(platform.storage) if part.category == "storage" else 1
