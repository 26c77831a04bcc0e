"""How many GPU servers the standing switches, racks and feeds of a design still take."""

from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Ints
from sizer.physical.networks.counts import data_networks
from sizer.physical.networks.members import shape
from sizer.physical.networks.ports import fabric_numbers
from sizer.physical.plan import Plan
from sizer.physical.racks.power import device_power
from sizer.physical.roles import NetworkRole
from sizer.workload.request import Fabric


@dataclass(frozen=True)
class ServerRoom:
    """Servers that can be added without a further switch, a further rack or further feeds."""

    leaf_ports_free: int | None  # of the compute fabric; None: the design has none
    by_ports: int | None
    free_units: int
    by_units: int | None  # None: the height of the server is not known
    by_power: int | None  # of ``by_units``: as many as the feeds carry. None: not known
    power_is_known: bool  # False: ``by_power`` is what the known draws leave at most

    @property
    def servers(self) -> int:
        """Servers that ports, rack units and power all allow, as far as they are known."""
        return min((count for count in (self.by_ports, self.by_units, self.by_power) if count is not None), default=0)


def server_room(plan: Plan, rack_power_w: float | None = None) -> ServerRoom:
    """Room for further GPU servers in a laid-out design.

    Parameters
    ----------
    plan : Plan
        The design.
    rack_power_w : float, optional
        What the request allows one rack. [W]

    Notes
    -----
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
            by_power += min(units, int(max(carried_w - rack.max_w, 0.0) // draw.max_w))
    is_known = draw.is_known and not any(rack.is_existing or rack.has_unknown_power for rack in plan.racks)
    return ServerRoom(
        leaf_ports_free=free,
        by_ports=by_ports,
        free_units=sum(len(rack.empty_units) for rack in plan.racks),
        by_units=None if height is None else by_units,
        by_power=None if height is None or not draw.max_w else by_power,
        power_is_known=is_known,
    )


def _by_ports(plan: Plan) -> tuple[int | None, int | None]:
    inputs = plan.inputs
    each = fabric_numbers(inputs.platform.server, inputs.platform.fabric).size
    # Room that was kept for servers to come is used up first.
    later = inputs.fabric.model_copy(update={"spare_servers": 0})
    standing = _fabric(plan, np.zeros(1, dtype=np.int64), inputs.fabric)
    if standing is None or not each or not int(standing[0].sum()):
        return None, None
    switches, free = standing
    more = np.arange(int(free[0]) // each + 1)
    larger = _fabric(plan, more, later)
    assert larger is not None
    fits = np.all(larger[0] <= switches, axis=0)
    fits[0] = True
    return int(free[0]), int(np.argmin(np.append(fits, False))) - 1


def _fabric(plan: Plan, more: Ints, asked: Fabric) -> tuple[Ints, Ints] | None:
    """Leaves, spines and cores of each plane with so many servers more, and the free ports of the leaves."""
    inputs = plan.inputs
    nodes = np.full(more.shape, inputs.storage_nodes)
    rows = shape(inputs.platform, inputs.n_servers + more, nodes, asked)
    for part in data_networks(inputs.platform, rows, asked):
        if part.network.role is NetworkRole.COMPUTE:
            trees = [plane.tree for plane in part.planes]
            counts = [count for tree in trees for count in (tree.leaves, tree.spines, tree.cores)]
            return np.array([np.broadcast_to(count, more.shape) for count in counts]), part.leaf_ports_free
    return None
