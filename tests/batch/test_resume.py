"""A batch that was killed goes on from its finished chunks, and only from those that are still right."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sizer import size_batch
from sizer.base.errors import OutputError
from sizer.batch import run
from sizer.batch.run import ChunkStore
from sizer.calibrate.calibration import stored_calibration
from tests.batch.requests import AtOnce, many, request
from tests.factories.examples import ROOT, catalog

pytestmark = pytest.mark.workers
CHUNK = 4
# The batch that is killed: two workers, and the numbers of their processes told first.
PROGRAM = """
import multiprocessing, sys
sys.path.insert(0, {root!r})
from sizer.batch import run
from tests.batch.requests import many

class Telling(run.ProcessWorkers):
    def _started(self):
        pool = super()._started()
        print(*(process.pid for process in multiprocessing.active_children()), flush=True)
        return pool

if __name__ == "__main__":
    run.CHUNK_REQUESTS, run.ProcessWorkers = {chunk}, Telling
    run.size_batch(many({count}), out={out!r}, workers=2)
"""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "CHUNK_REQUESTS", CHUNK)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the parts that are written from here on."""
    names: list[str] = []
    write = ChunkStore.write

    def noting(store: ChunkStore, digest: str, rows: Any) -> None:
        names.append(digest)
        write(store, digest, rows)

    monkeypatch.setattr(ChunkStore, "write", noting)
    return names


def finished(out: Path) -> set[str]:
    return {path.stem for path in ChunkStore(out).folder.glob("*.arrow")}


