"""Charts of a result. The guide prints them and the app shows the same objects with ``theme=None``.

A chart's title is its finding. Stages keep their colours; the limiting one is filled, the others are outlined.
"""

import hashlib
import math
import re
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

import altair as alt
import numpy as np

from sizer.base.quantities import duration, si, significant
from sizer.base.resources import data_dir
from sizer.drawings.palette import BAND_OPACITY, COLUMN_PX, QUIET_OPACITY
from sizer.report.theme import LIGHT, Palette, altair_config
from sizer.report.words import percent, sample_unit
from sizer.sizing.result import STAGES, SizingResult, WorkloadAnswer

Chart = alt.LayerChart
# A bar longer than this many times the demand is cut; the exact value stands beside it.
_LONGEST = 3.0
# Room for the labels right of the marks, as a share of the axis.
_LABEL_ROOM = 0.16
_CHART_VERSION = "6.4"


def stage_chart(answer: WorkloadAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart:
    """What each stage could pass, against the throughput of the whole and the target."""
    unit = sample_unit(answer.dnn)
    throughput, target = float(answer.throughput.value), answer.workload.target.samples_per_s
    need = max(throughput, target or 0.0)
    rows = []
    for stage in answer.stages:
        value, low, high = stage.capacity
        if not math.isfinite(value):
            continue
        cut = value > _LONGEST * need
        text = significant(value) + ("  limits" if stage.is_limiting else f"  {percent(stage.load_fraction)} busy")
        rows.append(
            {
                "stage": STAGES[stage.key],
                "shown": min(value, _LONGEST * need),
                "low": min(low, _LONGEST * need),
                "high": min(high, _LONGEST * need),
                "end": min(max(high, value), _LONGEST * need),
                "text": ("→ " if cut else "") + text,
                "colour": palette.stages[stage.key],
                "fill": 1.0 if stage.is_limiting else QUIET_OPACITY,
                "interval": None if cut or high - low < 1e-3 * value else "90 %",
            }
        )
    order = [row["stage"] for row in rows]
    top = max(row["end"] for row in rows)
    data = alt.Data(values=rows)
    y = alt.Y("stage:N", sort=order, title=None, axis=alt.Axis(labelColor=palette.ink, labelFontWeight=600))
    x_scale = alt.Scale(domain=[0, top * (1 + 1.6 * _LABEL_ROOM)], nice=False)
    x_axis = alt.Axis(format="~s", grid=False, tickCount=6)
    title = f"possible throughput of each stage, {unit}"
    base = alt.Chart(data).encode(y=y)
    colour = alt.Color("colour:N", scale=None)
    layers: list[Any] = [
        base.mark_bar(height={"band": 0.62}, strokeWidth=1).encode(
            x=alt.X("shown:Q", scale=x_scale, axis=x_axis, title=title),
            color=colour,
            stroke=alt.Stroke("colour:N", scale=None),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=[alt.Tooltip("stage:N", title="stage"), alt.Tooltip("text:N", title=unit)],
        ),
        base.transform_filter("datum.interval != null")
        .mark_rule(strokeWidth=1.2, color=palette.ink)
        .encode(x=alt.X("low:Q", scale=x_scale), x2="high:Q"),
        base.mark_text(align="left", dx=6).encode(x=alt.X("end:Q", scale=x_scale), text="text:N"),
    ]
    if target is not None:
        mark = alt.Chart(alt.Data(values=[{"at": target, "text": f"target {significant(target)}"}]))
        at = alt.X("at:Q", scale=x_scale)
        layers += [
            mark.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(x=at),
            mark.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=palette.ink).encode(
                x=at, y=alt.value(0), text="text:N"
            ),
        ]
    return _finish(alt.layer(*layers), stage_finding(answer), palette, width, 34 * len(rows) + 8)


def stage_finding(answer: WorkloadAnswer) -> str:
    """Title of the stage chart."""
    unit = sample_unit(answer.dnn)
    limit = f"{STAGES[answer.bottleneck]} limits at {si(float(answer.throughput.value), unit)}"
    next_ = next((stage for stage in answer.stages if stage.key == answer.next_bottleneck), None)
    if next_ is None or answer.next_bottleneck == answer.bottleneck or not math.isfinite(float(next_.capacity.value)):
        return limit
    distance = float(next_.capacity.value) / float(answer.throughput.value)
    return f"{limit}; {STAGES[next_.key].lower()} would follow at {significant(distance, 2)} times that"


