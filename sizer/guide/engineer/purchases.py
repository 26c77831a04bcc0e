"""Growth plan in detail: load of each year, requirements by year, other platforms."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present.figures import charted
from sizer.questions.growth.charts import limits_chart
from sizer.questions.growth.tables import demand_table, platforms_table


def applies(context: GuideContext) -> bool:
    """Whether the request states growth and a plan meets it."""
    return context.result.request.growth is not None and context.growth_plan[0] is not None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/purchases.html`` prints."""
    plan, _ = context.growth_plan
    assert plan is not None  # the chapter would not apply
    growth = plan.of(*context.design.platform.key)
    return {
        "limits_chart": charted(
            "purchases-limits-over-time",
            limits_chart(growth, context.palette),
            "Load of each year on the year-1 cluster, logarithmic scale.",
        ),
        "requirements": demand_table(plan),
        "platforms": platforms_table(plan, context.result.request.currency) if len(plan.platforms) > 1 else None,
    }
