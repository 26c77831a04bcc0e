"""Charts of a result. The guide prints them and the app shows the same objects.

The title of a chart is its finding. Stages keep their colours; the bottleneck is filled, the others are outlined.
"""

from collections.abc import Iterator

import altair as alt
import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.quantities import by_count, grouped, si, significant
from sizer.drawings.palette import COLUMN_PX, LIGHT, Palette
from sizer.present.charting import (
    HEIGHT_PX,
    PLOT_PX,
    BandChart,
    Chart,
    Rows,
    axis,
    band_rows,
    chart_of,
    finish,
    placed_labels,
    time_unit,
)
from sizer.present.text.stages import measurement_text
from sizer.present.words import capital, percent, plural, plural_noun, sample_unit, scaling_name
from sizer.present.words import stage as stage_word
from sizer.sizing.result import STAGES, NearbyMeasurement, ParetoPoint, SizingResult, WorkloadAnswer

# A scaling chart shows sizes up to this many times the design.
_SCALING_BEYOND = 4
_LINE_POINTS = 61  # of the capacity of a stage, drawn up to the frame
# A published run belongs to the line where the model expects of it what the line shows, but for this share: batch,
# server or data of the others differ.
_COMPARABLE = 0.15
# A rate on twice the GPUs that is below this share of it falls.
_FALLS = 0.95


def scaling_data(answer: WorkloadAnswer, n_gpus: int) -> BandChart | None:
    """Throughput against GPUs with published measurements and the chosen size; None of one size, and of replicas, whose
    rates add.
    """
    unit, grid = sample_unit(answer.dnn), answer.scaling
    gpus = np.atleast_1d(grid.n_gpus)
    if gpus.size < 2 or answer.serving is not None:
        return None
    keep = gpus <= max(_SCALING_BEYOND * n_gpus, gpus.min())
    gpus = gpus[keep]
    middle, low, high = (
        np.atleast_1d(part)[keep] for part in (grid.throughput.value, grid.throughput.low, grid.throughput.high)
    )
    top, most = float(high.max()) * 1.04, float(gpus.max())
    published = tuple(
        (float(one.n_gpus), float(one.published), f"{measurement_text(one)}; {one.source}")
        for one in answer.evidence
        if one.is_same_stack and one.n_gpus <= most and one.published <= top and _is_comparable(one, gpus, middle)
    )
    shown = "line and band: prediction with its 90 % interval"
    target = answer.workload.target.samples_per_s
    rate = float(answer.throughput.value)
    return BandChart(
        id="scaling",
        finding=scaling_finding(answer, n_gpus),
        how=capital(f"{shown}; circles: comparable published measurements" if published else shown),
        caption="Projected throughput by number of GPUs, with storage and platform fixed.",
        x_title="GPUs",
        y_title=f"training throughput, {unit}" if answer.workload.task == "training" else f"throughput, {unit}",
        rows=band_rows("x", gpus, middle, low, high),
        design=(float(n_gpus), rate),
        label=f"this design: {significant(rate)}",
        x_domain=(0.0, 1.03 * most),
        top=top,
        level=(target, f"target {significant(target)}") if target is not None and target < top else None,
        published=published,
        lines=tuple(_stage_lines(answer, gpus, middle, keep, top)),
        counts_x=True,
    )


def _is_comparable(run: NearbyMeasurement, gpus: Floats, middle: Floats) -> bool:
    """Whether the model expects of a published run about what the line shows: its batch, data and server are alike."""
    line = float(np.interp(run.n_gpus, gpus, middle))
    return abs(float(run.predicted.value) - line) <= _COMPARABLE * line


