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
from sizer.workload.sentence.models import ask_unavailable
from sizer.workload.sentence.names import names_of, pieces, short_name
from sizer.workload.sentence.notes import Notes, ranged, read_rules
from sizer.workload.sentence.scope import Stance, is_existing, stance
from sizer.workload.sentence.text import Match, Name
from sizer.workload.transformer.number_formats import stack_precision

# Boards of SXM GPUs have at least so many.
_LEAST_OF_BOARD = 4
_HARDWARE = ("gpu", "server", "storage", "fabric")  # kinds of parts that the catalogue may lack


def read_parts(notes: Notes, is_served: bool) -> None:
    """Counts and names of parts, and what then follows for GPUs and fabrics."""
    read_counts(notes)
    read_gpus(notes)
    read_precision(notes)
    if not is_served:
        read_software(notes)  # with its vendor, who is not preferred for that
    read_named(notes)
    read_storage_kinds(notes, "storage_kinds")
    read_rules(notes, "racks")
    settle_gpus(notes)


# --- what goes away, and where the rest comes to stand


def read_setting(notes: Notes) -> None:
    """Equipment that goes away, systems that arrive as a rack, and what the room takes heat away with."""
    text, last = notes.text, 0
    # end of the last that goes: what stands beside it belongs to it
    for found in text.each(r"<THINGS_GONE>"):
        told = stance(text.unblanked, found.start, found.end, "fates")
        if rule(r"{percent} of (?:(?:our|the|these|those|my) )*$").search(text.unblanked, 0, found.start):
            continue  # a share of them, which is asked about
        is_beside = last > 0 and not text.unblanked[last : found.start].strip(" ,(")
        is_part = bool(found.names("gpu", "server", "outside") or found.quantities("servers", "gpus"))
        if is_beside or (told.kind and (is_part or told.start < found.start)):
            last = found.end
            _let_go(notes, text.part(found, *told[1:]))
    for found in text.each(r"<THEY_GO>"):
        low = text.shape.rfind(".", 0, max(text.shape.rfind(".", 0, found.start), 0)) + 1  # of the sentence before
        for gone in text.within(r"<THINGS_GONE>", low, found.start):
            _let_go(notes, gone)
        text.record(found, "not part of the design")
    _read_stances(notes)
    read_rules(notes, "site")


def _let_go(notes: Notes, match: Match) -> None:
    """Take equipment as none of the design, wherever the sentence names it: "the V100 will be retired"."""
    if any(one.ids[0] not in _HARDWARE for one in match.names("outside")):
        return
    ids = set() if match.quantities() else set(match.ids("gpu", "server"))
    others = [one for one in notes.text.within(r"<THINGS_GONE>") if ids & set(one.ids("gpu", "server"))]
    for one in (match, *others):
        notes.gone |= set(one.names("gpu", "server", "outside", "maker"))
        notes.text.record(one, "not part of the design")
        notes.text.assume(f"{one.words}: not part of the design")


# --- fabrics


def read_fabrics(notes: Notes) -> None:
    """Fabrics by speed or kind; of those of a kind the ones that servers of the era meant have."""
    wanted, excluded = list[str](), list[str]()
    for found in notes.text.each(r"<FABRIC>"):
        (fabric,) = found.names("fabric")
        is_only = found["over"] or found["only"] or rule(r"<ONLY_FABRIC>").search(notes.text.before(found.start))
        if found["elsewhere"] or (fabric.qualifier == "other" and not is_only):
            notes.leave(found)  # a port of the storage or of the LAN
        elif not fabric.ids:
            ask_unavailable(notes, "fabric", found, fabric)
        else:
            told = stance(notes.text.unblanked, found.match.start("name"), found.match.end("name"))
            names = found.words if fabric.qualifier == "kind" else _names(notes, fabric.ids)
            (excluded if told.kind == "exclude" else wanted).extend(fabric.ids)
            meaning = f"{'no' if told.kind == 'exclude' else 'fabric'} {names}"
            notes.text.record(found, meaning, min(told.start, found.start), max(told.end, found.end))
    links, eras = notes.catalog.links, eras_meant(notes)
    kinds = [key for key in wanted or [link.id for link in fabric_links(notes.catalog)] if key not in excluded]
    if (wanted or excluded) and kinds:
        servers = (one for one in notes.catalog.servers.values() if one.role == "gpu" and not one.is_workstation)
        ports = [server.ports for server in servers if (era := era_of(notes.catalog, server)) is None or era in eras]
        meant = [kind for kind in kinds if any(usual_ports(port, links[kind]) for port in ports)]
        notes.table("platforms")["fabrics"] = list(dict.fromkeys(meant or kinds))


