"""A full disk leaves what was there."""

from pathlib import Path

import pyarrow as pa
import pytest

from sizer.base.errors import CalibrationError, OutputError
from sizer.batch.run import ChunkStore
from sizer.calibrate.observations import write_stored
from sizer.export.files import write_whole
from tests.factories.full_disk import full_disk


def _chunk(folder: Path) -> None:
    ChunkStore(folder / "t.parquet").write("0" * 64, pa.table({"a": list(range(5_000))}))


def _calibration(folder: Path) -> None:
    write_stored({"numbers": list(range(5_000))}, folder / "calibration.json")


def _documents(folder: Path) -> None:
    write_whole(folder, {"a.csv": b"new", "b.csv": b"x" * 50_000})


def _table(folder: Path) -> None:
    store = ChunkStore(folder / "t.parquet")
    try:
        store.merge((), ("title",), {"made of": "".join(map(str, range(5_000)))})
    finally:
        store.folder.rmdir()


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (_chunk, f"t.parquet.parts/{'0' * 64}.arrow"),
        (_table, "t.parquet"),
        (_calibration, "calibration.json"),
        (_documents, "a.csv"),
    ],
)
def test_a_full_disk_leaves_the_earlier_file_and_nothing_else(tmp_path, write, name):
    earlier = tmp_path / name
    earlier.parent.mkdir(exist_ok=True)
    earlier.write_bytes(b"earlier")
    with full_disk(1_000), pytest.raises((OutputError, CalibrationError), match="cannot be written"):
        write(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [earlier]
    assert earlier.read_bytes() == b"earlier"
