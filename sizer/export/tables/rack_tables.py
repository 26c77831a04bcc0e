"""Racks, their elevations and the totals of the room as tables."""

from collections.abc import Iterable, Sequence

from sizer.catalog.model import Catalog
from sizer.export.tables.power_table import draw_note, known_watts
from sizer.export.tables.table import AT_LEAST, Row, Sheet
from sizer.physical.plan import PlacedDevice, PlacedRack, Plan
from sizer.physical.racks.positions import unit_runs
from sizer.physical.racks.power import PowerFeed, energy_kwh_per_year, heat_btu_per_h
from sizer.workload.request import Site


def rack_sheet(plan: Plan) -> Sheet:
    """Rack by rack: place, units, load on the floor, draw, heat, feeds, outlets and blanking panels."""
    heads = (
        "Rack",
        "Row",
        "Column",
        "Kind",
        *("Height (U)", "Used (U)", "Reserved (U)", "Empty (U)"),
        *("Weight (kg)", "Per floor tile (kg)", "Weight is"),
        *("Typical (W)", "Maximum (W)", "Heat (BTU/h)", "Power is"),
        *("A alone (W)", "A carries (W)", "B alone (W)", "B carries (W)"),
        *("C13 used, A", "C13 used, B", "C13 of a side", "C19 used, A", "C19 used, B", "C19 of a side"),
        "PDUs",
        "Blanking panels",
    )
    text = {"Rack", "Kind", "Weight is", "Power is"}
    notes = (
        "Rows and columns of the room count from 1. A floor tile is 600 mm square.",
        "PDUs and cables are not in the weight. Of a rack that is there, only what this design adds is counted.",
        "A alone is what side A draws while B is lost; it must not exceed what its PDUs carry.",
        "Blanking panels also close the units that are reserved.",
    )
    return Sheet("Racks", heads, tuple(_rack_row(rack, plan) for rack in plan.racks), frozenset(heads) - text, notes)


def _rack_row(rack: PlacedRack, plan: Plan) -> Row:
    used = sum(device.height_u for device in rack.present)
    reserved = sum(device.height_u for device in rack.devices) - used
    tile_kg = plan.floor_tile_kg(rack)
    sides = {side: [feed for feed in rack.feeds if feed.side == side] for side in ("A", "B")}
    return (
        rack.name,
        rack.row + 1,
        rack.column + 1,
        "existing" if rack.is_existing else "new",
        rack.height_u,
        used,
        reserved,
        len(rack.empty_units) - reserved,
        round(rack.weight_kg, 1),
        None if tile_kg is None else round(tile_kg, 1),
        AT_LEAST if rack.has_unknown_weight or rack.is_existing else "known",
        round(rack.typical_w, 1),
        round(rack.max_w, 1),
        round(heat_btu_per_h(rack.max_w)),
        AT_LEAST if rack.has_unknown_power or rack.is_existing else "known",
        *(value for strips in sides.values() for value in _side_cells(strips)),
        *_outlet_cells(sides, "c13"),
        *_outlet_cells(sides, "c19"),
        len(rack.feeds),
        0 if rack.is_existing else len(rack.empty_units),
    )


def _side_cells(strips: Sequence[PowerFeed]) -> Row:
    """Draw while the other side is lost and what the PDUs carry; a rack that is there has none of ours."""
    if not strips:
        return (None, None)
    return (round(sum(feed.alone_w for feed in strips), 1), sum(feed.capacity_w for feed in strips))


def _outlet_cells(sides: dict[str, list[PowerFeed]], kind: str) -> Row:
    if not sides["A"]:
        return (None, None, None)
    there = sum(feed.outlets_c13 if kind == "c13" else feed.outlets_c19 for feed in sides["A"])
    return (*(sum(feed.used(kind) for feed in strips) for strips in sides.values()), there)


