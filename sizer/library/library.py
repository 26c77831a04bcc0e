"""The library: designs and their revisions. Saved revisions are never changed or removed.

The same code works with an SQLite file and a PostgreSQL database. Times and ids are arguments, so it needs neither a
clock nor random numbers.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from sizer.base.errors import RequestError
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.library.compare import ComparedAnswer, Snapshot, read_snapshot, snapshot_of
from sizer.library.opening import FAULTS, WRITES, LibraryError, database_error, designs, open_engine, revisions
from sizer.sizing.result import DesignAnswer, SizingResult
from sizer.workload.request import MAX_REQUEST_BYTES, SizingRequest

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
    """One state of a design, ready to be saved. Made by :func:`sizer.library.library.content_of`."""

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


_Row = Any  # of a query: its columns by their names
_REMEDY = "the others are not concerned; restore it from a backup of the library"


class DamagedRecordError(LibraryError):
    """A row of the library is damaged; the others can be read."""


def entry_of(row: _Row) -> RevisionEntry:
    """A revision in a list.

    Raises DamagedRecordError if a column holds what no save writes.
    """
    _check(row, ("author", "comment"))
    if not isinstance(row.design_id, str) or not is_design_id(row.design_id):
        raise _damaged(row, "the id of its design")
    if not _is_number(row.number):
        raise _damaged(row, "its number")
    if row.parent is not None and not _is_number(row.parent):
        raise _damaged(row, "the revision before it")
    try:
        time = datetime.fromisoformat(row.created_at)
        is_time = time.tzinfo is not None
    except (TypeError, ValueError):
        is_time = False
    if not is_time:
        raise _damaged(row, "its time")
    return RevisionEntry(row.design_id, row.number, row.parent, row.author, row.comment, time)


def design_of(row: _Row) -> SavedDesign:
    """A design with its newest revision; raises as :func:`entry_of`."""
    entry = entry_of(row)
    _check(row, ("name", "customer", "snapshot"))
    return SavedDesign(row.design_id, row.name, row.customer, bool(row.is_hidden), entry, read_snapshot(row.snapshot))


def designs_of(rows: Iterable[_Row]) -> tuple[tuple[SavedDesign, ...], tuple[str, ...]]:
    """Designs of the rows that can be read, and a sentence for each other one."""
    readable, damaged = [], []
    for row in rows:
        try:
            readable.append(design_of(row))
        except DamagedRecordError as error:
            damaged.append(str(error))
    return tuple(readable), tuple(damaged)


def revision_of(row: _Row) -> Revision:
    """A revision with its content; raises as :func:`entry_of`."""
    entry = entry_of(row)
    digests = ("digest", "catalog_digest", "calibration_digest")
    _check(row, ("request", "price_book", "snapshot", *digests))
    try:
        request = json.loads(row.request)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise _damaged(row, "its request")
    return Revision(
        **vars(entry),
        request=request,
        price_book=row.price_book,
        digest=row.digest,
        catalog_digest=row.catalog_digest,
        calibration_digest=row.calibration_digest,
        snapshot_json=row.snapshot,
    )


def _check(row: _Row, names: Sequence[str]) -> None:
    for name in names:
        if not _is_text(getattr(row, name)):
            raise _damaged(row, f"its {name.replace('_', ' ')}")


def _is_text(value: object) -> bool:
    # Bytes that are not UTF-8 arrive as lone surrogates.
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and 1 <= value <= MAX_NUMBER


def _damaged(row: _Row, what: str) -> DamagedRecordError:
    number = f"revision {row.number}" if _is_number(row.number) else "a revision"
    is_known = isinstance(row.design_id, str) and is_design_id(row.design_id)
    design = f"design {row.design_id}" if is_known else "a design of the library"
    return DamagedRecordError(f"{number} of {design} is damaged: {what} cannot be read; {_REMEDY}")


T = TypeVar("T")

# An attempt fails only because another writer succeeded; more failures than this have another cause.
_ATTEMPTS = 200
_ENTRY = tuple(revisions.c[field.name] for field in fields(RevisionEntry))


class Library:
    """Designs at one address. Several threads may use it at the same time.

    ``address``: ``postgresql://user@host/database``, ``sqlite:///file``, or the path of a file, which is made where
    it is missing. Raises LibraryError if it cannot be opened. Every method raises it too: where the database fails,
    and where a design or a revision does not exist.
    """

    def __init__(self, address: str) -> None:
        self._engine, self.place = open_engine(address)

    def close(self) -> None:
        self._engine.dispose()

    # --- saving

    def create(
        self, design_id: str, name: str, content: DesignContent, *, author: str, comment: str, now: datetime
    ) -> SaveOutcome:
        """Save a new design with its first revision.

        ``design_id``: 8 to 64 letters, digits, hyphens and underscores that nobody can guess: links to the design
        hold it. ``name``: at most 120 characters. ``author``, ``comment``: may be empty. ``now``: with its time zone.
        """
        columns = checked_content(content)
        checked_id(design_id)
        name = checked_text(name, "the name", MAX_NAME, may_be_empty=False)

        def write(connection: Connection) -> SaveOutcome:
            if connection.execute(select(designs.c.id).where(designs.c.id == design_id)).first() is not None:
                raise LibraryError("the library already has a design with this id; save it under another id")
            connection.execute(
                insert(designs).values(
                    id=design_id, name=name, search_text=normalized(name), created_at=utc_text(now), is_hidden=False
                )
            )
            self._insert(connection, design_id, 1, columns, parent=None, author=author, comment=comment, now=now)
            return SaveOutcome(1, True)

        return self._write(write)

    def save(
        self, design_id: str, based_on: int, content: DesignContent, *, author: str, comment: str, now: datetime
    ) -> SaveOutcome:
        """Save a state of a design as its next revision, also where others have saved newer ones.

        ``based_on``: revision that the state was made from. ``newer_revisions`` lists what others saved after
        ``based_on``. Nothing is saved where revision ``based_on`` or the newest one has the same content.
        """
        columns = checked_content(content)

        def write(connection: Connection) -> SaveOutcome:
            history = self._history(connection, design_id)
            parent = next((entry for entry, _ in history if entry.number == based_on), None)
            if parent is None:
                raise LibraryError(f"the design has no revision {based_on} to base this one on")
            newer_revisions = tuple(entry for entry, _ in history if entry.number > based_on)
            for entry, digest in (history[-1], *(revision for revision in history if revision[0] is parent)):
                if digest == content.digest:
                    return SaveOutcome(entry.number, False, newer_revisions)
            number = history[-1][0].number + 1
            self._insert(
                connection, design_id, number, columns, parent=based_on, author=author, comment=comment, now=now
            )
            return SaveOutcome(number, True, newer_revisions)

        return self._write(write)

    def rename(self, design_id: str, name: str) -> None:
        """Give a design another name; its revisions stay as they are."""
        name = checked_text(name, "the name", MAX_NAME, may_be_empty=False)
        self._update(design_id, name=name, search_text=normalized(name))

    def hide(self, design_id: str, *, is_hidden: bool) -> None:
        """Remove a design from the list, or put it back. It stays in the library, and its links still work."""
        self._update(design_id, is_hidden=is_hidden)

    # --- reading

    def search(self, words: str = "", *, page: int = 0, per_page: int = 20, with_hidden: bool = False) -> SearchPage:
        """Designs whose name, customer or parts hold every word, the last saved first.

        ``words``: compared without regard to capitals; empty finds all. No character has a meaning of its own.
        ``page``: from 0. ``per_page``: from 1. ``with_hidden``: whether hidden designs are among them.
        """
        wanted = normalized(words[:MAX_QUERY]).split()
        latest = (
            select(revisions.c.design_id, func.max(revisions.c.number).label("number"))
            .group_by(revisions.c.design_id)
            .subquery()
        )
        is_latest = and_(revisions.c.design_id == latest.c.design_id, revisions.c.number == latest.c.number)
        conditions: list[ColumnElement[bool]] = [
            or_(
                designs.c.search_text.contains(word, autoescape=True),
                revisions.c.search_text.contains(word, autoescape=True),
            )
            for word in wanted
        ]
        if not with_hidden:
            conditions.append(designs.c.is_hidden.is_(False))
        source = designs.join(revisions, revisions.c.design_id == designs.c.id).join(latest, is_latest)
        with self._reading() as connection:
            count = select(func.count()).select_from(source).where(*conditions)
            n_designs = connection.execute(count).scalar_one()
            rows = connection.execute(
                select(designs.c.name, designs.c.is_hidden, revisions.c.customer, revisions.c.snapshot, *_ENTRY)
                .select_from(source)
                .where(*conditions)
                .order_by(revisions.c.created_at.desc(), designs.c.id)
                .limit(per_page)
                .offset(page * per_page)
            ).all()
        return SearchPage(*designs_of(rows), n_designs)

    def design(self, design_id: str) -> SavedDesign:
        """A design with its newest revision, hidden or not."""
        checked_id(design_id)
        with self._reading() as connection:
            row = connection.execute(
                select(designs.c.name, designs.c.is_hidden, revisions.c.customer, revisions.c.snapshot, *_ENTRY)
                .join_from(designs, revisions, revisions.c.design_id == designs.c.id)
                .where(designs.c.id == design_id)
                .order_by(revisions.c.number.desc())
                .limit(1)
            ).one_or_none()
        if row is None:
            raise _no_design()
        return design_of(row)

    def revisions(self, design_id: str) -> tuple[RevisionEntry, ...]:
        with self._reading() as connection:
            return tuple(entry for entry, _ in self._history(connection, design_id))

    def revision(self, design_id: str, number: int) -> Revision:
        checked_id(design_id)
        checked_number(number)
        names = ("request", "price_book", "digest", "catalog_digest", "calibration_digest", "snapshot")
        with self._reading() as connection:
            row = connection.execute(
                select(*_ENTRY, *(revisions.c[name] for name in names)).where(
                    revisions.c.design_id == design_id, revisions.c.number == number
                )
            ).one_or_none()
        if row is None:
            raise LibraryError(f"the library has no revision {number} of this design")
        return revision_of(row)

    # --- inside

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection, connection.begin():
                yield connection
        except FAULTS as error:
            raise database_error(self.place, error, self._engine) from None

    def _write(self, write: Callable[[Connection], T]) -> T:
        """Write in one transaction; repeat it where another writer took the same revision number."""
        try:
            for _ in range(_ATTEMPTS):
                try:
                    with (
                        self._engine.connect().execution_options(**{WRITES: True}) as connection,
                        connection.begin(),
                    ):
                        return write(connection)
                except IntegrityError:
                    continue
        except FAULTS as error:
            raise database_error(self.place, error, self._engine) from None
        raise LibraryError(f"{self.place} is overloaded: too many users save at the same time; try again")

    @staticmethod
    def _insert(
        connection: Connection,
        design_id: str,
        number: int,
        columns: dict[str, Any],
        *,
        parent: int | None,
        author: str,
        comment: str,
        now: datetime,
    ) -> None:
        connection.execute(
            insert(revisions).values(
                design_id=design_id,
                number=number,
                parent=parent,
                author=checked_text(author, "the name of the author", MAX_AUTHOR),
                comment=checked_text(comment, "the comment", MAX_COMMENT),
                created_at=utc_text(now),
                **columns,
            )
        )

    def _update(self, design_id: str, **values: Any) -> None:
        checked_id(design_id)

        def write(connection: Connection) -> None:
            done = connection.execute(update(designs).where(designs.c.id == design_id).values(**values))
            if done.rowcount == 0:
                raise _no_design()

        self._write(write)

    @staticmethod
    def _history(connection: Connection, design_id: str) -> list[tuple[RevisionEntry, str]]:
        checked_id(design_id)
        rows = connection.execute(
            select(*_ENTRY, revisions.c.digest).where(revisions.c.design_id == design_id).order_by(revisions.c.number)
        ).all()
        if not rows:
            raise _no_design()
        return [(entry_of(row), row.digest) for row in rows]


def _no_design() -> LibraryError:
    return LibraryError("the library has no such design; check that the link is complete and belongs to this library")


# "<design>@r3", "<design>@3", or "<design>@" for the newest.
NAMED = re.compile(r"(?P<design>.+)@(?:r?(?P<number>[0-9]{1,7}))?", re.DOTALL)
_MOST_LISTED = 5


def answer_of_revision(named: str, library: Library) -> ComparedAnswer:
    """The answer that a revision was saved with.

    ``named``: name or id of a design, an at sign, and the number of a revision: ``Plant 4@r3``; without a number the
    newest. Raises LibraryError if the library has no such revision, or several designs of that name. Raises
    RequestError if the text names no revision, or its request is not valid.
    """
    match = NAMED.fullmatch(named)
    if match is None:
        raise RequestError(
            f"{named[:80]!r} is not a revision; write the name or id of the design and a number: 'Plant 4@r3'"
        )
    design = _design(match["design"], library)
    revision = library.revision(design.id, int(match["number"]) if match["number"] else design.newest.number)
    place = f"{design.name}, revision {revision.number}"
    reason = "" if revision.snapshot is not None else "it was saved by another version of the program"
    return ComparedAnswer(
        place, SizingRequest.from_dict(revision.request, place), revision.snapshot, revision.price_book, True, reason
    )


def _design(named: str, library: Library) -> SavedDesign:
    if len(named) > MAX_NAME:
        raise LibraryError(
            f"the library has no design called {named[:80]!r}…: names have at most {MAX_NAME} characters"
        )
    page, matches, n_designs = 0, [], 1
    while page * 100 < n_designs:
        listed = library.search(named, page=page, per_page=100, with_hidden=True)
        matches += [design for design in listed.designs if design.name.casefold() == named.casefold()]
        page, n_designs = page + 1, listed.n_designs
    if len(matches) > 1:
        ids = ", ".join(design.id for design in matches[:_MOST_LISTED])
        raise LibraryError(f"{len(matches)} designs are called {named[:80]!r}; use the id of one: {ids}")
    if not matches and not is_design_id(named):
        raise LibraryError(f"the library has no design called {named[:80]!r}")
    return matches[0] if matches else library.design(named)
