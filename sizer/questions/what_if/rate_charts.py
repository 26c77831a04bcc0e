"""Rate along one input with the stage that limits, shown by the app."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import significant
from sizer.drawings.palette import BAND_OPACITY
from sizer.drawings.shapes import text_width
from sizer.present.charting import Chart, Rows, axis, chart_of, finish
from sizer.present.theme import CHART_LABEL_PX, LIGHT, Palette
from sizer.present.words import capital, percent, plural_noun, sample_unit, stage
from sizer.questions.what_if.along_input import spans
from sizer.questions.what_if.input_grid import fixed_design_rates
from sizer.questions.what_if.map_charts import axis_title
from sizer.questions.what_if.varied_input import (
    CACHED_READS,
    GPU_SPEED,
    SAMPLE_SIZE,
    SERVERS,
    VariedInput,
    fixed_design_inputs,
)
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.stages import evaluate

# A cache that serves less of the reads than this is none: without it the rate is the same.
_HARDLY_ANY = 0.01
# Thickness of the strip that names the stage below a line, and the room that a name in it needs.
_STRIP_PX, _NAME_GAP = 5, 10
# Pixels of the plot of a chart of the usual width.
_LINE_PLOT = 285.0


def along_chart(
    x: VariedInput,
    rate: Estimate,
    limiting: Sequence[str],
    unit: str,
    title: str,
    palette: Palette = LIGHT,
    width: int | str = 300,  # of the title; a page draws the plot as wide as its column
    height: int = 190,
) -> Chart:
    """Rate with its 90 % band along one input, the stage that limits named below the line.

    ``x``: its base is marked. ``rate``: [samples/s] ``limiting``: key of the stage that limits at each value.
    ``unit``: of the rate, such as images/s.
    """
    at = _positions(x)
    rows: Rows = [
        {
            "x": place,
            "value": float(value),
            "low": float(low),
            "high": float(high),
            "at": text,
            "stage": stage(key),
            "text": f"{significant(float(value))} ({significant(float(low), 2)} to {significant(float(high), 2)})",
        }
        for place, value, low, high, text, key in zip(
            at, rate.value, rate.low, rate.high, x.texts, limiting, strict=True
        )
    ]
    top = max(row["high"] for row in rows) * 1.05
    scale = alt.Scale(domain=[0, top], nice=True)
    ends = alt.Scale(domain=[at[0], at[-1]], nice=False, zero=False, reverse=x.base > 0)
    x_of = alt.X("x:Q", scale=ends, axis=_value_axis(x, at), title=_line_title(x))
    y_of = alt.Y("value:Q", scale=scale, axis=axis(tickCount=4), title=f"throughput, {unit}")
    quiet = alt.Y("value:Q", scale=scale)
    tips = [
        alt.Tooltip("at:N", title=x.name),
        alt.Tooltip("text:N", title=unit),
        alt.Tooltip("stage:N", title="limits"),
    ]
    base = chart_of(rows)
    now = rows[x.base]
    layers: list[Any] = [
        base.mark_area(opacity=BAND_OPACITY, color=palette.accent).encode(
            x=x_of,
            y=alt.Y("low:Q", scale=scale, axis=axis(tickCount=4), title=f"throughput, {unit}"),
            y2=alt.Y2("high:Q"),
        ),
        base.mark_line(color=palette.accent, strokeWidth=2).encode(x=x_of, y=y_of),
        # Wide and unseen, so that the pointer need not hit the line.
        base.mark_line(strokeWidth=16, opacity=0).encode(x=x_of, y=quiet, tooltip=tips),
        *_strip(at, limiting, palette, ends, scale),
        chart_of([now])
        .mark_point(filled=True, size=75, color=palette.accent, opacity=1)
        .encode(x=x_of, y=quiet, tooltip=tips),
        chart_of([{**now, "name": "now"}])
        .mark_text(align="left", dx=7, dy=-11, fontWeight=600, color=palette.accent)
        .encode(x=x_of, y=quiet, text=alt.Text("name:N")),
    ]
    return finish(layers, title, palette, width, height)


def _positions(x: VariedInput) -> list[float]:
    """Where the values lie on the axis: sizes at the logarithm, shares and factors as they are."""
    return [math.log2(value) if x.key == SAMPLE_SIZE else value for value in x.values]


def _line_title(x: VariedInput) -> str:
    return f"{axis_title(x)}, log scale" if x.key == SAMPLE_SIZE else axis_title(x)


def _value_axis(x: VariedInput, at: Sequence[float]) -> alt.Axis:
    """Axis labelled at some of the values with their texts."""
    first, last = min(at), max(at)
    wanted = [first + share * (last - first) / 3 for share in range(4)]
    places = sorted({min(range(len(at)), key=lambda place: abs(at[place] - want)) for want in wanted})
    known = ",".join(f"'{at[place]:.4f}':{x.texts[place]!r}" for place in places)
    return alt.Axis(
        values=[at[place] for place in places],
        labelExpr=f"{{{known}}}[format(datum.value, '.4f')]",
        grid=False,
        labelFlush=True,
    )


def _strip(
    at: Sequence[float],
    limiting: Sequence[str],
    palette: Palette,
    ends: alt.Scale,
    scale: alt.Scale,
) -> list[Any]:
    """Strip along the axis in the colour of the stage that limits, with its name where there is room."""
    length = abs(at[-1] - at[0]) or 1.0
    layers: list[Any] = []
    for span in spans(limiting):
        # A stage reaches half way to the next value that another one limits.
        start = at[span.first] if span.first == 0 else (at[span.first - 1] + at[span.first]) / 2
        end = at[span.last] if span.last == len(at) - 1 else (at[span.last] + at[span.last + 1]) / 2
        colour, zero = palette.stages[span.value], alt.Y("zero:Q", scale=scale)
        data = chart_of([{"x": start, "x2": end, "zero": 0, "middle": (start + end) / 2, "name": stage(span.value)}])
        layers.append(
            data.mark_rule(strokeWidth=_STRIP_PX, color=colour).encode(
                x=alt.X("x:Q", scale=ends), x2=alt.X2("x2:Q"), y=zero
            )
        )
        name = stage(span.value)
        if text_width(name, CHART_LABEL_PX) + _NAME_GAP < abs(end - start) / length * _LINE_PLOT:
            layers.append(
                data.mark_text(dy=-10, color=colour).encode(
                    x=alt.X("middle:Q", scale=ends), y=zero, text=alt.Text("name:N")
                )
            )
    return layers


def along_finding(x: VariedInput, rate: Estimate, limiting: Sequence[str], what: str) -> str:
    """Title of :func:`along_chart`: what the far end does to the rate, and where another stage takes over.

    ``x``: its base is the first or the last value; the other end is the far one. ``what``: what the far end is, as a
    sentence begins: "Images of 904 kB".
    """
    far = len(x.values) - 1 if x.base == 0 else 0
    share = float(rate.value[far] / rate.value[x.base])
    if abs(share - 1) < 0.005:
        effect = f"{what} change nothing"
    elif share < 1:
        effect = f"{what} leave {percent(share)} of the rate"
    else:
        effect = f"{what} bring {significant(share, 2)} times the rate"
    order = range(x.base, far + 1) if far else range(x.base, -1, -1)
    change = next((place for place in order if limiting[place] != limiting[x.base]), None)
    if change is None:
        return f"{effect}; {_inside(limiting[x.base])} limits throughout"
    where = f"from {x.texts[change]} on" if far else f"at {x.texts[change]} and below"
    return f"{effect}; {_inside(limiting[change])} limits {where}"


def _inside(key: str) -> str:
    return stage(key, inside=True)


def change_charts(model: WorkloadOnDesign, palette: Palette = LIGHT) -> tuple[Chart, ...]:
    """Charts of a fixed design with larger samples, faster GPUs and colder caches; of language models with servers."""
    known = {one.key: one for one in fixed_design_inputs(model)}
    samples = plural_noun(model.work.dnn.sample)
    ends = {
        SAMPLE_SIZE: f"{capital(samples)} of {{}}",
        GPU_SPEED: "GPUs {} as fast",
        **({SERVERS: "{}"} if model.work.kind.trains_language else {}),
    }
    looks = [
        (x.part(x.base, len(x.values) - 1), end.format(x.texts[-1]))
        for key, end in ends.items()
        if (x := known.get(key)) is not None
    ]
    if has_cache(model):
        cached = known[CACHED_READS]
        looks.append((cached.part(0, cached.base), "Cold caches"))
    unit = sample_unit(model.work.dnn)
    charts = []
    for x, what in looks:
        line = fixed_design_rates(model, {x.key: np.array(x.values)})
        title = along_finding(x, line.rate, line.limiting, what)
        charts.append(along_chart(x, line.rate, line.limiting, unit, title, palette))
    return tuple(charts)


def has_cache(model: WorkloadOnDesign) -> bool:
    """Whether the memory of the servers serves a share of the reads that counts."""
    return not _reads_once(model) and float(model.run.comp.hit_fraction[0]) >= _HARDLY_ANY


def _reads_once(model: WorkloadOnDesign) -> bool:
    return evaluate.reads_once(model.work, model.run.length)


def no_cache_note(model: WorkloadOnDesign) -> str:
    """Why there is no chart of colder caches; empty where there is one."""
    if has_cache(model):
        return ""
    if _reads_once(model):
        return "Every sample is read once, so colder caches would change nothing."
    share = percent(float(model.run.comp.hit_fraction[0]))
    return f"The memory of the servers serves {share} of the reads, so colder caches would change nothing."
