"""The app with a real browser: the way back, a phone, labels and figures read to their end, and bad text."""

import re

import pytest

from tests.ui.browser.driving import assert_clean, settled, to_page, window

pytestmark = pytest.mark.browser


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
    page.get_by_role("textbox", name="Minimum rate").wait_for()


@pytest.mark.parametrize("choice", ["Bill", "Requirements"])  # another page, and the one that is shown
def test_the_menu_of_a_phone_closes_after_a_choice(chromium, address, choice):
    page = window(chromium, 390, 800)
    page.goto(address)
    settled(page)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name=choice, exact=True).first.click()
    page.wait_for_function("document.querySelector('[data-testid=\"stSidebar\"]').getBoundingClientRect().right <= 0")
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
        page.get_by_role("button", name="Apply data on the storage").wait_for()
        settled(page)
    page.get_by_text("Director switches instead of another tier").wait_for()
    # Of the rack model the size is cut, which its list shows.
    assert [label for label in page.evaluate(_CUT) if not label.startswith("Rack model")] == []
    page.context.close()


_LENGTHENED = """text => {
    let part = document.querySelector('[data-testid="stMetricValue"]');
    while (part.firstElementChild) part = part.firstElementChild;
    part.textContent = text;
}"""
_CUT_FIGURES = """() => [...document.querySelectorAll('[data-testid="stMetricValue"], [data-testid="stMetricValue"] *')]
    .filter(part => part.getBoundingClientRect().right > window.innerWidth ||
        part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== 'visible')
    .map(part => part.innerText)"""


def test_figures_are_read_to_their_end_on_a_phone(chromium, address):
    page = window(chromium, 390, 800)
    page.goto(address)
    settled(page)
    to_page(page, "What-if")
    page.get_by_test_id("stMetricValue").first.wait_for()
    # As long as that of a language model: its rate with the interval.
    page.evaluate(_LENGTHENED, "474\u202f000 tokens/s (373\u202f000 to 601\u202f000)")
    assert page.evaluate(_CUT_FIGURES) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.context.close()


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
