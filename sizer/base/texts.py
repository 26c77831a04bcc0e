"""Texts that people write: checked where they are read, and escaped where a terminal shows them."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

# Control characters, halves of a character, marks that turn the direction of what follows, and code points that are no
# characters. They crash native layout code, end a PDF or an XML file early, or show another text than is stored.
_FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef" + "".join(
    f"{chr((plane << 16) + 0xFFFE)}{chr((plane << 16) + 0xFFFF)}" for plane in range(17)
)
_FORBIDDEN_CHARACTER = re.compile(f"[{_FORBIDDEN}]")
_LINE_END = re.compile("[\t\n\r\u2028\u2029]")


# "8 x 400 GbE", as catalogue files say it.
_TIMES = re.compile(r"(?<=\d) x (?=[\dA-Z])")


def with_times_sign(text: str) -> str:
    """Text with the sign of multiplication in its counts: "8 × 400 GbE"."""
    return _TIMES.sub(" × ", text)


def paragraphs(text: str) -> str:
    """Text that may have several lines.

    Raises ValueError if it has a control character, a mark that reverses text, or a code point that is no character.
    """
    match = _FORBIDDEN_CHARACTER.search(text)
    if match:
        raise ValueError(
            f"contains the control character U+{ord(match[0]):04X} (character {match.start() + 1}); remove it"
        )
    return text


def line(text: str) -> str:
    """Text of one line.

    Raises ValueError as for :func:`paragraphs`, and if it has a tab or a line break.
    """
    match = _LINE_END.search(text)
    if match:
        raise ValueError(f"contains a tab or line break (character {match.start() + 1}); use a single line")
    return paragraphs(text)


# Every text field of a request, a catalogue file, a price book and a profile is one of these, or has a pattern.
Name = Annotated[str, Field(min_length=1, max_length=120), AfterValidator(line)]
ShortText = Annotated[str, Field(max_length=120), AfterValidator(line)]
Note = Annotated[str, Field(max_length=300), AfterValidator(paragraphs)]  # a cell of a spreadsheet may have lines
LongText = Annotated[str, Field(max_length=1_000), AfterValidator(line)]
Paragraphs = Annotated[str, Field(max_length=2_000), AfterValidator(paragraphs)]


def escaped(text: str) -> str:
    r"""Text that a terminal shows and does not obey: every character that it would act on as its escape sequence.

    Examples
    --------
    >>> print(escaped("bell\x07, \x1b[2Jclear, \u202eturned"))
    bell\x07, \x1b[2Jclear, \u202eturned
    """
    # Line feeds between errors stay.
    return _FORBIDDEN_CHARACTER.sub(
        lambda match: match[0].encode("unicode_escape").decode(), text.replace("\r", "\\r").replace("\t", " ")
    )
