"""Shapes of a drawing as shapes of a slide: rectangles, text boxes and connectors attached to them."""

import datetime
import io
from itertools import pairwise
from typing import Any

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_LINE_DASH_STYLE, MSO_PATTERN_TYPE
from pptx.enum.shapes import MSO_AUTO_SHAPE_TYPE, MSO_CONNECTOR_TYPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml.ns import qn
from pptx.util import Emu, Pt

from sizer.drawings.palette import FONT, LIGHT
from sizer.drawings.parts import Rectangle, box_labels, edge, glyph_label, glyphs, leading, line_top, stack, text_area
from sizer.drawings.shapes import Box, Drawing, FilledBar, Label, Link, wrapped
from sizer.export.text import printable

Point = tuple[float, float]

_EMU_PER_PT = 12_700
# Slide and margins. [pt]
_WIDTH, _HEIGHT = 960.0, 540.0
_MARGIN = 36.0
_NAME_TOP, _TITLE_TOP, _DRAWING_TOP = 24.0, 42.0, 108.0
_NAME_SIZE, _TITLE_SIZE = 12.0, 22.0
# Extra width of a line of text, as a share of its length plus three ems: a fallback font may be wider than Inter.
_SLACK = 0.3
# Connection sites that every rectangle has: place as shares of width and height, and the way out in 1/60 000 degree.
_SIDES = ((0.5, 0.0, 16_200_000), (0.0, 0.5, 10_800_000), (0.5, 1.0, 5_400_000), (1.0, 0.5, 0))
# Layout of the built-in template that holds a title and nothing else.
_TITLE_ONLY = 5
_ALIGN = {"start": PP_ALIGN.LEFT, "middle": PP_ALIGN.CENTER, "end": PP_ALIGN.RIGHT}


class Deck:
    """A presentation to which one slide a drawing is added."""

    def __init__(self, title: str, date: datetime.datetime) -> None:
        self.title = title
        self.file = Presentation()
        self._make_wide()
        properties = self.file.core_properties
        properties.title, properties.author, properties.last_modified_by = title, "", ""
        properties.created = properties.modified = date
        # File managers would show the template's thumbnail of an empty slide.
        package = self.file.part.package
        for relation in list(package.iter_rels()):
            if relation.reltype == RELATIONSHIP_TYPE.THUMBNAIL:
                package.drop_rel(relation.rId)

    def _make_wide(self) -> None:
        """The template is 4:3; its master and layouts are widened with the slide."""
        stretch = _WIDTH * _EMU_PER_PT / self.file.slide_width
        self.file.slide_width, self.file.slide_height = Pt(_WIDTH), Pt(_HEIGHT)
        for page in (self.file.slide_master, *self.file.slide_layouts):
            for shape in page.placeholders:
                shape.left, shape.width = Emu(round(shape.left * stretch)), Emu(round(shape.width * stretch))
                shape.top, shape.height = Emu(shape.top), Emu(shape.height)

    def add(self, name: str, drawing: Drawing) -> None:
        """Add a slide with the finding of the drawing as its title."""
        slide = self.file.slides.add_slide(self.file.slide_layouts[_TITLE_ONLY])
        _Slide(slide, drawing).write(f"{self.title} · {name}")

    def as_bytes(self) -> bytes:
        """The presentation as python-pptx writes it."""
        stream = io.BytesIO()
        self.file.save(stream)
        return stream.getvalue()


