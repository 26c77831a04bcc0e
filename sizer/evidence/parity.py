"""Chart of predicted over published numbers, one mark per row.

A mark is filled where the published number lies outside its 90 % interval; tasks differ in colour and shape.
"""

import math
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import altair as alt
import numpy as np
from altair.utils import schemapi

from sizer.base.quantities import by_count
from sizer.calibrate.validate import ValidatedRow, summarise
from sizer.catalog.schema import Source
from sizer.drawings.palette import BAND_OPACITY, LIGHT, Palette
from sizer.evidence import rows as facts
from sizer.present.charting import Rows, axis, chart_of, finish
from sizer.present.words import plural

# Checking every row of a large chart against the schema takes a second; the switch is one of the whole process.
_UNCHECKED = Lock()

# Task -> role of its colour and shape of its mark. A stage keeps its colour.
_MARKS = {
    "training": ("accent", "circle"),
    "inference": ("exchange", "diamond"),
    "accuracy": ("ink", "square"),
    "preprocess": ("decode", "triangle-up"),
    "storage": ("storage", "triangle-down"),
    "network": ("network", "cross"),
}
_OTHER_MARK = ("other", "triangle-right")
# More points than that make a file of many megabytes and show nothing more.
_MOST_POINTS = 2000
# With more rows the bars of their intervals hide the rows.
_MOST_INTERVALS = 80
_LEAST_DECADES = 0.9
_HEIGHT_PX = 460
# Numbers on an axis of many decades: thousands grouped while they are short, then with a prefix.
_SHORT = (
    "datum.value >= 1e6 || datum.value < 1e-3 ? format(datum.value, '~s') "
    ": replace(format(datum.value, ',~r'), /,/g, '\u202f')"
)


