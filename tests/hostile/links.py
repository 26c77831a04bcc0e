"""Links that open the app with a request: untrusted text that expands."""

import base64
import json
import zlib

from sizer.ui.sharing import unpacked
from sizer.workload.request import SizingRequest
from tests.hostile.harness import Entry


def opened(text: str) -> SizingRequest:
    """The request of a link, checked as the app checks it."""
    return SizingRequest.from_dict(unpacked(text), "the link")


def packed(data: object) -> str:
    """Any data as a link holds it."""
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(data, default=str).encode(), 9)).decode().rstrip("=")


def link(name: str, text: str, *says: str) -> Entry:
    """The text of a link."""
    return Entry(name, opened, text, says=("link", *says))


ENTRIES = (
    link("empty", "", "ask for it again"),
    link("not base64", "%%%", "ask for it again"),
    link("letters of another script", "ж" * 20, "ask for it again"),
    link("not packed", base64.urlsafe_b64encode(b"hello world").decode(), "ask for it again"),
    link("cut", packed({"title": "x" * 500})[:-20], "ask for it again"),
    link("8,000 letters", "A" * 8_000, "the limit is"),
    link("a list", packed([1, 2]), "contains no request"),
    link("unknown key", packed({"flavour": 1}), "flavour"),
)
