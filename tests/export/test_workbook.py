"""The workbook: sheets, stored values, formulas, print set-up, and text that stays text."""

import dataclasses
import io
from decimal import Decimal
from typing import Any

import openpyxl
import pytest

from sizer.base.resources import data_dir
from sizer.bom.bill import Bill, LineNote, LineNoteKind, stated
from sizer.export.workbook.book import workbook
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.result import SizingResult
from sizer.sizing.size import size
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest
from tests import factories
from tests.factories.examples import catalog
from tests.factories.examples import sized as example

HEAD_ROW = 4


def opened(result: SizingResult, *, values: bool) -> openpyxl.Workbook:
    """Workbook read back, with formulas or with the values that were stored for them."""
    return openpyxl.load_workbook(io.BytesIO(workbook(result, factories.catalog())), data_only=values)


def with_bill(result: SizingResult, bill: Bill, **request: Any) -> SizingResult:
    """The result with another bill and fields of its request."""
    design = dataclasses.replace(result.design, bill=bill)
    return dataclasses.replace(result, design=design, request=result.request.model_copy(update=request))


def priced(**more: Any) -> SizingResult:
    """A result with discounts, terms, open lines and lines that do not count."""
    lines = [
        factories.line(
            "1.1",
            "storage",
            "a",
            "Dell EMC",
            "Chassis",
            3,
            "250000.05",
            discount_percent=Decimal("33.33"),
            lead_time_weeks=16,
        ),
        factories.line("2.1", "network", "b", "Mellanox", "Switch", 6),
        factories.line("3.1", "software", "c", "X", "Monitoring", 1, "10.00", status="optional"),
        factories.line("3.2", "software", "d", "X", "Manager", 9, "0.00", notes=(LineNote(LineNoteKind.FREE),)),
        factories.line(
            "4.1",
            "support",
            "e",
            "X",
            "Support",
            8,
            "900",
            term_months=36,
            status="overridden",
            changes=(LineNote(LineNoteKind.NEW_PRICE, (Decimal(900), None, "USD")),),
            notes=(LineNote(LineNoteKind.BOOK_PRICE, (None, "USD")),),
        ),
        factories.line(
            "5.1",
            "service",
            "",
            "",
            "Installation",
            1,
            "18000",
            status="added",
            changes=(LineNote(LineNoteKind.ADDED),),
        ),
        factories.line("5.2", "service", "", "", "Crane", 1, status="by others"),
        factories.line("5.3", "service", "f", "X", "Server", 1, status="existing"),
    ]
    return with_bill(factories.nine_dgx1(), factories.bill(lines, deal_discount_percent=Decimal("2.5")), **more)


def bill_rows(book: openpyxl.Workbook) -> list[dict[str, Any]]:
    """Lines of the sheet BOM by the heads of their columns."""
    rows = list(book["BOM"].iter_rows(min_row=HEAD_ROW, values_only=True))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:] if row[0] and row[2]]


def values_at(sheet: Any, label: str) -> list[Any]:
    """Values of the row in which a cell reads ``label``."""
    (found,) = [row for row in sheet.iter_rows(values_only=True) if label in row]
    return [value for value in found if value not in (None, "", label)]


def test_workbook_has_its_sheets_and_stored_values() -> None:
    book = opened(factories.nine_dgx1(), values=True)
    assert book.sheetnames == [
        "Summary",
        "BOM",
        "Networks",
        "Cables",
        "Power",
        "Racks",
        "Elevations",
        "Facility",
        "Assumptions",
        "Vendor questions",
        "Change log",
        "Sources",
    ]
    first, second = bill_rows(book)[:2]
    assert (first["Qty"], first["Unit list price"], first["Extended list"]) == (9, 149_000, 1_341_000)
    assert second["Unit list price"] == second["Extended list"] == second["Unit net price"] == "to be quoted"
    assert values_at(book["BOM"], "Lines with a price") == [1_341_000, "USD"]


