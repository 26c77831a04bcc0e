"""What is known of a request while its sentence is read, and the rules for limits, data, costs, people and losses."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sizer.base.money import usual_rates_usd
from sizer.base.quantities import BYTES, SECONDS, grouped, parse, si
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn
from sizer.workload.kinds import ToldKind
from sizer.workload.resolve import usual_dataset
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.quantities import UNITS, Amount, currency_of, written_number
from sizer.workload.sentence.reading import Answer, Edit, Question
from sizer.workload.sentence.scope import clause_of, governor, is_existing, is_wish
from sizer.workload.sentence.text import Match, Name, SentenceText
from sizer.workload.table import DEFAULT_DATASET

# Keys of a target.
RATE, TIME = "samples_per_s", "time_to_train_s"
# More people than these do not train networks themselves.
MOST_WHO_TRAIN = 100
LEAST_PERIOD_S = 43_200  # of work that is told by the day or the night


@dataclass
class Notes:
    """The text, and what was read of it so far."""

    text: SentenceText
    catalog: Catalog
    request: dict[str, Any] = field(default_factory=dict)
    work: dict[str, Any] = field(default_factory=dict)
    dnns: list[str] = field(default_factory=list)
    own_model: dict[str, Any] | None = None  # a language model given by its size or shape
    own_network: dict[str, Any] | None = None  # another network, given by its numbers
    own_datasets: dict[str, str] = field(default_factory=dict)  # data sets (ids) by the network that reads them
    questions: list[Question] = field(default_factory=list)
    is_refused: bool = False  # the sentence is about work that is not sized
    second_job: ToldKind | None = None  # with its clause, next to a training
    left: list[tuple[int, str]] = field(default_factory=list)  # phrases that have no place in a request
    gone: set[Name] = field(default_factory=set)  # equipment that is replaced or not wanted
    excluded_gpus: set[str] = field(default_factory=set)
    currency: str = ""
    strengths: dict[str, int] = field(default_factory=dict)  # of values by key: 1 for a limit, -1 for what may be
    owned_gpus: int = 0  # in servers that the catalogue lacks
    means_language: bool = False  # words of language models, with or without a name of one

    def table(self, name: str) -> dict[str, Any]:
        """A table of the request, made where it is missing."""
        found: dict[str, Any] = self.request.setdefault(name, {})
        return found

    @property
    def platforms(self) -> dict[str, Any]:
        """What is known of the equipment; a new table where nothing is."""
        return self.request.get("platforms") or {}

    @property
    def limits(self) -> dict[str, Any]:
        """What is known of the limits; a new table where nothing is."""
        return self.request.get("limits") or {}

    def aim(self, match: Match, key: str, value: Any, meaning: str) -> bool:
        """Take a target where no other one is stated; whether it was taken."""
        if self.work.get("target", {key: value}) != {key: value}:
            return False
        self.work["target"] = {key: value}
        self.text.record(match, meaning)
        return True

    def period(self) -> tuple[str, Match] | None:
        """The time that is given, else how often something runs, as a request has it; and the words that say so."""
        told = ((written, self.text.find(source)) for written, source in GRAMMAR["habits"].items())
        often = next(((written, one) for written, one in told if one is not None), None)
        if (time := self.text.find(r"<TIME>")) is None:
            return often
        if often is not None:
            self.text.record(often[1], "how often it runs")
        return time_text(time.value.low, time.value.unit), time

    @property
    def has_target(self) -> bool:
        """Whether the sentence states a target."""
        return "target" in self.work

    @property
    def networks(self) -> list[Dnn]:
        """The named networks."""
        return [self.catalog.dnns[key] for key in self.dnns]

    @property
    def is_language(self) -> bool:
        """Whether the training is that of a language model."""
        return self.own_model is not None or any(network.transformer is not None for network in self.networks)

    def names(self, *kinds: str) -> list[Name]:
        """Names of some kinds in the whole sentence, but for those of equipment that goes away."""
        return [one for one in self.text.things if isinstance(one, Name) and one.kind in kinds and one not in self.gone]

    def ids(self, *kinds: str) -> list[str]:
        """Items that these names may mean."""
        return [key for name in self.names(*kinds) for key in name.ids]

    def set(self, path: str, value: Any, match: Match, meaning: str) -> None:
        """Take a value; of two different ones for the same key none is taken, and one is asked for."""
        *tables, key = path.split(".")
        place: dict[str, Any] = self.work if path.startswith("w.") else self.request
        for name in tables[path.startswith("w.") :]:
            place = place.setdefault(name, {})
        told = f"{self.text.before(match.start)} {match.words}"
        low, high = clause_of(self.text.unblanked, match.start, match.end)
        is_perhaps = rule(r"<PERHAPS>").search(self.text.unblanked, low, high) is not None
        strength = -1 if is_perhaps else int(rule(r"<BINDS>").search(told) is not None)
        last = self.strengths.get(path, 0)
        if place.get(key, value) != value:
            if strength == last >= 0:
                what = GRAMMAR["called"].get(key, key.replace("_", " "))
                self.ask("refused", match, f"{place[key]} and {value} could both be {what}; write one of them")
                return
            if strength <= last:
                self.text.record(match, "told beside what is certain, or a limit")
                return
            self.text.assume(f"{match.words}: certain, or the limit, in place of {place[key]}")
        self.strengths[path], place[key] = strength, value
        self.text.record(match, meaning)

    def ask(self, key: str, match: Match | None = None, reason: str = "", answers: Iterable[Answer] = ()) -> None:
        """Ask what has to be known before the request is complete, or assume it, as the table of questions says."""
        self.questions.append(Question(key, match.words if match else "", reason, answers=tuple(answers)))
        if match is not None:
            self.text.mark(match.start, match.end)

    def choose(self, key: str, match: Match, reason: str, labels: Iterable[str]) -> None:
        """Ask which words are meant in the place of some."""
        place = self.text.span(match.start, match.end)
        self.ask(key, match, reason, [self.change(label, *place, label) for label in labels])

    def ask_place(self, match: Match, reason: str) -> None:
        """Note a quantity of the work that has no place in the request."""
        self.ask("place", match, reason, [self.change("Size without it", *self.text.span(match.start, match.end), "")])

    def leave(self, match: Match) -> None:
        """Note a phrase that has no place in a request."""
        self.left.append((self.text.span(match.start, match.end)[0], match.words.strip(" ,;.")))
        self.text.mark(match.start, match.end)

    def state_currency(self, quantity: Amount) -> bool:
        """Take the currency of an amount; whether it is that of the other amounts."""
        currency = quantity.unit if quantity.unit.isupper() else ""
        if currency and self.currency not in ("", currency):
            return False
        self.currency = currency or self.currency
        if currency not in ("", "USD"):
            self.request["currency"] = currency
        return True

    def change(self, label: str, start: int, end: int, words: str) -> Answer:
        """An answer that stands in the place of some words of the sentence."""
        whole = self.text.whole
        if not words and whole[:start].endswith(" ") and whole[end : end + 1] == " ":
            end += 1
        return Answer(label, self.edited([(start, end, words)]), ((start, end, words),))

    def edited(self, edits: Iterable[Edit]) -> str:
        """The sentence with other words in some places."""
        whole = self.text.whole
        for start, end, words in sorted(edits, reverse=True):
            whole = f"{whole[:start]}{words}{whole[end:]}"
        return " ".join(whole.split())

    def answer(self, label: str, words: str = "") -> Answer:
        """An answer that adds words to the sentence, behind the last of the job."""
        last, whole = len(self.text.sentence.rstrip(" .,;?!")), self.text.whole
        end = len(whole) if not whole[last:].strip(" .,;?!") else last
        return self.change(label, last, end, f", {words or label}")


def time_text(value: float, unit: str) -> str:
    """A time as a request has it: 12 h of half a day."""
    smaller = {"d": ("h", 24.0), "h": ("min", 60.0), "weeks": ("d", 7.0)}
    unit, factor = smaller.get(unit, (unit, 1.0)) if value < 1 else (unit, 1.0)
    return f"{written_number(round(factor * value, 6))} {unit}"


def ranged(notes: Notes, quantity: Amount, end: str = "upper") -> str:
    """Which end of a range was taken, which is an assumption."""
    if quantity.low == quantity.high:
        return ""
    notes.text.assume(f"{notes.text.sentence[quantity.start : quantity.end].strip()}: the {end} end of the range")
    return f" ({end} end of the range)"


Take = Callable[[Notes, Match, str], None]
# How a quantity is written in a request.
_VALUES: dict[str, Callable[[Amount], Any]] = {
    "count": lambda one: round(one.high),
    "value": lambda one: one.high,
    "watts": lambda one: one.high,
    "share": lambda one: one.high / 100,
    "price": lambda one: float(f"{one.high * one.per_s:.6g}"),
    "per hour": lambda one: round(one.high * 3600, 6),
    "time": lambda one: time_text(one.low, one.unit),
    "days": lambda one: round(parse(SECONDS, time_text(one.low, one.unit)) / 86_400),
    "size": lambda one: f"{written_number(one.high)} {one.unit}{'/s' if '/time' in one.kind else ''}",
}


def state(notes: Notes, match: Match, name: str) -> None:
    """Take the last quantity of some words as the value that the table of statements says."""
    if name == "checkpoints_kept" and "checkpoint_every_s" not in notes.request.get("data", {}):
        return  # without it they say nothing
    name = f"{name} of {'rent' if 'rental' in notes.request else 'ownership'}" if name == "years" else name
    path, of, meaning = GRAMMAR["statements"][name]
    digits = float(match.match.groupdict().get("digits") or 0)
    quantities = match.quantities("percent") if of == "share" else match.quantities()
    quantity = Amount("n", 0, 0, digits, digits) if digits else quantities[-1]
    if quantity.kind.startswith("money") and not notes.state_currency(quantity):
        return
    if of == "size" and quantity.kind.startswith("bits"):
        unit, rate = quantity.unit[0], "/s" if "/time" in quantity.kind else ""
        notes.ask("refused", match, f"the unit {unit}b{rate} means bits; write {unit}B{rate} for bytes")
        return
    if quantity.unit == "kVA":
        notes.text.assume("power factor not given: 1 kVA = 1 kW")
    written = _VALUES[of](quantity)
    shown = grouped(written) if isinstance(written, float) and written >= 1000 else written
    shown = si(quantity.high, "W") if of == "watts" else shown
    shown = f"{shown:g}" if isinstance(shown, float) else shown
    notes.set(path, written, match, meaning.format(shown) + ranged(notes, quantity))


def _source(notes: Notes, match: Match, _: str) -> None:
    """Rate of the customer's source and its network, at which the storage is filled."""
    quantity = match.quantities()[-1]
    rate = f"{written_number(quantity.high)} {quantity.unit}/s"
    notes.table("data")["source_bytes_per_s"] = rate
    notes.text.record(match, f"the data arrive at {rate}", *match.match.span("rate"))


