"""The budgetary price: one range in every place, never a lower bound beside totals, no cents."""

import io
import re
from dataclasses import replace
from decimal import Decimal

import openpyxl
import pytest

from sizer.catalog.price_books import Price
from sizer.deck import outline
from sizer.export.design_json import design_document, projection_document
from sizer.export.workbook.book import workbook
from sizer.guide.chapters import bill as bill_chapter
from sizer.guide.chapters import summary
from sizer.guide.context import guide_context
from sizer.guide.front_matter import budget_line
from sizer.guide.plain_text import answer_text
from sizer.guide.profile import Edition
from sizer.present.text.money import price_basis_text, price_range_text, quotes_text, range_text
from sizer.questions.compare.designs import Compared, figures_table
from sizer.sizing.best_design import best_design
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.ui.headline import tiles
from tests.factories.examples import catalog, sized
from tests.factories.requests import resnet_request

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

NAMES = ("dgx1-f800-resnet50", "llama-70b-dgx-h100")


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (31.8e6, 53.2e6, "USD 32 to 53 million"),
        (1.66e6, 3.14e6, "USD 1.7 to 3.1 million"),
        (0.88e6, 1.24e6, "USD 0.88 to 1.2 million"),
        (147_574.72, 567_986.6, "USD 150\u202f000 to 570\u202f000"),
        (39.9e6, 40.1e6, "about USD 40 million"),
    ],
)
def test_a_range_has_two_digits_and_no_cents(low: float, high: float, text: str) -> None:
    assert range_text("USD", low, high) == text


def places(result: SizingResult) -> dict[str, str]:
    """Where a reader meets the price, and what stands there."""
    context = guide_context(result, catalog(), Edition("guide"))
    chapter = bill_chapter.content(context)
    numbers = {row.cells[0].text: row.cells[1].text for row in summary.numbers_table(context).rows}
    cost = {row.cells[0].text: row.cells[1].text for row in chapter["cost"].rows}
    verdict = outline.verdict(context)
    compared = figures_table([Compared("a", result), Compared("b", result)], 0)
    sheet = openpyxl.load_workbook(io.BytesIO(workbook(result, catalog())), read_only=True)["Summary"]
    return {
        "tile": tiles(result, is_customer_mode=False)[2].figure.value,
        "terminal": next(line for line in answer_text(result).splitlines() if line.startswith("Price:")),
        "cover": budget_line(result),
        "key figures": numbers["Price"],
        "by category": f"{result.request.currency} {cost['Price']}",
        "verdict slide": " ".join(verdict.columns[-1].blocks[-1].paragraphs),
        "bill slide": outline.bill(context).title,
        "compare": next(row.cells[1].text for row in compared.rows if row.cells[0].text == "Price"),
        "workbook": next(str(row[1]) for row in sheet.values if row[0] == "Price"),
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_place_gives_the_same_range(name: str) -> None:
    result = sized(name)
    cost = result.design.cost
    ends = [f"{amount / 1e6:.2g}" for amount in (cost.low, cost.high)]
    wanted = f"USD {ends[0]} to {ends[1]} million"
    for place, text in places(result).items():
        assert wanted in text, (place, text)
        assert "at least" not in text, (place, text)
    told = design_document(result)["design"]["cost"]
    assert [told[key] for key in ("low", "expected", "high")] == pytest.approx(
        [cost.low, cost.expected, cost.high], rel=1e-11
    )
    assert (told["currency"], told["basis"]) == ("USD", "estimate")
    assert told["open_quotes"] == result.design.bill.n_unpriced > 0
    assert all(re.fullmatch("20[12][0-9]", year) for year in told["dated"])
    # A customer reads the range of the offer, and of nothing else.
    copy = customer_copy(result)
    assert wanted in places(copy)["cover"]
    assert {one.cost for one in copy.platforms if one is not copy.design} <= {None}


def test_a_bill_with_all_prices_is_exact_without_cents() -> None:
    prices = tuple(
        Price(item=item.id, amount="1000.37", currency="USD", date="2026-10", source="offer", where="1")
        for _, item in catalog().items()
    )
    design = best_design(sized(NAMES[0]).request, replace(catalog(), prices=prices)).design
    assert price_range_text(design).replace("\u202f", "") == f"USD {design.bill.total.quantize(Decimal(1))}"
    assert price_basis_text(design) == "list prices of 2026"
    assert projection_document(design)["design"]["cost"]["basis"] == "prices"


def test_a_server_that_is_priced_with_less_says_with_what() -> None:
    """E018: a server of two sockets costs USD 11,000 with 256 GB, 16,000 to 20,000 with 1 TB; the XE7745 has 1.5 TB."""
    asked = resnet_request("100 GB", {"samples_per_s": 100}, platforms={"servers": ["xe7745"]}, date="2026-11-27")
    assert "256 GB to 1 TB" in quotes_text(size(asked, catalog()), with_amounts=False)
