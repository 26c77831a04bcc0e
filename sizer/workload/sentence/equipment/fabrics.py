"""What a sentence says about the fabric: its speed or kind, and the rate that each server has on it."""

import re
from functools import lru_cache

from sizer.catalog.fabrics import fabric_links, fabric_ports
from sizer.catalog.generations import era_of
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Server
from sizer.workload.sentence.equipment.named import NEGATION, NEGATION_AFTER, eras_meant
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import ends, quantity
from sizer.workload.sentence.unavailable import ask_unavailable

_GBIT = r"(?:Gbit/s|Gb/s|Gbps|Gbit|Gb|G)"
_HOST = r"(?:GPU )?(?:servers?|nodes?|hosts?|machines?|box(?:es)?)"
# "3.2 Tb/s per node", "8 x 400 Gb/s per server": what the ports of a server carry together.
_SERVER_RATE = re.compile(
    r"(?:\b(?:at least|with|min(?:imum)?) )?(?:(?<![\w.,])(?P<ports>\d{1,2}) ?[x*] ?)?"
    + quantity(
        r" ?(?P<unit>[GT](?:bit/s|bps|b/s|bit|b))\b(?: (?:of )?(?:fabric|network(?:ing)?|InfiniBand|Ethernet|RDMA"
        r"|injection|bandwidth|throughput|connectivity))*"
        rf"(?: ?/ ?| (?:per|a|each|in each|for each|to each|in every|for every) )(?:{_HOST}|(?P<gpu>GPU))\b"
    ),
    re.I,
)
# What leads out of the cluster, or around its fabric.
_ELSEWHERE = re.compile(r" (?:up-?links?|campus|backbone|management|WAN|internet)\b", re.I)
# "40 GbE only": of the cluster, whatever speed it is.
_ONLY = re.compile(r" (?:only|exclusively)\b| (?:compute )?(?:fabric|cluster network|interconnect)\b", re.I)
_ONLY_BEFORE = re.compile(r"\b(?:only|exclusively|nothing but)(?: have| use)? $", re.I)
_GBIT_OF = {"g": 1.0, "t": 1000.0}


@lru_cache(maxsize=8)
def _fabric_pattern(catalog: Catalog) -> re.Pattern[str]:
    links = fabric_links(catalog)
    speeds = sorted((f"{link.gbit_per_s.value:g}" for link in links if not link.is_infiniband), key=len)[::-1]
    bands = "|".join(re.escape(link.id) for link in links if link.is_infiniband) or "(?!)"
    return re.compile(
        rf"\b(?:over |via |on |with |using )?(?:(?P<speed>{'|'.join(speeds) or '(?!)'}) ?(?:GbE"
        rf"|(?:{_GBIT}|gig|gigabit)(?: |-)?(?:Ethernet|networking|LAN|RoCE))(?: (?:with )?RoCE(?: ?v2)?)?"
        rf"|(?P<other_speed>(?<![\w.,])\d{{1,3}}) ?(?:GbE|(?:{_GBIT}|gig|gigabit)[ -]?(?:Ethernet|RoCE))"
        rf"|(?:\d{{2,3}} ?{_GBIT} )?(?P<band>{bands})(?:-?\d{{2,3}}\b| \d{{2,3}} ?{_GBIT}\b)?"
        r"(?:[ -]?(?:InfiniBand|IB))?"
        rf"|(?:InfiniBand|IB)[ -](?P<band_after>{bands})"
        rf"|(?:(?P<ib_speed>\d{{2,3}}) ?{_GBIT} )?(?P<infiniband>InfiniBand|IB)"
        r"|(?P<ethernet>Ethernet|RoCE(?: ?v2)?))\b"
        r"(?: (?:fabrics?|networks?|switch(?:es)?|interconnects?))?",
        re.I,
    )


