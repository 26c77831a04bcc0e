"""Racks: what drawings and tables say about one, which are equal, and their fronts."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sizer.base.quantities import NARROW_SPACE, by_count, grouped, number_and_unit, si
from sizer.catalog.model import Catalog
from sizer.drawings.palette import COLUMN_PX, LANDSCAPE_PX
from sizer.drawings.shapes import LINE_SIZE, Box, Drawing, FilledBar, Label, small_room, text_width, wrapped
from sizer.physical.plan import PlacedDevice, PlacedRack, Plan
from sizer.physical.racks.feeds import FeedKind, PowerFeed
from sizer.physical.racks.positions import unit_runs

# Colour and words for what a device is, by its category in the plan.
ROLES = {"network": "network", "head node": "other", "storage": "storage", "cooling": "other", "compute": "gpu"}
HOLDS = {"network": "network", "other": "head nodes and cooling", "storage": "storage", "gpu": "servers"}


@dataclass(frozen=True)
class RackKind:
    """Racks that hold the same at the same units; ``racks[0]`` speaks for all."""

    racks: tuple[PlacedRack, ...]

    @property
    def first(self) -> PlacedRack:
        return self.racks[0]

    @property
    def names(self) -> str:
        """'R01', 'R02 to R04'; names that the customer gave need not follow one another and are all said."""
        if self.first.is_existing or len(self.racks) < 3:
            return ", ".join(rack.name for rack in self.racks)
        return f"{self.first.name} to {self.racks[-1].name}"


def rack_kinds(racks: Sequence[PlacedRack]) -> tuple[RackKind, ...]:
    """Neighbours in the order of the plan that are equal apart from the numbers of their devices."""
    return tuple(RackKind(tuple(group)) for _, group in groupby(racks, key=_contents))


def _contents(rack: PlacedRack) -> object:
    devices = tuple((device.unit, device.height_u, device.item, device.role, device.status) for device in rack.devices)
    return rack.item, rack.is_existing, rack.height_u, rack.empty_units, devices


def main_role(rack: PlacedRack) -> str:
    """Role of what takes most of the rack's units: 'network', 'storage', 'gpu' or 'other'."""
    units = Counter[str]()
    for device in rack.devices:
        units[ROLES[device.category]] += device.height_u
    return max(units, key=lambda role: units[role], default="other")


def at_least(is_lower_bound: bool, text: str) -> str:
    """Text with 'at least' before it where something unknown is left out."""
    return f"at least {text}" if is_lower_bound else text


def watts(power_w: float, is_lower_bound: bool) -> str:
    """Power in words: 'at least' where a draw is unknown, and 'power unknown' where all are."""
    if is_unknown(power_w, is_lower_bound):
        return "power unknown"
    return at_least(is_lower_bound, si(power_w, "W"))


def is_unknown(amount: float, is_lower_bound: bool) -> bool:
    """Whether nothing is known of a draw or a weight: all of it is left out."""
    return is_lower_bound and not amount


def kilograms(weight_kg: float) -> str:
    """Weight rounded to whole kilograms."""
    return f"{grouped(weight_kg)}{NARROW_SPACE}kg"


def weight(rack: PlacedRack) -> str:
    """Weight that the design brings: 'at least' where a part has none, 'weight unknown' where none has one."""
    return weight_text(rack.weight_kg, rack.has_unknown_weight)


def weight_text(weight_kg: float, is_lower_bound: bool) -> str:
    """Weight in words, as ``watts`` has power."""
    if is_unknown(weight_kg, is_lower_bound):
        return "weight unknown"
    return at_least(is_lower_bound, kilograms(weight_kg))


def feeds_text(rack: PlacedRack) -> str:
    """What the feeds of a rack carry after the loss of one; '' where the design brings none."""
    if not rack.feeds:
        return ""
    capacity = si(rack.feed_capacity_w, "W")
    if rack.redundancy == "N":
        return f"all feeds together carry {capacity}"
    if rack.redundancy == "N+1":
        return f"with one feed lost, the others carry {capacity}"
    return f"each feed alone carries {capacity}"


def up_to(power_w: float, is_lower_bound: bool) -> str:
    """Maximum draw of a device or a rack: 'up to 3.50 kW', 'at least 300 W'."""
    return watts(power_w, is_lower_bound) if is_lower_bound else f"up to {si(power_w, 'W')}"


