"""Who works: threads, processes of our own, or an executor that is given."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol

from sizer.base.errors import BatchError
from sizer.batch.work import prepare

# Chunks on their way to an executor that does not tell how many workers it has.
GIVEN_IN_FLIGHT = 64
# Libraries that would start a thread a core in every process.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Crew(Protocol):
    """Workers, and how many chunks are sent to them at a time."""

    in_flight: int

    @property
    def executor(self) -> Executor:
        """Where chunks are submitted."""
        ...

    def renew(self) -> None:
        """Replace workers that were lost, or raise BatchError."""
        ...

    def close(self) -> None:
        """Let go of the workers."""
        ...


class Given:
    """An executor of the caller, or threads of our own."""

    def __init__(self, executor: Executor, in_flight: int, is_ours: bool = False) -> None:
        self.executor = executor
        self.in_flight = in_flight
        self._is_ours = is_ours

    @classmethod
    def threads(cls) -> "Given":
        """A thread for each core."""
        count = os.cpu_count() or 1
        return cls(ThreadPoolExecutor(count), 2 * count, is_ours=True)

    def renew(self) -> None:
        """A broken executor of the caller cannot be mended from here."""
        raise BatchError("a worker process was lost and with it the whole pool that was given")

    def close(self) -> None:
        """End our threads; the caller's executor is left to the caller."""
        if self._is_ours:
            self.executor.shutdown(cancel_futures=True)


class Processes:
    """Fresh processes of our own, each with catalogue and calibration from its start."""

    def __init__(self, count: int, key: str, content: bytes) -> None:
        self.in_flight = 2 * count + 1
        self._count, self._key, self._content = count, key, content
        self.executor: Executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        # Spawned, not forked: libraries below have threads of their own.
        pool = ProcessPoolExecutor(
            self._count, get_context("spawn"), initializer=prepare, initargs=(self._key, self._content)
        )
        try:
            with _environment(_ONE_THREAD):
                # One task a worker makes the pool start them all here, with one thread each.
                for started in [pool.submit(os.getpid) for _ in range(self._count)]:
                    started.result()
        except BrokenProcessPool:
            pool.shutdown()
            raise BatchError(
                "worker processes end as soon as they start; a script that starts a batch keeps its statements behind "
                "if __name__ == '__main__'"
            ) from None
        return pool

    def renew(self) -> None:
        """Start a new pool in place of one that lost a worker."""
        self.close()
        self.executor = self._started()

    def close(self) -> None:
        """End the processes."""
        self.executor.shutdown(cancel_futures=True)


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
