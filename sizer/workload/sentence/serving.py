"""What a sentence says about a language model in use: who asks, how long requests are, and how soon answers come."""

import re
from dataclasses import replace
from typing import Any

from sizer.base.quantities import SECONDS, duration, grouped, parse, tokens_text
from sizer.catalog import labels
from sizer.workload.request import SERVING_TASKS
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.notes import LEAST_PERIOD_S, Notes, period_in, time_text
from sizer.workload.sentence.quantities import Amount, written_number
from sizer.workload.sentence.rules import Take, read_rules, state, taken_by
from sizer.workload.sentence.scope import governor
from sizer.workload.sentence.text import Match
from sizer.workload.serving import EMBEDDING, USES

_LENGTHS = ("input_tokens", "output_tokens")
_NOT_OFFLINE = frozenset(("users", "active_users", "concurrent_requests", "first_token_s", "token_s"))
# A longer text is no request: the tokens of all of them.
_MOST_LENGTH = 10_000_000
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0}
# No single answer comes faster, in tokens a second.
_FASTEST_OF_ONE = 200
# Longer is no text that a person sends.
_MOST_OF_ONE = 200_000
# Of 375 words. Assumed.
_TOKENS_OF_PAGE = 500
# Hours in which people send the requests of a longer time, by its seconds: 8 a day, 22 days a month. Assumed.
_WORKING_HOURS = {86_400: 8, 604_800: 40, 2_592_000: 176, 7_889_400: 528, 31_557_600: 2_112}


def is_served(notes: Notes) -> bool:
    """Whether the sentence is about a language model in use."""
    return notes.work.get("task") in SERVING_TASKS


def read_serving(notes: Notes) -> None:
    """Take what a sentence says about a language model in use; the grammar says which words mean what."""
    text = notes.text
    for name, source in GRAMMAR["uses"]:
        if rule(source).search(text.sentence):
            notes.work.setdefault("use", name)
        for found in notes.text.each(source):
            notes.text.record(found, f"use: {notes.work['use']}")
    if notes.work.get("use") in ("chat", "code", "code-chat"):
        notes.work["task"] = "serving"
    read_rules(notes, "serving", _TAKES)
    _read_roles(notes)
    for found in text.each(r"{people} (?:and|plus|und|et|&) {people}"):
        first, second = found.quantities()
        text.put_at(found, replace(first, low=first.low + second.low, high=first.high + second.high))
    if (users := text.find(r"<WHO_USE>")) is not None:
        for found in text.each(r"{people}"):
            if found.value.high > users.value.high:
                notes.leave(found)
    read_rules(notes, "load", _TAKES)
    if _NOT_OFFLINE & {*notes.work, *notes.work.get("target", {})}:  # somebody waits
        notes.work["task"] = "serving"
    task = notes.work["task"]
    for found in notes.text.each(r"<SERVED>"):
        notes.text.record(found, "a language model in use" if task == "serving" else labels.name(task))
    _assume(notes)


def _assume(notes: Notes) -> None:
    """Note what people are taken to do where the sentence gives neither a use nor lengths."""
    lengths = {*_LENGTHS} & notes.work.keys()
    target = notes.work.get("target", {})
    if "use" not in notes.work and len(lengths) < 2 and notes.work["task"] == "serving":
        notes.work["use"] = "chat"
        notes.text.assume("use not given: chat")
    if "users" in target:
        use = USES[notes.work.get("use", "chat")]
        notes.text.assume(
            f"assumed: {use.active_share:.0%} of the users active in the peak hour, "
            f"{use.requests_per_h:g} requests per hour each"
        )


def _target(notes: Notes, found: Match, key: str, value: Any, meaning: str) -> None:
    target = notes.work.setdefault("target", {})
    if target.get(key, value) != value:
        notes.text.assume(f"{found.words}: of two loads, the larger one is sized")
        value = max(value, target[key])
    elif target and key not in target:
        return
    target[key] = value
    notes.text.record(found, meaning)


