"""Page Architecture: the design with its alternatives, networks and cables, racks and room, power and cooling."""

from collections.abc import Callable, Sequence

import streamlit as st

from sizer.base.quantities import grouped
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.drawings.racks import rack_fronts
from sizer.drawings.room import room
from sizer.drawings.shapes import Drawing
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.physical.components import CATEGORIES, Component, Network
from sizer.present.component_tables import components
from sizer.present.facility_tables import cables_table, facility_table, growth_table, racks_table
from sizer.present.tables import Cell, Field, Row, Table, columns, record_table, row
from sizer.present.text import result_text
from sizer.present.text.design_size import binding_text
from sizer.present.text.plan import network_notes_text, note_sentences, part_note_text
from sizer.present.text.warnings import design_warnings
from sizer.present.words import sentence
from sizer.sizing.design.storage_need import next_sizes
from sizer.sizing.result import DesignAnswer
from sizer.ui import look
from sizer.ui.architecture import cards
from sizer.ui.state import View
from sizer.ui.typed import plain

# Software and support are not built in; they are in the bill.
_PHYSICAL = [category for category in CATEGORIES if category not in ("software", "support")]
_STATUS = {"existing": "existing, not bought", "optional": "optional"}


def show(view: View) -> None:
    """Draw the page; what a closed tab holds is drawn when it is opened."""
    tabs = st.tabs(list(_TABS), key="architecture-tabs", on_change="rerun")
    for tab, draw in zip(tabs, _TABS.values(), strict=True):
        with tab:
            if tab.open:
                draw(view)


def _design(view: View) -> None:
    """The drawing of the design and its parts."""
    design, parts, sources = view.result.design, view.catalog, view.catalog.sources
    _show_drawings(view, "topology", lambda: [topology(design)])
    if binding_text(design):
        look.note(sentence(binding_text(design)))
    table = parts_table(design, parts)
    look.folded("**Parts**", "parts", lambda: look.table(table, sources))
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
    look.table(networks_table(result.design, view.catalog), sources)
    st.header("Cables", anchor=False)
    cables = view.once("cables", lambda: cables_table(result.design.plan, view.catalog))
    if cables is not None:
        look.table(cables, sources)
    else:
        look.note("The design has no cables of its own: every device is connected to the customer's network.")


def _racks(view: View) -> None:
    """Rack positions, the room, and what the next sizes add."""
    result, sources = view.result, view.catalog.sources
    st.header("Racks", anchor=False)
    _show_drawings(view, "racks", lambda: rack_fronts(result.design.plan, view.catalog))
    look.table(racks_table(result.design.plan), sources)
    st.header("Room", anchor=False)
    _show_drawings(view, "room", lambda: [room(result.design.plan)])
    st.header("Next sizes", anchor=False)
    look.table(growth_table(next_sizes(result.design)), sources)


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


def parts_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """All parts, by category."""
    rows: list[Row] = []
    for category in _PHYSICAL:
        found = [part for part in design.quantities.components if part.category == category and int(part.quantity[0])]
        if found:
            rows.append(row(sentence(category).rstrip("."), kind="group"))
            rows += [_part(part, catalog) for part in found]
    heads = columns(("Role", "left", 27), ("Item", "left", 40), ("Number", "right", 9), ("Remark", "left", 24))
    return Table(
        "parts", "Parts of the design", heads, tuple(rows), "The bill has the software, and support that is bought."
    )


def networks_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """Networks with their switches and port counts."""
    fields: tuple[Field[Network], ...] = (
        Field("Network", lambda net: sentence(net.role).rstrip("."), width=13),
        Field("Links", lambda net: net.kind.name, width=12),
        Field("Switches", lambda net: _switches(net, catalog), width=21),
        Field("Ports", result_text.port_arithmetic, width=24),
        Field("Down : up", _ratio, "right", 8),
        Field("Carries", lambda net: sentence(network_notes_text(net)), width=22),
    )
    return record_table("networks", "Networks of the design", design.quantities.networks, fields)


def _switches(net: Network, catalog: Catalog) -> str | Cell:
    if net.switch is None:
        return Cell("provided by others", is_muted=True)
    return result_text.network_switches(net, catalog)


def _ratio(net: Network) -> str:
    ratio = float(net.oversubscription[0])
    return "–" if not int(net.spines[0]) else "1 : 1" if ratio <= 1 else f"{ratio:.2g} : 1"


def _part(part: Component, catalog: Catalog) -> Row:
    remark = "; ".join(text for text in (_STATUS.get(part.status, ""), part_note_text(part)) if text)
    return row(sentence(part.role).rstrip("."), item_name(part.item, catalog), grouped(int(part.quantity[0])), remark)