# Follows a draw that no source gives.
ASSUMED = "*"
# More racks than these are drawn by kind.
_MAX_SINGLE = 8
# Racks on one drawing: on a landscape page, on a portrait page that is built from, and in the column of a guide.
_MAX_LANDSCAPE, _MAX_PORTRAIT, _MAX_COLUMN = 4, 2, 3
# Height that a landscape page has for a drawing; higher racks take portrait pages.
_LANDSCAPE_H = 620.0
# Height of a rack unit: the smallest that holds a line of type.
UNIT_PX = 12.0
_NUMBERS_W, _GAP = 20.0, 18.0
_MAX_FACE_W = 330.0
_TITLE = 10.5
_HEAD_H, _FOOT_GAP = 48.0, 8.0
_LEADING = 12.5
_POST = 2.0
# Baseline of the U number below the top of its unit.
_NUMBER_Y = 9.4
# What heads the list of feeds, and its columns as a share of the rack's width: ends of the numbers.
_FEEDS: dict[FeedKind, str] = {"PDU": "PDU", "power shelf": "Shelf", "inlet": "Inlet"}
_PDU_COLUMNS = (0.62, 0.81, 1.0)


def rack_fronts(plan: Plan, catalog: Catalog, *, in_column: bool = False) -> tuple[Drawing, ...]:
    """Drawings of all racks.

    ``in_column``: for a page that is read, not built from: equal racks once with how many there are, no drawing wider
    than the column of text. In the order of the racks. One of three or four racks is as wide as a landscape page.
    """
    if in_column or len(plan.racks) > _MAX_SINGLE:
        kinds = rack_kinds(plan.racks)
    else:
        kinds = tuple(RackKind((rack,)) for rack in plan.racks)
    units = _units_to_read(kinds) if in_column else max(kind.first.height_u for kind in kinds)
    is_low = not in_column and max(_height(kind.first, units) for kind in kinds) <= _LANDSCAPE_H
    most = _MAX_COLUMN if in_column else _MAX_LANDSCAPE if is_low else _MAX_PORTRAIT
    n_drawings = math.ceil(len(kinds) / most)
    size, larger = divmod(len(kinds), n_drawings)
    widest = size + (larger > 0)
    width = COLUMN_PX if in_column or widest <= _MAX_PORTRAIT else LANDSCAPE_PX
    drawn, first = [], 0
    for number in range(n_drawings):
        count = size + (number < larger)
        drawn.append(_drawing(kinds[first : first + count], widest, width, plan, catalog, units))
        first += count
    return tuple(drawn)


def _height(rack: PlacedRack, units: int) -> float:
    """Height of a rack, of which so many units are drawn, with what stands above and below it."""
    lines = len(rack.feeds) + 1
    return _HEAD_H + units * UNIT_PX + _POST + _FOOT_GAP + lines * _LEADING + 4


def _units_to_read(kinds: Sequence[RackKind]) -> int:
    """Units that a page for reading draws: of the empty ones above everything the lowest two."""
    racks = [kind.first for kind in kinds]
    most, tops = max(rack.height_u for rack in racks), (d.unit + d.height_u for rack in racks for d in rack.devices)
    return most if any(rack.is_existing or rack.is_delivered for rack in racks) else min(max(tops, default=1) + 1, most)


def _drawing(
    kinds: Sequence[RackKind], columns: int, width: float, plan: Plan, catalog: Catalog, units: int
) -> Drawing:
    pitch = (width - _POST + _GAP) / columns
    face = min(pitch - _GAP - _NUMBERS_W, _MAX_FACE_W)
    # The longest wording that fits every device of a drawing.
    devices = [device for kind in kinds for device in kind.first.devices]
    room = small_room(face)
    wordings = [_Wording(length, catalog) for length in (1, 2)]
    say = next(
        (one for one in wordings if all(text_width(one.text(device), LINE_SIZE) <= room for device in devices)),
        wordings[-1],
    )
    units = min(units, max(kind.first.height_u for kind in kinds))
    floor = _HEAD_H + units * UNIT_PX + _POST
    boxes: list[Box] = []
    bars: list[FilledBar] = []
    labels: list[Label] = []
    for column, kind in enumerate(kinds):
        x = column * pitch + _NUMBERS_W
        top = floor - min(units, kind.first.height_u) * UNIT_PX
        labels += _head(kind, x, top - _HEAD_H, face)
        labels += _numbers(min(units, kind.first.height_u), x, floor)
        bars += _frame(x, top, face, floor)
        boxes += (
            _delivered_contents(kind, x, floor, face, catalog)
            if kind.first.is_delivered
            else _devices(kind, x, floor, face, say)
        )
        boxes += _empty(kind, x, floor, face, units)
        taken = list(_not_ours(kind.first, x, floor, face))
        bars += [bar for bar, _ in taken]
        labels += [label for _, label in taken]
        labels += _foot(kind.first, x, floor + _FOOT_GAP, face, catalog)
    height = max(_height(kind.first, min(units, kind.first.height_u)) for kind in kinds)
    return Drawing(width, height, _title(kinds, plan), tuple(boxes), (), tuple(bars), tuple(labels))


