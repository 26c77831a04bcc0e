"""The described design and its neighbours as cards, with what differs marked."""

from collections.abc import Iterable
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sizer.catalog.model import Catalog
from sizer.present.tables import Table, columns, row
from sizer.present.verdict_text import selection_text
from sizer.present.words import sentence
from sizer.questions.alternatives.analysis import Absent, Kind, Neighbour, Neighbours, near, other_vendors
from sizer.questions.compare.designs import short_figures
from sizer.questions.verdict.simplest_design import simpler_neighbours
from sizer.questions.verdict.text import simplest_text
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.ui import look, state, why
from sizer.ui.designs import compare
from sizer.ui.questions.verdict import simplest_of
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

_WIDTH = 352  # three cards beside each other on a wide page, two at 800 pixels. [px]
_KINDS: dict[Kind, str] = {
    "cheaper": "Cheaper",
    "smaller": "Smaller",
    "faster": "Faster",
    "simplest": "Simplest that is enough",
    "other server": "Other server vendor",
    "other storage": "Other storage vendor",
    "platform": "Other platform",
}
# More cards than these are folded away.
_MOST_PLATFORMS = 2
_VENDORS = "vendors_of"  # plain key of the session: the answer for which other vendors were asked for


class Slots(NamedTuple):
    """Where the neighbours go once they are sized: the rest of the page need not wait for them."""

    cards: DeltaGenerator
    below: DeltaGenerator


def begin(view: View) -> Slots:
    """Draw the card of the described design and leave room for its neighbours."""
    assert view.result is not None
    st.header("The design and its neighbours", anchor=False)
    look.note(sentence(selection_text(view.result)))
    cards = st.container(horizontal=True, gap="small", key="cards")
    with cards:
        _described(view, view.result.design)
    return Slots(cards, st.container())


def finish(view: View, slots: Slots) -> None:
    """Size the neighbours, or take them from the cache, and draw their cards."""
    assert view.result is not None
    base = view.result.design
    with slots.below, st.spinner("Sizing the smaller and the faster design"):
        found = [_near(view.request_json, view.catalog.digest, view.catalog)]
    if st.session_state.get(_VENDORS) == view.key:
        with slots.below, st.spinner("Sizing designs of other vendors"):
            found.append(_vendors(view.request_json, view.catalog.digest, view.catalog))
    with slots.below:
        simple = simplest_of(view)
    # First of all neighbours: a card that another one repeats is the one left out.
    found.insert(0, Neighbours(simpler_neighbours(simple, EvaluatedDesign(view.result, view.catalog)), ()))
    neighbours = _distinct(one for part in found for one in part.found if _may_see(one.kind, view))
    platforms = [one for one in neighbours if one.kind == "platform"]
    beside = [one for one in neighbours if len(platforms) <= _MOST_PLATFORMS or one.kind != "platform"]
    with slots.cards:
        _neighbours(beside, base, view)
    with slots.below:
        if len(platforms) > _MOST_PLATFORMS:
            label = f"The best design of each of {len(platforms)} other platforms"
            with st.expander(label, key="platforms", on_change="rerun") as opened:
                if opened.open:
                    with st.container(horizontal=True, gap="small", key="platform-cards"):
                        _neighbours(platforms, base, view)
        if not any(one.kind == "simplest" for one in neighbours):
            look.notes(simplest_text(simple, view.result))
        _absent([one for part in found for one in part.absent if _may_see(one.kind, view)])
        if st.session_state.get(_VENDORS) != view.key:
            st.button(
                "Look at other vendors",
                key="other-vendors",
                icon=":material/storefront:",
                on_click=_look_at_vendors,
                args=(view.key,),
                help="Widens the list of servers, and then that of storage, to all other vendors; takes about a second",
            )


def _may_see(kind: Kind, view: View) -> bool:
    """A customer is told the price of what is offered, and of nothing else."""
    return kind != "cheaper" or not view.is_customer_mode


def _distinct(neighbours: Iterable[Neighbour]) -> list[Neighbour]:
    """Neighbours without a second one that is the same design on the same platform."""
    seen: dict[tuple[object, ...], Neighbour] = {}
    for one in neighbours:
        platform = one.design.platform
        seen.setdefault((platform.key, platform.fabric, one.design.n_servers, one.design.storage_nodes), one)
    return list(seen.values())


def _look_at_vendors(answer_key: str) -> None:
    st.session_state[_VENDORS] = answer_key


@st.cache_resource(show_spinner=False, max_entries=32)
def _near(request_json: str, digest: str, _parts: Catalog) -> Neighbours:  # noqa: ARG001  (the digest is part of the key)
    return near(EvaluatedDesign(_whole(request_json, _parts), _parts))


@st.cache_resource(show_spinner=False, max_entries=32)
def _vendors(request_json: str, digest: str, _parts: Catalog) -> Neighbours:  # noqa: ARG001  (the digest is part of the key)
    return other_vendors(EvaluatedDesign(_whole(request_json, _parts), _parts))


def _whole(request_json: str, parts: Catalog) -> SizingResult:
    """The answer with everything in it: the requests of neighbours keep discounts, which no card shows."""
    result = state.outcome(SizingRequest.model_validate_json(request_json), parts).result
    assert result is not None  # it is the answer that the page shows
    return result


def _described(view: View, design: DesignAnswer) -> None:
    with st.container(border=True, width=_WIDTH, height="stretch", gap="xxsmall", key="card-described"):
        _head("Recommended", design.name)
        for figure in short_figures(design, None):
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                st.caption(plain(figure.label), width="content")
                if figure.key:
                    why.popover(figure.value, figure.key, view, "card")
                else:
                    st.markdown(plain(figure.value), width="content")
        compare.pin_button(design.name, view.request_json, "pin-described")


def _neighbours(listed: Iterable[Neighbour], base: DesignAnswer, view: View) -> None:
    for place, one in enumerate(listed):
        _neighbour(place, one, base, has_price=not view.is_customer_mode)


def _neighbour(place: int, one: Neighbour, base: DesignAnswer, *, has_price: bool) -> None:
    request_json = one.request.model_dump_json()
    with st.container(
        border=True, width=_WIDTH, height="stretch", gap="xsmall", key=f"card-{one.kind.replace(' ', '-')}-{place}"
    ):
        _head(_KINDS[one.kind], one.design.name)
        look.table(_card_table(one, base, has_price=has_price), {})
        look.note(one.outcome)
        look.note(f"Request: {one.change}")
        with st.container(horizontal=True, gap="small"):
            compare.pin_button(one.design.name, request_json, f"pin-{place}-{one.kind}")
            compare.describe_button(request_json, f"the card {_KINDS[one.kind].lower()}", f"take-{place}-{one.kind}")


def _card_table(one: Neighbour, base: DesignAnswer, *, has_price: bool) -> Table:
    """Figures of a neighbour and what differs from the described design."""
    rows = [
        row(figure.label, figure.value, figure.difference)
        for figure in short_figures(one.design, base, has_price=has_price)
    ]
    heads = columns(("", "left", 33), ("", "left", 40), ("", "left", 27))
    return Table(f"card-{one.kind}", f"{_KINDS[one.kind]}: {one.design.name}", heads, tuple(rows))


def _head(kind: str, name: str) -> None:
    st.caption(plain(kind))
    st.markdown(f"**{plain(name)}**")


def _absent(missing: list[Absent]) -> None:
    if missing:
        look.notes([f"{_KINDS[one.kind]}: {one.why}" for one in missing])
