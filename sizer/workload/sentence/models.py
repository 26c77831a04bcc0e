"""What a sentence says about networks and their training; what the catalogue does not hold; work that is not sized."""

import math
import re
from dataclasses import replace

from sizer.base.quantities import tokens_text
from sizer.catalog.fabrics import fabric_links
from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold, usable_gpus
from sizer.catalog.schema import Dnn
from sizer.workload.kinds import Networks, aside_in, kind_in, trains_in
from sizer.workload.language import DEFAULT_SEQUENCE_TOKENS, short_context
from sizer.workload.sentence.grammar import CALLED, GRAMMAR, rule
from sizer.workload.sentence.names import KNOWN, names_of, pieces, place_of, short_name
from sizer.workload.sentence.notes import LEAST_PERIOD_S, MOST_WHO_TRAIN, Notes, read_rules, taken_by
from sizer.workload.sentence.quantities import Amount
from sizer.workload.sentence.reading import Answer, Question
from sizer.workload.sentence.scope import governor, is_existing
from sizer.workload.sentence.text import READ, Match, Name, Thing
from sizer.workload.serving import EMBEDDING, EMBEDS
from sizer.workload.transformer.custom_transformer import MOST_PARAMETERS

_LEAST_PARAMETERS = 1e6
_INPUT_BYTES = 150_528  # 224 x 224 RGB


def read_kind_of_model(notes: Notes) -> None:
    """Whether the sentence is about language models, and a model that it gives by its numbers."""
    text, outside = notes.text, [name.ids[0] for name in notes.names("outside")]
    of_text = any(thing.kind.startswith(("tokens", "documents", "requests")) for thing in text.things)
    no_text = any(rule("<NO_LANGUAGE>").search(words) for words in (text.sentence, text.shape))
    no_text = no_text or bool({*GRAMMAR["sample_names"], "detection", "diffusion"} & {*outside})
    if no_text and not (of_text or _dnns_named(notes) or text.find(r"<LANGUAGE_MODEL>")):
        _read_network(notes)
        return
    tunes = rule(r"<TUNING>").search(text.sentence) and rule(r"\b(?:<TEXT_NOUN>)\b").search(text.sentence)
    notes.means_language = bool(tunes) and not text.find(r"{dnn|outside}")
    for found in text.each(r"<LANGUAGE_MODEL>"):
        notes.means_language = True
        text.record(found, "language model")
    _ask_mixture(notes)
    _read_shape(notes)
    for found in text.each(r"{kind}"):
        text.record(found, "a transformer")


def _read_network(notes: Notes) -> None:
    """A network of one's own by the work of a forward pass and its parameters; with one of them the other is asked."""
    flop = notes.text.find(r"{flop|flop/sample}(?: (?:forward|per|each|a|for) ?\w*)*")
    size = notes.text.find(r"{parameters}")
    told = [one for one in (flop, size) if one is not None]
    if len(told) == 1 and not notes.names("outside"):  # which is asked about itself
        notes.ask("network own", told[0], GRAMMAR["reasons"]["own"])
    for found in told:
        notes.text.record(found, "of a network of one's own")
    if flop is not None and size is not None:
        work = {"forward_flop": flop.value.high, "parameters": size.value.high, "input_bytes": _INPUT_BYTES}
        notes.own_network = {"name": "Own network", **work}
        notes.text.assume("FLOP: twice the multiply-accumulates of one sample, which the GPU gets as 224 x 224 RGB")


def _ask_mixture(notes: Notes) -> None:
    """Offer the nearest mixtures of experts for one that is described by its numbers, which give no shape."""
    for found in notes.text.each(r"<MIXTURE>(?:<MIXTURE_GAP><MIXTURE>)*"):
        if not re.search(r"\bMoE|mixtures?[ -]of|experts?", found.words, re.I):
            continue
        if dnns := _dnns_named(notes):  # as that network has them, or unread
            shapes = [dnn.transformer for dnn in dnns if dnn.transformer is not None]
            known = {count for shape in shapes for count in (shape.experts, shape.active_experts)}
            if known >= {round(quantity.high) for quantity in found.quantities("experts", "n")}:
                notes.text.record(found, f"as {short_name(dnns[0])} has it")
            continue
        if notes.names("dnn"):  # one of several, which is asked first
            notes.text.record(found, "as the named network has it")
            continue
        size = max((one.high for one in found.quantities("parameters", "n") if one.high > 1e6), default=0.0)
        items = [dnn for dnn in notes.catalog.dnns.values() if dnn.transformer and dnn.transformer.experts > 1]
        near = {item.id: abs(math.log(item.parameters.value / size)) if size else place_of(item) for item in items}
        items.sort(key=lambda item: (near[item.id], item.id))
        notes.means_language = True
        notes.choose("network nearest", found, GRAMMAR["reasons"]["mixture"], map(short_name, items[:6]))