def _stage_lines(
    answer: WorkloadAnswer, gpus: Floats, middle: Floats, keep: Bools, top: float
) -> Iterator[tuple[Rows, str, str]]:
    """Thin lines of the next bottleneck, and of stages that take over inside the chart."""
    for key, values in answer.scaling.stage_capacity.items():
        line = np.broadcast_to(np.atleast_1d(values), keep.shape)[keep]
        takes_over = (line[-1] <= 1.01 * middle[-1]) and (line[0] > 1.05 * middle[0])
        if key not in STAGES or not np.isfinite(line).all() or not (takes_over or key == answer.next_bottleneck):
            continue
        between = np.linspace(gpus[0], gpus[-1], _LINE_POINTS)  # it ends at the frame, not at the last size inside
        line = np.interp(between, gpus, line)
        inside = line <= top
        if inside.sum() > 1:
            rows = [{"x": float(x), "value": float(y)} for x, y in zip(between[inside], line[inside], strict=True)]
            yield rows, f"capacity of {stage_word(key, inside=True)}", key


def scaling_finding(answer: WorkloadAnswer, n_gpus: int) -> str:
    """Title of the scaling chart."""
    rate = si(float(answer.throughput.value), sample_unit(answer.dnn))
    if n_gpus == 1:
        return f"One GPU delivers {rate}"
    if not answer.kind.compares_one_gpu and n_gpus <= np.min(answer.scaling.n_gpus):
        return f"{grouped(n_gpus)} GPUs deliver {rate}"
    if answer.bottleneck not in ("gpu", "exchange") and answer.kind.compares_one_gpu:
        return f"{STAGES[answer.bottleneck]} limits at {grouped(n_gpus)} GPUs"
    name = scaling_name(is_language=not answer.kind.compares_one_gpu)
    text = f"{name} at {grouped(n_gpus)} GPUs: {percent(answer.scaling_efficiency)}"
    gpus, rates = np.atleast_1d(answer.scaling.n_gpus), np.atleast_1d(answer.scaling.throughput.value)
    if not answer.kind.compares_one_gpu:
        return f"{text}, compared with the fewest servers that hold the model"
    if gpus.max() < 2 * n_gpus:
        return text
    ratio = float(np.interp(2 * n_gpus, gpus, rates)) / float(answer.throughput.value)
    # A rate that falls with more GPUs is the finding, not what they reach so far.
    return f"{text}; twice as many deliver {percent(ratio)} of the rate" if ratio < _FALLS else text


def pareto_chart(
    result: SizingResult, palette: Palette = LIGHT, width: int | str = COLUMN_PX, height: int = HEIGHT_PX
) -> Chart | None:
    """Time over cost, or over GPUs where prices are missing, of the designs that no other one beats in both.

    The described design is always one of them. None below two designs.
    """
    points = _drawn(result)
    if len(points) < 2:
        return None
    priced = all(point.cost is not None for point in points)
    slowest = max(point.time_s for point in points)
    factor, unit = time_unit(slowest)
    rows: Rows = [
        {
            "x": _effort(point, priced) / (1e6 if priced else 1.0),
            "y": point.time_s / factor,
            "name": point.name,
            "server": point.server_name,
            "text": short_name(point),
            "chosen": point.is_documented,
        }
        for point in sorted(points, key=lambda point: (not point.is_documented, point.time_s))
    ]
    x_title = f"list price, million {result.request.currency}" if priced else "GPUs (not all prices are known)"
    is_training = result.design.workloads[0].time is not None
    samples = plural_noun(result.design.workloads[0].dnn.sample)
    y_title = f"time to train, {unit}" if is_training else f"time for a million {samples}, {unit}"
    x_domain, y_domain = _padded([row["x"] for row in rows]), _padded([row["y"] for row in rows])
    x_scale, y_scale = (alt.Scale(domain=domain, nice=False, zero=False) for domain in (x_domain, y_domain))
    x, y = (
        alt.X("x:Q", title=x_title, scale=x_scale, axis=axis()),
        alt.Y("y:Q", title=y_title, scale=y_scale, axis=axis()),
    )
    base, tips = chart_of(rows), [alt.Tooltip("name:N", title="design")]
    others, chosen = base.transform_filter("!datum.chosen"), base.transform_filter("datum.chosen")
    servers = list(dict.fromkeys(row["server"] for row in rows))
    shape = alt.Shape("server:N", legend=alt.Legend(title="server", orient="bottom") if len(servers) > 1 else None)
    labels = chart_of(placed_labels(rows, rows, x_domain, y_domain, (PLOT_PX, float(height))))
    at_x, at_y = alt.X("lx:Q", scale=x_scale), alt.Y("ly:Q", scale=y_scale)
    hollow = others.mark_point(filled=False, size=60, strokeWidth=1.4, color=palette.other, opacity=1)
    full = chosen.mark_point(filled=True, size=110, color=palette.accent, opacity=1)
    quiet = labels.transform_filter("!datum.chosen").mark_text(align="left", color=palette.muted)
    strong = labels.transform_filter("datum.chosen").mark_text(align="left", fontWeight=600, color=palette.accent)
    layers = [
        hollow.encode(x=x, y=y, shape=shape, tooltip=tips),
        full.encode(x=x, y=y, shape=shape, tooltip=tips),
        quiet.encode(x=at_x, y=at_y, text=alt.Text("text:N")),
        strong.encode(x=at_x, y=at_y, text=alt.Text("text:N")),
    ]
    legend = "Filled mark: this design; hollow marks: designs that no other one beats in both axes"
    return finish(layers, pareto_finding(result, priced), palette, width, height, legend)


