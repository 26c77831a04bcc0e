"""What the catalogue does not hold, or cannot sell, with the nearest that it has; and work that is not sized."""

import math
import re
from collections.abc import Iterable

from sizer.catalog.fabrics import fabric_links
from sizer.catalog.model import Catalog
from sizer.catalog.sale import usable_gpus
from sizer.catalog.schema import Server
from sizer.workload.kinds import Networks, kind_in
from sizer.workload.sentence.names import DNN, OUTSIDE, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT
from sizer.workload.sentence.reading import Answer, Question
from sizer.workload.sentence.text import READ

_MOST_ANSWERS = 6
_NAMES = {"gpu": "GPU", "server": "server", "storage": "storage system", "precision": "precision", "fabric": "fabric"}
# A whole word with letters and digits after a number, or before what it is: "16 XY900", "XY900 GPUs". "512 x512" are
# pixels.
_UNKNOWN = re.compile(
    rf"{COUNT} ?(?:x )?(?<!\w)(?!x\d)(?P<counted>[A-Za-z]{{1,12}}-?\d[\w-]{{0,20}})(?: (?P<what>GPUs?"
    rf"|cards?|servers?|nodes?|boxes))?(?!\w)"
    r"|(?<![\w-])(?P<named>[A-Za-z]{1,12}-?\d[\w-]{0,20}) (?P<kind>GPUs?|cards?|servers?|storage|filers?)\b",
    re.I,
)
_MEMORY_AFTER = re.compile(r"[ /-]?\d{1,3} ?GB\b(?: (?:GPUs?|cards?))?| (?:GPUs?|cards?|servers?|nodes?)\b", re.I)
_BILLIONS = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d)?)B\b", re.I)
_SIZE_AFTER = re.compile(r"[ -]?\d{1,4}(?:\.\d)? ?B\b(?: parameters?| model)?", re.I)  # of a language model
_COUNT_BEFORE = re.compile(rf"{COUNT} ?(?:x |x)?(?:[\ue005]+ )?$", re.I)


def read_outside(notes: Notes) -> None:
    """Names that are known and not held, and words that can only be the name of a part."""
    for mention in [one for one in notes.mentions if one.kind.startswith(OUTSIDE)]:
        kind, end = mention.kind[1:], mention.end
        is_size = kind not in _NAMES and (size := _SIZE_AFTER.match(notes.text.left, end))
        if after := size if is_size else _MEMORY_AFTER.match(notes.text.left, end):
            end = after.end()
        start = mention.start
        if vendor := re.search(r"[\ue005]+ ?$", notes.text.left[:start]):
            start = vendor.start()
        before = _COUNT_BEFORE.search(notes.text.left[:start])
        ask_unavailable(notes, kind, start, end if is_size else mention.end)
        notes.text.mark(before.start() if before and kind in ("gpu", "server") else start, end)
    while match := notes.text.find(_UNKNOWN):
        name = "counted" if match["counted"] else "named"
        what = (match["what"] or match["kind"] or "gpu").lower()
        kind = (
            "server"
            if what[0] in "snb" and what != "storage"
            else "storage"
            if what in ("storage", "filer", "filers")
            else "gpu"
        )
        ask_unavailable(notes, kind, match.start(name), match.end(name))
        notes.text.mark(match.start(), match.end())


def is_sized(notes: Notes) -> bool:
    """Whether the sentence is about work that can be sized; another kind is refused, next to a training asked."""
    is_language = [notes.catalog.dnns[key].transformer is not None for key in notes.dnns]
    named = [one for one in notes.mentions if one.kind == DNN]
    sentence = list(notes.text.sentence)
    for one in named:
        sentence[one.start : one.end] = READ * (one.end - one.start)
    networks: Networks = "unknown"
    if notes.means_language and all(is_language):
        networks = "language"
    elif named:
        networks = "language" if is_language and all(is_language) else "other"
    told = kind_in("".join(sentence), networks)
    if told is None:
        return True
    words = notes.text.sentence[told.start : told.end].strip(" :;,.")
    if told.clause is None:
        notes.refused_kind = Question("refused", words, told.kind.refusal)
        return False
    start, end = told.clause
    notes.ask(Question("task", words, told.kind.refusal, answers=(Answer("Training", notes.replaced(start, end, "")),)))
    notes.text.mark(start, end)
    return True


def ask_unavailable(notes: Notes, kind: str, start: int, end: int) -> None:
    """Ask for something that the catalogue holds in the place of some words."""
    words = notes.text.sentence[start:end].strip()
    names = _held(notes.catalog, kind, words)
    answers = tuple(Answer(name, notes.replaced(start, end, name)) for name in names[:_MOST_ANSWERS])
    if kind not in _NAMES and (size := _BILLIONS.search(words)):
        answers += (Answer(f"usual dense {size[0]} model", notes.replaced(start, end, f"{size[0]} dense model")),)
    notes.ask(
        Question(
            "unavailable",
            notes.text.sentence[start:end].strip(),
            _NAMES.get(kind, "neural network"),
            tuple(names),
            answers,
        )
    )


def _held(catalog: Catalog, kind: str, words: str) -> list[str]:
    """Names of what the catalogue holds of a kind, the nearest to some words first."""
    if kind == "gpu":
        gpus = [catalog.gpus[key] for key in usable_gpus(catalog)]
        return [
            gpu.name
            for gpu in sorted(gpus, key=lambda gpu: (-gpu.peak_mixed_flop_per_s.value, -gpu.memory_bytes.value, gpu.id))
        ]
    if kind == "server":
        servers = [item for item in catalog.servers.values() if item.role == "gpu" and item.orderable]
        return [item.name for item in sorted(servers, key=lambda item: _newest_first(catalog, item))]
    if kind == "storage":
        systems = [item for item in catalog.storage.values() if item.orderable and item.kind != "local"]
        return [item.name for item in sorted(systems, key=lambda item: (item.tier != "performance", item.id))]
    if kind == "precision":
        return ["mixed precision", "single precision"]
    if kind == "fabric":
        return [link.name for link in fabric_links(catalog)]
    networks = [item for item in catalog.dnns.values() if item.sample == kind] or list(catalog.dnns.values())
    if size := _BILLIONS.search(words):
        asked = 1e9 * float(size[1])
        return _unique(
            short_name(item) for item in sorted(networks, key=lambda item: abs(math.log(item.parameters.value / asked)))
        )
    trained = [recipe.dnn for recipe in catalog.recipes.values()]
    return _unique(short_name(item) for item in sorted(networks, key=lambda item: (-trained.count(item.id), item.id)))


def _newest_first(catalog: Catalog, server: Server) -> tuple[float, float, str]:
    """Servers with the fastest GPUs first: a server that is not held is most likely a newer one."""
    peak = max((catalog.gpus[key].peak_mixed_flop_per_s.value for key in server.gpus), default=0.0)
    return -peak, -(server.n_gpus.value if server.n_gpus else 0), server.id


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
