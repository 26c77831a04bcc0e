"""Whether the run that made a folder still goes on: a lock on the folder, which the system frees when a process ends.

Where the system has no such locks (Windows), a folder that nothing was added to for an hour counts as left behind:
the documents of one run are written within seconds.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True

_LEFT_BEHIND_S = 3600.0


@contextlib.contextmanager
def running(folder: Path) -> Iterator[None]:
    """Mark the folder as used by this run."""
    if not _HAS_LOCKS:
        yield
        return
    with _opened(folder) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def taken(folder: Path) -> Iterator[bool]:
    """Mark the folder as used by this run; False where another run uses it.

    Raises FileNotFoundError if it has just been removed.
    """
    if not _HAS_LOCKS:
        yield True
        return
    with _opened(folder) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextlib.contextmanager
def left_behind(folder: Path) -> Iterator[bool]:
    """Whether the run that made the folder is over; meanwhile no other run takes it.

    Raises FileNotFoundError if it has just been removed.
    """
    if not _HAS_LOCKS:
        yield time.time() - folder.stat().st_mtime > _LEFT_BEHIND_S
        return
    with taken(folder) as is_free:
        yield is_free


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)
