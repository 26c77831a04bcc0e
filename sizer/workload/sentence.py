"""A need in one sentence, as in a customer's mail, read into a request."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sizer.base.errors import RequestError
from sizer.base.quantities import BYTES, SAMPLES_PER_S, SECONDS, parse
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Item
from sizer.catalog.vendors import vendors_of
from sizer.workload.request import SIZE_LIMITS, SizingRequest
from sizer.workload.sentence_dates import need_in
from sizer.workload.sentence_limits import COUNTS as _COUNTS
from sizer.workload.sentence_limits import NUMBER as _NUMBER
from sizer.workload.sentence_limits import WHAT_LIMITS, asks_for_most, limit_in
from sizer.workload.sentence_names import FILLERS, aliases, short_name
from sizer.workload.sentence_numbers import byte_unit, checked, number_of
from sizer.workload.sentence_ownership import ownership_phrases

MAX_CHARACTERS = 500
EXAMPLE = "Train ResNet-50 on 22 TB of images of 113 kB at 40000 images/s on DGX-1 with F800"

_MANY = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "": 1.0}
_THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6}
_SAMPLES = r"(?:images?|pictures?|photos?|samples?|files?|sentences?|records?)"
_RATE = re.compile(rf"({_NUMBER})\s*([kM]?)\s*({_SAMPLES})\s*(?:/|per|a|each)\s*(?:s|sec|second)\b", re.I)
_TIME = re.compile(
    rf"\b(?:({_NUMBER})[\s-]*|({'|'.join(_COUNTS)})[\s-]+)(h|hrs?|hours?|min|minutes?|days?|d|weeks?)\b", re.I
)
_GPUS = re.compile(rf"\b({_NUMBER})\s*(?:x\s*)?(?:V100s?\s*)?GPUs?\b", re.I)
_EPOCHS = re.compile(rf"\b({_NUMBER})\s*epochs?\b", re.I)
_SIZE = re.compile(rf"\b({_NUMBER})\s*([kKMGTP]i?[Bb])\b")
_COUNT = re.compile(rf"\b({_NUMBER})\s*(thousand|million|billion)?\s*{_SAMPLES}\b", re.I)
_CONFIDENCE = re.compile(rf"\b({_NUMBER})\s*(?:%|per\s?cent)\s*(?:sure|certain|confiden\w+|chance|probab\w+)", re.I)
_TASK = re.compile(r"\b(?:validat\w+|inferenc\w+|replay\w*)\b", re.I)
_TRAINING = re.compile(r"\b(?:re)?train\w*\b", re.I)
_OVERNIGHT = re.compile(r"\bover\s?night\b", re.I)
OVERNIGHT = "12 h"
_BYTES = rf"({_NUMBER})\s*([kKMGTP]i?[Bb])\b"
_EACH = r"(?:\s+(?:per|in\s+each|in\s+every|for\s+each|each|a)\s+(?:GPU\s+)?(?:server|node|host)s?)"
# Memory without a word for the server could be that of a GPU.
_HOST_MEMORY = re.compile(
    rf"(?:at\s+least\s+)?\b{_BYTES}\s*(?:of\s+)?(?:(?:(?:host|server|system|main)\s+memory|RAM)\b{_EACH}?|memory{_EACH}\b)"
    rf"|\b(?:host|server|system|main)\s+memory\s+(?:of\s+)?(?:at\s+least\s+)?{_BYTES}{_EACH}?",
    re.I,
)
_CAPACITY = re.compile(
    rf"(?:(?:at\s+least|a?\s*minimum(?:\s+of)?)\s+)?\b{_BYTES}\s*(?:of\s+)?(?:(?:usable|net)(?:\s+(?:storage|capacity|space))*"
    r"|(?:storage\s+)?capacity|storage(?:\s+space)?)\b"
    rf"|\b(?:usable\s+|storage\s+|minimum\s+)*(?:capacity|storage)\s+(?:of\s+)?(?:at\s+least\s+|minimum\s+)?{_BYTES}(?:\s+usable)?",
    re.I,
)
_KIND = r"\s+(?:storage|arrays?|NAS|systems?|tier)\b"
_TIERS = {
    "performance": re.compile(rf"\ball[\s-]*flash\b(?:{_KIND})?|\b(?:flash|performance){_KIND}", re.I),
    "local": re.compile(
        r"\blocal\s+(?:drives?|disks?|SSDs?|NVMe|flash|storage)\b(?:\s+(?:drives?|disks?|only))?", re.I
    ),
    "capacity": re.compile(
        rf"\b(?:capacity|hybrid|NL-?SAS|(?:hard[\s-]*)?disk|HDD|disk[\s-]based){_KIND}|\bspinning\s+disks?\b", re.I
    ),
}
_HEADS = r"head[\s-]?nodes?"
_TWO_HEADS = re.compile(
    r"\b(?:(?:two|2|a\s+second|redundant|HA|highly[\s-]available|high[\s-]availability)\s+(?:redundant\s+|HA\s+)?"
    rf"{_HEADS}|(?:HA|high[\s-]availability|redundan\w+|failover)\s+(?:of|for)\s+(?:the\s+|its\s+)?{_HEADS}"
    rf"|{_HEADS}\s+(?:HA|high[\s-]availability|redundan\w+|failover|pair))\b",
    re.I,
)
_UNITS = {"h": "h", "m": "min", "d": "d", "w": "weeks"}
# Words around a size that make it the size of one sample.
_OF_ONE = re.compile(rf"^\s*(?:each\b|per\b|apiece\b|an?\s+{_SAMPLES}|{_SAMPLES}\b(?!\s*(?:/|per)))", re.I)
_SAMPLES_OF = re.compile(rf"{_SAMPLES}\s*(?:of|with|at)\s*(?:about|around|some|up to)?\s*$", re.I)


@dataclass(frozen=True)
class Reading:
    """A sentence read as a request.

    Attributes
    ----------
    request : dict
        A request as its file would have it.
    read : tuple of (str, str)
        Words of the sentence and their meaning; "" for what the sentence does not say.
    unread : tuple of str
        Words that were not understood.
    """

    request: dict[str, Any]
    read: tuple[tuple[str, str], ...]
    unread: tuple[str, ...]


def read_sentence(sentence: str, catalog: Catalog) -> Reading:
    """Read a need.

    Parameters
    ----------
    sentence : str
        English, with units as everywhere: 22.2 TB, 12 h, 40000 images/s.
    catalog : Catalog
        Whose neural networks, data sets, servers and storage are known by name.

    Raises
    ------
    RequestError
        If it names no known neural network, or no target (a rate, a time, a number of GPUs, or the most that a limit
        gives), or is ambiguous.
    """
    if len(sentence) > MAX_CHARACTERS:
        raise RequestError(f"sentence: has {len(sentence)} characters; write at most {MAX_CHARACTERS}")
    return _Reader(sentence, catalog).reading()


class _Reader:
    """Reads one sentence; what is read is blanked out, so that nothing is read twice."""

    def __init__(self, sentence: str, catalog: Catalog) -> None:
        self._unread = sentence
        self._catalog = catalog
        self._read: list[tuple[str, str]] = []
        self._work: dict[str, Any] = {}
        self._request: dict[str, Any] = {}
        self._currency = ""

    def reading(self) -> Reading:
        """The sentence from its most telling parts to the others."""
        self._date_of_need()
        self._confidence()
        self._ownership()
        self._head_nodes()
        self._host_memory()
        self._minimum_capacity()
        most = asks_for_most(self._unread)
        self._limits(is_most_asked=most is not None)
        target = self._target()
        self._sizes()
        self._preferred_vendors()
        self._names()
        self._storage_tier()
        if "dnn" not in self._work:
            known = ", ".join(sorted(short_name(item) for item in self._catalog.dnns.values()))
            raise RequestError(f"sentence: no known neural network found; name one of {known}")
        self._task()
        if not target and (most := asks_for_most(self._unread)) is not None:
            target = self._most(most)
        if not target:
            raise RequestError(
                "sentence: no target found; add a rate (40000 images/s), a time to train (12 h), "
                "a number of GPUs (64 GPUs), or a limit to use fully (as fast as possible within 500,000 USD)"
            )
        self._work["target"] = target
        self._length(target)
        self._request["workload"] = [{"name": self._title(), **self._work}]
        unread = [word for word in re.findall(r"[^\s,;.!?()]+", self._unread) if word.lower() not in FILLERS]
        request = {"title": self._title(), **self._request}
        SizingRequest.from_dict(request, "sentence")  # a count may be out of range
        return Reading(request, tuple(self._read), tuple(unread))

    def _record(self, match: re.Match[str], meaning: str) -> None:
        self._read.append((match[0].strip(), meaning))
        self._unread = self._unread[: match.start()] + " " * len(match[0]) + self._unread[match.end() :]

    def _find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.search(self._unread)

    def _date_of_need(self) -> None:
        if need := need_in(self._unread):
            self._request["needed_by"] = need.day.isoformat()
            self._record(need.match, f"needed by {need.day}")

    def _confidence(self) -> None:
        if match := self._find(_CONFIDENCE):
            self._request["confidence"] = number_of(match[1]) / 100
            self._record(match, f"confidence {match[1]} %")

    def _head_nodes(self) -> None:
        if match := self._find(_TWO_HEADS):
            self._request["resilience"] = {"keeps_targets_without": ["head-node"]}
            self._record(match, "two head nodes, one active and one standby")

    def _limits(self, *, is_most_asked: bool) -> None:
        """Money, watts, racks and rack units; a number of servers only where the most of it is asked for."""
        while limit := limit_in(self._unread, with_servers=is_most_asked):
            limits = self._request.setdefault("limits", {})
            if limit.key in limits:
                raise RequestError(f"sentence: {limit.match[0].strip()!r} is a second {limit.key}; write one")
            limits[limit.key] = limit.value
            self._state_currency(limit.currency)
            self._record(limit.match, limit.meaning)

    def _state_currency(self, currency: str) -> None:
        """Take the currency of an amount; "" where it states none."""
        if currency and self._currency not in ("", currency):
            raise RequestError(f"sentence: amounts in {self._currency} and in {currency}; write one currency")
        self._currency = currency or self._currency
        if currency not in ("", "USD"):
            self._request["currency"] = currency

    def _most(self, asked: re.Match[str]) -> dict[str, Any]:
        """The highest rate within the limits of the sentence."""
        if not set(SIZE_LIMITS) & self._request.get("limits", {}).keys():
            raise RequestError(f"sentence: {asked[0].strip()!r} needs a limit; add {WHAT_LIMITS}")
        self._record(asked, "the highest rate within the limits")
        return {"maximum": "rate"}

    def _ownership(self) -> None:
        """Years, electricity, PUE and ranking of the cost of ownership."""
        for phrase in ownership_phrases(self._find):
            self._state_currency(phrase.currency)
            table: dict[str, Any] = self._request
            for key in phrase.path[:-1]:
                table = table.setdefault(key, {})
            if isinstance(phrase.value, dict):
                table.setdefault(phrase.path[-1], phrase.value)
            else:
                table[phrase.path[-1]] = phrase.value
            self._record(phrase.match, phrase.meaning)
        if self._request.get("rank_by") == "ownership":
            self._request.setdefault("ownership", {})

    def _target(self) -> dict[str, Any]:
        rate, gpus = self._find(_RATE), self._find(_GPUS)
        if rate:
            unit = "sentences" if rate[3].lower().startswith("sentence") else "images"
            written = f"{rate[1]} {unit}/s"
            value = checked(SAMPLES_PER_S, written) * _THOUSANDS[rate[2].lower()]
            written = f"{value:.12g} {unit}/s" if rate[2] else written
            self._record(rate, f"minimum rate {written}")
            return {"samples_per_s": written}
        time, night = self._find(_TIME), self._find(_OVERNIGHT)
        if time:
            count = time[1] or _COUNTS[time[2].lower()]
            written = f"{count} {_UNITS[time[3][0].lower()]}"
            checked(SECONDS, written)
            self._record(time, f"maximum time to train {written}")
            return {"time_to_train_s": written}
        if night:
            self._record(night, f"maximum time to train {OVERNIGHT}")
            return {"time_to_train_s": OVERNIGHT}
        if gpus:
            self._record(gpus, f"{gpus[1]} GPUs at full utilization")
            return {"gpus_busy": int(number_of(gpus[1]))}
        return {}

    def _host_memory(self) -> None:
        match = self._find(_HOST_MEMORY)
        if match:
            written = self._size_of(match)
            self._request.setdefault("platforms", {})["host_memory_bytes"] = written
            self._record(match, f"at least {written} of memory in each server")

    def _minimum_capacity(self) -> None:
        match = self._find(_CAPACITY)
        if match:
            written = self._size_of(match)
            self._request["data"] = {"minimum_capacity_bytes": written}
            self._record(match, f"at least {written} of usable capacity")

    def _storage_tier(self) -> None:
        for tier, pattern in _TIERS.items():
            match = self._find(pattern)
            if match:
                self._request.setdefault("platforms", {})["storage_tier"] = tier
                self._record(match, f"storage tier {tier}")
                return

    def _size_of(self, match: re.Match[str]) -> str:
        """The size in a match, as a request writes it."""
        number, unit = (group for group in match.groups() if group is not None)
        written = f"{number} {byte_unit(unit)}"
        checked(BYTES, written)
        return written

    def _sizes(self) -> None:
        """Size of one sample, of the whole set, and the number of samples."""
        for match in list(_SIZE.finditer(self._unread)):
            written = f"{match[1]} {byte_unit(match[2])}"
            checked(BYTES, written)
            before, after = self._unread[: match.start()], self._unread[match.end() :]
            key = "sample_bytes" if _OF_ONE.match(after) or _SAMPLES_OF.search(before) else "dataset_bytes"
            if key in self._work:
                what = "one sample" if key == "sample_bytes" else "the data set"
                raise RequestError(
                    f"sentence: {self._work[key]} and {written} could both be the size of {what}; "
                    "write for example '100 TB of images of 5 MB'"
                )
            self._work[key] = written
            self._record(match, "size of one sample" if key == "sample_bytes" else "size of the data set")
        count = self._find(_COUNT)
        if count:
            self._samples(count)

    def _samples(self, count: re.Match[str]) -> None:
        """A number of samples together with a size makes an own data set."""
        n_samples = number_of(count[1]) * _MANY[(count[2] or "").lower()]
        size, whole = (self._work.pop(key, None) for key in ("sample_bytes", "dataset_bytes"))
        if size is None and whole is None:
            return
        sample_bytes = parse(BYTES, size) if size is not None else parse(BYTES, whole) / n_samples
        self._work["dataset"] = {
            "name": "Own data",
            "n_samples": n_samples,
            "sample_bytes": size if size is not None else sample_bytes,
            "format": "raw files",
        }
        if size is not None and whole is not None:
            self._work["dataset_bytes"] = whole
        self._record(count, "number of samples of an own data set")

    def _names(self) -> None:
        dnn = self._longest_match(self._catalog.dnns)
        if dnn:
            self._work["dnn"] = dnn
        dataset = self._longest_match(self._catalog.datasets)
        if dataset and "dataset" not in self._work:
            self._work["dataset"] = dataset
        if dnn and "dataset" not in self._work:
            self._default_dataset(dnn)
        servers = {key: item for key, item in self._catalog.servers.items() if item.role == "gpu" and item.orderable}
        storage = {key: item for key, item in self._catalog.storage.items() if item.orderable}
        for part, items in (("servers", servers), ("storage", storage)):
            named: list[str] = []
            while name := self._longest_match(items, named):
                named.append(name)
            if named:
                self._request.setdefault("platforms", {})[part] = named

    def _preferred_vendors(self) -> None:
        """'preferably Dell EMC', 'we prefer HPE or Dell EMC': words after the verb that are names of vendors."""
        vendors = [name.split() for name in vendors_of(self._catalog)]
        parts = {" ".join(words[:end]) for words in vendors for end in range(1, len(words) + 1)}
        known = {name.casefold(): name for name in parts | {word for words in vendors for word in words}}
        # Of names that begin alike the longest is read: Dell EMC before Dell.
        one = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in sorted(known.values(), key=len)[::-1])
        verb = r"\bprefer(?:s|red|ably|ence)?\b(?:\s+(?:vendors?|for|is|are|from|by))*\s*:?\s*"
        match = re.search(rf"{verb}((?:{one})(?:\s*(?:,|and|or|&)\s*(?:{one}))*)(?![\w-])", self._unread, re.I)
        if match:
            named = (" ".join(name.split()).casefold() for name in re.findall(one, match[1], re.I))
            found = list(dict.fromkeys(known[name] for name in named))
            self._request.setdefault("platforms", {})["prefer_vendors"] = found
            self._record(match, f"preferred vendors: {', '.join(found)}")

    def _default_dataset(self, dnn: str) -> None:
        kind = self._catalog.dnns[dnn].sample
        fitting = [item for item in self._catalog.datasets.values() if item.sample == kind]
        if kind != "image" and len(fitting) == 1:
            self._work["dataset"] = fitting[0].id
            self._read.append(("", f"data set not given: {fitting[0].name}"))

    def _longest_match(self, items: Mapping[str, Item], known: Iterable[str] = ()) -> str | None:
        """The item with the longest name in the sentence."""
        names = sorted(((alias, key) for alias, key in aliases(items).items()), key=lambda pair: -len(pair[0]))
        for alias, key in names:
            match = re.search(rf"(?<![\w-]){alias}(?![\w])", self._unread, re.I)
            if match and key not in known:
                self._record(match, items[key].name)
                return key
        return None

    def _task(self) -> None:
        match = self._find(_TASK)
        if match:
            self._work["task"] = "validation-inference"
            self._record(match, "batch inference on a test set")
        while match := self._find(_TRAINING):
            self._record(match, "training")

    def _length(self, target: dict[str, Any]) -> None:
        match = self._find(_EPOCHS)
        if match:
            self._work["epochs"] = number_of(match[1])
            self._record(match, f"{match[1]} epochs")
        elif "time_to_train_s" in target:
            recipes = [item for item in self._catalog.recipes.values() if item.dnn == self._work["dnn"]]
            if not recipes:
                raise RequestError("sentence: a time to train needs the training length; add for example '90 epochs'")
            # The common schedule of fixed length where there is one, else the newest rules of a benchmark.
            best = max(recipes, key=lambda item: ("epochs" in item.id, item.id))
            self._work["recipe"] = best.id
            self._read.append(("", f"training length not given: {best.name}"))

    def _title(self) -> str:
        item = self._catalog.dnns[self._work["dnn"]]
        return f"{short_name(item)} {'validation' if 'task' in self._work else 'training'}"
