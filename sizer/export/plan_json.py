"""The building plan inside the design document: places and counts. The cable list has it cable by cable."""

import math
from collections import Counter
from fractions import Fraction

from sizer.base.formats.json_document import fields_of
from sizer.physical.plan import PlacedDevice, PlacedRack, Plan
from sizer.present.text.plan import note_text, question_text


def plan_content(plan: Plan) -> dict[str, object]:
    """Racks with their devices, links of each network and cables by item.

    Devices of a rack that are alike share their role, item and status; ``units`` gives each its lowest rack unit,
    counted from 1 at the bottom.
    """
    links: Counter[str] = Counter()
    items: dict[str, Fraction] = {}
    for link in plan.connections:
        links[str(link.network)] += 1
        for item, pieces in link.cable.items:
            items[item] = items.get(item, Fraction(0)) + pieces
    return {
        "questions": [question_text(question) for question in plan.questions],
        "warnings": [note_text(note) for note in plan.warnings],
        "racks": [_rack(rack) for rack in plan.racks],
        "links": links,
        "cable_items": {item: math.ceil(pieces) for item, pieces in items.items()},
    }


def _rack(rack: PlacedRack) -> dict[str, object]:
    return fields_of(
        rack,
        *("name", "item", "is_existing"),
        row=rack.row + 1,
        column=rack.column + 1,
        weight_kg=round(rack.weight_kg, 3),
        weight_is_complete=not rack.has_unknown_weight,
        power_typical_w=round(rack.typical_w, 3),
        power_max_w=round(rack.max_w, 3),
        power_is_complete=not rack.has_unknown_power,
        devices=_devices(rack.devices),
    )


def _devices(devices: tuple[PlacedDevice, ...]) -> list[dict[str, object]]:
    alike: dict[tuple[str, str, str], dict[str, int]] = {}
    for device in devices:
        alike.setdefault((device.role, device.item, device.status), {})[device.name] = device.unit
    return [
        {"role": role, "item": item, "status": status, "units": units} for (role, item, status), units in alike.items()
    ]
