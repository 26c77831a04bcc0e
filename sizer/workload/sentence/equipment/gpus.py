"""What a sentence says about GPUs: their names with memory and form, their number, and how many a server has."""

import re
from collections.abc import Iterable

from sizer.base.quantities import by_count
from sizer.catalog.sale import usable_gpus
from sizer.catalog.schema import Gpu
from sizer.workload.sentence.equipment.named import EXISTING_WORDS, is_existing
from sizer.workload.sentence.names import GPU, SERVER, VENDOR, Mention, short_name
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT, ends, quantity, value_of
from sizer.workload.sentence.reading import Answer, Question
from sizer.workload.sentence.unavailable import ask_unavailable

_MEMORY = r"(?P<{0}>\d{{1,3}}) ?(?:GB|G|GiB)\b"
_FORM = r"(?P<{0}>SXM ?\d?|PCI-?e|NVLink|HGX)\b"
_QUALIFIED = re.compile(
    rf"(?:{_MEMORY.format('gb_before')} )?(?:{_FORM.format('form_before')} )?(?P<name>{GPU}+)"
    rf"(?:[ /(-]*{_FORM.format('form')})?"
    rf"(?:[ /(-]*{_MEMORY.format('gb')}\)?)?(?:[ -]*{_FORM.format('form_after')})?",
    re.I,
)
_GPU_NAME = rf"(?:{VENDOR}+ )?{GPU}+(?: (?:GPUs?|cards?|accelerators?))?"
_GPU_KINDS = rf"(?:{_GPU_NAME}|(?:more |new |{VENDOR}+ )?(?:GPUs?|graphics cards|accelerators))"
_GPUS = re.compile(quantity(rf" ?(?:[x*] ?)?(?:pieces of |of the )?{_GPU_KINDS}(?!\w)", between="(?!x)x"), re.I)
# "40GB GPUs", "80 GB of HBM", "40 GB per GPU", "GPUs with 40 GB of memory each".
_GB = r"(?<![\w.,])(?P<gb>\d{1,3}) ?(?:GB|GiB)"
_GPU_NOUN = r"(?:GPUs?|cards?|accelerators?|graphics cards?)"
_GPU_MEMORY = (
    re.compile(
        rf"{_GB}[ -](?:of )?(?:(?:GPU|graphics|video|VRAM|HBM\w*) (?:memory|RAM)|VRAM|HBM\w*|{_GPU_NOUN})\b"
        rf"(?: (?:per|each|a|on each|in each) {_GPU_NOUN}\b)?",
        re.I,
    ),
    re.compile(rf"{_GB}(?: (?:of )?(?:memory|RAM))?(?: ?/ ?| (?:per|a|on each|in each|for each) ){_GPU_NOUN}\b", re.I),
    re.compile(
        rf"(?:(?<=GPUs )|(?<=cards )|(?<=accelerators )|(?<={GPU} ))(?:with|of|having) {_GB}"
        r"(?: (?:of )?memory(?: each)?| each)\b(?! (?:per|in each|a) (?:server|node))",
        re.I,
    ),
)
_GPUS_BEFORE = re.compile(rf"{GPU}+ ?[x*] ?(?P<number>{COUNT})(?!\w)", re.I)  # H100 x 64
_GPU_ALONE = re.compile(_GPU_NAME, re.I)
_AT_MOST = re.compile(
    r"(?:\b(?:at most|no more than|not more than|up to|under|below|less than|fewer than"
    r"|max(?:imum)?\.?(?: of)?|limited to|only)|<=?) ?$",
    re.I,
)
_SERVER = r"(?:GPU )?(?:servers?|nodes?|boxes|box|machines?|hosts?|systems?|chassis)"
_EACH = rf"(?: (?:each|apiece)|(?: ?/ ?| (?:per|in each|in every|in a|a|for each) ){_SERVER})"
# "4 nodes of 8 H100", "two servers with eight GPUs each", "1 node 8xH100", "2 x 8 V100"
_SERVERS_OF_GPUS = re.compile(
    rf"(?P<servers>{COUNT}) ?(?:(?:x )?{_SERVER}\b (?:(?:of|with|having|x|@) )?(?P<number>{COUNT})"
    r"|[x*] ?(?P<times>[1-9]\d{0,3})(?![\w.,])) ?(?:[x*] ?)?"
    rf"(?P<what>{_GPU_KINDS})(?!\w)(?P<each>{_EACH})?",
    re.I,
)
# "12 node H100 cluster", "8 Dell servers with 8 V100 each", "64 A100 GPUs": what the customer may have already.
_EXISTING_GPUS = re.compile(
    rf"(?P<number>{COUNT})[ -]?(?:x )?(?:{VENDOR}+ )*(?:(?P<server>{_SERVER})\b(?:,? (?:of|with|having|each with))? )?"
    rf"(?:(?P<gpus>{COUNT}) ?(?:[x*] ?)?)?(?P<what>{_GPU_NAME})(?!\w)"
    rf"(?:{_EACH})?(?P<server_after> {_SERVER}\b)?(?: (?:cluster|system|farm|pod|installation))?",
    re.I,
)
# "3 nodes of HGX B200": as many GPUs as such a server has.
_SERVERS_OF_NAME = re.compile(
    rf"(?P<number>{COUNT}) ?(?:x )?{_SERVER}\b (?:of|with|x) (?P<what>{_GPU_NAME})(?!\w)", re.I
)
# "20 users each needing one A100"
_GPUS_A_PERSON = re.compile(
    r",? ?(?:\b(?:each|every one|everyone|who each)(?: of (?:them|whom))? (?:needs?|needing|with|uses?"
    rf"|using|gets?|getting|wants?|wanting|requires?|requiring|having|has) )(?P<number>{COUNT}) ?(?:x )?"
    rf"(?P<what>{_GPU_KINDS})(?!\w)",
    re.I,
)
_GPUS_EACH = re.compile(rf"(?:with )?(?P<number>{COUNT}) ?(?:[x*] ?)?(?P<what>{_GPU_KINDS})(?!\w){_EACH}", re.I)
_SERVER_COUNT = re.compile(rf"(?P<number>{COUNT}) ?(?:x )?{_SERVER}\b", re.I)
_SERVERS_AFTER = re.compile(r" ?(?:gpu )?(?:servers?|nodes?|boxes|box|machines?|systems?)\b", re.I)


