"""Fewest servers of one platform that meet a request, without counting parts: the search of that platform alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import Stages
from sizer.perf.stage_capacity import Capacity
from sizer.perf.storage import read_capacity
from sizer.physical.platform import Platform
from sizer.sizing.design.evaluated_design import pinned
from sizer.sizing.search.feasibility import evaluate_space
from sizer.sizing.search.space import design_space
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.joint_targets import NOTHING_KNOWN, Known
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


class Pin(NamedTuple):
    """A stage of one workload that is known to have the capacity which it stays below with ``probability``."""

    workload: int
    stage: str
    probability: float


def fewest_servers(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    platform: Platform,
    most: int,
    catalog: Catalog,
    calibration: Calibration,
    pin: Pin | None = None,
) -> int | None:
    """Fewest of 1 to ``most`` servers that meet all targets at the confidence asked; None where none of them does.

    Racks, watts and budget are not checked: they need the parts, and counting these takes most of the time of a search.
    """
    space = design_space(1, 1, most)
    known = NOTHING_KNOWN if pin is None else _Pinned(pin)
    try:
        runs = evaluate_space(request, works, [platform], space, catalog, calibration, known).runs[0]
    except InfeasibleError:
        return None
    return int(space.sizes[np.argmax(runs)]) if runs.any() else None


@dataclass(frozen=True)
class _Pinned(Known):
    """One stage of one workload is known."""

    pin: Pin

    def compute(self, index: int, comp: Compute) -> Compute:
        if not self._is_of(index, "gpu", "decode", "host_link"):
            return comp
        known: Capacity = getattr(comp, self.pin.stage)
        changed: dict[str, Any] = {self.pin.stage: Capacity.exact(known.quantile(self.pin.probability))}
        return replace(comp, **changed)

    def node(self, index: int, cols: Columns) -> Columns:
        if not self._is_of(index, "storage"):
            return cols
        node = read_capacity(1.0, cols.node_low_bytes_per_s, cols.node_high_bytes_per_s, cols.node_line_bytes_per_s)
        rate: Floats = node.quantile(self.pin.probability)
        return replace(cols, node_low_bytes_per_s=rate, node_high_bytes_per_s=rate)

    def path(self, index: int, stages: Stages) -> Stages:
        is_pinned = self._is_of(index, "storage", "network")
        return pinned(stages, self.pin.stage, self.pin.probability) if is_pinned else stages

    def _is_of(self, index: int, *stages: str) -> bool:
        return self.pin.workload == index and self.pin.stage in stages
