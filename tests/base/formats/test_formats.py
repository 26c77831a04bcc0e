"""Files that are read and written: CSV records, JSON documents, TOML and YAML."""

import csv
import datetime
import io
import json
import math
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate
from sizer.base.formats.csv_rows import csv_records
from sizer.base.formats.json_document import DIGEST, fields_of, json_document, json_text, sealed, to_plain
from sizer.base.formats.toml_text import to_toml
from sizer.base.formats.yaml_text import MAX_CHARACTERS, read_yaml

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


class _Colour(Enum):
    RED = "red"


class _Model(BaseModel):
    day: datetime.date


@dataclass(frozen=True)
class _Record:
    rate: Estimate
    amounts: tuple[Decimal | None, ...]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (math.inf, None),
        (-math.inf, None),
        (math.nan, None),
        (np.float64("inf"), None),
        (np.array([1.5, np.nan]), [1.5, None]),
        (np.array(2), 2),
        (np.bool_(True), True),
        (True, True),
        (Decimal("149000"), "149000.00"),
        (Decimal("2.345"), "2.35"),
        (Decimal("1E+3"), "1000.00"),
        (Fraction(1, 4), 0.25),
        (_Colour.RED, "red"),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        (_Model(day=datetime.date(2024, 2, 29)), {"day": "2024-02-29"}),
        (Estimate.exact(np.inf), {"value": None, "low": None, "high": None}),
        (
            _Record(Estimate.exact(2.0), (Decimal(1), None)),
            {"rate": {"value": 2.0, "low": 2.0, "high": 2.0}, "amounts": ["1.00", None]},
        ),
    ],
)
def test_each_value_has_one_form(value, form):
    plain = to_plain(value)
    assert plain == form
    assert type(plain) is type(form)
    json.dumps(plain, allow_nan=False)


def test_a_value_without_a_form_is_refused():
    with pytest.raises(TypeError, match="object"):
        to_plain({"a": [object()]})


def test_every_document_says_what_it_is():
    document = json_document("rates", rate=Estimate.exact(1.0))
    assert list(document) == ["kind", "schema_version", "tool_version", "rate"]
    assert json.loads(json_text(document)) == document


def test_a_field_that_does_not_exist_is_an_error():
    with pytest.raises(AttributeError):
        fields_of(Estimate.exact(1.0), "value", "middle")


def test_the_seal_of_a_document_is_the_same_on_every_processor():
    """Wider vectors add in another order, which moves the last bits of a sum."""
    terms = [1 / (3 + place) for place in range(1_000)]
    forwards, backwards, exact = sum(terms), sum(reversed(terms)), math.fsum(terms)
    assert len({forwards, backwards, exact}) > 1
    seals = {sealed(json_document("test", sums=[one, -1e9 * one]))[DIGEST] for one in (forwards, backwards, exact)}
    assert len(seals) == 1


KEYS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
VALUES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    st.integers(-(2**60), 2**60),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.integers(0, 9), max_size=3),
    st.dates(),
)
PLAIN_TABLES = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)


def nested(inner: st.SearchStrategy) -> st.SearchStrategy:
    """Tables that hold tables and arrays of tables."""
    return st.dictionaries(KEYS, st.one_of(inner, st.lists(inner, min_size=1, max_size=2)), min_size=1, max_size=3)


@given(st.recursive(PLAIN_TABLES, nested, max_leaves=6))
def test_the_text_of_data_is_read_as_the_data(data):
    assert tomllib.loads(to_toml(data)) == data


@pytest.mark.parametrize(
    ("text", "value"),
    # YAML 1.2.2, section 10.3.2: core schema. Plain PyYAML reads False, True, "1e3", 750 and 12.
    [
        ("no", "no"),
        ("on", "on"),
        ("1e3", 1000.0),
        ("12:30", "12:30"),
        ("014", 14),
        ("0o14", 12),
        ("0xC", 12),
        ("'1'", "1"),
        ("~", None),
        ("", None),
        ("True", True),
        ("tRUE", "tRUE"),
        ("-.inf", float("-inf")),
        (".5", 0.5),
        ("+12", 12),
        ("1_000", "1_000"),
        ("2018-01-01", "2018-01-01"),
        ("<<", "<<"),
        ("=", "="),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text, value):
    read = read_yaml(f"a: {text}\n", "f").data["a"]
    assert (read, type(read)) == (value, type(value))


def test_every_value_knows_its_place():
    read = read_yaml("a: 1\nb:\n  - x\n  - {c: 2}\n", "f.yaml")
    assert read.data == {"a": 1, "b": ["x", {"c": 2}]}
    assert read.place(("b", 1, "c")) == "f.yaml:4:9"
    assert read.place(("b", 1, "missing")) == "f.yaml:4:5"  # the table that lacks it
    assert read_yaml("", "f.yaml").place(("a",)) == "f.yaml:1:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x [1, 1]\nb: [*x, *x]\n", r"f.yaml:2:5: alias \*x"),
        ("a: [1, 2\n", "f.yaml:2:1: is not valid YAML"),
        ("a: \x07\n", "f.yaml:1:4: is not valid YAML: control characters"),
        ("? {a: 1}\n: 2\n", "f.yaml:1:3: a key is plain text"),
        ("[" * 100_000, "f.yaml:1:22: nested deeper"),
        ("- \n" * 110_000, "more values than are read"),
        ("a: " + "9" * 5000, "f.yaml:1:4: .* has more digits"),
        ("a" * (MAX_CHARACTERS + 1), "characters are more than is read"),
        ("\ud800", "f.yaml:1:1: is not valid YAML: surrogates"),
        ("a: !!python/object/apply:os.system [x]\n", r"f.yaml:1:4: tag 'tag:yaml.org,2002:python"),
        ("a: ! 1\n", r"f.yaml:1:4: tag '!'"),
        ("a: 1\nb: 2\na: 3\n", r"f.yaml:3:1: key 'a' stands here a second time"),
        ("a: 1\n---\nb: 2\n", r"f.yaml:2:1: a second document"),
        ("&a [&b [*a, *a], *b]", r"f.yaml:1:9: alias"),
    ],
)
def test_what_is_not_plain_data_is_refused_with_its_place(text, message):
    with pytest.raises(RequestError, match=message):
        read_yaml(text, "f.yaml")
