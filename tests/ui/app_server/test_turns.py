"""Calculations of a closed session end, and long ones give way to short ones of other sessions."""

import threading
import time

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import StopException

from sizer.base.streams import ask_at_pause_points, pause_point
from sizer.export.design_json import design_document
from sizer.sizing.size import size
from sizer.ui.app_server import turns
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog


@pytest.fixture(autouse=True)
def _nothing_stays():
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


def run_in_a_thread(begin: threading.Event, end: threading.Event) -> threading.Thread:
    def run() -> None:
        with turns.run_of_the_script():
            begin.set()
            end.wait(60)

    thread = threading.Thread(target=run)
    thread.start()
    begin.wait(60)
    return thread


def use_the_processor(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1_000))


def test_a_run_gives_way_to_one_that_has_used_less_until_that_has_ended():
    with turns.run_of_the_script():
        use_the_processor(3 * turns.LEAD_S)
        assert not turns._gives_way()  # nobody else is there
        end = threading.Event()
        other = run_in_a_thread(threading.Event(), end)
        assert turns._gives_way()
        end.set()
        other.join()
        assert not turns._gives_way()


def test_a_run_that_has_just_begun_gives_way_to_nobody():
    use_the_processor(3 * turns.LEAD_S)  # what the thread did before does not count
    end = threading.Event()
    other = run_in_a_thread(threading.Event(), end)
    with turns.run_of_the_script():
        assert not turns._gives_way()
    end.set()
    other.join()


def test_a_run_that_waits_for_something_else_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(turns, "_WAITING_S", 0.0)
    end = threading.Event()
    other = run_in_a_thread(threading.Event(), end)
    end.wait(0.5)  # it has used next to nothing of this
    with turns.run_of_the_script():
        use_the_processor(3 * turns.LEAD_S)
        assert not turns._gives_way()
    end.set()
    other.join()


class _Server:
    """A server that knows some sessions."""

    def __init__(self, *sessions: str) -> None:
        self.sessions = sessions

    def is_active_session(self, session: str) -> bool:
        return session in self.sessions


def test_a_file_is_not_made_to_its_end_for_a_closed_window(monkeypatch):
    """While the window is open it is made; once its session is gone, the next pause point ends it."""
    steps: list[int] = []

    def make() -> bytes:
        for step in range(3):
            steps.append(step)
            turns._look.next_s = 0.0  # as if a moment had gone by
            pause_point()
        return b"file"

    class _Context:
        session_id = "window"

    monkeypatch.setattr(turns, "get_script_run_ctx", lambda **_: _Context())
    made = turns.for_session(make)
    monkeypatch.setattr(turns, "get_script_run_ctx", lambda **_: None)  # the thread of a download
    monkeypatch.setattr(turns.runtime, "exists", lambda: True)
    ask_at_pause_points(turns._look_around)
    monkeypatch.setattr(turns.runtime, "get_instance", lambda: _Server("window", "other"))
    assert made() == b"file"
    monkeypatch.setattr(turns.runtime, "get_instance", lambda: _Server("other"))
    steps.clear()
    with pytest.raises(turns.WindowClosedError):
        made()
    assert steps == [0]
    assert turns._look.session == ""