def test_discounts_terms_and_the_deal_are_in_the_sums() -> None:
    book = opened(priced(), values=True)
    rows = {row["Line"]: row for row in bill_rows(book)}
    assert (rows["1.1"]["Discount %"], rows["1.1"]["Unit net price"]) == (0.3333, 166_675.03)
    assert (rows["1.1"]["Extended list"], rows["1.1"]["Extended net"]) == (750_000.15, 500_025.09)
    assert rows["5.2"]["Extended net"] == rows["5.2"]["Unit list price"] == "provided by others"
    assert rows["5.3"]["Extended net"] == "at hand"
    sheet = book["BOM"]
    # 500025.09 + 9 x 0 + 8 x 900 + 18000; the option and the parts of others stay out.
    assert values_at(sheet, "Sum of the lines") == [775_200.15, 525_225.09]
    assert values_at(sheet, "Discount of the deal, on the sum of the net prices") == [0.025, -13_130.63]  # 13130.62725
    assert values_at(sheet, "Lines with a price") == [512_094.46, "USD"]
    summary = book["Summary"]
    assert values_at(summary, "Storage") == [750_000.15, 500_025.09]
    assert values_at(summary, "Network") == ["to be quoted", "to be quoted", "1 line needs a quote"]
    assert values_at(summary, "Software") == [0, 0]  # its source says that it is free
    assert values_at(summary, "Bought once (CapEx)")[0] == 505_074.46  # less 2.5 %, as the total
    assert values_at(summary, "Support and subscriptions")[0] == 7_020
    assert values_at(summary, "Of that per year (OpEx)")[0] == 2_340
    assert values_at(summary, "Longest known lead time") == [16, "1 of 5 lines have a lead time"]
    assert values_at(summary, "Lines with a price") == [512_094.46]


def test_figures_are_numbers_with_their_unit_beside_them() -> None:
    """72 GPUs and 9 servers by count; the summary prints what the guide prints, rounded to three digits."""
    book = opened(example("dgx1-f800-resnet50"), values=True)
    rows = {row[0]: row for row in book["Summary"].iter_rows(values_only=True) if row[0]}
    assert rows["Answer"][1:3] == ("Value", "Unit")
    assert rows["GPU servers"][1] == 9
    assert rows["GPUs"][1] == 72
    assert rows["Rack units"][1:3] == (41, "U")
    assert rows["Usable capacity"][1:3] == (72, "TB")
    assert rows["Power, maximum"][1:3] == (38.0, "kW")  # 9 x 3.5 kW, and storage, head node and switches
    assert rows["Target, ResNet-50 training"][1:3] == (52_000, "images/s")
    value, unit = rows["Throughput, ResNet-50 training"][1:3]
    assert unit == "images/s"
    assert isinstance(value, int | float)
    assert value == pytest.approx(52_000, rel=0.05)
    # The cells have names that formulas can use.
    shown = {}
    for name in ("GpuServers", "Gpus", "Racks", "RackUnits", "MaximumPower", "TotalPrice"):
        ((sheet, cell),) = book.defined_names[name].destinations
        shown[name] = book[sheet][cell.replace("$", "")].value
    assert shown["GpuServers"] == 9
    assert shown["Gpus"] == 72
    assert shown["RackUnits"] == 41
    assert shown["TotalPrice"] == 1_341_000


def test_the_workbook_sums_up_what_the_cable_list_has_cable_by_cable() -> None:
    """Over a hundred cables in a dozen kinds; the assumptions are the engineer's."""
    result = example("dgx1-f800-resnet50")
    copy = opened(customer_copy(result), values=True)
    assert not {"Assumptions", "Vendor questions", "Change log", "Data"} & set(copy.sheetnames)
    for book in (copy, opened(result, values=True)):
        rows = list(book["Cables"].iter_rows(min_row=HEAD_ROW, values_only=True))
        place = rows[0].index("Number")
        numbers = [row[place] for row in rows[1:] if isinstance(row[place], int)]
        assert sum(numbers) == result.design.plan.n_links
        assert len(numbers) < 20


