"""The same GPUs in fewer, larger servers or in more, smaller ones."""

from collections.abc import Sequence

from sizer.base.quantities import grouped
from sizer.drawings.palette import COLUMN_PX
from sizer.present.charting import Chart, ChartBar, bar_chart
from sizer.present.theme import LIGHT, Palette
from sizer.present.words import estimate, listed, sample_unit
from sizer.questions.scale.analysis import ArrangedDesign, ArrangementPair
from sizer.questions.scale.text import is_alike

# Arrangements that a title names.
_NAMED = 2


def rates_chart(
    ways: Sequence[ArrangedDesign],
    number: int = 0,
    palette: Palette = LIGHT,
    width: int | str = COLUMN_PX,
    first: ArrangedDesign | None = None,
) -> Chart | None:
    """Rate of every arrangement with its 90 % interval, in the colour of its bottleneck.

    ``ways``: bars in this order. ``first``: what the finding compares the others with; default the first bar. None of
    a single arrangement.
    """
    if len(ways) < 2:
        return None
    unit = sample_unit(ways[0].runs[number].answer.dnn)
    bars = []
    for way in ways:
        answer = way.runs[number].answer
        value, low, high = (float(part) for part in answer.throughput)
        text, colour = estimate(answer.throughput, unit), palette.stages[answer.bottleneck]
        bars.append(ChartBar(way.arrangement.name, value, text, colour, interval=(low, high)))
    return bar_chart(bars, rates_finding(ways, number, first), f"throughput, {unit}", palette, width)


def rates_finding(ways: Sequence[ArrangedDesign], number: int = 0, first: ArrangedDesign | None = None) -> str:
    """Title of the chart of rates: a difference only where it is one, and the interval of the ratio leaves it."""
    first = first or ways[0]
    faster, slower = [], []
    for way in ways:
        ratio = ArrangementPair(first, way).rate_ratios[number]
        if is_alike(ratio):
            continue
        if float(ratio.low) > 1:
            faster.append(way.arrangement.name)
        elif float(ratio.high) < 1:
            slower.append(way.arrangement.name)
    gpus, name = f"{grouped(first.n_gpus)} GPUs", first.arrangement.name
    if not faster and not slower:
        return f"{gpus}: no arrangement is certainly faster or slower than {name}"
    if not slower:
        return f"{gpus}: only {_named(faster)} {_is(faster)} certainly faster than {name}"
    if not faster:
        return f"{gpus}: only {_named(slower)} {_is(slower)} certainly slower than {name}"
    return f"{gpus}: {_named(faster)} {_is(faster)} certainly faster than {name}; {_named(slower)} slower"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _named(names: Sequence[str]) -> str:
    """Names of a few arrangements; more are counted, to fit a title."""
    if len(names) <= _NAMED:
        return listed(names)
    return f"{grouped(len(names))} arrangements"
