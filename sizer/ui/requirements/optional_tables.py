"""Tables that a request may leave out, on the page Requirements: entered with first values, edited, removed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sizer.base.quantities import plain
from sizer.present.words import listed, percent, plural
from sizer.ui import fields, look, state
from sizer.ui.request_form import forms
from sizer.ui.request_form.field import FormField
from sizer.workload.growth import Growth

Values = Mapping[str, Any]


@dataclass(frozen=True)
class OptionalTable:
    """One such table; its first values are assumptions, which a notice names."""

    key: str  # in the request
    noun: str  # in the keys of its buttons
    title: str
    absent: str  # head of the fold without it
    without: str  # what the design is then
    enter: str
    icon: str
    remove: str
    start: Callable[[], dict[str, Any]]
    notice: Callable[[], str]
    summary: Callable[[Values], str]
    draw: Callable[[], None]

    def show(self) -> None:
        """Draw the fold."""
        given = state.get((self.key,))
        summary = self.summary(given) if isinstance(given, dict) else self.absent
        look.folded(self.title, self.key, self._inside, summary)

    def _inside(self) -> None:
        if state.get((self.key,)) is None:
            st.caption(self.without)
            self.begin_button(f"enter-{self.noun}")
            return
        self.draw()
        name = f"remove-{self.noun}"
        st.button(self.remove, key=name, on_click=self._remove, icon=":material/delete:", type="tertiary")

    def begin_button(self, key: str) -> None:
        """Button that enters first values."""
        st.button(self.enter, on_click=self.begin, key=key, icon=f":material/{self.icon}:")

    def begin(self) -> None:
        """Enter first values."""
        state.put((self.key,), self.start())
        state.refresh(self.notice())

    def _remove(self) -> None:
        state.put((self.key,), None)
        state.refresh()


# --- growth

GROWTH_START: dict[str, Any] = {"years": 3, "data": 1.5, "target": 1.3}


def factor_fields() -> tuple[FormField, ...]:
    """Fields of the yearly factors; the team's only where there is a team."""
    has_team = state.get(("team",)) is not None
    return tuple(field for field in forms.GROWTH_FACTORS if has_team or field.keys != ("growth", "team"))


def _draw_growth() -> None:
    fields.draw_columns(forms.GROWTH_PERIOD)
    columns = st.columns(3)
    for place, field in enumerate(factor_fields()):
        with columns[place % len(columns)]:
            fields.draw(field)


def _growth_summary(growth: Values) -> str:
    years = growth.get("years", Growth.model_fields["years"].default)
    factors = [
        f"{field.name.lower()} × {plain(value)}"
        for field in forms.GROWTH_FACTORS
        if isinstance(value := growth.get(field.keys[-1]), (int, float)) and value != 1
    ]
    period = plural(years, "year") if isinstance(years, int) else str(years)
    return f"{period}: {listed(factors)} per year" if factors else period


GROWTH = OptionalTable(
    key="growth",
    noun="growth",
    title="Growth",
    absent="none entered",
    without="No growth entered: the design is sized for the present need.",
    enter="Enter growth",
    icon="trending_up",
    remove="Remove growth",
    start=lambda: dict(GROWTH_START),
    notice=lambda: (
        "Assumed values, editable on the page Requirements: three years; data grow by a factor of 1.5 per year, "
        "targets by 1.3."
    ),
    summary=_growth_summary,
    draw=_draw_growth,
)

# --- cost of ownership


def _ownership_summary(asked: Values) -> str:
    years, rate = asked.get("years", 3), asked.get("electricity_per_kwh")
    parts = [plural(years, "year")] if isinstance(years, int) else []
    parts.append("no electricity price" if rate is None else f"electricity {rate} per kWh")
    return ", ".join(parts)


OWNERSHIP = OptionalTable(
    key="ownership",
    noun="ownership",
    title="Cost of ownership",
    absent="not requested",
    without="Not requested: the documents show the purchase only.",
    enter="Add the cost of ownership",
    icon="savings",
    remove="Remove the cost of ownership",
    start=lambda: {"years": 3},  # rates are the user's alone
    notice=lambda: (
        "Cost of ownership over 3 years added. Enter electricity, support and space on the page Requirements."
    ),
    summary=_ownership_summary,
    draw=lambda: fields.draw_columns(forms.OWNERSHIP),
)

# --- an offer of GPUs by the hour

_RENTAL_START = {"per_gpu_hour": 2.5, "years": 3, "utilization_fraction": 0.5}


def _rental_summary(offer: Values) -> str:
    years, utilization = offer.get("years", 3), offer.get("utilization_fraction")
    parts = [f"{offer.get('per_gpu_hour', 'no price')} per GPU-hour"]
    parts += [plural(years, "year")] if isinstance(years, int) else []
    parts += [f"GPU utilization {percent(utilization)}"] if isinstance(utilization, float) else []
    return ", ".join(parts)


RENTAL = OptionalTable(
    key="rental",
    noun="offer",
    title="Rental offer",
    absent="none entered",
    without="No rental offer entered: buying is not compared with renting.",
    enter="Enter an offer",
    icon="add_card",
    remove="Remove the offer",
    start=lambda: dict(_RENTAL_START),
    notice=lambda: (
        f"Assumed values, to be replaced by your offer on the page Requirements: {state.get(('currency',)) or 'USD'} "
        f"{_RENTAL_START['per_gpu_hour']} per GPU-hour, {_RENTAL_START['years']} years, GPU utilization "
        f"{percent(_RENTAL_START['utilization_fraction'])}."
    ),
    summary=_rental_summary,
    draw=lambda: fields.draw_columns(forms.RENTAL),
)