def _read_shape(notes: Notes) -> None:
    """A model by its layers and width, or by its size: "a 13B dense model"."""
    parts = {key: (found, meaning) for key, meaning, source in GRAMMAR["parts"] if (found := notes.text.find(source))}
    if not {"layers", "hidden"} <= parts.keys():
        for found in notes.text.each(r"<OWN_SIZE>"):
            _read_size(notes, found)
        return
    shape = {key: round(found.value.high) for key, (found, _) in parts.items()}
    named = [dnn.transformer for dnn in _dnns_named(notes) if dnn.transformer]
    same = [one for one in named if (one.layers, one.hidden) == (shape["layers"], shape["hidden"])]
    for key, (found, meaning) in parts.items() if same or not named else ():
        notes.text.record(found, f"{shape[key]:,} {meaning}")
    if not named:
        notes.own_model = {"name": "Own model", **shape}
        for found in notes.text.each(r"{parameters}(?: <NOUN>)?"):
            notes.text.record(found, "parameters, which its shape gives")


def _read_size(notes: Notes, match: Match) -> None:
    """A usual dense model of a size, unless the size is that of a network of the catalogue."""
    size, words, sentence = match.value, match.words, notes.text.sentence
    at = re.search(r"(?:^| )-$", sentence[: size.start]) is not None
    # The size of an adjacent name: "DeepSeek R1 671B", "13B Llama", "Llama with 13B parameters".
    start, end = notes.text.span(match.start, match.end)
    beside = [name for name in notes.names("dnn", "outside") if name.kind == "dnn" or name.ids[0] == "token"]
    is_of_named = any(re.fullmatch(r"[ -]?", sentence[end : one.start]) for one in beside if one.start >= end)
    gap = r"[ -](?:with |of |at )?(?:a )?"
    is_of_named |= any(re.fullmatch(gap, sentence[one.end : start], re.I) for one in beside if one.end <= start)
    parameters = -size.high if at else size.high
    says_so = size.noun != "" or at or rule(r"\b<MODEL_KIND>\b").search(words) is not None
    key = f"{size.high / 1e9:g}B"
    named = names_of(notes.catalog).sizes.get(key, []) if size.kind == "parameters" else []
    is_alone = size.kind == "parameters" and not notes.names("dnn", "outside")
    is_told = says_so or named or is_alone or rule(r"<NOUN>$").search(words)
    if (size.kind == "n" and not size.is_scaled) or is_of_named or not is_told:
        return
    # "A 20B model" is of a class of size, whatever one of the catalogue has it; a size alone may be a name.
    if len(named) == 1 and size.noun == "" and key in notes.catalog.dnns[named[0]].aliases:
        notes.text.mark(match.match.end("size"), match.end)
        return  # one network is what people mean by it
    if not _LEAST_PARAMETERS <= parameters <= MOST_PARAMETERS:
        shown = replace(match, words=f"{'-' if at else ''}{words}")
        notes.ask("refused", shown, f"parameters = {parameters:g} must be between 1e6 and 1e13")
        return
    listed = [name for name in notes.names("dnn") if len(name.ids) == 1]
    between = [sentence[one.end : start] or sentence[start : one.start] for one in listed]
    is_other = not listed or any(rule(r"<LISTS>").search(gap) for gap in between)
    if is_other and notes.own_model is None:
        notes.own_model = {"name": f"{parameters / 1e9:g}B model", "parameters": parameters}
        notes.text.record(match, f"a usual dense model of {parameters / 1e9:g} billion parameters")
        if not rule(r"\b<MODEL_KIND>\b").search(words):
            notes.text.assume(f"no {parameters / 1e9:g}B model is named: one of usual dense shape")


def _dnns_named(notes: Notes) -> list[Dnn]:
    return [notes.catalog.dnns[name.ids[0]] for name in notes.names("dnn") if len(name.ids) == 1]


