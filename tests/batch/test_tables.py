"""Tables of requests: what people type, what programs export, and what neither should have written."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import SizingRequest, size_batch
from sizer.base.errors import OutputError, RequestError, SizerError
from sizer.batch.columns import unknown_column
from sizer.batch.requests import MAX_CELL_BYTES, MAX_LINE_BYTES, batch_requests
from sizer.batch.run import ChunkStore
from tests.batch.requests import request
from tests.factories.examples import catalog

HEAD = (
    "title,workload.0.dnn,workload.0.target.samples_per_s,platforms.servers,platforms.storage,workload.0.batch_per_gpu"
)
ROW = 'plain,resnet50,20000 images/s,dgx-1,"[""isilon-f800""]",256'


def understood(source: Any) -> list[SizingRequest]:
    """Requests of a table as the workers check them; nothing is sized."""
    found = []
    for ask in batch_requests(source)[0]:
        assert ask.request is not None, ask.refusal
        found.append(
            ask.request if isinstance(ask.request, SizingRequest) else SizingRequest.from_dict(ask.request, ask.place)
        )
    return found


def refusals(source: Any) -> list[str]:
    """One sentence for each row that cannot be read or is no request; "" for a good one."""
    found = []
    for ask in batch_requests(source)[0]:
        try:
            found.append(ask.refusal)
            if isinstance(ask.request, dict):
                SizingRequest.from_dict(ask.request, ask.place)
        except SizerError as error:
            found[-1] = str(error)
    return found


def test_csv_is_read_as_people_type_it(tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    path.write_bytes(
        "\ufeff"
        "title,customer,date,confidence,workload.0.dnn,workload.0.dataset_bytes,workload.0.target.time_to_train_s,"
        "workload.0.epochs,platforms.servers,limits.racks,fabric.rails_apart,existing.servers.dgx-1,limits.power_w,"
        "answer.status\r\n"
        '"=HYPERLINK(""x"")","Größe, GmbH",2026-11-21,0.8,resnet50,"22,2 TB",12 h,'
        "90,dgx-1; c4140,2,true,1,17.3 kW,sized\r\n"
        "\r\n"
        'two,"comma, ""quoted""",,,vgg16,,43200,45.5,,,FALSE,,,\r\n'.encode()
    )
    first, second = understood(path)
    assert (first.title, first.customer) == ('=HYPERLINK("x")', "Größe, GmbH")
    assert first.date == datetime.date(2026, 11, 21)
    assert first.confidence == 0.8
    assert first.workload[0].dataset_bytes == 22.2e12
    assert first.workload[0].target.time_to_train_s == 12 * 3600
    assert first.platforms.servers == ("dgx-1", "c4140")
    assert (first.limits.racks, first.limits.power_w) == (2, 17_300)
    assert first.fabric.rails_apart
    assert first.existing.servers == {"dgx-1": 1}
    assert second.customer == 'comma, "quoted"'
    assert second.workload[0].epochs == 45.5
    assert second.model_fields_set == {"title", "customer", "workload", "fabric"}  # empty cells are not given
    assert [ask.place for ask in batch_requests(path)[0]] == [f"{path} line 2", f"{path} line 4"]


def test_the_same_requests_from_every_kind_of_table(tmp_path: Path) -> None:
    cells: dict[str, list[Any]] = {
        "title": ["one", "two"],
        "date": [datetime.date(2026, 11, 21), None],
        "confidence": [None, 0.5],
        "workload.0.dnn": ["resnet50", "vgg16"],
        "workload.0.batch_per_gpu": [None, 64],
        "workload.0.target.gpus_busy": [8, 16],
        "platforms.servers": [["dgx-1"], ["c4140", "dgx-1"]],
        "limits.power_w": [90_000.0, None],
    }
    table = pa.table(cells)
    expected = understood(
        [
            {
                "title": "one",
                "date": "2026-11-21",
                "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
                "platforms": {"servers": ["dgx-1"]},
                "limits": {"power_w": "90 kW"},
            },
            {
                "title": "two",
                "confidence": 0.5,
                "platforms": {"servers": ["c4140", "dgx-1"]},
                "workload": [{"dnn": "vgg16", "batch_per_gpu": 64, "target": {"gpus_busy": 16}}],
            },
        ]
    )
    assert understood(table) == expected
    pq.write_table(table, tmp_path / "requests.parquet")
    assert understood(tmp_path / "requests.parquet") == expected
    assert batch_requests([tmp_path / "requests.parquet", {}])[1] == 3
    # Whole numbers with gaps are floats in pandas, and what is missing is NaN.
    frame = pd.DataFrame(cells)
    assert frame["workload.0.batch_per_gpu"].dtype == np.float64
    assert understood(frame) == expected
    assert understood(frame.to_dict("records")[1:]) == expected[1:]