def _title(kinds: Sequence[RackKind], plan: Plan) -> str:
    """What the drawing shows: how near the heaviest rack comes to what feeds it."""
    drawn = [rack for kind in kinds for rack in kind.racks]
    most = max(drawn, key=lambda rack: rack.max_w)
    first, last, count = drawn[0].name, drawn[-1].name, len(drawn)
    if count == len(plan.racks):
        name = by_count(count, "One rack", f"{count} racks")
    elif count == 1:
        name = f"Rack {first}"
    else:
        name = f"Racks {first} to {last}"
    draw = up_to(most.max_w, most.has_unknown_power)
    if not is_unknown(most.max_w, most.has_unknown_power):
        if most.feeds:
            left = {"2N": " on either feed", "N+1": " with one feed lost", "N": ""}[most.redundancy]
            draw = f"{draw} of {si(most.feed_capacity_w, 'W')}{left}"
        draw = f"it draws {draw}" if count == 1 else f"{most.name} draws most, {draw}"
    return f"{name}: {draw}"


def _head(kind: RackKind, x: float, y: float, width: float) -> Iterator[Label]:
    rack, count = kind.first, len(kind.racks)
    title = kind.names
    if count > 1:
        title = f"{title}: {count} equal racks"
    elif rack.is_existing:
        title = f"{title} (existing)"
    power = watts(rack.typical_w, rack.has_unknown_power)
    if not is_unknown(rack.typical_w, rack.has_unknown_power):
        most = si(rack.max_w, "W")
        long, short = f"{power} typical{' and' if rack.has_unknown_power else ','} {most} maximum", f"{power} to {most}"
        power = long if text_width(long, LINE_SIZE) <= width else short
    last = weight(rack)
    if rack.is_existing:
        power, last = f"{power} added", f"{last} added"
    each = f", each as {rack.name}" if count > 1 else ""
    of_what = "" if rack.is_existing or is_unknown(rack.weight_kg, rack.has_unknown_weight) else " with the rack"
    wordings = (f"{last}{of_what}{each}", f"{last}{of_what}", last)
    last = next((wording for wording in wordings if text_width(wording, LINE_SIZE) <= width), last)
    (title,) = wrapped(title, _TITLE, width, semibold=True, max_lines=1)
    yield Label(x, y + 12, title, _TITLE, "ink", semibold=True)
    yield Label(x, y + 26, power, LINE_SIZE, "muted")
    yield Label(x, y + 26 + _LEADING, last, LINE_SIZE, "muted")


def _numbers(units: int, x: float, floor: float) -> Iterator[Label]:
    for unit in range(1, units + 1):
        yield Label(x - 6, _top(unit, 1, floor) + _NUMBER_Y, str(unit), LINE_SIZE, "muted", anchor="end")


def _top(unit: int, height_u: int, floor: float) -> float:
    """Upper edge of what stands from a unit on. The lowest unit stands on the frame."""
    return floor - _POST - (unit - 1 + height_u) * UNIT_PX


def _frame(x: float, top: float, width: float, floor: float) -> Iterator[FilledBar]:
    """Posts, top and bottom of the rack."""
    height = floor - top + _POST
    yield FilledBar(x - _POST, top - 2 * _POST, _POST, height + _POST, "muted")
    yield FilledBar(x + width, top - 2 * _POST, _POST, height + _POST, "muted")
    yield FilledBar(x, top - 2 * _POST, width, _POST, "muted")
    yield FilledBar(x, floor - _POST, width, _POST, "muted")


class _Wording:
    """The text of a device in one of several lengths."""

    def __init__(self, length: int, catalog: Catalog) -> None:
        self.length, self.catalog = length, catalog

    def text(self, device: PlacedDevice) -> str:
        """Name, model, height and watts; a shorter wording leaves out what can be seen."""
        item, power, height = self.catalog.device(device.item), device.power, f"{device.height_u}U"
        model, most = item.name, item.power_max_w or item.power_high_w
        draw = watts(power.max_w, not power.is_known) + ASSUMED * (most is not None and most.basis == "assumed")
        if device.status == "existing":
            model = f"{model}, at hand"
        parts = [device.name, model, height, draw] if self.length < 2 else [device.name, model, draw]
        return " · ".join(parts)

    def fitting(self, device: PlacedDevice, room: float) -> str:
        """The text in a given room: without the family of the model, then without the watts."""
        text, model = self.text(device), self.catalog.item(device.item).name
        *family, number = model.split()
        shorter = text.replace(model, number, 1) if family and any(map(str.isdigit, number)) else text
        no_watts = text.rpartition(" · ")[0]
        wordings = (text, shorter, no_watts, no_watts.replace(model, number, 1))
        found = next((wording for wording in wordings if text_width(wording, LINE_SIZE) <= room), None)
        return found or wrapped(no_watts, LINE_SIZE, room, max_lines=1)[0]


