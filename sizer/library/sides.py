"""What two things that a user names say: a request, a design.json, or a revision of a library."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.resources import text_of_file
from sizer.catalog.model import Catalog
from sizer.library.design_file import snapshot_of_file
from sizer.library.snapshot import Snapshot, snapshot_of
from sizer.sizing.size import size
from sizer.workload.request import MAX_REQUEST_BYTES, SizingRequest

# A design.json of a thousand servers has some 10 MB.
MAX_DESIGN_BYTES = 50_000_000


@dataclass(frozen=True)
class Side:
    """One of two things that are compared."""

    name: str
    asked: SizingRequest
    snapshot: Snapshot | None
    price_book: str = ""
    is_of_then: bool = False  # the answer was made when the file or revision was, not now
    reason: str = ""  # why there is no answer to compare

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain data, with every default."""
        return self.asked.model_dump(mode="json", exclude_none=True)


def side_of_request(name: str, request: SizingRequest, catalog: Catalog) -> Side:
    """A request, sized now.

    Raises
    ------
    RequestError
        If it names something that the catalogue does not have.
    """
    try:
        return Side(name, request, snapshot_of(size(request, catalog), catalog))
    except InfeasibleError as error:
        return Side(name, request, None, reason=str(error))


def side_of_file(path: Path, catalog: Catalog) -> Side:
    """A request file, which is sized now, or a design.json with the answer that it carries.

    Raises
    ------
    RequestError
        If it cannot be read, or is neither.
    """
    place = str(path)
    if path.suffix != ".json":
        return side_of_request(place, SizingRequest.from_file(path), catalog)
    text = text_of_file(path, MAX_DESIGN_BYTES, "a design.json")
    return side_of_json(text, place, catalog)


def side_of_json(text: str, place: str, catalog: Catalog) -> Side:
    """Text of a JSON file: a request, or a design.json.

    Raises
    ------
    RequestError
        If it is neither.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{place}: is not valid JSON: {error}") from None
    kind = data.get("kind", "") if isinstance(data, dict) else ""
    if kind == "design":
        return Side(
            place,
            SizingRequest.from_dict(data.get("request"), place),
            snapshot_of_file(data, place, catalog),
            is_of_then=True,
        )
    if kind:
        raise RequestError(f"{place}: is a file of kind {str(kind)[:40]!r}; a request or a design.json is compared")
    if len(text) > MAX_REQUEST_BYTES:
        raise RequestError(f"{place}: {len(text)} characters is more than a request holds ({MAX_REQUEST_BYTES})")
    return side_of_request(place, SizingRequest.from_dict(data, place), catalog)
