"""Sends chunks to workers and takes their rows in. A lost worker loses no request."""

import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field, replace

from sizer.base.errors import BatchError
from sizer.batch.asks import Ask
from sizer.batch.work import Row, failed, size_chunk
from sizer.batch.workers import Crew

# Chunks that carry catalogue and calibration (5 MB) at one time; more would only fill the network.
_MOST_CARRYING = 4
# A chunk that was lost so often with others on their way is sent again alone, which tells whether it is to blame.
_MOST_LOST = 2
# A single request that was lost so often while nothing else was on its way has ended its worker each time.
_MOST_LOST_ALONE = 2
_ENDED_ITS_WORKER = (
    "the worker process ended whenever this request was sized; it may need more memory than the machine has"
)


@dataclass(frozen=True)
class Chunk:
    """Some requests that travel together.

    Attributes
    ----------
    number : int
        Place in the order of the batch.
    asks : tuple of Ask
        The requests, one or more.
    digest : str
        Names its part on disk; "" where there is none.
    """

    number: int
    asks: tuple[Ask, ...]
    digest: str = ""


@dataclass(frozen=True)
class _Piece:
    """A chunk, or a part of one whose whole ended a worker."""

    chunk: Chunk
    start: int
    stop: int
    is_missing: bool = False  # the worker it came to lacked catalogue and calibration
    lost: int = 0
    is_alone: bool = False  # it is only sent while nothing else is on its way
    lost_alone: int = 0

    @property
    def asks(self) -> tuple[Ask, ...]:
        return self.chunk.asks[self.start : self.stop]


Sent = Future[list[Row] | None]


@dataclass
class _Desk:
    """What waits, what is on its way and what has come back."""

    crew: Crew
    key: str
    content: bytes
    ready: deque[_Piece] = field(default_factory=deque)
    suspects: deque[_Piece] = field(default_factory=deque)
    in_flight: dict[Sent, _Piece] = field(default_factory=dict)
    back: dict[int, dict[int, list[Row]]] = field(default_factory=dict)  # number of a chunk -> start -> rows
    whole: list[tuple[Chunk, list[Row]]] = field(default_factory=list)
    n_sent: int = 0

    def fill(self, chunks: Iterator[Chunk]) -> None:
        """Send what may be sent now."""
        if self.suspects:
            if not self.in_flight:
                self._send(self.suspects.popleft())
            return
        while len(self.in_flight) + len(self.ready) < self.crew.in_flight:
            chunk = next(chunks, None)
            if chunk is None:
                break
            self.ready.append(_Piece(chunk, 0, len(chunk.asks)))
        for _ in range(len(self.ready)):
            piece = self.ready.popleft()
            if piece.is_missing and sum(one.is_missing for one in self.in_flight.values()) >= _MOST_CARRYING:
                self.ready.append(piece)
            else:
                self._send(piece)

    def _send(self, piece: _Piece) -> None:
        self.n_sent += 1
        content = self.content if piece.is_missing else None
        sent: Sent
        try:
            sent = self.crew.executor.submit(size_chunk, self.key, piece.asks, content, self.n_sent)
        except BrokenExecutor as error:
            sent = Future()
            sent.set_exception(error)
        except RuntimeError as error:
            raise BatchError(f"the executor takes no work: {error}") from error
        self.in_flight[sent] = piece

    def take(self, sent: Sent) -> bool:
        """Take in what came of a piece; whether the whole executor is broken."""
        piece = self.in_flight.pop(sent)
        try:
            rows = sent.result()
        except BrokenExecutor:
            self._lost(piece)
            return True
        except CancelledError:
            raise BatchError("the executor was closed or lost its scheduler") from None
        except Exception as error:  # whatever an executor tells of itself: the requests' own faults are rows
            if not _is_loss_of_worker(error):
                raise BatchError(f"the executor failed: {type(error).__name__}: {error}") from error
            self._lost(piece)
            return False
        if rows is None:
            (self.suspects if piece.is_alone else self.ready).appendleft(replace(piece, is_missing=True))
        else:
            self._came(piece, rows)
        return False

    def _lost(self, piece: _Piece) -> None:
        """Send it again; alone when it was lost too often; in halves when it is to blame; or give it up."""
        if not piece.is_alone:
            piece = replace(piece, lost=piece.lost + 1, is_alone=piece.lost + 1 >= _MOST_LOST)
            (self.suspects if piece.is_alone else self.ready).append(piece)
            return
        middle = (piece.start + piece.stop) // 2
        if middle > piece.start:
            self.suspects += [replace(piece, stop=middle), replace(piece, start=middle)]
        elif piece.lost_alone + 1 < _MOST_LOST_ALONE:
            self.suspects.appendleft(replace(piece, lost_alone=piece.lost_alone + 1))
        else:
            self._came(piece, [failed(ask, _ENDED_ITS_WORKER) for ask in piece.asks])

    def _came(self, piece: _Piece, rows: list[Row]) -> None:
        chunk = piece.chunk
        parts = self.back.setdefault(chunk.number, {})
        parts[piece.start] = rows
        if sum(len(part) for part in parts.values()) == len(chunk.asks):
            del self.back[chunk.number]
            self.whole.append((chunk, [row for start in sorted(parts) for row in parts[start]]))


def answers(chunks: Iterator[Chunk], crew: Crew, key: str, content: bytes) -> Iterator[tuple[Chunk, list[Row]]]:
    """Rows of every chunk, as the workers finish.

    Parameters
    ----------
    chunks : iterator of Chunk
        Taken as workers become free: no more than ``crew.in_flight`` are held.
    crew : Crew
        Who works.
    key : str
        Names catalogue and calibration.
    content : bytes
        Both, for workers that lack them.

    Raises
    ------
    BatchError
        If the executor is broken for good.
    """
    desk = _Desk(crew, key, content)
    try:
        yield from _served(desk, chunks)
    finally:
        for sent in desk.in_flight:
            sent.cancel()


def _served(desk: _Desk, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, list[Row]]]:
    while True:
        desk.fill(chunks)
        if not desk.in_flight:
            return
        outcomes = [desk.take(sent) for sent in wait(desk.in_flight, return_when=FIRST_COMPLETED).done]
        if any(outcomes):
            # What else was on its way is told the same in a moment, unless it had come back before.
            for sent in wait(desk.in_flight).done:
                desk.take(sent)
            desk.crew.renew()
        yield from desk.whole
        desk.whole.clear()


def _is_loss_of_worker(error: Exception) -> bool:
    """Whether Dask gave a chunk up because its workers ended; looked up, for Dask need not be installed."""
    killed = getattr(sys.modules.get("distributed"), "KilledWorker", None)
    return killed is not None and isinstance(error, killed)
