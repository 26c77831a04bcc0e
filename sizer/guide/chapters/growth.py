"""Chapter on growth: the next sizes of the design, and its headroom limit by limit."""

from collections.abc import Iterator
from typing import Any

from sizer.base.quantities import grouped, significant
from sizer.catalog.fabrics import fabric_ports
from sizer.guide.context import GuideContext
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.expansion_table import growth_table
from sizer.present.tables import Table, fact_table
from sizer.sizing.result import STAGES, DesignAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/growth.html`` prints."""
    return {"growth": growth_table(context.next_sizes), "limits": limits_table(context.design)}


def limits_table(design: DesignAnswer) -> Table:
    """Headroom of the design for growth, limit by limit."""
    titles = ("Limit", "Headroom", "Next step")
    return fact_table(
        "growth-limits", "Headroom for growth", _limits(design), titles=titles, widths=(30, 30, 40), style=""
    )


def _limits(design: DesignAnswer) -> Iterator[tuple[str, str, str]]:
    platform = design.platform
    for net in design.quantities.networks:
        if net.role is not NetworkRole.COMPUTE or not int(net.ports_used[0]):
            continue
        free = int(net.ports_free[0])
        servers = words.plural(free // max(fabric_ports(platform.server.ports, platform.fabric), 1), "server")
        yield (
            "Ports of the compute fabric",
            f"{words.plural(free, 'port')} free, enough for {servers} more",
            "another leaf switch, later another level"
            if int(net.spines[0])
            else "another switch, and links between the switches",
        )
    units = sum(len(rack.empty_units) for rack in design.plan.racks)
    height = platform.server.height_u
    if height is not None:
        servers = words.plural(int(units // height.value), "server")
        yield (
            "Rack units",
            f"{units}{words.NO_BREAK}U free, room for {servers} if power allows",
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
                "above it, faster GPUs or newer software bring no gain",
            )
