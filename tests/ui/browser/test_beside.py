"""Three people keep working while a fourth opens the worst links that there are, and closes them again."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from sizer.ui.sharing import PARAMETER
from tests.hostile.links import packed
from tests.ui.browser import driving
from tests.ui.browser.driving import FIGURE, settled, to_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORKLOAD = {"dnn": "resnet50", "target": {"gpus_busy": 8}}


def _jobs(per_day: float, count: int = 1) -> dict[str, object]:
    jobs = [{"name": f"Jobs {n}", "gpus": 1, "jobs_a_day": per_day / count, "duration_s": "5 h"} for n in range(count)]
    return {"wait_s": "30 min", "order": "backfill", "job": jobs}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The app on this machine."""
    with driving.served(tmp_path_factory.mktemp("beside")) as found:
        yield found


# Each takes seconds to a minute of a processor, or is refused; the slowest that the bounds of a request allow.
WORST: tuple[dict[str, object], ...] = (
    {"workload": [WORKLOAD], "team": _jobs(3_000)},
    {"workload": [{"name": f"w{n}", "dnn": "resnet50", "target": {"samples_per_s": 5_000 + n}} for n in range(20)]},
    {
        "workload": [
            {"name": f"m{n}", "dnn": "llama-3-70b", "tokens": 1e12, "target": {"time_to_train_s": f"{30 + n} d"}}
            for n in range(20)
        ]
    },
    {"workload": [WORKLOAD], "team": _jobs(3_900, 20)},
    {
        "workload": [{"name": f"w{n}", "dnn": "resnet50", "target": {"samples_per_s": 5_000 + n}} for n in range(9)],
        "growth": {"years": 10, "target": 1.5, "data": 1.4},
    },
    {"workload": [0] * 15_000},
    dict.fromkeys((f"key{n}" for n in range(1_500)), 1),
)
_SECONDS_EACH = 4
_ROUNDS = 2
_PEOPLE = 3
_PAGES = ("Architecture", "Performance", "Bill", "Requirements")
# Time that ``settled`` waits to be sure.
_CALM_S = 0.5


@contextmanager
def fourth(port: int) -> Iterator[None]:
    """Somebody who opens one link after the other, and closes each after some seconds."""
    command = [sys.executable, "-m", "tests.ui.browser.test_beside", str(port)]
    with subprocess.Popen(command, cwd=driving.CHECKOUT, stdout=subprocess.PIPE) as person:
        try:
            assert person.stdout is not None
            assert person.stdout.readline(), "no link was opened"
            yield
            assert person.poll() is None
        finally:
            person.terminate()


def open_link(port: int, data: object, seconds: float) -> None:
    """Open a link as a browser does, without drawing what comes: the machine has enough to do with three browsers."""
    asked = BackMsg()
    asked.rerun_script.query_string = urlencode({PARAMETER: packed(data)})
    with connect(
        f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=[Subprotocol("streamlit")], max_size=None
    ) as wire:
        wire.send(asked.SerializeToString())
        end = time.monotonic() + seconds
        with suppress(TimeoutError):
            while True:
                wire.recv(timeout=max(end - time.monotonic(), 0.001))


def timed_pages(windows: "list[Page]") -> list[float]:
    """Seconds of every change of page, of one person after the other."""
    times = []
    for name in _PAGES:
        for window in windows:
            start = time.perf_counter()
            to_page(window, name)
            times.append(time.perf_counter() - start - _CALM_S)
    return times


def timed_edits(windows: "list[Page]", rates: Iterator[int]) -> list[float]:
    """Seconds until a new rate is sized and shown, of one person after the other."""
    times = []
    for window in windows:
        before = window.locator(FIGURE).first.inner_text()
        field = window.get_by_role("textbox", name="Minimum rate")
        field.fill(f"{next(rates)} images/s")
        start = time.perf_counter()
        field.press("Enter")
        window.wait_for_function(
            "([figure, before]) => document.querySelector(figure)?.innerText !== before", arg=[FIGURE, before]
        )
        settled(window)
        times.append(time.perf_counter() - start - _CALM_S)
    return times


def test_three_people_wait_less_than_twice_as_long_beside_a_fourth(port: int, chromium: "Browser") -> None:
    windows = [driving.window(chromium) for _ in range(_PEOPLE)]
    for window in windows:
        window.goto(f"http://127.0.0.1:{port}/")
        settled(window)
    rates = iter(range(20_000, 10**6, 10_000))
    timed_pages(windows)
    idle: tuple[list[float], list[float]] = ([], [])
    beside: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):  # in turn, so that what else the machine does counts for both
        for pages, edits in (idle, beside):
            if pages is idle[0]:
                pages += timed_pages(windows)
                edits += timed_edits(windows, rates)
            else:
                with fourth(port):
                    pages += timed_pages(windows)
                    edits += timed_edits(windows, rates)
    medians = [
        (statistics.median(alone), statistics.median(with_fourth))
        for alone, with_fourth in zip(idle, beside, strict=True)
    ]
    told = "; ".join(
        f"{kind}: {alone:.2f} s alone, {with_fourth:.2f} s beside"
        for kind, (alone, with_fourth) in zip(("page", "edit"), medians, strict=True)
    )
    sys.stderr.write(f"{told}\n")
    assert all(with_fourth < 2 * alone for alone, with_fourth in medians), told


@pytest.mark.parametrize("place", range(len(WORST)))
def test_the_work_of_a_closed_window_ends(port: int, place: int) -> None:
    """The first of them takes a minute and more of a processor."""
    open_link(port, WORST[place], _SECONDS_EACH)
    driving.wait_until_idle(port)


if __name__ == "__main__":
    open_link(int(sys.argv[1]), WORST[0], 1)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    while True:
        for data in WORST:
            open_link(int(sys.argv[1]), data, _SECONDS_EACH)
