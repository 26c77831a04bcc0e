"""Growth on the page Requirements: a yearly factor for each thing that grows."""

from typing import Any

import streamlit as st

from sizer.base.quantities import plain
from sizer.present.words import listed, plural
from sizer.ui import fields, state
from sizer.ui.request_form.field import FormField, RequestPath
from sizer.ui.request_form.forms import GROWTH_FACTORS, GROWTH_PERIOD
from sizer.workload.growth import Growth

_GROWTH: RequestPath = ("growth",)
# First values of a request without growth; a notice names them as assumptions.
START: dict[str, Any] = {"years": 3, "data": 1.5, "target": 1.3}


def show() -> None:
    """Draw the fold."""
    folded = fields.fold("Growth", _summary(), "growth")
    if not folded.open:
        return
    with folded:
        if state.get(_GROWTH) is None:
            st.caption("No growth entered: the design is sized for the present need.")
            st.button("Enter growth", on_click=begin, key="enter-growth", icon=":material/trending_up:")
            return
        fields.draw_columns(GROWTH_PERIOD)
        columns = st.columns(3)
        for place, field in enumerate(factor_fields()):
            with columns[place % len(columns)]:
                fields.draw(field)
        st.button("Remove growth", on_click=_remove, key="remove-growth", icon=":material/delete:", type="tertiary")


def factor_fields() -> tuple[FormField, ...]:
    """Fields of the yearly factors; the team's only where there is a team."""
    has_team = state.get(("team",)) is not None
    return tuple(field for field in GROWTH_FACTORS if has_team or field.keys != ("growth", "team"))


def begin() -> None:
    """Enter first values, with a notice that they are assumptions."""
    state.put(_GROWTH, dict(START))
    st.session_state.notice = (
        "Assumed values, editable on the page Requirements: three years; data grow by a factor of 1.5 per year, "
        "targets by 1.3."
    )
    state.refresh()


def _remove() -> None:
    state.put(_GROWTH, None)
    state.refresh()


def _summary() -> str:
    growth = state.get(_GROWTH)
    if not isinstance(growth, dict):
        return "none entered"
    years = growth.get("years", Growth.model_fields["years"].default)
    factors = [
        f"{field.name.lower()} × {plain(value)}"
        for field in GROWTH_FACTORS
        if isinstance(value := growth.get(field.keys[-1]), (int, float)) and value != 1
    ]
    period = plural(years, "year") if isinstance(years, int) else str(years)
    return f"{period}: {listed(factors)} per year" if factors else period
