"""What a sentence says about equipment: fabrics, storage tiers, servers, storage, vendors, and what is there."""

import re
from collections.abc import Iterable
from typing import Any

from sizer.base.identity_cache import cached_by_catalog
from sizer.catalog.fabrics import fabric_links, fabric_ports
from sizer.catalog.generations import era_of, era_of_gpu, eras_of, usual_eras
from sizer.catalog.model import Catalog
from sizer.catalog.vendors import is_of_vendor, vendors_of
from sizer.workload.sentence.names import GPU, SERVER, STORAGE, VENDOR
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT, ends, quantity, value_of
from sizer.workload.sentence.unavailable import ask_unavailable, usable_gpus

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
_NOT = (
    r"(?:\b(?:no|not|without|except(?: for)?|excluding|exclude|excludes|avoid|avoids|anything"
    r" but|other than|rather than|instead of|never|nor)\b"
    r"(?: (?:the|any|a|on|with|from|by|use|using))*(?: new)? ?)"
)
_JOIN = r"(?: ?, ?(?:and |or )?| and | or | ?& ?| ?\+ ?| ?/ ?)"
_EXISTING = re.compile(
    r"\b(?:already|existing|has|have|own|owns|there (?:is|are)|extend\w*|expand\w*|reus\w+"
    r"|installed)\b(?! (?:to|room|space|a budget|budget|data))",
    re.I,
)
_EXISTING_WORDS = re.compile(
    r"\b(?:existing|already|in place|installed|on site|on the floor|extend\w*|expand\w*)\b", re.I
)
_NOUN_AFTER = (
    r"(?: (?:GPU )?(?:servers?|nodes?|boxes|systems?|machines?|units?|chassis|appliances?"
    r"|filers?|arrays?|storage|cluster))?"
)


_GBIT = r"(?:Gbit/s|Gb/s|Gbps|Gbit|Gb|G)"


@cached_by_catalog
def _fabric_pattern(catalog: Catalog) -> re.Pattern[str]:
    links = fabric_links(catalog)
    speeds = sorted((f"{link.gbit_per_s.value:g}" for link in links if not link.is_infiniband), key=len)[::-1]
    bands = "|".join(re.escape(link.id) for link in links if link.is_infiniband) or "(?!)"
    return re.compile(
        rf"\b(?:over |via |on |with |using )?(?:(?P<speed>{'|'.join(speeds) or '(?!)'}) ?(?:GbE|(?:Gb|Gbit|Gbps"
        r"|Gbit/s|G|gig|gigabit)(?: |-)?(?:Ethernet|networking|LAN))(?: (?:with )?RoCE(?: ?v2)?)?"
        rf"|(?:\d{{2,3}} ?{_GBIT} )?(?P<band>{bands})(?:-?\d{{2,3}}\b| \d{{2,3}} ?{_GBIT}\b)?"
        r"(?:[ -]?(?:InfiniBand|IB))?"
        rf"|(?:InfiniBand|IB)[ -](?P<band_after>{bands})"
        rf"|(?:(?P<ib_speed>\d{{2,3}}) ?{_GBIT} )?(?P<infiniband>InfiniBand|IB)"
        r"|(?P<ethernet>Ethernet|RoCE(?: ?v2)?))\b"
        r"(?: (?:fabrics?|networks?|switch(?:es)?|interconnects?))?",
        re.I,
    )


