"""The growth plan on pages: what tables, sentences and charts say, and which guides have the chapter."""

from dataclasses import replace
from functools import cache

import pytest

from sizer import GrowthPlan, SizingRequest, growth_plan, size
from sizer.base.resources import data_dir
from sizer.catalog.loader import shipped_catalog
from sizer.guide.context import GuideContext
from sizer.guide.edition import GUIDE
from sizer.guide.outline import guide
from sizer.guide.pdf.render import guide_html
from sizer.questions.growth.tables import demand_table, platforms_table, purchases_table, sequences_table
from sizer.questions.growth.text import findings, late_purchases
from sizer.sizing.customer_copy import customer_copy

CATALOG = shipped_catalog()


@cache
def request(name: str) -> SizingRequest:
    return SizingRequest.from_file(data_dir("examples") / "questions" / f"{name}.toml")


@cache
def images() -> GrowthPlan:
    return growth_plan(request("images-grow-tenfold"), CATALOG)


def texts(table):
    return [[cell.text for cell in row.cells] for row in table.rows]


def test_purchases_say_what_is_bought_in_each_year():
    (found,) = images().platforms
    first, second, total = texts(purchases_table(found, CATALOG, "USD"))
    assert first[:3] == ["1", "9 + 4", "9 + 4"]
    assert "9\u00a0×\u00a0NVIDIA DGX-1" in first[3]
    assert second[:3] == ["2", "9 + 8", "9 + 8"]
    assert "1\u00a0×\u00a0Dell EMC Isilon F800 (4\u00a0nodes)" in second[3]  # a chassis of four
    assert "DGX-1" not in second[3]
    # Nine at the list price at launch, USD 149,000 (tweaktown-gtc17); nothing else has a price.
    assert first[4] == total[4] == "1\u202f341\u202f000"
    assert second[4] == "to be quoted"


def test_a_purchase_close_to_the_end_of_service_is_said():
    plan = images()
    (found,) = plan.platforms
    # Four more nodes of Isilon F800 a year after 2026-11; their service ends in 2029-05.
    (late,) = late_purchases(plan, found, CATALOG)
    assert (late.item, late.year, late.month, late.end, late.is_sale) == ("Isilon F800", 2, "2027-11", "2029-05", False)
    assert "Isilon F800 in year 2 (2027-11): end of service is 2029-05" in findings(plan, found, CATALOG)[1]
    # Without a date nothing is known of the day of a purchase.
    undated = replace(plan, requests=tuple(one.model_copy(update={"date": None}) for one in plan.requests))
    assert not list(late_purchases(undated, found, CATALOG))


def test_a_price_of_energy_adds_its_column():
    given = request("images-grow-tenfold")
    data = given.model_dump(exclude_none=True) | {"rental": {"per_gpu_hour": "1", "electricity_per_kwh": "0.10"}}
    plan = growth_plan(SizingRequest.from_dict(data), CATALOG)
    (found,) = plan.platforms
    table = sequences_table(found, plan, "USD")
    assert table.columns[3].title == "Energy, USD"
    spent = float(texts(table)[0][3].replace("\u202f", ""))
    assert spent == pytest.approx(found.recommended.energy_kwh * 0.10, abs=0.02)  # cents of two years


def test_what_the_years_ask_grows_by_the_factor():
    first, second = texts(demand_table(images()))
    assert first[2] == "113\u202fkB"
    assert second[2] == "1.30\u202fMB"
    assert first[1] == second[1]


def test_quotes_that_could_change_the_order_of_platforms_are_pointed_out():
    plan = growth_plan(request("data-doubles-every-year"), CATALOG)
    assert len(plan.platforms) > 1
    assert plan.deciding_prices
    assert "Quotes" in platforms_table(plan, "USD").note


@pytest.mark.guides
def test_the_chapter_stands_only_in_guides_of_requests_that_grow():
    grows = size(request("images-grow-tenfold"), CATALOG)
    assert [chapter.id for chapter in guide(grows, CATALOG).chapters].count("purchases") == 1
    stays = size(images().requests[0], CATALOG)
    assert "purchases" not in [chapter.id for chapter in guide(stays, CATALOG).chapters]


@pytest.mark.guides
@pytest.mark.parametrize("form", ["guide", "engineer"])
def test_the_chapter_says_the_plan(form):
    result = size(request("images-grow-tenfold"), CATALOG)
    page = guide_html(result, CATALOG, replace(GUIDE, form=form))
    assert ('id="purchases-years"' in page) == (form == "guide")
    assert ('id="purchases-asked"' in page) == (form == "engineer")


def test_a_customer_reads_no_money_of_the_plan():
    """What a plan costs comes from price books that may be the user's own."""
    result = customer_copy(size(request("images-grow-tenfold"), CATALOG))
    plan, _ = GuideContext(result, CATALOG, GUIDE).growth_plan
    (found,) = plan.platforms
    assert all(
        cell != "at least 1\u202f341\u202f000" for row in texts(sequences_table(found, plan, "USD")) for cell in row
    )
    assert {purchase.cost.amount for way in (found.recommended, *found.alternatives) for purchase in way.purchases} == {
        0
    }