def qualify_gpus(notes: Notes) -> None:
    """Join the name of a GPU with its memory and form: V100 SXM2 32 GB."""
    for match in list(_QUALIFIED.finditer(notes.text.left)):
        memory = match["gb"] or match["gb_before"]
        form = re.sub(r"[^a-z0-9]", "", (match["form"] or match["form_before"] or match["form_after"] or "").lower())
        mention = next(one for one in notes.mentions if one.start == match.start("name"))
        named = [notes.catalog.gpus[key] for key in mention.ids]
        ids = tuple(
            gpu.id for gpu in named if (not memory or f" {memory} gb" in gpu.name.lower()) and _has_form(gpu, form)
        )
        notes.mentions.remove(mention)
        notes.mentions.append(Mention(GPU, match.start(), match.end(), ids))
        notes.text.mark(match.start(), match.end(), GPU)


def read_gpu_memory(notes: Notes) -> None:
    """Memory of GPUs, which is no data set: it chooses among the GPUs of named servers, or stays unread."""
    for pattern in _GPU_MEMORY:
        while match := notes.text.find(pattern):
            servers = [notes.catalog.servers[key] for one in notes.mentions if one.kind == SERVER for key in one.ids]
            gpus = [
                key
                for server in servers
                for key in server.gpus
                if f" {match['gb']} gb" in notes.catalog.gpus[key].name.lower() and key in usable_gpus(notes.catalog)
            ]
            if not gpus or "gpus" in notes.request.get("platforms", {}):
                notes.leave(match)
                continue
            notes.table("platforms")["gpus"] = list(dict.fromkeys(gpus))
            notes.text.record(match, f"GPUs with {match['gb']} GB")


def _has_form(gpu: Gpu, form: str) -> bool:
    """Whether a GPU has the form asked for; boards of HGX and GPUs with NVLink are SXM modules."""
    kind = str(gpu.form_factor.value)
    return not form or kind.startswith(form) or (form in ("nvlink", "hgx") and kind.startswith("sxm"))


