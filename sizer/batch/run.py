"""Sizes many requests: one row each, in their order, on whatever workers there are."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import fields
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from sizer import __version__
from sizer.base.errors import BatchError, OutputError, RequestError
from sizer.batch.asks import Ask, asks_of, digest_of
from sizer.batch.columns import COLUMNS_VERSION, schema, table, widened
from sizer.batch.parts import Parts
from sizer.batch.sending import Chunk, answers
from sizer.batch.work import keep, packed
from sizer.batch.workers import GIVEN_IN_FLIGHT, Crew, Given, Processes
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.loader import load_catalog
from sizer.catalog.model import Catalog
from sizer.workload.request import SizingRequest

# Requests that travel together: well above the 20 ms that sending a chunk to a cluster has to pay for.
CHUNK_REQUESTS = 32
# Chunks whose tables are joined to one while the batch goes on.
_GROUP_CHUNKS = 64
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

    Parameters
    ----------
    requests : iterable or path or pyarrow.Table or pandas.DataFrame
        An iterable, consumed as workers become free, of requests, mappings, and paths of request files or tables; or
        one table. The columns of a table (.csv, .parquet) are dotted keys such as ``workload.0.target.samples_per_s``;
        an empty cell is not given.
    catalog : Catalog, optional
        Default: the shipped one.
    calibration : Calibration, optional
        Default: the stored one.
    executor : concurrent.futures.Executor, optional
        Where the work is done, for example ``dask.distributed.Client(...).get_executor()``; default: threads. Every
        executor gives the same table to the last bit.
    workers : int, optional
        Instead of ``executor``: so many processes of our own. One that is lost is replaced.
    in_flight : int, optional
        Chunks of requests that are with the executor at a time; about twice its workers keeps them busy. Default 64
        for an executor that is given.
    out : path-like, optional
        Write the table to this .parquet file instead of returning it. Finished chunks are kept beside it until it is
        whole: the same call after a crash or a kill goes on from there, and makes again what has changed since.
    progress : callable, optional
        Called with (requests done, all of them or None, requests a second, seconds left or None) at most four times
        a second, and at the end.
    clock : callable
        Seconds; only for rate and time left, no row depends on it.

    Returns
    -------
    pyarrow.Table or Path
        Keys of the requests as they were understood, then columns that begin with ``answer.``. The metadata of its
        schema names the digests of catalogue and calibration and the version of the program.

    Raises
    ------
    RequestError
        If a table has a column that no request has, or cannot be read.
    BatchError
        If the executor is broken for good; with ``out`` the finished chunks are kept.
    OutputError
        If the file cannot be written.
    """
    if executor is not None and workers is not None:
        raise RequestError("give either executor or workers, not both")
    if workers is not None and not 1 <= workers <= 512:
        raise RequestError(f"workers = {workers} is outside 1..512")
    if in_flight is not None and in_flight < 1:
        raise RequestError(f"in_flight = {in_flight} is below 1")
    catalog = load_catalog() if catalog is None else catalog
    calibration = stored_calibration() if calibration is None else calibration
    metadata = {
        "sizer.version": __version__,
        "sizer.columns_version": str(COLUMNS_VERSION),
        "sizer.catalog_digest": catalog.digest,
        "sizer.calibration_digest": calibration_digest(calibration),
    }
    asks, total = asks_of(requests)
    parts = None if out is None else Parts(_parquet_target(Path(out)))
    key = sha256(repr(sorted(metadata.items())).encode()).hexdigest()
    content = packed(catalog, calibration)
    # Threads of this process, ours or the caller's, find both at hand.
    keep(key, catalog, calibration)
    done = _Done(parts, metadata, _Pace(progress, total, clock))
    crew: Crew
    if workers is not None:
        crew = Processes(workers, key, content)
    elif executor is not None:
        crew = Given(executor, in_flight or GIVEN_IN_FLIGHT)
    else:
        crew = Given.threads()
    try:
        for chunk, rows in answers(done.to_do(_chunks(asks, key if parts else None)), crew, key, content):
            done.add(chunk, table(rows, metadata))
    except BatchError as error:
        kept = "" if parts is None else f"; finished requests are kept in {parts.folder}: the same call goes on there"
        raise BatchError(f"{error}{kept}") from error
    finally:
        crew.close()
    return done.finish()


