"""What a sentence says about the target: a rate, a time to train, the most within limits; and the training length."""

import math
import re
from dataclasses import replace
from typing import Any

from sizer.base.quantities import BYTES, SECONDS, duration, grouped, parse, si, tokens_text
from sizer.catalog.sale import newer_eras, usable_gpus
from sizer.workload.kinds import trains_in
from sizer.workload.language import TOKEN_BYTES
from sizer.workload.request import SIZE_LIMITS
from sizer.workload.resolve import usual_dataset
from sizer.workload.sentence.equipment import eras_meant, existing_gpus
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.names import place_of, short_name
from sizer.workload.sentence.notes import LEAST_PERIOD_S, RATE, TIME, Notes, period_in, ranged, time_text
from sizer.workload.sentence.quantities import Amount, written_number
from sizer.workload.sentence.rules import read_rules
from sizer.workload.sentence.scope import DENIED
from sizer.workload.sentence.serving import is_served
from sizer.workload.sentence.text import Name
from sizer.workload.serving import EMBEDDING, EMBEDS
from sizer.workload.table import DEFAULT_DATASET
from sizer.workload.transformer.custom_transformer import CustomTransformer

_LONGEST_S = 5 * 31_557_600.0
# Of a model that reaches the least loss for its work (Hoffmann et al. 2022, arXiv:2203.15556, table 3).
_TOKENS_PER_PARAMETER = 20
_MOST_RUNS_A_DAY = 1_000  # more are no trainings
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
        read_rules(notes, "inference")
    read_rules(notes, "training")


def read_rate(notes: Notes) -> None:
    """A rate in samples a second, minute, hour or day, of the first network."""
    for found in notes.text.each(r"{samples/time|frames/time}|{n/time}"):
        quantity = found.value
        if not 1e-6 <= quantity.high <= 1e12 or (quantity.kind == "n/time" and quantity.per_s != 1):
            continue
        if rule(r"<RATE_AT_MOST>").search(notes.text.before(found.start)):
            continue  # a request has a least rate
        if "task" not in notes.work and quantity.per_s >= LEAST_PERIOD_S and rule("<EACH_TIME>").search(found.words):
            low, high = (one * quantity.per_s for one in (quantity.low, quantity.high))  # trained on more than once
            notes.text.put_at(found, replace(quantity, kind="samples", low=low, high=high))
            notes.work["target"] = {TIME: time_text(quantity.per_s / 86_400, "d")}
            return
        per_s = float(f"{quantity.high:.4g}") if quantity.per_s >= 3600 else quantity.high
        unit = quantity.unit or "samples"
        if unit == "samples" and notes.networks and notes.networks[0].sample == "image":
            unit = "images"
        shown = grouped(per_s) if per_s >= 1000 else f"{per_s:g}"
        notes.text.record(found, f"minimum rate {shown} {unit}/s{ranged(quantity)}")
        notes.work["target"] = {RATE: f"{written_number(round(per_s, 2 if per_s >= 1 else 6))} {unit}/s"}
        return


def read_time(notes: Notes) -> None:
    """A time to train; of a range the shorter, which meets both."""
    for found in notes.text.each(r"<ASKS_TOKENS>"):
        notes.text.record(found, "tokens that the given GPUs read")
        for time in notes.text.each(r"<TIME>"):
            notes.leave(time)
    for found in [*notes.text.each(r"<TIME_LIMIT>"), *notes.text.each(r"<TIME>")]:
        written = time_text(found.value.low, found.value.unit)
        try:
            if parse(SECONDS, written) > _LONGEST_S:
                notes.ask_place(found, "no training takes so long")
                continue
        except ValueError as error:
            notes.refuse(found, str(error))
            continue
        notes.text.record(found, f"maximum time to train {written}{ranged(found.value, 'shorter')}")
        notes.work["target"] = {TIME: written}
        return