def read_gpus(notes: Notes, has_target: bool) -> None:
    """A number of GPUs is a target where the sentence gives no other; a name of a GPU limits the choice."""
    _read_existing(notes)
    _read_gpus_of_people(notes, has_target)
    _read_servers_of_gpus(notes, has_target)
    for pattern in (_GPUS, _GPUS_BEFORE):
        for match in list(pattern.finditer(notes.text.left)):
            if not _are_held(notes, match):
                continue
            low, high = ends(match)
            count = round(high) * _gpus_of_server(notes, match)
            bound = _AT_MOST.search(notes.before(match.start()))
            start = match.start() - len(bound[0]) if bound else match.start()
            _want_gpus(notes, start, match.end(), count, has_target or bound is not None, is_range=low < high)
    for match in list(_GPU_ALONE.finditer(notes.text.left)):
        if _are_held(notes, match):
            notes.text.record(match, "allowed GPUs")


def _read_gpus_of_people(notes: Notes, has_target: bool) -> None:
    """A number of GPUs for each person of the team."""
    people = notes.request.get("team", {}).get("data_scientists")
    match = notes.text.find(_GPUS_A_PERSON)
    if not people or match is None or not _are_held(notes, match):
        return
    each = round(value_of(match["number"]))
    notes.request["team"]["job"][0]["gpus"] = max(1, each)
    _want_gpus(notes, match.start(), match.end(), people * each, has_target)


def _read_servers_of_gpus(notes: Notes, has_target: bool) -> None:
    """A number of servers with so many GPUs each."""
    for match in list(_SERVERS_OF_NAME.finditer(notes.text.left)):
        per_server = _per_server(notes, _servers_with(notes, match.start("what"), match.end("what")))
        if per_server and _are_held(notes, match):
            count = round(value_of(match["number"])) * per_server
            _want_gpus(notes, match.start(), match.end(), count, has_target)
    for match in list(_SERVERS_OF_GPUS.finditer(notes.text.left)):
        if not _are_held(notes, match):
            continue
        servers, count = round(value_of(match["servers"])), round(value_of(match["number"] or match["times"]))
        # "Ten servers with 80 GPUs" counts the GPUs of all of them: no server has so many.
        if match["each"] or match["times"] or count <= _most_per_server(notes):
            count *= servers
        _want_gpus(notes, match.start(), match.end(), count, has_target)
    for match in list(_GPUS_EACH.finditer(notes.text.left)):
        if not _are_held(notes, match):
            continue
        per_server = round(value_of(match["number"]))
        counted = notes.text.find(_SERVER_COUNT)
        if counted is None:
            usual = {_per_server(notes, notes.request.get("platforms", {}).get("servers", ()))}
            if "target" in notes.work and usual <= {per_server}:
                notes.text.record(match, f"{per_server} GPUs in each server")
            else:
                notes.leave(match)
            continue
        count = per_server * round(value_of(counted["number"]))
        notes.text.record(counted, "number of servers")
        _want_gpus(notes, match.start(), match.end(), count, has_target)


def _want_gpus(notes: Notes, start: int, end: int, count: int, is_settled: bool, *, is_range: bool = False) -> None:
    """Take a number of GPUs as the target; name it as without place where there is another one."""
    if not is_settled and notes.work.get("target") == {"gpus_busy": count}:
        notes.text.record_words(start, end, f"{count} GPUs")
        return
    if (is_settled or "target" in notes.work) and _limit_gpus(notes, start, end, count):
        return
    if is_settled or "target" in notes.work or not 1 <= count <= 100_000:
        notes.unusable.append(notes.text.sentence[start:end].strip())
        notes.text.mark(start, end)
        return
    notes.work["target"] = {"gpus_busy": count}
    ranged = " (upper end of the range)" if is_range else ""
    notes.text.record_words(start, end, f"{count} GPUs at full utilization{ranged}")


def _limit_gpus(notes: Notes, start: int, end: int, count: int) -> bool:
    """Take a number of named GPUs as well as another target as a limit of the servers; whether a request can say so.

    Servers with the most GPUs each set the limit, so that no design has more GPUs than asked for.
    """
    servers = notes.catalog.servers
    per_server = max(
        (round(n_gpus.value) for key in _servers_with(notes, start, end) if (n_gpus := servers[key].n_gpus)), default=0
    )
    if "target" not in notes.work or "servers" in notes.request.get("limits", {}) or not per_server:
        return False
    if not count or count % per_server:
        return False
    n_servers = count // per_server
    notes.table("limits")["servers"] = n_servers
    notes.text.record_words(
        start,
        end,
        f"at most {count} GPUs: {by_count(count // per_server, '1 server', f'{count // per_server} servers')}",
    )
    return True


