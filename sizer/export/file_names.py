"""Names of the files of an answer, and texts that no spreadsheet calculates."""

import datetime
import re
import unicodedata

from sizer.sizing.result import SizingResult

# Characters of customer, design and revision in a file's name; together they stay far below what file systems take.
_LONGEST_NAMES = (40, 60, 20)


def file_stem(result: SizingResult, revision: str = "", today: datetime.date | None = None) -> str:
    """What the names of all files of an answer start with: customer, design, revision, date.

    ``revision``: used where the quote names none, for example "r3" of a saved design. ``today``: used where the
    request has no date. Lower-case letters of ASCII, digits and hyphens, joined by underscores. A name that leaves
    nothing of these reads "customer" or "design".

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


# A spreadsheet reads a cell that starts with one of these as a formula, or skips the character and reads on.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
TO_BE_QUOTED = "to be quoted"
PROVIDED_BY_OTHERS = "provided by others"
# Control characters, lone surrogates, and the two code points that XML does not allow.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Letters and marks that have no width; the categories of Unicode have the other characters that nobody sees.
_WITHOUT_WIDTH = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_UNSEEN_CATEGORIES = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs")


def printable(text: str) -> str:
    """Text with a space for every unprintable character, line ends included."""
    return _UNPRINTABLE.sub(" ", text)


def is_formula_like(text: str) -> bool:
    """Whether a spreadsheet might calculate the text.

    Spaces and unseen characters before the first letter do not count. Full-width, small and raised forms of a sign
    count as the sign: input methods and conversions between encodings make one of the other.

    Examples
    --------
    >>> [is_formula_like(text) for text in ("=1", " \\u200b=1", "\\uff1d1", "1+1", "")]
    [True, True, True, False, False]
    """
    # Most texts begin with a plain letter or digit; a workbook has tens of thousands of them.
    if text[:1].isascii() and text[:1].isalnum():
        return False
    first = next((character for character in text if not _is_unseen(character)), "")
    return text.startswith(FORMULA_STARTS) or unicodedata.normalize("NFKC", first).startswith(FORMULA_STARTS)


def harmless(text: str) -> str:
    """Text with an apostrophe before what a spreadsheet might calculate; control characters become spaces."""
    clean = printable(text)
    return f"'{clean}" if is_formula_like(text) else clean


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN_CATEGORIES or _WITHOUT_WIDTH.match(character) is not None
