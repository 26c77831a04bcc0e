"""Chapter of requests with a [growth]: what to buy in which year, and when each part is used up."""

from typing import Any

from sizer.guide.chapters.case import Case
from sizer.present.figures import charted
from sizer.questions.growth.charts import owned_chart, used_up_chart
from sizer.questions.growth.tables import (
    asked_table,
    findings,
    limits_table,
    other_design,
    platforms_table,
    purchases_table,
    ways_table,
)


def applies(case: Case) -> bool:
    """Whether the request grows."""
    return case.result.request.growth is not None


def content(case: Case) -> dict[str, Any]:
    """What ``sections/purchases.html`` prints."""
    plan, reason = case.growth_plan
    if plan is None:
        return {"reason": reason, "plan": None}
    catalog, currency = case.catalog, case.result.request.currency
    found = plan.of(*case.design.platform.key)
    return {
        "reason": "",
        "plan": plan,
        "findings": findings(plan, found, catalog),
        "other_design": other_design(found, case.design),
        "owned": charted("purchases-owned", owned_chart(found, case.palette), "What the plan owns in each year."),
        "purchases": purchases_table(found, catalog, currency),
        "ways": ways_table(found, plan, currency),
        "used_up": charted(
            "purchases-used-up",
            used_up_chart(found, case.palette) if case.is_full else None,
            "What each year asks of the first year's cluster, logarithmic.",
        ),
        "limits": limits_table(found.limits, plan.n_years),
        "asked": asked_table(plan) if case.is_full else None,
        "platforms": platforms_table(plan, currency) if case.is_full and len(plan.platforms) > 1 else None,
    }
