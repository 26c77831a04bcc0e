"""Page Architecture: what the design is made of and how it is joined."""

from typing import NamedTuple

import streamlit as st

from sizer.base.quantities import grouped
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.drawings.datapath import datapath, is_limit
from sizer.drawings.rack_fronts import rack_fronts
from sizer.drawings.room import room
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.explain.figure import stage_key
from sizer.physical.components import CATEGORIES, Component, Network
from sizer.physical.expansion import growth
from sizer.present import result_text
from sizer.present.component_tables import components
from sizer.present.expansion_table import growth_table
from sizer.present.facility_tables import cables_table, facility_table, racks_table
from sizer.present.performance_tables import stage_table
from sizer.present.plan_text import network_notes_text, note_sentences
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.present.verdict_text import binding_text
from sizer.present.warning_text import design_warnings
from sizer.present.words import estimate, link_name, sample_unit, sentence
from sizer.sizing.result import STAGES, DesignAnswer, SizingResult
from sizer.ui import look, why
from sizer.ui.architecture import cards
from sizer.ui.designs import compare
from sizer.ui.performance import pareto_front as front
from sizer.ui.performance.page import chosen_workload
from sizer.ui.state import View
from sizer.ui.typed import plain

# Software and support are no parts to rack; they stand in the bill.
_PHYSICAL = [category for category in CATEGORIES if category not in ("software", "support")]
_STATUS = {"existing": "at hand, not bought", "optional": "optional"}


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    design, parts, sources = view.result.design, view.catalog, view.catalog.sources
    slots = cards.begin(view)
    st.header("How it is joined", anchor=False)
    _show_drawings(view, "topology")
    if binding_text(design):
        look.note(sentence(binding_text(design)))
    _data_path(view)
    st.header("Networks", anchor=False)
    look.table(_kept_table(view.key, "networks", view.result, parts), sources)
    st.header("Racks, power and cables", anchor=False)
    _building_plan(view)
    st.header("Parts", anchor=False)
    look.table(_kept_table(view.key, "parts", view.result, parts), sources)
    with st.expander("What the catalogue says of each part", key="components", on_change="rerun") as opened:
        if opened.open:
            for part in components(design, parts):
                st.markdown(f"**{plain(part.title)}**")
                look.note(part.role)
                look.table(part.table, sources)
    told = note_sentences(design.plan.warnings)
    rest = [text for text in design_warnings(design) if text not in told]
    if rest:
        st.header("To be aware of", anchor=False)
        look.notes(rest)
    st.header("Designs that no other one beats", anchor=False)
    front.show(view)
    compare.show(view)
    # Sizing takes a moment the first time: all else stands on the page by then.
    cards.finish(view, slots)


def _data_path(view: View) -> None:
    """The stages from storage to GPUs; each capacity opens to what stands behind it."""
    assert view.result is not None
    design = view.result.design
    st.header("Data path", anchor=False)
    number = chosen_workload(design, "architecture")
    answer = design.workloads[number]
    _show_drawings(view, "data path", number)
    with st.container(horizontal=True, gap="medium", key="stages"):
        for stage in answer.stages:
            with st.container(width="content", gap=None):
                st.caption(STAGES[stage.key])
                value = estimate(stage.capacity, sample_unit(answer.dnn)) if is_limit(stage, answer) else "not limited"
                why.popover(value, stage_key(number, stage.key), view, "stages")
    with st.expander("Capacity and load of every stage"):
        look.table(stage_table(answer, 1), view.catalog.sources)


def _building_plan(view: View) -> None:
    """Where everything stands, what the room must take, and the cables; each is drawn when its tab is opened."""
    assert view.result is not None
    result, sources = view.result, view.catalog.sources
    tabs = st.tabs(["Racks", "Room", "Power and cooling", "Cables", "Next sizes"], key="plan-tabs", on_change="rerun")
    fronts, above, power, cables, later = tabs
    with fronts:
        if fronts.open:
            _show_drawings(view, "racks")
            look.table(_kept_table(view.key, "racks", result, view.catalog), sources)
    with above:
        if above.open:
            _show_drawings(view, "room")
    with power:
        if power.open:
            look.table(_kept_table(view.key, "facility", result, view.catalog), sources)
            look.notes(note_sentences(result.design.plan.warnings))
    with cables:
        if cables.open:
            if result.design.plan.n_links:
                look.table(_kept_table(view.key, "cables", result, view.catalog), sources)
            else:
                look.note("The design has no cables of its own: every device joins the customer's network.")
    with later:
        if later.open:
            look.table(_kept_table(view.key, "growth", result, view.catalog), sources)


class _Picture(NamedTuple):
    """A drawing as text of an SVG file, with its finding."""

    title: str
    svg: str


def _show_drawings(view: View, what: str, workload: int = 0) -> None:
    """Drawings of one kind; a fitted one has its finding inside, others above them."""
    assert view.result is not None
    is_fitted = what in ("topology", "data path")
    for picture in _drawings(view.key, what, workload, look.palette().name, view.result, view.catalog):
        if not is_fitted:
            look.note(sentence(picture.title))
        look.drawing(picture.svg, is_fitted=is_fitted)


@st.cache_resource(show_spinner=False, max_entries=64)
def _drawings(
    answer_key: str,  # noqa: ARG001  (names the result)
    what: str,
    workload: int,
    palette_name: str,
    _result: SizingResult,
    _parts: Catalog,
) -> tuple[_Picture, ...]:
    design = _result.design
    if what == "topology":
        drawn = [topology(design)]
    elif what == "data path":
        answer = design.workloads[workload]
        drawn = [datapath(design, answer, sample_unit(answer.dnn))]
    elif what == "racks":
        drawn = list(rack_fronts(design.plan, _parts))
    else:
        drawn = [room(design.plan)]
    colours = look.palette_named(palette_name)
    return tuple(_Picture(drawing.title, write_svg(drawing, colours)) for drawing in drawn)


@st.cache_resource(show_spinner=False, max_entries=128)
def _kept_table(answer_key: str, what: str, _result: SizingResult, _parts: Catalog) -> Table:  # noqa: ARG001  (names the result)
    design, plan = _result.design, _result.design.plan
    if what == "networks":
        return networks_table(design, _parts)
    if what == "parts":
        return parts_table(design, _parts)
    if what == "racks":
        return racks_table(plan)
    if what == "facility":
        return facility_table(_result, _parts)
    if what == "growth":
        return growth_table(growth(plan))
    found = cables_table(plan, _parts)
    assert found is not None  # asked for only where there are cables
    return found


def networks_table(design: DesignAnswer, catalog: Catalog) -> Table:
    """Networks with their switches and how the ports add up."""
    rows = [
        row(
            sentence(net.role).rstrip("."),
            link_name(net.kind),
            Cell("by others", is_muted=True) if net.switch is None else result_text.network_switches(net, catalog),
            result_text.port_arithmetic(net),
            _ratio(net),
            sentence(network_notes_text(net)),
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