def _per_second(notes: Notes, amount: Amount, words: str) -> float:
    """What is stated for a second; for a day or longer in the time that is given for it, else in working hours."""
    if amount.per_s >= LEAST_PERIOD_S and (time := notes.text.find(r"<TIME>")) is not None:
        seconds = parse(SECONDS, time_text(time.value.low, time.value.unit))
        notes.text.record(time, f"every time within {duration(seconds)}")
    elif notes.work["task"] == "serving" and (hours := _WORKING_HOURS.get(round(amount.per_s))) is not None:
        seconds = 3600.0 * hours
        notes.text.assume(f"hours of the requests not given: {words} come within {hours} working hours")
    else:
        seconds = amount.per_s
    return float(f"{amount.high * amount.per_s / seconds:.6g}")


def _rate(notes: Notes, found: Match, key: str) -> None:
    is_of_documents = found.value.kind.startswith(("documents", "samples"))
    if (
        is_of_documents
        and notes.work.get("use") in ("chat", "rag", "code", "code-chat")
        and notes.text.find(r"<FOR_THEM>{people}|<SOME_OF>")
    ):
        notes.leave(found)  # people ask, of whose requests the documents are none
        return
    asks = notes.has_target or notes.text.find("{people|requests}|<AT_ONCE>")
    if key == "tokens_per_s" and asks and found.value.high <= _FASTEST_OF_ONE:
        _latency(notes, found, "token_s")  # the answers of those who wait come so fast
        return
    rate = _per_second(notes, found.value, found.words)
    counted = "requests" if key == "requests_per_s" else "output tokens"
    _target(notes, found, key, rate, f"{rate:,.12g} {counted} a second")


def _texts(notes: Notes, found: Match, _: str) -> None:
    """A number of texts and the time for all of them: 400,000 documents of 6k tokens a night."""
    text, count = notes.text, found.quantities("documents", "samples", "requests", "n")[0].high
    if each := found.quantities("tokens/time"):
        seconds = each[-1].per_s
        notes.set("w.input_tokens", round(each[-1].high * seconds), found, f"{grouped(count)} requests")
        if (time := text.find(r"<TIME>")) is not None and seconds >= LEAST_PERIOD_S:
            seconds = parse(SECONDS, time_text(time.value.low, time.value.unit))
            text.record(time, f"every time within {duration(seconds)}")
    else:
        period = period_in(text)
        if period is None or text.find(r"<FOR_THEM>{people}") or "target" in notes.work:
            return
        text.record(period[1], f"within {period[0]}")
        seconds = parse(SECONDS, period[0])
    rate = float(f"{count / seconds:.4g}")
    meaning = f"{grouped(count)} requests in {duration(seconds)}: {rate:g} a second"
    text.assume(meaning)
    _target(notes, found, "requests_per_s", rate, meaning)


def _people(notes: Notes, found: Match, _: str) -> None:
    """People or requests: in flight at once, active, or all who may ask."""
    amount, words = found.quantities()[-1], found.words
    target = notes.work.get("target", {})
    nouns = [one[1].lower() for one in rule(r"<FOR_THEM>(\w+)").finditer(notes.text.sentence)]
    of_others = any(one.kind == "people" and one.noun in nouns for one in notes.text.things if isinstance(one, Amount))
    is_told = "users" in target or notes.work.get("use") == EMBEDDING or (of_others and amount.noun not in nouns)
    if is_told and amount.kind == "people" and not rule(r"<FOR_THEM>").match(words):
        notes.leave(found)  # for whom it is, is told
        return
    own = (key for key, noun in GRAMMAR["roles"]["load"].items() if rule(noun).search(words))
    told = next(((key, found) for key in own), None) or governor(notes.text, found, "load")
    if told is not None:
        key, found = told
    elif amount.kind != "people":
        notes.ask_place(found, "how many a second, or at once? Write for example 10 requests/s", "place needed")
        return
    else:
        key = "users"
    count = round(amount.high)
    if key != "users" and target.keys() == {"users"}:
        notes.work["target"] = {}
    if {"tokens_per_s", "requests_per_s"} & notes.work.get("target", {}).keys():
        notes.text.record(found, "who asks; the rate of their requests is stated")
        return
    _target(notes, found, key, count, f"{grouped(count)} {GRAMMAR['called'][key]}")


