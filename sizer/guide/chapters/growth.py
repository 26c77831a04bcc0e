"""Chapter on growth: the next sizes of the design, and its headroom limit by limit."""

from collections.abc import Iterator
from typing import Any

from sizer.base.quantities import grouped, significant
from sizer.catalog.fabrics import fabric_ports
from sizer.guide.context import GuideContext
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.components import Network
from sizer.physical.racks.power import device_power
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.expansion_table import growth_table
from sizer.present.tables import Table, fact_table
from sizer.sizing.design.decisions import allowed_rack_w
from sizer.sizing.result import STAGES, DesignAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/growth.html`` prints."""
    return {
        "grows_by": "servers and storage nodes" if counts_nodes(context.design.platform.storage) else "servers",
        "growth": growth_table(context.next_sizes),
        "limits": limits_table(context.design, context.result.request.limits.rack_power_w),
    }


def limits_table(design: DesignAnswer, rack_power_w: float | None = None) -> Table:
    """Headroom of the design for growth, limit by limit; ``rack_power_w`` is what the request allows a rack. [W]"""
    titles = ("Limit", "Headroom", "Next step")
    return fact_table(
        "growth-limits",
        "Headroom for growth",
        _limits(design, rack_power_w),
        titles=titles,
        widths=(30, 30, 40),
        style="",
    )


def _limits(design: DesignAnswer, rack_power_w: float | None) -> Iterator[tuple[str, str, str]]:
    platform = design.platform
    for net in design.quantities.networks:
        if net.role is not NetworkRole.COMPUTE or not int(net.ports_used[0]):
            continue
        free = int(net.ports_free[0])
        each = max(fabric_ports(platform.server.ports, platform.fabric), 1)
        yield (
            "Ports of the compute fabric",
            f"{words.plural(free, 'port')} free{_room_on_leaves(net, each)}",
            "another leaf switch, later another level"
            if int(net.spines[0])
            else "another switch, and links between the switches",
        )
    units = sum(len(rack.empty_units) for rack in design.plan.racks)
    height = platform.server.height_u
    if height is not None:
        yield (
            "Rack units",
            f"{units}{words.NO_BREAK}U free, {_room_text(design, int(height.value), rack_power_w)}",
            "another rack with its own pair of feeds",
        )
    if counts_nodes(platform.storage):
        _, most = node_limits(platform.storage)
        flat = platform.storage.back_end_flat_nodes
        yield (
            "Storage nodes",
            f"{grouped(design.storage_nodes)} of {grouped(most)} in use",
            f"leaf and spine in the back end above {flat.value} nodes" if flat is not None else "a second file system",
        )
    for answer in design.workloads:
        stage = next(stage for stage in answer.stages if stage.key == answer.next_bottleneck)
        ratio = float(stage.capacity.value) / float(answer.throughput.value)
        if 1 < ratio < 1000:
            yield (
                f"{STAGES[stage.key]}, {answer.workload.name}",
                f"{significant(ratio, 2)} times the projected rate",
                "beyond that, this stage limits faster GPUs and newer software",
            )


def _room_on_leaves(net: Network, ports_per_server: int) -> str:
    """Servers that the free ports take: with spines only those of the leaves count."""
    free, above = int(net.ports_free[0]), int(net.spines[0]) + int(net.cores[0])
    on_leaves = ""
    if above:
        if net.spine != net.switch:
            return ", on leaves and spines together"
        size = (int(net.ports_used[0]) + free) // (int(net.leaves[0]) + above)
        used = int(net.end_points[0]) + int(net.leaf_spine_cables[0]) + 2 * int(net.peer_cables[0])
        free = max(int(net.leaves[0]) * size - used, 0)
        on_leaves = f", {grouped(free)} of them on leaves"
    more = free // ports_per_server
    return f"{on_leaves}, {'enough for ' + words.plural(more, 'server') + ' more' if more else 'too few for a server'}"


def _room_text(design: DesignAnswer, height_u: int, rack_power_w: float | None) -> str:
    """Servers that fit the free units, and how many of them the power of the racks carries."""
    by_units = by_power = 0
    draw = device_power(design.platform.server)
    for rack in design.plan.racks:
        room = len(rack.empty_units) // height_u
        by_units += room
        most_w = allowed_rack_w(rack.feed_capacity_w, rack_power_w)
        by_power += min(room, int(max(most_w - rack.max_w, 0.0) // draw.max_w)) if draw.max_w > 0 else 0
    text = f"room for {words.plural(by_units, 'server')}"
    if not by_units:
        return "no room for a server"
    if not by_power and draw.max_w > 0:
        return f"{text}, but no power for one"
    if not draw.is_known or any(rack.is_existing or rack.has_unknown_power for rack in design.plan.racks):
        return f"{text} if power allows"
    if by_power >= by_units:
        return f"{text}, which the power of the racks carries, too"
    carried = "none" if not by_power else grouped(by_power)
    return f"{text}; the power of the racks carries {carried} of them"
