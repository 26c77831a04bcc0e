"""Calls in worker processes, where a crash of native code costs one call and not the program.

A worker is a fresh Python, not a fork: the libraries that draw have threads of their own. It is started once and
reused, because it takes a second to load them, and replaced when it was lost.
"""

import atexit
import contextlib
import gc
import importlib
import io
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from sizer.base.errors import BudgetError
from sizer.base.streams import CPU_S, pause_point
from sizer.base.units import GIB

Progress = Callable[[Any], None]

_LENGTH = struct.Struct("<Q")
_TOLD, _DONE, _FAILED = range(3)
# Drawing keeps two workers of a team's server in use; more would only take memory.
MOST_WORKERS = max(1, min(os.cpu_count() or 1, 4))
_MOST_ATTEMPTS = 20
# Workers of a pool load one library: each stays small, and a chart does not wait for the pages of another document.
PAGES, CHARTS, REQUESTS = "pages", "charts", "requests"
# Requests are sized in the time that the pages of a server leave: their workers have a lower priority.
_NICENESS = {REQUESTS: 5}
_SERVE = "from sizer.base.worker_process import serve; serve({})"
MEMORY_BYTES = 2 * GIB  # of an answer within a budget
# How often a thread that waits for a worker looks around.
_LOOK_S = 0.1


class WorkerLostError(Exception):
    """The process of a call ended before it had an answer.

    ``status``: exit status of the process; negative: the signal that ended it.
    """

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"signal {-status}" if status < 0 else f"status {status}")


def apart(function: Callable[..., Any], *arguments: object, progress: Progress | None = None, pool: str = PAGES) -> Any:
    """What ``function(*arguments, told)`` returns, called in another process.

    ``function``: a function of a module. Its last argument is a callable, whose calls reach ``progress``.
    ``*arguments``: picklable. ``progress``: called in this thread. ``pool``: whose workers are called. Raises
    WorkerLostError if the process is lost: native code aborted, or it was killed. Raises what the function
    raises.
    """
    return _pools[pool].call(function, arguments, progress)


def within_budget(function: Callable[..., Any], *arguments: object, cpu_s: float = CPU_S) -> Any:
    """What a function of a module returns, called in a worker process.

    Raises BudgetError if it takes more processor time or memory than an answer may; else what the function raises.
    """
    try:
        return pickle.loads(apart(_limited, cpu_s, function, arguments, pool=REQUESTS))
    except (WorkerLostError, MemoryError):
        raise BudgetError(f"{cpu_s:g} s of a processor or {MEMORY_BYTES / GIB:g} GiB of memory") from None


