"""Requests: what is read, what is refused and in which words."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from sizer import SizingRequest
from sizer.base.errors import RequestError
from sizer.base.resources import data_dir
from sizer.catalog.loader import shipped_catalog
from sizer.workload.resolve import resolve

CATALOG = shipped_catalog()
JOB: dict[str, Any] = {"name": "trial", "gpus": 2, "jobs_a_day": 3, "duration_s": "2 h"}
ALWAYS: dict[str, Any] = {"name": "a", "gpus": 1, "always_running": 100_000}
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


STATED = {"storage": "hnas", "usable_bytes": "2 PB"}
TABLES = {
    "name": "ours",
    "forward_flop": "1 GFLOP",
    "parameters": 2e6,
    "embedding_parameters": 3e6,
    "input_bytes": "1 kB",
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"workload": []}, ["workload is empty"]),
        ({"workload": [{**WORK, "targt": 1}]}, ["'workload[0].targt'", "'target'"]),
        ({"workload": [{**WORK, "target": {}}]}, ["exactly one of", "none"]),
        ({"workload": [{**WORK, "target": {"gpus_busy": 4, "samples_per_s": 10}}]}, ["exactly one of", "gpus_busy"]),
        ({"workload": [{**WORK, "epochs": 90, "recipe": "x"}]}, ["epochs or recipe, not both"]),
        ({"workload": [{**WORK, "batch_per_gpu": 0}]}, ["batch_per_gpu = 0", "between 1 and 65536"]),
        ({"workload": [{**WORK, "batch_per_gpu": 1.5}]}, ["batch_per_gpu", "whole number"]),
        ({"workload": [{**WORK, "epochs": float("nan")}]}, ["epochs"]),
        (
            {"workload": [{**WORK, "precision": "int8"}]},
            ["precision = 'int8'", "'mixed', 'fp32', 'fp16', 'bf16', 'fp8', 'mxfp8', 'fp4' or 'nvfp4'"],
        ),
        ({"workload": [{"dnn": "../../etc", "target": {"gpus_busy": 1}}]}, ["'../../etc' is not an id of"]),
        ({"confidence": 1.0}, ["confidence = 1.0", "between 0.5 and 0.99"]),
        ({"currency": "dollars"}, ["currency"]),
        ({"limits": {"budgt": 5}}, ["limits.budgt", "budget"]),
        ({"limits": {"racks": 0}}, ["limits.racks = 0"]),
        ({"team": {"jobs": 3}}, ["'team.jobs'", "'team.job'"]),
        ({"team": {"wait_s": "1 h", "job": []}}, ["team.job is empty"]),
        ({"team": {"wait_s": "1 h", "job": [{"name": "a", "gpus": 4}]}}, ["exactly one of jobs_a_day", "none"]),
        ({"team": {"wait_s": "1 h", "job": [{**JOB, "duration_s": None}]}}, ["duration_s", "duration_s"]),
        ({"team": {"wait_s": "1 h", "job": [{**JOB, "workload": "x"}]}}, ["workload = 'x'", "'workload'"]),
        ({"team": {"wait_s": "1 h", "job": [JOB, JOB]}}, ["unique"]),
        ({"team": {"wait_s": "1 h", "job": [{**JOB, "gpus": 0}]}}, ["team.job[0].gpus = 0", "between 1 and 100000"]),
        ({"team": {"wait_s": "1 h", "days_a_week": 8, "job": [JOB]}}, ["days_a_week = 8", "between 1 and 7"]),
        ({"team": {"wait_s": "1 h", "job": [ALWAYS, {**ALWAYS, "name": "b"}]}}, ["200000 jobs are always_running"]),
        ({"team": {"wait_s": "1 h", "job": [{**JOB, "gpus": 0.25}]}}, ["gpus = 1 and sessions_per_gpu = 4"]),
        ({"team": {"wait_s": "1 h", "job": [{**JOB, "sessions_per_gpu": 4}]}}, ["kind = 'notebook'", "gpus = 1"]),
        ({"team": {"wait_s": "1 h", "job": [{**JOB, "priority": "urgent"}]}}, ["priority = 'urgent'", "'high'"]),
        ({"team": {"wait_s": "1 h", "job": [{**ALWAYS, "priority": "high"}]}}, ["always_running", "priority"]),
        ({"stated_storage": [STATED, STATED]}, ["hnas more than once", "one table"]),
        ({"workload": [{**WORK, "dnn": TABLES}]}, ["embedding_parameters = 3e+06", "at most parameters = 2e+06"]),
        ({"growth": {"years": 3}}, ["dnn_size"]),
        ({"growth": {"data": float("inf")}}, ["growth.data", "between 0.1 and 20"]),
        ({"growth": {"team": 2}}, ["needs a [team]"]),
        ({"data": {"checkpoints_kept": 3}}, ["checkpoint_every_s"]),
        ({"data": {"snapshot_share": 1.5}}, ["snapshot_share = 1.5", "between 0 and 1"]),
        ({"resilience": {"keeps_targets_without": ["room"]}}, ["room", "storage-node"]),
        ({"rental": {"per_gpu_hour": "-2"}}, ["rental.per_gpu_hour", "not a price"]),
        ({"rental": {"per_gpu_hour": "0.00"}}, ["rental.per_gpu_hour", "greater than 0"]),
        ({"rental": {"per_gpu_hour": 2, "electricity_per_kwh": "0.12345"}}, ["electricity_per_kwh", "four decimals"]),
        ({"title": "x" * 500}, ["title"]),
        ({"exchange_rate_usd": 1.1}, ["exchange_rate_usd", "currency other than USD"]),
        ({"currency": "EUR", "exchange_rate_usd": 0}, ["exchange_rate_usd = 0"]),
    ],
)
def test_refusals_name_key_value_and_what_is_allowed(change: dict[str, Any], words: list[str]) -> None:
    text = refused({"workload": [WORK], **change})
    assert text.startswith("wish.toml: ")
    for word in words:
        assert word in text
    assert len(text) < 700


def test_empty_tables_of_earlier_files_ask_for_nothing() -> None:
    request = SizingRequest.from_dict({"workload": [WORK], "team": {}, "growth": {}})
    assert (request.team, request.growth) == (None, None)


def test_the_second_customer_of_an_earlier_file_is_the_one_that_its_documents_named() -> None:
    both = {"customer": "Example Motors", "quote": {"number": "Q-1", "prepared_for": "Plant 4"}}
    request = SizingRequest.from_dict({"workload": [WORK], **both})
    assert (request.customer, request.quote.number) == ("Plant 4", "Q-1")
    request = SizingRequest.from_dict({"workload": [WORK], "customer": "Plant 4", "quote": {"prepared_for": ""}})
    assert request.customer == "Plant 4"
    assert "customer: contains the control character U+0007" in refused(
        {"workload": [WORK], "quote": {"prepared_for": "a\x07b"}}
    )


def test_every_fault_is_listed_at_once() -> None:
    text = refused({"workload": [{**WORK, "batch_per_gpu": 0, "sample_bytes": "1 Gb"}], "confidence": 2})
    assert len(text.splitlines()) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dnn": "resnet5"}, ["workload.0.dnn = 'resnet5'", "resnet50"]),
        ({"dnn": "ResNet 50"}, ["workload.0.dnn = 'ResNet 50': this DNN is not in", "did you mean 'resnet50'?"]),
        ({"dnn": "Llama 3 70B"}, ["workload.0.dnn = 'Llama 3 70B'", "did you mean 'llama-3-70b'?"]),
        # a network that is not known is told before its training length is asked for
        ({"dnn": "alphafold2", "target": {"time_to_train_s": "9 d"}}, ["'alphafold2': this DNN is not in"]),
        ({"target": {"time_to_train_s": "9 d"}}, ["needs the training length", "epochs"]),
        ({"dataset": "imagnet"}, ["imagnet", "imagenet"]),
        ({"stack": "mxnet-ngc19.7-dali"}, ["mxnet-ngc19.07-dali"]),
        ({"recipe": "resnet50-mlperf"}, ["recipe"]),
        ({"dnn": "vgg16", "recipe": "resnet50-mlperf-v0.6"}, ["resnet50", "vgg16"]),
        ({"dataset_bytes": "10 kB"}, ["smaller than one sample"]),
        ({"stack": "dlbs-tensorrt-2018"}, ["is for inference"]),
    ],
)
def test_names_are_looked_up_with_a_suggestion(change: dict[str, Any], words: list[str]) -> None:
    request = SizingRequest.from_dict({"workload": [{**WORK, **change}]})
    with pytest.raises(RequestError) as caught:
        resolve(request, CATALOG, {})
    for word in words:
        assert word in str(caught.value)


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
    ("tables", "named"),
    [
        ({"ownership": {"years": 0}}, ["ownership.years = 0", "between 1 and 15"]),
        ({"ownership": {"years": -3}}, ["ownership.years = -3"]),
        ({"ownership": {"years": 1e9}}, ["ownership.years"]),
        ({"ownership": {"years": float("nan")}}, ["ownership.years"]),
        ({"ownership": {"electricity_per_kwh": -0.1}}, ["ownership.electricity_per_kwh", "is not a price"]),
        ({"ownership": {"electricity_per_kwh": "0.20 EUR"}}, ["ownership.electricity_per_kwh", "is not a price"]),
        ({"ownership": {"support_percent": 101}}, ["ownership.support_percent"]),
        ({"ownership": {"utilization_fraction": 0}}, ["ownership.utilization_fraction"]),
        (
            {"ownership": {"space_per_rack_month": 900, "space_per_rack_unit_month": 25}},
            ["either space_per_rack_unit_month or space_per_rack_month"],
        ),
        ({"ownership": {}, "site": {"pue_ratio": 0.9}}, ["site.pue_ratio = 0.9", "between 1 and 5"]),
        ({"rank_by": "ownership"}, ["needs an [ownership] table"]),
        (
            {"ownership": {"electricity_per_kwh": 0.2}, "rental": {"per_gpu_hour": 2.5, "electricity_per_kwh": 0.3}},
            ["give the price once"],
        ),
    ],
)
def test_impossible_ownership_is_refused_in_one_sentence(tables: dict[str, object], named: list[str]) -> None:
    work = {"dnn": "resnet50", "target": {"gpus_busy": 8}}
    with pytest.raises(RequestError) as refusal:
        SizingRequest.from_dict({"workload": [work], **tables})
    text = str(refusal.value)
    assert "\n" not in text
    assert all(part in text for part in named), text


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


def _lower_bounds(schema):
    """Keys of the schema that bound a number from below, wherever they stand."""
    if isinstance(schema, dict):
        yield from (key for key in schema if key in ("minimum", "exclusiveMinimum"))
        yield from (key for value in schema.values() for key in _lower_bounds(value))
    elif isinstance(schema, list):
        yield from (key for value in schema for key in _lower_bounds(value))


def test_every_number_has_a_plausible_lower_bound():
    """Greater than 0 lets 5e-324 in, whose quotients are infinite: every bound is a value that is itself allowed."""
    assert set(_lower_bounds(SizingRequest.model_json_schema())) == {"minimum"}


@pytest.mark.parametrize(
    ("tables", "named"),
    [
        ({"team": {"hours_a_day": 1e-9}}, ["team.hours_a_day", "between 0.1 and 24"]),
        ({"workload": [{**WORK, "epochs": 1e-300}]}, ["epochs", "between 0.001 and 100000"]),
        ({"rental": {"per_gpu_hour": "2", "speed_ratio": 5e-324}}, ["rental.speed_ratio", "between 0.01 and 100"]),
        ({"ownership": {"utilization_fraction": 5e-324}}, ["ownership.utilization_fraction", "between 0.001 and 1"]),
        ({"limits": {"budget": 5e-324}}, ["limits.budget", "at least 1"]),
        ({"data": {"transform_core_s": 5e-324}}, ["data.transform_core_s", "between 1e-9 and 1e6"]),
    ],
)
def test_denormal_numbers_are_refused_with_their_range(tables, named):
    with pytest.raises(RequestError) as error:
        SizingRequest.from_dict({"workload": [WORK], **tables})
    assert all(word in str(error.value) for word in named), str(error.value)


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


@pytest.mark.parametrize("day", ["2026-11-21", "2000-01-01", "2100-12-31"])
def test_a_day_reads_as_what_it_is(day: str) -> None:
    for given in (day, datetime.date.fromisoformat(day)):
        assert str(SizingRequest.from_dict({"workload": [WORK], "date": given}).date) == day
