"""LibreOffice calculates every formula of the workbook anew; decimal arithmetic done here says what must come out."""

import io
import os
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import cycle
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from sizer import Catalog, SizingRequest, SizingResult, load_catalog, size
from sizer.base.resources import data_dir
from sizer.catalog.loader import shipped_catalog
from sizer.export.workbook.book import workbook
from sizer.present.bill_tables import CATEGORY_TITLES
from sizer.sizing.customer_copy import customer_copy
from tests.factories.customer_secrets import secret_catalog, secret_request

pytestmark = pytest.mark.office

SOFFICE = os.environ.get("SIZER_SOFFICE", "")
EXAMPLES = ("dgx1-f800-inception-v4", "c4140-f800", "apollo-weka-resnet50", "small-team")
HEAD_ROW = 4
OPEN = "to be quoted"
BOUGHT = ("included", "overridden", "added")
CENT = Decimal("0.01")
# LibreOffice trusts the values that Excel stored unless its settings say "always recalculate" (0).
ALWAYS_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""
# 11.00 x (1 - 93.5 %) is 0.715 and 1800.55 x (1 - 2.5 %) is 1755.53625: half a cent and a little more.
PRICES = ("11.00", "1800.55", "0.05", "123456.78", "97.00", "149000.10", "9999999.99")
DISCOUNTS = ("0.935", "0.025", "0", "0.3333", "0.5", "1", "0.0725")

Recalculated = Callable[..., list[openpyxl.Workbook]]


