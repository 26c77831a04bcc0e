"""What is known of a request while its sentence is read."""

import re
from dataclasses import dataclass, field
from typing import Any

from sizer.catalog.model import Catalog
from sizer.workload.sentence.names import Mention
from sizer.workload.sentence.reading import Answer, Question
from sizer.workload.sentence.text import Phrase, UnreadText

_CLAUSE_BEFORE = 60  # characters


@dataclass
class Notes:
    """The text, the names in it, and what was read so far."""

    text: UnreadText
    catalog: Catalog
    mentions: list[Mention]
    request: dict[str, Any] = field(default_factory=dict)
    work: dict[str, Any] = field(default_factory=dict)
    dnns: list[str] = field(default_factory=list)
    own_model: dict[str, Any] | None = None  # a language model given by its size or shape
    own_model_phrases: list[Phrase] = field(default_factory=list)
    # Two trainings of one sentence, each with its network, and where the second begins; else empty.
    trainings: list[dict[str, Any]] = field(default_factory=list)
    second_training_at: int = 0
    # Targets that belong to one network, or by its place to one of two trainings; else empty.
    own_targets: dict[str | int, dict[str, Any]] = field(default_factory=dict)
    own_datasets: dict[str, str] = field(default_factory=dict)  # data sets (ids) by the network that reads them
    questions: list[Question] = field(default_factory=list)
    refused_kind: Question | None = None  # the sentence is about work that is not sized
    unusable: list[str] = field(default_factory=list)  # phrases that have no place in a request
    currency: str = ""
    fabric_rate: re.Match[str] | None = None  # of each server or GPU, taken once the servers are known
    means_language: bool = False  # words of language models, with or without a name of one

    def table(self, name: str) -> dict[str, Any]:
        """A table of the request, made where it is missing."""
        found: dict[str, Any] = self.request.setdefault(name, {})
        return found

    def ask(self, question: Question) -> None:
        """Ask something that has to be known before the request is complete."""
        self.questions.append(question)

    def refuse(self, words: str, reason: str) -> None:
        """Refuse what no request may have."""
        self.ask(Question("refused", words, reason))

    def leave(self, match: re.Match[str]) -> None:
        """Note a phrase that has no place in a request."""
        self.unusable.append(self.text.sentence[match.start() : match.end()].strip())
        self.text.mark(match.start(), match.end())

    def state_currency(self, currency: str, words: str) -> None:
        """Take the currency of an amount; "" where it states none."""
        if currency and self.currency not in ("", currency):
            self.refuse(words, f"amounts in {self.currency} and in {currency}; write one currency")
            return
        self.currency = currency or self.currency
        if currency not in ("", "USD"):
            self.request["currency"] = currency

    def mentions_in(self, start: int, end: int, kind: str) -> list[Mention]:
        """Names of a kind between two places."""
        return [one for one in self.mentions if one.kind == kind and start <= one.start and one.end <= end]

    def before(self, start: int) -> str:
        """What stands before a place in the same clause and is not read yet."""
        return re.split(r"[.;:!?,]", self.text.left[max(0, start - _CLAUSE_BEFORE) : start])[-1]

    def after(self, end: int) -> str:
        """What stands after a place and is not read yet."""
        return self.text.left[end : end + _CLAUSE_BEFORE]

    def replaced(self, start: int, end: int, words: str) -> str:
        """The sentence with other words in one place."""
        sentence = self.text.sentence
        return " ".join(f"{sentence[:start]}{words}{sentence[end:]}".split())

    def answer(self, label: str, words: str = "") -> Answer:
        """An answer that adds words to the sentence."""
        return Answer(label, f"{self.text.sentence.rstrip(' .,;')}, {words or label}")
