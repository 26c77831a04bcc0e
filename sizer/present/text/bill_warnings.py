"""Words of the warnings of a bill: ends of sale, prices and lead times."""

from collections.abc import Callable, Iterable

from sizer.bom.bill import BillWarning, BillWarningKind
from sizer.present.words import plural, sentence

_TEXTS: dict[BillWarningKind, Callable[..., str]] = {
    BillWarningKind.SALE_ENDED: lambda item, day: (
        f"{item}: sale ended {day}; find the successor or a reseller with stock"
    ),
    BillWarningKind.SALE_ENDS: lambda item, day: f"{item}: sale ends {day}, while the quote is valid",
    BillWarningKind.AVAILABILITY_UNKNOWN: lambda *items: (
        f"availability to be confirmed, no end of sale is published: {', '.join(items)}"
    ),
    BillWarningKind.OTHER_CURRENCY: lambda item: f"{item}: the price is in another currency; it needs a quote",
    BillWarningKind.PRICE_ENDED: lambda item, day: f"{item}: the price was valid until {day}; ask for a new one",
    BillWarningKind.PRICE_ENDS: lambda item, day, quote: (
        f"{item}: the price is valid until {day}, the quote until {quote}"
    ),
    BillWarningKind.OLD_PRICE: lambda item, day: (
        f"{item}: the price is dated {day}, more than a year ago; ask for a quote"
    ),
    BillWarningKind.LONGEST_LEAD_TIME: lambda weeks, *items: (
        f"longest known lead time: {plural(weeks, 'week')}, {', '.join(items)}"
    ),
    BillWarningKind.LEAD_TIME_UNKNOWN: lambda *items: f"lead time not known: {', '.join(items)}",
    BillWarningKind.NO_LEAD_TIME: lambda: "no lead time is known; ask the vendors for all of them",
}


def bill_warning_sentences(warnings: Iterable[BillWarning]) -> list[str]:
    """Warnings of a bill as sentences."""
    return [sentence(_TEXTS[warning.kind](*warning.values)) for warning in warnings]
