"""A need in words, as a file or in a table: one request everywhere, with what is assumed, unread, asked or refused."""

import json
import tomllib
from pathlib import Path

import pytest

from sizer.batch.requests import batch_requests
from sizer.batch.work import mapped_request
from sizer.workload.need import is_sentence, read_need, read_words
from sizer.workload.request import SizingRequest
from tests.cli.running import refused, run
from tests.factories.examples import catalog

WORDS = "Train ResNet-50 at 9,000 images/s on DGX-1, at most 60 kW, in Rome"
KEYS = {"request", "unread", "asked", "assumptions", "refused"}


def test_command_app_and_table_read_the_same_request(tmp_path: Path) -> None:
    table = tmp_path / "needs.csv"
    table.write_text(f'sentence\n"{WORDS}"\n', encoding="utf-8")
    (row,) = batch_requests([table])[0]
    of_app = SizingRequest.from_dict(read_words(WORDS, catalog()).request)
    of_command = tomllib.loads(run("size", WORDS, "--explain").stdout)
    assert SizingRequest.from_dict(of_command) == of_app == mapped_request(row.request, catalog(), row.place)
    assert of_app.limits.power_w == 60e3


def test_a_file_and_a_sentence_have_the_same_keys(tmp_path: Path) -> None:
    done = run("size", WORDS, "--json")
    answer = json.loads(done.stdout)
    assert {*KEYS, "design", "bill", "verdict"} <= answer.keys()
    assert (answer["unread"], answer["asked"], answer["refused"]) == (["Rome"], [], None)
    assert "Rome" in done.stderr
    file = tmp_path / "need.json"
    file.write_text(json.dumps(answer["request"]), encoding="utf-8")
    of_file = json.loads(run("size", file, "--json").stdout)
    assert of_file.keys() == answer.keys()
    assert of_file["request"] == answer["request"]
    assert (of_file["unread"], of_file["asked"], of_file["refused"]) == ([], [], None)


@pytest.mark.parametrize(
    ("words", "key", "about"),
    [
        ("train a network on 2 racks", "asked", "network"),
        ("Voice bot with text-to-speech for 900 customers", "asked", "task"),
        ("weather simulation with LAMMPS on 2 racks", "refused", None),
        ("ResNet-50 at 9,000 images/s on DGX-1 with F800 within 1,000 USD", "refused", None),
    ],
)
def test_what_is_open_or_refused_is_a_document_too(words: str, key: str, about: str | None) -> None:
    done = run("size", words, "--json")
    document = json.loads(done.stdout)
    assert done.returncode in (2, 4)
    assert document.keys() >= KEYS
    assert document[key]
    assert about is None or document["asked"][0]["about"] == about
    assert about is None or document["asked"][0]["answers"]


def test_options_and_columns_rule_over_the_sentence(tmp_path: Path) -> None:
    told = tomllib.loads(
        run("size", WORDS, "--explain", "--set", "limits.power_w=40 kW", "--set", "workload.0.precision=fp32").stdout
    )
    assert told["limits"]["power_w"] == "40 kW"
    assert (told["workload"][0]["precision"], told["workload"][0]["dnn"]) == ("fp32", "resnet50")
    table = tmp_path / "needs.csv"
    table.write_text(f'sentence,limits.power_w\n"{WORDS}",40 kW\n', encoding="utf-8")
    (row,) = batch_requests([table])[0]
    assert mapped_request(row.request, catalog(), row.place).limits.power_w == 40e3


def test_a_key_may_answer_what_is_missing() -> None:
    """Without a target one is assumed; a column or an option gives it, and nothing is assumed then."""
    assert "target not given: 8 GPUs" in read_need("train ResNet-50 on 2 racks", catalog()).assumptions
    changes = {"workload": [{"target": {"samples_per_s": "9000 images/s"}}]}
    reading = read_need("train ResNet-50 on 2 racks", catalog(), changes)
    assert (reading.is_complete, reading.assumptions) == (True, ())
    assert reading.request["workload"][0]["target"] == {"samples_per_s": "9000 images/s"}


def test_an_unknown_key_is_refused() -> None:
    refused(run("size", WORDS, "--set", "limits.powr_w=4", "--explain"), 2, "limits.powr_w", "limits.power_w")


@pytest.mark.parametrize("words", ["Train ResNet-50 " * 30, "a\0b c", "x " * 3_000, "ResNet-50 / VGG-16 on 8 GPUs"])
def test_words_that_no_file_can_be_called_are_a_sentence(words: str) -> None:
    assert is_sentence(words)


@pytest.mark.parametrize("path", ["request.toml", "my requests/first one.json", Path("some where")])
def test_what_is_called_like_a_file_is_no_sentence(path: str | Path) -> None:
    assert not is_sentence(path)
