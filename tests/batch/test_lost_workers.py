"""Lost workers: every request still gets its row, and only the one that ends its worker fails."""

import multiprocessing
import os
import signal
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer import BatchError, size_batch
from sizer.batch import run, work
from sizer.batch.requests import BatchRequest
from sizer.batch.run import Chunk, rows_of_chunks
from tests.batch.requests import many
from tests.factories.examples import catalog

pytestmark = pytest.mark.workers

DEADLY = "deadly"


class Frail(Executor):
    """An executor that breaks, with all submitted work, at a deadly request."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], tuple[BatchRequest, ...]]] = []
        self.is_broken = False

    def submit(self, task: Any, /, *args: Any, **more: Any) -> Future[Any]:
        if self.is_broken:
            raise BrokenProcessPool("broken before")
        sent: Future[Any] = Future()
        self.waiting.append((sent, args[1]))
        return sent


class FrailPool:
    """Frail executors, one after the other, that work only while somebody waits for them."""

    def __init__(self, in_flight: int, order: list[int]) -> None:
        self.in_flight = in_flight
        self.executor = Frail()
        self.sent = Counter[str]()
        self._order = order

    def renew(self) -> None:
        self.executor = Frail()

    def close(self) -> None:
        """Nothing to end."""

    def wait(self, futures: Any, **how: Any) -> Any:
        """Work on one chunk of those that wait, which one the order tells, then wait as usual."""
        at_hand = self.executor
        if at_hand.waiting and not at_hand.is_broken:
            self._order.append(self._order.pop(0))
            sent, requests = at_hand.waiting.pop(self._order[0] % len(at_hand.waiting))
            self.sent.update(request.place for request in requests)
            if any(request.refusal == DEADLY for request in requests):
                at_hand.is_broken = True
                for one in (sent, *(other for other, _ in at_hand.waiting)):
                    one.set_exception(BrokenProcessPool("a process ended"))
            else:
                sent.set_result([{"answer.place": request.place} for request in requests])
        return wait(futures, **how)


@given(
    chunks=st.lists(st.lists(st.booleans(), min_size=1, max_size=5), max_size=6),
    in_flight=st.integers(1, 5),
    order=st.lists(st.integers(0, 4), min_size=1, max_size=5),
)
def test_the_request_that_ends_its_worker_is_identified(
    chunks: list[list[bool]], in_flight: int, order: list[int]
) -> None:
    """Any of the requests may be deadly, any of those on their way may be worked on first."""
    asked = [
        Chunk(n, tuple(BatchRequest(f"{n}.{i}", None, DEADLY if is_deadly else "") for i, is_deadly in enumerate(one)))
        for n, one in enumerate(chunks)
    ]
    pool = FrailPool(in_flight, order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "wait", pool.wait)
        found = {chunk.number: rows for chunk, rows in rows_of_chunks(iter(asked), pool, "", bytes)}
    assert found.keys() == set(range(len(chunks)))
    for chunk in asked:
        rows = found[chunk.number]
        assert [row["answer.place"] for row in rows] == [request.place for request in chunk.requests]
        assert [row.get("answer.status") == "failed" for row in rows] == [
            request.refusal == DEADLY for request in chunk.requests
        ]
    # Twice in company, once alone, three halvings of at most five requests, once more by itself.
    assert max(pool.sent.values(), default=0) <= 7


def test_a_worker_that_is_killed_is_replaced() -> None:
    asked, killed = many(6 * 4), list[int]()
    others = {process.pid for process in multiprocessing.active_children()}

    def workers() -> set[int]:
        return {process.pid for process in multiprocessing.active_children() if process.pid} - others

    def kill_once(*how: Any) -> None:
        if not killed:
            killed.append(min(workers()))
            os.kill(killed[0], signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "CHUNK_REQUESTS", 4)
        patch.setattr(run, "_PROGRESS_S", 0.0)
        survived = size_batch(asked, catalog(), workers=2, progress=kill_once)
    assert killed
    assert survived.equals(size_batch(asked, catalog()))
    assert not workers()


def test_a_given_pool_that_broke_is_told_with_the_way_on(tmp_path: Path) -> None:
    out = tmp_path / "results.parquet"
    # Spawned: a fork of a process with threads may wait for a lock for ever.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        broken = pool.submit(os._exit, 1)
        assert isinstance(broken.exception(), BrokenProcessPool)
        with pytest.raises(BatchError, match=r"results\.parquet\.parts: repeat the call"):
            size_batch(many(2), catalog(), executor=pool, out=out)
    ended = ThreadPoolExecutor(1)
    ended.shutdown()
    with pytest.raises(BatchError, match="accepts no work: cannot schedule new futures after shutdown"):
        size_batch(many(2), catalog(), executor=ended)
    assert size_batch(many(2), catalog(), out=out) == out


def test_catalogue_and_calibration_travel_once_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A given pool of processes has neither: each worker says so, and few chunks carry them."""
    carried: list[bool] = []

    class Noting(ProcessPoolExecutor):
        def submit(self, task: Any, /, *args: Any, **more: Any) -> Future[Any]:
            carried.append(args[2] is not None)
            return super().submit(task, *args, **more)

    monkeypatch.setattr(run, "CHUNK_REQUESTS", 1)
    asked = many(30)
    with Noting(2, get_context("spawn")) as pool:
        table = size_batch(asked, catalog(), executor=pool, in_flight=4)
    assert 1 <= sum(carried) <= 8  # the first four may all have come to a worker without, and once more for the second
    assert len(carried) <= 30 + 8
    assert table.equals(size_batch(asked, catalog()))


def test_a_worker_keeps_few_catalogues() -> None:
    for number in range(5):
        work.load_models(f"batch {number}", catalog(), None)  # type: ignore[arg-type]
    assert [f"batch {number}" in work._loaded for number in range(5)] == [False, False, False, True, True]
    assert work.size_chunk("batch 0", ()) is None
    assert work.size_chunk("batch 4", ()) == []


def test_dask_workers_that_are_killed_lose_nothing(dask_client: Any) -> None:
    """Two workers on this machine; one is killed in mid-run, and the table is the same to the last bit."""
    asked = many(12 * 4)
    # Asked before: a question to a worker that is being replaced may wait for ever.
    pids = list(dask_client.run(os.getpid).values())
    killed: list[int] = []
    done: list[int] = []

    def kill_once(count: int, *how: Any) -> None:
        done.append(count)
        if not killed:
            killed.append(pids[0])
            os.kill(killed[0], signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "CHUNK_REQUESTS", 4)
        patch.setattr(run, "_PROGRESS_S", 0.0)
        survived = size_batch(asked, catalog(), executor=dask_client.get_executor(), in_flight=4, progress=kill_once)
    assert killed
    assert done[0] < len(asked)
    assert all(before <= after for before, after in pairwise(done))
    assert survived.equals(size_batch(asked, catalog()))
