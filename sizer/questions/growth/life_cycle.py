"""Later purchases of parts whose sale has ended by then, or whose service ends soon after."""

from collections.abc import Iterator
from dataclasses import dataclass

from sizer.base.dates import days_of, years_after
from sizer.bom.remarks import SERVICE_YEARS, ends_in_service
from sizer.catalog.model import Catalog
from sizer.present.words import plural
from sizer.sizing.growth.result import GrowthPlan, PlatformGrowth


@dataclass(frozen=True)
class LatePurchase:
    """A part that the plan buys late in its life."""

    item: str
    year: int
    month: str  # of the purchase, "2027-11"
    end: str  # published date of the end
    is_sale: bool  # of sale, before the purchase; else of service, within ``SERVICE_YEARS`` after it


def late_purchases(plan: GrowthPlan, growth: PlatformGrowth, catalog: Catalog) -> Iterator[LatePurchase]:
    """Purchases after the first year, whose parts the bill's own warnings do not date; none without a date."""
    request = plan.requests[0]
    start = request.needed_by or request.date
    if start is None:
        return
    for purchase in growth.recommended.purchases[1:]:
        day = years_after(start, purchase.year - 1)
        for item in (catalog.item(id_) for id_, _ in purchase.bought):
            sale, service = item.end_of_sale, item.end_of_service
            late = (item.name, purchase.year, f"{day:%Y-%m}")
            if sale is not None and days_of(sale.value)[1] < day:
                yield LatePurchase(*late, sale.value, is_sale=True)
            elif service is not None and ends_in_service(service.value, day):
                yield LatePurchase(*late, service.value, is_sale=False)


def late_purchase_text(late: LatePurchase) -> str:
    """When it is bought and what ends, without a full stop."""
    bought = f"{late.item} in year {late.year} ({late.month})"
    if late.is_sale:
        return f"{bought}: end of sale is {late.end}, before the purchase"
    return f"{bought}: end of service is {late.end}, less than {plural(SERVICE_YEARS, 'year')} after the purchase"
