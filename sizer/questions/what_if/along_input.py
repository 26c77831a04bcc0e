"""A fixed design and its hardware at every value of one input."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from sizer.questions.what_if.input_grid import FixedDesignRates, HardwareCounts, fixed_design_rates, hardware_counts
from sizer.questions.what_if.varied_input import SERVERS, STORAGE_NODES, VariedInput
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


def fixed_design_along(model: WorkloadOnDesign, x: VariedInput, others: Mapping[str, float]) -> FixedDesignRates:
    """The design at every value of an input, with other inputs at given values."""
    return fixed_design_rates(
        model, {**{key: value for key, value in others.items() if key != x.key}, x.key: np.array(x.values)}
    )


def hardware_along(model: WorkloadOnDesign, x: VariedInput, others: Mapping[str, float]) -> HardwareCounts | None:
    """What the design is made of along an input; None where the input changes no count."""
    if x.key not in (SERVERS, STORAGE_NODES):
        return None
    counts = {SERVERS: model.n_servers, STORAGE_NODES: model.storage_nodes, **others, x.key: np.array(x.values)}
    return hardware_counts(
        model, np.asarray(counts[SERVERS], dtype=np.int64), np.asarray(counts[STORAGE_NODES], dtype=np.int64)
    )
