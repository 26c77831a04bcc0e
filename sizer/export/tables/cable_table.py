"""The cable list of a plan: every cable with both its ends, for the people who pull them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from sizer.base.quantities import grouped
from sizer.catalog.items import Item
from sizer.catalog.labels import capital
from sizer.catalog.model import Catalog
from sizer.export.file_names import TO_BE_QUOTED
from sizer.export.tables.table import Number, Sheet, SheetColumn, csv_bytes, record_sheet, semicolon_list
from sizer.physical.networks.addresses import Address, address_plan
from sizer.physical.plan import Connection, End, Plan
from sizer.physical.roles import NetworkPlane, NetworkRole
from sizer.present.text.plan import notes_text, question_text
from sizer.sizing.result import SizingResult


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
_NOTES = (
    "A-U and Z-U are the lowest rack unit of the device, counted from the bottom.",
    "Each label names its own end first.",
    "The routed length includes slack; the cable length is that of the part.",
    "The colour marks the network: on the jacket, or on the labels where a cable comes in one colour only.",
)


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
        )


def cables_csv(result: SizingResult, catalog: Catalog) -> bytes:
    """Cable list of the documented design as a CSV file; see :func:`cable_sheet`.

    UTF-8 with a byte-order mark. Text that a spreadsheet would calculate gets an apostrophe in front.
    """
    sheet = cable_sheet(result.design.plan, catalog)
    return csv_bytes(sheet.heads, sheet.rows)


def cable_sheet(plan: Plan, catalog: Catalog) -> Sheet:
    """Point-to-point list of all cables except power cords.

    The names of the columns of the two ends are those that cable validation tools look for.
    """
    hosts = {device.name for device in plan.devices if device.category != "network"}
    cables = [
        _Cable(link, tuple((catalog.item(item), quantity) for item, quantity in link.cable.items))
        for link in plan.connections
    ]
    columns: tuple[SheetColumn[_Cable], ...] = (
        SheetColumn("Cable", lambda cable: cable.link.id),
        SheetColumn("Network", lambda cable: str(cable.link.network)),
        *_end_columns("A", lambda cable: cable.link.a, hosts),
        *_end_columns("Z", lambda cable: cable.link.z, hosts),
        SheetColumn("Medium", lambda cable: _MEDIA.get(cable.link.medium, cable.link.medium)),
        SheetColumn("Speed", lambda cable: cable.link.kind.name),
        # Rounded up to a tenth of a metre.
        Number("Routed length (m)", lambda cable: math.ceil(cable.link.length_m * 10 - 1e-9) / 10),
        Number("Cable length (m)", lambda cable: cable.link.stock_length_m),
        SheetColumn("SKU", lambda cable: cable.skus),
        SheetColumn("Item", lambda cable: cable.names),
        SheetColumn("Colour", lambda cable: cable_colour(cable.link.network).name),
        SheetColumn("A label", lambda cable: f"{port_label(cable.link.a)} / {port_label(cable.link.z)}"),
        SheetColumn("Z label", lambda cable: f"{port_label(cable.link.z)} / {port_label(cable.link.a)}"),
        SheetColumn("Note", lambda cable: cable.note),
    )
    return record_sheet("Cables", cables, columns, _NOTES)


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
    total = f"{grouped(sum(counts.values()))} cables, without power cords."
    return record_sheet("Cables", kinds, columns, (total,))


def _end_columns(side: str, end: Callable[[_Cable], End], hosts: set[str]) -> tuple[SheetColumn[_Cable], ...]:
    """Columns of one end of a cable; "Switch" and "Host" are the types that cable validation tools know."""
    return (
        SheetColumn(f"{side}-Rack", lambda cable: end(cable).rack),
        Number(f"{side}-U", lambda cable: end(cable).unit or None),
        SheetColumn(f"{side}-Node Name", lambda cable: end(cable).device),
        SheetColumn(f"{side}-Type", lambda cable: "Host" if end(cable).device in hosts else "Switch"),
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
        Number("VLAN", lambda address: subnets[address.subnet].vlan),
        SheetColumn("Address", lambda address: str(address.address)),
        Number("Prefix length", lambda address: subnets[address.subnet].network.prefixlen),
    )
    sheet = record_sheet("Addresses", plan.addresses, columns)
    return csv_bytes(sheet.heads, sheet.rows)
