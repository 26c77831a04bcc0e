"""Charts of one workload that reads data, for app, guide and engineer's file."""

from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.quantities import duration, grouped, significant
from sizer.drawings.palette import Palette
from sizer.present.charting import HEIGHT_PX, BandChart, band_chart, band_rows, time_unit
from sizer.present.charts import scaling_data
from sizer.present.figures import PageFigure, charted
from sizer.present.words import percent, rounded
from sizer.sizing.result import WorkloadAnswer

# Times that differ by less are the same.
_SAME = 0.01
# Sizes below this share of the design would stretch the axis until nothing else could be read.
_SMALLEST_SHARE = 0.25


def accuracy_caption(answer: WorkloadAnswer) -> str:
    """What bounds the gain of more GPUs."""
    if not answer.kind.rereads:
        return "More GPUs take more sequences a step unless the request fixes the batch. The band is the 90 % interval."
    if _times_slower(answer, design_gpus(answer)):
        return "On several servers the exchange takes longer than the arithmetic. The band is the 90 % interval."
    return "More GPUs shorten an epoch, but a larger global batch may need more epochs. The band is the 90 % interval."


def accuracy_data(answer: WorkloadAnswer, n_gpus: int | None = None) -> BandChart | None:
    """Time to train against the number of GPUs, with its 90 % band.

    Every size counts its first epoch cold.

    ``answer``: its scaling tells the rate at every size. Epochs grow with the global batch where a recipe tells them.
    ``n_gpus``: GPUs of the design; default: the size of ``answer.scaling`` that has its rate. [-] None where the
    workload has no length, or only one size was run.
    """
    if answer.scaling.time_s is None or answer.time is None or answer.scaling.n_gpus.size < 2:
        return None
    at = n_gpus if n_gpus is not None else design_gpus(answer)
    curve = _curve(answer)
    keep = curve.gpus >= _SMALLEST_SHARE * at
    total, longest = answer.time.total_s, float(curve.high[keep].max())
    factor, unit = time_unit(longest)
    target = answer.workload.target.time_to_train_s
    return BandChart(
        id="accuracy",
        finding=accuracy_finding(answer, at),
        how=_how(answer),
        caption=accuracy_caption(answer),
        x_title="GPUs",
        y_title=f"time to train, {unit}",
        rows=band_rows("x", curve.gpus[keep], *(end[keep] / factor for end in curve[1:])),
        design=(float(at), float(total.value) / factor),
        label=f"this design: {rounded(total, 's')}",
        x_domain=(0.0, 1.03 * float(curve.gpus.max())),
        top=longest / factor * 1.06,
        level=None if target is None or target > 1.06 * longest else (target / factor, f"target {duration(target)}"),
        counts_x=True,
    )


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


def workload_data(name: str, answer: WorkloadAnswer, n_gpus: int) -> BandChart | None:
    """A chart of a workload; None where its kind of work, or this design, has nothing to draw."""
    return accuracy_data(answer, n_gpus) if name == "accuracy" else scaling_data(answer, n_gpus)


def figure_of(data: BandChart | None, number: int, palette: Palette, height: int = HEIGHT_PX) -> PageFigure | None:
    """A chart as a figure of a document; ``number``: of the workload, from 1."""
    if data is None:
        return None
    return charted(f"{data.id}-chart-{number}", band_chart(data, palette, height=height), data.caption)
