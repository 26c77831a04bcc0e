"""What a sentence says about the target: a rate, a time to train, or the most within"
" limits; and the training length."""

import re
from itertools import pairwise
from typing import Any

from sizer.base.quantities import SECONDS, grouped, parse
from sizer.base.units import DAY_S, HOUR_S
from sizer.catalog.generations import newer_eras
from sizer.catalog.schema import Recipe
from sizer.workload.sentence.equipment.named import eras_meant
from sizer.workload.sentence.names import DNN
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT, ends, quantity, value_of, written_number
from sizer.workload.sentence.reading import Question
from sizer.workload.sentence.text import READ

SAMPLES = (
    r"(?:images?|imgs?|pictures?|pics?|photos?|photographs?|samples?|files?|sentences?"
    r"|sentence pairs?|sequences?|records?|frames?|"
    r"scans?|bild(?:er)?n?|volumes?|slides?|tiles?|patches|x-rays?|examples?|items?|fps)"
)
_PERIODS = {"s": 1.0, "min": 60.0, "h": HOUR_S, "d": DAY_S}
_PER = r" ?(?:/|per|a|an|each|every) ?"
_PERIOD = r"(?P<period>s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|d|days?)\b"
_RATE = re.compile(
    quantity(
        rf" ?[kM]? ?(?P<noun>{SAMPLES}){_PER}{_PERIOD}", between=rf"(?: ?[kM]? ?{SAMPLES}(?:{_PER}(?:s|sec|second))?)"
    ),
    re.I,
)
_RATE_SHORT = re.compile(quantity(r" ?(?P<noun>fps|ips|img/s)\b(?P<period>)", between=r"(?: ?(?:fps|ips))"), re.I)
_RATE_BARE = re.compile(quantity(r"(?P<noun>)(?: ?/ ?| per )(?P<period>s|sec|second)\b"), re.I)
_UNITS = r"(?P<unit>h|hrs?|hours?|mins?|minutes?|days?|d|weeks?|wks?|fortnights?|months?)"
TIME = quantity(rf"[ -]?{_UNITS}\b", between=r"(?:[ -]?(?:h|hrs?|hours?|mins?|minutes?|days?|d|weeks?))")
# "Tokens per day" are a rate, and no time.
_NO_RATE = "".join(f"(?<!{noun} )" for noun in ("token", "tokens", "images", "samples", "sequences", "sentences"))
_TIME = re.compile(
    rf"{_NO_RATE}(?:\b(?:in|within|under|less than|no more than|at most|takes?|max(?:imum)?|over|for)"
    rf" (?:about |under |less than |the space of )?)?{TIME}",
    re.I,
)
_SOME_TIMES = {
    "12 h": re.compile(
        r"\b(?:over ?night|over-night|(?:every|each|per|in a|in one|a) night|nightly|by (?:the"
        r" )?(?:next |tomorrow )?morning)\b",
        re.I,
    ),
    "1 d": re.compile(rf"\b(?:{_NO_RATE}(?:every|each|per) day|daily|within the day|same day|once a day)\b", re.I),
    "2 d": re.compile(r"\b(?:over (?:the|a) weekend|(?:in|within) a weekend)\b", re.I),
    "1 weeks": re.compile(rf"\b(?:{_NO_RATE}(?:every|each|per) week|weekly|once a week)\b", re.I),
}
# "5 times a day": each time takes at most its share of the day.
_TIMES = re.compile(
    rf"\b(?:(?P<number>{COUNT}) ?(?:times|x|runs)|(?P<twice>twice)) (?:a|per|each|every) (?P<unit>day|night|week)\b",
    re.I,
)
_TIME_OF = {"day": ("h", 24.0), "night": ("h", 12.0), "week": ("d", 7.0)}
# What a value is today, where the sentence says what it has to become: "60 days instead of 100".
_TODAY = re.compile(
    rf" (?:instead of|rather than|down from|up from|compared (?:with|to)|and not) (?:the |our )?(?:today's |current )?"
    rf"{COUNT}(?: (?:h|hours?|min|minutes?|days?|weeks?|months?|images?|samples?|tokens?)(?:/s| (?:per|a) second)?\b)?"
    r"(?: (?:today|now|currently))?(?=$|[ ,.;:!?)](?![\ue000-\ue006]))",
    re.I,
)
# "1,000 hours of audio" are data and no time limit; "2 days of training" are one.
_MEDIA = r"(?:audio|speech|video|videos|footage|recordings?|music|sound|film|driving|flight|radio|EEG|ECG)"
_DURATION = re.compile(
    rf"{TIME}(?:(?: worth)? of (?!(?:the |our |wall|GPU)*(?:train|comput|work|run|time|clock|delivery|order|start))\w+"
    rf"| (?:\w+ )?{_MEDIA}\b)",
    re.I,
)
# "512 x 512", "96x96x96 voxels": how large a sample is, in points.
_RESOLUTION = re.compile(
    r"(?<![\w.,])(?:\d{3,5} ?x ?\d{3,5}|(?P<edge>\d{2,5}) ?x ?(?P=edge))(?: ?x ?\d{1,5})?"
    r"(?: ?(?:px|pixels?|voxels?)\b)?(?![\w\ue000-\ue006])(?! ?(?:[GMT]i?[Bb]|[\ue000-\ue006]))",
    re.I,
)
_HOW_LONG = re.compile(r"\b(?:how (?:long|many (?:minutes|hours|days|weeks|months))|what training time)\b", re.I)
_FROM_SCRATCH = re.compile(r"\bfrom scratch\b", re.I)
_EPOCHS = re.compile(rf"(?:\bfor )?{quantity(' ?-?(?:training )?epochs?')}(?!\w)", re.I)
_WORKS_AT_MOST = re.compile(
    r"(?:\b(?:at most|no more than|not more than|up to|below|less than|max(?:imum)?\.?(?: of)?)|<=?) ?$", re.I
)
_SECONDS = {
    "h": ("h", 1.0),
    "mi": ("min", 1.0),
    "d": ("d", 1.0),
    "w": ("weeks", 1.0),
    "f": ("weeks", 2.0),
    "mo": ("d", 30.0),
}


