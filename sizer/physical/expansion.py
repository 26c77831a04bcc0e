"""The same design at its next sizes: what is added to the standing one, and which links must move."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.physical.capacity import counts_nodes, nodes_per_unit
from sizer.physical.layout import building_plan
from sizer.physical.notes import Violation
from sizer.physical.plan import Connection, Plan, PlanInputs
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.racks.limits import RackClass, RackLimits, device_needs
from sizer.physical.racks.parts import RackGroup
from sizer.physical.racks.placement import place
from sizer.physical.roles import NetworkPlane, Role

# Sizes shown, as multiples of the servers and storage of the design.
GROWTH_FACTORS = (1.5, 2.0)


@dataclass(frozen=True)
class MovedLink:
    """A link of the standing design that ends elsewhere in the larger one."""

    network: NetworkPlane
    device: str  # with its port: "gpu-019 fabric"
    was: str  # switch and port
    becomes: str  # "" where the link is taken out


@dataclass(frozen=True)
class GrowthStep:
    """From the standing design to a larger one."""

    n_servers: int
    storage_nodes: int
    added: tuple[tuple[Role, str, int], ...]  # role, catalogue id, number
    new_racks: int  # beside those that stand; what has room in a standing rack goes there
    added_links: int
    moved: tuple[MovedLink, ...]
    added_max_w: float
    has_unknown_power: bool = False  # of an added device: the draw is then at least that
    limit: Violation | None = None  # why the platform does not reach this size; the rest is then empty


@lru_cache(maxsize=4)  # guide, workbook and app ask for the same plan
def growth(plan: Plan) -> tuple[GrowthStep, ...]:
    """Next two sizes of a laid-out design, each told from the standing one.

    Room kept for servers to come is used up first.

    Standing devices stay in their rack units; new ones go into the room above them and then into new racks. A link
    stays where its switch port is one for end points in the larger fabric too; all others are listed.
    """
    return tuple(grown(plan, *size)[0] for size in _sizes(plan.inputs))


def _sizes(inputs: PlanInputs) -> Iterator[tuple[int, int]]:
    storage = inputs.platform.storage
    per_unit = nodes_per_unit(storage)
    for more, factor in enumerate(GROWTH_FACTORS, start=1):
        nodes = int(np.ceil(inputs.storage_nodes * factor / per_unit)) * per_unit if counts_nodes(storage) else 0
        yield max(int(np.ceil(inputs.n_servers * factor)), inputs.n_servers + more), nodes


def grown(plan: Plan, n_servers: int, storage_nodes: int) -> tuple[GrowthStep, Plan]:
    """One larger size of a laid-out design, told from the standing one, and its plan.

    ``plan``: the standing design. ``n_servers``, ``storage_nodes``: the larger size, no smaller in either. [-] Returns
    the step, and the plan of the larger size, in which standing links keep their ports where they can; the standing
    plan where the platform does not reach the size.
    """
    platform, catalog = plan.inputs.platform, plan.catalog
    limits, existing = plan.inputs.limits, plan.inputs.existing
    later = plan.inputs.fabric.model_copy(update={"spare_servers": 0})
    counted = slice_row(
        quantities(
            platform,
            [n_servers],
            [storage_nodes],
            catalog=catalog,
            limits=limits,
            existing=existing,
            fabric=later,
            coolant_unit=next((device.item for device in plan.devices if device.role is Role.COOLANT_UNIT), None),
        ),
        0,
    )
    if counted.violations:
        limit = next(iter(counted.violations))
        return GrowthStep(n_servers, storage_nodes, (), 0, 0, (), 0.0, limit=limit), plan
    larger = building_plan(
        platform,
        counted,
        n_servers,
        storage_nodes,
        catalog=catalog,
        limits=limits,
        existing=existing,
        fabric=later,
        standing=plan,
    )
    standing = {device.name for device in plan.devices if device.status != "reserved"}
    new = [device for device in larger.devices if device.name not in standing]
    counts: dict[tuple[Role, str], int] = {}
    for device in new:
        counts[device.role, device.item] = counts.get((device.role, device.item), 0) + 1
    old_links = {_a(link): link for link in plan.connections}
    new_links = {_a(link): link for link in larger.connections}
    moved = tuple(
        MovedLink(link.network, _at(key), _at(_z(link)), _at(_z(new_links[key])) if key in new_links else "")
        for key, link in old_links.items()
        if key not in new_links or _z(new_links[key]) != _z(link)
    )
    step = GrowthStep(
        n_servers=n_servers,
        storage_nodes=storage_nodes,
        added=tuple((role, item, count) for (role, item), count in counts.items()),
        new_racks=_new_racks(plan, larger, counts),
        added_links=sum(key not in old_links for key in new_links),
        moved=moved,
        added_max_w=sum(device.power.max_w for device in new),
        has_unknown_power=any(not device.power.is_known for device in new),
    )
    return step, larger


def _a(link: Connection) -> tuple[str, str]:
    return link.a.device, link.a.port


def _z(link: Connection) -> tuple[str, str]:
    return link.z.device, link.z.port


def _at(end: tuple[str, str]) -> str:
    return " ".join(end)


def _new_racks(plan: Plan, larger: Plan, counts: dict[tuple[Role, str], int]) -> int:
    """Racks that the new devices need beside the standing ones, by the rule that places all devices."""
    found = 0
    # The groups of the larger plan: the standing one has none for devices of a new role.
    for group in larger.rack_groups:
        known = {(one.role, one.item) for one in group.classes}
        added = {key: count for key, count in counts.items() if key in known}
        if group.is_delivered:
            found += sum(added.values())
            continue
        classes = [
            RackClass(role, item, np.array([count]), device_needs(plan.device(item), group.pdu, group.limits.feeds))
            for (role, item), count in added.items()
        ]
        found += sum(fill.existing is None for fill in place(classes, _room_left(plan, group)))
    return found


def _room_left(plan: Plan, group: RackGroup) -> RackLimits:
    """What the standing racks of a group still hold; room in racks that the customer had is not counted on."""
    rule = group.limits
    members = {(one.role, one.item) for one in group.classes}
    left: list[Floats] = []
    for rack in plan.racks:
        if rack.is_existing or not any((one.role, one.item) in members for one in rack.devices):
            continue
        holds = rule.holds.copy()
        # No more than the PDUs that the rack has carry after the loss of a feed.
        n_carrying = max(round(rack.feed_capacity_w / rule.pdu_w), 1)
        holds[2] = min(holds[2], n_carrying * rule.pdu_w - (n_carrying - 1) * rule.inlet_w)
        for device in rack.present:
            holds -= device_needs(plan.device(device.item), group.pdu, rule.feeds)
        left.append(holds)
    return replace(rule, existing=tuple(left))
