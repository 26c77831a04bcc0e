"""The present design and its alternatives as cards, with differences marked."""

from collections.abc import Iterable

import streamlit as st

from sizer.present.tables import Field, record_table
from sizer.questions.alternatives.analysis import (
    Neighbour,
    NeighbourKind,
    Neighbours,
    nearby_designs,
    other_vendors,
)
from sizer.questions.alternatives.text import change_text, missing_text, outcome_text
from sizer.questions.compare.designs import CardFigure, card_figures
from sizer.questions.verdict.simplest_design import simpler_neighbours
from sizer.questions.verdict.text import simplest_text
from sizer.sizing.result import DesignAnswer
from sizer.ui import look, state
from sizer.ui.architecture import platforms
from sizer.ui.designs import compare
from sizer.ui.performance import pareto_front
from sizer.ui.questions.verdict import simplest_of
from sizer.ui.state import View
from sizer.ui.typed import plain

_WIDTH = 352  # three cards beside each other on a wide page, two at 800 pixels. [px]
_KINDS: dict[NeighbourKind, str] = {
    "cheaper": "Cheaper",
    "smaller": "Smaller",
    "faster": "Faster",
    "simplest": "Simplest sufficient",
    "simplest of all": "Simpler, with equipment that the request excludes",
    "other server": "Other server vendor",
    "other storage": "Other storage vendor",
}
# A figure with its name, the same places as on the cards of alternatives.
_FIGURE: tuple[Field[CardFigure], ...] = (
    Field("", lambda figure: figure.label, width=33),
    Field("", lambda figure: figure.value, width=67),
)
# Other sizes of the same design; their cards stand in a fold.
_SIZES: tuple[NeighbourKind, ...] = ("smaller", "faster")
_VENDORS = "vendors_of"  # plain key of the session: the answer for which other vendors were asked for


def show(view: View) -> None:
    """Draw the present design, its alternatives, and the platforms compared."""
    base = view.result.design
    cards = st.container(horizontal=True, gap="small", key="cards")
    with cards, st.container(border=True, width=_WIDTH, height="stretch", gap="xxsmall", key="card-described"):
        _head("Recommended", base.name)
        look.table(
            record_table("card-described", f"Recommended: {base.name}", card_figures(base, None), _FIGURE), {}
        )
        compare.pin_button(base.name, view.request_json, "pin-described")
    below = st.container()
    if not view.is_customer_mode:  # how other designs rank is no matter of a customer
        look.folded("**Platforms compared**", "platforms", lambda: platforms.show(view))
    with st.expander("**Faster and smaller designs**", key="front", on_change="rerun") as fold:
        sizes = st.container(horizontal=True, gap="small", key="sizes") if fold.open else None
        if fold.open and not view.is_customer_mode:
            pareto_front.show(view)
    with below:
        simple = simplest_of(view)
        # First of all neighbours: a card that another one repeats is the one left out. Requests of alternatives include
        # discounts, which no card shows.
        found = [
            Neighbours(simpler_neighbours(simple), ()),
            view.once("nearby", lambda: nearby_designs(state.whole(view)), doing="Sizing smaller and faster designs"),
        ]
        if st.session_state.get(_VENDORS) == view.key:
            found.append(
                view.once("vendors", lambda: other_vendors(state.whole(view)), doing="Sizing designs of other vendors")
            )
    neighbours = _distinct(one for part in found for one in part.existing if _may_see(one.kind, view))
    for place, one in enumerate(neighbours):
        slot = sizes if one.kind in _SIZES else cards
        if slot is not None:
            with slot:
                _neighbour(place, one, base, view)
    with below:
        if not any(one.kind in ("simplest", "simplest of all") for one in neighbours):
            look.notes(simplest_text(simple, view.result))
        if missing := [one for part in found for one in part.missing if _may_see(one.kind, view)]:
            look.notes([f"{_KINDS[one.kind]}: {missing_text(one, view.catalog)}" for one in missing])
        if st.session_state.get(_VENDORS) != view.key:
            st.button(
                "Show other vendors",
                key="other-vendors",
                icon=":material/storefront:",
                on_click=_look_at_vendors,
                args=(view.key,),
                help="Includes servers, then storage, of all other vendors. Takes about a second.",
            )


def _may_see(kind: NeighbourKind, view: View) -> bool:
    """In the customer view no prices of alternatives are shown."""
    return kind != "cheaper" or not view.is_customer_mode


def _distinct(neighbours: Iterable[Neighbour]) -> list[Neighbour]:
    """Alternatives without repetitions of a design on the same platform."""
    seen: dict[tuple[object, ...], Neighbour] = {}
    for one in neighbours:
        platform = one.design.platform
        seen.setdefault((platform.key, platform.fabric, one.design.n_servers, one.design.storage_nodes), one)
    return list(seen.values())


def _look_at_vendors(answer_key: str) -> None:
    st.session_state[_VENDORS] = answer_key


def _neighbour(place: int, one: Neighbour, base: DesignAnswer, view: View) -> None:
    request_json = one.request.model_dump_json()
    with st.container(
        border=True, width=_WIDTH, height="stretch", gap="xsmall", key=f"card-{one.kind.replace(' ', '-')}-{place}"
    ):
        _head(_KINDS[one.kind], one.design.name)
        # Figures of an alternative and their differences from the present design.
        has_price = not view.is_customer_mode
        fields: tuple[Field[CardFigure], ...] = (
            _FIGURE[0],
            Field("", lambda figure: figure.value, width=40),
            Field("", lambda figure: figure.difference, width=27),
        )
        figures = card_figures(one.design, base, has_price=has_price, probability=one.target_probability)
        look.table(record_table(f"card-{one.kind}", f"{_KINDS[one.kind]}: {one.design.name}", figures, fields), {})
        look.note(outcome_text(one, view.result))
        look.note(f"Change to the request: {change_text(one.request, view.evaluated)}")
        with st.container(horizontal=True, gap="small"):
            compare.pin_button(one.design.name, request_json, f"pin-{place}-{one.kind}")
            compare.use_button(request_json, f"the card {_KINDS[one.kind].lower()}", f"take-{place}-{one.kind}")


def _head(kind: str, name: str) -> None:
    st.caption(plain(kind))
    st.markdown(f"**{plain(name)}**")