def _users(notes: Notes, found: Match, key: str) -> None:
    """People by whatever they are called: for 300 notaries."""
    if notes.work["task"] == "serving" and not notes.has_target and found.value.high > 1:
        _target(notes, found, key, round(found.value.high), f"{grouped(found.value.high)} {GRAMMAR['called'][key]}")


def _read_roles(notes: Notes) -> None:
    """Lengths of requests and limits of waiting, by the nouns that govern them."""
    text = notes.text
    loose = []
    for found in text.each(r"{tokens|n|documents}"):
        amount, told = found.value, governor(text, found, "lengths")
        if amount.kind == "documents":  # "32k prompts" are as long, "3,000 prompts" are so many
            is_length = amount.is_kilo and amount.noun.startswith(("prompt", "context", "answer"))
            told = ("output_tokens" if amount.noun[0] == "a" else "input_tokens", found) if is_length else None
        elif told is None and amount.kind == "tokens":
            loose.append(found)
        if told is not None and amount.length <= _MOST_LENGTH:
            _length(notes, told[1], told[0], amount)
    each_of = r"{documents|samples|requests|pages|requests/time|documents/time}[^.;!?]*$"
    for found in loose:
        is_of_each = rule(each_of).search(text.unblanked[: found.start]) and found.value.length <= _MOST_OF_ONE
        if is_of_each and "input_tokens" not in notes.work:
            _length(notes, found, "input_tokens", found.value)
    first = r"\bTTFT\b|\bfirst tokens?\b"
    for found in text.each(r"{time|latency|time/token|latency/token}"):
        amount, told = found.value, governor(text, found, "latencies")
        if amount.kind.endswith("token"):
            _latency(notes, found, "token_s")
        elif told is None and "latency_percentile" in notes.work and rule(first).search(text.sentence):
            _latency(notes, found, "first_token_s")  # which the text is about
        elif told is None or amount.unit not in _SECONDS:
            continue
        elif told[0] != "answer":
            _latency(notes, told[1], told[0])
        elif amount.low * _SECONDS[amount.unit] < 1:  # no whole answer is generated in less
            _latency(notes, told[1], "first_token_s")
        else:
            words = text.sentence[amount.start : amount.end]
            labels = (f"{what} within {words}" for what in ("first token", "later tokens"))
            said = "a limit of the first token, or of each later one? That of a whole answer follows"
            notes.choose("layout", told[1], said, labels)


def _length(notes: Notes, found: Match, key: str, amount: Amount) -> None:
    notes.set(f"w.{key}", amount.length, found, f"{tokens_text(amount.length)} {key.partition('put')[0]}")


def _total(notes: Notes, found: Match, _: str) -> None:
    if found.value.high > _MOST_OF_ONE:
        notes.ask_place(found, "so many tokens in which time? Write for example 1 billion tokens a day", "place needed")
        return
    missing = [key for key in _LENGTHS if key not in notes.work]
    if not missing:
        notes.leave(found)  # of a part of what goes in
        return
    if len(missing) > 1:
        notes.text.assume(f"{found.words}: of what goes in")
    _length(notes, found, missing[0], found.value)


def _pages(notes: Notes, found: Match, _: str) -> None:
    """Texts of so many pages: the tokens of what goes in."""
    pages = found.value.high * found.value.per_s
    notes.text.assume(f"a page: {_TOKENS_OF_PAGE} tokens")
    notes.set("w.input_tokens", round(pages * _TOKENS_OF_PAGE), found, f"{pages:g} pages in")


def _lengths(notes: Notes, found: Match, _: str) -> None:
    """8k/1k: tokens in, then out."""
    first, second = found.quantities()[:2]
    notes.work |= {"input_tokens": first.length, "output_tokens": second.length}
    notes.text.record(found, f"{tokens_text(first.length)} in and {tokens_text(second.length)} out")


