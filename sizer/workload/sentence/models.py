"""What a sentence says about networks: their names, a language model by its size or shape, and how it is trained."""

import math
import re
from dataclasses import replace

from sizer.base.quantities import tokens_text
from sizer.catalog.schema import Dnn
from sizer.workload.language import DEFAULT_SEQUENCE_TOKENS
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.names import names_of, pieces, place_of, short_name
from sizer.workload.sentence.notes import LEAST_PERIOD_S, Notes
from sizer.workload.sentence.reading import Question
from sizer.workload.sentence.rules import Take, read_rules, taken_by
from sizer.workload.sentence.scope import governor
from sizer.workload.sentence.text import Match, Name
from sizer.workload.sentence.unavailable import ask_unavailable
from sizer.workload.transformer.custom_transformer import MOST_PARAMETERS

_LEAST_PARAMETERS = 1e6
_INPUT_BYTES = 150_528  # 224 x 224 RGB


def read_kind_of_model(notes: Notes) -> None:
    """Whether the sentence is about language models, and a model that it gives by its numbers."""
    if _reads_no_text(notes):
        _read_network(notes)
        return
    for found in notes.text.each(r"<LANGUAGE_MODEL>"):
        notes.means_language = True
        notes.text.record(found, "language model")
    _ask_mixture(notes)
    _read_shape(notes)
    for found in notes.text.each(r"{kind}"):
        notes.text.record(found, "a transformer")


def _reads_no_text(notes: Notes) -> bool:
    """Whether the sentence describes a network of its own that is no language model."""
    of_text = [one for one in notes.text.things if one.kind.startswith(("tokens", "documents", "requests"))]
    if of_text or any(len(one.ids) == 1 for one in notes.names("dnn")) or notes.text.find(r"<LANGUAGE_MODEL>"):
        return False
    no_text = {*GRAMMAR["sample_names"], "detection", "diffusion"}
    outside = any(one.ids[0] in no_text for one in notes.names("outside"))
    return outside or any(rule("<NO_LANGUAGE>").search(words) for words in (notes.text.sentence, notes.text.shape))


def _read_network(notes: Notes) -> None:
    """A network of one's own by the work of a forward pass and its parameters; with one of them the other is asked."""
    flop = notes.text.find(r"{flop|flop/sample}(?: (?:forward|per|each|a|for) ?\w*)*")
    size = notes.text.find(r"{parameters}")
    if flop is None and size is None:
        return
    if (flop is None or size is None) and not notes.names("outside"):  # which is asked about itself
        notes.ask("network own", flop or size, GRAMMAR["reasons"]["own"])
    for found in (one for one in (flop, size) if one is not None):
        notes.text.record(found, "of a network of one's own")
    if flop is None or size is None:
        return
    work = {"forward_flop": flop.value.high, "parameters": size.value.high, "input_bytes": _INPUT_BYTES}
    notes.own_network = {"name": "Own network", **work}
    notes.text.assume("FLOP: twice the multiply-accumulates of one sample, which the GPU gets as 224 x 224 RGB")


def _ask_mixture(notes: Notes) -> None:
    """Offer the nearest mixtures of experts for one that is described by its numbers, which give no shape."""
    dnns = [notes.catalog.dnns[key] for one in notes.names("dnn") if len(one.ids) == 1 for key in one.ids]
    for found in notes.text.each(r"<MIXTURE>(?:<MIXTURE_GAP><MIXTURE>)*"):
        if not re.search(r"\bMoE|mixtures?[ -]of|experts?", found.words, re.I):
            continue
        if dnns:  # as that network has them, or unread
            shapes = [one.transformer for one in dnns if one.transformer is not None]
            known = {count for shape in shapes for count in (shape.experts, shape.active_experts)}
            if known >= {round(one.high) for one in found.quantities("experts", "n")}:
                notes.text.record(found, f"as {short_name(dnns[0])} has it")
            continue
        sizes = [one.high for one in found.quantities("parameters", "n") if one.high > 1e6]
        items = [one for one in notes.catalog.dnns.values() if one.transformer and one.transformer.experts > 1]
        near = {one.id: abs(math.log(one.parameters.value / max(sizes))) if sizes else place_of(one) for one in items}
        nearest = [short_name(item) for item in sorted(items, key=lambda item: (near[item.id], item.id))]
        notes.means_language = True
        notes.choose("network nearest", found, GRAMMAR["reasons"]["mixture"], nearest[:6])


