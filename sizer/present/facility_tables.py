"""Racks, power, cooling and cables of the building plan as tables, for the guide and the app."""

import math
from collections.abc import Iterator, Sequence

from sizer.base.quantities import NARROW_SPACE, by_count, grouped, number_and_unit, plain, si, significant
from sizer.catalog.labels import item_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Pdu
from sizer.drawings import racks
from sizer.drawings.racks import RackKind
from sizer.physical.plan import Connection, PlacedRack, Plan
from sizer.physical.racks.feed_loads import feed_loads
from sizer.physical.racks.feeds import PowerFeed
from sizer.physical.racks.positions import SLACK_FRACTION
from sizer.physical.racks.power import energy_kwh_per_year, has_typical_draw, heat_btu_per_h
from sizer.physical.racks.site_rules import SiteRules, coolant_parts
from sizer.physical.roles import Role
from sizer.present import words
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row
from sizer.present.text.plan import feed_counts
from sizer.sizing.result import SizingResult

# Heat that a litre of water takes for each kelvin, and the rise for which its flow is printed. [J/l/K], [K]
_WATER_J_PER_L_K, _WATER_RISE_K = 4186.0, 10
_COUNTED_PARTS = "counted as far as their parts are known, without fans and losses of the supplies"
# PDUs that carry less than this share of their rating are larger than their racks need.
_LITTLE = 0.25
# Power supplies take up to so much. [V]
_MOST_DEVICE_V = 240.0
# A longer table lists equal racks once.
_MAX_SINGLE = 8
# Names in a note; of more, the last ones are counted.
_MOST_NAMED = 4
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
    notes = ["Heat is that of the maximum draw. PDUs and cables have no published weight and are not included."]
    if any(plan.floor_tile_kg(rack) is not None for rack in plan.racks):
        notes.append("A floor tile is 600 mm square; the weight is spread over the footprint of the rack.")
    notes += _maximum_counted(plan)
    if any(rack.is_existing for rack in plan.racks):
        notes.append("For an existing rack, only the devices that this design adds are counted.")
    fields: list[Field[RackKind]] = [
        Field("Rack", _rack_name, width=20),
        Field("Row, place", lambda kind: _place(kind.racks), width=9),
        Field("Units used, free", lambda kind: f"{_used_u(kind.first)}, {len(kind.first.empty_units)}", "right", 11),
        Field("Typical, kW", lambda kind: _kilowatts(kind.first.typical_w, kind.first), "right", 11),
        Field("Maximum, kW", lambda kind: _kilowatts(kind.first.max_w, kind.first), "right", 11),
        Field(
            "Heat, BTU/h",
            lambda kind: _heat(kind.first.max_w, kind.first.has_unknown_power),
            "right",
            13,
        ),
        Field("With rack, kg", lambda kind: _number(kind.first.weight_kg, kind.first.has_unknown_weight), "right", 12),
        Field("On a tile, kg", lambda kind: _tile_load(kind.first, plan), "right", 13),
    ]
    return record_table(
        "racks",
        f"The racks, {words.listed(dict.fromkeys(plan.catalog.racks[rack.item].name for rack in plan.racks))}",
        kinds,
        fields,
        totals=[_all_racks(plan)] if len(plan.racks) > 1 else [],
        note=" ".join(notes),
    )


def _maximum_counted(plan: Plan) -> Iterator[str]:
    """Devices without a published typical draw: their typical draw is an upper bound, and the energy with it."""
    items = dict.fromkeys(device.item for rack in plan.racks for device in rack.devices)
    names = [item_name(item, plan.catalog) for item in items if not has_typical_draw(plan.device(item))]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED - 1 :] = [f"{len(names) - _MOST_NAMED + 1} other kinds of device"]
    if names:
        yield f"No typical draw of {words.listed(names)} is published: the maximum is counted, also for energy."


def _rack_name(kind: RackKind) -> str:
    count = len(kind.racks)
    name = kind.names if count == 1 else f"{kind.names}: {count} equal racks"
    return f"{name}, existing" if kind.first.is_existing else name


def _used_u(rack: PlacedRack) -> int:
    return sum(device.height_u for device in rack.devices)


def _kilowatts(draw_w: float, rack: PlacedRack) -> str:
    return _kilowatts_text(draw_w, rack.has_unknown_power)


def _kilowatts_text(draw_w: float, is_lower_bound: bool) -> str:
    """Kilowatts to three digits, rounded as everywhere else."""
    if is_lower_bound and not draw_w:
        return words.NOT_PUBLISHED
    return racks.at_least(is_lower_bound, number_and_unit(draw_w, "W", like=1e3)[0])


