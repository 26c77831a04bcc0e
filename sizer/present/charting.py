"""What every chart shares: data, axes, sizes, layers, finish, labels that do not collide, and the conversion to SVG.

How to make a chart. Take ``palette: Palette = LIGHT`` and ``width: int | str = COLUMN_PX`` as the last arguments, and
import these names, the opacities and the sizes from here. A chart of horizontal bars is one call of :func:`bar_chart`
with a :class:`ChartBar` for each line; it sizes its axis, rows and labels. Other charts put layers together and hand
them to :func:`finish` with their finding: :func:`band_layers` draws an estimate over a number, :func:`point_layers` a
marked point with its text, :func:`haloed` a text over lines, :func:`level_mark` a reference value.
Function names that end in ``_finding`` return the title of a chart, a plain sentence that states the result.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast
from xml.sax.saxutils import escape

import altair as alt

from sizer.drawings.palette import BAND_OPACITY, COLUMN_PX, QUIET_OPACITY
from sizer.drawings.shapes import text_width, wrapped
from sizer.present.chart_engine.engine import vega_svg, vega_svg_meanwhile
from sizer.present.theme import CHART_LABEL_PX, CHART_PX, CHART_TITLE_PX, LIGHT, Palette, altair_config

__all__ = [
    "BAND_OPACITY",
    "COLUMN_PX",
    "HEIGHT_PX",
    "LIGHT",
    "NAME_PX",
    "PLOT_PX",
    "QUIET_OPACITY",
    "ROW_PX",
    "Chart",
    "ChartBar",
    "Palette",
    "Rows",
    "axis",
    "band_layers",
    "bar_chart",
    "broken",
    "chart_of",
    "chart_svg",
    "finish",
    "haloed",
    "label_room",
    "level_mark",
    "money_unit",
    "names_axis",
    "placed_labels",
    "point_layers",
    "time_unit",
    "titled",
]

Chart = alt.LayerChart
Rows = list[dict[str, Any]]

# Sizes that all charts share. [px] Plot of a chart of the full width with numbers on its upright axis, height of a
# chart with two axes of numbers, height of a bar with the space around it, and of a line.
PLOT_PX, HEIGHT_PX = 560.0, 220
ROW_PX, _LINE_PX = 30, 15
# Many bars stand closer together.
_MANY_BARS, _CLOSE_ROW_PX = 6, 24
_HALO_PX = 4
_DASH = [4, 3]

# Numbers on an axis with narrow spaces between thousands, as everywhere else in the documents.
_GROUPED = "replace(format(datum.value, ',~r'), /,/g, '\u202f')"
_TITLE_WIDTH = 600.0
# Names left of horizontal bars: most pixels of a line, and how lines of a longer one are told apart.
NAME_PX = 170
_LINE_END = "\n"


def chart_of(rows: Rows) -> alt.Chart:
    """Chart over rows that it carries itself."""
    return alt.Chart(alt.InlineData(values=rows))


def axis(**more: Any) -> alt.Axis:
    """Axis of a number, thousands grouped."""
    return alt.Axis(**{"labelExpr": _GROUPED, "tickCount": 6, **more})


def names_axis(palette: Palette) -> alt.Axis:
    """Axis of the names left of horizontal bars; names that :func:`broken` divides take several lines."""
    return alt.Axis(
        labelColor=palette.ink,
        labelLimit=NAME_PX,
        labelExpr=f"split(datum.label, {_LINE_END!r})",
        domain=False,
        ticks=False,
    )


def broken(name: str) -> str:
    """A name as :func:`names_axis` takes it, broken into lines that fit it."""
    return _LINE_END.join(wrapped(name, CHART_LABEL_PX, NAME_PX, max_lines=2))


def time_unit(longest_s: float) -> tuple[float, str]:
    """Seconds of the unit in which an axis up to ``longest_s`` reads best, and its name."""
    units = ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))
    return next((unit for unit in units if longest_s >= 2 * unit[0]), (1.0, "seconds"))


def money_unit(most: float, currency: str) -> tuple[float, str]:
    """Unit in which an axis up to ``most`` reads best, and its name."""
    if most >= 2e6:
        return 1e6, f"million {currency}"
    return (1e3, f"thousand {currency}") if most >= 2e3 else (1.0, currency)


@dataclass(frozen=True)
class ChartBar:
    """A horizontal bar from zero. Numbers are in the unit of the axis."""

    name: str
    end: float
    text: str  # behind the bar
    colour: str
    interval: tuple[float, float]  # 90 %
    fill: float  # opacity; the outline is always drawn


def bar_chart(
    bars: Sequence[ChartBar],
    finding: str,
    axis_title: str,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
) -> Chart:
    """Horizontal bars with their names on the left, their intervals, and their texts behind them."""
    rows: Rows = [
        {
            "name": broken(bar.name),
            "to": bar.end,
            "low": bar.interval[0],
            "high": bar.interval[1],
            "text": bar.text,
            "colour": bar.colour,
            "fill": bar.fill,
        }
        for bar in bars
    ]
    longest = max((row["high"] for row in rows), default=0.0) or 1.0
    room = label_room([bar.text for bar in bars], COLUMN_PX - NAME_PX)
    scale = alt.Scale(domain=[0, longest * room], nice=False)
    y = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=names_axis(palette))
    base = chart_of(rows).encode(y=y)
    layers: list[Any] = [
        base.mark_bar(strokeWidth=1, height=alt.RelativeBandSize(0.6)).encode(
            x=alt.X("to:Q", scale=scale, axis=axis(grid=False), title=axis_title),
            color=alt.Color("colour:N", scale=None),
            stroke=alt.Stroke("colour:N", scale=None),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=["name:N", "text:N"],
        ),
        base.mark_rule(strokeWidth=1.2, color=palette.ink).encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q")),
        base.mark_text(align="left", dx=6).encode(x=alt.X("high:Q", scale=scale), text=alt.Text("text:N")),
    ]
    lines = max((row["name"].count(_LINE_END) + 1 for row in rows), default=1)
    row_px = max(ROW_PX if len(rows) < _MANY_BARS else _CLOSE_ROW_PX, _LINE_PX * lines + 4)
    return finish(layers, finding, palette, width, row_px * len(rows))


def band_layers(rows: Rows, x: alt.X, y_title: str, scale: alt.Scale, palette: Palette, ticks: int = 6) -> list[Any]:
    """An estimate over a number: line of ``value`` and band from ``low`` to ``high`` of the rows."""
    base, y_axis = chart_of(rows), axis(tickCount=ticks)
    low, value = (alt.Y(f"{key}:Q", scale=scale, title=y_title, axis=y_axis) for key in ("low", "value"))
    return [
        base.mark_area(opacity=BAND_OPACITY, color=palette.accent).encode(x=x, y=low, y2=alt.Y2("high:Q")),
        base.mark_line(color=palette.accent, strokeWidth=2).encode(x=x, y=value),
    ]


def haloed(texts: alt.Chart, palette: Palette, colour: str, **style: Any) -> list[Any]:
    """Encoded texts that stay legible over lines: first a stroke in the colour of the page, then the texts."""
    halo = texts.mark_text(color=palette.background, stroke=palette.background, strokeWidth=_HALO_PX, **style)
    return [halo, texts.mark_text(color=colour, **style)]


def point_layers(
    at: tuple[float, float],
    text: str,
    axes: tuple[alt.X, alt.Y],
    palette: Palette,
    colour: str,
    *,
    is_main: bool = True,
    **style: Any,
) -> list[Any]:
    """A point with its text: filled and semibold for the design (``is_main``), hollow for an alternative."""
    x, y = axes
    keys = [str(channel.shorthand).partition(":")[0] for channel in axes]
    point = chart_of([{keys[0]: at[0], keys[1]: at[1], "text": text}]).encode(x=x, y=y)
    size = 85 if is_main else 60
    dot = point.mark_point(filled=is_main, size=size, color=colour, opacity=1, strokeWidth=1.5)
    texts = haloed(point.encode(text=alt.Text("text:N")), palette, colour, fontWeight=600 if is_main else 400, **style)
    return [*texts, dot]


def level_mark(value: float, text: str, scale: alt.Scale, palette: Palette, *, at_end: bool = False) -> list[Any]:
    """The same across a chart with upright values, with its text above the left end; ``at_end`` below the right one.

    A rising curve leaves room below the right end, a falling one above the left end.
    """
    mark, at = chart_of([{"value": value, "text": text}]), alt.Y("value:Q", scale=scale)
    rule = mark.mark_rule(strokeDash=_DASH, strokeWidth=1, color=palette.ink).encode(y=at)
    if at_end:
        words = mark.mark_text(align="right", baseline="top", dx=-4, dy=4).encode(x=alt.value("width"))
    else:
        words = mark.mark_text(align="left", baseline="bottom", dx=4, dy=-3).encode(x=alt.value(0))
    return [rule, words.encode(y=at, text=alt.Text("text:N"))]


def label_room(texts: list[str], plot_width: float) -> float:
    """Factor by which an axis must be longer than its longest bar, so that the labels behind the bars fit."""
    widest = max((text_width(text, CHART_LABEL_PX) for text in texts), default=0.0) + 14
    return 1 / (1 - min(widest / plot_width, 0.6))


def finish(layers: list[Any], title: str, palette: Palette, width: int | str, height: int, subtitle: str = "") -> Chart:
    """Layers as one chart with its finding as the title."""
    room = min(_TITLE_WIDTH, width) if isinstance(width, int) else _TITLE_WIDTH
    lines = list(wrapped(title, CHART_TITLE_PX, room, semibold=True, max_lines=2))
    below = list(wrapped(subtitle, CHART_PX, room, max_lines=3))
    said = below if len(below) > 1 else subtitle
    words = alt.TitleParams(text=lines, subtitle=said) if said else alt.TitleParams(text=lines)
    chart = cast(
        Chart,
        alt.layer(
            *layers,
            title=words,
            width=cast(Any, width),
            height=height,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        ),
    )
    # A plain table: building Altair's own object would validate every key, which takes a quarter of a second.
    chart.config = cast(Any, altair_config(palette))
    return chart


def placed_labels(
    rows: Rows, points: Rows, x_domain: list[float], y_domain: list[float], size: tuple[float, float]
) -> Rows:
    """Rows with the place of their labels in data units, ``lx`` and ``ly``, left-aligned; without room, no label.

    Tries right, left, above and below each point, clear of all ``points``; rows that come first choose first.
    """
    width, height = size
    scale_x, scale_y = (x_domain[1] - x_domain[0]) / width, (y_domain[1] - y_domain[0]) / height

    def pixels(row: dict[str, Any]) -> tuple[float, float]:
        return (row["x"] - x_domain[0]) / scale_x, (row["y"] - y_domain[0]) / scale_y

    taken = [(px - 6, py - 6, px + 6, py + 6) for px, py in map(pixels, points)]
    placed: Rows = []
    for row in rows:
        px, py = pixels(row)
        wide = text_width(row["text"], CHART_LABEL_PX, semibold=bool(row.get("chosen"))) + 2
        for left, middle in ((px + 10, py), (px - 10 - wide, py), (px - wide / 2, py + 14), (px - wide / 2, py - 14)):
            box = (left, middle - 7, left + wide, middle + 7)
            inside = left >= 0 and left + wide <= width and middle - 7 >= 0 and middle + 7 <= height
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                placed.append({**row, "lx": left * scale_x + x_domain[0], "ly": middle * scale_y + y_domain[0]})
                break
    return placed


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def chart_svg(chart: Chart) -> str:
    """SVG of a chart, with its finding as the text that screen readers speak."""
    spec = chart.to_dict(validate=False)
    return titled(vega_svg(spec), " ".join(spec["title"]["text"]))


def chart_svg_meanwhile(chart: Chart) -> Callable[[], str]:
    """What :func:`chart_svg` returns, drawn while this thread goes on; the call waits for it."""
    spec = chart.to_dict(validate=False)
    drawing = vega_svg_meanwhile(spec)
    return lambda: titled(drawing.result(), " ".join(spec["title"]["text"]))


def titled(svg: str, title: str) -> str:
    """SVG with a ``<title>``, and with ids that stay unique when several stand on one page."""
    mark = "c" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{mark}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}-\1)", svg)
    opening = re.search(r"<svg[^>]*>", svg)
    assert opening is not None
    return f'<svg role="img"{opening[0][4:]}<title>{escape(title)}</title>{svg[opening.end() :]}'