def _read_shape(notes: Notes) -> None:
    """A model by its layers and width, or by its size: "a 13B dense model"."""
    parts = {key: (found, meaning) for key, meaning, source in GRAMMAR["parts"] if (found := notes.text.find(source))}
    if {"layers", "hidden"} <= parts.keys():
        shape = {key: round(found.value.high) for key, (found, _) in parts.items()}
        named = [one.transformer for one in _dnns_named(notes) if one.transformer]
        same = [one for one in named if (one.layers, one.hidden) == (shape["layers"], shape["hidden"])]
        for key, (found, meaning) in parts.items() if same or not named else ():
            notes.text.record(found, f"{shape[key]:,} {meaning}")
        if not named:
            notes.own_model = {"name": "Own model", **shape}
            for found in notes.text.each("{parameters}(?: <NOUN>)?"):
                notes.text.record(found, "parameters, which its shape gives")
        return
    for found in notes.text.each(r"<OWN_SIZE>"):
        _read_size(notes, found)


def _read_size(notes: Notes, found: Match) -> None:
    """A usual dense model of a size, unless the size is that of a network of the catalogue."""
    size, words = found.value, found.words
    at = re.search(r"(?:^| )-$", notes.text.sentence[: size.start]) is not None
    parameters = -size.high if at else size.high
    if size.kind == "n" and not size.is_scaled:
        return
    says_so = size.noun != "" or at or rule(r"\b<MODEL_KIND>\b").search(words) is not None
    named = names_of(notes.catalog).sizes.get(f"{size.high / 1e9:g}B", []) if size.kind == "parameters" else []
    is_alone = size.kind == "parameters" and not notes.names("dnn", "outside")
    if _is_of_named(notes, found) or not (says_so or named or is_alone or rule(r"<NOUN>$").search(words)):
        return
    # Of a size that no name goes by alone, "a dense one" is another than the only one of the catalogue.
    goes_by_size = len(named) == 1 and f"{size.high / 1e9:g}B" in notes.catalog.dnns[named[0]].aliases
    if len(named) == 1 and size.noun == "" and (goes_by_size or not says_so):
        notes.text.mark(found.match.end("size"), found.end)
        return  # one network is what people mean by it
    if not _LEAST_PARAMETERS <= parameters <= MOST_PARAMETERS:
        shown = replace(found, words=f"{'-' if at else ''}{words}")
        notes.refuse(shown, f"parameters = {parameters:g} must be between 1e6 and 1e13")
        return
    listed = [one for one in notes.names("dnn") if len(one.ids) == 1]
    start = notes.text.span(found.start, found.end)[0]
    between = [notes.text.sentence[one.end : start] or notes.text.sentence[start : one.start] for one in listed]
    if listed and not any(rule(r"<LISTS>").search(words) for words in between):
        return
    billions = f"{parameters / 1e9:g}"
    if notes.own_model is None:
        notes.own_model = {"name": f"{billions}B model", "parameters": parameters}
        notes.text.record(found, f"a usual dense model of {billions} billion parameters")
        if not rule(r"\b<MODEL_KIND>\b").search(words):
            notes.text.assume(f"no {billions}B model is named: one of usual dense shape")


def _is_of_named(notes: Notes, found: Match) -> bool:
    """Whether a size is that of an adjacent name: "DeepSeek R1 671B", "13B Llama", "Llama with 13B parameters"."""
    start, end = notes.text.span(found.start, found.end)
    for one in notes.names("dnn", "outside"):
        gap = notes.text.sentence[one.end : start] if one.end <= start else notes.text.sentence[end : one.start]
        near = re.fullmatch(r"[ -](?:with |of |at )?(?:a )?" if one.end <= start else r"[ -]?", gap, re.I)
        if near and (one.kind == "dnn" or one.ids[0] == "token"):
            return True
    return False


def _dnns_named(notes: Notes) -> list[Dnn]:
    return [notes.catalog.dnns[one.ids[0]] for one in notes.names("dnn") if len(one.ids) == 1]