def _tile_load(rack: PlacedRack, plan: Plan) -> str:
    load = plan.floor_tile_kg(rack)
    if load is None:
        return words.NOT_PUBLISHED
    return _number(load, rack.has_unknown_weight or rack.is_existing)


def _place(equal: Sequence[PlacedRack]) -> str:
    if len(equal) == 1:
        return f"{equal[0].row + 1}, {equal[0].column + 1}"
    rows = sorted({rack.row + 1 for rack in equal})
    if len(rows) == 1:
        return f"row {rows[0]}"
    return f"rows {rows[0]} to {rows[-1]}"


def _number(value: float, is_lower_bound: bool) -> str:
    if is_lower_bound and not value:
        return words.NOT_PUBLISHED
    return racks.at_least(is_lower_bound, grouped(value))


def _heat(power_w: float, is_lower_bound: bool) -> str:
    """Heat in BTU/h to three digits: the power itself is no more precise."""
    if is_lower_bound and not power_w:
        return words.NOT_PUBLISHED
    return racks.at_least(is_lower_bound, significant(heat_btu_per_h(power_w)))


def _all_racks(plan: Plan) -> Row:
    some_power = any(rack.has_unknown_power for rack in plan.racks)
    some_weight = any(rack.has_unknown_weight for rack in plan.racks)
    used = sum(map(_used_u, plan.racks))
    maximum = sum(rack.max_w for rack in plan.racks)
    return row(
        words.plural(len(plan.racks), "rack"),
        "",
        f"{grouped(used)}, {grouped(sum(len(rack.empty_units) for rack in plan.racks))}",
        _kilowatts_text(sum(rack.typical_w for rack in plan.racks), some_power),
        _kilowatts_text(maximum, some_power),
        _heat(maximum, some_power),
        _number(sum(rack.weight_kg for rack in plan.racks), some_weight),
        "",
        kind="total",
    )


def facility_table(result: SizingResult, catalog: Catalog) -> Table:
    """What the room must supply, cool and support."""
    plan, site = result.design.plan, result.request.site
    present = [device for rack in plan.racks for device in rack.devices]
    open_w = dict.fromkeys(device.item for device in present if not device.power.is_known)
    some_power, some_weight = bool(open_w), any(rack.has_unknown_weight for rack in plan.racks)
    typical, maximum = (sum(watts) for watts in zip(*((r.typical_w, r.max_w) for r in plan.racks), strict=True))
    energy = energy_kwh_per_year(typical, site.pue_ratio or 1.0)
    pue = f"PUE {plain(site.pue_ratio)}" if site.pue_ratio is not None else "without cooling and losses: no PUE given"
    names = words.listed(item_name(item, catalog) for item in open_w)
    tile = (
        f", {_tile_load(plan.racks[0], plan)}{NARROW_SPACE}kg on a floor tile"
        if len(plan.racks) == 1 and plan.floor_tile_kg(plan.racks[0])
        else ""
    )
    return fact_table(
        "facility",
        "Power, cooling and weight",
        [
            ("Racks", _rack_count(plan)),
            ("Maximum draw", f"{racks.watts(maximum, some_power)}; the basis for feeds, racks and cooling"),
            ("Typical draw", f"{racks.watts(typical, some_power)}; the basis for energy"),
            ("Maximum heat", f"{_heat(maximum, some_power)}{NARROW_SPACE}BTU/h"),
            ("Liquid cooling", _liquid_text(result, maximum)),
            ("Energy per year", f"{racks.at_least(some_power, si(1e3 * energy, 'Wh'))}, {pue}"),
            ("Heaviest load of a rack", _heaviest_load(plan) if len(plan.racks) > 1 else None),
            ("Weight with racks", racks.weight_text(sum(r.weight_kg for r in plan.racks), some_weight) + tile),
            ("PDUs", _pdu_text(result)),
            ("Maximum not published", f"{names}; {_COUNTED_PARTS}" if open_w else None),
        ],
        widths=(24, 76),
        style="",
    )


