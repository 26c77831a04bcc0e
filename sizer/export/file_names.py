"""Names of the files of an answer, from its customer, design, revision and date."""

import datetime
import re
import unicodedata

from sizer.sizing.result import SizingResult

# Characters of customer, design and revision in a file's name; together they stay far below what file systems take.
_LONGEST_NAMES = (40, 60, 20)


def file_stem(result: SizingResult, revision: str = "", today: datetime.date | None = None) -> str:
    """What the names of all files of an answer start with: customer, design, revision, date.

    Parameters
    ----------
    result : SizingResult
        The sized request.
    revision : str
        Used where the quote names none, for example "r3" of a saved design.
    today : date, optional
        Used where the request has no date.

    Returns
    -------
    str
        Lower-case letters of ASCII, digits and hyphens, joined by underscores. A name that leaves nothing of these
        reads "customer" or "design".

    Examples
    --------
    ``acme-motors_nine-dgx-1_r3_2026-11-22``
    """
    request = result.request
    day = request.date or today
    parts = (
        (request.customer, "customer"),
        (request.title, "design"),
        (request.quote.revision or revision, "draft"),
    )
    names = [_name_part(text, longest) or empty for (text, empty), longest in zip(parts, _LONGEST_NAMES, strict=True)]
    return "_".join([*names, "undated" if day is None else day.isoformat()])


def _name_part(text: str, longest: int) -> str:
    """Text without what a path, a shell or Windows would read something into."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")[:longest].rstrip("-")
