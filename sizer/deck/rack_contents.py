"""Racks from the front at a glance: neighbouring devices of one kind as one block, named next to it or below."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from sizer.base.quantities import NARROW_SPACE, grouped
from sizer.catalog.model import Catalog
from sizer.drawings import racks
from sizer.drawings.links import many
from sizer.drawings.racks import ROLES, RackKind
from sizer.drawings.shapes import Box, Drawing, FilledBar, Label, wrapped
from sizer.physical.plan import PlacedDevice, Plan

# Kinds of rack side by side at most, and the number from which the names are below the racks instead of next to them.
MAX_KINDS = 8
_MAX_WIDE = 4
_WIDTH, _GAP = 880.0, 24.0
_UNIT, _LOW_UNIT, _POST = 6.0, 4.6, 2.0
_FACE_W, _TEXT_GAP = 84.0, 10.0
_HEAD_H, _LEADING, _SIZE = 38.0, 13.0, 10.5
_EDGE, _FILL = 3.0, 0.3
_TEXT_DROP = 3.8  # of a baseline below the middle of its line


def rack_contents(plan: Plan, catalog: Catalog) -> Drawing:
    """One rack of each kind, at most eight: its blocks of devices, units and draw. The title is the heaviest load."""
    kinds = racks.rack_kinds(plan.racks)
    shown = kinds[:MAX_KINDS]
    is_wide = len(shown) <= _MAX_WIDE
    unit = _UNIT if is_wide else _LOW_UNIT
    pitch = (_WIDTH + _GAP) / max(len(shown), 3)
    tallest = max(kind.first.height_u for kind in shown)
    head = _HEAD_H if is_wide else _HEAD_H + _LEADING
    floor = head + tallest * unit + 2 * _POST
    boxes: list[Box] = []
    bars: list[FilledBar] = []
    labels: list[Label] = []
    for place, kind in enumerate(shown):
        x, room = place * pitch, pitch - _GAP
        top = floor - _POST - kind.first.height_u * unit
        labels += _head(kind, x, top - head, room, is_wide=is_wide)
        bars += _frame(x, top, floor)
        blocks = list(_blocks(kind, x, floor, unit))
        boxes += [box for box, _ in blocks]
        bars += [bar for box, run in blocks for bar in _faces(box, run)]
        if is_wide:
            labels += _beside(blocks, x + _FACE_W + _TEXT_GAP, room - _FACE_W - _TEXT_GAP, catalog)
        else:
            labels += _below([run for _, run in blocks], x, floor, room, catalog)
    width = pitch * len(shown) - _GAP
    bottom = max([floor, *(label.y for label in labels)]) + 4
    return Drawing(width, bottom, _title(kinds, plan), tuple(boxes), (), tuple(bars), tuple(labels))


def _title(kinds: Sequence[RackKind], plan: Plan) -> str:
    most = max(plan.racks, key=lambda rack: rack.max_w)
    hidden = sum(len(kind.racks) for kind in kinds[MAX_KINDS:])
    more = f"; {hidden} further racks are not drawn" if hidden else ""
    return f"{most.name} draws most, {racks.up_to(most.max_w, most.has_unknown_power)}{more}"


def _head(kind: RackKind, x: float, y: float, width: float, *, is_wide: bool) -> Iterator[Label]:
    rack, count = kind.first, len(kind.racks)
    title = f"{kind.names}: {count} equal racks" if count > 1 and is_wide else kind.names
    draw = racks.watts(rack.max_w, rack.has_unknown_power)
    if is_wide and not racks.is_unknown(rack.max_w, rack.has_unknown_power):
        draw = f"{draw} maximum"
    used = sum(device.height_u for device in rack.present)
    each = " each" if count > 1 else ""
    units = f"{grouped(used)} of {rack.height_u}{NARROW_SPACE}U"
    facts = [f"{units}, {draw}{each}"] if is_wide else [units, f"{draw}{each}"]
    yield Label(x, y + 12, wrapped(title, _SIZE + 1, width, semibold=True, max_lines=1)[0], _SIZE + 1, semibold=True)
    for number, fact in enumerate(facts):
        text = wrapped(fact, _SIZE, width, max_lines=1)[0]
        yield Label(x, y + 27 + number * _LEADING, text, _SIZE, "muted")


def _frame(x: float, top: float, floor: float) -> Iterator[FilledBar]:
    """Posts, top and bottom."""
    height = floor - top + _POST
    yield FilledBar(x, top - _POST, _POST, height, "muted")
    yield FilledBar(x + _FACE_W - _POST, top - _POST, _POST, height, "muted")
    yield FilledBar(x, top - _POST, _FACE_W, _POST, "muted")
    yield FilledBar(x, floor - _POST, _FACE_W, _POST, "muted")


def _blocks(kind: RackKind, x: float, floor: float, unit: float) -> Iterator[tuple[Box, tuple[PlacedDevice, ...]]]:
    """Runs of equal devices, from the top down; each device keeps its own outline."""
    devices = sorted(kind.first.devices, key=lambda device: -device.unit)
    for _, group in groupby(devices, key=lambda device: (device.item, device.status)):
        run = tuple(group)
        lowest, highest = run[-1].unit, run[0].unit + run[0].height_u - 1
        height = (highest - lowest + 1) * unit
        y = floor - _POST - highest * unit
        name = f"{kind.first.name} U{lowest}"
        is_reserved = run[0].status == "reserved"
        role = ROLES[run[0].category]
        yield (
            Box(name, x + _POST, y, _FACE_W - 2 * _POST, height, "", (), role, hatched=is_reserved, small=True),
            run,
        )


def _faces(box: Box, run: Sequence[PlacedDevice]) -> Iterator[FilledBar]:
    """Every device of a block in the colour of its role; what is reserved stays empty."""
    if run[0].status == "reserved":
        return
    height = box.height / len(run)
    for place in range(len(run)):
        y = box.y + place * height
        yield FilledBar(box.x + _EDGE, y + 0.5, box.width - _EDGE, height - 1, box.role, _FILL)


def _beside(
    blocks: Sequence[tuple[Box, tuple[PlacedDevice, ...]]], x: float, width: float, catalog: Catalog
) -> Iterator[Label]:
    """Number and name of each block, level with it, as far as the line above leaves room; the last stays inside."""
    texts = [_text(run, width, catalog) for _, run in blocks]
    middles = [box.y + box.height / 2 for box, _ in blocks]
    # From the bottom up, then from the top down, so that no line leaves the rack or meets another.
    limit = blocks[-1][0].bottom if blocks else 0.0
    for place in range(len(middles) - 1, -1, -1):
        middles[place] = min(middles[place], limit)
        limit = middles[place] - _LEADING
    last = -_LEADING
    for middle, text in zip(middles, texts, strict=True):
        last = max(middle, last + _LEADING)
        yield Label(x, last + _TEXT_DROP, text, _SIZE)


def _below(
    runs: Sequence[Sequence[PlacedDevice]], x: float, floor: float, width: float, catalog: Catalog
) -> Iterator[Label]:
    """What a rack holds, kind by kind from the top down, below it."""
    devices = [device for run in runs for device in run]
    kinds = dict.fromkeys((device.item, device.status) for device in devices)
    for number, kind in enumerate(kinds, 1):
        alike = [device for device in devices if (device.item, device.status) == kind]
        yield Label(x, floor + 2 + number * _LEADING, _text(alike, width, catalog), _SIZE)


def _text(run: Sequence[PlacedDevice], width: float, catalog: Catalog) -> str:
    text = many(len(run), catalog.item(run[0].item).name)
    if run[0].status == "reserved":
        text = f"reserved: {text}"
    elif run[0].status == "existing":
        text = f"{text}, at hand"
    return wrapped(text, _SIZE, width, max_lines=1)[0]
