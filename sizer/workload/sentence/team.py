"""What a sentence says about the people who share the cluster, their jobs, what may fail, and growth."""

import re
from typing import Any

from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import COUNT, ends, quantity, value_of, written_number
from sizer.workload.sentence.targets import TIME, time_text
from sizer.workload.sentence.text import READ

_KIND = (
    r"(?:data|ML|AI|deep[ -]learning|machine[ -]learning|research|PhD|grad(?:uate)?|doctoral|post-?doc(?:toral)?"
    r"|software|concurrent|active|internal|different|university|staff|senior|junior|full-time|part-time|applied"
    r"|computer[ -]vision|NLP|clinical|bio\w+)"
)
_PERSON = (
    r"(?:scientists?|researchers?|students?|users?|people|persons?|engineers?|developers?|analysts?|colleagues|PhDs?"
    r"|post-?docs?|radiologists?|physicists?|doctors?|employees|team members|members|devs?|folks|faculty)"
)
_PEOPLE = re.compile(
    r"(?:\b(?:(?:a|an|the|our|this) )?(?:(?:small|little|tiny|young|new|large|big) )?"
    rf"(?:team|group|lab|department|class|startup|company) of )?{quantity(rf' (?:{_KIND} )*{_PERSON}')}(?!\w)",
    re.I,
)
_JOB = r"(?:(?:training |GPU |short |long )*(?:jobs?|runs?|trainings|experiments?))"
_JOBS_A_DAY = re.compile(
    r"(?P<each_before>\b(?:each|everybody|everyone|every (?:one|user|person)|all of them)\b"
    r"(?: of (?:them|whom))?(?: (?:with|runs?|running|starts?|submits?|submitting|starting"
    r"|doing|does|about|around|roughly))* )?"
    rf"(?P<number>{COUNT}) {_JOB} (?:a|per|each|every) (?:working )?day(?P<each>,? (?:each"
    r"|per (?:person|user|head|scientist|student|researcher)|and person))?",
    re.I,
)
_JOB_GPUS = re.compile(
    rf"(?:\b{_JOB} (?:of|on|with|using|that (?:use|need|take)) (?P<number>{COUNT}) GPUs?"
    rf"(?: each)?|(?P<before>{COUNT}) GPUs? (?:per|a|for each|for every) {_JOB})(?!\w)",
    re.I,
)
_JOB_TIME = re.compile(
    rf"(?:{_JOB} )?\b(?:for|of|lasting|taking|that (?:last|take)|which (?:last|take)|run"
    rf"(?:ning)? for) (?:about |around )?{TIME}(?: each)?(?= ?$|[ ,.;])",
    re.I,
)
_WAIT = re.compile(
    rf"\b(?:(?:{_JOB} )?(?:should |must |to |can |need to )?(?:start|begin)s?(?:ing)? (?:with)?in"
    r"(?:side)? |(?:queue )?wait(?:s|ing)?(?: times?)?(?: in the queue)?(?: (?:of|under"
    rf"|at most|no (?:more|longer) than|less than|below|within|up to|max(?:imum)?))* )(?:of )?{TIME}",
    re.I,
)
_ASSUMED: dict[str, Any] = {"name": "Training job", "gpus": 1, "jobs_a_day_each": 1, "duration_s": "4 h"}
_IN_TIME = re.compile(rf"\b(?:in|within|over) (?:about |around |less than |under )?{TIME}\b|\bover ?night\b", re.I)
# What says that the people run jobs of their own.
_SHARES = re.compile(
    r"\b(?:shar(?:e|es|ed|ing)|jobs?|queues?|slurm|scheduler|kubernetes|each|every|concurrent\w*|simultaneous\w*"
    r"|multi[ -]?(?:user|tenant)|experiments?|wait\w*|starts?)\b",
    re.I,
)
_LOSSES = {
    "server": r"(?:GPU |compute )?(?:servers?|nodes?|machines?|box(?:es)?)",
    "storage-node": r"storage nodes?",
    "switch": r"(?:(?:leaf|spine|core|edge|ToR|top[ -]of[ -]rack|fabric|network|InfiniBand|Ethernet)[ -])?"
    r"switch(?:es)?",
    "gateway": r"gateways?",
    "feed": r"(?:power )?feeds?",
    "head-node": r"head[ -]?nodes?",
}
# Longest first: a storage node is no node of GPUs.
_LOST = rf"\b(?:{'|'.join(sorted(_LOSSES.values(), key=len, reverse=True))})(?!\w)"
_ANY = r"(?:an?|one|any(?: (?:one|single))?|a single|the|each|1)"
_LOST_ITEMS = rf"(?:{_ANY} )?{_LOST}(?:(?: ?, ?(?:and |or )?| and | or | plus | as well as )(?:of )?{_ANY} {_LOST})*"
_FAILURES = re.compile(
    r"\b(?:(?:surviv|toler|withst|sustain|endure|cope|despite|handl|resilien|robust|protect)\w*"
    r"(?: (?:with|to|of|against))?"
    rf" (?:(?:(?:the|a) )?(?:loss|failure|outage)s? of {_LOST_ITEMS}"
    rf"|{_LOST_ITEMS}(?: (?:loss|failure|outage|down|failing|failures))?)"
    rf"|{_ANY} {_LOST}(?: (?:and|or) {_ANY} {_LOST})* (?:may|can|might|could) (?:fail|be lost|go down|break)"
    rf"|redundant {_LOST}(?: and {_LOST})*|(?:if|when) {_ANY} {_LOST} (?:fails|dies|goes down|is lost|breaks)"
    rf"|(?:los(?:e|ing)|(?:loss|failure|outage) of) {_ANY} {_LOST})(?!\w)",
    re.I,
)
_HEADS = r"head[\s-]?nodes?"
_TWO_HEADS = re.compile(
    r"\b(?:(?:two|2|a second|redundant|HA|highly[ -]available|high[ -]availability) (?:redundant |HA )?"
    rf"{_HEADS}|(?:HA|high[ -]availability|redundan\w+|failover) (?:of|for) (?:the |its )?{_HEADS}"
    rf"|{_HEADS} (?:HA|high[ -]availability|redundan\w+|failover|pair))\b",
    re.I,
)
_GROWTH = re.compile(
    r"\b(?:the |our |their )?(?P<what>data(?:set)?(?: set)?|volumes?|team|demand|load|targets?"
    r"|throughput)(?: volumes?| sizes?)? (?:will |is |are |should )?"
    r"(?:(?P<factor>doubl|tripl|quadrupl)\w*|(?:grows?|growing|growth|increases?|increasing)(?: at| by| of)? (?:about "
    rf"|around )?(?P<percent>{COUNT}) ?(?:%|per ?cent)) "
    rf"(?:every|each|per|a|in a) year(?: (?:for|over|during) (?:the next )?(?P<years>{COUNT})[ -]years?)?",
    re.I,
)
_YEARLY = r"(?:(?:every|each|per|a|in a) year|annual(?:ly)?|yearly|year[ -]on[ -]year|YoY|p\.?a\.?)"
_NEXT_YEARS = rf"(?: (?:for|over|during) (?:the next )?(?P<years>{COUNT})[ -]years?)?"
# "50 % data growth per year", "annual growth of 50 %"
_GROWTH_BY = (
    re.compile(
        rf"(?P<percent>{COUNT}) ?(?:%|per ?cent) (?:{_YEARLY} )?(?P<what>data(?:set)?|volume|team|demand|load"
        rf"|throughput)?(?: volume)? ?(?:growth|increase)(?: {_YEARLY})?(?!\w){_NEXT_YEARS}",
        re.I,
    ),
    re.compile(
        rf"\b{_YEARLY} (?P<what>data(?:set)?|volume|team|demand|load|throughput)?(?: volume)? ?(?:growth|increase)"
        rf"(?: rate)?(?: of| is|:)? (?:about |around )?(?P<percent>{COUNT}) ?(?:%|per ?cent)(?!\w){_NEXT_YEARS}",
        re.I,
    ),
)
# "Double the load every year"
_DOUBLES = re.compile(
    r"\b(?P<factor>doubl|tripl|quadrupl)(?:es?|ing) (?:the |our |their )?"
    rf"(?P<what>data(?:set)?|volumes?|team|demand|load|targets?|throughput) {_YEARLY}{_NEXT_YEARS}",
    re.I,
)
# Growth that does not say of what is that of the load.
_GROWTH_ALONE = re.compile(
    rf"\b(?:growing|grows?|growth)(?: (?:at|by|of))? (?:about |around )?(?P<percent>{COUNT}) ?(?:%|per ?cent) "
    rf"(?:every|each|per|a|in a) year(?: (?:for|over|during) (?:the next )?(?P<years>{COUNT})[ -]years?)?",
    re.I,
)
_GROWS = {
    "data": "data",
    "volu": "data",
    "team": "team",
    "dema": "target",
    "load": "target",
    "targ": "target",
    "thro": "target",
}
_GROWING = {"data": "data", "team": "people", "target": "targets"}