def read_networks(notes: Notes) -> None:
    """Networks and data sets by name; a name or a size of several networks is asked for."""
    catalog, text, sizes = notes.catalog, notes.text, names_of(notes.catalog).sizes
    for found in text.each(r"<EITHER>"):
        either = found.names("dnn")
        if all(len(one.ids) == 1 for one in either):
            notes.choose("network either", found, "", [text.sentence[one.start : one.end].strip() for one in either])
    named = [*notes.names("dnn")]
    for found in text.each(r"{parameters}"):
        key = f"{found.value.high / 1e9:g}B"
        if found.value.noun == "" and key in sizes:
            named.append(Name("dnn", found.value.start, found.value.end, tuple(sizes[key])))
    named.sort(key=lambda one: one.start)
    words = GRAMMAR["sample_names"]
    told = {kind for kind in ("image", "volume") if re.search(rf"\b(?:{words[kind]})\b", text.sentence, re.I)}
    for found in text.each(r"{dnn}") if told == {"image"} else ():  # a U-Net of photos is none of volumes
        other, dnn = found.names("dnn")[0], catalog.dnns[found.ids("dnn")[0]]
        is_whole = set(pieces(short_name(dnn))) <= set(pieces(text.sentence[other.start : other.end]))
        if len(other.ids) == 1 and dnn.sample == "volume" and not is_whole:
            named.remove(other)
            ask_unavailable(notes, "image", found, other)
    single = [one for one in named if len(one.ids) == 1]
    notes.dnns = list(dict.fromkeys(one.ids[0] for one in single))
    families = [one for one in named if len(one.ids) > 1 and not set(one.ids) & set(notes.dnns)]
    if notes.dnns:  # "object detection with YOLOv8m": what it is for
        purposes = rule("|".join(rf"\b(?:{one[1]})\b" for one in GRAMMAR["purposes"]["offered"] if one[1]))
        families = [family for family in families if not purposes.search(text.sentence, family.start, family.end)]
    if families and (notes.dnns or not (notes.own_model or notes.own_network)):
        _ask_family(notes, families)
    places = {one.start: one for one in named}
    for found in text.each(r"{dnn}|{parameters}"):
        if (one := places.get(found.things[0].start)) is None:
            continue
        dnn, is_single = catalog.dnns[one.ids[0]], len(one.ids) == 1
        text.record(found, dnn.name if is_single else "kind of network")
        if is_single and found.quantities("parameters"):
            text.assume(f"{found.words}: {dnn.name}, the network of the catalogue of this size")
        elif is_single and dnn.transformer is not None:
            texts = (found.words, f"{dnn.name} {dnn.id} {dnn.vendor} instruct chat base model hf")
            parts, known = (set(re.findall(r"[a-z]+|\d+(?:\.\d+)?", words.lower())) for words in texts)
            if parts - known:
                text.assume(f"{found.words}: as {short_name(dnn)}, whose shape it has")
    for key in notes.dnns:
        for found in text.each(r"{parameters}(?: (?:in )?total)?"):
            if abs(found.value.high / catalog.dnns[key].parameters.value - 1) < 0.1:
                text.record(found, f"size of {short_name(catalog.dnns[key])}")
    for found in text.each(r"(?:\b(?:on|auf|sur) )?{dataset}"):
        if _take_dataset(notes, found.names("dataset")[0], single):
            text.record(found, f"data set {catalog.datasets[found.ids('dataset')[0]].name}")


def _take_dataset(notes: Notes, dataset: Name, networks: list[Name]) -> bool:
    """Give a data set to the nearest networks that it can feed: those listed before it, else the first after it."""
    sample, dnns = notes.catalog.datasets[dataset.ids[0]].sample, notes.catalog.dnns
    reads = (sample, *(["token"] if sample in ("sequence", "sentence pair") else []))
    fed = [one for one in networks if dnns[one.ids[0]].sample in reads and one.ids[0] not in notes.own_datasets]
    before = [one for one in fed if one.start < dataset.start]
    nearest = before[-1:] or fed[:1]
    for one in reversed(before[:-1]):
        if re.fullmatch(r",? ?(?:and|&|plus|,) ?", notes.text.sentence[one.end : nearest[0].start], re.I):
            nearest.insert(0, one)
    notes.own_datasets |= {one.ids[0]: dataset.ids[0] for one in nearest}
    return bool(nearest)


def _ask_family(notes: Notes, families: list[Name]) -> None:
    """Ask which network of a family is meant; names side by side are one: "13B Llama"."""
    run = families[:1]
    for family in families[1:]:
        if not notes.text.sentence[run[-1].end : family.start].strip(" -"):
            run.append(family)
    common = ([key for key in some[0].ids if all(key in one.ids for one in some)] for some in (families, run, run[:1]))
    keys = sorted(next(filter(None, common)), key=lambda key: place_of(notes.catalog.dnns[key]))
    start, end = run[0].start, run[-1].end
    words = notes.text.sentence[start:end]
    answers = [notes.change(name, start, end, name) for name in (short_name(notes.catalog.dnns[key]) for key in keys)]
    if re.fullmatch(r"\d{1,4}(?:\.\d)? ?(?:B|billion)", words, re.I):
        answers.append(notes.change(f"usual dense {words} model", start, end, f"{words} dense"))
    notes.questions.append(Question("network named", words, answers=tuple(answers)))


