"""Records from rows of the database. A row that this program cannot have written is reported and not used."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sizer.library.faults import LibraryError
from sizer.library.records import MAX_NUMBER, Revision, RevisionEntry, SavedDesign, is_design_id
from sizer.library.snapshot import read_snapshot

_Row = Any  # of a query: its columns by their names
_REMEDY = "the others are not concerned; restore it from a backup of the library"


class DamagedRecordError(LibraryError):
    """A row of the library is damaged; the others can be read."""


def entry_of(row: _Row) -> RevisionEntry:
    """A revision in a list.

    Raises
    ------
    DamagedRecordError
        If a column holds what no save writes.
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
    found, damaged = [], []
    for row in rows:
        try:
            found.append(design_of(row))
        except DamagedRecordError as error:
            damaged.append(str(error))
    return tuple(found), tuple(damaged)


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


def check_content(row: _Row) -> None:
    """Raise as :func:`entry_of` where a revision is damaged that is about to be copied."""
    revision_of(row)
    _check(row, ("customer", "search_text"))


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
