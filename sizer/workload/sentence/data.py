"""What a sentence says about data: sizes of samples and of the set, numbers of samples, capacity, memory of servers."""

import re
from typing import Any

from sizer.base.quantities import BYTES, BYTES_PER_S, QuantityKind, grouped, parse
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import ends, quantity, written_number
from sizer.workload.sentence.targets import SAMPLES, TIME, time_text
from sizer.workload.sentence.text import READ

_UNIT = (
    r" ?(?P<unit>[KMGTP]i?[bB]|bytes?|gigabytes?|terabytes?|megabytes?|kilobytes?|petabytes?"
    r"|GBs|TBs)\b(?!/|ps| ?Ethernet)"
)
_SIZE_UNIT = _UNIT.replace("?P<unit>", "?:")
SIZE = quantity(_UNIT, between=f"(?:{_SIZE_UNIT})")
_EACH = r"(?: ?/ ?| (?:per|in each|in every|for each|each|a) )(?:GPU )?(?:servers?|nodes?|hosts?|boxes)"
_HOST_MEMORY = (
    re.compile(
        rf"(?:at least )?{SIZE} (?:of )?(?:(?:host |server |system |main |CPU )?(?:memory|RAM|DRAM){_EACH}"
        r"|(?:(?:host|server|system|main) memory|RAM|DRAM)\b)",
        re.I,
    ),
    re.compile(rf"\b(?:host|server|system|main) (?:memory|RAM) (?:of )?(?:at least )?{SIZE}(?:{_EACH})?", re.I),
)
_CAPACITY = (
    re.compile(
        rf"(?:(?:at least|a? ?minimum(?: of)?) )?{SIZE} (?:of )?"
        r"(?:(?:usable|net|effective)(?: (?:storage|capacity|space))*|(?:storage )?capacity"
        r"|storage(?: space)?|disk space)\b",
        re.I,
    ),
    re.compile(rf"(?:(?:at least|min(?:imum|\.)?(?: of)?) )?{SIZE}(?= (?:of )?(?:all[ -]?)?flash\b)", re.I),
    re.compile(
        r"\b(?:usable |storage |minimum |net )*(?:capacity|storage) (?:of |for )?(?:at least"
        rf" |minimum )?{SIZE}(?: usable)?",
        re.I,
    ),
)
_SIZES = re.compile(SIZE, re.I)
_RATE_UNIT = r" ?(?P<unit>[KMGT]i?[bB])(?: ?/ ?s(?:ec|econd)?|ps| per second)\b"
_RATE = quantity(_RATE_UNIT, between=f"(?:{_RATE_UNIT.replace('?P<unit>', '?:')})") + (
    r"(?! ?(?:/|per|for each|each|a) ?(?:GPU|server|node|host|client)s?\b)"
)
_LEAST = r"(?:at least |min(?:imum|\.)?(?: of)? |more than |>=? ?)?"
_AMOUNT = r"(?:throughput|bandwidth|rates?|performance|speed)"
_KIND = r"(?:sustained |aggregated? |sequential |combined |total |storage |shared |file[ -]system |disk )*"
_VERB = r"(?:(?P<read>read(?:s|ing)?)|(?P<write>writ(?:es?|ing)))"
_STORED = r"(?:(?:shared |the )*(?:storage|file[ -]system|filer|NAS)(?: system)?)"
# Rates of the storage: 20 GB/s of reads, writes at 10 GB/s, storage that delivers 20 GB/s.
_STORAGE_RATES = (
    re.compile(
        rf"{_LEAST}{_RATE} (?:of |in |for )?{_KIND}{_VERB}(?: {_AMOUNT})?"
        rf"(?: (?:from|to|of|on) {_STORED})?\b",
        re.I,
    ),
    re.compile(
        rf"(?:{_STORED} (?:that |which )?(?:can |must |should |has to |to )?)?\b{_KIND}"
        rf"{_VERB}(?: {_AMOUNT})?(?: of| at|:| with)? {_LEAST}{_RATE}",
        re.I,
    ),
    re.compile(rf"{_LEAST}{_RATE} (?:of |from )?(?:{_KIND}{_AMOUNT}(?: (?:from|of) {_STORED})?|{_STORED})\b", re.I),
    re.compile(
        rf"\b{_STORED}(?: {_AMOUNT})? ?(?:(?:that |which )?(?:can |must |should |has to |to )?"
        r"(?:deliver(?:s|ing)?|sustain(?:s|ing)?|provides?|providing|do(?:es)?|handles?)|of|at|with|:)? "
        rf"{_LEAST}{_RATE}",
        re.I,
    ),
)
# "Fill 2 PB over a 100 Gbit/s link", "fed over 1 Gbit/s": the source of the data and its network.
_SOURCE_UNIT = r" ?(?P<unit>[MGT](?:bit/s|bps|b/s|bit)|[MGT](?:i?B/s|Bps))(?![\w/])"
_LINE = r"(?:links?|lines?|connections?|up-?links?|WAN|internet(?: (?:link|connection|access))?|fib(?:er|re)s?)"
_SOURCE = re.compile(
    rf"\b(?:fill\w*|fed|feed\w*|ingest\w*|load(?:ed|ing)|cop(?:y|ied|ying)|upload\w*|transfer\w*|import\w*|mov(?:e|ed|ing)"
    rf"|arriv\w+|deliver\w*|com(?:e|es|ing))\b(?P<between>[^.;,!?{READ}]{{0,40}}?)"
    rf"(?P<rate>\b(?:over|via|through|across|at|with|on|from) (?:a |an |our |the |one )?{quantity(_SOURCE_UNIT)}"
    rf"(?: {_LINE}\b)?)",
    re.I,
)
_CHECKPOINTS = re.compile(
    rf"\bcheckpoint(?:s|ing|ed)?\b(?: (?:is|are|be|taken|written|saved|interval(?: of)?|to be))* "
    rf"(?:(?:every|each|once (?:every|an?)|at least every|per) )?(?:{TIME}|(?P<hour>hour))\b"
    r"|\b(?P<hourly>hourly) checkpoint(?:s|ing)?\b",
    re.I,
)
_COUNT = re.compile(
    quantity(
        r" (?:training |test |labell?ed |CT |MRI |small |large |JPEG |medical |high-res(?:olution)?"
        rf" )*(?P<noun>{SAMPLES})\b(?! ?(?:/|per|a|an) ?(?:s|sec|second|min|minute|hour|h|day|d)\b)",
        between="(?!x)x",
    ),
    re.I,
)
# Words around a size that make it the size of one sample.
_OF_ONE = re.compile(
    rf"^ ?(?:each\b|(?P<per>per|je|pro)\b|/ ?(?:image|img|file|sample|picture)|apiece\b|an? {SAMPLES}|on"
    rf" average|(?:JPEG |medical |CT )?{SAMPLES}\b(?! ?(?:/|per)))",
    re.I,
)
_SAMPLES_OF = re.compile(
    rf"{SAMPLES} ?(?:of|with|at|@|a|averaging|around|about|sized|are)(?: (?:about|around"
    r"|some|up to|roughly|approx\w*|on average))? ?[~<]? ?$|\beach(?: about| around| roughly)?"
    rf" ?$|\b(?:per|je|pro) {SAMPLES},? ?$|\b(?:average|mean|avg\.?|file|image|sample|picture|photo) size(?: of| is|:)?"
    r"(?: about| around| roughly)? ?[~<]? ?$",
    re.I,
)
# "10 TB per week", "2 TB of embedding tables": neither a sample nor the data set.
_OF_TIME = re.compile(
    r" ?(?:of )?(?:new |more |additional |extra )?(?:\w+ )?(?:/|\b(?:per|an?|each|every|je|pro)\b) ?"
    r"(?:s|sec|second|minute|hour|h|night|day|d|week|month|quarter|year"
    r"|sekunde|stunde|nacht|tag|woche|monat|quartal|jahr)\b"
    r"| (?:(?:of )?\w+ )?(?:daily|weekly|monthly|yearly|annually)\b",
    re.I,
)
_OF_TABLES = re.compile(r" (?:of |in )?(?:\w+ )?(?:embeddings?(?: tables?)?|(?:lookup |sparse )tables?)\b", re.I)
_TABLES_OF = re.compile(
    r"\bembedding(?:s| tables?)(?: (?:of|with|at|take|taking|need|needing|is|are|about|around))* ?$", re.I
)
_TABLES_REASON = (
    "a sentence cannot state the size of embedding tables, which decides how many GPUs hold them; name a recommender "
    "of the catalogue with its own tables, or describe a network of your own in a request file, with its parameters "
    "and like = 'dlrm-dcnv2'"
)
_MOST = 20  # sizes in one sentence


