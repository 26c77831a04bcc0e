"""What is asked of the work: a rate, a time and the length of a training; the load of a language model in use."""

import math
import re
from dataclasses import replace
from typing import Any

from sizer.base.quantities import BYTES, NARROW_SPACE, SECONDS, by_count, duration, grouped, parse, si, tokens_text
from sizer.catalog import labels
from sizer.catalog.sale import newer_eras
from sizer.catalog.schema import TOKEN_BYTES, Dataset, Recipe
from sizer.workload.kinds import trains_in
from sizer.workload.request import SERVING_TASKS, SIZE_LIMITS
from sizer.workload.resolve import QUALITY_TARGETS, share_of_recipe, usual_dataset
from sizer.workload.sentence.equipment import eras_meant, existing_gpus
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.names import place_of, short_name
from sizer.workload.sentence.notes import LEAST_PERIOD_S, RATE, TIME, Notes, ranged, read_rules, taken_by, time_text
from sizer.workload.sentence.quantities import Amount, written_number
from sizer.workload.sentence.scope import DENIED, governor
from sizer.workload.sentence.text import Match
from sizer.workload.serving import EMBEDDING, EMBEDS, USES
from sizer.workload.transformer.custom_transformer import CustomTransformer

_LONGEST_S = 5 * 31_557_600.0
# Of a model that reaches the least loss for its work (Hoffmann et al. 2022, arXiv:2203.15556, table 3).
_TOKENS_PER_PARAMETER = 20
_MOST_TAIL = 4  # 95th percentile of a length over its mean
_MOST_RUNS_A_DAY = 1_000  # more are no trainings
# Of a training for which eight GPUs are assumed: a year of them at 400 TFLOP/s each, as fast as an H100 trains.
_MOST_WORK_FLOP = 8 * 4e14 * 31_557_600
_SPANS = {"day": 86_400.0, "night": 43_200.0, "week": 604_800.0, "month": 2_592_000.0}


def read_task(notes: Notes) -> None:
    """Training or batch inference on a test set; of both, which one is asked."""
    text = notes.text
    trains = text.find(r"<DOES_TRAIN>")
    found = text.find(r"<INFERENCE>") or (None if trains else text.find(r"<CLASSIFY>"))
    if found and trains:
        places = (("Training", found), ("Batch inference on a test set", trains))
        answers = [notes.change(label, *text.span(one.start, one.end), "") for label, one in places]
        notes.ask("task tests", found, answers=answers)
    elif found and not (DENIED in found.words and notes.is_language):
        notes.work["task"] = "validation-inference"
        text.record(found, "batch inference on a test set")
    read_rules(notes, "training")


def read_rate(notes: Notes) -> None:
    """A rate in samples a second, minute, hour or day, of the first network."""
    for found in notes.text.each(r"{samples/time|frames/time}|{n/time}"):
        quantity = found.value
        is_other = quantity.kind == "n/time" and quantity.per_s != 1
        if is_other or not 1e-6 <= quantity.high <= 1e12 or notes.text.is_after(found, r"<RATE_AT_MOST>"):
            continue  # a request has a least rate
        if "task" not in notes.work and quantity.per_s >= LEAST_PERIOD_S and rule("<EACH_TIME>").search(found.words):
            low, high = (one * quantity.per_s for one in (quantity.low, quantity.high))  # trained on more than once
            notes.text.put_at(found, replace(quantity, kind="samples", low=low, high=high))
            notes.work["target"] = {TIME: time_text(quantity.per_s / 86_400, "d")}
            return
        per_s = float(f"{quantity.high:.4g}") if quantity.per_s >= 3600 else quantity.high
        unit = _noun(notes) if quantity.unit in ("", "samples") else quantity.unit
        shown = grouped(per_s) if per_s >= 1000 else f"{per_s:g}"
        written = f"{written_number(round(per_s, 2 if per_s >= 1 else 6))} {unit}/s"
        notes.aim(found, RATE, written, f"minimum rate {shown} {unit}/s{ranged(notes, quantity)}")
        return


def _noun(notes: Notes) -> str:
    return "images" if notes.networks and notes.networks[0].sample == "image" else "samples"


