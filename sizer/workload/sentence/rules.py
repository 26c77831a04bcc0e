"""What a sentence states about limits, data, costs, people, growth and losses."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sizer.base.money import USUAL_RATES_USD
from sizer.base.quantities import BYTES, BYTES_PER_S, by_count, grouped, parse
from sizer.workload.resolve import usual_dataset
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.notes import Notes, ranged, size_text, time_text
from sizer.workload.sentence.quantities import Amount, currency_of, written_number
from sizer.workload.sentence.scope import is_wish
from sizer.workload.sentence.text import Match
from sizer.workload.sentence.unavailable import MOST_WHO_TRAIN

Take = Callable[[Notes, Match, Amount], None]


def _as(path: str, value: Callable[[Amount], Any], meaning: str) -> Take:
    """Take the quantity of a rule as the value of a key."""

    def take(notes: Notes, found: Match, quantity: Amount) -> None:
        if quantity.kind.startswith("money") and not notes.state_currency(found, quantity):
            return
        written = value(quantity)
        shown = grouped(written) if isinstance(written, float) and written >= 1000 else written
        shown = f"{shown:g}" if isinstance(shown, float) else shown
        notes.set(path, written, found, meaning.format(shown) + ranged(quantity))

    return take


def _size(path: str, meaning: str) -> Take:
    """Take a size or a data rate, which must be one of bytes and within its range."""

    def take(notes: Notes, found: Match, quantity: Amount) -> None:
        rate = "/s" if "/time" in quantity.kind else ""
        if quantity.kind.startswith("bits"):
            unit = quantity.unit[0]
            notes.refuse(found, f"the unit {unit}b{rate} means bits; write {unit}B{rate} for bytes")
            return
        written = size_text(quantity, quantity.high)
        try:
            parse(BYTES_PER_S if rate else BYTES, written)
        except ValueError as error:
            notes.refuse(found, str(error))
            return
        notes.set(path, written, found, meaning.format(written) + ranged(quantity))

    return take


def _count(quantity: Amount) -> int:
    return round(quantity.high)


def _watts(quantity: Amount) -> float:
    return quantity.high


def _power(notes: Notes, found: Match, quantity: Amount) -> None:
    if quantity.unit == "kVA":
        notes.text.assume("power factor not given: 1 kVA = 1 kW")
    _as("limits.power_w", _watts, "at most {} W")(notes, found, quantity)


def _price(quantity: Amount) -> float:
    return float(f"{quantity.high * quantity.per_s:.6g}")


def _storage_rate(notes: Notes, found: Match, quantity: Amount) -> None:
    groups = found.match.groupdict()
    field, what = ("write", "writes") if groups.get("write") else ("read", "reads")
    _size(f"data.minimum_{field}_bytes_per_s", f"storage {what} at least {{}}")(notes, found, quantity)


def _source(notes: Notes, found: Match, quantity: Amount) -> None:
    """Rate of the customer's source and its network, at which the storage is filled."""
    rate = f"{written_number(quantity.high)} {quantity.unit}/s"
    notes.table("data")["source_bytes_per_s"] = rate
    start, end = found.match.span("rate")
    notes.text.record(found, f"the data arrive at {rate}", start, end)


def _years(notes: Notes, found: Match, quantity: Amount) -> None:
    if re.search(
        r"\b(?:support|warranty|maintenance|service|contract|guarantee)\b", notes.text.before(found.start), re.I
    ):
        notes.leave(found)
        return
    years = _count(quantity)
    what, table = ("rented and bought", "rental") if "rental" in notes.request else ("cost of ownership", "ownership")
    notes.set(f"{table}.years", years, found, f"{what} over {years} {by_count(years, 'year', 'years')}")


def _rental(notes: Notes, found: Match, quantity: Amount) -> None:
    """An offer of rented GPUs, where the sentence is about renting; a price alone says nothing of it."""
    is_by_hour = quantity.kind != "money/time" or quantity.per_s == 3600
    if notes.text.find(r"<RENTS>") is None or not is_by_hour:
        notes.leave(found)
        return
    _as("rental.per_gpu_hour", lambda one: round(one.high * 3600, 6), "rented GPUs at {} per GPU-hour")(
        notes, found, quantity
    )
    for rents in notes.text.each(r"<RENTS>"):
        notes.text.record(rents, "compared with rented GPUs")