class _Slide:
    """Writes a drawing below the title of a slide, as large as it fits."""

    def __init__(self, slide: Any, drawing: Drawing) -> None:
        self.slide, self.drawing = slide, drawing
        room = _WIDTH - 2 * _MARGIN, _HEIGHT - _DRAWING_TOP - _MARGIN
        self.scale = min(room[0] / drawing.width, room[1] / drawing.height)  # points a pixel
        self.faces: dict[str, Any] = {}
        # Points where links are attached to each box.
        self.sites: dict[str, list[Point]] = {box.id: [] for box in drawing.boxes}
        for link in drawing.links:
            self.sites[link.source].append(link.points[0])
            self.sites[link.target].append(link.points[-1])

    def write(self, name: str) -> None:
        self._head(name)
        for box in self.drawing.boxes:
            self._box(box)
        for link in self.drawing.links:
            self._link(link)
        for bar in self.drawing.bars:
            self._bar(bar)
        for label in (*(label for link in self.drawing.links for label in link.labels), *self.drawing.labels):
            self._text(label)

    def _head(self, name: str) -> None:
        width = _WIDTH - 2 * _MARGIN
        title = self.slide.shapes.title
        title.left, title.top, title.width, title.height = (
            Pt(value) for value in (_MARGIN, _TITLE_TOP, width, _DRAWING_TOP - _TITLE_TOP - 6)
        )
        # Bold is a little wider than the semibold that the widths are made for.
        lines = wrapped(printable(self.drawing.title), _TITLE_SIZE, 0.94 * width, semibold=True, max_lines=2)
        paragraph = _frame(title, MSO_ANCHOR.TOP).paragraphs[0]
        paragraph.alignment = PP_ALIGN.LEFT
        _write(paragraph, " ".join(lines), _TITLE_SIZE, "ink", bold=True)
        shown = wrapped(name, _NAME_SIZE, width, max_lines=1)
        area = [Pt(value) for value in (_MARGIN, _NAME_TOP, width, 1.3 * _NAME_SIZE)]
        frame = _frame(self.slide.shapes.add_textbox(*area), MSO_ANCHOR.TOP)
        _write(frame.paragraphs[0], " ".join(shown), _NAME_SIZE, "muted")

    # --- places

    def _point(self, point: Point) -> tuple[Emu, Emu]:
        return self._emu(_MARGIN + self.scale * point[0]), self._emu(_DRAWING_TOP + self.scale * point[1])

    def _emu(self, points: float) -> Emu:
        return Emu(round(points * _EMU_PER_PT))

    def _area(self, place: Rectangle | Box | FilledBar) -> tuple[Emu, Emu, Emu, Emu]:
        left, top = self._point((place.x, place.y))
        right, bottom = self._point((place.x + place.width, place.y + place.height))
        return left, top, Emu(right - left), Emu(bottom - top)

    # --- devices

    def _rectangle(
        self, shapes: Any, place: Rectangle | Box | FilledBar, name: str, fill: str, line: str | None
    ) -> Any:
        shape = shapes.add_shape(MSO_AUTO_SHAPE_TYPE.RECTANGLE, *self._area(place))
        _without_theme(shape)
        shape.name = name
        shape.fill.solid()
        shape.fill.fore_color.rgb = _rgb(fill)
        if line is None:
            shape.line.fill.background()
        else:
            shape.line.color.rgb = _rgb(line)
            shape.line.width = self._emu(0.8 * self.scale)
        return shape

    def _box(self, box: Box) -> None:
        """A device is a group: copies behind it, its face with the text, the coloured edge and its parts."""
        group, name = self.slide.shapes.add_group_shape(), printable(box.id)
        group.name = name
        fill, colour = LIGHT.surface if box.quiet else LIGHT.background, LIGHT.colour(box.role)
        for copy in stack(box):
            self._rectangle(group.shapes, copy, f"{name} copy", fill, LIGHT.hairline)
        face = self._rectangle(group.shapes, box, name, fill, LIGHT.hairline)
        _add_sites(face, box, self.sites[box.id])
        if box.hatched:
            face.fill.patterned()
            face.fill.pattern = MSO_PATTERN_TYPE.WIDE_UPWARD_DIAGONAL
            face.fill.fore_color.rgb, face.fill.back_color.rgb = _rgb(LIGHT.hairline), _rgb(fill)
        self._box_text(face, box)
        self._rectangle(group.shapes, edge(box), f"{name} edge", colour, None)
        for glyph in glyphs(box):
            label = glyph_label(box, glyph)
            part = self._rectangle(group.shapes, glyph, f"{name} part", _tint(colour, 0.1), colour)
            self._line(_frame(part, MSO_ANCHOR.MIDDLE).paragraphs[0], label)
        self.faces[box.id] = face

    def _box_text(self, face: Any, box: Box) -> None:
        labels = box_labels(box)
        frame = _frame(face, MSO_ANCHOR.TOP)
        if not labels:
            return
        frame.margin_left = self._emu(self.scale * (labels[0].x - box.x))
        frame.margin_top = self._emu(self.scale * (line_top(labels[0]) - box.y))
        for count, label in enumerate(labels):
            paragraph = frame.add_paragraph() if count else frame.paragraphs[0]
            paragraph.line_spacing = Pt(self.scale * leading(label))
            self._line(paragraph, label)

    def _bar(self, bar: FilledBar) -> None:
        self._rectangle(self.slide.shapes, bar, "bar", _tint(LIGHT.colour(bar.role), bar.opacity), None)

    def _text(self, label: Label) -> None:
        area = text_area(label)
        slack = _SLACK * (area.width + 3 * label.size)
        before = {"start": 0.0, "middle": slack / 2, "end": slack}[label.anchor]
        roomy = Rectangle(area.x - before, area.y, area.width + slack, area.height)
        frame = _frame(self.slide.shapes.add_textbox(*self._area(roomy)), MSO_ANCHOR.MIDDLE)
        self._line(frame.paragraphs[0], label)

    def _line(self, paragraph: Any, label: Label) -> None:
        paragraph.alignment = _ALIGN[label.anchor]
        _write(paragraph, printable(label.text), self.scale * label.size, label.role, bold=label.semibold)

    # --- links

    def _link(self, link: Link) -> None:
        name = printable(link.id)
        # One straight piece a stretch: a bent connector with a set turn is redrawn otherwise by LibreOffice.
        pieces = [self._straight(*ends) for ends in pairwise(link.points)]
        self._attach(pieces[0], "a:stCxn", link.source, link.points[0])
        self._attach(pieces[-1], "a:endCxn", link.target, link.points[-1])
        for piece in pieces:
            piece.name = name
            piece.line.color.rgb = _rgb(LIGHT.colour(link.role))
            piece.line.width = self._emu(self.scale * link.stroke)
            if link.dashed:
                piece.line.dash_style = MSO_LINE_DASH_STYLE.DASH
        if link.arrow:
            _add(pieces[-1].element.find(f".//{qn('a:ln')}"), "a:tailEnd", type="triangle")

    def _straight(self, start: Point, end: Point) -> Any:
        ends = *self._point(start), *self._point(end)
        connector = self.slide.shapes.add_connector(MSO_CONNECTOR_TYPE.STRAIGHT, *ends)
        _without_theme(connector)
        # Links lie below the boxes, as in the SVG.
        self.slide.shapes.title.element.addnext(connector.element)
        return connector

    def _attach(self, connector: Any, end: str, box_id: str, point: Point) -> None:
        """Attach an end of a connector to the site of a box at this point."""
        ties, site = connector.element.find(f".//{qn('p:cNvCxnSpPr')}"), self.sites[box_id].index(point)
        _add(ties, end, id=str(self.faces[box_id].shape_id), idx=str(len(_SIDES) + site))


