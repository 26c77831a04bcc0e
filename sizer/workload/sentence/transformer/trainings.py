"""Two trainings in one sentence: pre-training of one language model, fine-tuning of another or of the same."""

import re
from typing import Any

from sizer.workload.sentence.names import DNN, short_name
from sizer.workload.sentence.notes import Notes

_CONTINUED = re.compile(r"\bcontinu(?:e|ed|al|ing|ous)[ -]?pre[ -]?train", re.I)
# "A pretrained model" tells no training of now.
_PRE_TRAINS = re.compile(r"\b(?:continu(?:e|ed|al|ing|ous)[ -]?)?pre[ -]?train(?:s|ing|ings)?\b", re.I)
_TRAINS = re.compile(r"\btrain(?:s|ing)?\b(?! (?:set|data))", re.I)
_ADAPTERS = re.compile(r"\b(?:q?lora|peft)\b", re.I)
_TUNES = re.compile(r"\b(?:fine[ -]?tun(?:e|es|ing)|q?lora|peft)\b", re.I)
_BETWEEN = re.compile(r";|,? \b(?:and|then|plus|followed by|as well as)\b|,? & ", re.I)
_NAMES = {"full": "pre-training", "continued": "continued pre-training", "fine-tuning": "fine-tuning", "lora": "LoRA"}


def split_trainings(notes: Notes) -> None:
    """Note network, method and name of each of two trainings; nothing where the sentence tells one."""
    sentence = notes.text.sentence
    names: list[tuple[int, str | dict[str, Any] | None]] = [
        (one.start, one.ids[0] if len(one.ids) == 1 else None)  # which one is asked
        for one in notes.mentions
        if one.kind == DNN and all(notes.catalog.dnns[key].transformer is not None for key in one.ids)
    ]
    if notes.own_model is not None:
        names.append((notes.own_model_phrases[0].start, notes.own_model))
    names.sort(key=lambda name: name[0])
    tunes = _TUNES.search(sentence)
    if tunes is None or not names:
        return
    # Plain "train" is a training of its own where it has another network than the fine-tuning.
    pattern = _PRE_TRAINS if _PRE_TRAINS.search(sentence) or len(names) < 2 else _TRAINS
    trains = pattern.search(sentence)
    if trains is None or (trains.start() < tunes.end() and trains.end() > tunes.start()):
        return
    first, second = sorted((trains, tunes), key=lambda match: match.start())
    cuts = list(_BETWEEN.finditer(sentence, first.end(), second.start()))
    if not cuts:
        return
    cut = cuts[-1].start()
    parts = ((0, cut), (cut, len(sentence)))
    first_of, second_of = ([dnn for start, dnn in names if low <= start < high][:1] for low, high in parts)
    if pattern is _TRAINS and not (first_of and second_of and first_of != second_of):
        return
    # "Pre-train and fine-tune Llama", "and fine-tune it".
    networks = [*(first_of or second_of), *(second_of or first_of)]
    trainings: list[dict[str, Any]] = []
    for match, dnn, (low, high) in zip((first, second), networks, parts, strict=True):
        part = sentence[low:high]
        if match is trains:
            method = "continued" if _CONTINUED.search(part) else "full"
        else:
            method = "lora" if _ADAPTERS.search(part) else "fine-tuning"
        own = {} if method == "full" else {"method": method}
        name = short_name(notes.catalog.dnns[dnn]) if isinstance(dnn, str) else (dnn or {}).get("name", "")
        trainings.append({"dnn": dnn, "name": f"{name} {_NAMES[method]}", **own})
        notes.text.record(match, _NAMES[method])
    notes.trainings, notes.second_training_at = trainings, cut


def training_without_length(notes: Notes, start: int) -> dict[str, Any] | None:
    """The training that a length is stated for, or the other where this one has a length already; None if both have."""
    own = int(start >= notes.second_training_at)
    both = (notes.trainings[own], notes.trainings[1 - own])
    return next((training for training in both if "tokens" not in training), None)
