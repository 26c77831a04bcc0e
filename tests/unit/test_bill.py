"""Bills: money, prices, lines and warnings."""

import datetime
from decimal import Decimal

import numpy as np
import pytest

from sizer.bom.lines import bill, row_cost
from sizer.bom.money import parse_amount, round_money
from sizer.bom.prices import PriceBook, price_book
from sizer.catalog.loader import load_catalog
from sizer.catalog.schema import Price
from sizer.physical.plan import CATEGORIES, Component
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.workload.request import Existing, SizingRequest

DAY = datetime.date(2026, 11, 21)


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(scope="module")
def design(catalog):
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
            "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]},
        }
    )
    existing = Existing(servers={"dgx-1": 1})
    return slice_row(quantities(platforms(catalog, request)[0], [9], [8], catalog=catalog, existing=existing), 0)


def price(item, amount, currency="USD", date="2026-10"):
    return Price(item=item, amount=amount, currency=currency, date=date, source="quote", where="line 1")


@pytest.mark.parametrize(("text", "amount"), [("149000", "149000"), (" 12.50 ", "12.50")])
def test_amounts(text, amount):
    assert parse_amount(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "-1", "1e5", "NaN", "1,000", "12.", "$5", "9" * 16])
def test_bad_amounts_are_refused(text):
    with pytest.raises(ValueError, match=r"is not a price; write digits and a point"):
        parse_amount(text)


@pytest.mark.parametrize(
    ("amount", "rounded"), [("0.005", "0.01"), ("2.345", "2.35"), ("2.3449", "2.34"), ("7", "7.00")]
)
def test_money_rounds_half_up(amount, rounded):
    assert str(round_money(Decimal(amount))) == rounded


def test_the_youngest_price_counts():
    book = PriceBook([price("a", "3", date="2018-05"), price("a", "2", date="2018"), price("a", "9", "EUR", "2020")])
    assert book.quote("a", "USD").amount == 3
    assert book.quote("a", "EUR").amount == 9
    assert book.quote("a", "CHF") is None


def test_lines_are_numbered_by_category(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "USD", DAY)
    order = [CATEGORIES.index(line.category) for line in made.lines]
    assert order == sorted(order)
    numbers = [tuple(int(n) for n in line.line.split(".")) for line in made.lines]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == (1, 1)


def test_unknown_prices_stay_unknown(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "USD", DAY)
    # tweaktown-gtc17: 149,000 USD for a DGX-1 at launch; one of nine is there already.
    assert made.total == Decimal("149000.00") * 8
    assert not made.is_complete
    assert "isilon-f800" in made.unpriced
    f800 = next(line for line in made.lines if line.item == "isilon-f800")
    assert f800.unit_price is None
    assert f800.extended is None
    zero = [line for line in made.lines if line.unit_price == 0]
    assert all(catalog.software[line.item].metric.value in ("free", "included") for line in zero)


def test_existing_equipment_costs_nothing_and_misses_nothing(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "USD", DAY)
    there = [line for line in made.lines if line.status == "existing"]
    assert [(line.item, line.quantity, line.unit_price) for line in there] == [("dgx-1", 1, None)]


def test_options_are_priced_and_not_in_the_total(catalog):
    parts = [Component("software", "software", "smartconnect-advanced", np.array([1]), "per cluster", "optional")]
    made = bill(parts, catalog, PriceBook([price("smartconnect-advanced", "100")]), "USD", DAY)
    assert made.lines[0].extended == 100
    assert made.total == 0
    assert made.is_complete


def test_another_currency_is_an_unknown_price(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "EUR", DAY)
    assert made.total == 0
    assert "dgx-1" in made.unpriced
    assert any("another currency" in warning for warning in made.warnings)


def test_warnings_of_sale_and_age(catalog):
    items = ("dgx-1", "z9100-on", "sb7800")
    parts = [Component("part", "network", item, np.array([1])) for item in items]
    book = PriceBook([price("dgx-1", "149000", date="2017-05"), price("sb7800", "9000", date="2025")])
    warnings = "\n".join(bill(parts, catalog, book, "USD", DAY).warnings)
    assert "2017-05, more than a year old" in warnings
    assert "of 2025" not in warnings  # it may be of December 2025
    assert "sale ended 2023-01-31" in warnings  # h16346, table 4
    assert "availability to be confirmed" in warnings


def test_without_a_date_nothing_is_called_old(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "USD", None)
    assert not any("old" in warning for warning in made.warnings)


def test_a_bill_takes_one_row(catalog):
    parts = [Component("server", "compute", "dgx-1", np.array([1, 2]))]
    with pytest.raises(ValueError, match="use slice_row"):
        bill(parts, catalog, PriceBook([]), "USD", None)


def test_part_numbers_come_from_the_catalogue(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "USD", DAY)
    for line in made.lines:
        assert line.sku in {"", *(sku.value for sku in catalog.item(line.item).skus)}


def test_cost_of_nothing_priced_is_none(design, catalog):
    cost, unpriced = row_cost(design.components, catalog, PriceBook([]), "USD")
    assert cost is None
    assert "dgx-1" in unpriced
