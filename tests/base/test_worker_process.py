"""Calls in worker processes: answers, errors, progress, and processes that are lost."""

import os
import signal
import time

import pytest

from sizer.base.errors import CatalogError
from sizer.base.streams import ask_at_pause_points
from sizer.base.worker_process import WorkerLostError, apart, start_workers, stop_workers


def answered(number, tell):
    """Twice the number, told in steps; prints, as libraries do."""
    os.write(1, b"noise of a library")
    tell("begun")
    tell(["half", number])
    return 2 * number, os.getpid()


def refused(tell):
    """An error with faults."""
    raise CatalogError(["one", "two"])


def aborted(tell):
    """What a failed assertion in native code does."""
    os.abort()


def unsendable(tell):
    """An answer that no pipe takes."""
    return tell


def endless(tell):
    """Work that goes on."""
    tell(os.getpid())
    time.sleep(600)


def test_a_call_returns_its_answer_and_tells_its_progress():
    told = []
    (value, first), (again, second) = (apart(answered, number, progress=told.append) for number in (4, 5))
    assert (value, again) == (8, 10)
    assert told == ["begun", ["half", 4], "begun", ["half", 5]]
    assert first == second != os.getpid()  # the same worker, which is another process


def test_an_error_arrives_as_it_was_raised():
    with pytest.raises(CatalogError) as caught:
        apart(refused)
    assert caught.value.faults == ("one", "two")
    with pytest.raises(RuntimeError, match="cannot be sent"):
        apart(unsendable)


def test_a_crash_costs_one_call():
    with pytest.raises(WorkerLostError) as caught:
        apart(aborted)
    assert caught.value.status == -signal.SIGABRT
    assert apart(answered, 1)[0] == 2


def test_a_killed_worker_is_replaced():
    start_workers("json", count=2)
    with pytest.raises(WorkerLostError):
        apart(endless, progress=lambda pid: os.kill(pid, signal.SIGKILL))
    assert apart(answered, 1)[0] == 2


def test_a_caller_that_gives_up_ends_the_work():
    pids = []

    def interrupt(pid):
        pids.append(pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apart(endless, progress=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    # Also where the worker tells nothing: its caller looks around while it waits.
    ask_at_pause_points(lambda: interrupt(pids.pop()) if len(pids) > 1 else None)
    with pytest.raises(KeyboardInterrupt):
        apart(endless, progress=pids.append)
    ask_at_pause_points(None)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[-1], 0)
    stop_workers()
    assert apart(answered, 1)[0] == 2
