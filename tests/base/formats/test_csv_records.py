"""Records of CSV text: an open quotation mark costs its own line, and what is well written reads as it always did."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.formats.csv_rows import csv_records

UNCLOSED = "a quotation mark opens a cell and does not close it"


def read(text: str) -> list[tuple[int, int, list[str]]]:
    return [(one.line, one.last_line, one.cells) for one in csv_records(text) if not one.fault]


def faults(text: str) -> list[tuple[int, str]]:
    return [(one.line, one.fault) for one in csv_records(text) if one.fault]


@pytest.mark.parametrize(
    "line",
    [
        'x,"open',  # no quotation mark follows
        '"open,y',
        'x,"',
        'x,"twice "" open',
    ],
)
@pytest.mark.parametrize("after", [["c,d", "e,f"], ['"c","d"', "e,f"], ["c,d", '"e",f'], []])
def test_an_open_quote_costs_its_own_line_only(line: str, after: list[str]) -> None:
    text = "\n".join(["a,b", line, *after])
    ((number, fault),) = faults(text)
    assert number == 2
    assert UNCLOSED in fault
    expected = [(3 + at, 3 + at, one.replace('"', "").split(",")) for at, one in enumerate(after)]
    assert read(text) == [(1, 1, ["a", "b"]), *expected]


def test_every_open_quote_is_named() -> None:
    text = "".join(f'"{number},x\n' for number in range(1, 1_001))
    assert [line for line, _ in faults(text)] == list(range(1, 1_001))
    assert not read(text)


def test_an_open_quote_before_a_long_file_does_not_take_the_file() -> None:
    text = 'x,"open\n' + "a,b\n" * 100_000
    assert [line for line, _ in faults(text)] == [1]
    assert len(read(text)) == 100_000


def test_cells_with_line_ends_keep_their_lines_and_the_numbers_of_the_others() -> None:
    assert read('a,"two\r\nlines"\n\nb,c\n') == [(1, 2, ["a", "two\r\nlines"]), (3, 3, []), (4, 4, ["b", "c"])]


def test_another_fault_of_a_line_is_told_in_its_own_words() -> None:
    ((line, fault),) = faults('a\n"b"c\nd\n')
    assert line == 2
    assert UNCLOSED not in fault
    assert "is not valid CSV" in fault


@given(st.text(alphabet='a",;\n\r ', max_size=60))
def test_what_is_valid_reads_as_the_standard_library_reads_it(text: str) -> None:
    try:
        expected = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        assert faults(text)
        return
    assert [cells for _, _, cells in read(text)] == expected
    assert not faults(text)


@given(st.text(alphabet='a",\n', max_size=80))
def test_every_line_is_in_one_record(text: str) -> None:
    found = [(one.line, one.last_line) for one in csv_records(text)]
    lines = [number for first, last in found for number in range(first, last + 1)]
    assert lines == list(range(1, len(io.StringIO(text).readlines()) + 1))