def read_host_memory(notes: Notes) -> None:
    """Memory of the servers."""
    if match := _first(notes, _HOST_MEMORY):
        written = _written(notes, match)
        if written:
            notes.table("platforms")["host_memory_bytes"] = written
            notes.text.record(match, f"at least {written} of memory in each server")


def read_capacity(notes: Notes) -> None:
    """Capacity of the storage, whatever the data take."""
    if match := _first(notes, _CAPACITY):
        written = _written(notes, match)
        if written:
            notes.table("data")["minimum_capacity_bytes"] = written
            notes.text.record(match, f"at least {written} of usable capacity")


def read_storage_rates(notes: Notes) -> None:
    """Rates that the whole storage reads and writes at least; without either word it is the read rate."""
    for pattern in _STORAGE_RATES:
        while match := notes.text.find(pattern):
            groups = match.groupdict()
            field, what = ("write", "writes") if groups.get("write") else ("read", "reads")
            written = _written(notes, match, BYTES_PER_S)
            if written:
                notes.table("data")[f"minimum_{field}_bytes_per_s"] = written
                notes.text.record(match, f"storage {what} at least {written}")


def read_source(notes: Notes) -> None:
    """Rate of the customer's source and its network, at which the storage is filled."""
    if match := notes.text.find(_SOURCE):
        unit = match["unit"]
        rate = f"{written_number(ends(match)[1])} {unit[0].upper()}{'B' if 'B' in unit else 'bit'}/s"
        notes.table("data")["source_bytes_per_s"] = rate
        notes.text.record_words(match.start("rate"), match.end("rate"), f"the data arrive at {rate}")


