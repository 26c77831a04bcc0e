"""Drawings as a draw.io file: one page each, plain rectangles and links that stay attached when a device is moved.

The file is not compressed and its cells are named after the devices, so that a regenerated file shows in a diff what
changed. All text is plain (``html=0``): text of a request or a catalogue is never read as markup.
"""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import dist

from sizer.drawings.palette import FONT, LIGHT
from sizer.drawings.parts import Rectangle, box_labels, edge, glyph_label, glyphs, number, stack, text_area
from sizer.drawings.shapes import Box, Drawing, FilledBar, Label, Link
from sizer.export.text import printable

Point = tuple[float, float]

# Without Inter the editor would fall back to a serif face.
_FAMILY = f"{FONT},Helvetica,Arial"
_LAYER = "1"
_ORIGIN = Rectangle(0.0, 0.0, 0.0, 0.0)
_TEXT = {"strokeColor": "none", "fillColor": "none", "verticalAlign": "middle", "spacing": "0"}
_ALIGN = {"start": "left", "middle": "center", "end": "right"}


def drawio(pages: Sequence[tuple[str, Drawing]]) -> bytes:
    """Draw.io file with one page for each drawing.

    Parameters
    ----------
    pages : sequence of (str, Drawing)
        Name on the page's tab, and the drawing. Coordinates are those of the SVG.

    Returns
    -------
    bytes
        Uncompressed XML in UTF-8. Equal pages give equal bytes.
    """
    file = ET.Element("mxfile", {"compressed": "false"})
    names = _Names()
    for name, drawing in pages:
        page = ET.SubElement(file, "diagram", {"id": names.unique(printable(name)), "name": printable(name)})
        width, height = number(drawing.width), number(drawing.height)
        model = ET.SubElement(
            page,
            "mxGraphModel",
            {"grid": "0", "page": "1", "pageScale": "1", "pageWidth": width, "pageHeight": height, "math": "0"},
        )
        _Page(ET.SubElement(model, "root"), drawing).write()
    ET.indent(file)
    data: bytes = ET.tostring(file, encoding="utf-8", xml_declaration=True)
    return data


class _Names:
    """Makes names unique; a repeated one gets a number."""

    def __init__(self) -> None:
        self.given: Counter[str] = Counter()

    def unique(self, name: str) -> str:
        self.given[name] += 1
        return name if self.given[name] == 1 else self.unique(f"{name}~{self.given[name]}")


