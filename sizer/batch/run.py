"""Sizes many requests: one row each, in their order, on threads, processes or an executor."""

import contextlib
import os
import pickle
import re
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from sizer import __version__
from sizer.base.errors import BatchError, OutputError, RequestError
from sizer.base.folders import make_folders, replacing, taken
from sizer.batch.columns import COLUMNS_VERSION, schema, table, widened
from sizer.batch.requests import BatchRequest, batch_requests, digest_of
from sizer.batch.work import Row, failed_row, load_models, size_chunk, start_worker
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.calibrate.engine import Fit
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.workload.request import SizingRequest

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


# Rows in memory while chunks are merged, and in a row group of the file.
_ROWS_AT_ONCE = 16_384
# Bytes of the checksum that a part begins with.
_CHECKSUM_BYTES = 32
_PART_NAME = re.compile(r"[0-9a-f]{64}\.arrow(\.[^.]*\.new)?|\..*\.new")


class _DamagedError(Exception):
    """A part is not as it was written."""


def _checksum(digest: str, rows: memoryview) -> bytes:
    """Checksum of a part; it covers the name, so that no part can replace another."""
    total = sha256(digest.encode())
    total.update(rows)
    return total.digest()


class ChunkStore:
    """Folder of finished chunks next to the file that they become.

    A chunk's file is named by the digest of everything that its rows depend on (requests with their places, catalogue,
    calibration, version of the program), and begins with a checksum of this name and the rows. A chunk whose inputs
    changed since, whose file is damaged, or was altered or swapped with another, is sized again.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f"{target.name}.parts")
        with _writing(self.folder):
            if target.is_dir():
                raise IsADirectoryError(None, "a folder has this name")
            make_folders(self.folder)
            # Refused before the work, not after it.
            with tempfile.NamedTemporaryFile(prefix=".", suffix=".new", dir=self.folder):
                pass

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs off the chunks.

        Raises OutputError if another run makes the same table.
        """
        with contextlib.ExitStack() as stack:
            with _writing(self.folder):
                is_free = stack.enter_context(taken(self.folder))
            if not is_free:
                raise OutputError(f"{self.target}: another run is making this table; wait for it, or give another name")
            yield

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.arrow"

    def names(self, digest: str) -> frozenset[str] | None:
        """Columns of a finished chunk; None where there is none that is as it was written."""
        try:
            return frozenset(self._rows(digest).schema.names)
        except (OSError, pa.ArrowException, _DamagedError):
            return None

    def _rows(self, digest: str) -> pa.Table:
        content = memoryview(self._path(digest).read_bytes())
        checksum, rows = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        if checksum != _checksum(digest, rows):
            raise _DamagedError("its checksum differs")
        return pa.ipc.open_file(pa.py_buffer(rows)).read_all()

    def write(self, digest: str, rows: pa.Table) -> None:
        """Store a chunk: a reader sees it whole or not at all."""
        path = self._path(digest)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows)
        content = memoryview(sink.getvalue())
        with _writing(path), replacing(path) as stream:
            stream.write(_checksum(digest, content))
            stream.write(content)

    def merge(self, digests: Sequence[str], names: Iterable[str], metadata: Mapping[str, str]) -> Path:
        """Write the table of all chunks in this order, whole, and remove the chunks."""
        columns = schema(names, metadata)
        with (
            _writing(self.target),
            replacing(self.target) as stream,
            pq.ParquetWriter(stream, columns, compression="zstd") as writer,
        ):
            buffered: list[pa.Table] = []
            for digest in digests:
                try:
                    buffered.append(widened(self._rows(digest), columns))
                except (OSError, pa.ArrowException, _DamagedError) as error:
                    raise OutputError(
                        f"{self._path(digest)}: a finished chunk is missing or damaged ({error}); "
                        "Repeat the call: it sizes only that chunk again"
                    ) from None
                if sum(part.num_rows for part in buffered) >= _ROWS_AT_ONCE:
                    writer.write_table(pa.concat_tables(buffered))
                    buffered.clear()
            if buffered:
                writer.write_table(pa.concat_tables(buffered))
        # Remove all chunks, also those of requests that have changed since; other files stay.
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if _PART_NAME.fullmatch(path.name):
                    path.unlink()
            self.folder.rmdir()
        return self.target


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


# Requests of one chunk: sizing them takes well above the 20 ms that sending a chunk to a cluster costs.
CHUNK_REQUESTS = 32
# Calls of the progress callback in a second, at most.
_PROGRESS_S = 0.25

# Requests done, all of them where that is known, requests a second, seconds left where that is known.
Progress = Callable[[int, int | None, float, float | None], None]
# An iterable of requests, or one table. pyarrow and pandas have no types to name here.
Requests: TypeAlias = Iterable[SizingRequest | Mapping[str, Any] | str | Path] | str | Path | Any


