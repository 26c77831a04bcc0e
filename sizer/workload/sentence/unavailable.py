"""What the catalogue does not hold, or cannot sell, with the nearest that it has; and work that is not sized."""

import math
import re
from collections.abc import Sequence

from sizer.catalog.fabrics import fabric_links
from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold, usable_gpus
from sizer.catalog.schema import Dnn
from sizer.workload.kinds import Networks, aside_in, kind_in, trains_in
from sizer.workload.sentence.grammar import CALLED, GRAMMAR, rule
from sizer.workload.sentence.names import KNOWN, pieces, place_of, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.quantities import Amount
from sizer.workload.sentence.reading import Answer, Question
from sizer.workload.sentence.scope import is_existing
from sizer.workload.sentence.text import READ, Match, Name
from sizer.workload.serving import EMBEDDING, EMBEDS

_MOST_ANSWERS = 6
# Parts of which any that the catalogue has may stand in the place of another.
_ANY = ("server", "storage", "fabric")
# More people than these do not train networks themselves.
MOST_WHO_TRAIN = 100


def read_outside(notes: Notes) -> None:
    """Names that are known and not held, and words that can only be the name of a part."""
    for found in notes.text.each(r"<OUTSIDE>|<UNKNOWN>"):
        group = next(one for one in ("name", "counted", "named") if found[one])
        what = (found["what"] or found["kind"] or ("server" if found["make"] else "gpu")).lower()
        kind = "storage" if what in ("storage", "filer", "filers") else "server" if what[0] in "snb" else "gpu"
        if named := found.names("outside"):
            kind = named[0].ids[0]
        elif rule(r"<OF_GPUS>").match(notes.text.shape, found.end):
            kind = "server"
        start, end = found.match.span(group)
        notes.means_language |= kind == "token"
        if kind == "token" and _take_model(notes, found):
            continue
        if kind == "own" and notes.own_network is None:  # of which nothing is published here
            notes.ask("network own", found, GRAMMAR["reasons"]["own"])
        elif kind == "own" and notes.own_network is not None:
            notes.own_network["name"] = found.words
            notes.text.record(found, "of a network of one's own")
        elif kind not in ("gpu", "server", "storage") or not is_existing(notes.text, found):
            end = found.end if found.quantities("parameters") else end
            ask_unavailable(notes, kind, notes.text.part(found, start, end))
            notes.text.mark(found.start if kind in ("gpu", "server") else start, found.end)
        elif rule(r"<OF_GPUS>").match(notes.text.shape, found.end):  # told by its GPUs, as servers of any make are
            count = found.value.high if found.quantities() else 1.0
            notes.text.put_at(found, Amount("servers", 0, 0, count, count, "servers", "servers"))
        elif named and (gpus := KNOWN.get(pieces(notes.text.sentence[named[0].start : named[0].end]))):
            count = found.value.high if found.quantities() else 1.0
            notes.choose("server", found, "", [f"{count:g} servers with {gpus}"])
        else:
            notes.ask_place(found, GRAMMAR["reasons"]["owned"])


def _take_model(notes: Notes, found: Match) -> bool:
    """Whether a language model that the catalogue lacks is taken by its size: its name has it, or it is published."""
    name = found.names("outside")[0]
    words = " ".join(notes.text.sentence[name.start : name.end].split())
    told = re.search(r"(?<![\w.x])(\d{1,4}(?:\.\d)?) ?B\b", found.words, re.I)
    billions = float(told[1] if told else KNOWN.get(pieces(words), 0))
    if not billions or notes.own_model is not None or notes.names("dnn"):
        return False
    words += "" if re.search(r"\dB\b", words, re.I) or not told else f" {billions:g}B"
    notes.own_model = {"name": words, "parameters": billions * 1e9}
    notes.text.assume(f"{words}: not in the catalogue; a usual dense model of {billions:g} billion parameters")
    notes.text.record(found, words)
    return True


def _embeds(notes: Notes) -> bool:
    """Whether only embedding models are named; one that is named beside the model that answers is set aside."""
    embedders = [key for key in notes.dnns if notes.catalog.dnns[key].family == EMBEDS]
    if embedders and len(embedders) < len(notes.dnns):
        notes.dnns = [key for key in notes.dnns if key not in embedders]
        names = " and ".join(notes.catalog.dnns[key].name for key in embedders)
        notes.text.assume(f"{names}: embedding the questions takes next to nothing and is not sized")
        return False
    return bool(embedders)


