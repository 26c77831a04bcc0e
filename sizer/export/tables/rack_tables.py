"""Racks, their elevations and the totals of the room as tables."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sizer.catalog.model import Catalog
from sizer.export.tables.power_table import draw_note, known_watts
from sizer.export.tables.table import AT_LEAST, Number, Sheet, SheetColumn, record_sheet, semicolon_list
from sizer.physical.plan import PlacedDevice, PlacedRack, Plan
from sizer.physical.racks.feeds import PowerFeed
from sizer.physical.racks.positions import unit_runs
from sizer.physical.racks.power import energy_kwh_per_year, heat_btu_per_h
from sizer.physical.racks.site_rules import liquid_heat_w
from sizer.workload.request import Site


@dataclass(frozen=True)
class _RackLoad:
    """A rack with its feeds by side and the units that its devices take."""

    rack: PlacedRack
    feeds: dict[str, list[PowerFeed]]  # by side; empty in an existing rack, whose feeds the customer provides
    used_u: int
    reserved_u: int
    tile_kg: float | None


def rack_sheet(plan: Plan) -> Sheet:
    """Rack by rack: place, units, load on the floor, draw, heat, feeds, outlets and blanking panels."""
    columns: tuple[SheetColumn[_RackLoad], ...] = (
        SheetColumn("Rack", lambda load: load.rack.name),
        Number("Row", lambda load: load.rack.row + 1),
        Number("Column", lambda load: load.rack.column + 1),
        SheetColumn("Kind", lambda load: "existing" if load.rack.is_existing else "new"),
        Number("Height (U)", lambda load: load.rack.height_u),
        Number("Used (U)", lambda load: load.used_u),
        Number("Reserved (U)", lambda load: load.reserved_u),
        Number("Empty (U)", lambda load: len(load.rack.empty_units) - load.reserved_u),
        Number("Weight (kg)", lambda load: round(load.rack.weight_kg, 1)),
        Number("Per floor tile (kg)", lambda load: None if load.tile_kg is None else round(load.tile_kg, 1)),
        SheetColumn("Weight basis", lambda load: _precision(load.rack, is_partial=load.rack.has_unknown_weight)),
        Number("Typical (W)", lambda load: round(load.rack.typical_w, 1)),
        Number("Maximum (W)", lambda load: round(load.rack.max_w, 1)),
        Number("Heat (BTU/h)", lambda load: round(heat_btu_per_h(load.rack.max_w))),
        SheetColumn("Power basis", lambda load: _precision(load.rack, is_partial=load.rack.has_unknown_power)),
        *(column for side in _sides(plan) for column in _side_columns(side)),
        *(column for kind in _outlet_kinds(plan) for column in _outlet_columns(plan, kind)),
        Number("PDUs", lambda load: len(load.rack.feeds)),
        Number("Blanking panels", lambda load: 0 if load.rack.is_existing else len(load.rack.empty_units)),
    )
    notes = (
        "Rows and columns of the room count from 1. A floor tile is 600 mm square.",
        "The weight excludes PDUs and cables. Of an existing rack, only what this design adds is counted.",
        "Load of A after a loss is the most that side A draws while another side is lost; its PDUs must carry it.",
        "Blanking panels also close the reserved units.",
    )
    return record_sheet("Racks", [_load(rack, plan) for rack in plan.racks], columns, notes)


def _load(rack: PlacedRack, plan: Plan) -> _RackLoad:
    used = sum(device.height_u for device in rack.present)
    reserved = sum(device.height_u for device in rack.devices) - used
    feeds = {side: [feed for feed in rack.feeds if feed.side == side] for side in _sides(plan)}
    return _RackLoad(rack, feeds, used, reserved, plan.floor_tile_kg(rack))


def _sides(plan: Plan) -> list[str]:
    """Sides of the racks; A and B where no rack of the design has feeds."""
    return sorted({"A", "B", *(feed.side for rack in plan.racks for feed in rack.feeds)})


def _outlet_kinds(plan: Plan) -> list[str]:
    """Kinds of inlet that the PDUs of the design have outlets for."""
    pdus = [group.pdu for group in plan.rack_groups if not group.is_delivered]
    return list(dict.fromkeys(kind for pdu in pdus for kind in pdu.outlets))


def _precision(rack: PlacedRack, *, is_partial: bool) -> str:
    return AT_LEAST if is_partial or rack.is_existing else "known"


def _side_columns(side: str) -> tuple[SheetColumn[_RackLoad], ...]:
    """Draw while the other side is lost, and capacity of the PDUs."""

    def total(load: _RackLoad, value: Callable[[PowerFeed], float]) -> float | None:
        return sum(map(value, load.feeds[side])) if load.feeds[side] else None

    def alone(load: _RackLoad) -> float | None:
        draw = total(load, lambda feed: feed.alone_w)
        return None if draw is None else round(draw, 1)

    return (
        Number(f"{side} after a loss (W)", alone),
        Number(f"{side} capacity (W)", lambda load: total(load, lambda feed: feed.capacity_w)),
    )


def _outlet_columns(plan: Plan, kind: str) -> tuple[SheetColumn[_RackLoad], ...]:
    """Outlets of a kind that are used on each side, and those that one side has."""

    def used_on(side: str) -> Callable[[_RackLoad], int | None]:
        return lambda load: sum(feed.used(kind) for feed in load.feeds[side]) if load.feeds[side] else None

    def of_a_side(load: _RackLoad) -> int | None:
        outlets = [dict(feed.outlets).get(kind, 0) for feed in load.feeds["A"]]
        return sum(outlets) if outlets else None

    name = plan.catalog.power_inlets[kind].outlet
    return (
        *(Number(f"{name} used, {side}", used_on(side)) for side in _sides(plan)),
        Number(f"{name} of a side", of_a_side),
    )


@dataclass(frozen=True)
class _Stretch:
    """Units of a rack that one device takes, or that stay empty."""

    rack: PlacedRack
    lowest: int
    height_u: int
    device: PlacedDevice | None
    name: str  # of the item

    @property
    def status(self) -> str:
        if self.device is None:
            return "empty"
        return "new" if self.device.status == "computed" else self.device.status

    @property
    def note(self) -> str:
        if self.device is None:
            return ""
        return semicolon_list(draw_note(self.device), "" if self.device.weight_kg is not None else "weight not known")


def elevation_sheet(plan: Plan, catalog: Catalog) -> Sheet:
    """Contents of every rack, from the top down, with the units that stay empty."""
    columns: tuple[SheetColumn[_Stretch], ...] = (
        SheetColumn("Rack", lambda part: part.rack.name),
        Number("Lowest U", lambda part: part.lowest),
        Number("Highest U", lambda part: part.lowest + part.height_u - 1),
        SheetColumn("Device", lambda part: "" if part.device is None else part.device.name),
        SheetColumn("Item", lambda part: part.name),
        SheetColumn("Role", lambda part: "" if part.device is None else str(part.device.role)),
        Number("Height (U)", lambda part: part.height_u),
        SheetColumn("Status", lambda part: part.status),
        Number("Maximum (W)", lambda part: 0.0 if part.device is None else known_watts(part.device.power.max_w)),
        Number("Weight (kg)", lambda part: None if part.device is None else part.device.weight_kg),
        SheetColumn("Note", lambda part: part.note),
    )
    stretches = [stretch for rack in plan.racks for stretch in _stretches(rack, catalog)]
    return record_sheet("Elevations", stretches, columns, ("Rack units count from the bottom.",))


def _stretches(rack: PlacedRack, catalog: Catalog) -> list[_Stretch]:
    taken = [
        _Stretch(rack, device.unit, device.height_u, device, catalog.item(device.item).name) for device in rack.devices
    ]
    reserved = {
        unit
        for device in rack.devices
        if device.status == "reserved"
        for unit in range(device.unit, device.unit + device.height_u)
    }
    filling = "free" if rack.is_existing else "blanking panels"
    empty = [
        _Stretch(rack, lowest, count, None, filling)
        for lowest, count in unit_runs(unit for unit in rack.empty_units if unit not in reserved)
    ]
    return sorted((*taken, *empty), key=lambda stretch: -stretch.lowest)


class _Total(NamedTuple):
    """A line of the sheet for the facility."""

    quantity: str
    value: float
    unit: str = ""
    note: str = ""
    is_partial: bool = False  # some devices have no known value


_FACILITY_COLUMNS: tuple[SheetColumn[_Total], ...] = (
    SheetColumn("Quantity", lambda total: total.quantity),
    SheetColumn("Reads", lambda total: AT_LEAST if total.is_partial else ""),
    Number("Value", lambda total: total.value),
    SheetColumn("Unit", lambda total: total.unit),
    SheetColumn("Note", lambda total: total.note),
)


def facility_sheet(plan: Plan, catalog: Catalog, site: Site) -> Sheet:
    """Totals for the operators of the room."""
    present = [device for rack in plan.racks for device in rack.present]
    open_w = _names((device for device in present if not device.power.is_known), catalog)
    open_kg = _names((device for device in present if device.weight_kg is None), catalog)
    if plan.rack.weight_kg is None and plan.racks:
        open_kg = ", ".join(name for name in (open_kg, plan.rack.name) if name)
    notes = tuple(
        f"{quantity} not known, so the totals read “at least”: {names}."
        for quantity, names in (("Draw", open_w), ("Weight", open_kg))
        if names
    )
    totals = (*_power_totals(plan, site, bool(open_w)), *_heat_totals(plan), *_room_totals(plan, bool(open_kg)))
    return record_sheet("Facility", totals, _FACILITY_COLUMNS, notes)


def _power_totals(plan: Plan, site: Site, is_partial: bool) -> Iterator[_Total]:
    low_w = sum(device.power.low_w for rack in plan.racks for device in rack.present)
    typical_w = sum(rack.typical_w for rack in plan.racks)
    max_w = sum(rack.max_w for rack in plan.racks)
    pue = site.pue_ratio
    energy = energy_kwh_per_year(typical_w, pue or 1.0)
    energy_note = "IT equipment only; the request gives no PUE" if pue is None else f"PUE {pue:g}, at the typical draw"
    stated = "stated, or the middle of a bracket"
    yield _Total("Sum of the lower estimates of the draw", round(low_w, 1), "W", "", is_partial)
    yield _Total("Draw, typical", round(typical_w, 1), "W", stated, is_partial)
    yield _Total("Draw, maximum", round(max_w, 1), "W", "stated, or the upper end of a bracket", is_partial)
    yield _Total("Heat at the maximum", round(heat_btu_per_h(max_w)), "BTU/h", "", is_partial)
    yield _Total("Energy per year", round(energy), "kWh", energy_note, is_partial)


def _heat_totals(plan: Plan) -> Iterator[_Total]:
    """Heat by what carries it away, where anything is liquid-cooled."""
    present = [device for rack in plan.racks for device in rack.present]
    liquid_w = sum(liquid_heat_w(plan.device(device.item)) for device in present)
    if liquid_w:
        air_w = sum(device.power.max_w for device in present) - liquid_w
        yield _Total("Heat to the coolant at the maximum", round(liquid_w, 1), "W")
        yield _Total("Heat to the air at the maximum", round(air_w, 1), "W")


def _room_totals(plan: Plan, is_partial: bool) -> Iterator[_Total]:
    weight_kg = sum(rack.weight_kg for rack in plan.racks)
    new = sum(not rack.is_existing for rack in plan.racks)
    note = "without PDUs and cables" if new == len(plan.racks) else "without PDUs, cables and existing equipment"
    units = sum(device.height_u for rack in plan.racks for device in rack.present)
    yield _Total("Weight", round(weight_kg, 1), "kg", note, is_partial)
    yield _Total("Racks, new", new)
    yield _Total("Racks, existing", len(plan.racks) - new)
    yield _Total("Rack units in use", units, "U")
    yield _Total("Cables", plan.n_links, "", "without power cords")


def _names(devices: Iterable[PlacedDevice], catalog: Catalog) -> str:
    """Names of their items, each once."""
    return ", ".join(dict.fromkeys(catalog.item(device.item).name for device in devices))