# --- the training of a language model

_TOKENS_OF_SENTENCE = 32  # of 24 words; assumed
_SHARDED = {"optimizer": "optimizer state sharded (ZeRO-1)", "all": "weights, gradients and optimizer state sharded"}
SEQUENCE, DOCUMENT, TOKENS = "sequence_tokens", "document_tokens", "tokens"
# What so many tokens of one thing are.
_ROLES_OF = {"sample": SEQUENCE, "sequence": SEQUENCE, "step": "batch", "person": DOCUMENT}
LANGUAGE_KEYS = GRAMMAR["keys"]["language"].split()
# A training has thousands of sequences at least: a number of tokens that much smaller is no second training length.
_LEAST_SEQUENCES, _MOST_TOKENS = 1_000, 1_000_000


def read_language(notes: Notes) -> None:
    """Take what a sentence says about the training of the language model that it names or has to name."""
    if notes.dnns and not notes.is_language:
        _tell_other(notes)
        return
    shapes = [network.transformer for network in notes.networks if network.transformer is not None]
    usual = [shape.sequence_tokens or short_context(shape) for shape in shapes]
    read_rules(notes, "language", _TAKES)
    sequence = _read_lengths(notes, (usual and usual[0]) or DEFAULT_SEQUENCE_TOKENS)
    is_told = bool({*LANGUAGE_KEYS, "tokens_per_s"} & {*notes.work, *notes.work.get("target", {})})
    notes.means_language |= is_told or notes.own_model is not None
    for adapters in notes.text.each(r"<ADAPTERS>"):
        if re.search("qlora", adapters.words, re.I):
            reason = "a base of 4-bit weights is not sized; LoRA holds them in 16 bits, four times the memory"
            notes.choose("layout", adapters, reason, ("LoRA",))
        notes.work["method"] = "lora"
        notes.text.record(adapters, "training of adapters (LoRA)")
    if notes.means_language or notes.is_language:
        # Fine-tuning and continued pre-training, where no adapters are trained.
        for source, method in GRAMMAR["methods"]:
            for found in notes.text.each(source):
                notes.text.record(found, GRAMMAR["called"][notes.work.setdefault("method", method)])
        _read_samples(notes, sequence)


def _tell_other(notes: Notes) -> None:
    """Of another network: its training is not counted in tokens, and a request states the whole of it only."""
    name = short_name(notes.networks[0])
    for _, source, *_ in GRAMMAR["language"]:
        for found in notes.text.each(source):
            if not found.names("software"):
                notes.leave(found)
    for found in notes.text.each(r"{n|tokens|samples}"):
        role, whole = governor(notes.text, found, "training") or ("", found)
        if role == "batch" and notes.text.find(r"<INFERENCE>|<CLASSIFY>"):
            notes.set("w.batch_per_gpu", round(found.value.high), whole, f"batch of {found.value.high:g} per GPU")
        elif found.value.kind == TOKENS and not role and found.value.high >= _LEAST_PARAMETERS:
            notes.ask_place(found, f"the training of {name} is not counted in tokens")
        elif found.value.kind == TOKENS or role == "batch":
            notes.leave(whole)
    for source in (*(source for source, _ in GRAMMAR["methods"]), r"<ADAPTERS>"):
        for tuning in notes.text.each(source):
            if notes.text.find("{epochs}"):
                notes.text.record(tuning, "as so many epochs of the whole network")
            else:
                reason = f"a request cannot state the fine-tuning of {name}, which takes less than what is sized"
                notes.choose("layout", tuning, reason, ("training",))


