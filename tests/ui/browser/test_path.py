"""The whole path with a real browser, as a presales engineer walks it: from one sentence to files that open."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable

import openpyxl
import pikepdf
import pytest
from pptx import Presentation

from tests.ui.browser import driving
from tests.ui.browser.driving import FIGURE, assert_clean, settled, to_page, window

pytestmark = pytest.mark.browser

SENTENCE = "Train ResNet-50 on 22 TB of images of 113 kB at 40000 images/s on DGX-1 with F800"
NAME = "Path of the test"


def pages(content: bytes) -> int:
    """Pages of a PDF."""
    with pikepdf.open(io.BytesIO(content)) as pdf:
        return len(pdf.pages)


def csv_rows(content: bytes, delimiter: str = ",") -> int:
    """Rows of a CSV file, all of one length."""
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=delimiter))
    return len(rows) if len({len(row) for row in rows if row}) <= 2 else 0


def zip_members(content: bytes) -> int:
    """Files in a ZIP, each of which is whole."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return len(archive.namelist())


# Label of the button -> how the file is opened, and the least that is in it.
FILES: dict[str, tuple[Callable[[bytes], int], int]] = {
    "Guide, PDF": (pages, 10),
    "Engineer's file, PDF": (pages, 20),
    "Summary, PDF": (pages, 1),
    "Guide, web page": (lambda content: content.count(b"<table"), 10),
    "Bill, workbook": (lambda content: len(openpyxl.load_workbook(io.BytesIO(content)).sheetnames), 5),
    "Bill, CSV": (csv_rows, 10),
    "Bill, CSV (;)": (lambda content: csv_rows(content, ";"), 10),
    "Cable list, CSV": (csv_rows, 20),
    "Address plan, CSV": (csv_rows, 20),
    "NetBox import, ZIP": (zip_members, 3),
    "Slides, PowerPoint": (lambda content: len(Presentation(io.BytesIO(content)).slides), 8),
    "Archive, PDF/A": (pages, 10),
    "Design, JSON": (lambda content: len(json.loads(content)), 5),
}


def figures(page) -> list[str]:
    """Values of the headline."""
    settled(page)
    return driving.figures(page)


def test_a_sentence_becomes_a_design(page):
    settled(page)
    before = figures(page)
    field = page.get_by_role("textbox", name="Describe the need")
    field.fill(SENTENCE)
    page.get_by_role("button", name="Size it").click()
    page.get_by_role("button", name="40000 images/s").first.wait_for()
    assert figures(page) != before
    assert_clean(page)


def test_a_fold_stays_open_when_what_its_head_says_changes(page):
    fold = page.locator(".st-key-existing summary").first
    fold.click()
    page.get_by_role("button", name="Add a rack with free space").click()
    page.get_by_role("textbox", name="Rack name").wait_for()
    page.get_by_role("button", name="Remove this rack").click()
    page.get_by_role("textbox", name="Rack name").wait_for(state="detached")
    assert page.get_by_role("button", name="Add a rack with free space").is_visible()
    settled(page)


def test_the_design_is_saved_and_outlives_a_reload_and_the_session(page, chromium, address):
    to_page(page, "Requirements")
    page.get_by_role("button", name="Save", exact=True).first.click()
    name = page.get_by_role("textbox", name="Name of the design")
    name.fill(NAME)
    page.get_by_test_id("stFormSubmitButton").get_by_role("button").first.click()
    page.get_by_role("button", name="Saved").first.wait_for()
    page.keyboard.press("Escape")
    shown = figures(page)
    page.reload()
    assert figures(page) == shown
    other = window(chromium)
    other.goto(address)
    settled(other)
    to_page(other, "Designs")
    assert figures(other) != shown
    other.get_by_text(NAME).first.wait_for()
    other.get_by_role("button", name="Open", exact=True).first.click()
    other.wait_for_function(
        "([selector, value]) => document.querySelector(selector)?.innerText.split(/\\s+/).join(' ').trim() === value",
        arg=[f"{FIGURE} p", shown[0]],
    )
    assert figures(other) == shown
    other.context.close()


@pytest.mark.parametrize("label", FILES)
def test_every_file_comes_down_and_opens(page, label):
    if not page.url.partition("?")[0].endswith("/document"):
        to_page(page, "Document")
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    content = download.value.path().read_bytes()
    opened, least = FILES[label]
    assert opened(content) >= least
    # customer, design, revision, date, ending
    assert re.fullmatch(r"[a-z0-9-]+_[a-z0-9-]+_r1_\d{4}-\d\d-\d\d(?:\.[a-z-]+)+", download.value.suggested_filename)
