"""What it takes to meet the targets after a loss, compared with the design for the same request without redundancy."""

from contextlib import suppress

from sizer.base.errors import InfeasibleError
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.physical.roles import Role
from sizer.sizing.best_design import best_design
from sizer.sizing.design.decisions import cost_difference, open_between
from sizer.sizing.result import DesignAnswer, SpareCost
from sizer.workload.request import Resilience, SizingRequest


def spare_cost(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration | None = None
) -> SpareCost | None:
    """Cost of the redundancy that a request asks of a design.

    ``design``: of that request. ``calibration``: default: the stored one. Returns none where no loss is asked for.

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
