"""Sends chunks to workers and collects their rows. The loss of a worker loses no request."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context

from sizer.base.errors import BatchError
from sizer.batch.requests import BatchRequest
from sizer.batch.work import Row, failed_row, size_chunk, start_worker

# Chunks submitted to an executor whose number of workers is not known.
DEFAULT_IN_FLIGHT = 64
# Libraries that would start a thread a core in every process.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class GivenExecutor:
    """An executor of the caller, or threads of our own."""

    def __init__(self, executor: Executor, in_flight: int, is_ours: bool = False) -> None:
        self.executor = executor
        self.in_flight = in_flight
        self._is_ours = is_ours

    @classmethod
    def threads(cls) -> "GivenExecutor":
        """A thread for each core."""
        count = os.cpu_count() or 1
        return cls(ThreadPoolExecutor(count), 2 * count, is_ours=True)

    def renew(self) -> None:
        """Raise: a broken executor of the caller cannot be replaced."""
        raise BatchError("a worker process ended, which broke the executor of the caller; call again with a new one")

    def close(self) -> None:
        """End our threads; the caller's executor is left to the caller."""
        if self._is_ours:
            self.executor.shutdown(cancel_futures=True)


class ProcessWorkers:
    """Fresh processes of our own, each with catalogue and calibration from its start."""

    def __init__(self, count: int, key: str, content: bytes) -> None:
        self.in_flight = 2 * count + 1
        self._count, self._key, self._content = count, key, content
        self.executor: Executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        # Spawned, not forked: libraries below have threads of their own.
        pool = ProcessPoolExecutor(
            self._count, get_context("spawn"), initializer=start_worker, initargs=(self._key, self._content)
        )
        try:
            with _environment(_ONE_THREAD):
                # One task a worker makes the pool start them all here, with one thread each.
                for started in [pool.submit(os.getpid) for _ in range(self._count)]:
                    started.result()
        except BrokenProcessPool:
            pool.shutdown()
            raise BatchError(
                "worker processes end as soon as they start; in a script, call the batch under "
                "if __name__ == '__main__'"
            ) from None
        return pool

    def renew(self) -> None:
        """Start a new pool in place of one that lost a worker."""
        self.close()
        self.executor = self._started()

    def close(self) -> None:
        self.executor.shutdown(cancel_futures=True)


WorkerPool = GivenExecutor | ProcessWorkers


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# Chunks sent with catalogue and calibration (5 MB) at a time; more would only fill the network.
_MAX_WITH_MODELS = 4
# After this many losses a chunk is submitted alone, to find out whether it is the cause.
_MAX_LOSSES = 2
# A single request that is lost this often while submitted alone fails.
_MAX_LOSSES_ALONE = 2
_WORKER_ENDED = (
    "the worker process ended each time this request was sized; it may need more memory than the machine has"
)


@dataclass(frozen=True)
class Chunk:
    """Requests that are sent together.

    ``number``: place in the order of the batch. ``requests``: the requests, one or more. ``digest``: names its file in
    the store.
    """

    number: int
    requests: tuple[BatchRequest, ...]
    digest: str = ""


@dataclass(frozen=True)
class _Piece:
    """A chunk, or a part of one that ended a worker."""

    chunk: Chunk
    start: int
    stop: int
    needs_models: bool = False  # its worker had not loaded catalogue and calibration
    n_losses: int = 0  # workers lost while it and others were submitted
    is_alone: bool = False  # submitted only while nothing else is
    n_losses_alone: int = 0

    @property
    def requests(self) -> tuple[BatchRequest, ...]:
        return self.chunk.requests[self.start : self.stop]


PendingRows = Future[list[Row] | None]


