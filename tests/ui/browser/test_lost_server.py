"""The server goes while people work: their windows come back by themselves, with everything that was entered."""

import sqlite3
from pathlib import Path

import pytest

from tests.ui.browser import driving
from tests.ui.browser.driving import FIGURE, assert_clean, figure_changed, settled, to_page

pytestmark = pytest.mark.browser

RATE = "Minimum rate"


def typed(page, rate: str) -> str:
    """Enter a rate; the first figure that answers it."""
    before = page.locator(FIGURE).first.inner_text()
    field = page.get_by_role("textbox", name=RATE)
    field.fill(rate)
    field.press("Enter")
    figure_changed(page, before)
    return page.locator(FIGURE).first.inner_text()


def test_a_restart_loses_no_entry(chromium, tmp_path: Path) -> None:
    page = driving.window(chromium, 1440, 900)
    with driving.served(tmp_path) as port:
        page.goto(f"http://127.0.0.1:{port}")
        settled(page)
        field = page.get_by_role("textbox", name="Describe the need")
        field.fill("ResNet-50 at 12,000 images/s on DGX-1 with F800")
        page.get_by_role("button", name="Size it").click()
        page.locator(".st-key-chips").wait_for()
        settled(page)
        shown, address = page.locator(FIGURE).all_inner_texts(), page.url
    # What cannot be sent cannot be typed either.
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-testid=\"stMain\"] input')].every(one => one.disabled)",
    )
    with driving.served(tmp_path, port):
        page.get_by_text("The server was restarted.").wait_for()  # it goes after some seconds
        # Without a hand on it, the window gets a session of its own again, whose name is another one.
        page.wait_for_function("before => window.location.href !== before", arg=address)
        settled(page)
        assert page.locator(FIGURE).all_inner_texts() == shown
        assert page.get_by_role("textbox", name="Describe the need").input_value().startswith("ResNet-50 at 12,000")
        assert typed(page, "30000 images/s") != shown[0]
        assert_clean(page)
        to_page(page, "Bill")
        assert_clean(page)
    assert oct((tmp_path / "designs-sessions.sqlite").stat().st_mode)[-3:] == "600"
    page.context.close()


def test_an_expired_session_says_so(chromium, tmp_path: Path) -> None:
    page = driving.window(chromium, 1440, 900)
    with driving.served(tmp_path) as port:
        page.goto(f"http://127.0.0.1:{port}")
        settled(page)
        typed(page, "12000 images/s")
    with sqlite3.connect(tmp_path / "designs-sessions.sqlite") as connection:
        connection.execute("DELETE FROM session")
    with driving.served(tmp_path, port):
        page.get_by_text("has expired or belongs to another browser").wait_for()
        settled(page)
        # A new session works as any other.
        typed(page, "20000 images/s")
        assert page.get_by_text("has expired or belongs to another browser").count() == 0
        assert_clean(page)
    page.context.close()
