"""Chart of a copy to local drives compared with shared storage, over the epochs of a training."""

import math
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from sizer.base.quantities import by_count, grouped
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import Chart, Rows, axis, chart_of, finish, time_unit
from sizer.present.theme import LIGHT, Palette

if TYPE_CHECKING:
    from sizer.questions.data.local_copy import LocalCopy

_HEIGHT_PX = 230
# Fewest epochs on the axis, points of a line, and length of the axis in break-even epochs.
_LEAST_EPOCHS, _POINTS, _BEYOND = 10, 60, 1.5
# Lines closer than this over all epochs are not worth a chart.
_ALIKE = 0.02


def copy_chart(copy: "LocalCopy", palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """Time of a training by number of epochs, with and without a copy, and the break-even.

    None if the copy does not fit, or both take nearly the same time.
    """
    epochs = _epochs(copy)
    shared, local = copy.shared_total_s(epochs), copy.local_total_s(epochs)
    if copy.fits is False or np.abs(local - shared).max() < _ALIKE * shared.max():
        return None
    factor, unit = time_unit(float(max(shared.max(), local.max())))
    colours = {"shared storage": palette.stages["storage"], "copy to local drives": palette.ink}
    rows: Rows = [
        {"epochs": float(n), "time": float(time) / factor, "way": way, "colour": colour}
        for (way, colour), times in zip(colours.items(), (shared, local), strict=True)
        for n, time in zip(epochs, times, strict=True)
    ]
    # Room for the names to the right of the lines.
    x_scale = alt.Scale(domain=[0, float(epochs[-1]) * 1.28], nice=False)
    y_scale = alt.Scale(domain=[0, max(row["time"] for row in rows) * 1.08], nice=False)
    x = alt.X("epochs:Q", scale=x_scale, axis=axis(grid=False, values=_ticks(float(epochs[-1]))), title="epochs")
    y = alt.Y("time:Q", scale=y_scale, axis=axis(), title=f"time to train, {unit}")
    colour = alt.Color("colour:N", scale=None)
    layers: list[Any] = [
        chart_of(rows).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, detail=alt.Detail("way:N")),
        chart_of(_names(rows, y_scale.domain[1]))
        .mark_text(align="left", dx=6)
        .encode(x=x, y=y, text=alt.Text("way:N"), color=colour),
    ]
    if math.isfinite(copy.break_even_epoch):
        layers += _break_even(copy, factor, x, y, palette)
    return finish(layers, copy_finding(copy), palette, width, _HEIGHT_PX)


def copy_finding(copy: "LocalCopy") -> str:
    """Title of the chart."""
    if math.isinf(copy.break_even_epoch):
        return "Copying to local drives first is never faster"
    count = by_count(copy.break_even_epoch, "1 epoch", f"{grouped(copy.break_even_epoch)} epochs")
    if copy.drives_are_bound:
        return f"Copying to local drives first pays off after {count} at the earliest"
    return f"Copying to local drives first pays off after {count}"


def _epochs(copy: "LocalCopy") -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    beyond = _BEYOND * copy.break_even_epoch if math.isfinite(copy.break_even_epoch) else 0.0
    most = max(_LEAST_EPOCHS, beyond, copy.epochs or 0.0)
    return np.linspace(1.0, math.ceil(most), _POINTS)


def _ticks(most: float) -> list[float]:
    step = next(s * 10**p for p in range(9) for s in (1, 2, 5) if most / (s * 10**p) <= 8)
    return [float(n) for n in range(0, int(most) + 1, step)]


def _names(rows: Rows, top: float) -> Rows:
    """Names at the right ends of the lines, moved apart if they are close."""
    ends = sorted(
        (
            max((row for row in rows if row["way"] == way), key=lambda row: row["epochs"])
            for way in {row["way"] for row in rows}
        ),
        key=lambda row: row["time"],
    )
    apart = 16 / _HEIGHT_PX * top
    low, high = ends
    gap = high["time"] - low["time"]
    shift = max(0.0, (apart - gap) / 2)
    return [{**low, "time": low["time"] - shift}, {**high, "time": high["time"] + shift}]


def _break_even(copy: "LocalCopy", factor: float, x: alt.X, y: alt.Y, palette: Palette) -> list[Any]:
    at = copy.break_even_epoch
    point = {
        "epochs": at,
        "time": float(copy.local_total_s(np.array(at))) / factor,
        "text": f"break-even, {grouped(at)} epochs",
    }
    mark = chart_of([point])
    return [
        mark.mark_rule(strokeDash=[4, 3], strokeWidth=1, color=palette.ink).encode(x=x),
        mark.mark_point(filled=True, size=45, color=palette.ink, opacity=1).encode(x=x, y=y),
        mark.mark_text(align="left", baseline="top", dx=5, color=palette.ink).encode(
            x=x, y=alt.value(0), text=alt.Text("text:N")
        ),
    ]
