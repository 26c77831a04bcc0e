"""The building plan inside the design document: places and counts. The cable list has it cable by cable."""

from collections import Counter

from sizer.base.formats.json_document import fields_of
from sizer.physical.plan import CABLE_CATEGORY, PlacedDevice, PlacedRack, Plan
from sizer.present.text.plan import note_text, question_text


def plan_content(plan: Plan) -> dict[str, object]:
    """Racks with their devices, links of each network and cables by item.

    Devices of a rack that are alike share their role, item and status; ``units`` gives each its lowest rack unit,
    counted from 1 at the bottom.
    """
    links: Counter[str] = Counter()
    for link in plan.connections:
        links[str(link.network)] += 1
    items: Counter[str] = Counter()
    for part in plan.components:
        if part.category == CABLE_CATEGORY:
            items[part.item] += int(part.quantity[0])
    return {
        "questions": [question_text(question) for question in plan.questions],
        "warnings": [note_text(note) for note in plan.warnings],
        "racks": [_rack(rack) for rack in plan.racks],
        "links": links,
        "cable_items": items,
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