def scaling_chart(
    answer: WorkloadAnswer, n_gpus: int, palette: Palette = LIGHT, width: int | str = COLUMN_PX, height: int = 270
) -> Chart:
    """Throughput against GPUs with its 90 % band, published measurements and the chosen size."""
    unit = sample_unit(answer.dnn)
    grid = answer.scaling
    gpus, middle = np.atleast_1d(grid.n_gpus), np.atleast_1d(grid.throughput.value)
    low, high = np.atleast_1d(grid.throughput.low), np.atleast_1d(grid.throughput.high)
    rows = [
        {"gpus": float(g), "value": float(v), "low": float(lo), "high": float(hi)}
        for g, v, lo, hi in zip(gpus, middle, low, high, strict=True)
    ]
    top, most = float(high.max()) * 1.06, float(gpus.max())
    x = alt.X("gpus:Q", title="GPUs", scale=alt.Scale(domain=[0, most * (1 + _LABEL_ROOM / 2)], nice=False),
              axis=alt.Axis(tickMinStep=1))  # fmt: skip
    y_scale = alt.Scale(domain=[0, top], nice=True)
    y = alt.Y("value:Q", title=f"training throughput, {unit}" if answer.workload.task == "training" else f"throughput, {unit}",
              scale=y_scale, axis=alt.Axis(format="~s", tickCount=6))  # fmt: skip
    base = alt.Chart(alt.Data(values=rows))
    layers: list[Any] = [
        base.mark_area(opacity=BAND_OPACITY, color=palette.accent).encode(
            x=x, y=alt.Y("low:Q", scale=y_scale, title=""), y2="high:Q"
        ),
        base.mark_line(color=palette.accent, strokeWidth=2).encode(x=x, y=y),
    ]
    layers += _stage_lines(answer, gpus, middle, top, palette, x, y_scale)
    layers += _published(answer, most, top, palette, x, y_scale)
    target = answer.workload.target.samples_per_s
    if target is not None and target < top:
        rule = alt.Chart(alt.Data(values=[{"value": target, "text": f"target {significant(target)}"}]))
        at = alt.Y("value:Q", scale=y_scale, title="")
        layers += [
            rule.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(y=at),
            rule.mark_text(align="left", baseline="bottom", dx=4, dy=-3).encode(y=at, x=alt.value(0), text="text:N"),
        ]
    chosen = float(answer.throughput.value)
    point = alt.Chart(alt.Data(values=[{"gpus": n_gpus, "value": chosen, "text": f"this design: {significant(chosen)}"}]))
    left = n_gpus > 0.72 * most
    at_y = alt.Y("value:Q", scale=y_scale, title="")
    layers += [
        point.mark_point(filled=True, size=80, color=palette.accent, opacity=1).encode(x=x, y=at_y),
        point.mark_text(align="right" if left else "left", dx=-9 if left else 9, dy=-9 if left else 12, fontWeight=600,
                        color=palette.accent).encode(x=x, y=at_y, text="text:N"),
    ]  # fmt: skip
    return _finish(alt.layer(*layers), scaling_finding(answer, n_gpus), palette, width, height)


def _stage_lines(
    answer: WorkloadAnswer, gpus: Any, middle: Any, top: float, palette: Palette, x: alt.X, y_scale: alt.Scale
) -> list[Any]:
    """Thin lines of the stages that come near: where one crosses the throughput, it takes over."""
    layers: list[Any] = []
    for key, values in answer.scaling.stage_capacity.items():
        line = np.broadcast_to(np.atleast_1d(values), gpus.shape)
        inside = np.isfinite(line) & (line <= top)
        above = line > 1.02 * middle
        if key not in STAGES or inside.sum() < 2 or not (inside & above).any():
            continue
        rows = [{"gpus": float(g), "value": float(v)} for g, v in zip(gpus[inside], line[inside], strict=True)]
        chart = alt.Chart(alt.Data(values=rows))
        end = alt.Chart(alt.Data(values=[{**rows[-1], "text": STAGES[key].lower()}]))
        colour = palette.stages[key]
        at = alt.Y("value:Q", scale=y_scale, title="")
        layers += [
            chart.mark_line(color=colour, strokeWidth=1.2).encode(x=x, y=at),
            end.mark_text(align="left", dx=5, color=colour).encode(x=x, y=at, text="text:N"),
        ]
    return layers


