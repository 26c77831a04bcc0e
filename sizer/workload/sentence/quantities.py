"""Numbers, ranges and quantities with units as people write them: 40k images/s, 1,5 Mio. Bilder, 2 to 3 days, $1.2M."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sizer.workload.sentence.grammar import GRAMMAR, rule

# --- numbers

ONES = tuple(GRAMMAR["numbers"]["ones"].split())
_TENS = {word: 10.0 * n for n, word in enumerate(GRAMMAR["numbers"]["tens"].split(), 2)}
_POWERS = {"hundred": 100.0, "hundert": 100.0, "thousand": 1e3, "tausend": 1e3, "million": 1e6}
_WORDS: dict[str, float] = {word: float(n) for n, word in enumerate(ONES, 1)} | GRAMMAR["numbers"]["words"]
_WORDS |= {f"{word} cents": 100 * number for word, number in _WORDS.items() if number in range(2, 10)}
_GERMAN_ONES = {word: float(n) for n, word in enumerate(GRAMMAR["numbers"]["german_ones"].split(), 1)}
_GERMAN_TENS = {word: 10.0 * n for n, word in enumerate(GRAMMAR["numbers"]["german_tens"].split(), 2)}
_SUMMANDS = _TENS | {word: float(n) for n, word in enumerate(ONES, 1)} | _GERMAN_ONES | _GERMAN_TENS
# What follows the digits: a word, or a letter that is no unit. "To" is a terabyte in French, and "M" a million.
_SCALES = {word: float(scale) for scale, words in GRAMMAR["numbers"]["scales"].items() for word in words.split()}

# --- units: kind of quantity, unit as a request writes it, how many of it, and the words

Unit = tuple[str, str, float]
_NUMBER: Unit = ("n", "", 1.0)


def _units(table: str) -> dict[str, Unit]:
    lines = (line.split() for line in GRAMMAR[table].split("\n"))
    every = ((name, (of, unit, float(factor))) for of, unit, factor, *names in lines for name in names)
    return {name.replace("-", " "): (of, name if unit == "=" else unit, factor) for name, (of, unit, factor) in every}


def _any(names: Iterable[str]) -> str:
    words = sorted({re.escape(one).replace(r"\ ", "[ -]").replace(r"\-", "[ -]") for one in names}, key=len)
    return "|".join(words[::-1])


# In some units their case decides: a Gb has bits, and "10 to 20" no terabytes.
UNITS, _CASED = {name.lower(): unit for name, unit in _units("units").items()}, _units("cased_units")
# What something is counted for: time, with its seconds, and things.
_PER_TIME = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "weeks": 604800.0, "y": 31_557_600.0}
_THINGS = {name: "person" for name, (of, *_) in UNITS.items() if of == "people"}
_THINGS |= {word.lower(): thing for thing, words in GRAMMAR["per"].items() for word in words.split()}
_PERIODS = {name: _PER_TIME[unit] * factor for name, (of, unit, factor) in UNITS.items() if of in ("time", "years")}
_PERIODS |= GRAMMAR["periods"]
# What may be counted whatever stands between: 5B synthetic tokens, 3M customer emails.
_OF_ANY = ("samples", "documents", "tokens", "requests", "people", "pages")
_COUNTED = {name: unit for name, unit in UNITS.items() if unit[0] in _OF_ANY and len(name) > 2}
_WORDS_OF = GRAMMAR["patterns"]
_WORDS_OF |= {"TENS": _any(_TENS), "NINE": _any(ONES[:9]), "NINETEEN": _any(ONES[:19]), "POWERS": _any(_POWERS)}
_WORDS_OF |= {"GERMAN_ONE": _any(_GERMAN_ONES), "GERMAN_TEN": _any(_GERMAN_TENS), "UNIT_WORD": _any(UNITS)}
_WORDS_OF |= {"PER_THING": _any(_THINGS), "PER_WORD": _any([*_PERIODS, *_THINGS]), "COUNTED_WORDS": _any(_COUNTED)}
_WORDS_OF |= {
    "CASED_UNITS": "|".join(_CASED),
    "COUNTED_NOUNS": _any(name for name in _COUNTED if name.endswith(("s", "en"))),
    "LONG_SCALE": _any(one for one in _SCALES if len(one) > 1),
    "MONEY_WORD": _any(one for one, of in UNITS.items() if of[0] == "money" and of[1] != "cents" and one.isalpha()),
    "PHRASES": _any(word for word in _WORDS if " " in word),
    "PEOPLE_NOUN": _any(name for name, unit in UNITS.items() if unit[0] == "people"),
    "SINGLE": _any(word for word in _WORDS if " " not in word and word not in ONES),
    "TEXT_NOUN": _any(name for name, unit in UNITS.items() if unit[0] == "documents"),
    "TIME_WORD": _any(name for name, unit in UNITS.items() if unit[0] in ("time", "years")),
}
_WORD_OF_NUMBER = re.compile(_any((*_SUMMANDS, *_POWERS)))
_AMBIGUOUS = re.compile(r"([1-9]\d{0,2})\.(\d{3})")
# More than a quality of what is counted: also between the size of a model and what it reads, "a 13B dense model".
_MORE = frozenset(f"{GRAMMAR['connectors']} {GRAMMAR['words_of_models']}".split())
# What comes in whole numbers, and what is counted in billions and trillions.
_WHOLE = ("people", "documents", "tokens", "requests", "gpus", "servers", "pages")
_LARGE = ("n", "tokens", "parameters", "samples", "documents", "money", "pages", "requests")


@dataclass(frozen=True)
class Amount:
    """A number or a range with its unit."""

    kind: str  # what is counted and for what: "bytes", "samples/time", "gpus", "money/gpu/time"; "n": a bare number
    start: int
    end: int
    low: float  # ends of the range, in ``unit``; of a rate a second
    high: float
    unit: str = ""  # as a request writes it: "TB", "h", "images", "EUR"; "" of a bare number
    noun: str = ""  # the unit as written; of a number with two readings why it has them, where not for its point
    is_kilo: bool = False  # whether the number has a k, as lengths of sequences have
    is_scaled: bool = False
    per_s: float = 1.0
    readings: tuple[str, ...] = ()  # of "40.000 images/s" the two texts that it may mean

    @property
    def length(self) -> int:
        """As a number of tokens in a sequence: 8k are 8,192, the next power of two, and 6k are 6,000."""
        number = round(self.high / 1000)
        is_power = self.is_kilo and 1000 * number == self.high and number & (number - 1) == 0
        return 1024 * number if is_power else round(self.high)


def quantities_in(text: str, gaps: Iterable[tuple[int, int]]) -> Iterator[Amount]:
    """Quantities between some places of a text, from left to right."""
    is_german = rule("<IN_GERMAN>").search(text) is not None
    for place, end in gaps:
        while match := rule("<QUANTITY>").search(text, place, end):
            quantity = _quantity(match, text, end, is_german)
            place = quantity.end if quantity is not None else match.end("number")
            if quantity is not None:
                yield quantity


def _quantity(match: re.Match[str], text: str, limit: int, is_german: bool) -> Amount | None:
    number_at, end, written = match.start("number"), match.end(), match["unit"]
    sign = match["sign"] or match["low_sign"]
    start = next(match.start(name) for name in ("low", "low_sign", "sign", "number") if match[name])
    if match["low"]:
        start = match.start()
    if text[number_at:end] in ("2D", "3D"):
        return None  # no days
    units = [
        (_CASED.get(one) or UNITS.get(_plain(one)) or _NUMBER)[0] for one in match.group("low_unit", "unit") if one
    ]
    is_size = _scale(match["low_scale"]) == "b" and not match["scale"]  # "serve a 70B to 900 users"
    if is_size or (match["low_unit"] and units != units[:1] * 2):
        first = match.start("low_sign") if match["low_sign"] else match.start("low")
        again = rule("<QUANTITY>").match(text, first, number_at - 1)  # "2 hours to 3 TB" is no range
        return _quantity(again, text, number_at, is_german) if again and not again["low"] else None
    name, unit = _plain(written or ""), _NUMBER
    if written:
        of_money = ("money", currency_of(name[1:].strip()), _SCALES.get(name[0], 1.0))
        unit = _CASED.get(written) or UNITS.get(name) or of_money
    if not sign and (noun := _noun(match, unit[0], text, limit)):
        written, end = noun["unit"], noun.end()
        name = _plain(written)
        unit = UNITS[name]
    if not (sign or written) and (other := rule("<OTHER_RATE>").match(text, end, limit)):
        words = other[0].split()
        if _MORE.isdisjoint(words) and UNITS.keys().isdisjoint(words):
            unit, end = ("other", words[-1], 1.0), other.end()
    if sign and unit[0] in ("n", "money"):
        unit = ("money", currency_of(sign), unit[2])
    scale = _scale(match["scale"])
    if len(scale) == 1 and scale in "gbt" and unit[0] not in _LARGE:
        unit, name, end = _NUMBER, "", match.end("scale")  # "671B training"
    kind, unit_name, factor = unit
    per, end = _per(kind, text, end, limit)
    # In German a point groups thousands; and there is no half a person, wherever a number has no scale.
    # And amounts of money have no three decimals.
    is_grouped = is_german or (kind in (*_WHOLE, "money") and not (scale or per))
    if kind == "n" and scale in ("b", "bn", "billion"):
        kind = "parameters" if scale == "b" else "n"
    if kind == "n" and rule("<YEAR_SAID>").search(text[max(0, start - 20) : match.end("number")]):
        kind = "year"
    ambiguous = _AMBIGUOUS.fullmatch(match["number"]) or _AMBIGUOUS.fullmatch(match["low"] or "")
    if ambiguous and not is_grouped:
        texts = (f"{float(ambiguous[1] + mark + ambiguous[2]):,.12g}" for mark in ("", "."))
        readings = tuple(f"{text[start:number_at]}{one}{text[match.end('number') : end]}" for one in texts)
        return Amount("ambiguous", start, end, 0, 0, readings=readings)
    low = high = value_of(match["number"], is_grouped) * _SCALES.get(scale, 1.0)
    if match["low"]:
        low = value_of(match["low"], is_grouped) * _SCALES.get(_scale(match["low_scale"]) or scale, 1.0)
    per_s = 1.0
    for what, seconds in per:
        kind, per_s = f"{kind}/{what}", per_s * seconds
    if kind.startswith(("samples/time", "frames/time", "requests/time")) and name in ("fps", "ips", "qps", "rps"):
        per_s = 1.0
    low, high = sorted((low * factor / per_s, high * factor / per_s))
    return Amount(kind, start, end, low, high, unit_name, name, scale == "k", bool(scale), per_s)


def _plain(written: str) -> str:
    return re.sub(r"[ -]+", " ", written.lower())


def _scale(written: str | None) -> str:
    return re.sub(r"\.? d[e'’]$", "", (written or "").strip(" -").lower()).rstrip(".")


def _noun(match: re.Match[str], kind: str, text: str, limit: int) -> re.Match[str] | None:
    """What is counted behind words that qualify it."""
    if kind in ("people", "samples", "documents", "requests") and not match["unit"].endswith("s"):
        return rule("<SECOND_NOUN>").match(text, match.end(), limit)
    if kind != "n" or not (found := rule("<LOOSE_NOUN>").match(text, match.end(), limit)):
        return None
    counted = UNITS[_plain(found["unit"])][0]
    words = found["words"].lower().split()
    return None if any(one in _MORE or UNITS.get(one, (counted,))[0] != counted for one in words) else found


def _per(kind: str, text: str, end: int, limit: int) -> tuple[list[tuple[str, float]], int]:
    """What a quantity is counted for, with the seconds of a time, and where these words end."""
    found: list[tuple[str, float]] = []
    while len(found) < 2 and (match := rule("<COUNTED_FOR>").match(text, end, limit)):
        word = _plain(match["what"] or match["thing"])
        is_time = word in _PERIODS and not (word == "an" and match[0].strip()[:3] != "par")
        is_when = kind == "time" or (kind == "bytes" and match[0].startswith((" e", " j")))
        is_when = is_when or (kind == "money" and match[0].startswith(" for a "))  # 30,000 EUR for a server
        if (not is_time and word not in _THINGS) or (is_when and (is_time or kind == "money")):
            break  # "images of 113 kB every night": how often the images come
        if match["count"] and word not in ("token", "tokens", "tok"):
            break
        found.append(("time", _PERIODS[word]) if is_time else (_THINGS[word], 1.0))
        end = match.end()
        if word in _THINGS and _THINGS[word] == "gpu" and (hour := rule("<OF_HOURS>").match(text, end, limit)):
            found.append(("time", 3600.0))
            end = hour.end()
    return found, end


def currency_of(written: str) -> str:
    """Code of a currency by its code, sign or name."""
    return UNITS.get(written.lower().replace("us $", "us$"), ("money", "USD", 1.0))[1]


def value_of(written: str, is_grouped: bool = False) -> float:
    """Value of a number in digits or words; whether a point before three digits groups thousands."""
    text = " ".join(written.lower().split())
    if text in _WORDS:
        return _WORDS[text]
    if rule("<ARTICLE>").fullmatch(text):
        return 1.0
    if not text[0].isdigit():
        return _worded(text)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d\d", text):  # 90.000,00
        return float(text.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", text) or (is_grouped and _AMBIGUOUS.fullmatch(text)):
        return float(text.replace(".", ""))
    if re.match(r"[1-9]\d{0,2}(?:[ ,_']\d{3})+(?!\d)", text):
        text = text.replace(",", "")
    return float(re.sub(r"[ _']", "", text.replace(",", ".")))


def _worded(text: str) -> float:
    total, below = 0.0, 0.0
    for word in _WORD_OF_NUMBER.findall(text):
        power = _POWERS.get(word, 0.0)
        if power > 100:
            total, below = total + max(below, 1.0) * power, 0.0
        else:
            below = max(below, 1.0) * power if power else below + _SUMMANDS[word]
    return total + below


def written_number(value: float) -> str:
    """A number as a request has it: 40000, 2.5."""
    text = f"{value:.12g}" if value < 1e15 else f"{value:.0f}"
    return f"{text}0" if re.fullmatch(r"\d+\.\d{3}", text) else text  # three decimals have two readings