def read_time(notes: Notes) -> None:
    """A time to train; of a range the shorter, which meets both."""
    for found in notes.text.each(r"<ASKS_TOKENS>"):
        notes.text.record(found, "tokens that the given GPUs read")
        for time in notes.text.each(r"<TIME>"):
            notes.leave(time)
    limits = list(notes.text.each(r"<TIME_LIMIT>"))
    for found in [*limits, *notes.text.each(r"<TIME>")]:
        if notes.has_target and found not in limits:
            return
        written = time_text(found.value.low, found.value.unit)
        try:
            if parse(SECONDS, written) > _LONGEST_S:
                notes.ask_place(found, "no training takes so long")
                continue
        except ValueError as error:
            notes.ask("refused", found, str(error))
            continue
        notes.aim(found, TIME, written, f"maximum time to train {written}{ranged(notes, found.value, 'shorter')}")


def read_targets(notes: Notes) -> None:
    """A rate, the epochs, and how often it runs."""
    if not notes.has_target:
        read_rate(notes)
    _read_runs(notes)
    for found in notes.text.each(r"<EPOCH_IN>") if not notes.has_target else ():
        time = next((quantity for quantity in found.quantities() if quantity.kind.startswith("time")), None)
        epochs = found.quantities("epochs/time")
        if time or epochs:
            count = epochs[0].high * epochs[0].per_s if epochs else 1.0
            written = time_text(time.low, time.unit) if time else f"{written_number(epochs[0].per_s / 86_400)} d"
            notes.work["target"] = {TIME: written}
            notes.set("w.epochs", count, found, f"{written_number(count)} epochs within {written}")
    for found in notes.text.each(r"(?:\bfor )?{epochs}"):
        notes.set("w.epochs", found.value.high, found, f"{written_number(found.value.high)} epochs")


def _read_runs(notes: Notes) -> None:
    """A number of runs in a time, a day for example, of which each takes at most its share."""
    named = notes.text.find(r"<RUNS_NAMED>")
    is_named = named is not None and rule(r"<RUN_WORDS>").search(named.words) is not None
    for found in [*([named] if named and is_named else []), *notes.text.each(r"<RUNS_OF>")]:
        quantity, every = found.value, (found.match.groupdict().get("span") or "").split()[-1:]
        runs = round(quantity.high * quantity.per_s, 6)
        if quantity.kind == "n/time" and ("team" in notes.request or quantity.high * 86_400 > _MOST_RUNS_A_DAY):
            continue
        is_settled = notes.has_target or "task" in notes.work
        if every or "/time" in quantity.kind:
            period = _SPANS[every[0]] if every else quantity.per_s
            if is_settled or runs < 1 or period not in _SPANS.values() or notes.text.find(r"<TIME>"):
                if period > 604_800:
                    notes.leave(found)
                notes.text.record(found, "how often it runs")
                continue
        else:
            each = notes.text.find(r"<EACH_LASTS>")
            if runs == 1:
                notes.text.record(found, "one run")
            is_of_team = "team" in notes.request or (quantity.noun.startswith("job") and not each)
            if each and not (runs < 2 or is_settled or is_of_team):
                notes.text.record(each, "of each of them")
            if runs < 2 or is_settled or is_of_team or (within := notes.period()) is None:
                continue
            period = parse(SECONDS, within[0])
            notes.text.record(within[1], f"all {runs:g} runs within {duration(period)}")
            if each:  # GPUs enough for all of them
                length, on = each.quantities("time", "time/job")[0], each.quantities("n", "gpus")
                work_s = runs * parse(SECONDS, time_text(length.high, length.unit))
                n_gpus = (round(on[0].high) if on else 1) * math.ceil(round(work_s / period, 6))
                notes.aim(found, "gpus_busy", n_gpus, f"{n_gpus} GPUs, which run them one after the other")
                continue
            notes.text.assume(f"{found.words}: one after the other, each within its share of {duration(period)}")
        of, unit = (3600 * runs, "h") if period < 86_400 * runs else (86_400 * runs, "d")
        written = f"{written_number(float(f'{period / of:.4g}'))} {unit}"
        notes.aim(found, TIME, written, f"maximum time to train {written}")


