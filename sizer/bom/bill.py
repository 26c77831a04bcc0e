"""The bill of materials as data: lines, money and what is missing."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Literal

from sizer.base.money import CENT, net_price, round_money
from sizer.physical.notes import PlanNote

Status = Literal["computed", "overridden", "added", "existing", "optional", "by others"]
BY_OTHERS: Status = "by others"
# What the customer buys; the other lines are listed and not in any total.
BOUGHT: tuple[Status, ...] = ("computed", "overridden", "added")
MONTHS_A_YEAR = 12


class BillWarningKind(Enum):
    """What a reader of a bill must be warned of; behind each its values."""

    SALE_ENDED = "sale-ended"  # item, date, name of the successor where the catalogue knows one
    SALE_ENDS = "sale-ends"  # item, date within the validity of the quote
    SALE_ENDS_BEFORE_NEED = "sale-ends-before-need"  # item, date, date of need
    SERVICE_ENDS = "service-ends"  # item, date within SERVICE_YEARS after the date of need, date of need
    SERVICE_END_KNOWN = "service-end-known"  # item without an end of sale, date
    AVAILABILITY_UNKNOWN = "availability-unknown"  # items
    OTHER_CURRENCY = "other-currency"  # item
    NO_GPUS_NAMED = "no-gpus-named"  # item, GPUs that it is sold with
    PRICE_ENDED = "price-ended"  # item, last day of its price
    PRICE_ENDS = "price-ends"  # item, last day of its price, last day of the quote
    OLD_PRICE = "old-price"  # item, date of its price
    LONGEST_LEAD_TIME = "longest-lead-time"  # weeks, items
    LEAD_TIME_UNKNOWN = "lead-time-unknown"  # items
    NO_LEAD_TIME = "no-lead-time"
    # With a date of need, in place of the three above.
    TOO_LATE = "too-late"  # days, weeks of lead time, date of need, items
    ORDER_BY = "order-by"  # last day for the order, weeks of lead time, date of need, items
    LEAD_TIME_OPEN = "lead-time-open"  # days that remain or None, date of need, items; no items: of none it is known


@dataclass(frozen=True)
class BillWarning:
    """One warning, with the values that its words need."""

    kind: BillWarningKind
    values: tuple[str | int | None, ...] = ()


class LineNoteKind(Enum):
    """What the price book or the quote says of a line; behind each its values."""

    STATED = "stated"  # text of the price book or of the quote
    FREE = "free"
    INCLUDED = "included"
    # What was computed where the quote says something else.
    COMPUTED_QUANTITY = "computed-quantity"  # quantity
    BOOK_PRICE = "book-price"  # list price or None, currency
    BOOK_DISCOUNT = "book-discount"  # [%]
    # What the quote changed.
    NEW_QUANTITY = "new-quantity"  # quantity of the quote, computed quantity
    NEW_PRICE = "new-price"  # list price of the quote, that of the price book or None, currency
    NEW_DISCOUNT = "new-discount"  # discount of the quote, that of the price book [%]
    OPTIONAL = "optional"
    BY_OTHERS = "by-others"
    INTO_TOTAL = "into-total"
    UNCHANGED = "unchanged"  # the quote repeats what was computed
    ADDED = "added"


@dataclass(frozen=True)
class LineNote:
    """One note of price book or quote, or one change, with the values that its words need."""

    kind: LineNoteKind
    values: tuple[str | int | Decimal | None, ...] = ()


def stated(text: str) -> tuple[LineNote, ...]:
    """Text of a price book or of the quote as a note; none where it is empty."""
    return (LineNote(LineNoteKind.STATED, (text,)),) if text else ()


@dataclass(frozen=True)
class Sum:
    """Sum of the known amounts of some lines; it reads "at least" while ``n_open`` lines have none."""

    amount: Decimal
    n_open: int = 0

    @classmethod
    def of(cls, amounts: Iterable[Decimal | None]) -> "Sum":
        """Sum of amounts of which some may be unknown."""
        found = list(amounts)
        known = (amount for amount in found if amount is not None)
        return cls(sum(known, Decimal("0.00")), sum(amount is None for amount in found))

    @property
    def is_unknown(self) -> bool:
        """Whether nothing but zero is known of it: it then reads "to be quoted", never 0."""
        return self.n_open > 0 and self.amount == 0


@dataclass(frozen=True, kw_only=True)
class BillLine:
    """One line. ``unit_price`` None reads "to be quoted"; it never counts as zero."""

    line: str = ""  # "3.2"; "" until all are numbered
    category: str
    item: str = ""  # catalogue id; "" for a line that is of no part of the catalogue
    manufacturer: str = ""
    sku: str = ""  # "" where no source names a part number
    description: str
    quantity: int
    unit: str = "EA"  # EA, YR ...
    unit_price: Decimal | None = None  # list price
    price_source: str = ""
    price_date: str = ""
    status: Status
    # A PlanNote has no word of prices, nor of the quote.
    notes: tuple[PlanNote | LineNote, ...] = ()
    group: str = "cluster"  # site, rack or scalable unit
    discount_percent: Decimal = Decimal(0)
    term_months: int | None = None  # that the price pays for
    lead_time_weeks: int | None = None
    price_valid_until: datetime.date | None = None
    # Of one piece; None where no source gives them.
    power_max_w: float | None = None
    power_typical_w: float | None = None
    rack_units: float | None = None
    weight_kg: float | None = None
    changes: tuple[LineNote, ...] = ()  # what the quote changed; empty where it says nothing of the line
    # For a customer's copy (``sizer.bom.customer``).
    has_own_price: bool = False  # the price comes from the user's own price book, not from a published document
    fixed_extended: Decimal | None = None  # price of the whole line, where no unit price in whole cents makes it up

    @property
    def is_bought(self) -> bool:
        """Whether the line counts in the totals."""
        return self.status in BOUGHT

    @property
    def is_recurring(self) -> bool:
        """Whether the line is bought again when its term ends. Support is, also while nobody has named its term."""
        return self.term_months is not None or self.category == "support"

    @property
    def is_shipped(self) -> bool:
        """Whether the line waits for a delivery."""
        return self.category not in ("software", "support", "service")

    @property
    def unit_net_price(self) -> Decimal | None:
        """List price less the discount of the line, rounded half up to cents."""
        return None if self.unit_price is None else net_price(self.unit_price, self.discount_percent)

    @property
    def extended_list(self) -> Decimal | None:
        """Quantity x list price; None where it is to be quoted. No piece costs nothing, whatever its price.

        In a customer's copy, which tells no list price, it is the net price.
        """
        return self._extended(self.unit_price)

    @property
    def extended_net(self) -> Decimal | None:
        """Quantity x rounded net price; None where it is to be quoted."""
        return self._extended(self.unit_net_price)

    @property
    def yearly_net(self) -> Decimal | None:
        """Net price of one year of a line with a term; None where price or term is unknown."""
        if self.extended_net is None or self.term_months is None:
            return None
        return round_money(self.extended_net * MONTHS_A_YEAR / self.term_months)

    def _extended(self, price: Decimal | None) -> Decimal | None:
        if self.quantity == 0:
            return Decimal("0.00")
        if self.fixed_extended is not None:
            return self.fixed_extended
        return None if price is None else round_money(price * self.quantity)


def reduction(amount: Decimal, deal_discount_percent: Decimal) -> Decimal:
    """What the discount of the deal takes off a sum of net prices, in whole cents."""
    return round_money(amount * deal_discount_percent / 100)


@dataclass(frozen=True)
class Bill:
    """A bill. Taxes, freight and duties are in no amount."""

    currency: str
    lines: tuple[BillLine, ...]
    warnings: tuple[BillWarning, ...] = ()  # end of sale, old prices, lead times
    deal_discount_percent: Decimal = Decimal(0)  # on the sum of the lines' net prices
    valid_until: datetime.date | None = None  # last day of the quote; None without a date of the request
    price_warnings: tuple[tuple[str, BillWarning], ...] = ()
    is_customer_copy: bool = False  # prices are what the customer pays; list prices and discounts are not told

    @cached_property
    def bought(self) -> tuple[BillLine, ...]:
        return tuple(line for line in self.lines if line.is_bought)

    @property
    def list_total(self) -> Sum:
        """Sum of the list prices."""
        return Sum.of(line.extended_list for line in self.bought)

    @cached_property
    def net_total(self) -> Sum:
        """Sum of the net prices, before the discount of the deal."""
        return Sum.of(line.extended_net for line in self.bought)

    @property
    def deal_reduction(self) -> Decimal:
        """What the discount of the deal takes off the priced part."""
        return reduction(self.net_total.amount, self.deal_discount_percent)

    @property
    def total(self) -> Decimal:
        """What the priced lines cost; it reads "at least" while a bought line lacks a price."""
        return self.net_total.amount - self.deal_reduction

    @property
    def purchase(self) -> Sum:
        """What the customer pays for all lines that are bought: the known amount, and the lines to be quoted."""
        return replace(self.net_total, amount=self.total)

    @property
    def open_options(self) -> tuple[BillLine, ...]:
        """Optional lines without a price: in no total."""
        return tuple(line for line in self.lines if line.status == "optional" and line.extended_net is None)

    @property
    def is_complete(self) -> bool:
        """Whether every bought line has a price."""
        return not self.net_total.n_open

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Ids of bought catalogue items without a price."""
        return tuple(dict.fromkeys(line.item for line in self._open() if line.item))

    @property
    def n_unpriced(self) -> int:
        """How many things are to be quoted: catalogue items, and lines that the quote adds."""
        return len(self.unpriced) + sum(not line.item for line in self._open())

    @property
    def changed_quantities(self) -> tuple[BillLine, ...]:
        """Lines whose quantity the quote gives in place of the computed one."""
        return tuple(line for line in self.lines if any(one.kind is LineNoteKind.NEW_QUANTITY for one in line.changes))

    @property
    def has_discount(self) -> bool:
        """Whether any price is below its list price."""
        return self.deal_discount_percent > 0 or any(line.discount_percent > 0 for line in self.bought)

    @property
    def one_off(self) -> Sum:
        """What is paid for what is bought once (CapEx)."""
        return self._after_deal(line.extended_net for line in self.bought if not line.is_recurring)

    @property
    def recurring(self) -> Sum:
        """What is paid for support and subscriptions over their terms: the rest of the total."""
        n_open = sum(line.extended_net is None for line in self.bought if line.is_recurring)
        return Sum(self.total - self.one_off.amount, n_open)

    @property
    def yearly(self) -> Sum:
        """What is paid for one year of support and subscriptions (OpEx)."""
        return self._after_deal(line.yearly_net for line in self.bought if line.is_recurring and line.quantity)

    def _after_deal(self, amounts: Iterable[Decimal | None]) -> Sum:
        amount = Sum.of(amounts)
        return replace(amount, amount=amount.amount - reduction(amount.amount, self.deal_discount_percent))

    @property
    def longest_lead_weeks(self) -> int | None:
        """Longest known lead time of what is bought."""
        return max((line.lead_time_weeks for line in self.bought if line.lead_time_weeks is not None), default=None)

    def part(self, category: str) -> "Bill":
        """The lines of one category as a bill of their own, before the discount of the deal."""
        lines = tuple(line for line in self.lines if line.category == category)
        return replace(self, lines=lines, warnings=(), price_warnings=(), deal_discount_percent=Decimal(0))

    def _open(self) -> list[BillLine]:
        return [line for line in self.bought if line.extended_net is None]