def _budget(notes: Notes, found: Match, quantity: Amount) -> None:
    if quantity.kind == "n" and not (quantity.is_scaled or "budget" in found.words.lower()):
        return
    if notes.state_currency(found, quantity):
        value = round(quantity.high, 2)
        notes.set("limits.budget", value, found, f"budget {value:,.12g} {notes.currency or 'USD'}{ranged(quantity)}")


_rack_power = _as("limits.rack_power_w", _watts, "at most {} W per rack")


def _racks_of(notes: Notes, found: Match, quantity: Amount) -> None:
    """Two racks at 17 kW each; the power of a single one is that of the cluster."""
    racks = _count(found.quantities("racks", "n")[0])
    notes.table("limits")["racks"] = racks
    if racks == 1:
        _power(notes, found, quantity)
        return
    _rack_power(notes, found, quantity)


def _checkpoints_kept(notes: Notes, found: Match, quantity: Amount) -> None:
    if "checkpoint_every_s" not in notes.request.get("data", {}):
        notes.leave(found)  # how many are there says nothing without how often they are written
        return
    _as("data.checkpoints_kept", _count, "{} checkpoints retained")(notes, found, quantity)


def _working_set(notes: Notes, found: Match, quantity: Amount) -> None:
    """What is in use of larger data; alone it is the data set."""
    if any(not found.start <= one.start < found.end for one in notes.text.each("{bytes}")):
        _size("data.working_set_bytes", "in use at a time: {}")(notes, found, quantity)


# What the lists of rules in the grammar call a statement, and what takes it.
_TAKES: dict[str, Take] = {
    "budget": _budget,
    "capacity": _size("data.minimum_capacity_bytes", "at least {} of usable capacity"),
    "checkpoints": _as("data.checkpoint_every_s", lambda one: time_text(one.low, one.unit), "a checkpoint every {}"),
    "checkpoints_kept": _checkpoints_kept,
    "confidence": _as("confidence", lambda one: one.high / 100, "confidence {}"),
    "cost_per_million_tokens": _as("ownership.cost_per_million_tokens", _price, "at most {} per million tokens"),
    "electricity": _as("ownership.electricity_per_kwh", _price, "electricity {} per kWh"),
    "host_memory": _size("platforms.host_memory_bytes", "at least {} of memory in each server"),
    "batch": _as("w.batch_per_gpu", _count, "batch of {} per GPU"),
    "power": _power,
    "pue": _as("site.pue_ratio", lambda one: one.high, "PUE {}"),
    "rack_power": _rack_power,
    "rack_units": _as("limits.rack_units", _count, "at most {} rack units"),
    "racks": _as("limits.racks", _count, "at most {} racks"),
    "racks_of": _racks_of,
    "rental": _rental,
    "servers": _as("limits.servers", _count, "at most {} servers"),
    "source": _source,
    "storage_rate": _storage_rate,
    "working_set": _working_set,
    "years": _years,
}


def read_rules(notes: Notes, rules: str) -> None:
    """Take what the rules of a list find ("early", "limits", "memory", "racks"), or ask with the reason given."""
    for name, source, *reason in GRAMMAR[rules]:
        for found in notes.text.each(source):
            if name == "leave":
                notes.leave(found)
            elif name == "not asked":
                notes.text.record(found, "not asked for")
            elif rules in ("limits", "racks", "servers") and is_wish(notes.text, found):
                notes.text.assume(f"{found.words}: {GRAMMAR['reasons']['wish']}")
                notes.text.record(found, "a wish")
            elif reason:
                notes.ask_place(found, reason[0])
            else:
                _TAKES[name](notes, found, found.quantities()[-1])


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
        rate = USUAL_RATES_USD[currency]
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
        _size("w.sample_bytes", "size of one sample: {}")(notes, found, found.value)
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
        what = "w.sample_bytes", "size of one sample: {}"
        if not (is_one or (is_small and not is_whole)):
            what = "w.dataset_bytes", "size of the data set: {}"
        _size(*what)(notes, found, found.value)


