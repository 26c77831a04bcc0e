"""What a sentence was read as: the request, the words of each value, what is assumed, and what has to be asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sizer.workload.sentence.grammar import GRAMMAR
from sizer.workload.sentence.text import Phrase

_LONGEST_LIST = 12  # names in a sentence
# By key: whether it blocks, the question, and what is assumed where it does not.
_QUESTIONS: dict[str, tuple[str, str, str]] = GRAMMAR["questions"]
_ORDER = {key: index for index, key in enumerate(_QUESTIONS)}
Edit = tuple[int, int, str]  # words in the place of what stands between two places of a sentence


@dataclass(frozen=True)
class Answer:
    """One answer to a question: its label, the sentence with it, and what it changes there, by which it is assumed."""

    label: str
    sentence: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Question:
    """One thing that is not known; the table of questions says whether it is asked or assumed."""

    key: str  # in that table
    words: str = ""  # that raise it; "" where something is missing
    reason: str = ""  # why, as a sentence; of what is not held, its kind in words
    available: tuple[str, ...] = ()  # of what is not held: what the catalogue has instead
    answers: tuple[Answer, ...] = ()  # the nearest first, which is what is assumed

    @property
    def about(self) -> str:
        """What kind of thing it is about."""
        return self.key.split()[0]

    @property
    def place(self) -> int:
        """Its place in the order in which questions are asked."""
        return _ORDER[self.key]

    @property
    def labels(self) -> list[str]:
        """Its answers in words."""
        return [answer.label for answer in self.answers]

    @property
    def text(self) -> str:
        """The question in words."""
        more = len(self.available) - _LONGEST_LIST
        held = ", ".join(self.available[:_LONGEST_LIST]) + (f" and {more} more" if more > 0 else "")
        return self._said(1, held)

    @property
    def assumption(self) -> str:
        """What is assumed in its place."""
        return self._said(2)

    def _said(self, column: int, held: str = "") -> str:
        said = f"{self.words}: {self.reason}" if self.words else self.reason
        texts = {"words": self.words, "reason": self.reason, "said": said, "held": held}
        return _QUESTIONS[self.key][column].format(**texts, answer=next(iter(self.labels), ""))


def assumed_of(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Questions whose answers are assumed: none where one has to be asked, or two things of the need are missing.

    Which servers are there is settled first: their GPUs may be the target. What nobody read is asked last.
    """
    questions = [question for question in questions if _QUESTIONS[question.key][0] != "last"]
    kinds = [_QUESTIONS[question.key][0] for question in questions]
    has_answers = all(any(answer.edits for answer in question.answers[:1]) for question in questions)
    servers = tuple(question for question in questions if question.about == "server")
    return (servers or tuple(questions)) if has_answers and "blocks" not in kinds and kinds.count("alone") <= 1 else ()


@dataclass(frozen=True)
class Reading:
    """A sentence read as a request."""

    sentence: str  # on one line, with plain signs: places of phrases are places in it
    request: dict[str, Any]  # as its file would have it; valid where nothing is asked, else what is known of it
    phrases: tuple[Phrase, ...]  # in the order of the sentence; assumptions last
    questions: tuple[Question, ...]  # the first thing first
    unread: tuple[str, ...]  # words that were not understood, or have no place in a request

    def __post_init__(self) -> None:
        phrases: list[Phrase] = []
        ends: dict[str, int] = {}  # where the words of a meaning end so far: longer words hold shorter ones
        for fromkey in sorted(dict.fromkeys(self.phrases), key=lambda one: (not one.words, one.start, -one.end)):
            if not fromkey.words or fromkey.end > ends.get(fromkey.meaning, 0):
                phrases.append(fromkey)
                ends[fromkey.meaning] = fromkey.end
        object.__setattr__(self, "phrases", tuple(phrases))
        object.__setattr__(self, "questions", tuple(sorted(self.questions, key=lambda question: question.place)))

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
            {"about": question.about, "words": question.words, "question": question.text, "answers": question.labels}
            for question in self.questions
            if question.about != "refused"
        ]
        return {"unread": list(self.unread), "asked": asked, "refused": self.refused}

    def with_words(self, phrase: Phrase, words: str) -> str:
        """The sentence with other words in the place of a phrase."""
        return " ".join(f"{self.sentence[: phrase.start]} {words} {self.sentence[phrase.end :]}".split())


# A request file leaves nothing open.
READ_FROM_A_FILE = Reading("", {}, (), (), ())
