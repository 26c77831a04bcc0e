"""What must hold between figures of different kinds, wherever the finished documents state them.

A rule yields each place that it judges: whether the rule holds there, and the sentence that names both places if not.
"""

import re
from collections.abc import Callable, Iterator

from tests.guides.agreement.figures import compiled, plain_name
from tests.guides.agreement.finished import DESIGN, WORKBOOK, Finished
from tests.guides.agreement.printed import NUMBER, in_unit, plain, rounded

Judged = tuple[bool, str]
SLACK = 1 + 1e-6
_N = f"(?:{NUMBER})"
QUANTITY = rf"({NUMBER})\s([kMGTP]?(?:W|B/s|B|bit/s))"


def _finds(found: Finished, pattern: str, documents: str = r".*\.pdf|.*\.pptx") -> Iterator[tuple[str, re.Match[str]]]:
    """Each place where a text holds the pattern: the place with its quote, and what was found."""
    for document, text in found.texts.items():
        if re.fullmatch(documents, document):
            for one in compiled(pattern, found).finditer(text.text):
                start = one.start() + len(one[0]) - len(one[0].lstrip())
                yield f"{document}, {text.place(start)}: “{' '.join(one[0].split())}”", one


def parts_of_wholes(found: Finished) -> Iterator[Judged]:
    """What is used is no more than what is there: ports of ports, watts of watts, bytes of bytes."""
    things = "(?:(?:leaf )?ports?|lines?|nodes?|racks?|outlets?)"
    unit = r"(?! %|\s(?:[kMGTP]?B|inch)\b|[\d.])"  # a size, not a number of things
    whole = rf"(?<![\w.,%±])(?<![\d.,%±×]\s)({NUMBER}) (?:{things} )?of (?:its )?({NUMBER}){unit}"
    for place, one in _finds(found, whole):
        yield plain(one[1]) <= plain(one[2]), f"more than there is: {place} – {one[1]} is more than {one[2]}"
    for place, one in _finds(found, QUANTITY + " of (?:its )?" + QUANTITY):
        holds = in_unit(one[1], one[2]).low <= in_unit(one[3], one[4]).high
        yield holds, f"more than there is: {place} – {one[1]} {one[2]} is more than {one[3]} {one[4]}"


def prices_are_one(found: Finished) -> Iterator[Judged]:
    """While lines await a quote, every printed price is the range of the design, to two digits."""
    price = found.design["design"]["cost"]
    if price["basis"] != "estimate":
        return
    unit = 1e6 if price["high"] >= 1e6 else 1.0
    wanted = [f"{price[end] / unit:.2g}" for end in ("low", "high")]
    for place, one in _finds(found, rf"[Pp]rice:? {price['currency']} ({NUMBER})(?: to ({NUMBER}))?"):
        printed = [float(plain(end)) for end in one.groups() if end]
        holds = printed == sorted({float(end) for end in wanted})
        yield holds, f"{DESIGN}, design.cost: {' to '.join(wanted)} – {place} is no such range"


def ends_of_sale(found: Finished) -> Iterator[Judged]:
    """No part has an end of sale or service in one place and none in another."""
    ended = {}
    for place, one in _finds(found, r"(?:\n|\. |• )([A-Z][\w /-]{2,40}?)(?::| has an) (?i:end of) (?:sale|service)"):
        ended[plain_name(one[1])] = place
    for place, one in _finds(found, r"What the sources state about the ([^\n]+)\n(?:[^\n]*\n){3,60}?End of service "):
        ended[plain_name(one[1])] = place.split("“")[0] + "“End of service”"
    # A full stop ends the list, or in the table of risks the action of the next cell.
    listed = r"[Nn]o end of (?:sale|service)[^:;.]{0,40} is published: ([^.]+?)(?:[.]|\s+confirm\s+availability)"
    for place, one in _finds(found, listed):
        for name in one[1].split(","):
            same = next((key for key in ended if plain_name(name) and key.endswith(plain_name(name))), "")
            yield not same, f"end of sale of {name.strip()}: {place} – {ended.get(same, '')}"


def hosts_have_the_link_of_their_network(found: Finished) -> Iterator[Judged]:
    """A cable of a server has the link of its network; storage, and a head node on its network, may be slower."""
    kinds = {plain_name(str(row[0])): str(row[1]) for row in found.sheets.get("Networks", ()) if row[0] and row[1]}
    for number, row in enumerate(found.tables.get("cables.csv", ()), 2):
        kind = kinds.get(plain_name(row["Network"]))
        slower = ("storage-", "head-") if row["Network"].lower().startswith("storage") else ("storage-",)
        if kind and row["A-Type"] == "Host" and not row["A-Node Name"].startswith(slower):
            place = f"cables.csv, row {number}: port {row['A-Node Name']} {row['A-Port']} at {row['Speed']}"
            yield row["Speed"] == kind, f"{place} – {WORKBOOK}, sheet Networks: {row['Network']} is of {kind}"