def _rental(notes: Notes, match: Match, name: str) -> None:
    """An offer of rented GPUs, where the sentence is about renting; a price alone says nothing of it."""
    if notes.text.find(r"<RENTS>") is None or (match.value.kind == "money/time" and match.value.per_s != 3600):
        notes.leave(match)
        return
    state(notes, match, name)
    for rents in notes.text.each(r"<RENTS>"):
        notes.text.record(rents, "compared with rented GPUs")


def _budget(notes: Notes, match: Match, _: str) -> None:
    quantity = match.quantities()[-1]
    if quantity.kind == "n" and not (quantity.is_scaled or "budget" in match.words.lower()):
        return
    if notes.state_currency(quantity):
        value = round(quantity.high, 2)
        notes.set(
            "limits.budget", value, match, f"budget {grouped(value)} {notes.currency or 'USD'}{ranged(notes, quantity)}"
        )


def _racks_of(notes: Notes, match: Match, _: str) -> None:
    """Two racks at 17 kW each; the power of a single one is that of the cluster."""
    racks = round(match.quantities("racks", "n")[0].high)
    notes.table("limits")["racks"] = racks
    state(notes, match, "power" if racks == 1 else "rack_power")


def _streams(notes: Notes, match: Match, _: str) -> None:
    """Frames of so many cameras a second, which a network looks at as they come."""
    rate = math.prod(quantity.high for quantity in match.quantities("n", "frames/time", "samples/time"))
    if not match.quantities("frames/time", "samples/time"):
        rate *= _FRAMES_PER_S
        notes.text.assume(f"frames of {match.words} not given: {_FRAMES_PER_S} a second each")
    notes.work |= {"task": "validation-inference", "target": {RATE: f"{written_number(rate)} images/s"}}
    notes.text.record(match, f"inference on {written_number(rate)} images/s")


