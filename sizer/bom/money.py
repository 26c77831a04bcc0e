"""Money as decimal numbers: read exactly, rounded half up, never a float."""

import re
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
# Larger than any project; a longer number is a slip of the pen.
_MAX_DIGITS = 15
_AMOUNT = re.compile(rf"\d{{1,{_MAX_DIGITS}}}(\.\d+)?")


def parse_amount(text: str) -> Decimal:
    """Amount of money as written in a price book: digits, a point, no sign, no grouping.

    Parameters
    ----------
    text : str
        "149000" or "149000.00".

    Returns
    -------
    Decimal
        The amount, unrounded.

    Raises
    ------
    ValueError
        If the text is anything else; NaN, infinities, signs and exponents are refused.
    """
    written = text.strip()
    if not _AMOUNT.fullmatch(written):
        raise ValueError(f"amount {text[:40]!r} is not a price; write digits and a point, for example 149000.00")
    return Decimal(written)


def round_money(amount: Decimal) -> Decimal:
    """Amount rounded half up to two decimals.

    Examples
    --------
    >>> round_money(Decimal("2.345"))
    Decimal('2.35')
    """
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)
