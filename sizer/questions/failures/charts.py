"""Chart of what each failure costs."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from sizer.base.quantities import by_count, si
from sizer.drawings.palette import COLUMN_PX, QUIET_OPACITY
from sizer.present.charting import Chart, Rows, axis, broken, chart_of, finish, label_room, names_axis
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import NOT_KNOWN, percent
from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.case_text import effect_text, failure_title, remedy_text

# Pixels that the names left of the bars leave for the plot, and that they take themselves.
_PLOT_PX, _NAME_PX = 385.0, 215
_ROW_PX = 30
# Space between a bar and its text.
_GAP_PX = 6.0
# A share this close to the whole prints as the whole.
_SAME = 0.005
# A failure with a smaller remaining share stops the work.
_NOTHING = 0.0005


def failure_chart(
    cases: Sequence[FailureCase],
    workload_index: int,
    unit: str,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
) -> Chart | None:
    """Remaining rate of a workload after each single failure.

    ``unit``: of its rate, such as images/s. None without cases.
    """
    if not cases:
        return None
    rows: Rows = []
    for case in cases:
        share, rate = case.share[workload_index], case.throughput[workload_index]
        stopped = share < _NOTHING
        text = "stops" if stopped else f"{si(rate, unit)} · {percent(min(share, 1.0))}"
        if not case.rate_is_known:
            share, text = 0.0, NOT_KNOWN
        elif case.meets_target and not stopped and not case.meets_target[workload_index]:
            text = f"{text}, target missed"
        rows.append(
            {
                "name": broken(failure_title(case), _NAME_PX),
                "share": 100 * min(share, 1.0),
                "text": text,
                "effect": effect_text(case),
                "remedy": remedy_text(case),
                "fill": 1.0 if share < 1 - _SAME else QUIET_OPACITY,
            }
        )
    names = [row["name"] for row in rows]
    scale = alt.Scale(domain=[0, 100 * label_room([row["text"] for row in rows], _PLOT_PX)], nice=False)
    y = alt.Y("name:N", sort=names, title=None, axis=names_axis(palette, _NAME_PX))
    base = chart_of(rows).encode(y=y)
    x = alt.X(
        "share:Q",
        scale=scale,
        axis=axis(grid=False, values=[0, 25, 50, 75, 100]),
        title="remaining throughput, %",
    )
    layers: list[Any] = [
        base.mark_bar(
            height=alt.RelativeBandSize(0.55), strokeWidth=1, color=palette.other, stroke=palette.other
        ).encode(
            x=x,
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=[
                alt.Tooltip("effect:N", title="effect"),
                alt.Tooltip("remedy:N", title="remedy"),
            ],
        ),
        base.mark_text(align="left", dx=_GAP_PX).encode(x=alt.X("share:Q", scale=scale), text=alt.Text("text:N")),
    ]
    lines = max(name.count("\n") + 1 for name in names)
    title = failure_finding(cases, workload_index)
    return finish(layers, title, palette, width, max(_ROW_PX, 15 * lines + 4) * len(rows))


def failure_finding(cases: Sequence[FailureCase], workload_index: int) -> str:
    """Title of the chart of failures."""
    shares = [case.share[workload_index] for case in cases if case.rate_is_known]
    stopping = [share for share in shares if share < _NOTHING]
    others = [share for share in shares if share >= _NOTHING]
    if not stopping:
        least = min(shares, default=1.0)
        if least >= 1 - _SAME:
            return "No single failure reduces throughput"
        return f"The worst single failure reduces throughput to {percent(least)}"
    if not others:
        return "Every single failure stops the work"
    return by_count(
        len(stopping),
        f"One of {len(shares)} failures stops the work; the others retain at least {percent(min(*others, 1.0))}",
        f"{len(stopping)} of {len(shares)} failures stop the work; the others retain at least "
        f"{percent(min(*others, 1.0))}",
    )
