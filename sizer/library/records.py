"""What goes into a library and what comes out of it, and the limits of both."""

import json
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sizer.library.faults import LibraryError
from sizer.library.snapshot import Snapshot, read_snapshot
from sizer.workload.request import MAX_REQUEST_BYTES

MAX_NAME = 120
MAX_AUTHOR = 80
MAX_COMMENT = 500
MAX_PRICE_BOOK = 5_000_000
MAX_SNAPSHOT = 5_000_000
MAX_QUERY = 200
# Beyond any number that a design will ever reach; larger ones do not fit the databases' integers.
MAX_NUMBER = 1_000_000
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True)
class Content:
    """One state of a design, as it is saved. Made by :func:`sizer.library.content.content_of`."""

    request: dict[str, Any]  # as typed: plain data that JSON holds
    price_book: str  # CSV text of the session, or empty
    customer: str
    parts: tuple[str, ...]  # names by which a search finds it
    digest: str  # of what the request means and its answer hangs on: equal digests, equal answers
    catalog_digest: str
    calibration_digest: str
    snapshot: Snapshot


@dataclass(frozen=True)
class Entry:
    """What a list says of one revision."""

    design_id: str
    number: int
    parent: int | None
    author: str
    comment: str
    created_at: datetime


@dataclass(frozen=True)
class Revision(Entry):
    """One revision with all that it holds."""

    request: dict[str, Any]
    price_book: str
    digest: str
    catalog_digest: str
    calibration_digest: str
    snapshot_json: str

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """What the revision remembers of its answer; None where another version of this program wrote it."""
        return read_snapshot(self.snapshot_json)


@dataclass(frozen=True)
class Design:
    """One design with its newest revision."""

    id: str
    name: str
    customer: str
    is_hidden: bool
    newest: Entry
    snapshot: Snapshot | None  # of the newest revision


@dataclass(frozen=True)
class Found:
    """One page of a search."""

    designs: tuple[Design, ...]
    n_found: int  # on all pages


@dataclass(frozen=True)
class Saved:
    """What became of a save.

    Attributes
    ----------
    number : int
        The revision that holds the state: the new one, or the one that held it already.
    is_new : bool
        False where nothing was to be saved.
    meanwhile : tuple of Entry
        Revisions that others saved since the one that this state was made from. They are kept beside it.
    """

    number: int
    is_new: bool
    meanwhile: tuple[Entry, ...] = ()


def looks_like_id(text: str) -> bool:
    """Whether a text can be the id of a design."""
    return _ID.fullmatch(text) is not None


def checked_id(design_id: str) -> str:
    """The id of a design, if it looks like one."""
    if not looks_like_id(design_id):
        raise LibraryError("that is no id of a design: ids have 8 to 64 letters, digits, hyphens and underscores")
    return design_id


def checked_number(number: int) -> int:
    """Number of a revision, if it can be one."""
    if not 1 <= number <= MAX_NUMBER:
        raise LibraryError(
            f"revision {number if abs(number) < 10 * MAX_NUMBER else '…'} does not exist; the first is 1"
        )
    return number


def checked_text(text: str, what: str, longest: int, *, may_be_empty: bool = True) -> str:
    """Text without blanks at its ends, if every database keeps it as it is.

    Raises
    ------
    LibraryError
        If it is empty and must not be, too long, or holds a character that is none.
    """
    text = text.strip()
    if not text and not may_be_empty:
        raise LibraryError(f"{what} is empty; give the design one")
    if len(text) > longest:
        raise LibraryError(f"{what} has {len(text)} characters; at most {longest} are kept")
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
        raise LibraryError(f"{what} holds a character that no database keeps (a NUL or half of a pair); type it again")
    return text


def checked_content(content: Content) -> dict[str, Any]:
    """Columns of a revision that hold its content.

    Raises
    ------
    LibraryError
        If a part is larger than the library takes, or no JSON.
    """
    try:
        request = json.dumps(content.request, allow_nan=False)
    except (TypeError, ValueError):
        raise LibraryError("the request holds something that cannot be saved; mend it first") from None
    snapshot = content.snapshot.model_dump_json()
    for text, what, most in (
        (request, "the request", MAX_REQUEST_BYTES),
        (snapshot, "the answer", MAX_SNAPSHOT),
        (content.price_book, "the price book", MAX_PRICE_BOOK),
    ):
        if len(text) > most:
            raise LibraryError(f"{what} is too large to be saved: {len(text)} characters, {most} are taken")
    if "\0" in content.price_book:
        raise LibraryError("the price book holds a NUL character, which no database keeps")
    return {
        "customer": checked_text(content.customer, "the customer's name", MAX_NAME),
        "search_text": folded(" ".join((content.customer, *content.parts))),
        "request": request,
        "price_book": content.price_book,
        "digest": content.digest,
        "catalog_digest": content.catalog_digest,
        "calibration_digest": content.calibration_digest,
        "snapshot": snapshot,
    }


def folded(text: str) -> str:
    """Text as searches compare it: the databases themselves tell capitals from small letters differently."""
    composed = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(one if one.isprintable() else " " for one in composed).split())


def instant(now: datetime) -> str:
    """A moment as the library keeps it, in UTC.

    Raises
    ------
    ValueError
        If it has no time zone.
    """
    if now.tzinfo is None:
        raise ValueError("the time of a revision needs a time zone")
    return now.astimezone(UTC).isoformat(timespec="microseconds")