def read_networks(notes: Notes) -> None:
    """Networks and data sets by name; a name or a size of several networks is asked for."""
    catalog, text = notes.catalog, notes.text
    sizes = names_of(catalog).sizes
    named = [*notes.names("dnn")]
    for found in text.each(r"{parameters}"):
        key = f"{found.value.high / 1e9:g}B"
        if found.value.noun == "" and key in sizes:
            named.append(Name("dnn", found.value.start, found.value.end, tuple(sizes[key])))
    named.sort(key=lambda one: one.start)
    notes.dnns = list(dict.fromkeys(one.ids[0] for one in named if len(one.ids) == 1))
    for other in [one for one in named if len(one.ids) == 1 and _reads_other_samples(notes, one)]:
        named.remove(other)
        notes.dnns.remove(other.ids[0])
        for found in text.each(r"{dnn}"):
            if found.things[0] is other:
                ask_unavailable(notes, "image", found, other)
    families = [one for one in named if len(one.ids) > 1 and not set(one.ids) & set(notes.dnns)]
    if families and not ((notes.own_model or notes.own_network) and not notes.dnns):
        _ask_family(notes, families)
    for found in text.each(r"{dnn}|{parameters}"):
        one = next((one for one in named if one.start == found.things[0].start), None)
        if one is not None:
            text.record(found, catalog.dnns[one.ids[0]].name if len(one.ids) == 1 else "kind of network")
            _tell_rename(notes, found.words, one)
            if len(one.ids) == 1 and found.quantities("parameters"):
                text.assume(
                    f"{found.words}: {catalog.dnns[one.ids[0]].name}, the network of the catalogue of this size"
                )
    for key in notes.dnns:
        for found in text.each(r"{parameters}(?: (?:in )?total)?"):
            if abs(found.value.high / catalog.dnns[key].parameters.value - 1) < 0.1:
                text.record(found, f"size of {short_name(catalog.dnns[key])}")
    single = [one for one in named if len(one.ids) == 1]
    for found in text.each(r"(?:\b(?:on|auf|sur) )?{dataset}"):
        if _take_dataset(notes, found.names("dataset")[0], single):
            text.record(found, f"data set {catalog.datasets[found.ids('dataset')[0]].name}")


def _tell_rename(notes: Notes, words: str, one: Name) -> None:
    """Say of which model of the catalogue a language model has the shape, where its name is another."""
    dnn = notes.catalog.dnns[one.ids[0]]
    texts = (words, f"{dnn.name} {dnn.id} {dnn.vendor} instruct chat base model hf")
    parts, held = (set(re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.lower())) for text in texts)
    if len(one.ids) == 1 and dnn.transformer is not None and parts - held:
        notes.text.assume(f"{words}: as {short_name(dnn)}, whose shape it has")


def _reads_other_samples(notes: Notes, one: Name) -> bool:
    """Whether a short name means another network than that of volumes which the catalogue has: a U-Net of photos."""
    dnn, sentence = notes.catalog.dnns[one.ids[0]], notes.text.sentence
    if dnn.sample != "volume" or set(pieces(short_name(dnn))) <= set(pieces(sentence[one.start : one.end])):
        return False
    words = GRAMMAR["sample_names"]
    told = {kind for kind in ("image", "volume") if re.search(rf"\b(?:{words[kind]})\b", sentence, re.I)}
    return told == {"image"}


def _take_dataset(notes: Notes, dataset: Name, networks: list[Name]) -> bool:
    """Give a data set to the nearest networks that it can feed: those listed before it, else the first after it."""
    sample, dnns = notes.catalog.datasets[dataset.ids[0]].sample, notes.catalog.dnns
    reads = (sample, *(["token"] if sample in ("sequence", "sentence pair") else []))
    fed = [one for one in networks if dnns[one.ids[0]].sample in reads and one.ids[0] not in notes.own_datasets]
    before = [one for one in fed if one.start < dataset.start]
    nearest = before[-1:] or fed[:1]
    for one in reversed(before[:-1]):
        if not re.fullmatch(r",? ?(?:and|&|plus|,) ?", notes.text.sentence[one.end : nearest[0].start], re.I):
            break
        nearest.insert(0, one)
    notes.own_datasets |= {one.ids[0]: dataset.ids[0] for one in nearest}
    return bool(nearest)


def _ask_family(notes: Notes, families: list[Name]) -> None:
    """Ask which network of a family is meant; names side by side are one: "13B Llama"."""
    run = families[:1]
    for one in families[1:]:
        if notes.text.sentence[run[-1].end : one.start].strip(" -"):
            break
        run.append(one)
    common = ([key for key in some[0].ids if all(key in one.ids for one in some)] for some in (families, run, run[:1]))
    keys = next(filter(None, common))
    keys.sort(key=lambda key: place_of(notes.catalog.dnns[key]))
    start, end = run[0].start, run[-1].end
    words = notes.text.sentence[start:end]
    names = [short_name(notes.catalog.dnns[key]) for key in keys]
    if re.fullmatch(r"\d{1,4}(?:\.\d)? ?(?:B|billion)", words, re.I):
        names.append(f"{words} dense")
    labels = [f"usual dense {words} model" if name.endswith(" dense") else name for name in names]
    answers = [notes.change(label, start, end, name) for label, name in zip(labels, names, strict=True)]
    notes.questions.append(Question("network named", words, answers=tuple(answers)))


