"""Charts of predictions compared with published numbers. Page, guide and app draw the same objects."""

import math
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import altair as alt
import numpy as np
from altair.utils import schemapi

from sizer.base.quantities import by_count
from sizer.calibrate.validate import ValidatedRow
from sizer.catalog.schema import Source
from sizer.drawings.shapes import wrapped
from sizer.evidence import rows as facts
from sizer.evidence.parity import parity_chart, parity_finding, source_title, thinned, tip_fields, tips
from sizer.evidence.rows import NOMINAL, Accuracy
from sizer.present.charting import (
    BAND_OPACITY,
    COLUMN_PX,
    LIGHT,
    QUIET_OPACITY,
    Chart,
    Palette,
    Rows,
    axis,
    chart_of,
    finish,
)
from sizer.present.theme import CHART_LABEL_PX
from sizer.present.words import capital, percent, plural

__all__ = ["coverage_chart", "parity_chart", "parity_finding", "parity_spec", "residual_chart"]

# Checking every row of a large chart against the schema takes a second; the switch is one of the whole process.
_UNCHECKED = Lock()

_MOST_POINTS_A_SOURCE = 60
_MOST_SOURCES = 40
_MOST_GROUPS = 24
_ROW_PX = 22
# Ends that the axis of residuals may have, and the ticks of a short, a longer and a long one.
_ENDS = (1.25, 1.5, 2, 3, 5, 10, 30, 100)
_NEAR = (0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2)
_MIDDLE = (0.2, 0.5, 0.67, 1, 1.5, 2, 3, 5)
_FAR = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
# Marks at the end of an axis stay clear of its labels.
_LABEL_GAP = 10


def parity_spec(
    rows: Sequence[ValidatedRow], sources: Mapping[str, Source], palette: Palette = LIGHT, height: int = 460
) -> dict[str, Any] | None:
    """:func:`parity_chart` as wide as its page, as a specification: for a page where readers choose the rows.

    ``rows``: those that hold no number above 0 are not drawn. ``sources``: documents by key, whose titles stand under
    the pointer. None where there is nothing to draw.
    """
    with _UNCHECKED, schemapi.debug_mode(False):
        chart = parity_chart(rows, palette, "container", height, sources=sources)
        return None if chart is None else chart.to_dict(validate=False)


def residual_chart(
    rows: Sequence[ValidatedRow],
    sources: Mapping[str, Source],
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
    *,
    seen: Sequence[ValidatedRow] = (),
) -> Chart | None:
    """Predicted over published numbers, one strip per source: rows, the middle half of them, and their median.

    ``sources``: documents by key; a key that is none prints as it is. ``seen``: the same rows as a fit predicts them
    that has seen their source: its median is drawn as a cross. None where no row has an error. Sources with the
    largest medians come first, at most 40 of them.
    """
    errors = {
        key: [(off, row) for row in group if (off := facts.error(row)) is not None]
        for key, group in facts.by(facts.rated(rows), lambda row: row.source).items()
    }
    medians = {key: float(np.median([off for off, _ in group])) for key, group in errors.items() if group}
    if not medians:
        return None
    keys = sorted(medians, key=lambda key: (-abs(medians[key]), key))[:_MOST_SOURCES]
    room = 0.42 * width if isinstance(width, int) else 380.0
    names = _distinct([_source_label(key, len(errors[key]), sources, room) for key in keys])
    end = _end([off for key in keys for off, _ in errors[key]])
    strips, boxes, crosses = _residual_rows(keys, names, errors, medians, seen, end, sources)
    scale = alt.Scale(type="log", domain=[1 / end, end], nice=False)
    marks = _NEAR if end <= 2 else _MIDDLE if end <= 5 else _FAR
    ticks = [tick for tick in marks if 1 / end <= tick * 1.01 and tick <= end * 1.01]
    y = alt.Y("line:N", sort=names, title=None, axis=_names_axis(palette, int(room)))
    x = alt.X(
        "x:Q",
        scale=scale,
        axis=axis(values=ticks, grid=True, labelOverlap=True),
        title="predicted over published, log scale",
    )
    unity = chart_of([{"x": 1}]).mark_rule(color=palette.ink, strokeWidth=1, aria=False)
    box = chart_of(boxes).mark_bar(height=12, color=palette.accent, opacity=BAND_OPACITY, aria=False)
    dots = chart_of(strips).mark_point(size=22, strokeWidth=1, opacity=0.6, color=palette.muted, aria=False)
    middle = chart_of(boxes).mark_tick(thickness=2.5, size=16, color=palette.accent, opacity=1, aria=False)
    shape = alt.Shape("shape:N", scale=None, legend=None)
    layers: list[Any] = [
        box.encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), y=y),
        unity.encode(x=x),
        dots.encode(x=x, y=y, shape=shape, tooltip=tips()),
        middle.encode(x=x, y=y, tooltip=[alt.Tooltip("text:N", title="median")]),
    ]
    if crosses:
        layers.append(
            chart_of(crosses)
            .mark_point(shape="cross", filled=True, size=34, color=palette.ink, opacity=1, aria=False)
            .encode(x=x, y=y, tooltip=[alt.Tooltip("text:N", title="median with the source in the fit")])
        )
    return finish(
        layers, residual_finding(list(medians.values()), bool(seen)), palette, width, _ROW_PX * len(names) + 10
    )


