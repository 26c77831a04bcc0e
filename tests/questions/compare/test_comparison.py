"""Answers side by side: values are those of the answers, differences have the right sign and words."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from sizer.base.quantities import si
from sizer.present.tables import Table
from sizer.questions.compare.designs import Compared, card_figures, count_difference, difference, figures_table
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.size import size
from tests.factories.examples import catalog, sized

RESNET, INCEPTION, TEAM = "dgx1-f800-resnet50", "dgx1-f800-inception-v4", "small-team"


def pair(*names: str) -> list[Compared]:
    return [Compared(name, sized(name)) for name in names]


def cells(table: Table, label: str) -> list[str]:
    (found,) = [row for row in table.rows if row.cells[0].text == label]
    return [cell.text for cell in found.cells[1:]]


def larger(**changes):
    """The first example with another target or with other keys of the request."""
    request = sized(RESNET).request
    return size(request.model_copy(update=changes), catalog())


@pytest.mark.parametrize(
    ("value", "base", "expected"),
    [
        (112, 100, "+12\u202f%"),
        (88, 100, "\u221212\u202f%"),
        (100, 100, "same"),
        (1005, 1000, "+0.50\u202f%"),
        (100.01, 100, "same"),
        (5, 0, ""),
        (30, 1, "+2\u202f900\u202f%"),
    ],
)
def test_a_difference_has_its_sign_and_percent(value, base, expected):
    assert difference(value, base) == expected


@pytest.mark.parametrize(
    ("value", "base", "expected"), [(80, 72, "+8"), (64, 72, "\u22128"), (7, 7, "same"), (41.5, 41, "+0.5")]
)
def test_a_difference_of_counts_is_a_count(value, base, expected):
    assert count_difference(value, base) == expected


def test_overlapping_intervals_are_no_difference_and_other_workloads_have_none():
    work = sized(RESNET).request.workload[0]
    faster = larger(
        workload=(work.model_copy(update={"target": work.target.model_copy(update={"samples_per_s": 56e3})}),)
    )
    one, other = sized(RESNET).design.workloads[0].throughput, faster.design.workloads[0].throughput
    assert other.low < one.high
    assert other.value > one.value
    table = figures_table([Compared("as asked", sized(RESNET)), Compared("faster", faster)], 0)
    assert cells(table, "Rate")[1].endswith("(within the interval)")
    assert cells(table, "Probability of the targets")[1].endswith("(other targets)")
    mixed = figures_table(pair(RESNET, INCEPTION), 0)
    assert cells(mixed, "Rate")[1].startswith("Inception-v4: ")
    assert cells(mixed, "Rate")[1].endswith("(other workload)")


def test_ranges_of_prices_that_overlap_have_no_difference_and_none_is_a_lower_bound():
    designs = pair(RESNET, INCEPTION)
    costs = [one.result.design.cost for one in designs]
    assert costs[0].low < costs[1].high
    assert costs[1].low < costs[0].high
    first, second = cells(figures_table(designs, 0), "Price")
    assert first.startswith("USD ")
    assert second.endswith("(within the interval)")
    apart = figures_table(pair(RESNET, TEAM), 0)
    cost = sized(TEAM).design.cost
    assert cost.high < costs[0].low
    share = 100 * (1 - cost.expected / costs[0].expected)
    assert cells(apart, "Price")[1].endswith(f"(\u2212{share:.0f}\u202f%)")
    prices = [row for row in apart.rows if row.cells[0].text.startswith("Price")]
    assert not [cell.text for row in prices for cell in row.cells if "at least" in cell.text]
    assert cells(apart, "Price per GPU")[0].startswith("USD ")


def test_the_price_is_what_is_paid_in_the_house_and_to_a_customer():
    quote = sized(RESNET).request.quote.model_copy(update={"discount_percent": Decimal(10)})
    cut = larger(quote=quote)
    less = sized(RESNET).design.cost.low - cut.design.cost.low
    assert less >= 0.1 * float(sized(RESNET).design.bill.total)  # and support costs a share of it
    inside = figures_table([Compared("list", sized(RESNET)), Compared("cut", cut)], 0)
    told = figures_table([Compared("list", customer_copy(sized(RESNET))), Compared("cut", customer_copy(cut))], 0)
    assert cells(inside, "Price") == cells(told, "Price")


def test_values_side_by_side_have_one_unit():
    """0.95 kW beside 38.0 kW, never 950 W."""
    assert si(950.0, "W", like=38e3) == "0.950\u202fkW"
    assert si(38e3, "W") == "38.0\u202fkW"
    large = sized(RESNET).design
    small = replace(large, quantities=replace(large.quantities, power_max_w=np.array([950.0])))
    shown = {figure.label: figure for figure in card_figures(small, large)}
    assert shown["Power, maximum"].value == "0.950\u202fkW"
