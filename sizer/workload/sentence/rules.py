"""What a sentence states about limits, data, costs, people, growth and losses."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sizer.base.money import usual_rates_usd
from sizer.base.quantities import BYTES, SECONDS, grouped, parse, si
from sizer.workload.resolve import usual_dataset
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.notes import RATE, Notes, ranged, size_text, time_text
from sizer.workload.sentence.quantities import UNITS, Amount, currency_of, written_number
from sizer.workload.sentence.scope import governor, is_existing, is_wish
from sizer.workload.sentence.text import Match
from sizer.workload.sentence.unavailable import MOST_WHO_TRAIN
from sizer.workload.table import DEFAULT_DATASET

Take = Callable[[Notes, Match, str], None]
# How a quantity is written in a request.
_VALUES: dict[str, Callable[[Amount], Any]] = {
    "count": lambda one: round(one.high),
    "value": lambda one: one.high,
    "share": lambda one: one.high / 100,
    "price": lambda one: float(f"{one.high * one.per_s:.6g}"),
    "per hour": lambda one: round(one.high * 3600, 6),
    "time": lambda one: time_text(one.low, one.unit),
    "days": lambda one: round(parse(SECONDS, time_text(one.low, one.unit)) / 86_400),
    "size": lambda one: size_text(one, one.high),
}


def state(notes: Notes, found: Match, name: str) -> None:
    """Take the last quantity of some words as the value that the table of statements says."""
    path, of, meaning = GRAMMAR["statements"][name]
    quantity = (found.quantities("percent") if of == "share" else found.quantities())[-1]
    if quantity.kind.startswith("money") and not notes.state_currency(found, quantity):
        return
    if of == "size" and quantity.kind.startswith("bits"):
        unit, rate = quantity.unit[0], "/s" if "/time" in quantity.kind else ""
        notes.refuse(found, f"the unit {unit}b{rate} means bits; write {unit}B{rate} for bytes")
        return
    if quantity.unit == "kVA":
        notes.text.assume("power factor not given: 1 kVA = 1 kW")
    written = _VALUES[of](quantity)
    shown = grouped(written) if isinstance(written, float) and written >= 1000 else written
    shown = f"{shown:g}" if isinstance(shown, float) else shown
    notes.set(path, written, found, meaning.format(shown) + ranged(quantity))


def _source(notes: Notes, found: Match, _: str) -> None:
    """Rate of the customer's source and its network, at which the storage is filled."""
    quantity = found.quantities()[-1]
    rate = f"{written_number(quantity.high)} {quantity.unit}/s"
    notes.table("data")["source_bytes_per_s"] = rate
    notes.text.record(found, f"the data arrive at {rate}", *found.match.span("rate"))


def _years(notes: Notes, found: Match, _: str) -> None:
    state(notes, found, "years of rent" if "rental" in notes.request else "years of ownership")


def _rental(notes: Notes, found: Match, name: str) -> None:
    """An offer of rented GPUs, where the sentence is about renting; a price alone says nothing of it."""
    is_by_hour = found.value.kind != "money/time" or found.value.per_s == 3600
    if notes.text.find(r"<RENTS>") is None or not is_by_hour:
        notes.leave(found)
        return
    state(notes, found, name)
    for rents in notes.text.each(r"<RENTS>"):
        notes.text.record(rents, "compared with rented GPUs")


def _budget(notes: Notes, found: Match, _: str) -> None:
    quantity = found.quantities()[-1]
    if quantity.kind == "n" and not (quantity.is_scaled or "budget" in found.words.lower()):
        return
    if notes.state_currency(found, quantity):
        value = round(quantity.high, 2)
        notes.set("limits.budget", value, found, f"budget {value:,.12g} {notes.currency or 'USD'}{ranged(quantity)}")


def _racks_of(notes: Notes, found: Match, _: str) -> None:
    """Two racks at 17 kW each; the power of a single one is that of the cluster."""
    racks = round(found.quantities("racks", "n")[0].high)
    notes.table("limits")["racks"] = racks
    state(notes, found, "power" if racks == 1 else "rack_power")


def _checkpoints_kept(notes: Notes, found: Match, name: str) -> None:
    if "checkpoint_every_s" in notes.request.get("data", {}):  # without it they say nothing
        state(notes, found, name)


