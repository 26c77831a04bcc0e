"""Native shapes of a slide: text, tables and charts."""

import io
import re
import zipfile
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pptx.chart.data import XyChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LABEL_POSITION, XL_MARKER_STYLE
from pptx.enum.dml import MSO_LINE_DASH_STYLE, MSO_PATTERN_TYPE
from pptx.enum.shapes import MSO_AUTO_SHAPE_TYPE, MSO_CONNECTOR_TYPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Emu, Pt

from sizer.base.locale import current_locale
from sizer.base.quantities import NARROW_SPACE
from sizer.deck import text_fit
from sizer.deck.blocks import FONT, SLIDE_WIDTH, Area, KeyFigures, LineChart, Paragraphs
from sizer.deck.text_fit import MAX_SCALE, FittedTable
from sizer.drawings.palette import LIGHT, Palette
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
from sizer.export.files import printable, zipped
from sizer.present.tables import Cell, Row

EMU_PER_PT = 12_700


def emu(points: float) -> Emu:
    """A length of the file format."""
    return Emu(round(points * EMU_PER_PT))


def corners(area: Area) -> tuple[Emu, Emu, Emu, Emu]:
    """Left, top, width and height of an area."""
    return emu(area.left), emu(area.top), emu(area.width), emu(area.height)


def add(parent: Any, tag: str, **attributes: str) -> Any:
    """Element at the end of another."""
    element = parent.makeelement(qn(tag), attributes)
    parent.append(element)
    return element


def without_theme(shape: Any) -> None:
    """Remove the shadows, gradients and colours of the theme."""
    style = shape.element.find(qn("p:style"))
    if style is not None:
        shape.element.remove(style)


def text_frame(shape: Any, anchor: MSO_ANCHOR) -> Any:
    """Text frame of a shape, without margins; as wide as the shape, since without wrapping some programs centre it."""
    text = shape.text_frame
    text.word_wrap = True
    text.margin_left = text.margin_right = text.margin_top = text.margin_bottom = Emu(0)
    text.vertical_anchor = anchor
    return text


def write(paragraph: Any, text: str, size: float, colour: str, *, bold: bool = False, italic: bool = False) -> None:
    """A run of text in Inter; ``colour`` as #RRGGBB."""
    run = paragraph.add_run()
    run.text = text
    run.font.name, run.font.size, run.font.bold = FONT, Pt(size), bold
    if italic:
        run.font.italic = True
    run.font.color.rgb = rgb(colour)


def rgb(colour: str) -> RGBColor:
    """A colour of the file format from #RRGGBB."""
    return RGBColor(*channels(colour))  # type: ignore[no-untyped-call]


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of #RRGGBB, each 0 to 255."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def tint(colour: str, opacity: float) -> str:
    """The colour as it looks over the background: shapes of a slide are opaque."""
    pairs = zip(channels(colour), channels(LIGHT.background), strict=True)
    return "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in pairs)


# Room between two key figures. [pt]
_FIGURE_GAP = 16.0
# Size of a unit compared with its number.
_UNIT_SIZE = 0.65
_FIGURE_SIZES = (text_fit.FIGURE_SIZE, 22.0, 19.0, 16.0, 13.0)


def add_line(slide: Any, text: str, area: Area, size: float, colour: str, *, bold: bool = False) -> Any:
    """One text box whose text is shortened to the lines that it holds."""
    n_lines = max(int(area.height / (text_fit.LEADING * size)), 1)
    lines = text_fit.lines_of(text, size, area.width, semibold=bold, most=n_lines)
    shape = slide.shapes.add_textbox(*corners(area))
    paragraph = text_frame(shape, MSO_ANCHOR.TOP).paragraphs[0]
    paragraph.alignment = PP_ALIGN.LEFT
    write(paragraph, " ".join(lines), size, colour, bold=bold)
    return shape


def add_text(slide: Any, text: Paragraphs, area: Area, size: float, palette: Palette) -> None:
    """Paragraphs; several are bullets or numbered."""
    size = min(size, text.largest)
    frame = text_frame(slide.shapes.add_textbox(*corners(area)), MSO_ANCHOR.TOP)
    paragraph = frame.paragraphs[0]
    if text.head:
        _spaced(paragraph, size, is_last=False)
        write(paragraph, printable(text.head), size, palette.ink, bold=True)
    for number, content in enumerate(text.paragraphs):
        if number or text.head:
            paragraph = frame.add_paragraph()
        _spaced(paragraph, size, is_last=number == len(text.paragraphs) - 1)
        if text_fit.has_bullets(text):
            indent = emu(text_fit.indent(size, is_numbered=text.is_numbered))
            properties = paragraph._p.get_or_add_pPr()
            properties.set("marL", str(indent))
            properties.set("indent", str(-indent))
            fill = add(properties, "a:buClr")
            add(fill, "a:srgbClr", val=palette.accent.lstrip("#"))
            add(properties, "a:buFont", typeface="+mj-lt" if text.is_numbered else "Arial")
            if text.is_numbered:
                add(properties, "a:buAutoNum", type="arabicPeriod")
            else:
                add(properties, "a:buChar", char="•")
        write(paragraph, printable(content), size, palette.colour(text.role))


