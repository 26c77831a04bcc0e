"""Progress of a PDF: the current step in a word."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Progress = Callable[[str], None]
Attachments = Mapping[str, bytes]

_steps = logging.getLogger("weasyprint.progress")


class _Words(logging.Handler):
    """Reports WeasyPrint's logged steps as words, each once, for the thread that made this."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(logging.INFO)
        self._progress = progress
        self._thread = threading.get_ident()
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread != self._thread:
            return
        word = _word(record.getMessage())
        if word and word != self._last:
            self._last = word
            self._progress(word)


def _word(message: str) -> str:
    """Word for 'Step 5 - Creating layout - Page 3'."""
    match message[:6]:
        case "Step 1" | "Step 2" | "Step 3" | "Step 4":
            return "reading"
        case "Step 5":
            return "laying out"
        case "Step 6" | "Step 7":
            return "drawing"
    return ""


@contextmanager
def reported_steps(progress: Progress | None) -> Iterator[None]:
    """Report the steps of WeasyPrint inside the block to ``progress``: reading, laying out, drawing."""
    # Not reset: another thread may be listening. Nothing reaches the handlers of the calling program.
    _steps.setLevel(logging.INFO)
    _steps.propagate = False
    if progress is None:
        yield
        return
    words = _Words(progress)
    _steps.addHandler(words)
    try:
        yield
    finally:
        _steps.removeHandler(words)


# Work that takes longer is reported. [s]
DELAY_S = 1.0


class DelayedProgress:
    """Reports progress only after a delay, so that quick work shows nothing.

    Used as a context; inside it, call it with the name of a file and a word. Another thread reports the latest step
    when the delay ends.
    """

    def __init__(self, show: Callable[[str, str], None], delay_s: float = DELAY_S) -> None:
        self._show = show
        self._timer = threading.Timer(delay_s, self._begin)
        self._lock = threading.Lock()
        self._now: tuple[str, str] | None = None
        self._is_slow = False
        self._is_over = False

    def __enter__(self) -> "DelayedProgress":
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True

    def __call__(self, file: str, word: str) -> None:
        """Set the current step."""
        with self._lock:
            self._now = (file, word)
            if self._is_slow:
                self._show(file, word)

    def _begin(self) -> None:
        with self._lock:
            if self._is_over:
                return
            self._is_slow = True
            if self._now is not None:
                self._show(*self._now)