def leave_sizes_of_samples(notes: Notes) -> None:
    """Hours of recordings and points of images: they tell of the data what no request states."""
    for pattern in (_DURATION, _RESOLUTION):
        while match := notes.text.find(pattern):
            notes.leave(match)


def read_rate(notes: Notes) -> None:
    """A rate in samples a second, minute, hour or day."""
    for pattern in (_RATE, _RATE_SHORT, _RATE_BARE):
        for match in list(pattern.finditer(notes.text.left)):
            if "target" in notes.work:
                return
            low, high = ends(match)
            period = _PERIODS[_period(match["period"] or "s")]
            noun = (match["noun"] or "samples").lower()
            unit = (
                "sentences"
                if noun.startswith("sentence")
                else "samples"
                if noun.startswith(("sampl", "seq", "rec", "item", "exam"))
                else "images"
            )
            prefix = re.search(r"\d ?([km]) ?[a-z]", match[0], re.I)
            per_s = (
                high
                / period
                * (1.0 if prefix is None or _has_scale(match["number"]) else {"k": 1e3, "m": 1e6}[prefix[1].lower()])
            )
            if not 1e-6 <= per_s <= 1e12:
                continue
            if _WORKS_AT_MOST.search(notes.before(match.start())):
                notes.leave(match)
                continue
            written = f"{written_number(round(per_s, 2 if per_s >= 1 else 6))} {_unit_of(notes, unit)}/s"
            notes.work["target"] = {"samples_per_s": written}
            ranged = " (upper end of the range)" if low < high else ""
            shown = grouped(per_s) if per_s >= 1000 else written_number(round(per_s, 2 if per_s >= 1 else 6))
            notes.text.record(match, f"minimum rate {shown} {unit}/s{ranged}")


