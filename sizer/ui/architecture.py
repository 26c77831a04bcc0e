"""Page Architecture: what the design is made of and how it is joined."""

import streamlit as st

from sizer.base.quantities import grouped
from sizer.catalog.model import Catalog
from sizer.catalog.wording import item_name
from sizer.drawings.rack_fronts import rack_fronts
from sizer.drawings.room import room
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.physical.counted import CATEGORIES, Component, Network
from sizer.physical.growth import growth
from sizer.report import prose
from sizer.report.component_tables import components
from sizer.report.facility_tables import cables_table, facility_table, racks_table
from sizer.report.growth_table import growth_table
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.report.words import link_name, sentence
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.ui import look
from sizer.ui.state import View
from sizer.ui.typed import plain

# Software and support are no parts to rack; they stand in the bill.
_PHYSICAL = [category for category in CATEGORIES if category not in ("software", "support")]
_STATUS = {"existing": "at hand, not bought", "optional": "optional"}


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    design, parts, sources = view.result.design, view.catalog, view.catalog.sources
    st.header("How it is joined", anchor=False)
    look.drawing(write_svg(topology(design), look.palette()))
    if design.binding_limit:
        look.note(sentence(design.binding_limit))
    st.header("Networks", anchor=False)
    look.table(networks_table(design, parts), sources)
    st.header("Racks, power and cables", anchor=False)
    _building_plan(view.result, parts)
    st.header("Parts", anchor=False)
    look.table(parts_table(design, parts), sources)
    st.header("What the catalogue says of each", anchor=False)
    for part in components(design, parts):
        with st.expander(plain(part.title)):
            look.note(part.role)
            look.table(part.table, sources)
    told = {sentence(text) for text in design.plan.warnings}
    rest = [text for text in design.warnings if text not in told]
    if rest:
        st.header("To be aware of", anchor=False)
        look.notes(rest)


def _building_plan(result: SizingResult, catalog: Catalog) -> None:
    """Where everything stands, what the room must take, and the cables."""
    plan, sources, colours = result.design.plan, catalog.sources, look.palette()
    fronts, above, power, cables, later = st.tabs(["Racks", "Room", "Power and cooling", "Cables", "Next sizes"])
    with fronts:
        for drawing in rack_fronts(plan, catalog):
            look.note(sentence(drawing.title))
            look.drawing(write_svg(drawing, colours), is_fitted=False)
        look.table(racks_table(plan), sources)
    with above:
        drawing = room(plan)
        look.note(sentence(drawing.title))
        look.drawing(write_svg(drawing, colours), is_fitted=False)
    with power:
        look.table(facility_table(result, catalog), sources)
        if plan.warnings:
            look.notes([sentence(text) for text in plan.warnings])
    with cables:
        found = cables_table(plan, catalog)
        if found is None:
            look.note("The design has no cables of its own: every device joins the customer's network.")
        else:
            look.table(found, sources)
    with later:
        look.table(growth_table(growth(plan)), sources)


def networks_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """Networks with their switches and how the ports add up."""
    rows = [
        row(
            sentence(net.name).rstrip("."),
            link_name(net.kind),
            Cell("by others", is_muted=True) if net.switch is None else prose.network_switches(net, catalog),
            prose.port_arithmetic(net),
            _ratio(net),
            sentence("; ".join(text for text in (net.purpose, net.note, _manager(net)) if text)),
        )
        for net in design.quantities.networks
    ]
    heads = columns(
        ("Network", "left", 13),
        ("Links", "left", 12),
        ("Switches", "left", 21),
        ("Ports", "left", 24),
        ("Down : up", "right", 8),
        ("Carries", "left", 22),
    )
    return Table("networks", "Networks of the design", heads, tuple(rows))


def _manager(net: Network) -> str:
    return f"subnet manager {net.subnet_manager}" if net.subnet_manager else ""


def _ratio(net: Network) -> str:
    ratio = float(net.oversubscription[0])
    return "–" if not int(net.spines[0]) else "1 : 1" if ratio <= 1 else f"{ratio:.2g} : 1"


def parts_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """Everything that is built in, by category."""
    rows: list[Row] = []
    for category in _PHYSICAL:
        found = [part for part in design.quantities.components if part.category == category and int(part.quantity[0])]
        if found:
            rows.append(row(sentence(category).rstrip("."), kind="group"))
            rows += [_part(part, catalog) for part in found]
    heads = columns(("Role", "left", 27), ("Item", "left", 40), ("Number", "right", 9), ("Remark", "left", 24))
    return Table("parts", "Parts of the design", heads, tuple(rows), "Software and support stand in the bill.")


def _part(part: Component, catalog: Catalog) -> Row:
    remark = "; ".join(text for text in (_STATUS.get(part.status, ""), part.note) if text)
    return row(sentence(part.role).rstrip("."), item_name(part.item, catalog), grouped(int(part.quantity[0])), remark)
