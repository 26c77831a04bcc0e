"""Text that is safe in other programs: no control characters, nothing that a spreadsheet reads as a formula."""

import re

# A spreadsheet reads a cell that starts with one of these as a formula, or skips the character and reads on.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
TO_BE_QUOTED = "to be quoted"
PROVIDED_BY_OTHERS = "provided by others"
# Control characters, lone surrogates, and the two code points that XML does not allow.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Text with a space for every unprintable character, line ends included."""
    return _UNPRINTABLE.sub(" ", text)


def is_formula_like(text: str) -> bool:
    """Whether a spreadsheet might calculate the text."""
    return text.lstrip(" ").startswith(FORMULA_STARTS) or text.startswith(FORMULA_STARTS)


def harmless(text: str) -> str:
    """Text with an apostrophe before what a spreadsheet might calculate; control characters become spaces."""
    clean = printable(text)
    return f"'{clean}" if is_formula_like(text) else clean
