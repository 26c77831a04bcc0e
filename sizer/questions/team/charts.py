"""Charts of the team that shares the cluster: queue waits by number of servers, and reads of all jobs together."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from sizer.base.quantities import duration, si
from sizer.drawings.palette import COLUMN_PX, QUIET_OPACITY
from sizer.present.charting import Chart, Rows, axis, chart_of, finish, label_room, level_mark, point_layers
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import percent, plural, shortened
from sizer.questions.team.analysis import ReadDemand, TeamAnswer, TeamRun
from sizer.questions.team.text import least_served

_HEIGHT = 210
# Pixels of the plot of a full-width chart, to keep labels apart.
_PLOT = (560.0, 200.0)
# Marks this close, as a share of the axis, would overlap.
_CLOSE = 0.1
# Height of a name and the space around it, as a share of the axis in percent.
_NAME_STEP = 8.0
# Highest place of a name.
_MOST_SHARE = 100.0
# Kinds of job named at their lines: those that wait longest.
_MOST_NAMES = 6
# A worst case this many times the other values would flatten the chart; the subtitle states it instead.
_FLAT = 2.5


def waits_chart(
    answer: TeamAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX, here: str = ""
) -> Chart | None:
    """Share of the jobs of every kind that start within the target wait, by number of servers.

    ``answer``: its ``runs`` are the points; the design's is marked. ``here``: label of the marked size; "this design"
    if empty. None if no job waits, or for a single size.
    """
    queue = answer.model.case.queue
    if not queue or len(answer.runs) < 2:
        return None
    now, here = answer.run.n_servers, here or "this design"
    worst = least_served(_smaller(answer) or answer.run, answer).name
    rows = [
        {
            "x": run.n_servers,
            "y": 100 * run.kinds[place].share_within,
            "name": run.kinds[place].name,
            "text": percent(run.kinds[place].share_within),
            "wait": duration(run.kinds[place].mean_wait_s),
            "colour": palette.accent if run.kinds[place].name == worst else palette.other,
            "chosen": run.kinds[place].name == worst,
        }
        for place in answer.model.case.queue
        for run in answer.runs
    ]
    sizes = [run.n_servers for run in answer.runs]
    asked = 100 * answer.team.wait_probability
    named = _named(rows, asked)
    # Names end where the lines begin, at the smallest size.
    room = label_room([row["text"] for row in named], _PLOT[0]) * (sizes[-1] - sizes[0] + 0.6)
    domain = [sizes[-1] + 0.3 - room, sizes[-1] + 0.3]
    x_scale = alt.Scale(domain=domain, nice=False, zero=False)
    y_scale = alt.Scale(domain=[0, 104], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=axis(grid=False, values=sizes), title="servers")
    y = alt.Y(
        "y:Q",
        scale=y_scale,
        axis=axis(values=[0, 20, 40, 60, 80, 100]),
        title="jobs that start within the target wait, %",
    )
    base = chart_of(rows).encode(x=x, y=y)
    colour = alt.Color("colour:N", scale=None)
    layers: list[Any] = [
        base.mark_line(strokeWidth=1.6).encode(detail=alt.Detail("name:N"), color=colour),
        base.mark_point(filled=True, size=22, opacity=1).encode(
            color=colour,
            tooltip=[
                alt.Tooltip("name:N", title="job"),
                alt.Tooltip("x:Q", title="servers"),
                alt.Tooltip("text:N", title="within target"),
                alt.Tooltip("wait:N", title="mean wait"),
            ],
        ),
        *level_mark(asked, f"target: {percent(answer.team.wait_probability)}", y_scale, palette, at_end=True),
        chart_of([{"x": now}]).mark_rule(color=palette.accent, strokeWidth=1.2).encode(x=x),
        chart_of([{"x": now, "y": 0.0, "text": here}])
        .mark_text(align="left", baseline="bottom", dx=5, dy=-4, color=palette.accent, fontWeight=600)
        .encode(x=x, y=y, text=alt.Text("text:N")),
        *_names(named, x, y_scale),
    ]
    return finish(layers, waits_finding(answer), palette, width, _HEIGHT)


def _named(rows: Rows, asked: float) -> Rows:
    """First points of the kinds that wait longest, each with its name and a height that keeps the names apart.

    A name is no higher than its point, below the previous one, and clear of the line of the target.
    """
    first = min(row["x"] for row in rows)
    late = sorted((row for row in rows if row["x"] == first), key=lambda row: row["y"])[:_MOST_NAMES]
    named: Rows = []
    highest = _MOST_SHARE
    for row in reversed(late):
        at = min(row["y"], highest)
        if abs(at - asked) < _NAME_STEP / 2:
            at = asked - _NAME_STEP / 2
        named.append({**row, "text": shortened(row["name"]), "at": at})
        highest = at - _NAME_STEP
    # Many low names move up again from the bottom of the plot.
    lowest = 0.0
    for row in reversed(named):
        row["at"] = max(row["at"], lowest)
        lowest = row["at"] + _NAME_STEP
    return named


def _names(named: Rows, x: alt.X, y_scale: alt.Scale) -> list[Any]:
    """Names of kinds of job before the first points of their lines."""
    at = alt.Y("at:Q", scale=y_scale)
    return [
        chart_of([row])
        .mark_text(
            align="right", baseline="middle", dx=-8, color=row["colour"], fontWeight=600 if row["chosen"] else 400
        )
        .encode(x=x, y=at, text=alt.Text("text:N"))
        for row in named
    ]


def _smaller(answer: TeamAnswer) -> TeamRun | None:
    """The next smaller size that was simulated."""
    return max(
        (run for run in answer.runs if run.n_servers < answer.run.n_servers),
        default=None,
        key=lambda run: run.n_servers,
    )


def waits_finding(answer: TeamAnswer) -> str:
    """Title of the chart of waits."""
    run, fewer = answer.run, _smaller(answer)
    worst = least_served(run, answer)
    finding = f"{plural(run.n_servers, 'server')} start {percent(worst.share_within)}"
    if fewer is None:
        return f"{finding} of the jobs {shortened(worst.name)} within the target wait"
    worst_with_fewer = least_served(fewer, answer)
    loss = f"{plural(fewer.n_servers, 'server')} would start {percent(worst_with_fewer.share_within)}"
    if worst_with_fewer.name == worst.name:
        return f"{finding} of the jobs {shortened(worst.name)} within the target wait; {loss}"
    return (
        f"{finding} or more of every kind of job within the target wait; {loss} of the jobs "
        f"{shortened(worst_with_fewer.name)}"
    )


def reads_chart(answer: TeamAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Reads of all running jobs together: the rate that they do not exceed, by share of the time.

    None if the jobs read nothing.
    """
    demand, delivered = answer.run.demand, answer.read_capacity.bytes_per_s
    if demand.worst_bytes_per_s <= 0:
        return None
    drawn = [*demand.levels_bytes_per_s.tolist(), demand.asked_bytes_per_s, delivered]
    fits = demand.worst_bytes_per_s <= _FLAT * max(drawn)
    top = 1.12 * max([*drawn, demand.worst_bytes_per_s] if fits else drawn)
    apart = min(abs(demand.worst_bytes_per_s - mark) for mark in (demand.asked_bytes_per_s, delivered))
    shows_worst = fits and apart > _CLOSE * top
    factor, unit = next(
        ((factor, name) for factor, name in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")) if top >= 2 * factor),
        (1.0, "B/s"),
    )
    rows: Rows = [
        {"x": 100 * float(share), "y": float(level) / factor, "text": si(float(level), "B/s")}
        for share, level in zip(demand.shares, demand.levels_bytes_per_s, strict=True)
    ]
    x_scale = alt.Scale(domain=[0, 100], nice=False)
    y_scale = alt.Scale(domain=[0, top / factor], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=axis(grid=False), title="share of the time, %")
    y = alt.Y("y:Q", scale=y_scale, axis=axis(), title=f"reads of all running jobs, at most, {unit}")
    base, colour = chart_of(rows).encode(x=x, y=y), palette.stages["storage"]
    tips = [alt.Tooltip("x:Q", title="share of the time, %"), alt.Tooltip("text:N", title="at most")]
    layers: list[Any] = [
        base.mark_area(color=colour, opacity=QUIET_OPACITY, interpolate="step-before"),
        base.mark_line(color=colour, strokeWidth=1.6, interpolate="step-before").encode(tooltip=tips),
        *level_mark(delivered / factor, f"delivered: {si(delivered, 'B/s')}", y_scale, palette),
        *_average(demand, factor, y_scale, palette),
        *_requested(demand, factor, (x, y), palette, is_below=0 <= delivered - demand.asked_bytes_per_s < _CLOSE * top),
    ]
    if shows_worst:
        worst = f"worst case: {si(demand.worst_bytes_per_s, 'B/s')}"
        layers += level_mark(demand.worst_bytes_per_s / factor, worst, y_scale, palette)
        below = ""
    else:
        below = f"Worst case, most jobs at once and each at its peak: {si(demand.worst_bytes_per_s, 'B/s')}."
    return finish(layers, reads_finding(answer), palette, width, _HEIGHT, below)


def _average(demand: ReadDemand, factor: float, scale: alt.Scale, palette: Palette) -> Sequence[Any]:
    mark = chart_of(
        [{"y": demand.average_bytes_per_s / factor, "text": f"average: {si(demand.average_bytes_per_s, 'B/s')}"}]
    )
    at = alt.Y("y:Q", scale=scale)
    return [
        mark.mark_rule(color=palette.muted, strokeWidth=1).encode(y=at),
        mark.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=palette.muted).encode(
            x=alt.value(0), y=at, text=alt.Text("text:N")
        ),
    ]


def _requested(
    demand: ReadDemand, factor: float, axes: tuple[alt.X, alt.Y], palette: Palette, *, is_below: bool
) -> Sequence[Any]:
    """The requested point of the curve; its label is below it if a line is close above."""
    text = f"{si(demand.asked_bytes_per_s, 'B/s')} or less for {percent(demand.percentile)} of the time"
    is_late = demand.percentile > 0.5
    return point_layers(
        (100 * demand.percentile, demand.asked_bytes_per_s / factor),
        text,
        axes,
        palette,
        palette.accent,
        align="right" if is_late else "left",
        baseline="top" if is_below else "bottom",
        dx=-8 if is_late else 8,
        dy=5 if is_below else -4,
    )


def reads_finding(answer: TeamAnswer) -> str:
    """Title of the chart of reads."""
    demand, capacity = answer.run.demand, answer.read_capacity
    rate, load = si(demand.asked_bytes_per_s, "B/s"), percent(capacity.load_fraction)
    if demand.percentile == 1:
        return f"Running jobs read at most {rate} together: {load} of what the design delivers"
    share = percent(demand.percentile)
    return f"Running jobs read at most {rate} for {share} of the time: {load} of what the design delivers"