def _read_lengths(notes: Notes, usual: int) -> int:
    """Tokens of a step, of a sequence or of a document, and the others, which are the training; the sequence."""
    text, work, batch, totals = notes.text, notes.work, list[tuple[Match, Amount]](), list[tuple[Match, float]]()
    per = "|".join(f"tokens/{one}" for one in (*_ROLES_OF, "parameter"))
    for found in text.each(rf"{{n|tokens|samples|samples/step|{per}}}"):
        amount, of = found.value, found.value.kind.partition("/")[2]
        role, whole = governor(text, found, "training") or ("", found)
        role = _ROLES_OF.get(of, role)
        if of == "parameter":
            own = (notes.own_model or {}).get("parameters", 0.0)
            totals.append((found, amount.high * max([own, *(network.parameters.value for network in notes.networks)])))
            continue
        is_kilo = amount.kind == "samples" and amount.is_kilo and amount.noun[:3] == "seq" and amount.high < 1e6
        if role == "local" or (amount.kind in ("n", "samples") and role in ("", DOCUMENT) and not is_kilo):
            continue
        counted = rule(r"<COUNTED_THINGS>(?P<joins><JOINS>|,? ?\(?)?$").search(text.shape[: found.start])
        things = text.match_of(counted).value if counted else None
        is_all = rule(r" (?:in total|total|altogether|overall|in all)\b").match(text.shape, found.end) is not None
        is_second = bool(batch) and not role and rule(r"\x00<JOINS>$").search(text.shape[: found.start]) is not None
        if role == "batch":
            batch.append((whole, amount))
            text.mark(found.start, found.end)
        elif is_kilo or is_second or (role == SEQUENCE and amount.length <= 10 * _MOST_TOKENS):
            notes.set(f"w.{SEQUENCE}", amount.length, whole, f"sequences of {amount.length} tokens")
        elif role == DOCUMENT and amount.length > _MOST_TOKENS:  # no text: a training has so many
            people = text.find("{people}") if of == "person" else None
            totals.append((whole, amount.high * (people.value.high if people else 1)))
            if people:
                text.record(people, f"{people.value.high:g} trainings, each of its own adapter")
        elif counted and things and not is_all and (role or counted["joins"] or amount.high < 10 * things.high):
            work[SEQUENCE if things.noun[:3] == "seq" else DOCUMENT] = amount.length
            if amount.length > work.get(SEQUENCE, usual):
                work.setdefault(SEQUENCE, amount.length)
            totals.append((text.part(whole, counted.start(), whole.end), things.high * amount.length))
        elif role == DOCUMENT:
            notes.set(f"w.{DOCUMENT}", amount.length, whole, f"documents of {amount.length:,} tokens")
        else:
            totals.append((found, amount.high))
    most = max((tokens for _, tokens in totals), default=0.0)
    for found, tokens in totals:
        # Far smaller numbers are asked about: they are no second training length.
        if tokens * _LEAST_SEQUENCES <= most and tokens < _MOST_TOKENS and SEQUENCE not in work:
            reason = f"the training length is {tokens_text(most)}; these may be those of a sequence or of a step"
            notes.choose("layout", found, reason, (f"sequences of {found.words}", f"batch of {found.words}"))
        else:
            notes.set(f"w.{TOKENS}", tokens, found, f"training on {tokens_text(tokens)}")
    sequence: int = work.get(SEQUENCE, usual)
    for whole, amount in batch:
        count = amount.high / sequence if amount.kind.startswith(TOKENS) else amount.high
        notes.set("w.batch_sequences", max(1, round(count)), whole, f"{count:,.12g} sequences in a step")
    if (steps := text.find(r"{steps}")) is not None and TOKENS not in work and batch:
        tokens = steps.value.high * work["batch_sequences"] * sequence
        notes.set(f"w.{TOKENS}", tokens, steps, f"training on {tokens_text(tokens)}")
    if work.get("packing") is False and DOCUMENT not in work:
        del work["packing"]
        reason = "needs the mean length of the documents; add for example 'documents of 500 tokens'"
        notes.questions.append(Question("refused", "unpacked", reason))
    return sequence


def _tokens_per_s(notes: Notes, match: Match, key: str) -> None:
    amount = match.value
    if amount.per_s >= LEAST_PERIOD_S and notes.text.find(r"<TIME>"):  # so many a night, in eight hours
        tokens = amount.high * amount.per_s
        notes.set(f"w.{TOKENS}", tokens, match, f"training on {tokens_text(tokens)}, every time")
    else:
        notes.aim(match, key, amount.high, f"minimum rate {tokens_text(amount.high)}/s")


def _sharding(notes: Notes, match: Match, _: str) -> None:
    """What is divided: by ZeRO with its stage, or by FSDP where no named stack says so already."""
    is_zero, names = re.search("zero|optimi", match.words, re.I), match.ids("software")
    stage = int(match["digits"] or (match.value.high if match.quantities() else 1)) if is_zero else 3
    if names and not is_zero:
        named = {one for one in notes.ids("software") if not one.lower().startswith("fsdp")}
        stacks = (stack for stack in notes.catalog.stacks.values() if stack.trains_language and "FSDP" in stack.name)
        texts = " ".join(f"{stack.framework} {stack.name}".lower() for stack in stacks)
        if not names[0].lower().startswith("fsdp") or any(one.lower() in texts for one in named):
            return
    if stage == 2:
        reason = "a request shards the optimizer state, or the gradients and weights, too"
        notes.choose("layout", match, reason, ("ZeRO-1", "ZeRO-3"))
    else:
        kind = "all" if stage == 3 else "optimizer"
        notes.set("w.layout.sharding", kind, match, _SHARDED[kind])


