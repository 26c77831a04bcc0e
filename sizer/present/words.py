"""Numbers and raw names in words: rounding to what an interval supports, plurals, labels."""

import datetime
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sizer.base.estimate import Estimate
from sizer.base.locale import date_text
from sizer.base.quantities import (
    NARROW_SPACE,
    by_count,
    grouped,
    number_and_unit,
    probability_text,
    scaled_unit,
    significant,
    with_decimal_sign,
)
from sizer.catalog.labels import capital as capital
from sizer.catalog.labels import name as name
from sizer.catalog.labels import sample_unit as sample_unit
from sizer.catalog.labels import sentence as sentence
from sizer.sizing.result import STAGES

# As tables compare them.
TO_BE_QUOTED = "to be quoted"
# In place of the title of a source that proves nothing to a customer.
SECONDARY = "secondary source, to be confirmed by the vendor"
# Between a number and a noun; the narrow one stands before units.
NO_BREAK = "\u00a0"
NOT_KNOWN = "not known"
NOT_PUBLISHED = "not published"
# Beyond this relative half-width "plus or minus" misleads about a log-normal quantity; the range is printed.
_WIDE = 0.2
# An interval whose middle is further from the value, in half widths, has no one half to print behind a "±".
_SKEWED = 0.2
# Headroom below this share is not worth a number.
_NO_HEADROOM = 0.005
# A share in percent that prints as 0.0, and one that is nothing but rounding.
_SMALLEST_SHARE, _NOTHING = 0.05, 1e-7
# Beyond it the headroom itself says nothing any more.
_AMPLE = 1000
# Below it a number counts as exact.
_EXACT = 5e-4

# Nouns whose plural is not the regular one.
_PLURALS = {"TB": "TB", "batch": "batches", "box": "boxes", "chassis": "chassis", "switch": "switches"}


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# A probability in this range is called what it is: even odds.
_EVEN = (0.45, 0.55)


def plural(count: int, noun: str) -> str:
    """Count and noun: '1 server', '9 servers', '2 switches'."""
    return f"{grouped(count)}{NO_BREAK}{plural_of(count, noun)}"


def plural_of(count: int, noun: str) -> str:
    """The noun alone, in the number that fits the count."""
    head, space, last = noun.rpartition(" ")
    return by_count(count, noun, f"{head}{space}{_PLURALS.get(last, last + 's')}")


def plural_noun(noun: str) -> str:
    """Plural of a noun, of no count."""
    return plural_of(2, noun)


