"""Calculations end when the window of their session is closed, and give way to those that have used less so far.

All sessions share the processor of one process. Without this, the request of one visitor that takes a minute to size
would slow every page of the others for a minute, also after that visitor has left. What takes longer than a page may,
a worker process calculates within a budget, at a lower priority.
"""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sizer.base.errors import BudgetError
from sizer.base.streams import ask_at_pause_points, processor_time
from sizer.base.worker_process import within_budget

T = TypeVar("T")

# How often a calculation looks around.
_LOOK_S = 0.02
# A run of the script gives way to those that have used the processor for so much less: pages go before long sizings.
LEAD_S = 0.1
# Of what earlier runs of a session used, the share that is left after a second of rest, and how much of it is forgiven:
# who turns pages begins anew each time, who asks again and again does not, and who opens a window comes after both.
_LEFT_AFTER_A_SECOND, _FORGIVEN_S, _OPENING_S = 0.4, 0.3, 0.7
_FORGOTTEN_S = 20.0
# At each look a calculation waits at most so long, so that it goes on, too, while others come and go.
_LONGEST_WAIT_S = 2.0
_WAIT_S = 0.01
# Runs that use this little of the processor in this time wait for something else, perhaps for the one that waits. On a
# machine at work a run that could go on is left without a processor for a tenth of a second.
_LITTLE_S, _STILL_S = 0.002, 0.2
# A calculation leaves the process of the pages, and begins anew, once it waited so long for other runs in all, and once
# it has used the processor for twice what the first of the usual searches takes.
_PATIENCE_S, LONGEST_S = 0.25, 6.0

# Of each run of the script its thread, and what the clock of the thread showed when its session had used nothing.
_runs: dict[int, float] = {}
# Of sessions that rest: when the last run ended, and what the session had used.
_resting: dict[str, tuple[float, float]] = {}
_lock = threading.Lock()
# Set once sessions of several windows have run within the time that a session is remembered.
several_windows = threading.Event()


class _Look(threading.local):
    next_s = 0.0
    session = ""  # for which a thread without a session works
    still_s = math.nan  # what the runs had used that were found waiting for something else
    patience_s = math.inf  # for which the calculation still waits in this process


class WindowClosedError(Exception):
    """Ends a file that is being made for a window which is closed."""


_look = _Look()


def _used_s(thread: int) -> float:
    """Time of the processor that a thread has used; where the system does not tell, all the time that went by."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic()
    return time.clock_gettime(time.pthread_getcpuclockid(thread))


def _session() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


@contextlib.contextmanager
def run_of_the_script() -> Iterator[None]:
    """Around one run of the script, which looks around at each element that it draws, and at all pause points."""
    ask_at_pause_points(_look_around)
    thread, session = threading.get_ident(), _session()
    began_s, now = _used_s(thread), time.monotonic()
    opening = now, 0.0 if "draft" in st.session_state else _OPENING_S
    with _lock:
        ended_s, before_s = _resting.pop(session, opening)
        before_s *= _LEFT_AFTER_A_SECOND ** (now - ended_s)
        _runs[thread] = began_s - max(0.0, before_s - _FORGIVEN_S)
        if len(_runs) + len(_resting) > 1:
            several_windows.set()
    try:
        _look_around()
        with _looking_at_each_element(thread):
            yield
    finally:
        with _lock:
            del _runs[thread]
            now = time.monotonic()
            _resting[session] = now, before_s + _used_s(thread) - began_s
            for old in [name for name, (ended_s, _) in _resting.items() if now - ended_s > _FORGOTTEN_S]:
                del _resting[old]


@contextlib.contextmanager
def _looking_at_each_element(thread: int) -> Iterator[None]:
    """Drawing a page has no pause points of its own; Streamlit ends a run at the same place."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    send = context._enqueue

    def sent(message: ForwardMsg) -> None:
        if threading.get_ident() == thread:  # a spinner is drawn by a thread of its own
            _look_around()
        send(message)

    context._enqueue = sent
    try:
        yield
    finally:
        context._enqueue = send


def in_turn(calculate: Callable[..., T], *arguments: object, is_long: bool = False) -> T:
    """What a function of a module returns: called here where nobody else is at work, else in a worker process.

    ``is_long``: whether it surely takes long; any other that turns out to be long begins anew in a worker. Raises
    BudgetError if it takes more time or memory than an answer may.
    """
    if not is_long and len(_runs) <= 1:
        _look.patience_s = _PATIENCE_S
        try:
            with processor_time(LONGEST_S):
                return calculate(*arguments)
        except BudgetError:
            pass
        finally:
            _look.patience_s = math.inf
    answer: T = within_budget(calculate, *arguments)
    return answer


def for_session(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """A function that makes a file in a thread without a session, and ends when the window of this one is closed."""
    session = _session()

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
    _wait_for_shorter_runs()
    _look.next_s = time.monotonic() + _LOOK_S


def _stop_if_over() -> None:
    """End this run of the script where its window is closed or a newer run waits: Streamlit raises on any access.

    A file is made in a thread without a session: it ends where the window that asked for it is closed.
    """
    if get_script_run_ctx(suppress_warning=True) is not None:
        "draft" in st.session_state  # noqa: B015
    elif _look.session and runtime.exists() and not runtime.get_instance().is_active_session(_look.session):
        raise WindowClosedError("the window is closed")


def _wait_for_shorter_runs() -> None:
    """Wait while runs that have used less are at the processor, or leave it to them."""
    begun_s = moved_s = time.monotonic()
    used_s = _look.still_s
    while (ahead_s := _used_ahead_s()) is not None and (now := time.monotonic()) < begun_s + _LONGEST_WAIT_S:
        if not abs(ahead_s - used_s) < _LITTLE_S:
            used_s, moved_s, _look.still_s = ahead_s, now, math.nan
        elif now > moved_s + _STILL_S or not math.isnan(_look.still_s):
            _look.still_s = ahead_s
            return
        if now > begun_s + _look.patience_s:
            raise BudgetError
        time.sleep(_WAIT_S)
        _stop_if_over()
    _look.still_s = math.nan
    _look.patience_s -= time.monotonic() - begun_s


def _used_ahead_s() -> float | None:
    """Time of the processor that the runs have used which go before this thread; None where there are none.

    A thread that makes a file lets every run go first.
    """
    with _lock:  # a thread ends its run under the lock, so that those listed are alive
        used_s = {thread: _used_s(thread) - base_s for thread, base_s in _runs.items()}
    least_s = used_s.pop(threading.get_ident(), math.inf) - LEAD_S
    ahead = [one for one in used_s.values() if one < least_s]
    return sum(ahead) if ahead else None
