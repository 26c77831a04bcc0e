"""Bounds on what is read, and the wording of many faults."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from sizer.base.errors import CatalogError, OutputError, RequestError
from sizer.base.faults import MAX_DEPTH, MAX_ENTRIES, MAX_VALUES, check_size, in_words, nearest
from sizer.base.formats.toml_text import parse_toml
from sizer.base.streams import messages, prepare_streams
from sizer.documents import known_kinds
from sizer.export.files import write_whole
from sizer.workload.request import SizingRequest


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    known: int = 0


@pytest.mark.parametrize(("n_faults", "rest"), [(20, ""), (21, "and 1 more error"), (60_000, "and 59980 more errors")])
def test_twenty_faults_are_worded_and_the_others_counted(n_faults, rest):
    """Linear: the limit of the suite would stop 60,000 x 60,000 comparisons."""
    with pytest.raises(ValidationError) as caught:
        _Table.model_validate({f"key{number}": 1 for number in range(n_faults)})
    lines = in_words(_Table, caught.value, "file")
    assert lines[0] == "file: unknown key 'key0'; known are known"
    assert lines[20:] == ([rest] if rest else [])


def test_a_long_or_obeyed_key_is_shown_short_and_escaped():
    for key in ("x" * 100_000, "a\x1b[2Jb", "\u202ekey"):
        with pytest.raises(ValidationError) as caught:
            _Table.model_validate({key: 1})
        (text,) = in_words(_Table, caught.value, "file")
        assert text.isprintable()
        assert len(text) < 200


def test_a_catalogue_error_shows_twenty_and_keeps_all():
    error = CatalogError([f"fault {number}" for number in range(25)])
    assert str(error).splitlines()[-2:] == ["fault 19", "and 5 more errors"]
    assert len(error.faults) == 25


def _nested(depth: int) -> object:
    data: object = 1
    for _ in range(depth):
        data = [data]
    return data


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"a": [0] * (MAX_ENTRIES + 1)}, f"a list has {MAX_ENTRIES + 1} entries; at most {MAX_ENTRIES}"),
        (dict.fromkeys(map(str, range(60_000)), 1), "a table has 60000 entries"),
        ([[0] * MAX_ENTRIES] * (MAX_VALUES // MAX_ENTRIES), f"more than {MAX_VALUES} values"),
        (_nested(MAX_DEPTH + 1), f"more than {MAX_DEPTH} deep"),
        (_nested(100_000), f"more than {MAX_DEPTH} deep"),
    ],
)
def test_data_beyond_the_bounds_are_refused(data, words):
    with pytest.raises(RequestError, match="^file: .*" + words):
        check_size(data, "file")


def test_data_within_the_bounds_pass():
    check_size({"a": [0] * MAX_ENTRIES, "b": _nested(MAX_DEPTH - 1)}, "file")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"limits": {"budget": "much"}}, "limits.budget = 'much' must be a number"),
        ({"limits": 3}, "limits = 3 must be a table of keys"),
        ({"workload": 3}, "workload = 3 must be a list"),
        ({"title": 5}, "title = 5 must be a text in quotes"),
        ({"fabric": {"converged": "maybe"}}, "fabric.converged = 'maybe' must be true or false"),
        ({"platforms": {"gpus": [""]}}, "platforms.gpus[0] = '' is not an id of the catalogue, such as 'dgx-1'"),
        ({"currency": "usd"}, "currency = 'usd' is not three capital letters, such as 'USD'"),
    ],
)
def test_a_value_of_another_type_is_told_what_is_allowed(data, says):
    work = {"dnn": "resnet50", "target": {"samples_per_s": 1000}}
    with pytest.raises(RequestError) as caught:
        SizingRequest.from_dict({"workload": [work], **data}, "need.toml")
    assert str(caught.value) == f"need.toml: {says}"


@pytest.mark.parametrize(
    "text",
    ["a." * 100_000 + "a = 1", "[" + "a." * 100_000 + "a]", "x = { " + "a." * 9_000 + "b=1 }"],
)
def test_keys_of_thousands_of_parts_are_refused_before_they_are_read(text):
    with pytest.raises(ValueError, match=r"too many dots \(at line 1\)"):
        parse_toml(text)


def test_a_list_of_decimals_and_a_text_of_points_are_read():
    assert len(parse_toml("a = [" + "1.5, " * 1_000 + "]")["a"]) == 1_000
    assert parse_toml(f'a = "{"." * 1_500}"')["a"] == "." * 1_500


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        # another product: a digit or a letter of its model number differs
        ("gh200", ["gb200-186gb"], None),
        ("h20", ["h200-sxm-141gb"], None),
        ("l40", ["l40s-48gb"], None),
        ("mi250x", ["mi300x-192gb"], None),
        ("rtx-6000", ["rtx-pro-6000-96gb"], None),
        ("dgx-3", ["dgx-1", "dgx-2"], None),
        ("llama-4-8b", ["llama-3-8b"], None),
        # a typing error
        ("dgx1", ["dgx-1", "dgx-2"], "dgx-1"),
        ("resnt-50", ["resnet50", "resnet101"], "resnet50"),
        ("llama3-8b", ["llama-3-8b", "llama-2-13b"], "llama-3-8b"),
        ("h100 sxm", ["h100-sxm-80gb", "h200-sxm-141gb"], "h100-sxm-80gb"),
        ("bugdet", ["budget", "racks"], "budget"),
    ],
)
def test_another_product_is_no_typing_error(name, known, meant):
    assert nearest(name, known) == ("" if meant is None else f"; did you mean {meant!r}?")


def test_a_folder_of_a_thousand_parts_is_refused(tmp_path):
    with pytest.raises(OutputError, match="folders deep"):
        write_whole(tmp_path.joinpath(*["a"] * 1000), {"b": b""})
    assert not (tmp_path / "a").exists()


def test_a_long_name_of_a_document_is_not_repeated_whole():
    with pytest.raises(RequestError) as error:
        known_kinds(["x" * 7000])
    assert len(str(error.value)) < 1000


EXAMPLE = Path(__file__).parents[2] / "examples" / "small-team.toml"


def test_messages_whose_reader_has_gone_are_lost_and_later_ones_too():
    prepare_streams()
    reading, writing = os.pipe()
    os.close(reading)
    told = messages(writing, "utf-8")
    for _ in range(3):
        assert told.write("writing guide.pdf\n") > 0
        told.flush()
    os.close(writing)


@pytest.mark.workers
def test_a_command_whose_messages_nobody_reads_writes_its_documents(tmp_path):
    command = [sys.executable, "-m", "sizer.cli", "size", str(EXAMPLE), "--out", "out", "--formats", "pdf,xlsx"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stderr is not None
        running.stderr.close()
        assert running.stdout is not None
        answer = running.stdout.read()
    assert running.returncode == 0
    assert b"designs evaluated" in answer
    assert {"guide.pdf", "bom.xlsx"} <= {path.name for path in (tmp_path / "out").iterdir()}
