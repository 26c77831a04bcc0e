"""Fewest servers of one platform that meet a request, without counting parts: the search of that platform alone."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import InfeasibleError
from sizer.base.stored_answers import Deferred
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.pipeline import Stages
from sizer.perf.stage_capacity import Capacity
from sizer.perf.storage import read_capacity
from sizer.physical.platform import Platform
from sizer.physical.roles import Role
from sizer.sizing.best_design import best_design
from sizer.sizing.design.decisions import cost_difference, open_between
from sizer.sizing.design.evaluated_design import WorkloadOnDesign, pinned
from sizer.sizing.result import DesignAnswer, SpareCost, StackAlternative, StackDefault
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


# Servers are sought up to this many times those of the design, and on small designs up to so many: stacks of one
# network differ by a factor of two.
_SEARCH_FACTOR, _SEARCH_LEAST = 4, 8


def with_stack_defaults(
    design: DesignAnswer,
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    catalog: Catalog,
    calibration: Calibration,
) -> DesignAnswer:
    """A design whose workloads say what their default stacks are worth."""
    if all(work.stack_choice is None for work in works):
        return design
    gateway = float(design.quantities.gateway_bytes_per_s[0])
    place = (design.platform, design.n_servers, design.storage_nodes, gateway, catalog, calibration)
    models = [WorkloadOnDesign(request, tuple(works), index, *place) for index in range(len(works))]
    answers = zip(design.workloads, models, strict=True)
    # Dozens of stacks are tried, for a sentence that few pages show.
    return replace(
        design,
        workloads=tuple(
            replace(answer, stack_worth=Deferred(partial(stack_default, model))) for answer, model in answers
        ),
    )


def stack_default(model: WorkloadOnDesign) -> StackDefault | None:
    """Why a stack was taken, with the oldest and the fastest of the others; None where the request names its stack.

    ``model``: the workload on the design that is described.

    Rates are medians on the design as it is; servers are those that the whole request would need on its platform.
    """
    choice = model.work.stack_choice
    if choice is None:
        return None
    others = [(stack, other) for stack in choice.others if (other := model.asked(stack=stack.id)) is not None]
    shown = []
    if others:
        own, *rates = (float(one.run.rates[0].value[0]) for one in (model, *(other for _, other in others)))
        oldest, fastest = len(others) - 1, max(range(len(others)), key=lambda index: rates[index])
        for index in dict.fromkeys((oldest, fastest) if rates[fastest] > own else (oldest,)):
            stack, other = others[index]
            shown.append(StackAlternative(stack, rates[index], _servers(other)))
    return StackDefault(choice.evidence, _servers(model), len(choice.others), tuple(shown))


def _servers(model: WorkloadOnDesign) -> int | None:
    most = max(_SEARCH_FACTOR * model.n_servers, _SEARCH_LEAST)
    most = min(most, model.request.limits.servers or most)
    return fewest_servers(model.request, model.works, model.platform, most, model.catalog, model.calibration)
