"""The cluster on one page: every device of a small one, a stack for each kind of a large one."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sizer.base.quantities import grouped
from sizer.catalog.links import LinkType
from sizer.drawings import links
from sizer.drawings.cluster import GROUPS, MANAGERS, Cluster
from sizer.drawings.links import Bundle
from sizer.drawings.palette import COLUMN_PX, LANDSCAPE_PX
from sizer.drawings.parts import LINE_SIZE, small_room
from sizer.drawings.shapes import Box, Drawing, Label, Link, text_width, wrapped
from sizer.physical.components import Network
from sizer.physical.plan import PlacedDevice
from sizer.physical.roles import NetworkRole
from sizer.sizing.result import DesignAnswer

# A line goes straight up from a device before it turns to its switch, so that its number stands free; below the switch
# it goes straight down a little.
_STRAIGHT, _STUB = 18.0, 6.0
# The same for the lines to the management switches.
_TURN_ABOVE, _TURN_BELOW = 36.0, 12.0
# Height below the top of a box at which a management line leaves it for a margin.
_MARGIN_LINE_Y = 15.0
_NUMBER_GAP = 3.0
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
        # Numbers of the bundles at the top and at the bottom of each box, from left to right.
        found: dict[tuple[str, str], list[tuple[float, int]]] = {}
        for number, bundle in enumerate(self.bundles):
            if self._is_along_margin(bundle):
                continue
            upper, lower = self._ordered(bundle)
            for key, side, other in ((upper, "bottom", lower), (lower, "top", upper)):
                found.setdefault((key, side), []).append((self.places[other].box.centre_x, number))
        self.slots = {where: [number for _, number in sorted(lines)] for where, lines in found.items()}

    def _first(self) -> int:
        """Row of the switches that the devices join for management."""
        return min((place.row for place in self.places.values() if place.is_management), default=-1)

    # --- where lines leave a box

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
        return text_width(f"{self.bundles[number].count} ×", LINE_SIZE) + 2 * _NUMBER_GAP <= step

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
        labels = (Label(x1 + _NUMBER_GAP, bottom.y - 4, note, LINE_SIZE),) if note else ()
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


_MAX_SERVERS = 16
# Lines of data networks that can still be told apart.
_MAX_LINES = 56
# Groups of each row from the top; a cluster that has others is drawn in groups.
_ROWS = (
    ("spine",),
    ("leaf",),
    ("gateway", "storage-leaf"),
    ("head", "servers", "storage", links.CUSTOMER_LAN),
    ("back-end",),
    ("management",),
    ("management-aggregation",),
)
_DEVICES = _ROWS[3]
_MANAGEMENT = ("management", "management-aggregation")
_BLOCK_ON_RIGHT = ("gateway", "storage-leaf", "storage", links.CUSTOMER_LAN, "back-end")
_ROLES = {"servers": "gpu", "storage": "storage", links.CUSTOMER_LAN: "storage", "head": "other", "back-end": "storage"}
# Way from each row up to the one above it.
_GAPS = (0.0, 66.0, 84.0, 72.0, 60.0, 54.0, 42.0)
_SWITCH_BOX_H, _DEVICE_H = 30.0, 36.0
# Dash and gap of the management lines. Lines that share a way are drawn over each other, so the places where they
# join it are whole dashes apart.
_DASH = 6.0
_SIDE_W, _LANE = 96.0, 12.0
_BOX_GAP, _SWITCH_GAP, _ZONE_GAP = 4.0, 12.0, 24.0
_MAX_DEVICE_W, _MAX_SWITCH_W = 84.0, 120.0
_LEADING = 12.0
# The outline of a box is half outside of it.
_EDGE = 1.0
# Least room between two texts of a margin, for what the lines between the rows are.
_SIDE_GAP = 36.0


@dataclass(frozen=True)
class _Format:
    """How dense a drawing is."""

    width: int
    is_split: bool  # names of servers and storage on two lines
    is_stacked: bool  # storage as one stack


_FORMATS = (
    _Format(COLUMN_PX, False, False),
    _Format(COLUMN_PX, True, False),
    _Format(LANDSCAPE_PX, False, False),
    _Format(LANDSCAPE_PX, True, False),
    _Format(LANDSCAPE_PX, True, True),
)


def device_topology(cluster: Cluster) -> Drawing | None:
    """Drawing of every device of a cluster; None where that would not be readable."""
    known = {group for row in _ROWS for group in row}
    has_switches = cluster.count("leaf") or cluster.count("spine")
    if cluster.count("servers") > _MAX_SERVERS or not has_switches or not set(cluster.groups) <= known:
        return None
    return next((found for form in _FORMATS if (found := _BlockLayout(cluster, form).drawing()) is not None), None)


class _BlockLayout:
    """Places the boxes of one format; they are kept by their id, which is the name of the device."""

    def __init__(self, cluster: Cluster, form: _Format) -> None:
        self.cluster, self.form = cluster, form
        self.bundles = cluster.bundles(self._end)
        self.ids = {group: tuple(dict.fromkeys(map(self._end, found))) for group, found in cluster.groups.items()}
        if cluster.design.platform.attachment == "lan":
            self.ids[links.CUSTOMER_LAN] = (links.CUSTOMER_LAN,)
        self.group_of = {id_: group for group, ids in self.ids.items() for id_ in ids}
        # Ends, lanes and texts stand on a grid of dashes.
        has_right = any(group in self.ids for group in _BLOCK_ON_RIGHT)
        self.left = _SIDE_W + _LANE + 4
        self.right = _DASH * ((form.width - 2 - has_right * (_SIDE_W + _LANE)) // _DASH)
        self.zone = self.right - self._zone_w() if has_right else self.right  # left edge of the storage's part
        self.places: dict[str, Place] = {}
        self.labels: list[Label] = []
        self.bottom = 0.0  # of the boxes of the row above
        self.said_to = [0.0, 0.0]  # lower end of the text beside the rows, left and right

    def _end(self, device: PlacedDevice) -> str:
        group = GROUPS[device.role]
        return group if group == "storage" and self.form.is_stacked else device.name

    def drawing(self) -> Drawing | None:
        """The drawing, or None where something does not fit."""
        if sum(self.group_of[bundle.z] not in _MANAGEMENT for bundle in self.bundles) > _MAX_LINES:
            return None
        for number, row in enumerate(_ROWS):
            groups = [group for group in row if group in self.ids]
            if groups and not self._row(number, groups, self._top(number, groups)):
                return None
        found = Router(self.places, self.bundles, (self.left - _LANE + 6, self.right + 6)).lines()
        if found is None:
            return None
        self._between_rows(found)
        self._management_text()
        y = max(self.bottom, *self.said_to)
        boxes = tuple(place.box for place in self.places.values())
        return Drawing(self.form.width, y + 4, self.cluster.title(), boxes, found.links, (), tuple(self.labels))

    # --- boxes

    def _top(self, number: int, groups: Sequence[str]) -> float:
        """Where a row begins: far enough below the boxes above it, and below what is said beside them."""
        if not self.places:
            return _EDGE
        said = max(self.said_to[group in _BLOCK_ON_RIGHT] for group in groups)
        least = max(self.bottom + _GAPS[number], said + (_SIDE_GAP if number < 5 else _LEADING))
        return _EDGE + _DASH * math.ceil((least - _EDGE) / _DASH)

    def _row(self, number: int, groups: Sequence[str], y: float) -> bool:
        """Place the boxes of one row and what is said beside it; False where they do not fit."""
        self.bottom = y + (_DEVICE_H if groups[0] in _DEVICES else _SWITCH_BOX_H)
        self._say_beside(groups, y)
        if groups[0] in _MANAGEMENT:
            return self._spread(number, groups, self.left, self.right, y, math.inf)
        if number < 2:
            # Storage that joins the spine reaches it beside the leaves.
            passes = any(
                self.group_of[bundle.a] in _BLOCK_ON_RIGHT and self.group_of[bundle.z] == "spine"
                for bundle in self.bundles
            )
            right = self.zone - _ZONE_GAP if passes else self.right
            return self._spread(number, groups, self.left, right, y, _MAX_SWITCH_W)
        left = [group for group in groups if group not in _BLOCK_ON_RIGHT]
        right_groups = [group for group in groups if group in _BLOCK_ON_RIGHT]
        end = self.zone - _ZONE_GAP if self.zone < self.right else self.right
        return (not left or self._spread(number, left, self.left, end, y, _MAX_DEVICE_W)) and (
            not right_groups or self._spread(number, right_groups, self.zone, self.right, y, _MAX_DEVICE_W)
        )

    def _spread(self, row: int, groups: Sequence[str], left: float, right: float, y: float, widest: float) -> bool:
        """Boxes of some groups evenly from left to right, as wide as there is room."""
        ids = [id_ for group in groups for id_ in self.ids[group]]
        gap = _BOX_GAP if groups[0] in _DEVICES else _SWITCH_GAP
        needed = [self._needed_w(id_) for id_ in ids]
        spare = (right - left + gap - sum(needed) - gap * len(ids)) / len(ids)
        if spare < 0:
            return False
        x = left
        for id_, least in zip(ids, needed, strict=True):
            width = min(least + spare, widest)
            self._put(id_, row, x + (least + spare - width) / 2, y, width)
            x += least + spare + gap
        return True

    def _put(self, id_: str, row: int, x: float, y: float, width: float) -> None:
        group = self.group_of[id_]
        is_right, is_management = group in _BLOCK_ON_RIGHT, group in _MANAGEMENT
        takes_margin = group in ("spine", "leaf", "gateway", "storage-leaf")
        takes_margin |= group in ("storage", links.CUSTOMER_LAN) and "back-end" in self.ids
        if takes_margin and is_right:
            width = _DASH * ((x + width) // _DASH) - x
        elif takes_margin:
            x = _DASH * (x // _DASH)
        title, *lines = self._texts(id_, width)
        stacked = group == "storage" and self.form.is_stacked
        box = Box(
            id=id_,
            x=x,
            y=y,
            width=width,
            height=_DEVICE_H if group in _DEVICES else _SWITCH_BOX_H,
            title=title,
            lines=tuple(lines),
            role="other" if is_management else _ROLES.get(group, "network"),
            copies=self.cluster.count(group) if stacked else 1,
            quiet=is_management or group == "back-end",
            small=True,
        )
        is_storage = group in ("storage", links.CUSTOMER_LAN, "storage-leaf")
        self.places[id_] = Place(box, row, is_right, takes_margin, is_management, is_storage)

    def _texts(self, id_: str, width: float) -> list[str]:
        """Lines inside a box: the name, and what there is room for."""
        group = self.group_of[id_]
        if group in _MANAGEMENT:
            return [f"{id_} · {self._ports(id_)}"]
        if id_ == links.CUSTOMER_LAN:
            return ["customer", "LAN"]
        if id_ == "storage":
            return [f"{self.cluster.count('storage')} units"]
        if group in _DEVICES or (group == "back-end" and self.form.is_split):
            return _split(id_) if self.form.is_split else [id_]
        texts = [id_, self._ports(id_)]
        return texts if max(_width(text) for text in texts) <= width else texts[:1]

    def _ports(self, id_: str) -> str:
        ends = sum(b.count for b in self.bundles if b.z == id_)
        ends += sum(b.count for b in self.bundles if b.a == id_ and self.group_of[b.z] != "management")
        return f"{grouped(ends)} ports used"

    def _needed_w(self, id_: str) -> float:
        return max(_width(text) for text in self._texts(id_, 0.0))

    def _zone_w(self) -> float:
        """Width of the part on the right: its widest row."""
        rows = [[id_ for group in row if group in _BLOCK_ON_RIGHT for id_ in self.ids.get(group, ())] for row in _ROWS]
        needed = [sum(_DASH * math.ceil(self._needed_w(id_) / _DASH) + _SWITCH_GAP for id_ in ids) for ids in rows]
        return max(needed) - _SWITCH_GAP

    # --- texts beside the rows

    def _say_beside(self, groups: Sequence[str], y: float) -> None:
        """Write what a row holds on both sides of it."""
        for group in groups:
            is_right, lines = group in _BLOCK_ON_RIGHT, self._beside(group)
            x = self.form.width - _SIDE_W if is_right else 0.0
            for number, line in enumerate(lines):
                role, semibold = ("muted", False) if number else ("ink", True)
                self.labels.append(Label(x, y + 9 + number * _LEADING, line, LINE_SIZE, role, semibold))
            self.said_to[is_right] = max(self.said_to[is_right], y + len(lines) * _LEADING)

    def _beside(self, group: str) -> list[str]:
        """What a group is, in lines as narrow as the margin."""
        if group == "head":
            return []
        if group == links.CUSTOMER_LAN:
            texts = [self.cluster.model("storage"), *self.cluster.storage_lines()]
            if all(bundle.a != links.CUSTOMER_LAN for bundle in self.bundles):
                texts.append("through ports of the servers; cables provided by others")
        elif group == "storage":
            texts = [self.cluster.storage_title(), *self.cluster.storage_lines()]
        else:
            texts = [links.many(self.cluster.count(group), self.cluster.model(group)), *self._what(group)]
        title, *rest = texts
        lines = list(wrapped(title, LINE_SIZE, _SIDE_W, semibold=True, max_lines=1))
        return lines + [line for text in rest for line in wrapped(text, LINE_SIZE, _SIDE_W, max_lines=3)]

    def _what(self, group: str) -> list[str]:
        if group == "servers":
            served = ["head node serves the files"] if self.cluster.head_serves_files else []
            return [*self.cluster.server_facts(), *served]
        if group == "back-end":
            return ["back end a and b,", "storage only"]
        if group == "management":
            return ["management, 1 GbE"]
        texts = [self.cluster.words(group)]
        if group in ("leaf", "spine") and self.cluster.rails > 1:
            texts.append(f"{self.cluster.rails} rails kept apart")
        elif group == "leaf":
            texts.append(self.cluster.design.platform.fabric.name)
        return texts

    def _between_rows(self, found: Lines) -> None:
        """What the lines between two rows are, in the margin above the lower row."""
        tops = {place.row: place.box.y for place in self.places.values()}
        used: dict[tuple[int, bool], int] = {}
        for level, text in sorted(found.texts_by_level.items(), key=lambda pair: -pair[0].upper):
            lines = wrapped(text, LINE_SIZE, _SIDE_W, max_lines=3)
            place = (level.lower, level.is_right)
            x = self.form.width - _SIDE_W if level.is_right else 0.0
            bottom = tops[level.lower] - 9 - used.get(place, 0) * _LEADING
            for number, line in enumerate(reversed(lines)):
                self.labels.append(Label(x, bottom - number * _LEADING, line, LINE_SIZE, level.role))
            used[place] = used.get(place, 0) + len(lines)

    def _management_text(self) -> None:
        """How many management cables lead to each device."""
        if "management" not in self.ids:
            return
        text = f"Management cables: {', '.join(self._management_cables())}"
        for line in wrapped(text, LINE_SIZE, self.right - self.left, max_lines=2):
            self.bottom += _LEADING + 2
            self.labels.append(Label(self.left, self.bottom, line, LINE_SIZE, "muted"))

    def _management_cables(self) -> Iterator[str]:
        counts: dict[str, dict[str, int]] = {}
        groups = {device.name: group for group, devices in self.cluster.groups.items() for device in devices}
        for bundle in self.cluster.bundles(lambda device: device.name):
            if groups[bundle.z] == "management":
                ends = counts.setdefault(_noun(groups[bundle.a], self.cluster), {})
                ends[bundle.a] = ends.get(bundle.a, 0) + bundle.count
        for noun, ends in counts.items():
            low, high = min(ends.values()), max(ends.values())
            number = f"{low}" if low == high else f"{low} to {high}"
            if len(ends) > 1:
                yield f"{number} to each {noun}"
            else:
                yield f"{number} to the {noun}"


def _split(name: str) -> list[str]:
    """A name in two halves: 'gpu-' and '001', 'back-end-' and 'a-01'."""
    places = [place for place, letter in enumerate(name, 1) if letter == "-"]
    middle = min(places, key=lambda place: abs(place - len(name) / 2), default=0)
    return [name[:middle], name[middle:]] if middle else [name]


def _noun(group: str, cluster: Cluster) -> str:
    """What a device of a group is called in a sentence."""
    if group == "servers":
        return "server"
    if group == "head":
        return "head node"
    return cluster.groups[group][0].role if group == "storage" else "switch"


def _width(text: str) -> float:
    """Width of the smallest box that holds a line."""
    return text_width(text, LINE_SIZE) - small_room(0.0)


_MARGIN = 16.0  # room for the management lines of the switches on either side
# Between rows, and where a line crosses above the servers, below its label.
_GAP_X, _GAP_Y, _CROSSED_GAP_Y, _MANAGEMENT_GAP_Y = 44.0, 40.0, 48.0, 26.0
_HEAD_W, _STORAGE_W, _SPINE_INSET = 132.0, 196.0, 70.0
_SWITCH_H, _SERVER_H, _MAX_SERVER_H, _MANAGEMENT_H = 46.0, 78.0, 170.0, 32.0
_HALF_GAP, _ABOVE_CROSSING = 8.0, 7.0
_LABEL = 9.5
_HEADS = {1: "head node", 2: "head nodes, one active"}
_ON_LEFT = ("core", "spine", "leaf")
_ON_RIGHT = ("storage-core", "storage-spine", "storage-leaf", "gateway")
_BACK_END = ("back-end", "back-end-spine", "back-end-core")
_ABOVE_MANAGEMENT = ("management-aggregation", "management-core")


def grouped_topology(cluster: Cluster, *, is_low: bool = False) -> Drawing:
    """Drawing of the whole cluster, a box a kind of device.

    ``is_low``: for a slide, without the management network.
    """
    return _Layout(cluster, is_low=is_low).drawing()


class _Layout:
    """Collects the shapes; one method a part of the cluster. Boxes are kept by their group."""

    def __init__(self, cluster: Cluster, *, is_low: bool) -> None:
        self.has_management = bool(cluster.count("management")) and not is_low
        self.cluster, self.design, self.platform = cluster, cluster.design, cluster.design.platform
        # Both fabrics' subnet managers are one box.
        self.bundles = {
            (b.a, b.z): b
            for b in cluster.bundles(lambda device: "ufm" if GROUPS[device.role] in MANAGERS else GROUPS[device.role])
        }
        # A line above the servers, under labels.
        self.crosses = any(("head", group) in self.bundles for group in _ON_RIGHT)
        self.gap_y = _CROSSED_GAP_Y if self.crosses else _GAP_Y
        self.boxes: dict[str, Box] = {}
        self.links: list[Link] = []
        self.labels: list[Label] = []
        self.left, self.right = _MARGIN, COLUMN_PX - _MARGIN
        # Files of the customer's or of storage that is bought; the head node's own and local drives have no box.
        self.storage = "storage" if cluster.count("storage") else links.CUSTOMER_LAN
        self.has_storage = bool(cluster.count("storage")) or self.platform.attachment == "lan"
        self.storage_x = self.right - _STORAGE_W
        self.compute_right = self.storage_x - _GAP_X if self.has_storage else self.right

    def drawing(self) -> Drawing:
        """Place everything from top to bottom."""
        y = self._switches(10.0)
        bottom = self._storage(y) if self.has_storage else y + _SERVER_H
        self._servers(y, min(bottom - y, _MAX_SERVER_H))
        for (lower, upper), bundle in self.bundles.items():
            if upper not in (*_ON_LEFT, *_ON_RIGHT):
                continue
            box, count, kind = self.boxes[lower], bundle.count, bundle.kind
            if lower == "gateway":
                self._across(upper, lower, box.y + 35, count, kind)
            elif lower == "servers" and upper in _ON_RIGHT:
                self._round(lower, upper, count, kind)
            elif lower == "servers":
                note = f"{bundle.of_each} from each server" if self.cluster.count(lower) > 1 else ""
                self._down(upper, lower, box.x + 26, count, kind, note)
            elif lower == "ufm":
                self._from_managers(upper, count, kind)
            elif lower == "head" and upper in _ON_RIGHT:
                self._from_heads(upper, count, kind)
            elif lower == "head":
                self._down(upper, lower, box.x + 22, count, kind)
            elif lower in ("storage", links.CUSTOMER_LAN):
                note = self._from_each_node(count) if lower == "storage" else "customer LAN"
                self._down(upper, lower, self.storage_x + 26, count, kind, note, "storage")
            else:
                self._between_switches(bundle)
        if self.storage == links.CUSTOMER_LAN and self.has_storage and (self.storage, "leaf") not in self.bundles:
            self._by_others()
        if self.has_management:
            bottom = self._management(bottom + _MANAGEMENT_GAP_Y)
        # A box alone of its kind is called by the name of its device.
        ids = {group: "ufm" if group == "ufm" else self.cluster.id(group) for group in self.boxes}
        boxes = tuple(replace(box, id=ids[group]) for group, box in self.boxes.items())
        named = tuple(
            replace(one, id=f"{ids[one.source]}--{ids[one.target]}", source=ids[one.source], target=ids[one.target])
            for one in self.links
        )
        return Drawing(COLUMN_PX, bottom + 4, self.cluster.title(), boxes, named, (), tuple(self.labels))

    def _stack(self, group: str, x: float, y: float, width: float, height: float, *lines: str, **more: object) -> Box:
        """Box of a group of switches with its number."""
        count = self.cluster.count(group)
        title = links.many(count, self.cluster.model(group))
        self.boxes[group] = Box(group, x, y, width, height, title, lines, copies=count, **more)  # type: ignore[arg-type]
        return self.boxes[group]

    # --- switches

    def _switches(self, y: float) -> float:
        """Levels of both networks, the lowest ones side by side. Returns where the servers start."""
        left = [group for group in _ON_LEFT if self.cluster.count(group)]
        right = [group for group in _ON_RIGHT if self.cluster.count(group)]
        levels = max(len(left), len(right))
        for groups, place in ((left, self._fabric_box), (right, self._front_end_box)):
            for level, group in enumerate(reversed(groups)):
                place(group, y + (levels - 1 - level) * (_SWITCH_H + self.gap_y))
        return y + levels * (_SWITCH_H + self.gap_y)

    def _fabric_box(self, group: str, y: float) -> None:
        """Bar over what hangs below it, or a narrower one over the leaves."""
        reaches_storage = (self.storage, group) in self.bundles
        lowest = group == "leaf" or not self.cluster.count("leaf")
        x, right = self.left, self.right if reaches_storage else self.compute_right
        if not lowest and not reaches_storage:
            x += _SPINE_INSET
            right -= _SPINE_INSET
            if self.has_storage and ("storage", "leaf") in self.bundles:
                right += _STORAGE_W + _GAP_X
        text = self.cluster.words(group)
        if self.cluster.rails > 1:
            text = f"{text} in {self.cluster.rails} rails kept apart"
        if lowest:
            text += f", {self.platform.fabric.name}"
            net = self.cluster.network(NetworkRole.COMPUTE)
            if net is not None:
                text += " · " + self._ports_text(group, net)
        self._stack(group, x, y, right - x, _SWITCH_H, text, role="network")

    def _ports_text(self, group: str, net: Network) -> str:
        """Ports of the drawn switches; of leaves below spines those of the leaves alone, as in the list of cables."""
        used, free = int(net.ports_used[0]), int(net.ports_free[0])
        if any(lower == group and upper in _ON_LEFT for lower, upper in self.bundles):
            ends = [(pair.count(group), bundle.count) for pair, bundle in self.bundles.items() if pair[1] in _ON_LEFT]
            used, free = sum(times * count for times, count in ends), int(net.leaf_ports_free[0])
        return f"{grouped(used)} ports used, {grouped(free)} free"

    def _front_end_box(self, group: str, y: float) -> None:
        text = self.cluster.words(group)
        lines = [f"InfiniBand to Ethernet {text}" if group == "gateway" else text]
        from_servers = self.bundles.get(("servers", group))
        if from_servers is not None:
            cables = links.link_text(from_servers.count, from_servers.kind)
            lines.append(f"{cables} from servers")
        self._stack(group, self.storage_x, y, _STORAGE_W, _SWITCH_H, *lines, role="network")

    # --- servers and storage

    def _servers(self, y: float, height: float) -> None:
        x = self.left
        heads = self.cluster.count("head")
        if heads:
            head, lines = self.platform.head_node, [_HEADS.get(heads, "management servers")]
            assert head is not None, "the plan has a head node, the platform has none"
            if head.memory_bytes is not None:
                lines.append(f"{links.memory(head.memory_bytes.value)} memory")
            if self.cluster.head_serves_files:
                lines.append("serves the files")
            managers = self.cluster.count("ufm") + self.cluster.count("storage-ufm")
            own = (height - _HALF_GAP) / 2 if managers else height
            if managers:
                lines = lines[:1]
                top, model = y + own + _HALF_GAP, self.cluster.model("ufm")
                text = (f"{managers} × subnet manager",)
                self.boxes["ufm"] = Box("ufm", x, top, _HEAD_W, own, model.split()[0], text, "network", managers)
            self.boxes["head"] = Box(
                "head", x, y, _HEAD_W, own, links.many(heads, head.name), tuple(lines), "other", heads
            )
            x += _HEAD_W + 30
        count, per = self.cluster.count("servers"), self.platform.gpus_per_server
        gpus, *facts = self.cluster.server_facts()
        self.boxes["servers"] = Box(
            "servers",
            x,
            y,
            self.compute_right - x,
            height,
            links.many(count, self.cluster.model("servers")),
            (gpus, " · ".join(facts[:2]), *facts[2:]),
            "gpu",
            count,
            glyphs=per,
            glyph_name="GPU",
        )

    def _storage(self, y: float) -> float:
        """Storage with its back end below. Returns where they end."""
        units, nodes = self.cluster.count("storage"), self.cluster.storage_nodes
        box = Box(
            self.storage,
            self.storage_x,
            y,
            _STORAGE_W,
            _SERVER_H,
            self.cluster.storage_title(),
            tuple(self.cluster.storage_lines()),
            "storage",
            max(units, 1),
            glyphs=nodes // units if units and nodes > units else 0,
            glyph_name="node",
        )
        self.boxes[self.storage] = box
        above, upper = self.storage, box
        for group in _BACK_END:
            if not self.cluster.count(group):
                continue
            text = "back end, storage only" if group == "back-end" else self.cluster.words(group)
            x, top = self.storage_x + 34, upper.bottom + self.gap_y
            lower = self._stack(group, x, top, _STORAGE_W - 34, 44, text, role="storage", quiet=True)
            bundle = self.bundles[above, group]
            note = "two networks, A and B" if group == "back-end" else ""
            self._down(above, group, lower.x + 22, bundle.count, bundle.kind, note, "storage")
            above, upper = group, lower
        return upper.bottom

    # --- links

    def _down(
        self, upper: str, lower: str, x: float, count: int, kind: LinkType, note: str = "", role: str = "network"
    ) -> None:
        start, end = self.boxes[upper].bottom, self.boxes[lower].y
        # The label stands in the gap just above the lower box, also where the line passes another row.
        middle = end - self.gap_y / 2 - (_ABOVE_CROSSING if self.crosses and lower == "servers" else 0)
        labels = [Label(x + 7, middle + (-1.5 if note else 3), links.link_text(count, kind), _LABEL, semibold=True)]
        if note:
            labels.append(Label(x + 7, middle + 9.5, note, LINE_SIZE, "muted"))
        way = ((x, start), (x, end))
        self.links.append(Link("", upper, lower, way, links.stroke(kind), role, labels=tuple(labels), count=count))

    def _across(self, left: str, right: str, y: float, count: int, kind: LinkType, role: str = "network") -> None:
        """Horizontal link; its label stands on two short lines above it, for the gap is narrow."""
        start, end = self.boxes[left].right + (7 if self.boxes[left].copies > 1 else 0), self.boxes[right].x
        middle = (start + end) / 2
        labels = (
            Label(middle, y - 17, f"{count} ×", _LABEL, semibold=True, anchor="middle"),
            Label(middle, y - 6, links.speed(kind).removesuffix(" Gbit/s"), LINE_SIZE, "muted", anchor="middle"),
        )
        way = ((start, y), (end, y))
        self.links.append(Link("", left, right, way, links.stroke(kind), role, labels=labels, count=count))

    def _from_each_node(self, count: int) -> str:
        nodes = self.cluster.storage_nodes
        return "" if nodes < 2 or count % nodes else f"{count // nodes} from each node"

    def _between_switches(self, bundle: Bundle) -> None:
        lower, upper = bundle.a, bundle.z
        box, above = self.boxes[lower], self.boxes[upper]
        share = 0.3 if lower in _ON_RIGHT else 0.5  # the label stands before the lines of the margin
        x = max(box.x, above.x) + (min(box.right, above.right) - max(box.x, above.x)) * share
        if (self.storage, upper) in self.bundles:
            x = self.left + 180  # beside the way from storage to the spine
        note = f"{bundle.of_each} up from each"
        net = self.cluster.network(NetworkRole.COMPUTE)
        if lower == "leaf" and net is not None:
            note += f" leaf, {links.oversubscribed(net)}"
        role = "storage" if lower in _ON_RIGHT else "network"
        self._down(upper, lower, x, bundle.count, bundle.kind, note, role)

    def _round(self, lower: str, upper: str, count: int, kind: LinkType) -> None:
        """From the servers to the switches of the storage, which stand higher on the right."""
        box, servers = self.boxes[upper], self.boxes[lower]
        x, y = (servers.right + self.storage_x) / 2, servers.y + 24
        start = servers.right + (7 if servers.copies > 1 else 0)
        way = ((start, y), (x, y), (x, box.y + 24), (box.x, box.y + 24))
        self.links.append(Link("", lower, upper, way, links.stroke(kind), "storage", count=count))

    def _from_managers(self, upper: str, count: int, kind: LinkType) -> None:
        """Up between the head nodes and the servers; to the storage's leaves above the servers."""
        box, above = self.boxes["ufm"], self.boxes[upper]
        start = box.right + (7 if box.copies > 1 else 0)
        y = box.y + box.height / 2
        if upper in _ON_LEFT:
            way: tuple[tuple[float, float], ...] = ((start, y), (start + 6, y), (start + 6, above.bottom))
        else:
            x, level = above.x + 12, self.boxes["servers"].y - 7
            way = ((start, y + 6), (start + 12, y + 6), (start + 12, level), (x, level), (x, above.bottom))
        role = "storage" if upper in _ON_RIGHT else "network"
        self.links.append(Link("", "ufm", upper, way, links.stroke(kind), role, count=count))

    def _from_heads(self, upper: str, count: int, kind: LinkType) -> None:
        """From the head nodes to the storage's leaves, above the servers; its label stands over the head nodes."""
        box, above = self.boxes["head"], self.boxes[upper]
        x, start, level = above.x + 6, box.x + 22, box.y - 11
        way = ((start, box.y), (start, level), (x, level), (x, above.bottom))
        label = Label(box.x, level - 5, links.link_text(count, kind), _LABEL, semibold=True)
        self.links.append(Link("", "head", upper, way, links.stroke(kind), "storage", labels=(label,), count=count))

    def _by_others(self) -> None:
        """The servers' own ports lead to storage at hand; the cables are no part of the design."""
        servers, storage = self.boxes["servers"], self.boxes[self.storage]
        y, start = servers.y + servers.height / 2 + 8, servers.right + (7 if servers.copies > 1 else 0)
        middle = (start + storage.x) / 2
        label = Label(middle, y - 6, "LAN", LINE_SIZE, "muted", anchor="middle")
        way = ((start, y), (storage.x, y))
        self.links.append(Link("", "servers", self.storage, way, 1.4, "storage", labels=(label,), count=0))

    # --- management

    def _management(self, y: float) -> float:
        """One bar below everything, dashed lines up to each device; the switches are reached along the margins."""
        width = self.right - self.left
        if self.cluster.count("in-band"):
            y = self._in_band(y)
        bar = self._stack("management", self.left, y, width, _MANAGEMENT_H, role="other", quiet=True)
        net = self.cluster.network(NetworkRole.MANAGEMENT)
        text = "out-of-band management, 1 GbE" if self.cluster.count("in-band") else "management, 1 GbE"
        if net is not None:
            text += " · " + f"{grouped(int(net.ports_used[0]))} ports used"
        self.labels.append(Label(bar.right - 10, bar.y + 19.5, text, LINE_SIZE, "muted", anchor="end"))
        lanes = {-1: 0, 1: 0}
        for (group, upper), bundle in self.bundles.items():
            if upper == "management" and not group.startswith("in-band-"):
                way = self._way_down(group, bar, lanes)
                self.links.append(Link("", group, bar.id, way, 0.9, "other", dashed=True, count=bundle.count))
        bottom, x = bar.bottom, self.left + 26
        lower = "management"
        for group in _ABOVE_MANAGEMENT:
            if self.cluster.count(group):
                y, text = bar.bottom + self.gap_y, self.cluster.words(group)
                box = self._stack(group, x, y, _STORAGE_W, _SWITCH_H, text, role="other", quiet=True)
                bundle = self.bundles[lower, group]
                if lower == "management":
                    self._down(lower, group, x + 22, bundle.count, bundle.kind, "", "other")
                else:
                    self._across(lower, group, box.y + 35, bundle.count, bundle.kind, "other")
                lower, x, bottom = group, box.right + _GAP_X + 20, box.bottom
        return bottom

    def _in_band(self, y: float) -> float:
        """The bar of the in-band network below servers and head nodes. Returns where the next bar starts."""
        bar = self._stack(
            "in-band", self.left, y, self.compute_right - self.left, _MANAGEMENT_H, role="other", quiet=True
        )
        text = f"in-band, {self.platform.in_band_link}"
        spines = self.cluster.count("in-band-spine")
        if spines:
            title = f"{grouped(bar.copies)} + {grouped(spines)} × {self.cluster.model('in-band')}"
            self.boxes["in-band"] = replace(bar, title=title)
            text += f" · {spines} spines"
        outside = sum(bundle.count for (lower, _), bundle in self.bundles.items() if lower == links.CUSTOMER_LAN)
        if outside:
            text += f" · {outside} LAN uplinks"
        self.labels.append(Label(bar.right - 10, bar.y + 19.5, text, LINE_SIZE, "muted", anchor="end"))
        for group in ("head", "servers"):
            bundle = self.bundles.get((group, "in-band"))
            if bundle is None:
                continue
            box = self.boxes[group]
            if group == "head" and "ufm" in self.boxes:
                start, lane = box.y + box.height / 2, box.x - 5
                way: tuple[tuple[float, float], ...] = ((box.x, start), (lane, start), (lane, bar.y))
            else:
                way = ((box.centre_x, box.bottom), (box.centre_x, bar.y))
            label = Label(way[-1][0] + 6, bar.y - 6, links.link_text(bundle.count, bundle.kind), LINE_SIZE, "muted")
            shown = (label,) if group == "servers" else ()
            self.links.append(
                Link("", group, "in-band", way, 0.9, "other", labels=shown, dashed=True, count=bundle.count)
            )
        return bar.bottom + 22

    def _way_down(self, group: str, bar: Box, lanes: dict[int, int]) -> tuple[tuple[float, float], ...]:
        """Straight down where nothing stands below, else along the margin."""
        box = self.boxes[group]
        if self.cluster.count("in-band") and group == "servers":
            # Next to the bar of the in-band network, which ends with the servers; so may that of the management.
            x = self.compute_right + 10
            below = ((x, bar.y),) if self.has_storage else ((x, bar.y + 16), (bar.right, bar.y + 16))
            return (box.right, box.bottom - 8), (x, box.bottom - 8), *below
        if group == "in-band":
            return (box.x + 12, box.bottom), (box.x + 12, bar.y)
        shares = {"head": 0.5, "servers": 0.5, "storage": 0.085}
        if group in shares:
            x = box.x + shares[group] * box.width
            return (x, box.bottom), (x, bar.y)
        if group in _BACK_END and not self.cluster.count("back-end-spine"):
            return (box.centre_x, box.bottom), (box.centre_x, bar.y)
        side = -1 if group in (*_ON_LEFT, "ufm", "head") else 1
        lane = 3.0 + 3.0 * lanes[side]
        lanes[side] += 1
        if side < 0:
            return (box.x, box.y + 12), (lane, box.y + 12), (lane, bar.y + 16), (bar.x, bar.y + 16)
        x = COLUMN_PX - lane
        return (box.right, box.y + 30), (x, box.y + 30), (x, bar.y + 16), (bar.right, bar.y + 16)


def topology(design: DesignAnswer) -> Drawing:
    """Drawing of the whole cluster: servers, fabric, gateway, storage, back end and management.

    Up to 16 servers each device is a box of its own, named as in the plan, where the page holds them; else each kind
    of device is one box with its number.
    """
    cluster = Cluster(design)
    return device_topology(cluster) or grouped_topology(cluster)