def read_targets(notes: Notes) -> None:
    """A rate, the epochs, and how often it runs."""
    if not notes.has_target:
        read_rate(notes)
    _read_runs(notes)
    for found in notes.text.each(r"<EPOCH_IN>"):
        time = next((one for one in found.quantities() if one.kind.startswith("time")), None)
        epochs = found.quantities("epochs/time")
        if notes.has_target or not (time or epochs):
            continue
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
    for found in [*([named] if named is not None and is_named else []), *notes.text.each(r"<RUNS_OF>")]:
        quantity, every = found.value, (found.match.groupdict().get("span") or "").split()[-1:]
        period = _SPANS[every[0]] if every else quantity.per_s
        if "team" in notes.request and quantity.kind == "n/time":
            continue
        if quantity.kind == "n/time" and quantity.high * 86_400 > _MOST_RUNS_A_DAY:
            continue
        runs, is_settled = round(quantity.high * quantity.per_s, 6), notes.has_target or "task" in notes.work
        if not every and "/time" not in quantity.kind:
            each = notes.text.find(r"<EACH_LASTS>")
            if runs == 1:
                notes.text.record(found, "one run")
            if runs < 2 or is_settled or "team" in notes.request or (quantity.noun.startswith("job") and not each):
                continue
            if each:
                notes.text.record(each, "of each of them")
            if (within := period_in(notes.text)) is None:
                continue
            period = parse(SECONDS, within[0])
            notes.text.record(within[1], f"all {runs:g} runs within {duration(period)}")
            if each:  # GPUs enough for all of them
                length, on = each.quantities("time", "time/job")[0], each.quantities("n", "gpus")
                work_s, n_gpus = (
                    runs * parse(SECONDS, time_text(length.high, length.unit)),
                    round(on[0].high) if on else 1,
                )
                n_gpus *= math.ceil(round(work_s / period, 6))
                notes.work["target"] = {"gpus_busy": n_gpus}
                notes.text.record(found, f"{n_gpus} GPUs, which run them one after the other")
                continue
            notes.text.assume(f"{found.words}: one after the other, each within its share of {duration(period)}")
        elif is_settled or runs < 1 or period not in _SPANS.values() or notes.text.find(r"<TIME>"):
            if period > 604_800:
                notes.leave(found)
            notes.text.record(found, "how often it runs")
            continue
        of, unit = (3600 * runs, "h") if period < 86_400 * runs else (86_400 * runs, "d")
        written = f"{written_number(float(f'{period / of:.4g}'))} {unit}"
        notes.work["target"] = {TIME: written}
        notes.text.record(found, f"maximum time to train {written}")


def read_times(notes: Notes) -> None:
    """A time to train, overnight or every day; of inference on a known number of samples a rate."""
    if not notes.has_target:
        read_time(notes)
    dataset, target = notes.work.get("dataset"), notes.work.get("target", {})
    counted = dataset if isinstance(dataset, dict) and "task" in notes.work else None
    if "task" in notes.work and counted is None and "dataset_bytes" in notes.work and notes.networks:
        usual = notes.catalog.datasets[usual_dataset(notes.networks[0])]
        if "sample_bytes" not in notes.work:
            notes.text.assume(f"size of a sample not given: {si(usual.sample_bytes.value, 'B')}, as in {usual.name}")
        size = parse(BYTES, notes.work.get("sample_bytes", f"{usual.sample_bytes.value} B"))
        counted = {"n_samples": parse(BYTES, notes.work["dataset_bytes"]) / size}
    if counted and TIME in target:
        notes.work["target"] = _rate_of(notes, counted["n_samples"], target[TIME])
    for written, source in GRAMMAR["habits"].items():
        for found in notes.text.each(source):
            meaning = "how often or when it runs"
            if not notes.has_target and ("task" not in notes.work or counted):
                notes.work["target"] = _rate_of(notes, counted["n_samples"], written) if counted else {TIME: written}
                meaning = f"all samples within {written}" if counted else f"maximum time to train {written}"
            notes.text.record(found, meaning)


def read_measured(notes: Notes) -> None:
    """A rate that the customer measured narrows what is predicted, where it names one kind of GPU."""
    if not notes.text.measured:
        return
    rate, *on = notes.text.measured
    gpus = [one for one in on if isinstance(one, Name)] or notes.names("gpu")
    ids = list(dict.fromkeys(key for one in gpus for key in one.ids if key in usable_gpus(notes.catalog)))
    if len(ids) == 1 and isinstance(rate, Amount) and (notes.dnns or notes.own_model):
        noun = "samples" if rate.kind.startswith("tokens") else rate.unit
        count = next((round(one.high) for one in on if isinstance(one, Amount)), 1)
        written = f"{written_number(rate.high)} {noun}/s"
        notes.work["measured"] = [{"samples_per_s": written, "gpu": ids[0], "gpus": count}]
    else:
        notes.text.assume(
            f"the rate that was measured is not used: it needs one kind of GPU by its full name, not {ids}"
        )