def _unit_of(notes: Notes, unit: str) -> str:
    """Unit of the network's samples: a sample of an image network is an image."""
    dnn = notes.catalog.dnns[notes.dnns[0]] if notes.dnns else None
    return "images" if unit == "samples" and dnn is not None and dnn.sample == "image" else unit


def _has_scale(number: str) -> bool:
    return re.search(r"[a-z]", number, re.I) is not None


def _period(written: str) -> str:
    text = written.lower()
    return "min" if text.startswith("m") else text[0]


def read_time(notes: Notes) -> None:
    """A time to train; of a range the shorter, which meets both."""
    if "target" in notes.work:
        return
    for match in list(_TIME.finditer(notes.text.left)):
        low, high = ends(match)
        written = time_text(low, match["unit"])
        try:
            parse(SECONDS, written)
        except ValueError as error:
            notes.refuse(match[0].strip(), str(error))
            notes.text.mark(match.start(), match.end())
            continue
        notes.work["target"] = {"time_to_train_s": written}
        ranged = " (shorter end of the range)" if low < high else ""
        notes.text.record(match, f"maximum time to train {written}{ranged}")
        return


def read_times(notes: Notes) -> None:
    """What a value is today; and a number of runs a day, of which each takes at most its share."""
    while match := notes.text.find(_TODAY):
        notes.text.record(match, "the value of today; the target is stated otherwise")
    if match := notes.text.find(_TIMES):
        runs = 2.0 if match["twice"] else value_of(match["number"])
        notes.text.mark(match.start(), match.end())
        if "target" in notes.work or "task" in notes.work or runs < 1 or notes.text.find(_TIME):
            notes.text.record(match, "how often it runs")
            return
        unit, span = _TIME_OF[match["unit"].lower()]
        written = f"{written_number(float(f'{span / runs:.4g}'))} {unit}"
        notes.work["target"] = {"time_to_train_s": written}
        notes.text.record(match, f"maximum time to train {written}")


def read_habits(notes: Notes, samples: re.Match[str] | None) -> None:
    """Overnight, every day: a time to train; of inference on a known number of samples"
    " a rate; else how often it runs."""
    for written, pattern in _SOME_TIMES.items():
        if not (match := notes.text.find(pattern)):
            continue
        if "target" in notes.work:
            notes.text.record(match, "how often or when it runs; the target is stated otherwise")
        elif "task" not in notes.work:
            notes.work["target"] = {"time_to_train_s": written}
            notes.text.record(match, f"maximum time to train {written}")
        elif samples is not None:
            n_samples = ends(samples)[1]
            rate = f"{written_number(float(f'{n_samples / parse(SECONDS, written):.4g}'))} images/s"
            notes.work["target"] = {"samples_per_s": rate}
            if notes.text.left[samples.start()] != READ:
                notes.text.record(samples, f"{grouped(n_samples)} samples to infer")
            notes.text.record(
                match,
                f"all samples within {written}: minimum rate {grouped(n_samples / parse(SECONDS, written))} images/s",
            )
        else:
            notes.text.record(match, "how often it runs")


def time_text(value: float, unit: str) -> str:
    """A time as a request has it: 12 h of half a day, 2 weeks of a fortnight."""
    text = unit.lower()
    key = text[:2] if text[:2] in ("mi", "mo") else text[0]
    name, factor = _SECONDS[key]
    value *= factor
    if value < 1:
        name, value = {"d": ("h", 24 * value), "h": ("min", 60 * value), "weeks": ("d", 7 * value)}.get(
            name, (name, value)
        )
    return f"{written_number(round(value, 6))} {name}"


def read_epochs(notes: Notes) -> None:
    """A training length in epochs."""
    if match := notes.text.find(_EPOCHS):
        epochs = ends(match)[1]
        notes.work["epochs"] = epochs
        notes.text.record(match, f"{written_number(epochs)} epochs")


