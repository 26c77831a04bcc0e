"""The room from above: rows and columns of racks, what each draws, weighs and mainly holds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sizer.base.quantities import NARROW_SPACE, by_count, si, significant
from sizer.drawings import racks
from sizer.drawings.palette import COLUMN_PX, LANDSCAPE_PX
from sizer.drawings.shapes import LINE_SIZE, Box, Drawing, FilledBar, Label, small_room, text_width
from sizer.physical.plan import PlacedRack, Plan
from sizer.physical.racks.positions import AISLE_M

# More racks side by side than these take a landscape page.
_MAX_PORTRAIT = 12
# Most height of all rows, on a portrait and on a landscape page.
_PORTRAIT_H, _LANDSCAPE_H = 660.0, 520.0
_ROW_LABEL_W, _GAP, _LEGEND_H = 34.0, 3.0, 26.0
_MAX_W = 92.0
_LINE = 12.6
# The outline of a box is half outside of it.
_EDGE = 1.0


@dataclass(frozen=True)
class _Tile:
    """How large one rack is drawn, and how many lines it says."""

    width: float
    height: float
    aisle: float
    lines: int


def room(plan: Plan) -> Drawing:
    """Drawing of all racks of a plan in their places."""
    rows = max(rack.row for rack in plan.racks) + 1
    columns = max(rack.column for rack in plan.racks) + 1
    width = COLUMN_PX if columns <= _MAX_PORTRAIT else LANDSCAPE_PX
    left = _ROW_LABEL_W if rows > 1 else _EDGE
    tile = _tile(plan, rows, columns, (width - left) / columns - _GAP)
    boxes = [_box(rack, left, tile) for rack in plan.racks]
    right = left + columns * (tile.width + _GAP) - _GAP
    labels = []
    for row in range(rows):
        bottom = _EDGE + row * (tile.height + tile.aisle) + tile.height
        if rows > 1:
            middle = bottom - tile.height / 2 + LINE_SIZE / 3
            labels.append(Label(0, middle, f"row\u202f{row + 1}", LINE_SIZE, "muted"))
        if tile.lines > 2:
            text = "aisle of {width}".format(width=f"{significant(AISLE_M, 2)}{NARROW_SPACE}m")
            middle = bottom + tile.aisle / 2 + LINE_SIZE / 3
            labels.append(Label((left + right) / 2, middle, text, LINE_SIZE, "muted", anchor="middle"))
    bottom = _EDGE + rows * (tile.height + tile.aisle)
    bars, named = _legend(plan, left, bottom + 4) if tile.lines < len(_texts(plan.racks[0])) else ((), ())
    height = bottom + (_LEGEND_H if named else 4)
    return Drawing(width, height, _title(plan, rows), tuple(boxes), (), tuple(bars), (*labels, *named))


def _title(plan: Plan, rows: int) -> str:
    """Racks, watts and kilograms of all, and the heaviest load on the floor."""
    count = len(plan.racks)
    ordered = "One rack"
    if count > 1:
        ordered = by_count(rows, f"{count} racks in one row", f"{count} racks in {rows} rows")
    kilograms = sum(rack.weight_kg for rack in plan.racks)
    some_power, some_weight = (
        any(unknown) for unknown in zip(*((r.has_unknown_power, r.has_unknown_weight) for r in plan.racks), strict=True)
    )
    parts = [
        f"{racks.watts(sum(rack.max_w for rack in plan.racks), some_power)} maximum",
        racks.weight_text(kilograms, some_weight),
    ]
    loads = [(load, rack) for rack in plan.racks if (load := plan.floor_tile_kg(rack)) is not None]
    if loads:
        load, rack = max(loads, key=lambda pair: pair[0])
        most = racks.at_least(rack.has_unknown_weight, racks.kilograms(load))
        if count == 1:
            parts.append(f"{most} on a floor tile")
        else:
            parts.append(f"{most} on a floor tile under {rack.name}")
    return f"{ordered}: {', '.join(parts)}"


def _tile(plan: Plan, rows: int, columns: int, room_px: float) -> _Tile:
    """The most lines that fit every rack, and proportions true to life where the page allows."""
    width = min(room_px, _MAX_W)
    page = _PORTRAIT_H if columns <= _MAX_PORTRAIT else _LANDSCAPE_H
    texts = [_texts(rack) for rack in plan.racks]
    for lines in range(len(texts[0]), -1, -1):
        aisle = 26.0 if lines > 2 else 6.0
        least = max(lines * _LINE + 3, 8.0)
        most = page / rows - aisle
        fits = all(text_width(text, LINE_SIZE) <= small_room(width) for said in texts for text in said[:lines])
        if not lines or (fits and least <= most):
            break
    kind = plan.rack
    depth = kind.depth_m.value / kind.width_m.value if kind.depth_m is not None and kind.width_m is not None else 1.0
    return _Tile(width, max(least, min(width * depth, most)), aisle, lines)


def _texts(rack: PlacedRack) -> tuple[str, ...]:
    """Lines inside a rack, the most important first. A lower bound has its sign: there is no room for words."""
    unknown = rack.has_unknown_power
    return (
        rack.name,
        "unknown" if unknown and not rack.max_w else _bound(unknown) + si(rack.max_w, "W"),
        _kilograms(rack),
        racks.HOLDS[racks.main_role(rack)],
    )


def _kilograms(rack: PlacedRack) -> str:
    unknown = rack.has_unknown_weight
    if racks.is_unknown(rack.weight_kg, unknown):
        return "unknown"
    return _bound(unknown) + racks.kilograms(rack.weight_kg)


def _bound(is_lower_bound: bool) -> str:
    return f"\u2265{NARROW_SPACE}" if is_lower_bound else ""


def _box(rack: PlacedRack, left: float, tile: _Tile) -> Box:
    title, *lines = _texts(rack)[: tile.lines] or ("",)
    return Box(
        id=rack.name,
        x=left + rack.column * (tile.width + _GAP),
        y=_EDGE + rack.row * (tile.height + tile.aisle),
        width=tile.width,
        height=tile.height,
        title=title,
        lines=tuple(lines),
        role=racks.main_role(rack),
        quiet=rack.is_existing,
        small=True,
    )


def _legend(plan: Plan, x: float, y: float) -> tuple[Sequence[FilledBar], Sequence[Label]]:
    """What the colours of the edges mean, where the racks are too small to say it."""
    bars, labels = [], []
    for role in dict.fromkeys(racks.main_role(rack) for rack in plan.racks):
        text = f"mainly {racks.HOLDS[role]}"
        bars.append(FilledBar(x, y + 3, 3, 12, role))
        labels.append(Label(x + 8, y + 12, text, LINE_SIZE, "muted"))
        x += 8 + math.ceil(text_width(text, LINE_SIZE)) + 20
    return bars, labels
