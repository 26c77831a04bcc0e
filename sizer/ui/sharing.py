"""A request inside a link: packed so that mail and chat keep it intact, read back as untrusted input."""

import base64
import binascii
import json
import zlib
from typing import Any
from urllib.parse import urlencode

from sizer.base.errors import RequestError
from sizer.ui.uploads import read_upload
from sizer.workload.request import MAX_REQUEST_BYTES

PARAMETER = "d"
# Longer addresses are cut by mail programs and proxies.
MAX_LINK_CHARACTERS = 7_500
_WHAT = "The link"


def packed(data: dict[str, Any]) -> str:
    """A request, as its file would hold it, as text of letters, digits, hyphens and underscores."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, default=str)
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpacked(text: str) -> dict[str, Any]:
    """The request that :func:`packed` put into a link.

    Raises
    ------
    RequestError
        If the link is too long, damaged, unpacks to more than a request, or holds something else.
    """
    if len(text) > MAX_LINK_CHARACTERS:
        raise RequestError(f"{_WHAT} has {len(text)} characters; the limit is {MAX_LINK_CHARACTERS}")
    unpacker = zlib.decompressobj()
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        content = unpacker.decompress(raw, MAX_REQUEST_BYTES + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise RequestError(f"{_WHAT} is damaged or incomplete; ask for it again") from None
    if not unpacker.eof and len(content) <= MAX_REQUEST_BYTES:
        raise RequestError(f"{_WHAT} is incomplete; ask for it again")
    return read_upload(f"{_WHAT}.json", content)


def link(base: str, data: dict[str, Any]) -> str | None:
    """Address that opens the request; None where it would be too long.

    Parameters
    ----------
    base : str
        Address of the first page, without a query.
    data : dict
        The request as its file would hold it.
    """
    text = packed(data)
    return f"{base}?{urlencode({PARAMETER: text})}" if len(text) <= MAX_LINK_CHARACTERS else None
