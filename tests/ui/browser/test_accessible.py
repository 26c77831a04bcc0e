"""Every page for people who see poorly or use no mouse: WCAG 2.1 A and AA by axe-core, and the keyboard alone."""

import importlib.resources
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.ui.browser import driving
from tests.ui.browser.driving import FIGURE, PAGES, figure_changed, rerun, settled, to_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
SIZES = ((1440, 900), (1024, 768), (390, 844))


def violations(page: "Page") -> list[tuple[str, str, str]]:
    """Rule, HTML of the element and what is wrong, of every violation on a page as it is.

    Streamlit 1.67 itself emits none on these pages, so none is let pass.
    """
    if not page.evaluate("typeof axe !== 'undefined'"):
        script = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js")
        page.evaluate(script.read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})", TAGS
    )
    return [
        (rule["id"], node["html"][:300], node["failureSummary"])
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]} px")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_breaks_a_rule_of_wcag(address, chromium, scheme, size):
    page = driving.window(chromium, *size, scheme=scheme)
    page.goto(address)
    settled(page)
    broken: dict[str, list[tuple[str, str, str]]] = {}
    for name in PAGES:
        if name != PAGES[0]:
            to_page(page, name)
        found = violations(page)
        if found:
            broken[name] = found
    page.context.close()
    assert broken == {}


# What the focus changes of the element that has it, or of the boxes around it: how a person sees where they are.
FOCUSED = """
async () => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const around = [];
  for (let node = one; node && around.length < 5; node = node.parentElement) around.push(node);
  const seen = () => around.map(node => {
    const style = getComputedStyle(node);
    const outline = style.outlineStyle === 'none' ? '' : `${style.outlineWidth} ${style.outlineColor}`;
    return [outline, style.boxShadow, style.borderTopColor, style.backgroundColor, style.textDecorationLine].join();
  }).join(';');
  const still = async () => {
    await new Promise(done => setTimeout(done, 80));  // the page takes a moment to notice
    const moving = document.getAnimations().filter(one => one instanceof CSSTransition);
    await Promise.all(moving.map(one => one.finished.catch(() => null)));
  };
  await still();
  const focused = seen();
  one.blur();
  await still();
  const blurred = seen();
  one.focus({focusVisible: true, preventScroll: true});
  return {
    tag: one.tagName.toLowerCase(),
    name: one.getAttribute('aria-label') || one.innerText || one.id,
    is_field: ['INPUT', 'TEXTAREA', 'SELECT'].includes(one.tagName),
    is_seen: focused !== blurred, html: one.outerHTML.slice(0, 160),
  };
}
"""


def tabbed(page: "Page", most: int = 200) -> list[dict[str, Any]]:
    """Elements that the tab key reaches from the top of the page, one after the other, until it starts again."""
    page.evaluate("document.activeElement && document.activeElement.blur()")
    page.mouse.move(0, 0)
    found: list[dict[str, Any]] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        one = page.evaluate(FOCUSED)
        if one is None or (found and one["html"] == found[0]["html"]):
            break
        found.append(one)
    return found


def fields(page: "Page") -> list[str]:
    """Labels of the fields that can be filled in."""
    labels: list[str] = page.evaluate(
        "[...document.querySelectorAll('[data-testid=\"stMain\"] :is(input, textarea)')]"
        ".filter(one => one.checkVisibility() && !one.disabled && one.type !== 'file' && one.tabIndex >= 0)"
        ".map(one => one.getAttribute('aria-label') || one.id)"
    )
    return labels


def test_the_tab_key_reaches_every_field_in_order_with_a_visible_focus(page):
    settled(page)
    page.get_by_role("combobox", name="Sizing confidence").wait_for()
    labels = fields(page)
    assert len(labels) >= 8
    found = tabbed(page)
    reached = [one["name"] for one in found if one["is_field"]]
    assert reached == labels
    # Streamlit makes the whole page focusable, so that the arrow keys scroll it; the page needs no mark.
    assert [one["html"] for one in found if not one["is_seen"] and one["tag"] != "main"] == []


def test_the_main_path_needs_no_mouse(address, chromium):
    page = driving.window(chromium)
    page.goto(address)
    settled(page)
    before = page.locator(FIGURE).first.inner_text()
    field = page.get_by_role("textbox", name="Minimum rate")
    field.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("12000 images/s")
    page.keyboard.press("Enter")
    figure_changed(page, before)
    # A number says where it comes from.
    with rerun(page):
        page.locator(FIGURE).first.press("Enter")
    page.get_by_test_id("stPopoverBody").wait_for()
    with rerun(page):  # what had the focus while the page is drawn again would lose it
        page.keyboard.press("Escape")
    page.wait_for_selector('[data-testid="stPopoverBody"]', state="hidden")
    # The next page.
    page.get_by_role("link", name=re.compile("Next: Architecture")).press("Enter")
    page.wait_for_url(re.compile("/architecture"))
    settled(page)
    page.get_by_role("link", name="Document", exact=True).first.press("Enter")
    page.wait_for_url(re.compile("/document"))
    settled(page)
    with page.expect_download():
        page.get_by_role("button", name="Design, JSON").press("Enter")
    page.context.close()
