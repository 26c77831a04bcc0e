"""Racks, power, cooling and cables of the building plan as tables, for the guide and the app."""

from collections.abc import Sequence
from itertools import groupby

from sizer.base.language import Texts, mark, tr, translated, trn
from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant
from sizer.catalog.links import GBIT_PER_S
from sizer.catalog.model import Catalog
from sizer.catalog.wording import item_name
from sizer.drawings import racks
from sizer.drawings.racks import RackKind
from sizer.physical.counted import network_text
from sizer.physical.plan import Connection, PlacedRack, Plan
from sizer.physical.power import both_live_w, energy_kwh_per_year, heat_btu_per_h
from sizer.physical.rack import SLACK_FRACTION
from sizer.report import words
from sizer.report.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import SizingResult

# A longer table lists equal racks once.
_MAX_SINGLE = 24
_MEDIA = Texts(
    {
        "dac": mark("copper, direct attach"),
        "copper": mark("copper, patch cable"),
        "aoc": mark("active optical"),
        "transceiver": mark("transceivers and fibre"),
    }
)


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
        (tr("Rack"), "left", 12),
        (tr("Row, place"), "left", 9),
        (tr("Units used, free"), "right", 11),
        (tr("Typical, kW"), "right", 15),
        (tr("Maximum, kW"), "right", 15),
        (tr("Heat, BTU/h"), "right", 18),
        (tr("Weight, kg"), "right", 10),
        (tr("On a tile, kg"), "right", 10),
    )
    notes = [tr("Heat is that of the maximum draw. PDUs and cables have no published weight and are left out of it.")]
    if plan.rack.width_m is not None and plan.rack.depth_m is not None:
        notes.append(tr("A floor tile is 600 mm square; the weight is spread over the footprint of the rack."))
    if any(rack.is_existing for rack in plan.racks):
        notes.append(tr("Of a rack that is there only what this design adds is counted."))
    return Table("racks", tr("The racks, {rack}", rack=plan.rack.name), heads, tuple(rows), " ".join(notes))


def _rack_row(kind: RackKind, plan: Plan) -> Row:
    rack, count = kind.first, len(kind.racks)
    used = sum(device.height_u for device in rack.present)
    load = plan.floor_tile_kg(rack)
    name = (
        kind.names
        if count == 1
        else trn("{names}: {n} equal rack", "{names}: {n} equal racks", count, names=kind.names, n=count)
    )
    return row(
        tr("{rack}, existing", rack=name) if rack.is_existing else name,
        _place(kind.racks),
        f"{used}, {len(rack.empty_units)}",
        _number(rack.typical_w / 1e3, rack.has_unknown_power, 1),
        _number(rack.max_w / 1e3, rack.has_unknown_power, 1),
        _number(heat_btu_per_h(rack.max_w), rack.has_unknown_power),
        _number(rack.weight_kg, rack.has_unknown_weight),
        translated(words.NOT_PUBLISHED) if load is None else _number(load, rack.has_unknown_weight or rack.is_existing),
    )


def _place(equal: Sequence[PlacedRack]) -> str:
    if len(equal) == 1:
        return f"{equal[0].row + 1}, {equal[0].column + 1}"
    rows = sorted({rack.row + 1 for rack in equal})
    if len(rows) == 1:
        return tr("row {n}", n=rows[0])
    return tr("rows {first} to {last}", first=rows[0], last=rows[-1])


