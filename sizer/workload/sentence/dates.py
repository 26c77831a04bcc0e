"""Dates of a sentence: the day of need ("by the end of Q2 2027"), the days from one to another, and others."""

import datetime
from collections.abc import Iterator
from itertools import pairwise

from sizer.base.dates import days_of
from sizer.workload.sentence.grammar import GRAMMAR, rule
from sizer.workload.sentence.quantities import Amount
from sizer.workload.sentence.text import Name, Thing

_MONTHS = {name: number for number, names in enumerate(GRAMMAR["months"], 1) for name in names.split()}


def dates_in(text: str) -> list[Thing]:
    """Dates with the words that lead to them: a start and the time from it, the day of need, and days that are neither.

    "By March 2027" is read as its first day, the safe reading; "by the end of March 2027" as its last.
    """
    dates = list(_dates(text))
    things: list[Thing] = [Name("day", start, end, ()) for start, end, _, _ in dates]
    for place, ((start, end, first, _), (other, last_end, _, last)) in enumerate(pairwise(dates)):
        lead = rule(r"<DAYS_FROM>(?:the )?$").search(text, 0, start)
        joint = rule(r"<DAYS_TO>(?:the )?$" if lead else r"^ ?(?:-|to|until|till|through|bis|au) ?$").search(
            text[end:other]
        )
        if joint and last >= first:
            days = float((last - first).days + 1)
            clock = Name("clock", lead.start() if lead else start, end, ())
            return [*things[:place], clock, Amount("time", end + joint.start(), last_end, days, days, "d", "d")]
    for place, (start, end, first, last) in enumerate(dates):
        lead = rule(r"<DATE_LEAD>$").search(text, 0, start)
        if lead and not rule(r"<OTHER_DATE>").search(text, 0, lead.start()):
            things[place] = Name("date", lead.start(), end, ((last if lead["end"] else first).isoformat(),))
            break
    return things


def _dates(text: str) -> Iterator[tuple[int, int, datetime.date, datetime.date]]:
    """Places of the dates of a text, each with the first and the last day that it may mean."""
    every = (one for date in GRAMMAR["dates"] for one in rule(rf"(?<![\w.,]){date}(?![\w-])").finditer(text))
    taken = 0
    for match in sorted(every, key=lambda one: (one.start(), -one.end())):
        if match.start() >= taken and (days := _days(match.groupdict())) is not None:
            taken = match.end()
            yield *match.span(), *days


def _days(found: dict[str, str | None]) -> tuple[datetime.date, datetime.date] | None:
    """First and last day of what is written; None where the calendar lacks it, or it has two readings."""
    year, written = found.get("year"), [found.get("iso") or str(found.get("year"))]
    if quarter := found.get("quarter"):
        written = [f"{year}-{month:02}" for month in (3 * int(quarter) - 2, 3 * int(quarter))]
    elif first := found.get("first"):  # the day is first, but where that is none: 12/31/2027
        one, other = int(first), int(found["second"] or 0)
        if found["mark"] == "/" and one <= 12 and other <= 12 and one != other:
            return None
        written = [f"{year}-{min(one, other) if other > 12 else other:02}-{other if other > 12 else one:02}"]
    elif month := found.get("month"):
        day = found.get("day")
        written = [f"{year}-{_MONTHS[month.lower()]:02}" + (f"-{int(day):02}" if day else "")]
    try:
        return days_of(written[0])[0], days_of(written[-1])[1]
    except ValueError:
        return None
