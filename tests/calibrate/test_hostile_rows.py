"""Files of measurements with characters that no text may hold, and files that hold nothing."""

from dataclasses import dataclass

import pytest

from sizer.base.errors import CalibrationError, RequestError
from sizer.base.formats.csv_rows import bounded, rows_of_file, typed_row
from sizer.calibrate.observations import load_observations, observation_texts


@pytest.mark.parametrize("character", ["\x07", "\x1b", "\u202e", "\ufffe"])
def test_a_character_that_ends_the_renderer_is_refused_with_its_place(character, tmp_path):
    (name, text), *_ = observation_texts().items()
    head, row, *_ = text.splitlines()
    file = tmp_path / name
    cells = row.split(",")
    cells[1] = cells[1][:3] + character + cells[1][3:]
    file.write_text(f"{head}\n{','.join(cells)}\n", encoding="utf-8")
    with pytest.raises(CalibrationError, match=rf"line 2, column source: .*U\+{ord(character):04X}"):
        load_observations(file)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a,b\n1,x\n2,bell\x07\n", r"rows\.csv:3: b: .*U\+0007"),
        (b"a,b,a\n1,2,3\n", r"rows\.csv:1: column 'a' is there twice"),
        (b"a,b\n1,\xff\n", "is not UTF-8 text"),
    ],
)
def test_what_is_no_table_of_measurements_is_refused_with_its_place(tmp_path, content, says):
    file = tmp_path / "rows.csv"
    file.write_bytes(content)
    with pytest.raises(CalibrationError, match=says):
        rows_of_file(file, "rows", lambda cells, _: cells)


def test_a_device_is_no_file_of_measurements():
    with pytest.raises(RequestError, match="a device or a pipe; give a file"):
        load_observations("/dev/zero")


@dataclass(frozen=True)
class Run:
    name: str
    gpus: int
    rate: float
    batch: float | None = None
    notes: str = ""


def test_every_wrong_cell_of_a_row_is_named():
    with pytest.raises(ValueError, match="gpus") as refused:
        typed_row(Run, {"name": "a", "gpus": "8.5", "rate": "", "batch": "fast"}, bounded)
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == ["gpus", "batch", "rate"]
