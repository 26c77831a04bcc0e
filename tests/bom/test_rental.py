"""Rent or buy: hand calculations to the cent, the break-even on both sides, and the laws of both costs."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest, rent_or_buy, size
from sizer.bom.bill import Bill, BillLine
from sizer.bom.ownership import Footprint, OwnershipRates
from sizer.bom.rental import RentOrBuy, compared
from sizer.sizing.customer_copy import customer_copy
from sizer.workload.optional_tables import Rental
from tests.factories.examples import catalog, sized

HALF_A_CENT = Decimal("0.005")


def line(price: str | None, quantity: int = 1, **more: Any) -> BillLine:
    facts: dict[str, Any] = {
        "line": "1.1",
        "category": "compute",
        "item": "",
        "manufacturer": "",
        "sku": "",
        "description": "a line",
        "unit": "EA",
        "price_source": "",
        "price_date": "",
        "status": "computed",
        **more,
    }
    return BillLine(quantity=quantity, unit_price=None if price is None else Decimal(price), **facts)


def put(
    *lines: BillLine,
    deal: str = "0",
    n_gpus: int = 8,
    watts: float = 3000.0,
    tb: float = 0.0,
    pue: float | None = 1.5,
    has_unknown_watts: bool = False,
    **offer: Any,
) -> RentOrBuy:
    rental = Rental.model_validate({"per_gpu_hour": "3.06", **offer})
    bill = Bill("USD", lines or (line("149000"),), deal_discount_percent=Decimal(deal))
    rates = OwnershipRates(rental.years, rental.electricity_per_kwh, pue, care_percent=rental.yearly_cost_percent)
    return compared(bill, rental, rates, Footprint(watts, has_unknown_watts), n_gpus=n_gpus, stored_bytes=tb * 1e12)


def test_hand_calculation_to_the_cent() -> None:
    """Three years of 8 GPUs: 26,280 h, 210,240 GPU-hours, 3 kW x 1.5 x 26,280 h = 118,260 kWh."""
    found = put(electricity_per_kwh="0.12", yearly_cost_percent="10", storage_per_tb_month="23.5", tb=20.0)
    own = found.owning
    assert (own.purchase, own.care, own.energy) == (Decimal("149000"), Decimal("44700.00"), Decimal("14191.20"))
    assert own.energy_kwh == 118_260
    assert own.total == Decimal("207891.20")
    assert not own.missing
    assert found.gpu_hours == 210_240
    assert found.storage_rent == Decimal("16920.00")  # 20 TB x 36 months x 23.5
    assert found.renting(Decimal(1)) == Decimal("660254.40")  # 210,240 h x 3.06, and the storage
    assert found.renting(Decimal("0.25")) == Decimal("177753.60")
    assert found.own_gpu_hour(Decimal("0.25")) == Decimal("3.96")  # 207,891.20 / 52,560 = 3.9553...
    assert found.break_even == Fraction(19097120, 64333440)  # (207,891.20 - 16,920) / 643,334.40 = 29.7 %
    assert found.bound == "exact"


def test_slower_rented_gpus_take_more_hours() -> None:
    """At half the speed 105,120 hours of work take 210,240 rented ones."""
    assert put(speed_ratio=0.5).renting(Decimal("0.5")) == Decimal("643334.40")
    assert put(speed_ratio=0.5).break_even == put().break_even / 2


def test_support_is_renewed_for_the_years_beyond_its_term() -> None:
    """36 months for 3,600.00 less 10 % of the deal are 90 a month: two more years cost 2,160.00."""
    support = line("3600", category="support", term_months=36)
    assert put(line("10000"), support, deal="10", years=5).owning.support == Decimal("2160.00")
    assert put(line("10000"), support, deal="10", years=3).owning.support == 0
    assert put(line("10000"), support, deal="10", years=1).owning.support == 0


def test_what_is_not_known_makes_owning_at_least_and_is_named() -> None:
    assert put().owning.missing == ("electricity",)
    assert put(electricity_per_kwh="0.1", pue=None).owning.missing == ("cooling",)
    assert put(electricity_per_kwh="0.1", has_unknown_watts=True).owning.missing == ("watts",)
    found = put(line("149000"), line(None), line("5", category="support"), electricity_per_kwh="0.1")
    assert found.owning.missing == ("prices", "renewals")
    assert found.bound == "at least"
    assert put(line(None)).owning.is_unpriced
    assert put(line(None), line("1")).owning.is_unpriced


def test_data_without_a_rate_make_renting_at_least() -> None:
    assert put(electricity_per_kwh="0.1", tb=1.0).bound == "at most"
    assert put(tb=1.0).bound == "open"
    assert put(electricity_per_kwh="0", tb=1.0, storage_per_tb_month=0).bound == "exact"


def test_the_budget_for_open_lines_ties_renting_and_buying() -> None:
    """Open lines that cost exactly the budget: owning then costs what renting does, to the cent."""
    half = Decimal("0.5")
    found = put(line("149000"), line(None), yearly_cost_percent="10", electricity_per_kwh="0.1")
    budget = found.open_budget(half)
    assert budget == Decimal("89339.38")  # (321,667.20 - 149,000 - 44,700 - 11,826) / 1.3
    tied = put(line("149000"), line(str(budget)), yearly_cost_percent="10", electricity_per_kwh="0.1")
    assert tied.owning.total == pytest.approx(found.renting(half), abs=Decimal("0.02"))
    assert put(line("149000"), line(None)).open_budget(Decimal(0)) == Decimal("-149000.00")


@pytest.mark.parametrize("changes", [{"n_gpus": 0}, {"watts": -1.0}, {"watts": float("nan")}, {"tb": -1.0}])
def test_impossible_clusters_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="rent or buy needs GPUs"):
        put(**changes)


def test_impossible_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        put().renting(Decimal("-0.1"))
    with pytest.raises(ValueError, match="never used"):
        put().own_gpu_hour(Decimal(0))


rates = st.decimals("0.0001", "50", places=4)
prices = st.decimals("0.01", "5000000", places=2)


@given(price=prices, rate=rates, care=st.decimals("0", "40", places=2), years=st.integers(1, 10), tb=st.integers(0, 99))
def test_at_the_break_even_both_sides_cost_the_same(
    price: Decimal, rate: Decimal, care: Decimal, years: int, tb: int
) -> None:
    found = put(
        line(str(price)),
        per_gpu_hour=rate,
        yearly_cost_percent=care,
        years=years,
        tb=float(tb),
        storage_per_tb_month="0.01",
        electricity_per_kwh="0.2",
    )
    if found.break_even >= 0:
        assert abs(found.renting(found.break_even) - found.owning.total) <= HALF_A_CENT


@given(price=prices, more=prices, rate=rates, dearer=rates, use=st.decimals("0", "1", places=3))
def test_monotone_laws(price: Decimal, more: Decimal, rate: Decimal, dearer: Decimal, use: Decimal) -> None:
    """A dearer purchase raises the break-even, a dearer offer lowers it; more use never makes renting cheaper."""
    here = put(line(str(price)), per_gpu_hour=rate)
    assert put(line(str(price + more)), per_gpu_hour=rate).break_even > here.break_even
    assert put(line(str(price)), per_gpu_hour=rate + dearer).break_even < here.break_even
    assert here.renting(use) <= here.renting(Decimal(1))
    assert here.renting(Decimal(0)) == 0


def test_the_customer_reads_the_same_numbers_to_the_cent() -> None:
    """Discounts are in the price of the lines there, so what is paid and every cost from it are the same."""
    result = sized("dgx1-f800-resnet50")
    offer = Rental.model_validate({"per_gpu_hour": "2.5", "years": 5, "yearly_cost_percent": "3"})
    inside = replace(result, request=result.request.model_copy(update={"rental": offer}))
    told = rent_or_buy(customer_copy(inside))
    assert told == rent_or_buy(inside)
    assert told is not None
    assert told.n_gpus == 72
    assert told.stored_tb == Fraction("22.2")
    assert rent_or_buy(result) is None


def test_a_deal_reads_the_same_in_the_customers_copy() -> None:
    """The deal is shared among the customer's lines in cents a piece; both copies count with these."""
    asked = sized("dgx1-f800-inception-v4").request.model_dump(exclude_none=True)
    offer = {"per_gpu_hour": "2.5", "years": 5}
    support = {"description": "Care", "category": "support", "quantity": 7, "unit_price": "333.33", "term_months": 36}
    request = SizingRequest.from_dict(
        {**asked, "rental": offer, "quote": {"discount_percent": "2.37", "line": [support]}}
    )
    result = size(request, catalog())
    inside, told = rent_or_buy(result), rent_or_buy(customer_copy(result))
    assert inside == told
    assert inside is not None
    # 2,333.31 less 2.37 %, two thirds of it again; a line is less than a cent a piece away.
    assert inside.owning.support == pytest.approx(Decimal("1518.67"), abs=Decimal("0.05"))
