"""Page Architecture: the design with its alternatives, networks and cables, racks and room, power and cooling."""

from collections.abc import Callable, Sequence

import streamlit as st

from sizer.drawings.racks import rack_fronts
from sizer.drawings.room import room
from sizer.drawings.shapes import Drawing
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.evidence.component_tables import components
from sizer.guide.chapters.architecture import network_sections
from sizer.present.facility_tables import cables_table, facility_table, racks_table
from sizer.present.text.design_size import binding_text
from sizer.present.text.plan import note_sentences
from sizer.present.text.warnings import design_warnings
from sizer.present.words import sentence
from sizer.ui import look
from sizer.ui.architecture import cards
from sizer.ui.state import View
from sizer.ui.typed import plain


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
    "Alternatives": cards.show,
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