def is_running(pid: int) -> bool:
    """Whether a process still works; one that ended may wait for somebody to ask how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds: Any) -> None:
    limit = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_a_killed_batch_loses_the_chunks_in_flight_at_most(tmp_path: Path, written: list[str]) -> None:
    out, count = tmp_path / "results.parquet", 14 * CHUNK
    program = PROGRAM.format(root=str(ROOT), chunk=CHUNK, count=count, out=str(out))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        workers = [int(pid) for pid in killed.stdout.readline().split()]
        wait_until(lambda: finished(out))
        killed.send_signal(signal.SIGKILL)
    assert len(workers) == 2
    wait_until(lambda: not any(map(is_running, workers)))  # nobody is left to wait for work that never comes
    kept = finished(out)
    assert kept
    assert not out.exists()
    told: list[tuple[int, int | None]] = []
    assert size_batch(many(count), out=out, progress=lambda *how: told.append(how[:2])) == out
    assert told[-1] == (count, count)
    assert not kept & set(written)
    assert len(kept) + len(written) == 14
    assert pq.read_table(out).equals(size_batch(many(count)))
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def interrupted(asked: list[Any], out: Path, after: int, **more: Any) -> None:
    """A batch that is stopped when it asks for more requests than so many."""

    def some() -> Iterator[Any]:
        yield from asked[:after]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        size_batch(some(), out=out, executor=AtOnce(), in_flight=1, **more)


def test_only_what_changed_is_made_again(tmp_path: Path, written: list[str]) -> None:
    out, asked = tmp_path / "results.parquet", [*many(3 * CHUNK - 1), {}]
    once = catalog()
    interrupted(asked, out, 3 * CHUNK, catalog=once)
    assert finished(out) == set(written)
    assert len(written) == 3
    written.clear()
    # A request of the second chunk says something else.
    changed = [*asked[:CHUNK], request(77_000.0), *asked[CHUNK + 1 :]]
    interrupted(changed, out, 3 * CHUNK, catalog=once)
    assert len(written) == 1
    # Another catalogue, another calibration: everything is made again.
    written.clear()
    calibration = stored_calibration()
    size_batch(asked, replace(once, digest="0" * 64), out=out)
    assert len(written) == 3
    interrupted(asked, out, 3 * CHUNK, catalog=once)
    written.clear()
    moved = replace(calibration.fit, values=calibration.fit.values * (1 + 1e-12))
    other = replace(calibration, fit=moved)
    assert other.digest == calibration.digest  # that of the observations, which are the same
    size_batch(asked, once, calibration=other, out=out)
    assert len(written) == 3
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def cut(path: Path, _other: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def another_value(path: Path, _other: Path) -> None:
    """The same part with another word in a row: still a readable part, now with an answer that nobody computed."""
    content = path.read_bytes()
    assert b"sized" in content
    path.write_bytes(content.replace(b"sized", b"faked"))


def of_another_chunk(path: Path, other: Path) -> None:
    """A whole part under the name of another."""
    path.write_bytes(other.read_bytes())


def bare_table(path: Path, other: Path) -> None:
    """A readable table where a part should be, as another program would write it."""
    rows = pq.read_table(size_batch(many(CHUNK), out=other.parents[1] / "other.parquet"))
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, rows.schema) as writer:
        writer.write_table(rows)


@pytest.mark.parametrize("damage", [cut, another_value, of_another_chunk, bare_table])
def test_a_damaged_or_altered_part_is_made_again(
    tmp_path: Path, written: list[str], damage: Callable[[Path, Path], None]
) -> None:
    out, asked = tmp_path / "results.parquet", many(3 * CHUNK)
    interrupted(asked, out, 3 * CHUNK)
    (ChunkStore(out).folder / "left-by-somebody.txt").write_text("note")
    first, second, _ = (ChunkStore(out).folder / f"{digest}.arrow" for digest in written)
    damage(first, second)
    written.clear()
    size_batch(asked, out=out)
    assert written == [first.stem]
    assert pq.read_table(out).equals(size_batch(asked))
    # What a batch did not put there it does not take away.
    assert [path.name for path in ChunkStore(out).folder.iterdir()] == ["left-by-somebody.txt"]


def test_a_part_that_is_damaged_during_the_run_is_told_and_then_made_again(tmp_path: Path, written: list[str]) -> None:
    out, asked = tmp_path / "results.parquet", many(2 * CHUNK)
    store = ChunkStore(out)

    def requests() -> Iterator[Any]:
        yield from asked
        another_value(store.folder / f"{written[0]}.arrow", store.folder)

    with pytest.raises(OutputError, match=r"damaged.*checksum.*Repeat the call"):
        size_batch(requests(), out=out, executor=AtOnce(), in_flight=1)
    assert not out.exists()
    written.clear()
    size_batch(asked, out=out)
    assert len(written) == 1
    assert pq.read_table(out).equals(size_batch(asked))


def test_columns_differ_between_parts(tmp_path: Path) -> None:
    """Keys that only some chunks have, and chunks of which no request was sized."""
    asked = (
        [{}] * CHUNK + many(CHUNK) + [request(limits={"racks": 3}, customer="x")] + [request(site={"racks_per_row": 4})]
    )
    table = pq.read_table(size_batch(asked, out=tmp_path / "results.parquet"))
    assert table.equals(size_batch(asked))
    assert table.column("limits.racks").to_pylist() == [*[None] * 2 * CHUNK, 3, None]
    names = table.schema.names
    assert (
        names.index("customer")
        < names.index("workload.0.dnn")
        < names.index("limits.racks")
        < names.index("answer.status")
    )


def test_a_target_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    def never() -> Iterator[Any]:
        raise AssertionError("a request was read")
        yield

    (tmp_path / "file").write_text("here first")
    (tmp_path / "folder.parquet").mkdir()
    for out, words in (
        (tmp_path / "results.csv", "ends in .parquet"),
        (tmp_path / "file" / "results.parquet", "cannot be written"),
        (tmp_path / "folder.parquet", "a folder has this name"),
    ):
        with pytest.raises(OutputError, match=words):
            size_batch(never(), out=out)


def test_an_earlier_table_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    out = size_batch([{}], out=tmp_path / "results.parquet")
    before = out.read_bytes()
    interrupted(many(CHUNK), out, CHUNK)
    assert out.read_bytes() == before
    size_batch([{}, {}], out=out)
    assert pq.read_table(out).num_rows == 2
    assert oct(out.stat().st_mode & 0o777) == oct(0o666 & ~umask())


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