def read_times(notes: Notes) -> None:
    """A time to train, overnight or every day; of inference on a known number of samples a rate."""
    if not notes.has_target:
        read_time(notes)
    n_samples, data, has_time = 0.0, notes.work.get("dataset"), TIME in notes.work.get("target", {})
    if isinstance(data, dict):
        n_samples = data["n_samples"] if "task" in notes.work else 0.0
    elif has_time and "dataset_bytes" in notes.work and notes.networks:
        usual = notes.catalog.datasets[data or usual_dataset(notes.networks[0])]
        if "sample_bytes" not in notes.work and not notes.is_language:
            notes.text.assume(f"size of a sample not given: {si(usual.sample_bytes.value, 'B')}, as in {usual.name}")
        n_samples = _samples_in(notes.work, usual) if "task" in notes.work else 0.0
    if n_samples and has_time:
        notes.work["target"] = _rate_of(notes, n_samples, notes.work["target"][TIME])
    for written, source in GRAMMAR["habits"].items():
        for found in notes.text.each(source):
            meaning = "how often or when it runs"
            if not notes.has_target and ("task" not in notes.work or n_samples):
                notes.work["target"] = _rate_of(notes, n_samples, written) if n_samples else {TIME: written}
                meaning = f"all samples within {written}" if n_samples else f"maximum time to train {written}"
            notes.text.record(found, meaning)


def _rate_of(notes: Notes, n_samples: float, written: str) -> dict[str, Any]:
    """The rate that passes a number of samples within a time."""
    return {RATE: f"{written_number(float(f'{n_samples / parse(SECONDS, written):.4g}'))} {_noun(notes)}/s"}


def read_most(notes: Notes) -> None:
    """The highest rate within the limits, where no target is given; or the time that owned GPUs take."""
    found, how_long = notes.text.find(r"<MOST>"), notes.text.find(r"<HOW_LONG>")
    n_gpus, servers = notes.limits.get("gpus"), notes.request.get("existing", {}).get("servers", {})
    if found is not None and not notes.has_target:
        if set(SIZE_LIMITS) & notes.limits.keys():
            notes.aim(found, "maximum", "rate", "the highest rate within the limits")
        elif n_gpus:
            notes.aim(found, "gpus_busy", n_gpus, f"the highest rate of {n_gpus} GPUs")
        else:
            notes.ask("limit", found, answers=map(notes.answer, GRAMMAR["usual_limits"]))
            return
    n_gpus = existing_gpus(notes) or n_gpus
    meaning = f"time to train on {n_gpus} GPUs"
    if how_long is not None and n_gpus and notes.aim(how_long, "gpus_busy", n_gpus, meaning) and servers:
        notes.table("platforms").setdefault("servers", list(servers))


# --- what is missing


def ask_network(notes: Notes) -> None:
    """Ask what the network is for, of what the sentence tells; of one purpose, or of language, which network."""
    items, key, usual = list(notes.catalog.dnns.values()), "network", ""
    if notes.means_language:
        embeds, reason = notes.work.get("use") == EMBEDDING, "No language model is named"
        items = [item for item in items if item.transformer is not None and (item.family == EMBEDS) == embeds]
    else:
        purposes, is_told = _purposes(notes.text.sentence)
        label, _, _, usual, families = purposes[0]
        if len(purposes) > 1:
            learns = "team" in notes.request and re.search(r"\btrain|(?:deep|machine) learning", notes.text.sentence)
            key = "network of its samples" if is_told or learns else "network missing"
            notes.ask(key, reason=usual, answers=[notes.answer(label, words) for label, _, _, words, _ in purposes])
            return
        items = [item for item in items if {item.family, item.kind, item.id} & {*families}]
        key, reason = "network nearest", f"Several networks {label[0].lower()}{label[1:]}"
    newer_first = eras_meant(notes) <= newer_eras(notes.catalog)
    items.sort(key=lambda item: (short_name(item) != usual, newer_first and item.transformer is None, place_of(item)))
    notes.ask(key, reason=reason, answers=[notes.answer(short_name(item)) for item in items])


def _purposes(sentence: str) -> tuple[list[Any], bool]:
    """What networks are for: the purposes that a sentence tells, else those that read what it names, else all.

    And whether it tells any. Of several that are told the first of the sentence is the first.
    """

    def place(words: str) -> int:
        match = re.search(rf"\b(?:{words})\b", sentence, re.I) if words else None
        return match.start() if match else -1

    offered = [one for one in GRAMMAR["purposes"]["offered"] if one[2] or not trains_in(sentence)]
    kinds = [kind for kind, words in GRAMMAR["sample_names"].items() if place(words) >= 0]
    told = sorted((one for one in offered if place(one[1]) >= 0), key=lambda one: place(one[1]))
    read = [one for one in told or offered if one[2] in kinds]
    if told:
        told = list({place(one[1]): one for one in reversed(read or told)}.values())[::-1]
    return told or read or offered, bool(read or told)


