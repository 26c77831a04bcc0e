"""Charts as native charts, whose data a reader can open and change."""

import io
import re
import zipfile
from typing import Any

from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE, XL_LABEL_POSITION, XL_LEGEND_POSITION, XL_MARKER_STYLE
from pptx.enum.dml import MSO_LINE_DASH_STYLE
from pptx.util import Pt

from sizer.base.locale import current_locale
from sizer.deck.blocks import FONT, Area, Chart, ColumnChart, LineChart
from sizer.deck.ooxml import corners, rgb, tint
from sizer.drawings.palette import Palette
from sizer.export.file_names import printable

_TEXT_PT, _MARK_PT = 12, 8
_CREATED = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")
# Room above the highest value, for the text at its end.
_HEADROOM = 1.1
_STEPS = (1.0, 2.0, 5.0, 10.0)
_TICKS = 6
_DESIGN_POINTS = 3
# Share of the axis from which a label has no room on its right.
_NEAR_END = 0.6


def add_chart(slide: Any, chart: Chart, area: Area, palette: Palette) -> None:
    """A chart that fills an area."""
    if isinstance(chart, LineChart):
        native = _lines(slide, chart, area, palette)
    else:
        native = _columns(slide, chart, area, palette)
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
    data._blob = _undated(data.blob)


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


def _columns(slide: Any, chart: ColumnChart, area: Area, palette: Palette) -> Any:
    data = CategoryChartData(number_format="#,##0")  # type: ignore[no-untyped-call]
    data.categories = [printable(name) for name in chart.categories]
    for series in chart.series:
        data.add_series(printable(series.name), [y for _, y in series.points])  # type: ignore[no-untyped-call]
    native = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *corners(area), data).chart
    native.has_legend = len(chart.series) > 1
    if native.has_legend:
        native.legend.position, native.legend.include_in_layout = XL_LEGEND_POSITION.BOTTOM, False
    plot = native.plots[0]
    plot.gap_width, plot.overlap = 60, 0
    for series, plotted in zip(chart.series, plot.series, strict=True):
        plotted.format.fill.solid()
        colour = palette.colour(chart.colour) if series.role == "column" else palette.hairline
        plotted.format.fill.fore_color.rgb = rgb(colour)
        plotted.invert_if_negative = False
        labels = plotted.data_labels
        labels.show_value, labels.position = True, XL_LABEL_POSITION.OUTSIDE_END
        labels.number_format, labels.number_format_is_linked = _grouped(), False
        labels.font.name, labels.font.size = FONT, Pt(_TEXT_PT)
        labels.font.color.rgb = rgb(palette.ink)
    _scale(native.value_axis, max(y for series in chart.series for _, y in series.points) * _HEADROOM)
    return native


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


def _undated(workbook: bytes) -> bytes:
    """The workbook behind a chart without the time at which it was made."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as source, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == "docProps/core.xml":
                content = _CREATED.sub(rb"\g<1>2000-01-01T00:00:00Z", content)
            target.writestr(zipfile.ZipInfo(entry.filename, (2000, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
