"""What a person waits for in the browser: first page, new headline after an edit, pages, questions, the guide.

SIZER_CHROMIUM=$(tools/chromium.sh) .venv/bin/pytest tests/bench/test_app.py --benchmark-only
Medians of ten; processor seconds of the server stand beside them (``extra_info``), as other work on the machine does
not change those.
"""

import re
from collections.abc import Callable, Iterator
from statistics import median
from typing import TYPE_CHECKING

import pytest

from sizer.base.quantities import grouped
from tests.ui.browser import conftest, driving
from tests.ui.browser.driving import FIGURE, PAGES, follow, settled, to_page, type_into_cell, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROUNDS = 10
RESTRICTED = "Train ResNet-50 on 22 TB of images of 113 kB at 40,000 images/s on DGX-1 with F800"
WHOLE = "Train ResNet-50 on 22 TB of images of 113 kB at 40,000 images/s"
LANGUAGE = "Pre-train Llama 3 8B at 200,000 tokens/s on H100"
GROWING = f"{WHOLE}, data grows by 30% per year for 3 years"
_IDLE = """() => document.querySelector('[data-testid="stApp"]')?.getAttribute('data-test-script-state') !== 'running'
    && !document.querySelector('[data-stale="true"]')"""

chromium = conftest.chromium


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with driving.served(tmp_path_factory.mktemp("served")) as found:
        yield found


def opened(chromium: "Browser", port: int, need: str) -> "Page":
    """A window whose design answers a need."""
    page = window(chromium, 1440, 900)
    page.goto(f"http://127.0.0.1:{port}")
    settled(page)
    field = page.get_by_role("textbox", name="Describe the need")
    field.fill(need)
    page.get_by_role("button", name="Size it").click()
    page.locator(".st-key-chips button").first.wait_for()
    settled(page)
    return page


def measured(benchmark, port: int, prepare: Callable[[int], Callable[[], None]]) -> None:
    """Run an action ten times, each after its preparation."""
    cpu: list[float] = []
    place = iter(range(10 * ROUNDS))

    def act(action: Callable[[], None]) -> None:
        before = driving.processor_s(driving.server_pid(port))
        action()
        cpu.append(driving.processor_s(driving.server_pid(port)) - before)

    benchmark.pedantic(act, setup=lambda: ((prepare(next(place)),), {}), rounds=ROUNDS)
    benchmark.extra_info["server_cpu_s"] = round(median(cpu), 3)


def rate_edits(page: "Page", unit: str, first: int, step: int) -> Callable[[int], Callable[[], None]]:
    """Other rates, none of which was ever sized: from Enter to the headline that names the new target.

    The headline rounds to three digits, so the rates have no more.
    """

    def prepare(place: int) -> Callable[[], None]:
        settled(page)
        rate = first + step * place
        field = page.get_by_role("textbox", name="Minimum rate")
        field.fill(f"{rate} {unit}")

        def enter() -> None:
            field.press("Enter")
            page.wait_for_function(
                "text => document.querySelector('.st-key-headline').innerText.replace(/\\s/g, ' ').includes(text)",
                arg=f"target at least {grouped(rate)}".replace("\u202f", " "),
            )

        return enter

    return prepare


@pytest.mark.parametrize(
    ("need", "unit", "first", "step"),
    [
        pytest.param(RESTRICTED, "images/s", 20_000, 1_700, id="restricted"),
        pytest.param(WHOLE, "images/s", 20_000, 1_700, id="whole catalogue"),
        pytest.param(LANGUAGE, "tokens/s", 120_000, 13_000, id="language model"),
    ],
)
def test_headline_after_an_edit(benchmark, port, chromium, need, unit, first, step) -> None:
    """Asked: 0.3 s where the platform is given, else 0.5 s."""
    page = opened(chromium, port, need)
    measured(benchmark, port, rate_edits(page, unit, first, step))
    page.context.close()


