"""What the quote of a request changes in a computed bill, with what was computed kept in the notes."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sizer.base.errors import RequestError
from sizer.base.faults import nearest
from sizer.base.money import round_money
from sizer.bom.bill import BY_OTHERS, BillLine, LineNote, LineNoteKind, Status, stated
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

    ``computed``: of a bill without a quote. What is at hand already and what the quote adds is left out. ``overrides``:
    those that fit no line are passed over. ``currency``: of the bill. ``quote_date``: date of the prices that the quote
    gives. They are in the order of the bill. Lines of one item and category are one, as the quote gives their number in
    one piece; it is an option only where all of them are.
    """
    merged: dict[tuple[str, str], BillLine] = {}
    for line in computed:
        if line.item and line.status != "existing":
            key = (line.item, line.category)
            merged[key] = _together(merged[key], line) if key in merged else line
    categories: dict[str, int] = {}
    for item, _ in merged:
        categories[item] = categories.get(item, 0) + 1
    editable = []
    for line in merged.values():
        own = override_of(line, overrides)
        shown = line
        if own is not None:
            (shown,) = overridden([line], Quote(override=(own,)), currency, quote_date, False)
        editable.append(EditableLine(line, shown, own, categories[line.item] > 1))
    return tuple(editable)


def _together(line: BillLine, other: BillLine) -> BillLine:
    is_option = line.status == other.status == "optional"
    return replace(
        line,
        quantity=line.quantity + other.quantity,
        notes=tuple(dict.fromkeys((*line.notes, *other.notes))),
        status="optional" if is_option else "computed",
    )


def override_of(line: BillLine, overrides: Iterable[QuoteOverride]) -> QuoteOverride | None:
    """What the overrides say of one line together: of two that mean it the later one rules, field by field."""
    said: dict[str, object] = {}
    for override in overrides:
        if override.item == line.item and override.category in (None, line.category):
            said.update(override.model_dump(exclude_defaults=True))
    if not said:
        return None
    if said.get("by_others"):
        said = {key: value for key, value in said.items() if key not in ("unit_price", "discount_percent", "optional")}
    return QuoteOverride.model_validate(said)


def fits(override: QuoteOverride, lines: Sequence[BillLine]) -> bool:
    """Whether an override fits the lines of a bill, so that a request with it has an answer."""
    try:
        overridden(lines, Quote(override=(override,)), "USD", None, True)
    except RequestError:
        return False
    return True


# Source of a price that the request itself gives.
REQUEST = "request"
_TAKEN_OUT = {"optional": LineNoteKind.OPTIONAL, BY_OTHERS: LineNoteKind.BY_OTHERS}


def whole_items(quote: Quote) -> frozenset[str]:
    """Items whose number the quote gives: they stand on one line."""
    return frozenset(override.item for override in quote.override if override.quantity is not None)


def overridden(
    lines: Sequence[BillLine], quote: Quote, currency: str, quote_date: datetime.date | None, is_documented: bool
) -> list[BillLine]:
    """Lines with the quote's overrides.

    ``lines``: as computed, not numbered yet. ``currency``: of the bill, for notes. ``quote_date``: date of the prices
    that the request gives. ``is_documented``: whether an override that fits no line is an error. Raises RequestError
    naming the override, its item and the items that are in the bill.
    """
    changed = list(lines)
    for number, override in enumerate(quote.override):
        own = [index for index, line in enumerate(changed) if _is_meant(override, line)]
        if is_documented:
            _check(number, override, [changed[index] for index in own], lines)
        for index in own:
            changed[index] = _changed(changed[index], override, currency, quote_date)
    return changed


