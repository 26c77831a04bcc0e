"""Software and support lines that a design calls for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Ints
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.sale import era_of
from sizer.catalog.schema import Server, Software, Storage, Support
from sizer.physical.allowed_parts import fits_era
from sizer.physical.capacity import nodes_per_unit, raw_bytes
from sizer.physical.components import Component
from sizer.physical.networks.members import Shape
from sizer.physical.networks.ports import nodes_of
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.roles import Role


@dataclass(frozen=True)
class SoftwareLine:
    """A software or support line that a platform calls for."""

    category: Literal["software", "support"]
    item: str
    metric: str
    covers: tuple[str, ...]  # names of ``_covered``
    notes: tuple[PlanNote, ...]
    status: Literal["computed", "optional"]
    requires: tuple[str, ...]  # "head node" or ids of other lines
    elsewhere: tuple[str, ...]  # nodes that it covers on which other lines do its work, by the same names
    needed_from_heads: int | None  # from so many head nodes on it is not optional


class _Hosts(NamedTuple):
    """What of a platform decides which lines it calls for: many platforms share it."""

    server: Server
    gpu_vendor: str
    head_node: Server | None
    storage_server: Server | None
    storage: Storage
    capacity_storage: Storage | None


def lines_of(catalog: Catalog, platform: Platform) -> tuple[SoftwareLine, ...]:
    """Software and support lines of a platform."""
    # Memory, draw and stated rates of a platform decide nothing here.
    server = catalog.servers.get(platform.server.id, platform.server)
    storage = catalog.storage.get(platform.storage.id, platform.storage)
    hosts = server, platform.gpu.vendor, platform.head_node, platform.storage_server
    return _lines(catalog, _Hosts(*hosts, storage, platform.capacity_storage))


@lru_cache(maxsize=4096)
def _lines(catalog: Catalog, hosts: _Hosts) -> tuple[SoftwareLine, ...]:
    folders: tuple[tuple[Literal["software", "support"], Mapping[str, Software | Support]], ...] = (
        ("software", catalog.software),
        ("support", catalog.support),
    )
    lines: list[SoftwareLine] = []
    for category, items in folders:
        for item in items.values():
            covers, metric = _covers(hosts, item.applies_to), item.metric.value
            era = item.era if isinstance(item, Software) else None
            if covers and item.orderable and fits_era(era, era_of(catalog, hosts.server)):
                notes = () if metric in ("free", "included") else (PlanNote(PlanNoteKind.PER_UNIT, (metric,)),)
                status: Literal["computed", "optional"] = "optional" if item.optional else "computed"
                pair = item.needed_from_heads if isinstance(item, Software) else None
                lines.append(SoftwareLine(category, item.id, metric, covers, notes, status, item.requires, (), pair))
    covered = {line.item: line.covers for line in lines}

    def elsewhere(line: SoftwareLine) -> tuple[str, ...]:
        others = catalog.software[line.item].not_with if line.category == "software" else ()
        return tuple(name for other in others for name in covered.get(other, ()))

    return tuple(replace(line, elsewhere=elsewhere(line)) for line in lines)


def _covers(hosts: _Hosts, applies_to: Sequence[str]) -> tuple[str, ...]:
    """Which nodes a line covers, by the names of ``_covered``; none where it does not apply to the hosts."""
    if "any" in applies_to:
        return ("all",)
    covers = ["cluster"] if "cluster" in applies_to else []
    parts = {"servers": hosts.server, "heads": hosts.head_node, "storage servers": hosts.storage_server}
    if hosts.gpu_vendor in applies_to:
        covers.append("servers")
    if not covers:
        covers += [name for name, part in parts.items() if part is not None and _is_named(part, applies_to)]
    if _is_named(hosts.storage, applies_to):
        covers.append("storage nodes")
    if hosts.capacity_storage is not None and _is_named(hosts.capacity_storage, applies_to):
        covers.append("capacity nodes")
    return tuple(covers)


def _is_named(item: Item, applies_to: Sequence[str]) -> bool:
    return item.id in applies_to or item.vendor in applies_to


def _covered(platform: Platform, rows: Shape) -> dict[str, Ints]:
    """Nodes of every row that a line may cover."""
    hosts = rows.n_servers * nodes_of(platform.server)  # each with an operating system
    return {
        "all": hosts + rows.heads,
        "cluster": np.where((hosts > 1) & (not platform.has_replicas_apart), hosts + rows.heads, 0),
        "servers": rows.n_servers,
        "heads": rows.heads,
        "storage servers": rows.units,
        "storage nodes": rows.nodes,
        "capacity nodes": rows.tier_nodes,
    }


def software_lines(
    platform: Platform, catalog: Catalog, rows: Shape, devices: Sequence[Component] = ()
) -> list[Component]:
    """Software and support lines that the design calls for, counted by their metric.

    ``devices``: existing ones apart: support and licences of a device that is there are not bought again.
    """
    covered = _covered(platform, rows)
    there = _there(platform, covered, devices)
    amounts: dict[tuple[str, tuple[str, ...], tuple[str, ...], bool], Ints] = {}  # many lines count alike
    lines, found = lines_of(catalog, platform), []
    for line in lines:
        # A cluster has the licence of its software with its first nodes; its services are bought again.
        is_of_cluster = line.category == "software" and line.metric == "cluster"
        key = line.metric, line.covers, line.elsewhere, is_of_cluster
        quantity = amounts.get(key)
        if quantity is None:
            is_each = line.metric in ("node", "raw-terabyte")
            first, *others = (covered[name] - (there.get(name, 0) if is_each else 0) for name in line.covers)
            nodes = sum(others, first)
            for name in line.covers if is_of_cluster else ():
                nodes = np.where(np.asarray(there.get(name, 0)) > 0, 0, nodes)
            for name in line.elsewhere:
                nodes = nodes - covered[name]
            quantity = amounts[key] = _metric_quantity(platform, rows, line.metric, nodes)
        found.append(Component(Role(line.category), line.category, line.item, quantity, line.notes, line.status))
    parts = _with_requirements(found, lines, rows)
    return [part for each, line in zip(parts, lines, strict=True) for part in _by_need(each, line, rows)]


def _by_need(part: Component, line: SoftwareLine, rows: Shape) -> Iterator[Component]:
    """A line; one that enough head nodes need is optional with fewer, and counts in the total with them."""
    if line.needed_from_heads is None:
        yield part
        return
    is_needed = rows.heads >= line.needed_from_heads
    yield part.of(np.where(is_needed, 0, part.quantity))
    yield replace(part, quantity=np.where(is_needed, part.quantity, 0), status="computed")


def _there(platform: Platform, covered: Mapping[str, Ints], devices: Sequence[Component]) -> dict[str, Ints]:
    """Existing nodes of each name of ``_covered``."""
    names = {
        Role.GPU_SERVER: ("servers",),
        Role.HEAD_NODE: ("heads",),
        Role.STORAGE_SERVER: ("storage servers", "storage nodes"),
        Role.STORAGE_CHASSIS: ("storage nodes",),
        Role.STORAGE_NODE: ("storage nodes",),
        Role.CAPACITY_TIER: ("capacity nodes",),
    }
    found: dict[str, Ints] = {}
    for part in devices:
        for name in names.get(part.role, ()) if part.status == "existing" else ():
            per_piece = nodes_per_unit(platform.storage) if name == "storage nodes" else 1
            found[name] = found.get(name, 0) + part.quantity * per_piece
    hosts = found.get("servers", 0) * nodes_of(platform.server) + found.get("heads", 0)
    return found | {name: np.minimum(covered[name], hosts) for name in ("all", "cluster")}


def _with_requirements(parts: Sequence[Component], lines: Sequence[SoftwareLine], rows: Shape) -> list[Component]:
    """The lines in the designs that have what they require, which may itself require something."""
    has: dict[str, Bools] = {"head node": rows.heads > 0}
    waiting = dict(zip((line.item for line in lines), zip(parts, lines, strict=True), strict=True))

    def present(item: str) -> Bools:
        if item not in has:
            has[item] = np.zeros_like(rows.heads, dtype=bool)  # of a ring of requirements, none is there
            if item in waiting:
                part, line = waiting[item]
                needs = [present(other) for other in line.requires]
                has[item] = np.logical_and.reduce([part.quantity > 0, *needs])
        return has[item]

    return [
        part.of(np.where(present(line.item), part.quantity, 0)) if line.requires else part
        for part, line in zip(parts, lines, strict=True)
    ]


def _metric_quantity(platform: Platform, rows: Shape, metric: str, nodes: Ints) -> Ints:
    if metric == "node":
        return nodes
    applies = nodes > 0
    if metric == "gpu":
        return np.where(applies, rows.n_servers * platform.gpus_per_server, 0)
    if metric == "raw-terabyte":
        # Where servers hold the storage, they are what is counted; elsewhere its nodes.
        raw = raw_bytes(platform.storage, platform.capacity_option, np.minimum(nodes, rows.nodes))
        return np.where(applies & ~np.isnan(raw), np.ceil(np.nan_to_num(raw) / 1e12 - 1e-9), 0).astype(np.int64)
    return applies.astype(np.int64)
