"""An offer of GPUs by the hour, on the page Requirements: what buying is set beside."""

from typing import Any

import streamlit as st

from sizer.present.words import percent, plural
from sizer.ui import fields, state
from sizer.ui.error_messages import Path_

RENTAL: Path_ = ("rental",)
# What an offer is begun with; a notice says that it is assumed.
_START = {"per_gpu_hour": 2.5, "years": 3, "utilization_fraction": 0.5}
_MOST = 1e6


def show() -> None:
    """Draw the fold."""
    folded = fields.fold("Rent instead of buying", _said(), "rental")
    if not folded.open:
        return
    with folded:
        if state.get(RENTAL) is None:
            st.caption("The request holds no offer, so buying is not set beside renting.")
            begin_button("enter-offer")
            return
        _fields()
        st.button("Remove the offer", key="remove-offer", on_click=_remove, icon=":material/delete:", type="tertiary")


def begin_button(key: str) -> None:
    """Button that enters an offer to start from."""
    st.button("Enter an offer", on_click=begin, key=key, icon=":material/add_card:")


def begin() -> None:
    """Enter an offer to start from, and say that it is assumed."""
    state.put(RENTAL, dict(_START))
    st.session_state.notice = (
        f"Assumed, to be replaced by your offer on the page Requirements: {_START['per_gpu_hour']} a GPU-hour, "
        f"{_START['years']} years, GPUs used half of all hours."
    )
    state.refresh()


def _remove() -> None:
    state.put(RENTAL, None)
    state.refresh()


def _fields() -> None:
    currency = str(state.get(("currency",)) or "USD")
    left, right = st.columns(2, gap="large")
    with left:
        fields.text("Name of the offer", _at("offer"), "Printed beside its numbers.", 120, "rented GPUs")
        _money(f"A GPU-hour, {currency}", "per_gpu_hour", "Your offer's rate, with up to four decimals.")
        fields.number(
            "Speed of a rented GPU",
            _at("speed_ratio"),
            "Work that a rented GPU does over that of a GPU of the design.",
            0.01,
            100.0,
            "1, as fast",
        )
        _money(
            f"Storage, {currency} a TB and month", "storage_per_tb_month", "Renting the room for the data.", "not named"
        )
        fields.whole("Years", _at("years"), "Both are reckoned over so many years.", 10, "3")
    with right:
        _money(f"Electricity, {currency} a kWh", "electricity_per_kwh", "For the cluster of one's own.", "not counted")
        fields.number(
            "Staff, space and maintenance, % of the purchase a year",
            _at("yearly_cost_percent"),
            "What running the cluster costs beside electricity and support.",
            0.0,
            100.0,
            "0",
        )
        fields.number(
            "Use of the GPUs, share of all hours",
            _at("utilization_fraction"),
            "0.4 is 40 % of all hours, nights and weekends included. Empty: only the break-even is told.",
            0.01,
            1.0,
            "not stated",
        )


def _money(label: str, name: str, hint: str, placeholder: str = "none") -> None:
    fields.number(label, _at(name), hint, 0.0, _MOST, placeholder)


def _at(name: str) -> Path_:
    return (*RENTAL, name)


def _said() -> str:
    offer: Any = state.get(RENTAL)
    if not isinstance(offer, dict):
        return "no offer"
    years = offer.get("years", 3)
    said = f"{offer.get('per_gpu_hour', 'no rate')} a GPU-hour"
    if isinstance(years, int):
        said += f", {plural(years, 'year')}"
    use = offer.get("utilization_fraction")
    return said if not isinstance(use, float) else f"{said}, used {percent(use)} of all hours"
