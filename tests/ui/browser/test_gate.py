"""The server in a real browser: headers that no page breaks on, and state that stays with the browser that made it."""

import http.client
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.ui.browser import driving
from tests.ui.browser.driving import HOST, PAGES, assert_clean, settled, to_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The app on this machine, that also answers to one name."""
    with driving.served(tmp_path_factory.mktemp("gate"), SIZER_APP_HOSTS=HOST) as found:
        yield found


def _get(port: int, host: str, path: str = "/") -> http.client.HTTPResponse:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as wire:
        wire.putrequest("GET", path, skip_host=True)
        wire.putheader("Host", host)
        wire.endheaders()
        answer = wire.getresponse()
        answer.read()
        return answer


def test_a_name_that_is_not_listed_gets_no_page_and_no_session(port):
    for host in ("rebound.test", f"rebound.test:{port}", f"{HOST}.rebound.test", f"127.0.0.1.rebound.test:{port}"):
        assert _get(port, host).status == 421
        assert _get(port, host, "/_stcore/health").status == 421
        assert b" 403 " in driving.socket_status(port, host)
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"{HOST}:{port}", HOST):
        assert _get(port, host).status == 200
        assert b" 101 " in driving.socket_status(port, host)


def test_pages_have_their_headers_and_a_cookie_that_no_script_reads(port):
    answer = _get(port, HOST)
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    (cookie,) = [value for value in answer.headers.get_all("Set-Cookie") if value.startswith("sizer-browser=")]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_no_page_breaks_on_the_content_policy(port, chromium):
    window = driving.window(chromium)
    refused: list[str] = []
    window.on("console", lambda message: refused.append(message.text) if "Content Security" in message.text else None)
    window.goto(f"http://{HOST}:{port}/")
    settled(window)
    for name in PAGES[1:]:
        to_page(window, name)
        assert_clean(window)
    assert refused == []


def test_an_address_opens_its_state_in_the_browser_that_made_it_and_in_no_other(port, chromium):
    window = driving.window(chromium)
    window.goto(f"http://{HOST}:{port}/")
    settled(window)
    field = window.get_by_role("textbox", name="Minimum rate")
    field.fill("12000 images/s")
    field.press("Enter")
    window.wait_for_function("document.querySelector('h1') && location.search.includes('s=')")
    settled(window)
    address = window.url
    again = window.context.new_page()
    again.goto(address)
    settled(again)
    # The fields are empty until their values have come.
    restored = again.get_by_role("textbox", name="Minimum rate").element_handle()
    again.wait_for_function("field => field.value === '12000 images/s'", arg=restored)
    other = driving.window(chromium)
    other.goto(address)
    settled(other)
    assert other.get_by_text("has expired or belongs to another browser").count() == 1
    assert other.get_by_role("textbox", name="Minimum rate").input_value() != "12000 images/s"
    assert Path(address).name != Path(other.url).name
