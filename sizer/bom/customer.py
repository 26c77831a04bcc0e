"""A bill as the customer reads it: what is paid, and no word of list prices, discounts, changes or internal notes."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from sizer.base.money import CENT, net_price
from sizer.bom.bill import BOUGHT, Bill, BillLine
from sizer.physical.notes import PlanNote


def customer_bill(bill: Bill) -> Bill:
    """Copy of a bill for the customer.

    Parameters
    ----------
    bill : Bill

    Returns
    -------
    Bill
        Same lines in the same order, numbers of lines included. Bought lines cost what is paid for them, their share
        of the discount of the deal taken off, and add up to ``bill.total``; options cost their own net price, because
        the deal is on what is bought; a line without a price stays without. Where the list price of a published
        document is what is paid, its source stays; every other source, date and note of a price goes, and so does
        every note and change of the quote but the computed number of a changed quantity. A bill without any of these
        comes back with its lines as they were.

    Notes
    -----
    The discount of the deal is shared in proportion to the net prices, in whole cents a piece (``allotted``): a line is
    less than a cent a piece away from its exact part. At most one line cannot have a unit price in whole cents; it has
    its amount alone.
    """
    lines: list[BillLine] = []
    unsaid: set[str] = set()
    for line, amount in zip(bill.lines, _amounts(bill), strict=True):
        priced = _priced(line, amount, bill.deal_discount_percent)
        is_as_published = (priced.unit_price, priced.fixed_extended) == (line.unit_price, line.fixed_extended)
        if _is_internal(line) or not is_as_published:
            unsaid.add(line.line)
            priced = _unsourced(priced)
        lines.append(replace(priced, changes=(), status="computed" if line.status in BOUGHT else line.status))
    made = replace(bill, lines=tuple(lines), deal_discount_percent=Decimal(0), is_customer_copy=True)
    return _without_price_warnings(made, unsaid)


def unpriced_bill(bill: Bill) -> Bill:
    """Customer's copy of a bill that is not offered: what is not free of charge by its source is to be quoted."""
    told = customer_bill(bill)
    lines = tuple(
        line
        if line.unit_price == 0 and line.price_source
        else replace(_unsourced(line), unit_price=None, fixed_extended=None)
        for line in told.lines
    )
    return _without_price_warnings(replace(told, lines=lines), {line.line for line in lines})


def allotted(amounts: Sequence[int], quantities: Sequence[int], total: int) -> list[int]:
    """Shares of ``total`` in proportion to ``amounts``, of which at most one is no whole number a piece.

    Parameters
    ----------
    amounts : sequence of int
        What the lines would cost by themselves. [cent]
    quantities : sequence of int
        Pieces of each line; a line of none costs nothing.
    total : int
        To be shared. [cent]

    Returns
    -------
    list of int
        They add up to ``total``; each is less than a cent a piece away from its exact part, 0 where that is 0. [cent]

    Raises
    ------
    ValueError
        If an amount or the total is below 0, or a total is to be shared among amounts of 0.

    Notes
    -----
    Method of the largest remainder, a cent a piece being the least that a line can be given. What is left is less than
    a cent for every piece of any line not served; the largest of these takes it.

    Examples
    --------
    >>> allotted([3000, 7000], [3, 7], 9967)   # 9.967 a piece: 9.96 leaves 7 cents, 3 of which make 9.97
    [2991, 6976]
    """
    whole = sum(amounts)
    if total < 0 or min(amounts, default=0) < 0 or (whole == 0 < total):
        raise ValueError(f"{total} cannot be shared among amounts that add up to {whole}")
    shares = [0] * len(amounts)
    remainders: dict[int, Fraction] = {}
    for place, (amount, quantity) in enumerate(zip(amounts, quantities, strict=True)):
        if amount and quantity:
            each = Fraction(amount * total, whole * quantity)
            shares[place] = int(each) * quantity
            remainders[place] = each - int(each)
    left = total - sum(shares)
    waiting = [place for place in sorted(remainders, key=lambda place: -remainders[place]) if remainders[place]]
    for place in list(waiting):
        if quantities[place] <= left:
            shares[place] += quantities[place]
            left -= quantities[place]
            waiting.remove(place)
    if left:
        shares[max(waiting, key=lambda place: quantities[place])] += left
    return shares


def _amounts(bill: Bill) -> list[Decimal | None]:
    """What is paid for every line; None where it is to be quoted."""
    found = [line.extended_net for line in bill.lines]
    bought = {place: amount for place, amount in enumerate(found) if amount is not None and bill.lines[place].is_bought}
    quantities = [bill.lines[place].quantity for place in bought]
    shares = allotted([_cents(amount) for amount in bought.values()], quantities, _cents(bill.total))
    for place, share in zip(bought, shares, strict=True):
        found[place] = share * CENT
    return found


def _priced(line: BillLine, amount: Decimal | None, deal_percent: Decimal) -> BillLine:
    """The line with the unit price that makes up its amount, or with the amount alone."""
    unit: Decimal | None = None
    fixed: Decimal | None = None
    if line.quantity == 0:
        # Nothing to share; a piece would cost this.
        off = deal_percent if line.is_bought else Decimal(0)
        unit = None if line.unit_net_price is None else net_price(line.unit_net_price, off)
    elif amount is not None:
        cents, rest = divmod(_cents(amount), line.quantity)
        unit, fixed = (None, amount) if rest else (cents * CENT, None)
    return replace(line, unit_price=unit, fixed_extended=fixed, discount_percent=Decimal(0))


def _is_internal(line: BillLine) -> bool:
    """Whether the quote or the user's own price book says something of a line."""
    return line.has_own_price or bool(line.changes) or line.status in ("overridden", "added")


def _unsourced(line: BillLine) -> BillLine:
    """The line without what its price's source says."""
    told = (note for note in line.notes if isinstance(note, PlanNote))
    return replace(line, notes=tuple(told), price_source="", price_date="", price_valid_until=None)


def _without_price_warnings(bill: Bill, numbers: set[str]) -> Bill:
    """The bill without warnings about the prices of some lines."""
    gone = {warning for number, warning in bill.price_warnings if number in numbers}
    return replace(
        bill,
        warnings=tuple(warning for warning in bill.warnings if warning not in gone),
        price_warnings=tuple(pair for pair in bill.price_warnings if pair[1] not in gone),
    )


def _cents(amount: Decimal) -> int:
    return int(amount / CENT)
