"""A design with changed inputs as the app shows it: figures with their differences, and break-even points."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.words import (
    NOT_KNOWN,
    chance,
    estimate,
    inside_sentence,
    is_even,
    listed,
    sample_unit,
    stage,
)
from sizer.questions.what_if.break_even import BreakEven
from sizer.questions.what_if.input_grid import FixedDesignRates
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
