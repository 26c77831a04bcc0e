"""What a sentence says about the training of a language model: tokens, their rate, sequences, batch, adapters, formats.

Tokens and sizes look alike: "20B tokens" is no network of 20B. So these words are found before names are looked up,
and settled once the networks are known.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sizer.base.quantities import tokens_text
from sizer.base.units import DAY_S, HOUR_S
from sizer.workload.language import DEFAULT_SEQUENCE_TOKENS
from sizer.workload.sentence.names import DNN, OUTSIDE, names_of
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import DIGITS, WORDED, number_of_digits, value_of
from sizer.workload.sentence.transformer.layout import LAYOUT, LanguagePhrase, find_layout, find_packing
from sizer.workload.sentence.transformer.lengths import (
    COUNTED,
    DOCUMENT,
    LEAST_SAMPLE_TOKENS,
    Samples,
    find_lengths,
    patterns_of_counts,
    samples_of,
    settle_samples,
    without_lengths,
)
from sizer.workload.sentence.transformer.trainings import split_trainings, training_without_length
from sizer.workload.sentence.unavailable import ask_unavailable

_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_GERMAN = {"mio": 1e6, "millionen": 1e6, "mrd": 1e9, "milliarden": 1e9, "billionen": 1e12}
_NUMBER = (
    rf"(?<![\w.,])(?:(?P<number>{DIGITS}|{WORDED}\b)|a(?= )) ?"
    r"(?P<scale>(?:mio|mrd)\b\.?|millionen|milliarden|billionen|thousand|millions?|billions?|trillions?|bn|tn|[kmbt])?"
)
_TOKEN = r"(?:tokens?|toks?)"
_PERIODS = {"s": 1.0, "m": 60.0, "h": HOUR_S, "d": DAY_S}
_RATE = re.compile(
    rf"{_NUMBER}[ -]?{_TOKEN}(?: ?/ ?| per | an? | each | every )"
    r"(?P<period>seconds?|secs?|s|minute|min|hour|hr|h|day|d)\b"
    r"(?P<each>(?: ?/ ?| per | each | a | on each )(?:GPU|card|accelerator|device|chip)s?\b)?",
    re.I,
)
# A micro batch, or that of one GPU, is not the batch of a step over all GPUs.
_OF_ALL = "".join(f"(?<!{word}{gap})" for word in ("micro", "local", "GPU", "device") for gap in " -")
_BATCH = re.compile(
    rf"\b{_OF_ALL}(?:(?:(?:global|total|effective)[ -])?batch(?:es)?(?:[ -]sizes?)?|GBS)(?: of| is|:| ?=)? ?{_NUMBER}"
    rf"(?:[ -]?(?P<noun>{_TOKEN}|sequences?|seqs?|samples?))?\b(?! (?:per|a|each|on each) (?:GPU|device))",
    re.I,
)
# "2M-token batch", "4M tokens per step".
_BATCH_AFTER = re.compile(
    rf"{_NUMBER}[ -]?(?P<noun>{_TOKEN}|sequences?|seqs?)"
    r"(?:(?: ?/ ?| (?:per|in each|in a|a|each) )(?:(?:global|training|optimizer) )?(?:batch|step|iteration)"
    r"|[ -](?:(?:global|total|effective) )?batch(?:es)?(?:[ -]sizes?)?)\b(?! (?:per|a|each|on each) (?:GPU|device))",
    re.I,
)
_SAMPLES_OF_LENGTH = patterns_of_counts(_NUMBER)
_TOKENS = re.compile(
    rf"{_NUMBER}[ -]?{_TOKEN}\b(?![ -](?:sequences?|context|long))"
    r"(?!(?: ?/ ?| (?:per|an?|each|every) )(?:s|sec|min|h|d)\w*\b)",
    re.I,
)
# Training samples of a language model: each takes at most one sequence.
_SAMPLES = re.compile(
    rf"{_NUMBER} (?:training |instruction |labell?ed |prompt )*(?:samples|examples|sequences|documents|conversations"
    r"|prompts|instructions|records|pairs)\b(?! ?(?:/|per|a|an) ?(?:s|sec|second|min|minute|hour|h|day|d)\b)",
    re.I,
)
_COUNT = r"(?P<number>\d{1,3}(?:[ ,]?\d{3})?) ?(?P<scale>k)?"
_COUNT_AFTER = r"(?<![\w.,])(?P<number2>\d{1,3}(?:[ ,]?\d{3})?) ?(?P<scale2>k)?"
_SEQUENCE = re.compile(
    rf"(?:(?:sequences?|seq|context|ctx)(?:[ -]?(?:len(?:gth)?s?|windows?|sizes?))?(?: of|:)?(?: ?= ?| ){_COUNT}"
    rf"(?:[ -]?{_TOKEN})?\b)"
    rf"|(?:{_COUNT_AFTER}(?:[ -]{_TOKEN})?[ -](?:context|ctx|seq(?:uence)?[ -]?len(?:gth)?)"
    r"(?:[ -]?(?:windows?|length))?\b)"
    # "1024 sequences" count sequences; "1024-token sequences" tell their length.
    rf"|(?:\bsequences? of (?P<number4>\d{{1,3}}(?:[ ,]?\d{{3}})?) ?(?P<scale4>k)?(?:[ -]{_TOKEN})?\b)"
    rf"|(?:(?<![\w.,])(?P<number5>\d{{1,3}}) ?(?P<scale5>k)[ -](?:long )?sequences?\b)"
    rf"|(?:(?<![\w.,])(?P<number3>\d{{1,3}}(?:[ ,]?\d{{3}})?) ?(?P<scale3>k)?[ -]{_TOKEN}[ -](?:long )?sequences?\b)",
    re.I,
)
_ADAPTERS = re.compile(r"\b(?:q?lora|peft|adapters?)(?:[ -]?(?:fine[ -]?tun(?:e|ing)|adapters?|training))?\b", re.I)
# Trainings of all parameters of a model that was trained before.
_METHODS = (
    (re.compile(r"\b(?:full[ -]?(?:parameter[ -])?)?(?:fine[ -]?tun|finetun)(?:e|ed|es|ing)\b", re.I), "fine-tuning"),
    (re.compile(r"\bcontinu(?:e|ed|al|ing|ous)[ -]?pre[ -]?train(?:ing)?\b", re.I), "continued"),
)
_METHOD_NAMES = {"fine-tuning": "fine-tuning of all parameters", "continued": "continued pre-training"}
_FORMAT = re.compile(r"\b(?P<name>(?:mx)?fp8|(?:nv|mx)?fp4)\b(?: (?:precision|training))?", re.I)
_LANGUAGE_MODEL = re.compile(
    r"\b(?:(?:large[ -])?language[ -]models?|LLMs?(?![ -]foundry)|foundation models?|chat ?bots?|generative AI"
    r"|gen ?AI)\b",
    re.I,
)


@dataclass(frozen=True)
class LanguageWords:
    """Words about language models in a sentence, found before its networks are known."""

    phrases: tuple[LanguagePhrase, ...]
    number_format: re.Match[str] | None
    names_kind: bool  # "a language model", without a name

    @property
    def means_language(self) -> bool:
        """Whether the sentence is about a language model even where it names none."""
        return self.names_kind or bool(self.phrases)


def find_language(notes: Notes) -> LanguageWords:
    """Find words about language models, before names are looked up."""
    number_format = notes.text.find(_FORMAT)
    if number_format is not None:
        notes.text.record(number_format, _format(number_format).upper())
    kind = notes.text.find(_LANGUAGE_MODEL)
    while match := notes.text.find(_LANGUAGE_MODEL):
        notes.text.record(match, "language model")
    found = find_layout(notes)
    named = [
        (one.start, one.end) for one in names_of(notes.catalog).named(notes.text.left) if one.kind[0] in (DNN, OUTSIDE)
    ]

    def add(pattern: re.Pattern[str], read: Callable[[re.Match[str]], LanguagePhrase | None]) -> bool:
        # The number in the name of a network counts nothing: "the most Llama 3 8B tokens per second".
        matches = pattern.finditer(notes.text.left)
        match = next((one for one in matches if not any(start < one.start() < end for start, end in named)), None)
        phrase = match and read(match)
        if match is None or phrase is None:
            return False
        found.append(phrase)
        notes.text.mark(match.start(), match.end())
        return True

    for pattern in (_BATCH, _BATCH_AFTER):
        add(pattern, _batch)
    add(_RATE, _rate)
    for pattern in _SAMPLES_OF_LENGTH:
        add(pattern, _samples)
    found += find_packing(notes)
    add(_SEQUENCE, _sequence)
    found += find_lengths(notes)
    # Further numbers of tokens are those of a second training, and no sizes of networks.
    while add(_TOKENS, _tokens):
        pass
    return LanguageWords(tuple(found), number_format, kind is not None)


def _format(match: re.Match[str]) -> str:
    """The format as requests name it: MXFP4 is the FP4 of GPUs that have no NVFP4."""
    name = match["name"].lower()
    return "fp4" if name == "mxfp4" else name


def settle_language(notes: Notes, words: LanguageWords) -> None:
    """Take the words found for the language model that the sentence names or has to name; of others nothing."""
    dnns = notes.catalog.dnns
    named = [key for key in notes.dnns if dnns[key].transformer is not None]
    if notes.dnns and not named and notes.own_model is None:
        if words.number_format is not None:
            ask_unavailable(notes, "precision", words.number_format.start(), words.number_format.end())
        notes.unusable.extend(one.match[0].strip() for one in words.phrases)
        return
    if words.number_format is not None:
        notes.work["precision"] = _format(words.number_format)
    split_trainings(notes)
    length = next((one.value for one in words.phrases if one.key == "sequence_tokens"), None)
    for one in without_lengths(notes, words.phrases):
        if one.key == "tokens_per_s" and "target" in notes.work:
            notes.unusable.append(one.match[0].strip())
            continue
        if not one.key:
            notes.unusable.append(one.match[0].strip())
            continue
        if one.key == "tokens_per_s":
            notes.work["target"] = {"tokens_per_s": one.value}
        elif one.key == "batch_tokens":
            assert isinstance(one.value, float)
            sequence = _sequence_tokens(notes, length, named)
            notes.work["batch_sequences"] = max(1, round(one.value / sequence))
        elif one.key in ("tokens", COUNTED):
            samples = one.value if isinstance(one.value, Samples) else None
            tokens = samples.tokens if samples else one.value
            work = training_without_length(notes, one.match.start()) if notes.trainings else notes.work
            if work is None or work.setdefault("tokens", tokens) != tokens:
                notes.unusable.append(one.match[0].strip())
                continue
            if samples:
                settle_samples(work, samples, _sequence_tokens(notes, length, named))
        elif one.key.startswith(LAYOUT):
            notes.work.setdefault("layout", {})[one.key.removeprefix(LAYOUT)] = one.value
        else:
            notes.work[one.key] = one.value
        notes.text.record(one.match, one.meaning)
    while match := notes.text.find(_ADAPTERS):
        if not notes.trainings:
            notes.work["method"] = "lora"
        notes.text.record(match, "training of adapters (LoRA)")
    if named or notes.means_language:
        _settle_method(notes)
        _settle_samples(notes, _sequence_tokens(notes, length, named))


def _sequence_tokens(notes: Notes, stated: object, named: list[str]) -> int:
    """Tokens of a sequence: as stated, or as the named model has them."""
    dnns = notes.catalog.dnns
    usual = [shape.sequence_tokens for key in named if (shape := dnns[key].transformer) is not None]
    return stated if isinstance(stated, int) else (usual and usual[0]) or DEFAULT_SEQUENCE_TOKENS


def _settle_samples(notes: Notes, sequence: int) -> None:
    """Take a number of samples as the training length: as long as stated, else full sequences, the most they can be."""
    found = notes.text.find(_SAMPLES)
    if found is None or not (found["number"] or found["scale"]):
        return
    count = _value(found["number"], found["scale"])
    if "tokens" in notes.work:
        tokens = notes.work["tokens"]
        if tokens < count * LEAST_SAMPLE_TOKENS:
            reason = (
                f"{tokens_text(tokens)} in all are too few for them; write for example '100k samples of 4096 tokens'"
            )
            notes.refuse(found[0].strip(), reason)
        notes.text.record(found, f"{count:,.12g} samples; the tokens are stated")
        return
    stated = notes.work.get(DOCUMENT)
    tokens = count * (stated or sequence)
    notes.work["tokens"] = tokens
    each = f"{stated:,}" if stated else f"at most {sequence:,}"
    meaning = f"{count:,.12g} samples of {each} tokens: training on {tokens_text(tokens)}"
    notes.text.record(found, meaning)


def _settle_method(notes: Notes) -> None:
    """Fine-tuning and continued pre-training, where no adapters are trained."""
    for pattern, method in _METHODS:
        match = notes.text.find(pattern)
        if match is not None and notes.trainings:
            notes.text.record(match, _METHOD_NAMES[method])
        elif match is not None and "method" not in notes.work:
            notes.work["method"] = method
            notes.text.record(match, _METHOD_NAMES[method])
        elif match is not None and (notes.work["method"], method) == ("lora", "fine-tuning"):
            notes.text.record(match, "training of adapters (LoRA)")


def _rate(match: re.Match[str]) -> LanguagePhrase | None:
    rate = _value(match["number"], match["scale"]) / _PERIODS[match["period"][0].lower()]
    if match["each"]:
        return LanguagePhrase(match, "", "", rate)  # a rate of one GPU is no target of a cluster
    return LanguagePhrase(match, f"minimum rate {tokens_text(rate)}/s", "tokens_per_s", rate)


def _batch(match: re.Match[str]) -> LanguagePhrase | None:
    if match["number"] is None:
        return None
    count = _value(match["number"], match["scale"])
    if (match["noun"] or "").lower().startswith("tok"):
        return LanguagePhrase(match, f"{tokens_text(count)} in a step over all GPUs", "batch_tokens", count)
    return LanguagePhrase(match, f"{count:,.12g} sequences in a step over all GPUs", "batch_sequences", round(count))


def _sequence(match: re.Match[str]) -> LanguagePhrase | None:
    ends = ("", "2", "3", "4", "5")
    end = next(end for end in ends if match[f"number{end}"])
    length = round(_value(match[f"number{end}"], match[f"scale{end}"], 1024.0))
    return LanguagePhrase(match, f"sequences of {length} tokens", "sequence_tokens", length)


def _samples(match: re.Match[str]) -> LanguagePhrase | None:
    if not (match["number"] or match["scale"]):
        return None
    return samples_of(match, _value(match["number"], match["scale"]))


def _tokens(match: re.Match[str]) -> LanguagePhrase | None:
    if not (match["number"] or match["scale"]):
        return None
    tokens = _value(match["number"], match["scale"])
    return LanguagePhrase(match, f"training on {tokens_text(tokens)}", "tokens", tokens)


def _value(number: str | None, scale: str | None, kilo: float = 1e3) -> float:
    """Number of tokens; a context of 8k has 8,192."""
    value = 1.0
    if number is not None:
        value = number_of_digits(number) if number[0].isdigit() else value_of(number)
    if scale is None:
        return value
    scale = scale.lower().rstrip(".")
    return value * (kilo if scale == "k" else _GERMAN.get(scale) or _SCALES[scale[0]])
