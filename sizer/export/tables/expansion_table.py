"""The next sizes of the design as a table: added devices, and every existing link that moves."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sizer.catalog.model import Catalog
from sizer.export.tables.table import Number, Sheet, SheetColumn, record_sheet
from sizer.physical.expansion import GrowthStep, growth
from sizer.physical.plan import Plan
from sizer.physical.violations import violation_error_text


class _Change(NamedTuple):
    """One kind of device that is added, or one link that moves."""

    step: GrowthStep
    what: str
    number: int
    device: str
    network: str = ""
    was_at: str = ""
    comes_to: str = ""


# The columns after it name the ends of a link.
_LAST_SUMMED: SheetColumn[_Change] = SheetColumn("Network", lambda change: change.network)
_COLUMNS: tuple[SheetColumn[_Change], ...] = (
    Number("Servers", lambda change: change.step.n_servers),
    Number("Storage nodes", lambda change: change.step.storage_nodes),
    SheetColumn("What", lambda change: change.what),
    Number("Number", lambda change: change.number),
    SheetColumn("Device", lambda change: change.device),
    _LAST_SUMMED,
    SheetColumn("Was at", lambda change: change.was_at),
    SheetColumn("Comes to", lambda change: change.comes_to),
)
_NOTES = (
    "Changes to the design of this file. Installed devices keep their rack units.",
    "Links that are not listed stay where they are.",
)


def growth_sheet(
    plan: Plan, catalog: Catalog, steps: Sequence[GrowthStep] | None = None, *, is_summed: bool = False
) -> Sheet:
    """One row for each kind of device that is added and for each link that moves; ``is_summed``: links by network.

    ``steps`` are the sizes that the workloads gain from; without them those of the plan alone.
    """
    changes = [
        change
        for step in (growth(plan) if steps is None else steps)
        for change in _changes(step, catalog, is_summed=is_summed)
    ]
    if not is_summed:
        return record_sheet("Growth", changes, _COLUMNS, _NOTES)
    return record_sheet("Growth", changes, _COLUMNS[: _COLUMNS.index(_LAST_SUMMED) + 1], _NOTES[:1])


def _changes(step: GrowthStep, catalog: Catalog, *, is_summed: bool) -> Iterator[_Change]:
    if step.limit is not None:
        yield _Change(step, "not on this platform", 0, violation_error_text(step.limit))
        return
    for role, item, number in step.added:
        yield _Change(step, "added", number, f"{role}: {catalog.item(item).name}")
    if step.new_racks:
        yield _Change(step, "added", step.new_racks, "rack")
    if is_summed:
        for network, number in Counter(str(move.network) for move in step.moved).items():
            yield _Change(step, "links moved", number, "", network)
        return
    for move in step.moved:
        becomes = move.becomes or "taken out"
        yield _Change(step, "link moves", 1, move.device, str(move.network), move.was, becomes)
