"""Content of a revision from a sized request."""

import datetime
import hashlib
from collections.abc import Mapping
from typing import Any

from sizer.catalog.model import Catalog
from sizer.library.records import DesignContent
from sizer.library.snapshot import snapshot_of
from sizer.sizing.result import SizingResult


def content_of(draft: Mapping[str, Any], price_book: str, result: SizingResult, catalog: Catalog) -> DesignContent:
    """Content that the library stores of one state of a design.

    Parameters
    ----------
    draft : mapping
        The request as typed, in the form of its file; ``result`` is its answer.
    price_book : str
        CSV text of the price book of the answer in addition to the catalogue's own; empty: none.
    result : SizingResult
        The whole answer, not a customer's copy.
    catalog : Catalog
        With that price book.
    """
    request = result.asked_request
    snapshot = snapshot_of(result, catalog)
    canonical = request.model_dump_json(exclude_defaults=True)
    inputs = (canonical, price_book, result.catalog_digest, result.calibration_digest)
    return DesignContent(
        request=_as_json(dict(draft)),
        price_book=price_book,
        customer=request.customer,
        parts=tuple(dict.fromkeys((result.design.name, *(part.name for part in snapshot.parts.values())))),
        digest=hashlib.sha256("\0".join(inputs).encode("utf-8", "surrogatepass")).hexdigest(),
        catalog_digest=result.catalog_digest,
        calibration_digest=result.calibration_digest,
        snapshot=snapshot,
    )


def _as_json(value: Any) -> Any:
    """Plain data with dates as text: JSON has no dates, TOML has."""
    if isinstance(value, Mapping):
        return {key: _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    return value.isoformat() if isinstance(value, datetime.date) else value
