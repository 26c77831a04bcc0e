"""Tables with cells that no request has, and two runs of one table."""

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sizer.base.errors import OutputError, RequestError
from sizer.batch.chunk_store import ChunkStore
from sizer.batch.keys import unknown_column
from sizer.batch.requests import MAX_CELL_BYTES, batch_requests


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
def test_a_text_longer_than_any_request_has_refuses_its_row_alone(tmp_path: Path, is_file: bool):
    table = pa.table({"title": ["x" * (MAX_CELL_BYTES + 1), "é" * (MAX_CELL_BYTES // 2)]})
    if is_file:
        pq.write_table(table, tmp_path / "t.parquet")
        table = tmp_path / "t.parquet"
    bad, good = batch_requests(table)[0]
    assert bad.request is None
    assert str(MAX_CELL_BYTES) in bad.refusal
    assert good.request is not None


def test_a_column_that_unpacks_to_hundreds_of_megabytes_is_refused_unread(tmp_path: Path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"title": ["x" * 70_000_000]}), path, compression="zstd")
    assert path.stat().st_size < 1_000_000
    before = pa.total_allocated_bytes()
    with pytest.raises(RequestError, match="title"):
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
