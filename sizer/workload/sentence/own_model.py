"""A language model that a sentence gives by its size or shape instead of a name: "a 13B dense model", "40 layers"."""

import re
from typing import Any

from sizer.catalog.model import Catalog
from sizer.workload.sentence.names import DNN, names_of, pieces
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.text import Phrase
from sizer.workload.transformer.custom_transformer import MOST_PARAMETERS

_NUMBER = r"(?<![\w.,])(?P<size>\d{1,5}(?:\.\d{1,3})?)(?P<unit> ?-?(?:B|bn|billion))\b"
_KIND = r"(?:dense|own|custom|decoder(?:-only)?|causal|autoregressive|(?:GPT|llama)[ -]?(?:style|like))"
_NOUN = r"(?:(?:language )?models?|LLMs?|transformers?|decoders?|networks?)"
# What says that a usual model of this size is meant, and no named one: a kind, or that it is counted in parameters.
_PLAIN = re.compile(
    rf"(?:{_KIND},? )?{_NUMBER}(?:[ -]parameters?)?(?:[ -]{_KIND})*(?:[ -]parameters?)?(?:[ -]{_NOUN})*\b", re.I
)
_SAYS_SO = re.compile(rf"\b(?:{_KIND}|parameters?)\b", re.I)
# A size in any unit, or without one, that counts parameters; and one with a sign.
_ANY_SIZE = re.compile(
    rf"(?<![\w.,-])(?P<sign>-)?(?P<size>\d{{1,15}}(?:\.\d{{1,3}})?(?:e\+?\d{{1,2}})?)"
    rf"(?:(?P<unit> ?-?(?:B|bn|billion|T|tn|trillion|M|mn|million))\b)?"
    rf"(?P<after>(?:[ -](?:{_KIND}|parameters?|params?|{_NOUN})\b)*)(?![\w.,]*\d)",
    re.I,
)
_UNITS = {"b": 1e9, "t": 1e12, "m": 1e6}
_LEAST_PARAMETERS = 1e6
_LISTS = re.compile(r"\b(?:and|plus|then)\b|[;&]", re.I)
_NOUN_AFTER = re.compile(rf"(?:{_NOUN}|parameters?)\b", re.I)
_COUNT = r"(?P<count>\d{1,3}(?:[ ,]?\d{3})*)"
_OF = rf"(?:[ -](?:size|width|dim(?:ension)?))?(?: of| is| =|=|:)? ?{_COUNT}"


def _part(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}\b", re.I)


_PARTS = (
    ("kv_heads", "heads of keys and values", _part(rf"{_COUNT} (?:KV|key[ -/]value|GQA)[ -]?heads?")),
    ("layers", "layers", _part(rf"{_COUNT}[ -](?:transformer )?(?:layers?|blocks?)")),
    ("heads", "heads", _part(rf"{_COUNT} (?:attention |query )?heads?")),
    ("ffn", "wide feed-forward blocks", _part(rf"(?:FFN|feed[ -]?forward|MLP){_OF}")),
    ("hidden", "wide", _part(rf"(?:hidden|d_model|embedding|model){_OF}")),
    ("vocabulary", "words", _part(rf"(?:vocab(?:ulary)?){_OF}(?P<k> ?k)?")),
)
_VOCABULARY_BEFORE = re.compile(rf"(?<![\w.,]){_COUNT}(?P<k> ?k)?[ -](?:word |token )?vocab(?:ulary)?\b", re.I)


def find_own_model(notes: Notes) -> None:
    """Find a model given by its shape or its size, before names are looked up."""
    before = len(notes.text.phrases)
    _find(notes)
    notes.own_model_phrases = notes.text.phrases[before:]


