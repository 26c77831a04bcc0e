"""A need in a sentence or two, as in a customer's mail, read into a request and into what has to be asked."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from sizer.base.errors import RequestError
from sizer.base.quantities import SECONDS, parse
from sizer.catalog.model import Catalog
from sizer.workload.kinds import ToldKind, trains_in
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import usual_dataset
from sizer.workload.sentence import notes as rules
from sizer.workload.sentence import targets
from sizer.workload.sentence.equipment import (
    read_fabrics,
    read_gpu_memory,
    read_parts,
    read_setting,
    read_storage_kinds,
)
from sizer.workload.sentence.grammar import FILLERS, GRAMMAR, rule
from sizer.workload.sentence.models import is_sized, read_kind_of_model, read_language, read_networks, read_outside
from sizer.workload.sentence.names import names_of, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.quantities import UNITS, Amount, currency_of, quantities_in, value_of
from sizer.workload.sentence.reading import Answer, Edit, Question, Reading, assumed_of
from sizer.workload.sentence.scope import clause_of, settle_values, without_asides
from sizer.workload.sentence.text import READ, Match, Name, Phrase, SentenceText, Thing, dates_in, normal
from sizer.workload.table import DEFAULT_DATASET

MAX_CHARACTERS = 2_000
# In which something is assumed that leads to something else to be assumed.
_MOST_ROUNDS = 6

_NAMED = ("gpu", "server", "storage", "fabric", "dnn")
_BARE = ("n", "percent", "jobs", "other/time")
_BEARS = ("turn", "number", "name", "count")  # how what nobody read may bear on the answer, the most telling first
_NO_LOAD = ("years", "year", "volts")
_VERBS = ("<TUNES>", "<PRE_TRAINS>", "<TRAINS>")
# Control characters stand for what was read, or is denied.
_WORD = re.compile(rf"[^\s,;.!?(){READ}-\x08\ue000-\uf8ff\"]+(?:[.,]\d+)*")
# Keys that only language models, or only other networks, have; those that tell a training; what states a target.
_KEYS = {of: frozenset(keys.split()) for of, keys in GRAMMAR["keys"].items()}
_Told = tuple[list[Thing], bool, set[str]]  # networks of a part of a text, whether it states a target, its verbs
_NETWORKS = {"network", "network nearest", "network of its samples"}  # that no words name
_GUESSES = {"target", *_NETWORKS}  # what is assumed may be what a number tells that nobody read
_MOST_UNREAD = 3  # words of a sentence whose network is a guess
_ARTICLES = ("one", "single", "a", "une", "un")


def read_sentence(sentence: str, catalog: Catalog) -> Reading:
    """Read a need in English, or with the usual German and French phrases, with the names of a catalogue.

    No text is an error: what is missing or has two readings becomes a question.
    """
    plain = normal(sentence[: 2 * MAX_CHARACTERS])
    if len(sentence) > MAX_CHARACTERS or len(plain) > MAX_CHARACTERS:
        reason = f"has {len(sentence):,} characters; write at most {MAX_CHARACTERS:,}"
        return Reading("", {}, (), (Question("refused", reason=reason),), ())
    edits: list[Edit] = [*names_of(catalog).misspelt(plain)]
    assumed = [Phrase("", f"{plain[low:high]}: no such word is known; read as {name}") for low, high, name in edits]
    guessed = set[str]()
    for left in range(_MOST_ROUNDS, -1, -1):
        text, places = _edited(plain, edits)
        reading = _read_once(text, catalog)
        taken = assumed_of(reading.questions) if left else ()
        assumed += [Phrase("", one.assumption) for one in taken]
        guessed |= {one.key for one in taken}
        for low, high, words in (edit for one in taken for edit in one.answers[0].edits):
            place = places[low][0], places[max(low, high - 1)][high > low]
            # What is answered about words that were assumed takes their place.
            edits = [edit for edit in edits if edit[:2] != place or high == low or len(edit[2]) > high - low]
            edits.append((*place, words))
        if not taken:
            break
    told = [phrase for phrase in reading.phrases if not phrase.words]
    for one in (phrase for phrase in reading.phrases if phrase.words):  # at their places in the sentence as written
        start, end = places[one.start][0], places[one.end - 1][1]
        if plain[start:end].strip():
            told.append(replace(one, words=plain[start:end], start=start, end=end))
    reading = replace(reading, sentence=plain, phrases=(*told, *assumed))
    return replace(reading, questions=_beside_guesses(reading, guessed))


def _beside_guesses(reading: Reading, guessed: set[str]) -> tuple[Question, ...]:
    """What is asked of a sentence of which some things were guessed, which what was not understood may tell."""
    if not guessed & _GUESSES:
        return tuple(question for question in reading.questions if question.key != "place of a guess")
    unsure = [phrase.words for phrase in reading.phrases if phrase.is_left_out and "target" in guessed]
    if guessed & _NETWORKS and len(reading.unread) > _MOST_UNREAD:
        unsure = list(reading.unread)
    if reading.questions or not unsure:
        return reading.questions
    return (Question("place", "; ".join(unsure), GRAMMAR["unread"]["guess"]),)


def _edited(plain: str, edits: Sequence[Edit]) -> tuple[str, list[tuple[int, int]]]:
    """A sentence with other words, and of each of its signs the first and the last place in the sentence as written."""
    text, at = "", 0
    places: list[tuple[int, int]] = []
    for start, end, words in sorted(edits, key=lambda edit: edit[:2]):
        if start < at <= end:
            continue  # inside of what another one has changed
        text += plain[at:start] + words
        places += [*((one, one + 1) for one in range(at, start)), *([(start, end)] * len(words))]
        at = max(at, end)
    places += [(one, one + 1) for one in range(at, len(plain))]
    return text + plain[at:], [*places, (len(plain), len(plain))]


def _read_once(plain: str, catalog: Catalog) -> Reading:
    things = _things_in(plain, catalog)
    networks = [thing for thing in things if thing.kind in ("dnn", "parameters", "outside")]
    networks.sort(key=lambda network: network.start)
    sentence, asides = without_asides(plain, networks)
    things = _left_in(sentence, plain, things)
    reading = _reading(sentence, catalog, plain, things)
    told = [aside.words for aside in asides if aside.meaning in GRAMMAR["asides"] and re.search(r"\d", aside.words)]
    reading = replace(reading, phrases=(*reading.phrases, *asides), unread=(*reading.unread, *told))
    return reading if reading.refused else replace(reading, unread=(*reading.unread, *_untold(reading, things)))


def _untold(reading: Reading, things: list[Thing]) -> list[str]:
    """Numbers of the sentence, in digits or in words, that are in nothing that is told, whichever branch took them."""
    asked = (f"{question.words} {question.reason}" for question in reading.questions)
    told = " ; ".join([*reading.unread, *asked, *(phrase.words or phrase.meaning for phrase in reading.phrases)])
    read, of_things = (
        {at for one in some for at in range(one.start, one.end)}
        for some in ([phrase for phrase in reading.phrases if phrase.words], things)
    )
    digits = (one.span() for one in re.finditer(r"(?<![\w.,-])\d(?:[\d.,']*\d)?(?![\w-])", reading.sentence))
    places = [digit for digit in digits if digit[0] not in of_things]
    # Of work that no request states its names, too.
    places += [(thing.start, thing.end) for thing in things if isinstance(thing, Amount) or not reading.request]
    lost = []
    for start, end in sorted(places):
        words = reading.sentence[start:end].strip(" ,;.")
        is_told = not read.isdisjoint(range(start, end)) or words.lower() in _ARTICLES
        if not is_told and not re.search(rf"(?<!\w){re.escape(words)}(?!\w)", told):
            lost.append(words)
    return lost


def _reading(plain: str, catalog: Catalog, whole: str, things: list[Thing], is_part: bool = False) -> Reading:
    text = SentenceText(plain, things, whole)
    settle_values(text, is_part)
    parts = [] if is_part else _jobs_in(plain, list(text.things))
    if len(parts) > 1:
        readings = [_part(part, plain, catalog, whole, things) for part in parts]
        if all(reading.request for reading in readings):
            return _together(whole, readings, catalog)
    notes = Notes(text, catalog)
    _read(notes)
    if notes.is_refused:  # what else the sentence says belongs to work that no request can state
        return Reading(whole, {}, (), tuple(notes.questions), ())
    if notes.second_job is not None:
        return _second_job(plain, notes.second_job, catalog, things, is_part)
    _ask_unread(notes)
    request = _request(notes)
    return Reading(whole, request, tuple(notes.text.phrases), tuple(notes.questions), _unread(notes))


def _jobs_in(text: str, things: list[Thing]) -> list[str]:
    """The text once for each job that it tells, without the words of the others.

    A job has a network and a target of its own; or it is a fine-tuning next to a pre-training, of the same network
    where it names none.
    """
    if paired := _paired(text, things):
        return paired
    jobs, told = list[tuple[int, int]](), list[_Told]()
    joints = {joint.start() for joint in rule("<JOB_JOINT>").finditer(text)}
    joints |= {thing.start for thing in things if thing.kind == "dnn" and text[: thing.start].endswith(", ")}
    for low, high in pairwise([0, *sorted(joints), len(text)]):
        inside = [thing for thing in things if low <= thing.start < high]
        networks = [one for one in inside if one.kind in ("dnn", "parameters")]
        has_target = any(rule(habit).search(text, low, high) for habit in GRAMMAR["habits"].values())
        has_target |= any(one.kind in _KEYS["targets"] for one in inside)
        verbs = {verb for verb in _VERBS if rule(verb).search(text, low, high)}
        part = networks, has_target, verbs
        if jobs and not _are_two(told[-1], part):
            jobs[-1] = (jobs[-1][0], high)
            told[-1] = (told[-1][0] + networks, told[-1][1] or has_target, told[-1][2] | verbs)
        else:
            jobs.append((low, high))
            told.append(part)
    named = [names for names, _, _ in told]
    is_told = all((names and has_target) or verbs for names, has_target, verbs in told)
    if len(jobs) < 2 or not any(named) or not is_told:
        return []
    # The network of a job that names none: the one before it, else the one behind it.
    meant = [next(filter(None, [*named[index::-1], *named[index + 1 :]])) for index in range(len(jobs))]
    return [_only(text, [job, *((one.start, one.end) for one in of)]) for job, of in zip(jobs, meant, strict=True)]


def _are_two(job: _Told, part: _Told) -> bool:
    """Whether what follows is another job: another network with a target, or the other of two trainings."""
    own, its = ({one.ids[0] if isinstance(one, Name) else one.high for one in told[0]} for told in (job, part))
    if own and its and job[1] and not own & its:
        return True
    both = job[2] | part[2]
    is_apart = "<TUNES>" in both and bool(job[2] and part[2]) and not job[2] & part[2]
    return is_apart and ("<PRE_TRAINS>" in both or bool(own and its and own != its))


def _paired(text: str, things: list[Thing]) -> list[str]:
    """The text once for each network of a list beside as many values: "A and B for 150 and 50 users"."""
    signs, last = SentenceText(text, things, text), "|".join(sorted(_KEYS["targets"]))
    lists = list(signs.each(r"{dnn|parameters}(?:<JOIN>{dnn|parameters})+"))
    values = list(signs.each(rf"(?:{{n|{last}}}<JOIN>)+{{{last}}}")) if lists else []
    pairs = [(some.things, of.things) for some in lists for of in values if len(some.things) == len(of.things)]
    if not pairs:
        return []
    networks, counted = pairs[0]
    start, end = counted[0].start, counted[-1].end
    unit = re.sub(r"^(?:[\d.,]+k?|[^\W\d_]+)", "", text[counted[-1].start : end])
    texts = []
    for network, value in zip(networks, counted, strict=True):
        words = text[value.start : value.end] + (unit if value.kind == "n" else "")
        if len(words) > end - start:
            return []  # the places of what follows would move
        others = [(one.start, one.end) for one in networks if one is not network]
        part = _only(text, [], others)
        texts.append(f"{part[:start]}{words:>{end - start}}{part[end:]}")
    return texts


def _share_time(works: list[dict[str, Any]], sentence: str, catalog: Catalog) -> list[Phrase]:
    """Give trainings that run one after the other their shares of the time, by parameters and tokens; say so."""
    times = {work.get("target", {}).get(rules.TIME) for work in works}
    if len(works) < 2 or len(times) > 1 or times == {None} or not rule("<IN_A_ROW>").search(sentence):
        return []
    whole, dnns = str(*times), [work["dnn"] for work in works]
    known = {dnn.id: dnn.parameters.value for dnn in catalog.dnns.values()}
    sizes = [known[dnn] if isinstance(dnn, str) else dnn.get("parameters", 0.0) for dnn in dnns]
    parts = [size * work.get("tokens", 0.0) for size, work in zip(sizes, works, strict=True)]
    for work, part in zip(works, parts, strict=True):
        share = part / sum(parts) if all(parts) else 1 / len(parts)
        work["target"] = {rules.TIME: rules.time_text(float(f"{parse(SECONDS, whole) / 86_400 * share:.4g}"), "d")}
    by = "in proportion to parameters and tokens" if all(parts) else "in equal parts"
    return [Phrase("", f"one after the other: the trainings share {whole} {by}")]


def _together(plain: str, readings: list[Reading], catalog: Catalog) -> Reading:
    """Jobs of one sentence as one request: what limits one of them limits the cluster."""
    works = [work for one in readings for work in one.request.get("workload", [])]
    request: dict[str, Any] = {"title": " and ".join(one.request["title"] for one in readings)[:120], "workload": works}
    questions = [question for one in readings for question in one.questions]
    for reading in readings:
        others = {key: value for key, value in reading.request.items() if key not in ("title", "workload")}
        twice = "has two values in this sentence; write one of them"
        questions += [Question("refused", reason=f"{key} {twice}") for key in _add(request, others)]
    targets = [work["target"] for work in works if "target" in work]
    if targets and len({work.get("task") for work in works}) == 1:  # of all, where only one job states it
        for work in works:
            work.setdefault("target", targets[0])
        questions = [question for question in questions if question.about != "target"]
    shared = _share_time(works, plain, catalog)
    for work in (one for one in works if "method" in one):
        called = {"lora": "LoRA", "continued": "continued pre-training"}.get(work["method"], work["method"])
        work["name"] = work["name"].removesuffix("training") + called
    phrases = (*shared, *(phrase for one in readings for phrase in one.phrases))
    unread = tuple(dict.fromkeys(words for one in readings for words in one.unread))
    return Reading(plain, request, phrases, tuple(dict.fromkeys(questions or _refusal(request))), unread)


def _add(table: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Add the values of another table; return the keys that have another value already."""
    differ = []
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(table.get(key, {}), dict):
            differ += _add(table.setdefault(key, {}), value)
        elif isinstance(value, list) and isinstance(table.get(key), list):
            table[key] = [*table[key], *(one for one in value if one not in table[key])]
        elif table.setdefault(key, value) != value:
            differ.append(key.replace("_", " "))
    return differ


