"""Uploaded files, and requests shared as links and files."""

import base64
import binascii
import json
import zlib
from typing import Any
from urllib.parse import urlencode

from sizer.base.errors import RequestError
from sizer.base.faults import check_size
from sizer.base.formats.json_document import parse_json
from sizer.base.formats.toml_text import parse_toml
from sizer.workload.request import MAX_REQUEST_BYTES


def read_upload(name: str, content: bytes) -> dict[str, Any]:
    """Request of an uploaded file as plain data; of a design.json the request in it.

    Raises RequestError if the file is too large, not UTF-8, neither TOML nor JSON, or no table.
    """
    if len(content) > MAX_REQUEST_BYTES:
        raise RequestError(f"{name}: the file is too large; a request has at most {MAX_REQUEST_BYTES} B")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(f"{name}: the file is not UTF-8 text (byte {error.start})") from None
    kind = "JSON" if name.lower().endswith(".json") else "TOML"
    try:
        # ValueError: not valid, or an integer of thousands of digits.
        data = parse_json(text) if kind == "JSON" else parse_toml(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{name}: the file is not valid {kind}: {error}") from None
    if isinstance(data, dict) and data.get("kind") == "design":
        data = data.get("request")
    check_size(data, name)
    if not isinstance(data, dict):
        raise RequestError(f"{name}: the file contains no request; add at least one [[workload]] with dnn and target")
    cleaned: dict[str, Any] = without_empty_values(data)
    return cleaned


def without_empty_values(data: Any) -> Any:
    """Data without keys whose value is null, an empty list or an empty table: they mean the same as no key."""
    if isinstance(data, dict):
        cleaned = {key: without_empty_values(value) for key, value in data.items()}
        return {key: value for key, value in cleaned.items() if value is not None and value not in ([], {})}
    return [without_empty_values(value) for value in data] if isinstance(data, list) else data


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