def parity_spec(
    rows: Sequence[ValidatedRow], sources: Mapping[str, Source], palette: Palette = LIGHT
) -> dict[str, Any] | None:
    """Predicted over published numbers, both axes logarithmic, as wide as its page, as a specification.

    ``rows``: those that do not count or hold no number above 0 are not drawn. ``sources``: documents by key, whose
    titles stand under the pointer. None where there is nothing to draw.
    """
    able = [row for row in facts.rated(rows) if row.log_error is not None]
    drawn = _thinned(able)
    if not drawn:
        return None
    ends = _domain(drawn)
    marks = _marks(drawn)
    data = [_parity_row(row, marks, palette, ends, sources) for row in drawn]
    measures = {facts.measure(row.quantity) for row in drawn}
    name = measures.pop().axis if len(measures) == 1 else "number, in the unit of its row"
    hidden = len(able) - len(drawn)
    remark = f"{plural(hidden, 'row')} between others {by_count(hidden, 'is', 'are')} not drawn" if hidden else ""
    with _UNCHECKED, schemapi.debug_mode(False):
        scale = alt.Scale(type="log", domain=list(ends), nice=False)
        ticks = axis(grid=False, values=_decades(*ends), labelExpr=_SHORT, labelOverlap=True)
        x = alt.X("x:Q", scale=scale, axis=ticks, title=f"published {name}, log scale")
        y = alt.Y("y:Q", scale=scale, axis=ticks, title=f"predicted {name}, log scale")
        layers = _guides(*ends, palette, x, y)
        if len(drawn) <= _MOST_INTERVALS:
            bars = chart_of(data).transform_filter("datum.low !== null")
            bars = bars.mark_rule(strokeWidth=1, opacity=0.6, aria=False)
            colour = alt.Color("colour:N", scale=None, legend=None)
            layers.append(bars.encode(x=x, y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q"), color=colour))
        layers.append(_points(data, marks, palette, x, y))
        chart = finish(layers, _finding(rows), palette, "container", _HEIGHT_PX, remark)
        return chart.to_dict(validate=False)


def _finding(rows: Sequence[ValidatedRow]) -> str:
    """Title of a parity chart: the median error."""
    found = summarise("", rows)
    if found.median_error is None:
        return "No number is predicted here"
    if found.predicted_rows == 1:
        return f"The error of the one prediction is {facts.size_text(found.median_error)}"
    return f"The median error of {plural(found.predicted_rows, 'prediction')} is {facts.size_text(found.median_error)}"


def source_title(key: str, sources: Mapping[str, Source]) -> str:
    """Title of a document, or what a file calls its source."""
    return facts.shortened(sources[key].title if key in sources else key) or "source not stated"


def _thinned(rows: list[ValidatedRow]) -> list[ValidatedRow]:
    """So many rows as a chart can carry: the farthest off, and the others evenly."""
    if len(rows) <= _MOST_POINTS:
        return rows
    ordered = sorted(rows, key=lambda row: (-abs(row.log_error or 0.0), row.id))
    worst, rest = ordered[: _MOST_POINTS // 4], ordered[_MOST_POINTS // 4 :]
    picked = np.linspace(0, len(rest) - 1, _MOST_POINTS - len(worst)).astype(int)
    return [*worst, *(rest[place] for place in picked)]


def _tips() -> list[alt.Tooltip]:
    titles = {
        "name": "published run",
        "source": "source",
        "published": "published",
        "predicted": "predicted",
        "off": "error",
    }
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def _marks(rows: Sequence[ValidatedRow]) -> dict[str, tuple[str, str, str]]:
    """Kind -> name in the legend, role of the colour, shape; a file may bring kinds that share the last mark."""
    found = dict.fromkeys(row.task for row in rows)
    known = [(mark, *_MARKS[mark]) for mark in _MARKS if mark in found]
    return {
        **{one: (facts.task_name(one) if one in facts.TASKS else one, role, shape) for one, role, shape in known},
        **{one: ("Other", *_OTHER_MARK) for one in found if one not in _MARKS},
    }


def _domain(rows: Sequence[ValidatedRow]) -> tuple[float, float]:
    """Ends of both axes: all points with some room, never less than about a decade."""
    values = [math.log10(value) for row in rows for value in (row.published, row.predicted) if value]
    low, high = min(values), max(values)
    room = max(0.05 * (high - low), (_LEAST_DECADES - (high - low)) / 2, 0.08)
    return float(10.0 ** max(low - room, -300)), float(10.0 ** min(high + room, 300))


def _decades(low: float, high: float) -> list[float]:
    """Ticks of a log axis: 1, 2 and 5 where it is short, else powers of ten, at most eight."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    return ticks[:: 1 + (len(ticks) - 1) // 8] if steps == (1,) else ticks


def _parity_row(
    row: ValidatedRow,
    marks: Mapping[str, tuple[str, str, str]],
    palette: Palette,
    ends: tuple[float, float],
    sources: Mapping[str, Source],
) -> dict[str, Any]:
    name, role, _ = marks[row.task]
    interval = [
        None if end is None or not math.isfinite(end) else min(max(end, ends[0]), ends[1])
        for end in (row.low, row.high)
    ]
    low, high = interval if None not in interval else (None, None)
    return {
        "x": row.published,
        "y": row.predicted,
        "low": low,
        "high": high,
        "kind": name,
        "colour": palette.colour(role),
        "filled": 1.0 if row.is_covered is False else 0.0,
        "run": row.id,
        "name": facts.shortened(row.id),
        "source": source_title(row.source, sources),
        "published": facts.value_text(row.published, row.quantity),
        "predicted": facts.value_text(row.predicted, row.quantity),
        "off": facts.error_text(row.log_error),
    }


def _guides(low: float, high: float, palette: Palette, x: alt.X, y: alt.Y) -> list[Any]:
    """The diagonal, a band of 10 % around it, and lines at twice and half."""
    band: Rows = [
        {"x": at, "y": max(0.9 * at, low), "top": min(1.1 * at, high)} for at in (low, low / 0.9, high / 1.1, high)
    ]
    area = chart_of(band).mark_area(opacity=BAND_OPACITY, color=palette.other, aria=False)
    layers: list[Any] = [area.encode(x=x, y=y, y2=alt.Y2("top:Q"))]
    for ratio in (1.0, 2.0, 0.5):
        line: Rows = [
            {"x": max(low, low / ratio), "y": max(low, low * ratio)},
            {"x": min(high, high / ratio), "y": min(high, high * ratio)},
        ]
        look: dict[str, Any] = (
            {"color": palette.muted} if ratio == 1 else {"color": palette.other, "strokeDash": [3, 3]}
        )
        layers.append(chart_of(line).mark_line(strokeWidth=1, aria=False, **look).encode(x=x, y=y))
    return layers


def _points(data: Rows, marks: Mapping[str, tuple[str, str, str]], palette: Palette, x: alt.X, y: alt.Y) -> alt.Chart:
    looks = dict.fromkeys(marks.values())
    names = [name for name, _, _ in looks]
    colours = alt.Scale(domain=names, range=[palette.colour(role) for _, role, _ in looks])
    shapes = alt.Scale(domain=names, range=[shape for _, _, shape in looks])
    legend = (
        alt.Legend(orient="top", columns=4, title=None, offset=6, symbolFillColor="transparent")
        if len(names) > 1
        else None
    )
    size, stroke = (28, 1.1) if len(data) > _MOST_INTERVALS else (58, 1.4)
    points = chart_of(data).mark_point(size=size, strokeWidth=stroke, opacity=0.85, aria=False)
    encoded: alt.Chart = points.encode(
        x=x,
        y=y,
        stroke=alt.Stroke("kind:N", scale=colours, legend=legend),
        fill=alt.Fill("colour:N", scale=None, legend=None),
        shape=alt.Shape("kind:N", scale=shapes, legend=legend),
        fillOpacity=alt.FillOpacity("filled:Q", scale=None, legend=None),
        tooltip=_tips(),
    )
    return encoded
