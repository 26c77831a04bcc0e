"""A request inside a link: packed so that mail and chat keep it intact, read back as untrusted input."""

import base64
import binascii
import json
import zlib
from typing import Any
from urllib.parse import urlencode

from sizer.base.errors import RequestError
from sizer.ui.uploads import read_upload

PARAMETER = "d"
# Name of the price book that the sender used; its prices are no part of the link.
PRICE_BOOK = "book"
MAX_BOOK_NAME = 80
# Longer addresses are cut by mail programs and proxies.
MAX_LINK_CHARACTERS = 7_500
# A request of this many characters is longer than any that fits into a link, unless it repeats itself to no purpose.
MAX_UNPACKED_BYTES = 100_000
_WHAT = "The link"


def packed(data: dict[str, Any]) -> str:
    """A request, as its file would hold it, as text of letters, digits, hyphens and underscores."""
    return base64.urlsafe_b64encode(zlib.compress(_content(data), 9)).decode().rstrip("=")


def _content(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, default=str).encode()


def unpacked(text: str) -> dict[str, Any]:
    """The request that :func:`packed` put into a link.

    Raises RequestError if the link is too long, damaged, unpacks to more than a request, or holds something else.
    """
    if len(text) > MAX_LINK_CHARACTERS:
        raise RequestError(f"{_WHAT} has {len(text)} characters; the limit is {MAX_LINK_CHARACTERS}")
    unpacker = zlib.decompressobj()
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        content = unpacker.decompress(raw, MAX_UNPACKED_BYTES + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise RequestError(f"{_WHAT} is damaged or incomplete; ask for it again") from None
    if len(content) > MAX_UNPACKED_BYTES:
        raise RequestError(f"{_WHAT} unpacks to more than {MAX_UNPACKED_BYTES} B; send the request as a file")
    if not unpacker.eof:
        raise RequestError(f"{_WHAT} is incomplete; ask for it again")
    return read_upload(f"{_WHAT}.json", content)


def link(base: str, data: dict[str, Any], price_book: str = "") -> str | None:
    """Address that opens the request; None where it would be too long.

    ``base``: address of the first page, without a query. ``data``: the request as its file would hold it.
    ``price_book``: name of the price book in use.
    """
    text = packed(data)
    named = {PRICE_BOOK: price_book[:MAX_BOOK_NAME]} if price_book else {}
    fits = len(text) <= MAX_LINK_CHARACTERS and len(_content(data)) <= MAX_UNPACKED_BYTES
    return f"{base}?{urlencode({PARAMETER: text, **named})}" if fits else None