def test_a_list_that_is_too_long_for_a_sheet_says_how_long_it_is_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outlets of 11 columns: that list alone has over 500 cells."""
    monkeypatch.setattr("sizer.export.workbook.book._MOST_CELLS", 500)
    book = opened(example("dgx1-f800-resnet50"), values=True)
    (note,) = [row[0] for row in book["Power"].iter_rows(values_only=True) if "netbox.zip" in str(row[0])]
    assert int(note.split()[0]) > 500 / 11
    assert not [row for row in book["Power"].iter_rows(min_row=HEAD_ROW + 1, values_only=True) if row[1]]
    assert [row for row in book["Racks"].iter_rows(min_row=HEAD_ROW + 1, values_only=True) if row[1]]


def test_no_total_is_zero_while_nothing_has_a_price() -> None:
    lines = [factories.line("1.1", "compute", "c4140", "Dell EMC", "PowerEdge C4140", 1)]
    book = opened(with_bill(factories.one_c4140(), factories.bill(lines)), values=True)
    for name in ("Summary", "BOM"):
        (total,) = [row for row in book[name].iter_rows(values_only=True) if "Lines with a price" in row]
        assert 0 not in total
        assert "to be quoted" in total
    for row in bill_rows(book):
        assert {row[name] for name in ("Unit list price", "Unit net price", "Extended list", "Extended net")} == {
            "to be quoted"
        }


# --- text that stays text


def hostile() -> SizingResult:
    """A result whose texts look like formulas and markup."""
    result = factories.one_c4140()
    lines = list(result.design.bill.lines)
    lines[0] = dataclasses.replace(
        lines[0], description='=cmd|"/c calc"!A1', sku="+1+2", notes=stated("@SUM(1)\x01\ud800")
    )
    lines[1] = dataclasses.replace(lines[1], manufacturer="-2", changes=stated("=1"), price_source="http://x")
    request = {"customer": '=HYPERLINK("http://x")', "title": "-2+3", "quote": Quote(number="=1+1", prepared_by="@x")}
    return with_bill(result, factories.bill(lines), **request)


def test_workbook_keeps_hostile_text_as_text() -> None:
    book = opened(hostile(), values=False)
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    assert "cmd" not in str(cell.value)
                    assert "HYPERLINK" not in str(cell.value)
                    assert str(cell.value) not in ("=1", "=1+1")
                assert cell.hyperlink is None
    cell = book["BOM"]["F5"]
    assert cell.value == '=cmd|"/c calc"!A1'
    assert cell.data_type == "s"
    assert cell.quotePrefix


def test_equal_results_make_equal_workbooks() -> None:
    assert workbook(priced(), factories.catalog()) == workbook(priced(), factories.catalog())


def _ownership_sheets(result: SizingResult, values: tuple[bool, ...]) -> list[Any]:
    content = io.BytesIO(workbook(result, catalog()))
    return [openpyxl.load_workbook(content, data_only=one)["Ownership"] for one in values]


def test_the_cost_of_ownership_follows_the_bill() -> None:
    """Purchase of the first year = total of the sheet BOM; years and kinds add up to the same total."""
    request = SizingRequest.from_file(data_dir("examples") / "questions" / "cost-of-ownership.toml")
    result = size(request, catalog())
    (sheet,) = _ownership_sheets(result, values=(True,))
    # A sum of the lines that have a price is no total.
    assert all(isinstance(sheet.cell(row, column).value, str) for row in range(5, 11) for column in (2, 3, 6))
    lines = [dataclasses.replace(one, unit_price=one.unit_price or Decimal(1)) for one in result.design.bill.lines]
    bill = dataclasses.replace(result.design.bill, lines=tuple(lines))
    result = dataclasses.replace(result, design=dataclasses.replace(result.design, bill=bill))
    formulas, values = _ownership_sheets(result, values=(False, True))
    assert formulas["B5"].value.startswith("=BOM!")
    rows = [[cell.value for cell in row] for row in values.iter_rows(min_row=5, max_row=10, max_col=6)]
    assert [row[0] for row in rows[:5]] == [1, 2, 3, 4, 5]
    for column in range(1, 6):
        assert sum(row[column] for row in rows[:5]) == pytest.approx(rows[5][column], abs=0.001)
    assert all(sum(row[1:5]) == pytest.approx(row[5], abs=0.001) for row in rows)
    assert rows[5][1] == float(bill.total) > 298_000
    assert "Ownership" not in opened(priced(), values=False).sheetnames
