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
from sizer.present.text.assumptions import part_questions
from sizer.sizing.assumptions import MissingFacts, MissingReadRate
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
        "Growth",
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


def test_part_numbers_are_those_of_the_catalogue_and_names_are_written_out() -> None:
    content = workbook(example("dgx1-f800-resnet50"), catalog())
    book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    published = {sku.value for _, item in catalog().items() for sku in item.skus}
    cells = [[cell or "" for cell in row] for row in book["Networks"].iter_rows(values_only=True)]
    start = next(number for number, row in enumerate(cells) if row[0] == "Part by role")
    parts = cells[start + 1 :]
    assert cells[start][:5] == ["Part by role", "Quantity", "Item", "Part number", "Note"]
    numbers = [row[3] for row in parts if row[3]]
    assert len(numbers) >= 5
    assert set(numbers) <= published
    assert {row[2] for row in parts} >= {"NVIDIA DGX-1", "Dell EMC R740xd"}
    ids = {item.id for _, item in catalog().items()}
    for name in ("Networks", "Cables", "Racks", "Elevations", "Facility", "Growth"):
        texts = {cell for row in book[name].iter_rows(values_only=True) for cell in row if isinstance(cell, str)}
        assert not {text for text in texts & ids if "-" in text}, name


def test_a_customers_copy_sums_up_what_is_installed_cable_by_cable() -> None:
    """136 cables of the plan in a dozen kinds; the outlets and the assumptions are the engineer's."""
    result = example("dgx1-f800-resnet50")
    full = opened(result, values=True)
    copy = opened(customer_copy(result), values=True)
    assert not {"Power", "Assumptions", "Vendor questions", "Change log", "Data"} & set(copy.sheetnames)
    rows = list(copy["Cables"].iter_rows(min_row=HEAD_ROW, values_only=True))
    place = rows[0].index("Number")
    numbers = [row[place] for row in rows[1:] if isinstance(row[place], int)]
    listed = [row for row in full["Cables"].iter_rows(values_only=True) if str(row[0]).startswith("C0")]
    assert sum(numbers) == len(listed) == result.design.plan.n_links
    assert len(numbers) < 20
    moves = [row for row in copy["Growth"].iter_rows(values_only=True) if row[2] == "links moved"]
    assert [row[3] for row in moves] == [46, 46]
    assert copy["Growth"].max_row < 30


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


def test_a_formula_looks_at_the_price_before_it_multiplies() -> None:
    sheet = opened(factories.nine_dgx1(), values=False)["BOM"]
    assert sheet["K5"].value.startswith("=IF(ISNUMBER(I5),ROUND(ROUND(I5*(1-J5),6),2),")
    assert sheet["L5"].value.startswith("=IF(ISNUMBER(I5),G5*I5,")
    assert sheet["M5"].value.startswith("=IF(ISNUMBER(K5),G5*K5,")
    for cell in (sheet["K5"], sheet["L5"], sheet["M5"]):
        assert '"to be quoted"' in cell.value


def test_the_heading_says_whose_quote_it_is_and_how_long_it_holds() -> None:
    quote = Quote(number="Q-17", revision="B", prepared_by="Presales")
    result = priced(quote=quote)
    bill = dataclasses.replace(result.design.bill, valid_until=result.request.date.replace(day=31))  # type: ignore[union-attr]
    sheet = opened(with_bill(result, bill), values=True)["Summary"]
    for label, value in (
        ("Quote", "Q-17"),
        ("Revision", "B"),
        ("Date", "2019-03-01"),
        ("Valid until", "2019-03-31"),
        ("Prepared for", "Example Motors"),
        ("Prepared by", "Presales"),
        ("Status", "budgetary, not binding"),
    ):
        assert values_at(sheet, label)[0] == value
    text = " ".join(str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell)
    for said in ("Taxes, freight, duties", "not guaranteed", "trademarks", "vendor's configurator"):
        assert said in text


def test_everything_unknown_is_asked() -> None:
    result = priced()
    sheet = opened(result, values=True)["Vendor questions"]
    rows = [row[:6] for row in sheet.iter_rows(min_row=HEAD_ROW + 1, values_only=True)]
    questions = {(row[0], row[5]) for row in rows}
    assert ("2.1", "unit list price in USD and discount, lead time in weeks, part number") in questions
    assert ("1.1", "part number") in questions
    assert ("1.1", "whether 250000.05 USD of 2017-05 is still valid") in questions
    assert not any(row[0] in ("3.2", "5.2", "5.3") for row in rows)  # free, by others, at hand
    asked = [row[5] for row in rows if not row[0]]
    assert set(result.design.plan.questions) <= set(asked)
    parts = [point for point in result.questions if isinstance(point, MissingFacts | MissingReadRate)]
    assert {question for point in parts for question in part_questions(point)[1]} <= set(asked)