def _published(answer: WorkloadAnswer, most: float, top: float, palette: Palette, x: alt.X, y_scale: alt.Scale) -> list[Any]:
    rows = [
        {"gpus": one.n_gpus, "value": one.published, "what": one.what, "source": one.source}
        for one in answer.evidence
        if one.n_gpus <= most and one.published <= top
    ]
    if not rows:
        return []
    chart = alt.Chart(alt.Data(values=rows))
    at = alt.Y("value:Q", scale=y_scale, title="")
    points = chart.mark_point(filled=False, size=62, strokeWidth=1.5, color=palette.ink, opacity=1).encode(
        x=x, y=at, tooltip=[alt.Tooltip("what:N", title="measured"), alt.Tooltip("value:Q", title="per second"), "source:N"]
    )
    lowest = min(rows, key=lambda row: row["value"])  # type: ignore[arg-type, return-value]
    label = alt.Chart(alt.Data(values=[{**lowest, "text": "published measurements" if len(rows) > 1 else "published"}]))
    text = label.mark_text(align="left", dx=9, dy=8, color=palette.muted).encode(x=x, y=at, text="text:N")
    return [points, text]


def scaling_finding(answer: WorkloadAnswer, n_gpus: int) -> str:
    """Title of the scaling chart."""
    if n_gpus == 1 or len(np.atleast_1d(answer.scaling.n_gpus)) < 2:
        return f"{si(float(answer.throughput.value), sample_unit(answer.dnn))} on {n_gpus} GPU{'s' if n_gpus > 1 else ''}"
    efficiency = percent(answer.scaling_efficiency)
    return f"{n_gpus} GPUs keep {efficiency} of the rate that one GPU would have alone"


def time_chart(answer: WorkloadAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Where the time of a training goes, one after the other on one axis. None where no length is asked."""
    if answer.time is None:
        return None
    time = answer.time
    later = max(float(time.total_s.value) - time.start_up_s - float(time.first_epoch_s.value) - float(time.evaluations_s.value), 0.0)
    parts = [
        ("Start-up", time.start_up_s, palette.other),
        ("First epoch, cold", float(time.first_epoch_s.value), palette.stages["storage"]),
        ("Later epochs", later, palette.stages[answer.bottleneck]),
        ("Evaluations", float(time.evaluations_s.value), palette.other),
    ]
    total = max(float(time.total_s.value), 1e-9)
    factor, unit = next(((f, u) for f, u in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")) if total >= 2 * f), (1.0, "seconds"))
    rows, start = [], 0.0
    for label, length, colour in parts:
        rows.append({"part": label, "from": start / factor, "to": (start + length) / factor, "colour": colour,
                     "text": f"{duration(length) if length > 0 else 'none'}  {percent(length / total)}"})  # fmt: skip
        start += length
    order = [row["part"] for row in rows]
    end = start / factor
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("part:N", sort=order, title=None, axis=alt.Axis(labelColor=palette.ink))
    )
    x_scale = alt.Scale(domain=[0, end * (1 + 1.4 * _LABEL_ROOM)], nice=False)
    bars = base.mark_bar(height={"band": 0.55}).encode(
        x=alt.X("from:Q", scale=x_scale, title=f"time from the start of the training, {unit}"), x2="to:Q",
        color=alt.Color("colour:N", scale=None), tooltip=["part:N", alt.Tooltip("text:N", title="length")],
    )  # fmt: skip
    ends = base.mark_tick(thickness=1.5, height={"band": 0.55}).encode(
        x=alt.X("from:Q", scale=x_scale), color=alt.Color("colour:N", scale=None)
    )
    texts = base.mark_text(align="left", dx=6).encode(x=alt.X("to:Q", scale=x_scale), text="text:N")
    return _finish(alt.layer(bars, ends, texts), time_finding(answer, later / total), palette, width, 30 * len(rows))


def time_finding(answer: WorkloadAnswer, later_share: float) -> str:
    """Title of the time chart."""
    assert answer.time is not None
    total = duration(float(answer.time.total_s.value))
    if later_share >= 0.9:
        return f"{percent(later_share)} of the {total} are warm epochs; start-up and cold reads hardly count"
    return f"Start-up, the cold first epoch and evaluations take {percent(1 - later_share)} of the {total}"


def pareto_chart(result: SizingResult, palette: Palette = LIGHT, width: int | str = COLUMN_PX, height: int = 270) -> Chart | None:
    """Designs that no other beats, cost (or power where prices are missing) against time. None without two designs."""
    points = result.pareto
    if len(points) < 2:
        return None
    priced = all(point.cost is not None for point in points)
    timed = result.design.workloads[0].time is not None
    slowest = max(point.time_s for point in points)
    factor, unit = (3600.0, "hours") if slowest >= 7200 else (60.0, "minutes") if slowest >= 120 else (1.0, "seconds")
    rows = [
        {
            "x": float(point.cost) / 1e6 if priced and point.cost is not None else point.power_w / 1e3,
            "y": point.time_s / factor,
            "name": point.name,
            "server": point.server,
            "text": f"{point.n_servers} × {point.server}",
            "chosen": point.is_documented,
        }
        for point in sorted(points, key=lambda point: point.time_s)
    ]
    x_title = f"list price, million {result.request.currency}" if priced else "maximum power, kW (prices are missing)"
    y_title = f"time to train, {unit}" if timed else f"time for a million samples, {unit}"
    xs, ys = [row["x"] for row in rows], [row["y"] for row in rows]
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(domain=_padded(xs, 0.10, 0.30), nice=False, zero=False))
    y = alt.Y("y:Q", title=y_title, scale=alt.Scale(domain=_padded(ys, 0.15, 0.15), nice=False, zero=False))
    shape = alt.Shape("server:N", legend=None)
    base = alt.Chart(alt.Data(values=rows))
    others, chosen = base.transform_filter("!datum.chosen"), base.transform_filter("datum.chosen")
    tips = [alt.Tooltip("name:N", title="design")]
    labelled = _labelled(rows)
    some = alt.Chart(alt.Data(values=[row for row in labelled if not row["chosen"]]))
    layers = [
        others.mark_point(filled=False, size=64, strokeWidth=1.4, color=palette.other, opacity=1).encode(x=x, y=y, shape=shape, tooltip=tips),
        chosen.mark_point(filled=True, size=110, color=palette.accent, opacity=1).encode(x=x, y=y, shape=shape, tooltip=tips),
        some.mark_text(align="left", dx=9, color=palette.muted).encode(x=x, y=y, text="text:N"),
        chosen.mark_text(align="left", dx=11, fontWeight=600, color=palette.accent).encode(x=x, y=y, text="text:N"),
    ]
    return _finish(alt.layer(*layers), pareto_finding(result, priced), palette, width, height)


def _padded(values: list[Any], before: float, after: float) -> list[float]:
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    return [max(low - before * span, 0.0), high + after * span]


def _labelled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose label has room: no other labelled point closer than a line of text."""
    xs, ys = [row["x"] for row in rows], [row["y"] for row in rows]
    span_x, span_y = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    kept: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: not row["chosen"]):
        if all(abs(row["y"] - k["y"]) / span_y > 0.07 or abs(row["x"] - k["x"]) / span_x > 0.36 for k in kept):
            kept.append(row)
    return kept


