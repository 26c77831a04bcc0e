"""A server and a window for the tests of one file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.ui.browser import driving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app on this machine."""
    with driving.served(tmp_path_factory.mktemp("served")) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """A browser."""
    with driving.browser() as found:
        yield found


@pytest.fixture(scope="module")
def page(address: str, chromium: "Browser") -> "Page":
    """A window on the app, 1280 pixels wide; addresses asked for are kept in ``page.asked``."""
    window = driving.window(chromium)
    window.goto(address)
    return window
