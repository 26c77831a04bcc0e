"""Drawings as SVG. No gradients, filters or foreign objects: they fail in some PDF viewers."""

import zlib
from xml.sax.saxutils import escape, quoteattr

from sizer.drawings.palette import FONT, LIGHT, Palette
from sizer.drawings.shapes import (
    Box,
    Drawing,
    FilledBar,
    Label,
    Link,
    Rectangle,
    box_labels,
    edge,
    glyph_label,
    glyphs,
    number,
    stack,
)


def write_svg(drawing: Drawing, palette: Palette = LIGHT) -> str:
    """SVG text of a drawing, without XML declaration, ready to stand inside HTML."""
    width, height = number(drawing.width), number(drawing.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="{FONT}" aria-label={quoteattr(drawing.title)}>',
        f"<title>{escape(drawing.title)}</title>",
    ]
    # An id is unique on its page, and a page has several drawings.
    hatch = f"hatch-{palette.name}-{zlib.crc32(drawing.title.encode()):08x}"
    if any(box.hatched for box in drawing.boxes):
        parts.append(_hatch(palette, hatch))
    parts += [_link(link, palette) for link in drawing.links]
    parts += [_box(box, palette, hatch) for box in drawing.boxes]
    parts += [_bar(bar, palette) for bar in drawing.bars]
    labels = [label for link in drawing.links for label in link.labels]
    parts += [_label(label, palette) for label in (*labels, *drawing.labels)]
    parts.append("</svg>")
    return "\n".join(parts)


def _hatch(palette: Palette, id_: str) -> str:
    """Pattern of diagonal lines."""
    return (
        f'<defs><pattern id="{id_}" patternUnits="userSpaceOnUse" width="6" height="6">'
        f'<path d="M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2" stroke="{palette.hairline}" stroke-width="1"/></pattern></defs>'
    )


def _rectangle(place: Rectangle | Box | FilledBar, attributes: str) -> str:
    x, y, width, height = (number(value) for value in (place.x, place.y, place.width, place.height))
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {attributes}/>'


def _box(box: Box, palette: Palette, hatch: str) -> str:
    fill = palette.surface if box.quiet else palette.background
    line = f'stroke="{palette.hairline}" stroke-width="1"'
    face = f"url(#{hatch})" if box.hatched else fill
    parts = [_rectangle(copy, f'rx="2" fill="{fill}" {line}') for copy in stack(box)]
    parts.append(_rectangle(box, f'rx="2" fill="{face}" {line}'))
    parts.append(_rectangle(edge(box), f'fill="{palette.colour(box.role)}"'))
    parts += [_glyph(box, glyph, palette) for glyph in glyphs(box)]
    parts += [_label(label, palette) for label in box_labels(box)]
    return "".join(parts)


def _glyph(box: Box, glyph: Rectangle, palette: Palette) -> str:
    colour = palette.colour(box.role)
    frame = _rectangle(glyph, f'rx="1.5" fill="{colour}" fill-opacity="0.1" stroke="{colour}" stroke-width="0.8"')
    return frame + (_label(glyph_label(box, glyph), palette) if box.glyph_name else "")


def _link(link: Link, palette: Palette) -> str:
    points = " ".join(f"{number(x)},{number(y)}" for x, y in link.points)
    colour = palette.colour(link.role)
    dash = ' stroke-dasharray="3 3"' if link.dashed else ""
    line = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{number(link.stroke)}"{dash}/>'
    if not link.arrow:
        return line
    x, y = link.points[-1]
    head = f'<path d="M{number(x)},{number(y)} l-6,-3.5 v7 z" fill="{colour}"/>'
    return line + head


def _bar(bar: FilledBar, palette: Palette) -> str:
    opacity = "" if bar.opacity >= 1 else f' fill-opacity="{number(bar.opacity)}"'
    return _rectangle(bar, f'fill="{palette.colour(bar.role)}"{opacity}')


def _label(label: Label, palette: Palette) -> str:
    weight = ' font-weight="600"' if label.semibold else ""
    anchor = "" if label.anchor == "start" else f' text-anchor="{label.anchor}"'
    return (
        f'<text x="{number(label.x)}" y="{number(label.y)}" font-size="{number(label.size)}" '
        f'fill="{palette.colour(label.role)}"{weight}{anchor}>{escape(label.text)}</text>'
    )