def _rate_of(notes: Notes, n_samples: float, written: str) -> dict[str, Any]:
    """The rate that passes a number of samples within a time."""
    unit = "images" if notes.networks and notes.networks[0].sample == "image" else "samples"
    return {RATE: f"{written_number(float(f'{n_samples / parse(SECONDS, written):.4g}'))} {unit}/s"}


def read_most(notes: Notes) -> None:
    """The highest rate within the limits, where no target is given; or the time that owned GPUs take."""
    found = notes.text.find(r"<MOST>")
    if found is not None and not notes.has_target:
        limits = notes.request.get("limits", {})
        if not set(SIZE_LIMITS) & limits.keys() and "gpus" in limits:
            notes.work["target"] = {"gpus_busy": limits["gpus"]}
            notes.text.record(found, f"the highest rate of {limits['gpus']} GPUs")
            return
        if not set(SIZE_LIMITS) & limits.keys():
            notes.ask("limit", found, answers=tuple(map(notes.answer, GRAMMAR["usual_limits"])))
            notes.text.record(found, "the highest rate within limits")
            return
        notes.work["target"] = {"maximum": "rate"}
        notes.text.record(found, "the highest rate within the limits")
        if thing := notes.text.find(r"(?<=\x00 )<MOST_THING>"):
            notes.text.record(thing, "the highest rate within the limits")
    servers = notes.request.get("existing", {}).get("servers", {})
    how_long = notes.text.find(r"<HOW_LONG>")
    n_gpus = existing_gpus(notes) or notes.request.get("limits", {}).get("gpus")
    if how_long is not None and n_gpus and not notes.has_target:
        notes.work["target"] = {"gpus_busy": n_gpus}
        if servers:
            notes.table("platforms").setdefault("servers", list(servers))
        notes.text.record(how_long, f"time to train on {n_gpus} GPUs")


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
        found = re.search(rf"\b(?:{words})\b", sentence, re.I) if words else None
        return found.start() if found else -1

    offered = [one for one in GRAMMAR["purposes"]["offered"] if one[2] or not trains_in(sentence)]
    kinds = [kind for kind, words in GRAMMAR["sample_names"].items() if place(words) >= 0]
    told = sorted((one for one in offered if place(one[1]) >= 0), key=lambda one: place(one[1]))
    read = [one for one in told or offered if one[2] in kinds]
    if told:
        told = list({place(one[1]): one for one in reversed(read or told)}.values())[::-1]
    return told or read or offered, bool(read or told)


def record_purpose(notes: Notes) -> None:
    """Take the words as read that tell what the networks are for."""
    sized = {one for item in notes.networks for one in (item.family, item.kind, item.id, short_name(item)) if one}
    for _, words, _, usual, networks in GRAMMAR["purposes"]["offered"]:
        if words and sized & {usual, *networks}:
            for found in notes.text.each(rf"\b(?:{words})\b"):
                notes.text.record(found, "what the network is for")


def ask_target(notes: Notes) -> None:
    """Offer targets that suit what the sentence says: of a team, of training, of a language model."""
    if is_served(notes):
        usual = GRAMMAR["usual_targets"][notes.work["task"]]
        notes.ask("target", answers=tuple(map(notes.answer, usual)))
        return
    people = notes.request.get("team", {}).get("data_scientists")
    sample = notes.networks[0].sample if notes.dnns else "token" if notes.means_language else ""
    own = existing_gpus(notes)
    named = [notes.catalog.servers[key].n_gpus for key in notes.request.get("platforms", {}).get("servers", ())]
    least = min((round(n_gpus.value) for n_gpus in named if n_gpus is not None), default=8)
    counts = (least, 4 * least) if least > 8 else (8, 32)
    times = ["in a day", "overnight"]
    if sample == "token":
        usual = GRAMMAR["usual_targets"].get(str(notes.work.get("method")), "1 trillion tokens in 30 days")
        times = ["in a week", "in 30 days"] if "tokens" in notes.work else [usual]
    has_limit = bool(set(SIZE_LIMITS) & notes.request.get("limits", {}).keys())
    counted = [] if people in (8, 32) else [f"{count} GPUs" for count in counts if count != own]
    times = times if "task" not in notes.work else []
    asks = rule(r"<HOW_MANY>").search(notes.text.sentence)  # who asks how many is not told how many
    texts = [
        *([f"{own} GPUs"] if own else []),
        *([f"{people} GPUs"] if people and people != own else []),
        *(times + counted if asks and sample in ("", "image", "sample") else counted + times),
        *([GRAMMAR["usual_targets"].get(sample, "1,000 samples/s")] if sample else []),
        *(["as fast as possible"] if has_limit and not people else []),
    ]
    notes.ask("target", answers=tuple(notes.answer(text) for text in texts))


