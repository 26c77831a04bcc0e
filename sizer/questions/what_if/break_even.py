"""Where the answer changes along one input, in sentences; every value in the range is evaluated."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from sizer.base.quantities import NARROW_SPACE, grouped, plain, si
from sizer.present.words import stage
from sizer.questions.what_if.input_grid import FixedDesignRates, HardwareCounts
from sizer.questions.what_if.resize import ResizedDesign
from sizer.questions.what_if.varied_input import STORAGE_NODES, VariedInput
from sizer.sizing.design.evaluated_design import WorkloadOnDesign

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
    parts: HardwareCounts | None,
    others: Mapping[str, float],
    at: int,
) -> tuple[BreakEven, ...]:
    """Break-even points of a fixed design along an input.

    ``line``: from :func:`~sizer.questions.what_if.input_grid.fixed_design_along`. ``parts``: from
    :func:`~sizer.questions.what_if.input_grid.hardware_along`. ``others``: values of the other inputs. ``at``: place
    of the present value of the input.
    """
    nodes = int(others.get(STORAGE_NODES, model.storage_nodes))
    found = [_limits(x, line.limiting), _target(x, line.meets_target.tolist())]
    if x.key != STORAGE_NODES and not np.isnan(line.storage_nodes).any():
        found.append(_nodes_in_place(x, line.storage_nodes.tolist(), nodes))
    if not line.holds_data.all():
        found.append(_capacity(x, line.holds_data.tolist()))
    if parts is not None:
        found += _hardware(model, x, parts, at)
    return tuple(found)


def resized_break_evens(x: VariedInput, line: Sequence[ResizedDesign], at: int) -> tuple[BreakEven, ...]:
    """Break-even points of a request that is resized along an input; ``at`` is the place of its present value."""
    is_met = [one.is_feasible for one in line]
    text = _sentence(
        x, spans(is_met), lambda met: "a design on this platform meets the request" if met else "none meets it"
    )
    found = [BreakEven("Target", text, len(set(is_met)) > 1)]
    if is_met[at]:
        found += [
            _count(x, "GPU servers", [one.n_servers if one.is_feasible else None for one in line], at),
            _second_switch(x, [one.fabric_switches if one.is_feasible else None for one in line]),
            _count(x, "Racks", [one.racks if one.is_feasible else None for one in line], at),
        ]
        if any(one.storage_nodes for one in line):
            nodes = [one.storage_nodes if one.is_feasible else None for one in line]
            found.insert(2, _count(x, "Storage nodes", nodes, at))
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


def _hardware(model: WorkloadOnDesign, x: VariedInput, parts: HardwareCounts, at: int) -> list[BreakEven]:
    found = [
        _second_switch(x, parts.fabric_switches.tolist()),
        _count(x, "Racks", parts.racks.tolist(), at),
    ]
    limits = model.request.limits
    for what, limit, values, text in (
        ("Limit of racks", limits.racks, parts.racks, f"{limits.racks} racks"),
        ("Limit of rack units", limits.rack_units, parts.rack_units, f"{limits.rack_units}{NARROW_SPACE}U"),
        ("Limit of power", limits.power_w, parts.power_w, si(limits.power_w or 0.0, "W")),
    ):
        if limit is not None:
            found.append(_crossing(x, what, (values <= limit).tolist(), text))
    return found


def _crossing(x: VariedInput, what: str, is_met: Sequence[bool], limit: str) -> BreakEven:
    text = _sentence(x, spans(is_met), lambda met: f"the limit of {limit} is {'met' if met else 'exceeded'}")
    return BreakEven(what, text, len(set(is_met)) > 1)


def _second_switch(x: VariedInput, counts: Sequence[int | None]) -> BreakEven:
    """Where one switch of the compute fabric is no longer enough; None: no design."""
    what = "Second compute switch"
    known = [count for count in counts if count is not None]
    if known and max(known) <= 1:
        return BreakEven(what, f"Not within the range ({x.span}): one is enough.", False)
    if known and min(known) > 1:
        several = f"{min(known)} or more" if min(known) < max(known) else f"{min(known)}"
        return BreakEven(what, f"The whole range ({x.span}) needs {several} switches.", False)
    parts = spans([None if count is None else count > 1 for count in counts])
    texts = []
    for part in parts:
        place = where(x, part.first, part.last)
        if part.value is None:
            continue
        if not part.value:
            texts.append(f"one switch is enough {place}")
            continue
        fewest = min(count for count in counts[part.first : part.last + 1] if count is not None)
        texts.append(f"{fewest} or more are needed {place}")
    sentence = "; ".join(texts)
    return BreakEven(what, f"{sentence[:1].upper()}{sentence[1:]}.", True)


def _count(x: VariedInput, what: str, counts: Sequence[int | None], at: int) -> BreakEven:
    """The count where the input is now, and the nearest other ones on both sides."""
    here = counts[at]
    assert here is not None  # where it is now, there is a design
    up = next((place for place in range(at, len(counts)) if counts[place] not in (here, None)), None)
    down = next((place for place in range(at, -1, -1) if counts[place] not in (here, None)), None)
    if up is None and down is None:
        place = f"wherever a design meets the request ({x.span})" if None in counts else where(x, 0, len(counts) - 1)
        return BreakEven(what, f"{plain(here)} {place}.", False)
    texts = [f"{plain(here)} at {x.texts[at]}"]
    texts.append(_change(counts, up, f"up to {x.texts[-1]}", "once it reaches", x))
    texts.append(_change(counts, down, f"down to {x.texts[0]}", "once it is down to", x))
    return BreakEven(what, "; ".join(texts) + ".", True)


def _change(counts: Sequence[int | None], place: int | None, end: str, once: str, x: VariedInput) -> str:
    count = None if place is None else counts[place]
    if place is None or count is None:
        return f"the same {end}"
    return f"{plain(count)} {once} {x.texts[place]}"
