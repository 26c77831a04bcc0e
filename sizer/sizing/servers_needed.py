"""Fewest servers of one platform that meet a request, without counting parts: the search of that platform alone."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import Stages
from sizer.perf.stage_capacity import Capacity
from sizer.perf.storage import read_capacity
from sizer.physical.platform import Platform
from sizer.physical.roles import Role
from sizer.sizing.best_design import best_design
from sizer.sizing.design.decisions import cost_difference, open_between
from sizer.sizing.design.evaluated_design import pinned
from sizer.sizing.result import DesignAnswer, SpareCost
from sizer.sizing.search.feasibility import design_space, evaluate_space
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.joint_targets import NOTHING_KNOWN, Known
from sizer.sizing.stages.platform_columns import Columns
from sizer.workload.request import Resilience, SizingRequest
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


def spare_cost(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration | None = None
) -> SpareCost | None:
    """Cost of the redundancy that a request asks of a design.

    ``calibration``: default: the stored one. Returns none where no loss is asked for.

    The other design is the best of all that the request allows; it may stand on another platform.
    """
    losses = tuple(dict.fromkeys(request.resilience.keeps_targets_without))
    if not losses:
        return None
    fitted = calibration if calibration is not None else stored_calibration()
    without = None
    with suppress(InfeasibleError):  # a design was changed by hand, or its catalogue
        without = best_design(request.model_copy(update={"resilience": Resilience()}), catalog, fitted).design
    if without is None:
        return None
    now, then = design.quantities, without.quantities
    return SpareCost(
        losses=losses,
        without=without,
        n_servers=design.n_servers - without.n_servers,
        head_nodes=_head_nodes(design) - _head_nodes(without),
        storage_nodes=design.storage_nodes - without.storage_nodes,
        switches=_switches(design) - _switches(without),
        rack_units=float(now.rack_units[0] - then.rack_units[0]),
        power_w=float(now.power_max_w[0] - then.power_max_w[0]),
        has_unknown_power=bool(now.unknown_power or then.unknown_power),
        amount=design.bill.total - without.bill.total,
        open_items=open_between(design.bill, without.bill),
        cost=cost_difference(design, without, request, catalog),
    )


def _head_nodes(design: DesignAnswer) -> int:
    return sum(int(part.quantity[0]) for part in design.quantities.components if part.role is Role.HEAD_NODE)


def _switches(design: DesignAnswer) -> int:
    return sum(
        int(net.leaves[0] + net.spines[0] + net.cores[0] + net.gateways[0]) for net in design.quantities.networks
    )
