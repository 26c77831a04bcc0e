"""Charts of the storage: what is read against what it gives, and how raw capacity becomes usable."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import grouped, si, significant
from sizer.catalog.schema import Storage
from sizer.drawings.palette import COLUMN_PX, QUIET_OPACITY
from sizer.drawings.shapes import text_width
from sizer.physical.capacity import CapacityStep
from sizer.present.charting import Chart, Rows, axis, broken, chart_of, finish, label_room, names_axis, upright_mark
from sizer.present.theme import CHART_LABEL_PX, LIGHT, Palette
from sizer.present.words import estimate, percent, rounded
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.platform_columns import node_rates, rate_is_unknown

# Pixels of a full-width chart that the names left of its bars leave for the plot.
_PLOT = 470.0
_ROW_PX, _STEP_PX = 27, 42
# A bar of the ladder stands this far above the middle of its row, its reason as far below.
_BESIDE = 8
# Reads that differ by less are one bar.
_EQUAL = 0.005
# A share that would print as 0 %.
_HARDLY = 0.0005
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"))


def demand_chart(
    answer: WorkloadAnswer, design: DesignAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart:
    """Read rates of a workload, warm and in its first epoch, against what the storage of the design gives.

    Parameters
    ----------
    answer : WorkloadAnswer
        What is read, with its 90 % interval.
    design : DesignAnswer
        Its storage: demonstrated and published rates of all nodes, line rate of their ports, uplinks of a gateway.
    palette : Palette
        Colours.
    width : int or str
        Pixels, or ``container``.
    """
    rows: Rows = [*_needs(answer, palette), *_supplies(design, palette)]
    longest = max((max(row["value"], row["high"]) for row in rows), default=0.0)
    factor, prefix = _unit(longest)
    for row in rows:
        row.update({key: row[key] / factor for key in ("value", "low", "high")})
        row["end"] = max(row["value"], row["high"])
    room = label_room([row["text"] for row in rows], _PLOT)
    scale = alt.Scale(domain=[0, (longest or factor) / factor * room], nice=False)
    y = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=names_axis(palette))
    base = chart_of(rows).encode(y=y)
    x = alt.X("value:Q", scale=scale, axis=axis(grid=False), title="read rate, {unit}".format(unit=f"{prefix}B/s"))
    layers: list[Any] = [
        base.mark_bar(height=alt.RelativeBandSize(0.6), strokeWidth=1).encode(
            x=x,
            color=alt.Color("colour:N", scale=None),
            stroke=alt.Stroke("colour:N", scale=None),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=[alt.Tooltip("name:N", title="rate"), alt.Tooltip("text:N", title=f"{prefix}B/s")],
        ),
        base.transform_filter("datum.high > datum.low")
        .mark_rule(strokeWidth=1.2, color=palette.muted)
        .encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_text(align="left", dx=6).encode(x=alt.X("end:Q", scale=scale), text="text:N"),
    ]
    return finish(layers, demand_finding(answer, design), palette, width, _ROW_PX * len(rows))


def _row(name: str, rate: Estimate, text: str, colour: str, fill: float) -> dict[str, Any]:
    value, low, high = (float(part) for part in rate)
    return {
        "name": broken(name),
        "value": value,
        "low": low,
        "high": high,
        "text": text,
        "colour": colour,
        "fill": fill,
    }


def _needs(answer: WorkloadAnswer, palette: Palette) -> Iterator[dict[str, Any]]:
    """What is read: one row where the first epoch reads as fast as the later ones."""
    warm, cold = answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s
    if abs(float(warm.value) - float(cold.value)) <= _EQUAL * float(cold.value):
        yield _row("Read in every epoch", cold, estimate(cold, "B/s"), palette.ink, 1.0)
        return
    yield _row("Read in the first epoch", cold, estimate(cold, "B/s"), palette.ink, 1.0)
    text = estimate(warm, "B/s") if float(warm.value) > 0 else "nothing, memory holds the data"
    yield _row("Read in later epochs", warm, text, palette.ink, QUIET_OPACITY)


def _supplies(design: DesignAnswer, palette: Palette) -> Iterator[dict[str, Any]]:
    """What the storage gives, from the surest rate to the least sure."""
    platform, colour = design.platform, palette.stages["storage"]
    count = _sources(design)
    low, high, line = node_rates(platform)
    published = () if rate_is_unknown(platform.storage) else _published(platform.storage, low, high)
    for number, (name, rate) in enumerate(published):
        exact = Estimate.exact(count * rate)
        yield _row(name, exact, _total(count, rate), colour, QUIET_OPACITY if number else 1.0)
    if np.isfinite(line):
        exact = Estimate.exact(count * line)
        yield _row("Line rate of its ports", exact, _total(count, line), palette.stages["network"], 0.0)
    gateway = float(design.quantities.gateway_bytes_per_s[0])
    if np.isfinite(gateway):
        exact = Estimate.exact(gateway)
        yield _row("Uplinks of the gateway", exact, si(gateway, "B/s"), palette.stages["network"], 0.0)


def _published(storage: Storage, low: float, high: float) -> tuple[tuple[str, float], ...]:
    lower, upper = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    if low == high:
        is_assumed = all(fact is None or fact.basis == "assumed" for fact in (lower, upper))
        return (("Rate, assumed" if is_assumed else "Published rate", low),)
    first = "Lower end, assumed" if lower is None or lower.basis == "assumed" else "Demonstrated"
    last = "Upper end, assumed" if upper is None or upper.basis == "assumed" else "Published maximum"
    return ((first, low), (last, high))


def _total(count: int, rate: float) -> str:
    total = si(count * rate, "B/s")
    return f"{total} = {grouped(count)} × {si(rate, 'B/s')}" if count > 1 else total


def _sources(design: DesignAnswer) -> int:
    """What the rates of a node are counted with: nodes, or the servers whose drives hold the data."""
    return design.n_servers if design.platform.storage.kind == "local" else max(design.storage_nodes, 1)


def demand_finding(answer: WorkloadAnswer, design: DesignAnswer) -> str:
    """Title of the chart of read rates."""
    read = max(answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s, key=lambda rate: float(rate.value))
    need, asked, storage = float(read.value), rounded(read, "B/s"), design.platform.storage
    name, count = storage.name, _sources(design)
    low, high, line = (count * rate for rate in node_rates(design.platform))
    if rate_is_unknown(storage):
        if not np.isfinite(line):
            return f"{asked} are read; no source gives a rate of {name}"
        return f"{asked} is {percent(need / line)} of the line rate of {name}; no source gives what it reads"
    lower, upper = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    if need <= (1 + _EQUAL) * low:
        share = percent(need / low) if need < (1 - _EQUAL) * low else "all"
        if lower is None or lower.basis == "assumed":
            return f"{asked} is {share} of what {name} is assumed to read"
        return f"{asked} is {share} of what {name} is known to read"
    known, most = si(low, "B/s"), si(high, "B/s")
    if need > high:
        return f"{asked} is more than the {most} given for {name}"
    if upper is not None and upper.basis == "assumed":
        return f"{asked} lies between {known}, known of {name}, and {most}, assumed"
    return f"{asked} lies between {known} and {most}, both published for {name}"


def ladder_chart(
    steps: Sequence[CapacityStep], data_bytes: float, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Raw capacity, what each step takes from it, and what is left, with the data set as a dashed line.

    Parameters
    ----------
    steps : sequence of CapacityStep
        As :func:`sizer.physical.capacity.capacity_ladder` gives them.
    data_bytes : float
        Data to hold. [B]
    palette : Palette
        Colours.
    width : int or str
        Pixels, or ``container``.

    Returns
    -------
    Chart or None
        None where no capacity is known.
    """
    if not steps:
        return None
    longest = max(*(step.capacity_bytes for step in steps), data_bytes)
    factor, prefix = _unit(longest)
    rows = _ladder_rows(steps, factor, palette)
    held = f"data set {si(data_bytes, 'B')}"
    room = label_room([held, *(row["text"] for row in rows)], _PLOT)
    scale = alt.Scale(domain=[0, longest / factor * room], nice=False)
    names = names_axis(palette, labelOffset=-_BESIDE)
    y = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=names)
    base = chart_of(rows).encode(y=y)
    how = base.encode(x=alt.value(0), text="how:N")
    x = alt.X("from:Q", scale=scale, axis=axis(grid=False), title="capacity, {unit}".format(unit=f"{prefix}B"))
    layers: list[Any] = [
        base.mark_bar(height=15, strokeWidth=1, yOffset=-_BESIDE).encode(
            x=x,
            x2="to:Q",
            color=alt.Color("colour:N", scale=None),
            stroke=alt.Stroke("colour:N", scale=None),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=[alt.Tooltip("text:N", title="capacity"), alt.Tooltip("how:N", title="why")],
        ),
        base.mark_text(align="left", dx=6, dy=-_BESIDE).encode(x=alt.X("to:Q", scale=scale), text="text:N"),
        *upright_mark(data_bytes / factor, held, scale, palette),
        # The line of the data set stops at the words.
        how.mark_text(align="left", dy=_BESIDE, limit=_PLOT, stroke=palette.background, strokeWidth=4),
        how.mark_text(align="left", dy=_BESIDE, limit=_PLOT, color=palette.muted),
    ]
    return finish(layers, ladder_finding(steps, data_bytes), palette, width, _STEP_PX * len(rows))


