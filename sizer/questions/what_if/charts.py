"""Chart of what would change the answer most."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from sizer.base.quantities import by_count, duration, grouped, si, significant
from sizer.drawings.palette import COLUMN_PX, QUIET_OPACITY
from sizer.drawings.shapes import text_width, wrapped
from sizer.present.charting import (
    Chart,
    Rows,
    axis,
    broken,
    chart_of,
    finish,
    haloed,
    names_axis,
    time_unit,
    upright_mark,
)
from sizer.present.theme import CHART_LABEL_PX, LIGHT, Palette
from sizer.present.words import percent
from sizer.questions.what_if.sensitivity import Influence, Sensitivity

# Pixels of a full-width chart that the names left of its bars leave for the plot.
_PLOT = 450.0
_ROW_PX, _LINE_PX = 30, 13
# Longest line of a text at an end, and ticks that an axis has at most.
_END_PX, _TICKS = 125.0, 6
# Space between a bar and its text.
_GAP = 6.0
# Names of influences are longer than those of stages.
_NAME_PX = 150
# An end this close to the base moves nothing.
_SAME = 0.005


def tornado_chart(s: Sensitivity, unit: str, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Each influence moved to both its ends, as bars on either side of what the design does.

    ``s``: influences on one workload; they are drawn in their order. ``unit``: of a rate, such as images/s; a time to
    train prints as a duration. None where nothing moves the result.
    """
    if not s.influences:
        return None
    is_time = s.metric == "s"
    values = [s.base, *(end for one in s.influences for end in (one.low, one.high))]
    if s.target is not None:
        values.append(s.target)
    factor, name = time_unit(max(values)) if is_time else (1.0, unit)
    rows = [row for one in s.influences for row in _ends(one, s.base, factor, palette)]
    shown = [value / factor for value in values]
    mark = _target_text(s)
    said: Rows = [{"side": "right", "text": mark, "text_at": s.target / factor}] if s.target is not None else []
    scale = alt.Scale(domain=_domain([*rows, *said], shown), nice=False, zero=False)
    names = list(dict.fromkeys(row["name"] for row in rows))
    y = alt.Y("name:N", sort=names, title=None, axis=names_axis(palette, _NAME_PX))
    base = chart_of(rows).encode(y=y)
    quantity = f"time to train, {name}" if is_time else f"throughput, {name}"
    x = alt.X("base:Q", scale=scale, axis=axis(grid=False, values=_ticks(min(shown), max(shown))), title=quantity)
    at = alt.X("at:Q", scale=scale)
    layers: list[Any] = [
        base.mark_bar(height=alt.RelativeBandSize(0.55), strokeWidth=1).encode(
            x=x,
            x2=alt.X2("at:Q"),
            color=alt.Color("colour:N", scale=None),
            stroke=alt.Stroke("colour:N", scale=None),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=[
                alt.Tooltip("name:N", title="influence"),
                alt.Tooltip("text:N", title="at"),
                alt.Tooltip("result:N", title="result"),
                alt.Tooltip("basis:N", title="ends from"),
            ],
        ),
        chart_of([{"at": s.base / factor}]).mark_rule(strokeWidth=1, color=palette.ink).encode(x=at),
    ]
    texts = _texts(base, {(row["side"], row["lines"]) for row in rows}, scale, palette)
    # The halos of the texts lie over the line of the target and below the bars.
    below = [] if s.target is None else upright_mark(s.target / factor, mark, scale, palette)
    layers = [*below, *texts[::2], *layers, *texts[1::2]]
    row_px = max(_ROW_PX, _LINE_PX * max(row["lines"] for row in rows) + 8)
    return finish(layers, tornado_finding(s, unit), palette, width, row_px * len(names), _subtitle(s, unit))


