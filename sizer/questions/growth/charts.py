"""The growth plan as charts: what is owned in each year, and when the first year's cluster is used up."""

import math
from typing import Any

import altair as alt

from sizer.base.quantities import grouped
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import Chart, Rows, axis, chart_of, finish
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import inside_sentence, plural
from sizer.questions.growth.limits_over_time import (
    CAPACITY,
    DECODE,
    FEEDS,
    GATEWAY,
    GPUS,
    NICS,
    READS,
    SWITCH_PORTS,
    UNITS,
    Limit,
)
from sizer.questions.growth.result import PlatformGrowth
from sizer.questions.growth.tables import used_up_text

_HEIGHT = 190
# Lines drawn at most, those that are used up first before the others.
_LINES = 5
# Loads closer than this on the last year's axis would print their names on each other.
_LABEL_PX = 13
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
_STAGES = {
    GPUS: "gpu",
    DECODE: "decode",
    READS: "storage",
    CAPACITY: "storage",
    GATEWAY: "network",
    NICS: "network",
    SWITCH_PORTS: "network",
}
_DASHED = (CAPACITY, SWITCH_PORTS, UNITS, FEEDS)


def owned_chart(found: PlatformGrowth, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Servers, or storage nodes where only these grow, owned in each year; None where nothing is added.

    Parameters
    ----------
    found : PlatformGrowth
    palette : Palette
        Colours.
    width : int or str
        Pixels, or ``container``.
    """
    sizes, needs = found.best.sizes, found.needs
    is_servers = needs[0].n_servers != needs[-1].n_servers
    if needs[0] == needs[-1]:
        return None
    key, title = ("n_servers", "servers") if is_servers else ("storage_nodes", "storage nodes")
    most = getattr(needs[-1], key)
    rows: Rows = [
        {
            "year": f"year {year}",
            "owned": getattr(owned, key),
            "need": getattr(need, key),
            "text": grouped(getattr(owned, key)),
        }
        for year, (owned, need) in enumerate(zip(sizes, needs, strict=True), start=1)
    ]
    scale = alt.Scale(domain=[0, most * 1.15], nice=False)
    order = [row["year"] for row in rows]
    x = alt.X("year:O", sort=order, title=None, axis=alt.Axis(labelAngle=0, labelColor=palette.ink))
    y_axis = axis(tickMinStep=1)
    base = chart_of(rows).encode(x=x)
    y = alt.Y("owned:Q", scale=scale, axis=y_axis, title=title)
    colour = palette.stages["gpu" if is_servers else "storage"]
    layers: list[Any] = [
        base.mark_bar(width=alt.RelativeBandSize(0.6), color=colour).encode(y=y),
        base.mark_text(baseline="bottom", dy=-4).encode(y=y, text="text:N"),
    ]
    if any(row["owned"] != row["need"] for row in rows):
        tick = base.mark_tick(thickness=2, color=palette.ink, width=alt.RelativeBandSize(0.75))
        layers.append(tick.encode(y=alt.Y("need:Q", scale=scale)))
    below = "Bars: owned; lines: needed." if len(layers) > 2 else ""
    return finish(layers, _owned_finding(found, key), palette, width, _HEIGHT, below)


def _owned_finding(found: PlatformGrowth, key: str) -> str:
    first, last = (getattr(size, key) for size in (found.best.sizes[0], found.best.sizes[-1]))
    noun = "server" if key == "n_servers" else "storage node"
    if first == last:
        return f"{plural(last, noun)} from the first year on"
    return f"From {grouped(first)} to {plural(last, noun)}"


def used_up_chart(found: PlatformGrowth, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Loads of the first year's cluster over the years on a logarithmic axis; None for a plan of one year."""
    n_years = len(found.needs)
    drawn = [limit for limit in found.limits if not limit.is_of_request and _is_drawn(limit)][:_LINES]
    if n_years < 2 or not drawn:
        return None
    lowest = min(min(limit.loads) for limit in drawn)
    highest = max(*(limit.loads[-1] for limit in drawn), 1.0)
    domain = [lowest / 1.3, highest * 1.3]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    x_scale = alt.Scale(domain=[1, n_years + 0.7 * (n_years - 1)], nice=False)
    years = list(range(1, n_years + 1))
    x_axis = alt.Axis(values=years, format="d", labelColor=palette.ink, grid=False)
    percent = "format(100 * datum.value, ',.2~r') + '\u202f%'"
    ticks = [
        value for value in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if domain[0] <= value <= domain[1]
    ]
    y_axis = alt.Axis(values=ticks, labelExpr=percent)
    x = alt.X("year:Q", scale=x_scale, axis=x_axis, title="year")
    y = alt.Y("load:Q", scale=scale, axis=y_axis, title="load of the first year's cluster")
    level = chart_of([{"year": year, "load": 1.0} for year in (1, n_years)])
    layers: list[Any] = [level.mark_line(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(x=x, y=y)]
    labels: Rows = []
    for limit in drawn:
        stage = _STAGES.get(limit.name)
        colour = palette.stages[stage] if stage is not None else palette.other
        rows: Rows = [{"year": year, "load": load} for year, load in zip(years, limit.loads, strict=True)]
        dash = [5, 3] if limit.name in _DASHED else [1, 0]
        line = chart_of(rows).mark_line(color=colour, strokeDash=dash, point=alt.OverlayMarkDef(color=colour, size=22))
        layers.append(line.encode(x=x, y=y))
        labels.append({"year": n_years, "load": limit.loads[-1], "text": limit.name})
    layers.append(
        chart_of(_apart(labels, domain))
        .mark_text(align="left", dx=8)
        .encode(x=x, y=alt.Y("at:Q", scale=scale), text="text:N")
    )
    return finish(layers, _used_up_finding(found), palette, width, _HEIGHT + 30, "Thin line: used up.")


def _is_drawn(limit: Limit) -> bool:
    return all(0 < load < float("inf") for load in limit.loads)


def _apart(labels: Rows, domain: list[float]) -> Rows:
    """Labels from the lowest up, each far enough above the one below."""
    factor = (domain[1] / domain[0]) ** (_LABEL_PX / _HEIGHT)
    placed: Rows = []
    for label in sorted(labels, key=lambda one: float(one["load"])):
        at = float(label["load"])
        if placed:
            at = max(at, float(placed[-1]["at"]) * factor)
        placed.append({**label, "at": at})
    # As far below their lines as above them, and none beyond the top.
    up = sum(math.log(float(one["at"]) / float(one["load"])) for one in placed) / len(placed)
    over = max(up, math.log(float(placed[-1]["at"]) / domain[1]))
    return [{**label, "at": float(label["at"]) / math.exp(over)} for label in placed]


def _used_up_finding(found: PlatformGrowth) -> str:
    hit = [limit for limit in found.limits if limit.year is not None and not limit.is_of_request]
    if not hit:
        return f"Nothing of the first year's cluster is used up within {len(found.needs)} years"
    first = hit[0]
    return f"First used up: {inside_sentence(first.name)}, {used_up_text(first)}"