_TAKES = taken_by(_sharding, _tokens_per_s)


def _read_samples(notes: Notes, sequence: int) -> None:
    """A number of samples is the training length: as long as stated, else full sequences, the most they can be."""
    found = notes.text.find(r"{samples|documents}")
    if found is None:
        return
    count, stated, tokens = found.value.high, notes.work.get(DOCUMENT), notes.work.get("tokens")
    told, length = f"{count:,.12g} samples", stated or sequence
    if tokens is not None and tokens >= count:
        notes.text.record(found, f"{told}; the tokens are stated")
        return
    if tokens is None and not stated and found.value.unit == "sentences":
        stated = length = min(_TOKENS_OF_SENTENCE, sequence)
        notes.text.assume(f"{told}: sentences of {stated} tokens")
    elif tokens is None and not stated:
        most = f"full sequences of {sequence:,} tokens, the most that it can be"
        notes.text.assume(f"length of {told} not given: {most}")
    notes.work["tokens"] = count * (tokens or length)  # those of each, or as many as are stated of it
    each = f"{tokens or length:,.12g}" if tokens or stated else f"at most {sequence:,}"
    notes.text.record(found, f"{told} of {each} tokens: training on {tokens_text(notes.work['tokens'])}")


# --- what the catalogue does not hold, with the nearest that it has; and work that is not sized

_MOST_ANSWERS = 6
# Parts of which any that the catalogue has may stand in the place of another.
_ANY = ("server", "storage", "fabric")
# A size of a model or of a link.
_SIZE = r"(?<![\w.])[1-9]\d{0,3}(?:\.\d)?(?=B\b| ?G)"


def read_outside(notes: Notes) -> None:
    """Names that are known and not held, and words that can only be the name of a part."""
    text = notes.text
    for found in text.each(r"<OUTSIDE>|<UNKNOWN>"):
        group = next(one for one in ("name", "counted", "named") if found[one])
        what = (found["what"] or found["kind"] or ("server" if found["make"] else "gpu")).lower()
        named, is_of_gpus = found.names("outside"), rule(r"<OF_GPUS>").match(text.shape, found.end) is not None
        if named:
            kind = named[0].ids[0]
        elif what in ("storage", "filer", "filers"):
            kind = "storage"
        else:
            kind = "server" if what[0] in "snb" or is_of_gpus else "gpu"
        start, end = found.match.span(group)
        notes.means_language |= kind == "token"
        if kind == "token" and _take_model(notes, found):
            continue
        if kind == "own" and notes.own_network is None:  # of which nothing is published here
            notes.ask("network own", found, GRAMMAR["reasons"]["own"])
        elif kind == "own" and notes.own_network is not None:
            notes.own_network["name"] = found.words
            text.record(found, "of a network of one's own")
        elif kind not in ("gpu", "server", "storage") or not is_existing(text, found):
            end = found.end if found.quantities("parameters") else end
            ask_unavailable(notes, kind, text.part(found, start, end))
            text.mark(found.start if kind in ("gpu", "server") else start, found.end)
        elif is_of_gpus or (named and (gpus := KNOWN.get(pieces(text.sentence[named[0].start : named[0].end])))):
            count = found.value.high if found.quantities() else 1.0
            if is_of_gpus:  # told by its GPUs, as servers of any make are
                text.put_at(found, Amount("servers", 0, 0, count, count, "servers", "servers"))
            else:
                notes.choose("server", found, "", [f"{count:g} servers with {gpus}"])
        else:
            notes.ask_place(found, GRAMMAR["reasons"]["owned"])


def _take_model(notes: Notes, match: Match) -> bool:
    """Whether a language model that the catalogue lacks is taken by its size: its name has it, or it is published."""
    name = match.names("outside")[0]
    words = " ".join(notes.text.sentence[name.start : name.end].split())
    told = re.search(r"(?<![\w.x])(\d{1,4}(?:\.\d)?) ?B\b", match.words, re.I)
    billions = float(told[1] if told else KNOWN.get(pieces(words), 0))
    if not billions or notes.own_model is not None or notes.names("dnn"):
        return False
    words += "" if re.search(r"\dB\b", words, re.I) or not told else f" {billions:g}B"
    notes.own_model = {"name": words, "parameters": billions * 1e9}
    notes.text.assume(f"{words}: not in the catalogue; a usual dense model of {billions:g} billion parameters")
    notes.text.record(match, words)
    return True