def test_the_table_of_a_batch_can_be_sized_again(tmp_path: Path) -> None:
    asked = [request(), request(title="=2+3", customer=" =tab", limits={"racks": 2})]
    path = size_batch(asked, catalog(), out=tmp_path / "results.parquet")
    again, before = size_batch(path, catalog()), pq.read_table(path)
    assert again.drop_columns(["answer.place"]).equals(before.drop_columns(["answer.place"]))
    assert again.column("answer.place").to_pylist() == [f"{path} row 1", f"{path} row 2"]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("workload.0.dnnn", "line 1: unknown column 'workload.0.dnnn'; did you mean 'workload.0.dnn'?"),
        ("workload.2.target.sample_per_s", "did you mean 'workload.2.target.samples_per_s'?"),
        ("dnn", "unknown column 'dnn'"),
        ("platforms.servers.0", "did you mean 'platforms.servers'?"),
        ("workload.01.dnn", "unknown column"),
        ("workload", "unknown column 'workload'"),
        ("team.size", "unknown column"),
        ("title,title", "column 'title' appears more than once"),
        ("title,,customer", "column 2 has no name"),
        ("title;customer", "separated by semicolons"),
        ("title\tcustomer", "separated by tabs"),
        ("answer.status", "has no request column"),
        ("", "is empty"),
        ("ti\0tle", "NUL"),
        ("t\xff", "UTF-8"),
        ("x" * 200_000, "not valid CSV: field larger than field limit"),
        ("x" * MAX_LINE_BYTES, "longer than 1000000 B"),
        ('"title', "line 1: is not valid CSV"),
    ],
    ids=range(18),
)
def test_a_bad_head_is_refused_once_before_anything_is_sized(tmp_path: Path, head: str, words: str) -> None:
    path = tmp_path / "requests.csv"
    path.write_bytes(f"{head}\nrow\n".encode("latin-1") if head else b"")
    for source in (path, [request(), path]):
        with pytest.raises(RequestError, match=r"requests\.csv") as error:
            size_batch(source, catalog())
        assert words in str(error.value)
    # From a generator it comes too late for that: it is one row.
    rows = size_batch(iter([path, {}]), catalog()).to_pylist()
    assert [row["answer.status"] for row in rows] == ["refused", "refused"]
    assert words in rows[0]["answer.error"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"a,b", "has 2 cells; the table has 6 columns"),
        (b"a,b,c,d,e,f,g", "has 7 cells"),
        (b"a\0b,resnet50,1,dgx-1,,", "NUL"),
        ("Größe,resnet50,1,dgx-1,,".encode("latin-1"), "UTF-8"),
        (b"y" * 200_000 + b",,,,,", "field larger than field limit"),
        (b"y," * MAX_LINE_BYTES, "longer than 1000000 B"),
        (b'"a"b,,,,,', "not valid CSV"),
        (b"a,resnet50,many,dgx-1,,", "samples_per_s: expected a rate of samples such as '52274 images/s', got 'many'"),
        (b"a,resnet50,nan,dgx-1,,", "samples_per_s"),
        (b"a,resnet50,1,dgx-1,,1.5", "batch_per_gpu = '1.5' is not a whole number"),
        (b"a,resnet50,1,dgx-1,," + b"9" * 5000, "is not a whole number"),
        (b'a,resnet50,1,"[""dgx-1""",,', "platforms.servers"),
        (b'a,resnet50,1,"[' + b"[" * 5000 + b'",,', "platforms.servers"),
        (b'a,resnet50,1,"[1]",,', "platforms.servers[0]"),
        (b"a,=cmd|x,1,dgx-1,,", "workload[0].dnn"),
    ],
    ids=range(15),
)
def test_a_bad_row_is_one_sentence_with_its_line(tmp_path: Path, line: bytes, words: str) -> None:
    path = tmp_path / "requests.csv"
    path.write_bytes(b"\n".join([HEAD.encode(), ROW.encode(), line, ROW.encode(), b""]))
    before, fault, after = refusals(path)
    assert (before, after) == ("", "")
    assert fault.startswith(f"{path} line 3: ")
    assert words in fault
    assert len(fault) < 1000


