"""A design with changed inputs as the app shows it: figures with their differences, maps and break-even points."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.present.charting import Chart
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.theme import Palette
from sizer.present.words import (
    NOT_KNOWN,
    capital,
    chance,
    estimate,
    inside_sentence,
    is_even,
    listed,
    percent,
    plural,
    sample_unit,
    stage,
)
from sizer.questions.what_if.break_even import BreakEven
from sizer.questions.what_if.input_grid import FixedDesignRates
from sizer.questions.what_if.map_charts import MapCell, map_chart
from sizer.questions.what_if.resize import ResizedDesign
from sizer.questions.what_if.varied_input import VariedInput
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.result import STAGES

MINUS = "\u2212"
# Smaller relative changes are below the resolution of the models.
_SAME = 0.001


class ComparedFigure(NamedTuple):
    """One figure of an answer, and how it differs from the design as it is."""

    label: str
    value: str
    under: str  # "+12 % compared with 52 200"


def fixed_design_figures(
    model: WorkloadOnDesign, now: FixedDesignRates, base: FixedDesignRates
) -> tuple[ComparedFigure, ...]:
    """Figures of a fixed design at one point, compared with those of the unchanged design.

    ``now``, ``base``: one point each.
    """
    unit = sample_unit(model.work.dnn)
    found = [_rate_figure(model, now.rate, base.rate, unit)]
    if now.time_s is not None and base.time_s is not None:
        here, there = float(now.time_s[0]), float(base.time_s[0])
        found.append(ComparedFigure("Time to train", duration(here), _ratio(here, there, duration(there))))
    is_same_stage = now.limiting == base.limiting
    found += [
        ComparedFigure(
            "Bottleneck",
            STAGES[now.limiting[0]],
            "unchanged" if is_same_stage else f"instead of {stage(base.limiting[0], inside=True)}",
        ),
        ComparedFigure("Target", _verdict(now, is_open=model.is_open), _verdict_change(now, base)),
    ]
    needed, needs = float(now.storage_nodes[0]), float(base.storage_nodes[0])
    if not np.isnan(needed):
        value = grouped(needed) if np.isfinite(needed) else "no number is enough"
        under = _difference(needed, needs) if np.isfinite(needed) and np.isfinite(needs) else ""
        found.append(ComparedFigure("Storage nodes needed for the target", value, under))
    return tuple(found)


def resized_figures(now: ResizedDesign, base: ResizedDesign) -> tuple[ComparedFigure, ...]:
    """Counts of a resized request, compared with those of the unchanged request."""
    counts = (
        ("GPUs", now.n_gpus, base.n_gpus),
        ("GPU servers", now.n_servers, base.n_servers),
        ("Storage nodes", now.storage_nodes, base.storage_nodes),
        ("Compute switches", now.fabric_switches, base.fabric_switches),
        ("Switches in total", now.switches, base.switches),
        ("Racks", now.racks, base.racks),
    )
    found = [
        ComparedFigure(label, grouped(here), _difference(here, there)) for label, here, there in counts if here or there
    ]
    found.append(ComparedFigure("Rack units", f"{now.rack_units:g}", _difference(now.rack_units, base.rack_units)))
    power = si(now.power_w, "W")
    label = "Power, at least" if now.has_unknown_power else "Power, at most"
    found.append(ComparedFigure(label, power, _ratio(now.power_w, base.power_w, si(base.power_w, "W"))))
    return tuple(found)


def _rate_figure(model: WorkloadOnDesign, now: Estimate, base: Estimate, unit: str) -> ComparedFigure:
    label = "Inference rate" if model.work.is_inference else "Training rate"
    here, there = float(now.value[0]), float(base.value[0])
    return ComparedFigure(label, estimate(now[0], unit), _ratio(here, there, significant(there)))


def _verdict(one: FixedDesignRates, *, is_open: bool) -> str:
    if not one.holds_data[0]:
        return "missed: the data do not fit"
    if is_open and one.meets_target[0]:
        return NOT_KNOWN
    probability = chance(float(one.probability[0]))
    if is_even(float(one.probability[0])):
        return f"even odds, probability {probability}"
    return f"{'met' if one.meets_target[0] else 'missed'}, probability {probability}"


def _verdict_change(now: FixedDesignRates, base: FixedDesignRates) -> str:
    if bool(now.meets_target[0]) == bool(base.meets_target[0]):
        return "unchanged"
    return "met before the change" if base.meets_target[0] else "missed before the change"


def _difference(here: float, there: float) -> str:
    """Difference of two counts with its sign: '+2 compared with 9'."""
    if here == there:
        return "unchanged"
    sign = "+" if here > there else MINUS
    return f"{sign}{plain(abs(here - there))} compared with {plain(there)}"


def _ratio(here: float, there: float, was: str) -> str:
    """Difference of two quantities in percent with its sign: '+12 % compared with 52 200'."""
    if abs(here / there - 1) < _SAME:
        return "unchanged"
    sign = "+" if here > there else MINUS
    return f"{sign}{significant(100 * abs(here / there - 1), 2)}{NARROW_SPACE}% compared with {was}"


def break_even_table(x: VariedInput, others: Sequence[str], found: Sequence[BreakEven], number: int) -> Table:
    """Break-even points along an input; what does not change in the range is listed last, muted.

    ``others``: other changed inputs, in words: "image size at 226 kB". ``number``: of the table on its page.
    """
    ordered = sorted(found, key=lambda one: not one.changes)
    rows = [row(one.what, one.text if one.changes else Cell(one.text, is_muted=True)) for one in ordered]
    at = f", with {listed(others)}" if others else ""
    heads = columns((f"Along {inside_sentence(x.name)}{at}", "left", 24), ("Where it changes", "left", 76))
    return Table(f"break-even-{number}", f"Break-even points along {inside_sentence(x.name)}", heads, tuple(rows))


# --- maps


def fixed_design_map(
    model: WorkloadOnDesign, x: VariedInput, y: VariedInput, found: FixedDesignRates, palette: Palette
) -> Chart:
    """Map of a fixed design: rate or time, bottleneck, and where the target is met.

    ``found`` holds every value of ``x`` for the first value of ``y``, then for the second, and so on.
    """
    width = len(x.values)
    unit = sample_unit(model.work.dnn)
    is_time = model.is_timed and found.time_s is not None
    values = found.time_s if model.is_timed and found.time_s is not None else np.asarray(found.rate.value)
    cells = [
        MapCell(
            value=float(values[place]),
            text=duration(float(values[place])) if is_time else significant(float(values[place]), 2),
            colour=found.limiting[place],
            region=(stage(found.limiting[place]), _met(found, place)),
            tip=f"{duration(float(values[place])) if is_time else si(float(values[place]), unit)}; "
            f"{stage(found.limiting[place], inside=True)} is the bottleneck, {_met(found, place)}",
        )
        for place in range(len(values))
    ]
    rows = [cells[start : start + width] for start in range(0, len(cells), width)]
    quantity = "time to train" if is_time else unit
    how = (
        f"Numbers: {quantity}; darker means more. Colour: bottleneck. Solid border: the bottleneck changes; dashed "
        "border: the target is just met."
    )
    title = fixed_design_finding(found.limiting, found.meets_target.tolist())
    return map_chart(x, y, range(width), range(len(y.values)), rows, title, how, palette)


def _met(found: FixedDesignRates, place: int) -> Literal["target met", "target missed", "data do not fit"]:
    if not found.holds_data[place]:
        return "data do not fit"
    return "target met" if found.meets_target[place] else "target missed"


def resized_map(
    x: VariedInput,
    y: VariedInput,
    across: Sequence[int],
    up: Sequence[int],
    found: Sequence[Sequence[ResizedDesign]],
    nodes: int,
    palette: Palette,
) -> Chart:
    """Map of a resized request: GPU servers, where storage needs more nodes, and where there is no design.

    ``across``, ``up``: places of ``x`` and ``y`` that were sized. ``found``: one a place of ``y``, then of ``x``.
    ``nodes``: storage nodes of the unchanged design, with which the regions are compared.
    """
    cells = [[_resized_cell(one, nodes) for one in line] for line in found]
    flat = [one for line in found for one in line]
    how = (
        "Numbers: GPU servers; darker means more. Solid border: more or fewer storage nodes, or no design; dashed "
        "border: a second compute switch."
    )
    title = resized_finding([one.n_servers if one.is_feasible else None for one in flat])
    return map_chart(x, y, across, up, cells, title, how, palette)


def _resized_cell(one: ResizedDesign, design_nodes: int) -> MapCell:
    if not one.is_feasible:
        return MapCell(None, "", "other", ("no design", ""), "no design on this platform meets the request")
    nodes = plural(one.storage_nodes, "storage node") if one.storage_nodes else ""
    switch = "one compute switch" if one.fabric_switches <= 1 else "several compute switches"
    tip = ", ".join(
        text
        for text in (
            plural(one.n_servers, "GPU server"),
            nodes,
            plural(one.fabric_switches, "switch") + " of the compute fabric",
            plural(one.racks, "rack"),
            si(one.power_w, "W"),
        )
        if text
    )
    region = nodes
    if one.storage_nodes != design_nodes:
        region = f"{'more' if one.storage_nodes > design_nodes else 'fewer'} storage nodes"
    return MapCell(float(one.n_servers), grouped(one.n_servers), "accent", (region, switch), tip)


def fixed_design_finding(limiting: Sequence[str], is_met: Sequence[bool]) -> str:
    """Title of the map of a fixed design: how much of the range meets the target, and the bottlenecks."""
    keys = sorted(set(limiting), key=lambda key: -list(limiting).count(key))
    stages = listed([stage(key, inside=True) for key in keys])
    limits = f"{stages} {'is the bottleneck' if len(keys) == 1 else 'are the bottlenecks'}"
    met = sum(is_met) / len(is_met)
    if met in (0.0, 1.0):
        return f"The target is {'met' if met else 'missed'} everywhere in the range; {limits}"
    return f"The target is met in {percent(met)} of the range; {limits}"


def resized_finding(servers: Sequence[int | None]) -> str:
    """Title of the map of a resized request: from how many to how many servers, and where there is no design."""
    known = [count for count in servers if count is not None]
    if not known:
        return "No design on this platform meets the request anywhere in the range"
    low, high = min(known), max(known)
    needs = plural(low, "GPU server") if low == high else f"{low} to {plural(high, 'GPU server')}"
    if len(known) == len(servers):
        return f"The request needs {needs} in the range"
    share = percent(1 - len(known) / len(servers))
    return capital(f"{needs}, and no design on this platform in {share} of the range")