def ask_target(notes: Notes) -> None:
    """Offer targets that suit what the sentence says: of a team, of training, of a language model."""
    usual = GRAMMAR["usual_targets"]
    if is_served(notes):
        notes.ask("target", answers=map(notes.answer, usual[notes.work["task"]]))
        return
    sample = notes.networks[0].sample if notes.dnns else "token" if notes.means_language else ""
    own = existing_gpus(notes)
    named = [notes.catalog.servers[key].n_gpus for key in notes.platforms.get("servers", ())]
    least = min((round(n_gpus.value) for n_gpus in named if n_gpus is not None), default=8)
    counts = (least, 4 * least) if least > 8 else (8, 32)
    times = ["in a day", "overnight"] if "task" not in notes.work else []
    if times and sample == "token":
        of_text = usual.get(str(notes.work.get("method")), "1 trillion tokens in 30 days")
        times = ["in a week", "in 30 days"] if "tokens" in notes.work else [of_text]
    size = max([(notes.own_model or {}).get("parameters", 0.0), *(one.parameters.value for one in notes.networks)])
    is_long = 6 * size * notes.work.get("tokens", 0.0) > _MOST_WORK_FLOP and not own
    asks = rule(r"<HOW_MANY>").search(notes.text.sentence) is not None and not own
    texts = [f"{count} GPUs" for count in dict.fromkeys((*([own] if own else []), *counts))]
    texts = times + texts if asks else texts + times  # who asks how many is not told how many
    texts += [usual.get(sample, "1,000 samples/s")] if sample else []
    is_limited = bool(set(SIZE_LIMITS) & notes.limits.keys()) and "team" not in notes.request
    if is_limited:
        # Who tells a budget and no target asks what it buys.
        is_first = is_long or ("budget" in notes.limits and not own)
        texts.insert(0 if is_first else len(texts), "as fast as possible")
    notes.ask("target needed" if asks or (is_long and not is_limited) else "target", answers=map(notes.answer, texts))


def default_length(notes: Notes, work: dict[str, Any]) -> None:
    """A time to train needs the training length: the network's usual recipe, or a question.

    Who asks how long a training takes on given GPUs gets the recipe, too, where there is one. More tokens than a stated
    text has are epochs of it.
    """
    catalog, dnn, item, tokens = notes.catalog, work["dnn"], None, work.get("tokens", math.inf)
    is_language = dnn == notes.own_model or (isinstance(dnn, str) and catalog.dnns[dnn].transformer is not None)
    if is_language and "dataset_bytes" in work and "task" not in work:
        text = parse(BYTES, work["dataset_bytes"]) / TOKEN_BYTES
        meaning = f"{work['dataset_bytes']} hold {tokens_text(text)}, {TOKEN_BYTES:g} bytes each"
        if text < tokens < math.inf and "epochs" not in work:
            work["epochs"] = float(f"{tokens / text:.4g}")
            meaning += f": {work['epochs']:g} epochs"
        if text < tokens:
            work["tokens"] = text
            notes.text.assume(meaning)
    has_time = TIME in work.get("target", {})
    if "task" in work or "epochs" in work or not (has_time or rule(r"<ASKS_LENGTH>").search(notes.text.sentence)):
        return
    if isinstance(dnn, str):
        item, is_newer = catalog.dnns[dnn], bool(eras_meant(notes) & newer_eras(catalog))
        every = [one for one in catalog.recipes.values() if one.dnn == dnn]
        recipes = [one for one in every if is_newer or not one.mlperf]
        for found in notes.text.each(r"\bv\d\.\d(?!\w)"):
            if told := [one for one in every if one.id.endswith(found.words.lower())]:
                recipes = told
                notes.text.record(found, f"rules of {told[0].name}")
        if recipes:
            # The common schedule of fixed length where there is one, else the newest rules of a benchmark.
            recipe = max(recipes, key=lambda one: ("epochs" in one.id, one.id))
            epochs = max(1, round(recipe.points[0].epochs * _share_of(notes, work, recipe))) if recipe.points else 0
            if recipe.vendor != QUALITY_TARGETS and epochs < recipe.points[0].epochs:
                called = f"{item.name} on so much data, which are read fewer times than ImageNet,"
                answers = [by_count(epochs, "1 epoch", f"{epochs} epochs"), *GRAMMAR["usual_lengths"]["epochs"]]
                notes.ask("length", reason=called, answers=map(notes.answer, answers))
                return
            work["recipe"] = recipe.id
            start = ", from its checkpoint" if recipe.starts_from_checkpoint else ""
            notes.text.assume(f"training length not given: {recipe.name}{start}")
            for scratch in notes.text.each(r"\bfrom scratch\b") if start else ():
                notes.leave(scratch)
            return
    if not has_time or "tokens" in work:
        return
    called, key, answers = item.name if item else str(dnn["name"]), "length needed", GRAMMAR["usual_lengths"]["epochs"]
    if not is_language:
        if item is None or (item.sample in ("image", "sample") and "diffusion" not in (item.kind, item.family)):
            key = "length"
    elif work.get("method") in ("fine-tuning", "lora"):
        answers = GRAMMAR["usual_lengths"]["tuning"]
    else:
        size = item.parameters.value if item else CustomTransformer.model_validate(dnn).total_parameters
        key, answers = "length", [tokens_text(_TOKENS_PER_PARAMETER * size), *GRAMMAR["usual_lengths"]["tokens"]]
    notes.ask(key, reason=called, answers=map(notes.answer, answers))


