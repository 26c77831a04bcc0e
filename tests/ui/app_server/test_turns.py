"""Calculations of a closed session end, and long ones give way to short ones of other sessions."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException

from sizer import SizingRequest, size
from sizer.base.errors import BudgetError
from sizer.base.streams import ask_at_pause_points, pause_point
from sizer.base.worker_process import within_budget
from sizer.documents import document
from sizer.export.design_json import design_document
from sizer.ui.app_server import turns
from tests.factories.examples import catalog


@pytest.fixture(autouse=True)
def _nothing_stays():
    turns._resting.clear()
    yield
    ask_at_pause_points(None)


def request(**more: object) -> SizingRequest:
    workload = {"dnn": "resnet50", "target": {"gpus_busy": 8}}
    return SizingRequest.from_dict({"workload": [workload], **more})


TEAM = {
    "wait_s": "30 min",
    "order": "backfill",
    "job": [{"name": "a", "gpus": 1, "jobs_a_day": 300, "duration_s": "5 h"}],
}
TOKENS = {"dnn": "llama-3-8b", "tokens": 1e11, "target": {"time_to_train_s": "30 d"}}


@pytest.mark.parametrize(
    "asked", [request(), request(team=TEAM), request(growth={"years": 3, "data": 2}), request(workload=[TOKENS])]
)
def test_a_calculation_can_be_ended_at_any_of_its_pause_points(asked):
    """Ended at the first, the middle and the last point, it raises; left alone it gives the same as ever."""
    expected = design_document(size(asked, catalog()))
    points: list[None] = []
    ask_at_pause_points(lambda: points.append(None))
    size(asked, catalog())
    # A request that was sized before has fewer, as much of it is stored.
    assert len(points) >= 10
    for last in (1, len(points) // 2, len(points)):
        left = iter(range(last, 0, -1))

        def stop(left: object = left) -> None:
            if next(left, 0) <= 1:  # type: ignore[call-overload]
                raise StopException

        ask_at_pause_points(stop)
        with pytest.raises(StopException):
            size(asked, catalog())
        ask_at_pause_points(None)
    assert design_document(size(asked, catalog())) == expected


def test_nothing_is_asked_outside_of_an_app():
    ask_at_pause_points(None)
    pause_point()


@contextmanager
def beside() -> Iterator[None]:
    """Around what is done while another run of the script goes on."""
    begin, end = threading.Event(), threading.Event()

    def run() -> None:
        with turns.run_of_the_script():
            begin.set()
            end.wait(60)

    thread = threading.Thread(target=run)
    thread.start()
    begin.wait(60)
    yield
    end.set()
    thread.join()


def use_the_processor(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1_000))


def test_a_run_gives_way_to_one_that_has_used_less_until_that_has_ended():
    with turns.run_of_the_script():
        use_the_processor(3 * turns.LEAD_S)
        assert turns._used_ahead_s() is None  # nobody else is there
        with beside():
            assert turns._used_ahead_s() is not None
        assert turns._used_ahead_s() is None


def test_a_run_that_has_just_begun_gives_way_to_those_alone_whose_window_was_open():
    use_the_processor(3 * turns.LEAD_S)  # what the thread did before does not count
    with beside(), turns.run_of_the_script():
        assert turns._used_ahead_s() is None
    turns._resting[turns._session()] = time.monotonic(), 0.0
    with beside(), turns.run_of_the_script():
        assert turns._used_ahead_s() is not None


def test_a_session_that_asks_again_at_once_gives_way_and_one_that_rested_does_not(monkeypatch):
    monkeypatch.setattr(turns, "_session", lambda: threading.current_thread().name)
    with turns.run_of_the_script():
        use_the_processor(3 * turns.LEAD_S + turns._FORGIVEN_S)
    with beside():
        with turns.run_of_the_script():
            assert turns._used_ahead_s() is not None
        monkeypatch.setattr(turns, "_LEFT_AFTER_A_SECOND", 0.0)  # as if minutes had gone by
        with turns.run_of_the_script():
            assert turns._used_ahead_s() is None


def test_a_run_that_waits_for_something_else_holds_nobody_up():
    """It may wait for the very one that would wait for it: a value that two sessions ask for is computed once."""
    with beside(), turns.run_of_the_script():
        use_the_processor(3 * turns.LEAD_S)
        begun_s = time.monotonic()
        turns._wait_for_shorter_runs()
        assert time.monotonic() - begun_s < turns._LONGEST_WAIT_S / 2


def where_it_runs(seconds: float) -> int:
    """Process that does some work with pause points."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        use_the_processor(0.01)
        pause_point()
    return os.getpid()


def test_what_takes_long_is_calculated_in_another_process_and_what_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_S", 0.2)
    with turns.run_of_the_script():
        assert turns.in_turn(where_it_runs, 0.05) == os.getpid()
        assert turns.in_turn(where_it_runs, 0.4) != os.getpid()
        assert turns.in_turn(where_it_runs, 0.05, is_long=True) != os.getpid()
        with pytest.raises(BudgetError, match=r"more than 0\.3 s"):
            within_budget(where_it_runs, 30, cpu_s=0.3)
        assert turns.in_turn(where_it_runs, 0.4) != os.getpid()  # a lost worker is replaced


def test_a_design_of_a_worker_process_gives_the_same_files():
    expected = size(request(team=TEAM), catalog())
    sent = within_budget(size, request(team=TEAM), catalog())
    for kind in ("design", "csv", "netbox", "html"):
        assert document(sent, catalog(), kind) == document(expected, catalog(), kind)


def test_a_file_is_not_made_to_its_end_for_a_closed_window(monkeypatch):
    """While the window is open it is made; once its session is gone, the next pause point ends it."""
    steps: list[int] = []

    def make() -> bytes:
        for step in range(3):
            steps.append(step)
            turns._look.next_s = 0.0  # as if a moment had gone by
            pause_point()
        return b"file"

    monkeypatch.setattr(turns, "get_script_run_ctx", lambda **_: SimpleNamespace(session_id="window"))
    made = turns.for_session(make)
    monkeypatch.setattr(turns, "get_script_run_ctx", lambda **_: None)  # the thread of a download
    monkeypatch.setattr(turns.runtime, "exists", lambda: True)
    ask_at_pause_points(turns._look_around)
    sessions = {"window", "other"}
    monkeypatch.setattr(turns.runtime, "get_instance", lambda: SimpleNamespace(is_active_session=sessions.__contains__))
    assert made() == b"file"
    sessions.remove("window")
    steps.clear()
    with pytest.raises(turns.WindowClosedError):
        made()
    assert steps == [0]
    assert turns._look.session == ""
