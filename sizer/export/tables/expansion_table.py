"""The next sizes of the design as a table: what is added, and every standing link that must move."""

from sizer.catalog.model import Catalog
from sizer.export.tables.table import Row, Sheet
from sizer.physical.expansion import GrowthStep, growth
from sizer.physical.plan import Plan
from sizer.physical.violations import violation_error_text


def growth_sheet(plan: Plan, catalog: Catalog) -> Sheet:
    """One row a kind of device that is added, one a link that ends elsewhere."""
    heads = ("Servers", "Storage nodes", "What", "Number", "Device", "Network", "Was at", "Comes to")
    numeric = frozenset({"Servers", "Storage nodes", "Number"})
    rows = [row for step in growth(plan) for row in _rows(step, catalog)]
    notes = (
        "Told from the design of this file; standing devices keep their rack units.",
        "A link that is not listed stays where it is.",
    )
    return Sheet("Growth", heads, tuple(rows), numeric, notes)


def _rows(step: GrowthStep, catalog: Catalog) -> list[Row]:
    size = (step.n_servers, step.storage_nodes)
    if step.limit is not None:
        return [(*size, "not on this platform", 0, violation_error_text(step.limit), "", "", "")]
    added: list[Row] = [
        (*size, "added", number, f"{role}: {catalog.item(item).name}", "", "", "") for role, item, number in step.added
    ]
    racks: list[Row] = [(*size, "added", step.new_racks, "rack", "", "", "")] if step.new_racks else []
    moved: list[Row] = [
        (*size, "link moves", 1, move.device, str(move.network), move.was, move.becomes or "taken out")
        for move in step.moved
    ]
    return [*added, *racks, *moved]
