"""A row of a batch is the answer to its request: the same as sizing it alone, whoever works."""

import csv
import datetime
import json
import re
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from sizer import SizingRequest, load_catalog, size_batch
from sizer.base.resources import data_dir
from sizer.batch import work
from sizer.batch.columns import cells_of, nested, request_key
from sizer.batch.run import CHUNK_REQUESTS
from sizer.batch.work import FAILED, SIZED, STATUSES
from sizer.cli import batch
from tests.batch.requests import AtOnce, many, request, requests
from tests.cli.running import refused, run
from tests.factories.examples import EXAMPLES, ROOT, catalog


def test_images_and_texts_on_one_design_have_their_own_software(tmp_path: Path) -> None:
    """Software for images only is in the bill of images, not of texts, whichever came first to the same design."""
    (tmp_path / "software").mkdir()
    (tmp_path / "software" / "digits.toml").write_text(
        'id = "digits"\noptional = false\n'
        '[metric]\nvalue = "node"\nbasis = "assumed"\nsource = "assumption"\nwhere = "note"\n'
        'note = "as if it were sold"\n',
        encoding="utf-8",
    )
    asked = {
        dnn: {
            "workload": [{"dnn": dnn, "dataset_bytes": "100 GB", "target": {"gpus_busy": 8}}],
            "platforms": {"servers": ["c4140"], "storage": ["isilon-f800"], "fabrics": ["edr"]},
        }
        for dnn in ("resnet50", "bert-large")
    }
    for order in (("resnet50", "bert-large"), ("bert-large", "resnet50")):
        rows = size_batch([asked[dnn] for dnn in order], load_catalog(overlay=tmp_path), executor=AtOnce()).to_pylist()
        unpriced = {dnn: row["answer.cost.unpriced_items"] for dnn, row in zip(order, rows, strict=True)}
        assert unpriced["resnet50"] == unpriced["bert-large"] + 1


@pytest.mark.workers
def test_threads_and_processes_give_the_same_table_to_the_last_bit() -> None:
    asked = [*many(CHUNK_REQUESTS + 5), {"workload": []}, request(9e8)]
    table = size_batch(asked, catalog())
    assert [row["title"] for row in table.to_pylist()[:-2]] == [one["title"] for one in asked[:-2]]
    assert table.column("answer.status").to_pylist()[-2:] == ["refused", "infeasible"]
    with ThreadPoolExecutor(1) as one_thread:
        assert size_batch(asked, catalog(), executor=one_thread, in_flight=1).equals(table)
    processes = size_batch(asked, catalog(), workers=2)
    assert processes.equals(table)
    assert processes.schema.equals(table.schema, check_metadata=True)


def test_a_fault_of_the_program_in_one_request_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = work.cells_of_answer

    def faulty(asked: SizingRequest, *parts: Any) -> Any:
        if asked.title == "two":
            raise ZeroDivisionError("in a formula")
        return whole(asked, *parts)

    monkeypatch.setattr(work, "cells_of_answer", faulty)
    rows = size_batch([request(title="one"), request(title="two"), 7, request(title="three")], catalog()).to_pylist()
    assert [row["answer.status"] for row in rows] == ["sized", "failed", "refused", "sized"]
    assert "ZeroDivisionError in test_rows.py" in rows[1]["answer.error"]
    assert "in a formula" not in rows[1]["answer.error"]  # a message may hold what a user typed
    assert rows[1]["title"] == "two"
    assert "int" in rows[2]["answer.error"]


def test_a_request_that_takes_too_long_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "CPU_S", 0.0)
    (row,) = size_batch([request(title="one")], catalog()).to_pylist()
    assert (row["title"], row["answer.status"]) == ("one", "failed")
    assert "0 s of a processor" in row["answer.error"]


def test_the_metadata_and_types_survive_the_file(tmp_path: Path) -> None:
    asked = [request(), request(quote={"discount_percent": "2.5"}, date="2026-11-21"), {}]
    path = size_batch(asked, catalog(), out=tmp_path / "new" / "results.parquet")
    back, table = pq.read_table(path), size_batch(asked, catalog())
    assert back.schema.equals(table.schema, check_metadata=True)
    assert back.equals(table)
    assert [one.name for one in path.parent.iterdir()] == ["results.parquet"]
    assert back.schema.field("answer.cost.total").type == pa.decimal128(38, 2)


def test_a_generator_is_taken_as_it_is_needed() -> None:
    """No more is drawn than the chunks in flight need, however long it is."""
    drawn = 0

    class Counting(AtOnce):
        """Looks how far the generator is."""

        def submit(self, task: Any, /, *args: Any, **more: Any) -> Future[Any]:
            ahead.append(drawn - CHUNK_REQUESTS * len(ahead))
            return super().submit(task, *args, **more)

    def refused() -> Any:
        nonlocal drawn
        for _ in range(20 * CHUNK_REQUESTS):
            drawn += 1
            yield {}

    ahead: list[int] = []
    assert size_batch(refused(), catalog(), executor=Counting(), in_flight=3).num_rows == 20 * CHUNK_REQUESTS
    assert max(ahead) <= 3 * CHUNK_REQUESTS


