"""Hosts that the server answers to, without a server."""

import pytest

from sizer.ui.serving.gate import is_allowed


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8501",
        "LOCALHOST.",
        "127.0.0.1",
        "10.1.2.3:80",
        "[::1]:8501",
        "[fe80::1]",
        "Sizer.Example.com:443",
    ],
)
def test_addresses_localhost_and_listed_names_are_answered(host):
    assert is_allowed(host, ["sizer.example.com"])


@pytest.mark.parametrize(
    "host",
    [
        *("", ".", ":80", "evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "sizer.example.com.evil.test"),
        *(
            "a.sizer.example.com",
            "127.0.0.1@evil.test",
            "127.0.0.1:80:90",
            "localhost:x",
            "[::1",
            "[evil.test]",
            "0x7f.1",
        ),
        *("2130706433", "localhost:\uff18", "*", "sizer.example.com/x"),
    ],
)
def test_other_names_are_refused(host):
    assert not is_allowed(host, ["sizer.example.com"])
