"""Software and support lines that a design calls for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.identity_cache import cached_by_catalog
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Item, Software, Support
from sizer.physical.capacity import raw_bytes
from sizer.physical.components import Component
from sizer.physical.networks.members import Shape
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.platform import Platform
from sizer.physical.roles import Role


@dataclass(frozen=True)
class _Line:
    """A software or support line that a platform calls for."""

    category: Literal["software", "support"]
    item: str
    metric: str
    covers: tuple[str, ...]  # names of ``_covered``
    notes: tuple[PlanNote, ...]
    status: Literal["computed", "optional"]


@cached_by_catalog
def _lines(catalog: Catalog, platform: Platform) -> tuple[_Line, ...]:
    """Software and support lines of a platform."""
    folders: tuple[tuple[Literal["software", "support"], Mapping[str, Software | Support]], ...] = (
        ("software", catalog.software),
        ("support", catalog.support),
    )
    found = []
    for category, items in folders:
        for item in items.values():
            covers, metric = _covers(platform, item.applies_to), item.metric.value
            if covers and item.orderable:
                notes = () if metric in ("free", "included") else (PlanNote(PlanNoteKind.PER_UNIT, (metric,)),)
                status: Literal["computed", "optional"] = "optional" if item.optional else "computed"
                found.append(_Line(category, item.id, metric, covers, notes, status))
    return tuple(found)


def _covers(platform: Platform, applies_to: Sequence[str]) -> tuple[str, ...]:
    """Which nodes a line covers, by the names of ``_covered``; none where it does not apply to the platform."""
    if "any" in applies_to:
        return ("all",)
    found = ["cluster"] if "cluster" in applies_to else []
    parts = {"servers": platform.server, "heads": platform.head_node, "storage servers": platform.storage_server}
    if not found:
        found += [name for name, part in parts.items() if part is not None and _is_named(part, applies_to)]
    return (*found, "storage nodes") if _is_named(platform.storage, applies_to) else tuple(found)


def _is_named(item: Item, applies_to: Sequence[str]) -> bool:
    return item.id in applies_to or item.vendor in applies_to


def _covered(rows: Shape) -> dict[str, Ints]:
    """Nodes of every row that a line may cover."""
    everything = rows.n_servers + rows.heads
    return {
        "all": everything,
        "cluster": np.where(rows.n_servers > 1, everything, 0),
        "servers": rows.n_servers,
        "heads": rows.heads,
        "storage servers": rows.units,
        "storage nodes": rows.nodes,
    }


def software_lines(platform: Platform, catalog: Catalog, rows: Shape) -> list[Component]:
    """Software and support lines that the design calls for, counted by their metric."""
    covered = _covered(rows)
    amounts: dict[tuple[str, tuple[str, ...]], Ints] = {}  # many lines count alike
    found = []
    for line in _lines(catalog, platform):
        quantity = amounts.get((line.metric, line.covers))
        if quantity is None:
            first, *others = (covered[name] for name in line.covers)
            quantity = _metric_quantity(platform, rows, line.metric, sum(others, first))
            amounts[line.metric, line.covers] = quantity
        found.append(Component(Role(line.category), line.category, line.item, quantity, line.notes, line.status))
    return found


def _metric_quantity(platform: Platform, rows: Shape, metric: str, nodes: Ints) -> Ints:
    if metric == "node":
        return nodes
    applies = nodes > 0
    if metric == "gpu":
        return np.where(applies, rows.n_servers * platform.gpus_per_server, 0)
    if metric == "raw-terabyte":
        raw = raw_bytes(platform.storage, platform.capacity_option, rows.nodes)
        return np.where(applies & ~np.isnan(raw), np.ceil(np.nan_to_num(raw) / 1e12 - 1e-9), 0).astype(np.int64)
    return applies.astype(np.int64)
