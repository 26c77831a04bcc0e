"""Three people keep working while a fourth opens the worst links that there are, and closes them again."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from sizer.base.quantities import grouped
from sizer.ui.sharing import PARAMETER
from tests.hostile.links import packed
from tests.ui.browser import driving

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
_PEOPLE = 3
# Over every platform, so that a sizing takes longer than what comes between two pause points of another.
_OPEN = {"workload": [{"dnn": "resnet50", "target": {"samples_per_s": 19_000}}]}
_PAGES = ("architecture", "performance", "bill", "")  # by their addresses; the last is Requirements


@contextmanager
def fourth(port: int) -> Iterator[None]:
    """Somebody who opens one link after the other, and closes each when the server has used some seconds."""
    command = [sys.executable, "-m", "tests.ui.browser.test_beside", str(port), str(driving.server_pid(port))]
    with subprocess.Popen(command, cwd=driving.CHECKOUT, stdout=subprocess.PIPE) as person:
        try:
            assert person.stdout is not None
            assert person.stdout.readline(), "no link was opened"
            yield
            assert person.poll() is None
        finally:
            person.terminate()


class Window:
    """A window without the browser that draws it: what one sends, and what comes until its run has ended."""

    def __init__(self, port: int, wire: ClientConnection, query: str) -> None:
        self.port, self.wire, self.query = port, wire, query
        self.page, self.pages, self.rate_field = "", {"": ""}, ""

    @classmethod
    @contextmanager
    def opened(cls, port: int, data: object) -> Iterator["Window"]:
        """A window on a link, that is closed at the end."""
        address = f"ws://127.0.0.1:{port}/_stcore/stream"
        with connect(address, subprotocols=[Subprotocol("streamlit")], max_size=None) as wire:
            yield cls(port, wire, urlencode({PARAMETER: packed(data)}))

    def ask(self, rate: str = "") -> None:
        """Ask for a run of the script, after a rate was typed or not."""
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.page_script_hash = self.pages[self.page]
        if rate:
            asked.rerun_script.widget_states.widgets.add(id=self.rate_field, string_value=rate)
        self.wire.send(asked.SerializeToString())

    def run(self, rate: str = "", shows: str = "") -> float:
        """Seconds of the server's processor until a run has ended, whose messages show a text.

        Whatever else the machine does counts in no such second.
        """
        before, text = driving.processor_s(driving.server_pid(self.port)), b""
        self.ask(rate)
        while True:
            message = self.wire.recv(timeout=driving.LONGEST_MS / 1000)
            assert isinstance(message, bytes)
            text += message
            came = ForwardMsg.FromString(message)
            for one in came.navigation.app_pages:
                self.pages[one.url_pathname] = one.page_script_hash
            if came.delta.new_element.text_input.label == "Minimum rate":
                self.rate_field = came.delta.new_element.text_input.id
            if (
                came.WhichOneof("type") == "script_finished"
                and came.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            ):
                assert shows.encode() in text
                return driving.processor_s(driving.server_pid(self.port)) - before

    def to_page(self, name: str) -> float:
        """The same of a run that draws another page."""
        self.page = name
        return self.run()


def open_link(port: int, data: object, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
    """Open a link and close it after some seconds of a clock."""
    with Window.opened(port, data) as window:
        window.ask()
        end = clock() + seconds
        while clock() < end:
            with suppress(TimeoutError):
                window.wire.recv(timeout=0.1)


def test_three_people_wait_less_than_twice_as_long_beside_a_fourth(port: int) -> None:
    with ExitStack() as people:
        windows = [people.enter_context(Window.opened(port, _OPEN)) for _ in range(_PEOPLE)]
        rates = iter(range(20_000, 30_000, 100))  # near each other, as the time of a sizing grows with them

        def wait_s() -> float:
            """Wait for other pages, and for new rates to be sized and shown: of one person after the other."""
            pages = [window.to_page(name) for name in _PAGES for window in windows]
            edits = [window.run(f"{(rate := next(rates))} images/s", grouped(rate)) for window in windows]
            return sum(pages + edits)

        for window in windows:
            window.run()
        wait_s()
        alone_s = wait_s()
        with fourth(port):
            beside_s = wait_s()
    assert beside_s < 2 * alone_s


@pytest.mark.parametrize("place", range(len(WORST)))
def test_the_work_of_a_closed_window_ends(port: int, place: int) -> None:
    """The first of them takes a minute and more of a processor."""
    open_link(port, WORST[place], _SECONDS_EACH)
    driving.wait_until_idle(port)


if __name__ == "__main__":
    port_of_it, used_s = int(sys.argv[1]), partial(driving.processor_s, int(sys.argv[2]))
    open_link(port_of_it, WORST[0], 1)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    while True:
        for data in WORST:
            open_link(port_of_it, data, _SECONDS_EACH, used_s)