def _share_of(notes: Notes, work: dict[str, Any], recipe: Recipe) -> float:
    """Epochs on the data of the text over those of a recipe on its own data."""
    own, samples = work.get("dataset"), 0.0
    if isinstance(own, dict):
        samples = own["n_samples"]
    elif "dataset_bytes" in work:
        samples = _samples_in(work, notes.catalog.datasets[own or usual_dataset(notes.catalog.dnns[recipe.dnn])])
    return share_of_recipe(recipe, samples, notes.catalog)


def _samples_in(work: dict[str, Any], usual: Dataset) -> float:
    """Samples of a data set whose size the text has, of the size that it has or of those of a usual data set."""
    return parse(BYTES, work["dataset_bytes"]) / parse(BYTES, work.get("sample_bytes", usual.sample_bytes.value))


# --- a language model in use: who asks, how long requests are, and how soon answers come

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
    for found in text.each(r"<SO_MANY_AGENTS>"):
        _target(notes, found, "active_users", round(found.value.high), f"{grouped(found.value.high)} agents at work")
        notes.work["use"] = "agent"
    for name, source in GRAMMAR["uses"]:
        if rule(source).search(text.sentence):
            notes.work.setdefault("use", name)
        for found in text.each(source):
            text.record(found, f"use: {notes.work['use']}")
    if notes.work.get("use") == "agent":
        text.assume("agents: calls of the model are sized, as long as those of a coding agent; the tools are not")
    if notes.work.get("use") in ("chat", "code", "code-chat"):
        notes.work["task"] = "serving"
    read_rules(notes, "serving", _TAKES)
    _read_roles(notes)
    _read_requests_of_each(notes)
    most = min((one.value.high for one in text.within(r"<WHO_USE>")), default=math.inf)
    for found in text.each(r"{people}"):
        if found.value.high > most:
            notes.leave(found)
    read_rules(notes, "load", _TAKES)
    target = notes.work.get("target", {})
    if _NOT_OFFLINE & {*notes.work, *target} and notes.work.get("use") != EMBEDDING:  # somebody waits
        notes.work["task"] = "serving"
    task = notes.work["task"]
    for found in text.each(r"<SERVED>"):
        text.record(found, "a language model in use" if task == "serving" else labels.name(task))
    if "use" not in notes.work and not {*_LENGTHS} <= notes.work.keys() and task == "serving":
        notes.work["use"] = "chat"
        text.assume("use not given: chat")
    if "users" in target:
        use = USES[notes.work.get("use", "chat")]
        asked = f"{use.requests_per_h:g} requests per hour each"
        text.assume(f"assumed: {100 * use.active_share:g}{NARROW_SPACE}% of the users active in the peak hour, {asked}")


def _read_requests_of_each(notes: Notes) -> None:
    """What each of so many people asks in a time, as what all of them ask."""
    for found in notes.text.each(r"<EACH_ASKS>"):
        who = next((one for one in notes.text.within("{people}") if one.value.high > 1), None)
        if who is not None:
            asked, *every = found.quantities()
            seconds = parse(SECONDS, time_text(every[0].low, every[0].unit)) if every else 1.0
            low, high = (one * who.value.high / seconds for one in (asked.low, asked.high))
            rate = replace(asked, kind="requests/time", low=low, high=high, per_s=asked.per_s * seconds)
            notes.text.put_at(found, rate)
            notes.text.record(who, "who ask")