def _second_job(plain: str, job: ToldKind, catalog: Catalog, things: list[Thing], is_part: bool) -> Reading:
    """Both jobs of a sentence that tells a training and another one; else the training, which is asked about."""
    start, end = job.clause or (job.start, job.end)
    named = [thing for thing in things if thing.kind in ("dnn", "parameters")]
    inside = [one for one in named if start <= one.start < end] or named[-1:]
    of = [(one.start, one.end) for one in inside]
    last = len(re.sub(r"(?:[\s,;.]+(?:and|then|plus|und|et))+\s*$", "", plain[:start]))
    # The names of both where only one of them has any: "... and fine-tune the same model".
    rest = _only(plain, [(0, last), (end, len(plain)), *(of if inside == named else ())])
    training = replace(_part(rest, plain, catalog, plain, things), sentence=plain)
    dnns = [catalog.dnns[key] for one in inside if isinstance(one, Name) for key in one.ids]
    if job.kind.sized and not is_part and all(dnn.transformer is not None for dnn in dnns):
        alone = _only(plain, [(start, end), *of])
        both = [training, _part(alone, plain, catalog, plain, things)]
        if all(one.request for one in both):
            return _together(plain, both, catalog)
    answers = (Answer("Training", " ".join(rest.split())),)
    question = Question("task", plain[start:end].strip(" ,;."), job.kind.refusal, answers=answers)
    return replace(training, questions=(question, *training.questions))


