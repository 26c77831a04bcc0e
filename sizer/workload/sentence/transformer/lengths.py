"""Lengths of training samples: "100k samples of 4096 tokens", "at 32k tokens on 2T tokens", "each sample 8k tokens".

A length is a number of tokens, and no training length. So these words are found before numbers of tokens.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import tokens_text
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import WORDED, value_of
from sizer.workload.sentence.reading import Answer, Question
from sizer.workload.sentence.text import READ
from sizer.workload.sentence.transformer.layout import LanguagePhrase

COUNTED = "samples"  # key of a number of samples with their length
SEQUENCE, DOCUMENT = "sequence_tokens", "document_tokens"
# A training has thousands of sequences at least: a number of tokens that much smaller is no second training length.
_LEAST_SEQUENCES = 1_000
LEAST_SAMPLE_TOKENS = 10
_MOST_TOKENS = 1_000_000  # of a sequence, as sentences give it

_ONE = r"(?:sample|example|sequence|document|doc|conversation|dialogue|article|prompt|instruction|record|pair)"
_KINDS = r"(?:(?:training|instruction|labell?ed|prompt|chat|text|question-answer) )*"
_N = rf"(?<![\w.,])(?:(?P<length>\d{{1,3}}(?:[ ,]?\d{{3}})?) ?(?P<kilo>k)?|(?P<worded>{WORDED}))[ -]?tok(?:en)?s?\b"
_NOT_ALL = (
    r"(?! ?(?:/|(?:per|an?|each|every|in each|in a)\b) ?(?:s|secs?|seconds?|min|minutes?|h|hours?|d|days?|steps?|batch"
    r"|iterations?|GPUs?|cards?|users?)\b)(?! (?:in total|total|altogether|overall|in all)\b)"
)
_LENGTH = rf"{_N}{_NOT_ALL}"
_EACH = rf"(?:each|apiece|long|on average|(?:per|an?|in each) {_ONE})\b"
_JOINS = (
    r"(?:(?:,? ?\(?(?:of|with|at|averaging|average|mean|having|have|are|each|about|around|roughly|up to|at most|an?"
    r"|lengths?|on average)\b|,? ?[=~@])+ ?)"
)


def patterns_of_counts(number: str) -> tuple[re.Pattern[str], ...]:
    """Patterns of a number of samples with their length; ``number`` has the groups ``number`` and ``scale``."""
    noun = rf"{_KINDS}(?P<noun>{_ONE})s\b"
    return tuple(
        re.compile(pattern, re.I)
        for pattern in (
            rf"{number} {noun}{_JOINS}{_LENGTH}(?: {_EACH})?\)?",
            rf"{number} {noun},? ?\(?{_LENGTH} {_EACH}\)?",
            rf"{number} {_N}[ -](?:long )?{noun}",
            rf"{number} {noun}, (?P<bare>){_LENGTH}",
        )
    )


@dataclass(frozen=True)
class Samples:
    """A number of samples, and the tokens of each."""

    count: float
    length: int
    key: str  # of the request that takes the length

    @property
    def tokens(self) -> float:
        """Tokens of all samples."""
        return self.count * self.length


# Without a number of samples: the length of a sequence, or of a document.
_LENGTHS = (
    re.compile(rf"\b(?:each|every|per) (?:training )?(?P<noun>{_ONE})s?(?:(?: has| is|:)|{_JOINS})* {_LENGTH}", re.I),
    re.compile(rf"\b(?P<noun>{_ONE})s{_JOINS}{_LENGTH}(?: {_EACH})?", re.I),
    re.compile(rf"{_LENGTH} (?P<noun>{_EACH})", re.I),
    # "At 32k tokens", "of length 4096 tokens"; "of 4096 tokens" after a number of sequences that is read.
    re.compile(
        r"(?:\b(?:at|up to)(?: an?| the)?(?: (?:sequence |context )?lengths?)?(?: of)? "
        rf"|\b(?:of )?(?:sequence |context )?lengths?(?: of|:| =)? |(?<={READ}) of )(?P<noun>){_LENGTH}",
        re.I,
    ),
)


def samples_of(match: re.Match[str], count: float) -> LanguagePhrase | None:
    """A number of samples with the tokens of each, several of which are packed into a sequence; None of other tokens.

    "100k samples, 4096 tokens" can only mean each of them, "50 documents, 100k tokens" means all of them.
    """
    if match.groupdict().get("bare") is not None and _length(match) >= count * LEAST_SAMPLE_TOKENS:
        return None
    key = SEQUENCE if match["noun"].lower() == "sequence" else DOCUMENT
    samples = Samples(count, _length(match), key)
    meaning = f"{count:,.12g} samples of {samples.length:,} tokens: training on {tokens_text(samples.tokens)}"
    return LanguagePhrase(match, meaning, COUNTED, samples)


def find_lengths(notes: Notes) -> list[LanguagePhrase]:
    """Find lengths of samples that no number of samples stands before."""
    phrases: list[LanguagePhrase] = []
    for pattern in _LENGTHS:
        if match := notes.text.find(pattern):
            length = _length(match)
            is_sequence = (match["noun"] or "sequence").lower() in ("sequence", "sample")
            phrases.append(
                LanguagePhrase(match, f"sequences of {length} tokens", SEQUENCE, length)
                if is_sequence
                else LanguagePhrase(match, f"documents of {length:,} tokens", DOCUMENT, length)
            )
            notes.text.mark(match.start(), match.end())
    return phrases


def _length(match: re.Match[str]) -> int:
    if match["worded"]:
        return round(value_of(match["worded"]))
    return int(re.sub(r"[ ,]", "", match["length"])) * (1024 if match["kilo"] else 1)


def settle_samples(work: dict[str, Any], samples: Samples, sequence: int) -> None:
    """Take the length of counted samples; sequences hold a whole sample where the sentence states no length of them."""
    work[samples.key] = samples.length
    if samples.length > sequence:
        work.setdefault(SEQUENCE, samples.length)


def without_lengths(notes: Notes, phrases: Sequence[LanguagePhrase]) -> list[LanguagePhrase]:
    """Phrases without numbers of tokens that are far too small for a second training length; what they are is asked."""

    def is_of_second(one: LanguagePhrase) -> bool:
        return bool(notes.trainings) and one.match.start() >= notes.second_training_at

    tokens = [one for one in phrases if one.key == "tokens" and isinstance(one.value, float)]
    kept: list[LanguagePhrase] = []
    for one in phrases:
        # Adapters take a thousandth of the tokens of a pre-training: lengths of two trainings are not compared.
        of_same = (other.value for other in tokens if is_of_second(other) is is_of_second(one))
        most = max((value for value in of_same if isinstance(value, float)), default=0.0)
        if one.key != "tokens" or not isinstance(one.value, float) or one.value * _LEAST_SEQUENCES > most:
            kept.append(one)
            continue
        words = one.match[0].strip()
        if one.value >= _MOST_TOKENS or any(other.key == SEQUENCE for other in phrases):
            notes.unusable.append(words)
            continue
        start, end = one.match.span()
        reason = f"the training length is {tokens_text(most)}; these may be those of a sequence or of a step"
        labels = (f"sequences of {words}", f"batch of {words}")
        answers = tuple(Answer(label, notes.replaced(start, end, label)) for label in labels)
        notes.ask(Question("layout", words, reason, answers=answers))
    return kept