def _limit_of_servers(notes: Notes, match: Match, _: str) -> None:
    """The most servers; those that are there and have no name are asked about."""
    if is_existing(notes.text, match) and not notes.names("gpu", "server"):
        notes.ask_place(match, GRAMMAR["reasons"]["unnamed"])
    else:
        state(notes, match, "servers")


def _recordings(notes: Notes, match: Match, _: str) -> None:
    """Hours of sound as the utterances that a network for speech takes."""
    known = [notes.catalog.dnns[key] for key in notes.ids("dnn")]
    speech = next((one for one in known if one.sample == "utterance"), None)
    if speech is None or match.value.kind != "time":
        return
    length_s = speech.input_bytes.value / _SOUND_BYTES_PER_S
    n_samples = round(parse(SECONDS, f"{match.value.high} {match.value.unit}") / length_s)
    notes.work["sample_bytes"] = speech.input_bytes.value
    notes.text.assume(f"{match.words}: {grouped(n_samples)} utterances of {length_s:.3g} s, 16 kHz with 2 bytes each")
    notes.text.put_at(match, Amount("samples", 0, 0, n_samples, n_samples, "utterances", "utterances"))


def _counted(notes: Notes, match: Match, _: str) -> None:
    """A bare number as what it counts: racks at most 4; A100, at most 8; our students (about 120); 12,000 studies."""
    told = match.match.groupdict()
    noun = told.get("noun") or told.get("people")
    noun = noun or next((word for group, word in _GROUPS.items() if told.get(group)), "samples")
    noun, start = ("GPUs", match.match.end("of")) if told.get("of") else (noun, match.start)
    kind, unit = UNITS[re.sub(r"[ -]+", " ", noun.lower())][:2]
    counted = notes.text.part(match, start, match.end)
    notes.text.put_at(counted, replace(match.value, kind=kind, unit=unit, noun=noun.lower()))


