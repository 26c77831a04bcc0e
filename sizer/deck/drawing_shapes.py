"""Shapes of a drawing as shapes of a slide: rectangles, text boxes and connectors attached to them."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from pptx.enum.dml import MSO_LINE_DASH_STYLE, MSO_PATTERN_TYPE
from pptx.enum.shapes import MSO_AUTO_SHAPE_TYPE, MSO_CONNECTOR_TYPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Emu, Pt

from sizer.deck.blocks import SLIDE_WIDTH, Area
from sizer.deck.native import add, emu, rgb, text_frame, tint, without_theme, write
from sizer.deck.text_fit import MAX_SCALE
from sizer.drawings.palette import Palette
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
    leading,
    line_top,
    stack,
    text_area,
    text_width,
)
from sizer.export.files import printable

Point = tuple[float, float]

# Extra width of a line of text, as a share of its length plus three ems: a fallback font may be wider than Inter.
_SLACK = 0.3
# The widest font that a program puts in place of Inter, DejaVu Sans, compared with Inter.
_WIDEST = 1.25
# Connection sites that every rectangle has: place as shares of width and height, and the way out in 1/60 000 degree.
_SIDES = ((0.5, 0.0, 16_200_000), (0.0, 0.5, 10_800_000), (0.5, 1.0, 5_400_000), (1.0, 0.5, 0))
_ALIGN = {"start": PP_ALIGN.LEFT, "middle": PP_ALIGN.CENTER, "end": PP_ALIGN.RIGHT}


def scale_in(drawing: Drawing, area: Area) -> float:
    """Points a pixel with which a drawing fills an area."""
    return min(area.width / drawing.width, area.height / drawing.height, MAX_SCALE)


def add_drawing(slide: Any, drawing: Drawing, area: Area, palette: Palette) -> None:
    """Write a drawing into an area of a slide, as large as it fits, in the middle of its width."""
    _Writer(slide, drawing, area, palette).write()


class _Writer:
    """Writes the shapes of one drawing."""

    def __init__(self, slide: Any, drawing: Drawing, area: Area, palette: Palette) -> None:
        self.slide, self.drawing, self.palette = slide, drawing, palette
        self.scale = scale_in(drawing, area)
        self.left = area.left + (area.width - self.scale * drawing.width) / 2
        self.top = area.top
        self.faces: dict[str, Any] = {}
        # Points where links are attached to each box.
        self.sites: dict[str, list[Point]] = {box.id: [] for box in drawing.boxes}
        for link in drawing.links:
            self.sites[link.source].append(link.points[0])
            self.sites[link.target].append(link.points[-1])

    def write(self) -> None:
        """Boxes, then links below them, bars and loose text."""
        for box in self.drawing.boxes:
            self._box(box)
        for link in self.drawing.links:
            self._link(link)
        for bar in self.drawing.bars:
            self._bar(bar)
        for label in (*(label for link in self.drawing.links for label in link.labels), *self.drawing.labels):
            self._text(label)

    # --- places

    def _point(self, point: Point) -> tuple[Emu, Emu]:
        return emu(self.left + self.scale * point[0]), emu(self.top + self.scale * point[1])

    def _area(self, place: Rectangle | Box | FilledBar) -> tuple[Emu, Emu, Emu, Emu]:
        left, top = self._point((place.x, place.y))
        right, bottom = self._point((place.x + place.width, place.y + place.height))
        return left, top, Emu(right - left), Emu(bottom - top)

    # --- devices

    def _rectangle(
        self, shapes: Any, place: Rectangle | Box | FilledBar, name: str, fill: str, line: str | None
    ) -> Any:
        shape = shapes.add_shape(MSO_AUTO_SHAPE_TYPE.RECTANGLE, *self._area(place))
        without_theme(shape)
        shape.name = name
        shape.fill.solid()
        shape.fill.fore_color.rgb = rgb(fill)
        if line is None:
            shape.line.fill.background()
        else:
            shape.line.color.rgb = rgb(line)
            shape.line.width = emu(0.8 * self.scale)
        return shape

    def _box(self, box: Box) -> None:
        """A device is a group: copies behind it, its face with the text, the coloured edge and its parts."""
        group, name = self.slide.shapes.add_group_shape(), printable(box.id)
        group.name = name
        fill, colour = self.palette.surface if box.quiet else self.palette.background, self.palette.colour(box.role)
        for copy in stack(box):
            self._rectangle(group.shapes, copy, f"{name} copy", fill, self.palette.hairline)
        face = self._rectangle(group.shapes, box, name, fill, self.palette.hairline)
        _add_sites(face, box, self.sites[box.id])
        if box.hatched:
            face.fill.patterned()
            face.fill.pattern = MSO_PATTERN_TYPE.WIDE_UPWARD_DIAGONAL
            face.fill.fore_color.rgb, face.fill.back_color.rgb = rgb(self.palette.hairline), rgb(fill)
        self._box_text(face, box)
        self._rectangle(group.shapes, edge(box), f"{name} edge", colour, None)
        for glyph in glyphs(box):
            label = glyph_label(box, glyph)
            part = self._rectangle(group.shapes, glyph, f"{name} part", tint(colour, 0.1), colour)
            self._line(text_frame(part, MSO_ANCHOR.MIDDLE).paragraphs[0], label)
        self.faces[box.id] = face

    def _box_text(self, face: Any, box: Box) -> None:
        labels = box_labels(box)
        frame = text_frame(face, MSO_ANCHOR.TOP)
        if not labels:
            return
        frame.margin_left = emu(self.scale * (labels[0].x - box.x))
        frame.margin_top = emu(self.scale * (line_top(labels[0]) - box.y))
        for count, label in enumerate(labels):
            paragraph = frame.add_paragraph() if count else frame.paragraphs[0]
            paragraph.line_spacing = Pt(self.scale * leading(label))
            self._line(paragraph, label)

    def _bar(self, bar: FilledBar) -> None:
        self._rectangle(self.slide.shapes, bar, "bar", tint(self.palette.colour(bar.role), bar.opacity), None)

    def _size(self, label: Label) -> float:
        """Type size with which no label of its line reaches the next one, whatever font replaces Inter. [px]"""
        line = sorted(
            (
                one
                for one in self.drawing.labels
                if one.anchor == "start" and (one.y, one.size) == (label.y, label.size)
            ),
            key=lambda one: one.x,
        )
        if label not in line:
            return label.size
        shares = [
            (after.x - before.x) / (_WIDEST * text_width(before.text, before.size, semibold=before.semibold))
            for before, after in pairwise(line)
        ]
        return label.size * min(1.0, *shares) if shares else label.size

    def _text(self, label: Label) -> None:
        label = replace(label, size=self._size(label))
        area = text_area(label)
        slack = _SLACK * (area.width + 3 * label.size)
        before = {"start": 0.0, "middle": slack / 2, "end": slack}[label.anchor]
        # The slack ends at the edge of the slide.
        left = max(area.x - before, -self.left / self.scale)
        right = min(area.x - before + area.width + slack, (SLIDE_WIDTH - self.left) / self.scale)
        roomy = Rectangle(left, area.y, right - left, area.height)
        frame = text_frame(self.slide.shapes.add_textbox(*self._area(roomy)), MSO_ANCHOR.MIDDLE)
        self._line(frame.paragraphs[0], label)

    def _line(self, paragraph: Any, label: Label) -> None:
        paragraph.alignment = _ALIGN[label.anchor]
        write(
            paragraph,
            printable(label.text),
            self.scale * label.size,
            self.palette.colour(label.role),
            bold=label.semibold,
        )

    # --- links

    def _link(self, link: Link) -> None:
        name = printable(link.id)
        # One straight piece a stretch: a bent connector with a set turn is redrawn otherwise by LibreOffice.
        pieces = [self._straight(*ends) for ends in pairwise(link.points)]
        self._attach(pieces[0], "a:stCxn", link.source, link.points[0])
        self._attach(pieces[-1], "a:endCxn", link.target, link.points[-1])
        for piece in pieces:
            piece.name = name
            piece.line.color.rgb = rgb(self.palette.colour(link.role))
            piece.line.width = emu(self.scale * link.stroke)
            if link.dashed:
                piece.line.dash_style = MSO_LINE_DASH_STYLE.DASH
        if link.arrow:
            add(pieces[-1].element.find(f".//{qn('a:ln')}"), "a:tailEnd", type="triangle")

    def _straight(self, start: Point, end: Point) -> Any:
        ends = *self._point(start), *self._point(end)
        connector = self.slide.shapes.add_connector(MSO_CONNECTOR_TYPE.STRAIGHT, *ends)
        without_theme(connector)
        # Links lie below the boxes, as in the SVG.
        self.slide.shapes.title.element.addnext(connector.element)
        return connector

    def _attach(self, connector: Any, end: str, box_id: str, point: Point) -> None:
        """Attach an end of a connector to the site of a box at this point."""
        ties, site = connector.element.find(f".//{qn('p:cNvCxnSpPr')}"), self.sites[box_id].index(point)
        add(ties, end, id=str(self.faces[box_id].shape_id), idx=str(len(_SIDES) + site))


def _add_sites(face: Any, box: Box, points: list[Point]) -> None:
    """Give a rectangle connection sites at these points, after the usual ones in the middle of its sides.

    With the usual ones alone every link would jump to the middle of a side: PowerPoint does that when a box is moved,
    LibreOffice when it opens the file. A preset shape takes no other sites, so the rectangle is drawn as a path.
    """
    preset = face.element.find(f".//{qn('a:prstGeom')}")
    shape = preset.makeelement(qn("a:custGeom"), {})
    preset.getparent().replace(preset, shape)
    add(shape, "a:avLst")
    guides = add(shape, "a:gdLst")
    add(shape, "a:ahLst")
    sites = add(shape, "a:cxnLst")
    ways = [_SIDES[_side(box, point)][2] for point in points]
    own = [((x - box.x) / box.width, (y - box.y) / box.height, way) for (x, y), way in zip(points, ways, strict=True)]
    for count, (across, down, way) in enumerate((*_SIDES, *own)):
        add(guides, "a:gd", name=f"x{count}", fmla=f"*/ w {round(100_000 * across)} 100000")
        add(guides, "a:gd", name=f"y{count}", fmla=f"*/ h {round(100_000 * down)} 100000")
        add(add(sites, "a:cxn", ang=str(way)), "a:pos", x=f"x{count}", y=f"y{count}")
    add(shape, "a:rect", l="l", t="t", r="r", b="b")
    path = add(add(shape, "a:pathLst"), "a:path", w="1", h="1")
    add(add(path, "a:moveTo"), "a:pt", x="0", y="0")
    for x, y in ("10", "11", "01"):
        add(add(path, "a:lnTo"), "a:pt", x=x, y=y)
    add(path, "a:close")


def _side(box: Box, point: Point) -> int:
    """Which of the sides of a box is next to a point."""
    x, y = point
    away = (abs(y - box.y), abs(x - box.x), abs(y - box.bottom), abs(x - box.right))
    return away.index(min(away))
