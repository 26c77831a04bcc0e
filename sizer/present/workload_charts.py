"""Charts of one workload that reads data, for app, guide and engineer's file."""

from typing import Any, NamedTuple

import altair as alt
import numpy as np

from sizer.base.arrays import Floats
from sizer.base.quantities import duration, grouped, significant
from sizer.drawings.palette import COLUMN_PX, LIGHT, Palette
from sizer.drawings.shapes import text_width
from sizer.present import charts
from sizer.present.charting import (
    HEIGHT_PX,
    PLOT_PX,
    Chart,
    axis,
    band_layers,
    band_rows,
    finish,
    level_mark,
    point_layers,
    time_unit,
)
from sizer.present.figures import PageFigure, charted
from sizer.present.theme import CHART_LABEL_PX
from sizer.present.words import percent, rounded
from sizer.sizing.result import WorkloadAnswer

# Times that differ by less are the same.
_SAME = 0.01
# Two marks of one size stand apart from this difference on.
_APART = 0.1
# Sizes below this share of the design would stretch the axis until nothing else could be read.
_SMALLEST_SHARE = 0.25


def accuracy_caption(answer: WorkloadAnswer) -> str:
    """What bounds the gain of more GPUs."""
    if not answer.kind.rereads:
        return "More GPUs take more sequences a step unless the request fixes the batch. The band is the 90 % interval."
    if _times_slower(answer, design_gpus(answer)):
        return "On several servers the exchange takes longer than the arithmetic. The band is the 90 % interval."
    return "More GPUs shorten an epoch, but a larger global batch may need more epochs. The band is the 90 % interval."


def accuracy_chart(
    answer: WorkloadAnswer,
    n_gpus: int | None = None,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
    height: int = HEIGHT_PX,
) -> Chart | None:
    """Time to train against the number of GPUs, with its 90 % band.

    Every size counts its first epoch cold. A second mark shows the design with every epoch as slow as the first one,
    where that differs.

    ``answer``: its scaling tells the rate at every size. Epochs grow with the global batch where a recipe tells them.
    ``n_gpus``: GPUs of the design; default: the size of ``answer.scaling`` that has its rate. [-] None where the
    workload has no length, or only one size was run.
    """
    if answer.scaling.time_s is None or answer.time is None or answer.scaling.n_gpus.size < 2:
        return None
    at = n_gpus if n_gpus is not None else design_gpus(answer)
    curve = _curve(answer)
    keep = curve.gpus >= _SMALLEST_SHARE * at
    total, cold = answer.time.total_s, _all_cold_s(answer)
    longest = max(float(curve.high[keep].max()), cold or 0.0)
    factor, unit = time_unit(longest)
    rows = band_rows("gpus", curve.gpus[keep], *(end[keep] / factor for end in curve[1:]))
    most = float(curve.gpus.max())
    x = alt.X("gpus:Q", title="GPUs", scale=alt.Scale(domain=[0, most * 1.03], nice=False), axis=axis(tickMinStep=1))
    scale = alt.Scale(domain=[0, longest / factor * 1.06], nice=True)
    title = f"time to train, {unit}"
    y = alt.Y("value:Q", scale=scale)
    layers = band_layers(rows, x, title, scale, palette)
    target = answer.workload.target.time_to_train_s
    if target is not None and target <= 1.06 * longest:
        layers += level_mark(target / factor, f"target {duration(target)}", scale, palette)
    marks = [(float(total.value), f"this design: {rounded(total, 's')}", True)]
    if cold is not None:
        marks.append((cold, f"{duration(cold)} if every epoch were cold", False))
    for value, text, is_design in marks:
        layers += _mark(at, value / factor, text, is_design, most, palette, x, y)
    return finish(layers, accuracy_finding(answer, at), palette, width, height, _how(answer))


class _Curve(NamedTuple):
    """Time to train by size. [s]"""

    gpus: Floats
    value: Floats
    low: Floats
    high: Floats


def design_gpus(answer: WorkloadAnswer) -> int:
    """GPUs of the design: the size of the scaling with its rate, next to the middle of the sizes where several have."""
    gpus, rates = np.atleast_1d(answer.scaling.n_gpus), np.atleast_1d(answer.scaling.throughput.value)
    off = np.round(np.abs(rates / float(answer.throughput.value) - 1), 6)
    away = np.abs(gpus - gpus.max() / 2)
    return int(gpus[np.lexsort((away, off))[0]])


