"""Page Architecture: what the design is made of and how it is joined."""

import streamlit as st

from sizer.base.provenance import Sourced
from sizer.base.quantities import grouped, si
from sizer.catalog.links import kind_name
from sizer.catalog.loader import Catalog
from sizer.catalog.model import statements
from sizer.catalog.schema import Gpu, Item, Server, Storage
from sizer.drawings.svg import write_svg
from sizer.drawings.topology import topology
from sizer.physical.plan import CATEGORIES, Network
from sizer.report.words import NOT_PUBLISHED, fact_value, listed, plural, sentence, unit_of_field
from sizer.report.words import name as word
from sizer.sizing.result import DesignAnswer
from sizer.ui import look
from sizer.ui.look import Column, Row
from sizer.ui.state import View


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    design = view.result.design
    st.header("How it is joined", anchor=False)
    look.drawing(write_svg(topology(design), look.palette()))
    if design.binding_limit:
        look.note(sentence(design.binding_limit))
    _networks(view.catalog, design)
    _parts(view.catalog, design)
    _facility(design)
    _devices(view.catalog, design)
    if design.warnings:
        st.header("To be aware of", anchor=False)
        look.notes([sentence(warning) for warning in design.warnings])


def item_name(catalog: Catalog, item: str) -> str:
    """Name of an item; what no folder holds keeps its word."""
    return next((found.name for _, found in catalog.items() if found.id == item), word(item))


def _networks(catalog: Catalog, design: DesignAnswer) -> None:
    st.header("Networks", anchor=False)
    columns = [
        Column("Network"), Column("Link"), Column("Switches", wraps=True), Column("End points", align="right"),
        Column("Ports used", align="right"), Column("Ports free", align="right"), Column("Down : up", align="right"),
        Column("Purpose", wraps=True),
    ]  # fmt: skip
    rows = [
        Row((sentence(net.name).rstrip("."), kind_name(net.kind), _switches(catalog, net), *_ports(net), _purpose(net)))
        for net in design.quantities.networks
    ]
    look.table(columns, rows, "Networks of the design")


def _switches(catalog: Catalog, net: Network) -> str:
    if net.switch is None:
        return "at hand, by others" if int(net.end_points[0]) else "none"
    leaves, spines, name = int(net.leaves[0]), int(net.spines[0]), item_name(catalog, net.switch)
    if spines:
        return f"{plural(leaves, 'leaf')} and {plural(spines, 'spine')}, {name}".replace("leafs", "leaves")
    return f"{leaves} × {name}" if leaves else name


def _ports(net: Network) -> tuple[str, str, str, str]:
    ratio = float(net.oversubscription[0])
    return (
        grouped(int(net.end_points[0])),
        grouped(int(net.ports_used[0])),
        grouped(int(net.ports_free[0])),
        f"{ratio:.3g} : 1" if int(net.spines[0]) else "non-blocking" if net.switch is not None else "–",
    )


def _purpose(net: Network) -> str:
    gateways = int(net.gateways[0])
    behind = f"; {plural(gateways, 'gateway')} with {plural(int(net.gateway_uplinks[0]), 'uplink')}" if gateways else ""
    return sentence(net.purpose + behind + (f"; {net.note}" if net.note else "")).rstrip(".")


def _parts(catalog: Catalog, design: DesignAnswer) -> None:
    st.header("Parts", anchor=False)
    rows: list[Row] = []
    for category in CATEGORIES:
        parts = [part for part in design.quantities.components if part.category == category and int(part.quantity[0])]
        if parts:
            rows.append(Row((sentence(category).rstrip("."),), "group"))
        for part in parts:
            status = "" if part.status == "computed" else {"existing": "at hand", "optional": "optional"}[part.status]
            rows.append(Row((grouped(int(part.quantity[0])), sentence(part.role).rstrip("."), item_name(catalog, part.item),
                             "; ".join(text for text in (status, part.note) if text))))  # fmt: skip
    look.table([Column("Number", align="right"), Column("Role"), Column("Item"), Column("Note", wraps=True)], rows, "Parts")


def _facility(design: DesignAnswer) -> None:
    st.header("Racks, power and weight", anchor=False)
    found, platform = design.quantities, design.platform
    least = "at least " if found.unknown_power else ""
    weight = float(found.weight_kg[0])
    rows = [
        ("Racks", f"{plural(int(found.racks[0]), 'rack')} {platform.rack.name}, {float(found.rack_units[0]):g} rack units taken"),
        ("Maximum power", f"{least}{si(float(found.power_max_w[0]), 'W')}; feeds, racks and cooling are sized with it"),
        ("Typical power", f"{least}{si(float(found.power_typical_w[0]), 'W')}; energy is computed with it"),
        ("Weight", f"{'at least ' if found.unknown_weight else ''}{grouped(weight)} kg without racks" if weight else NOT_PUBLISHED),
        ("Power distribution", platform.pdu.name),
    ]
    if float(found.rack_power_max_w[0]) > 0:
        rows.insert(3, ("Heaviest rack", f"{si(float(found.rack_power_max_w[0]), 'W')} at most"))
    look.facts(rows, "Racks, power and weight")
    if found.notes:
        look.notes([sentence(text) for text in found.notes])


def _devices(catalog: Catalog, design: DesignAnswer) -> None:
    platform = design.platform
    st.header("Devices in detail", anchor=False)
    devices: list[tuple[str, Item]] = [("GPU server", platform.server), ("GPU", platform.gpu), ("Storage", platform.storage)]
    devices += [
        (role, item)
        for role, item in (
            ("Storage server", platform.storage_server), ("Fabric switch", platform.fabric_switch),
            ("Storage switch", platform.storage_switch), ("Back-end switch", platform.back_end_switch),
            ("Gateway", platform.gateway), ("Head node", platform.head_node), ("Management switch", platform.management_switch),
        )
        if item is not None
    ]  # fmt: skip
    columns = [Column("Fact"), Column("Value", wraps=True), Column("Basis"), Column("Source", wraps=True)]
    for role, item in devices:
        with st.expander(f"**{role}:** {item.name}"):
            look.table(columns, _facts(catalog, item), f"Facts of {item.name}")


def _facts(catalog: Catalog, item: Item) -> list[Row]:
    rows = []
    if isinstance(item, (Server, Storage)) or hasattr(item, "ports"):
        for port in getattr(item, "ports", ()):
            also = f", also {listed(kind_name(kind) for kind in port.also)}" if port.also else ""
            rows.append(Row((f"Ports for {'any use' if port.use == 'any' else port.use}", f"{port.count} × {kind_name(port.kind)}{also}",
                             word(port.basis), _source(catalog, port.source, port.where))))  # fmt: skip
    for said in statements(item):
        if said.basis and "[" not in said.field and isinstance(said.value, (str, int, float, bool)):
            label, unit = unit_of_field(said.field.removeprefix("features."))
            value = said.value if said.field.startswith("features.") else fact_value(_named(catalog, said.value), unit)
            rows.append(Row((sentence(label).rstrip("."), str(value), word(said.basis), _source(catalog, said.source, said.where))))
    return rows


def _named(catalog: Catalog, value: object) -> object:
    return item_name(catalog, value) if isinstance(value, str) else value


def _source(catalog: Catalog, key: str, where: str) -> str:
    source = catalog.sources[key] if key in catalog.sources else None
    title = f"{source.publisher}, {source.title}" if source is not None else key
    return f"{title}: {where}" if where else title


__all__ = ["Gpu", "Sourced", "item_name", "show"]
