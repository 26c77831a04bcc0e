"""What must hold between figures of different kinds, wherever the finished documents state them.

A rule yields each place that it judges: whether the rule holds there, and the sentence that names both places if not.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.guides.agreement.figures import compiled, plain_name, stated
from tests.guides.agreement.finished import DESIGN, WORKBOOK, Finished
from tests.guides.agreement.printed import NUMBER, Span, in_unit, plain, rounded, share

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


def typical_below_maximum(found: Finished) -> Iterator[Judged]:
    """Nothing draws typically more than at most."""
    design, plan, bill = (found.design[key] for key in ("design", "plan", "bill"))
    draws: list[tuple[str, dict[str, Any]]] = [("design", design)]
    draws += [(f"plan.racks {rack['name']}", rack) for rack in plan["racks"]]
    draws += [(f"bill line {line['line']}", line) for line in bill["lines"]]
    for where, one in draws:
        typical, maximum = one["power_typical_w"], one["power_max_w"]
        if typical is not None and maximum is not None:
            both = f"{DESIGN}, {where}: typical power {typical} W – {DESIGN}, {where}: maximum power {maximum} W"
            yield typical <= maximum * SLACK, both
    made = [one for one in stated(found) if one.figure in ("typical power", "maximum power")]
    typicals, maxima = ([one for one in made if one.figure == kind] for kind in ("typical power", "maximum power"))
    for typical in typicals:
        for maximum in maxima:
            holds = _low(typical.value) <= _high(maximum.value)
            yield holds, f"typical power above the maximum: {typical} – {maximum}"


def _low(value: Span | str) -> float:
    assert isinstance(value, Span)
    return value.low


def _high(value: Span | str) -> float:
    assert isinstance(value, Span)
    return value.high


def parts_of_wholes(found: Finished) -> Iterator[Judged]:
    """What is used is no more than what is there: ports of ports, watts of watts, bytes of bytes."""
    things = "(?:(?:leaf )?ports?|lines?|nodes?|racks?|outlets?)"
    whole = rf"(?<![\w.,%±])(?<![\d.,%±×]\s)({NUMBER}) (?:{things} )?of (?:its )?({NUMBER})(?! %|\s[kMGTP]?B\b|[\d.])"
    for place, one in _finds(found, whole):
        yield plain(one[1]) <= plain(one[2]), f"more than there is: {place} – {one[1]} is more than {one[2]}"
    for place, one in _finds(found, QUANTITY + " of (?:its )?" + QUANTITY):
        holds = in_unit(one[1], one[2]).low <= in_unit(one[3], one[4]).high
        yield holds, f"more than there is: {place} – {one[1]} {one[2]} is more than {one[3]} {one[4]}"


def shares_below_one(found: Finished) -> Iterator[Judged]:
    """Nothing is used, or idle, for more than 100 %."""
    for place, one in _finds(found, rf"(?:utili[sz]ation|idle|reads use)[^.%]{{0,25}}? ({NUMBER}) %"):
        yield plain(one[1]) <= 100, f"a share above the whole: {place} – more than 100 %"
    for place, one in _finds(found, rf"({NUMBER}) % (?:utilized|used)"):
        yield plain(one[1]) <= 100, f"a share above the whole: {place} – more than 100 %"


def bottleneck_is_slowest(found: Finished) -> Iterator[Judged]:
    """The bottleneck is the stage of the least capacity, and the rate uses each stage as its utilization says."""
    for one in found.design["design"]["workloads"]:
        where = f"{DESIGN}, workloads.{one['name']}"
        rates = {key: stage["capacity_samples_per_s"]["value"] for key, stage in one["stages"].items()}
        slowest = min((rate for rate in rates.values() if rate is not None), default=None)
        limit = rates[one["bottleneck"]]
        if slowest is not None and limit is not None:
            lower = next(key for key, rate in rates.items() if rate == slowest)
            yield (
                limit <= slowest * SLACK,
                f"{where}.bottleneck: {one['bottleneck']} at {limit} – {where}.stages.{lower}: {slowest} is lower",
            )
        for key, stage in one["stages"].items():
            rate, load = rates[key], stage["load_fraction"]
            passed = one["samples_per_s"]["value"]
            if rate:
                yield (
                    abs(load * rate - passed) <= 0.02 * passed,
                    f"{where}.stages.{key}.load_fraction: {load} – {where}.samples_per_s: "
                    f"{passed} of {rate} is another share",
                )


def claims_follow(found: Finished) -> Iterator[Judged]:
    """A claim that holds keeps its threshold, one that does not exceeds it."""
    row = rf" (?P<holds>yes|no) (?:{QUANTITY}|({NUMBER}) %) at most (?:{QUANTITY}|({NUMBER}) %)"
    for place, one in _finds(found, row, r"engineers-file\.pdf"):
        groups = one.groups()[1:]
        if (groups[2] is None) != (groups[5] is None):
            continue
        number = share(f"{groups[2]} %") if groups[2] else in_unit(groups[0], groups[1])
        threshold = share(f"{groups[5]} %") if groups[5] else in_unit(groups[3], groups[4])
        is_yes = one["holds"] == "yes"
        holds = number.low <= threshold.high if is_yes else number.high >= threshold.low
        yield holds, f"a claim against its threshold: {place} – it should say {'no' if is_yes else 'yes'}"


def bounds_meet_nothing(found: Finished) -> Iterator[Judged]:
    """A figure that is only a lower bound meets no upper limit."""
    for check in found.design["design"]["checks"]:
        where = f"{DESIGN}, checks.{check['check']}"
        holds = not (check["missing"] and check["result"] == "met")
        yield holds, f"{where}: met – {where}: something is missing"
    row = rf"\nAt most [^\n]{{3,60}}? (?P<least>at least )?{_N} [^;\n]{{1,12}} (?P<verdict>met|not known)\b"
    for place, one in _finds(found, row, r"guide\.pdf"):
        holds = not (one["least"] and one["verdict"] == "met")
        yield holds, f"met on a lower bound: {place} – at least is no upper bound"


def prices_are_bounds(found: Finished) -> Iterator[Judged]:
    """While lines await a quote, a total says "at least" wherever it stands."""
    bill = found.design["bill"]
    if not bill["unpriced"] or bill["total"] is None:
        return
    price = rf"(?:List )?[Pp]rice:? (?P<least>at least )?{bill['currency']} ({NUMBER})"
    for place, one in _finds(found, price):
        yield bool(one["least"]), f"{DESIGN}, bill.unpriced: {len(bill['unpriced'])} lines – {place} lacks “at least”"


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


def network_limit_is_explained(found: Finished) -> Iterator[Judged]:
    """The rates that explain the network give its capacity: the narrowest of servers, gateway and storage ports."""
    design = found.design["design"]
    for one in design["workloads"]:
        stage, where = one["stages"]["network"], f"{DESIGN}, workloads.{one['name']}.stages.network"
        capacity, how = stage["capacity_samples_per_s"]["value"], stage["how"]
        servers = re.match(rf"{QUANTITY} into each server", how)
        read = one["sample_bytes"] * (1 - one["cache_hit_fraction"])
        if capacity is None or servers is None or read <= 0:
            continue
        shared = re.search(rf"shared with {QUANTITY} of gradients", how)
        exchanged = in_unit(shared[1], shared[2]).low if shared else 0.0
        ways = [design["n_servers"] * in_unit(servers[1], servers[2]).low / (read + exchanged)]
        ways += [in_unit(way[1], way[2]).low / read for way in re.finditer(rf"carry {QUANTITY}", how)]
        holds = abs(min(ways) - capacity) <= 0.02 * capacity
        yield holds, f"{where}.capacity_samples_per_s: {capacity} – {where}.how: “{how}” gives {min(ways):.0f}"


def hosts_have_the_link_of_their_network(found: Finished) -> Iterator[Judged]:
    """A cable of a server has the link of its network; storage, and a head node on its network, may be slower."""
    kinds = {plain_name(str(row[0])): str(row[1]) for row in found.sheets.get("Networks", ()) if row[0] and row[1]}
    for number, row in enumerate(found.tables.get("cables.csv", ()), 2):
        kind = kinds.get(plain_name(row["Network"]))
        slower = ("storage-", "head-") if row["Network"].lower().startswith("storage") else ("storage-",)
        if kind and row["A-Type"] == "Host" and not row["A-Node Name"].startswith(slower):
            place = f"cables.csv, row {number}: port {row['A-Node Name']} {row['A-Port']} at {row['Speed']}"
            yield row["Speed"] == kind, f"{place} – {WORKBOOK}, sheet Networks: {row['Network']} is of {kind}"


def networks_are_known(found: Finished) -> Iterator[Judged]:
    """Cables and addresses belong to networks of the design."""
    known = {plain_name(net["name"]) for net in found.design["design"]["networks"]}
    for table in ("cables.csv", "addresses.csv"):
        for number, row in enumerate(found.tables.get(table, ()), 2):
            name = plain_name(row["Network"].split(",")[0])
            holds = name in known or any(name.endswith(one) for one in known)
            yield holds, f"{table}, row {number}: network {row['Network']} – {DESIGN}, design.networks: no such network"


def references_lead_somewhere(found: Finished) -> Iterator[Judged]:
    """A chapter that is mentioned is there, and a question that a chapter is said to answer too."""
    for document in ("guide.pdf", "engineers-file.pdf"):
        if document not in found.texts:
            continue
        contents = found.texts[document].text[: found.texts[document].text.find("Page 2 of")]
        numbers = set(re.findall(r"\n(\d{1,2}|[A-Z]) [A-Z][^\n]+ \d+(?=\n)", contents))
        for place, one in _finds(found, r"\b(?:[Cc]hapter|[Aa]ppendix) (\d{1,2}|[A-Z])\b", re.escape(document)):
            if numbers:
                yield one[1] in numbers, f"{place} – {document}, contents: no chapter {one[1]}"
    for place, _ in _finds(found, r"questions? of this chapter"):
        yield False, f"{place} – no document prints questions of a chapter"


def workloads_are_drawn(found: Finished) -> Iterator[Judged]:
    """Every workload of the answer has its data path in the guide."""
    if "guide.pdf" not in found.texts:
        return
    drawn = [plain_name(one[1]) for _, one in _finds(found, r"Data path of ([^\n]+?):", r"guide\.pdf")]
    of = len(found.workloads)
    holds = len(drawn) == of
    yield holds, f"guide.pdf, data paths: {len(drawn)} are drawn – {DESIGN}, design.workloads: there are {of}"


def one_server_has_no_gradient_fabric(found: Finished) -> Iterator[Judged]:
    """What one server exchanges stays inside: no network is there for it."""
    n_servers = found.design["design"]["n_servers"]
    without = r"[Nn]o fabric (?:is involved|between servers)|needs no fabric"
    carries = list(_finds(found, r"[Gg]radient exchange and|[Gg]radients over (?:\d+ GbE|[EFH]DR)"))
    for place, _ in _finds(found, without):
        against = f"{DESIGN}, design.n_servers: {n_servers} servers" if n_servers > 1 else ""
        against = against or (carries[0][0] if carries else "")
        yield not against, f"{place} – {against}"


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


def sums_add_up(found: Finished) -> Iterator[Judged]:
    """The total of the bill is the sum of its lines."""
    bill = found.design["bill"]
    rows = found.tables.get("bom.csv", ())
    total = 0.0
    for row in rows:
        if (
            row["Group"] == "cluster"
            and re.fullmatch(r"[\d.]+", row["Extended net"])
            and "optional" not in row["Notes"]
        ):
            total += float(row["Extended net"])
    if rows and bill["total"] is not None:
        holds = abs(total - float(bill["total"])) <= 0.01 * len(rows)
        yield holds, f"{DESIGN}, bill.total: {bill['total']} – bom.csv, column Extended net: the sum is {total:.2f}"


def first_year_is_the_design(found: Finished) -> Iterator[Judged]:
    """What a growth plan buys first is the design that the guide describes."""
    design = found.design["design"]
    nodes = rf"(?: (?:and|\+) (?P<nodes>{_N})(?: storage nodes?)?)?"
    sentence = rf"Buy (?P<servers>{_N}) servers?{nodes} of [^.]{{5,90}}? (?:now|in year 1)\b"
    row = rf"\nYear Needed Owned Bought [^\n]+\n1 {_N}(?: \+ {_N})? (?P<servers>{_N}){nodes}"
    for pattern in (sentence, row):
        for place, one in _finds(found, pattern, r"guide\.pdf"):
            holds = plain(one["servers"]) == design["n_servers"]
            yield holds, f"{place} – {DESIGN}, design.n_servers: {design['n_servers']}"
            if one["nodes"]:
                holds = plain(one["nodes"]) == design["storage_nodes"]
                yield holds, f"{place} – {DESIGN}, design.storage_nodes: {design['storage_nodes']}"


RULES: dict[str, Callable[[Finished], Iterator[Judged]]] = {
    rule.__name__: rule
    for rule in (
        typical_below_maximum,
        parts_of_wholes,
        shares_below_one,
        bottleneck_is_slowest,
        claims_follow,
        bounds_meet_nothing,
        prices_are_bounds,
        ends_of_sale,
        network_limit_is_explained,
        hosts_have_the_link_of_their_network,
        networks_are_known,
        references_lead_somewhere,
        workloads_are_drawn,
        one_server_has_no_gradient_fabric,
        published_rates_are_of_runs,
        sums_add_up,
        first_year_is_the_design,
    )
}