def _add_sites(face: Any, box: Box, points: list[Point]) -> None:
    """Give a rectangle connection sites at these points, after the usual ones in the middle of its sides.

    With the usual ones alone every link would jump to the middle of a side: PowerPoint does that when a box is moved,
    LibreOffice when it opens the file. A preset shape takes no other sites, so the rectangle is drawn as a path.
    """
    preset = face.element.find(f".//{qn('a:prstGeom')}")
    shape = preset.makeelement(qn("a:custGeom"), {})
    preset.getparent().replace(preset, shape)
    _add(shape, "a:avLst")
    guides = _add(shape, "a:gdLst")
    _add(shape, "a:ahLst")
    sites = _add(shape, "a:cxnLst")
    ways = [_SIDES[_side(box, point)][2] for point in points]
    own = [((x - box.x) / box.width, (y - box.y) / box.height, way) for (x, y), way in zip(points, ways, strict=True)]
    for count, (across, down, way) in enumerate((*_SIDES, *own)):
        _add(guides, "a:gd", name=f"x{count}", fmla=f"*/ w {round(100_000 * across)} 100000")
        _add(guides, "a:gd", name=f"y{count}", fmla=f"*/ h {round(100_000 * down)} 100000")
        _add(_add(sites, "a:cxn", ang=str(way)), "a:pos", x=f"x{count}", y=f"y{count}")
    _add(shape, "a:rect", l="l", t="t", r="r", b="b")
    path = _add(_add(shape, "a:pathLst"), "a:path", w="1", h="1")
    _add(_add(path, "a:moveTo"), "a:pt", x="0", y="0")
    for x, y in ("10", "11", "01"):
        _add(_add(path, "a:lnTo"), "a:pt", x=x, y=y)
    _add(path, "a:close")


def _side(box: Box, point: Point) -> int:
    """Which of the sides of a box is next to a point."""
    x, y = point
    away = (abs(y - box.y), abs(x - box.x), abs(y - box.bottom), abs(x - box.right))
    return away.index(min(away))


def _add(parent: Any, tag: str, **attributes: str) -> Any:
    """Element that python-pptx has no method for."""
    element = parent.makeelement(qn(tag), attributes)
    parent.append(element)
    return element


def _without_theme(shape: Any) -> None:
    """Remove the shadows, gradients and colours of the theme."""
    style = shape.element.find(qn("p:style"))
    if style is not None:
        shape.element.remove(style)


def _frame(shape: Any, anchor: MSO_ANCHOR) -> Any:
    """Text frame of a shape, without margins; as wide as the shape, since without wrapping some programs centre it."""
    frame = shape.text_frame
    frame.word_wrap = True
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = Emu(0)
    frame.vertical_anchor = anchor
    return frame


def _write(paragraph: Any, text: str, size: float, role: str, *, bold: bool = False) -> None:
    run = paragraph.add_run()
    run.text = text
    run.font.name, run.font.size, run.font.bold = FONT, Pt(size), bold
    run.font.color.rgb = _rgb(LIGHT.colour(role))


def _rgb(colour: str) -> RGBColor:
    return RGBColor(*_channels(colour))  # type: ignore[no-untyped-call]


def _channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def _tint(colour: str, opacity: float) -> str:
    """The colour as it looks over the background: shapes of a slide are opaque."""
    pairs = zip(_channels(colour), _channels(LIGHT.background), strict=True)
    return "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in pairs)