def _liquid_text(result: SizingResult, maximum_w: float) -> str | None:
    """Heat to coolant and to air, and what takes it; None where nothing is liquid-cooled."""
    liquid_w = float(result.design.quantities.liquid_heat_w[0])
    if not liquid_w:
        return None
    units = coolant_parts(result.design.quantities)
    catalog = result.design.plan.catalog
    names = words.listed(f"{int(part.quantity[0])} × {catalog.item(part.item).name}" for part in units)
    capacity_w = sum(int(p.quantity[0]) * catalog.cooling[p.item].capacity_w.value for p in units)
    # One litre of water a second takes 4.19 kW for each kelvin that it warms.
    flow = significant(liquid_w / (_WATER_J_PER_L_K * _WATER_RISE_K) * 60)
    takes = by_count(sum(int(part.quantity[0]) for part in units), "takes", "take")
    return (
        f"{si(liquid_w, 'W')} to the coolant, {si(maximum_w - liquid_w, 'W')} to the air; {names} {takes} up to "
        f"{si(capacity_w, 'W')} into the water of the building: {flow} l/min that warm by {_WATER_RISE_K} K. Confirm "
        "flow and highest water temperature with the vendor"
    )


def _heaviest_load(plan: Plan) -> str:
    heaviest = max(plan.racks, key=lambda rack: rack.max_w)
    text = f"{racks.watts(heaviest.max_w, heaviest.has_unknown_power)} in {heaviest.name}"
    feeds = racks.feeds_text(heaviest)
    return f"{text}; {feeds}" if feeds else text


def feeds_table(plan: Plan) -> Table | None:
    """Load of every PDU in normal service and with the other feed lost; None where the racks bring their own.

    Racks that are filled alike, and PDUs of a rack that carry the same, share a line.
    """
    alike: dict[tuple[object, ...], list[tuple[RackKind, PowerFeed]]] = {}
    for kind in racks.rack_kinds(plan.racks):
        for feed in kind.first.feeds:
            loads = (si(feed.live_w, "W"), si(feed.alone_w, "W"), feed.capacity_w, feed.outlets)
            used = tuple(feed.used(name) for name, _ in feed.outlets)
            alike.setdefault((kind.names, *loads, used), []).append((kind, feed))
    groups = list(alike.values())
    if not groups:
        return None
    kinds = dict.fromkeys(kind for group in groups for kind, _ in group[0][1].outlets)
    fields: list[Field[list[tuple[RackKind, PowerFeed]]]] = [
        Field("Rack", lambda group: group[0][0].names, width=17),
        Field("PDU", lambda group: ", ".join(feed.name for _, feed in group), width=9),
        Field("All feeds live", lambda group: si(group[0][1].live_w, "W"), "right", 14),
        Field("One feed lost", lambda group: si(group[0][1].alone_w, "W"), "right", 14),
        Field("Capacity", lambda group: si(group[0][1].capacity_w, "W"), "right", 13),
        Field("Load", lambda group: words.percent(group[0][1].alone_w / group[0][1].capacity_w), "right", 9),
        *(_outlets_field(plan, kind) for kind in kinds),
    ]
    note = (
        "Each PDU. Watts are known maximum draws. With all feeds live, a device draws evenly from its inlets. "
        "The last columns count outlets in use."
    )
    return record_table("feeds", "Power feeds in normal service and after the loss of one", groups, fields, note=note)


def _outlets_field(plan: Plan, kind: str) -> Field[list[tuple[RackKind, PowerFeed]]]:
    """Outlets for a kind of inlet on a PDU."""

    def text(group: list[tuple[RackKind, PowerFeed]]) -> str:
        feed = group[0][1]
        there = dict(feed.outlets).get(kind)
        return f"{feed.used(kind)} of {there}" if there is not None else "–"

    return Field(plan.catalog.power_inlets[kind].outlet, text, "right", 11)


def _rack_count(plan: Plan) -> str:
    there = sum(rack.is_existing for rack in plan.racks)
    names = words.listed(dict.fromkeys(plan.catalog.racks[rack.item].name for rack in plan.racks))
    text = f"{words.plural(len(plan.racks), 'rack')}, {names}"
    used = sum(map(_used_u, plan.racks))
    if there:
        text += f", {there} of them existing"
    return f"{text}; {grouped(used)}{NARROW_SPACE}U in use"


def _pdu_text(result: SizingResult) -> str:
    design = result.design
    bought = [part for part in design.quantities.components if part.role is Role.RACK_PDU]
    loads = feed_loads([rack for rack in design.plan.racks if rack.is_delivered], design.plan.catalog)
    counts: dict[str, int] = {}
    for part in bought:
        counts[part.item] = counts.get(part.item, 0) + int(part.quantity[0])
    texts = [f"{grouped(count)} × {design.plan.catalog.item(item).name}" for item, count in counts.items()]
    texts += [
        f"{count} of the racks delivered" if load.kind == "power shelf" else count
        for count, load in zip(feed_counts(loads), loads, strict=True)
    ]
    if not texts:
        return "those of the existing racks"
    rule = {
        "2N": "half of them on feed A, half on feed B",
        "N+1": "one more in each rack than its load needs",
        "N": "none to spare in a rack",
    }[design.platform.site.feeds]
    if sum(counts.values()) == 2 and design.platform.site.feeds == "2N":
        rule = "one on each feed"
    return f"{words.listed(texts)}, {rule}{_smaller_pdu_text(design.plan, design.platform.site)}"