def _names_axis(palette: Palette, room: int) -> alt.Axis:
    return alt.Axis(
        labelColor=palette.ink, labelLimit=room, labelPadding=_LABEL_GAP, domain=False, ticks=False, grid=False
    )


def residual_finding(medians: Sequence[float], is_unseen: bool = False) -> str:
    """Title of the chart of residuals: the number of sources with a large median error."""
    far = sum(abs(off) > math.log(1.1) for off in medians)
    tail = "a median error above 10\u202f%" + (" when held out" if is_unseen else "")
    if len(medians) == 1:
        return f"The source has {'' if far else 'not '}{tail}"
    if not far:
        return f"None of {plural(len(medians), 'source')} has {tail}"
    return f"{far} of {plural(len(medians), 'source')} {by_count(far, 'has', 'have')} {tail}"


def _residual_rows(
    keys: Sequence[str],
    names: Sequence[str],
    errors: Mapping[str, Sequence[tuple[float, ValidatedRow]]],
    medians: Mapping[str, float],
    seen: Sequence[ValidatedRow],
    end: float,
    sources: Mapping[str, Source],
) -> tuple[Rows, Rows, Rows]:
    """Rows of the dots, the boxes and the crosses; what lies beyond the axis stands at its end as a triangle."""
    others = facts.by(facts.rated(seen), lambda row: row.source)
    strips: Rows = []
    boxes: Rows = []
    crosses: Rows = []
    for key, name in zip(keys, names, strict=True):
        values = [off for off, _ in errors[key]]
        low, high = (_cut(float(np.quantile(values, share)), end) for share in (0.25, 0.75))
        middle = medians[key]
        boxes.append({"line": name, "low": low, "high": high, "x": _cut(middle, end), "text": facts.error_text(middle)})
        for row in thinned([row for _, row in errors[key]], _MOST_POINTS_A_SOURCE):
            off = facts.error(row) or 0.0
            beyond = abs(off) > math.log(end)
            shape = ("triangle-right" if off > 0 else "triangle-left") if beyond else "circle"
            strips.append({"line": name, "x": _cut(off, end), "shape": shape, **tip_fields(row, sources)})
        before = facts.accuracy("", others.get(key, [])).bias
        if before is not None:
            crosses.append({"line": name, "x": _cut(before, end), "text": facts.error_text(before)})
    return strips, boxes, crosses


def _cut(off: float, end: float) -> float:
    return min(max(math.exp(min(max(off, -50.0), 50.0)), 1 / end), end)


def _end(errors: Sequence[float]) -> float:
    """End of the axis: all but the farthest rows lie inside."""
    wide = math.exp(min(float(np.quantile(np.abs(errors), 0.98)), 50.0))
    return float(next((end for end in _ENDS if end >= wide), _ENDS[-1]))


def _source_label(key: str, count: int, sources: Mapping[str, Source], room: float) -> str:
    tail = f" · {count}"
    line = wrapped(source_title(key, sources), CHART_LABEL_PX, room - 8 * len(tail), max_lines=1)
    return (line[0] if line else key) + tail


