"""Numbers and raw names in words: rounding to what an interval supports, plurals, labels."""

import datetime
import math
import re
from collections.abc import Iterable
from decimal import Decimal

from sizer.base.estimate import Estimate
from sizer.base.locale import date_text
from sizer.base.quantities import NARROW_SPACE, by_count, duration, grouped, si, significant
from sizer.catalog.labels import capital as capital
from sizer.catalog.labels import name as name
from sizer.catalog.labels import sample_unit as sample_unit
from sizer.catalog.labels import sentence as sentence
from sizer.catalog.links import GBIT_PER_S, kind_name
from sizer.sizing.result import STAGES

# As tables compare them.
TO_BE_QUOTED = "to be quoted"
# Between a number and a noun; the narrow one stands before units.
NO_BREAK = "\u00a0"
NOT_PUBLISHED = "not published"
# Beyond this relative half-width "plus or minus" misleads about a log-normal quantity; the range is printed.
_WIDE = 0.2
# Below it a number counts as exact.
_EXACT = 5e-4

# Nouns whose plural is not the regular one.
_PLURALS = {"TB": "TB", "batch": "batches", "box": "boxes", "chassis": "chassis", "switch": "switches"}


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
    numbers = (
        "no",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    )
    return numbers[count] if 0 <= count < len(numbers) else grouped(count)


def listed(items: Iterable[str], last: str = "") -> str:
    """'a', 'a and b', 'a, b and c'; ``last`` stands before the last one instead of 'and'."""
    parts = list(items)
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last or 'and'} {parts[-1]}"


def stage(key: str, *, inside: bool = False) -> str:
    """Name of a stage; ``inside`` a sentence it starts small in English, but GPU stays GPU."""
    return inside_sentence(STAGES[key]) if inside else STAGES[key]


def percent(fraction: float) -> str:
    """A share in percent: 97 %, 7.5 %, 0.4 %; close to certainty it never rounds to 100 %."""
    share = 100 * fraction
    if 99.5 <= share < 100:
        return "over {share}".format(share=f"99{NARROW_SPACE}%")
    return f"{grouped(share, 1 if 0 < share < 10 and round(share, 1) % 1 else 0)}{NARROW_SPACE}%"


def _scaled(value: float, unit: str) -> tuple[float, str]:
    """Factor and unit in which ``si`` or ``duration`` would print the value."""
    text = duration(value) if unit == "s" else si(value, unit)
    printed = text.rpartition(NARROW_SPACE)[2]
    if unit == "s":
        return {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}[printed], printed
    prefix = printed.removesuffix(unit) if printed != unit else ""
    factor = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}[prefix]
    return factor, printed


def estimate(interval: Estimate, unit: str, *, bare: bool = False) -> str:
    """An estimate rounded to what its interval supports: '52 300 ± 1 900 images/s', '4.1 h (2.9 to 5.8)'.

    ``unit`` 's' prints a duration; '%' takes a fraction. ``bare`` leaves the unit to the head of the column.
    """
    value, low, high = interval
    if math.isinf(value):
        return "not limited"
    if not all(map(math.isfinite, (value, low, high))):
        return "not known"
    if unit == "%":
        value, low, high = 100 * value, 100 * low, 100 * high
    half = (high - low) / 2
    if value <= 0 or half <= _EXACT * value:
        if value <= 0 and unit == "s":
            return f"0{NARROW_SPACE}s"
        text = duration(value) if unit == "s" else si(value, unit)
        return text.removesuffix(NARROW_SPACE + unit) if bare else text
    factor, printed = _scaled(value, unit)
    value, low, high, half = value / factor, low / factor, high / factor, half / factor
    unit_text = "" if bare else NARROW_SPACE + printed
    if half > _WIDE * value:
        span = f"{significant(low, 2)} to {significant(high, 2)}"
        return f"{significant(value, 2)}{unit_text} ({span})"
    decimals = 1 - math.floor(math.log10(half))
    half = round(half, decimals)
    shown = max(0, 1 - math.floor(math.log10(half)))
    return f"{grouped(round(value, decimals), shown)} ± {grouped(half, shown)}{unit_text}"


def rounded(interval: Estimate, unit: str) -> str:
    """Only the middle of an estimate, to the digits that its interval supports."""
    text = estimate(interval, unit)
    if " ± " in text:
        number, _, rest = text.partition(" ± ")
        return number + NARROW_SPACE + rest.rpartition(NARROW_SPACE)[2]
    return text.partition(" (")[0]


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


def link_name(kind: str) -> str:
    """Name of a kind of link given as text."""
    return next((kind_name(known) for known in GBIT_PER_S if known == kind), kind)


def whole(amount: float) -> Decimal:
    """A round amount of money typed as a number."""
    return Decimal(str(amount)).quantize(Decimal(1))


def question(text: str) -> str:
    """A question to a vendor, with its mark."""
    text = text.strip().rstrip(".")
    if text.endswith("?"):
        return text
    asks = text.lower().startswith(("what", "which", "how", "is ", "does"))
    return text + ("?" if asks else ".")


def inside_sentence(label: str) -> str:
    """A label as it stands inside a sentence: small in English, unless an abbreviation begins it."""
    return label[:1].lower() + label[1:] if not label[:2].isupper() else label