def _read_existing(notes: Notes) -> None:
    """Equipment that the customer has and names by its GPUs only: the servers that have them are asked for."""
    for match in list(_EXISTING_GPUS.finditer(notes.text.left)):
        if not is_existing(notes, match.start(), match.end()):
            continue
        servers = _servers_with(notes, match.start("what"), match.end("what"), with_discontinued=True)
        number, each = match["number"], match["gpus"]
        counts_servers = any(
            match[group] for group in ("server", "server_after", "gpus")
        )  # "2 x 8 V100": two with eight
        count = round(value_of(number)) if number else 0
        answers = []
        for key in sorted(servers, key=lambda key: not _is_of_gpu_maker(notes, key)):
            n_gpus = _per_server(notes, [key])
            if each and n_gpus != round(value_of(each)):
                continue
            n_servers = count if counts_servers else count // n_gpus
            if n_servers * (1 if counts_servers else n_gpus) == count:
                named = f"{n_servers} {short_name(notes.catalog.servers[key])}"
                answers.append(Answer(named, notes.replaced(match.start(), match.end(), named)))
        words = notes.text.sentence[match.start() : match.end()].strip()
        notes.text.mark(match.start(), match.end())
        if answers:
            notes.ask(Question("server", words, answers=tuple(answers)))
            while told := notes.text.find(EXISTING_WORDS):
                notes.text.mark(told.start(), told.end())
        else:
            notes.unusable.append(words)


def _is_of_gpu_maker(notes: Notes, server: str) -> bool:
    """Whether the maker of its GPUs sells a server."""
    one = notes.catalog.servers[server]
    return any(notes.catalog.gpus[gpu].vendor == one.vendor for gpu in one.gpus)


def _gpus_of_server(notes: Notes, match: re.Match[str]) -> int:
    """GPUs that a counted thing has: of "4 MI300X servers" those of the usual server; 1 where GPUs are counted."""
    words = _SERVERS_AFTER.match(notes.text.left, match.end()) or _SERVERS_AFTER.search(match[0])
    is_board = "hgx" in notes.text.sentence[match.start() : match.end()].lower()
    mentions = notes.mentions_in(match.start(), match.end(), GPU)
    if (words is None and not is_board) or not mentions:
        return 1
    if words is not None and not words[0].endswith("s") and ends(match)[1] > 1:
        return 1  # "8 x MI300X box" is one box
    return _per_server(notes, _servers_with(notes, match.start(), match.end())) or 1


def _servers_with(notes: Notes, start: int, end: int, *, with_discontinued: bool = False) -> list[str]:
    """Servers with the GPUs named between two places: those that can be ordered, or all."""
    named = {key for one in notes.mentions_in(start, end, GPU) for key in one.ids}
    return [
        server.id
        for server in notes.catalog.servers.values()
        if server.role == "gpu"
        and (server.orderable or with_discontinued)
        and server.n_gpus is not None
        and named & set(server.gpus)
    ]


def _most_per_server(notes: Notes) -> int:
    servers = (server for server in notes.catalog.servers.values() if server.role == "gpu" and server.orderable)
    return max((round(server.n_gpus.value) for server in servers if server.n_gpus is not None), default=0)


def _per_server(notes: Notes, servers: Iterable[str]) -> int:
    """GPUs of most of some servers; 0 where there is none."""
    counts = [round(n_gpus.value) for key in servers if (n_gpus := notes.catalog.servers[key].n_gpus) is not None]
    return max(set(counts), key=counts.count, default=0)


def _are_held(notes: Notes, match: re.Match[str]) -> bool:
    """Whether the GPUs that a match names, if it names any, can be ordered; they are what is allowed then."""
    mentions = notes.mentions_in(match.start(), match.end(), GPU)
    if not mentions:
        return True
    usable = usable_gpus(notes.catalog)
    allowed = [key for one in mentions for key in one.ids if key in usable]
    if not allowed:
        notes.text.mark(match.start(), match.end())
        ask_unavailable(notes, "gpu", mentions[0].start, mentions[0].end)
        return False
    if set(allowed) != set(usable):
        platforms = notes.table("platforms")
        platforms["gpus"] = sorted({*platforms.get("gpus", []), *allowed})
    return True