def _spaced(paragraph: Any, size: float, *, is_last: bool) -> None:
    paragraph.line_spacing = Pt(text_fit.LEADING * size)
    paragraph.space_after = Pt(0 if is_last else text_fit.PARAGRAPH_GAP * size)


def add_figures(slide: Any, block: KeyFigures, area: Area, palette: Palette) -> None:
    """Large numbers, evenly spaced, each with its words below."""
    count = len(block.figures)
    width = (area.width - _FIGURE_GAP * (count - 1)) / count
    size = min(
        next((size for size in _FIGURE_SIZES if _value_width(one.value, size) <= width), _FIGURE_SIZES[-1])
        for one in block.figures
    )
    for index, figure in enumerate(block.figures):
        left = area.left + index * (width + _FIGURE_GAP)
        value = Area(left, area.top, width, text_fit.LEADING * text_fit.FIGURE_SIZE)
        shown = figure.value
        if _value_width(shown, size) > width:
            (shown,) = text_fit.lines_of(shown, size, width, semibold=True, most=1)
        frame = text_frame(slide.shapes.add_textbox(*corners(value)), MSO_ANCHOR.BOTTOM)
        _value(frame.paragraphs[0], shown, size, palette)
        label = Area(left, value.bottom + 2, width, text_fit.FIGURES_HEIGHT - value.height - 2)
        add_line(slide, figure.label, label, text_fit.FIGURE_LABEL_SIZE, palette.muted)


def _value(paragraph: Any, text: str, size: float, palette: Palette) -> None:
    """A number with its unit in a lighter grey."""
    number, unit = _split(text)
    write(paragraph, number, size, palette.ink, bold=True)
    if unit:
        write(paragraph, unit, _UNIT_SIZE * size, palette.muted)


def _split(text: str) -> tuple[str, str]:
    """A number, and its unit with the space before it; a text without unit stays whole."""
    number, space, unit = text.rpartition(NARROW_SPACE)
    if not space or any(char.isdigit() for char in unit):
        return text, ""
    return number, f"{space}{unit}"


def _value_width(text: str, size: float) -> float:
    number, unit = _split(text)
    return text_fit.width_of(number, size, semibold=True) + text_fit.width_of(unit, _UNIT_SIZE * size)


# The style of PowerPoint without fills and lines.
_NO_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
_RULE_PT, _HAIRLINE_PT = 1.0, 0.5
_ORDER = ("a:lnL", "a:lnR", "a:lnT", "a:lnB")


def add_table(slide: Any, fitted: FittedTable, area: Area, palette: Palette) -> None:
    """The table at the top of an area, its note below it."""
    _Writer(slide, fitted, area, palette).write()


