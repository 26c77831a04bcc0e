"""An offer of GPUs by the hour, on the page Requirements, to compare with a purchase."""

from typing import Any

import streamlit as st

from sizer.present.words import percent, plural
from sizer.ui import fields, state
from sizer.ui.request_form.field import RequestPath
from sizer.ui.request_form.forms import RENTAL as FIELDS

RENTAL: RequestPath = ("rental",)
# First values of a request without an offer; a notice names them as assumptions.
_START = {"per_gpu_hour": 2.5, "years": 3, "utilization_fraction": 0.5}


def show() -> None:
    """Draw the fold."""
    folded = fields.fold("Rental offer", _summary(), "rental")
    if not folded.open:
        return
    with folded:
        if state.get(RENTAL) is None:
            st.caption("No rental offer entered: buying is not compared with renting.")
            begin_button("enter-offer")
            return
        fields.draw_columns(FIELDS)
        st.button("Remove the offer", key="remove-offer", on_click=_remove, icon=":material/delete:", type="tertiary")


def begin_button(key: str) -> None:
    """Button that enters first values of an offer."""
    st.button("Enter an offer", on_click=begin, key=key, icon=":material/add_card:")


def begin() -> None:
    """Enter first values, with a notice that they are assumptions."""
    state.put(RENTAL, dict(_START))
    currency = state.get(("currency",)) or "USD"
    st.session_state.notice = (
        f"Assumed values, to be replaced by your offer on the page Requirements: {currency} "
        f"{_START['per_gpu_hour']} per GPU-hour, {_START['years']} years, GPU utilization "
        f"{percent(_START['utilization_fraction'])}."
    )
    state.refresh()


def _remove() -> None:
    state.put(RENTAL, None)
    state.refresh()


def _summary() -> str:
    offer: Any = state.get(RENTAL)
    if not isinstance(offer, dict):
        return "none entered"
    years, utilization = offer.get("years", 3), offer.get("utilization_fraction")
    parts = [f"{offer.get('per_gpu_hour', 'no price')} per GPU-hour"]
    parts += [plural(years, "year")] if isinstance(years, int) else []
    parts += [f"GPU utilization {percent(utilization)}"] if isinstance(utilization, float) else []
    return ", ".join(parts)
