"""The app in a real browser: starting the server, opening windows, waiting until a page is drawn."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("SIZER_CHROMIUM", "")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP sizer.test 127.0.0.1",
]
# A name of this machine that the browser alone knows; RFC 6761 sets its ending aside for tests.
HOST = "sizer.test"
CHECKOUT = Path(__file__).parents[3]
# All pages by the words of their links; Requirements comes first.
PAGES = (
    "Requirements",
    "Architecture",
    "Performance",
    "What-if",
    "Bill",
    "Document",
    "Compare",
    "Designs",
    "Evidence",
    "Catalogue",
)
# One number of the headline, which stands on every page that has an answer; "More" beside them is none.
FIGURE = ".st-key-headline [class*='st-key-figure-'] [data-testid='stPopover'] button"
# Of everything that is waited for: what is wrong never comes, what is slow is a matter of the benchmarks. On a machine
# with other work it takes as many times longer as processes wait for each processor.
LONGEST_MS = round(300_000 * max(1.0, os.getloadavg()[1] / (os.cpu_count() or 1)))
# Asked at every frame, the browser would draw frames all the time, and take the processor from the server.
_POLLING_MS = 100
_IDLE_SECONDS, _IDLE_SHARE = 20, 0.3
_servers: dict[int, "subprocess.Popen[bytes]"] = {}


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(folder: Path, port: int | None = None, **variables: str) -> Iterator[int]:
    """The server as ``sizer app`` starts it, in a folder without settings of its own; its port.

    Parameters
    ----------
    folder : Path
        Where it starts and keeps its designs.
    port : int, optional
        Port of a server that was there before; default any free one.
    variables : str
        Variables of its environment.
    """
    port = port or free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SIZER_")},
        "PYTHONPATH": str(CHECKOUT),
        "SIZER_APP_PORT": str(port),
        "SIZER_LIBRARY": str(folder / "designs.sqlite"),
        **variables,
    }
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("serve.py")), "app"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
        )
        _servers[port] = server
        try:
            _wait_for(server, port, variables.get("SIZER_APP_BASE_PATH", "").strip("/"))
            yield port
        finally:
            server.terminate()
            try:
                server.wait(timeout=LONGEST_MS / 1000)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                raise


def _wait_for(server: "subprocess.Popen[bytes]", port: int, base_path: str) -> None:
    url = f"http://127.0.0.1:{port}/{base_path}{'/' if base_path else ''}_stcore/health"
    end = time.monotonic() + LONGEST_MS / 1000
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, "the server ended"
            time.sleep(0.1)
    raise AssertionError(f"{url} did not answer within {LONGEST_MS / 1000} s")


def socket_status(port: int, host: str, path: str = "", origin: str = "") -> bytes:
    """First line of the answer to a web socket; without ``origin`` that of a page of the host, as after a rebinding."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        wire.sendall(
            (
                f"GET {f'/{path}' if path else ''}/_stcore/stream HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                f"Sec-WebSocket-Version: 13\r\nOrigin: {origin or f'http://{host}'}\r\n\r\n"
            ).encode()
        )
        return wire.recv(200).split(b"\r\n")[0]


def server_pid(port: int) -> int:
    """Process of the server at a port."""
    return _servers[port].pid


def processor_s(pid: int) -> float:
    """Processor time that a process has used so far, of all its threads. [s]"""
    # The clock that clock_getcpuclockid(3) of the C library names, which Python has for threads only.
    return time.clock_gettime(~pid << 3 | 2)


def wait_until_idle(port: int) -> None:
    """Wait until the server at a port uses little of a processor."""
    for _ in range(_IDLE_SECONDS):
        before = processor_s(server_pid(port))
        time.sleep(1)
        if processor_s(server_pid(port)) - before < _IDLE_SHARE:
            return
    raise AssertionError(f"the server still works after {_IDLE_SECONDS} s")


@contextmanager
def browser() -> Iterator["Browser"]:
    """Chromium; the test is skipped where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM:
        pytest.skip("SIZER_CHROMIUM names no browser")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


def window(of: "Browser", width: int = 1280, height: int = 720, scheme: str = "light") -> "Page":
    """A window in a session of its own; addresses asked for are kept in ``page.asked``."""
    context = of.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True, reduced_motion="reduce"
    )
    context.set_default_timeout(LONGEST_MS)
    page = context.new_page()
    page.asked, page.script_runs = [], 0
    page.on("websocket", lambda wire: wire.on("framereceived", lambda message: _count_runs(page, message)))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


def _count_runs(page: "Page", message: str | bytes) -> None:
    """Count the runs of the script that begin, as the server tells them: a page that is busy shows no short one."""
    if isinstance(message, bytes) and ForwardMsg.FromString(message).WhichOneof("type") == "new_session":
        page.script_runs += 1


# Done with the page: no script runs, nothing is dim because it waits to be drawn anew, every chart and table in sight
# is drawn, and so for a while, since between two runs the page is quiet for a moment, too.
_CALM = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const drawn = [...document.querySelectorAll('[data-testid="stVegaLiteChart"], [data-testid="stDataFrame"]')];
    const busy = !app || app.getAttribute('data-test-script-state') === 'running' || document.querySelector(
        '[data-testid="stStatusWidget"], [data-stale="true"]') ||
        drawn.some(one => one.checkVisibility() && !one.querySelector('canvas, svg'));
    window.calmSince = busy ? null : window.calmSince ?? performance.now();
    return !busy && performance.now() - window.calmSince > 500;
}"""