def _only(text: str, shown: Sequence[tuple[int, int]], hidden: Sequence[tuple[int, int]] = ()) -> str:
    """A text with blanks in the place of all but some parts, or of some parts."""
    parts = shown or hidden
    is_shown = (any(low <= at < high for low, high in parts) is bool(shown) for at in range(len(text)))
    return "".join(sign if shows else " " for sign, shows in zip(text, is_shown, strict=True))


def _part(part: str, text: str, catalog: Catalog, whole: str, things: list[Thing]) -> Reading:
    """The reading of a part of a text, or of one of which a list was divided."""
    inside = _left_in(part, text, things)
    is_divided = len("".join(part.split())) > sum(a == b != " " for a, b in zip(part, text, strict=False))
    return _reading(part, catalog, whole, _things_in(part, catalog) if is_divided else inside, is_part=True)


def _left_in(part: str, text: str, things: list[Thing]) -> list[Thing]:
    """Things of a text that stand in a part of it, which has blanks in the place of the others."""
    return [thing for thing in things if part[thing.start : thing.end] == text[thing.start : thing.end]]


def _things_in(text: str, catalog: Catalog) -> list[Thing]:
    """Dates, sizes in pixels, names and quantities, from the most telling to the others."""
    things, shares = dates_in(text), GRAMMAR["numbers"]["fractions"]
    told = [(one.span(), shares[one[1].lower()]) for one in rule("<FRACTION>").finditer(text)]
    told += [(one.span(), 100 / value_of(one["many"])) for one in rule("<ONE_IN>").finditer(text)]
    things += [Amount("percent", *place, share, share, "%") for place, share in told]
    alone = rule(GRAMMAR["numbers"]["myself"]).finditer(text)
    things += [Amount("people", *one.span(), 1, 1, "people", "user") for one in alone]
    for match in rule("(?P<pixels><PIXELS>|<ANY_DATE>)|(?P<idiom><IDIOM>)").finditer(text):
        if not any(one.start <= match.start() < one.end for one in things):
            things.append(Name(match.lastgroup or "", *match.span(), ()))
    times = rule("<CLOCK>").finditer(text)
    clocks = [
        (float(time[1]) % (12 if time[3] else 24) + 12 * (time[3] == "p") + float((time[2] or ":0")[1:]) / 60, time)
        for time in times
    ]
    if len(clocks) == 2:
        # "Done by 6 am, start 10 pm": the one after "by" is the end.
        is_end = re.search(r"\b(?:by|until|till|before|bis|finish\w*|end\w*)[ :]*$", text[: clocks[0][1].start()], re.I)
        (start, first), (end, last) = clocks[::-1] if is_end else clocks
        hours = (end - start) % 24 or 24
        things += [Name("clock", *first.span(), ()), Amount("time", *last.span(), hours, hours, "h", "h")]
    covered = text
    for thing in things:
        covered = f"{covered[: thing.start]}{READ * (thing.end - thing.start)}{covered[thing.end :]}"
    things += names_of(catalog).named(covered)
    ends = sorted((thing.start, thing.end) for thing in things)
    gaps = zip([0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)], strict=True)
    return [*things, *quantities_in(text, gaps)]


