"""What a sentence fixes of the parallel layout, and how it fills sequences: TP 8, micro batch 2, ZeRO-3, packed."""

import re
from dataclasses import dataclass

from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.reading import Answer, Question
from sizer.workload.sentence.software import names_stack_with

LAYOUT = "layout."  # before keys of the table ``layout``


@dataclass(frozen=True)
class LanguagePhrase:
    """Words that a language model's training may have: their place, their meaning, and what they set."""

    match: re.Match[str]
    meaning: str
    key: str
    value: object


_N = r"(?P<n>\d{1,6})(?![\w.,]*\d)"
_IS = r"(?: ?[=:] ?|[ -](?:(?:of|is|size|degree|size of|degree of)[ =]+)?|(?=\d))"
# Key of the layout -> abbreviation and words. The virtual pipeline divides a stage into chunks (Megatron-LM,
# arXiv:2104.04473, section 2.2).
_DEGREES = (
    ("chunks", r"VPP?", r"virtual[ -]pipeline(?:[ -]parallel(?:ism)?)?", "virtual pipeline {}"),
    ("tensor", r"TP", r"tensor[ -]parallel(?:ism)?", "tensor parallel {}"),
    ("pipeline", r"PP", r"pipeline[ -]parallel(?:ism)?", "pipeline parallel {}"),
    ("context", r"CP", r"context[ -]parallel(?:ism)?", "context parallel {}"),
    ("expert", r"EP", r"expert[ -]parallel(?:ism)?", "expert parallel {}"),
    ("data", r"DP", r"data[ -]parallel(?:ism)?", "data parallel {}"),
    (
        "micro_batch",
        r"MBS",
        r"micro[ -]?batch(?:es)?(?:[ -]?sizes?)?",
        "micro batch of {} sequences",
    ),
)
# A micro batch in tokens has no key.
_NO_TOKENS = r"(?! ?[kM]?[ -]?tok)(?: (?:sequences?|seqs?|samples?)\b)?"
_PATTERNS = tuple(
    (
        key,
        meaning,
        re.compile(
            rf"(?<![\w-])(?:{short}(?:[ -](?:size|degree))?|{words}){_IS}{_N}{_NO_TOKENS}"
            + ("" if key == "micro_batch" else rf"|(?<![\w.,])(?P<way>\d{{1,6}})[ -]way (?:{short}|{words})\b"),
            re.I,
        ),
    )
    for key, short, words, meaning in _DEGREES
)
_SHARDING = (
    ("optimizer", re.compile(r"(?<![\w-])(?:zero[ -]?(?:stage[ -]?)?1|distributed optimi[sz]er)(?!\w)", re.I)),
    ("all", re.compile(r"(?<![\w-])zero[ -]?(?:stage[ -]?)?3(?!\w)", re.I)),
)
_FSDP = re.compile(
    r"(?<![\w-])(?:FSDP ?2?|fully[ -]sharded(?:[ -]data[ -]parallel(?:ism)?)?)(?![\w-])(?: sharding)?", re.I
)
_SHARDED = {"optimizer": "optimizer state sharded (ZeRO-1)", "all": "weights, gradients and optimizer state sharded"}
_ZERO_2 = re.compile(r"(?<![\w-])zero[ -]?(?:stage[ -]?)?2(?!\w)", re.I)
_RECOMPUTED = r"(?:activations? )?(?:re-?comput(?:e|ation|ing)|re-?materiali[sz]ation|checkpointing)"
_RECOMPUTE = re.compile(
    rf"\b(?:(?P<how>full|selective|no|without)[ -]+{_RECOMPUTED}|{_RECOMPUTED}[ :=]+(?P<after>full|selective|none|off)"
    rf"|{_RECOMPUTED})(?: of (?:the )?activations)?(?!\w)",
    re.I,
)
_KINDS = {"no": "none", "without": "none", "off": "none"}
_DOCUMENT = r"(?:documents?|docs|prompts?|conversations?|dialogues?|articles?)"
_DOCUMENT_TOKENS = re.compile(
    r"(?<![\w.,])(?P<n>\d{1,3}(?:[ ,]?\d{3})?) ?(?P<k>k)?[ -]tok(?:en)?s?[ -](?:long )?" + _DOCUMENT + r"\b"
    rf"|\b(?:mean |average )?{_DOCUMENT}(?:[ -]lengths?)?(?: of| with|:| =|)(?: about| on average)?"
    r" (?P<n2>\d{1,3}(?:[ ,]?\d{3})?) ?(?P<k2>k)?[ -]tok(?:en)?s?\b(?! (?:per|an?|each)\b)",
    re.I,
)
_UNPACKED = re.compile(r"\b(?:un-?packed|not packed|without packing|no packing)\b(?: sequences)?", re.I)
_PACKED = re.compile(r"\b(?:packed|with packing|sequence packing)\b(?: (?:in)?to(?= ))?", re.I)