def _limited(cpu_s: float, function: Callable[..., Any], arguments: tuple[Any, ...], _told: Progress) -> bytes:
    # Not RLIMIT_CPU, which counts whole seconds: the default action of the timer's signal is to end the process.
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = int(MEMORY_BYTES) if hard == resource.RLIM_INFINITY else min(int(MEMORY_BYTES), hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        return _settled_pickle(function(*arguments))  # what is found on demand is found now
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def start_workers(*modules: str, count: int = MOST_WORKERS, pool: str = PAGES) -> None:
    """Start workers that load these modules, while this process does something else."""
    _pools[pool].start(modules, count)


def stop_workers() -> None:
    """End all workers, also those at work: an interrupted program waits for none."""
    for pool in _pools.values():
        pool.stop()


class _Worker:
    def __init__(self, modules: tuple[str, ...], niceness: int) -> None:
        # Modules come from where this one came from, never from the working directory (-P).
        home = str(Path(__file__).resolve().parent.parent.parent)
        path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH", ""))))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE.format(niceness), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what a crashing library prints is no message for a user
            env={**os.environ, "PYTHONPATH": path},
            cwd=home,
        )
        self.is_idle = True

    def call(self, function: Callable[..., Any], arguments: tuple[object, ...], progress: Progress | None) -> Any:
        assert self.process.stdin is not None
        assert isinstance(self.process.stdout, io.BufferedReader)
        answers, ready = self.process.stdout.raw, select.poll()  # raw: no poll sees what a buffer holds
        ready.register(answers, select.POLLIN)
        content = _settled_pickle((function, arguments))
        self.is_idle = False  # and so not used again when something here raises
        try:
            _send(self.process.stdin, content)
            while True:
                while not ready.poll(1_000 * _LOOK_S):
                    pause_point()  # one that raises ends the worker, too
                kind, value = pickle.loads(_received(answers))
                if kind != _TOLD:
                    break
                if progress is not None:
                    progress(value)
        except (OSError, EOFError, ValueError):  # ValueError: the pipe was closed by another thread
            self.stop()
            raise WorkerLostError(self.process.wait()) from None
        self.is_idle = True
        if kind == _FAILED:
            raise value
        return value

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class _Pool:
    """Workers of this process. Threads wait for each other when all are at work."""

    def __init__(self, niceness: int = 0) -> None:
        self._niceness = niceness
        self._lock = threading.Lock()
        self._free = threading.Semaphore(MOST_WORKERS)
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []

    def start(self, modules: tuple[str, ...], count: int) -> None:
        with self._lock:
            for _ in range(min(count, MOST_WORKERS) - len(self._all)):
                self._idle.append(self._new(modules))

    def _new(self, modules: tuple[str, ...] = ()) -> _Worker:
        worker = _Worker(modules, self._niceness)
        self._all.append(worker)
        return worker

    def call(self, function: Callable[..., Any], arguments: tuple[object, ...], progress: Progress | None) -> Any:
        while not self._free.acquire(timeout=_LOOK_S):
            pause_point()
        try:
            with self._lock:
                worker = self._idle.pop() if self._idle else self._new()
            try:
                return worker.call(function, arguments, progress)
            finally:
                with self._lock:
                    if worker in self._all:
                        (self._idle.append if worker.is_idle else self._all.remove)(worker)
                if not worker.is_idle:
                    worker.stop()
        finally:
            self._free.release()

    def forget(self) -> None:
        """In a fork: the workers belong to the parent."""
        self.__init__(self._niceness)  # type: ignore[misc]

    def stop(self) -> None:
        with self._lock:
            workers, self._all, self._idle = self._all, [], []
        for worker in workers:
            worker.stop()


_pools = {name: _Pool(_NICENESS.get(name, 0)) for name in (PAGES, CHARTS, REQUESTS)}


def _forget_workers() -> None:
    for pool in _pools.values():
        pool.forget()


atexit.register(stop_workers)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)


def serve(niceness: int) -> None:
    """Answer the calls of the process that started this one, until it closes the pipe."""
    os.nice(niceness)
    # The program that started this process decides what an interruption means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not mix with the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for module in sys.argv[1:]:
        importlib.import_module(module)
    # Laying out a page makes a million objects that live until it is done; looking through them costs a third. What the
    # modules hold is never garbage.
    gc.disable()
    gc.freeze()
    while True:
        try:
            function, arguments = pickle.loads(_received(calls))
        except EOFError:
            return
        try:
            answer = _DONE, function(*arguments, lambda value: _send(answers, pickle.dumps((_TOLD, value))))
        except Exception as error:
            answer = _FAILED, error
        _send(answers, _pickled(answer))
        del function, arguments, answer
        gc.collect()


def _pickled(answer: tuple[int, Any]) -> bytes:
    try:
        return pickle.dumps(answer)
    except Exception as error:
        return pickle.dumps((_FAILED, RuntimeError(f"the answer of a worker cannot be sent: {error}; {answer[1]!r}")))


def _settled_pickle(value: object) -> bytes:
    """Pickle of a value while other threads may still fill in what its objects compute on first use."""
    # A worker needs none of the classes of facts: to load them takes a fifth of its start.
    from sizer.base.provenance import make_picklable

    make_picklable()
    for _ in range(_MOST_ATTEMPTS):
        # "dictionary changed size during iteration"
        with contextlib.suppress(RuntimeError):
            return pickle.dumps(value)
    return pickle.dumps(value)


def _send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(_LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def _received(pipe: IO[bytes] | io.RawIOBase) -> bytearray:
    (length,) = _LENGTH.unpack(_exactly(pipe, _LENGTH.size))
    return _exactly(pipe, length)


def _exactly(pipe: IO[bytes] | io.RawIOBase, length: int) -> bytearray:
    content = bytearray()
    while len(content) < length:
        part = pipe.read(length - len(content))
        if not part:
            raise EOFError
        content += part
    return content
