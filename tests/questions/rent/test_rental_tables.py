"""Rent or buy in words: the table adds up and promises no budget below nothing."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sizer.bom.bill import Bill
from sizer.bom.cost import CostInterval
from sizer.bom.ownership import Footprint, OwnershipRates
from sizer.bom.rental import RentOrBuy, compared
from sizer.questions.rent.rent_or_buy import finding, rental_table
from sizer.workload.optional_tables import Rental
from tests.bom.test_rental import line

HALF = Decimal("0.5")


def put(*prices: str | None, tb: float = 0.0, **offer: Any) -> RentOrBuy:
    """Eight GPUs without a draw for three years: 643,334.40 at 3.06 for all hours."""
    rental = Rental.model_validate({"per_gpu_hour": "3.06", "electricity_per_kwh": "0.1", **offer})
    bill = Bill("USD", tuple(line(price) for price in prices))
    rates = OwnershipRates(rental.years, rental.electricity_per_kwh, 1.0, care_percent=rental.yearly_cost_percent)
    return compared(bill, rental, rates, Footprint(0.0), n_gpus=8, stored_bytes=tb * 1e12)


def cells(found: RentOrBuy, use: Decimal | None = None) -> dict[str, str]:
    """Amounts by the name of their row."""
    return {
        row.cells[0].text: row.cells[1].text.replace("\u202f", "")
        for row in rental_table(found, use).rows
        if row.kind != "group"
    }


def test_the_table_adds_up_and_names_what_is_missing() -> None:
    """149,000 with 10 % a year for three years; 105,120 h at 3.06 and 10 TB for 36 months at 20."""
    offer = {"tb": 10.0, "storage_per_tb_month": 20, "yearly_cost_percent": 10}
    said = cells(put("149000", **offer), HALF)
    assert said["Net purchase"] == "149000"
    assert said["Staff, space and maintenance"] == "44700"
    assert said["Total cost of buying"] == "193700"
    assert said["GPU-hours"] == "321667"
    assert said["Storage"] == "7200"
    assert said["Total cost of renting"] == "328867"
    assert said["Cost of one used GPU-hour when buying"] == "1.84"  # 193,700 / 105,120
    assert "Storage" not in cells(put("149000"))
    assert cells(put("149000", electricity_per_kwh=None))["Electricity"] == "not included"
    for lines in (("149000", None), (None,)):
        said = cells(put(*lines, **offer), HALF)
        assert {said["Net purchase"], said["Total cost of buying"]} == {"to be quoted"}
        assert said.get("Staff, space and maintenance", "to be quoted") == "to be quoted"
        assert not {"Break-even utilization", "Cost of one used GPU-hour when buying"} & said.keys()
    said = cells(put("149000", None, **offer), HALF)
    assert said["Maximum for all lines to be quoted"] == "103975"  # (328,867.20 - 193,700) / 1.3


def test_buying_for_a_budgetary_price_counts_what_running_costs() -> None:
    """USD 200,000 with 10 % a year for three years, and nothing drawn."""
    assert put(None, yearly_cost_percent=10).buying(200e3) == 260e3


def test_a_share_of_support_is_counted_once_and_the_ranges_of_the_table_add_up() -> None:
    """USD 150,000 to 250,000, of which 100,000 are known; 8 % of support a year for three years: times 1.24."""
    rates = OwnershipRates(3, None, 1.0, support_percent=Decimal(8))
    bill = Bill("USD", (line("100000"), line(None)))
    offer = Rental.model_validate({"per_gpu_hour": "3.06"})
    found = compared(bill, offer, rates, Footprint(0.0), n_gpus=8, stored_bytes=0.0)
    assert found.buying(200e3) == 248e3
    said = cells(replace(found, cost=CostInterval("USD", 150e3, 190e3, 230e3, 250e3)))
    assert said["Net purchase"] == "150000 to 250000"
    assert said["Break-even utilization"] == "29% to 48%"  # of 8 x 26,280 h x 3.06 = 643,334
    assert said["Support beyond the purchase"] == "36000 to 60000"
    assert said["Total cost of buying"] == "190000 to 310000"


def test_no_row_promises_a_budget_below_nothing() -> None:
    too_much, tenth = put("160833.60", None), Decimal("0.1")
    assert cells(too_much, tenth)["Maximum for all lines to be quoted"] == "none: rent"
    assert not re.search(r"[-\N{MINUS SIGN}]\d", finding(too_much, tenth))