def elevation_sheet(plan: Plan, catalog: Catalog) -> Sheet:
    """What stands in every rack, from the top down, with the units that stay empty."""
    place = ("Rack", "Lowest U", "Highest U")
    heads = (*place, "Device", "Item", "Role", "Height (U)", "Status", "Maximum (W)", "Weight (kg)", "Note")
    numeric = frozenset({"Lowest U", "Highest U", "Height (U)", "Maximum (W)", "Weight (kg)"})
    rows = [row for rack in plan.racks for row in _elevation_rows(rack, catalog)]
    return Sheet("Elevations", heads, tuple(rows), numeric, ("Rack units count from the bottom.",))


def _elevation_rows(rack: PlacedRack, catalog: Catalog) -> list[Row]:
    rows = [_device_row(rack, device, catalog) for device in rack.devices]
    reserved = {
        unit
        for device in rack.devices
        if device.status == "reserved"
        for unit in range(device.unit, device.unit + device.height_u)
    }
    for low, count in unit_runs(unit for unit in rack.empty_units if unit not in reserved):
        what = "free" if rack.is_existing else "blanking panels"
        rows.append((rack.name, low, low + count - 1, "", what, "", count, "empty", 0.0, None, ""))
    return sorted(rows, key=lambda row: -int(row[1] or 0))


def _device_row(rack: PlacedRack, device: PlacedDevice, catalog: Catalog) -> Row:
    notes = (
        draw_note(device),
        "" if device.weight_kg is not None else "weight not known",
    )
    return (
        rack.name,
        device.unit,
        device.unit + device.height_u - 1,
        device.name,
        catalog.item(device.item).name,
        device.role,
        device.height_u,
        "new" if device.status == "computed" else device.status,
        known_watts(device.power.max_w),
        device.weight_kg,
        "; ".join(note for note in notes if note),
    )


def facility_sheet(plan: Plan, catalog: Catalog, site: Site) -> Sheet:
    """Totals for the people of the room."""
    present = [device for rack in plan.racks for device in rack.present]
    open_w = _names((one for one in present if not one.power.is_known), catalog)
    open_kg = _names((one for one in present if one.weight_kg is None), catalog)
    if plan.rack.weight_kg is None and plan.racks:
        open_kg = ", ".join(name for name in (open_kg, plan.rack.name) if name)
    power, weight = (AT_LEAST if text else "" for text in (open_w, open_kg))
    low_w = sum(device.power.low_w for device in present)
    typical_w = sum(rack.typical_w for rack in plan.racks)
    max_w = sum(rack.max_w for rack in plan.racks)
    pue = site.pue_ratio
    energy = energy_kwh_per_year(typical_w, pue or 1.0)
    energy_note = "IT equipment only, no PUE was given" if pue is None else f"PUE {pue:g}, at the typical draw"
    new = sum(not rack.is_existing for rack in plan.racks)
    beside = "" if new == len(plan.racks) else ", nor of what stands in the existing racks"
    rows: tuple[Row, ...] = (
        ("Draw, lower end of the brackets", power, round(low_w, 1), "W", ""),
        ("Draw, typical", power, round(typical_w, 1), "W", "stated, or the middle of a bracket"),
        ("Draw, maximum", power, round(max_w, 1), "W", "stated, or the upper end of a bracket"),
        ("Heat at the maximum", power, round(heat_btu_per_h(max_w)), "BTU/h", ""),
        ("Energy a year", power, round(energy), "kWh", energy_note),
        (
            "Weight",
            weight,
            round(sum(rack.weight_kg for rack in plan.racks), 1),
            "kg",
            f"without PDUs and cables{beside}",
        ),
        ("Racks, new", "", new, "", ""),
        ("Racks, existing", "", len(plan.racks) - new, "", ""),
        ("Rack units in use", "", sum(device.height_u for device in present), "U", ""),
        ("Cables", "", plan.n_links, "", "without power cords"),
    )
    notes = tuple(
        f"{what} not known, so the totals read “at least”: {names}."
        for what, names in (("Draw", open_w), ("Weight", open_kg))
        if names
    )
    return Sheet("Facility", ("Quantity", "Reads", "Value", "Unit", "Note"), rows, frozenset({"Value"}), notes)


def _names(devices: Iterable[PlacedDevice], catalog: Catalog) -> str:
    """Names of their items, each once."""
    return ", ".join(dict.fromkeys(catalog.item(device.item).name for device in devices))