def _smaller_pdu_text(plan: Plan, site: SiteRules) -> str:
    """The smallest PDU that carries what the racks have, where theirs are for far more; "" where they are not.

    It is one of the same supply that the circuits of the room, ``site``, feed.
    """
    strips = [feed for rack in plan.racks for feed in rack.feeds if feed.kind == "PDU"]
    most_w = max((feed.alone_w for feed in strips), default=0.0)
    is_known = not any(rack.has_unknown_power for rack in plan.racks)
    if not is_known or any(most_w >= _LITTLE * feed.capacity_w for feed in strips):
        return ""
    used = {kind: max(feed.used(kind) for feed in strips) for feed in strips for kind, _ in feed.outlets}
    supplies = {_supply_v(group.pdu) for group in plan.rack_groups if not group.is_delivered}
    enough = [
        pdu
        for pdu in plan.catalog.pdus.values()
        if pdu.orderable and pdu.capacity_w.value >= most_w and site.feeds_pdu(pdu)
        if all(_supply_v(pdu)[0] <= high and low <= _supply_v(pdu)[1] for low, high in supplies)
        if all(count <= (pdu.outlets[kind].value if kind in pdu.outlets else 0) for kind, count in used.items())
    ]
    if not strips or not enough:
        return ""
    smallest = min(enough, key=lambda pdu: (pdu.capacity_w.value, pdu.id))
    return f"; they are for racks full of such servers: for these alone, {smallest.name}, is enough"


def _supply_v(pdu: Pdu) -> tuple[float, float]:
    """Voltage at the outlets of a PDU, from and to; of three phases of 400 V that of a phase and neutral. [V]"""
    if pdu.low_v is None or pdu.high_v is None or pdu.phases is None:
        return math.inf, 0.0
    part = math.sqrt(3) if pdu.phases.value == 3 and pdu.low_v.value > _MOST_DEVICE_V else 1.0
    return pdu.low_v.value / part, pdu.high_v.value / part


def cables_table(plan: Plan, catalog: Catalog) -> Table | None:
    """Cables by network, kind and length; None where the design has none."""
    if not plan.connections:
        return None
    alike: dict[tuple[object, ...], list[Connection]] = {}
    for link in plan.connections:
        key = (link.network.network, link.kind, link.cable.items, link.stock_length_m)
        alike.setdefault(key, []).append(link)
    networks = list(dict.fromkeys(link.network.network for link in plan.connections))
    # Network by network, fast and short ones first.
    order = sorted(
        alike.values(),
        key=lambda links: (
            networks.index(links[0].network.network),
            -links[0].kind.gbit_per_s.value,
            links[0].stock_length_m or 0.0,
        ),
    )
    fields: list[Field[list[Connection]]] = [
        Field("Link", lambda links: links[0].kind.name, width=17),
        Field(
            "Medium",
            lambda links: _MEDIA[links[0].medium] if links[0].cable.items else words.TO_BE_QUOTED,
            width=20,
        ),
        Field("Part", lambda links: _cable_parts(links[0], catalog), width=27),
        Field("Length, m", lambda links: _stock_length(links[0].stock_length_m), "right", 11),
        Field("Longest run, m", lambda links: grouped(max(link.length_m for link in links), 1), "right", 13),
        Field("Number", lambda links: grouped(len(links)), "right", 12),
    ]
    slack = words.percent(SLACK_FRACTION)
    return record_table(
        "cables",
        "Cables by network",
        order,
        fields,
        group=lambda links: words.capital(links[0].network.network),
        totals=[row("All cables", "", "", "", "", grouped(plan.n_links), kind="total")],
        note=f"A run is measured from port to port, with {slack} slack; the cable is the shortest that reaches.",
    )


def _cable_parts(link: Connection, catalog: Catalog) -> str | Cell:
    parts = [f"{words.pieces(number)}{catalog.item(item).name}" for item, number in link.cable.items]
    return ", ".join(parts) if parts else Cell("none in the catalogue", is_muted=True)


def _stock_length(length_m: float | None) -> str | Cell:
    return plain(length_m) if length_m is not None else Cell("to length", is_muted=True)
