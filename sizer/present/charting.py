"""What every chart shares: data, axes, sizes, layers, finish, labels that do not collide, and the conversion to SVG.

How to make a chart. Take ``palette: Palette = LIGHT`` and ``width: int | str = COLUMN_PX`` as the last arguments, put
layers together and hand them to :func:`finish` with their finding: :func:`band_layers` draws an estimate over a number,
:func:`point_layers` a marked point with its text, :func:`haloed` a text over lines, :func:`level_mark` a level.
Function names that end in ``_finding`` return the title of a chart, a plain sentence that states the result.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast
from xml.sax.saxutils import escape

import altair as alt
import numpy as np

from sizer.drawings.palette import BAND_OPACITY, COLUMN_PX, Palette
from sizer.drawings.shapes import text_width, wrapped
from sizer.present.chart_engine.engine import vega_svg, vega_svg_meanwhile
from sizer.present.theme import CHART_LABEL_PX, CHART_PX, CHART_TITLE_PX, altair_config

Chart = alt.LayerChart
Rows = list[dict[str, Any]]

# Sizes that all charts share. [px] Plot of a chart of the full width with numbers on its upright axis, height of a
# chart with two axes of numbers.
PLOT_PX, HEIGHT_PX = 560.0, 220
_HALO_PX = 4
_DASH = [4, 3]

# Numbers on an axis with narrow spaces between thousands, as everywhere else in the documents.
_GROUPED = "replace(format(datum.value, ',~r'), /,/g, '\u202f')"
_TITLE_WIDTH = 600.0


def chart_of(rows: Rows) -> alt.Chart:
    """Chart over rows that it carries itself."""
    return alt.Chart(alt.InlineData(values=rows))


def axis(**more: Any) -> alt.Axis:
    """Axis of a number, thousands grouped."""
    return alt.Axis(**{"labelExpr": _GROUPED, "tickCount": 6, **more})


def time_unit(longest_s: float) -> tuple[float, str]:
    """Seconds of the unit in which an axis up to ``longest_s`` reads best, and its name."""
    units = ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))
    return next((unit for unit in units if longest_s >= 2 * unit[0]), (1.0, "seconds"))


def band_rows(key: str, at: Iterable[float], *ends: Iterable[float]) -> Rows:
    """Points of a line with its band for :func:`band_layers`; ``key``: of ``at``; ``ends``: value, low, high."""
    names = (key, "value", "low", "high")
    return [dict(zip(names, map(float, point), strict=True)) for point in zip(at, *ends, strict=True)]


def band_layers(rows: Rows, x: alt.X, y_title: str, scale: alt.Scale, palette: Palette) -> list[Any]:
    """An estimate over a number: line of ``value`` and band from ``low`` to ``high`` of the rows."""
    base, y_axis = chart_of(rows), axis(tickCount=6)
    low, value = (alt.Y(f"{key}:Q", scale=scale, title=y_title, axis=y_axis) for key in ("low", "value"))
    return [
        base.mark_area(opacity=BAND_OPACITY, color=palette.accent).encode(x=x, y=low, y2=alt.Y2("high:Q")),
        base.mark_line(color=palette.accent, strokeWidth=2).encode(x=x, y=value),
    ]


@dataclass(frozen=True)
class BandChart:
    """An estimate over a number before it is drawn: guide, app and slides draw the same points, marks and words."""

    id: str
    finding: str  # its title
    how: str  # what is drawn
    caption: str
    x_title: str
    y_title: str
    rows: Rows  # of :func:`band_rows` with the key "x"
    design: tuple[float, float]
    label: str  # of the design
    x_domain: tuple[float, float]
    top: float  # of the upright axis
    level: tuple[float, str] | None = None  # a value that is asked for, with its text
    x_limit: float | None = None
    published: tuple[tuple[float, float, str], ...] = ()  # place and source of published runs
    lines: tuple[tuple[Rows, str, str], ...] = ()  # of stages: x and value, text at the end, key of the stage
    counts_x: bool = False  # its places are whole numbers

    @property
    def is_falling(self) -> bool:
        """Whether the line ends lower than it begins."""
        return bool(self.rows[-1]["value"] < self.rows[0]["value"])


# Room of a label about its line, and where it may stand of its point: right below, left above, right above, left below.
_CLEAR_PX = 3.0
_SIDES = ((1, 1), (-1, -1), (1, -1), (-1, 1))


def _label_side(data: BandChart, height: int) -> dict[str, Any]:
    """Where the text of the design stands clear of the line, of the level that is asked for and of other points."""
    start, end = data.x_domain
    wide, high = PLOT_PX / (end - start), height / data.top

    def pixels(x: Any, y: Any) -> tuple[Any, Any]:
        return (np.asarray(x) - start) * wide, height - np.asarray(y) * high

    line = pixels([row["x"] for row in data.rows], [row["value"] for row in data.rows])
    others = [pixels(*run[:2]) for run in data.published]
    (px, py), long = pixels(*data.design), text_width(data.label, CHART_LABEL_PX, semibold=True)

    def is_free(across: int, down: int) -> bool:
        left, middle = (px + 10 if across > 0 else px - 10 - long), py + 11 * down
        crossed = np.interp(np.linspace(left, left + long, 9), *line, left=np.inf, right=np.inf).tolist()
        crossed += [] if data.level is None else [pixels(0, data.level[0])[1]]
        crossed += [y for x, y in others if left <= x <= left + long]
        is_inside = left >= 0 and left + long <= PLOT_PX and 7 <= middle <= height - 7
        return is_inside and all(abs(y - middle) > 7 + _CLEAR_PX for y in crossed)

    beside = 1 if px + long + 10 < PLOT_PX else -1
    across, down = next((side for side in _SIDES if is_free(*side)), (beside, 1))
    return {"align": "left" if across > 0 else "right", "dx": 10 * across, "dy": 11 * down}


def _ticks(data: BandChart) -> alt.Axis:
    last = int(data.x_domain[1])
    step = next(size * 10**power for power in range(9) for size in (1, 2, 5) if last <= 7 * size * 10**power)
    return axis(values=list(range(0, last + 1, step))) if data.counts_x else axis()


def band_chart(
    data: BandChart | None, palette: Palette, width: int | str = COLUMN_PX, height: int = HEIGHT_PX
) -> Chart | None:
    """A :class:`BandChart` as it is drawn on pages; None of None."""
    if data is None:
        return None
    domain = alt.Scale(domain=list(data.x_domain), nice=False)
    x = alt.X("x:Q", title=data.x_title, scale=domain, axis=_ticks(data))
    scale = alt.Scale(domain=[0, data.top], nice=True)
    y = alt.Y("value:Q", scale=scale)
    layers = band_layers(data.rows, x, data.y_title, scale, palette)
    for rows, text, key in data.lines:
        colour, at_right = palette.stages[key], rows[-1]["x"] > 0.8 * data.x_domain[1]
        end = chart_of([{**rows[-1], "text": text}])
        place: dict[str, Any] = {"align": "right", "dy": -9} if at_right else {"align": "left", "dx": 6}
        layers.append(chart_of(rows).mark_line(color=colour, strokeWidth=1.2).encode(x=x, y=y))
        layers.append(end.mark_text(color=colour, **place).encode(x=x, y=y, text=alt.Text("text:N")))
    if data.level is not None:
        layers += level_mark(*data.level, scale, palette, is_falling=data.is_falling)
    if data.x_limit is not None:
        rule = chart_of([{"x": data.x_limit}]).mark_rule(strokeDash=_DASH, strokeWidth=1, color=palette.ink)
        layers.append(rule.encode(x=x))
    side = _label_side(data, height)
    layers += point_layers(data.design, data.label, (x, y), palette, palette.accent, **side)
    if data.published:
        runs = [dict(zip(("x", "value", "source"), run, strict=True)) for run in data.published]
        points = chart_of(runs).mark_point(filled=False, size=60, strokeWidth=1.2, color=palette.ink, opacity=1)
        layers.append(points.encode(x=x, y=y, tooltip=[alt.Tooltip("source:N")]))
    return finish(layers, data.finding, palette, width, height, data.how)


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
    **style: Any,
) -> list[Any]:
    """A point with its text."""
    x, y = axes
    keys = [str(channel.shorthand).partition(":")[0] for channel in axes]
    point = chart_of([{keys[0]: at[0], keys[1]: at[1], "text": text}]).encode(x=x, y=y)
    dot = point.mark_point(filled=True, size=85, color=colour, opacity=1, strokeWidth=1.5)
    texts = haloed(point.encode(text=alt.Text("text:N")), palette, colour, fontWeight=600, **style)
    return [*texts, dot]


def level_mark(value: float, text: str, scale: alt.Scale, palette: Palette, *, is_falling: bool) -> list[Any]:
    """The same across a chart with upright values; its text stands above the end at which the curve is far above."""
    mark, at = chart_of([{"value": value, "text": text}]), alt.Y("value:Q", scale=scale)
    rule = mark.mark_rule(strokeDash=_DASH, strokeWidth=1, color=palette.ink).encode(y=at)
    align, dx, end = ("left", 4, 0) if is_falling else ("right", -4, "width")
    words = mark.mark_text(align=cast(Any, align), baseline="bottom", dx=dx, dy=-3).encode(x=alt.value(end))
    return [rule, words.encode(y=at, text=alt.Text("text:N"))]


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
