"""Money as decimal numbers: read exactly, rounded half up, never a float."""

import re
import tomllib
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator

from sizer.base.faults import shown

CENT = Decimal("0.01")
# Ten digits before the point: larger than any unit price, and a spreadsheet still holds its cents exactly.
_AMOUNT = re.compile(r"[0-9]{1,10}(\.[0-9]{1,2})?")
# Rates by the hour or the kilowatt-hour come in parts of a cent: 0.1234.
_RATE = re.compile(r"[0-9]{1,10}(\.[0-9]{1,4})?")
_PERCENT = re.compile(r"100(\.0{1,2})?|0?[0-9]{1,2}(\.[0-9]{1,2})?")
# 149000,00, 149.000,00 and 149 000,00; 149,000.00. What can be read in two ways, 149,000, stays as it is.
_DECIMAL_COMMA = re.compile(r"[0-9]{1,10},[0-9]{1,2}|[0-9]{1,3}(?:[.\s'\u2019][0-9]{3})+,[0-9]{2}")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[,\s'\u2019][0-9]{3})+\.[0-9]{2}")


def parse_amount(written: object) -> Decimal:
    """Amount of money as a person writes it: digits, a point or comma and at most two decimals; no sign.

    ``written``: "149000", "149000.00" or "149.000,00". Returns the amount as written. Raises ValueError if it is
    anything else: NaN, infinities, signs, exponents, parts of a cent, more than ten digits and a point.
    """
    return _parsed(written, _AMOUNT, "price; write up to ten digits, a point and two decimals, for example 149000.00")


def parse_rate(written: object) -> Decimal:
    """Money for one unit of what is used (an hour, a kilowatt-hour), with at most four decimals.

    Raises ValueError if it is anything else.

    Examples
    --------
    >>> parse_rate("0.1234")
    Decimal('0.1234')
    """
    return _parsed(written, _RATE, "price; write up to ten digits, a point and four decimals, for example 0.1234")


def parse_percent(written: object) -> Decimal:
    """Discount in per cent, 0 to 100 with at most two decimals.

    Raises ValueError if it is anything else.

    Examples
    --------
    >>> parse_percent("12.5 %")
    Decimal('12.5')
    """
    number = written.strip().removesuffix("%") if isinstance(written, str) else written
    return _parsed(number, _PERCENT, "discount; write per cent from 0 to 100, for example 12.5")


def round_money(amount: Decimal) -> Decimal:
    """Amount rounded half up to two decimals.

    Examples
    --------
    >>> round_money(Decimal("2.345"))
    Decimal('2.35')
    """
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


@cache
def usual_rates_usd() -> dict[str, float]:
    """US dollars for one unit of a currency, where a request states none."""
    return tomllib.loads(Path(__file__).with_name("usual_rates.toml").read_text(encoding="utf-8"))


def net_price(list_price: Decimal, discount_percent: Decimal) -> Decimal:
    """Unit price after the discount. The unit is rounded first, then multiplied: pieces of one line cost the same.

    Examples
    --------
    >>> net_price(Decimal("11.00"), Decimal("93.5"))   # 0.715
    Decimal('0.72')
    """
    return round_money(list_price * (100 - discount_percent) / 100)


def percent(value: Decimal) -> str:
    """Per cent as text, without needless zeros.

    Examples
    --------
    >>> percent(Decimal("12.50"))
    '12.5'
    """
    return f"{value.normalize():f}"


def _parsed(written: object, form: re.Pattern[str], rule: str) -> Decimal:
    text = _text(written)
    if not form.fullmatch(text):
        raise ValueError(f"{shown(written)} is not a {rule}")
    return Decimal(text)


def _text(written: object) -> str:
    """What was written, with a decimal point and no groups; "" for what is no number, so that it is refused."""
    if isinstance(written, bool) or not isinstance(written, str | int | float | Decimal):
        return ""
    try:
        text = str(written).strip()
    except ValueError:  # Python refuses to print integers of thousands of digits
        return ""
    if _DECIMAL_COMMA.fullmatch(text):
        return re.sub(r"[.\s'\u2019]", "", text).replace(",", ".")
    return re.sub(r"[,\s'\u2019]", "", text) if _GROUPED.fullmatch(text) else text


Amount = Annotated[Decimal, BeforeValidator(parse_amount)]
UnitRate = Annotated[Decimal, BeforeValidator(parse_rate)]
Percent = Annotated[Decimal, BeforeValidator(parse_percent)]