def references_lead_somewhere(found: Finished) -> Iterator[Judged]:
    """A chapter that is mentioned is there, and a question that a chapter is said to answer too."""
    for document in ("guide.pdf", "engineers-file.pdf"):
        if document not in found.texts:
            continue
        # Below a long summary the contents stand on the page after it; a short guide has headings alone.
        text = found.texts[document].text
        contents = text[: text.find("Page 3 of")]
        numbers = set(re.findall(r"\n(\d{1,2}|[A-Z]) [A-Z][^\n]+ \d+(?=\n)", contents))
        if "Contents\n" not in contents:
            numbers = set(re.findall(r"\n(\d{1,2}|[A-Z]) [A-Z][^\n\d]+(?=\n)", text))
        for place, one in _finds(found, r"\b(?:[Cc]hapter|[Aa]ppendix) (\d{1,2}|[A-Z])\b", re.escape(document)):
            if numbers:
                yield one[1] in numbers, f"{place} – {document}, contents: no chapter {one[1]}"
    for place, _ in _finds(found, r"questions? of this chapter"):
        yield False, f"{place} – no document prints questions of a chapter"


def workloads_are_drawn(found: Finished) -> Iterator[Judged]:
    """Every workload that reads data has its data path in the guide, where two stages or more are of one magnitude."""
    # The short guide of one server has no chapter that draws them.
    if "guide.pdf" not in found.texts or "Design overview" not in found.texts["guide.pdf"].text:
        return
    drawn = [plain_name(one[1]) for _, one in _finds(found, r"Data path of ([^\n]+?):", r"guide\.pdf")]
    works = [work for work in found.design["design"]["workloads"] if work["serving"] is None]
    of = sum(sum(stage["load_fraction"] >= 1e-3 for stage in work["stages"].values()) > 1 for work in works)
    holds = len(drawn) == of
    yield holds, f"guide.pdf, data paths: {len(drawn)} are drawn – {DESIGN}, design.workloads: there are {of}"


def published_rates_are_of_runs(found: Finished) -> Iterator[Judged]:
    """A rate that is called published or measured is one of the published runs; its gap is that of the prediction."""
    runs = [run for one in found.design["design"]["workloads"] for run in one["evidence"]]
    rates = [run["published_samples_per_s"] for run in runs]
    # A narrow space groups digits: only others part two numbers.
    numbers = rf"(?<=[\x20\n])(?P<published>{_N})[\x20\n](?P<predicted>{_N}) ± {_N}"
    row = rf"{numbers} (?:\((?=[^)]{{1,8}}\)))?(?P<gap>[+−]?{_N}) %(?:\)| inside| outside)"
    for place, one in [*_finds(found, row), *_finds(found, rf"measured (?:rate of )?(?P<published>{_N}) [a-z]+/s")]:
        span = rounded(one["published"])
        holds = any(span.low <= rate <= span.high for rate in rates)
        yield holds, f"{place} – {DESIGN}, design.workloads[].evidence: no published run has this rate"
        if "gap" in one.groupdict():
            gap = 100 * (plain(one["predicted"]) / plain(one["published"]) - 1)
            printed = plain(one["gap"].lstrip("+−")) * (-1 if one["gap"].startswith("−") else 1)
            yield abs(gap - printed) < 1, f"{place} – {one['predicted']} of {one['published']} is a gap of {gap:.1f} %"


def trainings_are_of_designs_that_train(found: Finished) -> Iterator[Judged]:
    """Words of training stand in no document of models in use alone; names of sources are none."""
    serves = all(one["serving"] is not None for one in found.design["design"]["workloads"])
    names = r"(?<!MLPerf\s)[Tt]rain(?:s|ed|ing)?(?! of staff)|[Ee]pochs?(?! AI)"
    words = rf"\b(?:{names}|[Gg]radients?|[Cc]heckpoints?|[Dd]ata sets?)\b"
    for place, _ in _finds(found, words):
        yield not serves, f"{place} – {DESIGN}, design.workloads: nothing is trained"


RULES: dict[str, Callable[[Finished], Iterator[Judged]]] = {
    rule.__name__: rule
    for rule in (
        parts_of_wholes,
        prices_are_one,
        ends_of_sale,
        hosts_have_the_link_of_their_network,
        references_lead_somewhere,
        workloads_are_drawn,
        published_rates_are_of_runs,
        trainings_are_of_designs_that_train,
    )
}
