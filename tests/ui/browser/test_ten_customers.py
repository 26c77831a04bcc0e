"""Ten customers from the first sentence to the guide: answers, one change, a price, the files.

``SIZER_SHOTS=folder`` keeps a picture of every step. Between them the ten walk in light and dark and in three widths.
"""

import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pikepdf
import pytest

from tests.ui.browser import driving
from tests.ui.browser.driving import assert_clean, rerun, settled, to_page, type_into_cell
from tests.ui.browser.test_accessible import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SHOTS = os.environ.get("SIZER_SHOTS", "")
DESKTOP, NOTEBOOK, PHONE = (1440, 900), (1024, 768), (390, 844)


class Customer(NamedTuple):
    """What one customer says, answers and changes."""

    name: str
    sentence: str
    answers: tuple[str, ...]  # labels of the buttons, one for each question; what else is missing is assumed
    chips: tuple[str, ...]  # words that were read
    change: tuple[str, str]  # field of the form and its new text
    buys: str = ""  # part of what the answer buys
    size: tuple[int, int] = DESKTOP
    scheme: str = "light"


CUSTOMERS = (
    Customer(
        "university",
        "We are 10 researchers and want to train a ResNet, as cheap as possible",
        ("ResNet-50",),
        ("10 researchers", "as cheap as possible", "ResNet-50"),
        ("GPUs in total", "24"),
    ),
    Customer(
        "hospital",
        "12 TB of CT scans, trained in two days on Dell servers",
        (),
        ("12 TB", "Dell servers", "3D U-Net"),
        ("Maximum time to train", "36 h"),
        scheme="dark",
    ),
    Customer(
        "carmaker",
        "Train SSD on 200 TB of camera images of 500 kB at 8.000 images/s from VAST storage",
        (),
        ("SSD", "200 TB", "500 kB", "VAST"),
        ("Minimum rate", "9,000 images/s"),
        buys="VAST",
        size=NOTEBOOK,
    ),
    Customer(
        "language lab",
        "Fine-tune an LLM on H100 with LoRA",
        ("Llama 3 70B",),
        ("LLM", "H100", "LoRA", "Llama 3 70B"),
        ("GPUs in total", "32"),
    ),
    Customer(
        "model maker",
        "Pre-train a language model on AMD GPUs only",
        ("Llama 3 8B",),
        ("language model", "Llama 3 8B"),
        ("GPUs in total", "32"),
        size=NOTEBOOK,
        scheme="dark",
    ),
    Customer(
        "retailer",
        "Image classification on 14 million photos, 110 kB each, at most 20 kW",
        ("ResNet-50",),
        ("14 million photos", "at most 20 kW"),
        ("GPUs in total", "4"),
        size=PHONE,
    ),
    Customer(
        "service provider",
        "As fast as possible: training and inference of GoogLeNet",
        ("Training", "500,000 USD"),
        ("As fast as possible", "GoogLeNet", "500,000 USD"),
        ("Name", "Training of all models"),
    ),
    Customer(
        "institute",
        "Extend our 2 DGX-1 and 4 F800 nodes to train a ResNet in a day",
        (),
        ("2 DGX-1", "4 F800 nodes", "in a day"),
        ("Maximum time to train", "4 h"),
        buys="DGX-1",
        scheme="dark",
    ),
    Customer(
        "archive",
        "Batch inference on a test set of images of 113 kB",
        (),
        ("113 kB", "ResNet-50"),
        ("GPUs in total", "16"),
        size=PHONE,
        scheme="dark",
    ),
    Customer(
        "start-up",
        "A 70B model in two weeks on B200",
        ("Training",),
        ("70B model", "B200"),
        ("Tokens", "100 billion tokens"),
        buys="B200",
    ),
)
PRICE = "149000.00"


def shot(page: "Page", customer: Customer, step: str) -> None:
    """Picture of the page as a user sees it, where pictures are kept."""
    if SHOTS:
        folder = Path(SHOTS)
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{customer.name}-{step}-{customer.scheme}-{customer.size[0]}.png")