def default_length(notes: Notes, work: dict[str, Any]) -> None:
    """A time to train needs the training length: the network's usual recipe, or a question.

    Who asks how long a training takes on given GPUs gets the recipe, too, where there is one.
    """
    has_time = "time_to_train_s" in work.get("target", {})
    if "epochs" in work or not (has_time or _HOW_LONG.search(notes.text.sentence)):
        return
    if not isinstance(work["dnn"], str):
        if not has_time:
            return
        if "tokens" not in work:
            ask_tokens(notes, work["dnn"]["name"])
        return
    catalog = notes.catalog
    is_newer = bool(eras_meant(notes) & newer_eras(catalog))
    recipes = [item for item in catalog.recipes.values() if item.dnn == work["dnn"] and (is_newer or not item.mlperf)]
    if recipes:
        best = max(recipes, key=_common_first)
        work["recipe"] = best.id
        start = ", from its checkpoint" if best.starts_from_checkpoint else ""
        notes.text.default(f"training length not given: {best.name}{start}")
        if best.starts_from_checkpoint and (match := notes.text.find(_FROM_SCRATCH)):
            notes.leave(match)
        return
    if not has_time:
        return
    dnn = notes.catalog.dnns[work["dnn"]]
    if dnn.transformer is not None:
        if "tokens" not in work:
            ask_tokens(notes, dnn.name)
        return
    name = dnn.name
    answers = tuple(notes.answer(f"{count} epochs") for count in (30, 90, 300, 1000))
    notes.ask(Question("length", reason=name, answers=answers))


def ask_tokens(notes: Notes, model: str) -> None:
    """Ask for the training length of a language model."""
    counts = ("10 billion tokens", "100 billion tokens", "1 trillion tokens", "15 trillion tokens")
    notes.ask(Question("length", reason=model, answers=tuple(notes.answer(count) for count in counts)))


def _common_first(item: Recipe) -> tuple[bool, str]:
    # The common schedule of fixed length where there is one, else the newest rules of a benchmark.
    return "epochs" in item.id, item.id


# --- targets of several networks, each stated with its network: "A at 9,000 images/s and B in 2 hours"


def read_own_targets(notes: Notes) -> None:
    """Note the target of each network where at least two state one; else the sentence has one target for all."""
    if "target" in notes.work or "task" in notes.work:
        return
    if notes.trainings:
        cut, end = notes.second_training_at, len(notes.text.sentence)
        parts: list[tuple[Any, int, int]] = [(0, 0, cut), (1, cut, end)]
    else:
        parts = _parts_by_network(notes)
    if len(parts) < 2:
        return
    left, phrases, unusable = notes.text.left, list(notes.text.phrases), list(notes.unusable)
    targets = {key: target for key, start, end in parts if (target := _target_between(notes, key, start, end))}
    if len(targets) < 2:
        notes.text.left, notes.text.phrases, notes.unusable = left, phrases, unusable
        return
    notes.own_targets = targets


def _parts_by_network(notes: Notes) -> list[tuple[Any, int, int]]:
    """The part of the sentence about each network: from its first name to the first name of the next one."""
    starts: dict[str, int] = {}
    for one in sorted(notes.mentions, key=lambda mention: mention.start):
        if one.kind == DNN and one.ids[0] in notes.dnns:
            starts.setdefault(one.ids[0], one.start)
    places = [*starts.values(), len(notes.text.sentence)]
    return [(dnn, start, end) for dnn, (start, end) in zip(starts, pairwise(places), strict=True)]


def _target_between(notes: Notes, key: Any, start: int, end: int) -> dict[str, Any] | None:
    """The target that some part of the sentence states; the part is read as if it stood alone."""
    text, work, dnns = notes.text, notes.work, notes.dnns
    left = text.left
    text.left = READ * start + left[start:end] + READ * (len(left) - end)
    notes.work, notes.dnns = {}, [key] if isinstance(key, str) else dnns
    read_rate(notes)
    read_time(notes)
    target: dict[str, Any] | None = notes.work.get("target")
    text.left = left[:start] + text.left[start:end] + left[end:]
    notes.work, notes.dnns = work, dnns
    return target