def _ends(one: Influence, base: float, factor: float, palette: Palette) -> Rows:
    """Both ends of an influence: the lower result on the left, the higher one on the right."""
    ends = [(one.low, one.low_text, one.low_servers), (one.high, one.high_text, one.high_servers)]
    ends.sort(key=lambda end: end[0])
    # Servers are said where the two ends need different numbers of them.
    says_servers = len({servers for _, _, servers in ends if servers is not None}) > 1
    rows: Rows = []
    for side, (value, text, servers) in zip(("left", "right"), ends, strict=True):
        lines = list(wrapped(text, CHART_LABEL_PX, _END_PX, max_lines=4))
        if says_servers and servers is not None:
            lines.append(by_count(servers, f"{grouped(servers)} server", f"{grouped(servers)} servers"))
        rows.append(
            {
                "name": broken(one.label, _NAME_PX),
                "base": base / factor,
                "at": value / factor,
                # Where both ends lie on one side of the base, the nearer one is named on the other side of it.
                "text_at": (min if side == "left" else max)(value, base) / factor,
                "side": side,
                "text": "\n".join(lines),
                "lines": len(lines),
                "result": percent(value / base),
                "basis": one.basis,
                "colour": palette.stages.get(one.stage, palette.other),
                "fill": 1.0 if side == "left" else QUIET_OPACITY,
            }
        )
    return rows


def _domain(rows: Rows, values: Sequence[float]) -> list[float]:
    """Axis wide enough for the texts beside the bars."""
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    # Room in pixels that each text asks for beyond its end; a pixel is worth ``span / inner`` of the axis.
    left = right = 0.0
    for _ in range(4):
        inner = max(_PLOT - left - right, 0.25 * _PLOT)
        pixel = span / inner
        left, right = (
            max((_needed(row) - abs(row["text_at"] - end) / pixel for row in rows if row["side"] == side), default=0.0)
            for side, end in (("left", low), ("right", high))
        )
        left, right = max(left, 4.0), max(right, 4.0)
    pixel = span / max(_PLOT - left - right, 0.25 * _PLOT)
    return [low - left * pixel, high + right * pixel]


def _needed(row: dict[str, Any]) -> float:
    return max(text_width(line, CHART_LABEL_PX) for line in row["text"].split("\n")) + _GAP + 4


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two values: the axis goes on beyond them only to hold texts."""
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** math.floor(math.log10(span / _TICKS))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size * _TICKS >= span)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def _texts(base: alt.Chart, kinds: set[tuple[str, int]], scale: alt.Scale, palette: Palette) -> list[Any]:
    """Halo and text of what stands at the ends of the bars, by side and number of lines."""
    layers: list[Any] = []
    for side, lines in sorted(kinds):
        rows = base.transform_filter(f"datum.side == '{side}' && datum.lines == {lines}")
        place: dict[str, Any] = {
            "align": "right" if side == "left" else "left",
            "dx": -_GAP if side == "left" else _GAP,
            "dy": -(lines - 1) * _LINE_PX / 2,
            "lineBreak": "\n",
            "lineHeight": _LINE_PX,
        }
        at = alt.X("text_at:Q", scale=scale)
        layers += haloed(rows.encode(x=at, text=alt.Text("text:N")), palette, palette.ink, is_wide=True, **place)
    return layers


def _value(s: Sensitivity, value: float, unit: str) -> str:
    return duration(value) if s.metric == "s" else si(value, unit)


def _target_text(s: Sensitivity) -> str:
    if s.target is None:
        return ""
    return f"target {duration(s.target) if s.metric == 's' else significant(s.target)}"


def _subtitle(s: Sensitivity, unit: str) -> str:
    return f"line: this design, {_value(s, s.base, unit)}; filled bars lower the result, outlined ones raise it"


def tornado_finding(s: Sensitivity, unit: str) -> str:
    """Title of the chart of influences: the one with the largest reach."""
    if not s.influences:
        return f"Nothing that was tried moves the {_value(s, s.base, unit)}"
    first = max(s.influences, key=lambda one: max(abs(one.low - s.base), abs(one.high - s.base)))
    low, high = sorted((first.low, first.high))
    if high - low <= _SAME * s.base:
        return f"No influence moves the result by more than {percent(_SAME)}"
    return f"{first.label} moves the result most, from {_value(s, low, unit)} to {_value(s, high, unit)}"