# --- the training of a language model

_SHARDED = {"optimizer": "optimizer state sharded (ZeRO-1)", "all": "weights, gradients and optimizer state sharded"}
SEQUENCE, DOCUMENT, TOKENS = "sequence_tokens", "document_tokens", "tokens"
LANGUAGE_KEYS = GRAMMAR["keys"]["language"].split()
# A training has thousands of sequences at least: a number of tokens that much smaller is no second training length.
_LEAST_SEQUENCES, _MOST_TOKENS = 1_000, 1_000_000


def read_language(notes: Notes) -> None:
    """Take what a sentence says about the training of the language model that it names or has to name."""
    if notes.dnns and not notes.is_language:
        _tell_other(notes)
        return
    usual = [one.transformer.sequence_tokens for one in notes.networks if one.transformer is not None]
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
                notes.work.setdefault("method", method)
                notes.text.record(found, GRAMMAR["called"][notes.work.get("method", method)])
        _read_samples(notes, sequence)


def _tell_other(notes: Notes) -> None:
    """Of another network: its training is not counted in tokens, and a request states the whole of it only."""
    name = short_name(notes.networks[0])

    def leave(notes: Notes, found: Match, _: str) -> None:
        if not found.names("software"):
            notes.leave(found)

    read_rules(notes, "language", dict.fromkeys((key for key, *_ in GRAMMAR["language"]), leave))
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
    text, work, batch, totals = notes.text, notes.work, [], []
    per = "|".join(f"tokens/{one}" for one in ("person", "sample", "sequence", "step", "parameter"))
    for found in text.each(rf"{{n|tokens|samples|samples/step|{per}}}"):
        amount = found.value
        role, whole = governor(text, found, "training") or ("", found)
        of = amount.kind.partition("/")[2]
        role = {"sample": SEQUENCE, "sequence": SEQUENCE, "step": "batch", "person": DOCUMENT}.get(of, role)
        if of == "parameter":
            own = (notes.own_model or {}).get("parameters", 0.0)
            totals.append((found, amount.high * max([own, *(one.parameters.value for one in notes.networks)])))
            continue
        is_kilo = amount.kind == "samples" and amount.is_kilo and amount.noun[:3] == "seq" and amount.high < 1e6
        if role == "local" or (amount.kind in ("n", "samples") and role in ("", DOCUMENT) and not is_kilo):
            continue
        counted = rule(r"<COUNTED_THINGS>(?P<joins><JOINS>|,? ?\(?)?$").search(text.shape[: found.start])
        things = text.match_of(counted).value if counted else None
        is_all = rule(r" (?:in total|total|altogether|overall|in all)\b").match(text.shape, found.end) is not None
        if role == "batch":
            batch.append((whole, amount))
            text.mark(found.start, found.end)
        elif batch and not role and rule(r"\x00<JOINS>$").search(text.shape[: found.start]):
            notes.set(f"w.{SEQUENCE}", amount.length, found, f"sequences of {amount.length} tokens")
        elif (role == SEQUENCE and amount.length <= 10 * _MOST_TOKENS) or is_kilo:
            notes.set(f"w.{SEQUENCE}", amount.length, whole, f"sequences of {amount.length} tokens")
        elif role == DOCUMENT and amount.length > _MOST_TOKENS:  # no text: a training has so many
            totals.append((whole, amount.high * _people_of(notes, of)))
        elif counted and things and not is_all and (role or counted["joins"] or amount.high < 10 * things.high):
            tokens = things.high * amount.length
            work[SEQUENCE if things.noun[:3] == "seq" else DOCUMENT] = amount.length
            if amount.length > work.get(SEQUENCE, usual):
                work.setdefault(SEQUENCE, amount.length)
            whole = text.part(whole, counted.start(), whole.end)
            totals.append((whole, tokens))
        elif role == DOCUMENT:
            notes.set(f"w.{DOCUMENT}", amount.length, whole, f"documents of {amount.length:,} tokens")
        else:
            totals.append((found, amount.high))
    _take_totals(notes, totals)
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


