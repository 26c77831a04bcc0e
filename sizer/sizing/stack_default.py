"""What the default software stack of a workload is worth: the request with other stacks that were measured as well."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sizer.base.stored_answers import Deferred
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.result import DesignAnswer, StackAlternative, StackDefault
from sizer.sizing.servers_needed import fewest_servers
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

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
