"""A need in a sentence or two, as in a customer's mail, read into a request and into what has to be asked."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sizer.base.errors import RequestError
from sizer.catalog.model import Catalog
from sizer.workload.request import SIZE_LIMITS, SizingRequest
from sizer.workload.resolve import usual_dataset
from sizer.workload.sentence.data import (
    read_capacity,
    read_checkpoints,
    read_host_memory,
    read_samples,
    read_sizes,
    read_source,
    read_storage_rates,
)
from sizer.workload.sentence.dates import need_in
from sizer.workload.sentence.equipment.fabrics import read_fabrics, settle_fabrics
from sizer.workload.sentence.equipment.gpus import qualify_gpus, read_gpu_memory, read_gpus
from sizer.workload.sentence.equipment.named import read_named, read_part_counts, read_storage_kind, read_tier
from sizer.workload.sentence.equipment.setting import read_setting
from sizer.workload.sentence.language import find_language, settle_language
from sizer.workload.sentence.limits import (
    MOST_THING,
    ask_exchange_rate,
    asks_for_most,
    leave_unit_prices,
    read_exchange_rate,
    read_limits,
    read_ranking,
)
from sizer.workload.sentence.missing import existing_gpus, network_answers, target_answers
from sizer.workload.sentence.names import DATASET, DNN, Mention, measurements, names_of, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT, AmbiguousNumberError, value_of
from sizer.workload.sentence.own_model import find_own_model, leave_own_model
from sizer.workload.sentence.ownership import OwnershipPhrase, ownership_phrases, token_cost_phrases
from sizer.workload.sentence.reading import Answer, Question, Reading
from sizer.workload.sentence.software import read_batch, read_precision, read_software
from sizer.workload.sentence.targets import (
    SAMPLES,
    ask_tokens,
    default_length,
    leave_sizes_of_samples,
    read_epochs,
    read_habits,
    read_own_targets,
    read_rate,
    read_time,
    read_times,
)
from sizer.workload.sentence.team import read_growth, read_losses, read_team
from sizer.workload.sentence.text import UnreadText, normal
from sizer.workload.sentence.transformer.mixture import read_mixture
from sizer.workload.sentence.transformer.typos import ask_misspelt
from sizer.workload.sentence.unavailable import is_sized, read_outside
from sizer.workload.sentence.unread import unread_words
from sizer.workload.table import DEFAULT_DATASET

MAX_CHARACTERS = 2_000
EXAMPLE = "Train ResNet-50 on 22 TB of images of 113 kB at 40,000 images/s on DGX-1 with F800"

# Questions in the order in which they are asked.
_ORDER = (
    "number",
    "refused",
    "unavailable",
    "server",
    "task",
    "network",
    "layout",
    "target",
    "limit",
    "currency",
    "length",
)
_AMBIGUOUS = re.compile(r"(?<![\w.,])[1-9]\d{0,2}\.\d{3}(?![\d.,]*\d)")
_UNIT_AFTER = re.compile(r" ?[^\s,;.!?()]+")
_CONFIDENCE = re.compile(
    r"\b(\d{1,3}(?:[.,]\d{1,3})?) ?(?:%|per ?cent) (?:sure|certain|certainty|confiden\w+|chance|probab\w+)", re.I
)
_INFERENCE = re.compile(
    r"\b(?:batch |offline )?(?:validat\w+|inferenc\w+|inferring|replay\w*"
    r"|scoring|predictions?)(?: (?:on|of|over) (?:a|the|our|their|new|recorded) (?:test"
    r"|validation|hold-?out) (?:set|data)(?:set)?)?\b(?! (?:loss|accuracy))",
    re.I,
)
# "Classify 100 million images": only where samples are counted; a network that classifies may be trained.
_CLASSIFY = re.compile(
    rf"\b(?:classif(?:y|ying)|infer|score|label|annotate|analy[sz]e|tag|predict|translate"
    rf"|embed(?:dings? (?:of|for|from))?)(?= (?:about |all |our |some )*{COUNT}"
    rf" (?:\w+ )?{SAMPLES}\b)",
    re.I,
)
_BILLIONS = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d)?) ?(?:B|billion)\b(?: parameters?\b)?", re.I)
_JOINED = re.compile(r" (?:and|&|plus) (?:the )?$", re.I)
_JOINED_AFTER = re.compile(r" (?:and|&|plus) ", re.I)
_TEST_SET = re.compile(r"\b(?:test|validation|hold-?out)[ -](?:set|data)\b", re.I)
_TRAINING = re.compile(r"\b(?:re-?|pre[ -]?)?train(?:s|ing|ings|ed)?\b", re.I)
_DOES_TRAIN = re.compile(r"\b(?:re-?|pre[ -]?)?train(?:s|ing)?\b(?! set| data)", re.I)
_HOW_LONG = re.compile(
    r"\b(?:how (?:long|many (?:days|hours|weeks|months))|what (?:training )?time|when)"
    r"(?: (?:will|would|does|do|is|can|could|should))?\b(?: (?:it|that|this|we|the training|training))?"
    r"(?: (?:take|last|need|finish\w*|be (?:done|finished)))?",
    re.I,
)
# What only the language models of a sentence with several networks have.
_OF_LANGUAGE = frozenset(
    ("tokens", "sequence_tokens", "batch_sequences", "method", "document_tokens", "packing", "layout")
)
# And what only the others have beside one.
_OF_SAMPLES = frozenset(("dataset", "sample_bytes", "dataset_bytes", "sample_format"))
# Samples of data sets that language models read, too.
_TEXT = ("sequence", "sentence pair")
_LISTED = re.compile(r",? ?(?:and|&|plus|,) ?", re.I)


def read_sentence(sentence: str, catalog: Catalog) -> Reading:
    """Read a need. No text is an error: what is missing or has two readings becomes a question.

    Parameters
    ----------
    sentence : str
        English, as people write: 22.2 TB, 12 h, 40k images/s, 16 V100, as cheap as possible.
    catalog : Catalog
        Whose networks, data sets, GPUs, servers, storage and vendors are known by name.
    """
    if len(sentence) > MAX_CHARACTERS:
        reason = f"has {len(sentence):,} characters; write at most {MAX_CHARACTERS:,}"
        return Reading("", {}, (), Question("refused", reason=reason), ())
    text = UnreadText(normal(sentence))
    notes = Notes(text, catalog, [])
    _read(notes)
    if notes.refused_kind is not None:  # what else the sentence says belongs to work that no request can state
        return Reading(text.sentence, {}, (), notes.refused_kind, ())
    request = _request(notes)
    questions = sorted(notes.questions, key=lambda question: _ORDER.index(question.about))
    phrases = sorted(text.phrases, key=lambda phrase: (not phrase.words, phrase.start))
    return Reading(text.sentence, request, tuple(phrases), questions[0] if questions else None, unread_words(notes))


def _read(notes: Notes) -> None:
    """Read the parts of the sentence, from the most telling to the others."""
    text = notes.text
    if need := need_in(text.left):
        notes.request["needed_by"] = need.day.isoformat()
        text.record(need.match, f"needed by {need.day}")
    _ambiguous_numbers(notes)
    _confidence(notes)
    read_exchange_rate(notes)
    leave_sizes_of_samples(notes)
    read_losses(notes)
    read_source(notes)
    read_fabrics(notes)
    read_storage_rates(notes)
    read_capacity(notes)
    read_tier(notes)
    read_checkpoints(notes)
    _ownership(notes, token_cost_phrases(text.find))
    leave_unit_prices(notes, of_tokens=True)
    language = find_language(notes)
    ask_misspelt(notes)
    read_mixture(notes)
    find_own_model(notes)
    notes.means_language |= language.means_language or notes.own_model is not None
    notes.mentions = names_of(notes.catalog).mark(text)
    qualify_gpus(notes)
    read_setting(notes)
    read_outside(notes)
    _networks(notes)
    if not is_sized(notes):
        return
    settle_language(notes, language)
    read_growth(notes)
    _ownership(notes, ownership_phrases(text.find))
    leave_unit_prices(notes, of_tokens=False)
    read_team(notes)
    most = asks_for_most(text)
    read_limits(notes, with_servers=most is not None)
    read_ranking(notes)
    _task(notes)
    read_gpu_memory(notes)
    read_host_memory(notes)
    read_own_targets(notes)
    read_rate(notes)
    read_times(notes)
    read_epochs(notes)
    read_sizes(notes)
    samples = read_samples(notes)
    read_time(notes)
    read_habits(notes, samples)
    has_target = "target" in notes.work
    read_part_counts(notes, has_target)
    read_gpus(notes, has_target)
    read_precision(notes)
    read_software(notes)  # with its vendor, who is not preferred for that
    read_named(notes)
    read_storage_kind(notes)
    read_limits(notes, with_servers="target" in notes.work)
    _existing_busy(notes)
    settle_fabrics(notes)
    read_batch(notes)
    _most(notes)
    ask_exchange_rate(notes)


def _ambiguous_numbers(notes: Notes) -> None:
    for match in list(_AMBIGUOUS.finditer(notes.text.left)):
        try:
            value_of(match[0])
        except AmbiguousNumberError as error:
            after = _UNIT_AFTER.match(notes.text.left, match.end())
            unit = after[0] if after else ""
            answers = tuple(
                Answer(f"{float(number):,.12g}{unit}", notes.replaced(match.start(), match.end(), number))
                for number in error.readings
            )
            notes.ask(Question("number", match[0] + unit, answers=answers))
            notes.text.mark(match.start(), match.end() + len(unit))


def _confidence(notes: Notes) -> None:
    if match := notes.text.find(_CONFIDENCE):
        notes.request["confidence"] = float(match[1].replace(",", ".")) / 100
        notes.text.record(match, f"confidence {match[1]} %")


def _ownership(notes: Notes, phrases: Iterable[OwnershipPhrase]) -> None:
    """Years, electricity, PUE, cost of tokens and ranking of the cost of ownership."""
    for phrase in phrases:
        notes.state_currency(phrase.currency, phrase.match[0].strip())
        table: dict[str, Any] = notes.request
        for key in phrase.path[:-1]:
            table = table.setdefault(key, {})
        if isinstance(phrase.value, dict):
            table.setdefault(phrase.path[-1], phrase.value)
        else:
            table[phrase.path[-1]] = phrase.value
        notes.text.record(phrase.match, phrase.meaning)
    if notes.request.get("rank_by") == "ownership":
        notes.request.setdefault("ownership", {})


def _networks(notes: Notes) -> None:
    """Networks and data sets by name; a name of several networks is asked for."""
    catalog = notes.catalog
    named = [one for one in notes.mentions if one.kind == DNN]
    notes.dnns = list(dict.fromkeys(one.ids[0] for one in named if len(one.ids) == 1))
    if notes.dnns and notes.own_model is not None:
        leave_own_model(notes)
    families = [one for one in named if len(one.ids) > 1]
    if notes.dnns:
        # Of a family with a named member nothing is open; any other is a second network.
        families = [one for one in families if not set(one.ids) & set(notes.dnns)]
    for one in named:
        names = ", ".join(catalog.dnns[key].name for key in one.ids) if len(one.ids) == 1 else "kind of network"
        notes.text.record_words(one.start, one.end, names)
    if families and (notes.dnns or notes.own_model is None):
        # Names side by side are one: "13B Llama".
        run = families[:1]
        for one in families[1:]:
            if notes.text.sentence[run[-1].end : one.start].strip(" -"):
                break
            run.append(one)
        start, end = run[0].start, run[-1].end
        keys = _in_all(families) or _in_all(run) or list(run[0].ids)
        measured = measurements(catalog)
        keys.sort(key=lambda key: -measured[key])
        answers = tuple(_network_answer(notes, key, start, end) for key in keys)
        words = notes.text.sentence[start:end]
        if _BILLIONS.fullmatch(words):
            answers += (Answer(f"usual dense {words} model", notes.replaced(start, end, f"{words} dense")),)
        notes.ask(Question("network", words, answers=answers))
    for key in notes.dnns:
        if (size := notes.text.find(_BILLIONS)) and abs(
            float(size[1]) * 1e9 / catalog.dnns[key].parameters.value - 1
        ) < 0.1:
            notes.text.record(size, f"size of {short_name(catalog.dnns[key])}")
    for one in notes.mentions:
        if one.kind == DATASET and _take_dataset(notes, one, [each for each in named if len(each.ids) == 1]):
            notes.text.record_words(one.start, one.end, f"data set {catalog.datasets[one.ids[0]].name}")


def _take_dataset(notes: Notes, named: Mention, networks: Sequence[Mention]) -> bool:
    """Give a data set to the nearest networks that it can feed: those listed before it, else the first after it."""
    if not networks:
        return bool(notes.work.setdefault("dataset", named.ids[0]) == named.ids[0])
    sample, dnns = notes.catalog.datasets[named.ids[0]].sample, notes.catalog.dnns
    fed = [one for one in networks if dnns[one.ids[0]].sample in (sample, *(["token"] if sample in _TEXT else []))]
    fed = [one for one in fed if one.ids[0] not in notes.own_datasets]
    before = [one for one in fed if one.start < named.start]
    nearest = before[-1:] or fed[:1]
    for one in reversed(before[:-1]):
        if not _LISTED.fullmatch(notes.text.sentence[one.end : nearest[0].start]):
            break
        nearest.insert(0, one)
    notes.own_datasets.update({one.ids[0]: named.ids[0] for one in nearest})
    return bool(nearest)


def _in_all(families: Sequence[Mention]) -> list[str]:
    """Networks that every one of some names may mean."""
    return [key for key in families[0].ids if all(key in one.ids for one in families)]


def _network_answer(notes: Notes, key: str, start: int, end: int) -> Answer:
    name = short_name(notes.catalog.dnns[key])
    return Answer(name, notes.replaced(start, end, name))


def _task(notes: Notes) -> None:
    trains = notes.text.find(_DOES_TRAIN)
    match = notes.text.find(_INFERENCE) or (None if trains else notes.text.find(_CLASSIFY))
    if match and trains:
        joined = _JOINED.search(notes.text.sentence[: match.start()])  # "training and inference of": without the "and"
        start = joined.start() + 1 if joined else match.start()
        after = _JOINED_AFTER.match(notes.text.sentence, trains.end())
        end = after.end() if after else trains.end()
        answers = (
            Answer("Training", notes.replaced(start, match.end() + bool(joined), "")),
            Answer("Batch inference on a test set", notes.replaced(trains.start(), end, "")),
        )
        notes.ask(Question("task", f"{trains[0]}, {match[0]}", answers=answers))
        notes.text.mark(match.start(), match.end())
    elif match:
        notes.work["task"] = "validation-inference"
        notes.text.record(match, "batch inference on a test set")
        if test_set := notes.text.find(_TEST_SET):
            notes.text.record(test_set, "test set")
    while trains := notes.text.find(_TRAINING):
        notes.text.record(trains, "training")


def _most(notes: Notes) -> None:
    """The highest rate within the limits, where no target is given."""
    match = asks_for_most(notes.text)
    if match is None or "target" in notes.work:
        return
    if not set(SIZE_LIMITS) & notes.request.get("limits", {}).keys():
        answers = tuple(
            notes.answer(words) for words in ("500,000 USD", "1 million USD", "50 kW", "2 racks", "8 servers")
        )
        notes.ask(Question("limit", match[0], answers=answers))
        notes.text.record(match, "the highest rate within limits")
        return
    notes.work["target"] = {"maximum": "rate"}
    notes.text.record(match, "the highest rate within the limits")
    if thing := notes.text.find(MOST_THING):
        notes.text.record(thing, "the highest rate within the limits")


def _existing_busy(notes: Notes) -> None:
    """How long a training takes on what the customer has: all of these GPUs are the target where none is given."""
    servers = notes.request.get("existing", {}).get("servers", {})
    how_long = notes.text.find(_HOW_LONG)
    if how_long is None or not servers or "target" in notes.work:
        return
    n_gpus = existing_gpus(notes)
    notes.work["target"] = {"gpus_busy": n_gpus}
    notes.table("platforms").setdefault("servers", list(servers))
    notes.text.record(how_long, f"time to train on the {n_gpus} existing GPUs")


def _request(notes: Notes) -> dict[str, Any]:
    """The request as a file would have it; what is missing is asked."""
    catalog, works = notes.catalog, []
    asked = {question.about for question in notes.questions}
    if not notes.dnns and notes.own_model is None and not {"network", "unavailable"} & asked:
        notes.ask(Question("network", answers=network_answers(notes)))
    trainings = [(place, training) for place, training in enumerate(notes.trainings) if training["dnn"] is not None]
    own = notes.own_targets
    has_targets = "target" in notes.work or (own and all(key in own for key in (() if trainings else notes.dnns)))
    if not has_targets and not {"limit", "number"} & asked:
        notes.ask(Question("target", answers=target_answers(notes)))
    for place, training in trainings:
        work = {**training, **_data_of(notes, training["dnn"]), **_own_target(notes, place)}
        default_length(notes, work)
        works.append(work)
    for dnn in notes.dnns:
        if any(training["dnn"] == dnn for _, training in trainings):
            continue
        work = {"dnn": dnn, **_data_of(notes, dnn)}
        work |= _own_target(notes, dnn)
        _default_dataset(notes, work)
        default_length(notes, work)
        kind = "validation" if "task" in work else "training"
        works.append({"name": f"{short_name(catalog.dnns[dnn])} {kind}", **work})
    if notes.own_model is not None and all(training["dnn"] != notes.own_model for _, training in trainings):
        work = {"dnn": notes.own_model, **notes.work}
        if "time_to_train_s" in work.get("target", {}) and "tokens" not in work:
            ask_tokens(notes, notes.own_model["name"])
        works.append({"name": f"{notes.own_model['name']} training", **work})
    if not works and notes.work:
        works = [{"name": "training", **notes.work}]
    title = " and ".join(work["name"] for work in works) or "Deep-learning cluster"
    request = {"title": title[:120], **({"workload": works} if works else {}), **notes.request}
    if not notes.questions:
        try:
            SizingRequest.from_dict(request, "sentence")  # a count may be out of range, or two values contradict
        except RequestError as error:
            notes.refuse("", "; ".join(line.removeprefix("sentence: ") for line in str(error).splitlines()))
    return request


def _data_of(notes: Notes, dnn: Any) -> dict[str, Any]:
    """What the sentence says of the work of a network, without what only networks of another kind have."""
    if not isinstance(dnn, str):
        return notes.work
    is_language = {key: notes.catalog.dnns[key].transformer is not None for key in (dnn, *notes.dnns)}
    others = _OF_LANGUAGE if not is_language[dnn] else frozenset() if all(is_language.values()) else _OF_SAMPLES
    own = {"dataset": notes.own_datasets[dnn]} if dnn in notes.own_datasets else {}
    return {**own, **{key: value for key, value in notes.work.items() if key not in others}}


def _own_target(notes: Notes, key: str | int) -> dict[str, Any]:
    return {"target": notes.own_targets[key]} if key in notes.own_targets else {}


def _default_dataset(notes: Notes, work: dict[str, Any]) -> None:
    usual = usual_dataset(notes.catalog.dnns[work["dnn"]])
    if "dataset" not in work and usual != DEFAULT_DATASET:
        work["dataset"] = usual
        notes.text.default(f"data set not given: {notes.catalog.datasets[usual].name}")