def size_batch(
    requests: Requests,
    catalog: Catalog | None = None,
    *,
    calibration: Calibration | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    in_flight: int | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> pa.Table | Path:
    """Size many requests into one table: a row for each, in their order, whatever happens to one of them.

    ``requests``: an iterable, consumed as workers become free, of requests, mappings, and paths of request files or
    tables; or one table. The columns of a table (.csv, .parquet) are dotted keys such as
    ``workload.0.target.samples_per_s``; an empty cell means that the key is not given. ``catalog``: default: the
    shipped one. ``calibration``: default: the stored one. ``executor``: where the work is done, for example
    ``dask.distributed.Client(...).get_executor()``; default: threads. Every executor gives the same table to the last
    bit. ``workers``: instead of ``executor``: this many processes of our own. One that is lost is replaced.
    ``in_flight``: chunks of requests submitted at a time; about twice the number of workers keeps all of them at work.
    Default 64 for an executor of the caller. ``out``: write the table to this .parquet file instead of returning it.
    Finished chunks are stored next to it until it is complete: the same call after a crash continues from there and
    repeats what has changed since. ``progress``: called with (requests done, all of them or None, requests a second,
    seconds left or None) at most four times a second, and at the end. ``clock``: seconds; only for rate and time left,
    no row depends on it. Returns keys of the requests as they were understood, then columns that begin with
    ``answer.``. The metadata of its schema names the digests of catalogue and calibration and the version of the
    program. Raises RequestError if a table has a column that no request has, or cannot be read. Raises BatchError if
    the executor is broken for good; with ``out`` the finished chunks stay on disk. Raises OutputError if the file
    cannot be written.
    """
    if executor is not None and workers is not None:
        raise RequestError("give either executor or workers, not both")
    if workers is not None and not 1 <= workers <= 512:
        raise RequestError(f"workers = {workers}: must be 1 to 512")
    if in_flight is not None and in_flight < 1:
        raise RequestError(f"in_flight = {in_flight}: must be at least 1")
    catalog = load_catalog() if catalog is None else catalog
    calibration = stored_calibration() if calibration is None else calibration
    metadata = {
        "sizer.version": __version__,
        "sizer.columns_version": str(COLUMNS_VERSION),
        "sizer.catalog_digest": catalog.digest,
        "sizer.calibration_digest": calibration_digest(calibration),
    }
    sequence, total = batch_requests(requests)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory()) if out is None else ""
        store = ChunkStore(Path(folder, "results.parquet") if out is None else _parquet_target(Path(out)))
        stack.enter_context(store.alone())
        key = sha256(repr(sorted(metadata.items())).encode()).hexdigest()
        # For workers that lack them; half a second.
        content = cache(partial(pickle.dumps, (catalog, calibration), protocol=5))
        # Threads of this process, ours or the caller's, use both without a copy.
        load_models(key, catalog, calibration)
        results = _Results(store, metadata, _ProgressReport(progress, total, clock))
        pool: WorkerPool
        if workers is not None:
            pool = ProcessWorkers(workers, key, content())
        elif executor is not None:
            pool = GivenExecutor(executor, in_flight or DEFAULT_IN_FLIGHT)
        else:
            pool = GivenExecutor.threads()
        try:
            for chunk, rows in rows_of_chunks(results.unfinished(_chunks(sequence, key)), pool, key, content):
                results.add(chunk, table(rows, metadata))
        except BatchError as error:
            resume = "" if out is None else f"; finished requests are in {store.folder}: repeat the call to continue"
            raise BatchError(f"{error}{resume}") from error
        finally:
            pool.close()
        made = results.finish()
        return pq.read_table(made).combine_chunks() if out is None else made


def calibration_digest(calibration: Calibration) -> str:
    """SHA-256 of the whole calibration; its own digest covers the observations alone."""
    digest = sha256()
    for one in fields(calibration):
        value = getattr(calibration, one.name)
        if isinstance(value, Fit):
            digest.update(repr(value.stored()).encode())
        elif isinstance(value, Mapping):
            digest.update(repr(sorted(value.items())).encode())
        else:
            digest.update(repr(sorted(value) if isinstance(value, frozenset) else value).encode())
    return digest.hexdigest()


def _parquet_target(out: Path) -> Path:
    if out.suffix.lower() != ".parquet":
        raise OutputError(f"{out}: the table of a batch is written as Parquet; give a name that ends in .parquet")
    return out


def _chunks(requests: Iterator[BatchRequest], salt: str) -> Iterator[Chunk]:
    number = 0
    while some := tuple(islice(requests, CHUNK_REQUESTS)):
        yield Chunk(number, some, digest_of(some, salt))
        number += 1


class _Results:
    """Finished chunks."""

    def __init__(self, store: ChunkStore, metadata: Mapping[str, str], report: "_ProgressReport") -> None:
        self._store, self._metadata, self._report = store, metadata, report
        self._digests: list[str] = []
        self._names: set[str] = set()

    def unfinished(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Chunks that an earlier run has not finished."""
        for chunk in chunks:
            self._digests.append(chunk.digest)
            names = self._store.names(chunk.digest)
            if names is None:
                yield chunk
            else:
                self._names |= names
                self._report.skipped(len(chunk.requests))

    def add(self, chunk: Chunk, rows: pa.Table) -> None:
        self._names |= set(rows.schema.names)
        self._store.write(chunk.digest, rows)
        self._report.made(len(chunk.requests))

    def finish(self) -> Path:
        """Write the whole table."""
        self._report.report()
        return self._store.merge(self._digests, self._names, self._metadata)


class _ProgressReport:
    """Rate of the batch; calls the progress callback at intervals."""

    def __init__(self, progress: Progress | None, total: int | None, clock: Callable[[], float]) -> None:
        self._progress, self._total, self._clock = progress, total, clock
        self._start = self._reported = clock()
        self._made = self._skipped = 0

    def skipped(self, count: int) -> None:
        """Requests that an earlier run has finished: they do not count in the rate."""
        self._skipped += count
        self._report_at_intervals()

    def made(self, count: int) -> None:
        """Requests that this run has finished."""
        self._made += count
        self._report_at_intervals()

    def _report_at_intervals(self) -> None:
        if self._clock() - self._reported >= _PROGRESS_S:
            self.report()

    def report(self) -> None:
        """Call the callback."""
        self._reported = self._clock()
        if self._progress is None:
            return
        elapsed_s = self._reported - self._start
        per_s = self._made / elapsed_s if elapsed_s > 0 else 0.0
        done = self._made + self._skipped
        left_s = (self._total - done) / per_s if self._total is not None and per_s > 0 else None
        self._progress(done, self._total, per_s, left_s)