def _curve(answer: WorkloadAnswer) -> _Curve:
    """Time to train at every size."""
    time_s = answer.scaling.time_s
    assert time_s is not None  # asked of answers with a length
    gpus = np.atleast_1d(answer.scaling.n_gpus).astype(float)
    return _Curve(gpus, *(np.atleast_1d(end) for end in (time_s.value, time_s.low, time_s.high)))


def _all_cold_s(answer: WorkloadAnswer) -> float | None:
    """Length with every epoch as slow as the first; None where that is hardly different."""
    assert answer.time is not None
    time = answer.time
    slower = max(float(time.epochs.value) - 1, 0.0) * (float(time.first_epoch_s.value) - float(time.epoch_s.value))
    total = float(time.total_s.value)
    return total + slower if slower > _APART * total else None


def _mark(
    gpus: int, value: float, text: str, is_design: bool, most: float, palette: Palette, x: alt.X, y: alt.Y
) -> list[Any]:
    """Point of the design with its text below the falling line, or a hollow one with its text above."""
    colour = palette.accent if is_design else palette.stages["storage"]
    below = is_design and text_width(text, CHART_LABEL_PX, semibold=True) + 20 < PLOT_PX * gpus / most
    on_right = not below and gpus < 0.65 * most
    side: dict[str, Any] = {
        "align": "left" if on_right else "right",
        "dx": 8 if on_right else -8,
        "dy": 14 if below else -11,
    }
    return point_layers((gpus, value), text, (x, y), palette, colour, is_main=is_design, **side)


def _how(answer: WorkloadAnswer) -> str:
    """How to read the chart."""
    if not answer.kind.rereads:
        return "Line and band: with checkpoints and interruptions, with the 90 % interval; dot: this design"
    if answer.recipe is None or answer.workload.epochs is not None:
        return "Line and band: with a cold first epoch, with the 90 % interval; dot: this design"
    return (
        "Line and band: as many epochs as the recipe needs at each batch, the first one cold, with the 90 % "
        "interval; dot: this design"
    )


def _times_slower(answer: WorkloadAnswer, at: int) -> bool:
    """Whether a training takes longer on twice the GPUs."""
    if answer.scaling.time_s is None or answer.time is None or answer.scaling.n_gpus.size < 2:
        return False
    curve = _curve(answer)
    here, double = (float(np.interp(size, curve.gpus, curve.value)) for size in (at, 2 * at))
    return bool(curve.gpus.max() >= 2 * at and double > (1 + _SAME) * here)


def accuracy_finding(answer: WorkloadAnswer, at: int) -> str:
    """Title of the chart of time to train: what twice the GPUs would save."""
    assert answer.time is not None
    total = rounded(answer.time.total_s, "s")
    curve = _curve(answer)
    here, double = (float(np.interp(size, curve.gpus, curve.value)) for size in (at, 2 * at))
    gpus = grouped(at)
    if curve.gpus.max() < 2 * at:
        return f"{gpus} GPUs train in {total}"
    saved = 1 - double / here
    if saved < -_SAME:
        return f"{gpus} GPUs train in {total}; twice as many take {significant(double / here, 2)} times as long"
    if saved <= _SAME:
        return f"{gpus} GPUs train in {total}; twice as many are no faster"
    return f"{gpus} GPUs train in {total}; twice as many save {percent(saved)} of the time"


def workload_chart(
    name: str,
    answer: WorkloadAnswer,
    n_gpus: int,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
    height: int = HEIGHT_PX,
) -> Chart | None:
    """A chart of a workload; None where its kind of work, or this design, has nothing to draw."""
    if name == "accuracy":
        return accuracy_chart(answer, n_gpus, palette, width, height)
    has_sizes = answer.scaling.n_gpus.size > 1 and answer.serving is None  # replicas add
    return charts.scaling_chart(answer, n_gpus, palette, width, height) if has_sizes else None


def workload_figure(
    name: str, answer: WorkloadAnswer, number: int, n_gpus: int, palette: Palette, height: int = HEIGHT_PX
) -> PageFigure | None:
    """The chart as a figure of a document; ``number``: of the workload, from 1."""
    chart = workload_chart(name, answer, n_gpus, palette, height=height)
    if chart is None:
        return None
    caption = "Projected throughput by number of GPUs, with storage and platform fixed."
    return charted(f"{name}-chart-{number}", chart, accuracy_caption(answer) if name == "accuracy" else caption)