RICH = {
    "title": "=1+1",
    "date": "2026-11-21",
    "workload": [
        {
            "dnn": {"name": "own", "forward_flop": "8.2 GFLOP", "parameters": 25e6, "input_bytes": 150528},
            "target": {"gpus_busy": 8},
        },
        {"dnn": "vgg16", "dataset": {"n_samples": 1e6, "sample_bytes": "113 kB"}, "target": {"samples_per_s": 1000}},
    ],
    "platforms": {"servers": ["dgx-1"], "fabrics": []},
    "existing": {"servers": {"dgx-1": 3, "r740.xd": 1}, "racks": [{"name": "A1", "free_u": 20, "power_w": "9 kW"}]},
    "quote": {"discount_percent": "2.50", "override": [{"item": "dgx-1", "unit_price": "149000.00"}]},
}


@given(asked=requests.filter(lambda one: all(work["dnn"] != "no-such-dnn" for work in one["workload"])))
def test_a_request_can_be_told_by_dotted_keys(asked: dict[str, Any]) -> None:
    understood = SizingRequest.from_dict(asked)
    assert SizingRequest.from_dict(nested(cells_of(understood))) == understood


def test_every_part_of_a_request_has_a_column() -> None:
    understood = SizingRequest.from_dict(RICH)
    cells = cells_of(understood)
    assert SizingRequest.from_dict(nested(cells)) == understood
    assert cells["workload.0.dnn.forward_flop"] == pytest.approx(8.2e9, rel=1e-12)  # 8.2 x 1e9, rounded
    assert cells["existing.servers.r740.xd"] == 1
    assert cells["existing.racks.0.power_w"] == 9000.0
    assert cells["quote.override.0.unit_price"] == "149000.00"
    assert cells["date"] == datetime.date(2026, 11, 21)
    assert cells["platforms.fabrics"] == []
    assert request_key("team.size") is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"workload.1.dnn": "resnet50"}, "workload.0 is missing although workload.1 is given"),
        ({"workload.0.dnn": "resnet50", "workload.0.dnn.name": "own"}, "workload.0.dnn.name"),
        ({"workload.0.dnn.name": "own", "workload.0.dnn": "resnet50"}, "workload.0.dnn has a value and keys inside it"),
        ({"workload.0.dnnn": "resnet50"}, "did you mean 'workload.0.dnn'"),
        ({"workload": [{"dnn": "resnet50", "target": {"samples_per_s": float("nan")}}]}, "nan must be a number"),
        ({"workload": [{"dnn": "resnet50", "target": {"gpus_busy": 10**400}}]}, "gpus_busy"),
        ({"title": "\ud800", "workload": []}, "workload"),
        ({"title": len, "workload": []}, "builtin_function_or_method; a request takes"),
    ],
)
def test_a_bad_mapping_is_one_refused_row(asked: dict[str, Any], words: str) -> None:
    rows = size_batch([asked, request()], catalog()).to_pylist()
    assert [row["answer.status"] for row in rows] == ["refused", "sized"]
    assert words in rows[0]["answer.error"]
    assert rows[0]["answer.error"].startswith("request 1: ")


@pytest.mark.parametrize(
    ("modules", "late"),
    [
        ("sizer, sizer.cli", {"pyarrow", "distributed", "numpy", "pydantic"}),
        ("sizer.documents", {"weasyprint"}),  # pages are set in processes of their own
    ],
)
def test_modules_are_imported_without_what_takes_long(modules: str, late: set[str]) -> None:
    """``sizer --help`` stays quick: checks, arrays and tables are loaded when a verb runs."""
    program = f"import sys, json, {modules}; print(json.dumps([name for name in sys.modules if '.' not in name]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not late & set(json.loads(done.stdout))


def test_every_column_is_documented_in_its_order() -> None:
    text = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
    listed: list[str] = []
    for line in text.splitlines():
        if line.startswith("| `answer."):
            for name in re.findall(r"`([^`]+)`", line.split("|")[1]):
                listed.append(name if name.startswith("answer.") else f"{listed[-1].rpartition('.')[0]}{name}")
    assert listed == size_batch([], catalog()).schema.names
    statuses = {SIZED, FAILED, *STATUSES.values()}
    assert statuses <= set(re.findall(r"`(\w+)`", text))


def test_order_and_columns_are_kept_over_chunks() -> None:
    """Chunks here have different columns."""
    count = 9 * CHUNK_REQUESTS
    half = count // 2

    asked = ({"title" if n < half else "customer": f"number {n}", "workload": []} for n in range(count))
    found = size_batch(asked, catalog())
    titles, customers = (found.column(name).to_pylist() for name in ("title", "customer"))
    assert titles == [f"number {number}" if number < half else None for number in range(count)]
    assert customers == [None if number < half else f"number {number}" for number in range(count)]
    assert set(found.column("answer.status").to_pylist()) == {"refused"}


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
