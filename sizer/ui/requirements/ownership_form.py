"""Years and rates of the cost of ownership, on the page Requirements."""

from typing import Any

import streamlit as st

from sizer.present.words import plural
from sizer.ui import fields, state
from sizer.ui.request_form.field import RequestPath
from sizer.ui.request_form.forms import OWNERSHIP as FIELDS

OWNERSHIP: RequestPath = ("ownership",)
# First value of a request that does not ask for it; rates are the user's alone.
_START = {"years": 3}


def show() -> None:
    """Draw the fold."""
    folded = fields.fold("Cost of ownership", _summary(), "ownership")
    if not folded.open:
        return
    with folded:
        if state.get(OWNERSHIP) is None:
            st.caption("Not requested: the documents show the purchase only.")
            begin_button("enter-ownership")
            return
        fields.draw_columns(FIELDS)
        st.button(
            "Remove the cost of ownership",
            key="remove-ownership",
            on_click=_remove,
            icon=":material/delete:",
            type="tertiary",
        )


def begin_button(key: str) -> None:
    """Button that asks for the cost of ownership."""
    st.button("Add the cost of ownership", on_click=begin, key=key, icon=":material/savings:")


def begin() -> None:
    """Ask for the first years, with a notice of what to enter."""
    state.put(OWNERSHIP, dict(_START))
    st.session_state.notice = (
        f"Cost of ownership over {plural(_START['years'], 'year')} added. Enter electricity, support and space on the "
        "page Requirements."
    )
    state.refresh()


def _remove() -> None:
    state.put(OWNERSHIP, None)
    state.refresh()


def _summary() -> str:
    asked: Any = state.get(OWNERSHIP)
    if not isinstance(asked, dict):
        return "not requested"
    years, rate = asked.get("years", 3), asked.get("electricity_per_kwh")
    parts = [plural(years, "year")] if isinstance(years, int) else []
    parts.append("no electricity price" if rate is None else f"electricity {rate} per kWh")
    return ", ".join(parts)
