"""What two designs differ in, in numbers."""

from collections.abc import Sequence
from dataclasses import replace

from sizer.bom.bill import Bill
from sizer.bom.cost import heights_of, line_amounts
from sizer.bom.prices import prices_for
from sizer.bom.unit_prices import SMALL, UnitPrices, unit_prices
from sizer.catalog.model import Catalog
from sizer.sizing.reasons import CostDifference, Selection, SelectionKind
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.main_items import ranking_currency
from sizer.sizing.search.priced_order import PricedOrder, difference
from sizer.workload.request import SizingRequest


def speed_up(design: DesignAnswer, base: DesignAnswer) -> float:
    """Rate of the first workload over that of another design, or its time to train under that: medians. [-]"""
    one, other = design.workloads[0], base.workloads[0]
    if one.time is not None and other.time is not None and one.workload.target.time_to_train_s is not None:
        return float(other.time.total_s.value / one.time.total_s.value)
    return float(one.throughput.value / other.throughput.value)


def with_bills(selection: Selection, designs: Sequence[DesignAnswer]) -> Selection:
    """A choice by cost with the finished designs that cost less than the first one.

    Parameters
    ----------
    selection : Selection
    designs : sequence of DesignAnswer
        Platforms shown. Those that depend on more unknown facts than the first are left out.

    Notes
    -----
    Compared are the bills, or the costs of ownership, at the confidence of the request: with the cables of the plan,
    all known prices and the changes of the quote.
    """
    if selection.kind not in (SelectionKind.CHEAPEST, SelectionKind.LIKELY_CHEAPEST):
        return selection
    is_owned = selection.years is not None

    def unknown(design: DesignAnswer) -> int:
        return 2 * bool(design.conditional_on) + (is_owned and bool(design.quantities.unknown_power))

    costs = [design.ownership if is_owned else design.cost for design in designs]
    amounts = {
        place: round(cost.at_confidence, 2)
        for place, (design, cost) in enumerate(zip(designs, costs, strict=True))
        if cost is not None and unknown(design) <= unknown(designs[0])
    }
    less = [place for place, amount in amounts.items() if amount < amounts.get(0, 0.0)]
    return replace(selection, less_on_bill=tuple(sorted(less, key=lambda place: amounts[place])))


def open_between(one: Bill, other: Bill) -> tuple[str, ...]:
    """Items without a price whose number differs between two bills: their prices could reverse the comparison."""
    counts: list[dict[str, int]] = [{}, {}]
    for bill, count in zip((one, other), counts, strict=True):
        for line in bill.bought:
            if line.extended_net is None:
                name = line.item or line.description
                count[name] = count.get(name, 0) + line.quantity
    first, second = counts
    return tuple(name for name in dict.fromkeys([*first, *second]) if first.get(name, 0) != second.get(name, 0))


def cost_difference(
    design: DesignAnswer, base: DesignAnswer, request: SizingRequest, catalog: Catalog
) -> CostDifference:
    """What a design costs more than another, by the cost intervals that rank designs.

    Parameters
    ----------
    design, base : DesignAnswer
    request : SizingRequest
        Its confidence and its currency.
    catalog : Catalog

    Notes
    -----
    Amounts of a bill, discounts and prices of the quote included, stand as they are; lines of the quote's own are the
    same in both bills. Where the bills are in a currency without bands and a main item has no price, the parts of both
    are compared in the currency of the bands.
    """
    book = prices_for(request, catalog)
    currency = ranking_currency(request, (design.platform, base.platform), book)
    # Known prices of cables count where both bills hold them.
    small = () if currency == request.currency else SMALL
    prices = unit_prices(catalog, book, currency, heights_of(request.confidence), small)
    one, other = (_order(each, prices, is_of_bill=currency == request.currency) for each in (design, base))
    return difference(one, other, prices)


def _order(design: DesignAnswer, prices: UnitPrices, *, is_of_bill: bool) -> PricedOrder:
    if not is_of_bill:
        return PricedOrder.of_parts(design.platform, design.quantities.bought, prices)
    lines = design.bill.bought
    amounts = line_amounts(design.bill, design.platform, prices)
    return PricedOrder.of(design.platform, (line.item for line in lines), (line.quantity for line in lines), amounts)
