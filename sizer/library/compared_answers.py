"""The answers to compare: to a request, in a design.json, or of a revision of the library."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sizer.base.errors import CatalogError, InfeasibleError, RequestError
from sizer.base.formats.json_document import parse_json
from sizer.base.resources import text_of_file
from sizer.catalog.loader import with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import price_rows
from sizer.library.design_file import has_digest, snapshot_of_file
from sizer.library.snapshot import Snapshot, snapshot_of
from sizer.sizing.size import size
from sizer.workload.request import MAX_REQUEST_BYTES, SizingRequest

# A design.json of a thousand servers has about 10 MB.
MAX_DESIGN_BYTES = 50_000_000


@dataclass(frozen=True)
class ComparedAnswer:
    """One of the two answers that are compared."""

    name: str
    sizing_request: SizingRequest
    snapshot: Snapshot | None
    price_book: str = ""
    is_stored: bool = False  # the answer was read from the file or revision, not computed now
    reason: str = ""  # why there is no answer
    is_unsealed: bool = False  # the file carries no digest that would tell a change of its figures

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain data, with every default."""
        return self.sizing_request.model_dump(mode="json", exclude_none=True)


def answer_to_request(name: str, request: SizingRequest, catalog: Catalog) -> ComparedAnswer:
    """Answer to a request, sized now.

    Raises RequestError if it names something that is not in the catalogue.
    """
    try:
        return ComparedAnswer(name, request, snapshot_of(size(request, catalog)))
    except InfeasibleError as error:
        return ComparedAnswer(name, request, None, reason=str(error))


def sized_today(saved: ComparedAnswer, catalog: Catalog) -> ComparedAnswer:
    """Answer to the request of a saved answer, sized now with its price book."""
    rows, faults = price_rows(saved.price_book, saved.name) if saved.price_book else ([], [])
    if faults:
        raise CatalogError(faults)
    today = answer_to_request(saved.name, saved.sizing_request, with_prices(catalog, rows) if rows else catalog)
    return replace(today, price_book=saved.price_book)


def answer_in_file(path: Path, catalog: Catalog) -> ComparedAnswer:
    """Answer to a request file, sized now, or the answer stored in a design.json.

    Raises RequestError if it cannot be read, or is neither.
    """
    place = str(path)
    if path.suffix.lower() != ".json":
        return answer_to_request(place, SizingRequest.from_file(path), catalog)
    text = text_of_file(path, MAX_DESIGN_BYTES, "a design.json")
    return answer_in_json(text, place, catalog)


def answer_in_json(text: str, place: str, catalog: Catalog) -> ComparedAnswer:
    """Answer of the text of a JSON file: a request or a design.json.

    Raises RequestError if it is neither.
    """
    try:
        data = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{place}: is not valid JSON: {error}") from None
    kind = data.get("kind", "") if isinstance(data, dict) else ""
    if kind == "design":
        return ComparedAnswer(
            place,
            SizingRequest.from_dict(data.get("request"), place),
            snapshot_of_file(data, place, catalog),
            is_stored=True,
            is_unsealed=not has_digest(data),
        )
    if kind:
        raise RequestError(f"{place}: is a document of kind {str(kind)[:40]!r}; give a request or a design.json")
    if len(text) > MAX_REQUEST_BYTES:
        raise RequestError(f"{place}: has {len(text)} characters; a request has at most {MAX_REQUEST_BYTES}")
    return answer_to_request(place, SizingRequest.from_dict(data, place), catalog)