def added(quote: Quote, quote_date: datetime.date | None) -> list[BillLine]:
    """Lines that the quote adds to the computed ones."""
    return [
        BillLine(
            category=line.category,
            manufacturer=line.manufacturer,
            sku=line.sku,
            description=line.description,
            quantity=line.quantity,
            unit=line.unit,
            unit_price=None if line.unit_price is None else round_money(line.unit_price),
            discount_percent=line.discount_percent,
            term_months=line.term_months,
            lead_time_weeks=line.lead_time_weeks,
            price_source="" if line.unit_price is None else REQUEST,
            price_date=_day(quote_date) if line.unit_price is not None else "",
            status=line.status,
            notes=stated(line.note),
            changes=(LineNote(LineNoteKind.ADDED),),
        )
        for line in quote.line
    ]


def _is_meant(override: QuoteOverride, line: BillLine) -> bool:
    return line.item == override.item and line.status != "existing" and override.category in (None, line.category)


def _check(number: int, one: QuoteOverride, own: Sequence[BillLine], lines: Sequence[BillLine]) -> None:
    place = f"quote.override[{number}]"
    if not own:
        items = list(dict.fromkeys(line.item for line in lines if line.status != "existing"))
        if any(line.item == one.item and line.status == "existing" for line in lines) and one.item not in items:
            raise RequestError(f"{place}.item = {one.item!r} is at hand already, nothing of it is bought")
        where = f" under {one.category!r}" if one.item in items else ""
        raise RequestError(
            f"{place}.item = {one.item!r} is not in the bill{where}{nearest(one.item, items) if not where else ''}; "
            f"items of the bill are {', '.join(items)}"
        )
    categories = list(dict.fromkeys(line.category for line in own))
    if one.quantity is not None and len(categories) > 1:
        raise RequestError(
            f"{place}.quantity = {one.quantity}: {one.item!r} stands under {' and '.join(map(repr, categories))}; "
            "say which with category"
        )


def _changed(line: BillLine, override: QuoteOverride, currency: str, quote_date: datetime.date | None) -> BillLine:
    """The line as overridden; its notes keep what was computed, its changes tell what is different."""
    values: dict[str, Any] = {"status": _status(line, override)}
    notes, changes = [*line.notes], list[LineNote]()
    if override.quantity is not None:
        values["quantity"] = override.quantity
        notes.append(LineNote(LineNoteKind.COMPUTED_QUANTITY, (line.quantity,)))
        changes.append(LineNote(LineNoteKind.NEW_QUANTITY, (override.quantity, line.quantity)))
    if override.unit_price is not None:
        values |= {
            "unit_price": round_money(override.unit_price),
            "price_source": REQUEST,
            "price_date": _day(quote_date),
            "price_valid_until": None,
        }
        notes.append(LineNote(LineNoteKind.BOOK_PRICE, (line.unit_price, currency)))
        changes.append(LineNote(LineNoteKind.NEW_PRICE, (override.unit_price, line.unit_price, currency)))
    if override.discount_percent is not None:
        values["discount_percent"] = override.discount_percent
        notes.append(LineNote(LineNoteKind.BOOK_DISCOUNT, (line.discount_percent,)))
        changes.append(LineNote(LineNoteKind.NEW_DISCOUNT, (override.discount_percent, line.discount_percent)))
    if override.by_others:
        values |= {"unit_price": None, "discount_percent": Decimal(0), "price_source": "", "price_date": ""}
        values["price_valid_until"] = None
    if values["status"] != line.status and values["status"] != "overridden":
        changes.append(LineNote(_TAKEN_OUT[values["status"]]))
    elif line.status == "optional" and values["status"] == "overridden":
        changes.append(LineNote(LineNoteKind.INTO_TOTAL))
    if not changes:
        # An option that stays one, say: the note is the quote's all the same.
        changes.append(LineNote(LineNoteKind.UNCHANGED))
    return replace(line, **values, notes=(*notes, *stated(override.note)), changes=tuple(changes))


def _status(line: BillLine, override: QuoteOverride) -> Status:
    if override.by_others:
        return BY_OTHERS
    is_option = line.status == "optional" if override.optional is None else override.optional
    return "optional" if is_option else "overridden"


def _day(day: datetime.date | None) -> str:
    return "" if day is None else day.isoformat()