def read_samples(notes: Notes) -> None:
    """A number of samples makes an own data set: with a stated size, else with that of the network's usual data."""
    found = notes.text.find(r"{samples}")
    if found is None or not 1 <= found.value.high <= 1e15 or notes.is_language:
        return
    n_samples, size, whole = found.value.high, notes.work.get("sample_bytes"), notes.work.get("dataset_bytes")
    own: dict[str, Any] = {"name": "Own data", "n_samples": n_samples, "sample_bytes": size, "format": "raw files"}
    if size is None and whole is not None:
        own["sample_bytes"] = parse(BYTES, whole) / n_samples
    elif size is None:
        if not notes.networks or "dataset" in notes.work or notes.own_datasets:
            return
        data = notes.catalog.datasets[usual_dataset(notes.networks[0])]
        own |= {"sample_bytes": data.sample_bytes.value, "format": data.format}
        notes.text.assume(f"size of a sample not given: {data.sample_bytes.value / 1e3:,.4g} kB, as in {data.name}")
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
    if rule(r"<CUSTOMERS>").fullmatch(found.value.noun):
        notes.ask_place(found, GRAMMAR["reasons"]["people"])
        return
    is_stated = "tokens" in notes.work or notes.text.find(
        r"\b(?:in|within|over|innerhalb von|en) (?:about |around |less than |under )?{time}|\bover ?night\b"
    )
    shares = rule(r"<SHARES>").search(notes.text.sentence) is not None
    if found.value.high > MOST_WHO_TRAIN and not shares:
        notes.ask_place(found, GRAMMAR["reasons"]["people"])
        return
    if is_stated and not shares:
        notes.text.record(found, f"{_count(found.value)} people of this training; no jobs of theirs are added")
        return
    job: dict[str, Any] = {"name": "Training job"}
    team: dict[str, Any] = {"data_scientists": _count(found.value), "wait_s": "30 min", "job": [job]}
    notes.request["team"] = team
    notes.text.record(found, f"{_count(found.value)} people share the cluster{ranged(found.value)}")
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
            value = max(1, _count(told.value))
            if told.value.low < told.value.high:
                notes.text.assume(f"{told.words}: every job on {value} GPUs")
        else:
            value = time_text(told.value.low if place == "team" else told.value.high, told.value.unit)
        (team if place == "team" else job)[key] = value
        if told is not None:
            notes.text.record(told, meaning.format(value))
    if assumed:
        notes.text.assume(f"jobs of the team, assumed: {', '.join(assumed)}")


_GROWS = {"data": "data", "date": "data", "volu": "data", "team": "team"}


def read_growth(notes: Notes) -> None:
    """Yearly growth of data, team or targets."""
    for source in GRAMMAR["growth"]:
        for found in notes.text.each(source):
            groups = found.match.groupdict()
            by = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0}.get((groups.get("factor") or "").lower())
            percent = found.quantities("percent", "percent/time")
            if by is None and not percent:
                continue
            if by is None and percent[0].kind == "percent/time" and percent[0].per_s < 3e7:
                continue  # a percentage a month
            factor = by if by is not None else 1 + percent[0].high * percent[0].per_s / 100
            key = _GROWS.get((groups.get("what") or "load")[:4].lower(), "target")
            notes.table("growth")[key] = round(factor, 6)
            if years := found.quantities("years"):
                notes.table("growth")["years"] = _count(years[0])
            what = {"data": "data", "team": "people", "target": "targets"}[key]
            notes.text.record(found, f"{what} grow by {100 * factor - 100:g} % a year")


# Longest first: a storage node is no node of GPUs.


def read_losses(notes: Notes) -> None:
    """What may fail without a target being missed."""
    lost: list[str] = []
    for found in notes.text.each(r"<TWO_HEADS>"):
        if all(one.high == 2 for one in found.quantities()):
            lost.append("head-node")
            notes.text.record(found, "two head nodes, one active and one standby")
    for found in notes.text.each(r"<N_PLUS_ONE>|<FAILURES>"):
        is_one = rule(r"<N_PLUS_ONE>").fullmatch(found.match[0])
        kinds = [] if is_one else [_loss_named(noun) for noun in rule(r"<LOST>").finditer(found.words)]
        lost += kinds or ["server"]
        notes.text.record(found, f"targets are met without any {' and '.join(dict.fromkeys(kinds or ['server']))}")
        if not is_one and any(one.high > 1 for one in found.quantities("servers")):
            notes.text.assume(f"{found.words}: a request states the loss of one server at a time")
    if lost:
        notes.request["resilience"] = {"keeps_targets_without": list(dict.fromkeys(lost))}


def _loss_named(noun: re.Match[str]) -> str:
    return next(str(loss) for loss, words in GRAMMAR["losses"].items() if rule(words).fullmatch(noun[0]))
