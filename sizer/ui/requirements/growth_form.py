"""Growth over the years, on the page Requirements: the factor of one year for each thing that grows."""

from typing import Any

import streamlit as st

from sizer.base.quantities import plain
from sizer.present.words import listed, plural
from sizer.ui import fields, state
from sizer.ui.error_messages import Path_
from sizer.workload.growth import Growth

_GROWTH: Path_ = ("growth",)
_MOST_YEARS, _LEAST_FACTOR, _MOST_FACTOR = 10, 0.1, 20.0
_SAVE = {"cost": "Cost", "watts": "Energy"}
# What growth is begun with; a notice says that it is assumed.
START: dict[str, Any] = {"years": 3, "data": 1.5, "target": 1.3}
FACTORS = {
    "data": ("Data", "Samples of every data set in a year over those of the year before; 2 doubles them."),
    "sample_size": ("Size of a sample", "Bytes of a sample as stored, such as larger images."),
    "dnn_size": ("Neural networks", "Operations and parameters of every network; it stays as efficient as it is."),
    "target": ("Targets", "Rates and GPUs kept busy; a time to train is divided by it."),
    "team": ("Team", "Jobs a day, and jobs that always run."),
    "price": ("Prices", "Of everything that is bought: 0.9 is ten percent less each year. Alone it is no growth."),
}


def show() -> None:
    """Draw the fold."""
    folded = fields.fold("Growth over the years", _said(), "growth")
    if not folded.open:
        return
    with folded:
        if state.get(_GROWTH) is None:
            st.caption("The request says nothing about later years: the design meets what is asked now.")
            st.button("Enter growth", on_click=begin, key="enter-growth", icon=":material/trending_up:")
            return
        left, right = st.columns(2)
        with left:
            fields.whole("Years", (*_GROWTH, "years"), "The first is the request as it stands.", _MOST_YEARS, "3")
        with right:
            fields.choice("Purchases save", (*_GROWTH, "save"), _SAVE, "cost", "What the plan of purchases keeps low.")
        columns = st.columns(3)
        for place, (key, (label, hint)) in enumerate(factors().items()):
            with columns[place % len(columns)]:
                fields.number(f"{label}, factor a year", (*_GROWTH, key), hint, _LEAST_FACTOR, _MOST_FACTOR, "1")
        st.button("Remove growth", on_click=_remove, key="remove-growth", icon=":material/delete:", type="tertiary")


def factors() -> dict[str, tuple[str, str]]:
    """Factors that the request may state, with label and hint; the team's only where there is one."""
    return {key: said for key, said in FACTORS.items() if key != "team" or state.get(("team",)) is not None}


def begin() -> None:
    """Enter growth to start from, and say that it is assumed."""
    state.put(_GROWTH, dict(START))
    st.session_state.notice = (
        "Assumed, to be changed on the page Requirements: three years in which the data grow to 1.5 times and the "
        "targets to 1.3 times each year."
    )
    state.refresh()


def _remove() -> None:
    state.put(_GROWTH, None)
    state.refresh()


def _said() -> str:
    growth = state.get(_GROWTH)
    if not isinstance(growth, dict):
        return "none stated"
    years = growth.get("years", Growth.model_fields["years"].default)
    grown = [
        f"{label.lower()} × {plain(growth[key])}"
        for key, (label, _) in FACTORS.items()
        if isinstance(growth.get(key), (int, float)) and growth[key] != 1
    ]
    how_long = plural(years, "year") if isinstance(years, int) else str(years)
    return f"{how_long}: {listed(grown)} a year" if grown else how_long
