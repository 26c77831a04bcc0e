"""A growth plan: purchases of every year for each platform, side by side."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from sizer.bom.bill import Sum
from sizer.physical.platform import Platform
from sizer.questions.growth.limits_over_time import Limit
from sizer.questions.growth.size import Size
from sizer.workload.growth import Growth
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

Way = Literal["best", "at-once", "prepared", "as-it-grows"]
Basis = Literal["cost", "watts", "equipment"]
WAYS = {
    "best": "The plan",
    "at-once": "All in the first year",
    "prepared": "Each year what it needs, network prepared",
    "as-it-grows": "Each year what it needs, network as it grows",
}


@dataclass(frozen=True)
class Purchase:
    """What happens at the start of one year, and what is owned in it."""

    year: int
    need: Size
    owned: Size
    bought: tuple[tuple[str, int], ...]  # catalogue id, pieces
    taken_out: tuple[tuple[str, int], ...]  # of what stood; its money is lost
    cost: Sum  # of what is bought, at this year's prices
    unpriced: tuple[str, ...]  # of what is bought
    energy_cost: Decimal | None  # of this year; None: nobody gave a price of energy
    energy_kwh: float  # of this year, with what the room adds
    power_max_w: float
    racks: int
    rack_units: float
    moved_links: int


@dataclass(frozen=True)
class Purchases:
    """The purchases of all years in one way."""

    way: Way
    is_prepared: bool  # network and racks of the last size stand from the first year
    purchases: tuple[Purchase, ...]

    @property
    def cost(self) -> Sum:
        """Of everything that is bought."""
        # An item without a price is one open item, in however many years it is bought.
        unpriced = {item for purchase in self.purchases for item in purchase.unpriced}
        return Sum(sum((purchase.cost.amount for purchase in self.purchases), Decimal("0.00")), len(unpriced))

    @property
    def pieces(self) -> dict[str, int]:
        """Pieces of every item bought over all years."""
        found: dict[str, int] = {}
        for purchase in self.purchases:
            for item, count in purchase.bought:
                found[item] = found.get(item, 0) + count
        return found

    @property
    def energy_cost(self) -> Decimal | None:
        """Of all years."""
        found = [purchase.energy_cost for purchase in self.purchases]
        return None if None in found else sum((cost for cost in found if cost is not None), Decimal("0.00"))

    @property
    def energy_kwh(self) -> float:
        """Of all years."""
        return sum(purchase.energy_kwh for purchase in self.purchases)

    @property
    def moved_links(self) -> int:
        """Links that are plugged anew, over all years."""
        return sum(purchase.moved_links for purchase in self.purchases)

    @property
    def server_years(self) -> int:
        """Servers owned, summed over the years."""
        return sum(purchase.owned.n_servers for purchase in self.purchases)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Owned in each year."""
        return tuple(purchase.owned for purchase in self.purchases)


@dataclass(frozen=True)
class PlatformGrowth:
    """One platform over the years: kinds of server, GPU, storage, drives and fabric stay the same."""

    platform: Platform
    needs: tuple[Size, ...]  # of each year, never less than of the year before
    best: Purchases
    others: tuple[Purchases, ...]  # for comparison: all at once, and each year what it needs
    basis: Basis  # what the best was chosen by
    deciding_prices: tuple[str, ...]  # items without a price that could make another sequence cheaper
    has_unknown_power: bool
    limits: tuple[Limit, ...]  # of the first year's equipment


@dataclass(frozen=True)
class GrowthPlan:
    """Purchases over the years for every platform that carries them."""

    growth: Growth
    requests: tuple[SizingRequest, ...]  # of each year, those beyond the plan too
    works: tuple[tuple[ResolvedWorkload, ...], ...]  # of each year
    n_years: int  # that the plan covers
    stops: str  # sentence: why it ends before the years asked; "" where it does not
    platforms: tuple[PlatformGrowth, ...]  # side by side; a ranking only where the prices allow one
    deciding_prices: tuple[str, ...]  # items without a price that would rank the platforms

    def of(self, server: str, storage: str) -> PlatformGrowth:
        """The platform of these kinds, else the first with this server, else the first."""
        same = [one for one in self.platforms if one.platform.key == (server, storage)]
        alike = [one for one in self.platforms if one.platform.server.id == server]
        return next(iter((*same, *alike, *self.platforms)))


def without_money(plan: GrowthPlan) -> GrowthPlan:
    """The plan as a customer reads it: what it would cost comes from price books that may be the user's own."""
    return replace(plan, platforms=tuple(_unpriced(found) for found in plan.platforms))


def _unpriced(found: PlatformGrowth) -> PlatformGrowth:
    best, *others = (
        replace(way, purchases=tuple(_to_be_quoted(one) for one in way.purchases))
        for way in (found.best, *found.others)
    )
    return replace(found, best=best, others=tuple(others))


def _to_be_quoted(purchase: Purchase) -> Purchase:
    items = tuple(item for item, _ in purchase.bought)
    return replace(purchase, cost=Sum(Decimal("0.00"), len(items)), unpriced=items, energy_cost=None)