def taken_by(*functions: Take) -> dict[str, Take]:
    """Functions by the names of their rules, for what needs more than the table of statements says."""
    return {getattr(function, "__name__", "").strip("_"): function for function in functions}


_TAKES = taken_by(_budget, _counted, _limit_of_servers, _racks_of, _recordings, _rental, _source, _streams)
_LIMITS = ("limits", "racks", "servers")
_GROUPS = {"group": "people", "texts": "documents"}  # what is counted, by the group of the pattern
# Of video as it is broadcast in Europe (ITU-R BT.601); cameras are often set to less.
_FRAMES_PER_S = 25
# Of 16 kHz and 16 bits, as speech is recorded.
_SOUND_BYTES_PER_S = 32_000.0


def read_rules(notes: Notes, rules: str, takes: dict[str, Take] = _TAKES) -> None:
    """Take what the rules of a list find, or say of it what the grammar gives with them."""
    for name, source, *said in GRAMMAR[rules]:
        path, is_choice, choice = name.partition("=")
        for found in notes.text.each(source):
            if is_choice and path.endswith(":"):  # whatever was told before
                notes.work[path[2:-1]] = choice
                notes.text.record(found, said[0])
            elif is_choice:
                notes.set(path, choice or said[1], found, said[0])
            elif name == "leave":
                notes.leave(found)
            elif name == "ask":
                notes.ask_place(found, *said)
            elif name == "role":
                _take_role(notes, found, takes, *said)
            elif name == "aside":
                notes.text.set_aside(found, *said)
            elif name in ("record", "assume") or (rules in _LIMITS and is_wish(notes.text, found)):
                meaning = said[0] if said else GRAMMAR["reasons"]["wish"]
                if name != "record":
                    notes.text.assume(f"{found.words}: {meaning}")
                notes.text.record(found, meaning)
            else:
                takes.get(name, state)(notes, found, name)


