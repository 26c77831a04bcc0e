"""Charts of the page about speed, in the look of all charts."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from sizer.base.quantities import significant
from sizer.drawings.palette import COLUMN_PX, LIGHT
from sizer.drawings.shapes import text_width
from sizer.present.charting import Chart, Rows, axis, chart_of, finish, level_mark
from sizer.present.theme import CHART_LABEL_PX
from tools.speed_figures import Found, Growth, amount, asked

_WIDTH_PX = COLUMN_PX + 160
# Pixels of the names left of bars, of a bar with its gap, of an axis with its title.
_NAMES_PX, _BAR_PX, _AXIS_PX = 330, 24, 50
# Linear within 10 %.
_MOST_GROWTH = 1.1


def figures_chart(figures: Sequence[Found]) -> Chart:
    """Bars: how much of what may be spent is spent; time and memory as they are, rates the other way round."""
    told = [one for one in figures if one.used_fraction is not None]
    reached = sum(bool(one.is_reached) for one in told)
    rows: Rows = []
    for one in told:
        text = f"{amount(one.value, one.figure)}, {asked(one.figure).removesuffix(' a second')}"
        used = one.used_fraction
        assert used is not None
        rows.append(
            {
                "name": one.figure.name,
                "used": used,
                "end": max(used, 1.0),  # labels stand beyond the bar and beyond the mark
                "text": text if one.is_reached else f"{text}: missed",
                "colour": LIGHT.accent if one.is_reached else LIGHT.ink,
            }
        )
    longest = max([1.0, *(row["used"] for row in rows)])
    # Longer than the longest bar, so that the labels behind the bars fit.
    widest = max((text_width(row["text"], CHART_LABEL_PX) for row in rows), default=0.0) + 14
    top = longest / (1 - min(widest / (_WIDTH_PX - _NAMES_PX), 0.6))
    scale = alt.Scale(domain=[0, top], nice=False)
    names = alt.Axis(labelColor=LIGHT.ink, labelLimit=_NAMES_PX, domain=False, ticks=False)
    base = chart_of(rows).encode(y=alt.Y("name:N", sort=None, title=None, axis=names))
    bars = base.mark_bar(height=12).encode(
        x=alt.X(
            "used:Q", scale=scale, title="spent of what may be spent; of rates: asked by reached",
            axis=axis(values=[0, 0.5, 1], labelExpr="format(datum.value, '.0%')"),
        ),
        color=alt.Color("colour:N", scale=None),
    )  # fmt: skip
    labels = base.mark_text(align="left", dx=6).encode(x=alt.X("end:Q", scale=scale), text="text:N")
    limit = chart_of([{"at": 1.0}]).mark_rule(strokeDash=[4, 3], strokeWidth=1, color=LIGHT.ink)
    layers = [bars, labels, limit.encode(x=alt.X("at:Q", scale=scale))]
    title = f"{reached} of {len(told)} figures are reached" if reached < len(told) else "Every figure is reached"
    return finish(layers, title, LIGHT, _WIDTH_PX, _BAR_PX * len(rows) + 6)


def growth_chart(growths: Sequence[Growth]) -> Chart:
    """Time of one by how many there are, each in terms of its fewest, on logarithmic axes; level is linear."""
    height, room = 280, 220
    rows: Rows = []
    ends: Rows = []
    for one in growths:
        here: Rows = [
            {"name": one.name, "x": n / one.sizes[0], "y": t / one.times_s[0] * one.sizes[0] / n}
            for n, t in zip(one.sizes, one.times_s, strict=True)
        ]
        rows += here
        ends.append({**here[-1], "text": f"{one.name}: {significant(here[-1]['y'], 2)}"})
    size, least = max(row["x"] for row in rows), min(row["y"] for row in rows)
    plot = _WIDTH_PX - _AXIS_PX
    x_scale = alt.Scale(type="log", domain=[1, size ** (plot / (plot - room))], nice=False)
    bounds = 0.8 * least, 1.6 * max(row["y"] for row in rows)
    y_scale = alt.Scale(type="log", domain=list(bounds), nice=False)
    decades = [10.0**power for power in range(-4, 5)]
    x = alt.X("x:Q", scale=x_scale, title="how many, by the fewest measured (logarithmic)", axis=axis(values=decades))
    y = alt.Y(
        "y:Q",
        scale=y_scale,
        title="time of one, by that among the fewest (logarithmic)",
        axis=axis(values=[digit * ten for ten in decades for digit in (1, 2, 5)]),
    )
    lines = chart_of(rows)
    layers: list[Any] = [
        lines.mark_line(color=LIGHT.accent, strokeWidth=1.5).encode(x=x, y=y, detail="name:N"),
        lines.mark_point(color=LIGHT.accent, filled=True, size=24, opacity=1).encode(x=x, y=y),
        *level_mark(_MOST_GROWTH, f"asked: at most {_MOST_GROWTH:g}", y_scale, LIGHT, is_falling=False),
    ]
    # A line that ends early has others to its right; its label stands below it, where these have fallen further.
    far = [end for end in ends if end["x"] ** 2 > size]
    near = [end for end in ends if end not in far]
    for end in far:
        end["x"] = size
    _spread(far, 15 * math.log(bounds[1] / bounds[0]) / height)
    for some, place in ((far, {"dx": 8}), (near, {"dx": 4, "dy": 14})):
        if some:
            at = alt.Y("at:Q" if some is far else "y:Q", scale=y_scale)
            layers.append(chart_of(some).mark_text(align="left", **place).encode(x=x, y=at, text="text:N"))
    is_linear = all(end["y"] <= _MOST_GROWTH for end in ends)
    title = "Nothing grows faster than in proportion" if is_linear else "Not everything grows in proportion or less"
    return finish(layers, title, LIGHT, _WIDTH_PX, height)


def _spread(rows: Rows, gap: float) -> None:
    """Give each row ``at``, near its ``y`` on a logarithmic axis, so that none stand closer than ``gap``."""
    last = math.inf
    for row in sorted(rows, key=lambda row: -row["y"]):
        last = min(math.log(row["y"]), last - gap)
        row["at"] = math.exp(last)
