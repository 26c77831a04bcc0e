"""Growth plan, for requests with a [growth]: purchases by year, and limits over time."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present.figures import charted
from sizer.questions.growth.charts import owned_chart
from sizer.questions.growth.tables import limits_table, purchases_table, sequences_table
from sizer.questions.growth.text import differences_from_design, findings


def applies(context: GuideContext) -> bool:
    """Whether the request states growth."""
    return context.result.request.growth is not None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/purchases.html`` prints."""
    plan, reason = context.growth_plan
    if plan is None:
        return {"reason": reason, "plan": None}
    catalog, currency = context.catalog, context.result.request.currency
    growth = plan.of(*context.design.platform.key)
    return {
        "reason": "",
        "plan": plan,
        "findings": findings(plan, growth, catalog),
        "other_design": differences_from_design(growth, context.design),
        "inventory": charted(
            "purchases-owned", owned_chart(growth, context.palette), "Installed equipment in each year."
        ),
        "purchases": purchases_table(growth, catalog, currency),
        "options": sequences_table(growth, plan, currency),
        "limits": limits_table(growth.limits, plan.n_years),
    }
