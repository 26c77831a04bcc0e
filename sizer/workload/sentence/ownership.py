"""What a sentence says of the cost of ownership: years, price of electricity, PUE, and that it ranks the designs."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import by_count
from sizer.workload.sentence.limits import CURRENCY, currency_of
from sizer.workload.sentence.numbers import WORDS

_NUMBER = r"\d{1,9}(?:[.,]\d{1,9})?"
_N_YEARS = rf"(\d{{1,3}}|{'|'.join(WORDS)})[\s-]*years?\b"
_PER_KWH = r" ?(?:/|per|a|an) ?(?:kWh|kilowatt[\s-]?hour)"
_TCO = r"(?:total )?(?:cost of ownership|TCO)"
# "Over 20 years of images" is data, not a period of ownership.
_YEARS = re.compile(rf"\b(?:(?:over|for) {_N_YEARS}(?! of\b(?! ownership))|{_N_YEARS} {_TCO})", re.I)
_PRICE = re.compile(
    rf"(?:\b(?:at|for|with) )?(?:({CURRENCY}) ?({_NUMBER})|({_NUMBER}) ?({CURRENCY})){_PER_KWH}\b", re.I
)
_PER_TOKENS = re.compile(
    rf"(?<!\w)(?:(?:for|at|with|under|below|budget(?: of)?:?) )?(?:at most |no more than |up to |max(?:imum)?\.? )?"
    rf"(?:({CURRENCY}) ?({_NUMBER})|({_NUMBER}) ?({CURRENCY})) ?(?:/|per|a) ?(?:1 ?)?(?:million|M|mn) ?"
    r"(?:tokens?|tok)\b",
    re.I,
)
# An offer of rented GPUs: "rent or buy at 2.50 USD per GPU-hour over 3 years".
_PER_GPU_HOUR = re.compile(
    rf"(?:\b(?:at|for|costs?|is|of|with) )?(?:({CURRENCY}) ?({_NUMBER})|({_NUMBER}) ?({CURRENCY}))"
    r" ?(?:/|per|an?) ?(?:(?:GPU|card|accelerator)s?[ -]?(?:/|per|an?)? ?(?:hours?|hrs?|h)"
    r"|(?:hours?|hrs?|h) (?:and|per|for (?:a|each)) (?:GPU|card|accelerator))\b",
    re.I,
)
_RENT = r"(?:rent(?:ing|al|ed)?|hir(?:e|ing)|lease|leasing|cloud)"
_BUY = r"(?:buy(?:ing)?|own(?:ing)?|purchas(?:e|ing))"
_OR = r" (?:or|vs\.?|versus) (?:to )?"
_RENTS = re.compile(
    rf"\b(?:(?:should|shall) (?:we|i) )?(?:{_RENT}{_OR}{_BUY}|{_BUY}{_OR}{_RENT}"
    rf"|(?:the |a )?{_RENT}(?: GPUs?| offer)?)\b",
    re.I,
)
_CENTS = re.compile(rf"(?:\b(?:at|for|with) )?({_NUMBER}) ?(?:ct|cents?){_PER_KWH}\b", re.I)
_PUE = re.compile(rf"\b(?:PUE ?(?:of|=|is)? ?({_NUMBER})|({_NUMBER}) PUE)\b", re.I)
_RANKS = re.compile(
    rf"\b(?:(?:lowest|least|minimum|minimal|smallest|best|cheapest) {_TCO}|rank(?:ed)? by {_TCO}|"
    r"cheapest to (?:own|run))\b",
    re.I,
)
_ELECTRICITY = ("ownership", "electricity_per_kwh")
_ASKED = re.compile(rf"\b{_TCO}\b", re.I)


@dataclass(frozen=True)
class OwnershipPhrase:
    """One part of a sentence that was read."""

    match: re.Match[str]
    meaning: str
    path: tuple[str, ...]  # of the request
    value: Any
    currency: str = ""  # of an amount


def token_cost_phrases(find: Callable[[re.Pattern[str]], re.Match[str] | None]) -> Iterator[OwnershipPhrase]:
    """What a million tokens may cost; ``find`` as for :func:`ownership_phrases`."""
    if match := find(_PER_TOKENS):
        sign, price = (match[1], match[2]) if match[1] else (match[4], match[3])
        currency, price = currency_of(sign), price.replace(",", ".")
        path = ("ownership", "cost_per_million_tokens")
        yield OwnershipPhrase(match, f"at most {price} {currency} per million tokens", path, float(price), currency)


def ownership_phrases(find: Callable[[re.Pattern[str]], re.Match[str] | None]) -> Iterator[OwnershipPhrase]:
    """Phrases on the cost of ownership, each found in what is still unread.

    Parameters
    ----------
    find : callable
        First match of a pattern in the unread part of the sentence.
    """
    rents = False
    # A price alone says nothing of renting.
    if find(_RENTS) and (match := find(_PER_GPU_HOUR)):
        sign, price = (match[1], match[2]) if match[1] else (match[4], match[3])
        currency, price = currency_of(sign), price.replace(",", ".")
        meaning = f"rented GPUs at {price} {currency} per GPU-hour"
        yield OwnershipPhrase(match, meaning, ("rental", "per_gpu_hour"), float(price), currency)
        rents = True
        while match := find(_RENTS):
            yield OwnershipPhrase(match, "compared with rented GPUs", ("rental",), {})
    if match := find(_PRICE):
        sign, price = (match[1], match[2]) if match[1] else (match[4], match[3])
        currency = currency_of(sign)
        price = price.replace(",", ".")
        yield OwnershipPhrase(match, f"electricity {price} {currency} per kWh", _ELECTRICITY, float(price), currency)
    elif match := find(_CENTS):
        price = f"{float(match[1].replace(',', '.')) / 100:.6g}"
        yield OwnershipPhrase(match, f"electricity {price} per kWh", _ELECTRICITY, float(price))
    if match := find(_PUE):
        pue = (match[1] or match[2]).replace(",", ".")
        yield OwnershipPhrase(match, f"PUE {pue}", ("site", "pue_ratio"), float(pue))
    if match := find(_RANKS):
        yield OwnershipPhrase(match, "ranked by cost of ownership", ("rank_by",), "ownership")
    if match := find(_YEARS):
        word = (match[1] or match[2]).lower()
        years = WORDS.index(word) + 1 if word in WORDS else int(word)
        what, table = ("rented and bought", "rental") if rents else ("cost of ownership", "ownership")
        yield OwnershipPhrase(match, f"{what} over {years} {by_count(years, 'year', 'years')}", (table, "years"), years)
    if match := find(_ASKED):
        yield OwnershipPhrase(match, "cost of ownership", ("ownership",), {})