def find_layout(notes: Notes) -> list[LanguagePhrase]:
    """Find words about the layout, before batches and tokens are looked for."""
    phrases: list[LanguagePhrase] = []

    def add(match: re.Match[str], meaning: str, key: str, value: object) -> None:
        phrases.append(LanguagePhrase(match, meaning, key, value))
        notes.text.mark(match.start(), match.end())

    for key, meaning, pattern in _PATTERNS:
        if match := notes.text.find(pattern):
            degree = int(match["n"] or match["way"])
            add(match, meaning.format(degree), LAYOUT + key, degree)
    for value, pattern in _SHARDING:
        if match := notes.text.find(pattern):
            add(match, _SHARDED[value], LAYOUT + "sharding", value)
    # Where a stack is named that shards so, its name says it already.
    if (match := notes.text.find(_FSDP)) and not names_stack_with(notes, "fsdp"):
        add(match, _SHARDED["all"], LAYOUT + "sharding", "all")
    if match := notes.text.find(_ZERO_2):
        _ask(
            notes,
            match,
            "a request shards the optimizer state, or the gradients and weights, too",
            ("ZeRO-1", "ZeRO-3"),
        )
    if match := notes.text.find(_RECOMPUTE):
        how = (match["how"] or match["after"] or "").lower()
        if how:
            kind = _KINDS.get(how, how)
            add(match, f"{'no' if kind == 'none' else kind} recomputation", LAYOUT + "recompute", kind)
        elif "recompu" in match[0].lower() or "activation" in match[0].lower():  # "checkpointing" alone is of storage
            _ask(
                notes, match, "of all activations, or of those of attention", ("full recompute", "selective recompute")
            )
    return phrases


def find_packing(notes: Notes) -> list[LanguagePhrase]:
    """Find the length of documents and how they fill sequences, once numbers of documents are found."""
    phrases: list[LanguagePhrase] = []

    def add_phrase(match: re.Match[str], meaning: str, key: str, value: object) -> None:
        phrases.append(LanguagePhrase(match, meaning, key, value))
        notes.text.mark(match.start(), match.end())

    document = notes.text.find(_DOCUMENT_TOKENS)
    if document is not None:
        n_tokens = int(re.sub(r"[ ,]", "", document["n"] or document["n2"]))
        n_tokens *= 1024 if document["k"] or document["k2"] else 1
        add_phrase(document, f"documents of {n_tokens:,} tokens", "document_tokens", n_tokens)
    if match := notes.text.find(_UNPACKED):
        if document is None:
            reason = "needs the mean length of the documents; add for example 'documents of 500 tokens'"
            notes.refuse(match[0], reason)
            notes.text.mark(match.start(), match.end())
        else:
            add_phrase(match, "one document in each sequence", "packing", False)
    elif match := notes.text.find(_PACKED):
        add_phrase(match, "several documents in a sequence", "packing", True)
    return phrases


def _ask(notes: Notes, match: re.Match[str], reason: str, labels: tuple[str, ...]) -> None:
    answers = tuple(Answer(label, notes.replaced(match.start(), match.end(), label)) for label in labels)
    notes.ask(Question("layout", match[0].strip(), reason, answers=answers))
    notes.text.mark(match.start(), match.end())
