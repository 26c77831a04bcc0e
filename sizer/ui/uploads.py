"""Uploaded requests: read as plain data, or refused with one error."""

from typing import Any

from sizer.base.errors import RequestError
from sizer.base.formats.json_document import parse_json
from sizer.base.formats.toml_text import parse_toml
from sizer.base.input_size import check_size
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
