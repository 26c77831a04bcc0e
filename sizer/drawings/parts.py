"""Where the parts of a shape stand: every writer (SVG, slides) draws them in these places."""

from dataclasses import dataclass, replace

from sizer.drawings.shapes import Box, Label, text_width, wrapped

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
