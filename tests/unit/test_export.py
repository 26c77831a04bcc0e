"""Files for other tools: workbook, CSV, design document, and writing them whole or not at all."""

import csv
import dataclasses
import io
import json
import os
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

from sizer.base.errors import OutputError
from sizer.bom.bill import Bill
from sizer.export.csv_bill import bill_csv
from sizer.export.design_json import design_document, projection_document, to_json
from sizer.export.files import write_whole
from sizer.export.text import harmless
from sizer.export.workbook import workbook
from sizer.sizing.result import SizingResult
from sizer.workload.request import SizingRequest
from tests import factories

GOLDEN = Path(__file__).parent.parent / "golden"


def rows_of(result: SizingResult) -> list[dict[str, str]]:
    """Rows of the CSV."""
    return list(csv.DictReader(io.StringIO(bill_csv(result).decode("utf-8-sig"))))


def hostile() -> SizingResult:
    """A result whose texts look like formulas and markup."""
    result = factories.one_c4140()
    lines = list(result.design.bill.lines)
    lines[0] = dataclasses.replace(lines[0], description='=cmd|"/c calc"!A1', sku="+1+2", note="@SUM(1)")
    bill = dataclasses.replace(result.design.bill, lines=tuple(lines))
    request = result.request.model_copy(update={"customer": '=HYPERLINK("http://x")', "title": "-2+3"})
    return dataclasses.replace(result, request=request, design=dataclasses.replace(result.design, bill=bill))


def with_bill(result: SizingResult, bill: Bill) -> SizingResult:
    """The result with another bill."""
    return dataclasses.replace(result, design=dataclasses.replace(result.design, bill=bill))


# --- CSV


def test_bill_reads_as_approved():
    got = bill_csv(factories.nine_dgx1()).decode("utf-8-sig").replace("\r\n", "\n")
    path = GOLDEN / "bill-nine_dgx1.csv"
    if not path.exists():
        path.write_text(got, encoding="utf-8")
        pytest.fail(f"{path.name} was missing and is written now: read it before it is committed")
    assert got == path.read_text(encoding="utf-8"), f"read the diff; delete {path.name} and run again to approve it"


def test_csv_starts_with_the_mark_that_spreadsheets_need():
    assert bill_csv(factories.one_c4140()).startswith(b"\xef\xbb\xbf")


