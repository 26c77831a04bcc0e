"""What a drawing consists of: boxes, links between them and loose text, in pixels, y downwards."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from sizer.base.texts import with_times_sign

Anchor = Literal["start", "middle", "end"]

# Advance widths of Inter Regular for the characters 32 to 126, in thousandths of the type size.
_WIDTHS = (
    281, 288, 466, 633, 642, 982, 644, 300, 365, 365, 501, 662, 288, 460, 288, 360, 631, 407, 610, 618, 646, 593,
    620, 566, 619, 620, 288, 302, 662, 662, 662, 511, 966, 690, 654, 730, 722, 601, 590, 746, 743, 269, 571, 672,
    565, 903, 753, 765, 639, 765, 644, 642, 646, 744, 690, 985, 682, 679, 629, 365, 360, 365, 471, 456, 323, 562,
    612, 571, 612, 583, 370, 613, 591, 242, 242, 549, 242, 876, 591, 600, 612, 612, 376, 528, 327, 591, 562, 818,
    546, 562, 552, 426, 333, 426, 662,
)  # fmt: skip
# The same of characters beyond those, and what any other one is taken for.
_OTHER_WIDTHS = {"\u202f": 182, "\u00a0": 281, "·": 288, "×": 662, "≥": 662, "±": 662, "–": 500, "…": 864}
_OTHER_WIDTH = 620
# Semibold runs about 5 % wider than regular.
_SEMIBOLD_FACTOR = 1.05


# Where text may be broken: not at no-break spaces, which hold a number and its unit together.
_BREAKS = re.compile(r"[ \t\r\n]+")
_HYPHENS = re.compile(r"(?<=-)(?=.)")


def text_width(text: str, size: float, *, semibold: bool = False) -> float:
    """Width of a line of text in pixels."""
    units = sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else _OTHER_WIDTHS.get(c, _OTHER_WIDTH) for c in text)
    return units * size / 1000 * (_SEMIBOLD_FACTOR if semibold else 1.0)


def wrapped(text: str, size: float, width: float, *, semibold: bool = False, max_lines: int = 3) -> tuple[str, ...]:
    """Text broken at spaces into lines that fit ``width``, and a word that is too long for a line after its hyphens.

    What does not fit ends in an ellipsis.
    """
    lines: list[str] = []
    for word in filter(None, _BREAKS.split(with_times_sign(text))):
        is_long = max_lines > 1 and text_width(word, size, semibold=semibold) > width
        for number, part in enumerate(_HYPHENS.split(word) if is_long else [word]):
            candidate = f"{lines[-1]}{'' if number else ' '}{part}" if lines else part
            if lines and text_width(candidate, size, semibold=semibold) <= width:
                lines[-1] = candidate
            else:
                lines.append(part)
    if len(lines) > max_lines:
        lines = [*lines[: max_lines - 1], f"{lines[max_lines - 1]} …"]
    return tuple(_shortened(line, size, width, semibold=semibold) for line in lines)


def _shortened(line: str, size: float, width: float, *, semibold: bool) -> str:
    if text_width(line, size, semibold=semibold) <= width:
        return line
    while line and text_width(line + "…", size, semibold=semibold) > width:
        line = line[:-1]
    return line.rstrip() + "…"


@dataclass(frozen=True)
class Box:
    """A device, or ``copies`` identical devices drawn as one stack."""

    id: str
    x: float
    y: float
    width: float
    height: float
    title: str
    lines: tuple[str, ...] = ()
    role: str = "ink"  # colour of the left edge
    copies: int = 1
    quiet: bool = False  # management and other devices off the data path
    glyphs: int = 0  # parts worth counting by eye: GPUs of a server, nodes of a chassis
    glyph_name: str = ""
    hatched: bool = False  # empty: a blanking panel
    small: bool = False  # small type close to the edges: a device in its rack unit

    @property
    def centre_x(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def right(self) -> float:
        return self.x + self.width


@dataclass(frozen=True)
class Label:
    """One line of text. ``y`` is its baseline."""

    x: float
    y: float
    text: str
    size: float = 9.5
    role: str = "ink"
    semibold: bool = False
    anchor: Anchor = "start"


@dataclass(frozen=True)
class Link:
    """A bundle of cables between two boxes."""

    id: str
    source: str
    target: str
    points: tuple[tuple[float, float], ...]
    stroke: float
    role: str = "ink"
    dashed: bool = False
    arrow: bool = False
    labels: tuple[Label, ...] = ()
    count: int = 1  # cables in the bundle


@dataclass(frozen=True)
class FilledBar:
    """A plain filled rectangle, e.g. a load."""

    x: float
    y: float
    width: float
    height: float
    role: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Drawing:
    """A finished layout. ``title`` is what a screen reader says."""

    width: float
    height: float
    title: str
    boxes: tuple[Box, ...] = ()
    links: tuple[Link, ...] = ()
    bars: tuple[FilledBar, ...] = ()
    labels: tuple[Label, ...] = ()


TITLE_SIZE = 10.5
# The smallest letters of a drawing: 7 pt where it is as wide as the text column.
LINE_SIZE = 9.4
# Room between the outline of a box and its text or parts.
_PADDING = 11.0
# The same in a small box, left and right.
_SMALL_LEFT, _SMALL_RIGHT = 7.0, 3.0
# Baseline of a line of text, as a share of its leading.
_BASELINE = 0.8
# Inter Regular: height above and below the baseline, as a share of the type size.
_ASCENT, _DESCENT = 0.969, 0.242
_STACK_STEP = 3.5
_MAX_SHADOWS = 2
_EDGE_WIDTH = 3.0
# A part drawn inside a box, and the box height from which the parts stand below the text instead of beside it.
_GLYPH_W, _GLYPH_H, _GLYPH_GAP = 27.0, 18.0, 4.0
_TALL = 110.0


@dataclass(frozen=True)
class Rectangle:
    """Upper left corner and size."""

    x: float
    y: float
    width: float
    height: float


def number(value: float) -> str:
    """A coordinate as text, to a hundredth of a pixel."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def stack(box: Box) -> tuple[Rectangle, ...]:
    """The copies that show behind a box, the farthest first."""
    shifts = [step * _STACK_STEP for step in range(min(box.copies - 1, _MAX_SHADOWS), 0, -1)]
    return tuple(Rectangle(box.x + shift, box.y - shift, box.width, box.height) for shift in shifts)


