"""What a sentence says about limits: money, watts, racks, rack units, servers; and whether it asks for the most."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import by_count

NUMBER = r"\d[\d_]*(?:[.,]\d+)*"
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COUNTS = {**{word: str(n) for n, word in enumerate(_WORDS, 1)}, "a": "1", "an": "1"}
_COUNT = rf"(?P<number>{NUMBER}|{'|'.join(_WORDS)}|(?:a\s+)?single|an?)"
_MANY = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6}
_SCALE = rf"(?P<scale>{'|'.join(sorted(_MANY, key=len, reverse=True))})"
_CURRENCIES = {
    "USD": r"USD|US\s?\$|\$|dollars?",
    "EUR": r"EUR|€|euros?",
    "GBP": r"GBP|£|pounds?",
    "CHF": r"CHF|francs?",
}
CURRENCY = "|".join(_CURRENCIES.values())
_SPEND = r"(?:for|within|under|below|spend(?:ing)?|up\s+to|at\s+most|budget(?:\s+(?:of|is))?)"
# Things that follow a number of thousands or millions and make it no money.
_NOT_MONEY = (
    r"(?!\s*(?:\w+\s*(?:/|per\b)|images?|pictures?|photos?|samples?|files?|sentences?|records?|[kKMGTP]?i?B\b))"
)
_MONEY = (
    re.compile(rf"(?P<currency>{CURRENCY})\s*(?P<number>{NUMBER})(?:\s*{_SCALE}\b)?", re.I),
    re.compile(rf"\b(?P<number>{NUMBER})\s*(?:{_SCALE}\s*)?(?P<currency>{CURRENCY})(?![\w-])", re.I),
    re.compile(rf"\b{_SPEND}\s+(?P<number>{NUMBER})\s*{_SCALE}\b{_NOT_MONEY}", re.I),
)
_POWER = re.compile(
    rf"\b(?P<number>{NUMBER})\s*(?P<unit>[kM]?W|(?:kilo|mega)?watts?)\b(?P<rack>\s*(?:/|per|each|a)\s*rack)?", re.I
)
_RACK_UNITS = re.compile(rf"\b(?P<number>{NUMBER})\s*(?:U|HE|rack[\s-]*units?)\b", re.I)
_RACKS = re.compile(rf"\b{_COUNT}\s+(?:\d+\s?U\s+)?racks?\b", re.I)
_SERVERS = re.compile(rf"\b{_COUNT}\s+(?:GPU\s+)?servers?\b", re.I)
_WATTS = {"w": 1.0, "watt": 1.0, "kw": 1e3, "kilowatt": 1e3, "mw": 1e6, "megawatt": 1e6}
_THING = r"(?:rate|speed|throughput|performance)"
_MOST = re.compile(
    r"\b(?:as\s+(?:fast|quick|quickly|much|high)\s+as\s+possible"
    rf"|(?:the\s+)?(?:most|best|highest|maximum|max\.?|greatest)\s+(?:possible\s+)?(?:GPU\s+|training\s+)?{_THING}"
    r"|(?:the\s+)?most\s+(?:that\s+)?(?:i|we|you|one)\s+can\s+(?:get|buy|do|have|reach)"
    r"|(?:the\s+)?(?:best|most)\s+(?:use\s+)?(?:of|from|out\s+of)"
    r"|(?:the\s+)?fastest(?:\s+possible)?"
    r"|maxim\w+\s+(?:the\s+)?(?:training\s+)?(?:rate|speed|throughput|performance)"
    r"|how\s+(?:fast|much|many\s+(?:images|samples|sentences))\b(?:\s+(?:can|could|do|does|would|will))?(?:\s+(?:i|we|you))?"
    rf"|what\s+(?:{_THING}\s+)?(?:does|do|can|could|will|would)(?:\s+(?:i|we|you))?(?:\s+(?:buy|get|give|bring|reach))?)\b",
    re.I,
)
_NOUNS = (("racks", "rack"), ("rack_units", "rack unit"), ("servers", "server"))
WHAT_LIMITS = "a budget (500,000 USD), power (200 kW), racks (two racks), rack units (42 U) or servers (8 servers)"


@dataclass(frozen=True)
class ReadLimit:
    """A limit in a sentence: its words, its key in ``limits``, its value, and the currency of a budget."""

    match: re.Match[str]
    key: str
    value: float | int
    currency: str = ""

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
        return names[self.key]


def asks_for_most(sentence: str) -> re.Match[str] | None:
    """Words that ask for the highest rate that limits allow: 'as fast as possible', 'what does ... buy'."""
    return _MOST.search(sentence)


def limit_in(sentence: str, *, with_servers: bool) -> ReadLimit | None:
    """First limit of a sentence that is not read yet; ``with_servers``: a number of servers is one, too."""
    return next(_limits(sentence, with_servers), None)


def _limits(sentence: str, with_servers: bool) -> Iterator[ReadLimit]:
    for pattern in _MONEY:
        if match := pattern.search(sentence):
            found: dict[str, Any] = match.groupdict()
            scale = _MANY[found["scale"].lower()] if found.get("scale") else 1.0
            yield ReadLimit(
                match,
                "budget",
                _number(found["number"], is_money=True) * scale,
                currency_of(found.get("currency") or ""),
            )
    if match := _POWER.search(sentence):
        watts = _number(match["number"]) * _WATTS[match["unit"].lower().removesuffix("s")]
        yield ReadLimit(match, "rack_power_w" if match["rack"] else "power_w", watts)
    counted = [(_RACK_UNITS, "rack_units"), (_RACKS, "racks"), *([(_SERVERS, "servers")] if with_servers else [])]
    for pattern, key in counted:
        if match := pattern.search(sentence):
            yield ReadLimit(match, key, round(_number(match["number"])))


def currency_of(written: str) -> str:
    """Code of a currency by its code, sign or name; USD where it is none of these."""
    return next((code for code, names in _CURRENCIES.items() if re.fullmatch(names, written, re.I)), "USD")


def _number(written: str, *, is_money: bool = False) -> float:
    """A number as people write it: 500,000 and 0.5 and two; of money also 500.000, which has no three decimals."""
    text = written.lower().replace("_", "")
    if text.endswith("single"):
        return 1.0
    if text in COUNTS:
        return float(COUNTS[text])
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        return float(text.replace(",", ""))
    if is_money and re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text):
        return float(text.replace(".", ""))
    return float(text.replace(",", "."))
