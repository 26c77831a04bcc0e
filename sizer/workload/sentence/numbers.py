"""Numbers as people write them: 40,000 and 40 000 and 40k and 1.5 million and twelve; 40.000 has two readings."""

import re

WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_COUNTS = {word: float(n) for n, word in enumerate(WORDS, 1)} | {
    "a": 1.0,
    "an": 1.0,
    "single": 1.0,
    "a single": 1.0,
    "dozen": 12.0,
    "a dozen": 12.0,
    "a couple of": 2.0,
    "hundred": 100.0,
    "half a million": 5e5,
    "half an": 0.5,
    "half a": 0.5,
    "one and a half": 1.5,
    "a quarter of an": 0.25,
    "a quarter of a": 0.25,
}
_SCALES = (
    dict.fromkeys(("k", "thousand"), 1e3)
    | dict.fromkeys(("m", "mio", "mn", "mln", "million", "millions"), 1e6)
    | dict.fromkeys(("bn", "billion"), 1e9)
)
# Digits in groups of three, or plain with decimals. The lengths are bounded, so that matching stays linear.
DIGITS = (
    r"(?:\d{1,3}(?:[ ,_']\d{3}){1,4}(?!\d)(?:\.\d{1,6})?|\d{1,3}(?:\.\d{3}){2,4}(?!\d)|\d{1,15}(?:[.,]\d{1,9})?)"
    r"(?:e\+?\d{1,2})?"
)
SCALE = r"(?: ?(?:thousand|millions?|billion|mio|mn|mln|bn)\b\.?|[km](?![\w/]))"
# A number in digits with its scale: 40k, 1.5 million.
NUMBER = rf"(?<![\w.,]){DIGITS}{SCALE}?"
# A number that may also be a word: two, a dozen, half a.
_TENS = {
    word: 10.0 * n
    for n, word in enumerate(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)
}
_POWERS = {"hundred": 100.0, "thousand": 1e3, "million": 1e6}
_UNITS = "|".join(WORDS[:9])
# "Sixty-four" is one number, and no range from sixty to four.
_BELOW_100 = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{_UNITS})\b|(?![ -](?:{_UNITS})\b))"
    rf"|{'|'.join(sorted(WORDS[:19], key=len, reverse=True))})"
)
# A number in words: sixty-four, five hundred and twelve, two thousand forty-eight.
WORDED = (
    rf"(?:{_BELOW_100}|an?(?= (?:{'|'.join(_POWERS)})\b))"
    rf"(?: (?:hundred(?:(?: and)? {_BELOW_100}\b)?|(?:thousand|million)(?: {_BELOW_100}\b)?)){{0,4}}"
)
_PHRASES, _SINGLE = (
    "|".join(word for word in _COUNTS if word not in WORDS and (" " in word) is several) for several in (True, False)
)
COUNT = rf"(?:{NUMBER}|\b(?:{_PHRASES}|{WORDED}|{_SINGLE})\b)"
_AMBIGUOUS = re.compile(r"([1-9]\d{0,2})\.(\d{3})(?!\d)")


class AmbiguousNumberError(ValueError):
    """A point before three digits; ``readings`` are the number without groups and with decimals."""

    def __init__(self, written: str, readings: tuple[str, str]) -> None:
        super().__init__(written)
        self.written = written
        self.readings = readings


def value_of(written: str) -> float:
    """Value of what ``NUMBER`` or ``COUNT`` matched.

    Raises
    ------
    AmbiguousNumberError
        If a point stands before exactly three digits: 40.000 may be forty thousand or forty.
    """
    text = " ".join(written.lower().split()).rstrip(".")
    if text in _COUNTS:
        return _COUNTS[text]
    if (worded := _worded(text)) is not None:
        return worded
    match = re.fullmatch(rf"({DIGITS}) ?([a-z]*)", text)
    if match is None:
        raise ValueError(f"{written!r} is not a number")
    digits, scale = match[1], _SCALES.get(match[2], 1.0)
    if ambiguous := _AMBIGUOUS.fullmatch(digits):
        whole, decimals = ambiguous.groups()
        raise AmbiguousNumberError(
            digits, (f"{whole}{decimals}", f"{whole}.{decimals.rstrip('0')}" if int(decimals) else whole)
        )
    return number_of_digits(digits) * scale


def _worded(text: str) -> float | None:
    """Value of a number in words; None of one in digits."""
    total, below = 0.0, 0.0
    for word in re.split(r"[ -]", text):
        if word in ("thousand", "million"):
            total, below = total + below * _POWERS[word], 0.0
        elif word == "hundred":
            below *= _POWERS[word]
        elif word in _TENS or word in _COUNTS:
            below += _TENS.get(word) or _COUNTS[word]
        elif word != "and":
            return None
    return total + below


def number_of_digits(digits: str) -> float:
    """Number in digits, grouped or with a decimal comma."""
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", digits):
        return float(digits.replace(".", ""))
    if re.match(r"[1-9]\d{0,2}(?:[ ,_']\d{3})+(?![\d])", digits):
        return float(re.sub(r"[ ,_']", "", digits))
    return float(digits.replace(",", ".").replace(" ", "").replace("_", "").replace("'", ""))


def quantity(unit: str, before: str = "", between: str = "") -> str:
    """Pattern of a number or a range with its unit: groups ``low``, ``number`` and ``unit``.

    Parameters
    ----------
    unit : str
        Pattern of what follows the number.
    before : str
        Pattern of a sign before it, such as that of a currency.
    between : str
        Pattern of the unit after the lower end of a range; by default that of the upper end.
    """
    unnamed = re.sub(r"\?P<\w+>", "?:", between or unit)
    sign = re.sub(r"\?P<\w+>", "?:", before)
    low = rf"{sign}(?P<low>{COUNT})(?:{unnamed})?"
    return (
        rf"(?:between {low} (?:and|to) |(?:from )?{low} ?(?:-|to|or) ?)?{before}(?P<number>{COUNT})(?!\d){unit}"
    ).replace("?P<low>", "?P<low_between>", 1)


def ends(match: re.Match[str]) -> tuple[float, float]:
    """Lower and upper end of a range that ``quantity`` matched; of a single number twice the number."""
    written = match["number"]
    high = value_of(written)
    groups = match.groupdict()
    lower = groups.get("low_between") or groups.get("low")
    if lower is None:
        return high, high
    low = value_of(lower)
    scale = re.search(r"[a-z]+$", written.lower())
    if low < high and not re.search(r"[a-z]+$", lower.lower()) and scale and scale[0] in _SCALES and low < 1000:
        low *= _SCALES[scale[0]]  # 400-500k
    return min(low, high), max(low, high)


def written_number(value: float) -> str:
    """A number as a request has it: 40000, 2.5."""
    text = f"{value:.12g}" if value < 1e15 else f"{value:.0f}"
    return f"{text}0" if re.fullmatch(r"\d+\.\d{3}", text) else text  # three decimals have two readings