def _find(notes: Notes) -> None:
    shape: dict[str, Any] = {}
    found: list[tuple[re.Match[str], str]] = []
    for key, meaning, pattern in _PARTS:
        match = notes.text.find(pattern)
        if match is None and key == "vocabulary":
            match = notes.text.find(_VOCABULARY_BEFORE)
        if match is not None:
            count = int(re.sub(r"[ ,]", "", match["count"]))
            shape[key] = count * (1000 if key == "vocabulary" and match["k"] else 1)
            found.append((match, f"{shape[key]:,} {meaning}"))
    if {"layers", "hidden"} <= shape.keys():
        for match, meaning in found:
            notes.text.record(match, meaning)
        notes.own_model = {"name": "Own model", **shape}
        return
    if _is_read_by_parameters(notes):
        return
    for match in list(_PLAIN.finditer(notes.text.left)):
        named = _named_with(match["size"], notes.catalog)
        says_so = bool(_SAYS_SO.search(match[0]))
        # One named dense model of this size is what people mean by it; without a word for its kind several are asked
        # for.
        dense = [key for key in named if (one := notes.catalog.dnns[key].transformer) is not None and one.experts <= 1]
        if len(named) == 1 and (dense or not says_so):
            # What follows the size says no more: "a 30B dense transformer".
            notes.text.mark(match.end("unit"), match.end())
            continue
        if not says_so and (named or not _NOUN_AFTER.search(match[0])):
            continue
        if _is_of_named(notes, match.start()):
            continue  # "Llama 3 70B parameters"
        size = f"{float(match['size']):g}"
        notes.own_model = {"name": f"{size}B model", "parameters": float(size) * 1e9}
        notes.text.record(match, f"a usual dense model of {size} billion parameters")
        return


def _is_of_named(notes: Notes, start: int) -> bool:
    """Whether a size is that of a named model before it, and no item of its own in a list."""
    names = names_of(notes.catalog).named(notes.text.left)
    ends = [one.end for one in names if one.kind == DNN and one.end <= start]
    return any(not _LISTS.search(notes.text.sentence[end:start]) for end in ends)


def _is_read_by_parameters(notes: Notes) -> bool:
    """Whether a size out of range was refused, or one in millions, trillions or plain figures was taken."""
    for match in list(_ANY_SIZE.finditer(notes.text.left)):
        unit = (match["unit"] or "").strip(" -").lower()[:1]
        says_parameters = re.search(r"\bparam", match["after"], re.I) is not None
        if not (says_parameters if not unit else match["after"] or (unit == "b" and match["sign"])):
            continue
        if _is_of_named(notes, match.start()):
            continue
        parameters = float(f"{match['sign'] or ''}{match['size']}") * _UNITS.get(unit, 1.0)
        if not _LEAST_PARAMETERS <= parameters <= MOST_PARAMETERS:
            words = match[0].strip()
            notes.refuse(words, f"parameters = {parameters:g} must be between 1e6 and 1e13")
            notes.text.mark(match.start(), match.end())
            return True
        if unit == "b":
            return False
        billions = f"{parameters / 1e9:g}"
        notes.own_model = {"name": f"{billions}B model", "parameters": parameters}
        notes.text.record(match, f"a usual dense model of {billions} billion parameters")
        return True
    return False


def leave_own_model(notes: Notes) -> None:
    """Drop a model given by its numbers where another is named, unless both are listed: "13B dense and Llama 3 70B".

    Numbers that the named one has not are unread then.
    """
    assert notes.own_model is not None
    own = notes.own_model
    starts = [one.start for one in notes.mentions if one.kind == DNN and len(one.ids) == 1]
    if "parameters" in own and any(_are_listed(notes, notes.own_model_phrases[0], start) for start in starts):
        return
    notes.own_model = None
    for dnn in (notes.catalog.dnns[key] for key in notes.dnns):
        # Sizes in names are rounded: Llama 2 7B has 6.7 billion parameters.
        if "parameters" in own and abs(dnn.parameters.value / own["parameters"] - 1) < 0.1:
            return
        shape = dnn.transformer
        if "layers" in own and shape is not None and (shape.layers, shape.hidden) == (own["layers"], own["hidden"]):
            return
    for phrase in notes.own_model_phrases:
        notes.text.phrases.remove(phrase)
        notes.unusable.append(phrase.words)


def _are_listed(notes: Notes, phrase: Phrase, start: int) -> bool:
    """Whether a word that lists things stands between a model's size and a name."""
    between = notes.text.sentence[phrase.end : start] or notes.text.sentence[start : phrase.start]
    return _LISTS.search(between) is not None


def _named_with(size: str, catalog: Catalog) -> tuple[str, ...]:
    """Language models of the catalogue that the size alone names."""
    found = names_of(catalog).dnns_named(pieces(f"{size}B"))
    return tuple(key for key in found if catalog.dnns[key].transformer is not None)
