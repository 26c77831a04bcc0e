"""What a sentence was read as: the request, the words of each value, and what has to be asked."""

from dataclasses import dataclass
from typing import Any, Literal

from sizer.workload.sentence.text import Phrase

About = Literal[
    "number", "unavailable", "server", "task", "network", "layout", "target", "length", "limit", "currency", "refused"
]


@dataclass(frozen=True)
class Answer:
    """One answer to a question: its label, and the sentence with it."""

    label: str
    sentence: str


@dataclass(frozen=True)
class Question:
    """The one thing that has to be known before the request is complete.

    Attributes
    ----------
    about : str
        ``number``: two readings; ``unavailable``: not in the catalogue; ``server``:
        which server the customer's existing GPUs are in; ``task``, ``network``, ``layout``, ``target``, ``length``
        (of the training) and ``limit``: missing or with several readings; ``currency``: what a unit of it is worth;
        ``refused``: a value no request may have.
    words : str
        Words of the sentence that raise it; "" where something is missing.
    reason : str
        Of a refusal, a network or a layout, the sentence that says why; of what is not held, its kind in words; of an
        exchange rate the currency.
    available : tuple of str
        Of what is not held: what the catalogue has instead.
    answers : tuple of Answer
        The nearest first.
    """

    about: About
    words: str = ""
    reason: str = ""
    available: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A sentence read as a request.

    Attributes
    ----------
    sentence : str
        As it was read: on one line, with plain signs. Places of phrases are places in it.
    request : dict
        A request as its file would have it; valid where ``question`` is None, else what is known of it.
    phrases : tuple of Phrase
        In the order of the sentence; defaults last.
    question : Question or None
        What is asked next.
    unread : tuple of str
        Words that were not understood, or have no place in a request.
    """

    sentence: str
    request: dict[str, Any]
    phrases: tuple[Phrase, ...]
    question: Question | None
    unread: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the request can be sized."""
        return self.question is None

    def without(self, phrase: Phrase) -> str:
        """The sentence without some words."""
        return self.with_words(phrase, "")

    def with_words(self, phrase: Phrase, words: str) -> str:
        """The sentence with other words in the place of a phrase."""
        return " ".join(f"{self.sentence[: phrase.start]} {words} {self.sentence[phrase.end :]}".split())
