"""Lines between boxes that stand in rows: where they leave a box, how they run, and what their labels read."""

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.catalog.links import LinkType
from sizer.drawings import links
from sizer.drawings.links import Bundle
from sizer.drawings.shapes import Box, Label, Link, text_width

# A line goes straight up from a device before it turns to its switch, so that its number stands free; below the switch
# it goes straight down a little.
_STRAIGHT, _STUB = 18.0, 6.0
# The same for the lines to the management switches.
_TURN_ABOVE, _TURN_BELOW = 36.0, 12.0
# Height below the top of a box at which a management line leaves it for a margin.
_MARGIN_LINE_Y = 15.0
_NUMBER, _NUMBER_GAP = 9.0, 3.0
# Nearest that two lines may leave a box, without and with a number beside them.
_MIN_STEP, _MIN_NUMBERED_STEP = 6.0, 11.0
_STROKE_SHARE, _MIN_STROKE, _DASHED_STROKE = 0.5, 0.8, 0.9


@dataclass(frozen=True)
class Place:
    """A box and where it stands."""

    box: Box
    row: int
    is_right: bool  # of the main area; its management line takes the right margin
    takes_margin: bool  # its management line cannot go straight down
    is_management: bool
    is_storage: bool  # lines from below to it, or from it upwards, carry files


@dataclass(frozen=True)
class Level:
    """Lines of one kind from one row to another, labelled once beside them."""

    upper: int
    lower: int
    is_right: bool
    kind: LinkType
    role: str


@dataclass(frozen=True)
class Lines:
    """Links of a drawing, and the label of each level."""

    links: tuple[Link, ...]
    texts_by_level: dict[Level, str]


