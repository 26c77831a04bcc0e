"""Twenty kills at random moments each of a sizing, a batch and the app: no half-written file, no row or design lost."""

import io
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sizer.library.library import Library
from tests.factories.examples import ROOT

pytestmark = pytest.mark.hostile

KILLS = 20
_LONGEST_START_S = 120
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


def save_again_and_again(library: str, told: str) -> None:
    """The app with somebody who changes the request and saves it, time and again; each is noted once it is saved."""
    os.setpgid(0, 0)
    os.environ["SIZER_LIBRARY"] = library
    from sizer.ui import state
    from tests.ui.designs.library_pages import change, save
    from tests.ui.pages import opened

    state.FIRST_EXAMPLE = "dgx1-f800-resnet50"  # which has the rate that is changed below

    def note(saved: str) -> None:
        with open(told, "a", encoding="utf-8") as file:
            file.write(f"{saved}\n")

    app = opened()
    save(app, name=f"Design {os.getpid()}", author="Ann")
    note(f"{os.getpid()} 1")
    for number in range(2, 1_000):
        change(app, f"{9_000 + 10 * number} images/s")
        save(app, comment=f"change {number}")
        note(f"{os.getpid()} {number}")


def test_an_app_that_is_killed_has_every_design_that_it_said_was_saved(tmp_path):
    library, told = tmp_path / "designs.sqlite", tmp_path / "told"
    Library(str(library)).close()
    told.touch()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.hostile.warm"])
    moments, kills = random.Random(22), 0
    for _ in range(KILLS):
        before = len(told.read_text(encoding="utf-8").splitlines())
        process = context.Process(target=save_again_and_again, args=(str(library), str(told)))
        process.start()
        assert process.pid is not None
        # At any moment from the first save on: a machine at work takes longer to get there.
        until = time.monotonic() + _LONGEST_START_S
        while process.is_alive() and len(told.read_text(encoding="utf-8").splitlines()) == before:
            assert time.monotonic() < until
            time.sleep(0.02)
        time.sleep(moments.uniform(0, 2))
        kills += process.is_alive()
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        _has_all(library, told)
    assert kills == KILLS


def _has_all(library: Path, told: Path) -> None:
    """Every revision that was said to be saved is there and opens; so does one more that nobody was told of."""
    opened = Library(str(library))
    try:
        designs = {design.name: design for design in opened.search(per_page=100).designs}
        saved = Counter(line.split()[0] for line in told.read_text(encoding="utf-8").splitlines())
        for pid, count in saved.items():
            entries = opened.revisions(designs[f"Design {pid}"].id)
            assert count <= len(entries) <= count + 1
            for entry in entries:
                assert opened.revision(designs[f"Design {pid}"].id, entry.number).request
    finally:
        opened.close()
