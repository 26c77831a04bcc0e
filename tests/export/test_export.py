"""Files for other tools: CSV, design document, and writing them whole or not at all."""

import csv
import dataclasses
import io
import json
import os
import signal
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import OutputError
from sizer.base.formats.json_document import json_text
from sizer.bom.bill import Bill
from sizer.export.design_json import design_document, projection_document
from sizer.export.files import harmless, write_whole
from sizer.export.tables.table import Delimiter, bill_csv
from sizer.sizing.result import SizingResult
from sizer.workload.request import SizingRequest
from tests import factories


def with_bill(result: SizingResult, bill: Bill) -> SizingResult:
    """The result with another bill."""
    return dataclasses.replace(result, design=dataclasses.replace(result.design, bill=bill))


def rows_of(result: SizingResult, delimiter: Delimiter = ",") -> list[dict[str, str]]:
    """Rows of the CSV."""
    text = bill_csv(result, delimiter).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


# --- CSV


def priced() -> SizingResult:
    """A result whose first line has everything that a price book can say."""
    lines = [
        factories.line(
            "1.1",
            "storage",
            "isilon-f800",
            "Dell EMC",
            "Chassis; 60 × 3.2 TB",
            3,
            "250000.05",
            sku="0012",
            discount_percent=Decimal("33.33"),
            lead_time_weeks=16,
            power_max_w=1764.0,
            power_typical_w=1300.0,
            rack_units=4.0,
            weight_kg=76.66,
        ),
        factories.line(
            "2.1", "support", "x", "X", "Support", 8, "900", term_months=36, discount_percent=Decimal("10.50")
        ),
        factories.line("2.2", "support", "y", "Y", "LAN", 1, status="by others"),
        factories.line("2.3", "support", "z", "Z", "Server", 1, status="existing"),
    ]
    return with_bill(factories.one_c4140(), factories.bill(lines, deal_discount_percent=Decimal(3)))


def test_csv_has_the_columns_of_a_quote():
    assert bill_csv(priced()).startswith(b"\xef\xbb\xbfLine,Group,Category,")
    first, second, third, fourth = rows_of(priced())
    heads = (
        "Line,Group,Category,Manufacturer,SKU,Description,Qty,UoM,Unit list price,Discount %,Unit net price,"
        "Extended list,Extended net,Currency,Term (months),Lead time (weeks),Power max, each (W),"
        "Power typical, each (W),Rack units, each,Weight, each (kg),Price source,Price date,Status,Notes"
    )
    assert ",".join(first) == heads
    assert ",".join(first.values()) == (
        "1.1,cluster,storage,Dell EMC,0012,Chassis; 60 × 3.2 TB,3,EA,250000.05,33.33,166675.03,750000.15,"
        "500025.09,USD,,16,1764,1300,4,76.66,price list,2017-05,computed,"
    )
    assert (second["Discount %"], second["Unit net price"], second["Term (months)"]) == ("10.5", "805.50", "36")
    assert (third["Unit list price"], third["Extended net"]) == ("provided by others", "provided by others")
    assert (fourth["Unit list price"], fourth["Extended net"]) == ("at hand", "at hand")


def test_csv_with_semicolons_has_decimal_commas_and_the_same_rows():
    commas, semicolons = rows_of(priced()), rows_of(priced(), ";")
    assert bill_csv(priced(), ";").startswith(b"\xef\xbb\xbfLine;Group;Category;")
    assert (semicolons[0]["Extended net"], semicolons[0]["Discount %"]) == ("500025,09", "33,33")
    assert semicolons[0]["Weight, each (kg)"] == "76,66"
    assert semicolons[0]["Line"] == "1.1"  # a number of a line, not an amount
    texts = ("Line", "Category", "SKU", "Description", "Qty", "Currency", "Price date", "Status", "Notes")
    assert [[row[name] for name in texts] for row in semicolons] == [[row[name] for name in texts] for row in commas]


@given(text=st.text(max_size=60), delimiter=st.sampled_from([",", ";"]))
def test_any_text_comes_back_from_the_csv_as_text(text, delimiter):
    result = with_bill(factories.one_c4140(), factories.bill([factories.line("1.1", "network", "x", text, text, 1)]))
    (row,) = rows_of(result, delimiter)
    assert row["Description"] == harmless(text)
    assert not row["Description"].lstrip(" ").startswith(("=", "+", "-", "@", "\t"))