@dataclass
class _Dispatcher:
    """Pieces that wait, pieces with the workers, and the rows of finished ones."""

    pool: WorkerPool
    key: str
    content: Callable[[], bytes]
    ready: deque[_Piece] = field(default_factory=deque)
    suspects: deque[_Piece] = field(default_factory=deque)
    in_flight: dict[PendingRows, _Piece] = field(default_factory=dict)
    finished_pieces: dict[int, dict[int, list[Row]]] = field(default_factory=dict)  # number of a chunk -> start -> rows
    finished_chunks: list[tuple[Chunk, list[Row]]] = field(default_factory=list)
    n_submitted: int = 0

    def submit_ready(self, chunks: Iterator[Chunk]) -> None:
        """Submit the pieces that may be submitted now."""
        if self.suspects:
            if not self.in_flight:
                self._submit(self.suspects.popleft())
            return
        while len(self.in_flight) + len(self.ready) < self.pool.in_flight:
            chunk = next(chunks, None)
            if chunk is None:
                break
            self.ready.append(_Piece(chunk, 0, len(chunk.requests)))
        for _ in range(len(self.ready)):
            piece = self.ready.popleft()
            if piece.needs_models and sum(one.needs_models for one in self.in_flight.values()) >= _MAX_WITH_MODELS:
                self.ready.append(piece)
            else:
                self._submit(piece)

    def _submit(self, piece: _Piece) -> None:
        self.n_submitted += 1
        content = self.content() if piece.needs_models else None
        pending: PendingRows
        try:
            pending = self.pool.executor.submit(size_chunk, self.key, piece.requests, content, self.n_submitted)
        except BrokenExecutor as error:
            pending = Future()
            pending.set_exception(error)
        except RuntimeError as error:
            raise BatchError(f"the executor accepts no work: {error}") from error
        self.in_flight[pending] = piece

    def collect(self, pending: PendingRows) -> bool:
        """Store the rows of a finished piece; True where the whole executor is broken."""
        piece = self.in_flight.pop(pending)
        try:
            rows = pending.result()
        except BrokenExecutor:
            self._lost(piece)
            return True
        except CancelledError:
            raise BatchError("the executor was closed or lost its scheduler") from None
        except Exception as error:  # any failure of an executor; errors of requests are rows
            if not _is_loss_of_worker(error):
                raise BatchError(f"the executor failed: {type(error).__name__}: {error}") from error
            self._lost(piece)
            return False
        if rows is None:
            (self.suspects if piece.is_alone else self.ready).appendleft(replace(piece, needs_models=True))
        else:
            self._finish(piece, rows)
        return False

    def _lost(self, piece: _Piece) -> None:
        """Submit it again: alone after repeated losses, in halves if it is the cause; one request at last fails."""
        if not piece.is_alone:
            piece = replace(piece, n_losses=piece.n_losses + 1, is_alone=piece.n_losses + 1 >= _MAX_LOSSES)
            (self.suspects if piece.is_alone else self.ready).append(piece)
            return
        middle = (piece.start + piece.stop) // 2
        if middle > piece.start:
            self.suspects += [replace(piece, stop=middle), replace(piece, start=middle)]
        elif piece.n_losses_alone + 1 < _MAX_LOSSES_ALONE:
            self.suspects.appendleft(replace(piece, n_losses_alone=piece.n_losses_alone + 1))
        else:
            self._finish(piece, [failed_row(batch_request, _WORKER_ENDED) for batch_request in piece.requests])

    def _finish(self, piece: _Piece, rows: list[Row]) -> None:
        chunk = piece.chunk
        parts = self.finished_pieces.setdefault(chunk.number, {})
        parts[piece.start] = rows
        if sum(len(part) for part in parts.values()) == len(chunk.requests):
            del self.finished_pieces[chunk.number]
            self.finished_chunks.append((chunk, [row for start in sorted(parts) for row in parts[start]]))


def rows_of_chunks(
    chunks: Iterator[Chunk], pool: WorkerPool, key: str, content: Callable[[], bytes]
) -> Iterator[tuple[Chunk, list[Row]]]:
    """Rows of every chunk, as the workers finish.

    ``chunks``: taken as workers become free; at most ``pool.in_flight`` are submitted at a time. ``key``: names
    catalogue and calibration. ``content``: gives both pickled, for workers that lack them. Raises BatchError if the
    executor is broken for good.
    """
    dispatcher = _Dispatcher(pool, key, content)
    try:
        yield from _dispatch(dispatcher, chunks)
    finally:
        for pending in dispatcher.in_flight:
            pending.cancel()


def _dispatch(dispatcher: _Dispatcher, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, list[Row]]]:
    while True:
        dispatcher.submit_ready(chunks)
        if not dispatcher.in_flight:
            return
        outcomes = [
            dispatcher.collect(pending) for pending in wait(dispatcher.in_flight, return_when=FIRST_COMPLETED).done
        ]
        if any(outcomes):
            # Pieces still with the broken executor fail too, unless they had finished.
            for pending in wait(dispatcher.in_flight).done:
                dispatcher.collect(pending)
            dispatcher.pool.renew()
        yield from dispatcher.finished_chunks
        dispatcher.finished_chunks.clear()


def _is_loss_of_worker(error: Exception) -> bool:
    """Whether Dask gave up a chunk because its workers ended; looked up because Dask is optional."""
    killed = getattr(sys.modules.get("distributed"), "KilledWorker", None)
    return killed is not None and isinstance(error, killed)