# --- numbers of servers, storage nodes and GPUs


def read_counts(notes: Notes) -> None:
    """Numbers of named servers and storage nodes: what is there, or what is wanted."""
    had_target = notes.has_target
    for found in notes.text.each(r"<COUNTED>"):
        (named,) = found.names("server", "storage", "switch")
        kind = named.kind
        # Of a server the number before it: behind it stand its GPUs.
        counts = [quantity for quantity in found.quantities() if kind == "storage" or quantity.start < named.start]
        count = round(counts[-1 if kind == "storage" else 0].high) if counts else 1
        is_there = is_existing(notes.text, found)
        if kind == "server" and not counts and (not is_there or notes.text.sentence[named.end - 1] == "s"):
            continue  # a server of which there may be any number
        if is_there:
            _own(notes, found, named, count)
        elif kind == "server":
            _want_servers(notes, found, list(named.ids), count, had_target)
    for found in notes.text.each(r"<COUNTED_AFTER>"):
        ids = found.ids("server")
        if not found.quantities("racks") or all(notes.catalog.servers[key].delivered is not None for key in ids):
            _want_servers(notes, found, ids, round(found.value.high), had_target)
    _read_owned_gpus(notes)
    for found in notes.text.each(r"<THE_SERVERS>|<NAMED_OWNED>"):
        if "existing" in notes.request or any(question.about == "server" for question in notes.questions):
            notes.text.record(found, "the existing servers")


def _own(notes: Notes, match: Match, named: Name, count: int) -> None:
    """Take named servers, storage nodes or switches as those that are there."""
    gpus = set(notes.ids("gpu"))
    ids = [key for key in named.ids if named.kind == "server" and gpus & set(notes.catalog.servers[key].gpus)]
    ids = ids or list(named.ids)
    path = {"server": "servers", "storage": "storage_nodes", "switch": "switches"}[named.kind]
    notes.table("existing").setdefault(path, {})[ids[0]] = count
    notes.text.record(match, f"existing: {count} x {_names(notes, ids[:1])}")
    if named.kind == "server":
        server, fitted = notes.catalog.servers[ids[0]], [one for one in match.quantities() if one.start > named.start]
        if fitted and server.n_gpus_choices:
            notes.table("existing")["gpus_per_server"] = round(fitted[0].high)
        kinds = server.gpus  # a DGX A100 of 320 GB has not the usual ones
        meant = gpus & {*kinds}
        told = {named.qualifier, *(meant if len(meant) == 1 < len(kinds) else ())}
        if held := [key for key in kinds if key in told]:
            notes.table("existing").setdefault("gpus", []).extend(held)


def _want_servers(notes: Notes, match: Match, ids: list[str], count: int, had_target: bool) -> None:
    _allow(notes, "servers", ids)
    if notes.limits.get("servers", count) != count:  # "two of these, or one of those"
        del notes.limits["servers"]
        notes.text.record(match, f"or {count} x {_names(notes, ids)}")
    elif had_target or notes.has_target or not (each := _per_server(notes, ids)):
        notes.set("limits.servers", count, match, f"at most {count} servers: {_names(notes, ids)}")
    else:
        meaning = f"{count} x {_names(notes, ids)}: {count * each} GPUs at full utilization"
        notes.aim(match, "gpus_busy", count * each, meaning)