def test_first_page_of_a_warm_server(benchmark, port, chromium) -> None:
    """Until the figures are shown, in a window whose cache is warm but whose session is new. Asked: 1.4 s."""
    context = chromium.new_context()

    def prepare(_place: int) -> Callable[[], None]:
        def open_it() -> None:
            fresh = context.new_page()
            fresh.goto(f"http://127.0.0.1:{port}")
            fresh.wait_for_selector(FIGURE)
            fresh.close()

        return open_it

    measured(benchmark, port, prepare)


@pytest.mark.parametrize("is_first", [True, False], ids=["first visit", "repeated"])
@pytest.mark.parametrize("name", PAGES[1:])
def test_another_page(benchmark, port, chromium, name, is_first) -> None:
    """Asked: 0.2 s, Evidence 0.7 s."""
    page = opened(chromium, port, RESTRICTED)
    edits = rate_edits(page, "images/s", 20_100 + 200 * PAGES.index(name) + 100 * is_first, 1_900)

    def prepare(place: int) -> Callable[[], None]:
        if place:
            to_page(page, "Requirements")
        if is_first or not place:
            edits(place)()
            settled(page)
        if not is_first and not place:
            to_page(page, name)
            to_page(page, "Requirements")
        before = page.script_runs

        def visit() -> None:
            follow(page, name)
            while page.script_runs == before:
                page.wait_for_timeout(5)
            page.wait_for_function(_IDLE)

        return visit

    measured(benchmark, port, prepare)
    page.context.close()


@pytest.mark.parametrize("question", ["Growth", "Failures"])
def test_growth_and_failures(benchmark, port, chromium, question) -> None:
    """A question of the page What-if for a design it was never asked of. Asked: 2 s, with progress."""
    page = opened(chromium, port, GROWING)
    edits = rate_edits(page, "images/s", 22_000 + 100 * (question == "Growth"), 1_900)
    heads = {"Growth": "Purchases by year", "Failures": "Effect of failures"}

    def prepare(place: int) -> Callable[[], None]:
        to_page(page, "Requirements") if place else None
        edits(place)()
        settled(page)
        to_page(page, "What-if")
        page.get_by_text("Two inputs", exact=True).first.click()
        settled(page)

        def ask() -> None:
            page.get_by_text(question, exact=True).first.click()
            page.get_by_role("heading", name=heads[question], exact=True).wait_for()
            page.wait_for_function(_IDLE)

        return ask

    measured(benchmark, port, prepare)
    page.context.close()


def test_an_edit_of_the_bill(benchmark, port, chromium) -> None:
    """A quantity typed into the table, until the headline says so or the new total is shown. Asked: 0.5 s."""
    page = opened(chromium, port, RESTRICTED)
    to_page(page, "Bill")
    page.get_by_role("tab", name="Edit lines").press("Enter")
    settled(page)

    def prepare(place: int) -> Callable[[], None]:
        settled(page)
        type_into_cell(page, "Quantity", str(41 + place))

        def enter() -> None:
            page.keyboard.press("Enter")
            page.get_by_text(re.compile(f"quantity {41 + place} instead of")).first.wait_for()

        return enter

    measured(benchmark, port, prepare)
    page.context.close()


def test_guide_as_pdf(benchmark, port, chromium) -> None:
    """From the click to the file, of a design whose guide was never made. Asked: 4 s, with progress."""
    page = opened(chromium, port, RESTRICTED)
    edits = rate_edits(page, "images/s", 23_000, 1_900)

    def prepare(place: int) -> Callable[[], None]:
        if place:
            to_page(page, "Requirements")
        edits(place)()
        settled(page)
        to_page(page, "Document")

        def download() -> None:
            with page.expect_download() as file:
                page.get_by_role("button", name="Guide, PDF", exact=True).click()
            file.value.path()

        return download

    measured(benchmark, port, prepare)
    page.context.close()