def _take_role(notes: Notes, match: Match, takes: dict[str, Take], kind: str) -> None:
    """A quantity as what the noun says that governs it; the capacity of storage that is there only beside its data."""
    name, whole = governor(notes.text, match, kind) or ("", match)
    if name == "capacity" and is_existing(notes.text, whole):
        name = "other" if any(thing.kind == "samples" for thing in notes.text.things) else ""
    if name == "other":
        notes.leave(whole)
    elif name in GRAMMAR["statements"]:
        takes.get(name, state)(notes, whole, name)


# --- money: exchange rates, and what designs are ranked by


def read_exchange_rate(notes: Notes) -> None:
    """What a unit of another currency is worth in US dollars."""
    for found in notes.text.each(r"<EXCHANGE>"):
        first, *others = found.quantities()
        word = found["pair"] or found["unit"] or re.split(r"[ /]", found.words)[-1]
        currency = first.unit if others else currency_of(word)
        is_one = not others or (first.high == 1 and others[0].unit in ("USD", ""))
        if currency != "USD" and is_one and notes.state_currency(replace(first, unit=currency)):
            rate = [first, *others][-1].high
            notes.set("exchange_rate_usd", rate, found, f"1 {currency} = {rate:g} USD")
            return


def assume_exchange_rate(notes: Notes) -> None:
    """What a unit of a budget's currency is usually worth, where the catalogue has no prices in it."""
    currency = notes.request.get("currency")
    is_shown = "budget" in notes.limits or rule(r"<PRICES_IN>").search(notes.text.sentence) is not None
    is_priced = any(price.currency == currency for price in notes.catalog.prices)
    if currency and is_shown and not is_priced and "exchange_rate_usd" not in notes.request:
        rate = notes.request["exchange_rate_usd"] = usual_rates_usd()[currency]
        written = f"1 {currency} = {rate:g} USD; write for example '1 {currency} = 1.1 USD'"
        notes.text.assume(f"exchange rate not given: {written}")


def read_ranking(notes: Notes) -> None:
    """What designs are ranked by, and whether the cost of ownership is asked for."""
    for rank, (words, noun) in GRAMMAR["ranking"].items():
        framed = GRAMMAR["patterns"]["RANKED"].replace("NOUN", noun)
        for found in notes.text.each(rf"\b(?:{words}|{framed})(?!\w)"):
            notes.request.setdefault("rank_by", rank)
            notes.text.record(found, f"ranked by {rank.replace('-', ' ')}")
    for found in notes.text.each(r"\b<TCO>\b"):
        notes.table("ownership")
        notes.text.record(found, "cost of ownership")
    if notes.request.get("rank_by") == "ownership":
        notes.table("ownership")


