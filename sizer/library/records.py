"""Records of a library, with the limits and checks of what it saves."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any

from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.library.opening import LibraryError
from sizer.library.snapshot import Snapshot, read_snapshot, snapshot_of
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.workload.request import MAX_REQUEST_BYTES

MAX_NAME = 120
MAX_AUTHOR = 80
MAX_COMMENT = 500
MAX_PRICE_BOOK = 5_000_000
MAX_SNAPSHOT = 5_000_000
MAX_QUERY = 200
# More revisions than any design has; far larger numbers do not fit the integers of the databases.
MAX_NUMBER = 1_000_000
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True)
class DesignContent:
    """One state of a design, ready to be saved. Made by :func:`sizer.library.records.content_of`."""

    request: dict[str, Any]  # as typed: plain data that JSON holds
    price_book: str  # CSV text of the session, or empty
    customer: str
    parts: tuple[str, ...]  # names by which a search finds it
    digest: str  # of request, price book, catalogue and calibration: equal digests, equal answers
    catalog_digest: str
    calibration_digest: str
    snapshot: Snapshot


@dataclass(frozen=True)
class RevisionEntry:
    """One revision in a list."""

    design_id: str
    number: int
    parent: int | None
    author: str
    comment: str
    created_at: datetime


@dataclass(frozen=True)
class Revision(RevisionEntry):
    """One revision with its content."""

    request: dict[str, Any]
    price_book: str
    digest: str
    catalog_digest: str
    calibration_digest: str
    snapshot_json: str

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """Snapshot of its answer; None where another version of this program wrote it."""
        return read_snapshot(self.snapshot_json)


@dataclass(frozen=True)
class SavedDesign:
    """One design with its newest revision."""

    id: str
    name: str
    customer: str
    is_hidden: bool
    newest: RevisionEntry
    snapshot: Snapshot | None  # of the newest revision


@dataclass(frozen=True)
class SearchPage:
    """One page of a search."""

    designs: tuple[SavedDesign, ...]
    damaged: tuple[str, ...]  # a sentence for each record of this page that cannot be read
    n_designs: int  # on all pages


@dataclass(frozen=True)
class SaveOutcome:
    """Result of a save."""

    number: int  # the revision with the state: the new one, or an existing one with the same content
    is_new: bool  # false where nothing had changed
    # Revisions that others saved after the one this state is based on. They stay unchanged.
    newer_revisions: tuple[RevisionEntry, ...] = ()


def is_design_id(text: str) -> bool:
    """Whether a text can be the id of a design."""
    return _ID.fullmatch(text) is not None


def checked_id(design_id: str) -> str:
    """The id of a design, if its form is valid."""
    if not is_design_id(design_id):
        raise LibraryError("not a design id: ids have 8 to 64 letters, digits, hyphens and underscores")
    return design_id


def checked_number(number: int) -> int:
    """Number of a revision, if it is in range."""
    if not 1 <= number <= MAX_NUMBER:
        raise LibraryError(
            f"revision {number if abs(number) < 10 * MAX_NUMBER else '…'} does not exist; the first is 1"
        )
    return number


def checked_text(text: str, what: str, longest: int, *, may_be_empty: bool = True) -> str:
    """Text without leading and trailing spaces, if every database stores it unchanged.

    Raises LibraryError if it is empty and must not be, too long, or contains a character that cannot be stored.
    """
    text = text.strip()
    if not text and not may_be_empty:
        raise LibraryError(f"{what} is empty; enter one")
    if len(text) > longest:
        raise LibraryError(f"{what} has {len(text)} characters; at most {longest} are allowed")
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
        raise LibraryError(
            f"{what} contains a character that cannot be stored (NUL or a lone surrogate); type it again"
        )
    return text


def checked_content(content: DesignContent) -> dict[str, Any]:
    """Columns with the content of a revision.

    Raises LibraryError if a part is larger than the library accepts, or not JSON.
    """
    try:
        request = json.dumps(content.request, allow_nan=False)
    except (TypeError, ValueError):
        raise LibraryError("the request contains a value that cannot be saved; correct it first") from None
    snapshot = content.snapshot.model_dump_json()
    for text, what, most in (
        (request, "the request", MAX_REQUEST_BYTES),
        (snapshot, "the answer", MAX_SNAPSHOT),
        (content.price_book, "the price book", MAX_PRICE_BOOK),
    ):
        if len(text) > most:
            raise LibraryError(f"{what} is too large to be saved: {len(text)} characters, at most {most} are allowed")
    if "\0" in content.price_book:
        raise LibraryError("the price book contains a NUL character, which cannot be stored")
    return {
        "customer": checked_text(content.customer, "the customer's name", MAX_NAME),
        "search_text": normalized(" ".join((content.customer, *content.parts))),
        "request": request,
        "price_book": content.price_book,
        "digest": content.digest,
        "catalog_digest": content.catalog_digest,
        "calibration_digest": content.calibration_digest,
        "snapshot": snapshot,
    }


def normalized(text: str) -> str:
    """Text as searches compare it: databases differ in how they compare capital and small letters."""
    composed = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(letter if letter.isprintable() else " " for letter in composed).split())


def utc_text(now: datetime) -> str:
    """A time as the library stores it, in UTC.

    Raises ValueError if it has no time zone.
    """
    if now.tzinfo is None:
        raise ValueError("the time of a revision needs a time zone")
    return now.astimezone(UTC).isoformat(timespec="microseconds")


def content_of(draft: Mapping[str, Any], price_book: str, result: SizingResult, catalog: Catalog) -> DesignContent:
    """Content that the library stores of one state of a design.

    ``draft``: the request as typed, in the form of its file; ``result`` is its answer. ``price_book``: CSV text of the
    price book of the answer in addition to the catalogue's own; empty: none. ``result``: the whole answer, not a
    customer's copy.
    """
    request = result.asked_request
    canonical = request.model_dump_json(exclude_defaults=True)
    inputs = (canonical, price_book, result.catalog_digest, result.calibration_digest)
    return DesignContent(
        request=_as_json(dict(draft)),
        price_book=price_book,
        customer=request.customer,
        parts=tuple(dict.fromkeys((result.design.name, *_part_names(result.design, catalog)))),
        digest=hashlib.sha256("\0".join(inputs).encode("utf-8", "surrogatepass")).hexdigest(),
        catalog_digest=result.catalog_digest,
        calibration_digest=result.calibration_digest,
        snapshot=snapshot_of(result),
    )


def _part_names(design: DesignAnswer, catalog: Catalog) -> Iterator[str]:
    """Names of the catalogue's items in a design and its workloads, by which designs are found."""
    platform = design.platform
    ids = [platform.gpu.id, platform.server.id, platform.storage.id]
    if platform.server.cpu is not None:
        ids.append(str(platform.server.cpu.value))
    for answer in design.workloads:
        ids += [answer.dnn.id, answer.dataset.id, answer.stack.id]
        ids += [] if answer.recipe is None else [answer.recipe.id]
    ids += [part.item for part in design.quantities.components if int(part.quantity[0])]
    ids += [line.item for line in design.bill.lines if line.item]
    for item in dict.fromkeys(ids):
        # Networks and data sets of the request itself are not in the catalogue.
        with suppress(KeyError):
            yield with_vendor(catalog.item(item))


def _as_json(value: Any) -> Any:
    """Plain data with dates as text: JSON has no dates, TOML has."""
    if isinstance(value, Mapping):
        return {key: _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    return value.isoformat() if isinstance(value, date) else value
