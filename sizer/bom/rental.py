"""What a cluster costs over the years, and what as many GPUs cost by the hour: pure money, without a float in it."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Literal

from sizer.base.money import CENT
from sizer.bom.bill import MONTHS_A_YEAR, Bill
from sizer.physical.racks.power import HOURS_PER_YEAR
from sizer.workload.rental import Rental

# Providers bill storage by the decimal terabyte.
_TB = 10**12
# What is missing of a cost, so that it reads "at least".
Missing = Literal["prices", "renewals", "electricity", "watts", "cooling", "storage"]
Bound = Literal["exact", "at least", "at most", "open"]


@dataclass(frozen=True)
class Owning:
    """What one's own cluster costs over the years; amounts are rounded to cents one by one."""

    purchase: Decimal  # net; of the priced lines
    n_open: int  # bought lines to be quoted
    renewals: Decimal  # support and subscriptions beyond the terms that the purchase pays for
    care: Decimal  # staff, space and maintenance
    energy: Decimal | None  # None: no price of electricity was given
    energy_kwh: Decimal
    missing: tuple[Missing, ...]

    @property
    def total(self) -> Decimal:
        """Sum of what is known; it reads "at least" while something is missing."""
        return self.purchase + self.renewals + self.care + (self.energy or Decimal("0.00"))

    @property
    def is_at_least(self) -> bool:
        """Whether a part of the costs is not known."""
        return bool(self.missing)

    @property
    def is_unpriced(self) -> bool:
        """Whether nothing of the purchase has a price: the total then says nothing."""
        return self.n_open > 0 and self.purchase == 0