def _read(notes: Notes) -> None:
    """Read the parts of the sentence, from the most telling to the others."""
    text = notes.text
    for found in text.each(r"(?P<ends><ENDS_BY>)?{date}(?=(?P<ended><IS_ENDED>)?)"):
        if found["ends"] or found["ended"] or found.words.lower().startswith("deadline"):
            reason = "the work has to end then; state how long it may take, such as 'in 60 days'"
            notes.ask_place(found, reason)
        else:
            notes.request["needed_by"] = found.ids("date")[0]
            text.record(found, f"needed by {notes.request['needed_by']}")
    if any(UNITS.get(amount.noun, ("",))[-1] == 1.33 for amount in text.amounts):
        text.assume("a word: 1.33 tokens")
    for found in text.each(r"{ambiguous}"):
        notes.choose("number", found, "", found.value.readings)
    rules.read_rules(notes, "first")
    rules.read_exchange_rate(notes)
    for found in notes.text.each(r"<PRICES_IN>"):
        if notes.state_currency(Amount("money", 0, 0, 1, 1, currency_of(found["currency"]))):
            notes.text.record(found, f"prices in {notes.currency}")
    for read in (rules.read_losses, read_kind_of_model, read_setting, read_outside, read_networks):
        read(notes)
    if not is_sized(notes):
        return
    served = targets.is_served(notes)
    (targets.read_serving if served else read_language)(notes)
    read_fabrics(notes)
    rules.read_growth(notes)
    rules.read_rules(notes, "early")
    rules.read_ranking(notes)
    read_storage_kinds(notes, "tiers")
    if not served:
        rules.read_team(notes)
    rules.read_rules(notes, "limits")
    if not served:
        targets.read_task(notes)
    read_gpu_memory(notes)
    rules.read_rules(notes, "memory")
    if not served:
        rules.read_rules(notes, "batches")
        targets.read_targets(notes)
        rules.read_sizes(notes)
        rules.read_samples(notes)
        targets.read_times(notes)
    read_parts(notes, served)
    rules.read_rules(notes, "servers")
    targets.read_most(notes)
    rules.read_rules(notes, "last")
    rules.assume_exchange_rate(notes)