def calibration_digest(calibration: Calibration) -> str:
    """SHA-256 of all that a calibration says; its own digest is that of the observations alone."""
    digest = sha256()
    for one in fields(calibration):
        value = getattr(calibration, one.name)
        if isinstance(value, np.ndarray):
            digest.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, Mapping):
            digest.update(repr(sorted(value.items())).encode())
        else:
            digest.update(repr(sorted(value) if isinstance(value, frozenset) else value).encode())
    return digest.hexdigest()


def _parquet_target(out: Path) -> Path:
    if out.suffix.lower() != ".parquet":
        raise OutputError(f"{out}: the table of a batch is a .parquet file")
    return out


def _chunks(asks: Iterator[Ask], salt: str | None) -> Iterator[Chunk]:
    number = 0
    while some := tuple(islice(asks, CHUNK_REQUESTS)):
        yield Chunk(number, some, "" if salt is None else digest_of(some, salt))
        number += 1


class _Done:
    """What is finished: parts on disk, or tables in memory."""

    def __init__(self, parts: Parts | None, metadata: Mapping[str, str], pace: "_Pace") -> None:
        self._parts, self._metadata, self._pace = parts, metadata, pace
        self._digests: list[str] = []
        self._tables = _Tables(metadata)
        self._names: set[str] = set()

    def to_do(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Chunks that an earlier run has not finished."""
        for chunk in chunks:
            names = None
            if self._parts is not None:
                self._digests.append(chunk.digest)
                names = self._parts.names(chunk.digest)
            if names is None:
                yield chunk
            else:
                self._names |= names
                self._pace.skipped(len(chunk.asks))

    def add(self, chunk: Chunk, rows: pa.Table) -> None:
        """Take in the rows of a chunk."""
        self._names |= set(rows.schema.names)
        if self._parts is None:
            self._tables.add(chunk.number, rows)
        else:
            self._parts.write(chunk.digest, rows)
        self._pace.made(len(chunk.asks))

    def finish(self) -> pa.Table | Path:
        """The whole table."""
        self._pace.tell()
        if self._parts is not None:
            return self._parts.merge(self._digests, self._names, self._metadata)
        return self._tables.finish()


class _Tables:
    """Tables of the chunks in memory. A small table takes five times its data, so that they are joined in groups."""

    def __init__(self, metadata: Mapping[str, str]) -> None:
        self._metadata = metadata
        self._early: dict[int, pa.Table] = {}  # an earlier chunk is still being worked on
        self._next = 0
        self._small: list[pa.Table] = []
        self._large: list[pa.Table] = []

    def add(self, number: int, rows: pa.Table) -> None:
        """Take in the rows of a chunk."""
        self._early[number] = rows
        while self._next in self._early:
            self._small.append(self._early.pop(self._next))
            self._next += 1
        if len(self._small) >= _GROUP_CHUNKS:
            self._large.append(self._joined(self._small))
            self._small = []

    def finish(self) -> pa.Table:
        """The whole table, in the order of the chunks."""
        return self._joined([*self._large, *self._small])

    def _joined(self, tables: Sequence[pa.Table]) -> pa.Table:
        columns = schema({name for one in tables for name in one.schema.names}, self._metadata)
        return pa.concat_tables([columns.empty_table(), *(widened(one, columns) for one in tables)]).combine_chunks()


class _Pace:
    """How fast the batch goes; tells it now and then."""

    def __init__(self, progress: Progress | None, total: int | None, clock: Callable[[], float]) -> None:
        self._progress, self._total, self._clock = progress, total, clock
        self._start = self._told = clock()
        self._made = self._skipped = 0

    def skipped(self, count: int) -> None:
        """Requests that an earlier run has finished: they do not count in the rate."""
        self._skipped += count
        self._tell_sometimes()

    def made(self, count: int) -> None:
        """Requests that this run has finished."""
        self._made += count
        self._tell_sometimes()

    def _tell_sometimes(self) -> None:
        if self._clock() - self._told >= _PROGRESS_S:
            self.tell()

    def tell(self) -> None:
        """Call the callback."""
        self._told = self._clock()
        if self._progress is None:
            return
        elapsed_s = self._told - self._start
        per_s = self._made / elapsed_s if elapsed_s > 0 else 0.0
        done = self._made + self._skipped
        left_s = (self._total - done) / per_s if self._total is not None and per_s > 0 else None
        self._progress(done, self._total, per_s, left_s)
