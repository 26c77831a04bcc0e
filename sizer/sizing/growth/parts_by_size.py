"""Parts of each cluster size on one platform, item by item, so that a step from one size to another can be priced."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.model import Catalog
from sizer.physical.components import Component, Quantities
from sizer.physical.networks.counts import wiring
from sizer.physical.networks.members import shape
from sizer.physical.plan import CABLE_CATEGORY
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities
from sizer.physical.racks.power import device_power
from sizer.physical.roles import Role
from sizer.workload.request import SizingRequest

# Links from the fabric to gateways, to the customer's LAN and to what manages the cluster.
_UPLINKS = (Role.GATEWAY_UPLINK, Role.LAN_UPLINK, Role.HEAD_NODE_CABLE, Role.FABRIC_MANAGER_CABLE)
# What manages the cluster is installed with its network: ports are kept for later servers, and so are managers.
_MANAGERS = (Role.HEAD_NODE, Role.HEAD_NODE_ADAPTER, Role.FABRIC_MANAGER, Role.STORAGE_FABRIC_MANAGER)
# Devices replace panels in a rack: every size has the panels of the last one.
_PANEL = Role.BLANKING_PANEL


@dataclass(frozen=True)
class PartsBySize:
    """Pieces that are bought for each size. Arrays over the sizes."""

    items: tuple[str, ...]  # catalogue ids, in the order of a bill
    pieces: Ints  # (items, sizes)
    power_typical_w: Floats
    power_max_w: Floats
    racks: Ints
    rack_units: Floats

    def bought(self, before: int | None, after: int) -> Ints:
        """(items,) pieces to buy for the step from one size to another; None: from nothing."""
        return self.pieces[:, after] if before is None else np.maximum(self._more(before, after), 0)

    def taken_out(self, before: int | None, after: int) -> Ints:
        """(items,) pieces that the larger size no longer uses."""
        return np.zeros(len(self.items), np.int64) if before is None else np.maximum(-self._more(before, after), 0)

    def _more(self, before: int, after: int) -> Ints:
        return np.asarray(self.pieces[:, after] - self.pieces[:, before])


@dataclass(frozen=True)
class SizeQuantities:
    """Quantities and parts of some sizes of a platform."""

    quantities: Quantities
    as_it_grows: PartsBySize  # the network and the racks of each size
    prepared: PartsBySize  # the network of the last size is installed from the start; racks come with their devices


def count_sizes(
    platform: Platform, sizes: Sequence[tuple[int, int]], request: SizingRequest, catalog: Catalog
) -> SizeQuantities:
    """Parts of some sizes (servers, storage nodes) in ascending order.

    Cables of every size have the length that the last size requires, so that no cable is replaced later. Where the
    network is prepared, every device uses its port of the last size's port map from the start, so that no link moves.
    """
    servers, nodes = (np.array(column, dtype=np.int64) for column in zip(*sizes, strict=True))
    sized = quantities(
        platform,
        servers,
        nodes,
        catalog=catalog,
        limits=request.limits,
        existing=request.existing,
        fabric=request.fabric,
    )
    wires = wiring(platform, shape(platform, servers, nodes, request.fabric), request.fabric)
    links: dict[str, Ints] = {}
    for link in wires.links:
        links[link.role] = links.get(link.role, np.zeros(len(sizes), np.int64)) + link.quantity
    switches = frozenset(count.role for count in wires.switches)
    parts = [_at_last_length(part, links) for part in sized.components if part.status == "computed"]
    return SizeQuantities(
        sized,
        as_it_grows=_total(parts, sized, sized.power_typical_w, sized.power_max_w),
        prepared=_prepared(parts, sized, switches, catalog),
    )


def _at_last_length(part: Component, links: dict[str, Ints]) -> Component:
    """Cables of each size, in the kinds that the last size uses."""
    if part.role == _PANEL:
        return _like_last(part)
    count = links.get(part.role)
    if part.category != CABLE_CATEGORY or count is None or not count[-1]:
        return part
    return part.of(-(-part.quantity[-1] * count // count[-1]))


def _like_last(part: Component) -> Component:
    return part.of(np.full_like(part.quantity, part.quantity[-1]))


def _prepared(parts: Sequence[Component], sized: Quantities, switches: frozenset[str], catalog: Catalog) -> PartsBySize:
    typical_w, max_w = sized.power_typical_w.copy(), sized.power_max_w.copy()
    ready = []
    for part in parts:
        is_device = part.role in switches or part.role in _MANAGERS
        stays = is_device or part.role in _UPLINKS or part.role.is_between_switches
        last = _like_last(part)
        if is_device and part.role is not Role.HEAD_NODE_ADAPTER:
            draw = device_power(catalog.device(part.item))
            typical_w += (last.quantity - part.quantity) * draw.typical_w
            max_w += (last.quantity - part.quantity) * draw.max_w
        ready.append(last if stays else part)
    return _total(ready, sized, typical_w, max_w)


def _total(parts: Sequence[Component], sized: Quantities, typical_w: Floats, max_w: Floats) -> PartsBySize:
    pieces: dict[str, Ints] = {}
    for part in parts:
        pieces[part.item] = pieces.get(part.item, np.zeros_like(part.quantity)) + part.quantity
    return PartsBySize(
        items=tuple(pieces),
        pieces=np.array(list(pieces.values())),
        power_typical_w=typical_w,
        power_max_w=max_w,
        racks=sized.racks,
        rack_units=sized.rack_units,
    )