def _devices(kind: RackKind, x: float, floor: float, width: float, say: _Wording) -> Iterator[Box]:
    rack, count = kind.first, len(kind.racks)
    for device in rack.devices:
        yield Box(
            id=device.name if count == 1 else f"{kind.names}: {device.name}",
            x=x,
            y=_top(device.unit, device.height_u, floor),
            width=width,
            height=device.height_u * UNIT_PX,
            title=say.fitting(device, small_room(width)),
            role=ROLES[device.category],
            small=True,
        )


def _delivered_contents(kind: RackKind, x: float, floor: float, width: float, catalog: Catalog) -> Iterator[Box]:
    """Parts of a system that arrives as a rack: equal neighbours once, with how many there are."""
    for device in kind.first.devices:
        delivered = catalog.device(device.item).delivered
        assert delivered is not None
        for part in delivered.contents:
            height = part.count * part.height_u
            yield Box(
                id=f"{device.name} U{part.lowest_u}",
                x=x,
                y=_top(part.lowest_u, height, floor),
                width=width,
                height=height * UNIT_PX,
                title=f"{part.count} × {part.name} · {part.height_u}U"
                if part.count > 1
                else f"{part.name} · {height}U",
                role="gpu" if part.is_node else "network" if "switch" in part.name else "other",
                small=True,
            )


def _empty(kind: RackKind, x: float, floor: float, width: float, units: int) -> Iterator[Box]:
    """Free units: closed by blanking panels in a rack of the design, left as they are in one that is there."""
    rack = kind.first
    for lowest, height in unit_runs(rack.empty_units):
        drawn = min(height, units - lowest + 1)
        if rack.is_existing:
            title = f"{height}U free"
        else:
            title = by_count(height, f"{height}U of blanking panel", f"{height}U of blanking panels")
        if drawn < height:
            title = f"{title}, up to unit {rack.height_u}"
        yield Box(
            id=f"{rack.name} U{lowest}",
            x=x,
            y=_top(lowest, drawn, floor),
            width=width,
            height=drawn * UNIT_PX,
            title=title,
            role="hairline",
            hatched=not rack.is_existing,
            small=True,
        )


def _not_ours(rack: PlacedRack, x: float, floor: float, width: float) -> Iterator[tuple[FilledBar, Label]]:
    """Units of a rack that is there which the design may not use."""
    ours = set(rack.empty_units)
    for device in rack.devices:
        ours.update(range(device.unit, device.unit + device.height_u))
    for lowest, height in unit_runs(unit for unit in range(1, rack.height_u + 1) if unit not in ours):
        top = _top(lowest, height, floor)
        middle = top + height * UNIT_PX / 2 + LINE_SIZE / 3
        yield (
            FilledBar(x, top, width, height * UNIT_PX, "hairline"),
            Label(x + width / 2, middle, "not free", LINE_SIZE, "muted", anchor="middle"),
        )


def _foot(rack: PlacedRack, x: float, y: float, width: float, catalog: Catalog) -> Iterator[Label]:
    """What each PDU carries after the loss of another feed, and its outlets in use."""
    if not rack.feeds:
        yield Label(x, y + _LEADING, "on the PDUs of the rack", LINE_SIZE, "muted")
        return
    kinds = [] if rack.is_delivered else [kind for kind, _ in rack.feeds[0].outlets][: len(_PDU_COLUMNS) - 1]
    columns = _PDU_COLUMNS[: 1 + len(kinds)]
    for share, text in zip(columns, ("kW alone", *(catalog.power_inlets[k].outlet for k in kinds)), strict=True):
        yield Label(x + share * width, y + _LEADING, text, LINE_SIZE, "muted", anchor="end")
    yield Label(x, y + _LEADING, _FEEDS[rack.feeds[0].kind], LINE_SIZE, "muted")
    for row, feed in enumerate(rack.feeds, 2):
        yield Label(x, y + row * _LEADING, feed.name, LINE_SIZE, "ink", semibold=True)
        for share, text in zip(columns, _feed_texts(feed, rack, kinds), strict=True):
            yield Label(x + share * width, y + row * _LEADING, text, LINE_SIZE, "ink", anchor="end")


def _feed_texts(feed: PowerFeed, rack: PlacedRack, kinds: Sequence[str]) -> tuple[str, ...]:
    load = at_least(rack.has_unknown_power, _kilowatts(feed.alone_w))
    outlets = dict(feed.outlets)
    return (
        f"{load} of {_kilowatts(feed.capacity_w)}",
        *(f"{feed.used(kind)}{NARROW_SPACE}/{NARROW_SPACE}{outlets.get(kind, 0)}" for kind in kinds),
    )


def _kilowatts(power_w: float) -> str:
    """Kilowatts as in every table; the unit stands in the head of the column."""
    return number_and_unit(power_w, "W", like=max(power_w, 1e3))[0]
