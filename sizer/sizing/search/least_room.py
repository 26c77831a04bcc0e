"""What designs take of a room at the least: their servers and storage alone."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.schema import Device
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.platform import Platform
from sizer.physical.racks.limits import SLACK, RackClass, device_needs, rack_limits
from sizer.physical.racks.power import device_power
from sizer.physical.racks.site_rules import most_kg_on_floor
from sizer.physical.roles import Role
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.workload.request import SizingRequest

# Rack units, kilograms and watts: what every device takes of a rack.
_OF_RACK = 3


def least_room(evaluated: EvaluatedSpace, request: SizingRequest) -> dict[str, Floats]:
    """(platforms, sizes) rack units, watts and new racks of servers and storage alone."""
    of_server, of_storage, per_unit = _heights_and_draws(evaluated.platforms)
    servers, chassis = evaluated.space.sizes, evaluated.class_nodes[evaluated.class_of] // per_unit
    units, watts = (a[:, None] * servers + b[:, None] * chassis for a, b in zip(of_server, of_storage, strict=True))
    if request.existing.racks:  # they take some of it
        return {"units": units, "watts": watts, "racks": np.zeros(units.shape)}
    server_needs, storage_needs, holds, is_delivered = _rack_needs(evaluated.platforms)
    if request.limits.rack_power_w is not None:
        holds = np.stack([*holds[:-1], np.full(len(is_delivered), request.limits.rack_power_w)])
    # What is stored in racks of its own adds to those of the servers, and these hold whole servers.
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(server_needs > 0, np.floor((holds + SLACK) / server_needs), np.inf).min(axis=0)
        # A device that exceeds a rack is counted with a rack of its own; such a design cannot be built.
        shares = [np.minimum(one / (holds + SLACK), 1.0)[..., None] for one in (server_needs, storage_needs)]
        alone = servers / np.maximum(each, 1.0)[:, None]
    full = (shares[0] * servers + shares[1] * chassis).max(axis=0)
    racks = np.where(is_delivered[:, None], servers, np.ceil(np.maximum(alone, full) - SLACK))
    return {"units": units, "watts": watts, "racks": racks}


@lru_cache(maxsize=128)
def _heights_and_draws(platforms: Sequence[Platform]) -> tuple[Floats, Floats, Ints]:
    """Rack units and watts of a server and of a unit of storage, shape (2, platforms), and the nodes of a unit."""

    def of(devices: Sequence[Device]) -> Floats:
        heights = [0.0 if one.height_u is None else one.height_u.value for one in devices]
        return np.array([heights, [device_power(one).max_w for one in devices]])

    nodes = [nodes_per_unit(platform.storage) for platform in platforms]
    return of([platform.server for platform in platforms]), of(_chassis(platforms)), np.array(nodes)[:, None]


def _chassis(platforms: Sequence[Platform]) -> list[Device]:
    return [platform.storage_server or platform.storage for platform in platforms]


@lru_cache(maxsize=128)
def _rack_needs(platforms: Sequence[Platform]) -> tuple[Floats, Floats, Floats, Bools]:
    """What a server and a unit of storage take of a rack and what it holds, shape (3, platforms); who brings its own.

    With more kinds of device a rack loses height to further PDUs, so that it never holds more.
    """
    servers, chassis, holds = [], [], []
    for platform, unit in zip(platforms, _chassis(platforms), strict=True):
        rules = platform.site
        needs = device_needs(platform.server, platform.pdu, rules.feeds)
        alone = (RackClass(Role.GPU_SERVER, platform.server.id, np.ones(1, dtype=np.int64), needs),)
        load_kg = most_kg_on_floor(rules, platform.rack)
        holds.append(rack_limits(platform.rack, platform.pdu, None, alone, (), rules.feeds, load_kg).holds[:_OF_RACK])
        servers.append(needs[:_OF_RACK])
        chassis.append(device_needs(unit, platform.pdu, rules.feeds)[:_OF_RACK])
    delivered = np.array([platform.server.delivered is not None for platform in platforms])
    return np.array(servers).T, np.array(chassis).T, np.array(holds).T, delivered