def test_an_open_quote_names_its_line_and_takes_no_other(tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    path.write_text("\n".join([HEAD, ROW, '"open,resnet50', *["plain,resnet50,1,dgx-1,,"] * 3, ROW, ""]))
    before, fault, *plain, after = refusals(path)
    assert (before, after) == ("", "")
    assert fault.startswith(f"{path} line 3: is not valid CSV: a quotation mark opens a cell and does not close it")
    assert plain == ["", "", ""]


def test_a_file_that_is_no_table(tmp_path: Path) -> None:
    text = tmp_path / "requests.parquet"
    text.write_text("title\n")
    for path, words in (
        (text, "cannot be read as Parquet"),
        (tmp_path / "missing.csv", "No such file"),
        (tmp_path / "missing.parquet", "cannot be read"),
    ):
        with pytest.raises(RequestError, match=words):
            size_batch(path, catalog())
    with pytest.raises(RequestError, match="expected requests, a table or the path of a table, got int"):
        size_batch(7, catalog())
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(RequestError, match="directory"):
        size_batch(folder, catalog())


def test_cells_of_other_types_are_named(tmp_path: Path) -> None:
    table = pa.table(
        {
            "title": ["a", "b"],
            "workload.0.dnn": ["resnet50", None],
            "workload.0.target.samples_per_s": [Decimal("20000.5"), Decimal(1)],
            "workload.0.batch_per_gpu": [{"x": 1}, {"x": 2}],
            "workload.0.epochs": [float("nan"), 1.0],
        }
    )
    first, _ = refusals(table)
    assert "batch_per_gpu" in first
    assert "epochs = nan" in first
    assert "samples_per_s" not in first
    (nothing,) = refusals(pa.table({"workload.0.dnn": [b"resnet50"]}))
    assert (
        nothing == "table row 1: workload.0.dnn: b'resnet50' is of type bytes; a request takes text, numbers, dates, "
        "lists and tables"
    )
    day = pa.array([datetime.date(2026, 11, 21)]).cast(pa.timestamp("ns"))
    stamped = pa.table({"date": day, "workload.0.dnn": ["vgg16"], "workload.0.target.gpus_busy": [1]})
    assert understood(stamped)[0].date == datetime.date(2026, 11, 21)


# Three decimals would be refused as ambiguous: they may be thousands.
@given(
    text=st.text(max_size=30), rate=st.integers(4, 4_000_000).map(lambda number: number / 4), nodes=st.integers(1, 100)
)
def test_what_a_csv_holds_comes_out_as_it_went_in(tmp_path_factory: Any, text: str, rate: float, nodes: int) -> None:
    path = tmp_path_factory.mktemp("csv") / "requests.csv"
    title = "t" + "".join(letter for letter in text if letter.isprintable()).rstrip()
    row = {"title": title, "workload.0.dnn": "vgg16", "workload.0.target.samples_per_s": rate, "limits.racks": nodes}
    pd.DataFrame([row]).to_csv(path, index=False)
    (found,) = understood(path)
    assert found.title == title.strip()
    assert found.workload[0].target.samples_per_s == rate
    assert found.limits.racks == nodes


@pytest.mark.parametrize(
    ("kind", "value"), [(pa.date64(), -(10**17)), (pa.timestamp("us"), 2**62), (pa.timestamp("s"), 10**12)]
)
@pytest.mark.parametrize("is_file", [False, True])
def test_a_day_that_python_has_not_refuses_its_row_alone(tmp_path: Path, kind: pa.DataType, value: int, is_file: bool):
    days = pa.array([value, 1_700_000_000_000 if kind == pa.date64() else 1_700_000_000], pa.int64()).cast(kind)
    table = pa.table({"workload.0.dnn": ["resnet50"] * 2, "date": days})
    if is_file:
        pq.write_table(table, tmp_path / "t.parquet", version="2.6")
        table = tmp_path / "t.parquet"
    bad, good = batch_requests(table)[0]
    assert bad.request is None
    assert all(word in bad.refusal for word in ("date", "1 to 9999"))
    assert isinstance(good.request["date"], datetime.date)


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("title", ["x" * (MAX_CELL_BYTES + 17), "é" * (MAX_CELL_BYTES // 2)]),
        ("platforms.servers", [["dgx-1"] * MAX_CELL_BYTES, ["dgx-1"]]),
        ("platforms.servers", [[None] * 1_000_000, None]),
    ],
)
def test_a_cell_longer_than_any_request_has_refuses_its_row_alone(tmp_path, column, cells, is_file):
    table = pa.table({column: cells})
    if is_file:
        pq.write_table(table, tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    bad, good = batch_requests(table)[0]
    assert bad.request is None
    assert str(MAX_CELL_BYTES) in bad.refusal
    assert good.request is not None


def test_columns_that_unpack_to_hundreds_of_megabytes_are_refused_unread(tmp_path: Path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: ["x" * 130_000_000] for name in ("title", "customer")}), path, compression="zstd")
    assert path.stat().st_size < 1_000_000
    before = pa.total_allocated_bytes()
    with pytest.raises(RequestError, match="row group"):
        batch_requests([path])
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_a_second_run_of_one_table_is_refused_and_deletes_nothing(tmp_path: Path):
    first = ChunkStore(tmp_path / "t.parquet")
    with first.alone():
        first.write("0" * 64, pa.table({"a": [1]}))
        with pytest.raises(OutputError, match=r"t\.parquet"), ChunkStore(tmp_path / "t.parquet").alone():
            pass
        assert first.names("0" * 64) == {"a"}
    with ChunkStore(tmp_path / "t.parquet").alone():  # the first has ended
        pass


@pytest.mark.parametrize("name", ["workload.999999999.dnn", "quote.line.1000.note", "workload.007.dnn"])
def test_a_position_that_is_too_large_is_not_suggested_again(name: str):
    text = str(unknown_column(name, "t.csv"))
    assert text.count(name) == 1
    assert "0 to 999" in text
