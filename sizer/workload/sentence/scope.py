"""What the words of a clause say of its names and numbers: excluded, preferred, corrected, or of another time."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from sizer.workload.kinds import trains_in
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.quantities import Amount
from sizer.workload.sentence.text import READ, Match, Phrase, SentenceText, Thing

# Names that stand in one list, and what joins them there.
_ALIKE = {"gpu": "<JOIN>", "server|storage|maker": "<JOIN>", "fabric": " (?:and|or|und|oder|et|ou) "}
DENIED = "\x04"  # in the place of a training that is not wished
_WINDOW = 140  # characters on both sides of a name in which words may be about it
_SERVED = "requests/time"
_COMBINED: dict[str, Callable[[list[float]], float]] = {"product": math.prod, "sum": sum, "first": lambda some: some[0]}
# Roles of which the noun may stand in an earlier part of the sentence.
_CARRIED = ("lengths", "latencies")
_ALIKE_QUANTITIES = ("{time|latency|people|requests}", "{n|tokens}")


class Stance(NamedTuple):
    """How names are meant: "exclude", "prefer", "only", "contrast" or "", with the place of the words up to them."""

    kind: str
    start: int
    end: int


def stance(shape: str, start: int, end: int, table: str = "stances") -> Stance:
    """The nearest operator of the clause of a name: before it or behind it, else before or behind its list.

    In the shape nothing is blanked out: a name may be governed by words that were read with another.
    """
    low, listed, follows = max(0, start - _WINDOW), None, None
    for kinds, join in _ALIKE.items():
        if rule(f"{{{kinds}}}").search(shape, start, end):
            part = f"(?:{{maker}} )*{{{kinds}}}<PART_NOUN>?"
            listed = rule(rf"(?:{part}(?P<join>{join}))+$").search(shape, low, start)
            follows = rule(rf"(?:<PART_NOUN>?(?P<join>{join}){part})+").match(shape, end, end + _WINDOW)
    # "No A, B or C preferred": the comma divides them.
    is_behind = not listed or ("," in listed["join"] and follows is not None and "," not in follows["join"])
    # What is said of a list counts for a name of it of which nothing is said.
    of_list = (listed.start() if listed else start, follows.end() if follows else end)
    for at, high in dict.fromkeys(((start, end), of_list)):
        clause = max((match.end() for match in rule(r"<CLAUSE_END>").finditer(shape, low, at)), default=low)
        before: list[tuple[int, str]] = []
        for kind, (source, behind) in GRAMMAR[table].items():
            if source and (match := rule(rf"(?:{source})$").search(shape, clause, at)):
                before.append((match.start(), kind))
            if behind and (match := rule(behind).match(shape, high)) and (is_behind or at == start):
                first = min((place for place, one in before if one == kind and at == start), default=start)
                return Stance(kind, first, match.end() if high == end else end)
        if before:
            first, kind = max(before)
            if kind == "only" and (denied := rule(r"<NOT_BEFORE>").search(shape, clause, first)):
                return Stance("optional", denied.start(), end)  # "not only NVIDIA" says no to none
            return Stance(kind, first if at == start else start, end)
    return Stance("", start, end)


def is_existing(text: SentenceText, match: Match) -> bool:
    """Whether the words around equipment, or between its number and its name, say that the customer has it."""
    shape, start = text.unblanked, max(0, match.start - _WINDOW)
    ids = set(match.ids("gpu", "server"))  # "on 4 V100; the existing V100 stay"
    if any(ids & set(one.ids("gpu", "server")) for one in text.within(r"<NAMED_OWNED>") if ids):
        return True
    if rule(r"<OURS>").search(match.words) or rule(r"<INVENTORY>").search(shape, start, match.start):
        return True
    low, high = clause_of(shape, match.start, match.end)
    # "In 2019 we bought two DGX-2, in 2023 one DGX H100": what comes next in a list.
    listed = rule(r"{server|storage}<NOUN_AFTER>, (?:and )?<SINCE>?$").search(shape, start, match.start)
    if listed and not rule(r"<WISHES>|<ADDED>|\badd").search(shape, match.start, high):
        low = clause_of(shape, listed.start(), listed.start() + 1)[0]
    before = shape[low : match.start]
    had = [one for one in rule(r"<EXISTING>").finditer(before) if not rule(r"<WISHES>").search(before, one.end())]
    if not match.quantities() and match.names("server"):  # "we have 20 TB for a DGX-1"
        had = [one for one in had if rule(r"<OTHER_PARTS>").fullmatch(before, one.end())]
    return bool(had) or rule(r"<EXISTING_AFTER>").match(text.unblanked, match.end) is not None


def clause_of(shape: str, start: int, end: int) -> tuple[int, int]:
    """The clause around a place."""
    low, high = max(0, start - _WINDOW), min(len(shape), end + _WINDOW)
    for aside in re.finditer(r"\([^()]*\)", shape[low:start]):  # what stands in brackets ends no clause
        shape = f"{shape[: low + aside.start()]}{' ' * len(aside[0])}{shape[low + aside.end() :]}"
    ends = [match.span() for match in rule(r"<CLAUSE_END>").finditer(shape, low, high)]
    low = max((last for _, last in ends if last <= start), default=low)
    return low, min((first for first, _ in ends if first >= end), default=high)


def governor(text: SentenceText, match: Match, role: str) -> tuple[str, Match] | None:
    """The role of a quantity, with the words up to the noun that gives it: the nearest one in its part of the clause.

    Lengths and latencies of a served model may follow their noun: "prompts are long, about 6k tokens".
    """
    shape = text.unblanked
    low, high = _between(shape, rule(r"<PART_END>"), match)
    near = _nouns(shape, role, max(0, low - 1), high)  # with a name before it
    nouns = [one for one in near if not _is_of_quantity_before(shape, role, match, low, one)]
    if not nouns and role in _CARRIED:
        low, high = _between(shape, rule(r"<STOP>|[\ue000-\uf8ff]"), match)
        nouns = [noun for noun in _nouns(shape, role, low, high) if noun[2] <= match.start]
    if not nouns:
        return None
    name, first, last = min(nouns, key=lambda one: max(match.start - one[2], one[1] - match.end))
    start, end = min(first if shape[first] < "\ue000" else match.start, match.start), max(last, match.end)
    if match.value.kind == "n" and not rule(r"<LENGTH>").fullmatch(shape, start, end + 20):
        return None
    return name, text.part(match, start, end)


def _between(shape: str, ends: re.Pattern[str], match: Match) -> tuple[int, int]:
    """From the last of some signs before a quantity to the first behind it."""
    low = max((one.end() for one in ends.finditer(shape, max(0, match.start - _WINDOW), match.start)), default=0)
    last = ends.search(shape, match.end)
    return low, last.start() if last else len(shape)


def _nouns(shape: str, role: str, low: int, high: int) -> list[tuple[str, int, int]]:
    """Nouns that give a role, each with its role and its place."""
    words = GRAMMAR["roles"][role].items()
    return [(name, *one.span()) for name, source in words for one in rule(source).finditer(shape, low, high)]


def _is_of_quantity_before(shape: str, role: str, match: Match, low: int, noun: tuple[str, int, int]) -> bool:
    """Whether a noun follows another quantity of the kind, which has none before it: "8k context on 100B tokens"."""
    _, start, end = noun
    if end > match.start:
        return start < match.end  # inside of the quantity, or behind it
    alike = rule(_ALIKE_QUANTITIES[match.value.kind in ("n", "tokens")])
    if not low or start > low + 1 or not alike.match(shape, low - 1):
        return False
    words = "|".join(GRAMMAR["roles"][role].values())
    return rule(rf"(?:{words})[ :=<≤~]*$").search(shape, max(0, low - 20), max(0, low - 1)) is None


def is_wish(text: SentenceText, match: Match) -> bool:
    """Whether the words of a wish in the clause of a limit are about it, and not about a name beside it."""
    shape = text.unblanked
    words = list(rule(r"<SOFT>").finditer(shape, *clause_of(shape, match.start, match.end)))
    between = [shape[word.end() : match.start] or shape[match.end : word.start()] for word in words]
    is_about = any(not rule("{maker|server|storage|gpu|fabric}").search(part) for part in between)
    return is_about or rule(r",? <SOFT>(?=[.;,]|$)").match(shape, match.end) is not None


def without_asides(sentence: str, networks: list[Thing]) -> tuple[str, list[Phrase]]:
    """A text without what states no need, and those words: kinds of work that it says no to, and asides.

    Asides are the signature, and by the words of the grammar what a sentence tells of the sender, of another time or
    as said by others; of a sentence that wishes something, the clauses that do not. The only network is no aside.
    """
    asides = [
        Phrase(one[0], meaning, *one.span())
        for source, meaning in ((r"<SIGNATURE>", "a signature"), (r"<REFERENCE>", "of the sender"))
        for one in rule(source).finditer(sentence)
    ]
    for match in rule(r"<WORK_WORDS>").finditer(sentence):
        found = stance(sentence, match.start(), match.end())
        if found.kind in ("exclude", "optional") and not rule(r"<UNABLE>").search(sentence, 0, match.start()):
            asides.append(Phrase(sentence[found.start : found.end], f"no {match[0]}", found.start, found.end))
    sentence = _blanked(sentence, asides)
    wishes = rule(r"<WISHES>|<NEED_WORDS>")
    for whole in (r"(?<=\()[^()]*", r"<SENTENCE>"):
        told = []
        for part in rule(whole).finditer(sentence):
            always = [words for words in GRAMMAR["asides_always"].values() if rule(words).search(part[0])]
            is_one = not wishes.search(part[0]) or any(words[0] == "^" for words in always)
            parts = list(rule(r"<COMMA_PART>").finditer(sentence, *part.span()))
            if is_one:  # beside what others have, the one network is the customer's
                by_others = [one for one in parts if re.search(r"\d", one[0]) and rule(r"<OTHERS>").search(one[0])]
                is_theirs = any(one.start() <= at.start < one.end() for at in networks for one in by_others)
                parts = by_others if by_others and networks and not is_theirs else [part]
            for one in parts:
                inside = [network for network in networks if one.start() <= network.start < one.end()]
                is_only = bool(networks) and len(inside) == len(networks)  # its name is not of others alone
                is_narrow = is_only or not (is_one or not wishes.search(one[0]))
                kinds = GRAMMAR["asides_always"] | ({} if is_narrow else GRAMMAR["asides"])
                meaning = next((name for name, words in kinds.items() if rule(words).search(one[0])), None)
                ends = [one.start(), *(at for of in inside if is_only for at in (of.start, of.end)), one.end()]
                if is_only and not re.search(r"\d", sentence[: one.start()] + sentence[one.end() :]):
                    continue  # nothing else tells what is wished
                for low, high in zip(ends[::2], ends[1::2], strict=True) if meaning else ():
                    told.append(Phrase(sentence[low:high].strip(), str(meaning), low, high, is_left_out=True))
        sentence, asides = _blanked(sentence, told), [*asides, *told]
    return sentence, asides


def _blanked(text: str, parts: list[Phrase]) -> str:
    for part in parts:
        sign = DENIED if part.meaning.startswith("no train") else " "
        text = f"{text[: part.start]}{sign * (part.end - part.start)}{text[part.end :]}"
    return text


def settle_values(text: SentenceText, is_part: bool) -> None:
    """Of two values take the one that is wished: not the one that is corrected, an average, or reached today."""
    for how, source in GRAMMAR["combined"].items():
        for found in text.each(source):
            some = found.quantities()
            classes = {rule(r"<WHO_TRAINS>").search(one.noun) is None for one in some}
            if how == "sum" and len(classes) > 1 and trains_in(text.sentence):
                continue  # who train and who use it
            low, high = (_COMBINED[how]([getattr(one, end) for one in some]) for end in ("low", "high"))
            people = replace(some[-1], kind="people", unit="people", noun=some[-1].noun or "people")
            text.put_at(found, replace(people, low=low, high=high))
            text.assume(f"{found.words}: {high:g} people")
    for found in text.each(r"<NOT_BUT>"):
        text.set_aside(found, "corrected by what follows")
    if not any(text.find(source) for source in GRAMMAR["growth"]):
        _settle_today(text)
    for source, group in ((r"<CORRECTION>", 0), (r"<RENEWAL>", "new"), (r"<SUFFICES>", "new")):
        for found in text.each(source):
            start = found.match.start(group)
            news = [one for place, one in text.places() if start <= place < found.end]
            pairs = [(old, new) for new in news if (old := _meant_before(text, start, new)) is not None]
            for old, new in pairs:
                text.put(old, new)
            if pairs:
                first = next(place for place, one in text.places() if place >= found.start)
                text.mark(found.start, first if group and "SUFF" in source else found.start)
                text.record(found, "corrects what stands before", start)
    for found in text.each(r"{time} ?\({time}\)"):  # what is in brackets says how long it is
        text.put_at(found, found.quantities()[-1])
    for found in text.each(r"<CHANGED_BY>"):
        earlier = [one for place, one in text.places() if place < found.start and isinstance(one, Amount)]
        if earlier and (found["down"] or found["up"]):
            factor = 1 + (-1 if found["down"] else 1) * found.value.high / 100
            text.put(earlier[-1], replace(earlier[-1], low=factor * earlier[-1].low, high=factor * earlier[-1].high))
            text.record(found, "changes what stands before")
    for found in text.each(r"<PEAK_OF>"):
        kinds = _SERVED if found.value.kind == "n" else found.value.kind
        average = text.find(rf"<AVERAGE>{{{kinds}}}|{{{kinds}}}<AVERAGE_AFTER>")
        if average is not None:
            text.put(average.value, found.value)
            text.record(found, "at the peak, for which it is sized")
    networks = [thing for thing in text.things if thing.kind in ("dnn", "parameters")]
    for found in text.each(r"<LATER>") if not is_part else ():
        counted = {quantity.kind.partition("/")[0] for quantity in found.quantities()} - {"n", "years"}
        is_first = any(one.kind.partition("/")[0] in counted for one in text.amounts if one not in found.things)
        if is_first and (not networks or any(network not in found.things for network in networks)):
            text.set_aside(found, "of another time than what is sized")


def _meant_before(text: SentenceText, at: int, new: Thing) -> Thing | None:
    """What stands before a place and is of the kind of something new; a bare number means what was counted last."""
    earlier = [one for place, one in text.places() if place < at and text.shape[place] != READ]
    if new.kind == "n":
        counted = [one for one in earlier if isinstance(one, Amount) and one.kind != "parameters"]
        return next(iter([one for one in counted if one.kind != "n"][-1:] or counted[-1:]), None)
    return next((one for one in reversed(earlier) if one.kind == new.kind), None)


def _settle_today(text: SentenceText) -> None:
    """Set aside what is reached today, and take what is told as so many times that."""
    multiple, lent = text.find(r"<TIMES_TODAY>"), list[int]()
    # A load is one of today only where something else is wished.
    n_loads = sum(thing.kind in (_SERVED, "tokens/time", "time") for thing in text.things)
    today: list[Amount] = []
    is_offer = text.find("{money/gpu/time|money/time/gpu}|<RENT_OR_BUY>") is not None
    for found in text.each(r"(?:{n} )?<LENT> ?(?:<THINGS_GONE>)|<RENTED>") if not is_offer else ():
        lent.append(found.start)
        text.assume(f"{found.words}: rented or lent, neither owned nor asked for")
        text.set_aside(found, "rented or lent")
    kinds = "time|time/job|samples/time|frames/time|samples/time/gpu|tokens/time/gpu"
    kinds += f"|{_SERVED}|tokens/time" if multiple or lent or n_loads > 1 else ""
    kinds += "|epochs" if sum(thing.kind == "epochs" for thing in text.things) > 1 else ""
    for found in text.each(r"<OLD_VALUE>"):
        today += found.quantities()
        text.set_aside(found, "the value of today; the target is stated otherwise")
    n_values = len(text.within(rf"{{{kinds}}}"))
    is_slow, was_else = (rule(words).search(text.shape) is not None for words in (r"<FASTER>", r"<PAST>"))
    clauses = list(rule(r"<CLAUSE>").finditer(text.shape))
    # "It takes 20 hours. We want it in 4": what it takes is of today.
    is_slow |= any(rule(r"<WISHES>").search(one[0]) and rule(r"{time}|<BY_NIGHT>").search(one[0]) for one in clauses)
    for clause in clauses:
        is_past, takes = (rule(words).search(clause[0]) is not None for words in (r"<PAST>", r"<IT_TAKES>"))
        tried = [at for at in lent if at < clause.end() and not re.search(r"[.;!?]", text.shape[at : clause.start()])]
        is_measured = bool(tried) or rule(r"<MEASURED>").search(clause[0]) is not None
        # Beside what was, "now" is what is wished.
        is_now = rule(r"<NOW_IS>").search(clause[0]) is not None and not was_else
        # "Twice as fast as our box, which does 1,400 images/s".
        is_compared = multiple is not None and n_values == 1 and multiple.start < clause.start()
        is_today = is_now or is_measured or (is_slow and takes) or (is_compared and rule(r"<DOES>").search(clause[0]))
        is_today = bool(is_today) and not rule(r"<WISHES>").search(clause[0])
        if not (is_past or is_today or any(clause.start() <= at for at in tried)):
            continue
        values = text.within(rf"{{{kinds}}}", *clause.span())
        for found in values:
            on = text.within(r"<MEASURED_ON>", found.end, clause.end()) if is_measured else []
            for gear in on[:1]:
                text.set_aside(gear, "on which it was measured")
            if is_measured and "/time" in found.value.kind:
                text.assume(f"{found.words}: a measured rate, which a request file takes in [[workload.measured]]")
            if is_measured or not found.value.kind.endswith("gpu"):
                today += [quantity for quantity in found.quantities() if quantity.kind != "epochs"]
                text.set_aside(found, "the value of today; the target is stated otherwise")
        for found in text.within("<RAN_ON>", *clause.span()) if is_past or (values and (takes or is_now)) else ():
            if not is_existing(text, found):
                text.set_aside(found, "what it ran on before")
    if multiple is not None and today:
        factor = multiple.value.high if multiple.quantities() else 2.0
        factor = 1 + factor / 100 if multiple.quantities("percent") else factor
        factor = next((by for by in (3, 4) if multiple[f"by{by}"]), factor)
        by = 1 / factor if today[0].kind == "time" else factor
        text.put_at(multiple, replace(today[0], low=today[0].low * by, high=today[0].high * by))