def default_dataset(notes: Notes, work: dict[str, Any]) -> None:
    """The usual data set of a network where the sentence names none."""
    usual = usual_dataset(notes.catalog.dnns[work["dnn"]])
    if "dataset" not in work and usual != DEFAULT_DATASET:
        work["dataset"] = usual
        notes.text.assume(f"data set not given: {notes.catalog.datasets[usual].name}")


def default_length(notes: Notes, work: dict[str, Any]) -> None:
    """A time to train needs the training length: the network's usual recipe, or a question.

    Who asks how long a training takes on given GPUs gets the recipe, too, where there is one. More tokens than a stated
    text has are epochs of it.
    """
    tokens = work.get("tokens", 0.0)
    text = parse(BYTES, work["dataset_bytes"]) / TOKEN_BYTES if tokens and "dataset_bytes" in work else tokens
    if text < tokens and "epochs" not in work:
        work |= {"tokens": text, "epochs": float(f"{tokens / text:.4g}")}
        notes.text.assume(f"{work['dataset_bytes']} hold {tokens_text(text)}: {work['epochs']:g} epochs")
    has_time = "time_to_train_s" in work.get("target", {})
    if "task" in work or "epochs" in work or not (has_time or rule(r"<ASKS_LENGTH>").search(notes.text.sentence)):
        return
    catalog, dnn = notes.catalog, work["dnn"]
    if isinstance(dnn, str):
        is_newer = bool(eras_meant(notes) & newer_eras(catalog))
        every = [one for one in catalog.recipes.values() if one.dnn == dnn]
        recipes = [one for one in every if is_newer or not one.mlperf]
        for found in notes.text.each(r"\bv\d\.\d(?!\w)"):
            if told := [one for one in every if one.id.endswith(found.words.lower())]:
                recipes = told
                notes.text.record(found, f"rules of {told[0].name}")
        if recipes:
            # The common schedule of fixed length where there is one, else the newest rules of a benchmark.
            recipe = max(recipes, key=lambda one: ("epochs" in one.id, one.id))
            work["recipe"] = recipe.id
            start = ", from its checkpoint" if recipe.starts_from_checkpoint else ""
            notes.text.assume(f"training length not given: {recipe.name}{start}")
            if recipe.starts_from_checkpoint and (scratch := notes.text.find(r"\bfrom scratch\b")):
                notes.leave(scratch)
            return
    if not has_time:
        return
    called = catalog.dnns[dnn].name if isinstance(dnn, str) else str(dnn["name"])
    item = catalog.dnns.get(str(dnn))
    if dnn != notes.own_model and (item is None or item.transformer is None):
        is_usual = item is None or (item.sample in ("image", "sample") and "diffusion" not in (item.kind, item.family))
        key = "length" if is_usual else "length needed"
        notes.ask(key, reason=called, answers=map(notes.answer, GRAMMAR["usual_lengths"]["epochs"]))
    elif "tokens" not in work and work.get("method") in ("fine-tuning", "lora"):
        notes.ask("length needed", reason=called, answers=map(notes.answer, GRAMMAR["usual_lengths"]["tuning"]))
    elif "tokens" not in work:
        size = item.parameters.value if item else CustomTransformer.model_validate(dnn).total_parameters
        stated = work.get("dataset_bytes")  # of text, which a token number of 32 bits stands for
        usual = tokens_text(parse(BYTES, stated) / TOKEN_BYTES if stated else _TOKENS_PER_PARAMETER * size)
        notes.ask("length", reason=called, answers=map(notes.answer, (usual, *GRAMMAR["usual_lengths"]["tokens"])))