def _number(value: float, is_lower_bound: bool, digits: int = 0) -> str:
    if is_lower_bound and not value:
        return translated(words.NOT_PUBLISHED)
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
        tr("PUE {ratio}", ratio=plain(site.pue_ratio))
        if site.pue_ratio is not None
        else tr("without cooling and losses: no PUE was given")
    )
    heavy_load = tr(
        "{watts} in {rack}", watts=racks.watts(heaviest.max_w, heaviest.has_unknown_power), rack=heaviest.name
    )
    if capacity:
        heavy_load += "; " + tr("each feed alone carries {watts}", watts=si(capacity, "W"))
    rows = [
        row(tr("Racks"), _rack_count(plan)),
        row(
            tr("Maximum draw"),
            tr("{watts}; feeds, racks and cooling are sized with it", watts=racks.watts(maximum, some_power)),
        ),
        row(tr("Typical draw"), tr("{watts}; energy is counted with it", watts=racks.watts(typical, some_power))),
        row(tr("Heat to cool, most"), f"{_number(heat_btu_per_h(maximum), some_power)}{NARROW_SPACE}BTU/h"),
        row(tr("Energy a year"), f"{racks.at_least(some_power, _energy(energy))}, {pue}"),
        row(
            tr("Heaviest load of a rack"),
            heavy_load,
        ),
        row(tr("Weight"), racks.at_least(some_weight, racks.kilograms(sum(r.weight_kg for r in plan.racks)))),
        row(tr("PDUs"), _pdu_text(result)),
    ]
    if open_w:
        names = words.listed(item_name(item, catalog) for item in open_w)
        rows.append(row(tr("Maximum not published"), tr("{names}; counted as far as it is known", names=names)))
    return Table("facility", tr("Power, cooling and weight"), columns(("", "left", 24), ("", "left", 76)), tuple(rows))


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
            tr("{used} of {all}", used=feed.used("c13"), all=feed.outlets_c13),
            tr("{used} of {all}", used=feed.used("c19"), all=feed.outlets_c19),
        )
        for kind in kinds
        for feed in kind.first.feeds
    ]
    if not rows:
        return None
    heads = columns(
        (tr("Rack"), "left", 17), (tr("PDU"), "left", 9), (tr("Both feeds live"), "right", 14),
        (tr("Other feed lost"), "right", 14), (tr("Capacity"), "right", 13), (tr("Load"), "right", 9),
        (tr("C13"), "right", 11), (tr("C19"), "right", 11),
    )  # fmt: skip
    note = tr(
        "Watts are known maximum draws; while both feeds live a device spreads evenly over its inlets. C13 and "
        "C19 tell the outlets taken."
    )
    return Table("feeds", tr("Power feeds in normal service and after losing one"), heads, tuple(rows), note)


def _rack_count(plan: Plan) -> str:
    there = sum(rack.is_existing for rack in plan.racks)
    text = f"{words.plural(len(plan.racks), 'rack')}, {plan.rack.name}"
    used = sum(device.height_u for rack in plan.racks for device in rack.present)
    if there:
        text += ", " + trn("{n} of them existing", "{n} of them existing", there, n=there)
    return text + "; " + tr("{units} in use", units=f"{grouped(used)}{NARROW_SPACE}U")


def _energy(energy_kwh: float) -> str:
    unit, value = ("MWh", energy_kwh / 1e3) if energy_kwh >= 1e4 else ("kWh", energy_kwh)
    return f"{significant(value)}{NARROW_SPACE}{unit}"


def _pdu_text(result: SizingResult) -> str:
    count = sum(len(rack.feeds) for rack in result.design.plan.racks)
    if not count:
        return tr("those of the racks that are there")
    pdus = f"{grouped(count)} × {result.design.platform.pdu.name}"
    return tr("{pdus}, half of them on feed A, half on feed B", pdus=pdus)


def cables_table(plan: Plan, catalog: Catalog) -> Table | None:
    """Cables by network, kind and length; None where the design has none."""
    if not plan.connections:
        return None
    rows: list[Row] = []
    for network, links in groupby(plan.connections, key=lambda link: link.network.partition(",")[0]):
        rows.append(row(words.capital(network_text(network)), kind="group"))
        alike: dict[tuple[object, ...], list[Connection]] = {}
        for link in links:
            alike.setdefault((link.kind, link.cable.items, link.stock_length_m), []).append(link)
        rows += [_cable_row(found, catalog) for found in sorted(alike.values(), key=_fast_and_short_first)]
    rows.append(row(tr("All cables"), "", "", "", "", grouped(plan.n_links), kind="total"))
    heads = columns(
        (tr("Link"), "left", 17),
        (tr("Medium"), "left", 20),
        (tr("Part"), "left", 27),
        (tr("Length, m"), "right", 11),
        (tr("Longest way, m"), "right", 13),
        (tr("Number"), "right", 12),
    )
    slack = words.percent(SLACK_FRACTION)
    note = tr(
        "A way is measured from port to port, with {slack} slack; the cable is the shortest that reaches.", slack=slack
    )
    return Table("cables", tr("Cables by network"), heads, tuple(rows), note)


def _fast_and_short_first(links: Sequence[Connection]) -> tuple[float, float]:
    return -GBIT_PER_S[links[0].kind], links[0].stock_length_m or 0.0


def _cable_row(links: Sequence[Connection], catalog: Catalog) -> Row:
    first = links[0]
    parts = [f"{f'{pieces} × ' if pieces > 1 else ''}{catalog.item(item).name}" for item, pieces in first.cable.items]
    stock = first.stock_length_m
    return row(
        words.link_name(first.kind),
        _MEDIA[first.medium] if parts else translated(words.TO_BE_QUOTED),
        ", ".join(parts) if parts else Cell(tr("none in the catalogue"), is_muted=True),
        plain(stock) if stock is not None else Cell(tr("to length"), is_muted=True),
        grouped(max(link.length_m for link in links), 1),
        grouped(len(links)),
    )