def _latency(notes: Notes, found: Match, name: str) -> None:
    """A time to the first or to each later token; twenty tokens a second for each user are 50 ms a token."""
    key, amount = name.split()[0], found.quantities()[-1]
    if amount.kind.startswith("tokens"):
        seconds = 1 / amount.high
    else:
        amount = found.quantities("time", "latency", "time/token", "latency/token")[-1]
        seconds = amount.low * amount.per_s * _SECONDS.get(amount.unit, 1.0)
    what = "to the first token" if key == "first_token_s" else "for each later token"
    written = f"{written_number(round(seconds * 1e3, 3))} ms"
    notes.set(f"w.{key}", written, found, f"at most {duration(seconds)} {what}")


def _percentile(notes: Notes, found: Match, key: str) -> None:
    value = int(found["digits"] or found.value.high)
    notes.set(f"w.{key}", value, found, f"for {value} % of the requests")


def _prefix(notes: Notes, found: Match, key: str) -> None:
    told = governor(notes.text, found, "shares")
    if told is not None and told[0] == key:
        state(notes, told[1], key)


def _active(notes: Notes, found: Match, _: str) -> None:
    """A share of the users: those who ask, read and ask again at the same time."""
    target, people = notes.work.get("target", {}), found.quantities("people")
    start = notes.text.span(found.start, found.end)[0]
    counted = [one for one in notes.text.things if isinstance(one, Amount) and one.kind == "people"]
    before = [one.high for one in counted if one.end <= start]  # the nearest are meant
    users = people[0].high if people else before[-1] if before else target.get("users")
    is_bare = re.fullmatch(r"[\d., %]+|\w+ per ?cent", found.words) is not None
    if users is None or is_bare or (people and target) or {"concurrent_requests", "active_users"} & target.keys():
        return
    active = max(1, round(users * found.quantities("percent")[0].high / 100))
    notes.work["target"] = {"active_users": active}
    notes.text.record(found, f"{grouped(active)} {GRAMMAR['called']['active_users']}")


def _engine(notes: Notes, found: Match, key: str) -> None:
    names = {name.casefold() for name in found.ids("software")}
    for stack in notes.catalog.stacks.values():
        if stack.serves_language and {stack.framework.casefold(), *map(str.casefold, stack.aliases)} & names:
            notes.set(f"w.{key}", stack.id, found, f"served by {stack.name}")
            return


def _offline(notes: Notes, found: Match, _: str) -> None:
    notes.work["task"] = "generation"
    notes.text.record(found, "nobody waits")


def _adapters(notes: Notes, found: Match, key: str) -> None:
    """Adapters that requests choose among; one alone is merged into the weights of its base."""
    counts = found.quantities("n")
    number = round(counts[0].high) if counts else 1
    if number > 1:
        notes.set(f"w.{key}", number, found, f"{grouped(number)} adapters (LoRA) on one copy of the model")
    else:
        notes.text.record(found, "one adapter, merged into the weights of the model")


_TAKES: dict[str, Take] = {
    "token_s by speed": _latency,
    **dict.fromkeys(("requests_per_s", "tokens_per_s"), _rate),
    "latency_percentile": _percentile,
    "prefix_cached": _prefix,
    **taken_by(_active, _adapters, _engine, _lengths, _offline, _pages, _people, _texts, _total, _users),
}


def ask_lengths(notes: Notes) -> None:
    """Ask for the lengths of requests that nobody waits for: what generates has no usual ones, and they decide."""
    work = notes.work
    is_by_rate = work["task"] == "generation" and not {"gpus_busy", "maximum"} & work["target"].keys()
    if is_by_rate and "use" not in work and not {*_LENGTHS} <= work.keys():
        missing = [GRAMMAR["usual_lengths"][key] for key in _LENGTHS if key not in work]
        notes.ask("length of requests", answers=[notes.answer(", ".join(some)) for some in zip(*missing, strict=True)])
