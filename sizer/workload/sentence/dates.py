"""The date of need in a sentence: "by March 2027", "needed by 2027-03-01", "by the end of Q2 2027"."""

import datetime
import re

from sizer.base.dates import days_of
from sizer.workload.sentence.grammar import GRAMMAR, rule

_MONTHS = {name: number for number, names in enumerate(GRAMMAR["months"], 1) for name in names.split()}


def need_in(sentence: str) -> tuple[re.Match[str], datetime.date] | None:
    """The words and the day of the need of a sentence; None where it gives none, or a day that the calendar lacks.

    "By March 2027" is read as its first day, the safe reading; "by the end of March 2027" as its last.
    """
    for date in (*GRAMMAR["dates"], r"(?<=end\sof\s)<YEAR>"):
        match = rule(rf"<DATE_LEAD>{date}(?![\w-])").search(sentence)
        if match and not rule(r"<OTHER_DATE>").search(sentence, 0, match.start()):
            try:
                first, last = _days(match.groupdict())
            except ValueError:
                return None
            return match, first if match["end"] is None else last
    return None


def days_between(sentence: str) -> tuple[re.Match[str], re.Match[str], float] | None:
    """The words of the first and of the last day of the work, with the days from one to the other."""
    first, last = (_led(lead, sentence) for lead in ("DAYS_FROM", "DAYS_TO"))
    if first is None or last is None:
        first, last = _window_in(sentence)
    if first is None or last is None or (first.start() < last.end() and last.start() < first.end()):
        return None
    try:
        days = (_days(last.groupdict())[1] - _days(first.groupdict())[0]).days + 1
    except ValueError:
        return None
    return (first, last, float(days)) if days > 0 else None


def _led(lead: str, sentence: str) -> re.Match[str] | None:
    found = (rule(rf"<{lead}>(?:the )?{date}(?![\w-])").search(sentence) for date in GRAMMAR["dates"])
    return next(filter(None, found), None)


def _window_in(sentence: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """A first and a last day with a dash or "to" between them: 1 Feb 2027 - 31 Mar 2027."""
    for date in GRAMMAR["dates"]:
        for first in rule(rf"{date}(?![\w-])").finditer(sentence):
            joint = re.compile(r" ?(?:-|to|until|till|through|bis|au) ?").match(sentence, first.end())
            ends = (rule(rf"{one}(?![\w-])").match(sentence, joint.end()) for one in GRAMMAR["dates"] if joint)
            if joint and (last := next(filter(None, ends), None)):
                return first, last
    return None, None


def _days(found: dict[str, str | None]) -> tuple[datetime.date, datetime.date]:
    """First and last day of what is written."""
    if iso := found.get("iso"):
        return days_of(iso)
    year = found["year"]
    if quarter := found.get("quarter"):
        last_month = 3 * int(quarter)
        return days_of(f"{year}-{last_month - 2:02}")[0], days_of(f"{year}-{last_month:02}")[1]
    if first := found.get("first"):  # the day is first, but where that is none: 12/31/2027
        one, other = int(first), int(found["second"] or 0)
        if found["mark"] == "/" and one <= 12 and other <= 12 and one != other:
            raise ValueError("a day and a month with two readings")
        return days_of(f"{year}-{min(one, other) if other > 12 else other:02}-{other if other > 12 else one:02}")
    if month := found.get("month"):
        number = _MONTHS[month.lower()]
        day = found.get("day")
        return days_of(f"{year}-{number:02}" + (f"-{int(day):02}" if day else ""))
    return days_of(str(year))