def _target(notes: Notes, match: Match, key: str, value: float, meaning: str) -> None:
    last = notes.work.get("target", {}).get(key, value)
    if last != value:
        notes.text.assume(f"{match.words}: of two loads, the larger one is sized")
        notes.work["target"][key] = value = max(value, last)
    notes.aim(match, key, value, meaning)


def _every_s(notes: Notes, seconds: float) -> float:
    """The seconds for which something is counted; of a day or longer the time that is given for it."""
    if seconds >= LEAST_PERIOD_S and (time := notes.text.find(r"<TIME>")) is not None:
        seconds = parse(SECONDS, time_text(time.value.low, time.value.unit))
        notes.text.record(time, f"every time within {duration(seconds)}")
    return seconds


def _rate(notes: Notes, match: Match, key: str) -> None:
    is_of_documents = match.value.kind.startswith(("documents", "samples"))
    asks_people = is_of_documents and notes.text.find(r"<FOR_THEM>{people}|<SOME_OF>")
    if asks_people and notes.work.get("use") in ("chat", "rag", "code", "code-chat"):
        notes.leave(match)  # people ask, of whose requests the documents are none
        return
    asks = notes.has_target or notes.text.find(r"{people|requests}|<AT_ONCE>")
    if key == "tokens_per_s" and asks and match.value.high <= _FASTEST_OF_ONE:
        _latency(notes, match, "token_s")  # the answers of those who wait come so fast
        return
    # What is stated for a day or longer comes in the time that is given for it, else in working hours.
    amount, seconds = match.value, _every_s(notes, match.value.per_s)
    hours = _WORKING_HOURS.get(round(amount.per_s))
    if seconds == amount.per_s and hours is not None and notes.work["task"] == "serving":
        seconds = 3600.0 * hours
        notes.text.assume(f"hours of the requests not given: {match.words} come within {hours} working hours")
    rate = float(f"{amount.high * amount.per_s / seconds:.6g}")
    _target(notes, match, key, rate, f"{rate:,.12g} {GRAMMAR['called'][key]} a second")


def _texts(notes: Notes, match: Match, _: str) -> None:
    """A number of texts and the time for all of them: 400,000 documents of 6k tokens a night."""
    count = match.quantities("documents", "samples", "requests", "pages", "n")[0].high
    if each := match.quantities("tokens/time"):
        notes.set("w.input_tokens", round(each[-1].high * each[-1].per_s), match, f"{grouped(count)} requests")
        seconds = _every_s(notes, each[-1].per_s)
    else:
        period = notes.period()
        if period is None or notes.text.find(r"<FOR_THEM>{people}") or notes.has_target:
            return
        notes.text.record(period[1], f"within {period[0]}")
        seconds = parse(SECONDS, period[0])
    rate = float(f"{count / seconds:.4g}")
    meaning = f"{match.words} in {duration(seconds)}: {rate:g} requests a second"
    notes.text.assume(meaning)
    _target(notes, match, "requests_per_s", rate, meaning)


def _calls(notes: Notes, match: Match, _: str) -> None:
    """What is done so often, each time with so many requests."""
    if match.value.kind == "documents" and not match.value.noun.startswith("prompt"):
        return  # what a request reads
    counted = notes.text.within("{documents/time|jobs/time|runs/time|documents|other/time}")
    counted = [one for one in counted if not match.start <= one.start < match.end]
    # What is named: "12 calls per case, 3,000 cases a day".
    nouns = [one.value.unit if one.value.kind == "other/time" else one.value.noun for one in counted]
    named = [one for one, noun in zip(counted, nouns, strict=True) if noun[:4] in match.words.lower()]
    often = next(iter(named or (one for one in counted if one.value.kind != "other/time")), None)
    if often is not None:
        low, high = (one * match.quantities()[-1].high for one in (often.value.low, often.value.high))
        kind = f"requests{'/time' if '/time' in often.value.kind else ''}"
        notes.text.put_at(often, replace(often.value, kind=kind, unit="requests", low=low, high=high))
        notes.text.record(match, "requests of each")


