"""Workers of a batch: threads, processes of our own, or an executor of the caller."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Protocol

from sizer.base.errors import BatchError
from sizer.batch.work import start_worker

# Chunks submitted to an executor whose number of workers is not known.
DEFAULT_IN_FLIGHT = 64
# Libraries that would start a thread a core in every process.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class WorkerPool(Protocol):
    """Workers, and how many chunks are submitted to them at a time."""

    in_flight: int

    @property
    def executor(self) -> Executor:
        """Where chunks are submitted."""
        ...

    def renew(self) -> None:
        """Replace workers that were lost, or raise BatchError."""
        ...

    def close(self) -> None:
        """Release the workers."""
        ...


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