class _Writer:
    def __init__(self, slide: Any, fitted: FittedTable, area: Area, palette: Palette) -> None:
        self.slide, self.fitted, self.palette, self.area = slide, fitted, palette, area
        self.columns, self.rows = fitted.table.columns, fitted.table.rows
        height = sum(fitted.heights)
        place = Area(area.left, area.top, area.width, height)
        shape = slide.shapes.add_table(len(fitted.heights), len(self.columns), *corners(place))
        shape.name = printable(fitted.table.caption)
        self.table, self.bottom = shape.table, place.bottom

    def write(self) -> None:
        """Head, rows and note."""
        fitted, table = self.fitted, self.table
        properties = self.table._tbl.tblPr
        properties.find(qn("a:tableStyleId")).text = _NO_STYLE
        self.table.horz_banding = False
        self.table.first_row = self.fitted.has_head
        for column, width in zip(table.columns, fitted.widths, strict=True):
            column.width = emu(width)
        for row, height in zip(table.rows, fitted.heights, strict=True):
            row.height = emu(height)
        first = int(fitted.has_head)
        if fitted.has_head:
            for index, column in enumerate(self.columns):
                cell = table.cell(0, index)
                self._text(cell, Cell(column.title), index, self.palette.muted, bold=True)
                self._rules(cell, top=_RULE_PT, bottom=_RULE_PT)
        for number, one in enumerate(self.rows, first):
            self._row(number, one, is_first=number == 0, is_last=number == len(fitted.heights) - 1)
        if fitted.note:
            left, top, width = self.area.left, self.bottom + 5, self.area.width
            height = text_fit.note_height(fitted.note, width) - 5
            add_line(
                self.slide, fitted.note, Area(left, top, width, height + 1), text_fit.SIZES[-1], self.palette.muted
            )

    def _row(self, number: int, row: Row, *, is_first: bool, is_last: bool) -> None:
        bold = row.kind != ""
        for index, _ in enumerate(self.columns):
            cell = self.table.cell(number, index)
            given = row.cells[index] if index < len(row.cells) else Cell("")
            muted = given.is_unknown or (row.kind == "group" and given.is_muted)
            colour = self.palette.muted if muted else self.palette.ink
            if given.stage:
                colour = self.palette.colour(given.stage)
            self._text(cell, given, index, colour, bold=bold and not muted, italic=given.is_unknown)
            top = _RULE_PT if is_first else _HAIRLINE_PT if row.kind == "total" else 0.0
            self._rules(cell, top=top, bottom=_RULE_PT if is_last else 0.0)
        if row.kind == "group" and len(self.columns) > 1:
            self.table.cell(number, 0).merge(self.table.cell(number, len(self.columns) - 1))

    def _text(self, cell: Any, given: Cell, place: int, colour: str, *, bold: bool, italic: bool = False) -> None:
        size = self.fitted.size
        pad = emu(text_fit.CELL_PAD * size)
        side = emu(text_fit.CELL_SIDE * size)
        cell.margin_top = cell.margin_bottom = pad
        cell.margin_right = side
        # Text of the first column begins where the rules begin.
        cell.margin_left = 0 if place == 0 else side
        cell.vertical_anchor = MSO_ANCHOR.TOP
        paragraph = cell.text_frame.paragraphs[0]
        paragraph.alignment = PP_ALIGN.RIGHT if self.columns[place].align == "right" else PP_ALIGN.LEFT
        paragraph.line_spacing = Pt(text_fit.LEADING * size)
        if given.text:
            write(paragraph, printable(given.text), size, colour, bold=bold, italic=italic)
        else:
            # Without text the row would be as high as the default type.
            add(paragraph._p, "a:endParaRPr", sz=str(round(100 * size)))

    def _rules(self, cell: Any, *, top: float, bottom: float) -> None:
        """Lines of a cell, in the order of the file format."""
        properties = cell._tc.get_or_add_tcPr()
        for index, (tag, width) in enumerate(zip(_ORDER, (0.0, 0.0, top, bottom), strict=True)):
            line = properties.makeelement(qn(tag), {"w": str(emu(width))} if width else {"w": "0"})
            properties.insert(index, line)
            if width:
                add(add(line, "a:solidFill"), "a:srgbClr", val=self._rule_colour(width).lstrip("#"))
            else:
                add(line, "a:noFill")

    def _rule_colour(self, width: float) -> str:
        return self.palette.ink if width == _RULE_PT else self.palette.hairline


_TEXT_PT, _MARK_PT = 12, 8
_CREATED = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")
# Room above the highest value, for the text at its end.
_HEADROOM = 1.1
_STEPS = (1.0, 2.0, 5.0, 10.0)
_TICKS = 6
_DESIGN_POINTS = 3
# Share of the axis from which a label has no room on its right.
_NEAR_END = 0.6


def add_chart(slide: Any, chart: LineChart, area: Area, palette: Palette) -> None:
    """A chart that fills an area."""
    native = _lines(slide, chart, area, palette)
    native.font.name, native.font.size = FONT, Pt(_TEXT_PT)
    native.font.color.rgb = rgb(palette.muted)
    native.has_title = False
    native.value_axis.has_major_gridlines = True
    native.value_axis.major_gridlines.format.line.color.rgb = rgb(palette.hairline)
    native.value_axis.format.line.fill.background()
    native.category_axis.format.line.color.rgb = rgb(palette.muted)
    native.value_axis.tick_labels.number_format = _grouped()
    native.value_axis.tick_labels.number_format_is_linked = False
    _axis_title(native.value_axis, chart.y_title, palette)
    data = native.part.chart_workbook.xlsx_part
    data._blob = without_dates(data.blob)