def _people(notes: Notes, found: Match, _: str) -> None:
    """People or requests: in flight at once, active, or all who may ask."""
    amount, words, target = found.quantities()[-1], found.words, notes.work.get("target", {})
    nouns = [one[1].lower() for one in rule(r"<FOR_THEM>(\w+)").finditer(notes.text.sentence)]
    counted = {one.noun for one in notes.text.amounts if one.kind == "people"}
    of_others = amount.noun not in nouns and bool(counted & {*nouns})
    is_told = "users" in target or notes.work.get("use") == EMBEDDING or of_others
    if is_told and amount.kind == "people" and not rule(r"<FOR_THEM>").match(words):
        notes.leave(found)  # for whom it is, is told
        return
    own = (key for key, noun in GRAMMAR["roles"]["load"].items() if rule(noun).search(words))
    told = next(((key, found) for key in own), None) or governor(notes.text, found, "load")
    if told is None and amount.kind != "people":
        notes.ask_place(found, "how many a second, or at once? Write for example 10 requests/s")
        return
    key, found = told or ("users", found)
    if key != "users" and target.keys() == {"users"}:
        del notes.work["target"]
    if {"tokens_per_s", "requests_per_s"} & target.keys():
        notes.text.record(found, "who asks; the rate of their requests is stated")
        return
    _target(notes, found, key, round(amount.high), f"{grouped(round(amount.high))} {GRAMMAR['called'][key]}")


def _users(notes: Notes, match: Match, key: str) -> None:
    """People by whatever they are called: for 300 notaries."""
    if notes.work["task"] == "serving" and not notes.has_target and match.value.high > 1:
        _target(notes, match, key, round(match.value.high), f"{grouped(match.value.high)} {GRAMMAR['called'][key]}")


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
    each_of = rule(r"{documents|samples|requests|pages|requests/time|documents/time}[^.;!?]*$")
    for found in loose:
        is_of_each = each_of.search(text.unblanked[: found.start]) and found.value.length <= _MOST_OF_ONE
        if is_of_each and "input_tokens" not in notes.work:
            _length(notes, found, "input_tokens", found.value)
    is_first = "latency_percentile" in notes.work and rule(r"<FIRST_TOKEN>").search(text.sentence)
    for found in text.each(r"{time|latency|time/token|latency/token}"):
        amount, told = found.value, governor(text, found, "latencies")
        if amount.kind.endswith("token"):
            _latency(notes, found, "token_s")
        elif told is None and is_first:
            _latency(notes, found, "first_token_s")  # which the text is about
        elif told is not None and amount.unit in _SECONDS:
            key, whole = told
            if key != "answer" or amount.low * _SECONDS[amount.unit] < 1:  # no whole answer is generated in less
                _latency(notes, whole, "first_token_s" if key == "answer" else key)
                continue
            words = text.sentence[amount.start : amount.end]
            labels = (f"{what} within {words}" for what in ("first token", "later tokens"))
            said = "a limit of the first token, or of each later one? That of a whole answer follows"
            notes.choose("layout", whole, said, labels)


def _length(notes: Notes, match: Match, key: str, amount: Amount) -> None:
    """Tokens of a request; "up to 128k" are those of few, a mean above that of the use is a quarter of them."""
    way, bound = key.partition("put")[0], rule(r"<AT_MOST>")
    use = USES.get(notes.work.get("use", ""))
    start = next((at for at, one in notes.text.places() if one is amount), match.start)
    if use is None or not bound.search(notes.text.unblanked, max(0, start - 20), start):
        notes.set(f"w.{key}", amount.length, match, f"{tokens_text(amount.length)} {way}")
        return
    usual = use.input_tokens if way == "in" else use.output_tokens
    mean = round(min(max(usual, amount.length / _MOST_TAIL), amount.length))
    notes.set(f"w.{key}", mean, match, f"mean of {tokens_text(mean)} {way}")
    notes.work[f"{key}_p95"] = amount.length
    notes.text.assume(f"{match.words}: of 95 % of the requests, {grouped(mean)} tokens on average")


def _total(notes: Notes, match: Match, _: str) -> None:
    missing = [key for key in _LENGTHS if key not in notes.work]
    is_of_all = match.value.high > _MOST_OF_ONE
    if is_of_all and notes.work["task"] == "generation" and not notes.has_target and (period := notes.period()):
        rate = float(f"{match.value.high / parse(SECONDS, period[0]):.4g}")
        notes.text.record(period[1], f"within {period[0]}")
        _target(notes, match, "tokens_per_s", rate, f"{rate:g} output tokens a second")
    elif is_of_all:
        notes.ask_place(match, "so many tokens in which time? Write for example 1 billion tokens a day")
    elif missing:
        if len(missing) > 1:
            notes.text.assume(f"{match.words}: of what goes in")
        _length(notes, match, missing[0], match.value)