def test_unknown_price_is_to_be_quoted_and_known_ones_multiply():
    rows = rows_of(factories.nine_dgx1())
    # 9 x 149 000 USD, launch price (RULES 15)
    assert (rows[0]["Unit list price"], rows[0]["Extended list price"]) == ("149000.00", "1341000.00")
    assert {row["Unit list price"] for row in rows[1:]} == {"to be quoted"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1"])
def test_text_that_a_spreadsheet_would_calculate_is_disarmed(text):
    assert harmless(text).startswith("'")


@pytest.mark.parametrize("text", ["DGX-1", "8 × V100", "", "a=b"])
def test_other_text_stays(text):
    assert harmless(text) == text


def test_csv_disarms_formulas():
    row = rows_of(hostile())[0]
    assert row["Description"].startswith("'=")
    assert row["SKU"] == "'+1+2"
    assert row["Notes"] == "'@SUM(1)"


# --- workbook


def opened(result: SizingResult, *, values: bool) -> openpyxl.Workbook:
    """Workbook read back, with formulas or with the values that were stored for them."""
    return openpyxl.load_workbook(io.BytesIO(workbook(result, factories.catalog())), data_only=values)


def test_workbook_has_its_sheets_and_stored_values():
    book = opened(factories.nine_dgx1(), values=True)
    assert book.sheetnames == ["Summary", "BOM", "Networks", "Assumptions", "Sources", "Data"]
    sheet = book["BOM"]
    heads = [cell.value for cell in sheet[4]]
    first = dict(zip(heads, (cell.value for cell in sheet[5]), strict=True))
    assert (first["Qty"], first["Unit list price"], first["Extended list"]) == (9, 149_000, 1_341_000)
    second = dict(zip(heads, (cell.value for cell in sheet[6]), strict=True))
    assert second["Unit list price"] == second["Extended list"] == second["Unit net price"] == "to be quoted"
    total = next(row for row in sheet.iter_rows() if str(row[4].value).startswith("Total"))
    assert (total[4].value, total[10].value) == ("Total, at least", 1_341_000)


def test_no_total_is_zero_while_nothing_has_a_price():
    book = opened(factories.one_c4140(), values=True)
    for name in ("Summary", "BOM"):
        totals = [row for row in book[name].iter_rows() if any(str(cell.value).startswith("Total") for cell in row)]
        assert totals
        for row in totals:
            assert 0 not in [cell.value for cell in row]
            assert "to be quoted" in [cell.value for cell in row]


def test_bill_formulas_skip_what_has_no_price():
    sheet = opened(factories.nine_dgx1(), values=False)["BOM"]
    assert sheet["K5"].value == '=IF(ISNUMBER(H5),ROUND(F5*H5,2),"to be quoted")'
    assert sheet["J5"].value == '=IF(ISNUMBER(H5),ROUND(H5*(1-I5),2),"to be quoted")'


def test_total_leaves_out_what_is_at_hand_or_optional():
    result = factories.nine_dgx1()
    lines = [
        factories.line("1.1", "compute", "dgx-1", "NVIDIA", "DGX-1", 2, "149000.00"),
        factories.line("1.2", "compute", "dgx-1", "NVIDIA", "DGX-1", 1, "149000.00", status="existing"),
        factories.line("7.1", "software", "x", "X", "Extra", 1, "10.00", status="optional"),
    ]
    bill = dataclasses.replace(factories.bill(lines), total=Decimal("298000.00"))
    sheet = opened(with_bill(result, bill), values=True)["BOM"]
    total = next(row for row in sheet.iter_rows() if str(row[4].value).startswith("Total"))
    assert (total[4].value, total[10].value) == ("Total", 298_000)


def test_workbook_keeps_hostile_text_as_text():
    book = opened(hostile(), values=False)
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    assert "cmd" not in str(cell.value)
                    assert "HYPERLINK" not in str(cell.value)
    cell = book["BOM"]["E5"]
    assert cell.value == '=cmd|"/c calc"!A1'
    assert cell.data_type == "s"
    assert cell.quotePrefix


def test_equal_results_make_equal_workbooks():
    assert workbook(factories.nine_dgx1(), factories.catalog()) == workbook(factories.nine_dgx1(), factories.catalog())


# --- design document


@pytest.mark.parametrize("name", sorted(factories.ALL))
def test_design_document_gives_the_request_back(name, tmp_path):
    result = factories.ALL[name]()
    path = tmp_path / "design.json"
    path.write_text(to_json(design_document(result)), encoding="utf-8")
    assert SizingRequest.from_file(path) == result.request


def test_design_document_is_canonical_and_says_null_for_no_limit():
    text = to_json(design_document(factories.four_apollo()))
    document = json.loads(text)
    assert text == to_json(document)
    assert document["kind"] == "design"
    assert document["design"]["n_gpus"] == 32
    inference = document["design"]["workloads"][1]
    assert inference["stages"]["decode"]["capacity_samples_per_s"]["value"] is None
    assert inference["time"] is None
    assert "NaN" not in text
    assert "Infinity" not in text


def test_money_in_the_design_document_is_exact():
    document = design_document(factories.nine_dgx1())
    assert document["bill"]["lines"][0]["extended"] == "1341000.00"
    assert document["bill"]["lines"][1]["unit_price"] is None
    assert projection_document(factories.nine_dgx1().design)["kind"] == "projection"


# --- whole or not at all


def test_files_are_written_and_replaced(tmp_path):
    folder = tmp_path / "out" / "deep"
    assert write_whole(folder, {"a.txt": b"1", "b.txt": b"2"}) == [folder / "a.txt", folder / "b.txt"]
    write_whole(folder, {"a.txt": b"3"})
    assert (folder / "a.txt").read_bytes() == b"3"
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "b.txt"]


def test_new_files_are_as_readable_as_any_other(tmp_path):
    mask = os.umask(0o022)
    try:
        (path,) = write_whole(tmp_path, {"a.txt": b"1"})
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o644


def test_nothing_is_written_when_one_file_cannot_be(tmp_path):
    (tmp_path / "b.txt").mkdir()
    (tmp_path / "a.txt").write_bytes(b"old")
    with pytest.raises(OutputError, match=r"b\.txt: cannot be written: "):
        write_whole(tmp_path, {"a.txt": b"new", "b.txt": b"new"})
    assert (tmp_path / "a.txt").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "out").write_bytes(b"")
    with pytest.raises(OutputError, match=r"out: cannot be written: "):
        write_whole(tmp_path / "out", {"a.txt": b"1"})


@pytest.mark.parametrize("name", ["../a", "a/b", "", ".."])
def test_file_names_stay_in_the_folder(name, tmp_path):
    with pytest.raises(OutputError, match="is not a plain file name"):
        write_whole(tmp_path, {name: b"1"})