class _Page:
    """Writes the cells of one page, in the order in which the SVG paints them."""

    def __init__(self, root: ET.Element, drawing: Drawing) -> None:
        self.root, self.drawing = root, drawing
        boxes, links = _Names(), _Names()
        self.box_names = [boxes.unique(printable(box.id)) for box in drawing.boxes]
        self.link_names = [links.unique(printable(link.id)) for link in drawing.links]
        # A link ends on the face of a box.
        named = zip(drawing.boxes, self.box_names, strict=True)
        self.faces = {box.id: (box, f"box:{name}") for box, name in named}

    def write(self) -> None:
        ET.SubElement(self.root, "mxCell", {"id": "0"})
        ET.SubElement(self.root, "mxCell", {"id": _LAYER, "parent": "0"})
        for link, name in zip(self.drawing.links, self.link_names, strict=True):
            self._link(link, name)
        for box, name in zip(self.drawing.boxes, self.box_names, strict=True):
            self._box(box, name)
        for count, bar in enumerate(self.drawing.bars, 1):
            self._bar(f"bar:{count}", bar)
        for count, label in enumerate(self.drawing.labels, 1):
            self._text(f"text:{count}", label)

    def _cell(self, id_: str, style: dict[str, str], text: str, parent: str, **more: str) -> ET.Element:
        line = "".join(f"{key}={value};" for key, value in {"html": "0", "rounded": "0", **style}.items())
        return ET.SubElement(self.root, "mxCell", {"id": id_, "value": text, "style": line, "parent": parent, **more})

    def _vertex(
        self,
        id_: str,
        place: Rectangle | Box | FilledBar,
        style: dict[str, str],
        text: str = "",
        parent: str = _LAYER,
        within: Rectangle | Box = _ORIGIN,
    ) -> None:
        """Rectangle at an absolute place; the file wants it relative to the corner of its parent."""
        cell = self._cell(id_, style, text, parent, vertex="1")
        corner = {"x": number(place.x - within.x), "y": number(place.y - within.y)}
        size = {"width": number(place.width), "height": number(place.height)}
        ET.SubElement(cell, "mxGeometry", {**corner, **size, "as": "geometry"})

    # --- devices

    def _box(self, box: Box, name: str) -> None:
        """The device as one group: copies behind it, its face with the title, and on that edge, text and parts."""
        fill = LIGHT.surface if box.quiet else LIGHT.background
        outline = {"fillColor": fill, "strokeColor": LIGHT.hairline, "collapsible": "0"}
        face, parent, within = f"box:{name}", _LAYER, _ORIGIN
        copies = stack(box)
        if copies:
            parent, within = f"stack:{name}", Rectangle(box.x, box.y, box.width, box.height)
            self._vertex(parent, box, {"fillColor": "none", "strokeColor": "none", "collapsible": "0"})
        for count, copy in enumerate(copies, 1):
            self._vertex(f"copy:{name}:{count}", copy, outline, parent=parent, within=within)
        labels = box_labels(box)
        # The title is the text of the face itself; a small box has one size of type, its first line is the title.
        title = [label for label in labels if label.semibold] or list(labels[:1])
        lines = labels[len(title) :]
        style = {**outline, **_title_style(box, title)}
        if box.hatched:
            style |= {"fillStyle": "hatch", "fillColor": LIGHT.hairline}
        self._vertex(face, box, style, "\n".join(printable(label.text) for label in title), parent, within)
        colour = LIGHT.colour(box.role)
        self._vertex(f"edge:{name}", edge(box), {"fillColor": colour, "strokeColor": "none"}, parent=face, within=box)
        for count, label in enumerate(lines, 1):
            self._text(f"line:{name}:{count}", label, face, box)
        frame = {"fillColor": colour, "fillOpacity": "10", "strokeColor": colour, "strokeWidth": "0.8", "spacing": "0"}
        for count, glyph in enumerate(glyphs(box), 1):
            label = glyph_label(box, glyph)
            style = {**frame, **_type_style(label)}
            self._vertex(f"part:{name}:{count}", glyph, style, printable(label.text), face, box)

    def _bar(self, id_: str, bar: FilledBar) -> None:
        style = {"fillColor": LIGHT.colour(bar.role), "strokeColor": "none"}
        if bar.opacity < 1:
            style["fillOpacity"] = number(100 * bar.opacity)
        self._vertex(id_, bar, style)

    def _text(self, id_: str, label: Label, parent: str = _LAYER, within: Rectangle | Box = _ORIGIN) -> None:
        style = {**_TEXT, **_type_style(label)}
        self._vertex(id_, text_area(label), style, printable(label.text), parent, within)

    # --- links

    def _link(self, link: Link, name: str) -> None:
        style = {
            "edgeStyle": "none",
            "endArrow": "block" if link.arrow else "none",
            "endSize": "4",
            "strokeColor": LIGHT.colour(link.role),
            "strokeWidth": number(link.stroke),
        }
        if link.dashed:
            style |= {"dashed": "1", "dashPattern": "3 3"}
        (source, source_face), (target, target_face) = self.faces[link.source], self.faces[link.target]
        style |= _attachment("exit", source, link.points[0])
        style |= _attachment("entry", target, link.points[-1])
        cell = self._cell(f"link:{name}", style, "", _LAYER, edge="1", source=source_face, target=target_face)
        geometry = ET.SubElement(cell, "mxGeometry", {"relative": "1", "as": "geometry"})
        _point(geometry, link.points[0], "sourcePoint")
        _point(geometry, link.points[-1], "targetPoint")
        if len(link.points) > 2:
            way = ET.SubElement(geometry, "Array", {"as": "points"})
            for point in link.points[1:-1]:
                _point(way, point)
        for count, label in enumerate(link.labels, 1):
            self._link_label(f"note:{name}:{count}", label, f"link:{name}", _middle(link.points))

    def _link_label(self, id_: str, label: Label, link: str, middle: Point) -> None:
        """Text that stays next to the middle of its link. A cell without a size: the text is aligned to the point."""
        style = {**_TEXT, **_type_style(label)}
        cell = self._cell(id_, style, printable(label.text), link, vertex="1", connectable="0")
        geometry = ET.SubElement(cell, "mxGeometry", {"relative": "1", "as": "geometry"})
        area = text_area(label)
        _point(geometry, (label.x - middle[0], area.y + area.height / 2 - middle[1]), "offset")


def _type_style(label: Label) -> dict[str, str]:
    return {
        "align": _ALIGN[label.anchor],
        "fontFamily": _FAMILY,
        "fontSize": number(label.size),
        "fontColor": LIGHT.colour(label.role),
        "fontStyle": "1" if label.semibold else "0",
    }


def _title_style(box: Box, title: list[Label]) -> dict[str, str]:
    """Style that puts the title, which is the text of the face itself, where the SVG has it."""
    if not title:
        return {}
    # The editor sets the first baseline of a text at its top plus the type size less 1.
    top = title[0].y - box.y - title[0].size + 1
    place = {"verticalAlign": "top", "spacing": "0", "spacingTop": f"{top:.0f}"}
    return {**_type_style(title[0]), **place, "spacingLeft": f"{title[0].x - box.x:.0f}"}


def _attachment(end: str, box: Box, point: Point) -> dict[str, str]:
    """Attachment of a link to a box: a share of its sides, and pixels beyond them for a point outside the box."""
    style = {}
    for axis, at, start, size in (("X", point[0], box.x, box.width), ("Y", point[1], box.y, box.height)):
        share = min(max((at - start) / size, 0.0), 1.0)
        style[f"{end}{axis}"] = f"{share:.6g}"
        style[f"{end}D{axis.lower()}"] = number(at - start - share * size)
    return {**style, f"{end}Perimeter": "0"}


def _point(parent: ET.Element, point: Point, role: str | None = None) -> None:
    place = {"x": number(point[0]), "y": number(point[1])}
    ET.SubElement(parent, "mxPoint", place if role is None else {**place, "as": role})


def _middle(points: Sequence[Point]) -> Point:
    """The point half-way along a link, from which the editor measures the place of its text."""
    remaining = sum(dist(start, end) for start, end in pairwise(points)) / 2
    for start, end in pairwise(points):
        length = dist(start, end)
        if remaining <= length:
            share = remaining / length if length else 0.0
            return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
        remaining -= length
    return points[-1]