def read_team(notes: Notes) -> None:
    """A number of people who share the cluster, with what is known of their jobs."""
    match = notes.text.find(_PEOPLE)
    if match is None:
        return
    low, high = ends(match)
    if not 1 <= high <= 100_000:
        return
    if _is_one_training(notes):
        notes.text.record(match, f"{round(high)} people of this training; no jobs of theirs are added")
        return
    job = dict(_ASSUMED)
    team: dict[str, Any] = {"data_scientists": round(high), "wait_s": "30 min", "job": [job]}
    notes.request["team"] = team
    notes.text.record(
        match, f"{round(high)} people share the cluster{' (upper end of the range)' if low < high else ''}"
    )
    assumed = []
    if jobs := notes.text.find(_JOBS_A_DAY):
        count = value_of(jobs["number"])
        if not (jobs["each"] or jobs["each_before"]):
            del job["jobs_a_day_each"]
            job["jobs_a_day"] = count
        else:
            job["jobs_a_day_each"] = count
        notes.text.record(jobs, f"{written_number(count)} jobs per day{'' if 'jobs_a_day' in job else ' and person'}")
    else:
        assumed.append("1 job per day and person")
    if on := notes.text.find(_JOB_GPUS):
        job["gpus"] = max(1, round(value_of(on["number"] or on["before"])))
        notes.text.record(on, f"{job['gpus']} GPUs per job")
    else:
        assumed.append("1 GPU per job")
    if wait := notes.text.find(_WAIT):
        team["wait_s"] = time_text(ends(wait)[0], wait["unit"])
        notes.text.record(wait, f"jobs start within {team['wait_s']}")
    else:
        assumed.append("start within 30 min")
    if lasting := notes.text.find(_JOB_TIME):
        job["duration_s"] = time_text(ends(lasting)[1], lasting["unit"])
        notes.text.record(lasting, f"jobs of {job['duration_s']}")
    else:
        assumed.append("4 h per job")
    if assumed:
        notes.text.default(f"jobs of the team, assumed: {', '.join(assumed)}")


