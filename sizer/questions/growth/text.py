"""The growth plan as plain text for a terminal."""

from sizer.catalog.model import Catalog
from sizer.present.plain_table import table_text
from sizer.questions.growth.result import GrowthPlan
from sizer.questions.growth.tables import (
    asked_table,
    findings,
    limits_table,
    platforms_table,
    purchases_table,
    ways_table,
)
from sizer.workload.request import SizingRequest


def growth_text(plan: GrowthPlan, catalog: Catalog, request: SizingRequest) -> str:
    """Findings and tables of the first platform, then the others side by side."""
    found, currency = plan.platforms[0], request.currency
    tables = [
        purchases_table(found, catalog, currency),
        ways_table(found, plan, currency),
        limits_table(found.limits, plan.n_years),
        asked_table(plan),
    ]
    if len(plan.platforms) > 1:
        tables.append(platforms_table(plan, currency))
    said = findings(plan, found, catalog)
    lines = [request.title, "=" * len(request.title), *said]
    return "\n\n".join(["\n".join(lines), *map(table_text, tables)])