def _read_owned_gpus(notes: Notes) -> None:
    """Equipment that the customer has and names by its GPUs only: the servers that have them are asked for."""
    for found in notes.text.each(r"<GPUS_OWNED>"):
        if not is_existing(notes.text, found):
            continue
        if found.quantities("n") and found.value.high == existing_gpus(notes):
            notes.text.record(found, "GPUs of the existing servers")
            continue
        first, *others = (quantity for quantity in found.quantities() if not quantity.kind.startswith("bytes"))
        count, each, after = round(first.high), round(others[0].high) if others else 0, found["after"]
        is_one_box = "box" in after and not after.endswith("s") and count > 1
        is_server = bool(found["server"] or (after and not is_one_box) or first.kind == "servers" or others)
        answers, (gpu,) = [], found.names("gpu")
        # What says so of the GPUs alone, or among the words that the answer takes the place of.
        is_apart = notes.text.find(r"<NAMED_OWNED>") or re.search(r"\b(?:own|have) \(", found.words)
        kept = "existing " if is_apart else ""
        keys = _of_form(notes, gpu, each or (0 if is_server else count))
        servers = [notes.catalog.servers[key] for key in _servers_with(notes, keys)]
        own_make = {one.id: any(notes.catalog.gpus[key].vendor == one.vendor for key in one.gpus) for one in servers}
        servers.sort(key=lambda server: (each not in (0, _per_server(notes, [server.id])), not own_make[server.id]))
        for one in servers:
            usual = _per_server(notes, [one.id])
            # One server that is not full, or that takes any number.
            is_part = not is_server and (count < usual or (one.n_gpus_alone and count in _fitted(one)))
            n_gpus = each or (count if is_part else usual)
            if n_gpus in _fitted(one) and (is_server or count % n_gpus == 0):
                is_other = keys != gpu.ids and len(keys) == 1
                words = notes.catalog.gpus[keys[0]].name if is_other else notes.text.sentence[gpu.start : gpu.end]
                is_told = bool(each or is_part) and (len(one.gpus) > 1 or n_gpus != usual or bool(one.n_gpus_alone))
                cards = f" with {n_gpus} {words.strip()}" if is_told else ""
                answers.append(f"{count if is_server else count // n_gpus} {kept}{short_name(one)}{cards}")
        if answers:
            notes.choose("server", found, "", answers)
            continue
        gpus = count * (each or 1)
        is_known = bool(set(gpu.ids) & {*usable_gpus(notes.catalog)})
        # Another target decides what is bought, which is no more of these GPUs.
        is_usable = is_known and not notes.has_target and _are_held(notes, found)
        notes.owned_gpus = gpus if is_usable else 0
        left = "name the nearest that is to use them" if is_known else "no rate of them is known"
        counted = f"their {gpus} GPUs count" if is_usable else f"they are not part of the design; {left}"
        notes.text.assume(f"{found.words}: servers that are not in the catalogue; {counted}")
        notes.text.record(found, "existing, in servers that are not in the catalogue")


def _fitted(server: Server) -> set[int]:
    """Numbers of GPUs with which a server is sold."""
    return {round(server.n_gpus.value) if server.n_gpus else 0, *server.n_gpus_choices, *server.n_gpus_alone}


def _of_form(notes: Notes, gpu: Name, count: int) -> tuple[str, ...]:
    """The GPUs that a name means, in the form in which so many are sold: no server has two A100 SXM."""
    if not count:
        return gpu.ids
    alike = names_of(notes.catalog).alike(notes.text.sentence[gpu.start : gpu.end]) if count < _LEAST_OF_BOARD else ()
    for keys in (gpu.ids, alike):
        servers = {key: _servers_with(notes, [key]) for key in keys}
        sold = [key for key in keys if any(count in _fitted(notes.catalog.servers[of]) for of in servers[key])]
        if sold:
            return keys if keys == gpu.ids else tuple(sold)
    return gpu.ids