def is_sized(notes: Notes) -> bool:
    """Whether the sentence is about one job that can be sized; another kind is refused, next to a training it is split.

    The task of a language model that is no training is noted.
    """
    dnns, named = notes.catalog.dnns, notes.names("dnn")
    is_language = all(dnns[key].transformer is not None for one in named for key in one.ids)
    sentence = list(notes.text.sentence)
    for one in (one for one in notes.names("outside") if one.ids[0] == "token"):
        sentence[one.start : one.end] = READ * (one.end - one.start)
    for one in named:
        if not re.search(r"generation|text[ -]to", notes.text.sentence[one.start : one.end], re.I):
            language = any(dnns[key].transformer is not None for key in one.ids)
            sentence[one.start : one.end] = (READ if language else "\1") * (one.end - one.start)
    networks: Networks = "unknown"
    has_size = any(one.kind == "parameters" for one in notes.text.things) and not notes.own_network
    if (notes.means_language or notes.own_model or named or has_size) and is_language:
        networks = "language"
    elif named:
        is_diffusion = any(dnns[key].family == "diffusion" for one in named for key in one.ids)
        networks = "diffusion" if is_diffusion else "other"
    # Beside a language model people use it, unless words of training work say that they train.
    trains = trains_in("".join(sentence)) or rule(r"<TEAM_WORK>").search(notes.text.sentence) is not None
    is_trained_for = any(one.kind == "tokens/person" for one in notes.text.things)
    who = r"<WHO_TRAINS>$" if trains or networks != "language" else r"<TRAINERS>"
    for amount in (thing for thing in notes.text.things if isinstance(thing, Amount)):
        words = notes.text.sentence[amount.start : amount.end]
        may_train = is_trained_for or (amount.high <= MOST_WHO_TRAIN and rule(who).search(words))
        is_user = amount.kind == "people" and not may_train
        if amount.kind == "parameters" and notes.own_model is not None:
            sentence[amount.start : amount.end] = READ * (amount.end - amount.start)
        at_once = amount.kind == "requests" and rule(r"<AT_ONCE>").search(words)
        if is_user or at_once or amount.kind == "requests/time":
            sentence[amount.start : amount.end] = ("\2" if is_user else "\3") * (amount.end - amount.start)
    if not trains and (many := notes.text.find(r"<FOR_SO_MANY>")) is not None and many.value.high > 1:
        start, end = many.value.start, many.value.end
        sentence[start:end] = "\2" * (end - start)
    told, named_before = kind_in("".join(sentence), networks), len(notes.dnns)
    embeds = _embeds(notes) and not trains_in(notes.text.sentence)
    while told is not None and told.kind.use and len(notes.dnns) < named_before:  # beside the model that answers
        sentence[told.start : told.end] = " " * (told.end - told.start)
        told = kind_in("".join(sentence), networks)
    if embeds or told is None:
        notes.work |= {"task": "generation", "use": EMBEDDING} if embeds else {}
        notes.means_language |= embeds
        return True
    words = notes.text.sentence[told.start : told.end].strip(" :;,.-")
    is_of_language = networks == "language" or (networks == "unknown" and not notes.text.find(r"{samples/time}"))
    clause = told.clause
    if clause is None and told.kind.sized and is_of_language:
        notes.work |= {"task": told.kind.sized, **({"use": told.kind.use} if told.kind.use else {})}
        notes.means_language = True
        return True
    if clause is None and told.kind.is_asked:
        answer = notes.change("the training alone", told.start, told.end, "")
        notes.questions.append(Question("task beside", words, told.kind.refusal, answers=(answer,)))
        notes.text.mark_words(told.start, told.end)
        return True
    if clause is None or (networks == "unknown" and not told.kind.sized):
        key, answers = "refused", tuple[Answer, ...]()
        aside = None if trains or told.kind.is_part else aside_in("".join(sentence), told.kind)
        if aside is not None:
            key, answers = "task aside", (notes.change("the language model in use", *aside, ""),)
            joints = r"^\s*(?:and|then|plus|und|et)\s+|[\s,;.]+(?:and|then|plus|und|et)?\s*$"
            words = re.sub(joints, "", notes.text.sentence[slice(*aside)])
        elif told.kind.instead and (places := told.kind.places_in("".join(sentence))):
            # Of "Qwen2.5-VL 7B" the rest of the name stays.
            is_in_name = places[0][0] > 0 and not sentence[places[0][0] - 1].isspace()
            texts = ["" if place or is_in_name else told.kind.instead for place in range(len(places))]
            edits = [(start, end, one) for (start, end), one in zip(places, texts, strict=True)]
            edits += notes.answer(told.kind.instead).edits if is_in_name else ()
            answers = (Answer(told.kind.instead, notes.edited(edits), tuple(edits)),)
            # Of a teacher and its student only one is trained: which one is asked.
            several = told.kind.is_training and sum(one.kind in ("dnn", "parameters") for one in notes.text.things) > 1
            key = "task part" if told.kind.is_part and not several else "task nearest"
        notes.questions = [Question(key, words, told.kind.refusal, answers=answers)]
        notes.is_refused = True
        return False
    notes.second_job = told
    return False