def _drawn(result: SizingResult) -> list[ParetoPoint]:
    """Points near the design that no other one beats in time and effort.

    The others are on the front for their power or rack space.
    """
    near = sorted(_near(result), key=lambda point: not point.is_documented)
    priced = all(point.cost is not None for point in near)
    # Designs that the chart cannot tell apart are one mark: the described one, else the first.
    places: dict[tuple[float, ...], ParetoPoint] = {}
    for point in near:
        if point.is_documented or not any(_beats(other, point, priced) for other in near):
            places.setdefault(tuple(float(f"{value:.3g}") for value in (_effort(point, priced), point.time_s)), point)
    return list(places.values())


def _near(result: SizingResult) -> tuple[ParetoPoint, ...]:
    """Points up to a few times the size of the design; the front goes on as long as hardware is added."""
    chosen = next((point for point in result.pareto.value if point.is_documented), None)
    if chosen is None:
        return result.pareto.value
    return tuple(point for point in result.pareto.value if point.n_gpus <= _SCALING_BEYOND * chosen.n_gpus)


def _beats(pareto_point: ParetoPoint, other: ParetoPoint, priced: bool) -> bool:
    values, others = ((_effort(point, priced), point.time_s) for point in (pareto_point, other))
    return values != others and all(value <= limit for value, limit in zip(values, others, strict=True))


def _effort(point: ParetoPoint, priced: bool) -> float:
    return float(point.cost) if priced and point.cost is not None else float(point.n_gpus)


def short_name(point: ParetoPoint) -> str:
    """Servers of a point without its storage: '9 × DGX-1'."""
    return f"{point.n_servers} × {point.server_name}"


def _padded(values: list[float]) -> list[float]:
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    return [max(low - 0.12 * span, 0.0), high + 0.12 * span]


def pareto_finding(result: SizingResult, priced: bool) -> str:
    """Title of the Pareto chart."""
    points = _drawn(result)
    chosen = next((point for point in points if point.is_documented), None)
    if chosen is None:
        return f"Pareto front of {plural(len(points), 'design')}"
    name = short_name(chosen)
    if all(_effort(point, priced) >= _effort(chosen, priced) for point in points):
        if priced:
            return f"No design on the Pareto front costs less than {name}"
        return f"No design on the Pareto front needs fewer GPUs than {name}"
    faster = sum(point.time_s < chosen.time_s for point in points)
    if not faster:
        return f"No design on the Pareto front is faster than {name}"
    return by_count(
        faster,
        f"{faster} of {len(points)} designs on the Pareto front is faster than {name}",
        f"{faster} of {len(points)} designs on the Pareto front are faster than {name}",
    )
