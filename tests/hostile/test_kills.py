"""Twenty kills at random moments each of a sizing and of a batch: no file is half-written, no row is lost."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.factories.examples import ROOT

pytestmark = pytest.mark.hostile

KILLS = 20
REQUEST = ROOT / "examples" / "small-team.toml"
FORMATS = "csv,design,html,xlsx"


def started(*arguments: str) -> "subprocess.Popen[bytes]":
    """The command in a process group of its own, so that a kill takes its workers, too."""
    return subprocess.Popen(
        [sys.executable, "-m", "sizer.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def killed(process: "subprocess.Popen[bytes]", after_s: float) -> bool:
    """Kill it after a while; whether it still ran."""
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def seconds_of(*arguments: str) -> float:
    before = time.monotonic()
    assert started(*arguments).wait() == 0
    return time.monotonic() - before


def assert_whole(path: Path) -> None:
    content = path.read_bytes()
    if path.suffix == ".json":
        assert json.loads(content)["kind"]
    elif path.suffix == ".xlsx":
        assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    elif path.suffix == ".html":
        assert content.rstrip().endswith(b"</html>")
    else:
        assert content.endswith(b"\n")


def visible(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file()]


def test_a_sizing_that_is_killed_leaves_whole_files(tmp_path):
    command = ("size", str(REQUEST), "--out", str(tmp_path / "out"), "--formats", FORMATS)
    takes = seconds_of(*command)
    names = {path.name for path in visible(tmp_path / "out")}
    moments, kills = random.Random(20), 0
    for _ in range(KILLS):
        # More often late than early: files are written in the last tenth.
        kills += killed(started(*command), takes * moments.triangular(0, 1.05, 0.95))
        for path in visible(tmp_path / "out"):
            assert_whole(path)
        assert {path.name for path in visible(tmp_path / "out")} == names
    assert kills > KILLS / 2
    assert started(*command).wait() == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == names


def test_a_batch_that_is_killed_goes_on_to_the_same_table(tmp_path):
    head = "title,workload.0.dnn,workload.0.dataset_bytes,workload.0.target.samples_per_s,platforms.servers"
    rows = [head, *(f"r{i},resnet50,22.2 TB,{20_000 + 100 * i},dgx-1" for i in range(300))]
    table = tmp_path / "requests.csv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    base = ("batch", str(table))
    takes = seconds_of(*base, "--out", str(tmp_path / "whole"))
    command = (*base, "--out", str(tmp_path / "killed"))
    moments, kills = random.Random(21), 0
    for _ in range(KILLS):
        kills += killed(started(*command), takes * moments.uniform(0.1, 1.0))
        for path in (tmp_path / "killed").glob("*.parquet"):
            pq.read_table(path)
    assert kills > KILLS / 2
    assert started(*command).wait() == 0
    [whole], [gone_on] = (list((tmp_path / name).glob("*.parquet")) for name in ("whole", "killed"))
    assert pq.read_table(gone_on).equals(pq.read_table(whole))