def _ladder_rows(steps: Sequence[CapacityStep], factor: float, palette: Palette) -> Rows:
    """A full bar where a capacity stands, and between them what falls away."""
    names = {
        "raw": "Raw",
        "hot spare": "Hot spare",
        "protection": "Protection",
        "reserve": "Reserve",
        "usable": "Usable",
    }
    rows: Rows = []
    before = 0.0
    for number, step in enumerate(steps):
        left = step.capacity_bytes
        is_whole = number == 0 or step.label == "usable"
        taken = before - left
        rows.append(
            {
                "name": names.get(step.label, step.label),
                "from": (0.0 if is_whole else left) / factor,
                "to": (left if is_whole else before) / factor,
                "text": si(left, "B") if is_whole else f"\u2212\u202f{si(taken, 'B')}" if taken > 0 else "nothing",
                "how": _reason(step.how),
                "colour": palette.stages["storage"] if is_whole else palette.other,
                "fill": 1.0 if step.label == "usable" else QUIET_OPACITY,
            }
        )
        before = left
    return rows


def _reason(text: str) -> str:
    """A reason that fits its line: the first clause of a longer one."""
    if text_width(text, CHART_LABEL_PX) <= _PLOT:
        return text
    return re.split("[:;.] ", text)[0]


def ladder_finding(steps: Sequence[CapacityStep], data_bytes: float) -> str:
    """Title of the chart of capacity."""
    raw, usable = steps[0].capacity_bytes, steps[-1].capacity_bytes
    if data_bytes > usable:
        held = f"the data set needs {significant(data_bytes / usable, 2)} times as much"
    elif data_bytes < _HARDLY * usable:
        held = "the data set fills hardly any of it"
    else:
        held = f"the data set fills {percent(data_bytes / usable)} of it"
    if usable >= raw:
        return f"{si(usable, 'B')} are usable; {held}"
    return f"{si(usable, 'B')} of {si(raw, 'B')} are usable; {held}"


def _unit(longest: float) -> tuple[float, str]:
    """Factor and prefix in which an axis reads best."""
    return next(((factor, prefix) for factor, prefix in _PREFIXES if longest >= factor), (1e3, "k"))