@pytest.fixture(scope="module")
def recalculated(tmp_path_factory: pytest.TempPathFactory) -> Recalculated:
    """Workbooks as LibreOffice saves them, every formula calculated."""
    if not SOFFICE:
        pytest.skip("SIZER_SOFFICE names no LibreOffice")
    profile = tmp_path_factory.mktemp("profile")
    (profile / "user").mkdir()
    (profile / "user" / "registrymodifications.xcu").write_text(ALWAYS_RECALCULATE, encoding="utf-8")

    def calculate(*files: bytes) -> list[openpyxl.Workbook]:
        folder = tmp_path_factory.mktemp("books")
        paths = [folder / f"{number}.xlsx" for number in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        command = [SOFFICE, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to"]
        command += ["xlsx:Calc MS Excel 2007 XML", "--outdir", str(folder / "out"), *map(str, paths)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        return [openpyxl.load_workbook(folder / "out" / path.name, data_only=True) for path in paths]

    return calculate


@pytest.fixture(scope="module")
def results() -> dict[str, SizingResult]:
    catalog = shipped_catalog()
    return {name: size(SizingRequest.from_file(data_dir("examples") / f"{name}.toml"), catalog) for name in EXAMPLES}


def written(result: SizingResult) -> bytes:
    return workbook(result, shipped_catalog())


# --- what must come out, from what a person could have typed


@dataclass(frozen=True)
class Expected:
    """Amounts of one line; None where it is to be quoted."""

    category: str
    is_bought: bool
    is_recurring: bool
    quantity: int
    list_price: Decimal | None
    net_price: Decimal | None
    months: int | None

    def extended(self, price: Decimal | None) -> Decimal | None:
        if self.quantity == 0:
            return Decimal(0)
        return None if price is None else self.quantity * price

    @property
    def yearly(self) -> Decimal | None:
        net = self.extended(self.net_price)
        return None if net is None or not self.months else cents(net * 12 / self.months)


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


def typed(value: Any) -> Decimal | None:
    """Number of a cell as it was typed: the shortest decimal that is this binary number."""
    return Decimal(repr(value)) if isinstance(value, int | float) else None


def lines_of(book: openpyxl.Workbook) -> list[dict[str, Any]]:
    rows = list(book["BOM"].iter_rows(min_row=HEAD_ROW, values_only=True))
    lines = [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]
    return [line for line in lines if re.fullmatch(r"\d+\.\d+", str(line["Line"]))]


def expected(line: dict[str, Any]) -> Expected:
    price, discount = typed(line["Unit list price"]), typed(line["Discount %"]) or Decimal(0)
    return Expected(
        category=line["Category"],
        is_bought=line["Status"] in BOUGHT,
        is_recurring=bool(line["Term (months)"]) or line["Category"] == "support",
        quantity=int(line["Qty"]),
        list_price=price,
        net_price=None if price is None else cents(price * (1 - discount)),
        months=line["Term (months)"],
    )


def summed(amounts: Iterable[Decimal | None]) -> Decimal | str:
    """Sum of what is known; 'to be quoted' while nothing but zero is known."""
    found = list(amounts)
    known = sum((amount for amount in found if amount is not None), Decimal(0))
    return OPEN if known == 0 and None in found else known


def same(cell: Any, amount: Decimal | str | None) -> bool:
    """Whether a cell holds an amount to the cent; binary numbers hold cents to about 1e-6 of these amounts."""
    if amount is None or isinstance(amount, str):
        return bool(cell == (amount or OPEN))
    return isinstance(cell, int | float) and cents(Decimal(repr(cell))) == amount


def row_of(sheet: Any, *labels: str) -> list[Any]:
    (found,) = [list(row) for row in sheet.iter_rows(values_only=True) if set(labels) & set(row)]
    return found


def check(book: openpyxl.Workbook) -> list[Expected]:
    """Every line and every sum of a calculated workbook against decimal arithmetic."""
    for sheet in book:
        for row in sheet.iter_rows(values_only=True):
            assert not [cell for cell in row if isinstance(cell, str) and re.match(r"#[A-Z/0]+[!?]?|Err:", cell)]
    found = []
    for line in lines_of(book):
        want = expected(line)
        found.append(want)
        if line["Status"] in ("existing", "by others"):
            assert line["Extended net"] in ("at hand", "provided by others")
            continue
        assert same(line["Unit net price"], want.net_price), line
        assert same(line["Extended list"], want.extended(want.list_price)), line
        assert same(line["Extended net"], want.extended(want.net_price)), line
    bought = [one for one in found if one.is_bought]
    lists = [one.extended(one.list_price) for one in bought]
    nets = [one.extended(one.net_price) for one in bought]
    total = summed(nets)
    bill, summary = book["BOM"], book["Summary"]
    sums = row_of(bill, "Sum of the lines")
    assert same(sums[11], summed(lists))
    assert same(sums[12], total)
    deal = row_of(bill, "Discount of the deal, on the sum of the net prices")
    less = cents(total * (typed(deal[9]) or 0)) if isinstance(total, Decimal) else OPEN
    label = "Lines with a price" if None in nets else "Total"
    last = row_of(bill, "Lines with a price", "Total")
    assert last[5] == label
    price = total - less if isinstance(total, Decimal) and isinstance(less, Decimal) else OPEN
    assert same(last[12], price)
    assert same(row_of(summary, "Lines with a price", "Total")[2], price)
    for category in {one.category for one in bought}:
        own = [one for one in bought if one.category == category]
        (row,) = [row for row in summary.iter_rows(values_only=True) if row[0] == CATEGORY_TITLES[category]]
        assert same(row[1], summed(one.extended(one.list_price) for one in own)), category
        assert same(row[2], summed(one.extended(one.net_price) for one in own)), category
        n_open = sum(one.extended(one.net_price) is None for one in own)
        assert (row[3] or "") == (
            "" if not n_open else "1 line needs a quote" if n_open == 1 else f"{n_open} lines need a quote"
        )
    once = [one.extended(one.net_price) for one in bought if not one.is_recurring]
    again = [one.extended(one.net_price) for one in bought if one.is_recurring]
    years = [one.yearly for one in bought if one.is_recurring and one.quantity]

    def paid(amounts: list[Decimal | None]) -> Decimal | str:
        """After the discount of the deal, as the total is."""
        amount = summed(amounts)
        return amount if isinstance(amount, str) else amount - cents(amount * (typed(deal[9]) or 0))

    assert same(row_of(summary, "Bought once (CapEx)")[2], paid(once))
    assert same(row_of(summary, "Of that per year (OpEx)")[2], paid(years))
    rest = summed(again)
    if isinstance(rest, Decimal) and isinstance(price, Decimal):  # the rest of the total, so that both add up to it
        bought_once = paid(once)
        rest = price - (bought_once if isinstance(bought_once, Decimal) else 0)
    assert same(row_of(summary, "Support and subscriptions")[2], rest)
    return found


# --- the tests


def test_the_sums_of_the_examples_are_those_of_the_program(
    recalculated: Recalculated, results: dict[str, SizingResult]
) -> None:
    for name, book in zip(results, recalculated(*map(written, results.values())), strict=True):
        check(book)
        bill = results[name].design.bill
        for line, cells in zip(bill.lines, lines_of(book), strict=True):
            if line.extended_net is not None:
                assert same(cells["Extended net"], line.extended_net)
        price = OPEN if bill.net_total.is_unknown else bill.total
        assert same(row_of(book["BOM"], "Lines with a price", "Total")[12], price), name


def test_a_quote_with_discounts_terms_and_own_lines(recalculated: Recalculated, tmp_path: Path) -> None:
    (tmp_path / "prices").mkdir()
    (tmp_path / "prices" / "book.csv").write_text(
        "item,amount,currency,date,source,discount_percent,term_months,lead_time_weeks\n"
        "dgx-1,149000.00,USD,2026-10-01,offer 1,12.5,,10\n"
        "isilon-f800,250000.05,USD,2026-10-01,offer 1,33.33,,16\n"
        "dgx-support,9000.05,USD,2026-10-01,offer 1,93.5,36,\n"
    )
    catalog = load_catalog(overlay=tmp_path)
    request = SizingRequest.from_file(data_dir("examples") / f"{EXAMPLES[0]}.toml").model_dump()
    request["quote"] = {
        "discount_percent": "2.55",
        "override": [
            {"item": "ap8886", "by_others": True},
            {"item": "ar3300", "quantity": 7, "unit_price": "1800.55", "discount_percent": "7.5"},
            {"item": "blanking-panel-1u", "quantity": 0},
        ],
        "line": [
            {"description": "Installation", "category": "service", "quantity": 1, "unit_price": 18000},
            {
                "description": "Monitoring",
                "category": "service",
                "quantity": 3,
                "unit_price": "99.99",
                "term_months": 7,
            },
            {"description": "Training", "category": "service", "quantity": 1, "unit_price": 1, "status": "optional"},
        ],
    }
    result = size(SizingRequest.from_dict(request), catalog)
    (book,) = recalculated(workbook(result, catalog))
    check(book)
    assert same(row_of(book["BOM"], "Lines with a price")[12], result.design.bill.total)
    assert same(row_of(book["Summary"], "Of that per year (OpEx)")[2], result.design.bill.yearly.amount)
    assert row_of(book["Summary"], "Longest known lead time")[2] == 16


def with_a_sum(catalog: Catalog) -> SizingResult:
    """A customer's copy in which the cents left over by a discount make one line a sum without a unit price."""
    asked = secret_request().model_dump(exclude_none=True)
    for cents in range(239, 339):
        quote = {**asked["quote"], "discount_percent": str(Decimal(cents) / 100)}
        copy = customer_copy(size(SizingRequest.from_dict({**asked, "quote": quote}), catalog))
        if sum(line.fixed_extended is not None for line in copy.design.bill.lines) == 1:
            return copy
    raise AssertionError("no discount leaves cents over")


def test_a_customer_copy_adds_up_and_takes_a_price(recalculated: Recalculated, tmp_path: Path) -> None:
    """One copy with every line priced, and one with a discount of the deal into whose open line a price is typed."""
    (tmp_path / "overlay").mkdir()
    priced = secret_catalog(tmp_path / "overlay")
    whole, part = with_a_sum(priced), customer_copy(size(secret_request(), shipped_catalog()))
    book = openpyxl.load_workbook(io.BytesIO(written(part)))
    rows = [row for row in range(HEAD_ROW + 1, book["BOM"].max_row) if book["BOM"].cell(row, 9).value == OPEN]
    quantity = int(book["BOM"].cell(rows[0], 7).value)
    book["BOM"].cell(rows[0], 9).value = 1234.56
    stream = io.BytesIO()
    book.save(stream)
    first, second = recalculated(workbook(whole, priced), stream.getvalue())
    bill = whole.design.bill
    for line, cells in zip(bill.lines, lines_of(first), strict=True):
        assert same(cells["Extended price"], line.extended_net) or line.status == "by others"
    assert same(row_of(first["BOM"], "Total")[9], bill.total)
    assert same(row_of(first["Summary"], "Total")[2], bill.total)
    assert same(row_of(first["Summary"], "Bought once (CapEx)")[2], bill.one_off.amount)
    assert same(row_of(first["Summary"], "Of that per year (OpEx)")[2], bill.yearly.amount)
    typed_in = part.design.bill.total + quantity * Decimal("1234.56")
    assert same(row_of(second["BOM"], "Lines with a price")[9], typed_in)
    assert same(row_of(second["Summary"], "Lines with a price")[2], typed_in)


@pytest.mark.parametrize("left_open", [0, 1, 3])
def test_prices_filled_in_reach_every_sum(
    recalculated: Recalculated, results: dict[str, SizingResult], left_open: int
) -> None:
    files = [filled(written(result), left_open) for result in results.values()]
    for book in recalculated(*files):
        bought = [one for one in check(book) if one.is_bought]
        assert sum(one.net_price is None for one in bought) == left_open
        total = row_of(book["BOM"], "Lines with a price", "Total")
        assert total[5] == ("Lines with a price" if left_open else "Total")
        assert isinstance(total[12], float | int)
        assert total[12] > 0


def filled(data: bytes, left_open: int) -> bytes:
    """Workbook into which a person typed prices, discounts, terms and a discount of the deal."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    sheet = book["BOM"]
    given = cycle(zip(PRICES, DISCOUNTS, strict=True))
    rows = [row for row in range(HEAD_ROW + 1, sheet.max_row) if sheet.cell(row, 23).value in BOUGHT]
    wanted = [row for row in rows if sheet.cell(row, 9).value == OPEN]
    for row in wanted[: len(wanted) - left_open]:
        price, discount = next(given)
        sheet.cell(row, 9).value = float(price)
        sheet.cell(row, 10).value = float(discount)
        if sheet.cell(row, 3).value == "support":
            sheet.cell(row, 15).value = 36
    sheet[book.defined_names["DealDiscount"].attr_text.partition("!")[2].replace("$", "")].value = 0.0333
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_what_is_emptied_or_no_price_is_to_be_quoted_and_not_zero(
    recalculated: Recalculated, results: dict[str, SizingResult]
) -> None:
    book = openpyxl.load_workbook(io.BytesIO(written(results[EXAMPLES[0]])))
    sheet = book["BOM"]
    assert sheet["I5"].value == 149_000  # tweaktown-gtc17, the only published price
    sheet["I5"].value = None
    sheet["I6"].value = "soon"
    sheet["J6"].value = None
    optional = next(row for row in range(5, sheet.max_row) if sheet.cell(row, 23).value == "optional")
    sheet.cell(optional, 23).value = "included"
    stream = io.BytesIO()
    book.save(stream)
    (calculated,) = recalculated(stream.getvalue())
    first, second = lines_of(calculated)[:2]
    for name in ("Unit net price", "Extended list", "Extended net"):
        assert first[name] == second[name] == OPEN
    assert row_of(calculated["BOM"], "Lines with a price")[12] == OPEN
    check(calculated)


def test_stored_values_are_those_that_libreoffice_finds(
    recalculated: Recalculated, results: dict[str, SizingResult]
) -> None:
    """Viewers that do not calculate show the stored values: they must be the same in every cell."""
    data = [written(result) for result in results.values()]
    for stored, book in zip(data, recalculated(*data), strict=True):
        before = openpyxl.load_workbook(io.BytesIO(stored), data_only=True)
        for name in ("Summary", "BOM"):
            after = {cell.coordinate: cell.value for row in book[name].iter_rows() for cell in row}
            for row in before[name].iter_rows():
                for cell in row:
                    got = after.get(cell.coordinate)
                    if isinstance(cell.value, int | float):
                        assert got == pytest.approx(cell.value, abs=1e-6), (name, cell.coordinate)
                    else:
                        assert (got or "") == (cell.value or ""), (name, cell.coordinate)
