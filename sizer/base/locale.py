"""Signs and dates of a document: decimal sign, thousands separator and date order of its locale. Words are English."""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from sizer.base.errors import RequestError
from sizer.base.faults import nearest, shown

NARROW_SPACE = "\u202f"
DEFAULT_LOCALE = "en-GB"
# English as it is written where the product is sold; the signs and dates are those of Unicode's CLDR.
LOCALES = (
    DEFAULT_LOCALE,
    "en-US",
    "en-AT",
    "en-AU",
    "en-BE",
    "en-CA",
    "en-CH",
    "en-DE",
    "en-DK",
    "en-FI",
    "en-IE",
    "en-IN",
    "en-NL",
    "en-NZ",
    "en-SE",
    "en-SG",
    "en-ZA",
)
# Everywhere else thousands are set apart by the narrow no-break space of ISO 80000-1.
_COMMA_GROUPS = frozenset({"en-US"})


@dataclass(frozen=True)
class Locale:
    """How numbers and dates of a document are written."""

    name: str = DEFAULT_LOCALE
    decimal_sign: str = "."
    thousands_separator: str = NARROW_SPACE


_CURRENT: ContextVar[Locale] = ContextVar("locale", default=Locale())  # noqa: B039 -- frozen


def current_locale() -> Locale:
    """Locale of the document that is being made."""
    return _CURRENT.get()


@contextmanager
def use_locale(name: str) -> Iterator[None]:
    """Write numbers and dates as in the locale ``name`` inside the block.

    Raises RequestError if the name is not one of ``LOCALES``.
    """
    token = _CURRENT.set(locale_named(name))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@lru_cache
def locale_named(name: str) -> Locale:
    """Locale of a name such as 'en-GB'.

    Raises RequestError if the name is not one of ``LOCALES``.
    """
    if name not in LOCALES:
        raise RequestError(
            f"locale {shown(name)} is not supported{nearest(name, LOCALES)}; supported are {', '.join(LOCALES)}"
        )
    if name == DEFAULT_LOCALE:
        return Locale()
    # Imported here: the default locale does without, and commands start faster.
    from babel.numbers import get_decimal_symbol

    separator = "," if name in _COMMA_GROUPS else NARROW_SPACE
    return Locale(name, get_decimal_symbol(name.replace("-", "_")), separator)


def date_text(day: datetime.date) -> str:
    """A day in words: '1 March 2019', or as the locale orders it."""
    name = current_locale().name
    if name == DEFAULT_LOCALE:
        return f"{day.day} {day:%B} {day.year}"
    from babel.dates import format_date

    return format_date(day, "long", name.replace("-", "_"))
