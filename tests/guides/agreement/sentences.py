"""Sentences and rows of the documents for people that state a figure."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.guides.agreement.printed import NUMBER, SPELLED, Span, chance, count, in_unit, rounded, share

STAGES = {
    "Storage": "storage",
    "Network and gateway": "network",
    "Host data path": "decode",
    "Host-to-GPU link": "host_link",
    "GPU compute": "gpu",
    "Gradient exchange": "exchange",
}
UNIT = r"[kMGTP]?(?:Wh?|B/s|B)|[a-z]+/s|ms|s|min|h|d|days"
# Parts of a sentence, in braces; {w} is the name of a workload and {net} that of a network of the answer.
PARTS = {
    "N": rf"(?:{NUMBER})",
    "n": rf"(?P<value>{NUMBER}|{'|'.join(SPELLED)})",
    "q": rf"(?P<value>{NUMBER})\s(?P<unit>{UNIT})(?![\w/])",
    "est": rf"(?P<value>{NUMBER})(?:\s±\s(?P<spread>{NUMBER}))?\s(?P<unit>{UNIT})(?![\w/])(?P<wide>\s\({NUMBER} to)?",
    "share": rf"(?P<value>(?:(?:over|under)\s)?(?:{NUMBER})\s%)",
    "stage": "(?P<stage>(?i:" + "|".join(name.replace("-", "-?") for name in STAGES) + "))",
    "rate": r"[a-z]+/s",
    "pace": rf"(?P<value>{NUMBER})(?:\s±\s(?P<spread>{NUMBER}))?\s(?P<unit>[a-z]+/s)(?P<wide>\s\({NUMBER} to)?",
    "time": rf"(?P<value>{NUMBER})(?:\s±\s(?P<spread>{NUMBER}))?\s(?P<unit>ms|s|min|h|d|days)(?![\w/])"
    rf"(?P<wide>\s\({NUMBER} to)?",
    "money": rf"[A-Z]{{3}} {NUMBER}(?: to {NUMBER})?(?: million)?",
}
Groups = dict[str, str]


@dataclass(frozen=True)
class Sentence:
    """How a figure is stated.

    ``of`` tells what it is of: "" of the design; "network"; "workload" that it names; "workload or first"; "workload
    before" in the heading or at the start of the row; "workload behind" at the end of the row; "workload in order": the
    n-th find is of the n-th one; "workload drawn": in the n-th drawing of a data path; each with "stage" as well;
    "tier": the n-th find is of the n-th storage tier.
    Without ``read`` the figure is the stage itself.
    """

    figure: str
    pattern: str
    read: Callable[[Groups], Span | str] | None
    documents: str = r".*\.(?:pdf|pptx)"
    of: str = ""


def number(groups: Groups) -> Span:
    """A count."""
    return count(groups["value"])


def size(groups: Groups) -> Span:
    """A number without a unit that was rounded."""
    return rounded(groups["value"])


def quantity(groups: Groups) -> Span:
    """With unit, and perhaps with its spread."""
    is_wide = bool(groups.get("wide"))
    return in_unit(groups["value"], groups["unit"], digits=2 if is_wide else 3)


def portion(groups: Groups) -> Span:
    """In percent."""
    return share(groups["value"])


def probability(groups: Groups) -> Span:
    """A probability in percent."""
    return chance(groups["value"])


def bound(groups: Groups) -> str:
    """Whether a figure is a lower bound."""
    return "at least" if groups["value"] else "complete"


def amount(groups: Groups) -> str:
    """An amount of money as printed."""
    return " ".join(groups["value"].split())


GUIDE, ENGINEER, BOTH = r"guide\.pdf", r"engineers-file\.pdf", r"(?:guide|engineers-file)\.pdf"
DAY = r"\d+ [A-Z][a-z]+ \d{4}\n"
PORTS = (
    r"(?:{N} end points? \+ (?:2 ports for each of {N} inter-switch links|{N} gateway uplinks?) = )?"
    r"%s ports?(?: in use)?[;,] %s(?: ports?)? free"
)
IN_NETWORK = r"\n{net}(?! server)[ \n][^:]{0,260}?"

SENTENCES = (
    # --- cover and key figures
    Sentence("GPU servers", r"\n{n} × [^\n]+ \+ [^\n]+\n(?:[^\n]+ · )?" + DAY, number),
    # The first tier's; a second one may stand in the same line or take another.
    Sentence(
        "storage nodes", r"(?<!\+)\n{N} × [^\n+]+ \+ {n} × [^\n]+\n(?:[^\n]*× [^\n]+\n)?(?:[^\n]+ · )?" + DAY, number
    ),
    Sentence("GPUs", r"\n{n} GPUs? {N} racks? (?:at least )?{N} k?W maximum power", number),
    Sentence("racks", r"\n{N} GPUs? {n} racks? (?:at least )?{N} k?W maximum power", number),
    Sentence("maximum power", r"racks? (?:at least )?{q} maximum power", quantity),
    Sentence("power is a lower bound", r"racks?\n(?P<value>at least )?{N} k?W maximum power", bound),
    Sentence("GPU servers", r"\nGPU servers? {n} [^\n]+\nGPUs? {N} ", number),
    Sentence("GPUs", r"\nGPU servers? {N} [^\n]+\nGPUs? {n} ", number),
    Sentence("storage nodes", r"\nStorage {n} nodes?\b", number),
    Sentence("usable capacity", r"\nStorage {N} nodes?[^.]{0,40}?, {q} usable", quantity),
    Sentence("switches and gateways", r"\nSwitches(?: and gateways)? {n} ", number),
    Sentence("rack units", r"\nRack space {n} U in", size),
    Sentence("racks", r"\nRack space {N} U in {n} racks?\b", number),
    Sentence("maximum power", r"\nPower, maximum (?:at least )?{q} (?:at least )?{N} k?W typical", quantity),
    Sentence(
        "power is a lower bound", r"\nPower, maximum (?P<value>at least )?{N} k?W (?:at least )?{N} k?W typical", bound
    ),
    Sentence("typical power", r"\nPower, maximum (?:at least )?{N} k?W (?:at least )?{q} typical", quantity),
    # --- rates
    Sentence("rate", r"\n{q} throughput(?:, {w})?\n", quantity, of="workload or first"),
    Sentence("time to train", r"\n{time} time to train(?:, {w})?\n", quantity, of="workload or first"),
    Sentence("rate", r"(?:{w} )?{q} \(90 % interval {N} to {N}\), target", quantity, of="workload"),
    Sentence(
        "rate, lower end", r"(?:{w} )?{N} (?P<unit>{rate}) \(90 % interval {n} to {N}\), target", size, of="workload"
    ),
    Sentence(
        "rate, upper end", r"(?:{w} )?{N} (?P<unit>{rate}) \(90 % interval {N} to {n}\), target", size, of="workload"
    ),
    Sentence("rate", r"\nThroughput {est} (?=\S)", quantity, r"summary\.pdf", "workload behind"),
    Sentence("rate", r"\nThroughput {est} Read from", quantity, GUIDE, "workload before"),
    Sentence("rate", r"(?<!Next\s)(?:{w}: )?(?<!Next\s)[Bb]ottleneck: {stage}, {est}", quantity, of="workload"),
    Sentence("rate", r"this design: {n}\n", size, GUIDE, "workload in order"),
    Sentence("rate", r"{pace}, probability ", quantity, GUIDE, "workload before"),
    Sentence("time to train", r"{time}, probability ", quantity, GUIDE, "workload before"),
    Sentence("time to train", r"\nTime to train {time} (?!of)", quantity, r"summary\.pdf", "workload behind"),
    # --- stages
    Sentence("bottleneck", r"(?<!Next\s)(?:{w}: )?(?<!Next\s)[Bb]ottleneck: {stage}, {N}", None, of="workload"),
    Sentence("bottleneck", r"\nBottleneck {stage}", None, of="workload in order"),
    Sentence("bottleneck", r"Data path of [^\n]+: {stage} limits at", None, GUIDE, "workload in order"),
    Sentence("bottleneck", r"\n{N} {rate}(?: possible)? limits {stage}", None, GUIDE, "workload drawn"),
    Sentence("utilization", r"\n{N} {rate} possible {share} utilized {stage}", portion, GUIDE, "workload drawn stage"),
    Sentence(
        "capacity",
        r"\n(?P<value>{N}) (?P<unit>{rate}) possible (?:{N}\s%\sutilized|limits) {stage}",
        quantity,
        GUIDE,
        "workload drawn stage",
    ),
    Sentence(
        "utilization", r"\n{stage} {N}(?: ± {N}| \({N} to {N}\))? {share} ", portion, ENGINEER, "workload before stage"
    ),
    Sentence(
        "capacity",
        r"\n{stage} (?P<value>{N})(?: ± (?P<spread>{N}))? (?:{N} %|bottleneck) ",
        size,
        ENGINEER,
        "workload before stage",
    ),
    # --- confidence
    Sentence("confidence", r"sizing confidence is {share}", probability),
    Sentence("confidence", r"probability of meeting (?:all targets|the target) is {share}", probability),
    Sentence("requested confidence", r"\nProbability of at least {share}", portion, GUIDE),
    Sentence("requested confidence", r"is (?:over )?{N} %; {share} was requested", portion),
    Sentence("confidence of a workload", r"{N} {rate}, probability {share}", probability, GUIDE, "workload before"),
    # --- networks and cables
    Sentence("ports used", IN_NETWORK + PORTS % ("{n}", "{N}"), number, BOTH, "network"),
    Sentence("ports free", IN_NETWORK + PORTS % ("{N}", "{n}"), number, BOTH, "network"),
    Sentence("end points", IN_NETWORK + r"{n} end points? on", number, GUIDE, "network"),
    Sentence("cables", r"Install {n} cables", number, ENGINEER),
    Sentence("cables", r"All cables {n}\b", number, ENGINEER),
    # --- room and power
    Sentence("maximum power", r"Maximum draw (?:at least )?{q}", quantity, GUIDE),
    Sentence("typical power", r"Typical draw (?:at least )?{q}", quantity, GUIDE),
    Sentence("maximum power", r"never above {q}", quantity, GUIDE),
    Sentence("typical power", r"with all GPUs under load\. {q} to", quantity, GUIDE),
    Sentence("rack units", r"\nRacks {N} racks?, [^;]{5,80}; {n} U in use", size, GUIDE),
    Sentence("racks", r"\nRacks {n} racks?, ", number, GUIDE),
    # --- storage
    Sentence("usable capacity", r"\nUsable {q} {N} ", quantity, GUIDE, "tier"),
    Sentence("usable capacity", r"{q} usable met", quantity, GUIDE, "tier"),
    Sentence("usable capacity", r"{q} \({N} TiB\)", quantity, GUIDE, "tier"),
    # --- price
    Sentence("price", r"\nPrice: (?P<value>{money}|to be quoted)", amount),
    Sentence("lines to be quoted", r"{n} lines? of {N} needs? a quote", number),
    Sentence("lines to be quoted", r"{n} lines? of the bill\.", number),
    Sentence("lines to be quoted", r"{n} items need quotes", number),
    Sentence("lines of the bill", r"{N} lines? of {n} needs? a quote", number),
    Sentence("assumptions", r"{n} inputs are assumptions", number, ENGINEER),
)