def customer_bill(bill: Bill) -> Bill:
    """Copy of a bill for the customer.

    Returns the same lines in the same order, numbers of lines included. Bought lines cost what is paid for them, their
    share of the discount of the deal taken off, and add up to ``bill.total``; options cost their own net price, because
    the deal is on what is bought; a line without a price stays without. Where the list price of a published document is
    what is paid, its source stays; every other source, date and note of a price goes, and so does every note and change
    of the quote but the computed number of a changed quantity. A bill without any of these comes back with its lines as
    they were.

    The discount of the deal is shared in proportion to the net prices, in whole cents a piece (``allotted``): a line is
    less than a cent a piece away from its exact part. At most one line cannot have a unit price in whole cents; it has
    its amount alone.
    """
    lines: list[BillLine] = []
    unsaid = {""}  # lines whose price is no business of the customer; "" of prices outside the bill
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
    part = customer_bill(bill)
    lines = tuple(
        line
        if line.unit_price == 0 and line.price_source
        else replace(_unsourced(line), unit_price=None, fixed_extended=None)
        for line in part.lines
    )
    return _without_price_warnings(replace(part, lines=lines), {line.line for line in lines})


def allotted(amounts: Sequence[int], quantities: Sequence[int], total: int) -> list[int]:
    """Shares of ``total`` in proportion to ``amounts``, of which at most one is no whole number a piece.

    ``amounts``: what the lines would cost by themselves [cent]. ``quantities``: pieces of each line; a line of none
    costs nothing. ``total``: to be shared [cent]. Shares add up to ``total``; each is less than a cent a piece
    away from its exact part, 0 where that is 0 [cent]. Raises ValueError if an amount or the total is below 0, or a
    total is to be shared among amounts of 0.

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
    bought = {index: amount for index, amount in enumerate(found) if amount is not None and bill.lines[index].is_bought}
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
    gone = {warning for number, warning in bill.price_warnings if number in numbers}
    return replace(
        bill,
        warnings=tuple(warning for warning in bill.warnings if warning not in gone),
        price_warnings=tuple(pair for pair in bill.price_warnings if pair[1] not in gone),
    )


def _cents(amount: Decimal) -> int:
    return int(amount / CENT)