def _streams(notes: Notes, found: Match, _: str) -> None:
    """Frames of so many cameras a second, which a network looks at as they come."""
    rate = math.prod(one.high for one in found.quantities("n", "frames/time", "samples/time"))
    notes.work |= {"task": "validation-inference", "target": {RATE: f"{written_number(rate)} images/s"}}
    notes.text.record(found, f"inference on {written_number(rate)} images/s")


def _feed(notes: Notes, found: Match, _: str) -> None:
    """The watts of an electrical feed: amperes times volts, of three phases where the volts are those between them."""
    amps, volts = found.quantities("amps")[0].high, found.quantities("volts")[0].high
    phases = 3**0.5 if volts >= 380 else 1.0
    watts = float(f"{phases * math.prod((amps, volts, *(one.high for one in found.quantities('n')))):.4g}")
    kind = "watts/rack" if found["rack"] else "watts"
    notes.text.assume(f"{found.words}: {watts / 1e3:.3g} kW at a power factor of 1")
    notes.text.put_at(found, Amount(kind, 0, 0, watts, watts, "W", "watts"))


def _counted(notes: Notes, found: Match, _: str) -> None:
    """A bare number behind the noun that it counts: racks at most 4; our students (about 120)."""
    noun = re.sub(r"[ -]+", " ", (found["noun"] or found["people"] or "people").lower())
    kind, unit = UNITS[noun][:2]
    notes.text.put_at(found, replace(found.value, kind=kind, unit=unit, noun=noun))


def _samples(notes: Notes, found: Match, _: str) -> None:
    """What each has a size is a sample, whatever it is called: 12,000 studies of 90 MB."""
    notes.text.put_at(found, replace(found.value, kind="samples", unit="samples"))


def taken_by(*functions: Take) -> dict[str, Take]:
    """Functions by the names of their rules, for what needs more than the table of statements says."""
    return {getattr(one, "__name__", "").strip("_"): one for one in functions}


_TAKES = taken_by(_budget, _checkpoints_kept, _counted, _feed, _racks_of, _rental, _samples, _source, _streams, _years)
_LIMITS = ("limits", "racks", "servers")


def read_rules(notes: Notes, rules: str, takes: dict[str, Take] = _TAKES) -> None:
    """Take what the rules of a list find, or say of it what the grammar gives with them."""
    for name, source, *said in GRAMMAR[rules]:
        for found in notes.text.each(source):
            if name == "leave":
                notes.leave(found)
            elif name == "ask":
                notes.ask_place(found, *said)
            elif name == "role":
                told = governor(notes.text, found, *said)
                if told is not None and told[0] == "other":
                    notes.leave(told[1])
                elif told is not None and told[0] in GRAMMAR["statements"]:
                    if told[0] == "capacity" and is_existing(notes.text, told[1]):
                        if any(one.kind == "samples" for one in notes.text.things):  # which are the data
                            notes.leave(found)
                    else:
                        takes.get(told[0], state)(notes, told[1], told[0])
            elif name == "aside":
                notes.text.set_aside(found, *said)
            elif name in ("record", "assume") or (rules in _LIMITS and is_wish(notes.text, found)):
                meaning = said[0] if said else GRAMMAR["reasons"]["wish"]
                if name != "record":
                    notes.text.assume(f"{found.words}: {meaning}")
                notes.text.record(found, meaning)
            else:
                takes.get(name, state)(notes, found, name)


# --- money: exchange rates, and what designs are ranked by


def read_exchange_rate(notes: Notes) -> None:
    """What a unit of another currency is worth in US dollars."""
    for found in notes.text.each(r"<EXCHANGE>"):
        amounts = found.quantities()
        word = found["pair"] or found["unit"] or re.split(r"[ /]", found.words)[-1]
        currency = amounts[0].unit if len(amounts) > 1 else currency_of(word)
        is_one = len(amounts) == 1 or (amounts[0].high == 1 and amounts[1].unit in ("USD", ""))
        if currency != "USD" and is_one and notes.state_currency(found, replace(amounts[0], unit=currency)):
            notes.request["exchange_rate_usd"] = amounts[-1].high
            notes.text.record(found, f"1 {currency} = {amounts[-1].high:g} USD")
            return