def _lines(slide: Any, chart: LineChart, area: Area, palette: Palette) -> Any:
    data = XyChartData()  # type: ignore[no-untyped-call]
    for series in chart.series:
        rows = data.add_series(printable(series.name))  # type: ignore[no-untyped-call]
        for x, y in series.points:
            rows.add_data_point(x, y)
    shape = slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER_LINES_NO_MARKERS, *corners(area), data)
    native = shape.chart
    native.has_legend = False
    native.category_axis.has_major_gridlines = False
    native.category_axis.tick_labels.number_format = _grouped()
    native.category_axis.tick_labels.number_format_is_linked = False
    _axis_title(native.category_axis, chart.x_title, palette)
    points = [point for series in chart.series for point in series.points]
    _scale(native.category_axis, max(x for x, _ in points))
    _scale(native.value_axis, max(y for _, y in points) * _HEADROOM)
    for series, plotted in zip(chart.series, native.plots[0].series, strict=True):
        is_at_end = series.points[-1][0] > _NEAR_END * max(x for x, _ in points)
        colour = palette.colour(chart.colour)
        line, marker = plotted.format.line, plotted.marker
        plotted.smooth = False
        marker.style = XL_MARKER_STYLE.NONE
        shade = colour
        match series.role:
            case "expected":
                line.width = Pt(2.25)
            case "interval":
                line.width, shade = Pt(1.0), tint(colour, 0.5)
            case "target":
                line.width, shade = Pt(1.0), palette.ink
                line.dash_style = MSO_LINE_DASH_STYLE.DASH
            case "design":
                shade = palette.accent
                line.width, line.color.rgb = Pt(1.0), rgb(shade)
            case _:
                line.fill.background()
                shade = palette.ink
                marker.style, marker.size = XL_MARKER_STYLE.CIRCLE, _MARK_PT
                marker.format.line.color.rgb = rgb(shade)
                marker.format.fill.background()
        if series.role == "design":
            _drop_line(plotted, shade)
        if series.role in ("expected", "interval", "target"):
            line.color.rgb = rgb(shade)
        if series.label:
            place, position = len(series.points) - 1, XL_LABEL_POSITION.ABOVE
            if series.role == "design":
                # Next to the drop line, below the rising curve: to the right unless the chart ends there.
                place, position = 1, XL_LABEL_POSITION.LEFT if is_at_end else XL_LABEL_POSITION.RIGHT
            _label(plotted, place, series.label, colour if series.role == "interval" else shade, position)
    return native


def _scale(axis: Any, most: float) -> None:
    """From zero to a round number, in round steps."""
    power = 10.0 ** len(str(int(most / _TICKS))) / 10
    step = next(power * step for step in _STEPS if power * step * _TICKS >= most)
    axis.minimum_scale, axis.major_unit = 0, step
    n_steps = -(-most // step)
    axis.maximum_scale = step * n_steps


def _drop_line(plotted: Any, colour: str) -> None:
    """Mark only the upper end of the line down to the axis."""
    marker = plotted.points[_DESIGN_POINTS - 1].marker
    marker.style, marker.size = XL_MARKER_STYLE.CIRCLE, _MARK_PT + 2
    marker.format.fill.solid()
    marker.format.fill.fore_color.rgb = rgb(colour)
    marker.format.line.color.rgb = rgb(colour)


def _label(plotted: Any, place: int, text: str, colour: str, position: Any) -> None:
    label = plotted.points[place].data_label
    frame = label.text_frame
    run = frame.paragraphs[0].add_run()
    run.text = printable(text)
    run.font.name, run.font.size = FONT, Pt(_TEXT_PT)
    run.font.color.rgb = rgb(colour)
    label.position = position


def _axis_title(axis: Any, text: str, palette: Palette) -> None:
    axis.has_title = True
    run = axis.axis_title.text_frame.paragraphs[0].add_run()
    run.text = printable(text)
    run.font.name, run.font.size, run.font.bold = FONT, Pt(_TEXT_PT), False
    run.font.color.rgb = rgb(palette.muted)


def _grouped() -> str:
    """Number format with the thousands separator of the document."""
    sign = current_locale().thousands_separator
    if sign == ",":
        return "#,##0"
    return f'[>=1000000]#"{sign}"000"{sign}"000;[>=1000]#"{sign}"000;0'


def without_dates(document: bytes) -> bytes:
    """A document of the office formats without the times at which it was written."""
    with zipfile.ZipFile(io.BytesIO(document)) as source:
        files = {name: source.read(name) for name in source.namelist()}
    core = "docProps/core.xml"
    return zipped(files | {core: _CREATED.sub(rb"\g<1>2000-01-01T00:00:00Z", files[core])})


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
    _Shapes(slide, drawing, area, palette).write()


class _Shapes:
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
