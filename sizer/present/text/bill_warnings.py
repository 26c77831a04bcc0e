"""The bill in words: the basis of its lines, and warnings about prices, sales and life cycles."""

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from sizer.base.money import percent
from sizer.base.quantities import with_decimal_sign
from sizer.bom.bill import BY_OTHERS, Bill, BillLine, BillWarning, BillWarningKind, LineNote, LineNoteKind
from sizer.bom.lines import SERVICE_YEARS
from sizer.catalog.model import Catalog
from sizer.physical.notes import PlanNote
from sizer.present.text import plan
from sizer.present.words import date, listed, money, plural, sentence
from sizer.sizing import decision_options
from sizer.sizing.result import DesignAnswer


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


_LINE_TEXTS: dict[LineNoteKind, Callable[..., str]] = {
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
    LineNoteKind.BY_OTHERS: lambda: BY_OTHERS,
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
    return plan.note_text(note) if isinstance(note, PlanNote) else _LINE_TEXTS[note.kind](*note.values)


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# Parts that a warning names; of more it says how many.
_MOST_NAMED = 6


def _few(items: Sequence[object]) -> str:
    more = len(items) - _MOST_NAMED
    names = ", ".join(str(item) for item in items[:_MOST_NAMED])
    return f"{names} and {plural(more, 'other')}" if more > 1 else ", ".join(map(str, items))


_TEXTS: dict[BillWarningKind, Callable[..., str]] = {
    BillWarningKind.SALE_ENDED: lambda item, day, successor="": (
        f"{item}: sale ended {day}; "
        + (f"the successor is {successor}" if successor else "find the successor or a reseller with stock")
    ),
    BillWarningKind.SALE_ENDS: lambda item, day: f"{item}: sale ends {day}, while the quote is valid",
    BillWarningKind.SALE_ENDS_BEFORE_NEED: lambda item, day, need: (
        f"{item}: sale ends {day}, before the date of need {need}; order earlier, or choose the successor"
    ),
    BillWarningKind.SERVICE_ENDS: lambda item, day, need: (
        f"{item}: service ends {day}, within {plural(SERVICE_YEARS, 'year')} after the date of need {need}"
    ),
    BillWarningKind.SERVICE_END_KNOWN: lambda item, day: (
        f"{item}: end of service {day} is published, no end of sale; confirm that it is still sold"
    ),
    BillWarningKind.AVAILABILITY_UNKNOWN: lambda *items: (
        f"availability to be confirmed, no end of sale is published: {_few(items)}"
    ),
    BillWarningKind.OTHER_CURRENCY: lambda item: f"{item}: the price is in another currency; it needs a quote",
    BillWarningKind.NO_GPUS_NAMED: lambda item, gpus: (
        f"{item}: its price is not used, because the server is sold with several GPUs; name those of the price in the "
        f"column gpus of the price book, for example {gpus}"
    ),
    BillWarningKind.PRICE_ENDED: lambda item, day: f"{item}: the price was valid until {day}; ask for a new one",
    BillWarningKind.PRICE_ENDS: lambda item, day, quote: (
        f"{item}: the price is valid until {day}, the quote until {quote}"
    ),
    BillWarningKind.OLD_PRICE: lambda item, day: (
        f"{item}: the price is dated {day}, more than a year ago; ask for a quote"
    ),
    BillWarningKind.LONGEST_LEAD_TIME: lambda weeks, *items: (
        f"longest known lead time: {plural(weeks, 'week')}, {_few(items)}"
    ),
    BillWarningKind.LEAD_TIME_UNKNOWN: lambda *items: f"lead time not known: {_few(items)}",
    BillWarningKind.NO_LEAD_TIME: lambda: "no lead time is known; ask the vendors for all of them",
    BillWarningKind.TOO_LATE: lambda days, weeks, need, *items: (
        f"too late by {plural(days, 'day')} for {need}, lead time {plural(weeks, 'week')}: {_few(items)}"
    ),
    BillWarningKind.ORDER_BY: lambda day, weeks, need, *items: (
        f"order by {day} for delivery by {need}, earlier by the days that racks, cables and tests take; "
        f"longest known lead time: {plural(weeks, 'week')}, {_few(items)}"
    ),
    BillWarningKind.LEAD_TIME_OPEN: lambda days, need, *items: (
        f"lead times not published{_of(items)}; {_left(days, need)}; ask the vendors"
    ),
}
# What a price of such a system often holds, and where it stands in a bill.
_OFTEN_BOUGHT = (
    ("cables to the customer's network", "cable and optic"),
    ("vendor support", "support"),
    ("installation", "service"),
    ("training of staff", "service"),
)
# Folders of the catalogue with devices that are sold with support.
_SUPPORTED = ("servers", "storage", "switches")
# What a support line is for, where it names no device.
_FOR_ALL = ("any", "cluster")


def _of(items: Iterable[str]) -> str:
    return f": {names}" if (names := _few(tuple(items))) else ""


def _left(days: int | None, need: str) -> str:
    return f"the cluster is needed by {need}" if days is None else f"{plural(days, 'day')} until {need}"


# What endangers a date of need, or the years after it.
_DANGERS = (
    BillWarningKind.TOO_LATE,
    BillWarningKind.SALE_ENDED,
    BillWarningKind.SALE_ENDS_BEFORE_NEED,
    BillWarningKind.SERVICE_ENDS,
)
_DELIVERY = (BillWarningKind.ORDER_BY, BillWarningKind.LEAD_TIME_OPEN)


def need_dangers(warnings: Iterable[BillWarning]) -> tuple[BillWarning, ...]:
    """Of a bill's warnings, those of what endangers a date of need; for a request that has one."""
    return tuple(warning for warning in warnings if warning.kind in _DANGERS)


# The last one of an item is said: an end of sale before a published end of service.
_ENDS = (
    BillWarningKind.SERVICE_END_KNOWN,
    BillWarningKind.SERVICE_ENDS,
    BillWarningKind.SALE_ENDS_BEFORE_NEED,
    BillWarningKind.SALE_ENDED,
)


def life_cycle_sentences(design: DesignAnswer) -> list[str]:
    """Ended sale, or a published end of service, of the server, the GPU and the storage of a design."""
    return [*sale_end_sentences(design), *service_end_sentences(design)]


def sale_end_sentences(design: DesignAnswer) -> list[str]:
    """Of these, what is said of the sale, or of a service that ends too early."""
    return bill_warning_sentences(end for end in _ends(design) if end.kind is not BillWarningKind.SERVICE_END_KNOWN)


def service_end_sentences(design: DesignAnswer) -> list[str]:
    """Of these, published ends of service without an end of sale; of several parts in one sentence."""
    ends = [end for end in _ends(design) if end.kind is BillWarningKind.SERVICE_END_KNOWN]
    if len(ends) < 2:
        return bill_warning_sentences(ends)
    named = listed([f"{name} ({day})" for name, day in (warning.values for warning in ends)])
    return [f"End of service is published for {named}, no end of sale; confirm that they are still sold."]


def _ends(design: DesignAnswer) -> list[BillWarning]:
    """Warnings on the life of the main parts, one for each part."""
    platform = design.platform
    parts = (platform.server, platform.gpu, platform.storage, platform.storage_server, platform.capacity_storage)
    names = {part.name for part in parts if part is not None}
    found = {
        str(warning.values[0]): warning
        for kind in _ENDS
        for warning in design.bill.warnings
        if warning.kind is kind and warning.values[0] in names
    }
    return list(found.values())


def sale_ended(design: DesignAnswer) -> list[str]:
    """Main parts of a design whose sale has ended."""
    return [str(end.values[0]) for end in _ends(design) if end.kind is BillWarningKind.SALE_ENDED]


def not_ordered(design: DesignAnswer, day: datetime.date | None) -> list[str]:
    """Main parts that can no longer be ordered on a day, by a published end or by the age of their generation."""
    can_be_bought = decision_options.can_be_bought(design, design.plan.catalog, day)
    return sale_ended(design) or ([] if can_be_bought else [design.platform.server.name])


# Place of the longest lead time in warnings that tell it. [weeks]
_WEEKS = {BillWarningKind.LONGEST_LEAD_TIME: 0, BillWarningKind.ORDER_BY: 1, BillWarningKind.TOO_LATE: 1}


def delivery_text(design: DesignAnswer, day: datetime.date | None) -> str:
    """When a design can be there, as far as known: 'sale of DGX H100 ended', '14 weeks', 'lead times to be quoted'."""
    if design.cost is not None and not design.cost.high:
        return "nothing is bought"
    if ended := sale_ended(design):
        return f"sale of {listed(ended)} ended"
    if old := not_ordered(design, day):
        return f"{listed(old)} no longer sold as far as known"
    weeks = [int(str(one.values[_WEEKS[one.kind]])) for one in design.bill.warnings if one.kind in _WEEKS]
    return f"{plural(max(weeks), 'week')} for the longest item known" if weeks else "lead times to be quoted"


def delivery_sentences(warnings: Iterable[BillWarning]) -> list[str]:
    """By when to order, and the days that remain where no lead time is published; empty without a date of need."""
    return bill_warning_sentences(warning for warning in warnings if warning.kind in _DELIVERY)


def bill_warning_sentences(warnings: Iterable[BillWarning]) -> list[str]:
    """Warnings of a bill as sentences."""
    return [sentence(_TEXTS[warning.kind](*map(_shown, warning.values))) for warning in warnings]


def _shown(value: object) -> object:
    """A whole day as documents write it; months and all else as they are."""
    return date(datetime.date.fromisoformat(value)) if isinstance(value, str) and _DAY.fullmatch(value) else value


def excluded_text(bill: Bill) -> str:
    """What the price leaves out."""
    paid = [line for line in bill.part("software").bought if line.extended_net != 0]
    parts = ["taxes", "freight", "duties"]
    parts += [name for name, kind in _OFTEN_BOUGHT if not bill.part(kind).bought]
    parts += [] if paid else ["software subscriptions such as NVIDIA AI Enterprise"]
    others = [line for line in bill.lines if line.status == BY_OTHERS]
    parts += [line.description for line in others if line.changes]
    parts += ["what the bill lists as provided by others"] * any(not line.changes for line in others)
    return sentence(f"Not included: {listed(parts)}")


def unsupported_text(bill: Bill, catalog: Catalog) -> str:
    """That support of some devices is not in the bill; "" where each device has a line of support.

    A support line that the quote adds names no device: with it nothing is said.
    """
    lines = [line for line in bill.lines if line.category == "support"]
    if any(not line.item for line in lines):
        return ""
    covered = {name for line in lines for name in catalog.support[line.item].applies_to}
    bought = dict.fromkeys(line.item for line in bill.bought if line.item)
    missing = [
        item.name
        for item in (catalog.item(id_) for id_ in bought if catalog.category_of(id_) in _SUPPORTED)
        if not covered & {item.id, item.vendor, *_FOR_ALL}
    ]
    if not missing:
        return ""
    return (
        f"Support is not included for {listed(missing)}: the terms are not known to us. Request it with the quotes; "
        "some vendors sell their systems only with support."
    )
