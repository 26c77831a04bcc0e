"""Makes of a sized request what the library keeps."""

import datetime
import hashlib
from collections.abc import Mapping
from typing import Any

from sizer.catalog.model import Catalog
from sizer.library.records import Content
from sizer.library.snapshot import snapshot_of
from sizer.sizing.result import SizingResult


def content_of(draft: Mapping[str, Any], price_book: str, result: SizingResult, catalog: Catalog) -> Content:
    """What the library keeps of one state of a design.

    Parameters
    ----------
    draft : mapping
        The request as typed, as its file would hold it; ``result`` is its answer.
    price_book : str
        CSV text of the price book that the answer was made with besides the catalogue's own; empty: none.
    result : SizingResult
        The whole answer, not a customer's copy.
    catalog : Catalog
        With that price book.
    """
    request = result.request
    snapshot = snapshot_of(result, catalog)
    meaning = request.model_dump_json(exclude_defaults=True)
    hung_on = (meaning, price_book, result.catalog_digest, result.calibration_digest)
    return Content(
        request=_as_json(dict(draft)),
        price_book=price_book,
        customer=request.customer,
        parts=tuple(dict.fromkeys((result.design.name, *(part.name for part in snapshot.parts.values())))),
        digest=hashlib.sha256("\0".join(hung_on).encode("utf-8", "surrogatepass")).hexdigest(),
        catalog_digest=result.catalog_digest,
        calibration_digest=result.calibration_digest,
        snapshot=snapshot,
    )


def _as_json(value: Any) -> Any:
    """Plain data with days as text: all that TOML has and JSON has not."""
    if isinstance(value, Mapping):
        return {key: _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    return value.isoformat() if isinstance(value, datetime.date) else value
