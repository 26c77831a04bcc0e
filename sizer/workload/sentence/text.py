"""The text of a sentence: normal signs, what of it was read, and what was not yet."""

import re
import unicodedata
from dataclasses import dataclass, field

# Replaces words that were read; patterns do not match across it.
READ = "\x00"
_SIGNS = str.maketrans({**dict.fromkeys("‐‑‒–—―−", "-"), **dict.fromkeys("’‘ʼ´`", "'"), "×": "x", "⁄": "/"})
_TIMES = re.compile(r"(?<![\w.])(\d{1,6})x(?=[A-Za-z])")  # 16xV100
_TRAILING = re.compile(r"[\s,;.!?()]+$")


def normal(text: str) -> str:
    """Text on one line with plain spaces, hyphens and apostrophes, without control characters."""
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    visible = "".join(" " if unicodedata.category(sign)[0] in "CZ" else sign for sign in plain)
    return " ".join(_TIMES.sub(r"\1 x ", visible).split())


@dataclass(frozen=True)
class Phrase:
    """Words that were read: their place in the sentence and what they mean; no words for a default."""

    words: str
    meaning: str
    start: int = 0
    end: int = 0


@dataclass
class UnreadText:
    """A sentence of which more and more is read; what is read is blanked out, so that nothing is read twice."""

    sentence: str
    left: str = ""
    phrases: list[Phrase] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = self.sentence

    def find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """First match in what is not read yet."""
        return pattern.search(self.left)

    def mark(self, start: int, end: int, sign: str = READ) -> None:
        """Blank out some words, with a sign that tells what they are."""
        self.left = self.left[:start] + sign * (end - start) + self.left[end:]

    def record(self, match: re.Match[str], meaning: str) -> None:
        """Take the words of a match as read."""
        self.record_words(match.start(), match.end(), meaning)

    def record_words(self, start: int, end: int, meaning: str) -> None:
        """Take words as read."""
        while start < end and self.sentence[start] == " ":
            start += 1
        words = _TRAILING.sub("", self.sentence[start:end])
        self.mark(start, start + len(words))
        self.phrases.append(Phrase(words, meaning, start, start + len(words)))

    def default(self, meaning: str) -> None:
        """Note what is assumed because the sentence does not give it."""
        self.phrases.append(Phrase("", meaning))
