"""Numbers and dates follow the locale of the document; words are English in every one."""

import datetime

import pytest
from babel import Locale

from sizer.base.errors import RequestError
from sizer.base.locale import DEFAULT_LOCALE, LOCALES, current_locale, date_text, locale_named, use_locale
from sizer.base.quantities import duration, grouped, plain, si

DAY = datetime.date(2019, 3, 1)


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        # ISO 80000-1, 7.3.1: groups of three digits are set apart by a small space, never by a sign.
        ("en-GB", "52\u202f300.5", "1 March 2019"),
        # Chicago Manual of Style, 9.54 and 6.38: comma for thousands; month, day, year.
        ("en-US", "52,300.5", "March 1, 2019"),
        # Unicode CLDR 45, en_DE: decimal comma, day first.
        ("en-DE", "52\u202f300,5", "1 March 2019"),
    ],
)
def test_numbers_and_dates_follow_the_locale(name, number, text):
    with use_locale(name):
        assert (grouped(52_300.5, 1), date_text(DAY)) == (number, text)
    assert current_locale().name == DEFAULT_LOCALE


def test_units_keep_the_decimal_sign_of_the_locale():
    with use_locale("en-DE"):
        assert (si(5.907e9, "B/s"), plain(2.5), duration(34_000)) == ("5,91\u202fGB/s", "2,5", "9,44\u202fh")


def test_every_locale_is_known_to_cldr_and_english():
    for name in LOCALES:
        assert Locale.parse(name, sep="-").language == "en"
        assert locale_named(name).decimal_sign in ".,"


def test_unknown_locale_names_the_nearest():
    with pytest.raises(RequestError, match=r"en-GP.*en-GB"):
        locale_named("en-GP")