# --- data


def read_sizes(notes: Notes) -> None:
    """Size of one sample, of the whole set; what grows with time or holds embeddings is neither."""
    for found in notes.text.each(r"{bytes}(?P<tables><TABLES>)?"):
        if found["tables"] or notes.text.is_after(found, r"<TABLES_OF>"):
            notes.ask("refused", found, GRAMMAR["reasons"]["tables"])
    for found in notes.text.each(r"{bytes}(?P<time><OF_TIME>)|{bytes/time}"):
        if not notes.text.is_after(found, r"<SAMPLES_OF>"):
            notes.leave(found)
    for found in notes.text.each(r"(?P<size>{bytes|bits})(?: (?:of|von|de) (?!<SAMPLES>\b)\w+(?= <SAMPLES>\b))?"):
        after, unit = notes.text.after(found.match.end("size")), found.value.unit[:1]
        is_one = rule(r"<OF_ONE>").match(after) or notes.text.is_after(found, r"<SAMPLES_OF>")
        # What has kilobytes or megabytes is a sample, unless the words next to it say that it is the whole.
        is_small = unit in "kKMB" or (unit == "G" and rule(r" <SAMPLES>\b").match(after))
        is_whole = rule(r" ?(?:of )?(?:\w+ )?<WHOLE>").match(after) or notes.text.is_after(found, r"<WHOLE_BEFORE>")
        is_sample = is_one or (is_small and not is_whole and not notes.is_language)
        state(notes, found, "sample_bytes" if is_sample else "dataset_bytes")


def read_samples(notes: Notes) -> None:
    """A number of samples makes an own data set: with a stated size, else with that of the network's usual data."""
    found = notes.text.find("{samples}") or notes.text.find("{pages}")
    if found is None or not 1 <= found.value.high <= 1e15 or notes.is_language:
        return
    n_samples, size, whole = found.value.high, notes.work.get("sample_bytes"), notes.work.get("dataset_bytes")
    own: dict[str, Any] = {"name": "Own data", "n_samples": n_samples, "sample_bytes": size, "format": "raw files"}
    if size is None and whole is not None:
        own["sample_bytes"] = parse(BYTES, whole) / n_samples
    elif size is None and ("dataset" in notes.work or notes.own_datasets):
        return
    elif size is None and not (notes.networks or notes.own_network):
        del own["sample_bytes"]  # which the usual data of the network tell
    elif size is None:
        data = notes.catalog.datasets[usual_dataset(notes.networks[0]) if notes.networks else DEFAULT_DATASET]
        own |= {"sample_bytes": data.sample_bytes.value, "format": data.format}
        notes.text.assume(f"size of a sample not given: {si(data.sample_bytes.value, 'B')}, as in {data.name}")
    notes.work.pop("sample_bytes", None)
    if size is None:
        notes.work.pop("dataset_bytes", None)
    notes.work["dataset"] = own
    notes.text.record(found, f"own data set of {grouped(n_samples)}")


# --- people, growth, losses