def read_gpus(notes: Notes) -> None:
    """A number of GPUs is a target where the sentence gives no other; a name of a GPU limits the choice."""
    had_target = notes.has_target
    most = max(_per_server(notes, [key]) for key in notes.catalog.servers)
    people = notes.request.get("team", {}).get("data_scientists")
    for found in notes.text.each(r"<GPUS_EACH_PERSON>"):
        if people and _are_held(notes, found):
            notes.request["team"]["job"][0]["gpus"] = max(1, round(found.value.high))
            _want(notes, found, people * round(found.value.high), had_target)
    # "Two servers with eight GPUs each", "1 node 8 x H100", "3 nodes of HGX B200", "2 x 8 V100".
    for found in notes.text.each(r"<SERVERS_OF_GPUS>|{servers} (?:(?:of|with|x) )?<GPU>(?!\w)"):
        first, *others = found.quantities()
        count = round(others[-1].high) if others else _per_server(notes, _servers_with(notes, found.ids("gpu")))
        if count and _are_held(notes, found, count):
            is_each = bool(found["each"]) and (_hold_each(notes, found, count) or True)
            # "Ten servers with 80 GPUs" counts the GPUs of all of them: no server has so many.
            n_servers = round(first.high) if is_each or first.kind == "n" or count <= most else 1
            _want(notes, found, count * n_servers, had_target)
    for found in notes.text.each(r"<GPUS_OF_EACH>"):
        if not _are_held(notes, found):
            continue
        count, counted = round(found.value.high), notes.text.find(r"{servers}")
        is_had = _hold_each(notes, found, count) or _per_server(notes, notes.platforms.get("servers", ())) == count
        if counted is not None:
            notes.text.record(counted, "number of servers")
            _want(notes, found, count * round(counted.value.high), had_target)
        elif is_had:
            notes.text.record(found, f"{count} GPUs in each server")
    for found in notes.text.each(r"<NUMBER_OF_GPUS>"):
        is_server = notes.text.is_after(found, r"<SERVER> (?:with|of|having) $")
        if _are_held(notes, found, round(found.quantities()[-1].high) if is_server else 0):
            _read_number(notes, found, had_target)
    for found in notes.text.each(r"<GPU>"):
        if _are_held(notes, found):
            notes.text.record(found, "allowed GPUs")


def _read_number(notes: Notes, match: Match, had_target: bool) -> None:
    """A number of GPUs, or of boards or servers that are named by theirs: wanted, a limit, or those of each server."""
    quantity, gpus, each = match.quantities()[-1], match.names("gpu"), 1
    after = rule(r" ?<SERVER>\b").match(notes.text.after(match.end))
    # "8 x MI300X box" is one box.
    is_one = after and not after[0].endswith(("s", "xes")) and quantity.high > 1
    if gpus and not is_one and (after or gpus[0].qualifier == "board"):
        notes.text.mark(match.end, match.end + (after.end() if after else 0))
        each = _per_server(notes, _servers_with(notes, match.ids("gpu"))) or 1
    count, before = round(quantity.high) * each, notes.text.before(match.start)
    if each > 1 and any(one.qualifier == "board" for one in match.names("gpu")):
        notes.text.assume(f"{match.words}: boards of {each} GPUs each")
    bound, least = rule(r"<AT_MOST>").search(before), rule(r"<LEAST>$").search(before)
    whole = notes.text.part(match, match.start - len(bound[0] if bound else ""), match.end)
    if notes.has_target and quantity.high == each > 1 and " x " in match.words and _hold_each(notes, match, each):
        notes.text.record(match, f"{each} GPUs in each server")
    elif had_target and least and least[0]:
        return  # at least so many GPUs, beside a target
    elif bound is not None and not notes.has_target:
        notes.set("limits.gpus", count, whole, f"at most {count} GPUs")
    elif each > 1 and had_target:
        notes.set("limits.servers", round(quantity.high), whole, f"at most {round(quantity.high)} servers")
    else:
        _want(notes, whole, count, had_target, ranged(notes, quantity))


def _read_stances(notes: Notes) -> None:
    """Names to compare with, or acceptable only; GPUs that are not wanted, in all their variants, or preferred."""
    for found in notes.text.each(r"{gpu|server|storage|maker|fabric}"):
        one = found.names("gpu", "server", "storage", "maker", "fabric")[0]
        told = stance(notes.text.unblanked, found.start, found.end)
        is_counted = rule(r"{n|gpus|servers}(?: ?x)? ?$").search(notes.text.before(found.start)) is not None
        if told.kind == "optional":
            notes.text.assume(f"{found.words}: neither asked for nor excluded")
            notes.text.record(found, "neither asked for nor excluded", *told[1:])
        elif one.kind == "gpu" and told.kind == "exclude":
            notes.gone.add(one)
            family = names_of(notes.catalog).alike(notes.text.sentence[one.start : one.end])
            notes.excluded_gpus |= {*family, *one.ids}
            notes.text.record(found, f"no {found.words} of any variant", *told[1:])
        elif (one.kind, told.kind, is_counted) == ("gpu", "prefer", False):
            notes.text.assume(f"{found.words} preferred: a request has no order of GPUs, and all of them are compared")
            notes.text.record(found, "preferred, not required", *told[1:])


