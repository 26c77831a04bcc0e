"""What a sentence says about the training of a language model: tokens, their rate, sequences, adapters, formats."""

import re

from sizer.base.quantities import tokens_text
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import DIGITS, number_of_digits
from sizer.workload.sentence.unavailable import ask_unavailable

_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_NUMBER = (
    rf"(?<![\w.,])(?:(?P<number>{DIGITS})|(?:a|one)(?= )) ?"
    r"(?P<scale>thousand|millions?|billions?|trillions?|bn|tn|[kmbt])?"
)
_PER_S = re.compile(rf"{_NUMBER} ?tok(?:en)?s?(?: ?/ ?| per | a )s(?:ec|econd)?\b", re.I)
_TOKENS = re.compile(rf"{_NUMBER}[ -]?tokens?\b", re.I)
_COUNT = r"(?P<number>\d{1,3}(?:[ ,]?\d{3})?) ?(?P<scale>k)?"
_SEQUENCE = re.compile(
    rf"(?:(?:sequences?|seq|context)(?:[ -]?(?:len(?:gth)?s?|windows?|sizes?))?(?: of| =|:)? {_COUNT}"
    r"(?:[ -]?tokens?)?\b)"
    rf"|(?:(?<![\w.,])(?P<number2>\d{{1,3}}(?:[ ,]?\d{{3}})?) ?(?P<scale2>k)?(?:[ -]tokens?)?[ -]"
    r"(?:context|sequences?|seq(?:uence)?[ -]?len(?:gth)?)(?:[ -]?(?:windows?|length))?\b)",
    re.I,
)
_ADAPTERS = re.compile(r"\b(?:q?lora|peft|adapters?)(?:[ -]?(?:fine[ -]?tun(?:e|ing)|adapters?|training))?\b", re.I)
_FORMAT = re.compile(r"\b(?:(?P<fp8>(?:mx)?fp8)|(?P<fp4>(?:nv|mx)?fp4))\b(?: (?:precision|training))?", re.I)


def read_format(notes: Notes) -> re.Match[str] | None:
    """FP8 or FP4, before names are looked up; :func:`read_language` settles whether the network takes it."""
    match = notes.text.find(_FORMAT)
    if match:
        notes.text.record(match, "FP8" if match["fp8"] else "FP4")
    return match


def read_language(notes: Notes, number_format: re.Match[str] | None) -> None:
    """Tokens, their rate, sequences and adapters of a language model; nothing of other networks."""
    dnns = notes.catalog.dnns
    if not any(dnns[key].transformer is not None for key in notes.dnns):
        if number_format is not None and notes.dnns:
            ask_unavailable(notes, "precision", number_format.start(), number_format.end())
        return
    if number_format is not None:
        notes.work["precision"] = "fp8" if number_format["fp8"] else "fp4"
    if match := notes.text.find(_SEQUENCE):
        length = _value(match["number"] or match["number2"], match["scale"] or match["scale2"], 1024.0)
        notes.work["sequence_tokens"] = round(length)
        notes.text.record(match, f"sequences of {round(length)} tokens")
    if match := notes.text.find(_PER_S):
        rate = _value(match["number"], match["scale"])
        if "target" in notes.work:
            notes.leave(match)
        else:
            notes.work["target"] = {"tokens_per_s": rate}
            notes.text.record(match, f"minimum rate {tokens_text(rate)}/s")
    if match := notes.text.find(_TOKENS):
        tokens = _value(match["number"], match["scale"])
        notes.work["tokens"] = tokens
        notes.text.record(match, f"training on {tokens_text(tokens)}")
    while match := notes.text.find(_ADAPTERS):
        notes.work["method"] = "lora"
        notes.text.record(match, "training of adapters (LoRA)")


def _value(number: str | None, scale: str | None, kilo: float = 1e3) -> float:
    """Number of tokens; a context of 8k has 8,192."""
    value = 1.0 if number is None else number_of_digits(number)
    if scale is None:
        return value
    return value * (kilo if scale.lower() == "k" else _SCALES[scale[0].lower()])