def edge(box: Box) -> Rectangle:
    """The coloured left edge."""
    return Rectangle(box.x, box.y, _EDGE_WIDTH, box.height)


def glyphs(box: Box) -> tuple[Rectangle, ...]:
    """The parts of a box: below the text in a tall one, right of it in a flat one; none without room."""
    if not box.glyphs:
        return ()
    step_x, step_y = _GLYPH_W + _GLYPH_GAP, _GLYPH_H + _GLYPH_GAP
    room = box.width - 2 * _PADDING + _GLYPH_GAP
    if box.height >= _TALL:
        columns = min(box.glyphs, 8 if 8 * step_x <= room else 4)
        rows = -(-box.glyphs // columns)
        left, top = box.x + _PADDING, max((label.y for label in box_labels(box)), default=box.y) + 12
    else:
        columns = -(-box.glyphs // 2)
        rows = -(-box.glyphs // columns)
        text = max((text_width(line, LINE_SIZE) for line in (*box.lines, box.title)), default=0.0)
        left = box.right - _PADDING - columns * step_x + _GLYPH_GAP
        top = box.y + (box.height - rows * step_y + _GLYPH_GAP) / 2
        if text * 1.15 + columns * step_x > room:
            return ()
    places = [(left + n % columns * step_x, top + n // columns * step_y) for n in range(box.glyphs)]
    return tuple(Rectangle(x, y, _GLYPH_W, _GLYPH_H) for x, y in places)


def glyph_label(box: Box, glyph: Rectangle) -> Label:
    """The name inside a part; its text is empty where the parts have no name."""
    x, y = glyph.x + glyph.width / 2, glyph.y + glyph.height / 2 + 0.35 * LINE_SIZE
    return Label(x, y, box.glyph_name, LINE_SIZE, box.role, anchor="middle")


def box_labels(box: Box) -> tuple[Label, ...]:
    """The text inside a box, broken to its width and centred over its height; the lines of the title are semibold.

    What does not fit the height is left out from the end; the first line of the title always stands.
    """
    if box.small:
        return _small_labels(box)
    room = box.width - 2 * _PADDING
    # A word that the box is too narrow for is set smaller before it is cut.
    is_wide = any(text_width(word, TITLE_SIZE, semibold=True) > room for word in box.title.split())
    size = LINE_SIZE if is_wide else TITLE_SIZE
    title = wrapped(box.title, size, room, semibold=True, max_lines=2 if box.height >= 2 * TITLE_SIZE else 1)
    lines = [part for line in box.lines for part in wrapped(line, LINE_SIZE, room, max_lines=2)]
    # A line's baseline follows from its place among the others.
    texts = [(text, size, "ink", True) for text in title] + [(text, LINE_SIZE, "muted", False) for text in lines]
    labels = [Label(box.x + _PADDING, 0.0, *text) for text in texts]
    while len(labels) > 1 and sum(leading(label) for label in labels) > box.height:
        labels.pop()
    total = sum(leading(label) for label in labels)
    y = box.y + (_PADDING if box.height >= _TALL else (box.height - total) / 2)
    placed = []
    for label in labels:
        placed.append(replace(label, y=y + _BASELINE * leading(label)))
        y += leading(label)
    return tuple(placed)


def _small_labels(box: Box) -> tuple[Label, ...]:
    """One line for the title and each line below it, all in one size."""
    room = small_room(box.width)
    texts = [(box.title, "ink"), *((line, "muted") for line in box.lines)]
    lines = [Label(box.x + _SMALL_LEFT, 0.0, text, LINE_SIZE, role) for text, role in texts if text]
    y = box.y + (box.height - sum(leading(line) for line in lines)) / 2
    placed = []
    for line in lines:
        (text,) = wrapped(line.text, LINE_SIZE, room, max_lines=1)
        placed.append(replace(line, text=text, y=y + _BASELINE * leading(line)))
        y += leading(line)
    return tuple(placed)


def small_room(width: float) -> float:
    """Room for text in a small box."""
    return width - _SMALL_LEFT - _SMALL_RIGHT


def leading(label: Label) -> float:
    """Distance from one line of a box's text to the next."""
    return label.size * (1.3 if label.semibold else 1.4)


def line_top(label: Label) -> float:
    """Upper end of the leading of a line of a box's text."""
    return label.y - _BASELINE * leading(label)


def text_area(label: Label) -> Rectangle:
    """What a line of text covers: its advance width, from the top of the capitals' line to below the descenders."""
    width = text_width(label.text, label.size, semibold=label.semibold)
    left = {"start": label.x, "middle": label.x - width / 2, "end": label.x - width}[label.anchor]
    return Rectangle(left, label.y - _ASCENT * label.size, width, (_ASCENT + _DESCENT) * label.size)
