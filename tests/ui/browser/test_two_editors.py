"""Two people work on one saved design in two browsers: nothing of either is lost, and the second one is told."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ui.browser import driving
from tests.ui.browser.driving import FIGURE, assert_clean, figure_changed, settled, to_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

NAME = "Shared design"


def save(page: "Page", button: str, author: str, name: str = "") -> None:
    """Save through the form, under a name where the design is new."""
    page.get_by_role("button", name=button).first.click()
    form = page.get_by_test_id("stForm").first
    form.wait_for(timeout=30_000)
    if name:
        page.get_by_role("textbox", name="Name of the design").fill(name)
    page.get_by_role("textbox", name="Your name").fill(author)
    page.get_by_test_id("stFormSubmitButton").get_by_role("button").first.click()
    page.get_by_role("button", name="Saved").first.wait_for(timeout=60_000)
    settled(page)


def rate(page: "Page", text: str) -> str:
    """Enter a rate; the first figure that answers it."""
    before = page.locator(FIGURE).first.inner_text()
    field = page.get_by_role("textbox", name="Minimum rate")
    field.fill(text)
    field.press("Enter")
    figure_changed(page, before)
    return str(page.locator(FIGURE).first.inner_text())


def test_both_revisions_are_kept_and_compared(chromium: "Browser", tmp_path: Path) -> None:
    with driving.served(tmp_path) as port:
        first, second = driving.window(chromium, 1440, 900), driving.window(chromium, 1440, 900)
        first.goto(f"http://127.0.0.1:{port}")
        settled(first)
        save(first, "Save", "Ada", NAME)
        second.goto(f"http://127.0.0.1:{port}")
        settled(second)
        to_page(second, "Designs")
        second.get_by_text(NAME).first.wait_for(timeout=30_000)
        second.get_by_role("button", name="Open", exact=True).first.click()
        second.get_by_role("button", name="Saved").first.wait_for(timeout=60_000)
        to_page(second, "Requirements")
        # Both change the same revision.
        of_first, of_second = rate(first, "12000 images/s"), rate(second, "60000 images/s")
        assert of_first != of_second
        save(first, "Unsaved", "Ada")
        assert first.get_by_text("Saved as revision 2.").is_visible()
        save(second, "Unsaved", "Grace")
        told = second.get_by_text("Saved as revision 3. Meanwhile Ada saved revision 2")
        assert told.is_visible()
        assert second.locator(FIGURE).first.inner_text() == of_second
        second.get_by_role("button", name="Compare revisions 2 and 3").click()
        dialog = second.get_by_role("dialog").filter(has_text="Differences between the two revisions")
        dialog.get_by_text("12000 images/s").first.wait_for(timeout=60_000)
        assert dialog.get_by_text("60000 images/s").count() > 0
        assert_clean(second)
        # Who reloads sees what was saved, as it was.
        first.reload()
        settled(first)
        assert first.locator(FIGURE).first.inner_text() == of_first
        for window in (first, second):
            window.context.close()
