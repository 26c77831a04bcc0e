"""One run through the app with a real browser: pages, an edit that stays, a download, and no request to elsewhere."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
sync_api = pytest.importorskip("playwright.sync_api")

CHROMIUM = os.environ.get("SIZER_CHROMIUM", "")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync"]  # fmt: skip
PAGES = ("Architecture", "Performance", "Bill", "Document")


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server as ``sizer app`` starts it, in a folder without settings of its own."""
    port = free_port()
    code = f"from sizer.ui.start import run; run({port}, None)"
    folder = tmp_path_factory.mktemp("elsewhere")
    checkout = str(Path(__file__).parents[3])
    server = subprocess.Popen([sys.executable, "-c", code], cwd=folder, env={**os.environ, "PYTHONPATH": checkout})
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                assert server.poll() is None, "the server ended"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.fixture(scope="module")
def page(address: str) -> Iterator["sync_api.Page"]:
    """A browser window on the app; addresses asked for are kept in ``page.asked``."""
    if not CHROMIUM:
        pytest.skip("SIZER_CHROMIUM names no browser")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        window = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True).new_page()
        window.asked = []
        window.on("request", lambda request: window.asked.append(request.url))
        window.goto(address)
        yield window
        browser.close()


def settled(page: "sync_api.Page") -> None:
    """Wait for the headline, then for the server to be done with the page."""
    page.wait_for_selector('[data-testid="stMetric"]', timeout=60_000)
    page.wait_for_function("!document.querySelector('[data-testid=\"stStatusWidget\"]')", timeout=60_000)


def assert_clean(page: "sync_api.Page") -> None:
    """No exception, no raw markup, nothing wider than the window."""
    assert page.locator('[data-testid="stException"]').count() == 0
    text = page.inner_text('[data-testid="stMain"]')
    assert re.findall(r"\b(?:Traceback|nan|inf|None|undefined)\b|\w+Error\b|&lt;", text) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_every_page_draws_and_keeps_an_edit(page):
    settled(page)
    assert_clean(page)
    assert page.locator('[data-testid="stMetric"]').count() >= 7
    field = page.get_by_role("textbox", name="Rate, at least")
    gpus = page.locator('[data-testid="stMetricValue"]').first.inner_text()
    field.fill("12000 images/s")
    field.press("Enter")
    page.wait_for_function(
        "before => document.querySelector('[data-testid=\"stMetricValue\"]').innerText !== before",
        arg=gpus,
        timeout=30_000,
    )
    fewer = page.locator('[data-testid="stMetricValue"]').first.inner_text()
    for name in PAGES:
        page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_url(f"**/{name.lower()}")
        settled(page)
        assert_clean(page)
        assert page.locator('[data-testid="stMetricValue"]').first.inner_text() == fewer
        if name == "Architecture":
            page.wait_for_selector("svg.drawing text")
        if name == "Performance":
            page.wait_for_selector(
                '[data-testid="stVegaLiteChart"] canvas, [data-testid="stVegaLiteChart"] svg', timeout=30_000
            )
    page.get_by_role("link", name="Requirements", exact=True).first.click()
    # The page is drawn anew, and its fields are empty until their values have come.
    page.wait_for_function("field => field.value === '12000 images/s'", arg=field.element_handle(), timeout=30_000)
    settled(page)


def test_the_files_come_down(page):
    page.get_by_role("link", name="Document", exact=True).first.click()
    settled(page)
    for label, start, ending in (
        ("Design, JSON", b"{", ".json"),
        ("Bill, workbook", b"PK", ".xlsx"),
        ("Guide, web page", b"<!", ".html"),
    ):
        with page.expect_download(timeout=60_000) as download:
            page.get_by_role("button", name=label).click()
        assert download.value.suggested_filename.endswith(ending)
        assert Path(download.value.path()).read_bytes().lstrip()[:2].startswith(start)


def test_bad_text_is_answered_in_words(page):
    page.get_by_role("link", name="Requirements", exact=True).first.click()
    settled(page)
    field = page.get_by_role("textbox", name="Data set size")
    field.fill("<img src=x onerror=alert(1)> 1e999 TB")
    field.press("Enter")
    page.wait_for_selector('[data-testid="stAlert"]')
    assert_clean(page)
    assert page.locator('img[src="x"]').count() == 0
    field.fill("22.2 TB")
    field.press("Enter")
    page.wait_for_selector('[data-testid="stAlert"]', state="detached")


def test_nothing_is_asked_of_another_machine(page, address):
    elsewhere = [url for url in page.asked if not url.startswith((address, "data:", "blob:", "ws://127.0.0.1"))]
    assert not elsewhere