class Router:
    """Gives every bundle its way."""

    def __init__(self, places: dict[str, Place], bundles: Sequence[Bundle], margins: tuple[float, float]) -> None:
        self.places, self.bundles, self.margins = places, bundles, margins
        tops = {place.row: place.box.y for place in places.values()}
        self.tops = [tops[row] for row in sorted(tops)]
        self.switches = [key for key, place in places.items() if place.is_management and place.row == self._first()]
        self.slots = self._slots()

    def _first(self) -> int:
        """Row of the switches that the devices join for management."""
        return min((place.row for place in self.places.values() if place.is_management), default=-1)

    # --- where lines leave a box

    def _slots(self) -> dict[tuple[str, str], list[int]]:
        """Numbers of the bundles at the top and at the bottom of each box, from left to right."""
        found: dict[tuple[str, str], list[tuple[float, int]]] = {}
        for number, bundle in enumerate(self.bundles):
            if self._is_along_margin(bundle):
                continue
            upper, lower = self._ordered(bundle)
            for key, side, other in ((upper, "bottom", lower), (lower, "top", upper)):
                found.setdefault((key, side), []).append((self.places[other].box.centre_x, number))
        return {where: [number for _, number in sorted(lines)] for where, lines in found.items()}

    def _ordered(self, bundle: Bundle) -> tuple[str, str]:
        """Ends of a bundle, the upper one first."""
        if self.places[bundle.a].row > self.places[bundle.z].row:
            return bundle.z, bundle.a
        return bundle.a, bundle.z

    def _is_management(self, bundle: Bundle) -> bool:
        return bundle.z in self.switches

    def _is_along_margin(self, bundle: Bundle) -> bool:
        return self._is_management(bundle) and self.places[bundle.a].takes_margin

    def _x(self, key: str, side: str, number: int) -> float:
        box, lines = self.places[key].box, self.slots[key, side]
        return box.x + box.width * (lines.index(number) + 1) / (len(lines) + 1)

    # --- lines

    def lines(self) -> Lines | None:
        """All links; None where they are too close to tell apart."""
        levels: dict[Level, list[int]] = {}
        for number, bundle in enumerate(self.bundles):
            if not self._is_management(bundle):
                levels.setdefault(self._level(bundle), []).append(number)
        numbered: set[int] = set()
        texts_by_level = {}
        for level, members in levels.items():
            counts = {self.bundles[number].count for number in members}
            if len(counts) > 1:
                numbered.update(members)
                texts_by_level[level] = f"{links.speed(level.kind)}, as many as numbered"
            else:
                text = links.link_text(counts.pop(), level.kind)
                texts_by_level[level] = f"{text} each" if len(members) > 1 else text
        if any(self._is_crowded(key, numbered) for key, side in self.slots if side == "top"):
            return None
        # One short number makes all of them short.
        times = " ×" if all(self._has_room(number) for number in numbered) else ""
        notes = {number: f"{self.bundles[number].count}{times}" for number in numbered}
        return Lines(
            tuple(self._link(number, notes.get(number, "")) for number in range(len(self.bundles))), texts_by_level
        )

    def _is_crowded(self, key: str, numbered: set[int]) -> bool:
        lines = [number for number in self.slots[key, "top"] if not self._is_management(self.bundles[number])]
        if len(lines) < 2:
            return False
        step = self.places[key].box.width / (len(lines) + 1)
        return step < (_MIN_NUMBERED_STEP if numbered.intersection(lines) else _MIN_STEP)

    def _has_room(self, number: int) -> bool:
        """Whether a number with its sign fits beside a line."""
        key = self._ordered(self.bundles[number])[1]
        step = self.places[key].box.width / (len(self.slots[key, "top"]) + 1)
        return text_width(f"{self.bundles[number].count} ×", _NUMBER) + 2 * _NUMBER_GAP <= step

    def _level(self, bundle: Bundle) -> Level:
        upper, lower = (self.places[key] for key in self._ordered(bundle))
        role = "other" if upper.is_management else "storage" if upper.is_storage or lower.is_storage else "network"
        return Level(upper.row, lower.row, lower.is_right, bundle.kind, role)

    def _link(self, number: int, note: str) -> Link:
        bundle = self.bundles[number]
        name = f"{bundle.a}--{bundle.z}"
        if self._is_management(bundle):
            along = self._is_along_margin(bundle)
            way = self._along_margin(bundle) if along else self._down_to_management(number)
            return Link(name, bundle.a, bundle.z, way, _DASHED_STROKE, "other", dashed=True, count=bundle.count)
        upper, lower = self._ordered(bundle)
        top, bottom = self.places[upper].box, self.places[lower].box
        x0, x1 = self._x(upper, "bottom", number), self._x(lower, "top", number)
        turn = min(y for y in self.tops if y > top.y) - _STRAIGHT
        way = ((x0, top.bottom), (x0, top.bottom + _STUB), (x1, turn), (x1, bottom.y))
        if abs(x0 - x1) < 1:
            way = ((x1, top.bottom), (x1, bottom.y))
        labels = (Label(x1 + _NUMBER_GAP, bottom.y - 4, note, _NUMBER),) if note else ()
        stroke = max(_MIN_STROKE, _STROKE_SHARE * links.stroke(bundle.kind))
        role = self._level(bundle).role
        ordered = way if upper == bundle.a else tuple(reversed(way))
        return Link(name, bundle.a, bundle.z, ordered, stroke, role, labels=labels, count=bundle.count)

    # --- management

    def _down_to_management(self, number: int) -> tuple[tuple[float, float], ...]:
        bundle = self.bundles[number]
        box, switch = self.places[bundle.a].box, self.places[bundle.z].box
        x = self._x(bundle.a, "bottom", number)
        if len(self.switches) == 1:
            return (x, box.bottom), (x, switch.y)
        end = self._x(bundle.z, "top", number)
        return (x, box.bottom), (x, switch.y - _TURN_ABOVE), (end, switch.y - _TURN_BELOW), (end, switch.y)

    def _along_margin(self, bundle: Bundle) -> tuple[tuple[float, float], ...]:
        """Sideways to the margin, down, and to the near side of the first or the last switch, or over it to another."""
        place, switch = self.places[bundle.a], self.places[bundle.z].box
        y, margin = place.box.y + _MARGIN_LINE_Y, self.margins[place.is_right]
        start = (place.box.right if place.is_right else place.box.x, y)
        near = self.switches[-1 if place.is_right else 0]
        if bundle.z == near:
            level, side = switch.y + _MARGIN_LINE_Y, switch.right if place.is_right else switch.x
            return start, (margin, y), (margin, level), (side, level)
        level = switch.y - _TURN_BELOW / 2
        x = switch.right - _TURN_BELOW if place.is_right else switch.x + _TURN_BELOW
        return start, (margin, y), (margin, level), (x, level), (x, switch.y)
