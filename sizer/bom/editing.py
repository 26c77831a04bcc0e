"""The lines of a computed bill as a person changes them: one line an item and category, with what the quote says."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sizer.base.errors import RequestError
from sizer.bom.bill import BillLine
from sizer.bom.overrides import overridden
from sizer.workload.quote import Quote, QuoteOverride


@dataclass(frozen=True)
class EditableLine:
    """One line as computed and as the quote has it."""

    computed: BillLine
    shown: BillLine
    override: QuoteOverride | None  # what the quote says of this line, in one piece
    needs_category: bool  # the item stands in another category, too

    @property
    def key(self) -> tuple[str, str]:
        """Item and category: what tells the line from all others."""
        return self.computed.item, self.computed.category

    @property
    def is_changed(self) -> bool:
        """Whether the quote says something of the line."""
        return self.override is not None


def editable_lines(
    computed: Iterable[BillLine],
    overrides: Sequence[QuoteOverride],
    currency: str,
    quote_date: datetime.date | None,
) -> tuple[EditableLine, ...]:
    """Lines that a quote can change.

    Parameters
    ----------
    computed : iterable of BillLine
        Of a bill without a quote. What is at hand already and what the quote adds is left out.
    overrides : sequence of QuoteOverride
        Those that fit no line are passed over.
    currency : str
        Of the bill.
    quote_date : datetime.date, optional
        Date of the prices that the quote gives.

    Returns
    -------
    tuple of EditableLine
        In the order of the bill. Lines of one item and category are one, as the quote gives their number in one piece;
        it is an option only where all of them are.
    """
    merged: dict[tuple[str, str], BillLine] = {}
    for line in computed:
        if line.item and line.status != "existing":
            key = (line.item, line.category)
            merged[key] = _together(merged[key], line) if key in merged else line
    categories: dict[str, int] = {}
    for item, _ in merged:
        categories[item] = categories.get(item, 0) + 1
    found = []
    for line in merged.values():
        own = override_of(line, overrides)
        shown = line
        if own is not None:
            (shown,) = overridden([line], Quote(override=(own,)), currency, quote_date, False)
        found.append(EditableLine(line, shown, own, categories[line.item] > 1))
    return tuple(found)


def _together(one: BillLine, other: BillLine) -> BillLine:
    is_option = one.status == other.status == "optional"
    return replace(
        one,
        quantity=one.quantity + other.quantity,
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
        status="optional" if is_option else "computed",
    )


def override_of(line: BillLine, overrides: Iterable[QuoteOverride]) -> QuoteOverride | None:
    """What the overrides say of one line together: of two that mean it the later one rules, field by field."""
    said: dict[str, object] = {}
    for one in overrides:
        if one.item == line.item and one.category in (None, line.category):
            said.update(one.model_dump(exclude_defaults=True))
    if not said:
        return None
    if said.get("by_others"):
        said = {key: value for key, value in said.items() if key not in ("unit_price", "discount_percent", "optional")}
    return QuoteOverride.model_validate(said)


def fits(one: QuoteOverride, lines: Sequence[BillLine]) -> bool:
    """Whether an override fits the lines of a bill, so that a request with it has an answer."""
    try:
        overridden(lines, Quote(override=(one,)), "USD", None, True)
    except RequestError:
        return False
    return True
