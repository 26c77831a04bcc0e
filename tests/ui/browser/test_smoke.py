"""One run through the app with a real browser: pages, an edit that stays, a download, and no request to elsewhere."""

import re
from pathlib import Path

import pytest

from tests.ui.browser.driving import FIGURE, PAGES, assert_clean, figure_changed, settled, to_page, window

pytestmark = pytest.mark.browser


def test_every_page_draws_and_keeps_an_edit(page):
    settled(page)
    assert_clean(page)
    assert page.locator(FIGURE).count() == 3
    field = page.get_by_role("textbox", name="Minimum rate")
    gpus = page.locator(FIGURE).first.inner_text()
    field.fill("12000 images/s")
    field.press("Enter")
    figure_changed(page, gpus)
    fewer = page.locator(FIGURE).first.inner_text()
    for name in PAGES[1:]:
        to_page(page, name)
        assert_clean(page)
        assert page.locator(FIGURE).first.inner_text() == fewer
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


def test_back_goes_back_one_page_with_one_press(page):
    settled(page)
    for name in ("Architecture", "Bill"):
        to_page(page, name)
        page.wait_for_url(re.compile(rf"/{name.lower()}\?s="))
    page.go_back()
    page.wait_for_url(re.compile(r"/architecture\?s="))
    settled(page)
    page.go_back()
    page.wait_for_url(re.compile(r"/\?s="))
    page.get_by_role("textbox", name="Minimum rate").wait_for(timeout=30_000)


@pytest.mark.parametrize("choice", ["Bill", "Requirements"])  # another page, and the one that is shown
def test_the_menu_of_a_phone_closes_after_a_choice(chromium, address, choice):
    page = window(chromium, 390, 800)
    page.goto(address)
    settled(page)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name=choice, exact=True).first.click()
    page.wait_for_function(
        "document.querySelector('[data-testid=\"stSidebar\"]').getBoundingClientRect().right <= 0", timeout=30_000
    )
    page.context.close()


_CUT = """() => [...document.querySelectorAll('[data-testid="stCheckbox"], [data-testid="stSelectbox"]')]
    .filter(field => [...field.querySelectorAll('input, [data-testid="stMarkdownContainer"]')]
        .some(part => part.clientWidth > 20 && part.scrollWidth > part.clientWidth + 1))
    .map(field => field.innerText)"""


@pytest.mark.parametrize("width", [1024, 1440])
def test_labels_and_choices_of_the_data_form_are_read_to_their_end(chromium, address, width):
    page = window(chromium, width, 768)
    page.goto(address)
    settled(page)
    for name in ("Data on the storage", "Fabric and room"):
        page.locator("summary", has_text=name).first.click()
        page.get_by_role("button", name="Apply data settings").wait_for(timeout=30_000)
        settled(page)
    page.get_by_text("Director switches instead of another tier").wait_for(timeout=30_000)
    # Of the rack model the size is cut, which its list shows.
    assert [label for label in page.evaluate(_CUT) if not label.startswith("Rack model")] == []
    page.context.close()


_LENGTHENED = """text => {
    let part = document.querySelector('[data-testid="stMetricValue"]');
    while (part.firstElementChild) part = part.firstElementChild;
    part.textContent = text;
}"""
_CUT_FIGURES = """() => [...document.querySelectorAll('[data-testid="stMetricValue"], [data-testid="stMetricValue"] *')]
    .filter(part => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== 'visible')
    .map(part => part.innerText)"""


def test_figures_are_read_to_their_end_on_a_phone(chromium, address):
    page = window(chromium, 390, 800)
    page.goto(address)
    settled(page)
    to_page(page, "What-if")
    page.get_by_test_id("stMetricValue").first.wait_for(timeout=60_000)
    # As long as that of a language model: its rate with the interval.
    page.evaluate(_LENGTHENED, "474\u202f000 tokens/s (373\u202f000 to 601\u202f000)")
    assert page.evaluate(_CUT_FIGURES) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.context.close()


def test_the_files_come_down(page):
    to_page(page, "Document")
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
    to_page(page, "Requirements")
    field = page.get_by_role("textbox", name="Data set size")
    field.fill("<img src=x onerror=alert(1)> 1e999 TB")
    field.press("Enter")
    page.wait_for_selector('[data-testid="stAlert"]')
    assert_clean(page)
    assert page.locator('img[src="x"]').count() == 0
    settled(page)  # while the page is drawn again, the field of before is there beside the new one
    field.fill("22.2 TB")
    field.press("Enter")
    page.wait_for_selector('[data-testid="stAlert"]', state="detached")


def test_nothing_is_asked_of_another_machine(page, address):
    elsewhere = [url for url in page.asked if not url.startswith((address, "data:", "blob:", "ws://127.0.0.1"))]
    assert not elsewhere