def read_fabrics(notes: Notes) -> None:
    """Fabrics by speed or kind: EDR, InfiniBand, 100 GbE; and the rate of each server, or of each GPU, on them."""
    match = notes.text.find(_SERVER_RATE)
    if match and "B" not in match["unit"]:  # bytes are those of the storage
        notes.fabric_rate = match
        notes.text.mark(match.start(), match.end())
    links = fabric_links(notes.catalog)
    allowed: list[str] = []
    excluded: list[str] = []
    while match := notes.text.find(_fabric_pattern(notes.catalog)):
        is_only = _ONLY.match(notes.after(match.end())) or _ONLY_BEFORE.search(notes.before(match.start()))
        if (match["other_speed"] and not is_only) or _ELSEWHERE.match(notes.after(match.end())):
            notes.leave(match)  # a port of the storage or of the LAN
            continue
        named = (match["band"] or match["band_after"] or "").lower()
        speed = match["speed"] or match["other_speed"]
        kinds = [
            link.id
            for link in (notes.catalog.links.values() if speed else links)
            if (match["infiniband"] and link.is_infiniband)
            or (match["ethernet"] and not link.is_infiniband)
            or link.id == named
            or (speed and not link.is_infiniband and link.gbit_per_s.value == float(speed))
        ]
        if not kinds:
            ask_unavailable(notes, "fabric", match.start(), match.end())
            notes.text.mark(match.start(), match.end())
            continue
        if match["ib_speed"]:
            asked = float(match["ib_speed"])
            kinds = [kind for kind in kinds if notes.catalog.links[kind].gbit_per_s.value == asked] or kinds
        is_excluded = re.search(rf"{NEGATION}$", notes.before(match.start()), re.I) is not None
        negated_after = re.compile(NEGATION_AFTER, re.I).match(notes.text.left, match.end())
        if negated_after is not None:
            is_excluded = True
            notes.text.mark(negated_after.start(), negated_after.end())
        if is_excluded:
            _take_negation(notes, match.start())
        (excluded if is_excluded else allowed).extend(kinds)
        is_kind = len(kinds) > 1 and not match["ib_speed"] and (match["infiniband"] or match["ethernet"])
        names = match[0].strip() if is_kind else ", ".join(notes.catalog.links[kind].name for kind in kinds)
        notes.text.record(match, f"no {match[0].strip()}" if is_excluded else f"fabric {names}")
    kinds = [one for one in allowed or (link.id for link in links) if one not in excluded]
    if kinds and (allowed or excluded):
        notes.table("platforms")["fabrics"] = list(dict.fromkeys(kinds))


def settle_fabrics(notes: Notes) -> None:
    """Of the fabrics that a sentence names by kind, those of the servers that it means."""
    platforms = notes.request.get("platforms", {})
    catalog = notes.catalog
    servers = _servers_meant(notes)
    meant = [
        name
        for name in platforms.get("fabrics", [])
        if any(fabric_ports(server.ports, catalog.links[name]) for server in servers)
    ]
    if meant:
        platforms["fabrics"] = meant
    if notes.fabric_rate is not None:
        _settle_rate(notes, notes.fabric_rate, servers)


def _servers_meant(notes: Notes) -> list[Server]:
    catalog, eras = notes.catalog, eras_meant(notes)
    return [
        server
        for server in catalog.servers.values()
        if server.role == "gpu" and ((era := era_of(catalog, server)) is None or era in eras)
    ]


def _settle_rate(notes: Notes, match: re.Match[str], meant: list[Server]) -> None:
    """Allow the servers whose ports carry a rate together, and the links with which they do."""
    platforms = notes.request.get("platforms", {})
    asked = ends(match)[1] * _GBIT_OF[match["unit"][0].lower()] * int(match["ports"] or 1)
    links = [link for link in fabric_links(notes.catalog) if link.id in platforms.get("fabrics", [link.id])]
    named, gpus = platforms.get("servers"), set(platforms.get("gpus", ()))
    servers = [
        one
        for one in meant
        if one.orderable and (one.id in named if named else not gpus or gpus & set(one.gpus)) and one.n_gpus is not None
    ]
    enough = {
        (server.id, link.id)
        for server in servers
        for link in links
        if fabric_ports(server.ports, link) * link.gbit_per_s.value >= asked * (_n_gpus(server) if match["gpu"] else 1)
    }
    if not enough:
        notes.unusable.append(match[0].strip())
        return
    platforms = notes.table("platforms")
    with_ports = [server.id for server in servers if any(one == server.id for one, _ in enough)]
    if len(with_ports) < len(servers) or named:
        platforms["servers"] = with_ports
    platforms["fabrics"] = [link.id for link in links if any(one == link.id for _, one in enough)]
    names = ", ".join(notes.catalog.links[one].name for one in platforms["fabrics"])
    rate = f"{asked:g} Gbit/s" if asked < 1000 else f"{asked / 1000:g} Tbit/s"
    each = "GPU" if match["gpu"] else "server"
    notes.text.record_words(match.start(), match.end(), f"at least {rate} of fabric per {each}: {names}")


def _n_gpus(server: Server) -> float:
    return server.n_gpus.value if server.n_gpus is not None else 0.0


def _take_negation(notes: Notes, start: int) -> None:
    if match := re.search(rf"{NEGATION}$", notes.text.left[:start], re.I):
        notes.text.mark(match.start(), match.end())
