"""Folders that a user names."""

import contextlib
import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

# Deeper ones end Python's recursion; file systems limit the whole path to 4,096 bytes.
_MOST_FOLDERS = 200


def make_folders(folder: Path) -> None:
    """Make a folder with those above it; one that is there stays.

    Raises OSError if it cannot be made, or lies too deep.
    """
    if len(folder.parts) > _MOST_FOLDERS:
        raise OSError(errno.ENAMETOOLONG, f"lies more than {_MOST_FOLDERS} folders deep")
    os.makedirs(folder, exist_ok=True)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """What is written takes the place of a file once all of it is on disk; an error leaves the file as it was."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0o077)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)  # as any new file has it
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


@contextlib.contextmanager
def running(folder: Path) -> Iterator[None]:
    """Mark the folder as used by this run."""
    with _opened(folder) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def taken(folder: Path) -> Iterator[bool]:
    """Mark the folder as used by this run; False where another run uses it.

    Raises FileNotFoundError if it has just been removed.
    """
    with _opened(folder) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)
