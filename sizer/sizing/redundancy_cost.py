"""What it takes to keep the targets with one part lost, beside the design that nothing may fail in."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from sizer.base.errors import InfeasibleError
from sizer.base.quantities import by_count, grouped, plain, si
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.sizing.design.comparison_text import open_between
from sizer.sizing.recommend import best_design
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import Loss, Resilience, SizingRequest

# What may be lost, as it stands in a sentence.
ONE_LOST = {
    "server": "one server",
    "storage-node": "one storage node",
    "switch": "one switch",
    "gateway": "one gateway",
    "feed": "one power feed",
}


@dataclass(frozen=True)
class SpareCost:
    """A design that bears losses beside the one for the same request without them; differences are with - without."""

    losses: tuple[Loss, ...]
    without: DesignAnswer
    n_servers: int
    storage_nodes: int
    switches: int  # of all networks, gateways among them
    rack_units: float
    power_w: float  # at most
    has_unknown_power: bool  # a part whose draw is not published: the watts are no full account
    amount: Decimal  # of the priced lines, in the currency of the request
    open_items: tuple[str, ...]  # without a price, and of another number: they are to be quoted

    @property
    def is_free(self) -> bool:
        """Whether the design without spare parts bears the losses as it is."""
        counts = (self.n_servers, self.storage_nodes, self.switches, self.rack_units, self.power_w, self.amount)
        return not any(counts) and not self.open_items


def spare_cost(
    request: SizingRequest, design: DesignAnswer, catalog: Catalog, calibration: Calibration | None = None
) -> SpareCost | None:
    """What the losses that a request asks a design to bear cost it.

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
    SpareCost or None
        None where no loss is asked for.

    Notes
    -----
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
        storage_nodes=design.storage_nodes - without.storage_nodes,
        switches=_switches(design) - _switches(without),
        rack_units=float(now.rack_units[0] - then.rack_units[0]),
        power_w=float(now.power_max_w[0] - then.power_max_w[0]),
        has_unknown_power=bool(now.unknown_power or then.unknown_power),
        amount=design.bill.total - without.bill.total,
        open_items=open_between(design.bill, without.bill),
    )


def spare_sentence(cost: SpareCost, currency: str) -> str:
    """The cost in one sentence."""
    lost = listed_losses(cost.losses)
    if cost.is_free:
        return f"The targets are kept without {lost}, and that takes no further part."
    parts = list(_parts(cost))
    if cost.amount:
        amount = f"{grouped(abs(float(cost.amount)))} {currency}"
        parts.append(f"{amount} more" if cost.amount > 0 else f"{amount} less")
    if cost.open_items:
        parts.append("further parts to be quoted")
    if not parts:
        parts = ["other parts of the same number"]
    told = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    return (
        f"The targets are kept without {lost}. Beside {cost.without.name}, where nothing may fail, that takes {told}."
    )


def listed_losses(losses: tuple[Loss, ...]) -> str:
    """'one server, one storage node or one power feed'."""
    names = [ONE_LOST[loss] for loss in losses]
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _parts(cost: SpareCost) -> Iterator[str]:
    servers, nodes, switches = (abs(n) for n in (cost.n_servers, cost.storage_nodes, cost.switches))
    units, watts = abs(cost.rack_units), si(abs(cost.power_w), "W")
    counts = (
        (cost.n_servers, by_count(servers, f"{grouped(servers)} server", f"{grouped(servers)} servers")),
        (cost.storage_nodes, by_count(nodes, f"{grouped(nodes)} storage node", f"{grouped(nodes)} storage nodes")),
        (cost.switches, by_count(switches, f"{grouped(switches)} switch", f"{grouped(switches)} switches")),
        (cost.rack_units, by_count(round(units), f"{plain(units)} rack unit", f"{plain(units)} rack units")),
    )
    for number, text in counts:
        if number:
            yield f"{text} more" if number > 0 else f"{text} fewer"
    if cost.power_w > 0:
        yield f"at least {watts} more" if cost.has_unknown_power else f"{watts} more"
    elif cost.power_w < 0:
        yield f"{watts} less"


def _switches(design: DesignAnswer) -> int:
    return sum(
        int(net.leaves[0] + net.spines[0] + net.cores[0] + net.gateways[0]) for net in design.quantities.networks
    )
