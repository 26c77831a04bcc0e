"""Fewest servers of one platform that meet a request, without counting parts: the search of that platform alone."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import Stages
from sizer.perf.stage_capacity import Capacity
from sizer.perf.storage import read_capacity
from sizer.physical.allowed_parts import narrowed_to
from sizer.physical.platform import Platform
from sizer.sizing.best_design import best_design
from sizer.sizing.design.evaluated_design import pinned
from sizer.sizing.result import DesignAnswer
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

    Notes
    -----
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


# Below it a document says what the confidence means, and shows the design that reaches it.
USUAL_CONFIDENCE = 0.9


def surer_design(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration | None = None
) -> DesignAnswer | None:
    """The design of the same parts that reaches 90 % confidence.

    Parameters
    ----------
    request : SizingRequest
    design : DesignAnswer
        Of that request.
    catalog : Catalog
    calibration : Calibration, optional
        Default: the stored one.

    Returns
    -------
    DesignAnswer or None
        None where the design reaches it, where the request asks for the highest rate instead of a target, where a fact
        that no source gives decides, or where no size reaches it.
    """
    asks_most = any(work.target.maximum is not None for work in request.workload)
    if asks_most or design.probability is None or design.probability >= USUAL_CONFIDENCE:
        return None
    fitted = calibration if calibration is not None else stored_calibration()
    with suppress(InfeasibleError, RequestError):
        asked = request.model_copy(update={"confidence": USUAL_CONFIDENCE})
        found = best_design(narrowed_to(asked, design.platform), catalog, fitted).design
        return found if (found.n_servers, found.storage_nodes) != (design.n_servers, design.storage_nodes) else None
    return None
