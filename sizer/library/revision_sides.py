"""A saved revision as one of two things that are compared, found by the design's name or id."""

import re

from sizer.base.errors import RequestError
from sizer.library.faults import LibraryError
from sizer.library.library import Library
from sizer.library.records import MAX_NAME, Design, looks_like_id
from sizer.library.sides import Side
from sizer.workload.request import SizingRequest

# "<design>@r3", "<design>@3", or "<design>@" for the newest.
NAMED = re.compile(r"(?P<design>.+)@(?:r?(?P<number>[0-9]{1,7}))?", re.DOTALL)
_MOST_LISTED = 5


def side_of_revision(named: str, library: Library) -> Side:
    """A revision with the answer that it was saved with.

    Parameters
    ----------
    named : str
        Name or id of a design, an at sign, and the number of a revision: ``Plant 4@r3``; without a number the newest.
    library : Library

    Raises
    ------
    LibraryError
        If the library has no such revision, or several designs of that name.
    RequestError
        If what is named is no revision, or this program does not understand its request.
    """
    found = NAMED.fullmatch(named)
    if found is None:
        raise RequestError(f"{named[:80]!r} is no revision; write the design's name or id and a number: 'Plant 4@r3'")
    design = _design(found["design"], library)
    revision = library.revision(design.id, int(found["number"]) if found["number"] else design.newest.number)
    place = f"{design.name}, revision {revision.number}"
    reason = "" if revision.snapshot is not None else "another version of the program saved it"
    return Side(
        place, SizingRequest.from_dict(revision.request, place), revision.snapshot, revision.price_book, True, reason
    )


def _design(named: str, library: Library) -> Design:
    """The design of a name, or of an id."""
    if len(named) > MAX_NAME:
        raise LibraryError(
            f"the library has no design called {named[:80]!r}…: names have at most {MAX_NAME} characters"
        )
    page, found, n_found = 0, [], 1
    while page * 100 < n_found:
        listed = library.search(named, page=page, per_page=100, with_hidden=True)
        found += [design for design in listed.designs if design.name.casefold() == named.casefold()]
        page, n_found = page + 1, listed.n_found
    if len(found) > 1:
        ids = ", ".join(design.id for design in found[:_MOST_LISTED])
        raise LibraryError(f"{len(found)} designs are called {named[:80]!r}; name one by its id: {ids}")
    if not found and not looks_like_id(named):
        raise LibraryError(f"the library has no design called {named[:80]!r}")
    return found[0] if found else library.design(named)
