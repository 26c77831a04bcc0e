"""A mixture of experts that a sentence describes by its numbers: "MoE with 64 experts, 8 active, 30B total".

Its size alone gives no shape: two mixtures of 30 billion parameters may differ in layers, width and experts. So the
nearest of the catalogue are offered, and none is taken.
"""

import math
import re
from collections.abc import Sequence

from sizer.catalog.schema import Dnn
from sizer.workload.sentence.names import DNN, measurements, names_of, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.reading import Answer, Question

_MIXTURE = re.compile(
    r"\b(?:sparse )?(?:MoEs?|mixtures?[ -]of[ -]experts?)\b(?: (?:models?|LLMs?|transformers?|networks?)\b)?", re.I
)
_EXPERTS = re.compile(r"(?<![\w.,])(?P<n>\d{1,4})[ -](?:routed )?experts?\b(?! ?(?:per|each|active|parallel))", re.I)
_ACTIVE = re.compile(
    r"(?<![\w.,])(?P<n>\d{1,3}) (?:(?:experts? )?active|activated|experts? per token)(?: experts?| per token)?\b"
    r"|\btop[ -]?(?P<top>\d{1,2})(?: routing| gating)?\b",
    re.I,
)
_SIZE = re.compile(
    r"(?<![\w.,])(?P<size>\d{1,5}(?:\.\d{1,3})?) ?(?P<unit>B|bn|billion|T|trillion)\b(?![ -]?tok)"
    r"(?P<active>[ -]active)?(?:[ -](?:parameters?|params?))?(?: (?:in )?total| overall| (?P<after>active(?:ated)?))?",
    re.I,
)
# What may stand between the parts of one description.
_BETWEEN = re.compile(r"(?:[\s,;:()/+]|\b(?:with|and|of|having|has|a|an|in|total|which|are|models?)\b)*", re.I)
_REASON = (
    "the numbers of a mixture of experts do not give its shape; write layers, hidden, experts, active_experts and "
    "expert_ffn in a request file, or take the nearest model of the catalogue"
)


def read_mixture(notes: Notes) -> None:
    """Ask which mixture of experts is meant, where none is named; before sizes are read as dense models."""
    text = notes.text
    kind = text.find(_MIXTURE)
    experts = text.find(_EXPERTS)
    if kind is None and experts is None:
        return
    active = text.find(_ACTIVE)
    if (dnns := _named_mixtures(notes)) or _names_any(notes):
        _compare(notes, dnns, kind, experts, active)
        return
    sizes = [match for match in _SIZE.finditer(text.left) if not _has_other_noun(text.left, match)]
    total = next((match for match in sizes if not (match["active"] or match["after"])), None)
    of_total = 0.0 if total is None else float(total["size"]) * (1e12 if total["unit"][0] in "tT" else 1e9)
    parts = [match.span() for match in (kind, experts, active, *sizes) if match is not None]
    spans = _merged(text.sentence, sorted(parts))
    words = ", ".join(text.sentence[start:end].strip() for start, end in spans)
    items = _nearest(notes, of_total)
    answers = tuple(Answer(short_name(item), _replaced(notes, spans, short_name(item))) for item in items)
    notes.ask(Question("network", words, _REASON, answers=answers))
    notes.means_language = True
    for start, end in spans:
        text.mark(start, end)


def _named_mixtures(notes: Notes) -> list[Dnn]:
    names = names_of(notes.catalog).named(notes.text.left)
    dnns = [notes.catalog.dnns[one.ids[0]] for one in names if one.kind == DNN and len(one.ids) == 1]
    return [dnn for dnn in dnns if dnn.transformer is not None and dnn.transformer.experts > 1]


def _names_any(notes: Notes) -> bool:
    """Whether a network is named by more than its size."""
    names = names_of(notes.catalog).named(notes.text.left)
    return any(one.kind == DNN and not notes.text.left[one.start].isdigit() for one in names)


def _compare(
    notes: Notes,
    dnns: Sequence[Dnn],
    kind: re.Match[str] | None,
    experts: re.Match[str] | None,
    active: re.Match[str] | None,
) -> None:
    """What is said of a named mixture: as it is, or unread."""
    shapes = [dnn.transformer for dnn in dnns if dnn.transformer is not None]
    is_so = {
        kind: bool(shapes),
        experts: experts is not None and any(shape.experts == int(experts["n"]) for shape in shapes),
        active: active is not None
        and any(shape.active_experts == int(active["n"] or active["top"]) for shape in shapes),
    }
    for match, holds in is_so.items():
        if match is not None and holds:
            notes.text.record(match, f"as {short_name(dnns[0])} has it")
        elif match is not None and match is not active:
            notes.leave(match)


def _has_other_noun(text: str, match: re.Match[str]) -> bool:
    """Whether a number counts tokens or money."""
    return re.match(r" ?(?:tok|USD|EUR|dollars)", text[match.end() :], re.I) is not None or text[
        max(0, match.start() - 1)
    ] in ("$", "€", "£")


def _nearest(notes: Notes, parameters: float) -> list[Dnn]:
    items = [dnn for dnn in notes.catalog.dnns.values() if dnn.transformer is not None and dnn.transformer.experts > 1]
    if parameters > 0:
        return sorted(items, key=lambda item: abs(math.log(item.parameters.value / parameters)))[:6]
    measured = measurements(notes.catalog)
    return sorted(items, key=lambda item: -measured[item.id])[:6]


def _merged(sentence: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged = spans[:1]
    for start, end in spans[1:]:
        if start <= merged[-1][1] or _BETWEEN.fullmatch(sentence, merged[-1][1], start):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _replaced(notes: Notes, spans: list[tuple[int, int]], name: str) -> str:
    """The sentence with a name in the place of the first words, and without the others."""
    sentence = notes.text.sentence
    for start, end in reversed(spans[1:]):
        sentence = f"{sentence[:start]}{sentence[end:]}"
    start, end = spans[0]
    return " ".join(f"{sentence[:start]}{name}{sentence[end:]}".split())