def settle_gpus(notes: Notes) -> None:
    """Of the GPUs that a sentence means, else of those that it would get without these words, none that is excluded.

    "How many B200" asks for B200, whatever is owned; where servers are added, those that are there may be used, too.
    """
    servers, things = notes.catalog.servers, dict(notes.text.places())
    asked = rule(r"<HOW_MANY>{gpu}").finditer(notes.text.unblanked)
    counted = [key for match in asked for key in things[match.end() - 1].ids]
    if counted := [key for key in counted if key in usable_gpus(notes.catalog)]:
        notes.table("platforms")["gpus"] = counted
    there, gpus = notes.request.get("existing", {}).get("servers", {}), set(notes.platforms.get("gpus", ()))
    owned = {key for server in there for key in servers[server].gpus}
    if there and gpus and not owned & gpus and rule(r"<ADDED>").search(notes.text.unblanked):
        _allow(notes, "gpus", [servers[server].gpus[0] for server in there])
        notes.text.assume("the existing servers may be used next to what is added")
    named = notes.platforms.get("servers", [])
    if named and gpus and not any(gpus & set(servers[key].gpus) for key in named):  # a DSS 8440 with T4
        kinds = [key for key in servers if any(key.startswith(f"{own}-") for own in named)]
        notes.platforms["servers"] = [key for key in kinds if gpus & set(servers[key].gpus)] or named
    if not notes.excluded_gpus:
        return
    usual = notes.platforms.get("gpus") or _usual_gpus(notes)
    allowed = [key for key in usual if key not in notes.excluded_gpus]
    if len(allowed) < len(usual):
        sold = [key for key in usable_gpus(notes.catalog) if is_sold(notes.catalog, notes.catalog.gpus[key], None)]
        notes.table("platforms")["gpus"] = allowed or [key for key in sold if key not in notes.excluded_gpus]
    names = {notes.catalog.gpus[key].name for key in notes.excluded_gpus}
    for index, question in enumerate(notes.questions):  # nobody is offered what is excluded
        answers = tuple(answer for answer in question.answers if answer.label not in names)
        available = tuple(name for name in question.available if name not in names)
        notes.questions[index] = replace(question, available=available, answers=answers)


def _usual_gpus(notes: Notes) -> list[str]:
    """GPUs of the eras meant that are sold; where none is, all of them."""
    catalog, eras = notes.catalog, eras_meant(notes)
    usual = [gpu for gpu in usable_gpus(catalog) if era_of_gpu(catalog, catalog.gpus[gpu]) in eras]
    day = notes.request.get("date")
    return [gpu for gpu in usual if is_sold(catalog, catalog.gpus[gpu], day)] or usual


def _hold_each(notes: Notes, match: Match, count: int) -> bool:
    """Take a number of GPUs in each server, where a server that can be ordered has it."""
    servers = _servers_with(notes, match.ids("gpu")) if match.names("gpu") else [*notes.catalog.servers]
    is_had = any(_per_server(notes, [key]) == count for key in servers)
    if is_had:
        notes.table("platforms")["gpus_per_server"] = count
    return is_had


def _want(notes: Notes, match: Match, count: int, is_settled: bool, told: str = "") -> None:
    """Take a number of GPUs as the target; where there is another one, as the most that the design may have."""
    if count and not is_settled and notes.aim(match, "gpus_busy", count, f"{count} GPUs at full utilization{told}"):
        return
    named = notes.ids("server")
    if named and count == _per_server(notes, named) and not rule(r"<BINDS>").search(match.words):
        notes.text.record(match, f"{count} GPUs in each server")
    elif count and "gpus" not in notes.limits:
        notes.table("limits")["gpus"] = count
        notes.text.record(match, f"at most {count} GPUs")
        notes.text.assume(f"next to the target, {match.words} are the most that a design may have: {count} GPUs")


