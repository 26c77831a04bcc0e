"""Figures that the documents for people state, found in their texts by the sentences and rows that hold them."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.guides.agreement.finished import Finished, Text
from tests.guides.agreement.printed import Span
from tests.guides.agreement.sentences import PARTS, SENTENCES, STAGES, Sentence


@dataclass(frozen=True)
class Statement:
    """One figure where it stands."""

    figure: str  # "GPUs"
    of: str  # the workload, stage or network that it is of; "" of the whole design
    value: Span | str
    document: str
    where: str  # "page 3"
    quote: str

    def __str__(self) -> str:
        return f"{self.document}, {self.where}: “{self.quote}”"


def plain_name(text: str) -> str:
    """A name without what a line break may change."""
    return re.sub(r"[\W_]", "", text).casefold()


def stage_key(text: str) -> str:
    """Key of a stage by its printed name."""
    return next(key for name, key in STAGES.items() if plain_name(name) == plain_name(text))


def stated(found: Finished) -> Iterator[Statement]:
    """Every figure that the texts state."""
    for sentence in SENTENCES:
        yield from read_by(sentence, found)


def read_by(sentence: Sentence, found: Finished) -> Iterator[Statement]:
    """The figures of one sentence."""
    for document, text in found.texts.items():
        if re.fullmatch(sentence.documents, document):
            yield from _found(sentence, document, text, found)


def compiled(pattern: str, found: Finished) -> re.Pattern[str]:
    """A sentence as regular expression: any white space where it has a space, names of this answer in its places."""
    names = {**PARTS, "w": f"(?P<w>{_names(found.workloads)})", "net": f"(?P<net>(?i:{_names(found.networks)}))"}
    while (filled := re.sub(r"\{([a-z]+|N)\}", lambda one: names[one[1]], pattern)) != pattern:
        pattern = filled
    return re.compile(pattern.replace(" ", r"\s+"))


def _names(names: list[str]) -> str:
    return "|".join(" ".join(re.escape(part) for part in one.split()) for one in names) or "(?!)"


def _found(sentence: Sentence, document: str, text: Text, found: Finished) -> Iterator[Statement]:
    seen: Counter[str] = Counter()
    for one in compiled(sentence.pattern, found).finditer(text.text):
        groups = one.groupdict()
        key = stage_key(groups["stage"]) if groups.get("stage") else ""
        kind = key if "stage" in sentence.of.split() else ""
        of = _SUBJECTS[sentence.of](one, seen[kind], text.text, found)
        seen[kind] += 1
        if of is None:
            continue
        if kind:
            of = f"{of}: {key}"
        value = sentence.read(groups) if sentence.read is not None else key
        start = one.start() + len(one[0]) - len(one[0].lstrip())
        yield Statement(sentence.figure, of, value, document, text.place(start), " ".join(one[0].split()))


def _named(one: re.Match[str], n: int, text: str, found: Finished) -> str | None:
    """The workload that the sentence names, or the only one."""
    name = one.groupdict().get("w")
    if name:
        return " ".join(name.split())
    return found.workloads[0] if len(found.workloads) == 1 else None


def _named_behind(one: re.Match[str], n: int, text: str, found: Finished) -> str | None:
    """The workload whose name ends the row."""
    behind = plain_name(text[one.end() : one.end() + 200])
    names = [name for name in found.workloads if behind.startswith(plain_name(name))]
    return max(names, key=len, default=None) or _named(one, n, text, found)


def _named_before(one: re.Match[str], n: int, text: str, found: Finished) -> str | None:
    """The workload of the heading above, or that begins the row."""
    if len(found.workloads) == 1:
        return found.workloads[0]
    heads = list(compiled(r"\n{w}(?=\n|: )", found).finditer(text, 0, one.end()))
    return " ".join(heads[-1]["w"].split()) if heads else None


def _in_order(one: re.Match[str], n: int, text: str, found: Finished) -> str | None:
    """The n-th sentence of its kind is about the n-th workload."""
    return found.workloads[n] if n < len(found.workloads) else None


def _drawn(one: re.Match[str], n: int, text: str, found: Finished) -> str | None:
    """The n-th drawing of a data path is of the n-th workload; an earlier stage than the last begins another."""
    order, drawing, last = list(STAGES.values()), -1, len(STAGES)
    drawn = compiled(r"(?:possible {share} utilized|limits|not limiting) {stage}", found)
    for stage in drawn.finditer(text, 0, one.end()):
        number = order.index(stage_key(stage["stage"]))
        drawing, last = drawing + (number <= last), number
    return found.workloads[drawing] if drawing < len(found.workloads) else None


def _tier(one: re.Match[str], n: int, text: str, found: Finished) -> str | None:
    """The n-th sentence of its kind is about the n-th storage tier; "" where the design has only one."""
    tiers = found.design["design"]["tiers"]
    return "" if len(tiers) == 1 else f"tier {n + 1}" if n < len(tiers) else None


_SUBJECTS: dict[str, Callable[[re.Match[str], int, str, Finished], str | None]] = {
    "": lambda *_: "",
    "tier": _tier,
    "network": lambda one, *_: plain_name(one["net"]),
    "workload": _named,
    "workload or first": lambda *given: _named(*given) or given[-1].workloads[0],
    "workload behind": _named_behind,
    "workload before": _named_before,
    "workload before stage": _named_before,
    "workload in order": _in_order,
    "workload drawn": _drawn,
    "workload drawn stage": _drawn,
}
