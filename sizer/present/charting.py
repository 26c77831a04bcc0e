"""What every chart shares: data, axes, finish, labels that do not collide, and the way to SVG."""

import hashlib
import re
from functools import cache
from typing import Any, cast
from xml.sax.saxutils import escape

import altair as alt

from sizer.base.resources import data_dir
from sizer.drawings.shapes import text_width, wrapped
from sizer.present.theme import CHART_LABEL_PX, CHART_PX, CHART_TITLE_PX, Palette, altair_config

Chart = alt.LayerChart
Rows = list[dict[str, Any]]

_VEGA_LITE = "6.4"
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


def names_axis(palette: Palette, limit: int = NAME_PX, **more: Any) -> alt.Axis:
    """Axis of the names left of horizontal bars; those that :func:`broken` broke stand on several lines."""
    lines = f"split(datum.label, {_LINE_END!r})"
    return alt.Axis(
        **{"labelColor": palette.ink, "labelLimit": limit, "labelExpr": lines, "domain": False, "ticks": False, **more}
    )


def broken(name: str, limit: int = NAME_PX, max_lines: int = 2) -> str:
    """A name as :func:`names_axis` takes it, broken into lines that fit it."""
    return _LINE_END.join(wrapped(name, CHART_LABEL_PX, limit, max_lines=max_lines))


def time_unit(longest_s: float) -> tuple[float, str]:
    """Seconds of the unit in which an axis up to ``longest_s`` reads best, and its name."""
    units = ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))
    return next((unit for unit in units if longest_s >= 2 * unit[0]), (1.0, "seconds"))


def upright_mark(value: float, text: str, scale: alt.Scale, palette: Palette) -> list[Any]:
    """Thin dashed line across horizontal bars, with its text above it: a target, a data set."""
    mark, at = chart_of([{"at": value, "text": text}]), alt.X("at:Q", scale=scale)
    return [
        mark.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(x=at),
        mark.mark_text(align="left", baseline="bottom", dx=-1, dy=-2).encode(x=at, y=alt.value(0), text="text:N"),
    ]


def level_mark(value: float, text: str, scale: alt.Scale, palette: Palette, *, at_end: bool = False) -> list[Any]:
    """The same across a chart with upright values, with its text above the left end; ``at_end`` below the right one.

    A rising curve leaves room below the right end, a falling one above the left end.
    """
    mark, at = chart_of([{"value": value, "text": text}]), alt.Y("value:Q", scale=scale)
    rule = mark.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(y=at)
    if at_end:
        words = mark.mark_text(align="right", baseline="top", dx=-4, dy=4).encode(x=alt.value("width"))
    else:
        words = mark.mark_text(align="left", baseline="bottom", dx=4, dy=-3).encode(x=alt.value(0))
    return [rule, words.encode(y=at, text="text:N")]


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
    chart = cast(Chart, alt.layer(*layers)).properties(
        title=words,
        width=cast(Any, width),
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
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


@cache
def _register_fonts() -> None:
    import vl_convert

    # Without the shipped font vl-convert measures the text of another one and the margins come out wrong.
    vl_convert.register_font_directory(str(data_dir("reports") / "fonts"))


def chart_svg(chart: Chart, alt_text: str = "") -> str:
    """SVG of a chart, with its finding (or ``alt_text``) as the text that screen readers speak."""
    import vl_convert

    _register_fonts()
    spec = chart.to_dict(validate=False)
    title = alt_text or " ".join(spec["title"]["text"])
    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[])
    return titled(svg, title)


def titled(svg: str, title: str) -> str:
    """SVG with a ``<title>``, and with ids that stay unique when several stand on one page."""
    mark = "c" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{mark}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}-\1)", svg)
    opening = re.search(r"<svg[^>]*>", svg)
    assert opening is not None
    return f'<svg role="img"{opening[0][4:]}<title>{escape(title)}</title>{svg[opening.end() :]}'