def _servers_with(notes: Notes, gpus: Iterable[str]) -> list[str]:
    """Servers that hold any of some GPUs."""
    servers = (one for one in notes.catalog.servers.values() if one.role == "gpu" and one.n_gpus is not None)
    return [server.id for server in servers if not set(gpus).isdisjoint(server.gpus)]


def _per_server(notes: Notes, servers: Iterable[str]) -> int:
    """GPUs of most of some servers; 0 where there is none."""
    counts = [round(n_gpus.value) for key in servers if (n_gpus := notes.catalog.servers[key].n_gpus) is not None]
    return max(set(counts), key=counts.count, default=0)


def existing_gpus(notes: Notes) -> int:
    """GPUs of the servers that the customer has."""
    existing = notes.request.get("existing", {})
    servers: dict[str, int] = existing.get("servers", {})
    each: int = existing.get("gpus_per_server", 0)
    return notes.owned_gpus + sum((each or _per_server(notes, [key])) * count for key, count in servers.items())


def _are_held(notes: Notes, match: Match, each: int = 0) -> bool:
    """Whether the GPUs that a phrase names, if it names any, can be ordered; they are what is allowed then."""
    catalog, usable, named = notes.catalog, usable_gpus(notes.catalog), match.names("gpu")
    allowed = [key for one in named for key in _of_form(notes, one, each) if key in usable]
    for one in named:
        words = notes.text.sentence[one.start : one.end].strip()
        meant = [key for key in allowed if key in names_of(catalog).alike(words)]
        if len(meant) == 1 < len(names_of(catalog).alike(words)):
            notes.text.assume(f"{words}: {catalog.gpus[meant[0]].name}")
    newer = rule(r"<NEWER>").match(notes.text.shape, match.end)
    is_least = not match.quantities() and notes.text.is_after(match, r"<NEWER_BEFORE>")
    if named and (newer or is_least):  # those of their makers that are sold and at least as fast
        gpus = [catalog.gpus[key] for key in match.ids("gpu")]
        least, makers = min(one.peak_mixed_flop_per_s.value for one in gpus), {one.vendor for one in gpus}
        sold = [gpu for key in usable if is_sold(catalog, gpu := catalog.gpus[key], notes.request.get("date"))]
        fast = (one for one in sold if one.vendor in makers and one.peak_mixed_flop_per_s.value >= least)
        allowed = list(dict.fromkeys((*allowed, *(one.id for one in fast))))
        if newer:
            notes.text.record(notes.text.match_of(newer), f"or newer: {_names(notes, allowed)}")
    if named and not allowed:
        ask_unavailable(notes, "gpu", match, named[0])
        return False
    if allowed and set(allowed) != set(usable):
        notes.table("platforms")["gpus"] = sorted({*notes.platforms.get("gpus", []), *allowed})
    return True


def read_gpu_memory(notes: Notes) -> None:
    """Memory of GPUs, which is no data set: it chooses among the GPUs of named servers, or stays unread."""
    for found in notes.text.each(r"<GPU_MEMORY>"):
        size = next(quantity for quantity in found.quantities() if quantity.kind.startswith("bytes"))
        if found["whole"] and size.unit != "GB":
            continue  # "8 GPUs with 10 TB" of data
        memory, servers = f" {size.high:g} gb", [notes.catalog.servers[key] for key in notes.ids("server")]
        is_chosen = servers or (found["whole"] and not notes.names("gpu"))
        usable = [key for key in usable_gpus(notes.catalog) if not servers or any(key in one.gpus for one in servers)]
        gpus = [key for key in usable if is_chosen and memory in notes.catalog.gpus[key].name.lower()]
        gpus = [key for key in gpus if is_sold(notes.catalog, notes.catalog.gpus[key], None)] or gpus
        if not gpus or "gpus" in notes.platforms:
            notes.leave(found)
            continue
        if len(gpus) < len(usable):
            notes.table("platforms")["gpus"] = gpus
        if found["whole"] and found.quantities("n", "gpus"):
            _want(notes, found, round(found.value.high), notes.has_target)
        notes.text.record(found, f"GPUs with{memory}")


# --- servers, storage and vendors by name