def pareto_finding(result: SizingResult, priced: bool) -> str:
    """Title of the Pareto chart."""
    chosen = next((point for point in result.pareto if point.is_documented), None)
    measure = "cheaper" if priced else "draws less power"
    if chosen is None:
        return f"{len(result.pareto)} designs that no other one beats"

    def cost(point: Any) -> float:
        return float(point.cost) if priced and point.cost is not None else float(point.power_w)

    least = all(cost(point) >= cost(chosen) for point in result.pareto)
    verb = f"is {measure}" if priced else measure
    if least:
        return f"No other design on the front {verb} than {chosen.n_servers} × {chosen.server}"
    faster = sum(point.time_s < chosen.time_s for point in result.pareto)
    return f"{faster} of {len(result.pareto)} designs on the front are faster than {chosen.n_servers} × {chosen.server}"


def _finish(chart: Chart, title: str, palette: Palette, width: int | str, height: int) -> Chart:
    autosize = alt.AutoSizeParams(type="fit", contains="padding")
    finished = chart.properties(
        title=alt.TitleParams(text=_title_lines(title)), width=width, height=height, autosize=autosize  # type: ignore[arg-type]
    )
    finished.config = alt.Config.from_dict(altair_config(palette), validate=False)
    return finished


def _title_lines(title: str) -> list[str]:
    """Long findings on two lines, broken at the punctuation."""
    if len(title) <= 84 or "; " not in title:
        return [title]
    head, _, tail = title.rpartition("; ")
    return [head + ";", tail]


@cache
def _register_fonts() -> None:
    import vl_convert

    # Without the shipped font vl-convert measures the text of another one and the margins come out wrong.
    vl_convert.register_font_directory(str(data_dir("reports") / "fonts"))


def chart_svg(chart: Chart, alt_text: str = "") -> str:
    """SVG of a chart, with its finding as the text that screen readers speak."""
    import vl_convert

    _register_fonts()
    spec = chart.to_dict()
    title = alt_text or " ".join(spec["title"]["text"])
    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=_CHART_VERSION, allowed_base_urls=[])
    return titled(svg, title)


def titled(svg: str, title: str) -> str:
    """SVG with a ``<title>`` and with ids that stay unique when several stand on one page."""
    mark = "c" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{mark}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{mark}-\1)", svg)
    opening = re.search(r"<svg[^>]*>", svg)
    assert opening is not None
    return f'{svg[opening.start() : opening.end()]}<title>{escape(title)}</title>{svg[opening.end() :]}'