def is_sized(notes: Notes) -> bool:
    """Whether the sentence is about one job that can be sized; another kind is refused, next to a training it is split.

    The task of a language model that is no training is noted.
    """
    dnns = [notes.catalog.dnns[key] for key in notes.ids("dnn")]
    has_size = any(thing.kind == "parameters" for thing in notes.text.things) and not notes.own_network
    networks: Networks = "unknown"
    if all(dnn.transformer is not None for dnn in dnns) and (
        notes.means_language or notes.own_model or dnns or has_size
    ):
        networks = "language"
    elif dnns:
        networks = "diffusion" if any(dnn.family == "diffusion" for dnn in dnns) else "other"
    sentence = _masked(notes, networks)
    told_kind, named = kind_in(sentence, networks), notes.dnns
    embedders = [key for key in named if notes.catalog.dnns[key].family == EMBEDS]
    embeds = bool(embedders) and len(embedders) == len(named) and not trains_in(notes.text.sentence)
    if embedders and len(embedders) < len(named):
        notes.dnns = [key for key in named if key not in embedders]
        names = " and ".join(notes.catalog.dnns[key].name for key in embedders)
        notes.text.assume(f"{names}: embedding the questions takes next to nothing and is not sized")
    while told_kind is not None and told_kind.kind.use and notes.dnns != named:  # beside the model that answers
        sentence = f"{sentence[: told_kind.start]}{' ' * (told_kind.end - told_kind.start)}{sentence[told_kind.end :]}"
        told_kind = kind_in(sentence, networks)
    if embeds or told_kind is None:
        notes.work |= {"task": "generation", "use": EMBEDDING} if embeds else {}
        notes.means_language |= embeds
        return True
    kind, clause = told_kind.kind, told_kind.clause
    words = notes.text.sentence[told_kind.start : told_kind.end].strip(" :;,.-")
    is_of_language = networks == "language" or (networks == "unknown" and not notes.text.find(r"{samples/time}"))
    if clause is None and kind.sized and is_of_language:
        notes.work |= {"task": kind.sized, **({"use": kind.use} if kind.use else {})}
        notes.means_language = True
        return True
    if clause is None and kind.is_asked:
        if not (dnns or trains_in(sentence)):  # else the team has them beside the training
            training = notes.answer("ResNet-50 training")
            notes.questions.append(Question("notebooks", words, kind.refusal, answers=(training,)))
            notes.text.mark_words(told_kind.start, told_kind.end)
        return True
    if clause is not None and (networks != "unknown" or kind.sized):
        notes.second_job = told_kind
        return False
    key, answers = "refused", tuple[Answer, ...]()
    aside = None if kind.is_part or trains_in(notes.text.sentence) else aside_in(sentence, kind)
    if aside is not None:
        key, answers = "task aside", (notes.change("the language model in use", *aside, ""),)
        joints = r"^\s*(?:and|then|plus|und|et)\s+|[\s,;.]+(?:and|then|plus|und|et)?\s*$"
        words = re.sub(joints, "", notes.text.sentence[slice(*aside)])
    elif kind.instead and (places := kind.places_in(sentence)):
        # Of "Qwen2.5-VL 7B" the rest of the name stays.
        is_in_name = places[0][0] > 0 and not sentence[places[0][0] - 1].isspace()
        texts = ["" if index or is_in_name else kind.instead for index in range(len(places))]
        edits = [(start, end, text) for (start, end), text in zip(places, texts, strict=True)]
        edits += notes.answer(kind.instead).edits if is_in_name else ()
        answers = (Answer(kind.instead, notes.edited(edits), tuple(edits)),)
        # Of a teacher and its student only one is trained: which one is asked.
        several = kind.is_training and sum(thing.kind in ("dnn", "parameters") for thing in notes.text.things) > 1
        key = "task part" if kind.is_part and not several else "task nearest"
    notes.questions = [Question(key, words, kind.refusal, answers=answers)]
    notes.is_refused = True
    return False