def settled(page: "Page") -> None:
    """Wait for the headline or an open question, in whose place it is folded; then until the server is done."""
    page.wait_for_selector(f"{FIGURE}:visible, .st-key-question")
    page.evaluate("() => { window.calmSince = null; }")
    page.wait_for_function(_CALM, polling=_POLLING_MS)


def figures(page: "Page") -> list[str]:
    """The numbers of the headline, without the arrow of the button, which the style sheet takes away a moment later.

    A tile breaks lines where one row does not.
    """
    return [" ".join(one.split()) for one in page.locator(f"{FIGURE} p").all_inner_texts()]


@contextmanager
def rerun(page: "Page") -> Iterator[None]:
    """What is done inside starts a run of the script; afterwards its result is drawn."""
    before, end = page.script_runs, time.monotonic() + LONGEST_MS / 1000
    yield
    while page.script_runs == before:
        assert time.monotonic() < end, "no run of the script began"
        page.wait_for_timeout(_POLLING_MS)
    settled(page)


def figure_changed(page: "Page", before: str) -> None:
    """Wait until the first number of the headline is another one, which is missing while it is drawn anew."""
    page.wait_for_function(
        "([selector, before]) => (document.querySelector(selector)?.innerText ?? before) !== before",
        arg=[FIGURE, before],
        polling=_POLLING_MS,
    )
    settled(page)


def follow(page: "Page", name: str) -> None:
    """The link to another page, which may stand in the menu of those that found no room, or of a phone."""
    link = page.get_by_role("link", name=name, exact=True).first
    menu = page.get_by_test_id("stExpandSidebarButton")
    if menu.is_visible():
        menu.click()
        link.wait_for()
    elif not link.is_visible():
        page.get_by_text(re.compile(r"^\d+ more$")).first.click()
        link = page.get_by_role("menuitem", name=name, exact=True)
    link.click()
    page.wait_for_url(re.compile(rf"/{name.lower() if name != PAGES[0] else ''}(\?.*)?$"))


def to_page(page: "Page", name: str) -> None:
    """Another page, drawn."""
    follow(page, name)
    settled(page)


def type_into_cell(page: "Page", column: str, text: str) -> None:
    """Type digits into a column of the first grid, in the row that is selected; Enter would take them.

    Inside its canvas the grid has a table for screen readers, which tells the cell that keys act on.
    """
    grid = page.get_by_test_id("stDataFrame").first.locator("canvas").first
    header = grid.locator("th", has_text=column)
    grid.focus()
    selected = grid.locator("td[aria-selected='true']").first
    selected.wait_for(state="attached")
    while True:
        at = int(selected.get_attribute("aria-colindex") or 0)
        # Columns beyond the edge of the window are not in the table before the selection comes near them.
        wanted = int(header.get_attribute("aria-colindex") or 0) if header.count() else at + 1
        if at == wanted:
            break
        page.keyboard.press("ArrowRight" if at < wanted else "ArrowLeft")
        following = at + 1 if at < wanted else at - 1
        grid.locator(f"td[aria-colindex='{following}'][aria-selected='true']").wait_for(state="attached")
    page.keyboard.press("Enter")
    editor = page.locator("#portal textarea, #portal input").first
    editor.fill(text)  # keys that come before the editor has the focus are lost
    page.wait_for_function(
        "([one, text]) => one.value.replace(/\\D/g, '') === text", arg=[editor.element_handle(), text]
    )


def assert_clean(page: "Page") -> None:
    """No exception, no raw markup, nothing wider than the window."""
    assert page.locator('[data-testid="stException"]').count() == 0
    text = page.inner_text('[data-testid="stMain"]')
    # "None is pinned" is a sentence, None alone a value that nobody put into words.
    assert re.findall(r"\b(?:Traceback|nan|inf|undefined|None(?! (?:is|are|of)))\b|\w+Error\b|&lt;", text) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
