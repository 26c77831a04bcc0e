"""Kinds of work that are no training: refused by their names, or of language models read as a task of their own.

One table for sentences and request files. What comes next to it is named with each kind.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

Networks = Literal["language", "diffusion", "other", "unknown"]


@dataclass(frozen=True)
class Kind:
    """A kind of work that is no training.

    ``tasks``: what a request file calls it, its usual name first. ``refusal``: what it is, that it is not sized, and
    what comes nearest. ``signs``: of what tells it: about which networks ("all", or some), whether as a purpose only,
    and the words. ``is_training``: whether it is itself called a training, so that words of training tell no other
    work. ``sized``, ``use``: task and use of a request that states it of a language model; "" where none does.
    ``is_asked``: whether a request has a place for it next to a training, which is asked for. ``instead``: what comes
    nearest, in words of a sentence; ``is_part``: whether that is a part of the same work, which is sized then.
    """

    tasks: tuple[str, ...]
    refusal: str
    signs: tuple[tuple[str, re.Pattern[str]], ...]
    is_training: bool = False
    sized: str = ""
    use: str = ""
    is_asked: bool = False
    instead: str = ""
    is_part: bool = False

    def places_in(self, text: str) -> list[tuple[int, int]]:
        """Where the words of its signs stand in a text, but for those with numbers and names between them."""
        found = (one for _, words in self.signs for one in words.finditer(text))
        spans = sorted(one.span() for one in found if one[0].strip() and not re.search(r"[\d\0-\3]", one[0]))
        return [span for index, span in enumerate(spans) if not index or span[0] >= spans[index - 1][1]]


_TABLE = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))


def _pattern(source: str) -> str:
    return re.sub("<([A-Z_]+)>", lambda match: _pattern(_TABLE["patterns"][match[1]]), source.replace("\n", ""))


def _kind(table: dict[str, Any]) -> Kind:
    signs = tuple((told, re.compile(_pattern(words), re.I)) for told, words in table["signs"])
    return Kind(**{**table, "tasks": tuple(table["tasks"]), "signs": signs})


KINDS = tuple(map(_kind, _TABLE["kinds"]))

# Of a training; "our trained Llama" and "a fine-tuned model" are trained already.
_TRAINS = re.compile(
    r"(?<!finished )(?<!synthetic )\b(?:re-?|pre[ -]?)?train(?:s|ing|ings)?\b"
    r"|\b(?:fine?|fein)[ -]?tunn?(?:e|es|en|ings?)\b"
    r"|\b(?:q?lora|peft|sft)\b(?![ -](?:adapters?|serving)\b)|(?<!finished )\b\w*train(?:ieren|ings?)\b"
    r"|\bfeinabstimm\w*"
    r"|\b(?:affine[rz]|affinage|(?:pré-?|ré-?)?entra[iî]ne\w+)\b"
    r"|(?<!already )\b(?:(?:re-?|pre[ -]?)?trained|fine[ -]?tuned)\b"
    r"(?! (?:(?:version|copy|weights) of )?(?:[\x00\x01]|\w*models?\b"
    r"|networks?\b|LLMs?\b|weights\b|version\b))|\b(?:epochs?|pre-?train(?!ed\b)\w*|from scratch)\b",
    re.I,
)
_JOINT = re.compile(r"[.;](?=\s|$)|,(?= )|\b(?:and|then|plus|followed by|as well as|und|dann|sowie|et|puis)\b", re.I)


@dataclass(frozen=True)
class ToldKind:
    """A kind of work in a text: its words; and next to a training the clause that tells it, else None."""

    kind: Kind
    start: int
    end: int
    clause: tuple[int, int] | None


def kind_in(text: str, networks: Networks) -> ToldKind | None:
    """The kind of work that a text tells and that is no training.

    ``text``: with NUL in the place of names of language models, \1 in that of other networks, \2 in that of people who
    can only use a model, and \3 in that of requests in a time. ``networks``: whether the text is about language models,
    about other networks, or says neither.
    """
    trains = trains_in(text)
    # Next to a training also a language model in use that has a clause of its own: "Llama chat for 90 users and ...".
    clauses = [part for part in _parts(text) if "\0" in text[slice(*part)] and not _TRAINS.search(text, *part)]
    for part in [None, *(clauses if trains else ())]:
        for kind in KINDS if part is None else (one for one in KINDS if one.sized):
            is_next = trains and not kind.is_training
            about = networks if part is None else "language"
            found = (
                words.search(text, *(part or (0,)))
                for told, words in kind.signs
                if (told.startswith("all") or about in told) and not (is_next and part is None and "purpose" in told)
            )
            if match := next(filter(None, found), None):
                clause = _clause(text, match.start(), match.end()) if is_next else None
                return ToldKind(kind, match.start(), match.end(), clause)
    return None


def aside_in(text: str, kind: Kind) -> tuple[int, int] | None:
    """The clause of work that is not sized, up to the next about a language model; None where no other is about one."""
    parts = _parts(text)
    is_named = ["\0" in text[low:high] for low, high in parts]
    for index, (low, high) in enumerate(parts):
        if not is_named[index] and any(words.search(text, low, high) for _, words in kind.signs):
            following = (
                start for (start, _), is_next in zip(parts, is_named, strict=True) if is_next and start >= high
            )
            return (low, next(following, len(text))) if any(is_named) else None
    return None


def _parts(text: str) -> list[tuple[int, int]]:
    return list(pairwise([0, *(joint.end() for joint in _JOINT.finditer(text)), len(text)]))


def trains_in(text: str) -> bool:
    """Whether a text tells a training."""
    return _TRAINS.search(text) is not None


def _clause(text: str, start: int, end: int) -> tuple[int, int]:
    """The clause of some words: up to the next that trains; and from the last that does, or from the start."""
    parts = _parts(text)
    own = next(index for index, (low, high) in enumerate(parts) if low <= start < high)
    trains = [_TRAINS.search(text, low, high) is not None for low, high in parts]
    last = next((index for index in range(own + 1, len(parts)) if trains[index]), len(parts)) - 1
    if trains[own]:
        return start, max(end, parts[own][1])
    return (parts[own][0] if any(trains[:own]) else 0), parts[last][1]


def of_file(*allowed: str) -> Callable[[object], object]:
    """Validator of a key that names a kind of work: one that is not sized is refused by its name."""

    def check(value: object) -> object:
        name = value.lower().replace("_", "-").replace(" ", "-") if isinstance(value, str) else ""
        kind = None if value in allowed else next((kind for kind in KINDS if name in kind.tasks), None)
        if kind is not None:
            raise ValueError(f"{value!r}: {kind.refusal}; write {' or '.join(map(repr, allowed))}")
        return value

    return check
