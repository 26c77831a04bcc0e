"""Money in words: what a design costs, why it costs less, with which confidence, and which quotes would settle that.

What rests on price bands is called an estimate.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Protocol

from sizer.base import units
from sizer.base.quantities import NARROW_SPACE, by_count, grouped, si, significant
from sizer.bom.bill import Bill
from sizer.bom.cost import MIDDLE, NEGOTIATED_GPUS, CostInterval, line_amounts
from sizer.bom.prices import prices_for
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.labels import with_vendor
from sizer.present import words
from sizer.sizing.checks import CheckKind, CheckResult, DesignCheck
from sizer.sizing.reasons import CostDifference, QuoteToSettle, RunnerUpKind, SelectionKind, TieBreak
from sizer.sizing.result import DesignAnswer, PlannedYear, SizingResult
from sizer.sizing.search.ranking import MOST_TIED

# How designs compare whose finished bills are in another order than that in which they are ranked.
BUT_FOR_CABLES = "the same but for cables, accessories and changes of the quote"
# Share of a price below which a difference is no reason: prices are known to no such share.
_LEAST_TOLD = 0.01
_TIE_BREAKS: dict[TieBreak | None, str] = {
    TieBreak.OWNED: "nobody says which GPUs the existing servers hold, and those of the first are enough",
    TieBreak.NEWER: "the first has newer GPUs or more GPU memory",
    TieBreak.FASTER: "the first is the faster one",
    TieBreak.LESS_POWER: "the first takes less power",
    TieBreak.FEWER_BOXES: "the first has fewer devices",
}
# What has to save :data:`MOST_TIED` to come first.
_UNASKED_CHANGES: dict[TieBreak | None, str] = {
    TieBreak.AIR: "water cooling, which the request does not mention,",
    TieBreak.SOFTWARE: "a change of software",
}


class Priced(Protocol):
    """A design, or what is compared with one, with its bill and the interval of its cost."""

    @property
    def bill(self) -> Bill:
        """Lines with the prices that are known."""

    @property
    def cost(self) -> CostInterval | None:
        """None where bands are in another currency, or where a customer is not told."""


def gpus_text(design: DesignAnswer) -> str:
    """'8 × H100 SXM5 80 GB'."""
    return f"{grouped(design.n_gpus)} × {design.platform.gpu.name}"


def design_text(design: DesignAnswer) -> str:
    """A design that stands beside another one: '2 × XE7745 + local NVMe (8 × RTX PRO 6000, EUR 74 000 to 180 000)'."""
    return f"{design.name} ({gpus_text(design)}, {price_range_text(design)})"


def price_text(design: Priced) -> str:
    """What a design costs, and on what that rests: 'USD 1.7 to 3.1 million (about 2.1 million expected; ...)'."""
    return f"{price_range_text(design)} ({price_basis_text(design)})"


def price_range_text(design: Priced, parts: float = 1.0) -> str:
    """The budgetary price: in whole units where every line has one, else the range of the market, to two digits.

    ``parts``: what one of so many costs.
    """
    bill, cost = design.bill, design.cost
    if bill.is_complete and bill.lines:
        return f"{bill.currency} {grouped(float(bill.total) / parts)}"
    if cost is None or not cost.low:
        return words.TO_BE_QUOTED
    if not isfinite(cost.high):
        return range_text(cost.currency, cost.low / parts, cost.low / parts).replace("about", "at least")
    return range_text(cost.currency, cost.low / parts, cost.high / parts)


def price_basis_text(design: Priced) -> str:
    """On what the budgetary price rests, with its years and what it lacks."""
    bill, cost = design.bill, design.cost
    years = "" if cost is None else " to ".join(cost.dated)
    of_years = f" of {years}" if years else ""
    if bill.is_complete and not bill.total:
        return "nothing is bought"
    if bill.is_complete:
        return f"{'prices' if bill.has_discount or bill.is_customer_copy else 'list prices'}{of_years}"
    quotes = by_count(bill.n_unpriced, "one item needs a quote", f"{bill.n_unpriced} items need quotes")
    if cost is None or not isfinite(cost.high):
        return quotes
    expected = range_text("", cost.expected, cost.expected)
    told = f"{expected} expected; " if expected != range_text("", cost.low, cost.high) else ""
    usual = f"estimate from market prices dated {years}"
    if cost.is_negotiated:
        usual += f", the low end reduced for the discounts on more than {NEGOTIATED_GPUS} GPUs"
    return f"{told}{usual}; {quotes}"


def range_text(currency: str, low: float, high: float) -> str:
    """Two amounts to two digits: 'USD 1.7 to 3.1 million'; the one that both round to: 'about USD 40 million'."""
    unit, word = (1e6, " million") if high >= 1e6 else (1.0, "")
    ends = dict.fromkeys(significant(amount / unit, 2) for amount in (low, high))
    text = f"{currency} {' to '.join(ends)}{word}".strip()
    return text if len(ends) > 1 else f"about {text}"


def is_free(design: DesignAnswer) -> bool:
    """Whether nothing that costs is bought."""
    return design.cost is not None and design.cost.high == 0


def servers_price_text(result: SizingResult, count: int) -> str:
    """What so many of the GPU servers cost by their lines of the bill; "" where none is bought or nobody says."""
    design = result.design
    bill, server = design.bill, design.platform.server.id
    if design.cost is None or not design.servers_bought:
        return ""
    prices = unit_prices(
        design.plan.catalog, prices_for(result.request, design.plan.catalog), bill.currency, [0.0, 1.0]
    )
    amounts = line_amounts(bill, design.platform, prices)
    low, high = amounts[[line.item == server for line in bill.bought]].sum(axis=0) * count / design.servers_bought
    return range_text(bill.currency, low, high) if high > 0 and isfinite(high) else ""


def planned_years_text(years: Sequence[PlannedYear]) -> str:
    """What a growth plan buys by year: 'year 1: 2 servers, USD 0.88 to 1.4 million; year 2: ...'."""
    texts = []
    for year in years:
        if not year.servers_bought and (year.cost is None or not year.cost.high):
            texts.append(f"year {year.year}: nothing")
            continue
        more = f", {grouped(year.n_servers)} then" if year.year > 1 else ""
        price = words.TO_BE_QUOTED
        if year.cost is not None and isfinite(year.cost.high):
            price = range_text(year.cost.currency, year.cost.low, year.cost.high)
        servers = words.plural(year.servers_bought, "server") if year.servers_bought else "no server"
        texts.append(f"year {year.year}: {servers}{more}, {price}")
    return "; ".join(texts)


def cost_reason_text(result: SizingResult, *, with_amounts: bool) -> str:
    """Which design costs less than which, as a part of a sentence; "" where cost does not decide.

    ``with_amounts``: whether to say by how much; a customer's copy never does.
    """
    reason = result.runner_up_reason
    if reason.kind is not RunnerUpKind.DEARER or len(result.platforms) < 2:
        return ""
    chosen, other = _told_apart(result.platforms[0], result.platforms[1])
    more, cost = reason.difference, result.platforms[0].cost
    if more is not None and cost is not None and abs(more.at_confidence) < _LEAST_TOLD * cost.expected:
        return ""
    verb = "costs" if result.platforms[0].n_servers == 1 else "cost"
    less = "less"
    if with_amounts and reason.difference is not None:
        less = f"{about(reason.difference.at_confidence, reason.difference.currency)} less"
    over = "" if reason.years is None else f" over {by_count(reason.years, 'one year', f'{reason.years} years')}"
    return f"{chosen} {verb} {less} than {other}{over}"


def least_cost_text(result: SizingResult, *, with_amounts: bool) -> str:
    """By what the described design leads: that it costs least, at which confidence, and less than what.

    ``result``: its selection is of a kind that cost decides.
    """
    selection = result.selection
    least = "costs least"
    if selection.kind is SelectionKind.LIKELY_CHEAPEST:
        least = cost_at(result.request.confidence, "costs least", "is expected to cost least", selection.years)
    elif selection.years is not None:
        least = f"costs least{owned(selection.years)}"
    of = f"Of {selection.n_platforms} platforms compared"
    if tie := tie_text(result):
        return f"{of} {tie}"
    if selection.less_on_bill:
        chosen, other = _told_apart(result.platforms[0], result.platforms[selection.less_on_bill[0]])
        return f"{of} {chosen} and {other} cost {BUT_FOR_CABLES}."
    because = cost_reason_text(result, with_amounts=with_amounts)
    text = f"{of} it {least}: {because}." if because else f"{of} it {least}."
    if selection.leads_by_expected_cost is None:
        return text
    _, leader = _told_apart(result.platforms[0], result.platforms[selection.leads_by_expected_cost])
    return f"{text} The expected cost of {leader} is lower, but its prices are less certain."


def tie_text(result: SizingResult) -> str:
    """What puts the described design before one that costs as much; "" where nothing does."""
    reason = result.runner_up_reason
    if reason.kind is not RunnerUpKind.TIED or len(result.platforms) < 2:
        return ""
    chosen, other = _told_apart(result.platforms[0], result.platforms[1])
    if change := savings_text(reason.tie_break):
        return f"{chosen} comes before {other}: {change}."
    first_by = _TIE_BREAKS.get(reason.tie_break, "quotes or a preferred vendor decide between them")
    return f"{chosen} and {other} cost the same{owned(reason.years)} within the price ranges; {first_by}."


def savings_text(first_by: TieBreak | None) -> str:
    """What a change that the request does not ask for has to save; "" where none decides."""
    change = _UNASKED_CHANGES.get(first_by)
    return f"{change} has to save {words.percent(MOST_TIED - 1)} of the cost" if change else ""


def cost_at(confidence: float, claim: str, expected: str, years: int | None) -> str:
    """A claim on costs that hold with a confidence; at even odds they are the expected ones."""
    if confidence <= MIDDLE:
        return f"{expected}{owned(years)}"
    return f"{claim}{owned(years)} at {words.percent(confidence)} confidence"


def owned(years: int | None) -> str:
    """Period of a cost of ownership; "" for a price."""
    return "" if years is None else f" to own over {by_count(years, 'one year', f'{years} years')}"


def about(amount: float, currency: str) -> str:
    """An amount that rests on price bands, to two digits."""
    return f"about {currency} {significant(abs(amount), 2)}"


def _told_apart(first: DesignAnswer, other: DesignAnswer) -> tuple[str, str]:
    """Short names of two designs: what they differ in."""
    servers = [f"{design.n_servers} × {with_vendor(design.platform.server)}" for design in (first, other)]
    if first.platform.gpu.id != other.platform.gpu.id:
        servers = [f"{name} ({gpus_text(design)})" for name, design in zip(servers, (first, other), strict=True)]
    is_external = any(design.storage_nodes for design in (first, other))
    if not is_external and servers[0] != servers[1]:
        return servers[0], servers[1]
    if first.platform.storage.id == other.platform.storage.id and first.storage_nodes == other.storage_nodes:
        return servers[0], servers[1]
    return first.name, other.name


def quotes_text(result: SizingResult, *, with_amounts: bool) -> str:
    """The quotes that would settle the order, and which configuration a price holds for; "" where neither is told."""
    quotes = [_quote(quote) if with_amounts else quote.name for quote in result.quotes_to_settle]
    settling = f"{quotes_for(quotes)} would confirm which design costs least." if quotes else ""
    return " ".join(filter(None, (settling, configuration_text(result.design))))


def configuration_text(design: DesignAnswer) -> str:
    """That a server is priced with less than the bill lists; "" where its price is that of what is listed."""
    server, bands = design.platform.server, design.plan.catalog.bands
    band = bands.band("servers", server.id, design.platform.gpu.id)
    is_open = any(line.item == server.id and line.unit_net_price is None for line in design.bill.bought)
    if not is_open or band is None or not band.configuration:
        return ""
    stored_bytes = design.platform.stored_bytes
    drives = f", and {si(stored_bytes, 'B')} of drives for data" if stored_bytes else ""
    text = f"The price range of the {server.name} holds {band.configuration} besides its GPUs{drives}."
    listed = ["memory", "ports"] if drives else ["memory", "drives", "ports"]
    cached = [workload for workload in design.workloads if workload.kind.reads_data and workload.cache_hit_fraction > 0]
    if cached and server.memory_bytes is not None:
        memory = f"{server.memory_bytes.value / units.GIB:.0f}{NARROW_SPACE}GiB"
        return (
            f"{text} The rate counts on data that the memory of {memory} holds: have the server quoted with it, which "
            f"may cost more than the range, and without {words.listed(listed[1:])} that are not needed."
        )
    return (
        f"{text} The bill lists {words.listed(listed)} as its vendor published them: ask for a quote without those "
        "that are not needed."
    )


def quotes_for(names: Sequence[str]) -> str:
    """'A quote for A', 'Quotes for A and B'."""
    return f"{by_count(len(names), 'A quote', 'Quotes')} for {words.listed(list(names))}"


def difference_text(more: CostDifference) -> str:
    """What an alternative costs more or less, for use in the house: 'It is expected to cost about USD 7 500 less.'

    ``more``: of the alternative over the design that it is compared with.
    """
    if more.is_exact:
        amount = f"{more.currency} {grouped(abs(round(more.low, 2)))}"
        return f"It costs {amount} {'more' if more.low > 0 else 'less'}." if more.low else "It costs the same."
    if not isfinite(more.expected):
        return "What it costs more or less is not known."
    side = "more" if more.expected > 0 else "less"
    text = f"It is expected to cost {about(more.expected, more.currency)} {side}"
    if more.is_settled or not more.quotes:
        return f"{text}."
    quotes = words.inside_sentence(quotes_for([quote.name for quote in more.quotes]))
    return f"{text}. The order is not settled: {quotes} would settle it."


def _quote(quote: QuoteToSettle) -> str:
    if quote.swing is None:
        return quote.name
    text = f"moves the difference by up to {quote.currency} {significant(quote.swing, 2)}"
    if quote.turns_at is not None:
        text = f"{text}; the order changes at {quote.currency} {significant(quote.turns_at)} each"
    return f"{quote.name} ({text})"


def budget_text(check: DesignCheck) -> str:
    """How likely a design keeps its budget, where prices are missing; "" for other checks and where all is known."""
    if check.kind is not CheckKind.BUDGET or not check.unpriced or check.result is CheckResult.NOT_MET:
        return ""
    items = f"{words.plural(len(check.unpriced), 'item')} to be quoted"
    if check.probability is None:
        return f"cannot be judged: {items}"
    if check.probability == 1:
        return f"within the budget at any likely price of the {items}"
    return f"{words.chance(check.probability)} likely to be kept, by the usual prices of the {items}"
