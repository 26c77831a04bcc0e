"""Calculations end when the window of their session is closed, and give way to those that have used less so far.

All sessions share the processor of one process. Without this, the request of one visitor that takes a minute to size
would slow every page of the others for a minute, also after that visitor has left.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sizer.base.streams import ask_at_pause_points

# How often a calculation looks around.
_LOOK_S = 0.02
# A run of the script gives way to those that have used the processor for so much less: pages go before long sizings.
LEAD_S = 0.1
# A run that lasts longer than this and used little waits for something else, such as documents that are drawn.
_WAITING_S = 10.0
# At each look a calculation waits at most so long, so that it goes on, too, while others come and go.
_LONGEST_WAIT_S = 0.2
_WAIT_S = 0.01


@dataclass(frozen=True)
class _Run:
    """A run of the script in its thread."""

    began_s: float
    used_before_s: float  # of the processor, by the thread in earlier runs

    def used_s(self, thread: int) -> float:
        """Time of the processor that it has used; to be called while the thread is at it."""
        return _used_s(thread) - self.used_before_s

    def is_waiting(self, thread: int) -> bool:
        """Whether it waits for something else than the processor."""
        lasts_s = time.monotonic() - self.began_s
        return lasts_s > _WAITING_S and self.used_s(thread) < lasts_s / 100


_runs: dict[int, _Run] = {}
_lock = threading.Lock()


class _Look(threading.local):
    next_s = 0.0
    session = ""  # for which a thread without a session works


class WindowClosedError(Exception):
    """Ends a file that is being made for a window which is closed."""


_look = _Look()


def _used_s(thread: int) -> float:
    """Time of the processor that a thread has used; where the system does not tell, all the time that went by."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic()
    return time.clock_gettime(time.pthread_getcpuclockid(thread))


@contextlib.contextmanager
def run_of_the_script() -> Iterator[None]:
    """Around one run of the script; also starts the looking around, once."""
    ask_at_pause_points(_look_around)
    thread = threading.get_ident()
    with _lock:
        _runs[thread] = _Run(time.monotonic(), _used_s(thread))
    try:
        yield
    finally:
        with _lock:
            _runs.pop(thread, None)


def for_session(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """A function that makes a file in a thread without a session, and ends when the window of this one is closed."""
    context = get_script_run_ctx(suppress_warning=True)
    session = "" if context is None else context.session_id

    def made() -> bytes:
        _look.session = session
        try:
            return make()
        finally:
            _look.session = ""

    return made


def _look_around() -> None:
    if time.monotonic() < _look.next_s:
        return
    _stop_if_over()
    end = time.monotonic() + _LONGEST_WAIT_S
    while time.monotonic() < end and _gives_way():
        time.sleep(_WAIT_S)
        _stop_if_over()
    _look.next_s = time.monotonic() + _LOOK_S


def _stop_if_over() -> None:
    """End this run of the script where its window is closed or a newer run waits: Streamlit raises on any access.

    A file is made in a thread without a session: it ends where the window that asked for it is closed.
    """
    if get_script_run_ctx(suppress_warning=True) is not None:
        "draft" in st.session_state  # noqa: B015
    elif _look.session and runtime.exists() and not runtime.get_instance().is_active_session(_look.session):
        raise WindowClosedError("the window is closed")


def _gives_way() -> bool:
    own = threading.get_ident()
    with _lock:  # a thread ends its run under the lock, so that those listed are alive
        run = _runs.get(own)
        if run is None:
            return False
        least_s = run.used_s(own) - LEAD_S
        others = ((thread, other) for thread, other in _runs.items() if thread != own)
        return any(other.used_s(thread) < least_s and not other.is_waiting(thread) for thread, other in others)
