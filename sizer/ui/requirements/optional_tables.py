"""Tables that a request may leave out, on the page Requirements: added with first values, edited, removed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sizer.ui import fields, look, state
from sizer.ui.request_form import forms
from sizer.ui.request_form.forms import Columns, FormField


@dataclass(frozen=True)
class OptionalTable:
    """One such table; its first values are assumptions, which a notice names."""

    key: str  # in the request
    title: str
    enter: str
    icon: str
    without: str  # what the design is without it
    start: Callable[[], dict[str, Any]]
    columns: Callable[[], Columns]
    more: Callable[[], None] | None = None  # draws what is no field of the columns

    @property
    def is_given(self) -> bool:
        """Whether the request has it."""
        return state.get((self.key,)) is not None

    def show(self) -> None:
        """Draw its fold."""
        look.folded(self.title, self.key, self._inside, fields.summary(self.columns()))

    def _inside(self) -> None:
        fields.draw_columns(self.columns())
        if self.more is not None:
            self.more()
        remove = f"Remove {self.title[0].lower()}{self.title[1:]}"
        name = f"remove-{self.key}"
        st.button(remove, key=name, on_click=self._remove, icon=":material/delete:", type="tertiary")

    def begin_button(self, key: str) -> None:
        """Button that enters first values."""
        st.button(self.enter, on_click=self.begin, key=key, icon=f":material/{self.icon}:", help=self.without)

    def begin(self) -> None:
        """Enter first values."""
        state.put((self.key,), self.start())
        st.session_state.folds = {**st.session_state.get("folds", {}), self.key: True}
        state.refresh(f"Assumed values, editable on the page Requirements: {fields.summary(self.columns())}.")

    def _remove(self) -> None:
        state.put((self.key,), None)
        state.refresh()


GROWTH_START: dict[str, Any] = {"years": 3, "data": 1.5, "target": 1.3}


def factor_fields() -> tuple[FormField, ...]:
    """Fields of the yearly factors; the team's only where there is a team."""
    has_team = state.get(("team",)) is not None
    return tuple(field for field in forms.GROWTH_FACTORS if has_team or field.keys != ("growth", "team"))


def _growth_columns() -> Columns:
    years, save = forms.GROWTH_PERIOD
    factors = factor_fields()
    return (years, *factors[:2]), (save, *factors[2:4]), factors[4:]


GROWTH = OptionalTable(
    key="growth",
    title="Growth",
    enter="Enter growth",
    icon="trending_up",
    without="Without growth the design is sized for the present need.",
    start=lambda: dict(GROWTH_START),
    columns=_growth_columns,
)
OWNERSHIP = OptionalTable(
    key="ownership",
    title="Cost of ownership",
    enter="Add the cost of ownership",
    icon="savings",
    without="Without it the documents show the purchase only. Electricity, support and space are yours to enter.",
    start=lambda: {"years": 3},  # rates are the user's alone
    columns=lambda: forms.OWNERSHIP,
)
RENTAL = OptionalTable(
    key="rental",
    title="Rental offer",
    enter="Enter an offer",
    icon="add_card",
    without="Without an offer buying is not compared with its price.",
    start=lambda: {"per_gpu_hour": 2.5, "years": 3, "utilization_fraction": 0.5},
    columns=lambda: forms.RENTAL,
)