def read_team(notes: Notes) -> None:
    """A number of people who share the cluster, with what is known of their jobs."""
    found, sentence = notes.text.find(r"<PEOPLE>"), notes.text.sentence
    if found is None or not 1 <= found.value.high <= 100_000:
        return
    is_stated = "tokens" in notes.work or notes.text.find(r"{time|samples/time|frames/time|epochs}|\bover ?night\b")
    notebooks = rule(r"<NOTEBOOKS>").search(sentence) if notes.dnns else None
    shares = notebooks is not None or rule(r"<SHARES>").search(sentence) is not None
    trains = notebooks or rule(r"<WHO_TRAINS>").search(found.words) or rule(r"<TEAM_WORK>").search(sentence)
    is_other = rule(r"<STAFF>|<CUSTOMERS>").fullmatch(found.value.noun) or not (trains or notes.dnns)
    if is_other or (found.value.high > MOST_WHO_TRAIN and not (shares and trains)):
        notes.leave(found)  # an office that trains nothing
        return
    if is_stated and not shares:
        notes.text.assume(f"{found.words}: of this training; no jobs of theirs are added")
        notes.text.record(found, "who train")
        return
    job: dict[str, Any] = {"name": "Training job"}
    if notebooks is not None:
        job = {"name": "Notebook", "kind": "notebook", "sessions_per_gpu": 4}
        notes.text.assume("4 notebooks share a GPU")
        for words in notes.text.each(r"<NOTEBOOKS>"):
            notes.text.record(words, "jobs of the team")
    team: dict[str, Any] = {"data_scientists": round(found.value.high), "wait_s": "30 min", "job": [job]}
    notes.request["team"] = team
    notes.text.record(found, f"{round(found.value.high)} people share the cluster{ranged(notes, found.value)}")
    assumed = []
    for place, key, source, value, meaning, without in GRAMMAR["jobs"]:
        told = notes.text.find(source)
        if told is None:
            assumed.append(without)
        elif key == "jobs_a_day_each":
            value = round(told.value.high * (86_400 if told.value.kind == "jobs/time" else 1), 6)
            key = key if told["before"] or told["after"] else "jobs_a_day"
        elif key == "gpus":
            value = max(1, round(told.value.high))
            if told.value.low < told.value.high:
                notes.text.assume(f"{told.words}: every job on {value} GPUs")
        else:
            value = time_text(told.value.low if place == "team" else told.value.high, told.value.unit)
        (team if place == "team" else job)[key] = value
        if told is not None:
            notes.text.record(told, meaning.format(value))
    if assumed:
        notes.text.assume(f"jobs of the team, assumed: {', '.join(assumed)}")


def read_growth(notes: Notes) -> None:
    """Yearly growth of data, team or targets."""
    for source in GRAMMAR["growth"]:
        for found in notes.text.each(source):
            groups, percent = found.match.groupdict(), found.quantities("percent", "percent/time")
            by = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0}.get((groups.get("factor") or "").lower())
            is_yearly = percent and (percent[0].kind == "percent" or percent[0].per_s > 3e7)
            if by is None and not is_yearly:
                continue
            factor = by or 1 + percent[0].high * percent[0].per_s / 100
            what = (groups.get("what") or "load")[:4].lower()
            key = "data" if what in ("data", "date", "volu") else "team" if what == "team" else "target"
            notes.table("growth")[key] = round(factor, 6)
            for years in found.quantities("years"):
                notes.table("growth")["years"] = round(years.high)
            called = {"data": "data", "team": "people", "target": "targets"}[key]
            notes.text.record(found, f"{called} grow by {100 * factor - 100:g} % a year")


def read_losses(notes: Notes) -> None:
    """What may fail without a target being missed."""
    lost: list[str] = []
    for found in notes.text.each(r"<TWO_HEADS>"):
        if all(quantity.high == 2 for quantity in found.quantities()):
            lost.append("head-node")
            notes.text.record(found, "two head nodes, one active and one standby")
    for found in notes.text.each(r"<N_PLUS_ONE>|<FAILURES>"):
        nouns = [] if rule(r"<N_PLUS_ONE>").fullmatch(found.match[0]) else rule(r"<LOST>").findall(found.words)
        kinds = [loss for noun in nouns for loss, words in GRAMMAR["losses"].items() if rule(words).fullmatch(noun)]
        lost += kinds or ["server"]
        notes.text.record(found, f"targets are met without any {' and '.join(dict.fromkeys(kinds or ['server']))}")
        if nouns and any(quantity.high > 1 for quantity in found.quantities("servers")):
            notes.text.assume(f"{found.words}: a request states the loss of one server at a time")
    if lost:
        notes.request["resilience"] = {"keeps_targets_without": list(dict.fromkeys(lost))}
