"""The same design at a larger size: which links of the standing one must move."""

from sizer.physical.layout import building_plan
from sizer.physical.plan import Connection, Plan
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.roles import Role


def moved_links(plan: Plan, n_servers: int, storage_nodes: int) -> tuple[Connection, ...]:
    """Links of a laid-out design that end elsewhere, or nowhere, in a larger one.

    Standing devices stay in their rack units, and room kept for servers to come is used up first. A link stays where
    its switch port is one for end points in the larger fabric, too.

    ``plan``: the standing design. ``n_servers``, ``storage_nodes``: the larger size, no smaller in either. Returns an
    empty tuple, too, where the platform does not reach the size.
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
        return ()
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
    ends = {_a(link): _z(link) for link in larger.connections}
    return tuple(link for link in plan.connections if ends.get(_a(link)) != _z(link))


def _a(link: Connection) -> tuple[str, str]:
    return link.a.device, link.a.port


def _z(link: Connection) -> tuple[str, str]:
    return link.z.device, link.z.port