def assume_exchange_rate(notes: Notes) -> None:
    """What a unit of a budget's currency is usually worth, where the catalogue has no prices in it."""
    currency, budget = notes.request.get("currency"), notes.request.get("limits", {}).get("budget")
    is_shown = budget is not None or rule(r"<PRICES_IN>").search(notes.text.sentence) is not None
    if currency is None or not is_shown or "exchange_rate_usd" in notes.request:
        return
    if not any(price.currency == currency for price in notes.catalog.prices):
        rate = usual_rates_usd()[currency]
        notes.request["exchange_rate_usd"] = rate
        notes.text.assume(
            f"exchange rate not given: 1 {currency} = {rate:g} USD; write for example '1 {currency} = 1.1 USD'"
        )


def read_ranking(notes: Notes) -> None:
    """What designs are ranked by, and whether the cost of ownership is asked for."""
    for rank, words in GRAMMAR["ranking"].items():
        for found in notes.text.each(rf"\b(?:{words})(?!\w)"):
            notes.request.setdefault("rank_by", rank)
            notes.text.record(found, f"ranked by {rank.replace('-', ' ')}")
    for found in notes.text.each(r"\b<TCO>\b"):
        notes.set("ownership", {}, found, "cost of ownership")
    if notes.request.get("rank_by") == "ownership":
        notes.table("ownership")


# --- data


def read_sizes(notes: Notes) -> None:
    """Size of one sample, of the whole set; what grows with time or holds embeddings is neither."""
    for found in notes.text.each(r"{bytes/sample}(?: on average)?"):
        state(notes, found, "sample_bytes")
    for found in notes.text.each(r"{bytes}(?P<tables><TABLES>)?"):
        before = notes.text.before(found.start)
        if found["tables"] or rule(r"<TABLES_OF>").search(before):
            notes.refuse(found, GRAMMAR["reasons"]["tables"])
    for found in notes.text.each(r"{bytes}(?P<time><OF_TIME>)|{bytes/time}"):
        if not rule(r"<SAMPLES_OF>").search(notes.text.before(found.start)):
            notes.leave(found)
    for found in notes.text.each(r"(?P<size>{bytes|bits})(?: (?:of|von|de) (?!<SAMPLES>\b)\w+(?= <SAMPLES>\b))?"):
        after, before = notes.text.after(found.match.end("size")), notes.text.before(found.start)
        is_one = rule(r"<OF_ONE>").match(after) or rule(r"<SAMPLES_OF>").search(before)
        # What has kilobytes or megabytes is a sample, unless the words next to it say that it is the whole.
        is_small = not notes.is_language and (
            found.value.unit[:1] in "kMB" or (found.value.unit[:1] == "G" and rule(r" <SAMPLES>\b").match(after))
        )
        is_whole = rule(r" ?(?:of )?(?:\w+ )?<WHOLE>").match(after) or rule(r"<WHOLE>(?: \w+){0,2} ?$").search(before)
        state(notes, found, "sample_bytes" if is_one or (is_small and not is_whole) else "dataset_bytes")


def read_samples(notes: Notes) -> None:
    """A number of samples makes an own data set: with a stated size, else with that of the network's usual data."""
    found = (
        notes.text.find(r"{samples}")
        or notes.text.find(r"{pages}")
        or notes.text.find(r"{n} of (?:them|these|those)\b")
    )
    if found is None or not 1 <= found.value.high <= 1e15 or notes.is_language:
        return
    n_samples, size, whole = found.value.high, notes.work.get("sample_bytes"), notes.work.get("dataset_bytes")
    own: dict[str, Any] = {"name": "Own data", "n_samples": n_samples, "sample_bytes": size, "format": "raw files"}
    if size is None and whole is not None:
        own["sample_bytes"] = parse(BYTES, whole) / n_samples
    elif size is None:
        if "dataset" in notes.work or notes.own_datasets:
            return
        if not (notes.networks or notes.own_network):  # whose usual data tell the size
            notes.work["dataset"] = {"name": "Own data", "n_samples": n_samples, "format": "raw files"}
            notes.text.record(found, f"own data set of {grouped(n_samples)}")
            return
        data = notes.catalog.datasets[usual_dataset(notes.networks[0]) if notes.networks else DEFAULT_DATASET]
        own |= {"sample_bytes": data.sample_bytes.value, "format": data.format}
        notes.text.assume(f"size of a sample not given: {si(data.sample_bytes.value, 'B')}, as in {data.name}")
    for key in ("sample_bytes", "dataset_bytes"):
        notes.work.pop(key, None)
    notes.work["dataset"] = own
    if size is not None and whole is not None:
        notes.work["dataset_bytes"] = whole
    notes.text.record(found, f"own data set of {grouped(n_samples)}")