def _ask_unread(notes: Notes) -> None:
    """Ask about what nobody read and what may bear on the load, the target, the size of the work or the equipment.

    These are quantities with a unit, numbers that stand for what was counted before them, names of equipment and
    networks, and words that turn what stands beside them: negations, comparisons, what others say. A number of
    something else ("three shifts") bears on a guess alone.
    """
    text, places, asked = notes.text, GRAMMAR["places"], dict[tuple[int, int], list[tuple[str, Match]]]()
    if not (notes.dnns or notes.own_model or notes.own_network):
        return
    said = Counter((amount.kind, amount.high) for amount in text.amounts)
    for found in text.each(r"[\ue000-\uf8ff]|<TURNS>"):
        thing = found.things[0] if found.things else None
        if isinstance(thing, Amount) and thing.kind in _NO_LOAD:
            continue
        if isinstance(thing, Amount) and thing.kind not in _BARE:
            if said[thing.kind, thing.high] > 1:
                text.record(found, "said again")
            elif thing.kind != "people" or not notes.has_target:
                notes.ask_place(found, places.get(thing.kind, GRAMMAR["unread"]["unit"]))
        elif kind := _bearing(notes, found, thing):
            asked.setdefault(clause_of(text.unblanked, found.start, found.end), []).append((kind, found))
    for (low, high), every in asked.items():
        kind = min((kind for kind, _ in every), key=_BEARS.index)
        reason = GRAMMAR["unread"][kind].format(words=" ... ".join(one.words for _, one in every))
        clause, spans = text.span(low, high), [text.span(one.start, one.end) for _, one in every]
        names_work = any(one.kind in ("dnn", "parameters") for at, one in text.places() if low <= at < high)
        edits = tuple((*span, "") for span in (spans if names_work else [clause]))
        # Without a word that turns the others they would say the opposite.
        is_apart = kind != "turn" or not names_work
        answers = (Answer("Size without it", notes.edited(edits), edits),) if is_apart else ()
        key = "place of a guess" if kind == "count" else "place"
        notes.questions.append(Question(key, text.sentence[slice(*clause)].strip(), reason, answers=answers))


