"""How many GPU servers the standing switches, racks and feeds of a design still take."""

from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Ints
from sizer.catalog.devices import Pdu
from sizer.catalog.schema import Server
from sizer.physical.networks.counts import wiring
from sizer.physical.networks.members import NetworkMembers, shape
from sizer.physical.networks.ports import fabric_numbers
from sizer.physical.plan import PlacedRack, Plan
from sizer.physical.racks.limits import device_needs
from sizer.physical.racks.power import device_power
from sizer.physical.roles import NetworkRole
from sizer.workload.request import Fabric

# More servers than a rack has units.
_MANY = 10_000


@dataclass(frozen=True)
class ServerRoom:
    """Servers that can be added without a further switch, a further rack or further feeds."""

    leaf_ports_free: int | None  # of the compute fabric; None: the design has none
    by_ports: int | None
    free_units: int
    by_units: int | None  # None: the height of the server is not known
    by_power: int | None  # of ``by_units``: as many as the feeds carry and have outlets for. None: not known
    power_is_known: bool  # False: ``by_power`` is what the known draws leave at most

    @property
    def servers(self) -> int:
        """Servers that ports, rack units and power all allow, as far as they are known."""
        return min((count for count in (self.by_ports, self.by_units, self.by_power) if count is not None), default=0)


def server_room(plan: Plan, rack_power_w: float | None = None) -> ServerRoom:
    """Room for further GPU servers in a laid-out design.

    ``rack_power_w``: what the request allows one rack [W].

    Ports: the largest number of servers at which every plane of the compute fabric has the switches that it has now.
    Only ports of leaves count; those of spines lead to leaves. Units and power: rack by rack, whole servers.
    """
    free, by_ports = _by_ports(plan)
    server = plan.inputs.platform.server
    draw, height = device_power(server), server.height_u
    by_units, by_power = 0, 0
    for rack in plan.racks:
        units = len(rack.empty_units) // int(np.ceil(height.value)) if height is not None else 0
        by_units += units
        carried_w = min((watts for watts in (rack.feed_capacity_w, rack_power_w) if watts), default=0.0)
        if rack.is_existing or not draw.max_w:
            by_power += units
        else:
            carried = int(max(carried_w - rack.max_w, 0.0) // draw.max_w)
            by_power += min(units, carried, _by_outlets(rack, server, plan.inputs.platform.pdu))
    is_known = draw.is_known and not any(rack.is_existing or rack.has_unknown_power for rack in plan.racks)
    return ServerRoom(
        leaf_ports_free=free,
        by_ports=by_ports,
        free_units=sum(len(rack.empty_units) for rack in plan.racks),
        by_units=None if height is None else by_units,
        by_power=None if height is None or not draw.max_w else by_power,
        power_is_known=is_known,
    )


def _by_outlets(rack: PlacedRack, server: Server, pdu: Pdu) -> int:
    """Servers whose inlets the free outlets on either side of a rack take; many where no side must take them alone."""
    if rack.redundancy != "2N" or rack.is_delivered:
        return _MANY
    taken = []
    for kind, each in zip(pdu.outlets, device_needs(server, pdu, "2N")[-len(pdu.outlets) :], strict=True):
        free: dict[str, int] = {}
        for feed in rack.feeds:
            free[feed.side] = free.get(feed.side, 0) + dict(feed.outlets).get(kind, 0) - feed.used(kind)
        taken += [int(min(free.values(), default=0) // each)] if each else []
    return min(taken, default=_MANY)


def servers_by_ports(plan: Plan, role: NetworkRole, links_each: int) -> int:
    """GPU servers that the standing switches of a network take; ``links_each`` are those of one server.

    The largest number at which every plane of the network has no more leaves, spines and cores than now. Ports of
    leaves that are kept for storage take no server: 110 ports of servers on four leaves of 36 leave room for 34.
    """
    inputs = plan.inputs
    standing = _members(plan, np.zeros(1, dtype=np.int64), inputs.fabric, role)
    # Room that was kept for servers to come is used up first.
    later = inputs.fabric.model_copy(update={"spare_servers": 0})
    more = np.arange(int(standing.leaf_ports_free[0]) // links_each + 1)
    fits = np.all(_switches(_members(plan, more, later, role), more) <= _switches(standing, more[:1]), axis=0)
    fits[0] = True
    return int(np.argmin(np.append(fits, False))) - 1


def _by_ports(plan: Plan) -> tuple[int | None, int | None]:
    """Free leaf ports of the compute fabric, and the servers that they take; None without switches of it."""
    inputs = plan.inputs
    each = fabric_numbers(inputs.platform.server, inputs.platform.fabric).size
    if not each or inputs.platform.fabric_switch is None:
        return None, None
    standing = _members(plan, np.zeros(1, dtype=np.int64), inputs.fabric, NetworkRole.COMPUTE)
    if not int(_switches(standing, np.zeros(1, dtype=np.int64)).sum()):
        return None, None
    return int(standing.leaf_ports_free[0]), servers_by_ports(plan, NetworkRole.COMPUTE, each)


def _members(plan: Plan, more: Ints, asked: Fabric, role: NetworkRole) -> NetworkMembers:
    """A network of the plan with so many servers more."""
    inputs = plan.inputs
    nodes = np.full(more.shape, inputs.storage_nodes)
    rows = shape(inputs.platform, inputs.n_servers + more, nodes, asked)
    pdus = np.full(more.shape, sum(len(rack.feeds) for rack in plan.racks if not rack.is_delivered))
    return next(part for part in wiring(inputs.platform, rows, asked, pdus).members if part.network.role is role)


def _switches(part: NetworkMembers, more: Ints) -> Ints:
    """Leaves, spines and cores of each plane."""
    counts = (count for plane in part.planes for count in (plane.tree.leaves, plane.tree.spines, plane.tree.cores))
    return np.array([np.broadcast_to(count, more.shape) for count in counts])
