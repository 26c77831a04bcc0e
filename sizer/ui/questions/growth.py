"""The question Growth of the page What-if: purchases by year, with a slider for each factor."""

from typing import Any

import streamlit as st

from sizer.base.errors import InfeasibleError, RequestError
from sizer.questions.growth.text import (
    demand_table,
    findings,
    limits_table,
    platform_text,
    platforms_table,
    purchases_table,
    sequences_table,
)
from sizer.sizing.growth.growth_plan import growth_plan
from sizer.sizing.growth.result import GrowthPlan, PlatformGrowth, as_billed, offered
from sizer.ui import look, state
from sizer.ui.error_messages import sentences
from sizer.ui.questions.tried import Tried
from sizer.ui.requirements.surroundings import GROWTH_START, factor_fields
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.optional_tables import Growth
from sizer.workload.request import SizingRequest

# Values of a slider; the value of the request is added.
_VALUES = (0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0)
_YEARS = tuple(range(2, 11))


def show(view: View) -> None:
    """Draw the question."""
    st.header("Purchases by year", anchor=False)
    request = view.result.request
    if request.growth is None:
        look.note("The request has no growth; the factors below are assumed. Nothing changes until they are applied.")
    stated = (request.growth or Growth.model_validate(GROWTH_START)).model_dump()
    sliders = Tried("growth-tried", view.request_json)
    tried = _sliders(sliders, stated)

    def planned() -> tuple[GrowthPlan | None, str]:
        data = request.model_dump(exclude_none=True)
        try:
            return growth_plan(SizingRequest.from_dict({**data, "growth": tried}), view.catalog), ""
        except (RequestError, InfeasibleError) as error:
            return None, sentences(str(error))

    inputs = tuple(sorted(tried.items()))
    plan, reason = view.once("growth", planned, inputs, doing="Planning the purchases of every year")
    if plan is None:
        st.warning(plain(reason), icon=":material/block:")
    else:
        if tried == stated:  # else the first purchase is another one than the design's
            plan = as_billed(plan, view.result.design)
        _answer(view, offered(plan, view.result.design) if view.is_customer_mode else plan, sliders)
    changed = {key: value for key, value in tried.items() if value != stated[key]}
    applied = tried if request.growth is None else changed
    sliders.buttons(view, _take, (applied,), is_moved=bool(changed), can_take=bool(applied))


def _sliders(sliders: Tried, stated: dict[str, Any]) -> dict[str, Any]:
    """Growth with the factors of the sliders."""
    labels = {field.keys[-1]: field.label for field in factor_fields()}
    columns = st.columns(3, gap="large")
    for index, (key, label) in enumerate({"years": "Years", **labels}.items()):
        options = _YEARS if key == "years" else tuple(sorted({*_VALUES, float(stated[key])}))
        with columns[index % len(columns)]:
            st.select_slider(label, options, format_func=lambda value: f"{value:g}", **sliders.widget(key, stated[key]))
    return {**stated, **sliders.values}


def _answer(view: View, plan: GrowthPlan, sliders: Tried) -> None:
    currency, sources = view.result.request.currency, view.catalog.sources
    found = _platform(view, plan, sliders)
    look.notes(findings(plan, found, view.catalog))
    if found.platform.key != view.result.design.platform.key:
        look.note(f"The design of this request is {view.result.design.name}: another first purchase than this plan's.")
    look.table(purchases_table(found, view.catalog, currency), sources)
    for table in (
        sequences_table(found, plan, currency),
        limits_table(found.limits, plan.n_years),
        platforms_table(plan, currency) if len(plan.platforms) > 1 else None,
    ):
        if table is not None:
            look.table(table, sources, table.caption)
    look.table(demand_table(plan), sources, "Requirements by year")


def _platform(view: View, plan: GrowthPlan, sliders: Tried) -> PlatformGrowth:
    """The platform chosen by the user, else that of the design."""
    first = plan.of(view.result.design.platform.key)
    names = {platform.platform.key: platform_text(platform) for platform in plan.platforms}
    if len(names) < 2:
        return first
    chosen = st.selectbox(
        "Platform",
        list(names),
        index=list(names).index(first.platform.key),
        format_func=lambda key: names[key],
        key=sliders.key(f"platform/{len(names)}"),
        help="Server and storage models stay the same over the years.",
    )
    return plan.of(chosen)


def _take(applied: dict[str, Any]) -> None:
    for key, value in applied.items():
        is_default = key != "years" and value == Growth.model_fields[key].default
        state.put(("growth", key), None if is_default else value)
    state.refresh("The factors are now in the request.")