# Full-width and small forms, and signs behind spaces and characters that nobody sees.
LOOK_ALIKES = [
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff20SUM(A1)",
    "\ufe661",
    "\xa0=1",
    "\u200b=1",
    "\ufeff+1",
    "\u3000\uff1d1",
]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", *LOOK_ALIKES])
def test_text_that_a_spreadsheet_would_calculate_is_disarmed(text):
    assert harmless(text).startswith("'")


@pytest.mark.parametrize("text", ["DGX-1", "8 × V100", "", "a=b"])
def test_other_text_stays(text):
    assert harmless(text) == text


# --- design document


@pytest.mark.parametrize("name", sorted(factories.ALL))
def test_design_document_gives_the_request_back(name, tmp_path):
    result = factories.ALL[name]()
    path = tmp_path / "design.json"
    path.write_text(json_text(design_document(result)), encoding="utf-8")
    assert SizingRequest.from_file(path) == result.request


def test_design_document_is_canonical_and_says_null_for_no_limit():
    text = json_text(design_document(factories.one_apollo()))
    document = json.loads(text)
    assert text == json_text(document)
    assert document["kind"] == "design"
    assert document["design"]["n_gpus"] == 8
    (inference,) = document["design"]["workloads"]
    assert inference["stages"]["exchange"]["capacity_samples_per_s"]["value"] is None
    assert inference["time"] is None
    assert "NaN" not in text
    assert "Infinity" not in text


def test_money_in_the_design_document_is_exact():
    document = design_document(factories.nine_dgx1())
    assert document["bill"]["lines"][0]["extended_net"] == "1341000.00"
    assert document["bill"]["lines"][1]["unit_list_price"] is None
    assert document["bill"]["lines"][1]["extended_net"] is None
    assert projection_document(factories.nine_dgx1().design)["kind"] == "projection"


def test_the_bill_of_the_design_document_has_every_field_of_a_quote():
    found = design_document(priced())["bill"]
    assert {key: value for key, value in found.items() if key != "lines"} == {
        "currency": "USD",
        "list_total": "757200.15",  # 750000.15 + 8 x 900
        "net_total": "506469.09",  # 500025.09 + 8 x 805.50
        "deal_discount_percent": "3",
        "total": "491275.02",  # less 15194.0727
        "total_is_complete": True,
        "one_off": "485024.34",  # 500025.09 less 3 %
        "recurring": "6250.68",
        "yearly": "2083.56",
        "valid_until": None,
        "longest_lead_weeks": 16,
        "unpriced": [],
        "warnings": ["DGX-1: sale ended 31 March 2020; find the successor or a reseller with stock."],
    }
    first = found["lines"][0]
    assert (first["group"], first["status"], first["change"]) == ("cluster", "computed", None)
    assert (first["discount_percent"], first["unit_net_price"]) == ("33.33", "166675.03")
    assert (first["term_months"], first["lead_time_weeks"]) == (None, 16)
    assert (first["power_max_w"], first["power_typical_w"]) == (1764.0, 1300.0)
    assert (first["rack_units"], first["weight_kg"]) == (4.0, 76.66)


# --- whole or not at all


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


def left_by_a_killed_run(folder: Path, files: dict[str, bytes], moment: str) -> None:
    """Write files in a process of its own that is killed at a moment: while it writes, or while it moves."""
    pid = os.fork()
    if not pid:
        count = iter(range(100))

        def killing(*_: object) -> None:
            if next(count):
                os.kill(os.getpid(), signal.SIGKILL)

        replace = Path.replace
        if moment == "writing":
            os.fsync = killing  # type: ignore[assignment]
        else:
            Path.replace = lambda *paths: (killing(), replace(*paths))[1]  # type: ignore[method-assign, assignment]
        write_whole(folder, files)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize(("moment", "kept"), [("writing", b"old"), ("moving", b"new")])
def test_the_next_run_removes_or_completes_what_a_killed_one_left(tmp_path, moment, kept):
    names = ("a.txt", "b.txt", "c.txt")
    write_whole(tmp_path, dict.fromkeys(names, b"old"))
    left_by_a_killed_run(tmp_path, dict.fromkeys(names, b"new"), moment)
    assert any(path.name.startswith(".sizer-") for path in tmp_path.iterdir())
    write_whole(tmp_path, {"other.txt": b"1"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [*names, "other.txt"]
    assert {(tmp_path / name).read_bytes() for name in names} == {kept}


@pytest.mark.parametrize("name", ["../a", "a/b", "", ".."])
def test_file_names_stay_in_the_folder(name, tmp_path):
    with pytest.raises(OutputError, match="is not a plain file name"):
        write_whole(tmp_path, {name: b"1"})
