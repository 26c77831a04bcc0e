"""The growth plan as charts: what is owned in each year, and when the capacity of the year-1 cluster is exhausted."""

import math
from typing import Any

import altair as alt

from sizer.base.quantities import grouped
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import Chart, Rows, axis, chart_of, finish
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import inside_sentence, plural, spelled
from sizer.questions.growth.text import LIMIT_NAMES, exhausted_text
from sizer.sizing.growth.result import CapacityLimit, LimitKind, PlatformGrowth

_HEIGHT = 190
# Lines drawn at most; those of the limits exhausted first come first.
_LINES = 5
# Distance of two names at the last year's axis.
_LABEL_PX = 13
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
_STAGES = {
    LimitKind.GPU_RATE: "gpu",
    LimitKind.HOST_DECODE: "decode",
    LimitKind.HOST_LINK: "host_link",
    LimitKind.STORAGE_READS: "storage",
    LimitKind.STORAGE_CAPACITY: "storage",
    LimitKind.GATEWAY_UPLINKS: "network",
    LimitKind.SERVER_PORTS: "network",
    LimitKind.SWITCH_PORTS: "network",
}
_DASHED = (LimitKind.STORAGE_CAPACITY, LimitKind.SWITCH_PORTS, LimitKind.RACK_UNITS, LimitKind.POWER_FEEDS)


def owned_chart(growth: PlatformGrowth, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Servers, or storage nodes where only these grow, owned in each year; None where nothing is added."""
    sizes, needs = growth.recommended.sizes, growth.needs
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
        base.mark_text(baseline="bottom", dy=-4).encode(y=y, text=alt.Text("text:N")),
    ]
    if any(row["owned"] != row["need"] for row in rows):
        tick = base.mark_tick(thickness=2, color=palette.ink, width=alt.RelativeBandSize(0.75))
        layers.append(tick.encode(y=alt.Y("need:Q", scale=scale)))
    below = "Bars: owned; lines: needed." if len(layers) > 2 else ""
    return finish(layers, _owned_finding(growth, key), palette, width, _HEIGHT, below)


def _owned_finding(growth: PlatformGrowth, key: str) -> str:
    first, last = (getattr(size, key) for size in (growth.recommended.sizes[0], growth.recommended.sizes[-1]))
    noun = "server" if key == "n_servers" else "storage node"
    if first == last:
        return f"{plural(last, noun)} from year 1 on"
    return f"Growth from {grouped(first)} to {plural(last, noun)}"


def limits_chart(growth: PlatformGrowth, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Loads on the year-1 cluster over the years on a logarithmic axis; None for a plan of one year."""
    n_years = len(growth.needs)
    drawn = [limit for limit in growth.limits if not limit.is_of_request and _is_drawn(limit)][:_LINES]
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
    ticks = [value for value in _TICKS if domain[0] <= value <= domain[1]]
    y_axis = alt.Axis(values=ticks, labelExpr=percent)
    x = alt.X("year:Q", scale=x_scale, axis=x_axis, title="year")
    y = alt.Y("load:Q", scale=scale, axis=y_axis, title="load / capacity of the year-1 cluster")
    level = chart_of([{"year": year, "load": 1.0} for year in (1, n_years)])
    layers: list[Any] = [level.mark_line(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(x=x, y=y)]
    labels: Rows = []
    for limit in drawn:
        stage = _STAGES.get(limit.kind)
        colour = palette.stages[stage] if stage is not None else palette.other
        rows: Rows = [{"year": year, "load": load} for year, load in zip(years, limit.loads, strict=True)]
        dash = [5, 3] if limit.kind in _DASHED else [1, 0]
        line = chart_of(rows).mark_line(color=colour, strokeDash=dash, point=alt.OverlayMarkDef(color=colour, size=22))
        layers.append(line.encode(x=x, y=y))
        labels.append({"year": n_years, "load": limit.loads[-1], "text": LIMIT_NAMES[limit.kind]})
    layers.append(
        chart_of(_apart(labels, domain))
        .mark_text(align="left", dx=8)
        .encode(x=x, y=alt.Y("at:Q", scale=scale), text=alt.Text("text:N"))
    )
    return finish(layers, _limits_finding(growth), palette, width, _HEIGHT + 30, "Dashed line: capacity.")


def _is_drawn(limit: CapacityLimit) -> bool:
    return all(0 < load < float("inf") for load in limit.loads)


def _apart(labels: Rows, domain: list[float]) -> Rows:
    """Labels from the lowest up, each far enough above the one below."""
    factor = (domain[1] / domain[0]) ** (_LABEL_PX / _HEIGHT)
    placed: Rows = []
    for label in sorted(labels, key=lambda label: float(label["load"])):
        at = float(label["load"])
        if placed:
            at = max(at, float(placed[-1]["at"]) * factor)
        placed.append({**label, "at": at})
    # Centred on their lines, and none beyond the top.
    raised = sum(math.log(float(label["at"]) / float(label["load"])) for label in placed) / len(placed)
    excess = max(raised, math.log(float(placed[-1]["at"]) / domain[1]))
    return [{**label, "at": float(label["at"]) / math.exp(excess)} for label in placed]


def _limits_finding(growth: PlatformGrowth) -> str:
    exhausted = [limit for limit in growth.limits if limit.year is not None and not limit.is_of_request]
    if not exhausted:
        return f"The year-1 cluster reaches no limit within {spelled(len(growth.needs))} years"
    first = exhausted[0]
    return f"Exhausted first: {inside_sentence(LIMIT_NAMES[first.kind])}, {exhausted_text(first)}"