def _pages(notes: Notes, match: Match, _: str) -> None:
    """Texts of so many pages: the tokens of what goes in."""
    pages = match.value.high * match.value.per_s
    notes.text.assume(f"a page: {_TOKENS_OF_PAGE} tokens")
    notes.set("w.input_tokens", round(pages * _TOKENS_OF_PAGE), match, f"{pages:g} pages in")


def _lengths(notes: Notes, match: Match, _: str) -> None:
    """8k/1k: tokens in, then out."""
    first, second = (match.quantities() * 2)[:2]
    notes.work |= {"input_tokens": first.length, "output_tokens": second.length}
    notes.text.record(match, f"{tokens_text(first.length)} in and {tokens_text(second.length)} out")


def _latency(notes: Notes, match: Match, name: str) -> None:
    """A time to the first or to each later token; twenty tokens a second for each user are 50 ms a token."""
    key, amount = name.split()[0], match.quantities()[-1]
    if notes.work.get("use") == EMBEDDING:
        notes.ask_place(match, "embeddings are sized by their number in a time")
        return
    if amount.kind.startswith("tokens"):
        seconds = 1 / amount.high
    else:
        amount = match.quantities("time", "latency", "time/token", "latency/token")[-1]
        seconds = amount.low * amount.per_s * _SECONDS.get(amount.unit, 1.0)
    what = "to the first token" if key == "first_token_s" else "for each later token"
    written = f"{written_number(round(seconds * 1e3, 3))} ms"
    notes.set(f"w.{key}", written, match, f"at most {duration(seconds)} {what}")


def _active(notes: Notes, match: Match, _: str) -> None:
    """A share of the users: those who ask, read and ask again at the same time."""
    target, people = notes.work.get("target", {}), match.quantities("people")
    start = notes.text.span(match.start, match.end)[0]
    before = [amount.high for amount in notes.text.amounts if amount.kind == "people" and amount.end <= start]
    users = people[0].high if people else before[-1] if before else target.get("users")  # the nearest are meant
    is_bare = re.fullmatch(r"[\d., %]+|\w+ per ?cent", match.words) is not None
    if users is None or is_bare or (people and target) or {"concurrent_requests", "active_users"} & target.keys():
        return
    active = max(1, round(users * match.quantities("percent")[0].high / 100))
    notes.work.pop("target", None)
    notes.aim(match, "active_users", active, f"{grouped(active)} {GRAMMAR['called']['active_users']}")


def _engine(notes: Notes, match: Match, key: str) -> None:
    names = {name.casefold() for name in match.ids("software")}
    for stack in notes.catalog.stacks.values():
        if stack.serves_language and {stack.framework.casefold(), *map(str.casefold, stack.aliases)} & names:
            notes.set(f"w.{key}", stack.id, match, f"served by {stack.name}")
            return


def _adapters(notes: Notes, match: Match, key: str) -> None:
    """Adapters that requests choose among; one alone is merged into the weights of its base."""
    counts = match.quantities("n")
    number = round(counts[0].high) if counts else 1
    if number > 1:
        notes.set(f"w.{key}", number, match, f"{grouped(number)} adapters (LoRA) on one copy of the model")
    else:
        notes.text.record(match, "one adapter, merged into the weights of the model")


_TAKES = taken_by(_active, _adapters, _calls, _engine, _lengths, _pages, _people, _rate, _texts, _total, _users)
_TAKES |= {"token_s by speed": _latency, "requests_per_s": _rate, "tokens_per_s": _rate}


def ask_lengths(notes: Notes) -> None:
    """Ask for the lengths of requests that nobody waits for: what generates has no usual ones, and they decide."""
    work = notes.work
    is_by_rate = work["task"] == "generation" and not {"gpus_busy", "maximum"} & work["target"].keys()
    if is_by_rate and "use" not in work and not {*_LENGTHS} <= work.keys():
        missing = [GRAMMAR["usual_lengths"][key] for key in _LENGTHS if key not in work]
        notes.ask("length of requests", answers=[notes.answer(", ".join(some)) for some in zip(*missing, strict=True)])
