"""Chapter on data: rates and capacity as charts, routes of the ingest, validation, decoded data and local copies."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import grouped, scaled_unit, si, significant
from sizer.catalog.schema import Storage
from sizer.drawings.shapes import text_width
from sizer.guide.context import GuideContext
from sizer.physical.capacity import CapacityStep, capacity_ladder, changing_steps
from sizer.present import words
from sizer.present.charting import COLUMN_PX, LIGHT, NAME_PX, QUIET_OPACITY, Chart, ChartBar, Palette, bar_chart
from sizer.present.figures import charted
from sizer.present.text.plan import note_text
from sizer.present.theme import CHART_LABEL_PX
from sizer.present.words import estimate, percent, rounded
from sizer.questions.data.text import (
    assumptions_table,
    copies_table,
    copy_text,
    decoded_table,
    questions,
    routes_table,
    validation_table,
)
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.storage_rates import node_rates, rate_is_unknown

# Reads that differ by less are one bar.
_EQUAL = 0.005
# A share that would print as 0 %.
_HARDLY = 0.0005


def demand_chart(
    answer: WorkloadAnswer, design: DesignAnswer, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart:
    """Read rates of a workload, warm and in its first epoch, compared with the rates of the storage of the design."""
    bars = [*_needs(answer, palette), *_rates(design, palette)]
    factor, unit = scaled_unit(max((max(bar.interval or (bar.end,)) for bar in bars), default=0.0), "B/s")
    scaled = [_scaled(bar, factor) for bar in bars]
    return bar_chart(scaled, demand_finding(answer, design), f"read rate, {unit}", palette, width)


def _scaled(bar: ChartBar, factor: float) -> ChartBar:
    interval = None if bar.interval is None else (bar.interval[0] / factor, bar.interval[1] / factor)
    return replace(bar, end=bar.end / factor, interval=interval)


def _needs(answer: WorkloadAnswer, palette: Palette) -> Iterator[ChartBar]:
    """What is read: one bar where the first epoch reads as fast as the later ones."""
    warm, cold = answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s
    if abs(float(warm.value) - float(cold.value)) <= _EQUAL * float(cold.value):
        yield _need("Read in every epoch", cold, palette)
        return
    yield _need("Read in the first epoch", cold, palette)
    yield replace(_need("Read in later epochs", warm, palette), fill=QUIET_OPACITY)


def _need(name: str, rate: Estimate, palette: Palette) -> ChartBar:
    value, low, high = rate
    text = estimate(rate, "B/s") if value > 0 else "nothing: memory holds the data"
    return ChartBar(name, value, text, palette.ink, interval=(low, high) if high > low else None)


def _rates(design: DesignAnswer, palette: Palette) -> Iterator[ChartBar]:
    """What the storage delivers, from the most certain rate to the least certain one."""
    platform, colours = design.platform, palette.stages
    count = design.delivering_nodes
    low, high, line = node_rates(platform)
    published = () if rate_is_unknown(platform.storage) else _published(platform.storage, low, high)
    for number, (name, rate) in enumerate(published):
        fill = QUIET_OPACITY if number else 1.0
        yield ChartBar(name, count * rate, _total(count, rate), colours["storage"], fill=fill)
    if np.isfinite(line):
        yield ChartBar("Line rate of its ports", count * line, _total(count, line), colours["network"], fill=0.0)
    gateway = float(design.quantities.gateway_bytes_per_s[0])
    if np.isfinite(gateway):
        yield ChartBar("Uplinks of the gateway", gateway, si(gateway, "B/s"), colours["network"], fill=0.0)


def _published(storage: Storage, low: float, high: float) -> tuple[tuple[str, float], ...]:
    lower, upper = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    if low == high:
        is_assumed = all(fact is None or fact.basis == "assumed" for fact in (lower, upper))
        return (("Rate, assumed" if is_assumed else "Published rate", low),)
    first = "Lower end, assumed" if lower is None or lower.basis == "assumed" else "Demonstrated"
    last = "Upper end, assumed" if upper is None or upper.basis == "assumed" else "Published maximum"
    return ((first, low), (last, high))


def _total(count: int, rate: float) -> str:
    total = si(count * rate, "B/s")
    return f"{total} = {grouped(count)} × {si(rate, 'B/s')}" if count > 1 else total


def demand_finding(answer: WorkloadAnswer, design: DesignAnswer) -> str:
    """Title of the chart of read rates."""
    read = max(answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s, key=lambda rate: float(rate.value))
    need, needed, storage = float(read.value), rounded(read, "B/s"), design.platform.storage
    name, count = storage.name, design.delivering_nodes
    low, high, line = (count * rate for rate in node_rates(design.platform))
    if rate_is_unknown(storage):
        if not np.isfinite(line):
            return f"The workload reads {needed}; {name} has no published read rate"
        return (
            f"The workload reads {needed}, {percent(need / line)} of the line rate; {name} has no published read rate"
        )
    lower, upper = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    if need <= (1 + _EQUAL) * low:
        share = percent(need / low) if need < (1 - _EQUAL) * low else "all"
        kind = "assumed" if lower is None or lower.basis == "assumed" else "demonstrated"
        return f"The workload reads {needed}, {share} of the rate {kind} for {name}"
    known, most = si(low, "B/s"), si(high, "B/s")
    if need > high:
        return f"The workload reads {needed}, more than the {most} of {name}"
    kind = "assumed" if upper is not None and upper.basis == "assumed" else "published"
    return f"The workload reads {needed}; {name} demonstrated {known}, its {kind} maximum is {most}"


def ladder_chart(
    steps: Sequence[CapacityStep], data_bytes: float, palette: Palette = LIGHT, width: int | str = COLUMN_PX
) -> Chart | None:
    """Raw capacity, what each step takes from it, and the usable capacity, with the data set as a dashed line.

    ``steps``: as :func:`sizer.physical.capacity.capacity_ladder` gives them. ``data_bytes``: data to store. [B] None
    where no capacity is known.
    """
    if not steps:
        return None
    factor, unit = scaled_unit(max(*(step.capacity_bytes for step in steps), data_bytes), "B")
    reference = (data_bytes / factor, f"data set {si(data_bytes, 'B')}")
    # A full bar for raw and usable capacity, and between them what each step takes.
    bars = []
    before = 0.0
    for number, step in enumerate(changing_steps(steps)):
        after = step.capacity_bytes
        taken = before - after
        name, note = step.label[:1].upper() + step.label[1:], _reason(note_text(step.how))
        if number == 0 or step.label == "usable":
            fill = 1.0 if step.label == "usable" else QUIET_OPACITY
            bar = ChartBar(name, after / factor, si(after, "B"), palette.stages["storage"], fill=fill, note=note)
        else:
            text = f"\u2212\u202f{si(taken, 'B')}" if taken > 0 else "nothing"
            start, end = after / factor, before / factor
            bar = ChartBar(name, end, text, palette.other, start=start, fill=QUIET_OPACITY, note=note)
        bars.append(bar)
        before = after
    return bar_chart(bars, ladder_finding(steps, data_bytes), f"capacity, {unit}", palette, width, reference=reference)


def _reason(text: str) -> str:
    """A reason that fits its line: the first clause of a longer one."""
    if text_width(text, CHART_LABEL_PX) <= COLUMN_PX - NAME_PX:
        return text
    return re.split("[:;.] ", text)[0]


def ladder_finding(steps: Sequence[CapacityStep], data_bytes: float) -> str:
    """Title of the chart of capacity."""
    raw, usable = steps[0].capacity_bytes, steps[-1].capacity_bytes
    if data_bytes > usable:
        need = f"the data set needs {significant(data_bytes / usable, 2)} times as much"
    elif data_bytes < _HARDLY * usable:
        need = "the data set needs hardly any of it"
    else:
        need = f"the data set needs {percent(data_bytes / usable)} of it"
    if usable >= raw:
        return f"{si(usable, 'B')} are usable; {need}"
    return f"{si(usable, 'B')} of {si(raw, 'B')} are usable; {need}"


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/data.html`` prints."""
    design, plan, platform = context.design, context.data, context.design.platform
    steps = capacity_ladder(platform.storage, platform.capacity_option, design.storage_nodes)
    sets_bytes = storage_demand(context.answers, context.result.request.data).sets_bytes
    return {
        "demand_charts": [
            charted(
                f"demand-{number}",
                demand_chart(answer, design, context.palette),
                f"Read rate required by {answer.workload.name}, compared with the rates of the storage.",
            )
            for number, answer in enumerate(context.answers, 1)
        ],
        "capacity_chart": charted(
            "ladder-chart",
            ladder_chart(steps, sets_bytes, context.palette) if len(steps) > 2 else None,
            "From raw to usable capacity; the dashed line is the training data.",
        ),
        "ingest_paths": routes_table(plan.ingest),
        "decoded": decoded_table(plan.decoded),
        "validation": validation_table(plan.validations),
        "copies": [copy_text(copy) for copy in plan.copies],
        "copies_table": copies_table(plan.copies),
        "assumptions": assumptions_table(plan),
        "questions": [words.question(text) for text in questions(plan)],
    }