def _bearing(notes: Notes, match: Match, thing: Thing | None) -> str:
    """How a bare number, a name or a word that nobody read may bear on the answer; "" where it does not."""
    text = notes.text
    if isinstance(thing, Amount):
        if rule(r"<NO_COUNT>$").search(text.unblanked, max(0, match.start - 30), match.start):
            return ""
        is_year = re.fullmatch(r"(?:19|20)\d\d", match.words) is not None
        if is_year or match.words.lower() in _ARTICLES or text.unblanked.startswith(":", match.end):
            return ""
        counts = thing.kind != "percent" and rule(r"<COUNTED_NOUN>").match(text.unblanked, match.end)
        return "count" if counts else "number"
    if thing is not None:
        return "name" if thing.kind in _NAMED and thing not in notes.gone else ""
    if match["when"]:
        return "count"  # "one working day"
    low, high = clause_of(text.unblanked, match.start, match.end)
    parts = [one for at, one in text.places() if low <= at < high]
    whole = next(one for one in rule(r"<SENTENCE>").finditer(text.unblanked) if match.start < one.end())
    is_near = READ in text.shape[slice(*whole.span())] or bool(parts)
    is_near &= not parts or not notes.gone.issuperset(parts)
    return "turn" if is_near or rule(r"<DIRECTS>").match(text.shape, match.start) else ""


