"""What a cluster costs over the years, and what as many GPUs cost by the hour: pure money, without a float in it.

What one run costs to rent is a range, in floats.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np

from sizer.bom.bill import MONTHS_A_YEAR, Bill
from sizer.bom.cost import CostInterval
from sizer.bom.ownership import Footprint, OwnershipCost, OwnershipRates, cents, ownership_cost
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import amount_at
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import FALLBACK
from sizer.catalog.schema import Gpu
from sizer.physical.racks.power import HOURS_PER_YEAR
from sizer.workload.optional_tables import Rental

# Providers bill storage by the decimal terabyte.
_TB = 10**12
Bound = Literal["exact", "at least", "at most", "open"]


@dataclass(frozen=True)
class RentOrBuy:
    """A purchase beside an offer by the hour, over the same years."""

    rental: Rental
    currency: str
    n_gpus: int
    stored_tb: Fraction
    owning: OwnershipCost
    cost: CostInterval | None = None  # of the purchase by price bands; None: nothing bounds it
    is_first_of_plan: bool = False  # the growth plan buys more later

    @property
    def gpu_hours(self) -> int:
        return self.n_gpus * self.rental.years * HOURS_PER_YEAR

    @property
    def storage_rent(self) -> Decimal | None:
        """Renting the room for the data, whatever the GPUs do; None where the offer does not name its price."""
        rate = self.rental.storage_per_tb_month
        if rate is None:
            return None
        return cents(self.stored_tb * Fraction(rate) * MONTHS_A_YEAR * self.rental.years)

    @property
    def is_rent_at_least(self) -> bool:
        """Whether renting costs more than is told: the data must be stored, at a rate that the offer does not name."""
        return self.storage_rent is None and self.stored_tb > 0

    def renting(self, use: Decimal | Fraction) -> Decimal:
        """Cost of renting as much work as the cluster does while its GPUs are used a share of all hours.

        ``use``: share of the hours, 0 or more. Raises ValueError if the share is below 0.
        """
        return cents(Fraction(_share(use)) * self._full_rent) + (self.storage_rent or Decimal("0.00"))

    def buying(self, purchase: float) -> float:
        """Cost of owning over the years what is bought for so much, supported as its bill says."""
        own = self.owning
        # A stated share of support is one of the whole purchase; else only what has a price is renewed.
        support = own.support if own.rates.support_percent is None else None
        running = sum(Fraction(amount or 0) for amount in (support, own.energy, own.space))
        return purchase * float(1 + _share_of_purchase(self.owning.rates)) + float(running)

    def own_gpu_hour(self, use: Decimal | Fraction) -> Decimal:
        """What one used hour of one GPU of the own cluster costs.

        Raises ValueError if the share of the hours is not above 0.
        """
        share = _share(use)
        if share == 0:
            raise ValueError("GPUs that are never used have no cost of a used hour")
        return cents(Fraction(self.owning.total) / (self.gpu_hours * share))

    @property
    def break_even(self) -> Fraction:
        """Share of all hours at which renting costs as much as owning; exact, and not limited to 0..1."""
        return self.break_even_of(self.owning.total)

    def break_even_of(self, owning: Decimal | float) -> Fraction:
        """The same where owning over the years costs so much."""
        return (Fraction(owning) - Fraction(self.storage_rent or 0)) / self._full_rent

    @property
    def bound(self) -> Bound:
        """What the break-even is while costs are missing: those of owning raise it, those of renting lower it."""
        if self.owning.is_at_least:
            return "open" if self.is_rent_at_least else "at least"
        return "at most" if self.is_rent_at_least else "exact"

    def open_budget(self, use: Decimal | Fraction) -> Decimal:
        """What all bought lines without a price may cost together, so that renting and buying tie.

        ``use``: share of the hours in which the GPUs are used. Below 0 where renting costs less already than
        what is known of owning. Costs that are stated as a share of the purchase grow with it; renewals of the open
        lines are left out.
        """
        left = Fraction(self.renting(use)) - Fraction(self.owning.total)
        return cents(left / (1 + _share_of_purchase(self.owning.rates)))

    @property
    def _full_rent(self) -> Fraction:
        """GPUs of the offer that do the work of the cluster in all hours, without storage; exact."""
        return self.gpu_hours * Fraction(self.rental.per_gpu_hour) / Fraction(repr(self.rental.speed_ratio))


@dataclass(frozen=True)
class RunRental:
    """What renting the GPUs for one run of the trainings costs, without storage. [currency]"""

    gpu: str  # name
    gpu_hours: float
    currency: str
    low: float
    expected: float
    high: float


def run_rental(
    gpu: Gpu, gpu_hours: float, catalog: Catalog, book: PriceBook, currency: str, stated: Rental | None
) -> RunRental | None:
    """Renting so many hours of a GPU, at the rate of an offer or else in the range of published rates.

    None where amounts in the currency of those rates cannot be converted.
    """
    if stated is not None:
        low = expected = high = float(stated.per_gpu_hour) / stated.speed_ratio
    else:
        words, per_usd = gpu.id.upper().split("-"), book.per_usd(currency)
        # Rates are listed by the name of the chip: "H100" is that of h100-sxm-80gb.
        names = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        of_chip = (catalog.bands.band("rental", name) for name in names)
        usual = catalog.bands.band("rental", FALLBACK)
        band = next((offer for offer in of_chip if offer is not usual), usual)
        if band is None or per_usd is None:
            return None
        low, expected, high = (per_usd * amount_at(band.low, band.high, np.array([0.0, 0.5, 1.0]))).tolist()
    return RunRental(gpu.name, gpu_hours, currency, *(gpu_hours * rate for rate in (low, expected, high)))


def compared(
    bill: Bill, rental: Rental, rates: OwnershipRates, footprint: Footprint, *, n_gpus: int, stored_bytes: float
) -> RentOrBuy:
    """Set what a bill costs over the years beside an offer.

    ``bill``: what is bought, or a customer's copy of it. ``rates``: of the cluster, over the years of the offer.
    ``n_gpus``: GPUs of the cluster. ``stored_bytes``: data that a rented cluster must hold, too [B]. Raises ValueError
    if there are no GPUs, or a draw or size is below 0.

    Owning: :func:`~sizer.bom.ownership.ownership_cost`.
    Renting at a use u = GPUs x hours x u x rate / speed ratio + stored TB x months x rate of storage.
    Break-even: the u at which both are the same.
    """
    if n_gpus < 1 or not footprint.typical_w >= 0 or not stored_bytes >= 0:
        raise ValueError(
            f"rent or buy needs GPUs and no negative draw or data, got {n_gpus}, {footprint.typical_w}, {stored_bytes}"
        )
    owning = ownership_cost(bill, rates, footprint)
    return RentOrBuy(rental, bill.currency, n_gpus, Fraction(repr(float(stored_bytes))) / _TB, owning)


def _share_of_purchase(rates: OwnershipRates) -> Fraction:
    """What costs that are stated as a share of the purchase add to it over the years."""
    return (Fraction(rates.care_percent) + Fraction(rates.support_percent or 0)) / 100 * rates.years


def _share(use: Decimal | Fraction) -> Fraction:
    if use < 0:
        raise ValueError(f"a share of the hours is 0 or more, got {use}")
    return Fraction(use)
