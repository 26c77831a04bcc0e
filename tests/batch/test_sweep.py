"""Sweeps against single answers, and axes as people type them."""

import json
from functools import cache

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from sizer import SizingRequest, sweep
from sizer.base.errors import InfeasibleError, RequestError
from sizer.batch.work import cells_of_design
from sizer.catalog.loader import shipped_catalog
from sizer.cli import app
from sizer.cli.sweep import axis_of
from sizer.sizing.best_design import best_design

WORK = {"dnn": "resnet50", "dataset_bytes": "2 TB", "target": {"samples_per_s": 20_000}}
BASE = {"confidence": 0.6, "workload": [WORK], "platforms": {"servers": ["dgx-1"]}, "limits": {"servers": 24}}
RATE, TIME = "workload.0.target.samples_per_s", "workload.0.target.time_to_train_s"


@cache
def catalog():
    return shipped_catalog()


def base(**changes):
    return SizingRequest.from_dict({**BASE, **changes})


def alone_cells(request):
    """What sizing one request by itself says, as cells of a row."""
    try:
        best = best_design(request, catalog())
    except InfeasibleError as error:
        return {"answer.status": "infeasible", "answer.error": str(error)}
    return {"answer.status": "sized", **cells_of_design(best)}


@pytest.mark.workers
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rates=st.lists(st.floats(1e3, 4e5), min_size=1, max_size=2),
    sizes=st.lists(st.sampled_from(["144.8 GB", "2 TB", "22.2 TB", "900 TB"]), min_size=1, max_size=2),
    servers=st.lists(st.sampled_from([["dgx-1"], ["c4140"], []]), min_size=1, max_size=2),
    confidence=st.sampled_from([0.5, 0.9]),
)
def test_every_point_is_what_sizing_it_alone_gives(rates, sizes, servers, confidence):
    axes = {RATE: rates, "workload.0.dataset_bytes": sizes, "platforms.servers": servers, "confidence": [confidence]}
    rows = sweep(base(), axes, catalog()).to_pylist()
    points = [(rate, size, names) for rate in rates for size in sizes for names in servers]
    assert len(rows) == len(points)
    for row, (rate, size, names) in zip(rows, points, strict=True):
        work = {**WORK, "dataset_bytes": size, "target": {"samples_per_s": rate}}
        alone = base(confidence=confidence, workload=[work], platforms={"servers": names})
        assert row[RATE] == rate
        expected = alone_cells(alone)
        assert {name: row[name] for name in expected} == expected


def test_the_last_axis_runs_fastest_and_the_axes_come_first():
    table = sweep(base(), {RATE: ["5000 images/s", "1e4"], "confidence": [0.5, 0.9]}, catalog())
    assert table.schema.names[:3] == [RATE, "confidence", "answer.place"]
    assert table.column(RATE).to_pylist() == [5000.0, 5000.0, 10_000.0, 10_000.0]
    assert table.column("confidence").to_pylist() == [0.5, 0.9, 0.5, 0.9]


def test_an_axis_takes_the_place_of_its_alternatives():
    """Of a target, and of epochs and recipe, a request gives one."""
    axes = {"workload.0.recipe": ["resnet50-mlperf-v0.6"], TIME: ["3 h", "6 h"]}
    request = base(workload=[{**WORK, "dataset_bytes": "144.8 GB", "epochs": 5}])
    assert sweep(request, axes, catalog()).column("answer.status").to_pylist() == ["sized", "sized"]


