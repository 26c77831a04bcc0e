"""Drawings as SVG. No gradients, filters or foreign objects: they fail in some PDF viewers."""

from xml.sax.saxutils import escape, quoteattr

from sizer.drawings.palette import FONT, LIGHT, Palette
from sizer.drawings.shapes import Bar, Box, Drawing, Label, Link, text_width, wrapped

TITLE_SIZE = 10.5
LINE_SIZE = 9.0
_PADDING = 11.0
_STACK_STEP = 3.5
_MAX_SHADOWS = 2
# A part drawn inside a box, and the box height from which the parts stand below the text instead of beside it.
_GLYPH_W, _GLYPH_H, _GLYPH_GAP = 27.0, 18.0, 4.0
_TALL = 110.0


def write_svg(drawing: Drawing, palette: Palette = LIGHT) -> str:
    """SVG text of a drawing, without XML declaration, ready to stand inside HTML."""
    width, height = _n(drawing.width), _n(drawing.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="{FONT}" aria-label={quoteattr(drawing.title)}>',
        f"<title>{escape(drawing.title)}</title>",
    ]
    parts += [_link(link, palette) for link in drawing.links]
    parts += [_box(box, palette) for box in drawing.boxes]
    parts += [_bar(bar, palette) for bar in drawing.bars]
    labels = [label for link in drawing.links for label in link.labels]
    parts += [_label(label, palette) for label in (*labels, *drawing.labels)]
    parts.append("</svg>")
    return "\n".join(parts)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _rectangle(x: float, y: float, width: float, height: float, attributes: str) -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" {attributes}/>'


def _box(box: Box, palette: Palette) -> str:
    fill = palette.surface if box.quiet else palette.background
    line = f'rx="2" fill="{fill}" stroke="{palette.hairline}" stroke-width="1"'
    parts = []
    for step in range(min(box.copies - 1, _MAX_SHADOWS), 0, -1):
        shift = step * _STACK_STEP
        parts.append(_rectangle(box.x + shift, box.y - shift, box.width, box.height, line))
    parts.append(_rectangle(box.x, box.y, box.width, box.height, line))
    parts.append(_rectangle(box.x, box.y, 3, box.height, f'fill="{palette.colour(box.role)}"'))
    parts += [_glyph(box, x, y, palette) for x, y in _glyph_places(box)]
    parts += [_label(label, palette) for label in box_labels(box)]
    return "".join(parts)


def _glyph(box: Box, x: float, y: float, palette: Palette) -> str:
    colour = palette.colour(box.role)
    frame = _rectangle(
        x, y, _GLYPH_W, _GLYPH_H, f'rx="1.5" fill="{colour}" fill-opacity="0.1" stroke="{colour}" stroke-width="0.8"'
    )
    name = Label(x + _GLYPH_W / 2, y + _GLYPH_H / 2 + 2.6, box.glyph_name, 7.5, box.role, anchor="middle")
    return frame + (_label(name, palette) if box.glyph_name else "")


def _glyph_places(box: Box) -> list[tuple[float, float]]:
    """Upper left corners of the parts: below the text in a tall box, right of it in a flat one; none without room."""
    if not box.glyphs:
        return []
    step_x, step_y = _GLYPH_W + _GLYPH_GAP, _GLYPH_H + _GLYPH_GAP
    room = box.width - 2 * _PADDING + _GLYPH_GAP
    if box.height >= _TALL:
        columns = min(box.glyphs, 8 if 8 * step_x <= room else 4)
        rows = -(-box.glyphs // columns)
        left, top = box.x + _PADDING, max(label.y for label in box_labels(box)) + 12
    else:
        columns = -(-box.glyphs // 2)
        rows = -(-box.glyphs // columns)
        text = max((text_width(line, LINE_SIZE) for line in (*box.lines, box.title)), default=0.0)
        left = box.right - _PADDING - columns * step_x + _GLYPH_GAP
        top = box.y + (box.height - rows * step_y + _GLYPH_GAP) / 2
        if text * 1.15 + columns * step_x > room:
            return []
    return [(left + n % columns * step_x, top + n // columns * step_y) for n in range(box.glyphs)]


def box_labels(box: Box) -> tuple[Label, ...]:
    """The text inside a box, broken to its width and centred over its height."""
    room = box.width - 2 * _PADDING
    title = wrapped(box.title, TITLE_SIZE, room, semibold=True, max_lines=2)
    lines = [part for line in box.lines for part in wrapped(line, LINE_SIZE, room, max_lines=2)]
    leading, title_leading = LINE_SIZE * 1.4, TITLE_SIZE * 1.3
    total = len(title) * title_leading + len(lines) * leading
    top = box.y + (_PADDING if box.height >= _TALL else max((box.height - total) / 2, 3.0))
    labels = [
        Label(box.x + _PADDING, top + (row + 0.8) * title_leading, text, TITLE_SIZE, "ink", semibold=True)
        for row, text in enumerate(title)
    ]
    top += len(title) * title_leading
    labels += [
        Label(box.x + _PADDING, top + (row + 0.8) * leading, text, LINE_SIZE, "muted") for row, text in enumerate(lines)
    ]
    return tuple(labels)


def _link(link: Link, palette: Palette) -> str:
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in link.points)
    colour = palette.colour(link.role)
    dash = ' stroke-dasharray="3 3"' if link.dashed else ""
    line = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{_n(link.stroke)}"{dash}/>'
    if not link.arrow:
        return line
    x, y = link.points[-1]
    head = f'<path d="M{_n(x)},{_n(y)} l-6,-3.5 v7 z" fill="{colour}"/>'
    return line + head


def _bar(bar: Bar, palette: Palette) -> str:
    opacity = "" if bar.opacity >= 1 else f' fill-opacity="{_n(bar.opacity)}"'
    return _rectangle(bar.x, bar.y, bar.width, bar.height, f'fill="{palette.colour(bar.role)}"{opacity}')


def _label(label: Label, palette: Palette) -> str:
    weight = ' font-weight="600"' if label.semibold else ""
    anchor = "" if label.anchor == "start" else f' text-anchor="{label.anchor}"'
    return (
        f'<text x="{_n(label.x)}" y="{_n(label.y)}" font-size="{_n(label.size)}" '
        f'fill="{palette.colour(label.role)}"{weight}{anchor}>{escape(label.text)}</text>'
    )
