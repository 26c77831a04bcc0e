"""The answer of a saved revision, found by the name or id of its design."""

import re

from sizer.base.errors import RequestError
from sizer.library.compared_answers import ComparedAnswer
from sizer.library.faults import LibraryError
from sizer.library.library import Library
from sizer.library.records import MAX_NAME, SavedDesign, is_design_id
from sizer.workload.request import SizingRequest

# "<design>@r3", "<design>@3", or "<design>@" for the newest.
NAMED = re.compile(r"(?P<design>.+)@(?:r?(?P<number>[0-9]{1,7}))?", re.DOTALL)
_MOST_LISTED = 5


def answer_of_revision(named: str, library: Library) -> ComparedAnswer:
    """The answer that a revision was saved with.

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
        If the text names no revision, or its request is not valid.
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
    """The design of a name, or of an id."""
    if len(named) > MAX_NAME:
        raise LibraryError(
            f"the library has no design called {named[:80]!r}…: names have at most {MAX_NAME} characters"
        )
    page, found, n_designs = 0, [], 1
    while page * 100 < n_designs:
        listed = library.search(named, page=page, per_page=100, with_hidden=True)
        found += [design for design in listed.designs if design.name.casefold() == named.casefold()]
        page, n_designs = page + 1, listed.n_designs
    if len(found) > 1:
        ids = ", ".join(design.id for design in found[:_MOST_LISTED])
        raise LibraryError(f"{len(found)} designs are called {named[:80]!r}; use the id of one: {ids}")
    if not found and not is_design_id(named):
        raise LibraryError(f"the library has no design called {named[:80]!r}")
    return found[0] if found else library.design(named)
