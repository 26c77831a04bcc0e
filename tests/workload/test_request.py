"""Requests: what is read, what is refused and in which words."""

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sizer import SizingRequest
from sizer.base.errors import RequestError
from sizer.base.resources import data_dir
from sizer.workload.resolve import resolve
from tests.factories.requests import CATALOG
from tests.factories.rows import every

# Tables that a request for one training may not have, with what the refusal names; "resolved": only with the catalogue.
REFUSALS = json.loads(Path(__file__).with_name("refusals.json").read_text("utf-8"))
WORK: dict[str, Any] = {"dnn": "resnet50", "target": {"samples_per_s": "5000 images/s"}}


def refused(data: Any) -> str:
    with pytest.raises(RequestError) as caught:
        SizingRequest.from_dict(data, "wish.toml")
    return str(caught.value)


@pytest.mark.parametrize("path", sorted(data_dir("examples").rglob("*.toml")), ids=lambda path: path.stem)
def test_examples_read_and_survive_json(path: Path) -> None:
    request = SizingRequest.from_file(path)
    again = SizingRequest.from_dict(json.loads(request.model_dump_json()))
    assert again == request
    assert resolve(request, CATALOG, {})


@every(REFUSALS["read"])
def test_refusals_name_key_value_and_what_is_allowed(case: dict[str, Any]) -> None:
    text = refused({"workload": [WORK], **case["change"]})
    assert text.startswith("wish.toml: ")
    assert [words for words in case["words"] if words not in text] == [], text
    assert len(text.splitlines()) == case.get("lines", 1)
    assert len(text) < 700


@every(REFUSALS["resolved"])
def test_names_are_looked_up_with_a_suggestion(case: dict[str, Any]) -> None:
    request = SizingRequest.from_dict(case["change"])
    with pytest.raises(RequestError) as caught:
        resolve(request, CATALOG, {})
    assert [words for words in case["words"] if words not in str(caught.value)] == [], str(caught.value)


def test_every_fault_is_listed_at_once() -> None:
    text = refused({"workload": [{**WORK, "batch_per_gpu": 0, "sample_bytes": "1 Gb"}], "confidence": 2})
    assert len(text.splitlines()) == 3


def test_without_a_stack_the_newest_that_knows_the_dnn_is_taken() -> None:
    request = SizingRequest.from_dict({"workload": [WORK], "platforms": {"generations": ["volta"]}})
    stacks = ("mxnet-ngc19.07-dali", "mxnet-ngc18.12-dali")
    known = {(stack, "resnet50", "mixed", "training"): 3 for stack in stacks}
    (work,) = resolve(request, CATALOG, {**known, ("mxnet-1.2", "resnet50", "fp32", "training"): 9})
    assert work.stack.id == "mxnet-ngc19.07-dali"
    assert work.stack_choice is not None
    assert [other.id for other in work.stack_choice.others] == ["mxnet-ngc18.12-dali"]


def test_a_custom_dnn_and_data_set_are_read() -> None:
    dnn = {
        "name": "ours",
        "forward_flop": "8.2 GFLOP",
        "parameters": 25.6e6,
        "input_bytes": "150.528 kB",
        "like": "resnet50",
    }
    data = {"n_samples": 1e6, "sample_bytes": "113 kB"}
    request = SizingRequest.from_dict(
        {"workload": [{**WORK, "dnn": dnn, "dataset": data, "stack": "mxnet-ngc19.07-dali"}]}
    )
    (work,) = resolve(request, CATALOG, {})
    assert (work.dnn.forward_flop.value, work.like, work.dataset_bytes) == (
        pytest.approx(8.2e9),
        "resnet50",
        pytest.approx(113e9),
    )


@pytest.mark.parametrize(
    ("dnn", "dataset"),
    # Sets of the MLPerf Training benchmarks; image classifiers read ImageNet.
    [
        ("bert-large", "wikipedia-bert"),
        ("unet3d", "kits19"),
        ("mask-rcnn", "coco"),
        ("gnmt", "wmt-en-de"),
        ("ncf", "movielens-20m"),
        ("retinanet", "openimages-mlperf"),
        ("resnet50", "imagenet"),
        ("vgg16", "imagenet"),
    ],
)
def test_a_network_reads_the_set_of_its_published_runs_where_none_is_named(dnn, dataset):
    asked = {"workload": [{"dnn": dnn, "target": {"samples_per_s": 10}}]}
    (work,) = resolve(SizingRequest.from_dict(asked), CATALOG, {})
    assert work.dataset.id == dataset


@pytest.mark.parametrize("key", ["date", "needed_by"])
@pytest.mark.parametrize(
    "day",
    [
        *("2026-11-21T00:00:00", "1732233600", 1732233600, "20261121", "2026-W47-6", " 2026-11-21", "21.11.2026", True),
        datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC),
        *("2026-02-30", "9999-12-02", "1999-12-31", datetime.date(1, 1, 1)),
    ],
    ids=str,
)
def test_a_day_is_written_one_way_and_is_plausible(key: str, day: Any) -> None:
    text = refused({"workload": [WORK], key: day})
    assert key in text
    assert "write 2026-11-21" in text or "between 2000-01-01 and 2100-12-31" in text


def _unbounded(schema: Any, place: str = "") -> Iterator[str]:
    """Places of numbers that the schema leaves without a least or a most."""
    if isinstance(schema, dict):
        is_open = schema.get("type") in ("number", "integer") and not {"minimum", "maximum"} <= set(schema)
        if is_open and not {"enum", "const"} & set(schema):
            yield place
        for key, value in schema.items():
            yield from _unbounded(value, f"{place}.{key}")
    # Money is a number or a text of at most ten digits.
    elif isinstance(schema, list) and not any(isinstance(one, dict) and one.get("type") == "string" for one in schema):
        for one in schema:
            yield from _unbounded(one, place)


def test_every_number_of_the_schema_has_a_least_and_a_most() -> None:
    assert list(_unbounded(SizingRequest.model_json_schema())) == []
