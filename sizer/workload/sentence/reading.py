"""What a sentence was read as: the request, the words of each value, what is assumed, and what has to be asked."""

from dataclasses import dataclass
from typing import Any

from sizer.workload.sentence.grammar import GRAMMAR
from sizer.workload.sentence.text import Phrase

_LONGEST_LIST = 12  # names in a sentence
_TEXTS: dict[str, str] = GRAMMAR["questions"]


@dataclass(frozen=True)
class Answer:
    """One answer to a question: its label, and the sentence with it."""

    label: str
    sentence: str


@dataclass(frozen=True)
class Question:
    """One thing that has to be known before the request is complete."""

    # ``number``: two readings; ``unavailable``: not in the catalogue; ``server``: which one the customer's GPUs are in;
    # ``place``: a quantity that no request of this work can state; ``refused``: a value that no request may have;
    # the others are missing or have several readings.
    about: str
    words: str = ""  # that raise it; "" where something is missing
    reason: str = ""  # why, as a sentence; of what is not held, its kind in words
    available: tuple[str, ...] = ()  # of what is not held: what the catalogue has instead
    answers: tuple[Answer, ...] = ()  # the nearest first

    @property
    def labels(self) -> list[str]:
        """Its answers in words."""
        return [answer.label for answer in self.answers]

    @property
    def text(self) -> str:
        """The question in words."""
        more = len(self.available) - _LONGEST_LIST
        held = ", ".join(self.available[:_LONGEST_LIST]) + (f" and {more} more" if more > 0 else "")
        said = f"{self.words}: {self.reason}" if self.words else self.reason
        key = {
            ("task", False): "tests",
            ("network", False): "network named" if self.words else "network missing",
            ("length", False): "lengths",
            ("number", True): "number said",
            ("unavailable", self.reason == "neural network"): "network unavailable",
        }.get((self.about, bool(self.reason)), self.about)
        return _TEXTS[key].format(words=self.words, reason=self.reason, said=said, held=held)


@dataclass(frozen=True)
class Reading:
    """A sentence read as a request."""

    sentence: str  # on one line, with plain signs: places of phrases are places in it
    request: dict[str, Any]  # as its file would have it; valid where nothing is asked, else what is known of it
    phrases: tuple[Phrase, ...]  # in the order of the sentence; assumptions last
    questions: tuple[Question, ...]  # the first thing first
    unread: tuple[str, ...]  # words that were not understood, or have no place in a request

    def __post_init__(self) -> None:
        phrases = sorted(dict.fromkeys(self.phrases), key=lambda phrase: (not phrase.words, phrase.start))
        object.__setattr__(self, "phrases", tuple(phrases))

    @property
    def question(self) -> Question | None:
        """What is asked next."""
        return self.questions[0] if self.questions else None

    @property
    def is_complete(self) -> bool:
        """Whether the request can be sized."""
        return not self.questions

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed because the sentence does not give it."""
        return tuple(phrase.meaning for phrase in self.phrases if not phrase.words)

    @property
    def refused(self) -> str | None:
        """Why no request can say this; None where something is asked, or nothing."""
        return self.question.text if self.question is not None and self.question.about == "refused" else None

    def told(self) -> dict[str, Any]:
        """What the sentence leaves open, as plain data: unread words, questions with their answers, or the refusal."""
        asked = [
            {"about": one.about, "words": one.words, "question": one.text, "answers": one.labels}
            for one in self.questions
            if one.about != "refused"
        ]
        return {"unread": list(self.unread), "asked": asked, "refused": self.refused}

    def with_words(self, phrase: Phrase, words: str) -> str:
        """The sentence with other words in the place of a phrase."""
        return " ".join(f"{self.sentence[: phrase.start]} {words} {self.sentence[phrase.end :]}".split())


# A request file leaves nothing open.
READ_FROM_A_FILE = Reading("", {}, (), (), ())
