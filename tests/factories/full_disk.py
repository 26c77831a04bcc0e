"""A disk that takes no more than so many bytes of a file."""

import contextlib
import resource
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def full_disk(most_bytes: int) -> Iterator[None]:
    """Within it, this process writes no file beyond so many bytes: the system call fails, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
