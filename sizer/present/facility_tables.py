"""Racks, power, cooling and cables of the building plan as tables, for the guide and the app."""

from collections.abc import Sequence
from itertools import groupby

from sizer.base.quantities import NARROW_SPACE, by_count, grouped, plain, si, significant
from sizer.catalog.labels import item_name
from sizer.catalog.links import GBIT_PER_S
from sizer.catalog.model import Catalog
from sizer.drawings import racks
from sizer.drawings.racks import RackKind
from sizer.physical.plan import Connection, PlacedRack, Plan
from sizer.physical.racks.positions import SLACK_FRACTION
from sizer.physical.racks.power import both_live_w, energy_kwh_per_year, heat_btu_per_h
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import SizingResult

# A longer table lists equal racks once.
_MAX_SINGLE = 24
_MEDIA = {
    "dac": "copper, direct attach",
    "copper": "copper, patch cable",
    "aoc": "active optical",
    "transceiver": "transceivers and fibre",
}


def racks_table(plan: Plan) -> Table:
    """Rack by rack: place, units, draw, heat and weight; equal racks in one row where there are many."""
    if len(plan.racks) > _MAX_SINGLE:
        kinds: Sequence[RackKind] = racks.rack_kinds(plan.racks)
    else:
        kinds = [RackKind((rack,)) for rack in plan.racks]
    rows = [_rack_row(kind, plan) for kind in kinds]
    if len(plan.racks) > 1:
        rows.append(_all_racks(plan))
    heads = columns(
        ("Rack", "left", 12),
        ("Row, place", "left", 9),
        ("Units used, free", "right", 11),
        ("Typical, kW", "right", 15),
        ("Maximum, kW", "right", 15),
        ("Heat, BTU/h", "right", 18),
        ("Weight, kg", "right", 10),
        ("On a tile, kg", "right", 10),
    )
    notes = [("Heat is that of the maximum draw. PDUs and cables have no published weight and are left out of it.")]
    if plan.rack.width_m is not None and plan.rack.depth_m is not None:
        notes.append("A floor tile is 600 mm square; the weight is spread over the footprint of the rack.")
    if any(rack.is_existing for rack in plan.racks):
        notes.append("Of a rack that is there only what this design adds is counted.")
    return Table("racks", f"The racks, {plan.rack.name}", heads, tuple(rows), " ".join(notes))


def _rack_row(kind: RackKind, plan: Plan) -> Row:
    rack, count = kind.first, len(kind.racks)
    used = sum(device.height_u for device in rack.present)
    load = plan.floor_tile_kg(rack)
    name = (
        kind.names
        if count == 1
        else by_count(count, f"{kind.names}: {count} equal rack", f"{kind.names}: {count} equal racks")
    )
    return row(
        f"{name}, existing" if rack.is_existing else name,
        _place(kind.racks),
        f"{used}, {len(rack.empty_units)}",
        _number(rack.typical_w / 1e3, rack.has_unknown_power, 1),
        _number(rack.max_w / 1e3, rack.has_unknown_power, 1),
        _number(heat_btu_per_h(rack.max_w), rack.has_unknown_power),
        _number(rack.weight_kg, rack.has_unknown_weight),
        words.NOT_PUBLISHED if load is None else _number(load, rack.has_unknown_weight or rack.is_existing),
    )


def _place(equal: Sequence[PlacedRack]) -> str:
    if len(equal) == 1:
        return f"{equal[0].row + 1}, {equal[0].column + 1}"
    rows = sorted({rack.row + 1 for rack in equal})
    if len(rows) == 1:
        return f"row {rows[0]}"
    return f"rows {rows[0]} to {rows[-1]}"


def _number(value: float, is_lower_bound: bool, digits: int = 0) -> str:
    if is_lower_bound and not value:
        return words.NOT_PUBLISHED
    return racks.at_least(is_lower_bound, grouped(value, digits))


def _all_racks(plan: Plan) -> Row:
    some_power = any(rack.has_unknown_power for rack in plan.racks)
    some_weight = any(rack.has_unknown_weight for rack in plan.racks)
    used = sum(device.height_u for rack in plan.racks for device in rack.present)
    maximum = sum(rack.max_w for rack in plan.racks)
    return row(
        words.plural(len(plan.racks), "rack"),
        "",
        f"{grouped(used)}, {grouped(sum(len(rack.empty_units) for rack in plan.racks))}",
        _number(sum(rack.typical_w for rack in plan.racks) / 1e3, some_power, 1),
        _number(maximum / 1e3, some_power, 1),
        _number(heat_btu_per_h(maximum), some_power),
        _number(sum(rack.weight_kg for rack in plan.racks), some_weight),
        "",
        kind="total",
    )


