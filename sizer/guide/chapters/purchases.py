"""Chapter of requests with a [growth]: what to buy in which year, and when each limit is reached."""

from typing import Any

from sizer.guide.chapters.case import Case
from sizer.present.figures import charted
from sizer.questions.growth.charts import limits_chart, owned_chart
from sizer.questions.growth.tables import (
    demand_table,
    limits_table,
    platforms_table,
    purchases_table,
    sequences_table,
)
from sizer.questions.growth.text import differences_from_design, findings


def applies(case: Case) -> bool:
    """Whether the request grows."""
    return case.result.request.growth is not None


def content(case: Case) -> dict[str, Any]:
    """What ``sections/purchases.html`` prints."""
    plan, reason = case.growth_plan
    if plan is None:
        return {"reason": reason, "plan": None}
    catalog, currency = case.catalog, case.result.request.currency
    growth = plan.of(*case.design.platform.key)
    return {
        "reason": "",
        "plan": plan,
        "findings": findings(plan, growth, catalog),
        "other_design": differences_from_design(growth, case.design),
        "owned": charted("purchases-owned", owned_chart(growth, case.palette), "Equipment owned in each year."),
        "purchases": purchases_table(growth, catalog, currency),
        "ways": sequences_table(growth, plan, currency),
        "limits_chart": charted(
            "purchases-limits-over-time",
            limits_chart(growth, case.palette) if case.is_full else None,
            "Load of each year on the year-1 cluster, logarithmic.",
        ),
        "limits": limits_table(growth.limits, plan.n_years),
        "asked": demand_table(plan) if case.is_full else None,
        "platforms": platforms_table(plan, currency) if case.is_full and len(plan.platforms) > 1 else None,
    }