def test_the_change_log_tells_every_change() -> None:
    sheet = opened(priced(quote=Quote(revision="B")), values=True)["Change log"]
    rows = [list(row) for row in sheet.iter_rows(min_row=HEAD_ROW + 1, values_only=True)]
    blank = [[value or "" for value in row] for row in rows]
    assert blank == [
        ["B", "2019-03-01", "", "9 × NVIDIA DGX-1 + 4 × Dell EMC Isilon F800 nodes", "sized from the request", ""],
        ["B", "2019-03-01", "4.1", "Support", "list price USD 900", "no list price in the price book"],
        ["B", "2019-03-01", "5.1", "Installation", "line of the quote, not computed", ""],
        ["B", "2019-03-01", "", "Discount of the deal", "2.5 % on the net prices", ""],
    ]


def test_sheets_are_set_up_for_screen_and_paper() -> None:
    book = opened(priced(), values=False)
    for sheet in book:
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        # One page wide, which files leave out because it is the default, and as many as it takes high.
        assert (sheet.page_setup.fitToWidth or 1, sheet.page_setup.fitToHeight) == (1, 0)
    sheet = book["BOM"]
    assert sheet.freeze_panes == "D5"  # head and the first three columns
    assert sheet.auto_filter.ref == "A4:X12"
    assert sheet.print_title_rows == "$4:$4"
    assert [_dimension(sheet, column).hidden for column in range(23, 28)] == [False, False, True, True, True]
    rules = {str(rule.sqref): rule for rule in sheet.data_validations.dataValidation}
    assert (rules["J5:J12"].formula1, rules["J5:J12"].formula2) == ("0", "1")
    assert rules["J15"].formula2 == "1"  # the discount of the deal
    assert rules["W5:W12"].type == "list"
    assert book.defined_names["DealDiscount"].attr_text == "BOM!$J$15"


@pytest.mark.parametrize("price", ["0.05", "9999999999.99"])
def test_columns_are_wide_enough_for_their_amounts(price: str) -> None:
    lines = [factories.line("1.1", "network", "a", "X", "Switch", 1_000_000, price)]
    book = opened(with_bill(factories.nine_dgx1(), factories.bill(lines)), values=True)
    sheet = book["BOM"]
    for row in sheet.iter_rows(min_row=HEAD_ROW + 1, min_col=9, max_col=13):
        for cell in row:
            if isinstance(cell.value, int | float):
                assert len(f"{cell.value:,.2f}") < _dimension(sheet, cell.column).width


def _dimension(sheet: Any, column: int) -> Any:
    """Width and more of a column; openpyxl keeps one for a run of equal columns."""
    return next(one for one in sheet.column_dimensions.values() if one.min <= column <= one.max)


def test_wrapped_text_has_the_height_that_it_needs() -> None:
    long = "word " * 40  # 200 letters in a column of 44
    lines = [factories.line("1.1", "network", "a", "X", long, 1)]
    sheet = opened(with_bill(factories.nine_dgx1(), factories.bill(lines)), values=True)["BOM"]
    assert sheet.row_dimensions[5].height >= 4 * 13


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


def test_the_cost_of_ownership_follows_the_bill() -> None:
    """Purchase of the first year = total of the sheet BOM; years and kinds add up to the same total."""
    request = SizingRequest.from_file(data_dir("examples") / "questions" / "cost-of-ownership.toml")
    content = workbook(size(request, catalog()), catalog())
    formulas, values = (
        openpyxl.load_workbook(io.BytesIO(content), data_only=one)["Ownership"] for one in (False, True)
    )
    assert formulas["B5"].value.startswith("=BOM!")
    rows = [[cell.value for cell in row] for row in values.iter_rows(min_row=5, max_row=10, max_col=6)]
    assert [row[0] for row in rows[:5]] == [1, 2, 3, 4, 5]
    for column in range(1, 6):
        assert sum(row[column] for row in rows[:5]) == pytest.approx(rows[5][column], abs=0.001)
    assert all(sum(row[1:5]) == pytest.approx(row[5], abs=0.001) for row in rows)
    assert rows[5][1] == 298_000
    assert "Ownership" not in opened(priced(), values=False).sheetnames