def facility_table(result: SizingResult, catalog: Catalog) -> Table:
    """What the room must feed, cool and carry."""
    plan, site = result.design.plan, result.request.site
    present = [device for rack in plan.racks for device in rack.present]
    open_w = dict.fromkeys(device.item for device in present if not device.power.is_known)
    some_power, some_weight = bool(open_w), any(rack.has_unknown_weight for rack in plan.racks)
    typical, maximum = (sum(watts) for watts in zip(*((r.typical_w, r.max_w) for r in plan.racks), strict=True))
    heaviest = max(plan.racks, key=lambda rack: rack.max_w)
    capacity = racks.feed_capacity_w(heaviest)
    energy = energy_kwh_per_year(typical, site.pue_ratio or 1.0)
    pue = (
        f"PUE {plain(site.pue_ratio)}" if site.pue_ratio is not None else "without cooling and losses: no PUE was given"
    )
    heavy_load = f"{racks.watts(heaviest.max_w, heaviest.has_unknown_power)} in {heaviest.name}"
    if capacity:
        heavy_load += "; " + f"each feed alone carries {si(capacity, 'W')}"
    rows = [
        row("Racks", _rack_count(plan)),
        row(
            "Maximum draw",
            f"{racks.watts(maximum, some_power)}; feeds, racks and cooling are sized with it",
        ),
        row("Typical draw", f"{racks.watts(typical, some_power)}; energy is counted with it"),
        row("Heat to cool, most", f"{_number(heat_btu_per_h(maximum), some_power)}{NARROW_SPACE}BTU/h"),
        row("Energy a year", f"{racks.at_least(some_power, _energy(energy))}, {pue}"),
        row(
            "Heaviest load of a rack",
            heavy_load,
        ),
        row("Weight", racks.at_least(some_weight, racks.kilograms(sum(r.weight_kg for r in plan.racks)))),
        row("PDUs", _pdu_text(result)),
    ]
    if open_w:
        names = words.listed(item_name(item, catalog) for item in open_w)
        rows.append(row("Maximum not published", f"{names}; counted as far as it is known"))
    return Table("facility", "Power, cooling and weight", columns(("", "left", 24), ("", "left", 76)), tuple(rows))


def feeds_table(plan: Plan) -> Table | None:
    """Load of every PDU in normal service and while the other side is lost; None where the racks bring their own."""
    kinds = racks.rack_kinds(plan.racks) if len(plan.racks) > _MAX_SINGLE else [RackKind((one,)) for one in plan.racks]
    rows = [
        row(
            kind.names,
            feed.name,
            si(both_live_w(feed, kind.first.feeds), "W"),
            si(feed.alone_w, "W"),
            si(feed.capacity_w, "W"),
            words.percent(feed.alone_w / feed.capacity_w),
            f"{feed.used('c13')} of {feed.outlets_c13}",
            f"{feed.used('c19')} of {feed.outlets_c19}",
        )
        for kind in kinds
        for feed in kind.first.feeds
    ]
    if not rows:
        return None
    heads = columns(
        ("Rack", "left", 17),
        ("PDU", "left", 9),
        ("Both feeds live", "right", 14),
        ("Other feed lost", "right", 14),
        ("Capacity", "right", 13),
        ("Load", "right", 9),
        ("C13", "right", 11),
        ("C19", "right", 11),
    )
    note = (
        "Watts are known maximum draws; while both feeds live a device spreads evenly over its "
        "inlets. C13 and C19 tell the outlets taken."
    )
    return Table("feeds", "Power feeds in normal service and after losing one", heads, tuple(rows), note)


def _rack_count(plan: Plan) -> str:
    there = sum(rack.is_existing for rack in plan.racks)
    text = f"{words.plural(len(plan.racks), 'rack')}, {plan.rack.name}"
    used = sum(device.height_u for rack in plan.racks for device in rack.present)
    if there:
        text += ", " + by_count(there, f"{there} of them existing", f"{there} of them existing")
    return text + "; " + "{units} in use".format(units=f"{grouped(used)}{NARROW_SPACE}U")


def _energy(energy_kwh: float) -> str:
    unit, value = ("MWh", energy_kwh / 1e3) if energy_kwh >= 1e4 else ("kWh", energy_kwh)
    return f"{significant(value)}{NARROW_SPACE}{unit}"


def _pdu_text(result: SizingResult) -> str:
    count = sum(len(rack.feeds) for rack in result.design.plan.racks)
    if not count:
        return "those of the racks that are there"
    pdus = f"{grouped(count)} × {result.design.platform.pdu.name}"
    return f"{pdus}, half of them on feed A, half on feed B"


def cables_table(plan: Plan, catalog: Catalog) -> Table | None:
    """Cables by network, kind and length; None where the design has none."""
    if not plan.connections:
        return None
    rows: list[Row] = []
    for network, links in groupby(plan.connections, key=lambda link: link.network.network):
        rows.append(row(words.capital(network), kind="group"))
        alike: dict[tuple[object, ...], list[Connection]] = {}
        for link in links:
            alike.setdefault((link.kind, link.cable.items, link.stock_length_m), []).append(link)
        rows += [_cable_row(found, catalog) for found in sorted(alike.values(), key=_fast_and_short_first)]
    rows.append(row("All cables", "", "", "", "", grouped(plan.n_links), kind="total"))
    heads = columns(
        ("Link", "left", 17),
        ("Medium", "left", 20),
        ("Part", "left", 27),
        ("Length, m", "right", 11),
        ("Longest way, m", "right", 13),
        ("Number", "right", 12),
    )
    slack = words.percent(SLACK_FRACTION)
    note = f"A way is measured from port to port, with {slack} slack; the cable is the shortest that reaches."
    return Table("cables", "Cables by network", heads, tuple(rows), note)


def _fast_and_short_first(links: Sequence[Connection]) -> tuple[float, float]:
    return -GBIT_PER_S[links[0].kind], links[0].stock_length_m or 0.0


def _cable_row(links: Sequence[Connection], catalog: Catalog) -> Row:
    first = links[0]
    parts = [f"{f'{pieces} × ' if pieces > 1 else ''}{catalog.item(item).name}" for item, pieces in first.cable.items]
    stock = first.stock_length_m
    return row(
        words.link_name(first.kind),
        _MEDIA[first.medium] if parts else words.TO_BE_QUOTED,
        ", ".join(parts) if parts else Cell("none in the catalogue", is_muted=True),
        plain(stock) if stock is not None else Cell("to length", is_muted=True),
        grouped(max(link.length_m for link in links), 1),
        grouped(len(links)),
    )