@dataclass(frozen=True)
class RentOrBuy:
    """A purchase beside an offer by the hour, over the same years."""

    rental: Rental
    currency: str
    n_gpus: int
    stored_tb: Fraction
    owning: Owning

    @property
    def gpu_hours(self) -> int:
        """Hours of all GPUs of the cluster, used or not."""
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

        Parameters
        ----------
        use : Decimal or Fraction
            Share of the hours, 0 or more.

        Raises
        ------
        ValueError
            If the share is below 0.
        """
        return cents(Fraction(_share(use)) * self._full_rent) + (self.storage_rent or Decimal("0.00"))

    def own_gpu_hour(self, use: Decimal | Fraction) -> Decimal:
        """What one used hour of one GPU of the own cluster costs; "at least" where owning is.

        Raises
        ------
        ValueError
            If the share of the hours is not above 0.
        """
        share = _share(use)
        if share == 0:
            raise ValueError("GPUs that are never used have no cost of a used hour")
        return cents(Fraction(self.owning.total) / (self.gpu_hours * share))

    @property
    def break_even(self) -> Fraction:
        """Share of all hours at which renting costs as much as owning; exact, and not limited to 0..1."""
        return (Fraction(self.owning.total) - Fraction(self.storage_rent or 0)) / self._full_rent

    @property
    def bound(self) -> Bound:
        """What the break-even is while costs are missing: those of owning raise it, those of renting lower it."""
        if self.owning.is_at_least:
            return "open" if self.is_rent_at_least else "at least"
        return "at most" if self.is_rent_at_least else "exact"

    @property
    def break_even_rate(self) -> Fraction:
        """Rate of a rented GPU-hour at which both cost the same with all hours used. [currency/h]"""
        left = Fraction(self.owning.total) - Fraction(self.storage_rent or 0)
        return left / self.gpu_hours * Fraction(repr(self.rental.speed_ratio))

    def open_budget(self, use: Decimal | Fraction) -> Decimal:
        """What all bought lines without a price may cost together, so that renting and buying tie.

        Parameters
        ----------
        use : Decimal or Fraction
            Share of the hours in which the GPUs are used.

        Returns
        -------
        Decimal
            Below 0 where renting costs less already than what is known of owning. Care grows with the purchase, as
            the known part's does; renewals of the open lines are left out.
        """
        left = Fraction(self.renting(use)) - Fraction(self.owning.total)
        return cents(left / (1 + _care_share(self.rental)))

    @property
    def _full_rent(self) -> Fraction:
        """GPUs of the offer that do the work of the cluster in all hours, without storage; exact."""
        return self.gpu_hours * Fraction(self.rental.per_gpu_hour) / Fraction(repr(self.rental.speed_ratio))


def compared(
    bill: Bill,
    rental: Rental,
    *,
    n_gpus: int,
    typical_w: float,
    is_draw_at_least: bool,
    pue_ratio: float | None,
    stored_bytes: float,
) -> RentOrBuy:
    """Set what a bill costs over the years beside an offer.

    Parameters
    ----------
    bill : Bill
        What is bought, or a customer's copy of it.
    rental : Rental
    n_gpus : int
        GPUs of the cluster.
    typical_w : float
        Typical draw of the cluster, taken for all hours: no source gives what these servers draw idle. [W]
    is_draw_at_least : bool
        Whether some part's draw is unknown.
    pue_ratio : float or None
        Draw of the room over that of the cluster; None: not known, cooling is not counted. [-]
    stored_bytes : float
        Data that a rented cluster must hold, too. [B]

    Raises
    ------
    ValueError
        If there are no GPUs, or a draw or size is below 0.

    Notes
    -----
    Owning = purchase + renewals + purchase x yearly percent x years + draw x PUE x hours x price of a kilowatt-hour.
    Renting at a use u = GPUs x hours x u x rate / speed ratio + stored TB x months x rate of storage.
    Break-even: the u at which both are the same. No interest, no tax and no rest value is counted.
    """
    if n_gpus < 1 or not typical_w >= 0 or not stored_bytes >= 0:
        raise ValueError(
            f"rent or buy needs GPUs and no negative draw or data, got {n_gpus}, {typical_w}, {stored_bytes}"
        )
    purchase, n_open = bill.total, bill.net_total.n_open
    renewals, n_open_terms = _renewals(bill, rental.years)
    kwh = Fraction(repr(float(typical_w))) / 1000 * Fraction(repr(pue_ratio or 1.0)) * HOURS_PER_YEAR * rental.years
    price = rental.electricity_per_kwh
    missing: list[tuple[Missing, bool]] = [
        ("prices", n_open > 0),
        ("renewals", n_open_terms > 0),
        ("electricity", price is None),
        ("watts", price is not None and is_draw_at_least),
        ("cooling", price is not None and pue_ratio is None),
    ]
    owning = Owning(
        purchase=purchase,
        n_open=n_open,
        renewals=renewals,
        care=cents(Fraction(purchase) * _care_share(rental)),
        energy=None if price is None else cents(kwh * Fraction(price)),
        energy_kwh=cents(kwh),
        missing=tuple(key for key, is_missing in missing if is_missing),
    )
    return RentOrBuy(rental, bill.currency, n_gpus, Fraction(repr(float(stored_bytes))) / _TB, owning)


def _renewals(bill: Bill, years: int) -> tuple[Decimal, int]:
    """What support and subscriptions cost after their terms, at the deal's prices, and how many have no known term."""
    off = 1 - Fraction(bill.deal_discount_percent) / 100
    total, n_open = Fraction(0), 0
    for line in bill.bought:
        if not line.is_recurring or not line.extended_net:  # open, or free of charge
            continue
        if line.term_months is None:
            n_open += 1
            continue
        months = max(years * MONTHS_A_YEAR - line.term_months, 0)
        total += Fraction(line.extended_net) * off * months / line.term_months
    return cents(total), n_open


def _care_share(rental: Rental) -> Fraction:
    """Staff, space and maintenance over the years, as a share of the purchase."""
    return Fraction(rental.yearly_cost_percent) / 100 * rental.years


def _share(use: Decimal | Fraction) -> Fraction:
    if use < 0:
        raise ValueError(f"a share of the hours is 0 or more, got {use}")
    return Fraction(use)


def cents(amount: Fraction) -> Decimal:
    """An exact amount as money, rounded half up to cents.

    Examples
    --------
    >>> cents(Fraction(1, 200))
    Decimal('0.01')
    """
    return floor(amount / Fraction(CENT) + Fraction(1, 2)) * CENT
