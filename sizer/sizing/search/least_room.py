"""What designs take of a room at the least: their servers and storage alone."""

from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.platform import Platform
from sizer.physical.racks.limits import SLACK, RackClass, device_needs, rack_limits
from sizer.physical.racks.site_rules import most_kg_on_floor
from sizer.physical.roles import Role
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.workload.request import SizingRequest

# Rack units, kilograms and watts: what every device takes of a rack.
_OF_RACK = 3


def least_room(evaluated: EvaluatedSpace, request: SizingRequest) -> dict[str, Floats]:
    """(platforms, sizes) rack units, watts and new racks of servers and storage alone."""
    table = _needs(tuple(evaluated.platforms))
    (server_u, storage_u, per_unit, is_delivered), (server, storage, holds) = table[:4], table[4:].reshape(3, 3, -1, 1)
    servers, chassis = evaluated.space.sizes, evaluated.class_nodes[evaluated.class_of] // per_unit
    units, watts = server_u * servers + storage_u * chassis, server[2] * servers + storage[2] * chassis
    if request.existing.racks:  # they take some of it
        return {"units": units, "watts": watts, "racks": np.zeros(units.shape)}
    if request.limits.rack_power_w is not None:
        holds = np.stack([*holds[:-1], np.full_like(holds[-1], request.limits.rack_power_w)])
    # What is stored in racks of its own adds to those of the servers, and these hold whole servers.
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(server > 0, np.floor((holds + SLACK) / server), np.inf).min(axis=0)
        # A device that exceeds a rack is counted with a rack of its own; such a design cannot be built.
        of_server, of_storage = (np.minimum(one / (holds + SLACK), 1.0) for one in (server, storage))
    full = (of_server * servers + of_storage * chassis).max(axis=0)
    racks = np.ceil(np.maximum(servers / np.maximum(each, 1.0), full) - SLACK)
    return {"units": units, "watts": watts, "racks": np.where(is_delivered, servers, racks)}


@lru_cache(maxsize=128)
def _needs(platforms: tuple[Platform, ...]) -> Floats:
    """Rack units of a server and of a unit of storage, nodes of a unit, whether the server brings its rack; what both
    take of a rack, and what it holds. Shape (13, platforms, 1).

    With more kinds of device a rack loses height to further PDUs, so that it never holds more.
    """
    rows = []
    for platform in platforms:
        server, storage, rules = platform.server, platform.storage_server or platform.storage, platform.site
        needs, of_storage = (device_needs(one, platform.pdu, rules.feeds) for one in (server, storage))
        alone = (RackClass(Role.GPU_SERVER, server.id, np.ones(1, dtype=np.int64), needs),)
        load_kg = most_kg_on_floor(rules, platform.rack)
        holds = rack_limits(platform.rack, platform.pdu, None, alone, (), rules.feeds, load_kg).holds
        # Heights step by halves, and a device takes whole units of a rack.
        heights = (0.0 if one.height_u is None else one.height_u.value for one in (server, storage))
        facts = (*heights, nodes_per_unit(platform.storage), server.delivered is not None)
        rows.append((*facts, *needs[:_OF_RACK], *of_storage[:_OF_RACK], *holds[:_OF_RACK]))
    return np.array(rows, dtype=float).T[..., None]
