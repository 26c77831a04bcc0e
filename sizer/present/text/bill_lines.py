"""Words of the lines of a bill: what must be known of them, and what the quote changed."""

from collections.abc import Callable
from decimal import Decimal

from sizer.base.money import percent
from sizer.base.quantities import with_decimal_sign
from sizer.bom.bill import BillLine, LineNote, LineNoteKind
from sizer.physical.notes import PlanNote
from sizer.present.text import plan
from sizer.present.words import money


def _book_price(price: Decimal | None, currency: str) -> str:
    return (
        "no list price in the price book"
        if price is None
        else f"list price of the price book: {money(price, currency)}"
    )


def _new_price(after: Decimal | None, before: Decimal | None, currency: str) -> str:
    return f"list price {money(after, currency)}" + ("" if before is None else f" instead of {money(before, currency)}")


def _share(discount_percent: Decimal) -> str:
    return f"{with_decimal_sign(percent(discount_percent))} %"


_TEXTS: dict[LineNoteKind, Callable[..., str]] = {
    LineNoteKind.STATED: lambda text: text,
    LineNoteKind.FREE: lambda: "free of charge",
    LineNoteKind.INCLUDED: lambda: "included with another line",
    LineNoteKind.COMPUTED_QUANTITY: lambda quantity: f"computed: {quantity}",
    LineNoteKind.BOOK_PRICE: _book_price,
    LineNoteKind.BOOK_DISCOUNT: lambda share: f"discount of the price book: {_share(share)}",
    LineNoteKind.NEW_QUANTITY: lambda after, before: f"quantity {after} instead of {before}",
    LineNoteKind.NEW_PRICE: _new_price,
    LineNoteKind.NEW_DISCOUNT: lambda after, before: f"discount {_share(after)} instead of {_share(before)}",
    LineNoteKind.OPTIONAL: lambda: "optional",
    LineNoteKind.BY_OTHERS: lambda: "by others",
    LineNoteKind.INTO_TOTAL: lambda: "taken into the total",
    LineNoteKind.UNCHANGED: lambda: "as computed",
    LineNoteKind.ADDED: lambda: "line of the quote, not computed",
}


def note_text(line: BillLine) -> str:
    """What must be known of a line, without a full stop; "" where there is nothing."""
    return "; ".join(map(_text, line.notes))


def change_text(line: BillLine) -> str:
    """What the quote changed, without a full stop; "" where it says nothing of the line."""
    return "; ".join(map(_text, line.changes))


def _text(note: PlanNote | LineNote) -> str:
    return plan.note_text(note) if isinstance(note, PlanNote) else _TEXTS[note.kind](*note.values)