def read_checkpoints(notes: Notes) -> None:
    """How often a checkpoint is written."""
    if match := notes.text.find(_CHECKPOINTS):
        every = "1 h" if match["hourly"] or match["hour"] else time_text(ends(match)[0], match["unit"])
        notes.table("data")["checkpoint_every_s"] = every
        notes.text.record(match, f"a checkpoint every {every}")


def _first(notes: Notes, patterns: tuple[re.Pattern[str], ...]) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := notes.text.find(pattern))), None)


def _written(notes: Notes, match: re.Match[str], kind: QuantityKind = BYTES) -> str:
    """The size or rate in a match, as a request writes it; "" where it is refused. Of a range the larger."""
    unit = match["unit"]
    value = ends(match)[1]
    name = _byte_unit(unit)
    if name is None:
        a_second = kind.unit.removeprefix(BYTES.unit)
        notes.refuse(match[0].strip(), f"the unit {unit}{a_second} means bits; write {unit[:-1]}B{a_second} for bytes")
        notes.text.mark(match.start(), match.end())
        return ""
    written = f"{written_number(value)} {name}{kind.unit.removeprefix(BYTES.unit)}"
    try:
        parse(kind, written)
    except ValueError as error:
        notes.refuse(match[0].strip(), str(error))
        notes.text.mark(match.start(), match.end())
        return ""
    return written


def _byte_unit(unit: str) -> str | None:
    """The unit as a request writes it; None where it could be bits."""
    text = unit.rstrip("s") if unit.lower() not in ("bytes",) else "byte"
    if len(text) > 3:
        return {"b": "B", "k": "kB", "m": "MB", "g": "GB", "t": "TB", "p": "PB"}[text[0].lower()]
    if text.endswith("b") and text[0].isupper():
        return None
    prefix = text[:-1].upper().replace("I", "i")
    return "kB" if prefix == "K" else f"{prefix}B"


def read_sizes(notes: Notes) -> None:
    """Size of one sample, of the whole set, and the number of samples."""
    for _ in range(_MOST):
        match = notes.text.find(_SIZES)
        if match is None:
            break
        written = _written(notes, match)
        if not written:
            continue
        before, after = notes.text.left[max(0, match.start() - 40) : match.start()], notes.after(match.end())
        if tables := _OF_TABLES.match(after) or _TABLES_OF.search(before):
            end = match.end() + (tables.end() if after.startswith(tables[0]) else 0)
            words = notes.text.sentence[match.start() : end].strip()
            notes.refuse(words, _TABLES_REASON)
            notes.text.mark(match.start(), end)
            continue
        if (each := _OF_TIME.match(after)) and not _SAMPLES_OF.search(before):
            notes.unusable.append(notes.text.sentence[match.start() : match.end() + each.end()].strip())
            notes.text.mark(match.start(), match.end() + each.end())
            continue
        of_one = _OF_ONE.match(after)
        key = "sample_bytes" if of_one or _SAMPLES_OF.search(before) else "dataset_bytes"
        if key in notes.work:
            what = "one sample" if key == "sample_bytes" else "the data set"
            notes.refuse(
                match[0].strip(),
                f"{notes.work[key]} and {written} could both be the size of {what}; write for example"
                " '100 TB of images of 5 MB'",
            )
            notes.text.mark(match.start(), match.end())
            continue
        notes.work[key] = written
        ranged = " (upper end of the range)" if (match["low"] or match["low_between"]) else ""
        end = match.end() + (max(of_one.end("per"), 0) if of_one else 0)
        meaning = "size of one sample" if key == "sample_bytes" else "size of the data set"
        notes.text.record_words(match.start(), end, f"{meaning}: {written}{ranged}")


def read_samples(notes: Notes) -> re.Match[str] | None:
    """A number of samples; together with a size it makes an own data set.

    Returns it: together with a time it tells the rate of an inference.
    """
    match = notes.text.find(_COUNT)
    if match is None:
        return None
    n_samples = ends(match)[1]
    if n_samples < 1 or n_samples > 1e15:
        return None
    size, whole = notes.work.get("sample_bytes"), notes.work.get("dataset_bytes")
    if size is None and whole is None:
        return match
    for key in ("sample_bytes", "dataset_bytes"):
        notes.work.pop(key, None)
    sample_bytes: Any = size if size is not None else parse(BYTES, whole) / n_samples
    notes.work["dataset"] = {
        "name": "Own data",
        "n_samples": n_samples,
        "sample_bytes": sample_bytes,
        "format": "raw files",
    }
    if size is not None and whole is not None:
        notes.work["dataset_bytes"] = whole
    notes.text.record(match, f"own data set of {grouped(n_samples)}")
    return match
