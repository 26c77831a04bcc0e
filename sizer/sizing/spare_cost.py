"""What it takes to keep the targets with one part lost, beside the design that nothing may fail in."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from sizer.base.errors import InfeasibleError
from sizer.base.language import Texts, mark, tr, trn
from sizer.base.quantities import grouped, plain, si, with_commas
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.sizing.beside import open_between
from sizer.sizing.best import best_design
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import Loss, Resilience, SizingRequest

# What may be lost, as it stands in a sentence.
ONE_LOST = Texts(
    {
        "server": mark("one server"),
        "storage-node": mark("one storage node"),
        "switch": mark("one switch"),
        "gateway": mark("one gateway"),
        "feed": mark("one power feed"),
    }
)


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
        return tr("The targets are kept without {lost}, and that takes no further part.", lost=lost)
    parts = list(_parts(cost))
    if cost.amount:
        amount = f"{with_commas(abs(float(cost.amount)))} {currency}"
        parts.append(tr("{what} more", what=amount) if cost.amount > 0 else tr("{what} less", what=amount))
    if cost.open_items:
        parts.append(tr("further parts to be quoted"))
    if not parts:
        parts = [tr("other parts of the same number")]
    told = tr("{first} and {last}", first=", ".join(parts[:-1]), last=parts[-1]) if len(parts) > 1 else parts[0]
    return tr(
        "The targets are kept without {lost}. Beside {design}, where nothing may fail, that takes {parts}.",
        lost=lost, design=cost.without.name, parts=told,
    )  # fmt: skip


def listed_losses(losses: tuple[Loss, ...]) -> str:
    """'one server, one storage node or one power feed'."""
    names = [ONE_LOST[loss] for loss in losses]
    return tr("{first} or {last}", first=", ".join(names[:-1]), last=names[-1]) if len(names) > 1 else names[0]


def _parts(cost: SpareCost) -> Iterator[str]:
    servers, nodes, switches = (abs(n) for n in (cost.n_servers, cost.storage_nodes, cost.switches))
    units, watts = abs(cost.rack_units), si(abs(cost.power_w), "W")
    counts = (
        (cost.n_servers, trn("{n} server", "{n} servers", servers, n=grouped(servers))),
        (cost.storage_nodes, trn("{n} storage node", "{n} storage nodes", nodes, n=grouped(nodes))),
        (cost.switches, trn("{n} switch", "{n} switches", switches, n=grouped(switches))),
        (cost.rack_units, trn("{n} rack unit", "{n} rack units", round(units), n=plain(units))),
    )
    for number, text in counts:
        if number:
            yield tr("{what} more", what=text) if number > 0 else tr("{what} fewer", what=text)
    if cost.power_w > 0:
        yield tr("at least {watts} more", watts=watts) if cost.has_unknown_power else tr("{watts} more", watts=watts)
    elif cost.power_w < 0:
        yield tr("{watts} less", watts=watts)


def _switches(design: DesignAnswer) -> int:
    return sum(
        int(net.leaves[0] + net.spines[0] + net.cores[0] + net.gateways[0]) for net in design.quantities.networks
    )
