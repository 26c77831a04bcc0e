"""What a design is made of and where it stands: nothing of this depends on what runs on it."""

from dataclasses import dataclass, replace
from typing import Any

from sizer.bom.lines import row_cost
from sizer.bom.prices import PriceBook
from sizer.catalog.model import Catalog
from sizer.physical.components import Component, Quantities
from sizer.physical.layout import building_plan
from sizer.physical.networks.cables import BETWEEN_RACKS_M, IN_RACK_M
from sizer.physical.plan import CABLE_CATEGORY, Plan
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities, slice_row
from sizer.sizing.reasons import CableLengths
from sizer.workload.request import SizingRequest


@dataclass(frozen=True, eq=False)
class BuiltDesign:
    """Parts and plan of one design."""

    parts: Quantities  # of one row, the cables as planned
    counted: tuple[Component, ...]  # the parts as a search counts them
    plan: Plan

    def cable_lengths(self, catalog: Catalog, prices: PriceBook, currency: str) -> CableLengths | None:
        """By how much the bill differs from what the search compared: cables, by their length; None without cables."""
        cost = []
        open_items: set[str] = set()
        for components in (self.counted, self.plan.components):
            cables = [part for part in components if part.category == CABLE_CATEGORY]
            if not cables:
                return None
            amount, unpriced = row_cost(cables, catalog, prices, currency)
            cost.append(0.0 if amount is None else float(amount[0]))
            open_items |= set(unpriced)
        return CableLengths(IN_RACK_M, BETWEEN_RACKS_M, cost[1] - cost[0] if any(cost) else None, bool(open_items))


def built_design(
    request: SizingRequest, platform: Platform, n_servers: int, storage_nodes: int, catalog: Catalog
) -> BuiltDesign:
    """Count and place one design of so many servers and storage nodes."""
    room: dict[str, Any] = {
        "catalog": catalog,
        "limits": request.limits,
        "existing": request.existing,
        "fabric": request.fabric,
    }
    counted = slice_row(quantities(platform, [n_servers], [storage_nodes], **room), 0)
    rows = request.site.racks_per_row
    plan = building_plan(platform, counted, n_servers, storage_nodes, **room, racks_per_row=rows)
    return BuiltDesign(replace(counted, components=plan.components), counted.components, plan)
