"""What a person waits for in the browser: the first page of a warm server, a rerun after an edit, another page.

SIZER_CHROMIUM=$(tools/chromium.sh) .venv/bin/pytest tests/bench/test_app.py --benchmark-only
"""

from typing import TYPE_CHECKING

import pytest

from sizer.base.quantities import grouped
from tests.ui.browser import conftest, driving
from tests.ui.browser.driving import FIGURE, settled, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROUNDS = 10
# Head of each page, which the page draws itself.
HEADS = {
    "Architecture": "The design and its neighbours",
    "Performance": "What limits it",
    "What-if": "What would change it",
    "Bill": "Bill of materials",
    "Document": "Files",
    "Designs": "Designs",
    "Catalogue": "Catalogue",
}


# The server and the browser of the browser tests.
address, chromium = conftest.address, conftest.chromium


@pytest.fixture(scope="module")
def page(address: str, chromium: "Browser") -> "Page":
    found = window(chromium)
    found.goto(address)
    settled(found)
    return found


def test_first_page_of_a_warm_server(benchmark, page, chromium, address) -> None:
    """Until the numbers stand there, in a window whose cache is warm but whose session is new. Asked: 1 s."""
    context = chromium.new_context()

    def open_it() -> None:
        fresh = context.new_page()
        fresh.goto(address)
        fresh.wait_for_selector(FIGURE)
        fresh.close()

    benchmark.pedantic(open_it, rounds=ROUNDS, warmup_rounds=1)


def test_rerun_after_an_edit(benchmark, page) -> None:
    """From Enter to the echo of the new number; every request is one that was never sized. Asked: 0.3 s."""
    field = page.get_by_role("textbox", name="Rate, at least")
    rates = iter(range(20_000, 60_000, 1_700))

    def type_it() -> tuple[tuple[str], dict[str, object]]:
        settled(page)
        rate = next(rates)
        field.fill(f"{rate} images/s")
        return (f"read as {grouped(rate)}",), {}

    def enter(echo: str) -> None:
        field.press("Enter")
        page.get_by_text(echo).wait_for()

    benchmark.pedantic(enter, setup=type_it, rounds=ROUNDS)


@pytest.mark.parametrize("name", HEADS)
def test_another_page(benchmark, page, name) -> None:
    """From the click to the page's own head, for a page that was looked at before. Asked: 0.5 s."""

    def leave() -> None:
        driving.to_page(page, "Requirements")

    def switch() -> None:
        page.get_by_role("link", name=name, exact=True).first.click()
        page.get_by_role("heading", name=HEADS[name], exact=True).first.wait_for()

    driving.to_page(page, name)
    benchmark.pedantic(switch, setup=leave, rounds=ROUNDS)
