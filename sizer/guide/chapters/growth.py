"""Chapter on growth: the headroom of the design, limit by limit."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sizer.base.quantities import grouped, si, significant
from sizer.catalog.schema import Storage
from sizer.guide.context import GuideContext
from sizer.physical.capacity import counts_nodes, node_limits
from sizer.physical.layout import ServerRoom, server_room, servers_by_ports
from sizer.physical.networks.storage_networks import shares_back_end
from sizer.physical.notes import PlanNoteKind
from sizer.physical.roles import NetworkRole, Role
from sizer.present import words
from sizer.present.facts.storage_tiers import tier_label
from sizer.present.tables import Table, fact_table
from sizer.sizing.constraints.tiers import StorageTier, TierContent
from sizer.sizing.result import STAGES, DesignAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/growth.html`` prints."""
    return {
        "grows_by": "servers and storage nodes" if counts_nodes(context.design.platform.storage) else "servers",
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
        widths=(26, 42, 32),
        style="",
    )


def _limits(design: DesignAnswer, rack_power_w: float | None) -> Iterator[tuple[str, str, str]]:
    room = server_room(design.plan, rack_power_w)
    if room.leaf_ports_free is not None and room.by_ports is not None:
        has_spines = any(int(net.spines[0]) for net in design.quantities.networks if net.role is NetworkRole.COMPUTE)
        yield (
            "Ports of the compute fabric",
            f"{_ports_free(room.leaf_ports_free)}, {_servers_more(room.by_ports)}",
            "another leaf switch, later another level"
            if has_spines
            else "another switch, and links between the switches",
        )
    # Leaf ports that the other networks of the servers have left, and the servers that these take.
    servers = [number for number, device in enumerate(design.plan.devices) if device.role is Role.GPU_SERVER]
    for network in design.quantities.networks:
        runs = [cable.run for cable in design.plan.cables if cable.run.network.network is network.role]
        links = sum(int(np.isin(run.a_device, servers).sum()) for run in runs)
        if network.role is NetworkRole.COMPUTE or not links:
            continue
        free = int(network.leaf_ports_free[0])
        each = -(-links // design.n_servers)
        more = servers_by_ports(design.plan, network.role, each)
        text = f"{_ports_free(free)}, {_servers_more(more)}"
        if more < free // each:
            if any(note.kind is PlanNoteKind.STORAGE_RATIO for note in network.notes):
                text += ": the storage has separate leaf switches"
            elif more:
                text += " with their switches"
        yield f"Ports of the {network.role}", text, "another leaf switch"
    if room.by_units is not None:
        yield (
            "Rack units",
            f"{room.free_units}{words.NO_BREAK}U free, {_room_text(room)}",
            "another rack with its own pair of feeds",
        )
    for tier in design.tiers:
        if tier.storage is not None and counts_nodes(tier.storage):
            yield _storage_nodes(design, tier, tier.storage)
        if tier.content is not TierContent.EVERYTHING and tier.usable_bytes > 0:
            share = words.percent(tier.free_bytes / tier.usable_bytes)
            yield (
                tier_label(tier, "Storage capacity"),
                f"{si(tier.free_bytes, 'B')} free, {share} of {si(tier.usable_bytes, 'B')}",
                "more nodes",
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


def _storage_nodes(design: DesignAnswer, tier: StorageTier, storage: Storage) -> tuple[str, str, str]:
    """Nodes of a tier, and what more of them take."""
    least, most = node_limits(storage)
    largest, flat = storage.max_nodes, storage.back_end_flat_nodes
    is_published = largest is not None and largest.basis != "assumed"
    # Tiers with the same back end are one cluster.
    on_back_end = sum(
        other.nodes
        for other in design.tiers
        if other.storage is not None and (other is tier or shares_back_end(storage, other.storage))
    )
    if least == most == tier.nodes and largest is not None:
        return tier_label(tier, "Storage nodes"), f"{grouped(most)} in use, all that a system has", "a second system"
    return (
        tier_label(tier, "Storage nodes"),
        f"{grouped(tier.nodes)} of {grouped(most)} in use"
        if is_published
        else f"{grouped(tier.nodes)} in use; no largest number is published",
        f"leaf and spine in the back end above {flat.value} nodes"
        if flat is not None and on_back_end <= flat.value
        else "a second file system",
    )


def _ports_free(count: int) -> str:
    return f"{words.plural(count, 'leaf port')} free" if count else "no leaf port free"


def _servers_more(count: int) -> str:
    return f"enough for {words.plural(count, 'server')} more" if count else "no further server"


def _room_text(room: ServerRoom) -> str:
    """Servers that fit the free units, and how many of them the feeds of the racks take."""
    by_units, by_power = room.by_units or 0, room.by_power
    if not by_units:
        return "no further server"
    text = f"room for {words.plural(by_units, 'server')}"
    if by_power is None:
        return f"{text} if power allows"
    if not by_power:
        return f"{text}; the feeds and outlets of these racks take none of them"
    if not room.power_is_known:
        return f"room for {words.plural(by_power, 'server')} if power allows"
    if by_power >= by_units:
        return f"{text}, which their feeds and outlets take"
    return f"{text}; the feeds and outlets of these racks take {grouped(by_power)}"
