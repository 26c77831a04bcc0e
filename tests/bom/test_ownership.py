"""Cost of ownership: hand calculations to the cent, and its laws."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.bom.bill import Bill, Sum
from sizer.bom.cost import CostInterval
from sizer.bom.ownership import (
    COST_KINDS,
    Footprint,
    LaterYear,
    OwnershipCost,
    OwnershipRates,
    ownership_cost,
    with_later,
)
from tests.bom.test_rental import line

ZERO = Decimal("0.00")


def owned(
    *lines: Any, watts: float = 0.0, units: float = 0.0, racks: int = 0, deal: str = "0", later: Any = (), **rates: Any
) -> Any:
    bill = Bill("USD", lines or (line("298000"),), deal_discount_percent=Decimal(deal))
    stated = {key: Decimal(value) if isinstance(value, str) else value for key, value in rates.items()}
    rates, footprint = OwnershipRates(**{"years": 3, **stated}), Footprint(watts, False, units, racks)
    return ownership_cost(bill, rates, footprint, later)


def test_two_dgx_1_over_three_years_by_hand() -> None:
    """Two DGX-1 at 149,000 USD, 3.5 kW each: 7 kW x 1.5 x 8,760 h = 91,980 kWh a year, 18,396 USD at 0.20 USD/kWh.

    6 rack units at 25 USD a month: 1,800 USD a year. Three years: 298,000 + 55,188 + 5,400 = 358,588 USD.
    """
    found = owned(
        line("149000", quantity=2),
        watts=7000.0,
        units=6.0,
        pue_ratio=1.5,
        electricity_per_kwh="0.20",
        space_per_rack_unit_month="25",
        asks_space=True,
    )
    assert (found.purchase, found.energy, found.space) == (
        Decimal("298000.00"),
        Decimal("55188.00"),
        Decimal("5400.00"),
    )
    assert found.energy_kwh == 275_940
    assert [year.total for year in found.years] == [Decimal("318196.00"), Decimal("20196.00"), Decimal("20196.00")]
    assert found.total == Decimal("358588.00")
    assert not found.missing


def test_a_cluster_without_work_draws_a_share_of_its_typical_draw() -> None:
    """1 kW for a year: 8,760 kWh at work; used 4 % of the hours, the others at 0.3: 8,760 x (0.04 + 0.96 x 0.3)."""
    draws = [owned(watts=1000.0, years=1, utilization_fraction=use).energy_kwh for use in (None, 1.0, 0.04)]
    assert draws == [8760, 8760, Decimal("2873.28")]


def test_racks_are_paid_by_the_month() -> None:
    """Two racks at 900 USD a month for five years: 2 x 60 x 900 = 108,000 USD."""
    assert owned(racks=2, years=5, space_per_rack_month="900").space == Decimal("108000.00")


def test_support_is_renewed_in_the_year_after_its_term() -> None:
    """36 months cost 3,600: 1,200 a year from the fourth on. 18 months cost 1,800: 600 in year 2, then 1,200."""
    long = owned(line("3600", category="support", term_months=36), years=5)
    assert [year.support for year in long.years] == [ZERO, ZERO, ZERO, Decimal("1200.00"), Decimal("1200.00")]
    short = owned(line("1800", category="support", term_months=18))
    assert [year.support for year in short.years] == [ZERO, Decimal("600.00"), Decimal("1200.00")]


def test_a_stated_share_stands_for_support_that_has_no_price() -> None:
    """10 % of 100,000 a year, in all three years; the open support line is then no missing price, a server is."""
    found = owned(line("100000"), line(None, category="support"), support_percent="10")
    assert (found.support, found.n_open) == (Decimal("30000.00"), 0)
    assert owned(line("100000"), line(None), support_percent="10").n_open == 1


def test_a_stated_share_begins_where_priced_support_ends() -> None:
    """Two years are in the bill for 8,000; the third costs 10 % of 100,000 less the 5 % of the deal: 9,500."""
    found = owned(line("100000"), line("8000", category="support", term_months=24), deal="5", support_percent="10")
    assert found.purchase == Decimal("102600.00")
    assert [year.support for year in found.years] == [ZERO, ZERO, Decimal("9500.00")]


def test_subscriptions_are_renewed_and_no_support_is_paid_for_them() -> None:
    """A subscription of 1,200 a year costs 2,400 more in three years; 10 % support goes on the 10,000 alone."""
    found = owned(line("10000"), line("1200", category="software", term_months=12), support_percent="10")
    assert found.support == Decimal("5400.00")


def test_what_is_bought_later_is_part_of_the_cost() -> None:
    """100,000 first, 50,000 in year 2, nothing in year 3; 10 % support a year of what is owned: 10, 15 and 15 thousand.

    1 kW, then 2 kW: (1 + 2 + 2) x 8,760 kWh at 0.1 USD; one rack, then two, at 100 USD a month: 1,200 + 2 x 2,400.
    """
    more = Footprint(2000.0, False, 0.0, 2)
    found = owned(
        line("100000"),
        watts=1000.0,
        racks=1,
        later=[LaterYear(Sum(Decimal(50_000)), more), LaterYear(Sum(ZERO), more)],
        support_percent="10",
        electricity_per_kwh="0.1",
        space_per_rack_month="100",
        grows=True,
    )
    assert (found.purchase, found.support, found.energy) == (150_000, 40_000, Decimal("4380.00"))
    assert [year.space for year in found.years] == [1200, 2400, 2400]
    assert found.missing == ("cooling",)
    assert owned(grows=True).missing == ("electricity", "growth")
    price = CostInterval("USD", 40e3, 50e3, 55e3, 60e3)
    bill, rates = Bill("USD", (line("100000"),)), OwnershipRates(3, support_percent=Decimal(10))
    up_to = [replace(price, low=0.0)] * 4
    *_, second, interval = with_later(up_to, [price], [LaterYear(Sum(ZERO), more)] * 2, bill, rates, more)
    assert second.low == pytest.approx(40e3 * 1.1)
    assert interval.low == pytest.approx(40e3 * 1.2)  # with two years of support
    assert interval.high == pytest.approx(60e3 * 2.2)


def test_what_is_not_stated_is_named() -> None:
    assert owned().missing == ("electricity",)
    assert owned(asks_space=True).missing == ("electricity", "space")
    assert owned(electricity_per_kwh="0.1").missing == ("cooling",)
    assert owned(line("1"), line(None), electricity_per_kwh="0.1", pue_ratio=1.2).missing == ("prices",)
    assert owned(line(None)).is_unpriced
    assert owned().energy is None
    assert owned().space is None


@pytest.mark.parametrize("wrong", [{"years": 0}, {"watts": -1.0}, {"watts": float("nan")}, {"units": -1.0}])
def test_impossible_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least one year and no negative"):
        owned(**wrong)


amounts = st.decimals("0.01", "5000000", places=2)
rates = st.decimals("0", "2", places=4)


@st.composite
def ownerships(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "lines": (
            line(str(draw(amounts)), quantity=draw(st.integers(1, 9))),
            line(str(draw(amounts)), category="support", term_months=draw(st.integers(1, 60))),
        ),
        "deal": str(draw(st.decimals("0", "40", places=2))),
        "watts": draw(st.floats(0, 1e6)),
        "units": float(draw(st.integers(0, 500))),
        "years": draw(st.integers(1, 15)),
        "electricity_per_kwh": draw(rates),
        "pue_ratio": draw(st.floats(1, 3)),
        "support_percent": draw(st.none() | st.decimals("0", "30", places=2)),
        "space_per_rack_unit_month": draw(rates),
        "care_percent": draw(st.decimals("0", "20", places=2)),
    }


def cost_of(values: dict[str, Any], **changes: Any) -> OwnershipCost:
    merged = {**values, **changes}
    found: OwnershipCost = owned(*merged.pop("lines"), **merged)
    return found


@given(values=ownerships())
def test_the_total_is_the_sum_of_kinds_and_of_years(values: dict[str, Any]) -> None:
    found = cost_of(values)
    assert found.total == sum((found.of(kind) or ZERO for kind in COST_KINDS), ZERO)
    assert found.total == sum((year.total for year in found.years), ZERO)
    assert found.total >= found.purchase
    assert all(year.total >= 0 for year in found.years)


@given(values=ownerships(), more=st.floats(1.0, 2.0), cents=st.integers(0, 100))
def test_more_years_a_higher_pue_and_a_higher_price_never_cost_less(
    values: dict[str, Any], more: float, cents: int
) -> None:
    found = cost_of(values)
    assert cost_of(values, years=values["years"] + 1).total >= found.total
    assert cost_of(values, pue_ratio=values["pue_ratio"] * more).total >= found.total
    dearer = values["electricity_per_kwh"] + Decimal(cents) / 100
    assert cost_of(values, electricity_per_kwh=dearer).total >= found.total


@given(values=ownerships())
def test_the_first_years_of_a_longer_ownership_are_those_of_a_shorter_one(values: dict[str, Any]) -> None:
    assert cost_of(values, years=values["years"] + 1).years[:-1] == cost_of(values).years
