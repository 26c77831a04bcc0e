"""The building plan as plain tables, made once: workbook, CSV files and app only write them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from sizer.base.quantities import grouped
from sizer.catalog.items import Item
from sizer.catalog.labels import capital
from sizer.catalog.links import PowerInlet
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Cable
from sizer.export.files import TO_BE_QUOTED
from sizer.export.tables.table import AT_LEAST, Number, Row, Sheet, SheetColumn, csv_bytes, record_sheet, semicolon_list
from sizer.physical.networks.addresses import Address, address_plan
from sizer.physical.plan import Connection, End, PlacedDevice, PlacedRack, Plan
from sizer.physical.racks.feeds import Inlet, PowerFeed, feeds
from sizer.physical.racks.positions import unit_runs
from sizer.physical.racks.power import heat_btu_per_h
from sizer.physical.roles import NetworkPlane, NetworkRole
from sizer.present.facility_tables import facility_table
from sizer.present.text.plan import notes_text, question_text
from sizer.sizing.result import PlannedYear, SizingResult


@dataclass(frozen=True)
class CableColour:
    """A colour that jackets or labels are sold in."""

    name: str
    code: str  # RRGGBB in small letters


_ORANGE = CableColour("orange", "ff8c00")
_RED = CableColour("red", "d62728")
_BLACK = CableColour("black", "222222")
_GREY = CableColour("grey", "8a8f98")
_WHITE = CableColour("white", "f2f2f2")
# Rails of a compute fabric that is kept apart, rail 1 first; no server of the catalogue has more than ten ports.
_RAILS = (
    CableColour("blue", "1f77b4"),
    CableColour("green", "2ca02c"),
    CableColour("yellow", "ffd500"),
    CableColour("violet", "7b3fa0"),
    CableColour("turquoise", "17becf"),
    CableColour("pink", "e377c2"),
    CableColour("brown", "8c564b"),
    CableColour("lime", "a6d854"),
    CableColour("navy", "1b2a6b"),
    CableColour("beige", "e5c494"),
)
_NETWORKS = {
    NetworkPlane(NetworkRole.COMPUTE): _RAILS[0],
    NetworkPlane(NetworkRole.STORAGE): _ORANGE,
    NetworkPlane(NetworkRole.STORAGE_BACK_END, side="a"): _RED,
    NetworkPlane(NetworkRole.STORAGE_BACK_END, side="b"): _BLACK,
    NetworkPlane(NetworkRole.IN_BAND): _RAILS[1],
    NetworkPlane(NetworkRole.MANAGEMENT): _GREY,
}


def cable_colour(network: NetworkPlane) -> CableColour:
    """Colour of the cables of a network or one of its planes."""
    return _RAILS[(network.rail - 1) % len(_RAILS)] if network.rail else _NETWORKS.get(network, _WHITE)


_MEDIA = {"dac": "DAC", "aoc": "AOC", "copper": "twisted pair", "transceiver": "transceivers and fibre"}
_COLOUR_NOTE = "The colour marks the network: on the jacket, or on the labels where a cable comes in one colour only."


@dataclass(frozen=True)
class _Cable:
    """A cable with the parts that it consists of."""

    link: Connection
    parts: tuple[tuple[Item, Fraction], ...]  # and their quantities

    @property
    def skus(self) -> str:
        return _with_quantities((item.skus[0].value, quantity) for item, quantity in self.parts if item.skus)

    @property
    def names(self) -> str:
        return _with_quantities((item.name, quantity) for item, quantity in self.parts) or TO_BE_QUOTED

    @property
    def note(self) -> str:
        choice = self.link.cable
        return semicolon_list(
            notes_text(choice.notes),
            f"ask the vendor: {question_text(choice.question)}" if choice.question is not None else "",
            "" if self.link.a.item else "far end provided by others",
            "one leg of the splitter stays free: cap and label it" if self.splits and self.parts[0][1] == 1 else "",
        )

    @property
    def splits(self) -> int:
        """Ports of a cage that one whole cable serves, where these are several; else 0."""
        first = self.parts[0][0] if self.parts and not self.link.cable.modules else None
        return first.ports_each if isinstance(first, Cable) and first.ports_each > 1 else 0

    def cage(self, side: int) -> str:
        """Cage and port in it as twin-port devices are labelled, "2/1"; "" where a cage has one port."""
        ends = self.link.cable.modules
        each = ends[side][1] if ends else self.splits * side  # a splitter's plug is the switch's
        number = "".join(filter(str.isdigit, (self.link.a, self.link.z)[side].port.rpartition("-")[2]))
        return f"{(int(number) - 1) // each + 1}/{(int(number) - 1) % each + 1}" if each > 1 and number else ""


def cables_csv(result: SizingResult, catalog: Catalog) -> bytes:
    """Point-to-point list of all cables of the documented design except power cords, as a CSV file.

    The names of the columns of the two ends are those that cable validation tools look for; each label names its own
    end first. UTF-8 with a byte-order mark. Text that a spreadsheet would calculate gets an apostrophe in front.
    """
    plan = result.design.plan
    switches = {device.name for device in plan.devices if device.category == "network"}
    cables = [
        _Cable(link, tuple((catalog.item(item), quantity) for item, quantity in link.cable.items))
        for link in plan.connections
    ]
    columns: tuple[SheetColumn[_Cable], ...] = (
        SheetColumn("Cable", lambda cable: cable.link.id),
        SheetColumn("Network", lambda cable: str(cable.link.network)),
        *_end_columns("A", lambda cable: cable.link.a, switches),
        SheetColumn("A-Cage", lambda cable: cable.cage(0)),
        *_end_columns("Z", lambda cable: cable.link.z, {*switches, *(cable.link.z.device for cable in cables)}),
        SheetColumn("Z-Cage", lambda cable: cable.cage(1)),
        SheetColumn("Medium", lambda cable: _MEDIA.get(cable.link.medium, cable.link.medium)),
        SheetColumn("Speed", lambda cable: cable.link.kind.name),
        # Rounded up to a tenth of a metre.
        Number("Routed length with slack (m)", lambda cable: math.ceil(cable.link.length_m * 10 - 1e-9) / 10),
        Number("Cable length (m)", lambda cable: cable.link.stock_length_m),
        SheetColumn("SKU", lambda cable: cable.skus),
        SheetColumn("Item", lambda cable: cable.names),
        SheetColumn("Colour", lambda cable: cable_colour(cable.link.network).name),
        SheetColumn("A label", lambda cable: f"{port_label(cable.link.a)} / {port_label(cable.link.z)}"),
        SheetColumn("Z label", lambda cable: f"{port_label(cable.link.z)} / {port_label(cable.link.a)}"),
        SheetColumn("Note", lambda cable: cable.note),
    )
    sheet = record_sheet("Cables", cables, columns)
    return csv_bytes(sheet.heads, sheet.rows)


@dataclass(frozen=True)
class _CableKind:
    """Equal cables of one network."""

    cable: _Cable
    number: int


def cable_summary(plan: Plan, catalog: Catalog) -> Sheet:
    """Cables by network and kind with their number, except power cords."""
    counts: Counter[tuple[object, ...]] = Counter()
    first: dict[tuple[object, ...], _Cable] = {}
    for link in plan.connections:
        key = (link.network, link.medium, link.kind, link.stock_length_m, link.cable.items)
        counts[key] += 1
        first.setdefault(
            key, _Cable(link, tuple((catalog.item(item), quantity) for item, quantity in link.cable.items))
        )
    kinds = [_CableKind(first[key], number) for key, number in counts.items()]
    columns: tuple[SheetColumn[_CableKind], ...] = (
        SheetColumn("Network", lambda kind: capital(str(kind.cable.link.network))),
        SheetColumn("Item", lambda kind: kind.cable.names),
        SheetColumn("SKU", lambda kind: kind.cable.skus),
        SheetColumn("Medium", lambda kind: _MEDIA.get(kind.cable.link.medium, kind.cable.link.medium)),
        SheetColumn("Speed", lambda kind: kind.cable.link.kind.name),
        Number("Cable length (m)", lambda kind: kind.cable.link.stock_length_m),
        Number("Number", lambda kind: kind.number),
        SheetColumn("Colour", lambda kind: cable_colour(kind.cable.link.network).name),
    )
    total = f"{grouped(sum(counts.values()))} cables, without power cords; cables.csv lists each with its ends."
    return record_sheet("Cables", kinds, columns, (total, _COLOUR_NOTE))


def _end_columns(side: str, end: Callable[[_Cable], End], switches: set[str]) -> tuple[SheetColumn[_Cable], ...]:
    """Columns of one end of a cable; "Switch" and "Host" are the types that cable validation tools know."""
    return (
        SheetColumn(f"{side}-Rack", lambda cable: end(cable).rack),
        Number(f"{side}-U", lambda cable: end(cable).unit or None),
        SheetColumn(f"{side}-Node Name", lambda cable: end(cable).device),
        SheetColumn(f"{side}-Type", lambda cable: "Switch" if end(cable).device in switches else "Host"),
        SheetColumn(f"{side}-Port", lambda cable: end(cable).port),
    )


def _with_quantities(parts: Iterable[tuple[str, Fraction]]) -> str:
    """'EDR copper cable, 2 m', or '2 × transceiver + 1 × fibre'."""
    listed = list(parts)
    if len(listed) == 1 and listed[0][1] == 1:
        return listed[0][0]
    return " + ".join(f"{'½' if quantity == Fraction(1, 2) else quantity} × {name}" for name, quantity in listed)


def port_label(end: End) -> str:
    """Device and port as a label prints them."""
    return f"{end.device}:{end.port}"


def addresses_csv(result: SizingResult) -> bytes:
    """Proposed address of every port of the documented design as a CSV file.

    UTF-8 with a byte-order mark. Text that a spreadsheet would calculate gets an apostrophe in front.
    """
    plan = address_plan(result.design.plan)
    subnets = {subnet.name: subnet for subnet in plan.subnets}
    columns: tuple[SheetColumn[Address], ...] = (
        SheetColumn("Device", lambda address: address.device),
        SheetColumn("Port", lambda address: address.port),
        SheetColumn("Network", lambda address: address.subnet),
        Number("VLAN", lambda address: subnets[address.subnet].vlan or None),
        SheetColumn("Address", lambda address: str(address.address)),
        Number("Prefix length", lambda address: subnets[address.subnet].network.prefixlen),
        SheetColumn("Gateway", lambda address: str(subnets[address.subnet].gateway or "")),
    )
    sheet = record_sheet("Addresses", plan.addresses, columns)
    return csv_bytes(sheet.heads, sheet.rows)


@dataclass(frozen=True)
class _RackLoad:
    """A rack with its feeds by side and the units that its devices take."""

    rack: PlacedRack
    feeds: dict[str, list[PowerFeed]]  # by side; empty in an existing rack, whose feeds the customer provides
    used_u: int
    tile_kg: float | None


def rack_sheet(plan: Plan) -> Sheet:
    """Rack by rack: place, units, load on the floor, draw, heat, feeds, outlets and blanking panels."""
    sides = _sides(plan)
    columns: tuple[SheetColumn[_RackLoad], ...] = (
        SheetColumn("Rack", lambda load: load.rack.name),
        Number("Row", lambda load: load.rack.row + 1),
        Number("Column", lambda load: load.rack.column + 1),
        SheetColumn("Kind", lambda load: "existing" if load.rack.is_existing else "new"),
        Number("Height (U)", lambda load: load.rack.height_u),
        Number("Used (U)", lambda load: load.used_u),
        Number("Empty (U)", lambda load: len(load.rack.empty_units)),
        Number("Weight (kg)", lambda load: round(load.rack.weight_kg, 1)),
        Number("Per floor tile (kg)", lambda load: None if load.tile_kg is None else round(load.tile_kg, 1)),
        SheetColumn("Weight basis", lambda load: _precision(load.rack, is_partial=load.rack.has_unknown_weight)),
        Number("Typical (W)", lambda load: round(load.rack.typical_w, 1)),
        Number("Maximum (W)", lambda load: round(load.rack.max_w, 1)),
        Number("Heat (BTU/h)", lambda load: round(heat_btu_per_h(load.rack.max_w))),
        SheetColumn("Power basis", lambda load: _precision(load.rack, is_partial=load.rack.has_unknown_power)),
        *(column for side in sides for column in _side_columns(side)),
        *(column for kind in _outlet_kinds(plan) for column in _outlet_columns(plan, kind)),
        Number("PDUs", lambda load: len(load.rack.feeds)),
        Number("Blanking panels", lambda load: 0 if load.rack.is_existing else len(load.rack.empty_units)),
    )
    notes = (
        "Rows and columns of the room count from 1. A floor tile is 600 mm square.",
        "The weight excludes PDUs and cables. Of an existing rack, only what this design adds is counted.",
        "Load of A after a loss is the most that side A draws while another side is lost; its PDUs must carry it.",
    )
    return record_sheet("Racks", [_load(rack, plan, sides) for rack in plan.racks], columns, notes)


def _load(rack: PlacedRack, plan: Plan, sides: Sequence[str]) -> _RackLoad:
    used = sum(device.height_u for device in rack.devices)
    feeds = {side: [feed for feed in rack.feeds if feed.side == side] for side in sides}
    return _RackLoad(rack, feeds, used, plan.floor_tile_kg(rack))


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
    filling = "free" if rack.is_existing else "blanking panels"
    empty = [_Stretch(rack, lowest, count, None, filling) for lowest, count in unit_runs(rack.empty_units)]
    return sorted((*taken, *empty), key=lambda stretch: -stretch.lowest)


def facility_sheet(result: SizingResult, catalog: Catalog) -> Sheet:
    """What the room must supply, cool and support."""
    rows = facility_table(result, catalog).rows
    return Sheet(
        "Facility", ("Quantity", "Value"), tuple((*(cell.text for cell in row.cells),) for row in rows), frozenset()
    )


_UNKNOWN_INLETS = "number of inlets not known: ask the vendor; each feed is planned for the full draw"


@dataclass(frozen=True)
class PowerLink:
    """One inlet and its outlet."""

    device: PlacedDevice
    rack: PlacedRack
    inlet: Inlet
    side: str
    pdu: str  # unique name; "" in an existing rack, whose outlets the customer assigns
    outlet: int  # of its kind, from 1; 0 without a PDU
    kind: PowerInlet

    @property
    def outlet_name(self) -> str:
        """'C13-4', '' without a PDU."""
        return f"{self.kind.outlet}-{self.outlet}" if self.pdu else ""


def pdu_name(rack: PlacedRack, feed: PowerFeed) -> str:
    """Name of a PDU: 'R01-A1'."""
    return f"{rack.name}-{feed.name}"


def power_links(plan: Plan, catalog: Catalog) -> tuple[PowerLink, ...]:
    """Every inlet of every device installed from the start, rack by rack, from the bottom up."""
    pdu = plan.inputs.platform.pdu
    links: list[PowerLink] = []
    for rack in plan.racks:
        # An existing rack has feeds of its own; the same rule assigns inlets to them.
        strips = rack.feeds or feeds([(device.number, plan.device(device.item)) for device in rack.devices], 2, pdu)
        for feed in strips:
            used: Counter[str] = Counter()
            # From the bottom up, so that cords run level.
            for inlet in sorted(feed.inlets, key=lambda inlet: (plan.devices[inlet.device].unit, inlet.inlet)):
                used[inlet.kind] += 1
                strip, outlet = (pdu_name(rack, feed), used[inlet.kind]) if rack.feeds else ("", 0)
                kind = catalog.power_inlets[inlet.kind]
                links.append(PowerLink(plan.devices[inlet.device], rack, inlet, feed.side, strip, outlet, kind))
    return tuple(sorted(links, key=lambda link: (link.device.rack, link.device.unit, link.inlet.inlet)))


def power_sheet(plan: Plan, catalog: Catalog) -> Sheet:
    """Inlet by inlet: its outlet, and its draw while another side is lost."""
    links = power_links(plan, catalog)
    columns: tuple[SheetColumn[PowerLink], ...] = (
        SheetColumn("Rack", lambda link: link.rack.name),
        Number("U", lambda link: link.device.unit),
        SheetColumn("Device", lambda link: link.device.name),
        Number("Inlet", lambda link: link.inlet.inlet),
        SheetColumn("PDU", lambda link: link.pdu),
        SheetColumn("Side", lambda link: link.side),
        SheetColumn("Outlet kind", lambda link: link.kind.outlet),
        Number("Outlet", lambda link: link.outlet or None),
        Number("Draw, another side lost (W)", lambda link: known_watts(link.inlet.share_w)),
        SheetColumn("Cord", lambda link: f"{link.kind.outlet} to {link.kind.name}"),
        SheetColumn("Note", _note),
    )
    sheet = record_sheet(
        "Power", links, columns, ("Outlets of each kind count from 1 on each PDU, from the lowest device up.",)
    )
    powered = {link.device.number for link in links}
    unpowered: tuple[Row, ...] = tuple(
        (
            rack.name,
            device.unit,
            device.name,
            None,
            "",
            " and ".join(sorted({feed.side for feed in rack.feeds}) or ["A", "B"]) if device.power.max_w else "",
            "",
            None,
            known_watts(device.power.max_w),
            "",
            semicolon_list(_UNKNOWN_INLETS, draw_note(device)),
        )
        for rack in plan.racks
        for device in rack.devices
        if device.number not in powered
    )
    return replace(sheet, rows=sheet.rows + unpowered)


def _note(link: PowerLink) -> str:
    outlet = "" if link.pdu else "outlet of the rack's own feed, provided by others"
    return semicolon_list(outlet, draw_note(link.device))


def draw_note(device: PlacedDevice) -> str:
    """Note on the watts of a device; "" where they are known."""
    if device.power.is_known:
        return ""
    return "the draw is at least this" if device.power.max_w else "draw not known"


def known_watts(value: float) -> float | None:
    """Watts to a tenth; None where nothing is known of them. [W]"""
    return round(value, 1) if value else None


def plan_sheets(result: SizingResult, catalog: Catalog) -> tuple[Sheet, ...]:
    """Every table of the documented design's plan: cables, power, racks, elevations, facility, planned purchases.

    Cables are summed up by kind; who installs gets the list as a file.

    ``catalog``: names and part numbers of what the plan uses.
    """
    plan = result.design.plan
    return (
        cable_summary(plan, catalog),
        power_sheet(plan, catalog),
        rack_sheet(plan),
        elevation_sheet(plan, catalog),
        *((facility_sheet(result, catalog),) if plan.racks else ()),
        *((_years_sheet(result),) if result.planned_years else ()),
    )


def _years_sheet(result: SizingResult) -> Sheet:
    """What the growth plan buys in each year."""

    def price(year: PlannedYear, end: str) -> int | None:
        return round(getattr(year.cost, end)) if year.cost is not None and isfinite(year.cost.high) else None

    currency = result.request.currency
    columns: tuple[SheetColumn[PlannedYear], ...] = (
        Number("Year", lambda year: year.year),
        Number("Servers bought", lambda year: year.servers_bought),
        Number("Servers", lambda year: year.n_servers),
        Number("Storage nodes", lambda year: year.storage_nodes),
        Number(f"Price from, {currency}", lambda year: price(year, "low")),
        Number(f"Price to, {currency}", lambda year: price(year, "high")),
    )
    return record_sheet("Growth", result.planned_years, columns, ("Purchases of the growth plan.",))
