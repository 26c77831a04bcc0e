"""What a sentence says about equipment: allowed, excluded, preferred, owned, replaced; how many; and its software."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sizer.catalog.fabrics import fabric_links, usual_ports
from sizer.catalog.items import is_of_vendor
from sizer.catalog.labels import name
from sizer.catalog.sale import era_of, era_of_gpu, eras_of, is_sold, usable_gpus, usual_eras
from sizer.catalog.schema import Server, Stack
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.names import names_of, pieces, short_name
from sizer.workload.sentence.notes import Notes, ranged
from sizer.workload.sentence.rules import read_rules
from sizer.workload.sentence.scope import Stance, is_existing, stance
from sizer.workload.sentence.text import Match
from sizer.workload.sentence.unavailable import ask_unavailable
from sizer.workload.transformer.number_formats import stack_precision

_HARDWARE = ("gpu", "server", "storage", "fabric")  # kinds of parts that the catalogue may lack


def read_parts(notes: Notes, is_served: bool) -> None:
    """Counts and names of parts, and what then follows for GPUs and fabrics."""
    read_counts(notes)
    read_gpus(notes)
    read_precision(notes)
    if not is_served:
        read_software(notes)  # with its vendor, who is not preferred for that
    read_named(notes)
    read_storage_kind(notes)
    read_rules(notes, "racks")
    settle_gpus(notes)
    settle_fabrics(notes)


# --- what goes away, and where the rest comes to stand


def read_setting(notes: Notes) -> None:
    """Equipment that goes away, systems that arrive as a rack, and what the room takes heat away with."""
    last = 0  # end of the last that goes: what stands beside it belongs to it
    for found in notes.text.each(r"<THINGS_GONE>"):
        told = stance(notes.text.unblanked, found.start, found.end, "fates")
        is_beside = last > 0 and not notes.text.unblanked[last : found.start].strip(" ,(")
        is_part = bool(found.names("gpu", "server", "outside") or found.quantities("servers", "gpus"))
        if is_beside or (told.kind and (is_part or told.start < found.start)):
            last = found.end
            _let_go(notes, notes.text.part(found, *told.place))
    for found in notes.text.each(r"<THEY_GO>"):
        shape = notes.text.shape
        low = shape.rfind(".", 0, max(shape.rfind(".", 0, found.start), 0)) + 1  # of the sentence before
        for gone in map(notes.text.match_of, list(rule("<THINGS_GONE>").finditer(shape, low, found.start))):
            _let_go(notes, gone)
        notes.text.record(found, "not part of the design")
    _read_stances(notes)
    for key, choices in GRAMMAR["site"].items():
        for choice, source in choices.items():
            for found in notes.text.each(source):
                notes.set(f"site.{key}", choice, found, f"{choice} {key}")


def _let_go(notes: Notes, found: Match) -> None:
    """Take equipment as none of the design, wherever the sentence names it: "the V100 will be retired"."""
    if any(one.ids[0] not in _HARDWARE for one in found.names("outside")):
        return
    ids = set() if found.quantities() else set(found.ids("gpu", "server"))
    others = map(notes.text.match_of, list(rule("<THINGS_GONE>").finditer(notes.text.shape)))
    for one in (found, *(other for other in others if ids & set(other.ids("gpu", "server")))):
        notes.gone |= set(one.names("gpu", "server", "outside", "maker"))
        notes.text.record(one, "not part of the design")
        notes.text.assume(f"{one.words}: not part of the design")


# --- fabrics


def read_fabrics(notes: Notes) -> None:
    """Fabrics by speed or kind, and the rate of each server, or of each GPU, on them."""
    links = [link.id for link in fabric_links(notes.catalog)]
    allowed: list[str] = []
    excluded: list[str] = []
    if rate := notes.text.find(r"<FABRIC_RATE>"):
        notes.fabric_rate = rate
        notes.text.mark(rate.start, rate.end)
    for found in notes.text.each(r"<FABRIC>"):
        (fabric,) = found.names("fabric")
        after, before = notes.text.after(found.end), notes.text.before(found.start)
        is_only = rule(r"<FABRIC_ONLY>").match(after) or re.match("over |via |über ", found.words, re.I)
        is_only = is_only or rule(r"<ONLY_FABRIC>").search(before)
        is_elsewhere = re.match(r" (?:up-?links?|campus|backbone|management|WAN|internet)\b", after, re.I)
        if is_elsewhere or (fabric.qualifier == "other" and not is_only):
            notes.leave(found)  # a port of the storage or of the LAN
            continue
        if not fabric.ids:
            ask_unavailable(notes, "fabric", found, fabric)
            continue
        told = stance(notes.text.unblanked, found.match.start("name"), found.match.end("name"))
        is_excluded = told.kind == "exclude"
        (excluded if is_excluded else allowed).extend(fabric.ids)
        called = [notes.catalog.links[kind].name for kind in fabric.ids]
        names = found.words if fabric.qualifier == "kind" else ", ".join(called)
        start, end = min(told.start, found.start), max(told.end, found.end)
        notes.text.record(found, f"no {names}" if is_excluded else f"fabric {names}", start, end)
    kinds = [one for one in allowed or links if one not in excluded]
    if kinds and (allowed or excluded):
        notes.table("platforms")["fabrics"] = list(dict.fromkeys(kinds))


def settle_fabrics(notes: Notes) -> None:
    """Of the fabrics that a sentence names by kind or rate, those of the servers that it means."""
    links, servers = notes.catalog.links, [one for one in _servers_meant(notes) if not one.is_workstation]
    kinds = notes.request.get("platforms", {}).get("fabrics", [])
    if meant := [kind for kind in kinds if any(usual_ports(server.ports, links[kind]) for server in servers)]:
        notes.table("platforms")["fabrics"] = meant
    if notes.fabric_rate is not None:
        _settle_rate(notes, notes.fabric_rate)


def _servers_meant(notes: Notes) -> list[Server]:
    catalog, eras = notes.catalog, eras_meant(notes)
    return [
        server
        for server in catalog.servers.values()
        if server.role == "gpu" and ((era := era_of(catalog, server)) is None or era in eras)
    ]


def _settle_rate(notes: Notes, found: Match) -> None:
    """Allow the servers whose ports carry a rate together, and the links with which they do."""
    platforms = notes.request.get("platforms", {})
    rate, n_ports = found.quantities()[-1], found.quantities("n")
    asked = rate.high * {"G": 1.0, "T": 1000.0, "M": 1e-3}[rate.unit[0]] * (n_ports[0].high if n_ports else 1)
    is_gpu = rate.kind.endswith("gpu") or bool(found.match["gpu"])
    links = [link for link in fabric_links(notes.catalog) if link.id in platforms.get("fabrics", [link.id])]
    named, gpus = platforms.get("servers"), set(platforms.get("gpus", ()))
    servers = [
        one
        for one in _servers_meant(notes)
        if one.orderable and (one.id in named if named else not gpus or gpus & set(one.gpus)) and one.n_gpus is not None
    ]
    enough = {
        (server.id, link.id)
        for server in servers
        for link in links
        if server.n_gpus is not None
        and usual_ports(server.ports, link) * link.gbit_per_s.value >= asked * (server.n_gpus.value if is_gpu else 1)
    }
    if not enough:
        return
    platforms = notes.table("platforms")
    with_ports = [server.id for server in servers if any(one == server.id for one, _ in enough)]
    if len(with_ports) < len(servers) or named:
        platforms["servers"] = with_ports
    platforms["fabrics"] = [link.id for link in links if any(one == link.id for _, one in enough)]
    text = f"{asked:g} Gbit/s" if asked < 1000 else f"{asked / 1000:g} Tbit/s"
    notes.text.record(found, f"at least {text} of fabric per {'GPU' if is_gpu else 'server'}")


# --- numbers of servers, storage nodes and GPUs


def read_counts(notes: Notes) -> None:
    """Numbers of named servers and storage nodes: what is there, or what is wanted."""
    had_target = notes.has_target
    for found in notes.text.each(r"<COUNTED>"):
        (named,) = found.names("server", "storage", "switch")
        counts, kind = found.quantities(), named.kind
        count = round(counts[-1 if kind == "storage" else 0].high) if counts else 1
        if not 1 <= count <= 100_000:
            continue
        is_there = is_existing(notes.text, found)
        if kind == "server" and not found.quantities() and (not is_there or notes.text.sentence[named.end - 1] == "s"):
            continue  # a server of which there may be any number
        if is_there:
            named_gpus = {key for one in notes.names("gpu") for key in one.ids}
            ids = [key for key in named.ids if kind != "server" or named_gpus & set(notes.catalog.servers[key].gpus)]
            ids = ids or list(named.ids)
            if len(ids) > 1 and kind == "server":
                items = [(notes.catalog.servers[key], notes.catalog.servers[key].gpus[0]) for key in ids]
                labels = [f"{count} {short_name(one)} with {short_name(notes.catalog.gpus[gpu])}" for one, gpu in items]
                notes.choose("server", found, "", labels)
            elif len(ids) == 1:
                path = {"server": "servers", "storage": "storage_nodes", "switch": "switches"}[kind]
                notes.table("existing").setdefault(path, {})[ids[0]] = count
                notes.text.record(found, f"existing: {count} x {_names(notes, ids)}")
                if kind == "server":
                    others = notes.catalog.servers[ids[0]].gpus[1:]  # a DGX A100 of 320 GB has not the usual ones
                    told = {named.qualifier, *(named_gpus if len(named_gpus) == 1 else ())}
                    _allow(notes, "gpus", [key for key in others if key in told])
        elif kind == "server":
            _want_servers(notes, found, list(named.ids), count, had_target)
    for found in notes.text.each(r"<COUNTED_AFTER>"):
        ids = found.ids("server")
        if not found.quantities("racks") or all(notes.catalog.servers[key].delivered is not None for key in ids):
            _want_servers(notes, found, ids, round(found.value.high), had_target)
    _read_owned_gpus(notes)
    if "existing" in notes.request or any(question.about == "server" for question in notes.questions):
        for found in notes.text.each(r"\b(?:the|these|those|both|our|all|die|diese|beiden|les|ces) (?:the )?{servers}"):
            notes.text.record(found, "the existing servers")


def _want_servers(notes: Notes, found: Match, ids: list[str], count: int, had_target: bool) -> None:
    orderable = _orderable(notes, "server", ids)
    if not orderable:
        ask_unavailable(notes, "server", found, found.names("server")[0])
        return
    per_server = {server.n_gpus.value for key in ids if (server := notes.catalog.servers[key]).n_gpus is not None}
    _allow(notes, "servers", orderable)
    if notes.request.get("limits", {}).get("servers", count) != count:  # "two of these, or one of those"
        del notes.request["limits"]["servers"]
        notes.text.record(found, f"or {count} x {_names(notes, ids)}")
        return
    if had_target or notes.has_target or len(per_server) != 1:
        notes.set("limits.servers", count, found, f"at most {count} servers: {_names(notes, ids)}")
        return
    gpus = count * round(per_server.pop())
    notes.work["target"] = {"gpus_busy": gpus}
    notes.text.record(found, f"{count} x {_names(notes, ids)}: {gpus} GPUs at full utilization")


def _read_owned_gpus(notes: Notes) -> None:
    """Equipment that the customer has and names by its GPUs only: the servers that have them are asked for."""
    for found in notes.text.each(r"<GPUS_OWNED>"):
        if not is_existing(notes.text, found):
            continue
        own = existing_gpus(notes)
        if found.quantities("n") and own and found.value.high == own:
            notes.text.record(found, "GPUs of the existing servers")
            continue
        first, *others = (one for one in found.quantities() if not one.kind.startswith("bytes"))
        is_server = bool(found["server"] or found["after"] or first.kind == "servers" or others)
        count, answers = round(first.high), []
        servers = [notes.catalog.servers[key] for key in _servers_with(notes, found, with_discontinued=True)]
        servers.sort(key=lambda one: all(notes.catalog.gpus[gpu].vendor != one.vendor for gpu in one.gpus))
        for key in (one.id for one in servers):
            n_gpus = _per_server(notes, [key])
            if others and n_gpus != round(others[0].high):
                continue
            n_servers = count if is_server else count // n_gpus
            if is_server or n_servers * n_gpus == count:
                answers.append(f"{n_servers} {short_name(notes.catalog.servers[key])}")
        if answers:
            notes.choose("server", found, "", answers)
        else:
            gpus = count * (round(others[0].high) if others else 1)
            is_usable = bool(set(found.ids("gpu")) & {*usable_gpus(notes.catalog)}) and _are_held(notes, found)
            notes.owned_gpus = gpus if is_usable else 0
            counted = f"their {gpus} GPUs count" if is_usable else "no rate of them is known, and they do not count"
            notes.text.assume(f"{found.words}: servers that are not in the catalogue; {counted}")
            notes.text.record(found, "existing, in servers that are not in the catalogue")


def read_gpus(notes: Notes) -> None:
    """A number of GPUs is a target where the sentence gives no other; a name of a GPU limits the choice."""
    had_target = notes.has_target
    most = max(_per_server(notes, [key]) for key, one in notes.catalog.servers.items() if one.orderable)
    people = notes.request.get("team", {}).get("data_scientists")
    for found in notes.text.each("<GPUS_EACH_PERSON>"):
        if people and _are_held(notes, found):
            each = round(found.value.high)
            notes.request["team"]["job"][0]["gpus"] = max(1, each)
            _want(notes, found, people * each, had_target)
    # "Two servers with eight GPUs each", "1 node 8 x H100", "3 nodes of HGX B200", "2 x 8 V100".
    for found in notes.text.each(r"<SERVERS_OF_GPUS>|{servers} (?:(?:of|with|x) )?<GPU>(?!\w)"):
        first, *others = found.quantities()
        count = round(others[-1].high) if others else _per_server(notes, _servers_with(notes, found))
        if not count or not _are_held(notes, found):
            continue
        if found["each"]:
            _hold_each(notes, found, count)
        # "Ten servers with 80 GPUs" counts the GPUs of all of them: no server has so many.
        is_of_each = found["each"] or first.kind == "n" or count <= most
        _want(notes, found, count * round(first.high) if is_of_each else count, had_target)
    for found in notes.text.each(
        r"(?:with )?<GPUS>(?!\w)<EACH>|{gpus/server}|{n/server}(?! \w)|<SERVERS_HAVE> <GPUS>(?!\w)"
    ):
        if not _are_held(notes, found):
            continue
        count, counted = round(found.value.high), notes.text.find(r"{servers}")
        usual = _per_server(notes, notes.request.get("platforms", {}).get("servers", ()))
        is_had = _hold_each(notes, found, count) or usual == count
        if counted is not None:
            notes.text.record(counted, "number of servers")
            _want(notes, found, count * round(counted.value.high), had_target)
        elif is_had:
            notes.text.record(found, f"{count} GPUs in each server")
    for found in notes.text.each(r"<NUMBER_OF_GPUS>"):
        if not _are_held(notes, found):
            continue
        quantity = found.quantities()[-1]
        each = _gpus_of_one(notes, found)
        count = round(quantity.high) * each
        if each > 1 and any(one.qualifier == "board" for one in found.names("gpu")):
            notes.text.assume(f"{found.words}: boards of {each} GPUs each")
        before = notes.text.before(found.start)
        bound, least = rule(r"<AT_MOST>").search(before), rule(r"<LEAST>$").search(before)
        whole = notes.text.part(found, found.start - len(bound[0] if bound else ""), found.end)
        if notes.has_target and quantity.high == each > 1 and " x " in found.words and _hold_each(notes, found, each):
            notes.text.record(found, f"{each} GPUs in each server")
        elif had_target and least and least[0]:
            notes.leave(found)  # at least so many GPUs, beside a target
        elif bound is not None and not notes.has_target:
            notes.set("limits.gpus", count, whole, f"at most {count} GPUs")
        elif each > 1 and had_target:
            notes.set("limits.servers", round(quantity.high), whole, f"at most {round(quantity.high)} servers")
        else:
            _want(notes, whole, count, had_target, ranged(quantity))
    for found in notes.text.each(r"<GPU>"):
        if _are_held(notes, found):
            notes.text.record(found, "allowed GPUs")


def _read_stances(notes: Notes) -> None:
    """Names to compare with, or acceptable only; GPUs that are not wanted, in all their variants, or preferred."""
    for found in notes.text.each(r"{gpu|server|storage|maker|fabric}"):
        one = found.names("gpu", "server", "storage", "maker", "fabric")[0]
        told = stance(notes.text.unblanked, found.start, found.end)
        is_counted = rule(r"{n|gpus|servers}(?: ?x)? ?$").search(notes.text.before(found.start)) is not None
        if told.kind == "optional":
            notes.text.assume(f"{found.words}: neither asked for nor excluded")
            notes.text.record(found, "neither asked for nor excluded", *told.place)
        elif one.kind == "gpu" and told.kind == "exclude":
            notes.gone.add(one)
            family = names_of(notes.catalog).alike(notes.text.sentence[one.start : one.end])
            notes.excluded_gpus |= {*family, *one.ids}
            notes.text.record(found, f"no {found.words} of any variant", *told.place)
        elif (one.kind, told.kind, is_counted) == ("gpu", "prefer", False):
            notes.text.assume(f"{found.words} preferred: a request has no order of GPUs, and all of them are compared")
            notes.text.record(found, "preferred, not required", *told.place)


def settle_gpus(notes: Notes) -> None:
    """Of the GPUs that a sentence means, else of those that it would get without these words, none that is excluded.

    "How many B200" asks for B200, whatever is owned; where servers are added, those that are there may be used, too.
    """
    shape, things = notes.text.unblanked, dict(notes.text.places())
    counted = [key for match in rule(r"<HOW_MANY>{gpu}").finditer(shape) for key in things[match.end() - 1].ids]
    if counted := [key for key in counted if key in usable_gpus(notes.catalog)]:
        notes.table("platforms")["gpus"] = counted
    there = notes.request.get("existing", {}).get("servers", {})
    if there and "gpus" in notes.request.get("platforms", {}) and rule("<ADDED>").search(shape):
        owned = {key for server in there for key in notes.catalog.servers[server].gpus}
        if not owned & set(notes.request["platforms"]["gpus"]):
            _allow(notes, "gpus", [notes.catalog.servers[server].gpus[0] for server in there])
            notes.text.assume("the existing servers may be used next to what is added")
    _settle_variants(notes)
    if not notes.excluded_gpus:
        return
    usual = notes.request.get("platforms", {}).get("gpus") or _usual_gpus(notes)
    allowed = [key for key in usual if key not in notes.excluded_gpus]
    if len(allowed) < len(usual):
        sold = [key for key in usable_gpus(notes.catalog) if is_sold(notes.catalog, notes.catalog.gpus[key], None)]
        notes.table("platforms")["gpus"] = allowed or [key for key in sold if key not in notes.excluded_gpus]
    names = {notes.catalog.gpus[key].name for key in notes.excluded_gpus}
    notes.questions = [  # nobody is offered what is excluded
        replace(
            one,
            available=tuple(name for name in one.available if name not in names),
            answers=tuple(answer for answer in one.answers if answer.label not in names),
        )
        for one in notes.questions
    ]


def _settle_variants(notes: Notes) -> None:
    """Of a server that comes in several kinds, the one with the GPUs that are named: a DSS 8440 with T4."""
    servers, platforms = notes.catalog.servers, notes.request.get("platforms", {})
    named, gpus = platforms.get("servers", []), set(platforms.get("gpus", []))
    if named and gpus and not any(gpus & set(servers[key].gpus) for key in named):
        kinds = [key for key in servers if any(key.startswith(f"{own}-") for own in named)]
        platforms["servers"] = [key for key in kinds if gpus & set(servers[key].gpus)] or named


def _usual_gpus(notes: Notes) -> list[str]:
    """GPUs of the eras meant that are sold; where none is, all of them."""
    catalog, eras = notes.catalog, eras_meant(notes)
    usual = [gpu for gpu in usable_gpus(catalog) if era_of_gpu(catalog, catalog.gpus[gpu]) in eras]
    day = notes.request.get("date")
    return [gpu for gpu in usual if is_sold(catalog, catalog.gpus[gpu], day)] or usual


def _hold_each(notes: Notes, found: Match, count: int) -> bool:
    """Take a number of GPUs in each server, where a server that can be ordered has it."""
    servers = _servers_with(notes, found) if found.names("gpu") else [*notes.catalog.servers]
    is_had = any(_per_server(notes, [key]) == count for key in servers if notes.catalog.servers[key].orderable)
    if is_had:
        notes.table("platforms")["gpus_per_server"] = count
    return is_had


def _want(notes: Notes, found: Match, count: int, is_settled: bool, told: str = "") -> None:
    """Take a number of GPUs as the target; where there is another one, as the most that the design may have."""
    if not is_settled and notes.work.get("target") == {"gpus_busy": count}:
        notes.text.record(found, f"{count} GPUs")
        return
    if not (is_settled or notes.has_target) and 1 <= count <= 100_000:
        notes.work["target"] = {"gpus_busy": count}
        notes.text.record(found, f"{count} GPUs at full utilization{told}")
        return
    named = [key for one in notes.names("server") for key in one.ids]
    if notes.has_target and named and count == _per_server(notes, named) and not rule(r"<BINDS>").search(found.words):
        notes.text.record(found, f"{count} GPUs in each server")
    elif notes.has_target and "gpus" not in notes.request.get("limits", {}) and 1 <= count <= 100_000:
        notes.table("limits")["gpus"] = count
        notes.text.record(found, f"at most {count} GPUs")
        notes.text.assume(f"next to the target, {found.words} are the most that a design may have: {count} GPUs")
    else:
        notes.leave(found)


def _gpus_of_one(notes: Notes, found: Match) -> int:
    """GPUs that a counted thing has: of "4 MI300X servers" those of the usual server; 1 where GPUs are counted."""
    after = rule(r" ?<SERVER>\b").match(notes.text.after(found.end))
    gpus = found.names("gpu")
    if not gpus or (after is None and gpus[0].qualifier != "board"):
        return 1
    if after is not None and not after[0].endswith(("s", "xes")) and found.quantities()[-1].high > 1:
        return 1  # "8 x MI300X box" is one box
    if after is not None:
        notes.text.mark(found.end, found.end + after.end())
    return _per_server(notes, _servers_with(notes, found)) or 1


def _servers_with(notes: Notes, found: Match, *, with_discontinued: bool = False) -> list[str]:
    """Servers with the GPUs that a phrase names: those that can be ordered, or all."""
    named = set(found.ids("gpu"))
    return [
        server.id
        for server in notes.catalog.servers.values()
        if server.role == "gpu"
        and (server.orderable or with_discontinued)
        and server.n_gpus is not None
        and named & set(server.gpus)
    ]


def _per_server(notes: Notes, servers: Iterable[str]) -> int:
    """GPUs of most of some servers; 0 where there is none."""
    counts = [round(n_gpus.value) for key in servers if (n_gpus := notes.catalog.servers[key].n_gpus) is not None]
    return max(set(counts), key=counts.count, default=0)


def existing_gpus(notes: Notes) -> int:
    """GPUs of the servers that the customer has."""
    servers: dict[str, int] = notes.request.get("existing", {}).get("servers", {})
    return notes.owned_gpus + sum(_per_server(notes, [key]) * count for key, count in servers.items())


def _are_held(notes: Notes, found: Match) -> bool:
    """Whether the GPUs that a phrase names, if it names any, can be ordered; they are what is allowed then."""
    gpus = found.names("gpu")
    if not gpus:
        return True
    usable = usable_gpus(notes.catalog)
    allowed = [key for key in found.ids("gpu") if key in usable]
    for one in gpus:
        words = notes.text.sentence[one.start : one.end].strip()
        if len(one.ids) == 1 and one.ids[0] in allowed and len(names_of(notes.catalog).alike(words)) > 1:
            notes.text.assume(f"{words}: {notes.catalog.gpus[one.ids[0]].name}")
    newer = rule(r"<NEWER>").match(notes.text.shape, found.end)
    if newer or (not found.quantities() and rule(r"<NEWER_BEFORE>").search(notes.text.before(found.start))):
        allowed = _since(notes, found.ids("gpu"))
        if newer:
            notes.text.record(notes.text.match_of(newer), f"or newer: {_names(notes, allowed)}")
    if not allowed:
        ask_unavailable(notes, "gpu", found, gpus[0])
        return False
    if set(allowed) != set(usable):
        platforms = notes.table("platforms")
        platforms["gpus"] = sorted({*platforms.get("gpus", []), *allowed})
    return True


def _since(notes: Notes, gpus: list[str]) -> list[str]:
    """GPUs that are sold, of the makers of some and of their generation or a later one."""
    catalog = notes.catalog
    generations = {key: catalog.generations.get(one.generation or "") for key, one in catalog.gpus.items()}
    days = {key: str(one.introduced.value) for key, one in generations.items() if one is not None and one.introduced}
    first = min((days[key] for key in gpus if key in days), default="")
    makers = {catalog.gpus[key].vendor for key in gpus}
    least = min(catalog.gpus[key].peak_mixed_flop_per_s.value for key in gpus)
    return [
        key
        for key in usable_gpus(catalog)
        if days.get(key, "") >= first
        and catalog.gpus[key].vendor in makers
        and catalog.gpus[key].peak_mixed_flop_per_s.value >= least
        and (key in gpus or is_sold(catalog, catalog.gpus[key], notes.request.get("date")))
    ]


def read_gpu_memory(notes: Notes) -> None:
    """Memory of GPUs, which is no data set: it chooses among the GPUs of named servers, or stays unread."""
    for found in notes.text.each(r"<GPU_MEMORY>"):
        size = next(one for one in found.quantities() if one.kind.startswith("bytes"))
        if found["whole"] and size.unit != "GB":
            continue  # "8 GPUs with 10 TB" of data
        memory = f" {size.high:g} gb"
        servers = [notes.catalog.servers[key] for one in notes.names("server") for key in one.ids]
        usable = usable_gpus(notes.catalog)
        if servers:
            usable = [key for server in servers for key in server.gpus if key in usable]
        elif not found["whole"] or notes.names("gpu"):
            usable = []
        gpus = [key for key in usable if memory in notes.catalog.gpus[key].name.lower()]
        gpus = [key for key in gpus if is_sold(notes.catalog, notes.catalog.gpus[key], None)] or gpus
        if not gpus or "gpus" in notes.request.get("platforms", {}):
            notes.leave(found)
            continue
        if len(gpus) < len(usable):
            notes.table("platforms")["gpus"] = list(dict.fromkeys(gpus))
        if found["whole"] and found.quantities("n", "gpus"):
            _want(notes, found, round(found.value.high), notes.has_target)
        notes.text.record(found, f"GPUs with{memory}")


# --- servers, storage and vendors by name


def _groups(notes: Notes) -> Iterator[tuple[Match, Stance]]:
    """Names side by side with their stance; a list is divided before a last name that is meant in another way."""
    for whole in notes.text.each(r"<GROUP>"):
        first, last = whole.match.span("names")
        joins = list(rule(r"<JOIN>").finditer(whole.match.string, first, last))
        places = zip([first, *(one.end() for one in joins)], [*(one.start() for one in joins), last], strict=True)
        meant = [stance(notes.text.unblanked, *place) for place in places]
        halves = [(whole, replace(meant[0], end=meant[-1].end))]
        for join, told in zip(joins, meant[1:], strict=True):
            one = rule(r"<GROUP>").match(notes.text.shape, whole.start, join.start())
            other = rule(r"<GROUP>").match(notes.text.shape, join.end(), whole.end)
            if told.kind != meant[0].kind and one and other:
                halves = [(notes.text.match_of(one), meant[0]), (notes.text.match_of(other), meant[-1])]
                break
        for found, told in halves:
            yield found, Stance(told.kind, min(told.start, found.start), max(told.end, found.end))


def read_named(notes: Notes) -> None:
    """Servers, storage and vendors by name: allowed, excluded or preferred."""
    for found, told in _groups(notes):
        servers, storage, vendors = (found.ids(kind) for kind in ("server", "storage", "maker"))
        is_told_there = is_existing(notes.text, found) and told.kind not in ("exclude", "prefer")
        if told.kind == "contrast":
            continue  # "rather Dell than HPE" excludes nobody
        if is_told_there and (storage or found["storage"] or found["part_before"].lower() == "storage"):
            notes.ask_place(found, "how many nodes of which model are there, the request has to know")
        elif servers or storage:
            _items(notes, found, told, servers, storage)
        elif vendors and not (found["switches"] or found["part_before"].lower() in ("switches", "networking")):
            _vendors(notes, found, told, vendors)


def _items(notes: Notes, found: Match, told: Stance, servers: list[str], storage: list[str]) -> None:
    is_negated, meanings = told.kind == "exclude", []
    for part, keys in (("server", servers), ("storage", storage)):
        if not keys:
            continue
        orderable = _orderable(notes, part, keys)
        if not orderable and not is_negated:
            ask_unavailable(notes, part, found, found.names(part)[0])
            return
        key = "servers" if part == "server" else part
        _allow(notes, f"forbidden_{key}" if is_negated else key, orderable)
        meanings.append(f"{'excluded' if is_negated else 'allowed'} {key}: {_names(notes, orderable)}")
    notes.text.record(found, "; ".join(meanings), *told.place)


def _vendors(notes: Notes, found: Match, told: Stance, vendors: list[str]) -> None:
    is_excluded, listed = told.kind == "exclude", ", ".join(vendors)
    before = found["part_before"].lower()
    called = {
        "servers": bool(found["servers"]) or before.endswith(("servers", "compute")),
        "storage": bool(found["storage"]) or before.startswith(("storage", "arrays", "filers")),
    }
    is_all = not any(called.values())
    makers = [one for one in vendors if any(is_of_vendor(gpu.vendor, one) for gpu in notes.catalog.gpus.values())]
    items = {part: _of_vendors(notes, part, vendors) for part in called}
    of_gpus_only = found["gpus"] or not any(items.values())
    # Who wants one maker of GPUs only, wants its GPUs, in servers of whoever builds them.
    if told.kind != "prefer" and (of_gpus_only or (told.kind == "only" and makers == vendors and is_all)):
        _limit_gpus(notes, vendors, is_excluded)
        notes.text.record(found, f"{'no ' if is_excluded else ''}GPUs of {listed}", *told.place)
        return
    if makers and is_excluded and not called["servers"]:
        _limit_gpus(notes, makers, is_negated=True)
    if is_excluded:
        for part in (part for part in called if is_all or called[part]):
            _allow(notes, f"forbidden_{part}", items[part])
        notes.text.record(found, f"excluded vendors: {listed}", *told.place)
    elif told.kind == "prefer" or (is_all and told.kind != "only"):
        _allow(notes, "prefer_vendors", vendors)
        notes.text.record(found, f"preferred vendors: {listed}", *told.place)
    else:
        asked = [part for part in called if called[part] or (told.kind == "only" and items[part] and is_all)]
        if any(not items[part] for part in asked):
            ask_unavailable(notes, "storage" if called["storage"] else "server", found)
            return
        for part in asked:
            _allow(notes, part, items[part])
        names = "; ".join(_names(notes, items[part]) for part in asked)
        notes.text.record(found, f"only {listed}: {names}", *told.place)


def _limit_gpus(notes: Notes, vendors: list[str], is_negated: bool) -> None:
    """Only, or none of, the GPUs of some vendors."""
    catalog, usual = notes.catalog, _usual_gpus(notes)
    named = [key for key in usable_gpus(catalog) if any(is_of_vendor(catalog.gpus[key].vendor, one) for one in vendors)]
    if is_negated:
        notes.excluded_gpus |= set(named)
        return
    gpus = [key for key in named if key in usual] or named
    if gpus and gpus != usual:
        notes.table("platforms").setdefault("gpus", gpus)


def _allow(notes: Notes, part: str, keys: Iterable[str]) -> None:
    if keys := list(keys):
        platforms = notes.table("platforms")
        platforms[part] = list(dict.fromkeys([*platforms.get(part, []), *keys]))


def _orderable(notes: Notes, kind: str, keys: Iterable[str]) -> list[str]:
    items: Any = notes.catalog.servers if kind == "server" else notes.catalog.storage
    # Storage that is not planned unasked, such as Ceph, is there where it is named.
    return [
        key for key in dict.fromkeys(keys) if items[key].orderable or getattr(items[key], "kind", "local") != "local"
    ]


def _of_vendors(notes: Notes, kind: str, vendors: list[str]) -> list[str]:
    items: Any = notes.catalog.servers if kind == "servers" else notes.catalog.storage
    eras = eras_meant(notes)
    keys = [
        key
        for key, item in items.items()
        if item.orderable
        and (kind != "servers" or item.role == "gpu")
        and any(is_of_vendor(item.vendor, vendor) for vendor in vendors)
    ]
    # Who names a vendor that has nothing of the era meant asks for what it has.
    keys = [key for key in keys if (era := era_of(notes.catalog, items[key])) is None or era in eras] or keys
    day = notes.request.get("date")
    return [key for key in keys if kind != "servers" or is_sold(notes.catalog, items[key], day)] or keys


def eras_meant(notes: Notes) -> frozenset[str]:
    """Eras of the parts that a sentence means where it names vendors or kinds of fabric only."""
    named = [key for one in notes.names("gpu", "server") for key in one.ids]
    return eras_of(notes.catalog, named) or usual_eras(notes.catalog, notes.dnns, notes.request.get("date"))[0]


def _names(notes: Notes, keys: Iterable[str]) -> str:
    return ", ".join(notes.catalog.item(key).name for key in keys)


# --- storage by kind


def read_tier(notes: Notes) -> None:
    """Media or place of the storage."""
    for tier, source in GRAMMAR["tiers"].items():
        for found in notes.text.each(source):
            told = stance(notes.text.unblanked, found.start, found.end)
            if told.kind != "exclude":
                notes.set("platforms.storage_tier", tier, found, f"storage tier {tier}")
                continue
            items = notes.catalog.storage.items()
            kinds = [key for key, item in items if item.tier == tier or (tier == item.kind == "local")]
            _allow(notes, "forbidden_storage", kinds)
            notes.text.record(found, f"no storage of the tier {tier}", *told.place)


def read_storage_kind(notes: Notes) -> None:
    """A kind of shared storage instead of a name: NFS, scale-out NAS, a parallel file system."""
    for source, *kinds in GRAMMAR["storage_kinds"]:
        found = notes.text.find(source)
        if found is None:
            continue
        if is_existing(notes.text, found) or rule("<OLD_BEFORE>").search(notes.text.before(found.start)):
            continue
        if "storage" in notes.request.get("platforms", {}):  # named: the kind says how it is reached
            notes.text.record(found, "access to the storage")
            continue
        items = notes.catalog.storage.items()
        meant = [key for key, item in items if item.kind in kinds and (item.orderable or item.kind == "nfs-server")]
        is_excluded = stance(notes.text.unblanked, found.start, found.end).kind == "exclude"
        _allow(notes, "forbidden_storage" if is_excluded else "storage", meant)
        notes.text.record(found, f"{'no ' if is_excluded else 'only '}{' or '.join(name(kind) for kind in kinds)}")


# --- software


def read_precision(notes: Notes) -> None:
    """The precision of the training, or of the weights of a model in use; a format that is named rules over a kind."""
    for precision, source in GRAMMAR["precisions"].items():
        for found in notes.text.each(source):
            told = stance(notes.text.unblanked, found.start, found.end)
            value = precision if notes.is_language or precision[-1] in "248" else "mixed"
            if precision[-1] in "48" and notes.dnns and not notes.is_language:
                ask_unavailable(notes, "precision", found)
            elif told.kind != "exclude":
                if not re.search(r"\d", found.words):  # "BF16 mixed precision"
                    value = notes.work.get("precision", value)
                notes.set("w.precision", value, found, f"{value} precision")
            else:
                notes.text.record(found, f"not {precision}", *told.place)
                if value == "mixed":
                    notes.work.setdefault("precision", "fp32")


def read_software(notes: Notes) -> None:
    """The newest stack of a named framework that runs the task in the precision asked for."""
    matches = list(notes.text.each("<SOFTWARE>"))
    frameworks = {stack.framework.casefold() for stack in notes.catalog.stacks.values()}
    matches.sort(key=lambda found: found.ids("software")[0].casefold() not in frameworks)
    if not matches:
        return
    named = [set(pieces(found.ids("software")[0])) for found in matches]
    stacks = [stack for stack in notes.catalog.stacks.values() if _is_candidate(notes, stack)]
    fitting = [stack for stack in stacks if all(words <= _words(stack) for words in named)]
    first = {name.casefold() for name in matches[0].ids("software")}
    fitting = [stack for stack in fitting if stack.framework.casefold() in first] or fitting
    fitting = fitting or [stack for stack in stacks if named[0] <= _words(stack)]
    if not fitting or not (notes.dnns or notes.own_model):
        return
    newest = max(fitting, key=lambda stack: (stack.released.value, stack.id))
    notes.work["stack"] = newest.id
    notes.text.assume(f"{matches[0].words}: software stack {newest.name}, the newest of the catalogue with it")
    for found, words in zip(matches, named, strict=True):
        if words <= _words(newest):
            notes.text.record(found, f"software stack {newest.name}")


def _is_candidate(notes: Notes, stack: Stack) -> bool:
    task = "inference" if "task" in notes.work else "training"
    precision = stack_precision(str(notes.work.get("precision", "mixed")))
    return (
        "emulated" not in _words(stack)
        and stack.trains_language is notes.is_language
        # A sentence has no numbers of a network of one's own.
        and not (stack.trains_own or stack.serves_language)
        and stack.task in (task, "both")
        and precision in stack.precisions
    )


def _words(stack: Stack) -> set[str]:
    return {word for one in (stack.framework, stack.name, *stack.aliases) for word in pieces(one)}