def _take_totals(notes: Notes, totals: list[tuple[Match, float]]) -> None:
    """The tokens of the training; far smaller numbers are asked about, they are no second training length."""
    most = max((tokens for _, tokens in totals), default=0.0)
    for found, tokens in totals:
        if tokens * _LEAST_SEQUENCES <= most and tokens < _MOST_TOKENS and SEQUENCE not in notes.work:
            reason = f"the training length is {tokens_text(most)}; these may be those of a sequence or of a step"
            labels = (f"sequences of {found.words}", f"batch of {found.words}")
            notes.choose("layout", found, reason, labels)
        else:
            notes.set(f"w.{TOKENS}", tokens, found, f"training on {tokens_text(tokens)}")


def _people_of(notes: Notes, of: str) -> float:
    """How many people have an adapter trained on so many tokens each."""
    each = notes.text.find("{people}") if of == "person" else None
    if each is None:
        return 1.0
    notes.text.record(each, f"{each.value.high:g} trainings, each of its own adapter")
    return each.value.high


def _tokens_per_s(notes: Notes, found: Match, key: str) -> None:
    amount = found.value
    if amount.per_s >= LEAST_PERIOD_S and notes.text.find(r"<TIME>"):  # so many a night, in eight hours
        tokens = amount.high * amount.per_s
        notes.set(f"w.{TOKENS}", tokens, found, f"training on {tokens_text(tokens)}, every time")
    elif notes.has_target:
        notes.leave(found)
    else:
        notes.work["target"] = {key: amount.high}
        notes.text.record(found, f"minimum rate {tokens_text(amount.high)}/s")


def _packing(notes: Notes, found: Match, key: str) -> None:
    notes.work["packing"] = key == "packed"
    many = "several documents in a sequence" if key == "packed" else "one document in each sequence"
    notes.text.record(found, many)


def _degree(notes: Notes, found: Match, key: str) -> None:
    degree = int(found.match["digits"] or found.value.high)
    notes.set(f"w.layout.{key}", degree, found, f"{key.replace('_', ' ')} {degree}")


def _sharding(notes: Notes, found: Match, _: str) -> None:
    """What is divided: by ZeRO with its stage, or by FSDP where no named stack says so already."""
    stage = 3
    if re.search("zero|optimi", found.words, re.I):
        stage = int(found["digits"] or (found.value.high if found.quantities() else 1))
    elif names := found.ids("software"):
        named = {one for name in notes.names("software") for one in name.ids if not one.lower().startswith("fsdp")}
        stacks = [stack for stack in notes.catalog.stacks.values() if stack.trains_language and "FSDP" in stack.name]
        has_stack = any(name.lower() in f"{stack.framework} {stack.name}".lower() for stack in stacks for name in named)
        if has_stack or not names[0].lower().startswith("fsdp"):
            return
    if stage not in (1, 3):
        reason = "a request shards the optimizer state, or the gradients and weights, too"
        notes.choose("layout", found, reason, ("ZeRO-1", "ZeRO-3"))
        return
    kind = "all" if stage == 3 else "optimizer"
    notes.set("w.layout.sharding", kind, found, _SHARDED[kind])


def _recompute(notes: Notes, found: Match, _: str) -> None:
    how = (found["how"] or found["after"]).lower()
    if how or re.search("recompu|activation", found.words, re.I):  # "checkpointing" alone is of storage
        kind = {"no": "none", "without": "none", "off": "none", "": "full"}.get(how, how)
        notes.set("w.layout.recompute", kind, found, f"{'no' if kind == 'none' else kind} recomputation")


_TAKES: dict[str, Take] = {
    **dict.fromkeys(GRAMMAR["degrees"], _degree),
    "unpacked": _packing,
    "packed": _packing,
    **taken_by(_sharding, _recompute, _tokens_per_s),
}


def _read_samples(notes: Notes, sequence: int) -> None:
    """A number of samples is the training length: as long as stated, else full sequences, the most they can be."""
    found = notes.text.find(r"{samples|documents}")
    if found is None:
        return
    count = found.value.high
    if notes.work.get("tokens", count) < count:  # those of each
        notes.work["tokens"] *= count
        notes.text.record(found, f"{count:,.12g} samples: training on {tokens_text(notes.work['tokens'])}")
        return
    if "tokens" in notes.work:
        notes.text.record(found, f"{count:,.12g} samples; the tokens are stated")
        return
    stated = notes.work.get(DOCUMENT)
    notes.work["tokens"] = count * (stated or sequence)
    each = f"{stated:,}" if stated else f"at most {sequence:,}"
    if not stated:
        notes.text.assume(
            f"length of {count:,.12g} samples not given: full sequences of {sequence:,} tokens, the most that it can be"
        )
    notes.text.record(found, f"{count:,.12g} samples of {each} tokens: training on {tokens_text(notes.work['tokens'])}")