def _groups(notes: Notes) -> Iterator[tuple[Match, Stance]]:
    """Names side by side with their stance; a list is divided before a last name that is meant in another way."""
    for whole in notes.text.each(r"<GROUP>"):
        first, last = whole.match.span("names")
        joins = [one.span() for one in rule(r"<JOIN>").finditer(whole.match.string, first, last)]
        starts, ends = [first, *(end for _, end in joins)], [*(start for start, _ in joins), last]
        meant = [stance(notes.text.unblanked, *place) for place in zip(starts, ends, strict=True)]
        halves = [(whole, meant[0]._replace(end=meant[-1].end))]
        for (start, end), told in zip(joins, meant[1:], strict=True):
            parts = [notes.text.within(r"<GROUP>", *part) for part in ((whole.start, start), (end, whole.end))]
            if told.kind != meant[0].kind and all(parts):
                halves = [(parts[0][0], meant[0]), (parts[1][0], meant[-1])]
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
            is_negated, meanings = told.kind == "exclude", []
            for key, keys in (("servers", servers), ("storage", storage)):
                _allow(notes, f"forbidden_{key}" if is_negated else key, keys)
                if keys:
                    meanings.append(f"{'excluded' if is_negated else 'allowed'} {key}: {_names(notes, keys)}")
            notes.text.record(found, "; ".join(meanings), *told[1:])
        elif vendors and not (found["switches"] or found["part_before"].lower() in ("switches", "networking")):
            _vendors(notes, found, told, vendors)


def _vendors(notes: Notes, match: Match, told: Stance, vendors: list[str]) -> None:
    is_excluded, listed, before = told.kind == "exclude", ", ".join(vendors), match["part_before"].lower()
    called = {
        "servers": bool(match["servers"]) or before.endswith(("servers", "compute")),
        "storage": bool(match["storage"]) or before.startswith(("storage", "arrays", "filers")),
    }
    is_all = not any(called.values())
    makers = [one for one in vendors if any(is_of_vendor(gpu.vendor, one) for gpu in notes.catalog.gpus.values())]
    items = {part: _of_vendors(notes, part, vendors) for part in called}
    of_gpus_only = match["gpus"] or not any(items.values())
    meaning = f"excluded vendors: {listed}"
    # Who wants one maker of GPUs only, wants its GPUs, in servers of whoever builds them.
    if told.kind != "prefer" and (of_gpus_only or (told.kind == "only" and makers == vendors and is_all)):
        _limit_gpus(notes, vendors, is_excluded)
        meaning = f"{'no ' if is_excluded else ''}GPUs of {listed}"
    elif is_excluded:
        if makers and not called["servers"]:
            _limit_gpus(notes, makers, is_negated=True)
        for part in called:
            _allow(notes, f"forbidden_{part}", items[part] if is_all or called[part] else ())
    elif told.kind == "prefer" or (is_all and told.kind != "only"):
        _allow(notes, "prefer_vendors", vendors)
        meaning = f"preferred vendors: {listed}"
    else:
        servers = notes.catalog.servers
        # Who says servers gets none that stands at a desk.
        if called["servers"]:
            items["servers"] = [key for key in items["servers"] if not servers[key].is_workstation] or items["servers"]
        asked = {part: items[part] for part in called if called[part] or (is_all and items[part])}
        for part, keys in asked.items():
            _allow(notes, part, keys)
        meaning = f"only {listed}: {'; '.join(_names(notes, keys) for keys in asked.values())}"
    notes.text.record(match, meaning, *told[1:])


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


def _of_vendors(notes: Notes, kind: str, vendors: list[str]) -> list[str]:
    items: Any = notes.catalog.servers if kind == "servers" else notes.catalog.storage
    eras, day = eras_meant(notes), notes.request.get("date")
    keys = [key for key, item in items.items() if item.orderable and (kind != "servers" or item.role == "gpu")]
    keys = [key for key in keys if any(is_of_vendor(items[key].vendor, vendor) for vendor in vendors)]
    # Who names a vendor that has nothing of the era meant asks for what it has.
    keys = [key for key in keys if (era := era_of(notes.catalog, items[key])) is None or era in eras] or keys
    return [key for key in keys if kind != "servers" or is_sold(notes.catalog, items[key], day)] or keys


