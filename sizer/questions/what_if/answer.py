"""A design with changed inputs as the app shows it: figures with their differences, and break-even points."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, significant
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
from sizer.questions.what_if.input_grid import FixedDesignRates
from sizer.questions.what_if.varied_input import STORAGE_NODES, VariedInput
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.result import STAGES

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Span(Generic[T]):
    """Values of an input, from the first to the last one, at which something is the same."""

    value: T
    first: int
    last: int


def spans(series: Sequence[T]) -> tuple[Span[T], ...]:
    """Runs of equal values, in order."""
    found: list[Span[T]] = []
    for place, value in enumerate(series):
        if found and found[-1].value == value:
            found[-1] = Span(value, found[-1].first, place)
        else:
            found.append(Span(value, place, place))
    return tuple(found)


@dataclass(frozen=True)
class BreakEven:
    """A quantity that may change along an input, and the sentence that says where it does."""

    what: str
    text: str
    changes: bool  # within the range


def fixed_design_break_evens(
    model: WorkloadOnDesign,
    x: VariedInput,
    line: FixedDesignRates,
    others: Mapping[str, float],
) -> tuple[BreakEven, ...]:
    """Break-even points of a fixed design along an input.

    ``line``: from :func:`~sizer.questions.what_if.input_grid.fixed_design_along`. ``others``: values of the other
    inputs.
    """
    nodes = int(others.get(STORAGE_NODES, model.storage_nodes))
    found = [_limits(x, line.limiting), _target(x, line.meets_target.tolist())]
    if x.key != STORAGE_NODES and not np.isnan(line.storage_nodes).any():
        found.append(_nodes_in_place(x, line.storage_nodes.tolist(), nodes))
    if not line.holds_data.all():
        found.append(_capacity(x, line.holds_data.tolist()))
    return tuple(found)


def where(x: VariedInput, first: int, last: int) -> str:
    """Part of the range, in words: 'up to 226 kB', 'from 269 kB on'."""
    end = len(x.values) - 1
    if first == 0 and last == end:
        return f"in the whole range ({x.span})"
    if first == last:
        return f"at {x.texts[first]}"
    if first == 0:
        return f"up to {x.texts[last]}"
    if last == end:
        return f"from {x.texts[first]} on"
    return f"from {x.texts[first]} to {x.texts[last]}"


def _sentence(x: VariedInput, parts: Sequence[Span[T]], say: Callable[[T], str]) -> str:
    texts = [f"{say(part.value)} {where(x, part.first, part.last)}" for part in parts]
    sentence = "; ".join(texts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _limits(x: VariedInput, stages: Sequence[str]) -> BreakEven:
    parts = spans(stages)
    text = _sentence(x, parts, lambda key: f"{stage(key, inside=True)} is the bottleneck")
    if "storage" not in stages:
        whole = "there" if len(parts) == 1 else f"within the range ({x.span})"
        text = f"{text} Storage does not become the bottleneck {whole}."
    return BreakEven("Bottleneck", text, len(parts) > 1)


def _target(x: VariedInput, is_met: Sequence[bool]) -> BreakEven:
    parts = spans(is_met)
    if len(parts) == 1:
        text = f"The target is {'met' if is_met[0] else 'missed'} {where(x, 0, len(is_met) - 1)}."
    else:
        text = _sentence(x, parts, lambda met: f"the target is {'met' if met else 'missed'}")
    return BreakEven("Target", text, len(parts) > 1)


def _capacity(x: VariedInput, fits: Sequence[bool]) -> BreakEven:
    text = _sentence(x, spans(fits), lambda one: "the storage holds the data" if one else "the data do not fit")
    return BreakEven("Capacity", text, len(set(fits)) > 1)


def _nodes_in_place(x: VariedInput, needed: Sequence[float], nodes: int) -> BreakEven:
    """Where the target needs more storage nodes than the design has, and how many the first step beyond needs."""
    is_enough = [count <= nodes for count in needed]
    parts = spans(is_enough)
    have = f"{nodes} {'node is' if nodes == 1 else 'nodes are'}"
    if len(parts) == 1 and is_enough[0]:
        return BreakEven("Storage nodes", f"The {have} enough {where(x, 0, len(needed) - 1)}.", False)

    texts = []
    for part in parts:
        place = where(x, part.first, part.last)
        if part.value:
            texts.append(f"the {have} enough {place}")
            continue
        # The count nearest to where the nodes in place are enough.
        least = min(needed[part.first : part.last + 1])
        texts.append(
            f"{grouped(least)} or more are needed {place}"
            if np.isfinite(least)
            else f"no number of nodes is enough {place}"
        )
    sentence = "; ".join(texts)
    return BreakEven("Storage nodes", f"{sentence[:1].upper()}{sentence[1:]}.", len(parts) > 1)


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