def _masked(notes: Notes, networks: Networks) -> str:
    """The sentence as the table of kinds of work reads it: with signs in the place of networks, people and requests."""
    text, dnns, masks = notes.text, notes.catalog.dnns, list[tuple[Thing, str]]()
    for one in (*notes.names("outside"), *notes.names("dnn")):
        is_language = one.ids[0] == "token" if one.kind == "outside" else any(dnns[key].transformer for key in one.ids)
        is_task = re.search(r"generation|text[ -]to", text.sentence[one.start : one.end], re.I)
        if is_language if one.kind == "outside" else not is_task:
            masks.append((one, READ if is_language else "\1"))
    # Beside a language model people use it, unless words of training work say that they train.
    trains = trains_in(_signed(text.sentence, masks)) or rule(r"<TEAM_WORK>").search(text.sentence) is not None
    who = rule(r"<WHO_TRAINS>$" if trains or networks != "language" else r"<TRAINERS>")
    is_trained_for = any(thing.kind == "tokens/person" for thing in text.things)
    for amount in text.amounts:
        words = text.sentence[amount.start : amount.end]
        if amount.kind == "parameters" and notes.own_model is not None:
            masks.append((amount, READ))
        elif amount.kind == "people":
            if not (is_trained_for or (amount.high <= MOST_WHO_TRAIN and who.search(words))):
                masks.append((amount, "\2"))
        elif amount.kind == "requests/time" or (amount.kind == "requests" and rule(r"<AT_ONCE>").search(words)):
            masks.append((amount, "\3"))
    if not trains and (many := text.find(r"<FOR_SO_MANY>")) is not None and many.value.high > 1:
        masks.append((many.value, "\2"))
    return _signed(text.sentence, masks)


def _signed(sentence: str, masks: list[tuple[Thing, str]]) -> str:
    for one, mark in masks:
        sentence = f"{sentence[: one.start]}{mark * (one.end - one.start)}{sentence[one.end :]}"
    return sentence


def ask_unavailable(notes: Notes, kind: str, match: Match, name: Name | None = None) -> None:
    """Ask for something that the catalogue holds in the place of some words."""
    start, end = (name.start, name.end) if name is not None else notes.text.span(match.start, match.end)
    words = notes.text.sentence[start:end].strip()
    names = _held(notes.catalog, kind, words)
    answers = [notes.change(held, start, end, held) for held in names[:_MOST_ANSWERS]]
    key = "unavailable" if kind in CALLED else "unavailable model" if kind == "token" else "unavailable network"
    if kind not in (*CALLED, "token") and (notes.own_model or any(one is not name for one in notes.names("dnn"))):
        key = "unavailable beside"
        answers.insert(0, notes.change("the other network that is named", start, end, ""))
    if key == "unavailable network" and rule(r"<TUNING>").search(notes.text.sentence):
        key = "unavailable model"  # which no other one stands for
    if kind in (*_ANY, "precision"):  # it changes no rate as a GPU does
        key = "unavailable part"
    if kind in _ANY:
        start -= 3 * notes.text.whole[:start].endswith(" of ")  # "6 nodes of AC922 with 4 V100"
        answers.insert(0, notes.change(f"any {CALLED[kind]}", start, end, "storage" if kind == "storage" else ""))
    notes.questions.append(Question(key, words, CALLED.get(kind, "neural network"), tuple(names), tuple(answers)))
    notes.text.mark(match.start, match.end)


def _held(catalog: Catalog, kind: str, words: str) -> list[str]:
    """Names of what the catalogue holds of a kind: the nearest to some words, GPUs of their series, the fastest."""
    series, size = re.split(r"[\s-]", words.lower())[0], re.search(_SIZE, words, re.I)
    peaks = {key: gpu.peak_mixed_flop_per_s.value for key, gpu in catalog.gpus.items()}
    if kind == "gpu":
        gpus = [gpu for key in usable_gpus(catalog) if is_sold(catalog, gpu := catalog.gpus[key], None)]
        gpus.sort(key=lambda gpu: (series not in gpu.name.lower(), -peaks[gpu.id], -gpu.memory_bytes.value, gpu.id))
        return [gpu.name for gpu in gpus]
    if kind == "precision":
        return ["mixed precision", "single precision"]
    speed = float(size[0]) if size else 1e9
    if kind == "fabric":
        links = sorted(fabric_links(catalog), key=lambda link: abs(math.log(link.gbit_per_s.value / speed)))
        return [link.name for link in links]
    if kind == "storage":
        return [one.name for one in catalog.storage.values() if one.orderable and one.kind != "local"]
    if kind == "server":
        servers = [one for one in catalog.servers.values() if one.role == "gpu" and one.gpus and one.orderable]
        return [server.name for server in sorted(servers, key=lambda one: -max(peaks[key] for key in one.gpus))]
    dnns, billions = [*catalog.dnns.values()], 1e9 * float(size[0]) if size else 0.0
    dnns = [dnn for dnn in dnns if dnn.family == kind] or [dnn for dnn in dnns if dnn.sample == kind] or dnns
    gaps = {dnn.id: abs(math.log(dnn.parameters.value / billions)) if billions else 0.0 for dnn in dnns}
    dnns.sort(key=lambda one: (gaps[one.id], not one.name.lower().startswith(series), place_of(one)))
    return list(dict.fromkeys(map(short_name, dnns)))