def _request(notes: Notes) -> dict[str, Any]:
    """The request as a file would have it; what is missing is asked."""
    catalog, asked, works = notes.catalog, {question.about for question in notes.questions}, list[dict[str, Any]]()
    every: list[Any] = [one for one in (*notes.dnns, notes.own_model, notes.own_network) if one]
    if not (every or {"network", "unavailable", "notebooks"} & asked):
        targets.ask_network(notes)
    sized = {one for item in notes.networks for one in (item.family, item.kind, item.id, short_name(item)) if one}
    for _, words, _, usual, networks in GRAMMAR["purposes"]["offered"]:
        for found in notes.text.each(rf"\b(?:{words})\b") if words and sized & {usual, *networks} else ():
            notes.text.record(found, "what the network is for")
    if not _tells_job(notes):
        is_undecided = rule("<UNDECIDED>").search(notes.text.sentence) is not None
        notes.ask(
            "job undecided" if is_undecided else "job",
            answers=tuple(notes.answer(*words) for words in GRAMMAR["purposes"]["jobs"]),
        )
    if not notes.has_target and not {"limit", "number", "notebooks"} & asked:
        targets.ask_target(notes)
    if targets.is_served(notes) and notes.has_target:
        targets.ask_lengths(notes)
    for dnn in every:
        work, name = {"dnn": dnn, **notes.work}, dnn if isinstance(dnn, str) else str(dnn["name"])
        if isinstance(dnn, str):
            if dnn in notes.own_datasets:
                work["dataset"] = notes.own_datasets[dnn]
            is_language = [key for key in notes.dnns if catalog.dnns[key].transformer is not None]
            if len(is_language) not in (0, len(notes.dnns)):  # without what only the others have
                others = _KEYS["samples" if dnn in is_language else "language"]
                work = {key: value for key, value in work.items() if key not in others or key not in notes.work}
            data, name = usual_dataset(catalog.dnns[dnn]), short_name(catalog.dnns[dnn])
            if "dataset" not in work and data != DEFAULT_DATASET:
                work["dataset"] = data
                notes.text.assume(f"data set not given: {catalog.datasets[data].name}")
        targets.default_length(notes, work)
        works.append({"name": f"{name} {work.get('task', 'training').removesuffix('-inference')}", **work})
    if not works and notes.work:
        works = [{"name": notes.work.get("task", "training"), **notes.work}]
    notes.text.phrases += _share_time(works, notes.text.sentence, catalog)
    for work in works if len(works) > 1 else ():  # the images a second of one network are no rate of another one
        named = next((one for one in notes.names("dnn") if one.ids == (work["dnn"],)), None)
        is_rate = str(work.get("target", {}).get(rules.RATE)).endswith("images/s")
        if named and is_rate and catalog.dnns[named.ids[0]].sample not in ("image", "volume"):
            del work["target"]
            answer = notes.change("Size without it", named.start, named.end, "")
            words = notes.text.sentence[named.start : named.end]
            notes.questions.append(Question("place", words, "the images a second are not its rate", answers=(answer,)))
    language = [notes.own_model, *(network.id for network in notes.networks if network.transformer is not None)]
    trains = any("dnn" in one and one["dnn"] in language and not {"method", "task"} & one.keys() for one in works)
    if trains and not rule(r"<PRE_TRAINING_SAID>").search(notes.text.sentence):
        notes.text.assume("kind of training not given: pre-training of all parameters")
    title = " and ".join(work["name"] for work in works) or "Deep-learning cluster"
    request = {"title": title[:120], **({"workload": works} if works else {}), **notes.request}
    notes.questions = notes.questions or _refusal(request)
    return request