def read_fabrics(notes: Notes) -> None:
    """Fabrics by speed or kind: EDR, InfiniBand, 100 GbE."""
    links = fabric_links(notes.catalog)
    while match := notes.text.find(_fabric_pattern(notes.catalog)):
        named = (match["band"] or match["band_after"] or "").lower()
        kinds = [
            link.id
            for link in links
            if (match["infiniband"] and link.is_infiniband)
            or (match["ethernet"] and not link.is_infiniband)
            or link.id == named
            or (match["speed"] and not link.is_infiniband and link.gbit_per_s.value == float(match["speed"]))
        ]
        if match["ib_speed"]:
            speed = float(match["ib_speed"])
            kinds = [kind for kind in kinds if notes.catalog.links[kind].gbit_per_s.value == speed] or kinds
        if re.search(rf"{_NOT}$", notes.before(match.start()), re.I):
            kinds = [link.id for link in links if link.id not in kinds]
            _take_negation(notes, match.start())
        platforms = notes.table("platforms")
        platforms["fabrics"] = list(dict.fromkeys([*platforms.get("fabrics", []), *kinds]))
        is_kind = len(kinds) > 1 and not match["ib_speed"] and (match["infiniband"] or match["ethernet"])
        names = match[0].strip() if is_kind else ", ".join(notes.catalog.links[kind].name for kind in kinds)
        notes.text.record(match, f"fabric {names}")


def read_tier(notes: Notes) -> None:
    """Media or place of the storage."""
    for tier, pattern in _TIERS.items():
        if match := notes.text.find(pattern):
            notes.table("platforms")["storage_tier"] = tier
            notes.text.record(match, f"storage tier {tier}")
            return


# --- what is replaced

_REPLACED = re.compile(
    r"\b(?:instead of|rather than|in place of|(?:to )?replac(?:e|es|ing|ement (?:of|for))"
    r"|refresh(?:ing)?(?: of)?|swap(?:ping)?(?: out)?|retir(?:e|es|ing)|decommission(?:ing)?"
    r"|(?:moving|migrating|coming) (?:away )?from|upgrad(?:e|ing) (?:from|of)) "
    r"(?:the |our |their |my |an? )?(?:existing |old |ageing |aging |current |legacy )*"
    rf"(?:(?:{COUNT} ?(?:x )?)?(?:{VENDOR}+ )*(?:{GPU}+|{SERVER}+)"
    r"(?: (?:GPUs?|cards|servers?|nodes|boxes|systems?|machines?|clusters?))*)(?: (?:by|with|to)\b)?",
    re.I,
)


_COOLING = {
    "air": re.compile(
        r"\b(?:air[ -]?cool(?:ed|ing)(?: only)?|(?:no|without|not) (?:liquid|water)(?:[ -]cool(?:ed|ing))?)\b", re.I
    ),
    "liquid": re.compile(r"\b(?:with |direct )*(?:liquid|water)[ -]cool(?:ed|ing)\b|\bDLC\b", re.I),
}


def read_setting(notes: Notes) -> None:
    """Equipment that goes away, systems that arrive as a rack, and what the room takes heat away with."""
    _read_replaced(notes)
    _read_delivered_racks(notes)
    for cooling, pattern in _COOLING.items():
        if (match := notes.text.find(pattern)) and "cooling" not in notes.request.get("site", {}):
            notes.table("site")["cooling"] = cooling
            notes.text.record(match, f"{cooling} cooling")


def _read_replaced(notes: Notes) -> None:
    """Equipment that goes away: it limits nothing."""
    while match := notes.text.find(_REPLACED):
        gone = {one for kind in (GPU, SERVER, VENDOR) for one in notes.mentions_in(match.start(), match.end(), kind)}
        notes.mentions = [one for one in notes.mentions if one not in gone]
        notes.text.record(match, "replaced, not part of the design")


# --- servers, storage, vendors

# "Two racks of GB200 NVL72" counts systems that arrive as a rack.
_RACKS_OF = re.compile(rf"(?P<number>{COUNT})(?P<racks> (?:full )?racks? (?:of|with) )(?:{VENDOR}+ )*{SERVER}+", re.I)


def _read_delivered_racks(notes: Notes) -> None:
    """Racks of a system that arrives as one: so many systems, and no limit."""
    for match in list(_RACKS_OF.finditer(notes.text.left)):
        (mention, *_) = notes.mentions_in(match.start(), match.end(), SERVER)
        if all(notes.catalog.servers[key].delivered is not None for key in mention.ids):
            notes.text.mark(match.start("racks"), match.end("racks"), " ")


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


def _is_existing(notes: Notes, start: int) -> bool:
    return _EXISTING.search(notes.before(start)) is not None


