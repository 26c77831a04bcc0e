"""What a drawing consists of: boxes, links between them and loose text, in pixels, y downwards."""

import re
from dataclasses import dataclass
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
