"""Hosts that the server answers to, without a server."""

import asyncio

import pytest

from sizer.ui.app_server.gate import Gate, is_allowed

ANSWERED = "localhost localhost:8501 LOCALHOST. 127.0.0.1 10.1.2.3:80 [::1]:8501 [fe80::1] Sizer.Example.com:443"
REFUSED = (
    "evil.test localhost.evil.test 127.0.0.1.evil.test sizer.example.com.evil.test a.sizer.example.com . :80 * [::1 "
    "127.0.0.1@evil.test 127.0.0.1:80:90 localhost:x [evil.test] 0x7f.1 2130706433 localhost:\uff18 sizer.example.com/x"
)


@pytest.mark.parametrize("host", ANSWERED.split())
def test_addresses_localhost_and_listed_names_are_answered(host):
    assert is_allowed(host, ["sizer.example.com"])


@pytest.mark.parametrize("host", ["", *REFUSED.split()])
def test_other_names_are_refused(host):
    assert not is_allowed(host, ["sizer.example.com"])


@pytest.mark.parametrize(
    ("origin", "host", "status"),
    [
        ("http://localhost:8501", "localhost:8501", None),
        ("https://sizer.example.com", "sizer.example.com:443", None),
        ("https://sizer.example.com", "127.0.0.1:8501", None),  # a proxy that hides the name
        (None, "localhost:8501", None),  # no browser
        ("http://localhost:3000", "localhost:8501", 1008),
        ("http://127.0.0.1:8501", "localhost:8501", 1008),
        ("http://0.0.0.0:1", "localhost:8501", 1008),
        ("http://x.test", "localhost:8501", 1008),
        ("https://localhost:8501.x.test", "localhost:8501", 1008),
        ("https://sizer.example.com:9999", "sizer.example.com", 1008),
        ("null", "localhost:8501", 1008),
    ],
)
def test_a_socket_is_opened_by_a_page_of_this_server_only(origin, host, status):
    """Streamlit lets every port of localhost in; RFC 6454: another port is another origin."""
    sent = []

    async def app(_scope, _receive, send):
        await send({"type": "websocket.accept"})

    async def send(message):
        sent.append(message)

    headers = [(b"host", host.encode()), *([(b"origin", origin.encode())] if origin else [])]
    asyncio.run(Gate(app, ["sizer.example.com"])({"type": "websocket", "headers": headers}, None, send))
    assert sent[0].get("code") == status


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/_stcore/metrics", 404),
        ("/sizer/_stcore/metrics/", 404),
        ("/_stcore/health", 200),
        ("/", 200),
    ],
)
def test_counts_of_the_server_are_shown_to_nobody(path, status):
    sent = []

    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": path, "headers": [(b"host", b"localhost")]}
    asyncio.run(Gate(app)(scope, None, send))
    assert sent[0]["status"] == status