def read_part_counts(notes: Notes, has_target: bool) -> None:
    """Numbers of named servers and storage nodes: what is there, or what is wanted."""
    for pattern, kind, key in ((_SERVER_COUNT, SERVER, "servers"), (_STORAGE_COUNT, STORAGE, "storage_nodes")):
        for match in list(pattern.finditer(notes.text.left)):
            (mention, *_) = notes.mentions_in(match.start(), match.end(), kind)
            count = round(ends(match)[1])
            if count < 1 or count > 100_000:
                continue
            if _is_existing(notes, match.start()) or re.match(
                r" (?:already )?(?:in place|installed|on site|on the floor)", notes.after(match.end())
            ):
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
    while "existing" in notes.request and (words := notes.text.find(_EXISTING_WORDS)):
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


_GROUP = re.compile(
    rf"(?P<negated>{_NOT})?(?P<prefer>\b(?:prefer(?:s|red|ably|ence)?|ideally|favou?rs?"
    r"|likes?)\b(?: (?:vendors?|for|is|are|from|by|equipment))* ?:? ?)?"
    rf"(?P<only_before>\b(?:only|all|must be|strictly|exclusively|everything from)\b(?: from| by)? ?)?"
    rf"(?P<names>(?:{VENDOR}+ )*[{SERVER}{STORAGE}{VENDOR}]+(?:{_JOIN}(?:{VENDOR}+ )*[{SERVER}{STORAGE}{VENDOR}]+)*)"
    r"(?P<only>[ -]only\b| exclusively\b)?(?P<shop>[ -](?:shop|house|customer|account|preferred)\b)?"
    r"(?P<gpus> (?:GPUs?|cards)\b)?(?P<servers> (?:GPU )?(?:servers?|boxes|compute|nodes"
    r"|hardware for compute)\b)?(?P<storage> (?:storage|arrays?|filers?|NAS)\b)?",
    re.I,
)


def read_named(notes: Notes) -> None:
    """Servers, storage and vendors by name: allowed, excluded or preferred."""
    for match in list(_GROUP.finditer(notes.text.left)):
        start, end = match.start("names"), match.end("names")
        servers = [key for one in notes.mentions_in(start, end, SERVER) for key in one.ids]
        storage = [key for one in notes.mentions_in(start, end, STORAGE) for key in one.ids]
        vendors = list(dict.fromkeys(key for one in notes.mentions_in(start, end, VENDOR) for key in one.ids))
        if servers or storage:
            _items(notes, match, servers, storage)
        elif vendors:
            _vendors(notes, match, vendors)


def _items(notes: Notes, match: re.Match[str], servers: list[str], storage: list[str]) -> None:
    meanings = []
    for kind, part, keys in ((SERVER, "servers", servers), (STORAGE, "storage", storage)):
        if not keys:
            continue
        orderable = _orderable(notes, kind, keys)
        if not orderable and not match["negated"]:
            ask_unavailable(notes, "server" if kind == SERVER else "storage", match.start("names"), match.end("names"))
            notes.text.mark(match.start(), match.end())
            return
        _allow(notes, f"forbidden_{part}" if match["negated"] else part, orderable)
        meanings.append(f"{'excluded' if match['negated'] else 'allowed'} {part}: {_names(notes, orderable)}")
    notes.text.record(match, "; ".join(meanings))


