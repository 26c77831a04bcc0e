"""What the making of a PDF is busy with, in a word."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str], None]

_steps = logging.getLogger("weasyprint.progress")


class _Words(logging.Handler):
    """Turns WeasyPrint's log of its steps into words, each told once, for the thread that made this."""

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
def steps_told(progress: Progress | None) -> Iterator[None]:
    """Tell ``progress`` what WeasyPrint does inside the block: reading, laying out, drawing."""
    # Once and for good: another thread may be listening. Nothing reaches the handlers of the program around us.
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


# What takes longer than this is told. [s]
PATIENCE_S = 1.0


class WhenSlow:
    """Passes on what is being done, but only from one second on: quick work stays quiet.

    Used as a context; inside it, call it with the name of a file and a word. What was said last when the second is over
    is passed on then, by another thread.
    """

    def __init__(self, show: Callable[[str, str], None], patience_s: float = PATIENCE_S) -> None:
        self._show = show
        self._timer = threading.Timer(patience_s, self._begin)
        self._lock = threading.Lock()
        self._now: tuple[str, str] | None = None
        self._is_slow = False
        self._is_over = False

    def __enter__(self) -> "WhenSlow":
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True

    def __call__(self, file: str, word: str) -> None:
        """Say what is being done now."""
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
