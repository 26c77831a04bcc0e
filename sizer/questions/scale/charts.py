"""The same GPUs in fewer, larger servers or in more, smaller ones."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from sizer.base.quantities import grouped
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import Chart, Rows, axis, broken, chart_of, finish, label_room, names_axis
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import estimate, listed, percent, sample_unit
from sizer.questions.scale.analysis import Pair, Way
from sizer.questions.scale.arrangement_run import StepSplit

# Pixels of a full-width chart that the names left of its bars leave for the plot.
_PLOT = 450.0
_ROW_PX = 34
# A part of all steps below this share is not worth a word. [-]
_SEEN = 0.005
# Arrangements that a title names.
_NAMED = 2


def rates_chart(
    ways: Sequence[Way],
    number: int = 0,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
    first: Way | None = None,
) -> Chart | None:
    """Rate of every arrangement with its 90 % interval, in the colour of the stage that limits it.

    Parameters
    ----------
    ways : sequence of Way
        Bars in this order.
    number : int
        Of the workload.
    palette : Palette
        Colours.
    width : int or str
        Pixels, or ``container``.
    first : Way, optional
        What the finding sets the others against; default the first bar.

    Returns
    -------
    Chart or None
        None of a single arrangement.
    """
    if len(ways) < 2:
        return None
    unit = sample_unit(ways[0].runs[number].answer.dnn)
    rows: Rows = []
    for way in ways:
        answer = way.runs[number].answer
        value, low, high = (float(part) for part in answer.throughput)
        text, colour = estimate(answer.throughput, unit), palette.stages[answer.bottleneck]
        rows.append(
            {
                "name": broken(way.arrangement.name),
                "value": value,
                "low": low,
                "high": high,
                "text": text,
                "colour": colour,
            }
        )
    longest = max(row["high"] for row in rows)
    scale = alt.Scale(domain=[0, longest * label_room([row["text"] for row in rows], _PLOT)], nice=False)
    y = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=names_axis(palette))
    base = chart_of(rows).encode(y=y)
    x = alt.X("value:Q", scale=scale, axis=axis(grid=False), title=f"throughput, {unit}")
    layers: list[Any] = [
        base.mark_bar(height=alt.RelativeBandSize(0.55)).encode(x=x, color=alt.Color("colour:N", scale=None)),
        base.mark_rule(strokeWidth=1.2, color=palette.ink).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_text(align="left", dx=6).encode(x=alt.X("high:Q", scale=scale), text="text:N"),
    ]
    return finish(layers, rates_finding(ways, number, first), palette, width, _ROW_PX * len(rows))


def rates_finding(ways: Sequence[Way], number: int = 0, first: Way | None = None) -> str:
    """Title of the chart of rates: a difference only where the interval of the ratio leaves one."""
    first = first or ways[0]
    faster, slower = [], []
    for way in ways:
        ratio = Pair(first, way).relative[number]
        if float(ratio.low) > 1:
            faster.append(way.arrangement.name)
        elif float(ratio.high) < 1:
            slower.append(way.arrangement.name)
    values = {"gpus": grouped(first.n_gpus), "first": first.arrangement.name}
    if not faster and not slower:
        return "{gpus} GPUs: no arrangement is certainly faster or slower than {first}".format(**values)
    if not slower:
        return "{gpus} GPUs: only {faster} certainly run faster than {first}".format(**values, faster=_named(faster))
    if not faster:
        return "{gpus} GPUs: only {slower} certainly run slower than {first}".format(**values, slower=_named(slower))
    return "{gpus} GPUs: {faster} certainly run faster than {first}; {slower} slower".format(
        **values, faster=_named(faster), slower=_named(slower)
    )


def _named(names: Sequence[str]) -> str:
    """Names of a few arrangements; more are counted, to fit a title."""
    if len(names) <= _NAMED:
        return listed(names)
    return f"{grouped(len(names))} arrangements"


def steps_chart(
    ways: Sequence[Way], number: int = 0, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Where the time of a training step goes in every arrangement, as stacked bars; None for inference."""
    splits = [split for way in ways if (split := way.runs[number].split) is not None]
    if len(ways) < 2 or len(splits) < len(ways):
        return None
    parts = {
        "computing": ("compute_s", palette.stages["gpu"]),
        "gradients": ("exposed_s", palette.stages["exchange"]),
        "waiting for GPUs": ("waiting_s", palette.other),
        "waiting for data": ("data_s", palette.stages["storage"]),
    }
    names = [broken(way.arrangement.name) for way in ways]
    rows: Rows = []
    for name, split in zip(names, splits, strict=True):
        start = 0.0
        for label, (field, _) in parts.items():
            length = 1e3 * getattr(split, field)
            rows.append({"name": name, "part": label, "from": start, "to": start + length})
            start += length
    total = [
        {"name": name, "to": 1e3 * split.step_s, "text": f"{grouped(1e3 * split.step_s, 1)} ms"}
        for name, split in zip(names, splits, strict=True)
    ]
    longest = max(float(one["to"]) for one in total)  # type: ignore[arg-type]
    scale = alt.Scale(domain=[0, longest * label_room([str(one["text"]) for one in total], _PLOT)], nice=False)
    y = alt.Y("name:N", sort=names, title=None, axis=names_axis(palette))
    legend = alt.Legend(title=None, orient="top", labelLimit=0, columnPadding=12)
    colour = alt.Color(
        "part:N",
        scale=alt.Scale(domain=list(parts), range=[colour for _, colour in parts.values()]),
        legend=legend,
        sort=list(parts),
    )
    layers: list[Any] = [
        chart_of(rows)
        .mark_bar(height=alt.RelativeBandSize(0.55))
        .encode(
            x=alt.X("from:Q", scale=scale, axis=axis(grid=False), title="time of a training step, ms"),
            x2="to:Q",
            y=y,
            color=colour,
            tooltip=[alt.Tooltip("name:N", title="arrangement"), "part:N"],
        ),
        chart_of(total).mark_text(align="left", dx=6).encode(x=alt.X("to:Q", scale=scale), y=y, text="text:N"),
    ]
    return finish(layers, steps_finding(splits), palette, width, _ROW_PX * len(names))


def steps_finding(splits: Sequence[StepSplit]) -> str:
    """Title of the chart of steps: what working together takes of them."""
    together = [(split.exposed_s + split.waiting_s) / split.step_s for split in splits]
    low, high = percent(min(together)), percent(max(together))
    data = max(split.data_s / split.step_s for split in splits)
    text = (
        f"Working together takes {low} of a step in every arrangement"
        if low == high
        else f"Working together takes {low} to {high} of a step"
    )
    if data < _SEEN:
        return text
    return f"{text}; waiting for data up to {percent(data)}"
