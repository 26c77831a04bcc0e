"""What is known of a request while its sentence is read, and the one rule for values that are stated twice."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.workload.kinds import ToldKind
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.quantities import Amount, written_number
from sizer.workload.sentence.reading import Answer, Edit, Question
from sizer.workload.sentence.scope import clause_of
from sizer.workload.sentence.text import Match, Name, SentenceText

# Keys of a target.
RATE, TIME = "samples_per_s", "time_to_train_s"
LEAST_PERIOD_S = 43_200  # of work that is told by the day or the night


@dataclass
class Notes:
    """The text, and what was read of it so far."""

    text: SentenceText
    catalog: Catalog
    request: dict[str, Any] = field(default_factory=dict)
    work: dict[str, Any] = field(default_factory=dict)
    dnns: list[str] = field(default_factory=list)
    own_model: dict[str, Any] | None = None  # a language model given by its size or shape
    own_network: dict[str, Any] | None = None  # another network, given by its numbers
    own_datasets: dict[str, str] = field(default_factory=dict)  # data sets (ids) by the network that reads them
    questions: list[Question] = field(default_factory=list)
    is_refused: bool = False  # the sentence is about work that is not sized
    second_job: ToldKind | None = None  # with its clause, next to a training
    left: list[tuple[int, str]] = field(default_factory=list)  # phrases that have no place in a request
    gone: set[Name] = field(default_factory=set)  # equipment that is replaced or not wanted
    excluded_gpus: set[str] = field(default_factory=set)
    currency: str = ""
    strengths: dict[str, int] = field(default_factory=dict)  # of values by key: 1 for a limit, -1 for what may be
    owned_gpus: int = 0  # in servers that the catalogue lacks
    fabric_rate: Match | None = None  # of each server or GPU, taken once the servers are known
    means_language: bool = False  # words of language models, with or without a name of one

    def table(self, name: str) -> dict[str, Any]:
        """A table of the request, made where it is missing."""
        found: dict[str, Any] = self.request.setdefault(name, {})
        return found

    @property
    def has_target(self) -> bool:
        """Whether the sentence states a target."""
        return "target" in self.work

    @property
    def networks(self) -> list[Dnn]:
        """The named networks."""
        return [self.catalog.dnns[key] for key in self.dnns]

    @property
    def is_language(self) -> bool:
        """Whether the training is that of a language model."""
        return self.own_model is not None or any(one.transformer is not None for one in self.networks)

    def names(self, *kinds: str) -> list[Name]:
        """Names of some kinds in the whole sentence, but for those of equipment that goes away."""
        return [one for one in self.text.things if isinstance(one, Name) and one.kind in kinds and one not in self.gone]

    def set(self, path: str, value: Any, found: Match, meaning: str) -> None:
        """Take a value; of two different ones for the same key none is taken, and one is asked for."""
        *tables, key = path.split(".")
        place: dict[str, Any] = self.request
        if tables[:1] == ["w"]:
            place, tables = self.work, tables[1:]
        for name in tables:
            place = place.setdefault(name, {})
        told = f"{self.text.before(found.start)} {found.words}"
        low, high = clause_of(self.text.unblanked, found.start, found.end)
        is_perhaps = rule(r"<PERHAPS>").search(self.text.unblanked, low, high) is not None
        strength = -1 if is_perhaps else int(rule(r"<BINDS>").search(told) is not None)
        if key in place and place[key] != value and value != {}:
            last = self.strengths.get(path, 0)
            if strength == last and tables == ["limits"] and key != "gpus":
                value = min(value, place[key])
                self.text.assume(f"{found.words}: of two limits, the stricter one binds")
            elif strength == last >= 0:
                what = GRAMMAR["called"].get(key, key.replace("_", " "))
                reason = f"{place[key]} and {value} could both be {what}; write one of them"
                if key == "dataset_bytes":
                    reason += ", or for example '100 TB of images of 5 MB'"
                self.refuse(found, reason)
                return
            elif strength <= last:
                self.text.record(found, "told beside what is certain, or a limit")
                return
            else:
                self.text.assume(f"{found.words}: certain, or the limit, in place of {place[key]}")
        self.strengths[path] = strength
        if value != {} or key not in place:
            place[key] = value
        self.text.record(found, meaning)

    def ask(self, key: str, found: Match | None = None, reason: str = "", answers: Iterable[Answer] = ()) -> None:
        """Ask what has to be known before the request is complete, or assume it, as the table of questions says."""
        self.questions.append(Question(key, found.words if found else "", reason, answers=tuple(answers)))
        if found is not None:
            self.text.mark(found.start, found.end)

    def choose(self, key: str, found: Match, reason: str, labels: Iterable[str]) -> None:
        """Ask which words are meant in the place of some."""
        place = self.text.span(found.start, found.end)
        self.ask(key, found, reason, [self.change(label, *place, label) for label in labels])

    def refuse(self, found: Match, reason: str) -> None:
        """Refuse what no request may have."""
        self.ask("refused", found, reason)

    def ask_place(self, found: Match, reason: str, key: str = "place") -> None:
        """Note a quantity of the work that has no place in the request."""
        self.ask(key, found, reason, [self.change("Size without it", *self.text.span(found.start, found.end), "")])

    def leave(self, found: Match) -> None:
        """Note a phrase that has no place in a request."""
        self.left.append((self.text.span(found.start, found.end)[0], found.words.strip(" ,;.")))
        self.text.mark(found.start, found.end)

    def state_currency(self, found: Match, quantity: Amount) -> bool:
        """Take the currency of an amount; whether it is that of the other amounts."""
        currency = quantity.unit if quantity.unit.isupper() else ""
        if currency and self.currency not in ("", currency):
            self.text.assume(f"{found.words}: the amounts in {self.currency} count")
            self.text.record(found, "in another currency")
            return False
        self.currency = currency or self.currency
        if currency not in ("", "USD"):
            self.request["currency"] = currency
        return True

    def change(self, label: str, start: int, end: int, words: str) -> Answer:
        """An answer that stands in the place of some words of the sentence."""
        whole = self.text.whole
        if not words and whole[:start].endswith(" ") and whole[end : end + 1] == " ":
            end += 1
        return Answer(label, self.edited([(start, end, words)]), ((start, end, words),))

    def edited(self, edits: Iterable[Edit]) -> str:
        """The sentence with other words in some places."""
        whole = self.text.whole
        for start, end, words in sorted(edits, reverse=True):
            whole = f"{whole[:start]}{words}{whole[end:]}"
        return " ".join(whole.split())

    def answer(self, label: str, words: str = "") -> Answer:
        """An answer that adds words to the sentence, behind the last of the job."""
        last, whole = len(self.text.sentence.rstrip(" .,;")), self.text.whole
        end = len(whole) if not whole[last:].strip(" .,;") else last
        return self.change(label, last, end, f", {words or label}")


def period_in(text: SentenceText) -> tuple[str, Match] | None:
    """The time that is given, else how often something runs, as a request has it; and the words that say so."""
    found = ((written, text.find(source)) for written, source in GRAMMAR["habits"].items())
    often = next(((written, one) for written, one in found if one is not None), None)
    if (time := text.find(r"<TIME>")) is None:
        return often
    if often is not None:
        text.record(often[1], "how often it runs")
    return time_text(time.value.low, time.value.unit), time


def time_text(value: float, unit: str) -> str:
    """A time as a request has it: 12 h of half a day."""
    if value < 1:
        unit, value = {"d": ("h", 24 * value), "h": ("min", 60 * value), "weeks": ("d", 7 * value)}.get(
            unit, (unit, value)
        )
    return f"{written_number(round(value, 6))} {unit}"


def size_text(quantity: Amount, value: float) -> str:
    """A size or a data rate as a request has it: 22 TB, 10 GB/s."""
    return f"{written_number(value)} {quantity.unit}" + ("/s" if "/time" in quantity.kind else "")


def ranged(quantity: Amount, end: str = "upper") -> str:
    """Which end of a range was taken."""
    return f" ({end} end of the range)" if quantity.low < quantity.high else ""
