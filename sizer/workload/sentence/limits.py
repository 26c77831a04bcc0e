"""What a sentence says about limits: money, watts, racks, rack units; and whether it asks for the most or the least."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import by_count
from sizer.workload.sentence.names import GPU
from sizer.workload.sentence.notes import Notes
from sizer.workload.sentence.numbers import DIGITS, NUMBER, SCALE, ends, quantity
from sizer.workload.sentence.reading import Question
from sizer.workload.sentence.text import READ, UnreadText

_CURRENCIES = {
    "USD": r"USD|US ?\$|\$|(?:US )?dollars?|bucks",
    "EUR": r"EUR|€|euros?",
    "GBP": r"GBP|£|pounds?(?: sterling)?|quid",
    "CHF": r"CHF|(?:Swiss )?francs?",
    "JPY": r"JPY|¥|yen",
}
CURRENCY = "|".join(_CURRENCIES.values())
_SIGN = rf"(?:\b|(?<!\w))(?P<sign>{CURRENCY}) ?"
_TOP = r"(?: (?:max(?:imum)?|cap|limit|ceiling|tops|in total|total)\b\.?)?"
_AFTER = rf" ?(?P<code>[km]? ?(?:{CURRENCY}))(?![\w-]){_TOP}"
_SPEND = (
    r"\b(?:for|within|under|below|spend(?:ing)?(?: up to)?|up to|at most|max(?:imum)?|budget"
    r"(?: (?:of|is|around|about|max|limit))*:?) (?:about |around |roughly |max )?"
)
# Things that follow a number of thousands or millions and make it no money.
_NOT_MONEY = (
    r"(?! ?(?:\w+ ?(?:/|per\b)|\w+ (?:images?|pictures?|photos?|samples?|files?|sentences?|records?)"
    r"|images?|imgs?|pictures?|photos?|samples?|files?|sentences?|sequences?|records?|frames?"
    r"|scans?|epochs?|GPUs?|[kKMGTP]?i?[Bb]\b|[kM]?W\b|kilowatt|[\ue000-\ue006]))"
)
# "1 EUR = 1.08 USD", "at 1.08 dollars per euro", "EUR/USD 1.08".
_FOREIGN = "|".join(names for code, names in _CURRENCIES.items() if code != "USD")
_DOLLARS = rf"(?:{_CURRENCIES['USD']})"
_RATE = r"(?P<{0}>\d{{1,4}}(?:[.,]\d{{1,6}})?)"
_EXCHANGE = re.compile(
    r"(?:\b(?:at |with )?(?:an? |the )?(?:exchange )?rate(?: of| is|:)? )?"
    rf"(?:(?<!\w)(?:1|one|an?) ?(?P<unit>{_FOREIGN})(?: is| costs| for| at|:| ?=) ?(?:(?:US ?)?\$ ?)?"
    rf"{_RATE.format('rate')}(?: ?{_DOLLARS})?"
    rf"|{_RATE.format('rate_before')} ?{_DOLLARS} ?(?:/|per|an?|for (?:an?|one|1|each)) ?(?P<unit_after>{_FOREIGN})"
    rf"|(?<!\w)(?P<pair>{_FOREIGN}) ?/ ?USD(?: of| is| at|:| ?=)? {_RATE.format('rate_pair')})(?!\w)",
    re.I,
)
# After an amount without a currency: a word that goes on with the sentence. Any other word is what the number counts.
_NO_THING = (
    r"(?! ?(?!(?:in|for|to|on|and|or|but|with|within|at|by|all|total|max|incl\w*|excl\w*|plus|over|we|is|as|using|from"
    r"|of budget|budget|this|next|if|including|excluding)\b)[^\W\d_])"
)
# A price of each thing or each time is no budget in all: "$0.20 per million tokens", "3 EUR/GPU-hour".
_AMOUNT = rf"(?:(?:{CURRENCY}) ?{NUMBER}|{NUMBER} ?(?:{CURRENCY}))"
_COUNT_OF = r"(?:(?:an?|one|\d[\d,]{0,12}) ?)?(?:(?:thousand|million|billion|trillion|[kMBT])(?=[ -]?[a-z]))?[ -]?"
_PER_TOKENS = re.compile(rf"(?:{_AMOUNT}(?!\w) ?)?(?:/|\bper\b) ?{_COUNT_OF}(?:tokens?|toks?)\b", re.I)
_PER_ANY = re.compile(
    rf"{_AMOUNT}(?!\w) ?(?:/|\b(?:per|an?|each|every)\b) ?{_COUNT_OF}"
    r"(?:GPU|card|accelerator|server|node|box|rack|hour|hr|h|day|week|month|year|annum|kWh|MWh|TB|sample|image|run)s?\b"
    r"(?:[ /-]?(?:hours?|h|months?|years?)\b)?",
    re.I,
)
_MONEY = (
    re.compile(quantity(rf"(?!\w){_TOP}", before=_SIGN, between=f" ?(?:{CURRENCY})?"), re.I),
    re.compile(rf"(?:of |a )?(?P<half>half a million) (?P<code>{CURRENCY})(?![\w-])", re.I),
    re.compile(quantity(_AFTER, between=rf" ?[km]? ?(?:{CURRENCY})?"), re.I),
    # Without a currency only what is scaled, or called a budget.
    re.compile(rf"{_SPEND}(?P<number>(?<![\w.,]){DIGITS}{SCALE}){_NOT_MONEY}{_NO_THING}", re.I),
    re.compile(
        rf"\bbudget(?: (?:of|is|around|about|max|limit))*:? (?P<number>(?<![\w.,]){DIGITS})(?!\d){_NOT_MONEY}", re.I
    ),
    re.compile(rf"(?P<number>(?<![\w.,]){DIGITS}(?:{SCALE})?)(?: to spend| budget)\b", re.I),
)
_BOUND = (
    r"(?:\b(?:at most|no more than|not more than|up to|under|below|less than|within|max"
    r"(?:imum)?\.?(?: of)?|limited to|only|budget of) )?"
)
# "Rack power 10 kW", "power per rack of 17 kW", "our racks deliver 10 to 17 kW".
_OF_RACK = (
    r"(?:\b(?P<of_rack>racks?[ -](?:power|density|feeds?|supply|budget|limit)"
    r"|(?:power|density|kW|watts) (?:per|of (?:a|each|one|the)|in (?:a|each)|for each) rack"
    r"|(?:(?:each|every|per|a) rack|(?:(?:our|the|all|all our) )?racks?) "
    r"(?:gets?|has|have|delivers?|provides?|supplies|supply|takes?|carr(?:y|ies)|supports?|allows?|offers?"
    r"|(?:is|are) (?:limited|fed|rated)))"
    r"(?: (?:power|density|supply|budget|limits?|limited|is|are|can|be|only|with|to|of|at|about|around))*:? )?"
)
_POWER = re.compile(
    _OF_RACK
    + _BOUND
    + quantity(
        r" ?(?P<unit>[kM]?W|(?:kilo|mega)?watts?)\b(?P<rack> ?(?:/|(?:per|each|a|in each|for"
        r" each) ?) ?rack| (?:air-cooled |standard )?racks?\b)?(?! ?h\b)(?: of power| power)?" + _TOP,
        between=r" ?(?:[kM]?W|(?:kilo|mega)?watts?)\b",
    ),
    re.I,
)
# "Two racks at 17 kW each": what stands before and after the power of a rack.
_RACKS_WITH = re.compile(r"\bracks? ?,? ?(?:(?:at|of|with|for|rated at|limited to|capped at|up to|each) ?)*$", re.I)
_RACKS_OF = re.compile(r"\bracks (?:of|rated at) $", re.I)
_EACH = re.compile(r" (?:each|apiece|per cabinet|a cabinet)\b", re.I)
# "One server per rack" bounds each rack, and not the cluster.
_EACH_THING = (
    r"(?: ?/ ?| (?:per|an?|each|every|in each|in every|in a|for each) )(?:rack|cabinet|row|room|site|aisle|pod)s?\b"
)
_NOT_EACH = f"(?!{_EACH_THING})"
_COUNT_EACH = re.compile(_BOUND + quantity(rf" (?:GPU )?(?:servers?|nodes?|racks?|switches){_EACH_THING}"), re.I)
_RACK_UNITS = re.compile(
    _BOUND + quantity(r" ?(?:U\b(?!-)(?! racks?\b)|HE\b|RU\b|rack[ -]?units?\b)(?: of (?:rack )?space)?" + _TOP), re.I
)
_RACKS = re.compile(
    _BOUND + quantity(r" ?(?:x )?(?:(?:\d{2} ?U|full|standard|empty|free|19\"|19-inch|more) )*racks?\b" + _TOP), re.I
)
_SERVERS = re.compile(_BOUND + quantity(r" (?:GPU )?(?:servers?|nodes?)\b") + _NOT_EACH, re.I)
_WATTS = {"w": 1.0, "k": 1e3, "m": 1e6}
_THING = (
    r"(?:rate|speed|throughput|performance|(?:tok(?:en)?s?|images?|samples?)(?: ?/ ?(?:s(?:ec)?|min|h|d(?:ay)?)\b"
    r"| (?:per|an?|each|every) (?:second|minute|hour|day|week|month)))"
)
_MOST = re.compile(
    rf"\b(?:(?:run |train |trained )?as (?:fast|quick|quickly|high|much(?: {_THING})?|many {_THING}) as "
    r"(?:possible|we can|i can|you can|it gets)"
    r"|(?:the )?(?:most|best|highest|maximum|max\.?|greatest|top) (?:possible )?(?:GPU"
    rf" |training )?{_THING}(?: possible)?"
    # "The most Llama 3 8B tokens per second", "as many ... as possible": a name that is read stands between.
    rf"|(?:(?:as|how) (?:many|much)|(?:the )?(?:most|best|highest|maximum|max\.?|greatest))(?= {READ}+ {_THING})"
    r"|(?:the )?most (?:that )?(?:i|we|you|one) can (?:get|buy|do|have|reach)"
    r"|(?:the )?(?:best|most) (?:use )?(?:of|from|out of)"
    r"|(?:the )?(?:fastest|quickest)(?: possible)?(?: (?:cluster|system|design|training|solution))?"
    rf"|maxim\w+ (?:the )?(?:training )?{_THING}"
    r"|max(?:ing|ed)? out\b"
    r"|how (?:fast|quick|quickly|much|many (?:images|samples|sentences|tokens))\b(?: (?:can|could"
    r"|do|does|would|will))?(?: (?:i|we|you))?"
    rf"|what (?:{_THING} )?(?:does|do|can|could|will|would)\b(?: (?:i|we|you|they))?(?:"
    r" (?:buy|get|give|bring|reach|do))?)(?!\w)",
    re.I,
)
MOST_THING = re.compile(rf"(?<={READ} ){_THING}(?: as (?:possible|we can|you can))?\b", re.I)
_LEAST = {
    "cost": r"(?:as (?:cheap|inexpensive|low[- ]cost)(?:ly)? as possible|(?:the )?cheapest(?: "
    r"(?:possible|way|option|design|solution|cluster|system|configuration))*"
    r"|(?:the )?(?:lowest|minimum|minimal|least|best) (?:possible )?(?:cost|price|capex"
    r"|budget)\b(?! of own)|at the lowest (?:cost|price)\b(?! of own)|lowest[- ]cost\b(?! of own)"
    r"|minimi[sz]e (?:the )?(?:cost|price|capex)\b(?! of own)|most cost[- ]effective|(?:best"
    r"|most) value(?: for money)?)",
    "watts": r"(?:(?:the )?(?:lowest|least|minimum|minimal) (?:possible )?(?:power|energy|electricity"
    r"|watts)(?: (?:consumption|draw|use|usage|option|design|solution))?"
    r"|minimi[sz]e (?:the )?(?:power|energy)(?: (?:consumption|draw|use|usage))?|as (?:little"
    r"|low) power as possible|most (?:power|energy)[- ]efficient"
    r"|as (?:power|energy)[- ]efficient(?:ly)? as possible|greenest)",
    "rack-units": r"(?:(?:the )?(?:smallest|least|minimum|minimal|tiniest) (?:possible )?(?:footprint"
    r"|space|rack space|rack units)|fewest rack units|as (?:compact|small|dense)(?:ly)?"
    r" as possible|most compact|densest)",
    # The name of a GPU stays: it is what is allowed.
    "gpus": rf"(?:(?:the )?(?:fewest|least|minimum number of|smallest number of) (?:possible )?(?:GPUs\b|(?={GPU}))"
    rf"|as few (?:GPUs as possible\b|(?={GPU}+(?: (?:GPUs|cards))? as possible)))",
}
_RANKS = {rank: re.compile(rf"\b{words}(?!\w)", re.I) for rank, words in _LEAST.items()}
_NOUNS = (("racks", "rack"), ("rack_units", "rack unit"), ("servers", "server"))
_RANKED = {
    "cost": "lowest cost first",
    "watts": "least power first",
    "rack-units": "fewest rack units first",
    "gpus": "fewest GPUs first",
}


@dataclass(frozen=True)
class ReadLimit:
    """A limit in a sentence: its words, its key in ``limits``, its value, and the currency of a budget."""

    match: re.Match[str]
    key: str
    value: float | int
    currency: str = ""
    is_range: bool = False

    @property
    def meaning(self) -> str:
        """The limit in words."""
        names: dict[str, str] = {
            "budget": f"budget {self.value:,.12g} {self.currency}",
            "power_w": f"at most {self.value / 1e3:g} kW",
            "rack_power_w": f"at most {self.value / 1e3:g} kW per rack",
            **{
                key: f"at most {by_count(round(self.value), f'1 {noun}', f'{self.value} {noun}s')}"
                for key, noun in _NOUNS
            },
        }
        return names[self.key] + (" (upper end of the range)" if self.is_range else "")


def asks_for_most(text: UnreadText) -> re.Match[str] | None:
    """Words that ask for the highest rate that limits allow: 'as fast as possible', 'what does ... buy'."""
    return text.find(_MOST)


def _exchange_rate_in(text: UnreadText) -> tuple[re.Match[str], str, float] | None:
    """US dollars for one unit of another currency: the words, the currency, the rate."""
    match = text.find(_EXCHANGE)
    if match is None:
        return None
    unit = match["unit"] or match["unit_after"] or match["pair"]
    return (
        match,
        currency_of(unit),
        float((match["rate"] or match["rate_before"] or match["rate_pair"]).replace(",", ".")),
    )


def _ranking_in(text: UnreadText) -> tuple[re.Match[str], str] | None:
    """Words that ask for the least of something, and how designs are ranked then."""
    return next(((match, rank) for rank, pattern in _RANKS.items() if (match := text.find(pattern))), None)


def _unit_price_in(text: UnreadText, *, of_tokens: bool) -> re.Match[str] | None:
    """A price of tokens, or of any one thing or time: no request has a limit for it."""
    return text.find(_PER_TOKENS if of_tokens else _PER_ANY)


def _limit_in(text: UnreadText, *, with_servers: bool) -> ReadLimit | None:
    """First limit of a sentence that is not read yet; ``with_servers``: a number of servers is one, too."""
    return next(_limits(text, with_servers), None)


def _limits(text: UnreadText, with_servers: bool) -> Iterator[ReadLimit]:
    for pattern in _MONEY:
        if match := text.find(pattern):
            groups: dict[str, Any] = match.groupdict()
            sign = (groups.get("sign") or groups.get("code") or "").strip()
            scale, sign = _scale_of_code(sign)
            low, high = (5e5, 5e5) if groups.get("half") else ends(match)
            yield ReadLimit(match, "budget", round(high * scale, 2), currency_of(sign), low < high)
    if match := text.find(_POWER):
        scale = _WATTS[match["unit"][0].lower()]
        low, high = ends(match)
        before = text.left[: match.start()]
        is_of_rack = (
            match["rack"]
            or (match["of_rack"] and not match[0].lower().endswith("total"))
            or _RACKS_OF.search(before)
            or (_RACKS_WITH.search(before) and _EACH.match(text.left, match.end()))
        )
        yield ReadLimit(match, "rack_power_w" if is_of_rack else "power_w", high * scale, is_range=low < high)
    counted = [(_RACK_UNITS, "rack_units"), (_RACKS, "racks"), *([(_SERVERS, "servers")] if with_servers else [])]
    for pattern, key in counted:
        match = text.find(pattern)
        if match and key == "servers" and match["number"].lower() in ("a", "an"):
            continue  # "the failure of a server" counts none
        if match and (high := ends(match)[1]) >= 1:
            yield ReadLimit(match, key, round(high), is_range=ends(match)[0] < high)


def _scale_of_code(sign: str) -> tuple[float, str]:
    """Scale in front of a currency, and the currency: 500 kEUR, 750k€ (the k may belong to the number)."""
    if re.fullmatch(rf"(?:{CURRENCY})", sign, re.I):
        return 1.0, sign
    return {"k": 1e3, "m": 1e6}.get(sign[:1].lower(), 1.0), sign[1:].strip()


def currency_of(written: str) -> str:
    """Code of a currency by its code, sign or name; USD where it is none of these."""
    return next((code for code, names in _CURRENCIES.items() if re.fullmatch(names, written, re.I)), "USD")


def read_limits(notes: Notes, *, with_servers: bool) -> None:
    """Money, watts, racks and rack units; a number of servers where it is no target itself."""
    while match := notes.text.find(_COUNT_EACH):
        notes.leave(match)
    while limit := _limit_in(notes.text, with_servers=with_servers):
        limits = notes.table("limits")
        words = limit.match[0].strip()
        if limit.key in limits:
            notes.refuse(words, f"{words!r} is a second {limit.key}; write one")
            notes.text.mark(limit.match.start(), limit.match.end())
            continue
        limits[limit.key] = limit.value
        notes.state_currency(limit.currency, words)
        notes.text.record(limit.match, limit.meaning)


def leave_unit_prices(notes: Notes, *, of_tokens: bool) -> None:
    """Leave prices of one thing unread: of tokens, or of anything else."""
    while match := _unit_price_in(notes.text, of_tokens=of_tokens):
        notes.leave(match)


def read_ranking(notes: Notes) -> None:
    """What designs are ranked by."""
    while found := _ranking_in(notes.text):
        match, rank = found
        notes.request.setdefault("rank_by", rank)
        notes.text.record(match, _RANKED[rank])


def read_exchange_rate(notes: Notes) -> None:
    """What a unit of another currency is worth in US dollars."""
    if found := _exchange_rate_in(notes.text):
        match, currency, rate = found
        notes.state_currency(currency, match[0].strip())
        notes.request["exchange_rate_usd"] = rate
        notes.text.record(match, f"1 {currency} = {rate:g} USD")


def ask_exchange_rate(notes: Notes) -> None:
    """Ask what a unit of a budget's currency is worth, where the catalogue has no prices in it."""
    currency, budget = notes.request.get("currency"), notes.request.get("limits", {}).get("budget")
    if budget is None or currency is None or "exchange_rate_usd" in notes.request:
        return
    if not any(price.currency == currency for price in notes.catalog.prices):
        notes.ask(Question("currency", f"{budget:,.12g} {currency}", currency))