def ask_unavailable(notes: Notes, kind: str, found: Match, name: Name | None = None) -> None:
    """Ask for something that the catalogue holds in the place of some words."""
    start, end = (name.start, name.end) if name is not None else notes.text.span(found.start, found.end)
    words = notes.text.sentence[start:end].strip()
    names = _held(notes.catalog, kind, words)
    answers = [notes.change(held, start, end, held) for held in names[:_MOST_ANSWERS]]
    key = "unavailable" if kind in CALLED else "unavailable model" if kind == "token" else "unavailable network"
    if kind not in (*CALLED, "token") and (notes.own_model or any(one is not name for one in notes.names("dnn"))):
        key = "unavailable beside"
        answers.insert(0, notes.change("the other network that is named", start, end, ""))
    if kind in (*_ANY, "precision"):  # it changes no rate as a GPU does
        key = "unavailable part"
    if kind in _ANY:
        start -= 3 * notes.text.whole[:start].endswith(" of ")  # "6 nodes of AC922 with 4 V100"
        answers.insert(0, notes.change(f"any {CALLED[kind]}", start, end, "storage" if kind == "storage" else ""))
    notes.questions.append(Question(key, words, CALLED.get(kind, "neural network"), tuple(names), tuple(answers)))
    notes.text.mark(found.start, found.end)


def _held(catalog: Catalog, kind: str, words: str) -> list[str]:
    """Names of what the catalogue holds of a kind: the nearest to some words, GPUs of their series, then the newest."""
    if kind == "gpu":
        usable, series = [catalog.gpus[key] for key in usable_gpus(catalog)], re.split(r"[\s-]", words.lower())[0]
        gpus = [gpu for gpu in usable if is_sold(catalog, gpu, None)]
        gpus.sort(key=lambda gpu: (series not in gpu.name.lower(), *_newest_first(catalog, [gpu.id]), gpu.id))
        return [gpu.name for gpu in gpus]
    if kind == "server":
        servers = [item for item in catalog.servers.values() if item.role == "gpu" and item.orderable]
        return [item.name for item in sorted(servers, key=lambda item: _newest_first(catalog, item.gpus))]
    if kind == "storage":
        return [item.name for item in catalog.storage.values() if item.orderable and item.kind != "local"]
    if kind == "precision":
        return ["mixed precision", "single precision"]
    size = re.search(r"(?<![\w.])[1-9]\d{0,3}(?:\.\d)?(?=B\b| ?G)", words, re.I)
    if kind == "fabric":
        speed = float(size[0]) if size else 1e9
        links = sorted(fabric_links(catalog), key=lambda link: abs(math.log(link.gbit_per_s.value / speed)))
        return [link.name for link in links]
    dnns = catalog.dnns.values()
    networks = [item for item in dnns if item.family == kind] or [item for item in dnns if item.sample == kind]
    family = re.split(r"[\s-]", words.lower())[0]

    def order(item: Dnn) -> tuple[float, bool, int]:
        gap = abs(math.log(item.parameters.value / (1e9 * float(size[0])))) if size else 0.0
        return gap, not item.name.lower().startswith(family), place_of(item)

    return list(dict.fromkeys(short_name(item) for item in sorted(networks or dnns, key=order)))


def _newest_first(catalog: Catalog, gpus: Sequence[str]) -> tuple[float, float]:
    """Order of the parts with some GPUs, the fastest first: what is not held is most likely a newer one."""
    items = [catalog.gpus[key] for key in gpus]
    peak = max((one.peak_mixed_flop_per_s.value for one in items), default=0.0)
    return -peak, -max((one.memory_bytes.value for one in items), default=0.0)