def spelled(count: int) -> str:
    """Small numbers as words inside a sentence: nine, 13."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else grouped(count)


def listed(items: Iterable[str], last: str = "") -> str:
    """'a', 'a and b', 'a, b and c'; ``last`` stands before the last one instead of 'and'."""
    parts = list(items)
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last or 'and'} {parts[-1]}"


def stage(key: str, *, inside: bool = False) -> str:
    """Name of a stage; ``inside`` a sentence it starts small in English, but GPU stays GPU."""
    return inside_sentence(STAGES[key]) if inside else STAGES[key]


# Stages that are one thing; the others are kinds of work and take no article.
_ONE_THING = {"decode", "host_link"}


def the_stage(key: str) -> str:
    """Name of a stage inside a sentence, with the article that it takes: 'the host-to-GPU link', 'GPU compute'."""
    return f"the {stage(key, inside=True)}" if key in _ONE_THING else stage(key, inside=True)


def headroom(ratio: float) -> str:
    """Capacity over load as headroom: '24 % headroom', '3.1 times the capacity needed'."""
    if ratio < 1 + _NO_HEADROOM:
        return "hardly any headroom"
    if ratio < 2:
        return f"{percent(ratio - 1)} headroom"
    if ratio > _AMPLE:
        return f"more than {grouped(_AMPLE)} times the capacity needed"
    return f"{significant(ratio, 2)} times the capacity needed"


def percent(fraction: float | None) -> str:
    """A share in percent: 97 %, 7.5 %, 0.4 %; neither little nor near certainty rounds away. None is not known."""
    if fraction is None:
        return NOT_KNOWN
    # A share computed as a sum or quotient that is one may miss it by the last bit, which differs between machines.
    share = 100.0 if math.isclose(fraction, 1.0, rel_tol=1e-9) else 100 * fraction
    if 99.5 <= share < 100:
        return f"over 99{NARROW_SPACE}%"
    if _NOTHING < share < _SMALLEST_SHARE:
        return f"under {with_decimal_sign('0.1')}{NARROW_SPACE}%"
    return f"{grouped(share, 1 if 0 < share < 10 and round(share, 1) % 1 else 0)}{NARROW_SPACE}%"


def chance(probability: float | None) -> str:
    """A probability in whole percent, never rounded up: 49.57 % is 49 %, and misses 50 %. None is not known."""
    return NOT_KNOWN if probability is None else probability_text(probability)


def is_even(probability: float | None) -> bool:
    """Whether a miss is about as likely as a hit: such a target is not called met."""
    return probability is not None and _EVEN[0] <= probability <= _EVEN[1]


@dataclass(frozen=True)
class EstimateText:
    """An estimate in words: its middle, its spread and its unit, each as printed."""

    middle: str  # "52 300", "not limited"
    unit: str = ""  # "images/s", "h"; "" where there is no number
    spread: str = ""  # "± 1 900", "2.9 to 5.8"; "" where the number counts as exact
    is_range: bool = False  # the spread is a range: printed in brackets behind the unit

    def text(self, *, bare: bool = False) -> str:
        """Everything on one line; ``bare`` without the unit."""
        unit = "" if bare or not self.unit else NARROW_SPACE + self.unit
        if self.is_range:
            return f"{self.middle}{unit} ({self.spread})"
        return f"{self.middle} {self.spread}{unit}" if self.spread else self.middle + unit


def pieces(number: Fraction) -> str:
    """Number of a part of one link in front of its name: "2 × ", "½ × " of a module for two links, "" for one."""
    if number == 1:
        return ""
    return "½ × " if number == Fraction(1, 2) else f"{number} × "


def estimate_text(interval: Estimate, unit: str, like: float | None = None) -> EstimateText:
    """An estimate rounded to what its interval supports.

    ``unit`` 's' prints a duration; '%' takes a fraction. ``like`` is the value that chooses the unit, where estimates
    are compared.
    """
    value, low, high = interval
    if math.isinf(value):
        return EstimateText("not limited")
    if not all(map(math.isfinite, (value, low, high))):
        return EstimateText("not known")
    if unit == "%":
        value, low, high = 100 * value, 100 * low, 100 * high
    if value <= 0 and unit == "s":
        return EstimateText("0", unit)
    half = (high - low) / 2
    if value <= 0 or half <= _EXACT * value:
        return EstimateText(*number_and_unit(value, unit, like=like))
    factor, printed = scaled_unit(value if like is None else like, unit)
    value, low, high, half = value / factor, low / factor, high / factor, half / factor
    if half > _WIDE * value or abs((low + high) / 2 - value) > _SKEWED * half:
        middle, *ends = (significant(one, 2 if unit == "%" else 3) for one in (value, low, high))
        return EstimateText(middle, printed, " to ".join(ends), is_range=True)
    # Three digits, as wherever the value stands alone; its half interval to the same place.
    decimals = 2 - math.floor(math.log10(float(f"{value:.2e}")))
    half, shown = round(half, decimals), max(0, decimals)
    if not half:
        return EstimateText(significant(value), printed)
    return EstimateText(grouped(round(value, decimals), shown), printed, f"± {grouped(half, shown)}")


def estimate(interval: Estimate, unit: str, *, bare: bool = False, like: float | None = None) -> str:
    """An estimate on one line: '52 300 ± 1 900 images/s', '4.1 h (2.9 to 5.8)'.

    ``unit`` and ``like`` as for ``estimate_text``. ``bare`` leaves the unit to the head of the column.
    """
    return estimate_text(interval, unit, like).text(bare=bare)


def rounded(interval: Estimate, unit: str) -> str:
    """The middle of an estimate with its unit, to three digits as on the cover, wherever it stands alone."""
    return estimate_text(Estimate.exact(interval.value), unit).text()


def money(amount: Decimal | None, currency: str) -> str:
    """Amount with its currency, or 'to be quoted'."""
    if amount is None:
        return TO_BE_QUOTED
    is_whole = amount == amount.to_integral_value()
    return f"{currency} {grouped(amount, 0 if is_whole else 2)}"


def shortened(text: str, longest: int = 40) -> str:
    """A name of the user where a long one would break the line."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def slug(text: str) -> str:
    """Text as part of an id or file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def date(day: datetime.date | None) -> str:
    """A day as '1 March 2019'."""
    return "not dated" if day is None else date_text(day)


def whole(amount: Decimal | float) -> Decimal:
    """A round amount of money typed as a number."""
    return Decimal(str(amount)).quantize(Decimal(1))


def question(text: str) -> str:
    """A question to a vendor, with its mark."""
    text = text.strip().rstrip(".")
    if text.endswith("?"):
        return text
    asks = text.lower().startswith(("what", "which", "how", "is ", "does"))
    return text + ("?" if asks else ".")


# Letters that are spelled with a vowel first, as in "an HPE" and "an NVL72".
_VOWEL_LETTERS = "AEFHILMNORSX"


def with_article(name: str) -> str:
    """A name with its indefinite article: 'an Apollo 6500', 'an XE9680', 'a DGX-1'."""
    first = name.split(" ", 1)[0].split("-", 1)[0]
    is_spelled = (len(first) > 1 and first[:2].isupper()) or (first[:1].isupper() and first[1:2].isdigit())
    vowel = first[:1] in _VOWEL_LETTERS if is_spelled else first[:1].lower() in "aeiou"
    return f"{'an' if vowel else 'a'} {name}"


def inside_sentence(label: str) -> str:
    """A label as it stands inside a sentence: small in English, unless an abbreviation begins it."""
    return label[:1].lower() + label[1:] if not label[:2].isupper() else label


def scaling_name(*, is_language: bool) -> str:
    """What a rate per GPU over that of fewer is called: above 100 %, as other layouts allow, it is no efficiency."""
    return "Rate per GPU" if is_language else "Scaling efficiency"