def headline(page: "Page") -> list[str]:
    """The three figures."""
    settled(page)
    return driving.figures(page)


def ask(page: "Page", customer: Customer) -> None:
    """The sentence, and the answers by their buttons; until then no other result is shown."""
    field = page.get_by_role("textbox", name="Describe the need")
    field.fill(customer.sentence)
    page.get_by_role("button", name="Size it").click()
    question = page.locator(".st-key-question")
    for number, label in enumerate(customer.answers):
        button = question.get_by_role("button", name=label, exact=True)
        button.wait_for()
        settled(page)
        assert page.locator(".st-key-headline").count() == 0
        shot(page, customer, f"1-question-{number + 1}")
        button.click()
    question.wait_for(state="detached")
    settled(page)
    chips = page.locator(".st-key-chips").inner_text()
    assert [words for words in customer.chips if words not in chips] == []
    assert page.get_by_text("Not understood:").count() == 0
    assert customer.buys in page.locator(".st-key-headline").inner_text()
    assert_clean(page)
    shot(page, customer, "2-answer")


def change(page: "Page", customer: Customer) -> None:
    """One field: the figures or the sentence above them follow, and a need that is no longer true goes."""
    before = page.locator(".st-key-headline").inner_text()
    label, text = customer.change
    field = page.get_by_role("textbox", name=label, exact=True).first
    field.fill(text)
    field.press("Enter")
    page.wait_for_function("() => document.querySelector('.st-key-chips') === null")
    settled(page)
    assert page.get_by_role("textbox", name="Describe the need").input_value() == ""
    if label != "Name":
        assert page.locator(".st-key-headline").inner_text() != before
    assert_clean(page)
    shot(page, customer, "3-change")


def price(page: "Page", customer: Customer) -> None:
    """A price where a quote would settle the order, and the price of the first line of the bill."""
    to_page(page, "Architecture")
    page.locator("svg.drawing text").first.wait_for()
    assert_clean(page)
    shot(page, customer, "4-architecture")
    with rerun(page):
        page.get_by_role("tab", name="Alternatives").click()
    with rerun(page):
        page.locator("summary", has_text="Platforms compared").click()
    quotes = page.locator(".st-key-quotes input")
    if quotes.count():
        with rerun(page):
            quotes.first.fill(PRICE)
            quotes.first.press("Enter")
        assert_clean(page)
    to_page(page, "Bill")
    with rerun(page):
        page.get_by_role("tab", name="Edit lines").press("Enter")
    before = headline(page)[2]
    type_into_cell(page, "Unit list price", "222333")
    with rerun(page):
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Restore computed value").first.wait_for()
    assert headline(page)[2] != before
    shot(page, customer, "5-bill")
    page.get_by_role("tab", name="Bill", exact=True).press("Enter")
    page.get_by_role("cell", name=re.compile(r"222\D333")).first.wait_for()
    assert_clean(page)


def guide(page: "Page", customer: Customer) -> None:
    """The guide as a PDF with the design's title on it."""
    to_page(page, "Document")
    assert_clean(page)
    title = page.get_by_role("heading", level=1).first.inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Guide, PDF", exact=True).click()
    with pikepdf.open(io.BytesIO(download.value.path().read_bytes())) as pdf:
        assert len(pdf.pages) >= 4  # of one server: four to eight
        assert title in str(pdf.docinfo["/Title"])
    settled(page)
    shot(page, customer, "6-document")


@pytest.mark.parametrize(
    "customer", [pytest.param(one, id=one.name, marks=pytest.mark.xdist_group(one.name)) for one in CUSTOMERS]
)
def test_a_customer_walks_from_the_need_to_the_guide(address: str, chromium: "Browser", customer: Customer) -> None:
    page = driving.window(chromium, *customer.size, scheme=customer.scheme)
    page.goto(address)
    settled(page)
    ask(page, customer)
    assert violations(page) == []
    change(page, customer)
    price(page, customer)
    guide(page, customer)
    page.context.close()