def _distinct(names: Sequence[str]) -> list[str]:
    """Names that differ: a chart would draw equal ones on one line."""
    found: list[str] = []
    for name in names:
        number, text = 1, name
        while text in found:
            number += 1
            text = f"{name} ({number})"
        found.append(text)
    return found


def coverage_chart(
    groups: Sequence[Accuracy],
    unseen: Sequence[Accuracy] = (),
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
) -> Chart | None:
    """Share of published numbers inside their 90 % interval, one line per group, with its statistical range.

    ``groups``: groups with all their sources in the fit. ``unseen``: the same groups with the source of every row
    left out of its fit. None where no row has an interval.
    """
    names = [one.name for one in sorted(groups, key=lambda one: -one.judged) if one.judged][:_MOST_GROUPS]
    if not names:
        return None
    looks = {"source in the fit": (palette.other, "square"), "source held out": (palette.accent, "circle")}
    series = list(looks) if unseen else list(looks)[1:]
    rows: Rows = [
        _coverage_row(one, name)
        for name, found in zip(reversed(series), (unseen or groups, groups), strict=False)
        for one in found
        if one.name in names and one.judged
    ]
    # Room for the numbers behind the last tick.
    scale = alt.Scale(domain=[0, 1.16], nice=False)
    y = alt.Y("name:N", sort=names, title=None, axis=_names_axis(palette, 230))
    x = alt.X(
        "share:Q",
        scale=scale,
        title="published numbers inside their 90 % interval",
        axis=alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], labelExpr="format(datum.value * 100, 'd') + '\u202f%'"),
    )
    legend = (
        alt.Legend(orient="top", direction="horizontal", title=None, offset=18, symbolOpacity=1) if unseen else None
    )
    offset = alt.YOffset("series:N", sort=series)
    colours, shapes = ([looks[name][part] for name in series] for part in (0, 1))
    colour = alt.Color("series:N", scale=alt.Scale(domain=series, range=colours), legend=legend)
    shape = alt.Shape("series:N", scale=alt.Scale(domain=series, range=shapes), legend=legend)
    base = chart_of(rows)
    tips = [alt.Tooltip("name:N", title="group"), alt.Tooltip("label:N", title="inside the interval")]
    nominal = chart_of([{"share": NOMINAL, "text": "nominal: 90\u202f%"}])
    layers: list[Any] = [
        nominal.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink, aria=False).encode(x=x),
        nominal.mark_text(baseline="bottom", dy=-3, aria=False).encode(x=x, y=alt.value(0), text=alt.Text("text:N")),
        base.mark_rule(strokeWidth=4, opacity=QUIET_OPACITY, aria=False).encode(
            x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), y=y, yOffset=offset, color=colour
        ),
        base.mark_point(filled=True, size=54, opacity=1, aria=False).encode(
            x=x, y=y, yOffset=offset, color=colour, shape=shape, tooltip=tips
        ),
        base.mark_text(align="left", aria=False).encode(
            x=alt.X("end:Q", scale=scale), y=y, yOffset=offset, text=alt.Text("label:N"), color=colour
        ),
    ]
    height = (2 if unseen else 1) * _ROW_PX * len(names) + 10
    return finish(layers, coverage_finding(unseen or groups, bool(unseen)), palette, width, height)


def coverage_finding(groups: Sequence[Accuracy], is_unseen: bool = False) -> str:
    """Title of the chart of coverage: the groups below the nominal coverage."""
    judged = [one for one in groups if one.judged]
    narrow = [one.name for one in judged if one.is_too_narrow]
    lead = "With their source held out, " if is_unseen else ""
    if not narrow:
        text = "no group is clearly below the nominal 90\u202f%"
    elif len(narrow) == 1:
        text = f"one of {plural(len(judged), 'group')} is clearly below the nominal 90\u202f%: {narrow[0]}"
    else:
        text = f"{len(narrow)} of {plural(len(judged), 'group')} are clearly below the nominal 90\u202f%"
    return capital(lead + text)


def _coverage_row(one: Accuracy, series: str) -> dict[str, Any]:
    low, high = one.coverage_range
    return {
        "name": one.name,
        "series": series,
        "share": one.coverage,
        "low": low,
        "high": high,
        "end": 1.03,
        "label": f"{percent(one.coverage or 0.0)} of {one.judged}",
    }
