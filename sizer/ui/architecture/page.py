"""Page Architecture: the design with its alternatives, networks and cables, racks and room, power and cooling."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

import streamlit as st

from sizer.base.money import parse_amount
from sizer.drawings.racks import rack_fronts
from sizer.drawings.room import room
from sizer.drawings.shapes import Drawing
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.evidence.catalogue_tables import components
from sizer.export.price_book import with_price
from sizer.guide.chapters.architecture import network_sections
from sizer.present import charts
from sizer.present.facility_tables import cables_table, facility_table, racks_table
from sizer.present.performance_tables import platforms_table
from sizer.present.tables import Field, record_table
from sizer.present.text.design_size import binding_text
from sizer.present.text.money import difference_text, quotes_text
from sizer.present.text.plan import note_sentences
from sizer.present.text.warnings import design_warnings
from sizer.present.words import TO_BE_QUOTED, inside_sentence, listed, sentence
from sizer.questions.alternatives.analysis import (
    NEARBY_KINDS,
    VENDOR_KINDS,
    Neighbour,
    NeighbourKind,
    change_text,
    nearby_designs,
    on_platform,
    other_vendors,
)
from sizer.questions.compare.designs import CardFigure, card_figures
from sizer.questions.verdict.simplest_design import simpler_neighbours
from sizer.questions.verdict.text import simplest_text
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.ui import look, session_catalog, state
from sizer.ui.designs import compare
from sizer.ui.questions.page import simplest_of
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

_FAULT = "typed_price_fault"  # plain key: item and sentence of a refused price


def show_platforms(view: View) -> None:
    """Draw the list, the selection of another platform, and the quotes with a field for each price."""
    result = view.result
    if len(result.platforms) < 2:
        look.note("Allow more servers or storage under Requirements to compare platforms.")
        return
    listed = result.platforms
    table = platforms_table(result, listed, mark="shown on all pages")
    assert table is not None  # there are several platforms
    look.table(table, view.catalog.sources)
    _choose(view, [one for one in listed if one.platform.key != result.design.platform.key])
    if not view.is_customer_mode:
        _quotes(result)


def _choose(view: View, others: Sequence[DesignAnswer]) -> None:
    """Selection of another platform for all pages, or for the comparison."""
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox(
            "Show another platform on all pages",
            range(len(others)),
            format_func=lambda place: others[place].name,
            key="another-platform",
            width=520,
        )
        chosen = others[number]
        request = on_platform(SizingRequest.model_validate_json(view.request_json), chosen.platform).model_dump_json()
        compare.use_button(request, "another platform", "use-platform")
        compare.pin_button(compare.pin_name(chosen), request, "pin-platform")


def _quotes(result: SizingResult) -> None:
    """The quotes that would settle which platform leads, each with a field for its price."""
    if not result.quotes_to_settle:
        return
    st.subheader("Quotes that would settle the order", anchor=False)
    look.note(quotes_text(result, with_amounts=True))
    refused = st.session_state.get(_FAULT, {})
    currency = result.request.currency
    with st.container(horizontal=True, gap="medium", key="quotes"):
        for quote in result.quotes_to_settle:
            with st.container(width=320, gap="xxsmall"):
                key = f"quote-{quote.item}"
                st.text_input(
                    f"Price of one {plain(quote.name)}{f' with {quote.gpus}' if quote.gpus else ''}, {currency}",
                    key=key,
                    max_chars=20,
                    placeholder=TO_BE_QUOTED,
                    help="List price of one piece, for example 149000.00. It joins the price book of this session.",
                    on_change=state.if_stored(key, _take_price),
                    args=(key, quote.item, quote.gpus, currency),
                )
                if quote.item in refused:
                    st.caption(f":red[:material/error: {plain(refused[quote.item])}]")


def _take_price(key: str, item: str, gpus: str, currency: str) -> None:
    """Add a typed price to the price book of the session."""
    typed = str(st.session_state[key]).strip()
    st.session_state[_FAULT] = {}
    if not typed:
        return
    try:
        amount = parse_amount("".join(typed.split()))
    except ValueError:
        st.session_state[_FAULT] = {item: f"{typed} is not a price; write for example 149000.00"}
        return
    text = st.session_state.get(session_catalog.PRICE_BOOK, "")
    name = st.session_state.get(session_catalog.PRICE_BOOK_NAME, "") or session_catalog.ENTERED
    today = datetime.now(UTC).date()
    session_catalog.set_price_book(with_price(text, item, gpus, amount, currency, today), name)


_HEIGHT = 360  # of the chart. [px]
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


def show_alternatives(view: View) -> None:
    """Draw the present design, its alternatives, and the platforms compared."""
    base = view.result.design
    cards = st.container(horizontal=True, gap="small", key="cards")
    with cards, st.container(border=True, width=_WIDTH, height="stretch", gap="xxsmall", key="card-described"):
        _head("Recommended", base.name)
        look.table(record_table("card-described", f"Recommended: {base.name}", card_figures(base, None), _FIGURE), {})
        compare.pin_button(compare.pin_name(base), view.request_json, "pin-described")
    below = st.container()
    if not view.is_customer_mode:  # how other designs rank is no matter of a customer
        look.folded("**Platforms compared**", "platforms", lambda: show_platforms(view))
    with st.expander("**Faster and smaller designs**", key="front", on_change="rerun") as fold:
        sizes = st.container(horizontal=True, gap="small", key="sizes") if fold.open else None
        if fold.open and not view.is_customer_mode and len(view.result.pareto.value) > 1:
            look.charted(view, "front", lambda colours: charts.pareto_chart(view.result, colours, "container", _HEIGHT))
    with below:
        simple = simplest_of(view)
        # First of all neighbours: a card that another one repeats is the one left out. Requests of alternatives include
        # discounts, which no card shows.
        found = [
            *simpler_neighbours(simple),
            *view.once("nearby", lambda: nearby_designs(state.whole(view)), doing="Sizing smaller and faster designs"),
        ]
        sought = list(NEARBY_KINDS)
        if st.session_state.get(_VENDORS) == view.key:
            found += view.once(
                "vendors", lambda: other_vendors(state.whole(view)), doing="Sizing designs of other vendors"
            )
            sought += VENDOR_KINDS
    neighbours = _distinct(one for one in found if _may_see(one.kind, view))
    for index, one in enumerate(neighbours):
        slot = sizes if one.kind in _SIZES else cards
        if slot is not None:
            with slot:
                _neighbour(index, one, base, view)
    with below:
        if not any(neighbour.kind in ("simplest", "simplest of all") for neighbour in neighbours):
            look.notes(simplest_text(simple, view.result))
        there = {one.kind for one in found}
        if missing := [inside_sentence(_KINDS[kind]) for kind in sought if kind not in there and _may_see(kind, view)]:
            look.note(f"No alternative found: {listed(missing)}.")
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
        if one.cost is not None:
            look.note(difference_text(one.cost))
        look.note(f"Change to the request: {change_text(one.request, view.evaluated)}")
        with st.container(horizontal=True, gap="small"):
            compare.pin_button(compare.pin_name(one.design), request_json, f"pin-{place}-{one.kind}")
            compare.use_button(request_json, f"the card {_KINDS[one.kind].lower()}", f"take-{place}-{one.kind}")


def _head(kind: str, name: str) -> None:
    st.caption(plain(kind))
    st.markdown(f"**{plain(name)}**")


def show(view: View) -> None:
    """Draw the page; what a closed tab holds is drawn when it is opened."""
    tabs = st.tabs(list(_TABS), key="architecture-tabs", on_change="rerun")
    for tab, draw in zip(tabs, _TABS.values(), strict=True):
        with tab:
            if tab.open:
                draw(view)


def _design(view: View) -> None:
    """The drawing of the design and its parts."""
    design = view.result.design
    _show_drawings(view, "topology", lambda: [topology(design)])
    if binding_text(design):
        look.note(sentence(binding_text(design)))
    look.folded("**Specifications of each part**", "components", lambda: _specifications(view))
    shown = note_sentences(design.plan.warnings)
    cautions = [text for text in design_warnings(design) if text not in shown]
    if cautions:
        st.header("Cautions", anchor=False)
        look.notes(cautions)


def _specifications(view: View) -> None:
    for part in components(view.result.design, view.catalog):
        st.markdown(f"**{plain(part.title)}**")
        look.note(part.role)
        look.table(part.table, view.catalog.sources)


def _network(view: View) -> None:
    """Networks with their ports, and the cables."""
    result, sources = view.result, view.catalog.sources
    st.header("Networks", anchor=False)
    look.notes([f"{title}: {text}" for title, text in network_sections(result.design, view.catalog)])
    st.header("Cables", anchor=False)
    cables = view.once("cables", lambda: cables_table(result.design.plan, view.catalog))
    if cables is not None:
        look.table(cables, sources)
    else:
        look.note("The design has no cables of its own: every device is connected to the customer's network.")


def _racks(view: View) -> None:
    """Rack positions and the room."""
    result, sources = view.result, view.catalog.sources
    st.header("Racks", anchor=False)
    _show_drawings(view, "racks", lambda: rack_fronts(result.design.plan, view.catalog))
    look.table(racks_table(result.design.plan), sources, "**Each rack:** units, power, heat and weight")
    plan = result.design.plan
    look.folded("**Room**", "room", lambda: _show_drawings(view, "room", lambda: [room(plan)]))


def _power(view: View) -> None:
    """What the room must provide."""
    st.header("Power and cooling", anchor=False)
    look.table(facility_table(view.result, view.catalog), view.catalog.sources)
    look.notes(note_sentences(view.result.design.plan.warnings))


_TABS: dict[str, Callable[[View], None]] = {
    "Design": _design,
    "Alternatives": show_alternatives,
    "Network": _network,
    "Racks": _racks,
    "Power and cooling": _power,
}


def _show_drawings(view: View, what: str, draw: Callable[[], Sequence[Drawing]]) -> None:
    """Drawings of one kind; the fitted topology has its finding inside, others above them."""
    is_fitted, colours = what == "topology", look.palette()
    pictures = view.once(
        f"{what} drawn", lambda: [(one.title, write_svg(one, colours)) for one in draw()], colours.name
    )
    for title, svg in pictures:
        if not is_fitted:
            look.note(sentence(title))
        look.drawing(svg, is_fitted=is_fitted)