def _is_one_training(notes: Notes) -> bool:
    """Whether the people train together: a training is stated with its tokens or time, and no jobs of theirs."""
    works = (notes.work, *notes.trainings)
    is_stated = any("tokens" in work for work in works) or notes.text.find(_IN_TIME) is not None
    return is_stated and _SHARES.search(notes.text.sentence) is None


def read_losses(notes: Notes) -> None:
    """What may fail without a target being missed."""
    found: list[str] = []
    if match := notes.text.find(_TWO_HEADS):
        found.append("head-node")
        notes.text.record(match, "two head nodes, one active and one standby")
    if match := notes.text.find(
        re.compile(r"(?:\bredundancy:? )?\bN ?\+ ?1\b(?: (?:GPU )?(?:servers?|nodes?|redundancy))*", re.I)
    ):
        found.append("server")
        notes.text.record(match, "targets are met without any one server")
    while match := notes.text.find(_FAILURES):
        lost = [_loss_named(noun[0]) for noun in re.finditer(_LOST, match[0], re.I)]
        found += lost
        kinds = " and ".join(f"one {loss.replace('-', ' ')}" for loss in dict.fromkeys(lost))
        notes.text.record(match, f"targets are met without any {kinds}")
    if found:
        notes.request["resilience"] = {"keeps_targets_without": list(dict.fromkeys(found))}


def _loss_named(words: str) -> str:
    """What is lost, by its words."""
    return next(loss for loss, noun in _LOSSES.items() if re.fullmatch(noun, words, re.I))


def read_growth(notes: Notes) -> None:
    """Yearly growth of data, team or targets."""
    patterns = (_GROWTH, _DOUBLES, _GROWTH_ALONE, *_GROWTH_BY)
    for match in [match for pattern in patterns for match in pattern.finditer(notes.text.left)]:
        if READ in notes.text.left[match.start() : match.end()]:
            continue
        groups = match.groupdict()
        by = {"doubl": 2.0, "tripl": 3.0, "quadrupl": 4.0}.get((groups.get("factor") or "").lower())
        factor = by if by is not None else 1 + value_of(match["percent"]) / 100
        key = _GROWS[(groups.get("what") or "load")[:4].lower()]
        growth = notes.table("growth")
        growth[key] = round(factor, 6)
        if match["years"]:
            growth["years"] = round(value_of(match["years"]))
        notes.text.record(
            match,
            f"{_GROWING[key]} grow by {100 * factor - 100:g} % a year"
            + (f", over {growth['years']} years" if match["years"] else ""),
        )
