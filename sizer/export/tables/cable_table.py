"""The cable list of a plan: every cable with both its ends, for the people who pull them."""

import math
from collections.abc import Iterable

from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.export.tables.cable_colours import cable_colour
from sizer.export.tables.csv_text import csv_bytes
from sizer.export.tables.table import Row, Sheet
from sizer.export.text import TO_BE_QUOTED
from sizer.physical.plan import Connection, End, Plan
from sizer.present.plan_text import question_text
from sizer.sizing.result import SizingResult

_MEDIA = {"dac": "DAC", "aoc": "AOC", "copper": "twisted pair", "transceiver": "transceivers and fibre"}


def cables_csv(result: SizingResult, catalog: Catalog) -> bytes:
    """Cable list of the documented design as a CSV file; see :func:`cable_sheet`.

    Returns
    -------
    bytes
        UTF-8 with a byte-order mark. Text that a spreadsheet would calculate gets an apostrophe in front.
    """
    sheet = cable_sheet(result.design.plan, catalog)
    return csv_bytes(sheet.heads, sheet.rows)


def cable_sheet(plan: Plan, catalog: Catalog) -> Sheet:
    """Point-to-point list of all cables, power cords excepted.

    The names of the columns of the two ends are those that cable validation tools look for.
    """
    heads = (
        "Cable",
        "Network",
        *("A-Rack", "A-U", "A-Node Name", "A-Type", "A-Port"),
        *("Z-Rack", "Z-U", "Z-Node Name", "Z-Type", "Z-Port"),
        "Medium",
        "Speed",
        "Routed length (m)",
        "Cable length (m)",
        "SKU",
        "Item",
        "Colour",
        "A label",
        "Z label",
        "Note",
    )
    numeric = frozenset({"A-U", "Z-U", "Routed length (m)", "Cable length (m)"})
    roles = {device.name: device.category for device in plan.devices}
    rows = tuple(_cable_row(link, roles, catalog) for link in plan.connections)
    notes = (
        "A-U and Z-U are the lowest rack unit of the device, counted from the bottom.",
        "Each label names its own end first.",
        "The routed length has the slack in it; the cable length is that of the part.",
        "The colour marks the network: on the jacket, or on the labels where a cable comes in one colour only.",
    )
    return Sheet("Cables", heads, rows, numeric, notes)


def _cable_row(link: Connection, categories: dict[str, str], catalog: Catalog) -> Row:
    parts = [(catalog.item(item), pieces) for item, pieces in link.cable.items]
    near, far = port_label(link.a), port_label(link.z)
    notes = (
        link.cable.note,
        f"ask the vendor: {question_text(link.cable.question)}" if link.cable.question is not None else "",
        "" if link.a.item else "far end by others",
    )
    return (
        link.id,
        str(link.network),
        *_end_cells(link.a, categories),
        *_end_cells(link.z, categories),
        _MEDIA.get(link.medium, link.medium),
        kind_name(link.kind),
        math.ceil(link.length_m * 10 - 1e-9) / 10,
        link.stock_length_m,
        _counted((item.skus[0].value, pieces) for item, pieces in parts if item.skus),
        _counted((item.name, pieces) for item, pieces in parts) or TO_BE_QUOTED,
        cable_colour(link.network).name,
        f"{near} / {far}",
        f"{far} / {near}",
        "; ".join(note for note in notes if note),
    )


def _end_cells(end: End, categories: dict[str, str]) -> Row:
    # The two words that cable validation tools know.
    kind = "Switch" if categories.get(end.device, "network") == "network" else "Host"
    return (end.rack, end.unit or None, end.device, kind, end.port)


def _counted(parts: Iterable[tuple[str, int]]) -> str:
    """'EDR copper cable, 2 m', or '2 × transceiver + 1 × fibre'."""
    found = list(parts)
    if len(found) == 1 and found[0][1] == 1:
        return found[0][0]
    return " + ".join(f"{pieces} × {name}" for name, pieces in found)


def port_label(end: End) -> str:
    """Device and port as a label prints them."""
    return f"{end.device}:{end.port}"
