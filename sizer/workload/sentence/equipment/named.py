"""What a sentence says about equipment: fabrics, storage tiers, servers, storage, vendors, and what is there."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sizer.catalog.generations import era_of, era_of_gpu, eras_of, usual_eras
from sizer.catalog.labels import name
from sizer.catalog.sale import is_sold, usable_gpus
from sizer.catalog.vendors import is_of_vendor, vendors_of
from sizer.workload.sentence.names import GPU, SERVER, STORAGE, VENDOR
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT, ends, quantity, value_of
from sizer.workload.sentence.unavailable import ask_unavailable

_KIND = r" (?:storage|arrays?|NAS|systems?|tier)\b"
_TIERS = {
    "performance": re.compile(rf"\b(?:all[ -]?)?flash\b(?:{_KIND})?|\b(?:flash|performance){_KIND}", re.I),
    "local": re.compile(
        r"\b(?:local|internal|in-server) (?:NVMe |SSD )?(?:drives?|disks?|SSDs?|NVMe|flash"
        r"|storage)\b(?: (?:drives?|disks?|storage))?(?: only)?",
        re.I,
    ),
    "capacity": re.compile(
        rf"\b(?:capacity|hybrid|NL-?SAS|(?:hard[ -]?)?disk|HDD|disk[ -]based){_KIND}|\bspinning disks?\b", re.I
    ),
}
NEGATION = (
    r"(?:\b(?:no|not|without|except(?: for)?|excluding|exclude|excludes|avoid|avoids|anything"
    r" but|other than|rather than|instead of|never|nor|kein(?:e[nmrs]?)?|ohne|nicht)\b"
    r"(?: (?:the|any|a|on|with|from|by|use|using))*(?: new)? ?)"
)
NEGATION_AFTER = (
    r"(?: (?:is|are|must be|has to be))? (?:(?:not|never) (?:be )?(?:allowed|permitted|wanted|possible|available"
    r"|acceptable|an option|used|supported)|excluded|forbidden|ruled out|prohibited|out of the question|impossible)\b"
)
_JOIN = r"(?: ?, ?(?:and |or )?| and | or | ?& ?| ?\+ ?| ?/ ?)"
# Kinds of shared storage by how their clients reach it.
_STORAGE_KINDS = (
    (re.compile(r"\b(?:parallel|distributed|clustered) file[ -]?systems?\b", re.I), ("parallel-file-system",)),
    (re.compile(r"\bscale[ -]out (?:NAS|filers?|storage)\b(?: storage)?", re.I), ("scale-out-nas",)),
    (re.compile(r"\b(?:an? |one |single |plain )*NFS[ -](?:servers?|head)\b", re.I), ("nfs-server",)),
    (
        re.compile(
            r"\b(?:over |via |with |by |through )?(?:NFS(?:[ -]?v?[34](?:\.[0-2])?)?|NAS)\b"
            r"(?: (?:over RDMA|storage|exports?|shares?|mounts?|filers?|arrays?|systems?|protocol))*",
            re.I,
        ),
        ("scale-out-nas", "nfs-server"),
    ),
)
_NOW = r"(?:today|currently|at (?:the moment|present)|right now|so far)"
_EXISTING = re.compile(
    r"(?:\b(?:already|existing|(?<!to )has|(?<!to )have|(?<!to )own|owns|there (?:is|are)|extend\w*|expand\w*|reus\w+"
    r"|owned|installed|bought|purchased"
    r"|(?:still|currently) (?:us(?:e|es|ing)|runs?|running|trains?|training|operat\w+))\b"
    r"(?! (?:to|room|space|a budget|budget|data)))",
    re.I,
)
_OURS = re.compile(r"\b(?:our|their) $", re.I)  # of counted equipment: "our 4 DGX H100"
_EXISTING_AFTER = re.compile(
    rf"(?: ?\([^()]*\))? (?:is |are )?(?:already )?(?:in place|owned|(?:on|at) hand|installed"
    rf"|on site|on the floor|{_NOW}|in (?:production|operation|use))\b",
    re.I,
)
EXISTING_WORDS = re.compile(
    r"\b(?:existing|already|in place|owned|(?:on|at) hand|installed|on site|on the floor|extend\w*|expand\w*|bought"
    rf"|purchased|{_NOW}|in (?:production|operation|use))\b",
    re.I,
)
_NOUN_AFTER = (
    r"(?: (?:GPU )?(?:servers?|nodes?|boxes|systems?|machines?|units?|chassis|appliances?"
    r"|filers?|arrays?|storage|cluster))?"
)


def read_tier(notes: Notes) -> None:
    """Media or place of the storage."""
    for tier, pattern in _TIERS.items():
        if match := notes.text.find(pattern):
            notes.table("platforms")["storage_tier"] = tier
            notes.text.record(match, f"storage tier {tier}")
            return


# --- servers, storage, vendors

_SERVER_COUNT = re.compile(
    quantity(
        rf" {{0,20}}(?:[x*] ?)?(?:more |new |additional |of (?:the|our) )?{VENDOR}* ?{SERVER}+{_NOUN_AFTER}(?!\w)",
        between="(?!x)x",
    ),
    re.I,
)
# "DGX H100 x 4", "Cray XD670, four of them"
_SERVER_COUNT_AFTER = re.compile(
    rf"(?:{VENDOR}+ )?{SERVER}+{_NOUN_AFTER},? ?(?:[x*] ?(?P<number>{COUNT})(?!\w)"
    rf"|(?P<of_them>{COUNT}) (?:of (?:them|these|those)|units|pieces)\b)",
    re.I,
)
_STORAGE_COUNT = re.compile(quantity(rf" ?(?:[x*] ?)?{VENDOR}* ?{STORAGE}+{_NOUN_AFTER}(?!\w)", between="(?!x)x"), re.I)


def read_storage_kind(notes: Notes) -> None:
    """A kind of shared storage instead of a name: NFS, scale-out NAS, a parallel file system."""
    for pattern, kinds in _STORAGE_KINDS:
        match = notes.text.find(pattern)
        if match is None:
            continue
        platforms = notes.table("platforms")
        if is_existing(notes, match.start(), match.end()):
            notes.leave(match)  # which system it is, nobody says
            continue
        if "storage" in platforms:  # named: the kind says how it is reached
            notes.text.record(match, "access to the storage")
            continue
        items = notes.catalog.storage.items()
        meant = [key for key, item in items if item.kind in kinds and (item.orderable or item.kind == "nfs-server")]
        is_excluded = re.search(rf"{NEGATION}$", notes.before(match.start()), re.I) is not None
        _allow(notes, "forbidden_storage" if is_excluded else "storage", meant)
        names = " or ".join(name(kind) for kind in kinds)
        notes.text.record(match, f"{'no ' if is_excluded else 'only '}{names}")


def is_existing(notes: Notes, start: int, end: int) -> bool:
    """Whether the words around equipment say that the customer has it."""
    before = notes.before(start)
    is_told_before = _EXISTING.search(before) is not None or _OURS.search(before) is not None
    return is_told_before or _EXISTING_AFTER.match(notes.after(end)) is not None


def read_part_counts(notes: Notes, has_target: bool) -> None:
    """Numbers of named servers and storage nodes: what is there, or what is wanted."""
    for pattern, kind, key in ((_SERVER_COUNT, SERVER, "servers"), (_STORAGE_COUNT, STORAGE, "storage_nodes")):
        for match in list(pattern.finditer(notes.text.left)):
            (mention, *_) = notes.mentions_in(match.start(), match.end(), kind)
            count = round(ends(match)[1])
            if count < 1 or count > 100_000:
                continue
            if is_existing(notes, match.start(), match.end()):
                if len(mention.ids) == 1:
                    notes.table("existing").setdefault(key, {})[mention.ids[0]] = count
                    notes.text.record(match, f"existing: {count} x {_names(notes, mention.ids)}")
            elif kind == SERVER:
                _wanted_servers(notes, match, mention.ids, count, has_target)
    for match in list(_SERVER_COUNT_AFTER.finditer(notes.text.left)):
        (mention, *_) = notes.mentions_in(match.start(), match.end(), SERVER)
        count = round(value_of(match["number"] or match["of_them"]))
        if 1 <= count <= 100_000:
            _wanted_servers(notes, match, mention.ids, count, has_target)
    while "existing" in notes.request and (words := notes.text.find(EXISTING_WORDS)):
        notes.text.mark(words.start(), words.end())


def _wanted_servers(notes: Notes, match: re.Match[str], ids: tuple[str, ...], count: int, has_target: bool) -> None:
    per_server = {server.n_gpus.value for key in ids if (server := notes.catalog.servers[key]).n_gpus is not None}
    _allow(notes, "servers", _orderable(notes, SERVER, ids))
    if has_target or "target" in notes.work or len(per_server) != 1:
        notes.table("limits")["servers"] = count
        notes.text.record(match, f"at most {count} servers: {_names(notes, ids)}")
        return
    gpus = count * round(per_server.pop())
    notes.work["target"] = {"gpus_busy": gpus}
    notes.text.record(match, f"{count} x {_names(notes, ids)}: {gpus} GPUs at full utilization")


_NETWORKING = r"(?: (?:switch(?:es)?|networking|network gear|routers?)\b)"
_GROUP = re.compile(
    rf"(?P<negated>{NEGATION})?(?P<than>\bthan )?"
    r"(?P<prefer>\b(?:prefer(?:s|red|ably|ence)?|ideally|favou?rs?|rather|lieber|vorzugsweise"
    r"|likes?)\b(?: (?:vendors?|for|is|are|from|by|equipment))* ?:? ?)?"
    rf"(?P<only_before>\b(?:only|all|must be|strictly|exclusively|everything from)\b(?: from| by)? ?)?"
    r"(?:(?P<part_before>(?:GPU )?servers|compute|storage|arrays|filers|switches|networking)"
    r" (?:is |are |comes? )?(?:from|by|made by) )?"
    rf"(?P<names>(?:{VENDOR}+ )*[{SERVER}{STORAGE}{VENDOR}]+"
    rf"(?:{_JOIN}(?!{VENDOR}+{_NETWORKING})(?:{VENDOR}+ )*[{SERVER}{STORAGE}{VENDOR}]+)*)"
    r"(?P<only>[ -]only\b| exclusively\b)?(?P<shop>[ -](?:shop|house|customer|account|preferred)\b)?"
    rf"(?P<switches>{_NETWORKING})?(?P<gpus> (?:GPUs?|cards)\b)?"
    r"(?P<servers> (?:GPU )?(?:servers?|boxes|compute|nodes|hardware for compute)\b)?"
    r"(?P<storage> (?:storage|arrays?|filers?|NAS)\b)?"
    r"(?P<preferred_after> (?:(?:is |are |would be )?(?:preferred|favou?red|liked)"
    r"|preferably|if possible|where possible|bevorzugt)\b)?"
    rf"(?P<negated_after>{NEGATION_AFTER})?",
    re.I,
)


def _groups(text: str) -> Iterator[re.Match[str]]:
    """Names with the words that say how they are meant; what follows a list that is excluded is said of its last."""
    for match in _GROUP.finditer(text):
        joins = list(re.finditer(_JOIN, text[match.start("names") : match.end("names")]))
        if not (match["negated"] and joins and (_is_preferred(match) or match["only"])):
            yield match
            continue
        join = next((one for one in reversed(joins) if "," in one[0]), joins[-1])
        first = match.start("names")
        parts = (
            _GROUP.match(text, match.start(), first + join.start()),
            _GROUP.match(text, first + join.end(), match.end()),
        )
        yield from (part for part in parts if part is not None)


def read_named(notes: Notes) -> None:
    """Servers, storage and vendors by name: allowed, excluded or preferred."""
    for match in list(_groups(notes.text.left)):
        start, end = match.start("names"), match.end("names")
        servers = [key for one in notes.mentions_in(start, end, SERVER) for key in one.ids]
        storage = [key for one in notes.mentions_in(start, end, STORAGE) for key in one.ids]
        vendors = list(dict.fromkeys(key for one in notes.mentions_in(start, end, VENDOR) for key in one.ids))
        if match["than"]:
            notes.leave(match)  # "rather Dell than HPE" excludes nobody
        elif servers or storage:
            _items(notes, match, servers, storage)
        elif vendors and (match["switches"] or (match["part_before"] or "").lower() in ("switches", "networking")):
            notes.leave(match)  # a request chooses no vendor of switches
        elif vendors:
            _vendors(notes, match, vendors)


def _is_negated(match: re.Match[str]) -> bool:
    return bool(match["negated"] or match["negated_after"])


def _is_preferred(match: re.Match[str]) -> bool:
    return bool(match["prefer"] or match["shop"] or match["preferred_after"])


def _items(notes: Notes, match: re.Match[str], servers: list[str], storage: list[str]) -> None:
    meanings = []
    for kind, part, keys in ((SERVER, "servers", servers), (STORAGE, "storage", storage)):
        if not keys:
            continue
        orderable = _orderable(notes, kind, keys)
        if not orderable and not _is_negated(match):
            ask_unavailable(notes, "server" if kind == SERVER else "storage", match.start("names"), match.end("names"))
            notes.text.mark(match.start(), match.end())
            return
        _allow(notes, f"forbidden_{part}" if _is_negated(match) else part, orderable)
        meanings.append(f"{'excluded' if _is_negated(match) else 'allowed'} {part}: {_names(notes, orderable)}")
    notes.text.record(match, "; ".join(meanings))


def _vendors(notes: Notes, match: re.Match[str], vendors: list[str]) -> None:
    makers = [one for one in vendors if match["gpus"] or _makes_gpus_only(notes, one)]
    if len(makers) == len(vendors):
        if _is_preferred(match):
            notes.leave(match)  # a preference among GPUs has no place in a request
            return
        _limit_gpus(notes, makers, _is_negated(match))
        notes.text.record(match, f"{'no ' if _is_negated(match) else ''}GPUs of {', '.join(makers)}")
        return
    if makers and _is_negated(match):
        _limit_gpus(notes, makers, is_negated=True)
    servers = _of_vendors(notes, SERVER, vendors)
    storage = _of_vendors(notes, STORAGE, vendors)
    is_strict = bool(match["only"] or match["only_before"])
    before = (match["part_before"] or "").lower()
    called = {
        "servers": bool(match["servers"]) or before.endswith(("servers", "compute")),
        "storage": bool(match["storage"]) or before.startswith(("storage", "arrays", "filers")),
    }
    if _is_negated(match):
        _allow(notes, "forbidden_servers", servers)
        _allow(notes, "forbidden_storage", storage)
        notes.text.record(match, f"excluded vendors: {', '.join(vendors)}")
    elif _is_preferred(match) or not (any(called.values()) or is_strict):
        platforms = notes.table("platforms")
        platforms["prefer_vendors"] = list(dict.fromkeys([*platforms.get("prefer_vendors", []), *vendors]))
        notes.text.record(match, f"preferred vendors: {', '.join(vendors)}")
    else:
        asked = [
            (part, keys)
            for part, keys in (("servers", servers), ("storage", storage))
            if called[part] or (is_strict and keys and not any(called.values()))
        ]
        if any(not keys for _, keys in asked):
            part = "storage" if called["storage"] else "server"
            ask_unavailable(notes, part, match.start("names"), match.end())
            notes.text.mark(match.start(), match.end())
            return
        for part, keys in asked:
            _allow(notes, part, keys)
        notes.text.record(match, f"only {', '.join(vendors)}: {'; '.join(_names(notes, keys) for _, keys in asked)}")


def _makes_gpus_only(notes: Notes, vendor: str) -> bool:
    return not any(is_of_vendor(one, vendor) for one in vendors_of(notes.catalog))


def _limit_gpus(notes: Notes, vendors: list[str], is_negated: bool) -> None:
    """Only, or none of, the GPUs of some vendors."""
    catalog, eras = notes.catalog, eras_meant(notes)
    usable = usable_gpus(catalog)
    meant = [
        gpu for gpu in usable if any(is_of_vendor(catalog.gpus[gpu].vendor, one) for one in vendors) is not is_negated
    ]
    usual = [gpu for gpu in usable if era_of_gpu(catalog, catalog.gpus[gpu]) in eras]
    day = notes.request.get("date")
    sold = [gpu for gpu in usual if is_sold(catalog, catalog.gpus[gpu], day)] or usual
    gpus = [gpu for gpu in meant if gpu in sold] or [gpu for gpu in meant if gpu in usual] or meant
    platforms = notes.table("platforms")
    if gpus and gpus != sold and "gpus" not in platforms:
        platforms["gpus"] = gpus


def _allow(notes: Notes, part: str, keys: Iterable[str]) -> None:
    if keys := list(keys):
        platforms = notes.table("platforms")
        platforms[part] = list(dict.fromkeys([*platforms.get(part, []), *keys]))


def _orderable(notes: Notes, kind: str, keys: Iterable[str]) -> list[str]:
    items: Any = notes.catalog.servers if kind == SERVER else notes.catalog.storage
    return [
        # Storage that is not planned unasked, such as Ceph, is there where it is named.
        key
        for key in dict.fromkeys(keys)
        if items[key].orderable or getattr(items[key], "kind", "local") != "local"
    ]


def _of_vendors(notes: Notes, kind: str, vendors: list[str]) -> list[str]:
    items: Any = notes.catalog.servers if kind == SERVER else notes.catalog.storage
    eras = eras_meant(notes)
    keys = [
        key
        for key, item in items.items()
        if item.orderable
        and (kind != SERVER or item.role == "gpu")
        and any(is_of_vendor(item.vendor, vendor) for vendor in vendors)
    ]
    # Who names a vendor that has nothing of the era meant asks for what it has.
    keys = [key for key in keys if (era := era_of(notes.catalog, items[key])) is None or era in eras] or keys
    day = notes.request.get("date")
    return [key for key in keys if kind != SERVER or is_sold(notes.catalog, items[key], day)] or keys


def eras_meant(notes: Notes) -> frozenset[str]:
    """Eras of the parts that a sentence means where it names vendors or kinds of fabric only."""
    catalog = notes.catalog
    named = [key for one in notes.mentions if one.kind in (GPU, SERVER) for key in one.ids]
    return eras_of(catalog, named) or usual_eras(catalog, notes.dnns, notes.request.get("date"))[0]


def _names(notes: Notes, keys: Iterable[str]) -> str:
    return ", ".join(notes.catalog.item(key).name for key in keys)
