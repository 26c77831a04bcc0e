"""The next sizes of a design that its workloads gain from."""

from dataclasses import replace

import numpy as np

from sizer.physical.expansion import GrowthStep, growth
from sizer.physical.notes import Violation, ViolationKind
from sizer.sizing.result import DesignAnswer


def next_sizes(design: DesignAnswer) -> tuple[GrowthStep, ...]:
    """Next two sizes of a design; one at which every workload is slower than now is no growth.

    Notes
    -----
    Rates are medians of the scaling curve at the same storage, linear between its sizes. A size beyond it is kept.
    """
    return tuple(_checked(design, step) for step in growth(design.plan))


def _checked(design: DesignAnswer, step: GrowthStep) -> GrowthStep:
    if step.limit is not None:
        return step
    rates = []
    for answer in design.workloads:
        sizes = np.asarray(answer.scaling.n_servers, dtype=float)
        if sizes.size < 2 or step.n_servers > sizes.max():
            return step
        rate = np.asarray(answer.scaling.throughput.value, dtype=float)
        rates.append((float(np.interp(step.n_servers, sizes, rate)), float(answer.throughput.value)))
    if any(larger >= now for larger, now in rates):
        return step
    # Three digits, as every rate of a document.
    larger, now = (int(float(f"{rate:.3g}")) for rate in rates[0])
    limit = Violation(ViolationKind.SLOWER_TRAINING, (step.n_servers, larger, now))
    return replace(step, added=(), new_racks=0, added_links=0, moved=(), added_max_w=0.0, limit=limit)