def test_bad_points_are_rows():
    table = sweep(base(), {"confidence": [0.6, 7, "often"]}, catalog())
    assert table.column("answer.status").to_pylist() == ["sized", "refused", "refused"]
    assert "confidence" in table.column("answer.error").to_pylist()[1]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"workload.0.targt.samples_per_s": [1]}, "did you mean 'workload.0.target.samples_per_s'"),
        ({"confidence": []}, "confidence has no values"),
        ({"confidence": 0.9}, "confidence = 0.9 is not a list"),
        ({"workload.0.dnn": "resnet50"}, "is not a list"),
        ({RATE: [1], TIME: [1]}, "cannot both be given"),
        ({"workload.0.dataset": ["imagenet"], "workload.0.dataset.n_samples": [1]}, "cannot both be given"),
        ({"confidence": [0.9] * 2000, RATE: [1] * 2000}, "4000000 points; at most 1000000 are allowed"),
    ],
)
def test_axes_that_make_no_sense_are_refused_at_once(axes, message):
    with pytest.raises(RequestError, match=message):
        sweep(base(), axes, catalog())


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (f"{RATE}=10000,20000 images/s", ["10000 images/s", "20000 images/s"]),
        (f"{TIME}=30 min, 1,2 h", ["30 min", "1 h", "2 h"]),
        ("confidence=0.5,0.9", ["0.5", "0.9"]),
        (f"{RATE}=5e3,1e4", ["5e3", "1e4"]),
        (f"{RATE}=1000..2000 step 500", ["1000", "1500", "2000"]),
        (f"{TIME}=4..1 step -1 h", ["4 h", "3 h", "2 h", "1 h"]),
        ("confidence=0.5..0.9 step 0.1", ["0.5", "0.6", "0.7", "0.8", "0.9"]),
        ("platforms.servers=dgx-1;c4140,dgx-1", ["dgx-1;c4140", "dgx-1"]),
        ("workload.0.stack=,x", [None, "x"]),
    ],
)
def test_axes_as_typed(text, values):
    assert axis_of(text)[1] == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("confidence", "write KEY=VALUE,VALUE or KEY=LOW"),
        ("=1", "write KEY=VALUE,VALUE or KEY=LOW"),
        ("confidence=0.5..0.9 step 0", "does not lead from 0.5 to 0.9"),
        ("confidence=0.5..0.9 step -0.1", "does not lead from 0.5 to 0.9"),
        ("confidence=0.5.. step 1", "write a range as LOW..HIGH step STEP"),
        ("confidence=0..1 step 1e-9", "more than 100000 values"),
        ("confidence=0..1 step 1e-300", "more than 100000 values"),
    ],
)
def test_axes_that_cannot_be_read_are_named(text, message):
    with pytest.raises(RequestError, match=message):
        axis_of(text)


def command(tmp_path, *options):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(BASE))
    return CliRunner().invoke(app, ["sweep", str(path), *options])


def test_no_value_or_path_drives_the_terminal(tmp_path):
    options = ("--axis", "title=a,\x1b]0;b\x07", "--out", str(tmp_path / "o\x1b[2J.csv"))
    for done in (command(tmp_path, *options[:2]), command(tmp_path, *options)):
        assert "\x1b" not in done.stdout + done.stderr
        assert "\\x1b" in done.stdout + done.stderr


def test_the_command_writes_files_that_no_spreadsheet_calculates(tmp_path):
    done = command(tmp_path, "--axis", "title==1+1,plain", "--out", str(tmp_path / "table.csv"))
    assert done.exit_code == 0, done.stderr
    lines = (tmp_path / "table.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("title,answer.place,")
    assert lines[1].startswith("'=1+1,")
    done = command(tmp_path, "--axis", "confidence=0.5,0.9", "--out", str(tmp_path / "table.parquet"), "--json")
    assert pq.read_table(tmp_path / "table.parquet").column("confidence").to_pylist() == [0.5, 0.9]
    assert [row["confidence"] for row in json.loads(done.stdout)["points"]] == [0.5, 0.9]


def test_draws_do_not_know_what_no_source_gives():
    """No source gives the read rate of HNAS nodes: the share of draws that meet the target says nothing of it."""
    request = base(
        platforms={"servers": ["v225g"], "storage": ["hnas"]}, workload=[{**WORK, "target": {"gpus_busy": 4}}]
    )
    (row,) = sweep(request, {"confidence": [0.6]}, catalog(), draws=20).to_pylist()
    assert row["answer.status"] == "sized"
    assert row["answer.probability"] is None
    assert row["answer.posterior.probability"] is None
    assert row["answer.posterior.workload.0.probability"] is None
    assert row["answer.posterior.workload.0.throughput_samples_per_s.p50"] > 0
