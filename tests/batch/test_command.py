"""``sizer batch``: one table, its statuses, documents on request, and a sentence for everything that is wrong."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sizer import size_batch
from sizer.base.resources import data_dir
from sizer.cli import batch
from tests.cli.running import refused, run
from tests.factories.examples import EXAMPLES, catalog

FILES = sorted(data_dir("examples").glob("*.toml"))
HEAD = "title,workload.0.dnn,workload.0.stack,workload.0.target.samples_per_s,platforms.servers,platforms.storage\n"
ROW = "{title},resnet50,tf-cnn-benchmarks-ngc18.09,{rate},dgx-1,isilon-f800\n"


@pytest.mark.workers
def test_requests_become_a_table_and_documents(tmp_path: Path) -> None:
    out, few = tmp_path / "out", FILES[::4]
    done = run("batch", *few, "--out", out, "--csv", "--formats", "design,csv", "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(few)} requests: {len(few)} sized\n"
    table = pq.read_table(out / "results.parquet")
    assert table.equals(size_batch(few, catalog()))
    names = [f"{number:04d}-{name}" for number, name in enumerate(EXAMPLES[::4], 1)]
    assert sorted(path.name for path in out.iterdir()) == [*names, "results.csv", "results.parquet"]
    for name, row in zip(names, table.to_pylist(), strict=True):
        assert sorted(path.name for path in (out / name).iterdir()) == ["bom.csv", "design.json"]
        design = json.loads((out / name / "design.json").read_text(encoding="utf-8"))
        assert design["design"]["name"] == row["answer.design.name"]
    # The table as CSV asks for the same again.
    again = size_batch(out / "results.csv", catalog())
    assert again.drop_columns(["answer.place"]).equals(table.drop_columns(["answer.place"]))


@pytest.mark.workers
def test_rows_that_cannot_be_sized_are_told_and_the_table_is_written(tmp_path: Path) -> None:
    hostile = "'../../=cmd|x'!A0"
    requests = tmp_path / "requests.csv"
    requests.write_text(
        HEAD
        + ROW.format(title=hostile, rate="20000")
        + ROW.format(title=hostile, rate="900 Mimages/s")
        + ROW.format(title='"=1+1"', rate="5000 images")
        + ROW.format(title='"../.."', rate="5000")
    )
    out = tmp_path / "out"
    done = run("batch", requests, "--out", out, "--json", "--csv", "--formats", "csv", "--workers", 1)
    refused(done, 8, "not sized: 2 of 4 requests", "line 3", "line 4", "5000 images")
    answer = json.loads(done.stdout)
    assert answer["statuses"] == {"sized": 2, "infeasible": 1, "refused": 1}
    assert pq.read_table(answer["results"]).column("answer.status").to_pylist() == [
        *("sized", "infeasible", "refused", "sized")
    ]
    # Names of folders hold nothing of a path, and no cell is a formula.
    names = {path.name for path in out.iterdir()} - {"results.csv", "results.parquet"}
    assert names == {"0001-cmd-x-a0", "0004"}
    assert {path.name for path in tmp_path.iterdir()} == {"requests.csv", "out"}
    with (out / "results.csv").open(encoding="utf-8-sig", newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert not [cell for cell in cells if re.match(r"\s*[=+@-](?![0-9.]+$)", cell)]
    assert "'=1+1" in cells


@pytest.mark.workers
def test_a_dask_scheduler_does_the_work(tmp_path: Path, dask_client: Any) -> None:
    out = tmp_path / "answers.parquet"
    done = run("batch", *FILES[:2], "--out", out, "--scheduler", dask_client.scheduler.address)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(out).equals(size_batch(FILES[:2], catalog()))


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, ("REQUEST",)),
        ((FILES[0],), 2, ("--out",)),
        ((FILES[0], "--out", "{out}", "--workers", "1", "--scheduler", "tcp://127.0.0.1:1"), 2, ("not both",)),
        ((FILES[0], "--out", "{out}", "--workers", "0"), 2, ("workers = 0", "512")),
        ((FILES[0], "--out", "{out}", "--customer-copy"), 2, ("--formats",)),
        ((FILES[0], "--out", "{out}.parquet", "--formats", "pdf"), 2, ("folder",)),
        ((FILES[0], "--out", "{out}", "--formats", "pfd"), 2, ("pfd", "did you mean 'pdf'")),
        ((FILES[0], "--out", "{out}", "--scheduler", "127.0.0.1:1"), 8, ("no Dask scheduler", "127.0.0.1:1")),
        ((FILES[0], "--out", "{out}", "--scheduler", "nonsense://x"), 8, ("no Dask scheduler",)),
        (("missing.csv", "--out", "{out}"), 2, ("missing.csv", "No such file")),
        ((FILES[0], "--out", "{out}", "--catalog", "nowhere"), 3, ("nowhere",)),
        ((FILES[0], "--out", "/dev/null/x"), 7, ("/dev/null/x",)),
    ],
)
def test_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], status: int, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(batch, "_CONNECT_S", 0.5)
    given = [str(one).replace("{out}", str(tmp_path / "out")) for one in arguments]
    refused(run("batch", *given), status, *words)