def eras_meant(notes: Notes) -> frozenset[str]:
    """Eras of the parts that a sentence means where it names vendors or kinds of fabric only."""
    named = notes.ids("gpu", "server")
    return eras_of(notes.catalog, named) or usual_eras(notes.catalog, notes.dnns, notes.request.get("date"))[0]


def _names(notes: Notes, keys: Iterable[str]) -> str:
    return ", ".join(notes.catalog.item(key).name for key in keys)


# --- storage by kind


def read_storage_kinds(notes: Notes, table: str) -> None:
    """Kinds or media of the storage instead of a name: flash, NFS, a parallel file system."""
    for source, *kinds in GRAMMAR[table]:
        for found in notes.text.each(source):
            items = notes.catalog.storage.items()
            planned = {key for key, one in items if one.orderable or one.kind in ("local", "nfs-server")}
            keys = [key for key, one in items if one.tier in kinds or (one.kind in kinds and key in planned)]
            told = stance(notes.text.unblanked, found.start, found.end)
            if told.kind == "exclude":
                _allow(notes, "forbidden_storage", keys)
                notes.text.record(found, f"no storage of the kind {' or '.join(map(name, kinds))}", *told[1:])
            elif table == "tiers":
                notes.set("platforms.storage_tier", kinds[0], found, f"storage tier {kinds[0]}")
            elif "storage" in notes.platforms:  # named: the kind says how it is reached
                notes.text.record(found, "access to the storage")
            elif not (is_existing(notes.text, found) or notes.text.is_after(found, r"<OLD_BEFORE>")):
                _allow(notes, "storage", keys)
                notes.text.record(found, f"only {' or '.join(map(name, kinds))}")


# --- software


def read_precision(notes: Notes) -> None:
    """The precision of the training, or of the weights of a model in use; a format that is named rules over a kind."""
    for precision, source in GRAMMAR["precisions"].items():
        for found in notes.text.each(source):
            if found.quantities("n") and not (notes.is_language and f"{found.value.high:g}" in precision):
                continue  # of other bits, or of a camera
            value = precision if notes.is_language or precision[-1] in "248" else "mixed"
            told = stance(notes.text.unblanked, found.start, found.end)
            if told.kind == "exclude":
                if value == "mixed":
                    notes.work.setdefault("precision", "fp32")
                notes.text.record(found, f"not {precision}", *told[1:])
            else:
                value = value if re.search(r"\d", found.words) else notes.work.get("precision", value)
                notes.set("w.precision", value, found, f"{value} precision")


def read_software(notes: Notes) -> None:
    """The newest stack of a named framework that runs the task in the precision asked for."""
    every, matches = notes.catalog.stacks.values(), list(notes.text.each(r"<SOFTWARE>"))
    if not (matches and (notes.dnns or notes.own_model)):
        return
    frameworks = {stack.framework.casefold() for stack in every}
    matches.sort(key=lambda found: found.ids("software")[0].casefold() not in frameworks)
    named = [set(pieces(match.ids("software")[0])) for match in matches]
    task = "inference" if "task" in notes.work else "training"
    precision = stack_precision(str(notes.work.get("precision", "mixed")))
    stacks = [one for one in every if one.task in (task, "both") and precision in one.precisions]
    # A sentence has no numbers of a network of one's own.
    stacks = [one for one in stacks if not (one.trains_own or one.serves_language or "emulated" in _words(one))]
    stacks = [stack for stack in stacks if stack.trains_language is notes.is_language]
    first = {name.casefold() for name in matches[0].ids("software")}
    fitting = [stack for stack in stacks if all(words <= _words(stack) for words in named)]
    fitting = [one for one in fitting if one.framework.casefold() in first] or fitting
    fitting = fitting or [stack for stack in stacks if named[0] <= _words(stack)]
    if fitting:
        newest = max(fitting, key=lambda stack: (stack.released.value, stack.id))
        notes.work["stack"] = newest.id
        notes.text.assume(f"{matches[0].words}: software stack {newest.name}, the newest of the catalogue with it")
        for found in (match for match, words in zip(matches, named, strict=True) if words <= _words(newest)):
            notes.text.record(found, f"software stack {newest.name}")


def _words(stack: Stack) -> set[str]:
    return {word for one in (stack.framework, stack.name, *stack.aliases) for word in pieces(one)}
