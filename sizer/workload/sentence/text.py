"""The text of a sentence with what was found in it: its names, dates and quantities as signs that rules can match."""

import datetime
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from sizer.base.dates import days_of
from sizer.base.streams import pause_point
from sizer.workload.sentence.grammar import GRAMMAR, rule, sign
from sizer.workload.sentence.quantities import Amount

# Replaces what was read; rules do not match across it.
READ = "\x00"
_SIGNS = str.maketrans({**dict.fromkeys("‐‑‒–—―−", "-"), **dict.fromkeys("’‘ʼ´`", "'"), "×": "x", "⁄": "/"})
_TIMES = re.compile(r"(?<![\w.])(\d{1,6})x(?=[A-Za-z])")  # 16xV100
_PRODUCT = re.compile(r"(?<![\w.])(\d{1,3})x(?=\d{1,3} (?:[A-Z]+\d|GPU))")  # 4x4 H100
_OF_COUNT = re.compile(
    r"(?<![\w.,-])(\d{1,6}) ?x (?=(?:servers?|nodes?|GPUs?|racks?|machines?|cabinets?)\b)", re.I
)  # 5 x servers
_TIMES_AFTER = re.compile(r"(?<=[\w\"]) x(\d{1,4})(?![\w.])")  # C4140 x2
_PIECES = re.compile(r"(?<=\w) (?:Stück|Stk\.|Stk|pcs\.?) (?=[A-Z])")  # 5 Stück DGX-2
_POWER = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?) ?[x*·] ?10 ?\^ ?(\d{1,2})\b|(?<![\w.])10\^(\d{1,2})\b")  # 2 x 10^12
_RAISED = re.compile(r"(?<=\b10)[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_POINT = re.compile(r"\A(?:[-*•·–] |\(?(?:\d{1,2}|[a-z])[.)] )")  # of a list
_FULL_LINE = 60  # characters; after a shorter line a sentence ends where the next starts with a capital or a digit
_TRAILING = re.compile(r"[\s,;.!?()]+$")


def _joined(text: str) -> str:
    """The lines of a text as one; what paragraphs, points of a list and short lines divide, full stops divide."""
    lines, joined = [line.strip() for line in text.strip().splitlines()], ""
    for line, after in pairwise([*lines, ""]):
        is_end = not after or any(map(_POINT.match, (after, line)))
        is_end = is_end or (len(line) < _FULL_LINE and not after[0].islower())
        is_divided = not is_end or not line or line[-1] in ".,;:!?"
        joined += _POINT.sub("", line, count=1) + (" " if is_divided else ". ")
    return joined.removesuffix(". ")


def normal(text: str) -> str:
    """Text on one line with plain spaces, hyphens and apostrophes, without control characters."""
    text = _joined(text) if "\n" in text.strip() else text
    for said in reversed(list(rule("<SAID_TWICE>").finditer(text))):  # 5,000 (five thousand), Four (4)
        digits = [group for group in said.groups() if group[0].isdigit()]
        text = f"{text[: said.start()]}{digits[0] if len(digits) == 1 else said[0]}{text[said.end() :]}"
    plain = unicodedata.normalize("NFKC", _RAISED.sub(r"^\g<0>", text)).translate(_SIGNS)
    plain = _TIMES_AFTER.sub(r" x \1", _PIECES.sub(" ", plain))
    plain = _POWER.sub(lambda match: f"{match[1] or 1}e{match[2] or match[3]}", plain)
    visible = "".join(" " if unicodedata.category(sign)[0] in "CZ" else sign for sign in plain)
    return " ".join(_OF_COUNT.sub(r"\1 ", _PRODUCT.sub(r"\1 x ", _TIMES.sub(r"\1 x ", visible))).split())


@dataclass(frozen=True)
class Phrase:
    """Words that were read: their place in the sentence and what they mean; no words for an assumption."""

    words: str
    meaning: str
    start: int = 0
    end: int = 0
    is_left_out: bool = False  # words that the request does not take: of another time, or said by others


@dataclass(frozen=True)
class Name:
    """A name in the text: of an item of the catalogue, a date, pixels, or of what the catalogue does not hold."""

    kind: str  # "dnn", "dataset", "gpu", "server", "storage", "maker", "fabric", "software", "date", ..., or "outside"
    start: int
    end: int
    ids: tuple[str, ...]  # items that it may mean; names of a maker, a day, or what kind of thing is not held
    qualifier: str = ""  # what narrows it: the board HGX, the speed of an InfiniBand, the GPUs of a server


Thing = Name | Amount


@dataclass(frozen=True)
class Match:
    """What a rule matched: its place among the signs, and the names and quantities in it."""

    match: re.Match[str]
    things: tuple[Thing, ...]
    start: int
    end: int
    words: str

    def __getitem__(self, group: str | int) -> str:
        return self.match[group] or ""

    def quantities(self, *kinds: str) -> list[Amount]:
        """Quantities in it, of some kinds or of any."""
        return [thing for thing in self.things if isinstance(thing, Amount) and (not kinds or thing.kind in kinds)]

    def names(self, *kinds: str) -> list[Name]:
        """Names in it of some kinds."""
        return [thing for thing in self.things if isinstance(thing, Name) and thing.kind in kinds]

    def ids(self, *kinds: str) -> list[str]:
        """Items that its names of some kinds may mean."""
        return list(dict.fromkeys(key for one in self.names(*kinds) for key in one.ids))

    @property
    def value(self) -> Amount:
        """Its first quantity."""
        return self.quantities()[0]


@dataclass
class SentenceText:
    """A sentence of which more and more is read; what is read is blanked out, so that nothing is read twice."""

    sentence: str
    things: Sequence[Thing]
    whole: str  # the sentence with the other jobs that it tells, which are blank here
    shape: str = ""
    phrases: list[Phrase] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._places: list[tuple[int, int]] = []
        self._at: dict[int, Thing] = {}
        place, parts = 0, []
        for one in sorted(self.things, key=lambda thing: thing.start):
            parts += list(self.sentence[place : one.start])
            self._places += [(at, at + 1) for at in range(place, one.start)]
            self._at[len(parts)] = one
            parts.append(sign(one.kind))
            self._places.append((one.start, one.end))
            place = one.end
        parts += list(self.sentence[place:])
        self._places += [(at, at + 1) for at in range(place, len(self.sentence))]
        self.shape = self.unblanked = "".join(parts)

    def put(self, old: Thing, new: Thing) -> None:
        """Take another value or name where one stands; of a bare number as many of what was counted."""
        if isinstance(old, Amount) and isinstance(new, Amount) and new.kind == "n":
            new = replace(old, low=new.low / old.per_s, high=new.high / old.per_s)
        else:
            new = replace(new, start=old.start, end=old.end)
        at = next(place for place, thing in self._at.items() if thing is old)
        self.things = [new if thing is old else thing for thing in self.things]
        self._at[at] = new

    def put_at(self, match: Match, new: Thing) -> None:
        """Take a value or name in the place of the words of a match."""
        low, high = self.span(match.start, match.end)
        for at in range(match.start, match.end):
            self._at.pop(at, None)
        last = match.end - 1
        self._at[last] = new = replace(new, start=low, end=high)
        self._places[last] = (low, high)
        self.things = [*(thing for thing in self.things if thing not in match.things), new]
        self.shape = self.shape[: match.start] + READ * (last - match.start) + sign(new.kind) + self.shape[match.end :]

    def set_aside(self, match: Match, meaning: str) -> None:
        """Take the words of a match as read, and nothing in them as wished."""
        self.things = [thing for thing in self.things if thing not in match.things]
        self.record(match, meaning)
        self.phrases[-1:] = [replace(phrase, is_left_out=True) for phrase in self.phrases[-1:]]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Places in the sentence of some signs."""
        return self._places[start][0], self._places[end - 1][1]

    def find(self, source: str) -> Match | None:
        """First match of a rule in what is not read yet."""
        match = rule(source).search(self.shape)
        return self.match_of(match) if match else None

    def each(self, source: str) -> Iterator[Match]:
        """Matches of a rule, from left to right; what is read meanwhile is no longer matched."""
        pause_point()
        for match in list(rule(source).finditer(self.shape)):
            if READ not in self.shape[match.start() : match.end()]:
                yield self.match_of(match)

    def within(self, source: str, low: int = 0, high: int | None = None) -> list["Match"]:
        """Matches of a rule between two places of what is not read yet."""
        ends = (low, len(self.shape) if high is None else high)
        return [self.match_of(match) for match in rule(source).finditer(self.shape, *ends)]

    def match_of(self, match: re.Match[str]) -> Match:
        """What a match holds."""
        start, end = match.span()
        things = tuple(self._at[at] for at in range(start, end) if at in self._at and self.shape[at] != READ)
        low, high = self.span(start, end)
        return Match(match, things, start, end, self.sentence[low:high].strip())

    def part(self, match: Match, start: int, end: int) -> Match:
        """The same match with another place: a part of it, or with more words."""
        low, high = self.span(start, end)
        return replace(match, start=start, end=end, words=self.sentence[low:high].strip())

    @property
    def amounts(self) -> list[Amount]:
        """Its quantities."""
        return [thing for thing in self.things if isinstance(thing, Amount)]

    def places(self) -> Iterator[tuple[int, Any]]:
        """Names and quantities with their places among the signs."""
        return iter(self._at.items())

    def before(self, at: int, size: int = 60) -> str:
        """What stands before a place in the same clause and is not read yet."""
        return re.split(r"[.;:!?,]", self.shape[max(0, at - size) : at])[-1]

    def is_after(self, match: Match, source: str) -> bool:
        """Whether some words stand before a match, in its clause and not read yet."""
        return rule(source).search(self.before(match.start)) is not None

    def after(self, at: int, size: int = 60) -> str:
        """What stands after a place and is not read yet."""
        return self.shape[at : at + size]

    def mark_words(self, start: int, end: int) -> None:
        """Blank out what stands between two places of the sentence."""
        for at, (low, high) in enumerate(self._places):
            if start <= low and high <= end:
                self.mark(at, at + 1)

    def mark(self, start: int, end: int) -> None:
        """Blank out some signs."""
        self.shape = self.shape[:start] + READ * (end - start) + self.shape[end:]

    def record(self, match: Match, meaning: str, start: int | None = None, end: int | None = None) -> None:
        """Take the words of a match as read."""
        start, end = match.start if start is None else start, match.end if end is None else end
        while start < end and self.shape[start] == " ":
            start += 1
        while end > start and _TRAILING.match(self.shape[end - 1]):
            end -= 1
        low, high = self.span(start, end)
        self.mark(start, end)
        if high > low:
            self.phrases.append(Phrase(self.sentence[low:high], meaning, low, high))

    def assume(self, meaning: str) -> None:
        """Note what is assumed because the sentence does not give it."""
        self.phrases.append(Phrase("", meaning))


# --- dates: the day of need ("by the end of Q2 2027"), the days from one to another, and others

_MONTHS = {name: number for number, names in enumerate(GRAMMAR["months"], 1) for name in names.split()}


def dates_in(text: str) -> list[Thing]:
    """Dates with the words that lead to them: a start and the time from it, the day of need, and days that are neither.

    "By March 2027" is read as its first day, the safe reading; "by the end of March 2027" as its last.
    """
    dates: list[tuple[int, int, datetime.date, datetime.date]] = []
    every = (one for date in GRAMMAR["dates"] for one in rule(rf"(?<![\w.,]){date}(?![\w-])").finditer(text))
    for match in sorted(every, key=lambda one: (one.start(), -one.end())):
        is_next = not dates or match.start() >= dates[-1][1]
        if is_next and (days := _days(match.groupdict())) is not None:
            dates.append((*match.span(), *days))
    things: list[Thing] = [Name("day", start, end, ()) for start, end, _, _ in dates]
    for place, ((start, end, first, _), (other, last_end, _, last)) in enumerate(pairwise(dates)):
        lead = rule(r"<DAYS_FROM>(?:the )?$").search(text, 0, start)
        joint = rule(r"<DAYS_TO>(?:the )?$" if lead else r"^<DAYS_JOIN>$").search(text[end:other])
        if joint and last >= first:
            n_days = float((last - first).days + 1)
            clock = Name("clock", lead.start() if lead else start, end, ())
            return [*things[:place], clock, Amount("time", end + joint.start(), last_end, n_days, n_days, "d", "d")]
    for place, (start, end, first, last) in enumerate(dates):
        lead = rule(r"<DATE_LEAD>$").search(text, 0, start)
        if lead and not rule(r"<OTHER_DATE>").search(text, 0, lead.start()):
            things[place] = Name("date", lead.start(), end, ((last if lead["end"] else first).isoformat(),))
            break
    return things


def _days(found: dict[str, str | None]) -> tuple[datetime.date, datetime.date] | None:
    """First and last day of what is written; None where the calendar lacks it, or it has two readings."""
    year, written = found.get("year"), [found.get("iso") or str(found.get("year"))]
    if quarter := found.get("quarter"):
        written = [f"{year}-{month:02}" for month in (3 * int(quarter) - 2, 3 * int(quarter))]
    elif first := found.get("first"):  # the day is first, but where that is none: 12/31/2027
        one, other = int(first), int(found["second"] or 0)
        if found["mark"] == "/" and one <= 12 and other <= 12 and one != other:
            return None
        written = [f"{year}-{min(one, other) if other > 12 else other:02}-{other if other > 12 else one:02}"]
    elif month := found.get("month"):
        day = found.get("day")
        written = [f"{year}-{_MONTHS[month.lower()]:02}" + (f"-{int(day):02}" if day else "")]
    try:
        return days_of(written[0])[0], days_of(written[-1])[1]
    except ValueError:
        return None
