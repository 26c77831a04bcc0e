"""The same GPUs in fewer, larger servers or in more, smaller ones."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.language import tr
from sizer.base.quantities import grouped, significant
from sizer.drawings.palette import COLUMN_PX
from sizer.report.charting import Chart, Rows, axis, chart_of, finish, label_room, names_axis
from sizer.report.theme import LIGHT, Palette
from sizer.report.words import estimate, sample_unit
from sizer.sizing.result import DesignAnswer, SizingResult

# Pixels of a full-width chart that the names left of its bars leave for the plot.
_PLOT = 470.0
_ROW_PX = 34
# Storage or network this close to the rate holds it back.
_NEAR = 0.1


class _Way(NamedTuple):
    """So many GPUs in servers of one kind."""

    name: str
    per_server: int
    n_servers: int
    rate: Estimate


def up_or_out_chart(result: SizingResult, palette: Palette = LIGHT, width: int | str = COLUMN_PX) -> Chart | None:
    """The same number of the same GPUs in fewer, larger servers and in more, smaller ones.

    Parameters
    ----------
    result : SizingResult
        Its first workload is compared, between the design and another platform of the answer.
    palette : Palette
        Colours.
    width : int or str
        Pixels, or ``container``.

    Returns
    -------
    Chart or None
        None where the answer holds no honest pair: same GPU, same count, another number of GPUs in a server, one of
        the sizes that were run, and neither held back by storage or network.
    """
    pair = _pair(result)
    if pair is None:
        return None
    unit = sample_unit(result.design.workloads[0].dnn)
    rows: Rows = []
    for way in pair:
        value, low, high = (float(part) for part in way.rate)
        rows.append({"name": way.name, "value": value, "low": low, "high": high, "text": estimate(way.rate, unit)})
    longest = max(row["high"] for row in rows)
    scale = alt.Scale(domain=[0, longest * label_room([row["text"] for row in rows], _PLOT)], nice=False)
    y = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=names_axis(palette))
    base = chart_of(rows).encode(y=y)
    x = alt.X("value:Q", scale=scale, axis=axis(grid=False), title=tr("throughput, {unit}", unit=unit))
    layers: list[Any] = [
        base.mark_bar(height=alt.RelativeBandSize(0.55), color=palette.stages["gpu"]).encode(x=x),
        base.mark_rule(strokeWidth=1.2, color=palette.ink).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_text(align="left", dx=6).encode(x=alt.X("high:Q", scale=scale), text="text:N"),
    ]
    return finish(layers, up_or_out_finding(pair), palette, width, _ROW_PX * len(rows))


def _pair(result: SizingResult) -> tuple[_Way, _Way] | None:
    """Larger servers first."""
    for other in result.platforms:
        ways = [*_at_size(result.design, other.n_gpus), *_at_size(other, other.n_gpus)]
        is_same_gpu = other.platform.gpu.id == result.design.platform.gpu.id
        if is_same_gpu and len(ways) == 2 and ways[0].per_server != ways[1].per_server:
            larger, smaller = sorted(ways, key=lambda way: -way.per_server)
            return larger, smaller
    return None


def _at_size(design: DesignAnswer, n_gpus: int) -> Iterator[_Way]:
    """A design's first workload at a size that was run, where the GPUs or what feeds them inside the servers limit."""
    answer = design.workloads[0]
    scaling = answer.scaling
    found = np.flatnonzero(np.atleast_1d(scaling.n_gpus) == n_gpus)
    per = design.platform.gpus_per_server
    if found.size:
        place = int(found[0])
        rate = Estimate(*(np.atleast_1d(part)[place] for part in (scaling.throughput.value, scaling.throughput.low,
                                                                  scaling.throughput.high)))  # fmt: skip
        outer = min(float(np.atleast_1d(scaling.stage_capacity[key])[place]) for key in ("storage", "network"))
        if outer <= (1 + _NEAR) * float(rate.value):
            return
    elif design.n_gpus == n_gpus and answer.bottleneck not in ("storage", "network"):
        rate = answer.throughput
    else:
        return
    servers = n_gpus // per
    name = design.platform.server.name
    yield _Way(tr("{count} × {server}", count=grouped(servers), server=name), per, servers, rate)


def up_or_out_finding(pair: tuple[_Way, _Way]) -> str:
    """Title of the comparison: a difference only where the intervals leave one."""
    larger, smaller = pair
    gpus = larger.n_servers * larger.per_server
    ratio = float(larger.rate.value) / float(smaller.rate.value)
    ends = float(larger.rate.low) > float(smaller.rate.high) or float(larger.rate.high) < float(smaller.rate.low)
    names = {"larger": larger.name, "smaller": smaller.name}
    if not ends:
        return tr("{gpus} GPUs: {larger} and {smaller} lie within each other's intervals", gpus=gpus, **names)
    if ratio > 1:
        return tr("{gpus} GPUs: {larger} pass {times} times what {smaller} do", gpus=gpus,
                  times=significant(ratio), **names)  # fmt: skip
    return tr("{gpus} GPUs: {smaller} pass {times} times what {larger} do", gpus=gpus, times=significant(1 / ratio),
              **names)  # fmt: skip
