"""Standard output and error that take whatever is printed; points at which long work may be interrupted."""

import codecs
import contextlib
import io
import math
import os
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator

from sizer.base.errors import BudgetError

# Signs of our texts -> how they are written where the encoding of the terminal lacks them.
_PLAIN = {
    **dict.fromkeys("\u2009\u202f\u00a0", " "),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
    "\u2026": "...",
    "\u00d7": "x",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2248": "about",
    "\u2192": "->",
    "\u20ac": "EUR",
    "\u00b5": "u",
    "\u03bc": "u",
}
_NAME = "sizer-nearest"


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Error handler of an encoding: the nearest signs of ASCII."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(sign: str) -> str:
    plain = unicodedata.normalize("NFKD", _PLAIN.get(sign, sign)).encode("ascii", "ignore").decode()
    return plain or "?"


class Messages(io.TextIOWrapper):
    """Standard error: what is written once nobody reads it, or its disk is full, is lost without an error."""

    def write(self, text: str) -> int:
        """Write a message; its length, also where it is lost."""
        try:
            return super().write(text)
        except OSError:
            self._lose()
            return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        try:
            super().flush()
        except OSError:
            self._lose()

    def _lose(self) -> None:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self.fileno())


def messages(number: int, encoding: str) -> Messages:
    """Messages into an open file."""
    file = io.FileIO(number, "w", closefd=False)
    return Messages(io.BufferedWriter(file), encoding=encoding, errors=_NAME, line_buffering=True)


def prepare_streams() -> None:
    """Make both streams take every text; closed ones take and lose it, and so does stderr when its reader goes."""
    # The lowest free numbers are given to the next files: a closed stream must not become a document.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    codecs.register_error(_NAME, _nearest)
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 -- as long as the process
        elif isinstance(stream, io.TextIOWrapper) and stream is sys.__stderr__:
            sys.stderr = messages(2, stream.encoding)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_NAME)


def close_quietly() -> None:
    """Point both streams nowhere, so that Python does not fail on them again when it ends."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        with contextlib.suppress(OSError):
            os.dup2(nowhere, number)


CPU_S = 120  # time of the processor that one answer of a server or a batch may take


class _Budget(threading.local):
    end_s = math.inf  # on the clock of the thread


_budget = _Budget()
_asked: Callable[[], None] | None = None


def ask_at_pause_points(asked: Callable[[], None] | None) -> None:
    """What every pause point calls, in the thread of the calculation; it ends it by raising. None: nothing."""
    global _asked
    _asked = asked


@contextlib.contextmanager
def processor_time(most_s: float) -> Iterator[None]:
    """So much time of the processor for what this thread calculates within: its next pause point raises BudgetError."""
    before_s = _budget.end_s
    _budget.end_s = min(before_s, time.thread_time() + most_s)
    try:
        yield
    except BudgetError:
        raise BudgetError(f"{most_s:g} s of a processor") from None
    finally:
        _budget.end_s = before_s


def pause_point() -> None:
    """Let the program end this calculation or make it wait; called in loops, every few milliseconds."""
    if time.thread_time() > _budget.end_s:
        raise BudgetError
    if _asked is not None:
        _asked()