def _vendors(notes: Notes, match: re.Match[str], vendors: list[str]) -> None:
    if match["gpus"] or all(_makes_gpus_only(notes, one) for one in vendors):
        _gpus_of_vendors(notes, match, vendors)
        return
    servers = _of_vendors(notes, SERVER, vendors)
    storage = _of_vendors(notes, STORAGE, vendors)
    is_strict = bool(match["only"] or match["only_before"])
    if match["negated"]:
        _allow(notes, "forbidden_servers", servers)
        _allow(notes, "forbidden_storage", storage)
        notes.text.record(match, f"excluded vendors: {', '.join(vendors)}")
    elif match["prefer"] or match["shop"] or not (match["servers"] or match["storage"] or is_strict):
        platforms = notes.table("platforms")
        platforms["prefer_vendors"] = list(dict.fromkeys([*platforms.get("prefer_vendors", []), *vendors]))
        notes.text.record(match, f"preferred vendors: {', '.join(vendors)}")
    else:
        asked = [
            (part, keys)
            for part, keys in (("servers", servers), ("storage", storage))
            if match[part] or (is_strict and keys and not (match["servers"] or match["storage"]))
        ]
        if any(not keys for _, keys in asked):
            part = "storage" if match["storage"] else "server"
            ask_unavailable(notes, part, match.start("names"), match.end())
            notes.text.mark(match.start(), match.end())
            return
        for part, keys in asked:
            _allow(notes, part, keys)
        notes.text.record(match, f"only {', '.join(vendors)}: {'; '.join(_names(notes, keys) for _, keys in asked)}")


def _makes_gpus_only(notes: Notes, vendor: str) -> bool:
    return not any(is_of_vendor(one, vendor) for one in vendors_of(notes.catalog))


def _gpus_of_vendors(notes: Notes, match: re.Match[str], vendors: list[str]) -> None:
    """Only, or none of, the GPUs of some vendors; a preference among GPUs has no place in a request."""
    if match["prefer"] or match["shop"]:
        notes.leave(match)
        return
    catalog, eras = notes.catalog, eras_meant(notes)
    usable = usable_gpus(catalog)
    is_negated = match["negated"] is not None
    meant = [
        gpu for gpu in usable if any(is_of_vendor(catalog.gpus[gpu].vendor, one) for one in vendors) is not is_negated
    ]
    usual = [gpu for gpu in usable if era_of_gpu(catalog, catalog.gpus[gpu]) in eras]
    gpus = [gpu for gpu in meant if gpu in usual] or meant
    platforms = notes.table("platforms")
    if gpus and gpus != usual and "gpus" not in platforms:
        platforms["gpus"] = gpus
    notes.text.record(match, f"{'no ' if is_negated else ''}GPUs of {', '.join(vendors)}")


def _allow(notes: Notes, part: str, keys: Iterable[str]) -> None:
    if keys := list(keys):
        platforms = notes.table("platforms")
        platforms[part] = list(dict.fromkeys([*platforms.get(part, []), *keys]))


def _orderable(notes: Notes, kind: str, keys: Iterable[str]) -> list[str]:
    items: Any = notes.catalog.servers if kind == SERVER else notes.catalog.storage
    return [
        key for key in dict.fromkeys(keys) if items[key].orderable or getattr(items[key], "kind", "") == "nfs-server"
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
    return [key for key in keys if (era := era_of(notes.catalog, items[key])) is None or era in eras] or keys


def eras_meant(notes: Notes) -> frozenset[str]:
    """Eras of the parts that a sentence means where it names vendors or kinds of fabric only."""
    catalog = notes.catalog
    named = [key for one in notes.mentions if one.kind in (GPU, SERVER) for key in one.ids]
    return eras_of(catalog, named) or usual_eras(catalog, notes.dnns)


def settle_fabrics(notes: Notes) -> None:
    """Of the fabrics that a sentence names by kind, those of the servers that it means."""
    platforms = notes.request.get("platforms", {})
    catalog, eras = notes.catalog, eras_meant(notes)
    servers = [
        server
        for server in catalog.servers.values()
        if server.role == "gpu" and ((era := era_of(catalog, server)) is None or era in eras)
    ]
    meant = [
        name
        for name in platforms.get("fabrics", [])
        if any(fabric_ports(server.ports, catalog.links[name]) for server in servers)
    ]
    if meant:
        platforms["fabrics"] = meant


def _names(notes: Notes, keys: Iterable[str]) -> str:
    return ", ".join(notes.catalog.item(key).name for key in keys)


def _take_negation(notes: Notes, start: int) -> None:
    if match := re.search(rf"{_NOT}$", notes.text.left[:start], re.I):
        notes.text.mark(match.start(), match.end())