def _refusal(request: dict[str, Any]) -> list[Question]:
    """What no request may have: a count out of its range, or two values that contradict."""
    try:
        SizingRequest.from_dict(request, "sentence")
    except RequestError as error:
        reason = "; ".join(line.removeprefix("sentence: ") for line in str(error).splitlines())
        # Words instead of the places of keys in a file.
        places, called = r"\b[a-z_]+(?:[.\[][a-z_\d]+\]?)*\.([a-z_]+)\b", GRAMMAR["called"]
        reason = re.sub(places, lambda key: called.get(key[1], key[1].replace("_", " ")), reason)
        return [Question("refused", reason=reason)]
    return []


def _tells_job(notes: Notes) -> bool:
    """Whether anything says what is done: a kind of work, or what only one kind has; vision networks are trained."""
    work, sentence = notes.work, notes.text.sentence
    if rule("<UNDECIDED>").search(sentence):
        return False
    is_refused = any(question.about == "refused" or question.key == "network own" for question in notes.questions)
    is_shared = "team" in notes.request and not (notes.is_language and not rule("<TEAM_WORK>").search(sentence))
    by_samples = notes.own_network or "n_samples" in str(work.get("dataset")) or "samples_per_s" in str(work)
    is_told = is_refused or is_shared or by_samples or "checkpoint_every_s" in notes.request.get("data", {})
    is_told = is_told or "task" in work or bool(notes.networks and not notes.is_language)
    is_told = is_told or trains_in(sentence) or rule("<TRAINING>").search(sentence) is not None
    return bool(is_told or _KEYS["training"] & work.keys())


def _unread(notes: Notes) -> tuple[str, ...]:
    """Words and numbers that were not understood, or have no place in a request, in the order of the sentence."""
    text, left = notes.text, list(notes.left)
    # "Meta Llama 3 8B": who published a named network says nothing more.
    fillers = FILLERS | {word.lower() for dnn in notes.networks for word in dnn.vendor.split()}
    for at, thing in text.places():
        words = text.sentence[thing.start : thing.end].strip(" ,;.")
        if text.shape[at] != READ and not (thing.kind == "n" and words.lower() in _ARTICLES):
            left.append((thing.start, words))
    for match in _WORD.finditer(text.shape):
        word = match[0].strip("-+/&:*'=~@")
        parts = [word] if word.lower() in fillers else re.split(r"[-/&+']", word)
        is_name = word.isupper() and UNITS.get(word.lower(), ("",))[0] == "time"  # HR is no hour
        if re.search(r"\w", word) and (is_name or any(part and part.lower() not in fillers for part in parts)):
            left.append((text.span(match.start(), match.end())[0], word))
    return tuple(words for _, words in sorted(left))
