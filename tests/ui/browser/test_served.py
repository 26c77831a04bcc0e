"""The app as a team gets it: under a path, by another name than the server's; tests/proxy has the proxy."""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.ui.browser import driving
from tests.ui.browser.driving import FIGURE, HOST, PAGES, assert_clean, figure_changed, settled, to_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

MEGABYTE = 1_000_000


class Served(NamedTuple):
    """Where the app answers."""

    port: int
    path: str

    @property
    def address(self) -> str:
        """As the browser of a colleague writes it."""
        return f"http://{HOST}:{self.port}/{self.path}/"


@pytest.fixture(scope="module", params=["sizer", "tools/sizer"])
def team(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The app under a path of one or two parts."""
    path = str(request.param)
    folder = tmp_path_factory.mktemp("team")
    with driving.served(folder, SIZER_APP_BASE_PATH=f"/{path}/", SIZER_APP_HOSTS=HOST) as port:
        yield Served(port, path)


@pytest.fixture(scope="module")
def page(team: Served, chromium: "Browser") -> "Page":
    """A colleague's window; statuses of all answers are kept in ``page.answers``."""
    window = driving.window(chromium)
    window.answers = {}
    window.on("response", lambda response: window.answers.update({response.url: response.status}))
    window.goto(team.address)
    return window


def status(url: str) -> int:
    """Status of an answer."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_health_answers_under_the_path_only(team):
    assert status(f"http://127.0.0.1:{team.port}/{team.path}/_stcore/health") == 200
    assert status(f"http://127.0.0.1:{team.port}/_stcore/health") == 404


def test_the_command_asks_for_health(team):
    environment = {**os.environ, "SIZER_APP_PORT": str(team.port), "PYTHONPATH": str(driving.CHECKOUT)}
    command = [sys.executable, "-m", "sizer.cli", "app", "--check", "--base-path", team.path]
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=driving.LONGEST_MS / 1000)
    assert (asked.returncode, asked.stdout.strip()[-4:]) == (0, ": ok")
    environment["SIZER_APP_PORT"] = str(driving.free_port())
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=driving.LONGEST_MS / 1000)
    assert (asked.returncode, asked.stderr.count("\n")) == (7, 1)
    assert "no answer" in asked.stderr


def test_pages_fonts_and_an_edit_under_the_path(page, team):
    settled(page)
    assert_clean(page)
    assert page.locator(FIGURE).count() == 3
    page.evaluate("document.fonts.ready.then(() => true)")
    assert page.evaluate("[...document.fonts].some(font => font.family === 'Inter' && font.status === 'loaded')")
    before = page.locator(FIGURE).first.inner_text()
    field = page.get_by_role("textbox", name="Minimum rate")
    field.fill("12000 images/s")
    field.press("Enter")
    figure_changed(page, before)
    after = page.locator(FIGURE).first.inner_text()
    for name in PAGES[1:]:
        to_page(page, name)
        assert_clean(page)
        assert page.url.startswith(f"{team.address}{name.lower()}")
        assert page.locator(FIGURE).first.inner_text() == after
        if name == "Architecture":
            page.wait_for_selector("svg.drawing text")
        if name == "Performance":
            page.wait_for_selector('[data-testid="stVegaLiteChart"] canvas, [data-testid="stVegaLiteChart"] svg')
    page.get_by_role("link", name="Requirements", exact=True).first.click()
    # The page is drawn anew, and its fields are empty until their values have come.
    page.wait_for_function("field => field.value === '12000 images/s'", arg=field.element_handle())
    settled(page)


def test_an_address_of_a_page_opens_that_page(page, team):
    page.goto(f"{team.address}catalogue?part=sx6036")
    settled(page)
    page.wait_for_selector("h3:has-text('SX6036')")


def test_upload_and_download_under_the_path(page, team):
    page.goto(team.address)
    settled(page)
    example = (driving.CHECKOUT / "examples" / "small-team.toml").read_bytes()
    page.get_by_role("button", name="Open a request").click()
    upload = page.locator('input[type="file"]').first
    upload.set_input_files({"name": "mine.toml", "mimeType": "text/plain", "buffer": example})
    title = re.search(r'^title = "(.+)"', example.decode(), flags=re.M)
    assert title is not None
    page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=title.group(1))
    settled(page)
    to_page(page, "Document")
    with page.expect_download() as download:
        page.get_by_role("button", name="Design, JSON").click()
    assert Path(download.value.path()).read_bytes().startswith(b"{")


def test_nothing_outside_the_path_is_asked_for(page, team):
    places = (team.address, "data:", "blob:", team.address.replace("http://", "ws://", 1))
    # Before it knows the path, the page looks for the server in the parts of its address.
    looked_for = re.compile(rf"http://{HOST}:{team.port}/.*_stcore/(health|host-config)$")
    assert [url for url in page.asked if not url.startswith(places) and not looked_for.match(url)] == []
    failed = {url: code for url, code in page.answers.items() if code >= 400 and not looked_for.match(url)}
    assert failed == {}


def test_a_page_of_another_origin_gets_no_session_and_nobody_is_asked_about_it(team):
    assert b" 101 " in driving.socket_status(team.port, f"{HOST}:{team.port}", team.path)
    started = time.monotonic()
    assert b" 403 " in driving.socket_status(team.port, f"{HOST}:{team.port}", team.path, "http://elsewhere.test")
    # Asking a service on the internet for the server's outer address would take seconds where there is none.
    assert time.monotonic() - started < 2


def test_a_file_above_the_limit_is_not_taken(chromium, tmp_path):
    with driving.served(tmp_path, SIZER_APP_MAX_UPLOAD_MB="1") as port:
        window = driving.window(chromium)
        window.goto(f"http://127.0.0.1:{port}")
        settled(window)
        window.get_by_role("button", name="Open a request").click()
        window.locator('input[type="file"]').first.set_input_files(
            {"name": "big.toml", "mimeType": "text/plain", "buffer": b"#" * 3 * MEGABYTE}
        )
        window.wait_for_selector("text=/must be 1.*MB or smaller|larger than/i")
        assert_clean(window)