# --- people, growth, losses


def read_team(notes: Notes) -> None:
    """A number of people who share the cluster, with what is known of their jobs."""
    found = notes.text.find(r"<PEOPLE>")
    if found is None or not 1 <= found.value.high <= 100_000:
        return
    is_stated = "tokens" in notes.work or notes.text.find(r"{time|samples/time|frames/time|epochs}|\bover ?night\b")
    shares = rule(r"<SHARES>").search(notes.text.sentence) is not None
    trains = rule(r"<WHO_TRAINS>").search(found.words) or rule(r"<TEAM_WORK>").search(notes.text.sentence)
    is_other = rule(r"<STAFF>|<CUSTOMERS>").fullmatch(found.value.noun) is not None
    if is_other or not (trains or notes.dnns) or (found.value.high > MOST_WHO_TRAIN and not (shares and trains)):
        notes.leave(found)  # an office that trains nothing
        return
    if is_stated and not shares:
        notes.text.assume(f"{found.words}: of this training; no jobs of theirs are added")
        notes.text.record(found, "who train")
        return
    job: dict[str, Any] = {"name": "Training job"}
    team: dict[str, Any] = {"data_scientists": round(found.value.high), "wait_s": "30 min", "job": [job]}
    notes.request["team"] = team
    notes.text.record(found, f"{round(found.value.high)} people share the cluster{ranged(found.value)}")
    assumed = []
    for place, key, source, default, meaning, without in GRAMMAR["jobs"]:
        told = notes.text.find(source)
        value: Any = default
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
            groups = found.match.groupdict()
            by = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0}.get((groups.get("factor") or "").lower())
            percent = found.quantities("percent", "percent/time")
            is_monthly = bool(percent) and percent[0].kind == "percent/time" and percent[0].per_s < 3e7
            if by is None and (not percent or is_monthly):
                continue
            factor = by if by is not None else 1 + percent[0].high * percent[0].per_s / 100
            what = (groups.get("what") or "load")[:4].lower()
            key = "data" if what in ("data", "date", "volu") else "team" if what == "team" else "target"
            notes.table("growth")[key] = round(factor, 6)
            if years := found.quantities("years"):
                notes.table("growth")["years"] = round(years[0].high)
            called = {"data": "data", "team": "people", "target": "targets"}[key]
            notes.text.record(found, f"{called} grow by {100 * factor - 100:g} % a year")


def read_losses(notes: Notes) -> None:
    """What may fail without a target being missed."""
    lost: list[str] = []
    for found in notes.text.each(r"<TWO_HEADS>"):
        if all(one.high == 2 for one in found.quantities()):
            lost.append("head-node")
            notes.text.record(found, "two head nodes, one active and one standby")
    for found in notes.text.each(r"<N_PLUS_ONE>|<FAILURES>"):
        is_one = rule(r"<N_PLUS_ONE>").fullmatch(found.match[0])
        nouns = [] if is_one else rule(r"<LOST>").findall(found.words)
        kinds = [loss for noun in nouns for loss, words in GRAMMAR["losses"].items() if rule(words).fullmatch(noun)]
        lost += kinds or ["server"]
        notes.text.record(found, f"targets are met without any {' and '.join(dict.fromkeys(kinds or ['server']))}")
        if not is_one and any(one.high > 1 for one in found.quantities("servers")):
            notes.text.assume(f"{found.words}: a request states the loss of one server at a time")
    if lost:
        notes.request["resilience"] = {"keeps_targets_without": list(dict.fromkeys(lost))}
