"""Dates as sources print them: a day, a month or a year."""

import datetime
import re
from calendar import monthrange
from typing import Annotated

from pydantic import AfterValidator

from sizer.base.faults import shown

_PARTS = re.compile(r"[0-9]{4}(-[0-9]{2}){0,2}")


def days_of(date: str) -> tuple[datetime.date, datetime.date]:
    """First and last day that an ISO date or its first part may mean.

    Raises ValueError if the text is no date of the calendar.

    Examples
    --------
    >>> days_of("2018-02")
    (datetime.date(2018, 2, 1), datetime.date(2018, 2, 28))
    """
    try:
        if not _PARTS.fullmatch(date):
            raise ValueError
        parts = [int(part) for part in date.split("-")]
        if len(parts) == 3:
            day = datetime.date(*parts)
            return day, day
        year, first, last = (parts[0], 1, 12) if len(parts) == 1 else (parts[0], parts[1], parts[1])
        return datetime.date(year, first, 1), datetime.date(year, last, monthrange(year, last)[1])
    except ValueError:
        raise ValueError(f"{shown(date)} is not a date; write 2026-11-21, 2026-11 or 2026") from None


def years_after(day: datetime.date, years: int) -> datetime.date:
    """The same day so many years later; 28 February where that year has no 29th.

    Raises ValueError if the year is beyond 9999.

    Examples
    --------
    >>> years_after(datetime.date(2028, 2, 29), 3)
    datetime.date(2031, 2, 28)
    """
    last = monthrange(day.year + years, day.month)[1]
    return day.replace(year=day.year + years, day=min(day.day, last))


def _checked(date: str) -> str:
    days_of(date)
    return date


# An ISO date, or its first part where a source prints no more.
PartialDate = Annotated[str, AfterValidator(_checked)]
